"""What a file may hold, as data: values, keys, sections. What is read and refused, defaults, the tables of the
documentation and the JSON Schema for editors all come from it."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, Protocol

from ruamel.yaml.comments import CommentedSeq

from rbt_ros.model.reading import Item
from rbt_ros.model.units import UNITS, pattern, units_of

Schema = dict[str, Any]  # JSON Schema, draft 2020-12
Definitions = dict[str, Schema]  # what others refer to, by name


class Kind(Protocol):
    """What a value may be."""

    @property
    def read(self) -> Callable[[Item], Any]:
        """The value, checked."""

    @property
    def schema(self) -> Callable[[Definitions], Schema]:
        """Its JSON Schema; what that refers to is added to the definitions."""


class Value(NamedTuple):
    """A kind made of two functions."""

    read: Callable[[Item], Any]
    schema: Callable[[Definitions], Schema]


class Key(NamedTuple):
    """A row of a table."""

    name: str
    kind: Kind
    words: str
    default: Any = None  # as a file would say it; None: there is none
    needed: bool = False
    to: str = ""  # what it is called where it goes; empty: the same


class Section:
    """A mapping with known keys."""

    def __init__(self, name: str, words: str, *keys: Key, **rules: Any):
        """rules: more of its JSON Schema."""
        self.name, self.words, self.keys, self._rules = name, words, {key.name: key for key in keys}, rules

    def read(self, item: Item) -> dict[str, Any]:
        """What is given, and defaults of what is not, by the names that they have where they go."""
        item.mapping(*self.keys)
        values = self.defaults()
        for key in self.keys.values():
            if key.needed or key.name in item:
                values[key.to or key.name] = key.kind.read(item[key.name])
        return values

    def defaults(self) -> dict[str, Any]:
        """Of the keys that have one."""
        return {key.to or key.name: _default(key) for key in self.keys.values() if key.default is not None}

    def schema(self, definitions: Definitions) -> Schema:
        """Defined by its name."""
        if self.name not in definitions:
            definitions[self.name] = {}  # before those that it refers to
            definitions[self.name] |= {
                "description": self.words,
                "type": "object",
                "properties": {key.name: _property(key, definitions) for key in self.keys.values()},
                "required": [key.name for key in self.keys.values() if key.needed],
                "additionalProperties": False,
                **self._rules,
            }
        return {"$ref": f"#/$defs/{self.name}"}


class OneOf:
    """One of several sections, each known by its first key."""

    def __init__(self, complaint: str, *sections: Section):
        self._complaint, self.sections = complaint, {next(iter(section.keys)): section for section in sections}

    def check(self, item: Item) -> None:
        """Whether it has keys of theirs only."""
        item.mapping(*dict.fromkeys(key for section in self.sections.values() for key in section.keys))

    def picked(self, item: Item) -> tuple[str, dict[str, Any]]:
        """The first key of the section that it is, and what is read of it."""
        item.mapping()
        words = [word for word in self.sections if word in item]
        if len(words) != 1:
            self.check(item)
            raise item.error(self._complaint)
        return words[0], self.sections[words[0]].read(item)

    read = picked

    def schema(self, definitions: Definitions) -> Schema:
        """Any of them."""
        return {"oneOf": [section.schema(definitions) for section in self.sections.values()]}


def _default(key: Key) -> Any:
    value = CommentedSeq(key.default) if isinstance(key.default, list) else key.default
    return key.kind.read(Item(value, "default", 1, key.name))


def meaning(key: Key) -> str:
    """Its words, with the unit of its numbers."""
    schema = key.kind.schema({})
    unit = schema.get("unit") or schema.get("items", {}).get("unit")
    what, semicolon, more = key.words.partition(";")
    return f"{what} [{unit}]{semicolon}{more}" if unit else key.words


def _property(key: Key, definitions: Definitions) -> Schema:
    told = {"description": meaning(key), **key.kind.schema(definitions)}
    return told if key.default is None else {**told, "default": key.default}


# values


def later(kind: Kind) -> Value:
    """The same, but left to be read by who knows more."""
    return Value(lambda item: item, kind.schema)


def number(dimension: str = "plain number") -> Value:
    """In SI, or with a unit of that dimension."""
    return Value(lambda item: item.number(dimension), lambda definitions: _quantity(dimension, definitions))


def _quantity(dimension: str, definitions: Definitions) -> Schema:
    known = units_of(dimension)
    units, dimension = list(known), next((name for name in UNITS if UNITS[name] is known), dimension)
    words = f"a number in {units[0]}, or one with a unit: {', '.join(units)}" if units else "a number without unit"
    told = {"$comment": words, "type": ["number", "string"], "pattern": pattern(dimension)}
    told["patternErrorMessage"] = f"must be {words}."  # of editors, which would show the pattern
    name = dimension.replace(" ", "_").replace("/", "_per_") if units else "number"
    return {**_defined(name, told, definitions), **({"unit": units[0]} if units else {})}


def _defined(name: str, schema: Schema, definitions: Definitions) -> Schema:
    definitions[name] = schema
    return {"$ref": f"#/$defs/{name}"}


def named(name: str, words: str, kind: Kind) -> Value:
    """The same, of which the documentation speaks by that name."""
    return Value(
        kind.read,
        lambda definitions: _defined(name, {"$comment": words, **kind.schema(definitions)}, definitions),
    )


def vector(dimension: str = "plain number", length: int = 3) -> Value:
    """A list of so many numbers."""
    return Value(lambda item: item.vector(dimension, length), list_of(number(dimension), length).schema)


TIME = Value(Item.nanoseconds, number("time").schema)
TEXT = Value(Item.text, lambda _: {"type": "string"})
TRUTH = Value(Item.truth, lambda _: {"type": "boolean"})
INTEGER = Value(Item.integer, lambda _: {"type": "integer"})
ANYTHING = Value(Item.plain, lambda _: {})


def choice(words: Iterable[str]) -> Value:
    """One of these words."""
    allowed = tuple(words)
    return Value(lambda item: item.choice(*allowed), lambda _: {"enum": list(allowed)})


def word(names: Callable[[], Iterable[str]]) -> Value:
    """A text; others say what is wrong where it is none of the names that there are when they are asked for."""
    return Value(Item.text, lambda _: {"enum": list(names())})


def words_of(kind: Kind) -> tuple[str, ...]:
    """Those that may stand there."""
    schema = kind.schema({})
    return tuple(word for part in (schema, *schema.get("anyOf", ())) for word in part.get("enum", ()))


def list_of(kind: Kind, length: int | None = None) -> Value:
    """A list of such; of that length, which is left to be checked."""
    bounds = {} if length is None else {"minItems": length, "maxItems": length}
    return Value(
        lambda item: [kind.read(entry) for entry in item.entries()],
        lambda definitions: {"type": "array", "items": kind.schema(definitions), **bounds},
    )


def row(read: Callable[[Item], Any], *kinds: Kind) -> Value:
    """A list with one of each of these, in order."""
    count = len(kinds)
    return Value(
        read,
        lambda definitions: {
            "type": "array",
            "prefixItems": [kind.schema(definitions) for kind in kinds],
            "minItems": count,
            "maxItems": count,
        },
    )


def by_name(kind: Kind) -> Value:
    """A mapping of names to such."""
    return Value(
        lambda item: {name: kind.read(spec) for name, spec in item.mapping().items()},
        lambda definitions: {"type": "object", "additionalProperties": kind.schema(definitions)},
    )


def any_of(read: Callable[[Item], Any], *kinds: Kind) -> Value:
    """One of these, told apart by `read`."""
    return Value(read, lambda definitions: {"anyOf": [kind.schema(definitions) for kind in kinds]})


def checked(kind: Kind, holds: Callable[[Any], bool], complaint: str, **bounds: Any) -> Value:
    """Of which that holds. complaint: {} is what the file says; bounds: of numbers without a unit, for editors."""

    def read(item: Item) -> Any:
        value = kind.read(item)
        if not holds(value):
            raise item.error(complaint.format(item.value))
        return value

    return Value(read, lambda definitions: {**kind.schema(definitions), **bounds})


# what editors and people get


def json_schema(section: Section, title: str) -> Schema:
    """A JSON Schema of a document that is such a section."""
    definitions: Definitions = {}
    section.schema(definitions)
    whole = definitions.pop(section.name)
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **whole, "$defs": definitions}


def tables(schema: Schema) -> str:
    """The keys of all sections of a JSON Schema of ours, and what stands for values, as tables of Markdown."""
    parts = {"The file": schema, **schema["$defs"]}
    sections = [_table(name, part) for name, part in parts.items() if "properties" in part]
    values = [f"| {name} | {part['$comment']} |" for name, part in sorted(parts.items()) if "properties" not in part]
    return "\n".join([*sections, "## Values", "", "| value | meaning |", "|---|---|", *values])


def _table(name: str, section: Schema) -> str:
    rows = [f"## {name}", "", section["description"], ""]
    rows += ["| key | value | default | meaning |", "|---|---|---|---|"]
    for key, part in section["properties"].items():
        shown = "required" if key in section["required"] else _shown(part["default"]) if "default" in part else ""
        rows.append(f"| `{key}` | {_value(part)} | {shown} | {part['description']} |")
    return "\n".join([*rows, ""])


def _value(part: Schema) -> str:
    """What may stand there, in words."""
    if "$ref" in part:
        return str(part["$ref"]).rpartition("/")[2]
    if "enum" in part or "const" in part:
        return ", ".join(f"`{word}`" for word in part.get("enum", (part.get("const"),)))
    for ways in ("oneOf", "anyOf"):
        if ways in part:
            return " or ".join(map(_value, part[ways]))
    if part.get("type") == "array":
        count = f" of {part['minItems']}" if "minItems" in part else ""
        return f"list{count}: {_value(part['items'])}"
    if part.get("type") == "object":
        return f"names: {_value(part['additionalProperties'])}"
    return str(part.get("type", "anything"))


def _shown(default: Any) -> str:
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"
