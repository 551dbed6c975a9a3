"""A consistent start: what is given stays, what is not is found, so that all constraints hold. And what they do."""

import warnings
from collections.abc import Sequence

import numpy as np

from rbt_ros.core import constraints as c
from rbt_ros.core.constrained import LOST, constrained_derivative, least_change, put_back
from rbt_ros.core.joints import step_on_manifold
from rbt_ros.core.linear import DEPENDENT, semidefinite_factors
from rbt_ros.core.prescribed import signal_motion
from rbt_ros.core.types import NV, Input, JointKind, Model
from rbt_ros.core.vec import rotation, row9
from rbt_ros.core.work import ROT, Work
from rbt_ros.errors import ScenarioError
from rbt_ros.model.constraint_arrays import row_slices, write_motion
from rbt_ros.model.constraints import COUPLE, PRESCRIBE, Closure, Constraint, ConstraintForce, Coupling
from rbt_ros.model.coordinates import BodyStart, HingeStart, coordinate_slices, described
from rbt_ros.model.robot import Robot
from rbt_ros.model.start_report import StartReport, determined

CLOSED = 1e-11  # of |φ| [m, rad] and |φ̇| [m/s, rad/s]: what counts as holding, relative where positions are large
START_TOLERANCE = 1e-4  # [rad, m, rad/s, m/s] by which what was given may be rounded
NEWTON_STEPS = 60
MAX_TURN = 0.5  # [rad, m] of one of them
MOST_DAMPING = 1e-3  # of one of them: see `least_change`
SHAKES = 4
IN_A_PLANE = (("point", 1), ("revolute", 3))  # closures, and how many of their conditions follow in a plane mechanism


