"""MCAP files, written so that a process killed at any moment leaves one that is whole up to its last chunk.

https://mcap.dev/spec: after a magic come records, one byte of kind and eight of length each; messages lie in chunks,
which are compressed one by one. An index at the end serves readers in a hurry; `mcap_read` needs none.
"""

import contextlib
import struct
import sys
import zlib
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import lz4.frame

from rbt_ros import __version__
from rbt_ros.errors import ScenarioError

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = range(1, 9)
STATISTICS, METADATA, METADATA_INDEX, SUMMARY_OFFSET, DATA_END = 0x0B, 0x0C, 0x0D, 0x0E, 0x0F
RECORD = struct.Struct("<BQ")
MESSAGE_HEAD = struct.Struct("<BQHIQQ")  # kind, length, channel, sequence, log time, publish time
CHUNK_BYTES = 1 << 20
PACK: dict[str, Callable[[bytes], bytes]] = {
    "none": bytes,
    "lz4": lz4.frame.compress,
    "zstd": lambda data: zstd.compress(data, 1),
}


class Channel(NamedTuple):
    """One topic of a file."""

    id: int
    topic: str
    type: str
    definition: str  # of the message, as `encoding` says
    qos: str  # YAML of the offered profiles
    encoding: str = "ros2msg"


def text(value: str) -> bytes:
    """A string of a record."""
    data = value.encode()
    return struct.pack("<I", len(data)) + data


def pairs(values: dict[str, str]) -> bytes:
    """A map of strings."""
    data = b"".join(text(key) + text(value) for key, value in values.items())
    return struct.pack("<I", len(data)) + data


def record(kind: int, content: bytes) -> bytes:
    """One record."""
    return RECORD.pack(kind, len(content)) + content


def check_compression(name: str) -> None:
    """ScenarioError where that is none."""
    if name not in PACK:
        raise ScenarioError(f"compression '{name}' is not one of {', '.join(PACK)}.")


