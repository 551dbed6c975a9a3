"""`constraints:` of a scenario's robot -> Constraints on it."""

from typing import Any

from rbt_ros.model.constraint_arrays import constrained
from rbt_ros.model.constraints import COUPLE, MIMIC, PRESCRIBE, Constraint, closure, couple, mimic, prescribe
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.yaml_parts import attitude, placed, signal

CLOSURE = "closure"


def with_constraints(robot: Robot, item: Item) -> Robot:
    """`robot`, with the constraints of the mapping name -> constraint."""
    added = tuple(_constraint(robot, name, spec) for name, spec in item.mapping().items())
    return placed(item, constrained, robot, added)


def _constraint(robot: Robot, name: str, spec: Item) -> Constraint:
    """{mimic: LEADER, ...}, {couple: {...}, ...}, {prescribe: ...} or {closure: KIND, bodies: [A, B], ...}."""
    spec.mapping(
        *(MIMIC, "ratio", "offset", COUPLE, PRESCRIBE),
        *(CLOSURE, "bodies", "at_a", "at_b", "axis", "rotation", "length"),
    )
    words = [word for word in (MIMIC, COUPLE, PRESCRIBE, CLOSURE) if word in spec]
    if len(words) != 1:
        raise spec.error("give one of mimic, couple, prescribe, closure.")
    if words[0] == MIMIC:
        spec.mapping(MIMIC, "ratio", "offset")
        ratio = spec["ratio"].number() if "ratio" in spec else 1.0
        return placed(spec, mimic, name, spec[MIMIC].text(), ratio, _offset(robot, name, spec))
    if words[0] == COUPLE:
        spec.mapping(COUPLE, "offset")
        factors = {joint: factor.number() for joint, factor in spec[COUPLE].mapping().items()}
        offset = spec["offset"].number() if "offset" in spec else 0.0
        return placed(spec, couple, name, factors, offset)
    if words[0] == PRESCRIBE:
        spec.mapping(PRESCRIBE)
        moving = isinstance(spec[PRESCRIBE].value, dict)
        motion: Any = signal(spec[PRESCRIBE]) if moving else spec[PRESCRIBE].number(joint_dimension(robot, name))
        return placed(spec, prescribe, name, motion)
    return _closure(name, spec)


def _closure(name: str, spec: Item) -> Constraint:
    spec.mapping(CLOSURE, "bodies", "at_a", "at_b", "axis", "rotation", "length")
    bodies = [body.text() for body in spec["bodies"].entries()]
    if len(bodies) != 2:
        raise spec["bodies"].error(f"names the two bodies that are joined, not {len(bodies)}: [coupler, rocker].")
    origin = (0.0, 0.0, 0.0)
    at_a, at_b = (spec[key].vector("length") if key in spec else origin for key in ("at_a", "at_b"))
    axis = spec["axis"].vector("plain number") if "axis" in spec else (0.0, 0.0, 1.0)
    rotation = attitude(spec["rotation"]) if "rotation" in spec else (1.0, 0.0, 0.0, 0.0)
    length = spec["length"].number("length") if "length" in spec else None
    return placed(spec, closure, name, spec[CLOSURE].text(), *bodies, at_a, at_b, axis, rotation, length)


def _offset(robot: Robot, joint: str, spec: Item) -> float:
    return spec["offset"].number(joint_dimension(robot, joint)) if "offset" in spec else 0.0


def joint_dimension(robot: Robot, joint: str) -> str:
    """Whether a joint's position is an angle or a length; of one that is not there, nobody knows yet."""
    for hinge in robot.hinges:
        if joint in hinge.joint_names:
            return freedom_dimensions(hinge.kind)[hinge.joint_names.index(joint)]
    return "plain number"
