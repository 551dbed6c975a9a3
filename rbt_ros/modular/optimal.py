"""Optimal manoeuvres of three rods in a plane: least effort in a given time, or least time with bounded torques.

By direct collocation (`collocation.py`). With θ_k the angles of the rods, H as in `planar.py` and the torques u of the
hinges,

    Σ_k H_jk (cos(θ_j - θ_k) θ̈_k + sin(θ_j - θ_k) θ̇_k²) = (-u1, u1 - u2, u2)_j.

State: θ_a, psi1, psi2, dpsi1/dt, dpsi2/dt; momentum zero gives the rate of θ_a. As these are homogeneous of second
degree in the rates, the least effort goes as 1/T³ along one and the same path of the shape, and the least time as one
over the root of the bound.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.checks import one_number
from rbt_ros.model.robot import Robot
from rbt_ros.modular import collocation, planar, rectangles
from rbt_ros.modular.collocation import DEGREE, Guess, Problem, Solution, again, discrete, sampled, split
from rbt_ros.modular.paths import pair
from rbt_ros.modular.planar import Rods
from rbt_ros.modular.rectangles import Rectangles
from rbt_ros.sim import Simulation

__all__ = ["Check", "Solution", "Task", "planned", "sampled", "simulate", "solve"]

SHAPE, RATES = slice(1, 3), slice(3, 5)  # of the state
# what a problem is scaled to: trace of H [kg·m²], length of all rods [m], time [s], bound where the least time is asked
INERTIA, LENGTHS, TIME, BOUND = 13.0 / 3.0, 6.0, 25.0, 0.1
INTERVALS, COARSE = 40, 24  # of the first mesh; of the one on which starts compete
LOOPS = 8  # that compete, with the best rectangles, unless said otherwise: two senses in each of four directions
REFINEMENTS = 4  # at most
SMOOTH, SHARP = 1e-3, 1e-5  # [m] of the corners of the free domain: at first, and at the end
# whether the mesh is split where the path collides, and the margin [m] of the points: one after the other
MARGINS = (*4 * ((True, 3e-4),), *((False, margin) for margin in (5e-4, 7e-4, 1e-3, 1.5e-3, 2e-3, 3e-3, 5e-3)))
WORSE = 2e-3
CHECKS = 20001  # shapes along a path that are looked at


class Task(NamedTuple):
    """What is asked for, from rest to rest."""

    rods: Rods
    turn: float  # [rad] of rod a
    time: float | None  # [s]; None: the least
    torque: float | None  # [N·m] bound of each hinge; None: none
    avoid: bool  # rods a and c must not touch
    start: tuple[float, float] = (0.0, 0.0)  # shape [rad]
    end: tuple[float, float] = (0.0, 0.0)


class Check(NamedTuple):
    """What the engine makes of the torques, integrated on its own."""

    turn_error: float  # [rad] of rod a at the end
    shape_error: float  # [rad] largest of the hinges
    rate_error: float  # [rad/s]
    momentum: float  # [N·m·s]


def solve(
    robot: Robot,
    turn: float,
    *,
    time: float | None = None,
    torque: float | None = None,
    avoid: bool = False,
    starts: int | None = None,
    intervals: int = INTERVALS,
    start: Sequence[float] = (0.0, 0.0),
    end: Sequence[float] = (0.0, 0.0),
    progress: Callable[[float], None] | None = None,
) -> Solution:
    """Least effort where `time` [s] is given, else least time, which needs `torque` [N·m]; turn [rad] of rod a.

    starts: how many first guesses compete (loops of the shape in directions and senses that alternate); None: 8 of
    them, and the best rectangles where it goes from flat to flat. The best goes on to the fine mesh. SolveError where
    none gets there; where the torque is too small, with the least time. progress: told the fraction of starts tried.
    """
    a, b = pair(start, "start of solve"), pair(end, "end of solve")
    task = Task(planar.of_rods(robot), one_number(turn, "turn", ScenarioError), time, torque, avoid, a, b)
    collocation.check(time, torque)
    _check_task(task, starts, intervals)
    try:
        return _in_units(task, starts, intervals, progress)
    except SolveError:
        if time is None or torque is None:
            raise
    least = _in_units(task._replace(time=None), starts and max(starts, 2), intervals, progress).time
    raise SolveError(collocation.too_weak(f"{np.degrees(turn):.4g}°", time, torque, least))


def simulate(robot: Robot, solution: Solution) -> tuple[Simulation, Check]:
    """The torques as inputs of the engine, run to the end: an independent integration of the same manoeuvre."""
    sim = planned(robot, solution)
    sim.advance(collocation.ticks(solution))
    sample = sim.sample()
    w, _, _, z = sample.pose[0, :4]
    wanted = solution.state[-1, -1]
    turn = 2.0 * math.atan2(z, w) - wanted[0]
    turn = math.remainder(turn, 2.0 * math.pi)
    shape, rates = sample.q[7:] - wanted[1:3], sample.v[6:] - wanted[3:]
    momentum = float(np.linalg.norm(sample.angular_momentum_com))
    return sim, Check(turn, float(np.abs(shape).max()), float(np.abs(rates).max()), momentum)


def planned(robot: Robot, solution: Solution) -> Simulation:
    """A simulation at the start, with the torques planned."""
    return collocation.planned(robot, solution, SHAPE)


# ------------------------------------------------------------------------------------------------ best of the starts
def _in_units(task: Task, starts: int | None, intervals: int, progress: Callable[[float], None] | None) -> Solution:
    """The best, sought in units in which rods, times and bounds are always of one size: similar problems are one."""
    H, lengths = task.rods
    inertia, metre = np.trace(H) / INERTIA, sum(lengths) / LENGTHS
    second = math.sqrt(inertia * BOUND / (task.torque or BOUND)) if task.time is None else task.time / TIME
    newton_metre = inertia / second**2
    goal = second if task.time is None else newton_metre**2 * second
    a, b, c = (length / metre for length in lengths)
    unit = task._replace(
        rods=Rods(H / inertia, (a, b, c)),
        time=None if task.time is None else TIME,
        torque=None if task.torque is None else task.torque / newton_metre,
    )
    return collocation.scaled(_best(unit, starts, intervals, progress), goal, second, newton_metre, RATES)


def _best(task: Task, starts: int | None, intervals: int, progress: Callable[[float], None] | None) -> Solution:
    """The best of all starts: each goes on to fine meshes while it promises less than what has arrived there."""
    mesh = np.linspace(0.0, 1.0, (COARSE if starts != 1 else intervals) + 1)
    guesses = [_guess(task, mesh, k) for k in range(starts or LOOPS)]
    if starts is None and (square := best_rectangles(task)) is not None:
        guesses.append(_along(task, mesh, square))
    found = []
    for number, guess in enumerate(guesses, 1):
        solution = _seen(task, discrete(_problem(task, SMOOTH), mesh, guess))
        found += [solution] if solution else []
        if progress is not None:
            progress(number / len(guesses))
    if not found:
        raise SolveError(
            f"none of {len(guesses)} starts came to a manoeuvre of {np.degrees(task.turn):.4g}°; try more starts."
        )
    best, last = None, found[0]
    for first in sorted(found, key=lambda s: s.objective):
        if best is not None and best.objective <= first.objective:
            break
        if starts != 1:
            first = _again(task, first, np.linspace(0.0, 1.0, intervals + 1), 0.0, SMOOTH) or first
        last = _refined(task, first)
        if _holds(task, last) and (best is None or last.objective < best.objective):
            best = last
    if best is None:
        raise SolveError(_unfinished(task, last))
    return best._replace(objectives=tuple(s.objective for s in found))


def _refined(task: Task, best: Solution) -> Solution:
    """The same on finer and finer meshes; where the path cuts corners between its points, with a margin more."""
    best, margin = _kept_out(task, best, 0.0)
    for _ in range(REFINEMENTS):
        halved = split(_problem(task, SHARP), best)
        finer = _again(task, best, halved, margin, SHARP) if len(halved) > len(best.mesh) else None
        if finer is None:
            break
        finer, wider = _kept_out(task, finer, margin)
        # dearer, perhaps: a coarse mesh promises what the equations between its points do not keep
        if _holds(task, best) and (not _holds(task, finer) or finer.objective > (1.0 + WORSE) * best.objective):
            break
        best, margin = finer, wider
    return best


def _kept_out(task: Task, best: Solution, margin: float) -> tuple[Solution, float]:
    """The same without the corners of the collision domain that the path cuts between its points; and the margin."""
    for splits, wider in MARGINS if task.avoid else ():
        if best.clear:
            break
        margin = max(margin, wider)
        kept = _again(task, best, _split_touching(task, best) if splits else best.mesh, margin, SHARP)
        best = kept or best
    return best, margin


def _holds(task: Task, solution: Solution) -> bool:
    """Whether it is a manoeuvre: the equations hold between the points, and the path is free where it must be."""
    return solution.defect <= collocation.ROUGH and (solution.clear or not task.avoid)


def _unfinished(task: Task, solution: Solution) -> str:
    """Why it is none, and what to try."""
    if task.avoid and not solution.clear:
        return "the best path found still cuts the collision domain between its points; try more intervals, or starts."
    return collocation.too_rough(solution, "more intervals, or starts")


def _again(task: Task, old: Solution, mesh: np.ndarray, margin: float, smooth: float) -> Solution | None:
    """From a solution on, on another mesh."""
    return _seen(task, again(_problem(task, smooth), old, mesh, margin))


def _seen(task: Task, solution: Solution | None) -> Solution | None:
    """The same, looked at for collisions."""
    return solution and solution._replace(clear=not len(_touching(task, solution)))


def best_rectangles(task: Task) -> Rectangles | None:
    """Of least effort, of those that turn as far; None: there are none, or it does not go from flat to flat."""
    if task.turn == 0.0 or any((*task.start, *task.end)):
        return None
    return rectangles.best_rectangles(task.rods, task.turn, task.avoid)


def _along(task: Task, mesh: np.ndarray, square: Rectangles) -> Guess:
    """Time, states and torques of rectangles."""
    s = collocation.times(mesh).ravel()
    total = task.time or _usual_time(task)
    shape, slope = rectangles.motion(task.rods, square, s)
    return _as_guess(task, mesh, total, shape, slope / total)


def _usual_time(task: Task) -> float:
    """[s] where the least is asked for."""
    return 25.0 * math.sqrt(0.1 / (task.torque or 0.1))


def _as_guess(task: Task, mesh: np.ndarray, total: float, shape: np.ndarray, rates: np.ndarray) -> Guess:
    state = np.column_stack([task.turn * collocation.times(mesh).ravel(), shape, rates])
    return Guess(total, state.reshape(len(mesh) - 1, DEGREE + 1, 5), np.zeros((len(mesh) - 1, DEGREE, 2)))


def _guess(task: Task, mesh: np.ndarray, number: int) -> Guess:
    """Time, states and torques of a loop of the shape: direction and sense by its number."""
    # a loop along psi1 = psi2 encloses most of the curl; then those across, and between
    direction = math.radians((45.0, 225.0, 135.0, 315.0, 0.0, 90.0, 180.0, 270.0)[(number // 2) % 8])
    sense, size = (1.0 if number % 2 == 0 else -1.0), 1.3 + 0.3 * (number // 16)
    s = collocation.times(mesh).ravel()
    total = task.time or _usual_time(task)
    phase = 2.0 * np.pi * s * sense
    along, across = size * (1.0 - np.cos(phase)), size * np.sin(phase)
    rate = 2.0 * np.pi * sense / total * size
    turn, line = np.array([[math.cos(direction), -math.sin(direction)], [math.sin(direction), math.cos(direction)]]), s
    shape = np.stack([along, across], axis=1) @ turn.T
    shape = shape + np.outer(1.0 - line, task.start) + np.outer(line, task.end)
    rates = np.stack([np.sin(phase), np.cos(phase)], axis=1) @ turn.T * rate
    return _as_guess(task, mesh, total, shape, rates)


# -------------------------------------------------------------------------------------------------------- the problem
def _problem(task: Task, smooth: float) -> Problem:
    """As collocation has it; smooth [m]: of the corners of the free domain."""
    ca = collocation.casadi()
    limits = np.full(2, -np.pi), np.full(2, np.pi)

    def gap(places: Any) -> Any:
        return _gap(ca, task.rods.lengths, places[0, :], places[1, :], smooth)

    return Problem(
        _motion(ca, task.rods),
        np.array([0.0, *task.start, 0.0, 0.0]),
        lambda last: last - ca.DM([task.turn, *task.end, 0.0, 0.0]),
        SHAPE,
        task.time,
        task.torque,
        (task.time or 1.0) ** 3 / 630.0,
        limits,
        gap if task.avoid else None,
    )


def _motion(ca: Any, rods: Rods) -> Any:
    """State and torques -> derivative of the state, as a function of CasADi."""
    x, u = ca.SX.sym("x", 5), ca.SX.sym("u", 2)
    return ca.Function("motion", [x, u], [_derivative(ca, rods, x, u)])


def _derivative(ca: Any, rods: Rods, x: Any, u: Any) -> Any:
    H, angles = rods.H, (0.0, x[1], x[1] + x[2])
    c1, c2, c12 = H[0, 1] * ca.cos(x[1]), H[1, 2] * ca.cos(x[2]), H[0, 2] * ca.cos(x[1] + x[2])
    J = float(np.trace(H)) + 2.0 * (c1 + c2 + c12)
    rate = -((H[1, 1] + H[2, 2] + 2.0 * c2 + c1 + c12) * x[3] + (H[2, 2] + c2 + c12) * x[4]) / J
    rates = (rate, rate + x[3], rate + x[3] + x[4])
    A = [[float(H[j, k]) * ca.cos(angles[j] - angles[k]) for k in range(3)] for j in range(3)]
    b = [-u[0], u[0] - u[1], u[1]]
    for j in range(3):
        for k in range(3):
            if j != k:
                b[j] = b[j] - float(H[j, k]) * ca.sin(angles[j] - angles[k]) * rates[k] ** 2
    # elimination of three unknowns, A symmetric and positive definite
    for i in range(2):
        for j in range(i + 1, 3):
            factor = A[j][i] / A[i][i]
            b[j] = b[j] - factor * b[i]
            for k in range(i + 1, 3):
                A[j][k] = A[j][k] - factor * A[i][k]
    third = b[2] / A[2][2]
    second = (b[1] - A[1][2] * third) / A[1][1]
    turn = (b[0] - A[0][1] * second - A[0][2] * third) / A[0][0]
    return ca.vertcat(rate, x[3], x[4], second - turn, third - second)


def _gap(ca: Any, lengths: Sequence[float], psi1: Any, psi2: Any, smooth: float) -> Any:
    """Positive out of the collision domain, by the largest of its three conditions, smooth and never too large.

    Rows: for rods that fold one way, and the other.
    """
    a, b, c = lengths

    def larger(x: Any, y: Any) -> Any:
        return 0.5 * (x + y + ca.sqrt((x - y) ** 2 + smooth**2) - smooth)

    rows = []
    for p, q in ((psi1, psi2), (-psi1, -psi2)):
        third = ca.sin(p + q)
        rows.append(larger(larger(b * ca.sin(q) + a * third, b * ca.sin(p) + c * third), math.pi - p - q))
    return ca.vertcat(*rows)


# ------------------------------------------------------------------------------------------------------ what it leaves
def _touching(task: Task, solution: Solution) -> np.ndarray:
    """The fractions of the time, of those looked at, at which the rods collide."""
    s = np.linspace(0.0, 1.0, CHECKS)
    state, _ = sampled(solution, s)
    return s[planar.collide(task.rods.lengths, state[:, 1], state[:, 2])]


def _split_touching(task: Task, solution: Solution) -> np.ndarray:
    """The mesh with those intervals halved in which the rods collide, down to 1/128 of the widest."""
    touching = np.unique(np.searchsorted(solution.mesh, _touching(task, solution), side="right") - 1)
    wide = np.diff(solution.mesh)
    # the neighbours too: else the path comes to the corner a little earlier or later
    bad = np.unique(np.clip(touching[:, None] + np.arange(-2, 3), 0, len(wide) - 1))
    bad = bad[wide[bad] > wide.max() / 127.0]
    return np.sort(np.concatenate([solution.mesh, 0.5 * (solution.mesh[bad] + solution.mesh[bad + 1])]))


def _check_task(task: Task, starts: int | None, intervals: int) -> None:
    if not math.isfinite(task.turn):
        raise ScenarioError(f"solve: turn {task.turn} must be finite.")
    if abs(task.turn) > 4.0 * math.pi:
        raise ScenarioError(f"solve: a turn of {task.turn:g} rad is more than two rounds; do it in parts.")
    for what, shape in (("start", task.start), ("end", task.end)):
        if not np.all(np.abs(shape) <= np.pi):
            raise ScenarioError(f"solve: the shape {shape} at the {what} cannot be reached; hinges go to ±π.")
        if task.avoid and planar.collide(task.rods.lengths, shape[0], shape[1]):
            raise ScenarioError(f"solve: rods a and c collide in the shape {shape} at the {what}.")
    if (starts is not None and starts < 1) or intervals < 2:
        raise ScenarioError(f"solve: {starts} starts on {intervals} intervals; one or more, on two or more.")