class Loops:
    """The constraints of one simulation: its start, its forces."""

    def __init__(self, robot: Robot, model: Model, work: Work):
        assert robot.rows is not None
        self._robot, self._model, self._work = robot, model, work
        self.rows: c.Constraints = robot.rows
        self._given_q: set[int] = set()  # freedoms whose position was set since it was closed
        self._given_v: set[int] = set()  # and whose rate was
        self._bond = c.bonds(model, self.rows)
        self._slices = row_slices(robot.constraints)  # the rows of each
        self._warned = False
        self._closed: tuple[np.ndarray, set[int], set[int]] | None = None  # G at the last start, and what was set

    def set_motion(self, coupling: Coupling) -> None:
        """Let that be the motion of the prescribed joint of its name, if the joint moves now."""
        for there, at in zip(self._robot.constraints, self._slices, strict=True):
            if there.name == coupling.name and coupling.signal is not None:
                write_motion(self.rows, at.start, coupling.signal, coupling.origin_ns)

    def set_work(self, work: Work) -> None:
        """Compute in that workspace: the account of y has grown."""
        self._work = work

    def given_body(self, name: str, start: BodyStart) -> None:
        """What was set of a floating body is held when the rest is found."""
        turned = start.quaternion is not None or start.euler is not None
        self._hold(self._robot.body_index(name), (turned, start.position is not None), self._given_q)
        self._hold(
            self._robot.body_index(name), (start.omega_body is not None, start.velocity is not None), self._given_v
        )

    def given_hinge(self, name: str, start: HingeStart) -> None:
        """What was set of a hinge is held when the rest is found."""
        placed = any(x is not None for x in (start.position, start.quaternion, start.euler))
        self._hold(self._robot.hinge_index(name), (placed,), self._given_q)
        self._hold(self._robot.hinge_index(name), (start.rate is not None or start.omega is not None,), self._given_v)

    def _hold(self, hinge: int, parts: tuple[bool, ...], held: set[int]) -> None:
        """Hold those of the equal parts of a hinge's freedoms that were set."""
        _, at = coordinate_slices(self._robot, hinge)
        first, size = at.start - self._robot.coordinates, (at.stop - at.start) // len(parts)
        for number, is_set in enumerate(parts):
            if is_set:
                held.update(range(first + number * size, first + (number + 1) * size))

    @property
    def given(self) -> tuple[set[int], set[int]]:
        """Freedoms whose position, and whose rate, was set since it was closed: copies."""
        return set(self._given_q), set(self._given_v)

    @given.setter
    def given(self, given: tuple[set[int], set[int]]) -> None:
        self._given_q, self._given_v = map(set, given)

    def close(self, y: np.ndarray, input: Input, t_ns: int) -> None:
        """Put y on the constraints; ScenarioError where what was given does not allow it."""
        given = y.copy()
        self._follow(given, t_ns)
        better = self._first_to_hold()
        for held in (self._given_q | better, self._given_q):
            start = self._positions(given, input, t_ns, held)
            if start is not None:
                break
        else:
            start = self._nearest(given, input, t_ns)
        for held in (self._given_v | better, self._given_v, set()):
            found = self._rates(start, input, t_ns, held)
            if found is not None:
                break
        else:
            raise ScenarioError(self._cannot("no rates keep it.", start, input, t_ns))
        self._refuse_changed(1, start, found, input, t_ns)
        self._refuse_flipped(found, input, t_ns)
        y[:] = found
        self._rank(y, input, t_ns)
        self._closed = self._bond.G.copy(), self._given_q, self._given_v
        self._given_q, self._given_v = set(), set()
        self._warn_of_redundant(y, input, t_ns)

    @property
    def report(self) -> StartReport | None:
        """How far the start that was closed last was determined by what was given; None: none was."""
        if self._closed is None:
            return None
        G, *given = self._closed
        return StartReport(*(determined(self._robot, G, sorted(held)) for held in given))

    def keep(self, y: np.ndarray, input: Input, t_ns: int) -> None:
        """After an impact: the rates of y nearest to what they are that keep all constraints; ScenarioError if none."""
        self._check("positions", c.PHI, y, input, t_ns)
        put_back(self._model, y, input, t_ns, 0.0, self.rows, self._work, self._bond)
        self._check("rates", c.PHI_DOT, y, input, t_ns)

    def _check(self, what: str, column: int, y: np.ndarray, input: Input, t_ns: int) -> None:
        """ScenarioError where a constraint does not hold by more than a failed step."""
        if self._evaluate(y, input, t_ns, column) <= LOST:
            return
        off = np.abs(self._bond.column[column])
        at = [float(off[rows].max()) for rows in self._slices]
        worst = self._robot.constraints[int(np.argmax(at))]
        raise ScenarioError(
            f"{_kind(worst)} '{worst.name}' does not allow it: its {what} would be off by {max(at):.4g}. What moves by "
            "itself must start where, and as fast as, the rest can follow."
        )

    def forces(self, y: np.ndarray, input: Input, t_ns: int) -> dict[str, ConstraintForce]:
        """What every constraint does now, by name; where some follow from others, the least there can be."""
        rank = self._rank(y, input, t_ns)
        return self.named(least_multipliers(self._bond, rank), self._bond)

    def named(self, multipliers: np.ndarray, bond: c.Bonds) -> dict[str, ConstraintForce]:
        """What every constraint does with these multipliers; their rows are the first of `bond`."""
        forces, off = {}, bond.column[c.PHI]
        for constraint, at in zip(self._robot.constraints, self._slices, strict=True):
            if isinstance(constraint, Coupling) or constraint.kind == "distance":
                effort = float(multipliers[at.start])
                wrench = effort * bond.direction[at.start]
            else:
                effort, wrench = np.nan, multipliers[at] @ bond.direction[at]
            forces[constraint.name] = ConstraintForce(effort, wrench, max(map(abs, off[at].tolist())))
        return forces

    def _rank(self, y: np.ndarray, input: Input, t_ns: int) -> int:
        """Fill the rows of all constraints at y, multipliers included."""
        rows, work, bond, ydot = self.rows, self._work, self._bond, np.zeros_like(y)
        return int(constrained_derivative(self._model, y, input, t_ns, 0.0, rows, work, bond, ydot))

    def _evaluate(self, y: np.ndarray, input: Input, t_ns: int, column: int) -> float:
        """The largest magnitude in that column at y."""
        self._rank(y, input, t_ns)
        return float(np.abs(self._bond.column[column]).max())

    def _distance(self, y: np.ndarray, input: Input, t_ns: int) -> float:
        """Σ φ² at y: how far it is from closed."""
        self._rank(y, input, t_ns)
        return sum(phi * phi for phi in self._bond.column[c.PHI].tolist())

    # the start

    def _follow(self, y: np.ndarray, t_ns: int) -> None:
        """Where they were not set, prescribed joints go where they must be now, and followers to their leaders."""
        couplings = [x for x in self._robot.constraints if isinstance(x, Coupling) and x.kind != COUPLE]
        for _ in couplings:  # as many times as a chain of them may be long
            for coupling in couplings:
                if coupling.kind == PRESCRIBE:
                    position, rate = self._motion(coupling, t_ns)
                else:
                    leader, factor = coupling.factors[1]
                    _, q, v = self._robot.joint_place(leader)
                    position, rate = coupling.offset - factor * y[q], -factor * y[self._robot.coordinates + v]
                _, q, v = self._robot.joint_place(coupling.factors[0][0])
                if v not in self._given_q:
                    y[q] = position
                if v not in self._given_v:
                    y[self._robot.coordinates + v] = rate

    def _motion(self, coupling: Coupling, t_ns: int) -> tuple[float, float]:
        """Position and rate of a prescribed joint now."""
        at = self._slices[self._robot.constraints.index(coupling)]
        signal = int(self.rows.row[at.start, c.SIGNAL]) - 1
        u, u_dot, _ = signal_motion(self.rows, signal, t_ns, 0.0) if signal >= 0 else (coupling.offset, 0.0, 0.0)
        return float(u), float(u_dot)

    def _first_to_hold(self) -> set[int]:
        """Freedoms that better stay though nobody set them: floating bodies, prescribed joints."""
        kinds = [h.kind for h in self._robot.hinges for _ in range(NV[h.kind])]
        floating = {j for j, kind in enumerate(kinds) if kind == JointKind.FREE}
        prescribed = [x for x in self._robot.constraints if isinstance(x, Coupling) and x.kind == PRESCRIBE]
        return floating | {self._robot.joint_place(x.factors[0][0])[2] for x in prescribed}

    def _weight(self, held: set[int]) -> np.ndarray:
        """Which freedoms may change: 1, and 0 for those of `held`."""
        weight = np.ones(len(self._model.freedom))
        weight[list(held)] = 0.0
        return weight

    def _positions(self, y: np.ndarray, input: Input, t_ns: int, held: set[int]) -> np.ndarray | None:
        """y with positions that close all constraints, those of `held` unchanged; None if none is found.

        A start from which no small motion helps, like a bar in line with its force, is shaken.
        """
        nq, weight = self._robot.coordinates, self._weight(held)
        for attempt in range(SHAKES):
            kick, shaken = np.random.default_rng(attempt).uniform(-0.2, 0.2, len(weight)) * weight, y.copy()
            step_on_manifold(self._model, y[:nq], kick, float(attempt), shaken)
            found = self._newton(shaken, input, t_ns, held)
            if found is not None:
                return found
        return None

    def _newton(self, y: np.ndarray, input: Input, t_ns: int, held: set[int]) -> np.ndarray | None:
        """`_positions` from y, by Newton's method with a line search.

        Far from the start conditions that follow from each other may contradict each other, to first order: the more
        they are off, the more the step is damped. Near it the damping is gone, and the method quadratic.
        """
        nq, bond, weight, y = self._robot.coordinates, self._bond, self._weight(held), y.copy()
        change = np.zeros_like(weight)
        error = self._distance(y, input, t_ns)
        for _ in range(NEWTON_STEPS):
            least_change(bond, c.PHI, weight, min(error, MOST_DAMPING), change)
            share = min(1.0, MAX_TURN / max(np.abs(change).max(), MAX_TURN))
            while True:  # halve the step until it helps
                trial = y.copy()
                step_on_manifold(self._model, y[:nq], change, share, trial)
                new = self._distance(trial, input, t_ns)
                if new < error or share < 1e-3:
                    break
                share *= 0.5
            if not new < error:
                break
            y, error = trial, new
        error = self._evaluate(y, input, t_ns, c.PHI)
        return y if error <= CLOSED * max(1.0, np.abs(y[:nq]).max()) else None

    def _rates(self, y: np.ndarray, input: Input, t_ns: int, held: set[int]) -> np.ndarray | None:
        """y with rates that keep all constraints, those of `held` unchanged; None if there are none."""
        nq, weight, y = self._robot.coordinates, self._weight(held), y.copy()
        change = np.zeros_like(weight)
        for _ in range(2):
            self._evaluate(y, input, t_ns, c.PHI_DOT)
            least_change(self._bond, c.PHI_DOT, weight, 0.0, change)
            y[nq:] += change
        error = self._evaluate(y, input, t_ns, c.PHI_DOT)
        return y if error <= CLOSED * max(1.0, np.abs(y[nq:]).max()) else None

    def _nearest(self, given: np.ndarray, input: Input, t_ns: int) -> np.ndarray:
        """The nearest y that is closed, if it differs from what was given by no more than rounding."""
        start = self._positions(given, input, t_ns, set())
        if start is None:
            raise ScenarioError(self._cannot("no start near it does: does it fit together?", given, input, t_ns))
        self._refuse_changed(0, given, start, input, t_ns)
        return start

    def _refuse_changed(self, which: int, given: np.ndarray, found: np.ndarray, input: Input, t_ns: int) -> None:
        """ScenarioError where something given had to change by more than rounding. which: 0 positions, 1 rates."""
        held, change = (self._given_q, self._given_v)[which], np.abs(found - given)
        limit = START_TOLERANCE * np.maximum(1.0, np.abs(given))
        for i in range(len(self._robot.hinges)):
            places = coordinate_slices(self._robot, i)
            first = places[1].start - self._robot.coordinates
            freedoms = range(first, first + places[1].stop - places[1].start)
            if held.intersection(freedoms) and (change[places[which]] > limit[places[which]]).any():
                break
        else:
            return
        what, near = ("positions", "rates")[which], described(self._robot, found, which == 1)
        why = f"the {what} given do not allow it; the nearest that do: {near}."
        self._rank(found, input, t_ns)
        told = determined(self._robot, self._bond.G, sorted(held))
        if told.surplus:
            why += f" {told.surplus} of {', '.join(told.tied)} follow from the others: give less."
        raise ScenarioError(self._cannot(why, given, input, t_ns))

    def _refuse_flipped(self, y: np.ndarray, input: Input, t_ns: int) -> None:
        """ScenarioError where a closure is half a turn from what it is meant to be: its conditions hold there too."""
        self._rank(y, input, t_ns)
        for closure, at in zip(self._robot.constraints, self._slices, strict=True):
            if not isinstance(closure, Closure) or closure.kind not in ("revolute", "weld"):
                continue
            a, b = self.rows.row[at.start, [c.BODY_A, c.BODY_B]].astype(int)
            R_WA, R_WB = (np.array(row9(self._work.bodies, i, ROT)) for i in (a, b))
            R = R_WA.T @ R_WB @ np.array(rotation(closure.quaternion)).T  # the identity, or a turn about the axis
            along = closure.axis @ R @ closure.axis if closure.kind == "revolute" else np.trace(R)
            if along < 0:
                raise ScenarioError(
                    f"start: closure '{closure.name}' would close with '{closure.body_b}' half a turn round; start "
                    "nearer to how it is meant, or give rotation= of the closure."
                )

    def _cannot(self, why: str, y: np.ndarray, input: Input, t_ns: int) -> str:
        """The text of an error: which constraint does not hold at y, by how much."""
        self._rank(y, input, t_ns)
        places, rates = np.abs(self._bond.column[[c.PHI, c.PHI_DOT]])
        open_ = places.max() > CLOSED * max(1.0, np.abs(y[: self._robot.coordinates]).max())
        off, what = (places, "") if open_ else (rates, " of its rates")
        at = [float(off[rows].max()) for rows in self._slices]
        worst = self._robot.constraints[int(np.argmax(at))]
        return f"start: {_kind(worst)} '{worst.name}' does not hold, by {max(at):.4g}{what}; {why}"

    def _warn_of_redundant(self, y: np.ndarray, input: Input, t_ns: int) -> None:
        """Tell, once, which constraints follow in part from hinges and from the constraints before them."""
        m = len(self.rows.row)
        if self._rank(y, input, t_ns) == m or self._warned:
            return
        self._warned, found, hints, before = True, [], [], 0
        L, size, rest, order = np.zeros((m, m)), np.zeros(m), np.zeros(m), np.zeros(m, np.int64)
        for constraint, at in zip(self._robot.constraints, self._slices, strict=True):
            n = at.stop
            first = np.ascontiguousarray(self._bond.A[:n, :n])
            rank = semidefinite_factors(first, L, size, rest, order)
            count, new = at.stop - at.start, rank - before
            if new < count:
                found.append(f"{count - new} of {count} conditions of {_kind(constraint)} '{constraint.name}'")
                hints += [self._plane_hint(constraint, at)] if (constraint.kind, count - new) in IN_A_PLANE else []
            before = rank
        warnings.warn(
            f"robot '{self._robot.name}': {', '.join(found)} follow from the hinges and the constraints before; the "
            f"motion is the same without them, and the forces in them are the least there can be.{''.join(hints)}",
            stacklevel=5,
        )

    def _plane_hint(self, constraint: Constraint, at: slice) -> str:
        """How a closure of a plane mechanism is told without the conditions that follow: about an axis of body a."""
        if isinstance(constraint, Closure) and constraint.kind == "revolute":
            axis = constraint.axis
        else:  # the direction, in body a, in which nothing can move
            U, values, _ = np.linalg.svd(self._bond.G[at.start : at.start + 3])
            axis = tuple((U[:, -1] + 0.0).tolist())
        return f" In a plane closure '{constraint.name}' of kind 'pin' says the same: axis=({_three(axis)})."


def least_multipliers(bond: c.Bonds, rank: int) -> np.ndarray:
    """λ, of least norm in the scale of A's diagonal."""
    if rank == len(bond.A):
        return bond.column[c.LAMBDA].copy()
    size = bond.column[c.SIZE]
    scaled = bond.A * np.outer(size, size)
    return size * np.linalg.lstsq(scaled, -size * bond.column[c.PHI_DDOT], rcond=DEPENDENT)[0]


def _three(axis: Sequence[float]) -> str:
    """Three numbers, for people."""
    return ", ".join(f"{round(x, 9) + 0.0:g}" for x in axis)


def _kind(constraint: Coupling | Closure) -> str:
    return "closure" if isinstance(constraint, Closure) else constraint.kind
