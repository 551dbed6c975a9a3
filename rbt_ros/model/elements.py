"""XML with places: every element knows its file and line, so that every error can say them."""

import math
from collections.abc import Iterator
from xml.parsers import expat

from rbt_ros.errors import ModelError

Vector = tuple[float, ...]
MOST_DEPTH = 64
MOST_ELEMENTS = 200_000


class Element:
    """One element of a document: tag, attributes, children, and where it stands."""

    def __init__(self, tag: str, attributes: dict[str, str], file: str, line: int, parent: "Element | None" = None):
        self.tag, self.attributes, self.file, self.line = tag, attributes, file, line
        self.children: list[Element] = []
        self.where: str
        name = attributes.get("name")
        if name is not None or parent is None or not parent.where:
            self.where = f"{tag} '{name[:80]}'" if name is not None else f"<{tag}>"
        else:
            self.where = f"<{tag}> of {parent.where}"

    def error(self, text: str) -> ModelError:
        """The error `text` at this place."""
        return ModelError(f"{self.file}:{self.line}: {self.where}: {text}")

    def all(self, tag: str) -> list["Element"]:
        """The children of that tag."""
        return [child for child in self.children if child.tag == tag]

    def child(self, tag: str) -> "Element | None":
        """The only child of that tag, or None."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"there is one <{tag}> already, in line {found[0].line}; keep one.")
        return found[0] if found else None

    def walk(self) -> Iterator["Element"]:
        """This element and all below it."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))

    # attributes

    def text(self, key: str) -> str:
        """An attribute that must be there."""
        if key not in self.attributes:
            raise self.error(f"the attribute {key} is missing.")
        return self.attributes[key].strip()

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        if default is not None and key not in self.attributes:
            return default
        return self._numbers(key, 1)[0]

    def vector(self, key: str, default: Vector | None = None, count: int = 3) -> Vector:
        """`count` finite numbers."""
        if default is not None and key not in self.attributes:
            return default
        return self._numbers(key, count)

    def _numbers(self, key: str, count: int) -> Vector:
        words = self.text(key).split()
        numbers = []
        for word in words:
            try:
                numbers.append(float("?" if "_" in word else word))  # Python reads 1_0 as 10
            except ValueError as err:
                raise self.error(f"{key}: '{word[:40]}' is not a number.") from err
            if not math.isfinite(numbers[-1]):
                raise self.error(f"{key}: {numbers[-1]} is not finite.")
        if len(numbers) != count:
            wanted = "one number" if count == 1 else f"{count} numbers"
            raise self.error(f'{key}="{self.text(key)[:80]}" must be {wanted}, not {len(numbers)}.')
        return tuple(numbers)


def parse_xml(text: str | bytes, file: str) -> Element:
    """The root element of the document `text`; `file` stands in error messages."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    roots: list[Element] = []
    path: list[Element] = []
    counted = [0]

    def start(tag: str, attributes: dict[str, str]) -> None:
        above = path[-1] if path else None
        if len(path) == MOST_DEPTH:
            raise ModelError(f"{file}:{parser.CurrentLineNumber}: <{tag:.40}> is nested more than {MOST_DEPTH} deep.")
        counted[0] += 1
        if counted[0] > MOST_ELEMENTS:
            raise ModelError(f"{file}:{parser.CurrentLineNumber}: there are more than {MOST_ELEMENTS} elements.")
        # links and joints are told by their own name, not as parts of the robot
        element = Element(tag, attributes, file, parser.CurrentLineNumber, above if len(path) > 1 else None)
        (above.children if above else roots).append(element)
        path.append(element)

    def end(_: str) -> None:
        path.pop()

    def entity(name: str, *_) -> None:
        raise ModelError(
            f"{file}:{parser.CurrentLineNumber}: the entity '{name}' is declared here; entities are not read."
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.EntityDeclHandler = entity
    try:
        parser.Parse(text, True)
    except expat.ExpatError as err:
        reason = expat.errors.messages[err.code]
        raise ModelError(f"{file}:{err.lineno}: not well-formed XML: {reason} (column {err.offset + 1}).") from err
    except (LookupError, ValueError) as err:  # an encoding that is not known, or not one of single bytes
        raise ModelError(f"{file}: {err}; save the file as UTF-8.") from err
    return roots[0]
