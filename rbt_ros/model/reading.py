"""YAML 1.2 with places: every value knows its file, line and key, so that every error can say them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.comments import CommentedMap, CommentedSeq
from ruamel.yaml.constructor import RoundTripConstructor, SafeConstructor
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.nodes import MappingNode, Node, SequenceNode
from ruamel.yaml.scanner import RoundTripScanner

from rbt_ros.errors import ScenarioError
from rbt_ros.model.units import nanoseconds, quantity
from rbt_ros.paths import content_of

MOST_BYTES = 1 << 21
MOST_VALUES = 1_000_000  # of a document, with each alias in full
MOST_DEPTH = 64
MOST_DIGITS = 1000
LONGEST_TEXT = 600  # of an error
TOO_DEEP = f"it is nested more than {MOST_DEPTH} deep"


def read_yaml(path: Path) -> tuple["Item", str]:
    """The document in `path`, ready to be taken apart, and its text."""
    try:
        text = content_of(path, "a scenario YAML", ScenarioError, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as err:
        raise ScenarioError(f"{path} cannot be read as a text file: {err}.") from err
    return parse_yaml(text, str(path)), text


def plain_yaml(text: str) -> Any:
    """Lists, dicts, numbers and strings of a YAML text of a program's; whatever ruamel raises where it is none."""
    yaml = YAML(typ="safe", pure=True)
    yaml.Scanner, yaml.Constructor = _Scanner, _PlainConstructor
    return yaml.load(text)


def parse_yaml(text: str, name: str) -> "Item":
    """The document `text`; `name` stands in error messages."""
    yaml = YAML(typ="rt", pure=True)
    yaml.version = (1, 2)  # `off` is a word, 1e-3 a number
    yaml.Scanner, yaml.Constructor = _Scanner, _Constructor
    try:
        return Item(yaml.load(text), name, 1, "")
    except MarkedYAMLError as err:
        mark = err.problem_mark or err.context_mark
        line = mark.line + 1 if mark else 1
        raise ScenarioError(f"{name}:{line}: not valid YAML: {err.problem or err.context}.") from err
    except RecursionError as err:
        raise ScenarioError(f"{name}: not valid YAML: {TOO_DEEP}.") from err
    except Exception as err:  # whatever a wrong tag, date or number makes of ruamel
        raise ScenarioError(f"{name}: not valid YAML: {' '.join(str(err).split())[:200]}.") from err


class _Scanner(RoundTripScanner):
    """Ends where brackets are nested too deep, before it looks through all of them for each."""

    def fetch_flow_collection_start(self, TokenClass: Any, to_push: str) -> None:
        if self.flow_level > MOST_DEPTH:
            raise MarkedYAMLError(problem=TOO_DEEP, problem_mark=self.reader.get_mark())
        super().fetch_flow_collection_start(TokenClass, to_push)


class _Constructor(RoundTripConstructor):
    """Makes values of what can be made in reasonable time, and told in words."""

    def construct_document(self, node: Node) -> Any:
        _check_nodes(node)
        return super().construct_document(node)


class _PlainConstructor(SafeConstructor):
    """The same without places."""

    def construct_document(self, node: Node) -> Any:
        _check_nodes(node)
        return super().construct_document(node)


def _check_nodes(root: Node) -> None:
    """MarkedYAMLError where the document is too large with its aliases in full, too deep, or holds itself."""
    known: dict[int, tuple[int, int] | None] = {}  # by node: how many values it is, how deep; None: under way
    waiting = [root]
    while waiting:
        node = waiting[-1]
        parts = _parts(node)
        if id(node) not in known:
            known[id(node)] = None
            for part in parts:
                if id(part) in known and known[id(part)] is None:
                    raise _Refused("an alias is part of what it stands for", part)
            waiting += [part for part in parts if id(part) not in known]
            continue
        waiting.pop()
        if known[id(node)] is None:
            sizes = [known[id(part)] or (1, 1) for part in parts]
            values, depth = 1 + sum(n for n, _ in sizes), 1 + max((d for _, d in sizes), default=0)
            if values > MOST_VALUES:
                raise _Refused(f"with its aliases it has more than {MOST_VALUES} values", node)
            if depth > MOST_DEPTH:
                raise _Refused(TOO_DEEP, node)
            known[id(node)] = values, depth


