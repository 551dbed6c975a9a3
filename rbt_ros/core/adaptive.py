"""Error-controlled DOP853 with dense output and events: for reference solutions and for long quiet stretches.

Each step is as long as the tolerance allows; what lies between is a polynomial of order 7. Steps end at every time at
which an input may jump (`signals.breaks_ns`), so that none of its kinks spoils the order. The tolerance is that of q
and v; the work of inputs, where it is asked for, is integrated along, and whether it is does not change their bits.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), sections II.4 to II.6.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core import dop853
from rbt_ros.core.dop853 import E3, E5, A, B, C, D
from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.integrate import all_finite, copy, fill_stages, first_non_finite, normalise, weighted_sum
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.signals import breaks_ns
from rbt_ros.core.types import NON_FINITE, NON_FINITE_WORK, OK, STEP_TOO_SMALL, TOO_MANY_STEPS, Input, Model, Status
from rbt_ros.core.work import GOOD_ROW, Work, model_size, workspace

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0  # of the step size: margin; the least and the most it changes at once
DENSE = 7  # coefficients per component
CHUNK = 64  # steps per compiled call
MAX_STEPS = 10_000_000


# ------------------------------------------------------------------------------------------------------ steps
@kernel
def eighth_root(x):
    """x^(1/8) by square roots: the same bits everywhere, which libm's pow does not give."""
    return math.sqrt(math.sqrt(math.sqrt(x)))


@kernel
def motion_size(model):
    """nq + nv: how many elements of y the error control looks at."""
    return coordinates(model) + model.freedom.shape[0]


@kernel
def error_norm(y, new, h, rtol, atol, work):
    """The error of a step over the tolerance atol + rtol |y|: from the estimates of order 5 and 3, root mean square."""
    five, three = 0.0, 0.0
    for c in range(y.shape[0]):
        e5, e3 = 0.0, 0.0
        for j in range(dop853.STAGES):
            e5 += E5[j] * work.stage[j, c]
            e3 += E3[j] * work.stage[j, c]
        size = atol + rtol * max(abs(y[c]), abs(new[c]))
        five += (e5 / size) * (e5 / size)
        three += (e3 / size) * (e3 / size)
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(h) * five / math.sqrt((five + 0.01 * three) * y.shape[0])


@kernel
def dense_coefficients(y, new, h, work, row):
    """Write y and the 7 coefficients of each component into a row of steps, from the 16 stages: see `dense_value`."""
    ny = y.shape[0]
    for c in range(ny):
        rise, start, end = new[c] - y[c], h * work.stage[0, c], h * work.stage[12, c]
        row[2 + c], row[2 + ny + c], row[2 + 2 * ny + c] = y[c], rise, start - rise
        row[2 + 3 * ny + c] = 2.0 * rise - (end + start)
        for m in range(4):
            total = 0.0
            for j in range(16):
                total += D[m, j] * work.stage[j, c]
            row[2 + (4 + m) * ny + c] = h * total


@routine
def stages(model, y, input, t_ns, s, h, work, first, last):
    """Stages first to last - 1 of DOP853; 12 to 15 are those of the dense output."""
    fill_stages(model, y, input, t_ns, s, h, work, A, C, first, last)


@routine
def take_steps(
    tree, body, freedom, world, y, tau, load, signal, data, t_ns, s, end, h, h_max, rtol, atol, steps, rows, axes, stage
):
    """(code, steps taken, evaluations, s, h, body): up to len(steps) steps from s towards end [s] after t_ns.

    y in place. Row k of steps becomes [s, h, y, 7 ny coefficients] of the k-th step.
    """
    model, input, work = Model(tree, body, freedom, world), Input(tau, load, signal, data), Work(rows, axes, stage)
    new, ny, taken, evaluations, rejected = work.stage[GOOD_ROW], y.shape[0], 0, 0, False
    size = motion_size(model)
    while s < end and taken < steps.shape[0]:
        h = min(h, h_max)
        if end - s < 1.01 * h:
            h = end - s
        stages(model, y, input, t_ns, s, h, work, 0, dop853.STAGES)
        weighted_sum(work.stage, B, dop853.STAGES, new)
        for c in range(ny):
            new[c] = y[c] + h * new[c]
        error = error_norm(y[:size], new[:size], h, rtol, atol, work) if all_finite(new) else math.nan
        evaluations += 12
        if not error <= 1.0:  # NaN too
            h *= max(SHRINK, SAFETY / eighth_root(error)) if math.isfinite(error) else SHRINK
            rejected = True
            if not h > 1e-15 * end:
                body = first_non_finite(model, new)
                code = STEP_TOO_SMALL if all_finite(new) else NON_FINITE_WORK if body < 0 else NON_FINITE
                return code, taken, evaluations, s, h, body
            continue
        stages(model, y, input, t_ns, s, h, work, dop853.STAGES, 16)
        evaluations += 4
        steps[taken, 0], steps[taken, 1] = s, h
        dense_coefficients(y, new, h, work, steps[taken])
        copy(new, y)
        normalise(model, y)
        s = end if h == end - s else s + h
        taken += 1
        factor = GROW if error == 0.0 else min(GROW, max(SHRINK, SAFETY / eighth_root(error)))
        h *= min(1.0, factor) if rejected else factor
        rejected = False
    return OK, taken, evaluations, s, h, -1


