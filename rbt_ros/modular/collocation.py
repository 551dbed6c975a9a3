"""Direct collocation: optimal control as one sparse nonlinear programme.

In each interval the state is a polynomial that satisfies the equations of motion at the points of Legendre, Gauss and
Radau (the torques live there), and IPOPT moves all of them at once, with the derivatives of CasADi. Bounds of torques
hold for their polynomials as a whole. The mesh is refined where the polynomials miss the equations between their
points. J. T. Betts, Practical methods for optimal control (2010), chapter 4.
"""

from collections.abc import Callable
from math import comb
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.signals import cubics
from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.model.checks import one_number
from rbt_ros.model.inputs import Effort
from rbt_ros.model.robot import Robot
from rbt_ros.sim import Simulation

DEGREE = 4  # of the state's polynomials: the torques are cubics
DEFECT = 1e-6  # largest of an interval that is not split, relative
ROUGH = 1e-3  # beyond it a solution is none
LOOKS = 12  # shapes in each interval that keep out of the collision domain
TICKS, LONGEST = 5, 0.15  # of the re-simulation per smallest interval, at least; and [s] of each, at most
IPOPT = {"ipopt.print_level": 0, "print_time": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-9, "ipopt.max_iter": 1500}
Symbols = Any  # of CasADi


class Problem(NamedTuple):
    """What is asked for: from one state to conditions on another, in a given time or in the least one."""

    motion: Symbols  # function of CasADi: state and torques -> derivative of the state
    start: np.ndarray  # (n,) state
    end: Callable[[Symbols], Symbols]  # of the last state: what must be zero
    shape: slice  # of the state: angles of the hinges; their rates are the last of it
    time: float | None  # [s]; None: the least
    torque: float | None  # [N·m] bound of each hinge at all times; None: none
    scale: float  # times the effort is about one
    limits: tuple[np.ndarray, np.ndarray]  # of the shape: low, high [rad]
    gap: Callable[[Symbols], Symbols] | None = None  # of shapes (m, k): rows that are larger than the margin

    @property
    def torques(self) -> int:
        """How many."""
        return self.shape.stop - self.shape.start


class Solution(NamedTuple):
    """An optimum of the discrete problem, local as all of them are."""

    objective: float  # ∫ u·u dt [N²·m²·s], or T [s]
    time: float  # T [s]
    mesh: np.ndarray  # (N + 1,) from 0 to 1: where the intervals meet
    state: np.ndarray  # (N, DEGREE + 1, n): at the start and the points of each interval
    torque: np.ndarray  # (N, DEGREE, m) [N·m]: at the points
    defect: float  # largest miss of the equations between the points, relative
    iterations: int  # of IPOPT on the last mesh
    objectives: tuple[float, ...]  # of the starts that got there
    clear: bool  # whether the path keeps out of the exact collision domain


class Guess(NamedTuple):
    """Where IPOPT begins."""

    time: float
    state: np.ndarray  # as of a Solution
    torque: np.ndarray


