"""Extended regular expressions of POSIX: what both know is found as Python's `re` finds it, and nothing hangs."""

import re
import string

import numpy as np
import pytest

from rbt_ros.errors import MessageError
from rbt_ros.ros.expressions import CLASSES, MOST_STATES, expression

ATOMS = ("a", "b", "c", "_", ".", "[ab]", "[^a]", "[b-c_]", r"\.", "[[:digit:]]", "[^[:alpha:]]", "[]x]", "[a-]")
PYTHONS = {"[[:digit:]]": "[0-9]", "[^[:alpha:]]": "[^a-zA-Z]", "[]x]": r"[\]x]"}
REPEATS = ("", "", "", "*", "+", "?", "{2}", "{1,}", "{0,2}")


def drawn(rng, depth: int) -> str:
    """An expression that both read alike."""
    branches = []
    for _ in range(rng.integers(1, 3)):
        parts = ["^"] * (rng.random() < 0.1)
        for _ in range(rng.integers(0, 4)):
            nested = depth > 0 and rng.random() < 0.3
            parts.append((f"({drawn(rng, depth - 1)})" if nested else rng.choice(ATOMS)) + rng.choice(REPEATS))
        branches.append("".join([*parts, *["$"] * (rng.random() < 0.1)]))
    return "|".join(branches)


def test_random_expressions_find_what_python_finds():
    """Two matchers of different kinds, one with and one without backtracking, must agree."""
    rng, found = np.random.default_rng(3), 0
    for _ in range(500):
        posix = python = drawn(rng, 2)
        for ours, theirs in PYTHONS.items():
            python = python.replace(ours, theirs)
        theirs, ours = re.compile(python.replace("$", r"\Z")), expression(posix)
        for _ in range(4):
            text = "".join(rng.choice(list("abc_.]x-7"), rng.integers(0, 7)))
            assert ours.search(text) == bool(theirs.search(text)), (posix, text)
            found += ours.search(text)
    assert 500 < found < 1900, "both answers occur often"


@pytest.mark.parametrize("name", CLASSES)
def test_classes_are_those_of_the_posix_locale(name):
    members = {
        "alnum": string.ascii_letters + string.digits,
        "alpha": string.ascii_letters,
        "blank": " \t",
        "cntrl": "".join(map(chr, range(32))) + "\x7f",
        "digit": string.digits,
        "graph": string.ascii_letters + string.digits + string.punctuation,
        "lower": string.ascii_lowercase,
        "print": string.ascii_letters + string.digits + string.punctuation + " ",
        "punct": string.punctuation,
        "space": string.whitespace,
        "upper": string.ascii_uppercase,
        "xdigit": string.hexdigits,
    }
    one, none = expression(f"[[:{name}:]]"), expression(f"^[^[:{name}:]]$")
    for character in map(chr, range(256)):
        assert one.search(character) == (character in members[name]) != none.search(character)


@pytest.mark.parametrize(
    ("text", "finds", "passes"),
    [
        (r"[\d]", "\\", "7"),  # a backslash is a character there
        ("[[.-.][=a=]]", "-a", "b"),
        ("[a-c-]", "b-", "d"),
        ("x{255}", ["x" * 255], ["x" * 254]),
        ("(a|b$)c", ["ac"], ["bc"]),
        ("a^b", [], ["ab", "a^b"]),
        ("()", ["", "a"], []),
        (".", ["\n", "é"], [""]),
    ],
)
def test_what_python_writes_otherwise(text, finds, passes):
    assert [each for each in (*finds, *passes) if expression(text).search(each)] == list(finds)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("(?=x)", "'?' repeats nothing"),
        ("(?i)x", "'?' repeats nothing"),
        (r"\d", r"\\d means nothing in POSIX; it has classes, such as \[\[:digit:\]\]"),
        (r"(a)\1", r"\\1 means nothing in POSIX"),
        ("a*?", r"'\?' after '\*' is undefined in POSIX"),
        ("*a", r"'\*' repeats nothing; write \\\* for the character"),
        ("a|{2}", "'{' repeats nothing"),
        ("^*", "repeats nothing"),
        ("a)", "closes nothing"),
        ("((a)", "is not closed"),
        ("a{2", "repeats; write"),
        ("a{3,2}", "m <= n <= 255"),
        ("a{256}", "holds numbers from 0 to 255"),
        ("a{x}", "holds numbers from 0 to 255"),
        ("[a", "it ends too early"),
        ("a\\", "it ends too early"),
        ("[b-a]", r"\[b-a\] goes backwards"),
        ("[[:greek:]]", r"there is no class \[:greek:\]; there are alnum, alpha"),
        ("[[.xy.]]", "holds one character here"),
    ],
)
def test_what_posix_does_not_define_is_refused(text, sentence):
    with pytest.raises(MessageError, match=sentence):
        expression(text)


@pytest.mark.parametrize("text", ["(.?){99}Q", "(a*)*Q", "(a|a)*Q", "(.*){5}Q", "((a+)+)+$", "(x+x+)+y"])
def test_what_lets_a_backtracking_matcher_hang_is_answered(text):
    """With backtracking these take 2^40 steps and more; here states times characters."""
    assert not expression(text).search("a" * 40 + "x" * 40 + "z")


@pytest.mark.parametrize("text", ["(.{255}){4}", "((((){255}){255}){255}){255}", "((((a{0}){255}){255}){255}){255}"])
def test_repeats_of_repeats_end_at_the_limit(text):
    with pytest.raises(MessageError, match=f"it has more than {MOST_STATES} states"):
        expression(text)


def test_groups_may_lie_as_deep_as_a_filter_is_long():
    assert expression("(" * 100 + ")" * 100).search("a")