class _Refused(MarkedYAMLError):
    """Valid YAML that is not read."""

    def __init__(self, why: str, node: Node):
        super().__init__(problem=why, problem_mark=node.start_mark)


def _parts(node: Node) -> list[Node]:
    """The nodes in a node; _Refused where a text cannot be written in UTF-8."""
    if isinstance(node, MappingNode):
        return [part for pair in node.value for part in pair]
    if isinstance(node, SequenceNode):
        return list(node.value)
    if len(node.value) > MOST_DIGITS and str(node.tag).endswith((":int", ":float")):
        raise _Refused(f"a number of {len(node.value)} digits is none to reckon with", node)
    if any("\ud800" <= character <= "\udfff" for character in node.value):
        raise _Refused("half of a surrogate pair is no character", node)
    return []


class Item:
    """One value of a document, with its place."""

    def __init__(self, value: Any, file: str, line: int, key: str):
        self.value, self.file, self.line, self.key = value, file, line, key

    def error(self, text: str) -> ScenarioError:
        """The error `text` at this place."""
        shown = text if len(text) <= LONGEST_TEXT else f"{text[: LONGEST_TEXT // 2]} ... {text[-LONGEST_TEXT // 2 :]}"
        return ScenarioError(f"{self.place}: {shown}")

    @property
    def place(self) -> str:
        """File, line and key, as messages begin."""
        return f"{self.file}:{self.line}: {self.key[-200:] or 'document'}"

    # mappings

    def mapping(self, *known: str) -> "Item":
        """This item, checked to be a mapping; with `known`, of those keys only."""
        if not isinstance(self.value, CommentedMap):
            what = "empty" if self.value is None else f"{self.value!r:.80}"
            raise self.error(f"must be a mapping of {', '.join(known) if known else 'names'}, not {what}.")
        for key in self.value:
            if known and key not in known:
                raise self[key].error(f"unknown key '{key!s:.80}'; the keys here are {', '.join(known)}.")
        return self

    def __contains__(self, key: str) -> bool:
        return key in self.value

    def __getitem__(self, key: Any) -> "Item":
        if key not in self.value:
            raise self.error(f"'{key}' is missing.")
        path = f"{self.key}.{key}" if self.key else str(key)
        own = key in (self.value.lc.data or ())  # and not merged into it by <<
        return Item(self.value[key], self.file, self.value.lc.key(key)[0] + 1 if own else self.line, path)

    def items(self) -> Iterator[tuple[str, "Item"]]:
        """The (key, item) pairs of a mapping of names."""
        for key in self.value:
            if not isinstance(key, str):
                raise self[key].error(f"{key!r:.80} is no name; a name begins with a letter.")
            yield key, self[key]

    # lists

    def entries(self) -> list["Item"]:
        """The items of a list."""
        if not isinstance(self.value, CommentedSeq):
            raise self.error(f"must be a list, not {self.value!r:.80}.")
        places = self.value.lc.data or {}  # none where it has a tag
        lines = [places[i][0] + 1 if i in places else self.line for i in range(len(self.value))]
        return [
            Item(value, self.file, line, f"{self.key}[{i}]")
            for i, (value, line) in enumerate(zip(self.value, lines, strict=True))
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
            raise self.error(f"{self.value!r:.80} is not a whole number.")
        return int(self.value)

    def truth(self) -> bool:
        """true or false."""
        if not isinstance(self.value, bool):
            raise self.error(f"{self.value!r:.80} is neither true nor false.")
        return self.value

    def text(self) -> str:
        """A word or a string."""
        if not isinstance(self.value, str):
            raise self.error(f"{self.value!r:.80} is not a text.")
        return str(self.value)

    def choice(self, *allowed: str) -> str:
        """One of the words `allowed`."""
        word = self.text()
        if word not in allowed:
            raise self.error(f"'{word:.80}' is not one of {', '.join(allowed)}.")
        return word

    def plain(self) -> Any:
        """The value without places: lists, dicts, numbers, strings."""
        if isinstance(self.value, CommentedMap):
            return {key: item.plain() for key, item in self.items()}
        if isinstance(self.value, CommentedSeq):
            return [item.plain() for item in self.entries()]
        return self.value
