"""MCAP bags of ours and of `ros2 bag record`: all files of a folder, damaged or not."""

import mmap
import os
import re
import struct
import zlib
from array import array
from pathlib import Path

import numpy as np

from rbt_ros.bags import mcap_read as mcap
from rbt_ros.bags.mcap_index import fault_of, read_summary
from rbt_ros.bags.mcap_write import (
    CHANNEL,
    CHUNK,
    CHUNK_BYTES,
    DATA_END,
    MAGIC,
    MESSAGE,
    MESSAGE_INDEX,
    METADATA,
    RECORD,
    SCHEMA,
)
from rbt_ros.bags.sources import OURS, Gap, Source, Topic, gaps_of, joined
from rbt_ros.bags.stored import Chunk, Chunks, Messages, Piece, Place, unpacked
from rbt_ros.errors import ScenarioError
from rbt_ros.paths import opened

NO_MCAP = "it does not begin as MCAP does"


def mcap_files(path: Path) -> list[Path]:
    """The MCAP files of a bag in the order of recording; empty where it has another format."""
    if os.path.isfile(path):
        return [path] if path.suffix == ".mcap" else []
    return sorted(path.glob("*.mcap"), key=_number)


def _number(file: Path) -> tuple[int, str]:
    found = re.search(r"_(\d+)$", file.stem)
    return (int(found[1]) if found else -1, file.name)


def read_mcap(files: list[Path]) -> Source:
    """All messages in whole chunks."""
    topics: dict[str, Topic] = {}
    damage: list[str] = []
    metadata: dict[str, dict[str, str]] = {}
    gaps: list[Gap] = []
    size, chunks = 0, Chunks()
    for file in files:
        found = McapFile(file, chunks)
        size += found.size
        for topic in found.topics():
            known = topics.get(topic.name)
            if known is None:
                topics[topic.name] = topic
            elif known.type == topic.type:
                known.t_ns.extend(topic.t_ns)
                assert isinstance(known.data, Messages) and isinstance(topic.data, Messages)
                known.data.extend(topic.data)
            elif topic.t_ns:
                damage.append(f"{file.name}: topic {topic.name} is {topic.type} here and {known.type} elsewhere")
        if found.damage:
            rest = "what was written before that is read" if found.cut else "everything else is read"
            damage.append(f"{file.name}: {found.damage}; {rest}")
        gaps += found.gaps
        metadata.update(found.metadata)
    return Source("mcap", topics, damage, metadata, size, gaps)


