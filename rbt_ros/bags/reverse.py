"""Messages of a bag for a replay that goes backwards under a clock that rises: the film of the motion, turned round.

A stamp s becomes C - s, so that what came last comes first; rates change their sign, so that they are still the
derivatives of what goes with them. Efforts and forces stay: accelerations are the same both ways. Commands, digests,
diagnostics and markers, which remember, mean nothing backwards.
"""

import struct

import numpy as np

from rbt_ros.bags.cdr import Layout, layout
from rbt_ros.bags.sources import Topic
from rbt_ros.bags.types import Types

SECOND_NS = 1_000_000_000
RATES = {  # type -> how the paths of its rates begin
    "tf2_msgs/msg/TFMessage": (),
    "sensor_msgs/msg/JointState": ("velocity",),
    "sensor_msgs/msg/MultiDOFJointState": ("twist[",),
    "nav_msgs/msg/Odometry": ("twist.twist.",),
    "geometry_msgs/msg/PoseStamped": (),
    "geometry_msgs/msg/TwistStamped": ("twist.",),
    "geometry_msgs/msg/WrenchStamped": (),
}


def obstacle(topic: Topic, latched: bool = False) -> str:
    """Why a topic has no meaning backwards; "" where it has one. latched: what is said once holds both ways."""
    if "/latched/" in topic.name or topic.name.endswith("/run"):
        return "commands act, and runs go, forwards only"
    return "" if latched or topic.type in RATES else f"{topic.type} means nothing backwards"


class Mirror:
    """Turns messages round between two times of recording [ns]."""

    def __init__(self, types: Types, first: int, last: int):
        self._types, self._about = types, first + last
        self._stamps_about: int | None = None  # C: another one where stamps are of another clock
        self._layouts: dict[str, tuple[Layout, bytes]] = {}

    def time(self, t_ns: int) -> int:
        """When a message is sent that was recorded then."""
        return self._about - t_ns

    def message(self, topic: Topic, data: bytes, t_ns: int) -> bytes:
        """The message turned round. MessageError where it is none of its type."""
        found, turned = self._layout(topic, data), bytearray(data)
        for path in found.times:
            at, form = found.numbers[f"{path}.sec"].offset, found.order + "iI"  # of four bytes each: no gap between
            sec, rest = struct.unpack_from(form, data, at)
            stamp = sec * SECOND_NS + rest
            if self._stamps_about is None:
                self._stamps_about = self._about + 2 * (stamp - t_ns)
            struct.pack_into(form, turned, at, *divmod(self._stamps_about - stamp, SECOND_NS))
        for path, leaf in found.numbers.items():
            if path.startswith(RATES[topic.type] or "\0"):
                count = 1 if leaf.length is None else leaf.length
                rates = np.frombuffer(turned, found.order + leaf.letter, count, leaf.offset)
                np.negative(rates, out=rates)
        return bytes(turned)

    def _layout(self, topic: Topic, data: bytes) -> Layout:
        """That of the message before, where the lengths in it are the same."""
        known = self._layouts.get(topic.name)
        if known and known[0].size == len(data) and known[1] == _lengths(known[0], data):
            return known[0]
        found = layout(self._types, topic.type, data)
        self._layouts[topic.name] = found, _lengths(found, data)
        return found


def _lengths(found: Layout, data: bytes) -> bytes:
    """The bytes that tell lengths, and the order of all others."""
    return data[:2] + np.frombuffer(data, np.uint8)[found.lengths].tobytes()
