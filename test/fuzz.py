"""Messages as nobody should send them, on every input of a node: seeded, so that a failure can be repeated."""

import numpy as np
from geometry_msgs.msg import PoseStamped, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

BAD = (float("nan"), float("inf"), float("-inf"), 1e308, -1e308)
NAMES = ("", "knee", "x" * 300, "\x1b[2J", "/", "wrist\n")
FRAMES = ("map", "", "world", "\x07", "y" * 300)


class Fuzz:
    """Publishes on all inputs of `robot`."""

    def __init__(self, peer, robot, seed: int = 0, share: float = 0.5, measured: tuple[str, ...] = ()):
        """share: of the messages, which are good. measured: joints that follow measurements, as the base then does."""
        self._rng, self._robot, self._share = np.random.default_rng(seed), robot, share
        self.sent = 0
        makers = {f"wrench/{body.name}": (WrenchStamped, self._wrench) for body in robot.bodies}
        makers |= {
            f"hinges/{name}/wrench_command": (WrenchStamped, self._torque)
            for name in ("shoulder", "elbow")
            if name in [hinge.name for hinge in robot.hinges]
        }
        if len(robot.free_bodies) == 1:
            makers["wrench"] = (WrenchStamped, self._wrench)
        if measured:
            self._measured = measured
            makers["measured/joint_states"] = (JointState, self._angles)
            makers["measured/pose"] = (PoseStamped, self._pose)
        makers["hinge_commands"] = (JointState, self._points)
        makers["hinge_trajectory"] = (JointTrajectory, self._trajectory)
        for what in ("position", "velocity", "effort"):
            makers[f"hinge_{what}_commands"] = (Float64MultiArray, self._array)
        self._makers = [(peer.publisher(kind, topic), make) for topic, (kind, make) in makers.items()]

    def send(self, count: int) -> None:
        """Publish so many messages."""
        for _ in range(count):
            publisher, make = self._makers[self._rng.integers(len(self._makers))]
            publisher.publish(make(self._rng.random() < self._share))
            self.sent += 1

    def _number(self, good: bool) -> float:
        if good or self._rng.random() < 0.5:
            return float(self._rng.uniform(-2.0, 2.0))
        return float(self._rng.choice(BAD))

    def _numbers(self, good: bool, count: int) -> list[float]:
        if not good:
            count = int(self._rng.choice([0, 1, count, count + 1, 1000]))
        return [self._number(good) for _ in range(count)]

    def _stamp(self, header, good: bool) -> None:
        if not good and self._rng.random() < 0.5:
            header.stamp.sec = int(self._rng.choice([-(2**31), -1, 2**31 - 1, 1]))
            header.stamp.nanosec = int(self._rng.integers(0, 2**32))

    def _wrench(self, good: bool) -> WrenchStamped:
        message = WrenchStamped()
        self._stamp(message.header, good)
        message.header.frame_id = "" if good else str(self._rng.choice(FRAMES))
        for vector in (message.wrench.force, message.wrench.torque):
            vector.x, vector.y, vector.z = (self._number(good) for _ in range(3))
        return message

    def _torque(self, good: bool) -> WrenchStamped:
        message = self._wrench(good)
        if good:
            message.wrench.force.x = message.wrench.force.y = message.wrench.force.z = 0.0
        return message

    def _joints(self, good: bool) -> list[str]:
        known = list(self._robot.joint_names)
        self._rng.shuffle(known)
        joints = known[: self._rng.integers(1, len(known) + 1)]
        if not good:
            joints += [str(self._rng.choice(NAMES)) for _ in range(self._rng.integers(0, 3))]
        return joints

    def _points(self, good: bool) -> JointState:
        joints = self._joints(good)
        message = JointState(name=joints)
        self._stamp(message.header, good)
        which = self._rng.integers(1, 8)  # effort alone is good for joints in mode effort, and so on
        message.position = self._numbers(good, len(joints)) if which & 1 else []
        message.velocity = self._numbers(good, len(joints)) if which & 2 else []
        message.effort = self._numbers(good, len(joints)) if which & 4 else []
        return message

    def _angles(self, good: bool) -> JointState:
        joints = list(self._measured) if good else [*self._joints(False), *self._measured][: self._rng.integers(0, 4)]
        message = JointState(name=joints, position=self._numbers(good, len(joints)))
        self._stamp(message.header, good)
        if self._rng.random() < 0.5:
            message.velocity = self._numbers(good, len(joints))
        return message

    def _pose(self, good: bool) -> PoseStamped:
        message = PoseStamped()
        self._stamp(message.header, good)
        message.header.frame_id = "" if good else str(self._rng.choice(FRAMES))
        at, turn = message.pose.position, message.pose.orientation
        at.x, at.y, at.z = (self._number(good) for _ in range(3))
        angle = self._number(True)
        turn.w, turn.z = float(np.cos(angle)), float(np.sin(angle))
        if not good:
            turn.x, turn.y = self._number(False), self._number(False)
        return message

    def _array(self, good: bool) -> Float64MultiArray:
        return Float64MultiArray(data=self._numbers(good, 1))

    def _trajectory(self, good: bool) -> JointTrajectory:
        joints = ["wrist"] if good else self._joints(good)
        message, t = JointTrajectory(joint_names=joints), 0
        self._stamp(message.header, good)
        for _ in range(self._rng.integers(0 if not good else 1, 4)):
            t += int(self._rng.integers(1 if good else -(10**8), 10**8))
            point = JointTrajectoryPoint(positions=self._numbers(good, len(joints)))
            point.velocities = self._numbers(good, len(joints)) if not good and self._rng.random() < 0.3 else []
            point.time_from_start.sec, point.time_from_start.nanosec = divmod(t, 10**9)
            message.points.append(point)
        return message


