"""`constraints:` of a scenario's robot -> Constraints on it."""

from rbt_ros.model.constraint_arrays import constrained
from rbt_ros.model.constraints import (
    CLOSURES,
    COUPLE,
    MIMIC,
    PRESCRIBE,
    Constraint,
    closure,
    couple,
    mimic,
    prescribe,
)
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.schema import TEXT, Key, OneOf, Section, by_name, number, vector, word
from rbt_ros.model.yaml_parts import ATTITUDE, FREEDOM, MOTION, motion, pair, placed

CONSTRAINT = OneOf(
    f"give one of {MIMIC}, {COUPLE}, {PRESCRIBE}, closure.",
    Section(
        MIMIC,
        "A joint, named as the constraint is, that follows another one: docs/constraints.md.",
        Key(MIMIC, TEXT, "the joint that leads", needed=True, to="leader"),
        Key("ratio", number(), "position of the follower for each unit of the leader", 1),
        Key("offset", FREEDOM, "position of the follower where the leader is at 0"),
    ),
    Section(
        COUPLE,
        "Σ factor · position of joints stays equal to the offset.",
        Key(COUPLE, by_name(number()), "the factors, by joint", needed=True, to="factors"),
        Key("offset", number(), "in rad or m", 0),
    ),
    Section(
        PRESCRIBE,
        "A joint, named as the constraint is, that follows a motion.",
        Key(PRESCRIBE, MOTION, "its position, or a signal of the time", needed=True, to="motion"),
    ),
    Section(
        "closure",
        "Two bodies joined, so that a loop is closed.",
        Key("closure", word(lambda: CLOSURES), "how they are joined", needed=True, to="kind"),
        Key("bodies", pair("joined", "[coupler, rocker]"), "the two, or world and a body", needed=True),
        Key("at_a", vector("length"), "the point of the first body, in its frame", [0, 0, 0]),
        Key("at_b", vector("length"), "the point of the second body", [0, 0, 0]),
        Key("axis", vector(), "of a revolute closure or a pin, in the first body", [0, 0, 1]),
        Key("rotation", ATTITUDE, "frame of the second body in that of the first one at zero", [1, 0, 0, 0]),
        Key("length", number("length"), "of the kind distance"),
    ),
)


def with_constraints(robot: Robot, item: Item) -> Robot:
    """`robot`, with the constraints of the mapping name -> constraint."""
    added = tuple(_constraint(robot, name, spec) for name, spec in item.mapping().items())
    return placed(item, constrained, robot, added)


def _constraint(robot: Robot, name: str, spec: Item) -> Constraint:
    word, given = CONSTRAINT.picked(spec)
    dimension = joint_dimension(robot, name)
    if word == MIMIC:
        given["offset"] = given["offset"].number(dimension) if "offset" in given else 0.0
        return placed(spec, mimic, name, **given)
    if word == COUPLE:
        return placed(spec, couple, name, **given)
    if word == PRESCRIBE:
        return placed(spec, prescribe, name, motion(given["motion"], dimension))
    body_a, body_b = given.pop("bodies")
    return placed(spec, closure, name, body_a=body_a, body_b=body_b, **{"length": None, **given})


def joint_dimension(robot: Robot, joint: str) -> str:
    """Whether a joint's position is an angle or a length; of one that is not there, nobody knows yet."""
    for hinge in robot.hinges:
        if joint in hinge.joint_names:
            return freedom_dimensions(hinge.kind)[hinge.joint_names.index(joint)]
    return "plain number"
