"""A stand-in for hardware as a process of its own, on the topics that the hardware will have: docs/testbed.md.

    python examples/testbed/stand_in.py motor | table | sphere

motor   takes hinge_commands (effort on the wheel), sends measured/joint_states: encoder, 5 ms late, 2 of 100 lost
table   takes testbed/wrench (world axes), sends measured/pose; so does sphere
Each runs by the system's clock and stamps with it, as hardware does; with -p use_sim_time:=true by /clock, so that a
loop can run faster or slower than the world.
"""

import sys

import rclpy
from geometry_msgs.msg import PoseStamped, WrenchStamped
from plants import STEP, Line, Motor, air_table, spherical_bearing
from rclpy.signals import SignalHandlerOptions
from rclpy.time import Time
from sensor_msgs.msg import JointState

from rbt_ros.ros.executor import NodeExecutor
from rbt_ros.ros.stop import StopRequest

WHEEL = "wheel_axis"
STEP_NS = round(STEP * 1e9)
BEHIND_NS = 1_000_000_000  # a clock that is further ahead, or any behind, was put elsewhere


class MotorProcess:
    """A motor that takes the last effort, and its encoder."""

    def __init__(self, node):
        self.motor, self.torque = Motor(), 0.0
        self.message = JointState(name=[WHEEL])
        self.publisher = node.create_publisher(JointState, "measured/joint_states", 10)
        node.create_subscription(JointState, "hinge_commands", self.on_command, 10)

    def on_command(self, message):
        if WHEEL in message.name and message.effort:
            self.torque = message.effort[message.name.index(WHEEL)]

    def step(self):
        """What is measured now."""
        return self.motor.step(self.torque)

    def fill(self, angle):
        self.message.position = [angle]


class BearingProcess:
    """A vehicle on air that takes the last wrench, and the camera above it."""

    def __init__(self, node, bearing):
        self.bearing, self.force, self.moment = bearing, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        self.message = PoseStamped()
        self.message.header.frame_id = "world"
        self.publisher = node.create_publisher(PoseStamped, "measured/pose", 10)
        node.create_subscription(WrenchStamped, "testbed/wrench", self.on_command, 10)

    def on_command(self, message):
        f, n = message.wrench.force, message.wrench.torque
        self.force, self.moment = (f.x, f.y, f.z), (n.x, n.y, n.z)

    def step(self):
        return self.bearing.step(self.force, self.moment)

    def fill(self, pose):
        (x, y, z), (qw, qx, qy, qz) = pose
        p, q = self.message.pose.position, self.message.pose.orientation
        p.x, p.y, p.z = x, y, z
        q.w, q.x, q.y, q.z = qw, qx, qy, qz


class Pace:
    """When samples are due, by a clock that somebody may put elsewhere."""

    def __init__(self):
        self._due = 0

    def stamps(self, now):
        """Those of the samples that are due now [ns]."""
        if not self._due - STEP_NS <= now < self._due + BEHIND_NS:
            self._due = now
        due = range(self._due, now + 1, STEP_NS)
        self._due += len(due) * STEP_NS
        return due

    def left(self, now):
        """How long until the next one [s]."""
        return max(0.0, (self._due - now) * 1e-9)


def main():
    kind = (sys.argv[1:] + ["motor"])[0]
    stop = StopRequest()
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node(f"stand_in_{kind}")
    makers = {
        "motor": lambda: MotorProcess(node),
        "table": lambda: BearingProcess(node, air_table()),
        "sphere": lambda: BearingProcess(node, spherical_bearing()),
    }
    process, line, pace, executor = makers[kind](), Line(), Pace(), NodeExecutor(node)
    while not stop.requested:
        now = node.get_clock().now().nanoseconds
        for stamp in pace.stamps(now) if now else ():  # 0: /clock has not come yet
            came = line.send((Time(nanoseconds=stamp).to_msg(), process.step()))
            if came is not None:
                (process.message.header.stamp, sample), _ = came
                process.fill(sample)
                process.publisher.publish(process.message)
        executor.spin_once(timeout_sec=min(0.1, pace.left(now)))
    node.destroy_node()
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
