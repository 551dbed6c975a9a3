"""NASTRAN bulk data -> cards: free, small, large fields, continuations, includes. Meaning: finite_elements.py."""

import math
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from rbt_ros.errors import ModelError
from rbt_ros.paths import content_of

BEGIN = re.compile(r"\s*BEGIN\b.*", re.IGNORECASE)
MOST_BYTES = 1 << 28  # of a deck
INCLUDE = re.compile(r"\s*INCLUDE\s+(.*)", re.IGNORECASE)
# 1.5, .5, 1.5E3, 1.5D-3, and NASTRAN's own 1.5-3, which is 1.5E-3
REAL = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+))(?:[EeDd]?([-+]\d+)|[EeDd](\d+))?")
SMALL, LARGE = 8, 4  # data fields in a line
MARKS = "+*"  # open a continuation


class Line(NamedTuple):
    """A line of text, without its comment, and where it is."""

    text: str
    file: str
    number: int

    def error(self, text: str) -> ModelError:
        """The error `text` at this place."""
        return ModelError(f"{self.file}:{self.number}: {text}")


class Card(NamedTuple):
    """One entry: its name, its data fields (blank: ""), and where it starts."""

    name: str
    fields: tuple[str, ...]
    line: Line
    problem: str = ""  # what is wrong with its form: of no interest if the card is none

    def error(self, text: str) -> ModelError:
        """The error `text` about this card."""
        return self.line.error(f"{self.name} {self.fields[0]}: {text}")

    def text(self, field: int) -> str:
        """Data field `field`, counted from 1 as `what comes after the name`; "" where the card is shorter."""
        return self.fields[field - 1] if field <= len(self.fields) else ""

    def integer(self, field: int, what: str, default: int | None = None) -> int:
        """A whole number."""
        word = self.text(field)
        if not word and default is not None:
            return default
        if not re.fullmatch(r"[-+]?\d+", word):
            raise self.error(f"{what} (data field {field}) is '{word}', and must be a whole number.")
        return int(word)

    def real(self, field: int, what: str, default: float | None = None) -> float:
        """A number."""
        word = self.text(field)
        if not word and default is not None:
            return default
        match = REAL.fullmatch(word)
        if not match:
            raise self.error(f"{what} (data field {field}) is '{word}', and must be a number.")
        value = float(f"{match[1]}e{match[2] or match[3] or 0}")
        if not math.isfinite(value):
            raise self.error(f"{what} (data field {field}) is '{word}', which is too large.")
        return value

    def integers(self, first: int, count: int, what: str) -> tuple[int, ...]:
        """`count` whole numbers from data field `first` on."""
        return tuple(self.integer(first + i, f"{what}{i + 1}") for i in range(count))

    def reals(self, first: int, count: int, what: str) -> tuple[float, ...]:
        """`count` numbers from data field `first` on; blank ones are 0."""
        return tuple(self.real(first + i, f"{what}{i + 1}", 0.0) for i in range(count))


def read_cards(path: Path) -> list[Card]:
    """All cards between BEGIN BULK and ENDDATA, or of the whole file where these are missing."""
    lines = list(_own_lines(path))
    begin = [i for i, line in enumerate(lines) if BEGIN.fullmatch(line.text)]
    if not begin and any(line.text.strip().upper() == "CEND" for line in lines):
        raise ModelError(f"{path.name}: it has CEND and no BEGIN BULK; give the whole deck, or its bulk data alone.")
    return list(_cards(_with_included(iter(lines[begin[0] + 1 :] if begin else lines), (path,))))


def _own_lines(path: Path) -> Iterator[Line]:
    """The lines of a file without comments and blank ones."""
    texts = content_of(path, "a NASTRAN bulk data file", ModelError, MOST_BYTES).decode("latin-1").splitlines()
    for number, text in enumerate(texts, start=1):
        text = text.split("$")[0].expandtabs(8).rstrip()
        if text:
            yield Line(text, path.name, number)


def _with_included(lines: Iterator[Line], files: tuple[Path, ...]) -> Iterator[Line]:
    """`lines`, with files in place of their INCLUDE. files: the deck, ..., the file that the lines are from."""
    for line in lines:
        match = INCLUDE.fullmatch(line.text)
        if not match:
            yield line
            continue
        name = match[1].strip()
        while name[0] in "'\"" and (len(name) == 1 or name[-1] != name[0]):  # quoted, over several lines
            following = next(lines, None)
            if following is None:
                raise line.error(f"INCLUDE {name}: its quote does not end.")
            name += following.text.strip()
        name = name.strip("'\"")
        found = [place for place in (file.parent / name for file in reversed(files)) if os.path.isfile(place)]
        if not found:
            raise line.error(f"INCLUDE: there is no file '{name}', neither beside the one that names it nor the deck.")
        if found[0].resolve() in [file.resolve() for file in files]:
            raise line.error(f"INCLUDE '{name}' includes itself.")
        yield from _with_included(_own_lines(found[0]), (*files, found[0]))


def _cards(lines: Iterator[Line]) -> Iterator[Card]:
    card: Card | None = None
    mark = ""
    for line in lines:
        name, data, next_mark, problem = _fields(line)
        if not name or name[0] in MARKS:
            if card is None:
                raise line.error("a continuation with no card before it.")
            if name[1:] and mark[1:] and name[1:].upper() != mark[1:].upper():  # the first character may differ
                problem = f"continuation '{name}' follows a line that ends in '{mark}': put it behind its card."
            card = card._replace(fields=card.fields + data)
        else:
            if card:
                yield card
            if name.upper() == "ENDDATA":
                return
            card = Card(name.upper(), data, line)
        if problem and not card.problem:
            card = card._replace(problem=f"{line.file}:{line.number}: {problem}")
        mark = next_mark
    if card:
        yield card


def _fields(line: Line) -> tuple[str, tuple[str, ...], str, str]:
    """(name or mark of the line without its *, data fields, mark at its end, what is wrong with it)."""
    text, problem = line.text, ""
    if "," in text:
        name, *data = (part.strip() for part in text.split(","))
        count = LARGE if "*" in name else SMALL
        if any(data[count + 1 :]):
            problem = f"{len(data)} fields, and a line has {count} and a continuation mark; continue it with '+'."
    else:
        name = text[:8].strip()
        count = LARGE if "*" in name else SMALL
        width = 64 // count
        data = [text[i : i + width].strip() for i in range(8, 72, width)] + [text[72:80].strip()]
    data += [""] * (count + 1 - len(data))
    return (name if name[:1] in MARKS else name.rstrip("*").strip()), tuple(data[:count]), data[count], problem
