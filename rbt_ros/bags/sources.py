"""What the readers of all formats give."""

from array import array
from collections.abc import Sequence
from typing import NamedTuple


class Topic(NamedTuple):
    """The messages of one topic, as bytes (CDR)."""

    name: str
    type: str
    definition: str  # "" where the bag has none
    encoding: str  # of the definition: ros2msg, ros2idl, ros1msg
    qos: str  # YAML of the offered profiles
    t_ns: array  # of int64: when each was recorded
    data: Sequence[bytes]  # of MCAP bags in their files, read when they are asked for


class Source(NamedTuple):
    """A bag."""

    format: str
    topics: dict[str, Topic]
    damage: list[str]  # what could not be read, in words
    metadata: dict[str, dict[str, str]]  # maps by name
    size: int  # [bytes]
