"""`robot:` of a scenario -> Robot."""

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError
from rbt_ros.model.build import DEFAULT_CREEP, RobotBuilder
from rbt_ros.model.checks import NAME
from rbt_ros.model.constraint_yaml import CONSTRAINT, with_constraints
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.folding import ARRAYS, array
from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario_mass import MASS_FILE, mass_from_file
from rbt_ros.model.schema import (
    ANYTHING,
    TEXT,
    Key,
    OneOf,
    Section,
    any_of,
    by_name,
    choice,
    later,
    list_of,
    number,
    vector,
    word,
)
from rbt_ros.model.unilateral_yaml import ROPE, with_ropes_of, with_stops_of
from rbt_ros.model.units import UNITS
from rbt_ros.model.urdf_read import BASES, load_urdf
from rbt_ros.model.yaml_parts import ATTITUDE, EFFORTS, FREEDOM, RATES, placed
from rbt_ros.paths import share
from rbt_ros.plug.shapes import GREY, SHAPES


def _shape(item: Item) -> dict[str, Any]:
    given = SHAPE.read(item)
    kind = placed(item["kind"], SHAPES.find, given["kind"])
    for name, dimension in kind.numbers.items():
        if dimension not in UNITS:
            raise item["kind"].error(f"its {name} has the dimension '{dimension}'; there are {', '.join(UNITS)}.")
    if "size" in given:
        sizes = item["size"].entries() if isinstance(item["size"].value, list) else [item["size"]]
        dimensions = [*kind.numbers.values(), *["plain number"] * len(sizes)]  # too many are refused by who builds it
        given["size"] = [size.number(dimension) for size, dimension in zip(sizes, dimensions, strict=False)]
    return given


def _inertia(item: Item) -> list:
    """3 principal moments or 3 rows of 3."""
    rows = item.entries()
    if rows and isinstance(rows[0].value, list):
        return [row.vector("inertia") for row in rows]
    return [row.number("inertia") for row in rows]


SHAPE = Section(
    "shape",
    "What RViz and the browser draw of a body.",
    Key("kind", word(SHAPES.names), "its form", needed=True),
    Key(
        "size",
        later(any_of(Item.number, number("length"), list_of(number("length")))),
        "the numbers of its kind: x, y, z of a box; radius, length of a cylinder; scale of a mesh",
    ),
    Key("at", vector("length"), "its centre in the frame of the body", [0, 0, 0]),
    Key("rotation", ATTITUDE, "its frame in that of the body", [1, 0, 0, 0]),
    Key("rgba", vector(length=4), "red, green, blue, opacity, 0 to 1", list(GREY)),
    Key("file", TEXT, "of a mesh: path or URI"),
)
BODY = Section(
    "body",
    "A rigid body.",
    Key("mass", later(any_of(Item.number, number("mass"), MASS_FILE)), "or the file that it comes from", needed=True),
    Key(
        "inertia",
        any_of(_inertia, vector("inertia"), list_of(vector("inertia"), 3)),
        "principal moments, or the tensor, about the centre of mass; required unless mass is a file",
    ),
    Key("com", vector("length"), "centre of mass in the frame of the body; without this key: its origin"),
    Key("shapes", list_of(any_of(_shape, SHAPE)), "how it looks"),
    **{
        "if": {"properties": {"mass": {"type": "object"}}},
        "then": {"properties": {"inertia": False, "com": False}},
        "else": {"required": ["inertia"]},
    },
)
LIMIT = list_of(any_of(Item.number, FREEDOM), 2)
HINGE = Section(
    "hinge",
    "What carries a body: docs/hinges.md.",
    Key("kind", word(lambda: [kind.name.lower() for kind in HINGE_KINDS]), "how it moves", needed=True),
    Key("parent", TEXT, "world, or a body", needed=True),
    Key("child", TEXT, "the body that it carries", needed=True),
    Key("at", vector("length"), "its point in the frame of the parent", [0, 0, 0]),
    Key("axis", vector(), "in the frame of the hinge", [0, 0, 1]),
    Key("axis2", vector(), "second axis of a universal hinge, in the child; x direction of a planar one"),
    Key("pitch", number("length"), "of a screw: how far a full turn takes it along its axis; negative: left-hand"),
    Key("rotation", ATTITUDE, "frame of the child in that of the parent at zero", [1, 0, 0, 0]),
    Key("limits", later(any_of(Item.plain, LIMIT, list_of(LIMIT))), "lower and upper, or such a pair per freedom"),
    Key("stiffness", number(), "of its spring, in N m/rad or N/m", 0),
    Key("rest", FREEDOM, "position at which the spring is at rest; without this key: 0"),
    Key("damping", number(), "in N m s/rad or N s/m", 0),
    Key("friction", later(any_of(Item.number, number("torque"), number("force"))), "dry friction"),
    Key(
        "creep",
        later(any_of(Item.number, number("angular velocity"), number("velocity"))),
        f"rate over which dry friction turns round; without this key: {DEFAULT_CREEP:g} rad/s or m/s",
    ),
    Key("internal_friction", number(), "what friction inside a lone floating body takes of its energy, in W", 0),
    Key("stop_restitution", number(), "limits are stops, with this share of the rate kept, 0 to 1"),
)
COMMON = (
    Key("constraints", later(by_name(CONSTRAINT)), "joints that follow others, closed loops, by name"),
    Key("ropes", later(by_name(ROPE)), "by name"),
)
ROBOT = OneOf(
    "",
    Section(
        "robot_array",
        "Modules that turn by folding: docs/modular.md.",
        Key("array", word(ARRAYS.keys), "which array", needed=True),
        Key("options", by_name(ANYTHING), "of the array"),
        *COMMON,
    ),
    Section(
        "robot_urdf",
        "A robot in a URDF or xacro file: docs/urdf.md.",
        Key("urdf", TEXT, "the file, beside the scenario or one of the package", needed=True),
        Key("base", choice(BASES), "how a root link other than world sits", BASES[0]),
        Key("stops", later(by_name(number())), "restitution of the stops at the limits of hinges, by hinge"),
        *COMMON,
    ),
    Section(
        "robot",
        "A tree of bodies.",
        Key("bodies", later(by_name(BODY)), "by name", needed=True),
        Key("hinges", later(by_name(HINGE)), "by name; a body that no hinge carries floats"),
        Key("name", TEXT, "without this key: the name of the file"),
        *COMMON,
    ),
)


