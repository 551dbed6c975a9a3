"""MCAP files read from front to back, without their index, up to the first record that is not whole."""

import mmap
import struct
import sys
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import lz4.frame

from rbt_ros.bags.mcap_write import DATA_END, FOOTER, MAGIC, MESSAGE, MESSAGE_HEAD, RECORD

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


def records(data: bytes | mmap.mmap) -> Iterator[tuple[int, int, int]]:
    """(kind, begin and end of the content) of each record of the data section; Damage where that breaks off."""
    if data[: len(MAGIC)] != MAGIC:
        raise Damage("it does not begin as MCAP does")
    at = len(MAGIC)
    while True:
        if at + RECORD.size > len(data):
            raise Damage(f"it breaks off at byte {at}")
        kind, size = RECORD.unpack_from(data, at)
        known = 0 < kind <= DATA_END and kind != FOOTER and (kind != DATA_END or size == 4)
        if not known or size > len(data) - at - RECORD.size:
            raise Damage(f"it breaks off in the record at byte {at}")
        if kind == DATA_END:
            (crc,) = struct.unpack_from("<I", data, at + RECORD.size)
            if crc and zlib.crc32(memoryview(data)[:at]) != crc:
                raise Damage("it is not what its checksum says")
            return
        yield kind, at + RECORD.size, at + RECORD.size + size
        at += RECORD.size + size


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


def chunk_records(content: bytes) -> bytes:
    """The records in a chunk; Damage where it is not what its checksum says."""
    cursor = _Cursor(content)
    _, _, size, crc = cursor.numbers("QQQI")
    how, packed = cursor.text(), cursor.bytes("Q")
    if how not in ("", "lz4", "zstd"):
        raise Damage(f"a chunk is compressed by '{how[:20]}'")
    if how and size > max(1 << 28, 1000 * len(packed)):
        raise Damage(f"a chunk claims {size} bytes")
    try:
        raw = packed if not how else lz4.frame.decompress(packed) if how == "lz4" else zstd.decompress(packed)
    except (RuntimeError, zstd.ZstdError, MemoryError) as err:
        raise Damage(f"a chunk cannot be decompressed ({err})") from err
    if len(raw) != size or (crc and zlib.crc32(raw) != crc):
        raise Damage("a chunk is not what its checksum says")
    return raw


def index_messages(raw: bytes, index: dict[int, Any], new: Callable[[], Any]) -> list[tuple[int, bytes]]:
    """Note time, begin and end of each message of a chunk by channel, fast; what else is in it is returned.

    new: makes what holds the arrays `t_ns`, `starts`, `ends`.
    """
    at, end, unpack, others = 0, len(raw), MESSAGE_HEAD.unpack_from, []
    while at < end:
        if at + RECORD.size > end:
            raise Damage("a chunk ends within a record")
        if raw[at] != MESSAGE or at + MESSAGE_HEAD.size > end:
            kind, size = RECORD.unpack_from(raw, at)
            stop = at + RECORD.size + size
            if stop > end or kind == MESSAGE:
                raise Damage("a chunk ends within a record")
            others.append((kind, raw[at + RECORD.size : stop]))
            at = stop
            continue
        _, size, channel, _, time, _ = unpack(raw, at)
        stop = at + RECORD.size + size
        if stop > end:
            raise Damage("a chunk ends within a record")
        if size < MESSAGE_HEAD.size - RECORD.size:
            raise Damage("a message record ends too early")
        if time >= 1 << 63:
            raise Damage(f"a message is of {time} ns, after the year 2262")
        found = index.get(channel)
        if found is None:
            found = index[channel] = new()
        found.t_ns.append(time)
        found.starts.append(at + MESSAGE_HEAD.size)
        found.ends.append(stop)
        at = stop
    return others
