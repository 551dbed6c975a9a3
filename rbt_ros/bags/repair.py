"""`rbt repair`: of a bag that was damaged, or whose recording was killed, what is whole becomes a whole bag."""

import heapq
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rbt_ros.bags.mcap_source import McapFile, mcap_files
from rbt_ros.bags.mcap_write import Channel, McapWriter
from rbt_ros.bags.metadata import Part, custom_data, read_metadata, write_metadata
from rbt_ros.bags.sources import OURS, Gap, Topic, gaps_of, said_of_gaps
from rbt_ros.bags.stored import Chunks
from rbt_ros.bags.type_texts import types_from
from rbt_ros.bags.types import Types
from rbt_ros.errors import ScenarioError
from rbt_ros.paths import as_path

KEPT = ".damaged"  # what a damaged file is called afterwards
DRAFT = ".part"


class Found(NamedTuple):
    """One file of the bag."""

    path: Path
    file: McapFile
    topics: list[Topic]

    @property
    def part(self) -> Part:
        """What metadata.yaml tells of it."""
        times = [time for topic in self.topics if topic.t_ns for time in (min(topic.t_ns), max(topic.t_ns))]
        count = sum(len(topic.t_ns) for topic in self.topics)
        return Part(self.path.name, min(times, default=0), max(times, default=0), count)

    @property
    def gaps(self) -> list[Gap]:
        """Where messages are lost that were there. What a killed process would have written is no such."""
        known = [gap for gap in self.file.gaps if not (self.file.cut and gap.last_ns is None)]
        return known if self.topics else [*known, Gap(None, None)]


def repair(path: str | Path) -> list[str]:
    """Rebuild what is missing of an MCAP bag; what was done, in words. Damaged files are kept beside."""
    path = as_path(path, "bag", ScenarioError)
    if not os.path.exists(path):
        raise ScenarioError(f"there is no bag {path!s:.200}.")
    files = mcap_files(path)
    if not files:
        raise ScenarioError(f"{path} holds no .mcap file; sqlite3 bags are repaired by `sqlite3 FILE.db3 .recover`.")
    found = [Found(file, read := McapFile(file, Chunks()), read.topics()) for file in files]
    drafts: list[Path] = []
    try:
        for each in found:
            if each.topics and each.file.damage:
                drafts.append(_rewritten(each))
        return [*_exchanged(found), *(_described(path, found) if path.is_dir() else [])]
    except OSError as err:
        raise ScenarioError(
            f"{path} cannot be repaired ({err.strerror}): beside its files room for as much again is needed, in a "
            "folder that may be written. Copy it elsewhere, and repair that."
        ) from err
    finally:
        for draft in drafts:
            draft.unlink(missing_ok=True)


def _rewritten(found: Found) -> Path:
    """The same messages in a whole file beside it."""
    draft = found.path.with_name(found.path.name + DRAFT)
    draft.unlink(missing_ok=True)
    writer = McapWriter(draft)
    try:
        for topic in found.topics:
            writer.add_channel(*_channel(topic)[1:])
        for time, number, data in heapq.merge(*(_rows(number, topic) for number, topic in enumerate(found.topics, 1))):
            writer.write(number, time, data)
        ours = found.file.metadata.get(OURS, {}) | said_of_gaps(found.gaps)
        for name, values in (found.file.metadata | ({OURS: ours} if ours else {})).items():
            writer.add_metadata(name, values)
        writer.close()
    except OSError:
        writer.abandon()
        draft.unlink(missing_ok=True)
        raise
    return draft


def _exchanged(found: list[Found]) -> list[str]:
    """Put the drafts in the places of what they are of; what was done, in words."""
    told = []
    for path, file, topics in found:
        if topics and not file.damage:
            continue
        kept = _kept(path)
        path.rename(kept)
        what, where = f"{path.name}: {file.damage or 'it holds no topic'}", f"is kept as {kept.suffix}"
        if not topics:
            told.append(f"{what}; nothing can be read, it {where}")
            continue
        path.with_name(path.name + DRAFT).rename(path)
        count = sum(len(topic.t_ns) for topic in topics)
        told.append(f"{what}; {count} messages are whole, the file as it was {where}")
    return told


def _kept(path: Path) -> Path:
    """Where a damaged file goes, beside what earlier repairs kept."""
    kept, number = path.with_name(path.name + KEPT), 2
    while kept.exists():
        kept, number = path.with_name(f"{path.name}{KEPT}{number}"), number + 1
    return kept


def _described(folder: Path, found: list[Found]) -> list[str]:
    """Write metadata.yaml; what it tells, in words."""
    whole = [each for each in found if each.topics]
    if not whole:
        return []
    information, _ = read_metadata(folder)
    custom, gaps = custom_data(information), list[Gap]()
    for each in found:
        gaps += each.gaps
        custom |= each.file.metadata.get(OURS, {})
    parts = [each.part for each in whole]
    count, before = sum(part.messages for part in parts), information.get("message_count")
    if isinstance(before, int) and before > count and not gaps:
        gaps += [gap for each in found for gap in each.file.gaps] or [Gap(None, None)]
    topics: dict[str, tuple[Topic, int]] = {}
    for topic in (topic for each in whole for topic in each.topics):
        known, sofar = topics.get(topic.name, (topic, 0))
        topics[topic.name] = (known, sofar + len(topic.t_ns))
    store, _ = types_from(topic for topic, _ in topics.values())
    types = Types(store)
    channels = [
        (_channel(topic), types.definition(topic.type)[1] if types.has(topic.type) else "", count)
        for topic, count in topics.values()
    ]
    write_metadata(folder, parts, channels, custom | said_of_gaps([*gaps_of(custom), *gaps]))
    lost = [f"lost: what was recorded {gap.text()}" for gap in dict.fromkeys(gaps)]
    return [*lost, f"metadata.yaml: {count} messages in {len(parts)} files"]


def _channel(topic: Topic) -> Channel:
    return Channel(0, topic.name, topic.type, topic.definition, topic.qos, topic.encoding)


def _rows(number: int, topic: Topic) -> Iterator[tuple[int, int, bytes]]:
    rows = sorted(zip(topic.t_ns, range(len(topic.data)), strict=True))
    return ((time, number, topic.data[row]) for time, row in rows)
