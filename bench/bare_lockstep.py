"""The bare limit of lockstep: rclpy alone sends /clock and joint_states, and the next ones when they are answered."""

import time

import rclpy
import until_asked
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import WrenchStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

H_NS = 1_000_000


class PingPong:
    """Counts the answered steps, and says their rate once a second as the node does."""

    def __init__(self, node):
        self._clock, self._joints = Clock(), JointState(name=["a", "b", "c"], position=[0.0] * 3, velocity=[0.0] * 3)
        self._send_clock = node.create_publisher(Clock, "/clock", 10).publish
        self._send_joints = node.create_publisher(JointState, "joint_states", 10).publish
        self._tell = node.create_publisher(DiagnosticArray, "/diagnostics", 10).publish
        self._ticks, self._at_second = 0, 0
        self._start = self._second_at = time.monotonic()
        node.create_subscription(WrenchStamped, "wrench/cubesat", self._on_answer, 10)

    def send(self):
        """The state of now."""
        self._clock.clock.sec, self._clock.clock.nanosec = divmod(self._ticks * H_NS, 1_000_000_000)
        self._joints.header.stamp = self._clock.clock
        self._send_clock(self._clock)
        self._send_joints(self._joints)

    def _on_answer(self, message):
        if message.header.stamp == self._clock.clock:
            self._ticks += 1
            self.send()

    def look(self):
        """Once a second, the rate; and again what nobody has answered."""
        now = time.monotonic()
        rate = (self._ticks - self._at_second) / (now - self._second_at)
        if rate == 0.0:
            self.send()
        values = {
            "real-time factor": rate * H_NS * 1e-9,
            "ticks": self._ticks,
            "elapsed [s]": now - self._start,
            "step [s]": H_NS * 1e-9,
        }
        pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
        self._tell(DiagnosticArray(status=[DiagnosticStatus(name="bare: loop", values=pairs)]))
        self._second_at, self._at_second = now, self._ticks


def main():
    until_asked.begin()
    node = rclpy.create_node("bare")
    game = PingPong(node)
    node.create_timer(1.0, game.look)
    until_asked.spin(node)


if __name__ == "__main__":
    main()
