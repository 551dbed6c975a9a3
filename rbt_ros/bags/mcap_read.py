"""MCAP files read from front to back, without their index; what is damaged is stepped over."""

import mmap
import re
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import lz4.frame

from rbt_ros.bags.mcap_write import (
    CHANNEL,
    CHUNK,
    CHUNK_INDEX,
    DATA_END,
    FOOTER,
    HEADER,
    MAGIC,
    MESSAGE,
    MESSAGE_HEAD,
    MESSAGE_INDEX,
    METADATA,
    METADATA_INDEX,
    RECORD,
    SCHEMA,
    STATISTICS,
    SUMMARY_OFFSET,
)

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd


class Damage(Exception):
    """Why a file is read only up to here."""


class _Cursor:
    """Takes numbers and strings from a record; Damage where it ends too early."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def numbers(self, form: str) -> tuple[Any, ...]:
        try:
            found = struct.unpack_from("<" + form, self.data, self.at)
        except struct.error as err:
            raise Damage("a record ends too early") from err
        self.at += struct.calcsize("<" + form)
        return found

    def text(self) -> str:
        return self.bytes("I").decode("utf-8", "replace")

    def bytes(self, form: str) -> bytes:
        (count,) = self.numbers(form)
        if self.at + count > len(self.data):
            raise Damage("a record ends too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def map(self) -> dict[str, str]:
        inner, found = _Cursor(self.bytes("I")), {}
        while inner.at < len(inner.data):
            key = inner.text()
            found[key] = inner.text()
        return found


Bytes = bytes | mmap.mmap
LOST, BREAK = 0, -1  # in place of a kind: bytes that are no records; that, to the end of the file
ATTACHMENT, ATTACHMENT_INDEX = 0x09, 0x0A
AT_THE_END = (DATA_END, FOOTER, CHUNK_INDEX, STATISTICS, METADATA_INDEX, SUMMARY_OFFSET, ATTACHMENT_INDEX)
BEGINNING = re.compile(rb"[\x02-\x0f](?=.{4}\0{4})", re.DOTALL)  # of a record of less than 4 GiB
# what a record is made of: so many bytes, or some whose number comes first as "I" or "Q"
PARTS: dict[int, tuple[int | str, ...]] = {
    **{HEADER: ("I", "I"), FOOTER: (20,), SCHEMA: (2, "I", "I", "I"), CHANNEL: (4, "I", "I", "I")},
    **{CHUNK: (28, "I", "Q"), MESSAGE_INDEX: (2, "I"), CHUNK_INDEX: (32, "I", 8, "I", 16)},
    **{ATTACHMENT: (16, "I", "I", "Q", 4), ATTACHMENT_INDEX: (40, "I", "I"), STATISTICS: (42, "I")},
    **{METADATA: ("I", "I"), METADATA_INDEX: (16, "I"), SUMMARY_OFFSET: (17,), DATA_END: (4,)},
}


def records(data: Bytes) -> Iterator[tuple[int, int, int]]:
    """(kind, begin and end of the content) of each record of the data section, to that which ends it.

    Bytes that are no records are (LOST, begin, end); (BREAK, begin, end) where no record comes behind them.
    """
    at, bare = len(MAGIC), True  # whether messages lie in no chunks
    while True:
        found = record_at(data, at)
        if found and found[0] == MESSAGE and not record_at(data, found[2]):
            # its length may be what is damaged
            then = _next_record(data, at + 1, bare)
            found = found if then >= found[2] else None
        if found is None:
            then = _next_record(data, at + 1, bare)
            yield (LOST if then < len(data) else BREAK), at, then
            if then == len(data):
                return
            at = then
            continue
        yield found
        if found[0] in AT_THE_END:
            return
        bare, at = bare and found[0] != CHUNK, found[2]


def record_at(data: Bytes, at: int) -> tuple[int, int, int] | None:
    """Kind, begin and end of the content of the record that begins there; None where none does."""
    if at + RECORD.size > len(data):
        return None
    kind, size = RECORD.unpack_from(data, at)
    start = at + RECORD.size
    return (kind, start, start + size) if size <= len(data) - start and _fits(data, kind, start, start + size) else None


def _fits(data: Bytes, kind: int, at: int, stop: int) -> bool:
    """Whether the lengths within a record add up to its own."""
    if kind == MESSAGE:
        return stop - at >= MESSAGE_HEAD.size - RECORD.size
    if kind not in PARTS:
        return False
    for part in PARTS[kind]:
        if isinstance(part, str):
            begin = at + struct.calcsize(part)
            if begin > stop:
                return False
            (part,) = struct.unpack_from("<" + part, data, at)
            at = begin
        at += int(part)
    return at == stop


def _next_record(data: Bytes, at: int, bare: bool) -> int:
    """Where the next record begins that is surely one, behind damage; the end of the data where there is none."""
    while begin := BEGINNING.search(data, at):
        at = begin.start()
        found = record_at(data, at)
        if found and _is_sure(data, found, bare):
            return at
        at += 1
    return len(data)


def _is_sure(data: Bytes, found: tuple[int, int, int], bare: bool) -> bool:
    """By more than its lengths: such bytes are in messages, too."""
    kind, start, stop = found
    if kind == MESSAGE:
        return bare and all(_follow(data, stop, 2))
    if kind in (CHUNK, CHUNK_INDEX):
        return True
    if kind in (SCHEMA, CHANNEL, METADATA, DATA_END):
        return (kind == DATA_END or stop - start > 16) and all(_follow(data, stop, 1))
    return kind == FOOTER and data[stop:] == MAGIC


def _follow(data: Bytes, at: int, count: int) -> Iterator[bool]:
    """Whether so many records follow there, as far as there is something."""
    for _ in range(count):
        if at == len(data):
            return
        found = record_at(data, at)
        yield found is not None
        at = found[2] if found else at


def schema_of(content: bytes) -> tuple[int, str, str, str]:
    """Number, type, encoding and definition in a schema record."""
    cursor = _Cursor(content)
    (number,) = cursor.numbers("H")
    return number, cursor.text(), cursor.text(), cursor.text()


def channel_of(content: bytes) -> tuple[int, int, str, str, dict[str, str]]:
    """Number, schema, topic, encoding of messages and metadata in a channel record."""
    cursor = _Cursor(content)
    number, schema = cursor.numbers("HH")
    return number, schema, cursor.text(), cursor.text(), cursor.map()


def metadata_of(content: bytes) -> tuple[str, dict[str, str]]:
    """Name and map in a metadata record."""
    cursor = _Cursor(content)
    return cursor.text(), cursor.map()


# to no more than one byte too many, whatever a frame says of itself
UNPACK: dict[str, Callable[[bytes, int], bytes]] = {
    "": lambda packed, size: packed,
    "lz4": lambda packed, size: lz4.frame.LZ4FrameDecompressor().decompress(packed, size + 1),
    "zstd": lambda packed, size: zstd.ZstdDecompressor().decompress(packed, size + 1),
}


def has_checksum(content: bytes) -> bool:
    """Whether a chunk tells of one."""
    return content[24:28] != bytes(4)


def chunk_records(content: bytes) -> bytes:
    """The records in a chunk; Damage where it is not what its checksum says."""
    cursor = _Cursor(content)
    _, _, size, crc = cursor.numbers("QQQI")
    how, packed = cursor.text(), cursor.bytes("Q")
    if how not in UNPACK:
        raise Damage(f"a chunk is compressed by '{how[:20]}'")
    if how and size > max(1 << 28, 1000 * len(packed)):
        raise Damage(f"a chunk claims {size} bytes")
    try:
        raw = UNPACK[how](packed, size)
    except (RuntimeError, EOFError, zstd.ZstdError, MemoryError) as err:
        raise Damage(f"a chunk cannot be decompressed ({err})") from err
    if len(raw) != size or (crc and zlib.crc32(raw) != crc):
        raise Damage("a chunk is not what its checksum says")
    return raw


def index_messages(raw: bytes, index: dict[int, Any], new: Callable[[], Any]) -> tuple[list[tuple[int, bytes]], str]:
    """Note time, begin and end of each message of a chunk by channel, fast; what else is in it is returned.

    new: makes what holds the arrays `t_ns`, `starts`, `ends`. Where a record is damaged, why: they are up to there.
    """
    at, end, unpack = 0, len(raw), MESSAGE_HEAD.unpack_from
    others: list[tuple[int, bytes]] = []
    while at < end:
        if at + RECORD.size > end:
            return others, "a chunk ends within a record"
        if raw[at] != MESSAGE or at + MESSAGE_HEAD.size > end:
            kind, size = RECORD.unpack_from(raw, at)
            stop = at + RECORD.size + size
            if stop > end or kind == MESSAGE:
                return others, "a chunk ends within a record"
            others.append((kind, raw[at + RECORD.size : stop]))
            at = stop
            continue
        _, size, channel, _, time, _ = unpack(raw, at)
        stop = at + RECORD.size + size
        if stop > end:
            return others, "a chunk ends within a record"
        if size < MESSAGE_HEAD.size - RECORD.size:
            return others, "a message record ends too early"
        if time >= 1 << 63:
            return others, f"a message is of {time} ns, after the year 2262"
        found = index.get(channel)
        if found is None:
            found = index[channel] = new()
        found.t_ns.append(time)
        found.starts.append(at + MESSAGE_HEAD.size)
        found.ends.append(stop)
        at = stop
    return others, ""
