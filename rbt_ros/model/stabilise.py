"""What a user may ask of the stabilisation, and which robots it can serve."""

import math
from typing import NamedTuple

import numpy as np

from rbt_ros.core import stabilise
from rbt_ros.core.types import JointKind
from rbt_ros.errors import ScenarioError
from rbt_ros.model.constraints import drives, holds_the_world
from rbt_ros.model.robot import WORLD, Robot

METHODS = {"none": stabilise.NONE, "gradient": stabilise.GRADIENT, "projection": stabilise.PROJECTION}
ORDERS = ("update_first", "seed")
THIN = 1e-12  # smallest to largest principal moment below which a body's momentum does not tell its spin


class Stabilise(NamedTuple):
    """How angular momentum and energy are kept: docs/stabilise.md."""

    method: str = "none"  # none, gradient or projection
    order: str = "update_first"  # or "seed": correct before each step, as the source does
    k_e: float | None = None  # [J] error of the energy above which the gain grows; None: 1e-10 of that at the start
    k1: float = 0.5  # the gain falls by this factor per step, 0 < k1 < 1
    k2: float = 1.5  # and grows by this one, k2 > 1
    i0: float = 0.1  # the least gain, 0 < i0 <= 1


def checked_stabilise(given: "Stabilise | str") -> Stabilise:
    """The options, from a method's name or all of them; ScenarioError names what is wrong."""
    options = Stabilise(given) if isinstance(given, str) else given
    for what, value, known in (("stabilise", options.method, METHODS), ("order", options.order, ORDERS)):
        if value not in known:
            raise ScenarioError(f"{what} '{value}' is not one of {', '.join(known)}.")
    rules = {
        "k_e": (options.k_e is None or 0 < options.k_e < math.inf, "a positive error of the energy in J"),
        "k1": (0 < options.k1 < 1, "between 0 and 1: the gain is to fall by it"),
        "k2": (1 < options.k2 < math.inf, "larger than 1: the gain is to grow by it"),
        "i0": (0 < options.i0 <= 1, "a share of the error, larger than 0 and at most 1"),
    }
    for key, (holds, rule) in rules.items():
        if not holds:
            raise ScenarioError(f"stabilise: {key} {getattr(options, key)} must be {rule}.")
    return options


def stabilise_obstacle(robot: Robot, attraction: float) -> str:
    """Why angular momentum and energy of this robot cannot be kept by correction; empty if they can."""
    roots = [h for h in robot.hinges if h.parent == WORLD]
    way_out = "use stabilise: none."
    for hinge in roots:
        if hinge.kind != JointKind.FREE:
            return (
                f"stabilise keeps the angular momentum of what floats; body '{hinge.child}' hangs on the "
                f"{hinge.kind.name.lower()} hinge '{hinge.name}': {way_out}"
            )
    if len(roots) > 1:
        return f"stabilise serves one floating tree; robot '{robot.name}' has {len(roots)}: {way_out}"
    if holds_the_world(robot.constraints) or drives(robot.constraints):
        names = ", ".join(f"'{c.name}'" for c in robot.constraints)
        return (
            f"stabilise: among the constraints {names} of robot '{robot.name}' is one that pushes against the world or "
            f"moves by itself, and keeps neither momentum nor energy: {way_out}"
        )
    if robot.ropes or robot.stops:
        return f"stabilise: the ropes or stops of robot '{robot.name}' take energy in impacts: {way_out}"
    if attraction != 0.0:
        return f"stabilise: the gravity gradient of a point mass turns robot '{robot.name}': {way_out}"
    moments = np.linalg.eigvalsh(robot.bodies[0].inertia)
    if len(robot.bodies) == 1 and moments[0] <= THIN * moments[-1]:
        return (
            f"stabilise: body '{robot.bodies[0].name}' has no inertia about one of its axes, so that its angular "
            f"momentum does not tell its spin: {way_out}"
        )
    return ""
