"""Messages that go out up to a thousand times a second, filled without detours: what is constant is set once.

`test_writers` compares each with what `convert.fill` makes of the fields in `topics`.
"""

from array import array
from collections.abc import Callable
from typing import Any

import numpy as np
from geometry_msgs.msg import TransformStamped
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from rbt_ros.core.types import Q, V
from rbt_ros.model.robot import Robot
from rbt_ros.results import Sample
from rbt_ros.ros.convert import fill, message_class
from rbt_ros.topics import Frames, Topic

SECOND_NS = 1_000_000_000


def writer(topic: Topic, robot: Robot, prefix: str, local: str = "") -> Callable[[Sample, int], Any]:
    """(sample, stamp [ns]) -> the message of `topic`, one and the same object each time."""
    if topic.key == "joint_states":
        return JointWriter(robot)
    if topic.key == "tf":
        return TransformWriter(robot, prefix, local)
    message = message_class(topic.type)()
    return lambda sample, stamp: fill(message, topic.fields(sample, stamp))


class JointWriter:
    """sensor_msgs/JointState of all one-axis freedoms."""

    def __init__(self, robot: Robot):
        tree = robot.model.tree
        count = [len(hinge.joint_names) for hinge in robot.hinges]
        self._q = np.array([tree[i, Q] + k for i, n in enumerate(count) for k in range(n)], dtype=np.intp)
        self._v = np.array([tree[i, V] + k for i, n in enumerate(count) for k in range(n)], dtype=np.intp)
        self._message = JointState(name=list(robot.joint_names))
        self._stamp = self._message.header.stamp

    def __call__(self, sample: Sample, stamp: int) -> JointState:
        """The message, filled."""
        self._stamp.sec, self._stamp.nanosec = divmod(stamp, SECOND_NS)
        self._message.position = array("d", sample.q[self._q].tobytes())  # the one type that is not checked by element
        self._message.velocity = array("d", sample.v[self._v].tobytes())
        return self._message


class TransformWriter:
    """tf2_msgs/TFMessage of all that moves."""

    def __init__(self, robot: Robot, prefix: str, local: str = ""):
        self._prefix = prefix
        self._frames = Frames(robot, fixed=False, local=local)
        self._message = TFMessage()
        self._parts: list[tuple[Any, Any]] = []

    def _build(self, sample: Sample) -> None:
        """One element per frame; they share one stamp."""
        parts: list[TransformStamped] = []
        for parent, child, _, _ in self._frames.transforms(sample):
            part = TransformStamped(child_frame_id=self._prefix + child)
            part.header.frame_id = self._prefix + parent
            if parts:
                part.header.stamp = parts[0].header.stamp
            parts.append(part)
        self._message.transforms = parts
        self._parts = [(part.transform.rotation, part.transform.translation) for part in parts]

    def __call__(self, sample: Sample, stamp: int) -> TFMessage:
        """The message, filled."""
        if not self._parts:
            self._build(sample)
        if self._parts:
            time = self._message.transforms[0].header.stamp
            time.sec, time.nanosec = divmod(stamp, SECOND_NS)
        for (rotation, translation), (_, _, q, p) in zip(self._parts, self._frames.transforms(sample), strict=True):
            rotation.w, rotation.x, rotation.y, rotation.z = q
            translation.x, translation.y, translation.z = p
        return self._message
