"""Parts that several sections of a scenario have: attitudes, pairs of bodies, signals, errors told with their place."""

from collections.abc import Sequence

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import SEQUENCES, as_quaternion
from rbt_ros.model.reading import Item
from rbt_ros.model.schema import (
    TEXT,
    Key,
    Section,
    Value,
    any_of,
    choice,
    later,
    list_of,
    named,
    number,
    row,
    vector,
    word,
)
from rbt_ros.model.signals import BETWEEN, Signal, polynomial, sines, table
from rbt_ros.plug.parameter import Parameter

RATES = {"angle": "angular velocity", "length": "velocity"}  # dimension of a freedom -> of its rate
EFFORTS = {"angle": "torque", "length": "force"}  # -> of its effort


def placed(item: Item, make, *args, **kwargs):
    """make(...), its ModelError told with the place in the file."""
    try:
        return make(*args, **kwargs)
    except ModelError as err:
        raise item.error(str(err).removeprefix(f"{item.place}: ")) from err


def _attitude(item: Item) -> tuple[float, float, float, float]:
    """w x y z, or [ZXZ, a, b, c] with angles in rad or with units."""
    if isinstance(item.value, list) and item.value and isinstance(item.value[0], str) and item.value[0].isalpha():
        return _euler(item)
    return placed(item, as_quaternion, item.vector("plain number", 4), item.place)


def _euler(item: Item) -> tuple[float, float, float, float]:
    """[ZXZ, a, b, c] as w x y z."""
    entries = item.entries()
    if len(entries) != 4:
        raise item.error("takes a sequence and three angles: [ZXZ, 10 deg, 20 deg, 30 deg].")
    angles = [e.number("angle") for e in entries[1:]]
    return placed(item, as_quaternion, (entries[0].text(), *angles), item.place)


POINT = any_of(
    lambda item: item.vector("length") if isinstance(item.value, list) else item.text(),
    choice(("com", "origin")),
    vector("length"),
)
EULER = named(
    "euler",
    "[ZYX, a, b, c]: turns by these angles about axes of the body, one after the other",
    row(_euler, choice(SEQUENCES), *[number("angle")] * 3),
)
ATTITUDE = named(
    "attitude", "a quaternion [w, x, y, z], or turns as of euler", any_of(_attitude, vector(length=4), EULER)
)
FREEDOM = later(any_of(Item.number, number("angle"), number("length")))  # of a position: the hinge knows which


def per_freedom(*dimensions: str) -> Value:
    """One number per freedom, of one of these dimensions; a hinge of one freedom needs no list."""
    one = any_of(Item.number, *map(number, dimensions))
    return later(any_of(Item.number, one, list_of(one)))


def of_freedoms(item: Item, dimensions: Sequence[str]) -> tuple[float, ...]:
    """The same, read for the freedoms of a hinge."""
    entries = item.entries() if isinstance(item.value, list) else [item]
    if len(entries) != len(dimensions):
        raise item.error(f"takes {len(dimensions)} numbers, one per freedom of the hinge, not {len(entries)}.")
    return tuple(entry.number(dimension) for entry, dimension in zip(entries, dimensions, strict=True))


def pair(joined: str, example: str) -> Value:
    """Two bodies."""

    def read(item: Item) -> list[str]:
        bodies = list_of(TEXT).read(item)
        if len(bodies) != 2:
            raise item.error(f"names the two bodies that are {joined}, not {len(bodies)}: {example}.")
        return bodies

    return Value(read, list_of(TEXT, 2).schema)


def _term(item: Item) -> tuple[float, ...]:
    parts = item.entries()
    if len(parts) != 3:
        raise item.error("a term is [amplitude, angular velocity, phase]: [2, 1 rad/s, 0].")
    dimensions = ("plain number", "angular velocity", "angle")
    return tuple(part.number(dimension) for part, dimension in zip(parts, dimensions, strict=True))


TERM = named(
    "term",
    "[a, ω, φ]: amplitude, angular velocity and phase",
    row(_term, number(), number("angular velocity"), number("angle")),
)
SINES = Section(
    "sines",
    "offset + Σ a sin(ω t + φ).",
    Key("offset", number(), "the mean value", 0),
    Key("terms", list_of(TERM), "that are added", needed=True),
)
TABLE = Section(
    "table",
    "Values at rising times; outside, the values of its ends.",
    Key("times", list_of(number("time")), "since the start of the input", needed=True),
    Key("values", list_of(number()), "as many as times", needed=True),
    Key("between", word(BETWEEN.keys), "how it goes from one value to the next", "linear"),
)
LAWS = {"sines": sines, "polynomial": polynomial, "table": table}
SIGNALS = Section(
    "signal",
    "A factor, or a motion, that changes with time: one of these.",
    Key("sines", SINES, "a sum of sines"),
    Key("polynomial", list_of(number()), "c0, c1, c2, ...: c0 + c1 t + c2 t² + ..., t in s"),
    Key("table", TABLE, "values at times"),
    minProperties=1,
    maxProperties=1,
)


def _signal(item: Item) -> Signal:
    given = SIGNALS.read(item)
    if len(given) != 1:
        raise item.error(f"give one of {', '.join(LAWS)}.")
    law, arguments = given.popitem()
    return placed(item, LAWS[law], **(arguments if isinstance(arguments, dict) else {"coefficients": arguments}))


SIGNAL = Value(_signal, SIGNALS.schema)
MOTION = later(any_of(_signal, FREEDOM, SIGNAL))  # of a joint: where it stays, or how it moves


def motion(item: Item, dimension: str) -> Signal | float:
    """What a joint follows; where it stays is of that dimension."""
    return _signal(item) if isinstance(item.value, dict) else item.number(dimension)


def parameter_key(parameter: Parameter) -> Key:
    """A parameter of what plugs in."""
    unit = parameter.unit or "plain number"
    kind = vector(unit, parameter.size) if parameter.size > 1 else number(unit)
    default = list(parameter.default) if isinstance(parameter.default, tuple) else parameter.default
    return Key(parameter.name, kind, parameter.about, default)
