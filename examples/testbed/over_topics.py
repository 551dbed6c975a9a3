"""A stand-in in its loop over topics, as three processes that a fourth watches: what happens, as numbers and a picture.

    python examples/testbed/over_topics.py motor | table | sphere [seconds] [factor] [picture.png]

The simulator, the stand-in and the controller are those of docs/testbed.md, by /clock, which goes `factor` times as
fast as the world. Tells in the end, as JSON, how far from the goal the loop was in its second half.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

import rbt_ros as rbt
from rbt_ros.child import command
from rbt_ros.control import body_seen
from rbt_ros.ros.convert import fields_of, stamp_of
from rbt_ros.ros.coupling import rotation_vector
from rbt_ros.ros.executor import NodeExecutor
from rbt_ros.ros.stop import StopRequest

HERE = Path(__file__).parent
CONTROLLERS = HERE.parent / "controllers"
WHEEL, HUB = "wheel_axis", "hub"
MOTOR = {"measured.joints": WHEEL, "measured.cutoff": 20.0}
POSE = {"measured.body": HUB, "measured.cutoff": 10.0}
EVERY_NS = 100_000_000  # from row to row
START_NS = 1_000_000_000  # the stamp of t = 0


def commands(kind, factor):
    """The three processes."""
    common = {"outputs.odom": 200.0, "outputs.joint_states": 200.0, "outputs.tf": 0.0, "realtime_factor": factor}
    settings = {**common, **(MOTOR if kind == "motor" else POSE)}
    words = [word for name, value in settings.items() for word in ("-p", f"{name}:={value}")]
    controller = ["reaction_wheel.py"] if kind == "motor" else ["pose_hold.py", "--ros-args", "-r", TO_THE_TESTBED]
    return (
        command("rbt_ros.cli", "node", "wheel", "--ros-args", *words)[1:],
        [HERE / "stand_in.py", kind, "--ros-args", "-p", "use_sim_time:=true"],
        [CONTROLLERS / controller[0], *controller[1:]],
    )


TO_THE_TESTBED = "wrench/hub:=testbed/wrench"


class Watch:
    """Rows [t, distance and turn from the goal, and what differs by kind] of what is told on topics."""

    def __init__(self, node, kind):
        self.rows, self.report, self.t_ns = [], {}, 0
        self._pose, self._rate, self._due = None, None, 0
        inertia = [body.inertia[2, 2] for body in rbt.load("wheel").robot.bodies]
        self._hub, self._wheel = sum(inertia), inertia[1]
        row = self._motor_row if kind == "motor" else self._pose_row
        node.create_subscription(Odometry, "odom", lambda message: self._on_odom(message, row), 10)
        node.create_subscription(JointState, "joint_states", self._on_joints, 10)
        node.create_subscription(PoseStamped, "measured/pose", self._on_pose, qos_profile_sensor_data)
        node.create_subscription(DiagnosticArray, "/diagnostics", self._on_report, 10)

    def _on_odom(self, message, row):
        stamp = stamp_of(message)
        self.t_ns = stamp - START_NS
        if stamp >= self._due and (found := row(body_seen(fields_of(message)), stamp)) is not None:
            self._due = stamp + EVERY_NS
            self.rows.append((self.t_ns * 1e-9, *found))

    def _on_joints(self, message):
        self._rate = stamp_of(message), message.velocity[0]

    def _on_pose(self, message):
        self._pose = message.pose

    def _on_report(self, message):
        for status in message.status:
            if ": measured/" in status.name:
                self.report = {pair.key: pair.value for pair in status.values}

    def _motor_row(self, hub, stamp):
        """Distance, yaw, the wheel's rate, and the angular momentum about z, of messages of one stamp."""
        if self._rate is None or self._rate[0] != stamp:
            return None
        yaw, rate = 2.0 * math.atan2(hub.quaternion[3], hub.quaternion[0]), self._rate[1]
        return math.hypot(*hub.position), yaw, rate, self._hub * hub.omega[2] + self._wheel * rate

    def _pose_row(self, hub, stamp):
        """Distance and turn from the goal, and from what was measured."""
        if self._pose is None:
            return None
        p, q = self._pose.position, self._pose.orientation
        theta, real = rotation_vector(hub.quaternion), rotation_vector((q.w, q.x, q.y, q.z))
        apart = math.dist(hub.position, (p.x, p.y, p.z)), float(np.linalg.norm(theta - real))
        return math.hypot(*hub.position), float(np.linalg.norm(theta)), *apart


def watched(kind, seconds, factor):
    """The rows of a loop, and what /diagnostics told of the samples; ends all processes."""
    stop = StopRequest()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("watch")
    watch, executor = Watch(node, kind), NodeExecutor(node)
    children = [subprocess.Popen([sys.executable, *map(str, words)]) for words in commands(kind, factor)]
    try:
        while watch.t_ns < seconds * 1e9 and not stop.requested and all(child.poll() is None for child in children):
            executor.spin_once(timeout_sec=0.1)
    finally:
        for child in reversed(children):
            child.terminate()
            child.wait(timeout=30)
        node.destroy_node()
        rclpy.try_shutdown()
    return np.array(watch.rows), watch.report


def summary(kind, rows, report):
    """The second half in a few numbers: the middle one, the greatest of the best 99 of 100, the greatest of all."""
    late = np.abs(rows[rows[:, 0] > rows[-1, 0] / 2, 1:])
    names = ["distance [m]", "turn [rad]"]
    told = {"seconds": rows[-1, 0]}
    if kind == "motor":
        told["wheel [rad/s]"], momentum = rows[-1, 3], rows[:, 4]
        told["momentum drift"] = float(np.abs(momentum - momentum[0]).max() / abs(momentum[0]))
    else:
        names += ["apart [m]", "apart [rad]"]
    for k, name in enumerate(names):
        told[name] = np.percentile(late[:, k], [50, 99, 100]).tolist()
    return {**told, **{key: report.get(key) for key in ("samples taken", "signals lost", "last fault")}}


def draw(kind, rows, file):
    """The approach on the left, all of it on a logarithmic scale on the right."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 3.4), layout="constrained")
    near, far = figure.subplots(1, 2)
    t, first = rows[:, 0], rows[:, 0] <= 40.0
    if kind == "motor":
        curves = {"yaw of the simulated hub [rad]": rows[:, 2], "rate of the real wheel [100 rad/s]": 0.01 * rows[:, 3]}
        errors = {"yaw from the goal [rad]": rows[:, 2]}
    else:
        curves = {"distance from the goal [m]": rows[:, 1], "turn from the goal [rad]": rows[:, 2]}
        errors = {**curves, "between vehicle and image [m]": rows[:, 3], "between vehicle and image [rad]": rows[:, 4]}
    for name, values in curves.items():
        near.plot(t[first], values[first], label=name)
    for name, values in errors.items():
        far.semilogy(t, np.abs(values), linewidth=0.7, label=name)
    for axes in (near, far):
        axes.set_xlabel("t [s]")
        axes.grid(alpha=0.3)
        axes.legend(fontsize=8)
    figure.savefig(file, dpi=110)


def main():
    kind, seconds, factor, *picture = [*sys.argv[1:], *("motor", "600", "3")[len(sys.argv) - 1 :]]
    rows, report = watched(kind, float(seconds), float(factor))
    print(json.dumps(summary(kind, rows, report)))
    for file in picture:
        draw(kind, rows, file)


if __name__ == "__main__":
    main()
