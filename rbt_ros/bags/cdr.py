"""Messages <-> bytes: CDR as DDS sends it (OMG formal/21-11-01, classic encoding, little endian), without ROS.

`encode` takes the nested dicts of `topics`; `layout` finds where the numbers of a message lie, so that messages of one
layout are read and written as arrays.
"""

import struct
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.bags.types import SIZES, Field, Plain, Types
from rbt_ros.errors import MessageError

HEADER = b"\x00\x01\x00\x00"  # classic CDR, little endian
MOST_DEPTH = 32
PACK = {letter: struct.Struct("<" + letter).pack for letter in SIZES}


def encode(types: Types, name: str, fields: Any) -> bytearray:
    """The bytes of a message. What `fields` does not name is zero or empty."""
    out = bytearray(HEADER)
    _write_message(out, types, name, fields)
    return out


def encode_strictly(types: Types, name: str, fields: Any) -> bytearray:
    """The same of fields that another's code has made; MessageError where they are not those of the message."""
    _check(types, name, fields)
    try:
        return encode(types, name, fields)
    except Exception as err:  # of whatever kind what is given may be
        raise MessageError(f"it is no {name}: {err}") from err


def _check(types: Types, name: str, fields: Any) -> None:
    """Names, and lengths of arrays, which `encode` trusts."""
    if fields.__class__ is not dict:
        return
    known = {field.name: field for field in types.fields(name)}
    for key, value in fields.items():
        if key not in known:
            raise MessageError(f"{name} has no field {key!r:.80}; it has {', '.join(known)}.")
        field = known[key]
        if field.length is None and field.message:
            _check(types, field.message, value)
        if field.length is not None and field.length > 0 and len(value) != field.length:
            raise MessageError(f"{name}: {key} has {field.length} elements, not {len(value)}.")


def _align(out: bytearray, size: int) -> None:
    if gap := -(len(out) - 4) % size:
        out += bytes(gap)


def _write_message(out: bytearray, types: Types, name: str, fields: Any) -> None:
    if plain := types.plain(name):
        _align(out, plain.size)
        out += plain.struct.pack(*_numbers(plain, fields))
        return
    named = fields if fields.__class__ is dict else fields._asdict()
    for field in types.fields(name):
        value = named.get(field.name)
        if field.length is not None:
            _write_values(out, types, field, value)
        elif field.letter and field.letter != "s":
            _align(out, SIZES[field.letter])
            number = value[0] if value.__class__ is bytes else value or 0
            out += PACK[field.letter](number)
        else:
            _write_value(out, types, field, value)


def _numbers(plain: Plain, fields: Any) -> Any:
    """The values of a message of mere numbers; what is not named is zero."""
    if fields.__class__ is dict:
        return [fields.get(name, 0) for name in plain.names]
    return plain.attributes(fields)


def _write_value(out: bytearray, types: Types, field: Field, value: Any) -> None:
    if field.letter == "s":
        text = (value or "").encode() + b"\0"
        _align(out, 4)
        out += PACK["I"](len(text)) + text
    elif value:
        _write_message(out, types, field.message, value)
    else:
        out += types.default(field.message, len(out) - 4 & 7, _default)


def _default(types: Types, name: str, offset: int) -> bytes:
    """An empty message behind so many bytes of a message."""
    out = bytearray(4 + offset)
    for field in types.fields(name):
        if field.length is not None:
            _write_values(out, types, field, None)
        elif field.letter and field.letter != "s":
            _align(out, SIZES[field.letter])
            out += PACK[field.letter](0)
        else:
            _write_value(out, types, field, None)
    return bytes(out[4 + offset :])


def _write_values(out: bytearray, types: Types, field: Field, value: Any) -> None:
    values = [] if value is None else value
    if field.length == -1:
        _align(out, 4)
        out += PACK["I"](len(values))
    elif len(values) == 0:
        values = [None] * (field.length or 0)
    if not len(values):
        return
    if field.letter and field.letter != "s":
        _align(out, SIZES[field.letter])
        filled = [0 if number is None else number for number in values]
        out += struct.pack(f"<{len(filled)}{field.letter}", *filled)
        return
    plain = types.plain(field.message) if field.message else None
    if plain and values[0] is not None:  # of one size, so that no gap is between them
        _align(out, plain.size)
        numbers = [number for each in values for number in _numbers(plain, each)]
        out += struct.pack("<" + plain.letters * len(values), *numbers)
        return
    one = field._replace(length=None)
    for each in values:
        _write_value(out, types, one, each)


