"""Many messages of one topic as arrays: those of one layout are one block of bytes, and its columns are the numbers."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.bags.cdr import Layout, layout, text_at
from rbt_ros.bags.types import SIZES, Types
from rbt_ros.errors import MessageError


class Arrays(NamedTuple):
    """Messages in a row. Paths are as in "pose.pose.position.x" and "transforms[0].child_frame_id"."""

    t_ns: np.ndarray  # (N,) when each was recorded
    numbers: dict[str, np.ndarray]  # (N,) or (N, k); of objects (None, or an array) where the messages differ in shape
    texts: dict[str, list[str]]  # (N) strings; "" where a message has none there
    stamps: dict[str, np.ndarray]  # (N,) times and durations [ns] by their path, as "header.stamp"


class _Block(NamedTuple):
    """Messages of one layout."""

    rows: np.ndarray  # which they are
    data: np.ndarray  # (n, size) bytes
    layout: Layout

    def column(self, path: str) -> np.ndarray:
        """(n,) or (n, count): a view where the bytes lie in one block."""
        leaf = self.layout.numbers[path]
        kind = np.dtype(self.layout.order + leaf.letter)
        count = 1 if leaf.length is None else leaf.length
        shape, strides = (len(self.rows), count), (self.data.strides[0], SIZES[leaf.letter])
        if not count:
            return np.empty(shape, kind)
        found: np.ndarray = np.ndarray(shape, kind, self.data.data, leaf.offset, strides)
        return found[:, 0] if leaf.length is None else found

    def text(self, path: str) -> list[str]:
        """The strings at one place; most often they are all alike."""
        at, count = self.layout.strings[path]
        part = self.data[:, at : at + count]
        if (part == part[0]).all():
            return [text_at(self.data[0].tobytes(), (at, count))] * len(self.rows)
        return [bytes(row).decode("utf-8", "replace") for row in part]


def arrays_of(types: Types, kind: str, t_ns: Sequence[int], messages: Sequence[bytes]) -> Arrays:
    """All messages of type `kind`; MessageError where one is not of that type."""
    blocks = _blocks(types, kind, messages)
    times = np.array(t_ns, dtype=np.int64)
    numbers = {path: _merged(blocks, path, len(messages)) for path in _paths(blocks, "numbers")}
    texts = {path: _merged_text(blocks, path, len(messages)) for path in _paths(blocks, "strings")}
    stamps = {}
    for path in dict.fromkeys(path for block in blocks for path in block.layout.times):
        seconds, rest = numbers.pop(_joined(path, "sec")), numbers.pop(_joined(path, "nanosec"))
        if seconds.dtype != object:
            stamps[path] = seconds.astype(np.int64) * 1_000_000_000 + rest
    return Arrays(times, numbers, texts, stamps)


def joined(parts: Iterable[Arrays], wanted: Callable[[str], bool]) -> Arrays:
    """Parts in a row: of their numbers those that are wanted; of their texts, at each path, those that occur."""
    t_ns, stamps, numbers, texts = [], [], [], []
    for part in parts:
        t_ns.append(part.t_ns)
        stamps.append(part.stamps)
        numbers.append({path: np.array(column) for path, column in part.numbers.items() if wanted(path)})  # no views
        texts.append({path: list(dict.fromkeys(column)) for path, column in part.texts.items()})
    paths = dict.fromkeys(path for part in texts for path in part)
    occur = {path: list(dict.fromkeys(text for part in texts for text in part.get(path, [""]))) for path in paths}
    total = sum(map(len, t_ns))
    times = np.concatenate([np.empty(0, np.int64), *t_ns])
    return Arrays(times, _appended(numbers, total), occur, _appended(stamps, total))


def _appended(parts: list[dict[str, np.ndarray]], total: int) -> dict[str, np.ndarray]:
    """Columns in a row; of None where parts differ in shape."""
    found = {}
    for path in dict.fromkeys(path for part in parts for path in part):
        columns = [part[path] for part in parts if path in part]
        alike = len(columns) == len(parts) and len({(x.shape[1:], x.dtype == object) for x in columns}) == 1
        found[path] = np.concatenate(columns) if alike else np.full(total, None, object)
    return found


def _joined(path: str, field: str) -> str:
    return f"{path}.{field}" if path else field


def _blocks(types: Types, kind: str, messages: Iterable[bytes]) -> list[_Block]:
    """The messages, by layout."""
    by_size: dict[int, tuple[list[int], bytearray]] = {}
    for row, message in enumerate(messages):
        found = by_size.get(len(message))
        if found is None:
            found = by_size[len(message)] = [], bytearray()
        found[0].append(row)
        found[1].extend(message)
    blocks = []
    for size, (listed, joined) in by_size.items():
        rows, data = np.array(listed), np.frombuffer(joined, dtype=np.uint8).reshape(len(listed), size)
        while len(rows):
            try:
                first = layout(types, kind, data[0].tobytes())
            except MessageError as err:
                raise MessageError(f"message {rows[0]} is no {kind}: {err}") from err
            telling = np.concatenate([first.lengths, [0, 1]])
            alike = (data[:, telling] == data[0, telling]).all(axis=1)
            if alike.all():
                blocks.append(_Block(rows, data, first))
                break
            blocks.append(_Block(rows[alike], np.ascontiguousarray(data[alike]), first))
            rows, data = rows[~alike], np.ascontiguousarray(data[~alike])
    return blocks


def _paths(blocks: list[_Block], what: str) -> list[str]:
    return list(dict.fromkeys(path for block in blocks for path in getattr(block.layout, what)))


def _merged(blocks: list[_Block], path: str, total: int) -> np.ndarray:
    having = [block for block in blocks if path in block.layout.numbers]
    columns = [block.column(path) for block in having]
    if len(blocks) == 1:
        return columns[0]
    alike = len(having) == len(blocks) and len({column.shape[1:] for column in columns}) == 1
    out: Any = np.empty((total, *columns[0].shape[1:]), columns[0].dtype) if alike else np.full(total, None, object)
    for block, column in zip(having, columns, strict=True):
        if alike:
            out[block.rows] = column
        else:
            for row, value in zip(block.rows, column, strict=True):
                out[row] = value
    return out


def _merged_text(blocks: list[_Block], path: str, total: int) -> list[str]:
    if len(blocks) == 1:
        return blocks[0].text(path)
    out = [""] * total
    for block in blocks:
        if path in block.layout.strings:
            for row, value in zip(block.rows.tolist(), block.text(path), strict=True):
                out[row] = value
    return out