class McapFile:
    """One file, read but for what is damaged."""

    def __init__(self, file: Path, chunks: Chunks):
        """chunks: where those are kept that were read last."""
        self._file, self._chunks = file, chunks
        self.metadata = dict[str, dict[str, str]]()
        self.gaps = list[Gap]()
        self.cut = False  # whether it breaks off: what would have come is not known
        self._damage: list[str] = []
        self._schemas: dict[int, tuple[str, str, str]] = {}
        self._channels: dict[int, tuple[int, str, str, dict[str, str]]] = {}
        self._messages: dict[int, tuple[array, Messages]] = {}  # by channel: times, data
        self._places: dict[int, int] = {}  # of chunk records: their lengths, by where they begin
        self._whole: set[int] = set()  # where those begin that are read
        self._last: Chunk | None = None  # the one of which an index may come
        self._last_ns: int | None = None
        self._unproven = False  # whether there are messages without a checksum
        try:
            self.size = file.stat().st_size
            with opened(file, "a bag", ScenarioError) as stored:
                if self.size == 0:
                    self._lose("it is empty", cut=True)
                    return
                with mmap.mmap(stored.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    self._read(data)
                    self.gaps += gaps_of(self.metadata.get(OURS, {}))
        except OSError as err:
            raise ScenarioError(f"{file} cannot be read ({err.strerror}).") from err

    @property
    def damage(self) -> str:
        """In words; "" where it is whole."""
        more = f" (and {len(self._damage) - 1} more)" if len(self._damage) > 1 else ""
        return f"{self._damage[0]}{more}" if self._damage else ""

    def _read(self, data: mmap.mmap) -> None:
        if data[: len(MAGIC)] != MAGIC:
            self._damage.append(NO_MCAP)
        bare, end = 0, 0  # messages that lie in no chunk: from where, to where
        for kind, start, stop in mcap.records(data):
            if bare and (kind != MESSAGE or stop - bare > CHUNK_BYTES):
                self._read_chunk(data, Place(bare, end - bare, packed=False))
                bare = 0
            if kind == MESSAGE:
                bare, end = bare or start - RECORD.size, stop
            elif kind == CHUNK:
                self._places[start - RECORD.size] = stop - start + RECORD.size
                self._read_chunk(data, Place(start, stop - start, packed=True))
            elif kind == MESSAGE_INDEX:
                self._check_index(data[start:stop], start)
            elif kind == mcap.LOST:
                self._lose(f"bytes {start} to {stop} are damaged")
            elif kind == mcap.BREAK:
                within = "in the record " if stop > start else ""
                self._lose(
                    f"it breaks off {within}at byte {start}" if data[: len(MAGIC)] == MAGIC else NO_MCAP, cut=True
                )
            elif kind in mcap.AT_THE_END:
                self._end(data, kind, start)
            else:
                self._take(kind, data[start:stop])

    def _lose(self, why: str, cut: bool = False) -> None:
        """Messages may be lost, between the last one and the next; cut: as it breaks off there."""
        self.cut |= cut
        if why not in self._damage:
            self._damage.append(why)
        if not self.gaps or self.gaps[-1].last_ns is not None:
            self.gaps.append(Gap(self._last_ns, None))

    def _read_chunk(self, data: mmap.mmap, place: Place) -> None:
        content = data[place.at : place.at + place.size]
        where = f"the chunk at byte {place.at - RECORD.size}" if place.packed else f"the messages from byte {place.at}"
        self._unproven |= not (place.packed and mcap.has_checksum(content))
        try:
            chunk, others, damage = unpacked(content, place.packed)
        except mcap.Damage as err:
            self._last = None
            self._lose(f"{where}: {err}")
            return
        for kind, record in others:
            self._take(kind, record)
        self._note(chunk, place)
        self._last = chunk
        if damage:
            self._lose(f"{where}: {damage}")
        else:
            self._whole.add(place.at - RECORD.size)

    def _note(self, chunk: Chunk, place: Place) -> None:
        """What is where."""
        self._chunks.keep(self._file, place.at, chunk)
        for channel, index in chunk.where.items():
            if channel not in self._messages:
                self._messages[channel] = array("q"), Messages(self._chunks)
            t_ns, messages = self._messages[channel]
            t_ns.extend(index.t_ns)
            messages.add(Piece(self._file, place, channel, len(index.t_ns)))
        if chunk.where:
            if self.gaps and self.gaps[-1].last_ns is None:
                first = min(min(index.t_ns) for index in chunk.where.values())
                self.gaps[-1] = self.gaps[-1]._replace(last_ns=first)
            last = max(max(index.t_ns) for index in chunk.where.values())
            self._last_ns = last if self._last_ns is None else max(self._last_ns, last)

    def _check_index(self, content: bytes, start: int) -> None:
        """Of one channel in the chunk before: times and places."""
        if self._last is None:
            return
        (channel,) = struct.unpack_from("<H", content)
        index = self._last.where.get(channel)
        told = np.frombuffer(content, "<i8", offset=6).reshape(-1, 2)
        there = np.empty((0, 2), np.int64) if index is None else index.rows()
        if not np.array_equal(told, there) and not np.array_equal(sorted(told.tolist()), sorted(there.tolist())):
            self._damage.append(f"the index of a chunk at byte {start - RECORD.size} is not right")

    def _end(self, data: mmap.mmap, kind: int, start: int) -> None:
        """Compare what is there with what the end of the file tells."""
        crc = 0
        if kind == DATA_END:
            (crc,) = struct.unpack_from("<I", data, start)
        altered = bool(crc) and zlib.crc32(memoryview(data)[: start - RECORD.size]) != crc
        if altered and not self._damage:
            self._damage.append("it is not what its checksum says")
        summary = read_summary(data, start + 4 if kind == DATA_END else None)
        if summary.proven:  # what it repeats is right, whatever became of the original
            self._schemas |= summary.schemas
            self._channels |= summary.channels
        count = sum(len(t_ns) for number, (t_ns, _) in self._messages.items() if number in self._channels)
        if altered and (self._unproven or not summary.proven):
            self.gaps = [Gap(None, None)]
        elif summary.proven and summary.messages == count:
            self.gaps.clear()  # what is damaged are no messages
        elif lost := [Gap(first, last) for at, (first, last, _) in summary.chunks.items() if at not in self._whole]:
            self.gaps = joined(lost)
        elif summary.proven and not self.gaps:
            self.gaps.append(Gap(None, None))
        fault = fault_of(summary, self._places, count)
        if fault and (summary.fault or not self._damage):
            self._damage.append(f"its index is damaged: {fault}")

    def _take(self, kind: int, content: bytes) -> None:
        try:
            self._take_whole(kind, content)
        except mcap.Damage as err:
            self._damage.append(str(err))

    def _take_whole(self, kind: int, content: bytes) -> None:
        if kind == SCHEMA:
            number, *schema = mcap.schema_of(content)
            self._schemas[number] = tuple(schema)  # type: ignore[assignment]
        elif kind == CHANNEL:
            number, *channel = mcap.channel_of(content)
            self._channels[number] = tuple(channel)  # type: ignore[assignment]
        elif kind == METADATA:
            name, values = mcap.metadata_of(content)
            self.metadata[name] = values

    def topics(self) -> list[Topic]:
        """What the file holds; messages without a topic are told in `damage`."""
        found = []
        for number, (schema, topic, encoding, extra) in self._channels.items():
            kind, how, definition = self._schemas.get(schema, ("unknown", "", ""))
            if encoding != "cdr":
                kind = f"{kind} ({encoding})"
            t_ns, data = self._messages.pop(number, (array("q"), Messages(self._chunks)))
            found.append(Topic(topic, kind, definition, how, extra.get("offered_qos_profiles", ""), t_ns, data))
        if self._messages:
            orphans = [time for t_ns, _ in self._messages.values() for time in t_ns]
            self._messages.clear()
            self._damage.insert(0, f"{len(orphans)} messages belong to no topic")
            self.gaps.append(Gap(min(orphans), max(orphans)))
        return found