def refused(robot) -> list[tuple[type, str, object]]:
    """(type, topic, message) of what every node must refuse whole, on every input of `robot`."""
    nan, inf = float("nan"), float("inf")
    stray = WrenchStamped()
    stray.header.frame_id = "map"
    found: list[tuple[type, str, object]] = []
    for body in robot.bodies:
        broken, endless = WrenchStamped(), WrenchStamped()
        broken.wrench.force.y, endless.wrench.torque.z = nan, -inf
        found += [(WrenchStamped, f"wrench/{body.name}", message) for message in (stray, broken, endless)]
    if robot.joint_names:
        first = robot.joint_names[0]
        points = [JointTrajectoryPoint(positions=[0.0]), JointTrajectoryPoint(positions=[1.0])]  # at one time
        found += [
            (JointState, "hinge_commands", JointState(name=["nobody"], effort=[1.0])),
            (JointState, "hinge_commands", JointState(name=[first], effort=[nan])),
            (JointState, "hinge_commands", JointState(name=[first], effort=[inf])),
            (JointState, "hinge_commands", JointState(name=[first] * 1000, effort=[1.0] * 1000)),
            (JointState, "hinge_commands", JointState(name=[first], effort=[1.0, 2.0])),
            (JointTrajectory, "hinge_trajectory", JointTrajectory(joint_names=[first], points=points)),
        ]
        for what in ("position", "velocity", "effort"):
            found.append((Float64MultiArray, f"hinge_{what}_commands", Float64MultiArray(data=[1.0] * 1000)))
    return found


def mistimed(robot, topic: str) -> list[tuple[type, str, object]]:
    """(type, topic, message) that answers no tick of lockstep: good commands of long ago and of times to come."""
    found: list[tuple[type, str, object]] = []
    for sec in (-(2**31), -1, 2**31 - 1):
        if "wrench" in topic:
            message = WrenchStamped()
            message.wrench.force.z = 1.0
        else:
            message = JointState(name=[robot.joint_names[0]], effort=[1.0])
        message.header.stamp.sec = sec
        found.append((type(message), topic, message))
    return found
