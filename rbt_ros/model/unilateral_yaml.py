"""`ropes:` and `stops:` of a scenario's robot -> ropes and stops on it."""

from typing import Any

from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.unilateral import RADIAL, rope
from rbt_ros.model.unilateral_arrays import with_ropes, with_stops
from rbt_ros.model.yaml_parts import placed


def with_ropes_of(robot: Robot, item: Item) -> Robot:
    """`robot`, with the ropes of the mapping name -> {bodies: [A, B], length:, ...}."""
    made = []
    for name, spec in item.mapping().items():
        spec.mapping("bodies", "at_a", "at_b", "length", "restitution", "impact")
        bodies = [body.text() for body in spec["bodies"].entries()]
        if len(bodies) != 2:
            raise spec["bodies"].error(f"names the two bodies that are tied, not {len(bodies)}: [world, pendulum].")
        origin = (0.0, 0.0, 0.0)
        ends: list[Any] = [spec[key].vector("length") if key in spec else origin for key in ("at_a", "at_b")]
        length = spec["length"].number("length")
        bounce = spec["restitution"].number() if "restitution" in spec else 0.0
        impact = spec["impact"].text() if "impact" in spec else RADIAL
        made.append(placed(spec, rope, name, *bodies, *ends, length, bounce, impact))
    return placed(item, with_ropes, robot, made)


def with_stops_of(robot: Robot, item: Item) -> Robot:
    """`robot`, with stops at the limits of the hinges of the mapping hinge -> restitution."""
    for hinge, spec in item.mapping().items():
        robot = placed(spec, with_stops, robot, hinge, spec.number())
    return robot
