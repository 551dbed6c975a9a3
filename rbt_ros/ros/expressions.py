"""Extended regular expressions of POSIX, searched without backtracking: time goes with states times characters.

IEEE Std 1003.1, Base Definitions 9.4, in the POSIX locale; what it leaves undefined is refused. The expression becomes
a nondeterministic automaton (Thompson 1968), of which all states are followed at once.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from rbt_ros.errors import MessageError

MOST_STATES = 1000
MOST_REPEATS = 255  # RE_DUP_MAX
SPECIAL = "^.[]$()|*+?{}\\"  # what a backslash makes ordinary
CLASSES = {
    "alnum": ("09", "AZ", "az"),
    "alpha": ("AZ", "az"),
    "blank": ("\t\t", "  "),
    "cntrl": ("\x00\x1f", "\x7f\x7f"),
    "digit": ("09",),
    "graph": ("!~",),
    "lower": ("az",),
    "print": (" ~",),
    "punct": ("!/", ":@", "[`", "{~"),
    "space": ("\t\r", "  "),
    "upper": ("AZ",),
    "xdigit": ("09", "AF", "af"),
}


class Characters(NamedTuple):
    """Those from first to last of each range, or all others."""

    ranges: tuple[str, ...]
    others: bool = False

    def __contains__(self, character: object) -> bool:
        return any(ends[0] <= str(character) <= ends[1] for ends in self.ranges) != self.others


ANY = Characters((), others=True)
EMPTY, AT_BEGIN, AT_END = "", "^", "$"  # what is passed without a character: anywhere, or only there
ACCEPT = 0
END = None  # behind the last character


class Automaton:
    """States that read a character or pass without one, and where each leads."""

    def __init__(self) -> None:
        self._reads: list[Characters | str] = [EMPTY]
        self._then: list[list[int]] = [[]]
        self._start = ACCEPT

    def add(self, reads: Characters | str, *then: int) -> int:
        """One more state. MessageError: too many."""
        if len(self._reads) > MOST_STATES:
            raise MessageError(f"it has more than {MOST_STATES} states, with its repeats written out; repeat less")
        self._reads.append(reads)
        self._then.append([*then])
        return len(self._reads) - 1

    def lead(self, state: int, to: int) -> None:
        """From that state to this one, too."""
        self._then[state].append(to)

    def begin(self, state: int) -> None:
        """A match starts there."""
        self._start = state

    def search(self, text: str) -> bool:
        """Whether any part of `text` matches."""
        states: set[int] = set()
        for i, character in enumerate((*text, END)):
            passed = {EMPTY, *[AT_BEGIN] * (i == 0), *[AT_END] * (character is END)}
            states = self._reached({*states, self._start}, passed)
            if ACCEPT in states:
                return True
            states = {then for state in states for then in self._after(state, character)}
        return False

    def _reached(self, states: Iterable[int], passed: set[str]) -> set[int]:
        """With all to which they lead without a character."""
        reached, to_see = set(states), list(states)
        while to_see:
            state = to_see.pop()
            if self._reads[state] in passed:
                new = [then for then in self._then[state] if then not in reached]
                reached.update(new)
                to_see += new
        return reached

    def _after(self, state: int, character: str | None) -> list[int]:
        reads = self._reads[state]
        reads_it = isinstance(reads, Characters) and character is not END and character in reads
        return self._then[state] if reads_it else []


# parts of an expression: each adds its states before the one that comes after it, and returns where it is entered.
# Each adds one at least, so that the limit on states bounds the work, too.
Part = Callable[[Automaton, int], int]


def reading(what: Characters | str) -> Part:
    """One character, or one place."""
    return lambda automaton, after: automaton.add(what, after)


def sequence(parts: list[Part]) -> Part:
    """One after the other."""

    def put(automaton: Automaton, after: int) -> int:
        for part in reversed(parts or [reading(EMPTY)]):
            after = part(automaton, after)
        return after

    return put


def either(parts: list[Part]) -> Part:
    """One of them."""
    if len(parts) == 1:
        return parts[0]
    return lambda automaton, after: automaton.add(EMPTY, *[part(automaton, after) for part in parts])


def repeated(part: Part, least: int, most: int | None) -> Part:
    """So often; most None: or more often."""

    def put(automaton: Automaton, after: int) -> int:
        end = here = automaton.add(EMPTY, after)
        if most is None:
            automaton.lead(end, part(automaton, end))
        for _ in range((most or 0) - least):
            here = automaton.add(EMPTY, part(automaton, here), end)
        for _ in range(least):
            here = part(automaton, here)
        return here

    return put


class Reader:
    """Reads an expression from left to right."""

    def __init__(self, text: str):
        self._text, self._at = text, 0

    def expression(self) -> Automaton:
        """What searches for it. MessageError: it is none."""
        groups: list[tuple[list[Part], list[Part]]] = [([], [])]  # open ones: alternatives so far, parts of the last
        while self._at < len(self._text):
            character, (alternatives, parts) = self._next(), groups[-1]
            if character == "(":
                groups.append(([], []))
            elif character == "|":
                alternatives.append(sequence(parts))
                groups[-1] = alternatives, []
            elif character == ")":
                self._need(len(groups) > 1, "')' closes nothing; write \\)")
                groups.pop()
                groups[-1][1].append(self._repeats(either([*alternatives, sequence(parts)])))
            elif character in "^$":
                parts.append(reading(character))
            else:
                parts.append(self._repeats(reading(self._one(character))))
        self._need(len(groups) == 1, "a '(' is not closed; write \\( for one that is a character")
        (alternatives, parts), automaton = groups[0], Automaton()
        automaton.begin(either([*alternatives, sequence(parts)])(automaton, ACCEPT))
        return automaton

    def _need(self, true: bool, otherwise: str) -> None:
        if not true:
            raise MessageError(f"{otherwise} (character {self._at})")

    def _next(self) -> str:
        self._need(self._at < len(self._text), "it ends too early")
        self._at += 1
        return self._text[self._at - 1]

    def _takes(self, text: str) -> bool:
        """Whether that comes next; then it is read."""
        found = self._text.startswith(text, self._at)
        self._at += len(text) * found
        return found

    def _one(self, character: str) -> Characters:
        if character == ".":
            return ANY
        if character == "[":
            return self._bracket()
        self._need(character not in "*+?{", f"'{character}' repeats nothing; write \\{character} for the character")
        if character == "\\":
            character = self._next()
            self._need(
                character in SPECIAL, f"\\{character} means nothing in POSIX; it has classes, such as [[:digit:]]"
            )
        return Characters((2 * character,))

    def _repeats(self, part: Part) -> Part:
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}
        following = self._text[self._at : self._at + 1]
        if following not in ("*", "+", "?", "{"):
            return part
        self._at += 1
        least, most = counts[following] if following in counts else self._interval()
        again = self._text[self._at : self._at + 1]
        self._need(again not in ("*", "+", "?", "{"), f"'{again}' after '{following}' is undefined in POSIX; use ( )")
        return repeated(part, least, most)

    def _interval(self) -> tuple[int, int | None]:
        """Behind "{": m}, m,} or m,n}."""
        least = self._count()
        most = least if not self._takes(",") else None if self._text.startswith("}", self._at) else self._count()
        rule = f"{{m}}, {{m,}} or {{m,n}} with 0 <= m <= n <= {MOST_REPEATS} repeats; write \\{{ for the character"
        self._need(self._takes("}") and least <= (least if most is None else most), rule)
        return least, most

    def _count(self) -> int:
        begin = self._at
        while self._text[self._at : self._at + 1] in tuple("0123456789"):
            self._at += 1
        digits = self._text[begin : self._at]
        self._need(digits != "" and int(digits) <= MOST_REPEATS, f"{{ }} holds numbers from 0 to {MOST_REPEATS}")
        return int(digits)

    def _bracket(self) -> Characters:
        """Behind "["; a backslash is a character there, and so is "]" at first, "-" at first and last."""
        others, first = self._takes("^"), True
        ranges: list[str] = []
        while first or not self._takes("]"):
            first = False
            if self._takes("[:"):
                ranges += self._class()
                continue
            begin = end = self._element()
            if self._text.startswith("-", self._at) and not self._text.startswith("-]", self._at):
                self._at += 1
                end = self._element()
            self._need(begin <= end, f"[{begin}-{end}] goes backwards")
            ranges.append(begin + end)
        return Characters(tuple(ranges), others)

    def _class(self) -> tuple[str, ...]:
        name, _, _ = self._text[self._at :].partition(":]")
        self._need(name in CLASSES, f"there is no class [:{name[:20]}:]; there are {', '.join(CLASSES)}")
        self._at += len(name) + 2
        return CLASSES[name]

    def _element(self) -> str:
        """One character, or one written as [.x.] or [=x=]."""
        for sign in ".=":
            if self._takes(f"[{sign}"):
                character = self._next()
                self._need(self._takes(f"{sign}]"), f"[{sign} {sign}] holds one character here")
                return character
        return self._next()


def expression(text: str) -> Automaton:
    """What searches for an extended regular expression. MessageError: why it is none, as the rest of a sentence."""
    return Reader(text).expression()