@routine
def first_step(tree, body, freedom, world, y, tau, load, signal, data, t_ns, end, rtol, atol, rows, axes, stage):
    """A step [s] whose error will be about the tolerance: from the size of y, its rate, and the rate's change."""
    model, input, work = Model(tree, body, freedom, world), Input(tau, load, signal, data), Work(rows, axes, stage)
    ny = motion_size(model)
    stages(model, y, input, t_ns, 0.0, 0.0, work, 0, 1)
    d0, d1, d2, new = 0.0, 0.0, 0.0, work.stage[GOOD_ROW]
    for c in range(ny):
        size = atol + rtol * abs(y[c])
        d0 += (y[c] / size) * (y[c] / size)
        d1 += (work.stage[0, c] / size) * (work.stage[0, c] / size)
    d0, d1 = math.sqrt(d0 / ny), math.sqrt(d1 / ny)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, end)
    for c in range(ny):
        new[c] = y[c] + h * work.stage[0, c]
        work.stage[15, c] = work.stage[0, c]
    stages(model, new, input, t_ns, h, 0.0, work, 0, 1)
    for c in range(ny):
        size = atol + rtol * abs(y[c])
        change = (work.stage[0, c] - work.stage[15, c]) / size
        d2 += change * change
    d2 = math.sqrt(d2 / ny) / h
    steepest = max(d1, d2)
    h = min(100.0 * h, max(1e-6, 1e-3 * h) if steepest <= 1e-15 else eighth_root(0.01 / steepest), end)
    return h if h > 0.0 else end  # also of NaN: the first step then finds out


# --------------------------------------------------------------------------------------------------- solutions
def dense_value(row: np.ndarray, ny: int, x: float) -> np.ndarray:
    """y at the fraction x of the step in `row`: y + x (F1 + (1-x) (F2 + x (F3 + (1-x) (F4 + ...))))."""
    coefficients = row[2 + ny :].reshape(DENSE, ny)
    y = np.zeros(ny)
    for i in range(DENSE - 1, -1, -1):
        y = (y + coefficients[i]) * (x if i % 2 == 0 else 1.0 - x)
    return row[2 : 2 + ny] + y


class Event(NamedTuple):
    """A function of (t [s], y) whose zero is sought. `direction`: +1 rising only, -1 falling only, 0 both."""

    function: Callable[[float, np.ndarray], float]
    terminal: bool = False
    direction: int = 0


class Hit(NamedTuple):
    """Where an event happened."""

    event: int  # which of the events
    t: float  # [s] after the start
    y: np.ndarray


class Solution(NamedTuple):
    """What `solve` found; call it for y at any time it has covered."""

    code: int  # OK, NON_FINITE, NON_FINITE_WORK, STEP_TOO_SMALL, TOO_MANY_STEPS
    body: int  # whose coordinates are not finite, -1
    t: np.ndarray  # (m + 1,) [s] after the start: ends of the steps
    y: np.ndarray  # (m + 1, ny)
    steps: np.ndarray  # (m, ...) the dense output
    evaluations: int
    hits: list[Hit]

    def __call__(self, t: float) -> np.ndarray:
        """y at t [s] after the start, to the accuracy of the steps; quaternions not normalised."""
        if not self.t[0] <= t <= self.t[-1]:
            raise ValueError(f"t = {t} s is outside of the {self.t[-1]} s that were solved.")
        k = min(max(int(np.searchsorted(self.t, t, side="right")) - 1, 0), len(self.steps) - 1)
        if len(self.steps) == 0:
            return self.y[0].copy()
        return dense_value(self.steps[k], self.y.shape[1], (t - self.steps[k, 0]) / self.steps[k, 1])