class Leaf(NamedTuple):
    """Numbers in the bytes of a message."""

    offset: int
    letter: str  # of `struct`
    length: int | None  # None: one number, not an array


class Layout(NamedTuple):
    """Where things lie in messages whose strings and sequences have these lengths."""

    size: int
    order: str  # "<" or ">"
    numbers: dict[str, Leaf]  # by path: "transforms[0].header.stamp.sec"
    strings: dict[str, tuple[int, int]]  # by path: offset and length, without the closing zero
    lengths: np.ndarray  # offsets of all bytes that tell lengths: equal bytes there, equal layout
    times: tuple[str, ...]  # paths of builtin_interfaces/Time and Duration


class _Reader:
    def __init__(self, types: Types, data: bytes | bytearray):
        if len(data) < 4 or data[0] != 0 or data[1] > 1:
            raise MessageError(f"encapsulation {bytes(data[:2]).hex() or 'missing'} is not classic CDR.")
        self.types, self.data, self.at = types, data, 4
        self.order = "<" if data[1] else ">"
        self.numbers: dict[str, Leaf] = {}
        self.strings: dict[str, tuple[int, int]] = {}
        self.lengths: list[int] = []
        self.times: list[str] = []

    def message(self, name: str, path: str, depth: int = 0) -> None:
        """Walk through a message."""
        if depth > MOST_DEPTH:
            raise MessageError(f"{name} is nested more than {MOST_DEPTH} deep.")
        if name in ("builtin_interfaces/msg/Time", "builtin_interfaces/msg/Duration"):
            self.times.append(path)
        for field in self.types.fields(name):
            inner = f"{path}.{field.name}" if path else field.name
            if field.length is None:
                self.value(field, inner, depth)
            else:
                self.values(field, inner, depth)

    def value(self, field: Field, path: str, depth: int) -> None:
        """One number, string or message."""
        if field.letter == "s":
            count = self.length()
            self.strings[path] = self.take(count, 1), max(0, count - 1)
        elif field.letter:
            size = SIZES[field.letter]
            self.numbers[path] = Leaf(self.take(size, size), field.letter, None)
        else:
            self.message(field.message, path, depth + 1)

    def values(self, field: Field, path: str, depth: int) -> None:
        """An array or a sequence."""
        count = self.length() if field.length == -1 else field.length or 0
        if field.letter and field.letter != "s":
            size = SIZES[field.letter]
            at = self.take(count * size, size) if count else self.at
            self.numbers[path] = Leaf(at, field.letter, count)
            return
        if count > len(self.data):
            raise MessageError(f"{path} claims {count} elements in a message of {len(self.data)} bytes.")
        one = field._replace(length=None)
        for k in range(count):
            self.value(one, f"{path}[{k}]", depth)

    def length(self) -> int:
        """The length of a string or sequence."""
        at = self.take(4, 4)
        self.lengths += range(at, at + 4)
        return struct.unpack_from(self.order + "I", self.data, at)[0]

    def take(self, size: int, alignment: int) -> int:
        """Where the next `size` bytes begin; they are passed over."""
        at = self.at + -(self.at - 4) % alignment
        if at + size > len(self.data):
            raise MessageError(f"the message ends after {len(self.data)} bytes; {at + size} are needed.")
        self.at = at + size
        return at


def layout(types: Types, name: str, data: bytes | bytearray) -> Layout:
    """Where everything lies in this message; MessageError where it is none of that type."""
    reader = _Reader(types, data)
    reader.message(name, "")
    if len(data) - reader.at > 3:  # senders may pad to four bytes
        raise MessageError(f"{len(data)} bytes are {len(data) - reader.at} too many for {name}.")
    lengths = np.array(reader.lengths, dtype=np.intp)
    return Layout(len(data), reader.order, reader.numbers, reader.strings, lengths, tuple(reader.times))


def text_at(data: bytes, where: tuple[int, int]) -> str:
    """A string of a message."""
    at, count = where
    return bytes(data[at : at + count]).decode("utf-8", "replace")
