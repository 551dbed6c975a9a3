"""The shipped controllers, in-process: they do what they are for."""

import numpy as np
import pytest
from controllers import CLASSES, load, module

from rbt_ros.control import by_topic, run_in_process
from rbt_ros.errors import MessageError
from rbt_ros.model.hinge_commands import HingeCommand, HingeTorque, HingeTrajectory
from rbt_ros.model.inputs import Wrench

SCENARIOS = {"attitude_pd": "cubesat", "hinge_pd": "five_body", "pose_hold": "wheel", "reaction_wheel": "wheel"}


def run(name: str, seconds: float, period: float = 1e-3):
    return run_in_process(load(name)(), SCENARIOS[name], seconds, period)


@pytest.mark.parametrize("name", CLASSES)
def test_each_file_runs_offline_and_tells_its_digest(name, capsys):
    digest = run(name, 0.02).samples[-1].digest()
    assert module(name).offline(0.02).samples[-1].digest() == digest
    assert capsys.readouterr().out.endswith(f", digest {digest}\n")


def test_the_attitude_controller_brings_the_cubesat_to_rest_in_the_attitude_of_the_world():
    result = run("attitude_pd", 15.0)
    w, *vector = result.body("cubesat").quaternion[-1]
    omega = result.body("cubesat").omega_body
    assert np.linalg.norm(omega[0]) > 50.0
    # the slowest pole, kd/2I = 1.4/s: e^-20 of 50 rad/s, from when the spin is down
    assert np.linalg.norm(omega[-1]) < 1e-3 and np.linalg.norm(vector) < 1e-3


def test_the_hinge_controller_follows_its_sine():
    result = run("hinge_pd", 5.0)
    angle = result.hinge("wrist").angle
    expected = angle[0] + 0.5 * (1.0 - np.cos(2.0 * result.t))
    late = result.t > 1.0
    # the lag is what acts on the wrist over kp = 200: some N·m
    assert np.abs(angle - expected)[late].max() < 0.05


def test_the_wheel_takes_the_momentum_of_the_hub():
    result = run("reaction_wheel", 60.0, period=1e-2)
    spin = (0.15 + 0.0007) * 0.2 / 0.0007
    assert result.hinge("wheel_axis").rate[-1] == pytest.approx(spin, rel=1e-6)
    assert abs(result.body("hub").omega_body[-1, 2]) < 1e-8
    drift = result.angular_momentum[-1] - result.angular_momentum[0]
    assert np.abs(drift).max() < 1e-12 * 0.03 * 60  # the motor acts inside: round-off of 60 000 steps


def test_the_pose_controller_stops_the_satellite_in_the_attitude_of_the_world():
    """Three poles at -0.5/s and no limit reached: t² e^(-t/2) after 40 s, 3e-6 of a radian, and some."""
    result = run("pose_hold", 40.0, period=1e-2)
    assert np.abs(result.body("hub").quaternion[-1][1:]).max() < 1e-5
    assert np.abs(result.body("hub").omega_body[-1]).max() < 1e-5


def test_one_message_per_topic():
    """Of several commands on one body or joint the last counts, wherever the controller runs."""
    push, pull = Wrench("hub", (1.0, 0, 0)), Wrench("hub", (0, 1.0, 0))
    first, second = (
        HingeCommand(("a", "b"), (1.0, 2.0), (), (3.0, 4.0)),
        HingeCommand(("b", "c"), (5.0, 6.0), (), (7.0, 8.0)),
    )
    goes, torque = HingeTrajectory(("a",), (1,), ((1.0,),)), HingeTorque("ball", (1.0, 0, 0))
    together = by_topic([push, torque, goes, first, pull, second])
    assert together == {
        "hinge_commands": HingeCommand(("a", "b", "c"), (1.0, 5.0, 6.0), (), (3.0, 7.0, 8.0)),
        "hinge_trajectory": goes,
        "hinges/ball/wrench_command": torque,
        "wrench/hub": pull,
    }
    assert list(together) == sorted(together), "the order in which lockstep takes them"
    assert by_topic([HingeCommand(("a",)), HingeCommand(("b",))]) == {"hinge_commands": HingeCommand(("a", "b"))}
    with pytest.raises(MessageError, match="commands to a and b in one call fill different arrays"):
        by_topic([HingeCommand(("a",), (1.0,)), HingeCommand(("b",), (), (1.0,))])
    with pytest.raises(MessageError, match="two trajectories in one call"):
        by_topic([goes, goes])
