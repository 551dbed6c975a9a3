"""Modules that each point at a target of their own: the shape and the attitude that do it, and how to get there.

The boresights of N modules are 2 N conditions on three angles of the attitude and those of the hinges; of what does it
exactly that which folds least is taken. As the array folds from flat to that shape last, it must be flat before in the
attitude from which folding turns it into the one that is wanted.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.types import LOWER, UPPER
from rbt_ros.core.vec import rotation_vector_quat
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import matrices
from rbt_ros.model.checks import numbers
from rbt_ros.model.robot import Robot
from rbt_ros.modular.clearance import Clearance
from rbt_ros.modular.paths import ShapePath, polygon
from rbt_ros.modular.plans import Plan, Planner
from rbt_ros.modular.turns import along, conjugates, products
from rbt_ros.sim import Simulation

BORESIGHT = (1.0, 0.0, 0.0)  # the normal of a panel
STARTS = 12  # first guesses, always the same ones
EXACT = 1e-6  # [rad] that a boresight may be off
EASE = 1e-3  # weight of the shape at first: of two that point alike, that which folds less
ORDERS = 24  # in which hinges fold one by one, at most


class Pointing(NamedTuple):
    """A shape and an attitude in which modules look where they should."""

    shape: np.ndarray  # (n,) of all joints [rad, m]
    quaternion: np.ndarray  # of the base in that shape
    misses: dict[str, float]  # [rad] by module


class Pointed(NamedTuple):
    """How to get there from the flat shape, at rest."""

    pointing: Pointing
    plan: Plan  # of turns, flat to flat
    fold: ShapePath  # then: from flat to the shape


@in_words(ScenarioError)
def pointing(robot: Robot, targets: Mapping[str, Sequence[float]], boresight: Sequence[float] = BORESIGHT) -> Pointing:
    """The least folded shape in which the `boresight` (body axes) of each module looks along its target (world axes).

    SolveError, with the least misses, where the hinges cannot have all of them look there, or only touching.
    """
    look = _unit(boresight, "boresight")
    wanted = {robot.body_index(name): _unit(target, f"target of '{name}'") for name, target in targets.items()}
    if not wanted:
        raise ScenarioError("pointing: give the target of one module at least: {'a': (0, 0, 1)}.")
    from scipy.optimize import least_squares

    limits = robot.model.freedom[6:, [LOWER, UPPER]]
    sim, clearance = Simulation(robot), Clearance(robot)
    names = robot.joint_names

    def boresights(x: np.ndarray) -> np.ndarray:
        for joint, angle in zip(names, x[3:], strict=True):
            sim.set_hinge(joint, float(angle))
        sim.set_body(robot.bodies[0].name, quaternion=rotation_vector_quat(tuple(x[:3].tolist())))
        return matrices(sim.sample().pose[list(wanted), :4]) @ look

    def residual(x: np.ndarray, ease: float) -> np.ndarray:
        return np.concatenate([(boresights(x) - np.array(list(wanted.values()))).ravel(), ease * x[3:]])

    def misses(x: np.ndarray) -> np.ndarray:
        chord = np.linalg.norm(boresights(x) - np.array(list(wanted.values())), axis=1)
        return 2.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))

    low, high = (np.concatenate([np.full(3, sign * np.inf), limits[:, k]]) for k, sign in ((0, -1.0), (1, 1.0)))
    rng = np.random.default_rng(0)
    found = []
    for k in range(STARTS):
        guess = np.concatenate([rng.normal(0.0, 1.5, 3), rng.uniform(-1.5, 1.5, len(names)) * (k > 0)])
        guess = np.clip(guess, low + 1e-9, high - 1e-9)
        near = least_squares(residual, guess, bounds=(low, high), args=(EASE,), xtol=1e-6).x
        found.append(least_squares(residual, near, bounds=(low, high), args=(0.0,), xtol=1e-12, max_nfev=20).x)
    best = min(found, key=lambda x: float(misses(x).max()))
    exact = [x for x in found if misses(x).max() < EXACT]
    free = [x for x in exact if clearance.of_shapes(x[None, 3:])[0] > 0.0]
    if not free:
        told = ", ".join(f"'{name}' {np.degrees(m):.4g}°" for name, m in zip(targets, misses(best), strict=True))
        why = "panels would touch" if exact else f"the nearest shape misses: {told}"
        raise SolveError(f"no shape of '{robot.name}' has {', '.join(targets)} look at their targets: {why}.")
    x = min(free, key=lambda x: float(np.abs(x[3:]).sum()))
    quaternion = np.array(rotation_vector_quat(tuple(x[:3].tolist())))
    return Pointing(x[3:], quaternion, dict(zip(targets, misses(x).tolist(), strict=True)))


@in_words(ScenarioError)
def plan_pointing(
    planner: Planner,
    targets: Mapping[str, Sequence[float]],
    start: Sequence[float] = (1.0, 0.0, 0.0, 0.0),
    boresight: Sequence[float] = BORESIGHT,
) -> Pointed:
    """Turns from attitude `start`, flat, and a fold behind them, after which each module looks at its target."""
    robot = planner.robot
    found = pointing(robot, targets, boresight)
    fold = _fold(planner, found.shape)
    before = products(found.quaternion[None], conjugates(along(robot, fold)[-1:]))[0]
    return Pointed(found, planner.plan(before, start), fold)


def _fold(planner: Planner, shape: np.ndarray) -> ShapePath:
    """From flat to the shape, one joint after the other, in the first order that is free of collision."""
    robot, seen = planner.robot, Clearance(planner.robot)
    moving = [k for k in range(len(shape)) if abs(shape[k]) > EXACT] or [0]
    for _, order in zip(range(ORDERS), permutations(moving), strict=False):
        corners = [np.zeros(len(shape))]
        for k in order:
            corners.append(corners[-1] + shape[k] * np.eye(len(shape))[k])
        path = polygon([corner.tolist() for corner in corners], robot.joint_names)
        if seen.clash(path) is None:
            return path
    raise SolveError(
        f"the shape {np.round(np.degrees(shape), 3).tolist()}° cannot be reached from the flat one by one hinge after "
        "the other: panels collide on the way."
    )


def _unit(value: Any, what: str) -> np.ndarray:
    vector = numbers(value, what, ScenarioError)
    if vector.shape != (3,) or not np.isfinite(vector).all() or not vector.any():
        raise ScenarioError(f"{what}: {np.array(value).tolist()!r:.60} must be a direction: three finite numbers.")
    return vector / np.linalg.norm(vector)
