"""The summary at the end of an MCAP file: what readers in a hurry go by, and what it tells of the rest."""

import struct
import zlib
from typing import NamedTuple

from rbt_ros.bags import mcap_read as mcap
from rbt_ros.bags.mcap_write import (
    CHANNEL,
    CHUNK_INDEX,
    FOOTER,
    MAGIC,
    RECORD,
    SCHEMA,
    STATISTICS,
)

END = RECORD.size + 20 + len(MAGIC)  # footer and magic


class Summary(NamedTuple):
    """What it says. Of a file without one, that is nothing."""

    fault: str = ""  # why readers cannot use it
    proven: bool = False  # by its checksum
    messages: int | None = None
    schemas: dict[int, tuple[str, str, str]] = {}
    channels: dict[int, tuple[int, str, str, dict[str, str]]] = {}
    chunks: dict[int, tuple[int, int, int]] = {}  # by where each begins: first and last time, length with its head


def read_summary(data: mcap.Bytes, end: int | None) -> Summary:
    """That of a file whose data section ends there; None: that is not known."""
    at = len(data) - END
    footer = mcap.record_at(data, at) if at >= (end or 0) else None
    if footer is None or footer[0] != FOOTER or data[footer[2] :] != MAGIC:
        return Summary("the file does not end as it should")
    begin, offsets, crc = struct.unpack_from("<QQI", data, footer[1])
    if begin == 0:
        return Summary() if at == end else Summary("its place is not told")
    if begin != end and not (end is None and crc and begin < at):
        return Summary("it is not where its place is told")
    if crc and zlib.crc32(data[begin : footer[2] - 4]) != crc:
        return Summary("it is not what its checksum says")
    if offsets and not begin <= offsets <= at:
        return Summary("the place of its offsets is not in it")
    try:
        return _records(data, begin, at)._replace(proven=bool(crc))
    except mcap.Damage as err:
        return Summary(str(err))


def _records(data: mcap.Bytes, at: int, end: int) -> Summary:
    schemas, channels, chunks, messages = {}, {}, {}, None
    while at < end:
        found = mcap.record_at(data, at)
        if found is None or found[2] > end:
            raise mcap.Damage("a record of it is damaged")
        kind, start, at = found
        content = data[start:at]
        if kind == SCHEMA:
            number, *schema = mcap.schema_of(content)
            schemas[number] = tuple(schema)
        elif kind == CHANNEL:
            number, *channel = mcap.channel_of(content)
            channels[number] = tuple(channel)
        elif kind == STATISTICS:
            (messages,) = struct.unpack_from("<Q", content)
        elif kind == CHUNK_INDEX:
            first, last, begin, size = struct.unpack_from("<QQQQ", content)
            chunks[begin] = first, last, size
    return Summary("", False, messages, schemas, channels, chunks)  # type: ignore[arg-type]


def fault_of(summary: Summary, chunks: dict[int, int], messages: int) -> str:
    """Why a reader cannot go by it, which finds so many messages, and chunks at those places, so long."""
    if summary.fault:
        return summary.fault
    if summary.chunks and {at: size for at, (_, _, size) in summary.chunks.items()} != chunks:
        return "it tells of other chunks"
    if summary.messages not in (None, messages):
        return f"it counts {summary.messages} messages, and {messages} are here"
    return ""