def solve(
    model: Model,
    y: np.ndarray,
    input: Input,
    duration_ns: int,
    *,
    t_ns: int = 0,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    h_max: float = math.inf,
    events: Sequence[Event] = (),
    max_steps: int = MAX_STEPS,
) -> Solution:
    """From y at t_ns on for duration_ns [ns]; y is not changed. Local error per step: atol + rtol |y|, each component.

    An atol of rtol / 1000 leaves small components, and those that cross zero, to rtol; one of rtol costs up to 40 times
    the error.
    A terminal event ends the solution at its first zero.
    """
    y, work = y.copy(), workspace(model, len(y) - sum(model_size(model)))
    ny, evaluations, code, body = len(y), 0, OK, -1
    times, states, pieces, hits = [0.0], [y.copy()], [], []
    stops = [b for b in breaks_ns(input) if t_ns < b < t_ns + duration_ns] + [t_ns + duration_ns]
    before = [e.function(0.0, y) for e in events]
    start, h = t_ns, None
    for stop in stops:
        s, end, offset = 0.0, (stop - start) / 1e9, (start - t_ns) / 1e9
        arrays = (*model, y, *input, start)
        if h is None:
            h = first_step(*arrays, end, rtol, atol, *work)
            evaluations += 2
        while s < end and code == OK:
            steps = np.empty((min(CHUNK, max_steps - len(pieces)), 2 + (1 + DENSE) * ny))
            if len(steps) == 0:
                code = TOO_MANY_STEPS
                break
            code, taken, n, s, h, body = take_steps(*arrays, s, end, h, h_max, rtol, atol, steps, *work)
            evaluations += n
            for k in range(taken):
                row = steps[k]
                row[0] += offset
                last = k + 1 == taken
                after = y if last else steps[k + 1, 2 : 2 + ny]
                t_after = offset + s if last else steps[k + 1, 0] + offset
                pieces.append(row)
                found, before = _hits(events, before, row, ny, t_after, after)
                hits += found
                ends = [hit for hit in found if events[hit.event].terminal]
                if ends:
                    first = min(ends, key=lambda hit: hit.t)
                    hits = [hit for hit in hits if hit.t <= first.t]
                    times, states = [*times, first.t], [*states, first.y]
                    return _solution(OK, -1, times, states, pieces, evaluations, hits)
                times.append(t_after)
                states.append(after.copy())
        if code != OK:
            break
        start = stop
    return _solution(code, body, times, states, pieces, evaluations, hits)


def _solution(code, body, times, states, pieces, evaluations, hits):
    steps = np.array(pieces) if pieces else np.zeros((0, 2 + (1 + DENSE) * len(states[0])))
    return Solution(code, body, np.array(times), np.array(states), steps, evaluations, hits)


def _hits(events, before, row, ny, t_after, y_after):
    """Events with a change of sign in a step, in order of time, and the values at its end."""
    found, values = [], []
    for k, event in enumerate(events):
        value = event.function(t_after, y_after)
        values.append(value)
        rises, falls = before[k] < 0.0 <= value, before[k] > 0.0 >= value
        if (rises and event.direction >= 0) or (falls and event.direction <= 0):
            x = _zero(lambda x, f=event.function: f(row[0] + x * row[1], dense_value(row, ny, x)), before[k], value)
            found.append(Hit(k, row[0] + x * row[1], dense_value(row, ny, x)))
    return sorted(found, key=lambda hit: hit.t), values


def _zero(function, at_0, at_1):
    """A zero of a function of opposite signs at 0 and 1: regula falsi, halving the value that stays (Illinois)."""
    low, high, side = 0.0, 1.0, 0
    for _ in range(100):
        if high - low <= 1e-15:
            break
        x = (low * at_1 - high * at_0) / (at_1 - at_0)
        if not low < x < high:
            x = 0.5 * (low + high)
        value = function(x)
        if value == 0.0:
            return x
        if (value > 0.0) == (at_1 > 0.0):
            high, at_1 = x, value
            at_0 = 0.5 * at_0 if side == 1 else at_0
            side = 1
        else:
            low, at_0 = x, value
            at_1 = 0.5 * at_1 if side == -1 else at_1
            side = -1
    return high


class Controlled(NamedTuple):
    """Steps of any length under error control: what `integrate.advance` is for fixed steps."""

    rtol: float
    atol: float

    def advance(self, model, y, input, t_ns, h_ns, ticks, method, work) -> Status:
        """y in place, `ticks` ticks of h_ns [ns] further from t_ns, each solved on its own: choose long ones.

        So the bits do not depend on how a run is cut into calls. On a failure y is the last good state.
        """
        if ticks == 0:  # to compile: nothing moves
            solve(model, y, input, 1)
        for tick in range(ticks):
            found = solve(model, y, input, h_ns, t_ns=t_ns + tick * h_ns, rtol=self.rtol, atol=self.atol)
            if found.code != OK:
                return Status(found.code, tick, max(found.body, 0))
            y[:] = found.y[-1]
        return Status(OK, ticks, -1)

    def stepper(self, model, y, input, h_ns, method, work):
        """`advance` with only (t_ns, ticks) left to be given."""
        return lambda t_ns, ticks: self.advance(model, y, input, t_ns, h_ns, ticks, method, work)
