"""Message fields as plain data: what `topics` and `markers` make, and `ros.convert` writes into messages by name."""

from typing import Any, NamedTuple

Fields = dict[str, Any]


class Time(NamedTuple):
    """builtin_interfaces/Time."""

    sec: int
    nanosec: int


class Vector3(NamedTuple):
    """geometry_msgs/Vector3 and Point."""

    x: float
    y: float
    z: float


class Quaternion(NamedTuple):
    """geometry_msgs/Quaternion, in our order: fields are set by name."""

    w: float
    x: float
    y: float
    z: float


def time_of(ns: int) -> Time:
    """A stamp."""
    return Time(*divmod(ns, 1_000_000_000))


def header(stamp: int, frame: str = "") -> Fields:
    """std_msgs/Header."""
    return {"stamp": time_of(stamp), "frame_id": frame}
