"""Samples -> bytes of messages. Those that go out up to a thousand times a second are patched into a template: their
strings and lengths never change. `test_templates` compares each with what `cdr.encode` makes of the fields in `topics`.
"""

import struct
from collections.abc import Callable

import numpy as np

from rbt_ros.bags.cdr import encode, layout
from rbt_ros.bags.types import Types
from rbt_ros.core.types import Q, V
from rbt_ros.model.robot import Robot
from rbt_ros.results import Sample
from rbt_ros.topics import Frames, Topic

SECOND_NS = 1_000_000_000
STAMP = struct.Struct("<iI")
POSE = struct.Struct("<7d")

Encoder = Callable[[Sample, int], bytes]


def encoder(types: Types, topic: Topic, robot: Robot, prefix: str) -> Encoder:
    """(sample, stamp [ns]) -> the bytes of a message of `topic`."""
    if topic.key == "joint_states" and robot.joint_names:
        return JointTemplate(types, topic, robot)
    if topic.key == "tf":
        return TransformTemplate(types, topic, robot)
    return lambda sample, stamp: bytes(encode(types, topic.type, topic.fields(sample, stamp)))


class JointTemplate:
    """sensor_msgs/JointState of all one-axis freedoms."""

    def __init__(self, types: Types, topic: Topic, robot: Robot):
        tree, self._types, self._topic = robot.model.tree, types, topic
        count = [len(hinge.joint_names) for hinge in robot.hinges]
        self._q = np.array([tree[i, Q] + k for i, n in enumerate(count) for k in range(n)], dtype=np.intp)
        self._v = np.array([tree[i, V] + k for i, n in enumerate(count) for k in range(n)], dtype=np.intp)
        self._bytes: bytearray | None = None

    def _build(self, sample: Sample, stamp: int) -> bytearray:
        found = encode(self._types, self._topic.type, self._topic.fields(sample, stamp))
        numbers, size = layout(self._types, self._topic.type, found).numbers, 8 * len(self._q)
        self._stamp = numbers["header.stamp.sec"].offset
        self._position, self._velocity = (
            slice(numbers[key].offset, numbers[key].offset + size) for key in ("position", "velocity")
        )
        return found

    def __call__(self, sample: Sample, stamp: int) -> bytes:
        """The message."""
        if self._bytes is None:
            self._bytes = self._build(sample, stamp)
        STAMP.pack_into(self._bytes, self._stamp, *divmod(stamp, SECOND_NS))
        self._bytes[self._position] = sample.q[self._q].tobytes()
        self._bytes[self._velocity] = sample.v[self._v].tobytes()
        return bytes(self._bytes)


class TransformTemplate:
    """tf2_msgs/TFMessage of all that moves."""

    def __init__(self, types: Types, topic: Topic, robot: Robot):
        self._types, self._topic = types, topic
        self._frames = Frames(robot, fixed=False)
        self._bytes: bytearray | None = None
        self._at: list[tuple[int, int]] = []  # of stamp and pose

    def _build(self, sample: Sample, stamp: int) -> bytearray:
        found = encode(self._types, self._topic.type, self._topic.fields(sample, stamp))
        numbers = layout(self._types, self._topic.type, found).numbers
        self._at = [
            (numbers[f"transforms[{k}].header.stamp.sec"].offset, numbers[f"transforms[{k}].{POSE_FIRST}"].offset)
            for k in range(len(self._frames.transforms(sample)))
        ]
        return found

    def __call__(self, sample: Sample, stamp: int) -> bytes:
        """The message."""
        if self._bytes is None:
            self._bytes = self._build(sample, stamp)
        buffer, time = self._bytes, divmod(stamp, SECOND_NS)
        for (at_stamp, at_pose), (_, _, q, p) in zip(self._at, self._frames.transforms(sample), strict=True):
            STAMP.pack_into(buffer, at_stamp, *time)
            POSE.pack_into(buffer, at_pose, *p, q[1], q[2], q[3], q[0])
        return bytes(buffer)


POSE_FIRST = "transform.translation.x"  # then y z, then the rotation's x y z w: seven numbers in a row
