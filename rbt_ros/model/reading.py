"""YAML 1.2 with places: every value knows its file, line and key, so that every error can say them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from rbt_ros.errors import ScenarioError
from rbt_ros.model.units import nanoseconds, quantity


def read_yaml(path: Path) -> "Item":
    """The document in `path`, ready to be taken apart."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as err:
        raise ScenarioError(f"there is no file {path}; give the path of a scenario YAML.") from err
    except (OSError, UnicodeDecodeError) as err:
        raise ScenarioError(f"{path} cannot be read as a text file: {err}.") from err
    return parse_yaml(text, str(path))


def parse_yaml(text: str, name: str) -> "Item":
    """The document `text`; `name` stands in error messages."""
    yaml = YAML(typ="rt", pure=True)
    yaml.version = (1, 2)  # `off` is a word, 1e-3 a number
    try:
        return Item(yaml.load(text), name, 1, "")
    except MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{name}:{line}: not valid YAML: {err.problem or err.context}.") from err
    except YAMLError as err:
        raise ScenarioError(f"{name}: not valid YAML: {err}.") from err


class Item:
    """One value of a document, with its place."""

    def __init__(self, value: Any, file: str, line: int, key: str):
        self.value, self.file, self.line, self.key = value, file, line, key

    def error(self, text: str) -> ScenarioError:
        """The error `text` at this place."""
        return ScenarioError(f"{self.place}: {text}")

    @property
    def place(self) -> str:
        """File, line and key, as messages begin."""
        return f"{self.file}:{self.line}: {self.key or 'document'}"

    # mappings

    def mapping(self, *known: str) -> "Item":
        """This item, checked to be a mapping; with `known`, of those keys only."""
        if not isinstance(self.value, CommentedMap):
            what = "empty" if self.value is None else repr(self.value)
            raise self.error(f"must be a mapping of {', '.join(known) if known else 'names'}, not {what}.")
        for key in self.value:
            if known and key not in known:
                raise self[key].error(f"unknown key '{key}'; the keys here are {', '.join(known)}.")
        return self

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def __getitem__(self, key: Any) -> "Item":
        if key not in self.value:
            raise self.error(f"'{key}' is missing.")
        path = f"{self.key}.{key}" if self.key else str(key)
        own = key in self.value.lc.data  # and not merged into it by <<
        return Item(self.value[key], self.file, self.value.lc.key(key)[0] + 1 if own else self.line, path)

    def items(self) -> Iterator[tuple[str, "Item"]]:
        """The (key, item) pairs of a mapping."""
        return ((key, self[key]) for key in self.value)

    # lists

    def entries(self) -> list["Item"]:
        """The items of a list."""
        if not isinstance(self.value, CommentedSeq):
            raise self.error(f"must be a list, not {self.value!r}.")
        return [
            Item(value, self.file, self.value.lc.item(i)[0] + 1, f"{self.key}[{i}]")
            for i, value in enumerate(self.value)
        ]

    def vector(self, dimension: str, length: int = 3) -> tuple[float, ...]:
        """A list of `length` quantities."""
        entries = self.entries()
        if len(entries) != length:
            raise self.error(f"takes {length} numbers, not {len(entries)}.")
        return tuple(e.number(dimension) for e in entries)

    # scalars

    def number(self, dimension: str = "plain number") -> float:
        """A quantity in SI."""
        try:
            return quantity(self.value, dimension)
        except ValueError as err:
            raise self.error(f"{err}.") from err

    def nanoseconds(self) -> int:
        """A time in integer nanoseconds."""
        try:
            return nanoseconds(self.value)
        except ValueError as err:
            raise self.error(f"{err}.") from err

    def integer(self) -> int:
        """A whole number."""
        if not isinstance(self.value, int) or isinstance(self.value, bool):
            raise self.error(f"{self.value!r} is not a whole number.")
        return int(self.value)

    def truth(self) -> bool:
        """true or false."""
        if not isinstance(self.value, bool):
            raise self.error(f"{self.value!r} is neither true nor false.")
        return self.value

    def text(self) -> str:
        """A word or a string."""
        if not isinstance(self.value, str):
            raise self.error(f"{self.value!r} is not a text.")
        return str(self.value)

    def choice(self, *allowed: str) -> str:
        """One of the words `allowed`."""
        word = self.text()
        if word not in allowed:
            raise self.error(f"'{word}' is not one of {', '.join(allowed)}.")
        return word

    def plain(self) -> Any:
        """The value without places: lists, dicts, numbers, strings."""
        if isinstance(self.value, CommentedMap):
            return {key: item.plain() for key, item in self.items()}
        if isinstance(self.value, CommentedSeq):
            return [item.plain() for item in self.entries()]
        return self.value