# ------------------------------------------------------------------------------------------------ the discrete problem
def discrete(problem: Problem, mesh: np.ndarray, guess: Guess, margin: float = 0.0) -> Solution | None:
    """The optimum on a mesh from a first guess; None where IPOPT does not get there. `clear` is left True."""
    ca = casadi()
    intervals, states, torques = len(mesh) - 1, len(problem.start), problem.torques
    points, h = DEGREE * intervals, np.diff(mesh)
    first, X = ca.MX.sym("first", states), ca.MX.sym("X", states, points)
    U, T = ca.MX.sym("U", torques, points), ca.MX.sym("T")
    # the start of an interval is the end of the one before
    ends = ca.horzcat(first, X[:, DEGREE - 1 : points - 1 : DEGREE])
    derivative, weights = _collocation()
    F, misses = problem.motion.map(points)(X, U), []
    for j in range(DEGREE):
        slope = derivative[0, j] * ends
        for i in range(DEGREE):
            slope = slope + derivative[i + 1, j] * X[:, i::DEGREE]
        misses.append(slope - F[:, j::DEGREE] * ca.repmat(T * ca.DM(h).T, states, 1))
    lengths = ca.DM(np.repeat(h, DEGREE) * np.tile(weights, intervals)).T
    effort = T * ca.sum2(lengths * ca.sum1(U * U))
    constraints = [ca.vec(ca.horzcat(*misses)), first - ca.DM(problem.start), problem.end(X[:, -1])]
    equal = sum(c.numel() for c in constraints)
    low, high = np.zeros(equal), np.zeros(equal)
    if problem.torque is not None:
        within = _bounding(ca, U)
        constraints.append(within)
        low, high = (np.append(side, np.full(within.numel(), s * problem.torque)) for side, s in ((low, -1), (high, 1)))
    if problem.gap is not None:
        gap = ca.vec(problem.gap(_between(ca, ends, X, problem.shape)))
        constraints.append(gap)
        low, high = np.append(low, np.full(gap.numel(), margin)), np.append(high, np.full(gap.numel(), np.inf))
    unknowns = ca.vertcat(first, ca.vec(X), ca.vec(U), T)
    goal = T if problem.time is None else effort * problem.scale  # about one, whatever the time
    solver = ca.nlpsol("solver", "ipopt", {"x": unknowns, "f": goal, "g": ca.vertcat(*constraints)}, IPOPT)
    begin = np.concatenate([guess.state[0, 0], guess.state[:, 1:].ravel(), guess.torque.ravel(), [guess.time]])
    lower, upper = _bounds(problem, points)
    answer = solver(x0=begin, lbx=lower, ubx=upper, lbg=low, ubg=high)
    if not solver.stats()["success"]:
        return None
    values, after = np.array(answer["x"]).ravel(), states * (points + 1)
    start, time = values[:states], float(values[-1])
    state = values[states:after].reshape(intervals, DEGREE, states)
    torque = values[after:-1].reshape(intervals, DEGREE, torques)
    whole = np.concatenate([np.vstack([start, state[:-1, -1]])[:, None], state], axis=1)
    work = float(time * (h[:, None] * weights * (torque**2).sum(axis=2)).sum())
    iterations = int(solver.stats()["iter_count"])
    found = Solution(time if problem.time is None else work, time, mesh, whole, torque, 0.0, iterations, (), True)
    return found._replace(defect=float(defects(problem, found).max()))


def _between(ca: Any, ends: Symbols, X: Symbols, shape: slice) -> Symbols:
    """Shapes at LOOKS places in each interval, where the polynomials are sums of what they are at the points."""
    dense = []
    for row in _lagrange(_nodes(), np.arange(1, LOOKS + 1) / LOOKS):
        place = row[0] * ends[shape, :]
        for i in range(DEGREE):
            place = place + row[i + 1] * X[shape, i::DEGREE]
        dense.append(place)
    return ca.horzcat(*dense)


def _bounding(ca: Any, U: Symbols) -> Symbols:
    """Coefficients of Bernstein of the torques in each interval: the polynomials lie within theirs everywhere."""
    columns = []
    for row in np.linalg.inv(_bernstein(_nodes()[1:])):
        column = 0
        for i in range(DEGREE):
            column = column + row[i] * U[:, i::DEGREE]
        columns.append(ca.vec(column))
    return ca.vertcat(*columns)


def _bernstein(x: np.ndarray) -> np.ndarray:
    """(len(x), DEGREE): the basis of polynomials that are not negative and sum up to one."""
    n = DEGREE - 1
    return np.stack([comb(n, k) * x**k * (1 - x) ** (n - k) for k in range(DEGREE)], axis=1)


def _bounds(problem: Problem, points: int) -> tuple[np.ndarray, np.ndarray]:
    """Of all unknowns: first, X, U, T."""
    states, bound = len(problem.start), np.inf if problem.torque is None else problem.torque
    low, high = np.full(states, -np.inf), np.full(states, np.inf)
    low[problem.shape], high[problem.shape] = problem.limits
    free, torque = np.full(states, np.inf), np.full(problem.torques * points, bound)
    lower = np.concatenate([-free, np.tile(low, points), -torque, [1e-3]])
    upper = np.concatenate([free, np.tile(high, points), torque, [np.inf]])
    if problem.time is not None:
        lower[-1] = upper[-1] = problem.time
    return lower, upper


