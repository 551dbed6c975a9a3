"""MCAP bags of ours and of `ros2 bag record`: all files of a folder, damaged or not."""

import mmap
import re
from array import array
from pathlib import Path

from rbt_ros.bags import mcap_read as mcap
from rbt_ros.bags.mcap_write import CHANNEL, CHUNK, CHUNK_BYTES, MAGIC, MESSAGE, METADATA, RECORD, SCHEMA
from rbt_ros.bags.sources import Source, Topic
from rbt_ros.bags.stored import Chunk, Chunks, Messages, Piece, Place, unpacked
from rbt_ros.errors import ScenarioError


def mcap_files(path: Path) -> list[Path]:
    """The MCAP files of a bag in the order of recording; empty where it has another format."""
    if path.is_file():
        return [path] if path.suffix == ".mcap" else []
    return sorted(path.glob("*.mcap"), key=_number)


def _number(file: Path) -> tuple[int, str]:
    found = re.search(r"_(\d+)$", file.stem)
    return (int(found[1]) if found else -1, file.name)


def read_mcap(files: list[Path]) -> Source:
    """All messages up to the last whole chunk of each file."""
    topics: dict[str, Topic] = {}
    damage: list[str] = []
    metadata: dict[str, dict[str, str]] = {}
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
            damage.append(f"{file.name}: {found.damage}; what was written before that is read")
        metadata.update(found.metadata)
    return Source("mcap", topics, damage, metadata, size)


class McapFile:
    """One file, read up to where it is damaged."""

    def __init__(self, file: Path, chunks: Chunks):
        """chunks: where those are kept that were read last."""
        self._file, self._chunks = file, chunks
        self.damage, self.metadata = "", dict[str, dict[str, str]]()
        self.indexed = False  # whether it ends as it should
        self._schemas: dict[int, tuple[str, str, str]] = {}
        self._channels: dict[int, tuple[int, str, str, dict[str, str]]] = {}
        self._messages: dict[int, tuple[array, Messages]] = {}  # by channel: times, data
        try:
            self.size = file.stat().st_size
            with file.open("rb") as opened:
                if self.size == 0:
                    self.damage = "it is empty"
                    return
                with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    self._read(data)
                    self.indexed = not self.damage and data[-len(MAGIC) :] == MAGIC
        except OSError as err:
            raise ScenarioError(f"{file} cannot be read ({err.strerror}).") from err

    def _read(self, data: mmap.mmap) -> None:
        bare, end = 0, 0  # messages that lie in no chunk: from where, to where
        try:
            for kind, start, stop in mcap.records(data):
                if bare and (kind != MESSAGE or stop - bare > CHUNK_BYTES):
                    self._read_chunk(data, Place(bare, end - bare, packed=False))
                    bare = 0
                if kind == MESSAGE:
                    bare, end = bare or start - RECORD.size, stop
                elif kind == CHUNK:
                    self._read_chunk(data, Place(start, stop - start, packed=True))
                else:
                    self._take(kind, data[start:stop])
        except mcap.Damage as err:
            self.damage = str(err)
        if bare:
            self._read_rest(data, Place(bare, end - bare, packed=False))

    def _read_rest(self, data: mmap.mmap, place: Place) -> None:
        """Messages at the end, or before what is damaged."""
        try:
            self._read_chunk(data, place)
        except mcap.Damage as err:
            self.damage = str(err)

    def _read_chunk(self, data: mmap.mmap, place: Place) -> None:
        chunk, others = unpacked(data[place.at : place.at + place.size], place.packed)
        for kind, content in others:
            self._take(kind, content)
        self._note(chunk, place)

    def _note(self, chunk: Chunk, place: Place) -> None:
        """What is where."""
        self._chunks.keep(self._file, place.at, chunk)
        for channel, index in chunk.where.items():
            if channel not in self._messages:
                self._messages[channel] = array("q"), Messages(self._chunks)
            t_ns, messages = self._messages[channel]
            t_ns.extend(index.t_ns)
            messages.add(Piece(self._file, place, channel, len(index.t_ns)))

    def _take(self, kind: int, content: bytes) -> None:
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
        if self._messages and not self.damage:
            count = sum(len(t_ns) for t_ns, _ in self._messages.values())
            self.damage = f"{count} messages belong to no topic"
        return found
