"""Samples -> bytes of messages. Those that go out up to a thousand times a second are patched into a template: their
strings and lengths never change. `test_cdr` compares each with what `cdr.encode` makes of the fields in `topics`.
"""

import struct
from array import array
from collections.abc import Callable, Sequence

import numpy as np

from rbt_ros.bags.cdr import Layout, encode, layout
from rbt_ros.bags.types import Types
from rbt_ros.core.types import Q, V
from rbt_ros.fields import Fields, header
from rbt_ros.model.robot import Robot
from rbt_ros.results import Sample
from rbt_ros.topics import Frames, Topic, odometry_numbers

SECOND_NS = 1_000_000_000
JOINT_STATE = "sensor_msgs/msg/JointState"
NUMBERS = ("position", "velocity", "effort")
STAMP = struct.Struct("<iI")
POSE = struct.Struct("<7d")  # x y z of the place, x y z w of the attitude: both messages have them in a row
TWIST = struct.Struct("<6d")

Encoder = Callable[[Sample, int], bytes]


def encoder(types: Types, topic: Topic, robot: Robot, prefix: str, local: str = "") -> Encoder:
    """(sample, stamp [ns]) -> the bytes of a message of `topic`. prefix, local: as in `topics.published`."""
    if topic.qos == "clock":
        return clock
    if topic.key == "joint_states" and robot.joint_names:
        return JointTemplate(types, robot)
    if topic.key == "tf":
        return TransformTemplate(types, topic, Frames(robot, fixed=False, local=local))
    if topic.key == "odom":
        return OdometryTemplate(types, topic, robot, prefix)
    return lambda sample, stamp: bytes(encode(types, topic.type, topic.fields(sample, stamp)))


def clock(_: Sample | None, stamp: int) -> bytes:
    """rosgraph_msgs/Clock."""
    return b"\0\1\0\0" + STAMP.pack(*divmod(stamp, SECOND_NS))


class JointMessages:
    """sensor_msgs/JointState of the same joints each time."""

    def __init__(self, types: Types, names: Sequence[str]):
        self._types, self._names = types, list(names)
        self._sizes: tuple[int, ...] = ()
        self._bytes = bytearray()

    def __call__(self, stamp: int, frame: str, position: bytes, velocity: bytes, effort: bytes = b"") -> bytes:
        """The message. position, velocity, effort: arrays of doubles."""
        text = frame.encode()
        parts = text, position, velocity, effort
        if (sizes := tuple(map(len, parts))) != self._sizes:
            self._sizes = sizes
            self._build(frame)
        STAMP.pack_into(self._bytes, self._stamp, *divmod(stamp, SECOND_NS))
        for place, part in zip(self._places, parts, strict=True):
            self._bytes[place] = part
        return bytes(self._bytes)

    def _build(self, frame: str) -> None:
        """A message of such lengths, and where its parts lie."""
        fields = {key: [0.0] * (size // 8) for key, size in zip(NUMBERS, self._sizes[1:], strict=True)}
        self._bytes = encode(self._types, JOINT_STATE, {"header": header(0, frame), "name": self._names, **fields})
        found = layout(self._types, JOINT_STATE, self._bytes)
        self._stamp = found.numbers["header.stamp.sec"].offset
        begins = [found.strings["header.frame_id"][0], *(found.numbers[key].offset for key in NUMBERS)]
        self._places = [slice(begin, begin + size) for begin, size in zip(begins, self._sizes, strict=True)]


def joint_writer(types: Types) -> Callable[[Fields], bytes]:
    """Fields of sensor_msgs/JointState, as `topics` makes them -> bytes; one list of names after the other."""
    messages: dict[tuple[str, ...], JointMessages] = {}

    def write(fields: Fields) -> bytes:
        names = tuple(fields["name"])
        if names not in messages:
            messages.clear()
            messages[names] = JointMessages(types, names)
        sec, nanosec = fields["header"]["stamp"]
        stamp = sec * SECOND_NS + nanosec
        numbers = (array("d", fields.get(key, ())).tobytes() for key in NUMBERS)
        return messages[names](stamp, fields["header"]["frame_id"], *numbers)

    return write


class JointTemplate:
    """sensor_msgs/JointState of all one-axis freedoms."""

    def __init__(self, types: Types, robot: Robot):
        tree = robot.model.tree
        count = [len(hinge.joint_names) for hinge in robot.hinges]
        self._q = np.array([tree[i, Q] + k for i, n in enumerate(count) for k in range(n)], dtype=np.intp)
        self._v = np.array([tree[i, V] + k for i, n in enumerate(count) for k in range(n)], dtype=np.intp)
        self._message = JointMessages(types, robot.joint_names)

    def __call__(self, sample: Sample, stamp: int) -> bytes:
        """The message."""
        return self._message(stamp, "", sample.q[self._q].tobytes(), sample.v[self._v].tobytes())


def _first(types: Types, topic: Topic, sample: Sample, stamp: int) -> tuple[bytearray, Layout]:
    """A message as the table of topics has it, and where everything lies in it."""
    found = encode(types, topic.type, topic.fields(sample, stamp))
    return found, layout(types, topic.type, found)


class TransformTemplate:
    """tf2_msgs/TFMessage of all that moves."""

    def __init__(self, types: Types, topic: Topic, frames: Frames):
        self._types, self._topic, self._frames = types, topic, frames
        self._bytes = bytearray()

    def _build(self, sample: Sample, stamp: int) -> None:
        self._bytes, found = _first(self._types, self._topic, sample, stamp)
        paths = [f"transforms[{k}]." for k in range(len(self._frames.transforms(sample)))]
        ends = ("header.stamp.sec", "transform.translation.x")
        self._at = [tuple(found.numbers[path + end].offset for end in ends) for path in paths]

    def __call__(self, sample: Sample, stamp: int) -> bytes:
        """The message."""
        if not self._bytes:
            self._build(sample, stamp)
        buffer, time = self._bytes, divmod(stamp, SECOND_NS)
        for (at_stamp, at_pose), (_, _, q, p) in zip(self._at, self._frames.transforms(sample), strict=True):
            STAMP.pack_into(buffer, at_stamp, *time)
            POSE.pack_into(buffer, at_pose, *p, q[1], q[2], q[3], q[0])
        return bytes(buffer)


class OdometryTemplate:
    """nav_msgs/Odometry of a floating body."""

    def __init__(self, types: Types, topic: Topic, robot: Robot, prefix: str):
        self._types, self._topic, self._robot, self._prefix = types, topic, robot, prefix
        self._bytes = bytearray()

    def _build(self, sample: Sample, stamp: int) -> None:
        self._bytes, found = _first(self._types, self._topic, sample, stamp)
        frame = self._topic.fields(sample, stamp)["child_frame_id"]
        self._body = self._robot.body_index(frame.removeprefix(self._prefix))
        paths = ("header.stamp.sec", "pose.pose.position.x", "twist.twist.linear.x")
        self._stamp, self._pose, self._twist = (found.numbers[path].offset for path in paths)

    def __call__(self, sample: Sample, stamp: int) -> bytes:
        """The message."""
        if not self._bytes:
            self._build(sample, stamp)
        p, q, v, w = odometry_numbers(sample, self._body)
        STAMP.pack_into(self._bytes, self._stamp, *divmod(stamp, SECOND_NS))
        POSE.pack_into(self._bytes, self._pose, *p, q[1], q[2], q[3], q[0])
        TWIST.pack_into(self._bytes, self._twist, *v, *w)
        return bytes(self._bytes)