def again(problem: Problem, old: Solution, mesh: np.ndarray, margin: float = 0.0) -> Solution | None:
    """From a solution on, on another mesh."""
    inside = np.minimum(times(mesh), np.nextafter(1.0, 0.0))
    state, _ = sampled(old, inside.ravel())
    _, torque = sampled(old, inside[:, 1:].ravel())
    rows = len(mesh) - 1
    guess = Guess(old.time, state.reshape(rows, DEGREE + 1, -1), torque.reshape(rows, DEGREE, -1))
    return discrete(problem, mesh, guess, margin)


def scaled(solution: Solution, goal: float, second: float, newton_metre: float, rates: slice) -> Solution:
    """The same where the units of what is least, of time and of torque were so many [N²·m²·s] or [s], [s], [N·m];
    rates: of the state, those per unit of time."""
    state, time = solution.state.copy(), second * solution.time
    state[..., rates] /= second
    return solution._replace(
        objective=goal * solution.objective,
        time=time,
        state=state,
        torque=newton_metre * solution.torque,
        objectives=tuple(goal * objective for objective in solution.objectives),
    )


# ------------------------------------------------------------------------------------------------------ what it leaves
def times(mesh: np.ndarray) -> np.ndarray:
    """(N, DEGREE + 1): fractions of the time, at the start and the points of each interval."""
    return mesh[:-1, None] + np.diff(mesh)[:, None] * _nodes()