def read_robot(item: Item, path: Path) -> Robot:
    """The robot of `robot: {name:, bodies:, hinges:}`, `robot: {urdf: FILE, base:, stops:}` or
    `robot: {array: l_shape, options: {size: 2}}`; each with constraints:, ropes:."""
    ROBOT.check(item)
    robot = _tree(item, path)
    robot = with_constraints(robot, item["constraints"]) if "constraints" in item else robot
    return with_ropes_of(robot, item["ropes"]) if "ropes" in item else robot


def _tree(item: Item, path: Path) -> Robot:
    if "array" in item:
        given = ROBOT.sections["array"].read(item)
        return placed(item["array"], array, given["array"], **given.get("options", {}))
    if "urdf" in item:
        given = ROBOT.sections["urdf"].read(item)
        robot = placed(item["urdf"], load_urdf, _urdf_file(given["urdf"], path.parent), given["base"])
        return with_stops_of(robot, given["stops"]) if "stops" in given else robot
    if "base" in item:
        raise item["base"].error("goes with a urdf only; a body that no hinge carries floats.")
    if "stops" in item:
        raise item["stops"].error("goes with a urdf only; give stop_restitution of the hinge instead.")
    given = ROBOT.sections["bodies"].read(item)
    if "name" not in given and not NAME.fullmatch(path.stem):
        raise item.error(f"'name' is missing, and ROS cannot carry that of the file, '{path.stem}'; give it a name.")
    builder = placed(item["name"], RobotBuilder, given["name"]) if "name" in given else RobotBuilder(path.stem)
    for body, spec in given["bodies"].mapping().items():
        _add_body(builder, body, spec, path.parent)
    for hinge, spec in given["hinges"].mapping().items() if "hinges" in given else ():
        _add_hinge(builder, hinge, spec)
    try:
        return builder.build()
    except ModelError as err:
        section, name = err.about or ("", "")
        place = item[section][name] if section in item and name in item[section] else item
        raise place.error(str(err)) from err


def _urdf_file(name: str, folder: Path) -> Path:
    """Where the URDF `name` is: beside the scenario, among the package's own, else as given."""
    for file in (folder / Path(name).expanduser(), share("urdf", name)):
        if os.path.isfile(file):
            return file
    return Path(name)


def _add_body(builder: RobotBuilder, name: str, spec: Item, folder: Path) -> None:
    given = BODY.read(spec)
    if isinstance(spec["mass"].value, dict):
        given |= mass_from_file(spec, folder)
    else:
        given |= {"mass": spec["mass"].number("mass"), "inertia": _inertia(spec["inertia"])}
    placed(spec, builder.body, name, **given)


def _add_hinge(builder: RobotBuilder, name: str, spec: Item) -> None:
    given = HINGE.read(spec)
    kind = given["kind"].upper()
    freedoms = freedom_dimensions(JointKind[kind]) if kind in JointKind.__members__ else ()
    if "limits" in given:
        given["limits"] = _limits(given["limits"], freedoms)
    alike = freedoms[0] if len(set(freedoms)) == 1 else ""  # where angles and lengths share a number it has no unit
    units = {"rest": alike, "friction": EFFORTS.get(alike, ""), "creep": RATES.get(alike, "")}
    for key in units.keys() & given.keys():
        given[key] = given[key].number(units[key] or "plain number")
    placed(spec, builder.hinge, name, **given)


def _limits(item: Item, dimensions: Sequence[str]) -> Any:
    """[lower, upper], or one such pair per freedom, in SI; what has another shape is left to the builder to refuse."""
    entries = item.entries()
    if len(dimensions) == 1 and not any(isinstance(entry.value, list) for entry in entries):
        return [_bound(entry, dimensions[0]) for entry in entries]
    if len(entries) == len(dimensions) and all(isinstance(entry.value, list) for entry in entries):
        pairs = zip(entries, dimensions, strict=True)
        return [[_bound(bound, dimension) for bound in pair.entries()] for pair, dimension in pairs]
    return item.plain()


def _bound(item: Item, dimension: str) -> float:
    """A limit; infinite where there is none."""
    return float(item.value) if item.value in (math.inf, -math.inf) else item.number(dimension)
