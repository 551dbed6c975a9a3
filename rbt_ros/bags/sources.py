"""What the readers of all formats give."""

import json
from array import array
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

OURS = "rbt_ros"  # what our maps of strings are called in the files
GAPS = "rbt_gaps"


class Topic(NamedTuple):
    """The messages of one topic, as bytes (CDR)."""

    name: str
    type: str
    definition: str  # "" where the bag has none
    encoding: str  # of the definition: ros2msg, ros2idl, ros1msg
    qos: str  # YAML of the offered profiles
    t_ns: array  # of int64: when each was recorded
    data: Sequence[bytes]  # of MCAP bags in their files, read when they are asked for


class Gap(NamedTuple):
    """A stretch of time of which messages are lost; None where its begin, or its end, is not known."""

    first_ns: int | None
    last_ns: int | None

    def text(self) -> str:
        """For people."""
        first = "" if self.first_ns is None else f"from {self.first_ns * 1e-9:.9g} s"
        last = "on" if self.last_ns is None else f"to {self.last_ns * 1e-9:.9g} s"
        return f"{first} {last}".strip() if first or self.last_ns is not None else "anywhere"


def joined(gaps: Iterable[Gap]) -> list[Gap]:
    """Those with known ends, where one follows on another as one."""
    found: list[tuple[int, int]] = []
    for first, last in sorted((gap.first_ns or 0, gap.last_ns or 0) for gap in gaps):
        if found and first <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(last, found[-1][1])
        else:
            found.append((first, last))
    return [Gap(*ends) for ends in found]


def gaps_of(said: Mapping[str, str]) -> list[Gap]:
    """Those that the metadata of a bag tells of, which was damaged before it was repaired."""
    try:
        return [Gap(first, last) for first, last in json.loads(said.get(GAPS, "[]"))]
    except (ValueError, TypeError):  # a damaged text
        return [Gap(None, None)]


def said_of_gaps(gaps: list[Gap]) -> dict[str, str]:
    """How metadata tells of them."""
    return {GAPS: json.dumps(list(dict.fromkeys(gaps)))} if gaps else {}


class Source(NamedTuple):
    """A bag."""

    format: str
    topics: dict[str, Topic]
    damage: list[str]  # what could not be read, in words
    metadata: dict[str, dict[str, str]]  # maps by name
    size: int  # [bytes]
    gaps: list[Gap]  # of whose messages none are here, or not all
