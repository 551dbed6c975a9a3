"""Optimal manoeuvres of panels in space, flat to flat and at rest: least effort in a given time, or least time.

By direct collocation, from a plan of turns on (`plans.py`), whose corners the optimum rounds. What keeps panels apart
is a spline through their exact distances over both angles; that the path is free is checked with the distances alone.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.types import LOWER, UPPER
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.attitude import unit_quaternion
from rbt_ros.model.robot import Robot
from rbt_ros.modular import collocation
from rbt_ros.modular.clearance import Clearance
from rbt_ros.modular.collocation import DEGREE, Guess, Problem, Solution, again, casadi, discrete, sampled, split
from rbt_ros.modular.paths import ShapePath, profile
from rbt_ros.modular.plans import Plan, Planner
from rbt_ros.modular.reduced import ATTITUDE, Reduced, reduced
from rbt_ros.modular.turns import along, angles, conjugates, products
from rbt_ros.sim import Simulation

PER_LEG, FEWEST = 2, 32  # intervals of the first mesh on each side of a rectangle; and altogether, at least
STEPS = 64  # of the plan's attitudes on each side
REFINEMENTS = 3  # at most
GRID = 361  # angles from -180° to 180° of the distances
MARGINS = (0.004, 0.006, 0.008, 0.01)  # [m] of the spline: one after the other, until the path is free
TIME, BOUND = 20.0, 0.25  # [s], [N·m] what a problem is scaled to; the bound where the least time is asked
CHECKS = 20001  # shapes along a path that are looked at


class Check(NamedTuple):
    """What the engine makes of the torques, integrated on its own."""

    turn_error: float  # [rad] of the base at the end
    shape_error: float  # [rad] largest of the hinges
    rate_error: float  # [rad/s]
    momentum: float  # [N·m·s]
    clearance: float  # [m] least at the ticks


def solve_attitude(
    robot: Robot,
    target: Sequence[float],
    *,
    time: float | None = None,
    torque: float | None = None,
    avoid: bool = False,
    plan: Plan | None = None,
    starts: int = 1,
) -> Solution:
    """Least effort to `target` (w x y z) where `time` [s] is given, else least time, which needs `torque` [N·m].

    plan: turns that lead there, where to begin; None: found by a `Planner`, up to `starts` of them, which compete on
    the first mesh. avoid: panels must not touch. SolveError where nothing is found; where the torque is too small, with
    the least time.
    """
    collocation.check(time, torque)
    wanted = np.array(unit_quaternion(target, "target of solve"))
    if len(robot.joint_names) != 2:
        raise ScenarioError(f"robot '{robot.name}': solve takes two hinges; it has {', '.join(robot.joint_names)}.")
    if starts < 1 or (plan is not None and starts != 1):
        raise ScenarioError(f"solve: {starts} starts; one or more, and one where a plan is given.")
    begin = [plan] if plan is not None else Planner(robot).plans(wanted.tolist(), count=starts)
    if not begin[0].turns:
        raise ScenarioError("solve: the target is the attitude that it starts from.")
    equations = reduced(robot)
    try:
        return _in_units(robot, equations, wanted, begin, time, torque, avoid)
    except SolveError:
        if time is None or torque is None:
            raise
    least = _in_units(robot, equations, wanted, begin, None, torque, avoid).time
    turn = f"{np.degrees(angles(wanted[None])[0]):.4g}°"
    raise SolveError(collocation.too_weak(turn, time, torque, least))


def simulate(robot: Robot, target: Sequence[float], solution: Solution) -> tuple[Simulation, Check]:
    """The torques as inputs of the engine, run to the end: an independent integration of the same manoeuvre."""
    sim, seen = planned(robot, solution), Clearance(robot)
    nearest = np.inf
    for _ in range(collocation.ticks(solution)):
        sim.advance(1)
        nearest = min(nearest, seen.of_pose(sim.sample().pose).distance)
    sample, last = sim.sample(), solution.state[-1, -1]
    missed = products(conjugates(sample.pose[:1, :4]), np.array(unit_quaternion(target, "target"))[None])
    shape, rates = sample.q[7:] - last[4:6], sample.v[6:]
    momentum = float(np.linalg.norm(sample.angular_momentum_com))
    turn = float(angles(missed)[0])
    return sim, Check(turn, float(np.abs(shape).max()), float(np.abs(rates).max()), momentum, nearest)


def planned(robot: Robot, solution: Solution) -> Simulation:
    """A simulation at the start, with the torques planned."""
    return collocation.planned(robot, solution, slice(4, 4 + len(robot.joint_names)))


# ------------------------------------------------------------------------------------------------------- the best one
def _in_units(
    robot: Robot,
    equations: Reduced,
    target: np.ndarray,
    plans: Sequence[Plan],
    time: float | None,
    torque: float | None,
    avoid: bool,
) -> Solution:
    """The optimum, sought in units in which times and bounds are always of one size: similar problems are one."""
    second = float(np.sqrt(BOUND / (torque or BOUND))) if time is None else time / TIME
    newton_metre = 1.0 / second**2
    goal = second if time is None else newton_metre**2 * second
    bound = None if torque is None else torque / newton_metre
    found = _optimum(robot, equations, target, plans, None if time is None else TIME, bound, avoid)
    return collocation.scaled(found, goal, second, newton_metre, slice(equations.shape.stop, None))


def _optimum(
    robot: Robot,
    equations: Reduced,
    target: np.ndarray,
    plans: Sequence[Plan],
    time: float | None,
    torque: float | None,
    avoid: bool,
) -> Solution:
    """From the best of the plans on, on finer and finer meshes, with a margin that keeps the path free between its
    points."""
    margin, found = MARGINS[0], []
    for plan in plans:
        guess, mesh = _guess(robot, equations, plan, time, torque)
        problem = _problem(robot, equations, target, time, torque, avoid, _effort(mesh, guess))
        solution = _seen(robot, discrete(problem, mesh, guess, margin))
        if solution is not None:
            found.append((solution, problem))
    if not found:
        turns = ", ".join(str(len(plan.turns)) for plan in plans)
        raise SolveError(f"no optimum was found from a plan of {turns} turns; try more time, or torque.")
    objectives = tuple(solution.objective for solution, _ in found)
    best, problem = found[int(np.argmin(objectives))]
    for margin in MARGINS[1:] if avoid else ():
        if best.clear:
            break
        best = _seen(robot, again(problem, best, best.mesh, margin)) or best
    for _ in range(REFINEMENTS):
        halved = split(problem, best)
        finer = _seen(robot, again(problem, best, halved, margin)) if len(halved) > len(best.mesh) else None
        # dearer, perhaps: a coarse mesh promises what the equations between its points do not keep
        if finer is None or avoid and best.clear and not finer.clear:
            break
        best = finer
    if best.defect > collocation.ROUGH:
        raise SolveError(collocation.too_rough(best, "more starts, or another plan"))
    if avoid and not best.clear:
        raise SolveError("the best path found still has panels touch between its points; try another plan.")
    return best._replace(objectives=objectives)


def _seen(robot: Robot, solution: Solution | None) -> Solution | None:
    """The same, looked at for collisions with the exact distances."""
    if solution is None:
        return None
    state, _ = sampled(solution, np.linspace(0.0, 1.0, CHECKS))
    return solution._replace(clear=bool(Clearance(robot).of_shapes(state[:, 4:6]).min() > 0.0))


def _problem(
    robot: Robot,
    equations: Reduced,
    target: np.ndarray,
    time: float | None,
    torque: float | None,
    avoid: bool,
    effort: float,
) -> Problem:
    """As collocation has it: from identity, flat and at rest, to the target, flat and at rest."""
    ca, hinges = casadi(), len(robot.joint_names)
    w, x, y, z = target
    # vector part of target* q: the attitude, but for its sign, which the start decides
    left = ca.DM([[-x, w, z, -y], [-y, -z, w, x], [-z, y, -x, w]])
    limits = robot.model.freedom[6:]
    return Problem(
        equations.motion,
        np.array([1.0, 0.0, 0.0, 0.0, *(2 * hinges * [0.0])]),
        lambda last: ca.vertcat(ca.mtimes(left, last[ATTITUDE]), last[4:]),
        equations.shape,
        time,
        torque,
        1.0 / effort,
        (limits[:, LOWER], limits[:, UPPER]),
        _gap(robot) if avoid else None,
    )


def _gap(robot: Robot) -> Any:
    """The distance of the panels [m] over both angles: a cubic spline through a grid of exact ones."""
    from scipy.interpolate import RectBivariateSpline

    ca, grid = casadi(), np.linspace(-np.pi, np.pi, GRID)
    spline = RectBivariateSpline(grid, grid, Clearance(robot).grid(grid, grid))
    knots = [knot.tolist() for knot in spline.get_knots()]
    place = ca.MX.sym("place", 2)
    values = ca.bspline(place, ca.DM(spline.get_coeffs().reshape(GRID, GRID).T.ravel()), knots, [3, 3], 1)
    distance = ca.Function("distance", [place], [values])
    return lambda places: distance.map(places.shape[1])(places)


# -------------------------------------------------------------------------------------------------- where it begins
def _guess(
    robot: Robot, equations: Reduced, plan: Plan, time: float | None, torque: float | None
) -> tuple[Guess, np.ndarray]:
    """The plan with the profile of least jerk on each side, each as long as its way needs; and the mesh."""
    paths = [turn.path for turn in plan.turns]
    legs = sum(len(path.pieces) for path in paths)
    each = max(PER_LEG, -(-FEWEST // legs))
    mesh = np.linspace(0.0, 1.0, each * legs + 1)
    s = np.minimum(collocation.times(mesh) * legs, np.nextafter(float(legs), 0.0)).ravel()
    # the start of an interval belongs to it, its end to the one before
    leg = np.repeat(np.arange(legs), each * (DEGREE + 1))
    x = s - leg
    place, speed = profile("minimum_jerk", x)
    bend = 60.0 * x * (1.0 - x) * (1.0 - 2.0 * x)
    corners = np.vstack([path.corners[:-1] for path in paths] + [paths[-1].corners[-1:]])
    way = np.diff(corners, axis=0)[leg]
    shape = corners[leg] + place[:, None] * way
    total = time or 1.0
    rate, accel = speed[:, None] * way * legs / total, bend[:, None] * way * (legs / total) ** 2
    torques = np.array(equations.torques(shape.T, rate.T, accel.T)).T
    if time is None:
        # as they go as 1/T², that T at which the largest is at the bound
        total = float(np.sqrt(np.abs(torques).max() / (torque or 1.0)))
        rate, torques = rate / total, torques / total**2
    attitude, momenta = _attitudes(robot, paths, leg + place), np.array(equations.momenta(shape.T, rate.T)).T
    state = np.column_stack([attitude, shape, momenta]).reshape(len(mesh) - 1, DEGREE + 1, -1)
    return Guess(total, state, torques.reshape(len(mesh) - 1, DEGREE + 1, -1)[:, 1:]), mesh


def _attitudes(robot: Robot, paths: Sequence[ShapePath], s: np.ndarray) -> np.ndarray:
    """(k, 4): of the base after the fraction s of all pieces, straight between STEPS on each."""
    rows = np.array([[1.0, 0.0, 0.0, 0.0]])
    for path in paths:
        turned = along(robot, path, STEPS)
        rows = np.vstack([rows[:-1], products(np.broadcast_to(rows[-1], turned.shape), turned)])
    known = np.linspace(0.0, len(rows) // STEPS, len(rows))
    found = np.stack([np.interp(s, known, column) for column in rows.T], axis=1)
    return found / np.linalg.norm(found, axis=1)[:, None]


def _effort(mesh: np.ndarray, guess: Guess) -> float:
    """∫ u·u dt of the guess, about."""
    return float(guess.time * (guess.torque**2).sum(axis=2).mean())
