"""The world that a robot moves in: uniform gravity, a point mass that attracts; as the kernels take it."""

import math
from collections.abc import Sequence

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import numbers, one_number
from rbt_ros.model.robot import Robot


def world_row(gravity: Sequence[float], attraction: float, attractor: Sequence[float]) -> np.ndarray:
    """gravity [m/s²] and a point mass: `Model.world`, but for the sink's floor, which depends on the step."""
    g = numbers(gravity, "gravity", ScenarioError)
    if g.shape != (3,) or not np.isfinite(g).all():
        raise ScenarioError(f"gravity {gravity} must be three finite numbers in m/s².")
    world = np.zeros(t.WORLD_COLUMNS)
    world[t.GRAVITY : t.GRAVITY + 3] = g
    world[t.ATTRACTION : t.ATTRACTOR + 3] = _point_mass(attraction, attractor)
    return world


def _point_mass(attraction: float, at: Sequence[float]) -> tuple[float, ...]:
    """What stands in the world for an attracting point mass: mu, then its place."""
    mu, place = one_number(attraction, "attraction", ScenarioError), numbers(at, "attractor", ScenarioError)
    if not (math.isfinite(mu) and mu >= 0) or place.shape != (3,) or not np.isfinite(place).all():
        raise ScenarioError(
            f"attraction {mu} m³/s² at {at}: mu must be finite and not negative, at three finite numbers."
        )
    return (float(mu), *place.tolist())


def sink_floor(robot: Robot, h_ns: int) -> float:
    """Where the friction inside a lone body fades (`forces.inner_friction`): what is left decays in four steps."""
    power = float(robot.model.freedom[:, t.SINK].sum())
    inverse = 1.0 / np.linalg.eigvalsh(robot.bodies[0].inertia) if power > 0.0 else np.zeros(1)
    return 4.0 * power * h_ns * 1e-9 * float(np.ptp(inverse))
