"""`inputs:` and `forces:` of a scenario -> wrenches, efforts, changes of modes and laws, each at its time."""

import math
from typing import Any

from rbt_ros.model.body_forces import body_force
from rbt_ros.model.change_yaml import CHANGES, planned_change
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.inputs import Effort, PlannedChange, PlannedInput, Wrench
from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.schema import (
    TEXT,
    TIME,
    Definitions,
    Key,
    OneOf,
    Schema,
    Section,
    Value,
    choice,
    list_of,
    vector,
)
from rbt_ros.model.signals import Signal
from rbt_ros.model.yaml_parts import EFFORTS, POINT, SIGNAL, of_freedoms, parameter_key, per_freedom, placed
from rbt_ros.plug.force import FORCES

SPAN = (
    Key("from", TIME, "when it starts", 0, to="from_ns"),
    Key("to", TIME, "when it ends; without this key: never", to="to_ns"),
    Key("signal", SIGNAL, "its factor, of the time since it starts; without this key: 1"),
)
WRENCH = Section(
    "wrench",
    "A force and a moment on a body: docs/forces.md.",
    Key("wrench", TEXT, "the body", needed=True, to="body"),
    Key("force", vector("force"), "where `at` says"),
    Key("moment", vector("torque"), "beside that of the force"),
    Key("frame", TEXT, "whose axes: world, or body (or its name)", "body"),
    Key("at", choice(("com", "origin")), "where the force acts: centre of mass, or origin of the frame", "com"),
    *SPAN,
    anyOf=[{"required": ["force"]}, {"required": ["moment"]}],
)
EFFORT = Section(
    "effort",
    "An effort of a hinge.",
    Key("hinge", TEXT, "the hinge", needed=True),
    Key("effort", per_freedom("torque", "force"), "one number for each freedom", needed=True),
    *SPAN,
)
INPUT = OneOf(
    "an input names what it acts on: either wrench: BODY or hinge: HINGE; or says what "
    f"changes: {', '.join(next(iter(change.keys)) for change in CHANGES)}.",
    WRENCH,
    EFFORT,
    *CHANGES,
)


def force_section(name: str) -> Section:
    """What the law of that name takes."""
    law = FORCES.find(name)
    first = Key(name, TEXT, "the body", needed=True)
    places = [Key("at", POINT, "where, in the frame of the body", "com")]
    if law.bodies == 2:
        first = Key(name, list_of(TEXT, 2), "the two bodies, of which one may be world", needed=True)
        places = [Key(f"at_{k}", POINT, f"where, in the frame of body {k}", "com") for k in "ab"]
    required = [name, *(parameter.name for parameter in law.parameters if parameter.default is None)]
    keys = (first, *places, *map(parameter_key, law.parameters), *SPAN)
    return Section(f"force_{name}", f"{law.about}: docs/forces.md.", *keys, required=required)


def _laws(definitions: Definitions) -> Schema:
    return {"oneOf": [force_section(name).schema(definitions) for name in FORCES.names()]}


FORCE = Value(lambda item: item, _laws)


def read_input(item: Item, robot: Robot) -> PlannedInput | PlannedChange:
    """An entry of the list, checked against the robot."""
    word, given = INPUT.picked(item)
    if word not in ("wrench", "hinge"):
        return planned_change(word, given, item, robot)
    times = given.pop("from_ns"), given.pop("to_ns", None), given.pop("signal", None)
    what = _wrench(given, item, robot) if word == "wrench" else _effort(given, item, robot)
    return _planned(item, what, *times)


def read_force(item: Item, robot: Robot) -> PlannedInput:
    """{linear_drag: ball, coefficient: 0.3 N s/m} or {spring: [hub, world], at_a: [..], stiffness: ..}."""
    name = next(iter(item.mapping().value), "")
    if not isinstance(name, str):
        raise item.error(f"a force begins with its law, as in linear_drag: ball; {name!r:.80} is none.")
    given = placed(item, force_section, name).read(item)
    times = given.pop("from_ns"), given.pop("to_ns", None), given.pop("signal", None)
    bodies, at = given.pop(name), [given.pop(key) for key in ("at", "at_a", "at_b") if key in given]
    bodies = bodies if isinstance(bodies, list) else [bodies]
    return _planned(item, placed(item, body_force, robot, name, bodies, at, given), *times)


def _planned(item: Item, what: Any, from_ns: int, to_ns: int | None, signal: Signal | None) -> PlannedInput:
    if (to_ns is not None and to_ns <= from_ns) or from_ns < 0:
        span = f"from {from_ns * 1e-9:g} s to {(to_ns or math.inf) * 1e-9:g} s"
        raise item.error(f"it acts {span}; it must start at 0 s or later and end after it starts.")
    return PlannedInput(what, signal, from_ns, to_ns)


def _effort(given: dict[str, Any], item: Item, robot: Robot) -> Effort:
    kind = robot.hinges[placed(item["hinge"], robot.hinge_index, given["hinge"])].kind
    dimensions = freedom_dimensions(kind) or ("angle",) * 3
    return Effort(given["hinge"], of_freedoms(given["effort"], [EFFORTS[dimension] for dimension in dimensions]))


def _wrench(given: dict[str, Any], item: Item, robot: Robot) -> Wrench:
    body, frame = given["body"], given["frame"]
    placed(item["wrench"], robot.body_index, body)
    if "force" not in given and "moment" not in given:
        raise item.error("a wrench needs a force or a moment: force: [0, 0, 1].")
    if frame not in ("world", "body", body):
        raise item["frame"].error(f"'{frame}' is no frame for this wrench; use world, or body for the axes of {body}.")
    return Wrench(**{**given, "frame": "world" if frame == "world" else "body"})
