"""`ropes:` and `stops:` of a scenario's robot -> ropes and stops on it."""

from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.schema import Key, Section, number, vector, word
from rbt_ros.model.unilateral import IMPACTS, RADIAL, rope
from rbt_ros.model.unilateral_arrays import with_ropes, with_stops
from rbt_ros.model.yaml_parts import pair, placed

ROPE = Section(
    "rope",
    "A massless rope between points of two bodies: docs/ropes.md.",
    Key("bodies", pair("tied", "[world, pendulum]"), "the two bodies, or world and a body", needed=True),
    Key("at_a", vector("length"), "its end on the first body, in that body's frame", [0, 0, 0]),
    Key("at_b", vector("length"), "its end on the second body", [0, 0, 0]),
    Key("length", number("length"), "how far apart its ends can be", needed=True),
    Key("restitution", number(), "share of the velocity along it that comes back when it goes taut, 0 to 1", 0),
    Key("impact", word(lambda: IMPACTS), "what is lost when it goes taut: the velocity along it, or all", RADIAL),
)


def with_ropes_of(robot: Robot, item: Item) -> Robot:
    """`robot`, with the ropes of the mapping name -> {bodies: [A, B], length:, ...}."""
    made = []
    for name, spec in item.mapping().items():
        given = ROPE.read(spec)
        made.append(placed(spec, rope, name, *given.pop("bodies"), **given))
    return placed(item, with_ropes, robot, made)


def with_stops_of(robot: Robot, item: Item) -> Robot:
    """`robot`, with stops at the limits of the hinges of the mapping hinge -> restitution."""
    for hinge, spec in item.mapping().items():
        robot = placed(spec, with_stops, robot, hinge, spec.number())
    return robot
