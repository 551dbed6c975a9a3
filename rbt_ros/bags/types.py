"""Message types without ROS: their fields, definitions and hashes, as `rosbags` knows those of ROS 2 Jazzy."""

import functools
import struct
from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_typestore
from rosbags.typesys.store import Typestore

NUMBERS = {  # base type -> letter of `struct`, which is its size too
    **{"bool": "?", "byte": "B", "char": "B", "octet": "B", "int8": "b", "uint8": "B", "int16": "h", "uint16": "H"},
    **{"int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "float32": "f", "float64": "d"},
}
SIZES = {"?": 1, "b": 1, "B": 1, "h": 2, "H": 2, "i": 4, "I": 4, "f": 4, "q": 8, "Q": 8, "d": 8}


class Field(NamedTuple):
    """One field of a message."""

    name: str
    letter: str  # of `struct` for a number, "s" for a string, "" for a message
    message: str = ""  # its type
    length: int | None = None  # None: one value; -1: as many as its length says; else a fixed array


class Plain(NamedTuple):
    """A message of nothing but numbers of one size: a vector, a quaternion, a colour, a time."""

    size: int  # of each [bytes]
    letters: str
    names: tuple[str, ...]
    struct: struct.Struct
    attributes: Callable[[Any], Any]  # the numbers of a NamedTuple with such fields


@functools.cache
def known_types() -> Typestore:
    """The types of ROS 2 Jazzy."""
    return get_typestore(Stores.ROS2_JAZZY)


class Types:
    """Fields of message types, looked up once."""

    def __init__(self, store: Typestore | None = None):
        self.store = store or known_types()
        self._fields: dict[str, tuple[Field, ...]] = {}
        self._plain: dict[str, Plain | None] = {}
        self._defaults: dict[tuple[str, int], bytes] = {}

    def fields(self, name: str) -> tuple[Field, ...]:
        """The fields of a type, in order; KeyError where the type is not known."""
        if name not in self._fields:
            self._fields[name] = tuple(_field(key, node) for key, node in self.store.fielddefs[name][1])
        return self._fields[name]

    def plain(self, name: str) -> Plain | None:
        """What is to know of a message of mere numbers; None where it is none."""
        if name not in self._plain:
            fields = self.fields(name)
            letters = "".join(field.letter for field in fields)
            sizes = {SIZES.get(field.letter, 0) if field.length is None else 0 for field in fields}
            names = tuple(field.name for field in fields)
            found = len(fields) > 1 and len(sizes) == 1 and 0 not in sizes
            packed = struct.Struct("<" + letters) if found else None
            self._plain[name] = Plain(sizes.pop(), letters, names, packed, attrgetter(*names)) if packed else None
        return self._plain[name]

    def default(self, name: str, offset: int, make: Callable[["Types", str, int], bytes]) -> bytes:
        """What `make` gives for this type and offset, made once."""
        if (name, offset) not in self._defaults:
            self._defaults[name, offset] = make(self, name, offset)
        return self._defaults[name, offset]

    def has(self, name: str) -> bool:
        """Whether a type and all that it is made of is known."""
        return name in self.store.fielddefs and all(not f.message or self.has(f.message) for f in self.fields(name))

    def definition(self, name: str) -> tuple[str, str]:
        """Message definition (ros2msg, with those it is made of) and RIHS01 hash."""
        return self.store.generate_msgdef(name, ros_version=2)[0], self.store.hash_rihs01(name)


def _field(name: str, node: Any) -> Field:
    kind, what = node
    if kind == Nodetype.BASE:
        return Field(name, _letter(what[0]))
    if kind == Nodetype.NAME:
        return Field(name, "", what)
    inner, count = what
    return _field(name, inner)._replace(length=count if kind == Nodetype.ARRAY else -1)


def _letter(base: str) -> str:
    return NUMBERS[base] if base in NUMBERS else "s"
