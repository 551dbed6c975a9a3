"""`rbt repair`: what a killed process left becomes a whole bag: readable to its last chunk, with index and metadata."""

import heapq
from collections.abc import Iterator
from pathlib import Path

from rbt_ros.bags.mcap_source import McapFile, mcap_files
from rbt_ros.bags.mcap_write import Channel, McapWriter
from rbt_ros.bags.metadata import Part, custom_data, read_metadata, write_metadata
from rbt_ros.bags.plan import METADATA
from rbt_ros.bags.sources import Topic
from rbt_ros.bags.stored import Chunks
from rbt_ros.bags.type_texts import types_from
from rbt_ros.bags.types import Types
from rbt_ros.errors import ScenarioError

KEPT = ".damaged"  # what a damaged file is called afterwards


def repair(path: str | Path) -> list[str]:
    """Rebuild what is missing of an MCAP bag; what was done, in words. Damaged files are kept beside."""
    path = Path(path).expanduser()
    if not path.exists():
        raise ScenarioError(f"there is no bag {path}.")
    files = mcap_files(path)
    if not files:
        raise ScenarioError(f"{path} holds no .mcap file; sqlite3 bags are repaired by `sqlite3 FILE.db3 .recover`.")
    told: list[str] = []
    custom = custom_data(read_metadata(path)[0]) if path.is_dir() else {}
    parts: list[Part] = []
    topics: dict[str, tuple[Topic, int]] = {}
    for file in files:
        found = McapFile(file, Chunks())
        held = found.topics()
        times = [time for topic in held if topic.t_ns for time in (min(topic.t_ns), max(topic.t_ns))]
        count = sum(len(topic.t_ns) for topic in held)
        if not held:
            told.append(
                f"{file.name}: {found.damage or 'it holds no topic'}; nothing can be read, it is kept as {KEPT}"
            )
            file.rename(file.with_name(file.name + KEPT))
            continue
        if found.damage or not found.indexed:
            _rewrite(file, held, found.metadata)
            why = found.damage or "its index is missing"
            told.append(f"{file.name}: {why}; {count} messages are whole, the file as it was is kept as {KEPT}")
        custom |= found.metadata.get(METADATA, {})
        parts.append(Part(file.name, min(times, default=0), max(times, default=0), count))
        for topic in held:
            known, before = topics.get(topic.name, (topic, 0))
            topics[topic.name] = (known, before + len(topic.t_ns))
    if path.is_dir() and parts:
        store, _ = types_from(topic for topic, _ in topics.values())
        types = Types(store)
        channels = [
            (_channel(topic), types.definition(topic.type)[1] if types.has(topic.type) else "", count)
            for topic, count in topics.values()
        ]
        write_metadata(path, parts, channels, custom)
        told.append(f"metadata.yaml: {sum(part.messages for part in parts)} messages in {len(parts)} files")
    return told


def _channel(topic: Topic) -> Channel:
    return Channel(0, topic.name, topic.type, topic.definition, topic.qos, topic.encoding)


def _rewrite(file: Path, topics: list[Topic], metadata: dict[str, dict[str, str]]) -> None:
    """The same messages in a whole file of that name."""
    draft = file.with_name(file.name + ".part")
    draft.unlink(missing_ok=True)
    writer = McapWriter(draft)
    for topic in topics:
        writer.add_channel(*_channel(topic)[1:])
    for time, number, data in heapq.merge(*(_rows(number, topic) for number, topic in enumerate(topics, 1))):
        writer.write(number, time, data)
    for name, values in metadata.items():
        writer.add_metadata(name, values)
    writer.close()
    file.rename(file.with_name(file.name + KEPT))
    draft.rename(file)


def _rows(number: int, topic: Topic) -> Iterator[tuple[int, int, bytes]]:
    rows = sorted(zip(topic.t_ns, range(len(topic.data)), strict=True))
    return ((time, number, topic.data[row]) for time, row in rows)