class McapWriter:
    """One MCAP file. Nothing is in it before `flush`, which also happens when a chunk is full."""

    def __init__(self, path: Path, compression: str = "zstd"):
        check_compression(compression)
        self.path = path
        self._compression, self._pack = compression if compression != "none" else "", PACK[compression]
        try:
            self._file = path.open("xb")
        except OSError as err:
            raise ScenarioError(f"{path} cannot be written ({err.strerror}).") from err
        self.channels: list[Channel] = []
        self.counts: list[int] = []
        self.first_ns, self.last_ns, self.size = 2**63 - 1, 0, 0
        self._crc = 0  # of all up to here
        self._schemas: dict[str, int] = {}
        self._chunk, self._index = bytearray(), dict[int, array]()
        self._chunk_span, self._chunk_bytes = [2**63 - 1, 0], 0
        self._chunk_indexes: list[bytes] = []
        self._metadata_indexes: list[bytes] = []
        self._put(MAGIC + record(HEADER, text("ros2") + text(f"rbt_ros {__version__}")))

    def _put(self, data: bytes) -> None:
        self._file.write(data)
        self._crc = zlib.crc32(data, self._crc)
        self.size += len(data)

    def add_channel(self, topic: str, kind: str, definition: str, qos: str, encoding: str = "ros2msg") -> int:
        """A topic that messages may be written to; its number."""
        channel = Channel(len(self.channels) + 1, topic, kind, definition, qos, encoding)
        if kind not in self._schemas:
            self._schemas[kind] = len(self._schemas) + 1
            self._put(self._schema(channel))
        self._put(self._channel(channel))
        self._file.flush()
        self.channels.append(channel)
        self.counts.append(0)
        return channel.id

    def _schema(self, channel: Channel) -> bytes:
        number = struct.pack("<H", self._schemas[channel.type])
        return record(SCHEMA, number + text(channel.type) + text(channel.encoding) + text(channel.definition))

    def _channel(self, channel: Channel) -> bytes:
        numbers = struct.pack("<HH", channel.id, self._schemas[channel.type])
        profiles = pairs({"offered_qos_profiles": channel.qos})
        return record(CHANNEL, numbers + text(channel.topic) + text("cdr") + profiles)

    def write(self, channel: int, time_ns: int, data: bytes) -> None:
        """Add a message to the chunk under way."""
        chunk, count = self._chunk, self.counts[channel - 1]
        entries = self._index.get(channel)
        if entries is None:
            entries = self._index[channel] = array("Q")
        entries.append(time_ns)
        entries.append(len(chunk))
        chunk += MESSAGE_HEAD.pack(MESSAGE, 22 + len(data), channel, count & 0xFFFFFFFF, time_ns, time_ns)
        chunk += data
        self.counts[channel - 1] = count + 1
        if time_ns > self._chunk_span[1]:
            self._chunk_span[1] = time_ns
        if time_ns < self._chunk_span[0]:
            self._chunk_span[0] = time_ns
        if len(chunk) > CHUNK_BYTES:
            self.flush()

    @property
    def since_ns(self) -> int:
        """The earliest time of a message."""
        return min(self.first_ns, self._chunk_span[0])

    @property
    def content(self) -> int:
        """Bytes of messages, those that wait as they are."""
        return self._chunk_bytes + len(self._chunk)

    def add_metadata(self, name: str, values: dict[str, str]) -> None:
        """A named map of strings, beside the messages."""
        self.flush()
        data = record(METADATA, text(name) + pairs(values))
        self._metadata_indexes.append(struct.pack("<QQ", self.size, len(data)) + text(name))
        self._put(data)
        self._file.flush()

    def flush(self) -> None:
        """Close the chunk and hand it to the system, which keeps it if this process is killed now."""
        if not self._chunk:
            return
        raw, (first, last) = bytes(self._chunk), self._chunk_span
        packed = self._pack(raw)
        head = struct.pack("<QQQI", first, last, len(raw), zlib.crc32(raw)) + text(self._compression)
        start = self.size
        chunk = record(CHUNK, head + struct.pack("<Q", len(packed)) + packed)
        end, offsets, index = start + len(chunk), b"", b""
        for channel, entries in self._index.items():
            offsets += struct.pack("<HQ", channel, end + len(index))
            index += record(MESSAGE_INDEX, struct.pack("<HI", channel, 8 * len(entries)) + little(entries))
        self._put(chunk + index)
        self._chunk_bytes += len(chunk)
        self._file.flush()
        span = struct.pack("<QQQQI", first, last, start, len(chunk), len(offsets)) + offsets
        sizes = struct.pack("<QQ", len(packed), len(raw))
        self._chunk_indexes.append(span + struct.pack("<Q", len(index)) + text(self._compression) + sizes)
        self.first_ns, self.last_ns = min(self.first_ns, first), max(self.last_ns, last)
        self._chunk, self._index, self._chunk_span = bytearray(), {}, [2**63 - 1, 0]

    def close(self) -> None:
        """Write the index and end the file."""
        self.flush()
        self._put(record(DATA_END, struct.pack("<I", self._crc)))
        start, groups = self.size, []
        by_type = {channel.type: channel for channel in reversed(self.channels)}
        groups.append((SCHEMA, b"".join(self._schema(by_type[kind]) for kind in self._schemas)))
        groups.append((CHANNEL, b"".join(self._channel(channel) for channel in self.channels)))
        groups.append((STATISTICS, record(STATISTICS, self._statistics())))
        groups.append((CHUNK_INDEX, b"".join(record(CHUNK_INDEX, index) for index in self._chunk_indexes)))
        groups.append((METADATA_INDEX, b"".join(record(METADATA_INDEX, index) for index in self._metadata_indexes)))
        offsets, at = b"", start
        for kind, data in groups:
            if data:
                offsets += record(SUMMARY_OFFSET, struct.pack("<BQQ", kind, at, len(data)))
            at += len(data)
        summary = b"".join(data for _, data in groups) + offsets
        footer = RECORD.pack(FOOTER, 20) + struct.pack("<QQ", start, at)
        self._put(summary + footer + struct.pack("<I", zlib.crc32(summary + footer)) + MAGIC)
        self._file.close()

    def _statistics(self) -> bytes:
        counts = b"".join(struct.pack("<HQ", c.id, n) for c, n in zip(self.channels, self.counts, strict=True))
        total, first = sum(self.counts), self.first_ns if sum(self.counts) else 0
        sizes = (len(self._schemas), len(self.channels), 0, len(self._metadata_indexes), len(self._chunk_indexes))
        return struct.pack("<QHIIIIQQI", total, *sizes, first, self.last_ns, len(counts)) + counts

    def abandon(self) -> None:
        """Close the file as it is, also on a disk that is full."""
        with contextlib.suppress(OSError):
            self._file.close()


def little(entries: array) -> bytes:
    """64-bit numbers in the order of the file."""
    if sys.byteorder == "big":
        entries = array("Q", entries)
        entries.byteswap()
    return entries.tobytes()
