"""Folding to an attitude on a node: in lockstep, with the bits of in-process; targets by parameter and topic."""

import math
import sys

import numpy as np
from controllers import FOLDER, module
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from observed import Motion

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.control import in_process
from rbt_ros.modular import plans, turns
from rbt_ros.ros.convert import fill, stamp_of

H, CLOCK_START = 5_000_000, 1_000_000_000  # [ns]
PERIOD = 5000  # ticks from vertex to vertex
GAINS = {"mode": "position", "kp": 100.0, "kd": 40.0}
OPTIONS = {
    "mode": "lockstep",
    "lockstep__wait_for": "hinge_trajectory",
    "lockstep__every": PERIOD,
    "lockstep__deadline": 150.0,  # the controller may have to compile first
    **{
        f"outputs__{key}": rate for key, rate in {"odom": 0.04, "joint_states": 0.04, "tf": 0.0, "markers": 0.0}.items()
    },
    **{f"hinges__{joint}__{key}": value for joint in ("psi1", "psi2") for key, value in GAINS.items()},
}
# two turns lead there
TARGET = plans.net(rbt.modular.l_shape(), (plans.TurnOf(-1.5, 1.2, 1), plans.TurnOf(1.0, -1.5, 2)))


def test_the_controller_folds_a_node_to_the_attitude_of_a_parameter(ros):
    """Within 0.1° after some turns, momentum 1e-12; every odometry is that of the same controller in-process."""
    ros.limit = 200
    child = ros.start("l_shape_at_rest", **OPTIONS)
    target = "[" + ", ".join(str(float(x)) for x in TARGET) + "]"
    controller = ros.run(sys.executable, FOLDER / "fold_to_attitude.py", "--ros-args", "-p", f"target:={target}")
    odom = (peer := ros.peer()).listen(Odometry, "odom")

    def away() -> float:
        attitude = np.array([Motion(odom[-1]).q])
        return float(turns.angles(turns.products(turns.conjugates(attitude), TARGET[None]))[0])

    for vertex in range(8):
        begin = CLOCK_START + vertex * PERIOD * H
        peer.until(lambda begin=begin: odom and stamp_of(odom[-1]) >= begin, f"vertex {vertex}", controller)
        if away() < np.radians(0.1):
            break
    assert away() < np.radians(0.1) and child.running
    steering = module("fold_to_attitude").FoldToAttitude(TARGET)
    sim = rbt.load("l_shape_at_rest").simulation()
    sim.command(steering.settings)
    samples = sim.run(
        until=(stamp_of(odom[-1]) - CLOCK_START) * 1e-9, every=PERIOD * H * 1e-9, controller=in_process(steering)
    ).samples
    assert np.linalg.norm(samples[-1].angular_momentum_com) < 1e-12
    mine = {s.t_ns + CLOCK_START: topics.odometry_fields(sim.robot, "", 0, s, s.t_ns + CLOCK_START) for s in samples}
    assert all(message == fill(Odometry(), mine[stamp_of(message)]) for message in odom)


TOLD = """
from rbt_ros.model.attitude import unit_quaternion
from rbt_ros.ros.controller import spin

class Told:
    joints, bodies = False, ()

    def aim(self, target):
        print("aims at", *unit_quaternion(target, "target"), flush=True)

spin(Told())
"""


def test_targets_come_by_a_topic_too(ros):
    """w x y z of the pose; what is no attitude is told and passed over."""
    child = ros.run(sys.executable, "-c", TOLD, "--ros-args", "-p", "target:=[1.0, 0.0, 0.0, 0.0]")
    child.until_printed("aims at 1.0 0.0 0.0 0.0")
    peer = ros.peer()
    send, message = peer.publisher(PoseStamped, "target_pose"), PoseStamped()
    for q, expected in (
        ((0.0, 0.0, 0.0, 0.0), "target_pose ignored: target"),
        ((0.0, 0.6, 0.0, 0.8), "aims at 0.0 0.6"),
    ):
        (message.pose.orientation.w, message.pose.orientation.x) = q[:2]
        (message.pose.orientation.y, message.pose.orientation.z) = q[2:]

        def told(expected=expected) -> bool:
            send.publish(message)
            return expected in child.stdout + child.stderr

        peer.until(told, expected, child)


def test_the_parameter_target_acts_while_it_runs(ros):
    child = ros.run(sys.executable, "-c", TOLD)
    peer = ros.peer()
    assert peer.set_parameter("target", [0.0, 1.0, 0.0, 0.0], "/controller").successful
    child.until_printed("aims at 0.0 1.0 0.0 0.0")
    for wrong in ([0.0, 0.0, 0.0, 0.0], [1.0, 0.0], [math.nan, 0.0, 0.0, 1.0]):
        refused = peer.set_parameter("target", wrong, "/controller")
        assert not refused.successful and refused.reason.startswith("target: ")
