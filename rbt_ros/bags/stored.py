"""Messages that stay in their file: which chunk holds how many of a topic is known; it is read when one is asked for.

So a bag of any length needs 8 bytes of memory per message, for its time, and KEPT_BYTES for the chunks read last.
"""

import bisect
import itertools
from array import array
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np

from rbt_ros.bags import mcap_read as mcap
from rbt_ros.errors import MessageError

KEPT_BYTES = 1 << 23  # of messages, in the chunks read last


class Index:
    """Where the messages of one topic are in a chunk."""

    def __init__(self) -> None:
        self.t_ns, self.starts, self.ends = array("q"), array("q"), array("q")

    def rows(self) -> np.ndarray:
        """(n, 2) time and place of each record, as an index in the file tells them."""
        return np.column_stack([np.array(self.t_ns), np.array(self.starts) - mcap.MESSAGE_HEAD.size])


class Chunk(NamedTuple):
    """Records, unpacked."""

    raw: bytes
    where: dict[int, Index]  # by channel


class Place(NamedTuple):
    """A chunk in a file."""

    at: int  # of its content
    size: int
    packed: bool  # whether it is a chunk record; else bare messages in a row


class Chunks:
    """The chunks of one bag that were read last."""

    def __init__(self) -> None:
        self._kept: OrderedDict[tuple[Path, int], Chunk] = OrderedDict()
        self._size = 0

    def keep(self, file: Path, at: int, chunk: Chunk) -> None:
        """Remember this one; forget those that were not used for longest."""
        self._kept[file, at] = chunk
        self._size += len(chunk.raw)
        while self._size > KEPT_BYTES and len(self._kept) > 1:
            self._size -= len(self._kept.popitem(last=False)[1].raw)

    def read(self, file: Path, place: Place) -> Chunk:
        """One, from memory or from the file."""
        found = self._kept.get((file, place.at))
        if found is not None:
            self._kept.move_to_end((file, place.at))
            return found
        try:
            with file.open("rb") as opened:
                opened.seek(place.at)
                found, _, _ = unpacked(opened.read(place.size), place.packed)
        except (OSError, mcap.Damage) as err:
            raise MessageError(f"{file} has changed since it was opened: {err}.") from err
        self.keep(file, place.at, found)
        return found


def unpacked(content: bytes, packed: bool) -> tuple[Chunk, list[tuple[int, bytes]], str]:
    """The messages of a chunk and the other records in it, and why they end before it does."""
    raw = mcap.chunk_records(content) if packed else content
    index: dict[int, Index] = {}
    others, damage = mcap.index_messages(raw, index, Index)
    return Chunk(raw, index), others, damage


class Piece(NamedTuple):
    """The messages of one topic in one chunk."""

    file: Path
    place: Place
    channel: int
    messages: int


class Messages(Sequence[bytes]):
    """The messages of a topic, in the order of the file."""

    def __init__(self, chunks: Chunks):
        self._chunks, self._pieces = chunks, list[Piece]()
        self._ends: list[int] = []  # how many messages there are up to the end of each piece

    def add(self, piece: Piece) -> None:
        """Those of one more chunk."""
        self._pieces.append(piece)
        self._ends.append(len(self) + piece.messages)

    def extend(self, others: "Messages") -> None:
        """Those of the next file."""
        for piece in others._pieces:
            self.add(piece)

    def __len__(self) -> int:
        return self._ends[-1] if self._ends else 0

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            chunk = self._chunks.read(piece.file, piece.place)
            raw, index = chunk.raw, chunk.where[piece.channel]
            for start, end in zip(index.starts, index.ends, strict=True):
                yield raw[start:end]

    @overload
    def __getitem__(self, k: int) -> bytes: ...

    @overload
    def __getitem__(self, k: slice) -> list[bytes]: ...

    def __getitem__(self, k: Any) -> Any:
        if isinstance(k, slice):
            return [self[row] for row in range(*k.indices(len(self)))]
        row = range(len(self))[k]  # negative ones, and IndexError
        p = bisect.bisect_right(self._ends, row)
        piece = self._pieces[p]
        chunk = self._chunks.read(piece.file, piece.place)
        index, row = chunk.where[piece.channel], row - self._ends[p] + piece.messages
        return chunk.raw[index.starts[row] : index.ends[row]]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        return len(self) == len(other) and all(itertools.starmap(bytes.__eq__, zip(self, other, strict=True)))

    __hash__ = None  # type: ignore[assignment]