def sampled(solution: Solution, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """State (k, n) and torques (k, m) at the fractions s of the time."""
    s = np.asarray(s, dtype=float)
    k = np.clip(np.searchsorted(solution.mesh, s, side="right") - 1, 0, len(solution.mesh) - 2)
    x = (s - solution.mesh[k]) / np.diff(solution.mesh)[k]
    nodes = _nodes()
    state = np.einsum("kj,kjn->kn", _lagrange(nodes, x), solution.state[k])
    torque = np.einsum("kj,kjn->kn", _lagrange(nodes[1:], x), solution.torque[k])
    return state, torque


def defects(problem: Problem, solution: Solution) -> np.ndarray:
    """(N,): how far each polynomial misses the equations between its points, relative to the largest rate."""
    nodes = _nodes()
    between = 0.5 * (nodes[:-1] + nodes[1:])
    slopes = _lagrange_slopes(nodes, between)
    values, torques = _lagrange(nodes, between), _lagrange(nodes[1:], between)
    states = np.einsum("mj,kjn->kmn", values, solution.state)
    u = np.einsum("mj,kjn->kmn", torques, solution.torque)
    steps = np.diff(solution.mesh)[:, None, None] * solution.time
    x, u = states.reshape(-1, states.shape[2]), u.reshape(-1, u.shape[2])
    flow = np.array(problem.motion(x.T, u.T)).T.reshape(states.shape)
    miss = np.einsum("mj,kjn->kmn", slopes, solution.state) - steps * flow
    scale = np.abs(solution.state).max(axis=(0, 1)) + 1e-12
    return np.abs(miss / scale).max(axis=(1, 2))


def split(problem: Problem, solution: Solution) -> np.ndarray:
    """The mesh with those intervals halved that miss most; no interval below 1/16 of the first mesh."""
    wide = np.diff(solution.mesh)
    bad = (defects(problem, solution) > DEFECT) & (wide > wide.max() / 15.0)
    middles = 0.5 * (solution.mesh[:-1] + solution.mesh[1:])[bad]
    return np.sort(np.concatenate([solution.mesh, middles]))


def planned(robot: Robot, solution: Solution, shape: slice) -> Simulation:
    """A simulation at the start, with the torques planned; the ticks fall on the ends of all intervals.

    A step is a whole number of ns; the torques follow the time that this makes of T by the square of the ratio.
    """
    sim = Simulation(robot, step=tick_ns(solution) * 1e-9, integrator="dop853")
    for joint, angle in zip(robot.joint_names, solution.state[0, 0, shape], strict=True):
        sim.set_hinge(joint, float(angle))
    knots = tuple(int(k) * sim.h_ns for k in np.round(solution.mesh * ticks(solution)))
    total = ticks(solution) * sim.h_ns * 1e-9
    lengths = np.diff(solution.mesh) * total
    for k, joint in enumerate(robot.joint_names):
        pieces = _as_cubics(solution.torque[:, :, k] * (solution.time / total) ** 2, lengths)
        sim.add_input(Effort(joint, (1.0,)), signal=cubics(knots, pieces))
    return sim


def ticks(solution: Solution) -> int:
    """Of the re-simulation: as many in each of the smallest intervals."""
    smallest = round(1.0 / np.diff(solution.mesh).min())
    return int(smallest * max(TICKS, np.ceil(solution.time / (smallest * LONGEST))))


def tick_ns(solution: Solution) -> int:
    """Its step."""
    return round(solution.time * 1e9 / ticks(solution))


# ------------------------------------------------------------------------------------------------------------ numbers
def casadi() -> Any:
    """CasADi, or how to get it."""
    try:
        import casadi
    except ImportError as err:
        raise SetupError("optimal control needs CasADi: pip install 'rbt_ros[optimal]'") from err
    return casadi


def _nodes() -> np.ndarray:
    """0 and the points of Legendre, Gauss and Radau, the last of which is 1: roots of P_d - P_{d-1}, right end in."""
    P = np.polynomial.legendre.Legendre
    roots = (P.basis(DEGREE) - P.basis(DEGREE - 1)).roots().real
    return np.concatenate([[0.0], np.sort(0.5 * (1.0 + roots))])


def _collocation() -> tuple[np.ndarray, np.ndarray]:
    """(DEGREE + 1, DEGREE): derivatives of Lagrange's polynomials at the points; and the weights of Radau."""
    nodes = _nodes()
    moments = 1.0 / np.arange(1, DEGREE + 1)
    weights = np.linalg.solve(np.vander(nodes[1:], DEGREE, increasing=True).T, moments)
    return _lagrange_slopes(nodes, nodes[1:]).T, weights


def _lagrange(nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """(len(x), len(nodes)): the polynomials that are one at one node and zero at the others."""
    powers = np.vander(x, len(nodes), increasing=True)
    return np.linalg.solve(np.vander(nodes, increasing=True).T, powers.T).T


def _lagrange_slopes(nodes: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Their derivatives."""
    m = len(nodes)
    powers = np.zeros((len(x), m))
    powers[:, 1:] = np.vander(x, m - 1, increasing=True) * np.arange(1, m)
    return np.linalg.solve(np.vander(nodes, increasing=True).T, powers.T).T


def _as_cubics(torque: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """(N, 4): c0 to c3 in [s] since the start of each interval, through the torques at its points."""
    local = np.linalg.solve(np.vander(_nodes()[1:], increasing=True), torque.T).T
    return local / lengths[:, None] ** np.arange(DEGREE)


# ------------------------------------------------------------------------------------------------------------ refusals
def check(time: float | None, torque: float | None) -> None:
    """ScenarioError where time [s] and bound [N·m] make no problem."""
    for what, value in (("time", time), ("torque", torque)):
        if value is not None and not 0 < one_number(value, what, ScenarioError) < 1e9:
            raise ScenarioError(f"solve: {what} {value!r:.40} must be positive.")
    if time is None and torque is None:
        raise ScenarioError("solve: the least time needs a bound of the torques; give torque, or a time.")


def too_weak(what: str, time: float, torque: float, least: float) -> str:
    """Why torques up to a bound do not do it in a time, and what would."""
    if least <= time:
        return f"no manoeuvre of {what} was found in {time:g} s; try more starts."
    return (
        f"torques up to {torque:g} N·m cannot turn by {what} in {time:g} s: the least time found is {least:.5g} s; the "
        f"torque that would do is {torque * (least / time) ** 2:.4g} N·m."
    )


def too_rough(solution: Solution, ways: str) -> str:
    """Why an optimum of the discrete problem is none of the true one."""
    return (
        f"the best one found misses the equations between its points by {solution.defect:.1e}, and no finer mesh than "
        f"its {len(solution.mesh) - 1} intervals came to an optimum; try {ways}."
    )
