"""Solutions under error control: kept whole, with dense output and events, or at given times, or tick by tick.

Steps end at every time at which an input may jump (`signals.breaks_ns`), so that none of its kinks spoils the order.
`solve` keeps every step, for dense output and events. `solve_at` computes the states at given times in one compiled
call. What a step is: `controlled.py`.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core.controlled import dense_count, interpolate, march
from rbt_ros.core.events import Event, Hit, hits_in_step
from rbt_ros.core.integrate import DOP853, Method
from rbt_ros.core.signals import breaks_ns
from rbt_ros.core.types import OK, TOO_MANY_STEPS, Input, Model, Status
from rbt_ros.core.work import Work, model_size, workspace

CHUNK = 64  # steps per compiled call
MAX_STEPS = 10_000_000


class Solution(NamedTuple):
    """What `solve` found; call it for y at any time it has covered."""

    code: int  # OK, NON_FINITE, NON_FINITE_WORK, STEP_TOO_SMALL, TOO_MANY_STEPS
    body: int  # whose coordinates are not finite, -1
    t: np.ndarray  # (m + 1,) [s] after the start: ends of the steps
    y: np.ndarray  # (m + 1, ny)
    steps: np.ndarray  # (m, ...) the dense output
    evaluations: int
    rejected: int  # steps tried in vain
    hits: list[Hit]  # t [s] after the start

    def __call__(self, t: float) -> np.ndarray:
        """y at t [s] after the start, to the accuracy of the steps; quaternions not normalised."""
        if not self.t[0] <= t <= self.t[-1]:
            raise ValueError(f"t = {t} s is outside of the {self.t[-1]} s that were solved.")
        k = min(max(int(np.searchsorted(self.t, t, side="right")) - 1, 0), len(self.steps) - 1)
        if len(self.steps) == 0:
            return self.y[0].copy()
        return dense_value(self.steps[k], self.y.shape[1], (t - self.steps[k, 0]) / self.steps[k, 1])


class Track(NamedTuple):
    """What `solve_at` found: as many of the times as were reached."""

    code: int  # OK, NON_FINITE, NON_FINITE_WORK, STEP_TOO_SMALL, TOO_MANY_STEPS
    body: int  # whose coordinates are not finite, -1
    t_ns: np.ndarray  # (m,) int64: the times that were asked for
    y: np.ndarray  # (m, ny), quaternions normalised
    reached: float  # [s] after the start: the end of the last good step
    y_end: np.ndarray  # (ny,) there
    steps: int
    rejected: int  # steps tried in vain
    evaluations: int


def dense_value(row: np.ndarray, ny: int, x: float) -> np.ndarray:
    """y at the fraction x of the step in `row`."""
    y = np.empty(ny)
    interpolate(row, float(x), y)
    return y


def row_width(method: Method, ny: int) -> int:
    """How many numbers a step takes: s, h, y and the coefficients of the dense output."""
    return 2 + (1 + dense_count(method)) * ny


def stops_ns(input: Input, t_ns: int, end_ns: int) -> list[int]:
    """Where steps must end: where an input may jump, and at the end."""
    return [b for b in breaks_ns(input) if t_ns < b < end_ns] + [end_ns]


def solve(
    model: Model,
    y: np.ndarray,
    input: Input,
    duration_ns: int,
    *,
    method: Method = DOP853,
    t_ns: int = 0,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    h_max: float = math.inf,
    events: Sequence[Event] = (),
    max_steps: int = MAX_STEPS,
) -> Solution:
    """From y at t_ns on for duration_ns [ns]; y is not changed. Local error per step: atol + rtol |y|, each component.

    An atol of rtol / 1000 leaves small components, and those that cross zero, to rtol; one of rtol costs up to 40 times
    the error. method: DOP853 or DORMAND_PRINCE. Events are functions of the time [s] after the start, and y.
    A terminal event ends the solution at its first zero.
    """
    y, work = y.copy(), workspace(model, len(y) - sum(model_size(model)))
    found, width = _Found(events, y), row_width(method, len(y))
    start, h, no_times = t_ns, 0.0, (np.empty(0), np.empty((0, len(y))))
    for stop in stops_ns(input, t_ns, t_ns + duration_ns):
        s, end, offset = 0.0, (stop - start) / 1e9, (start - t_ns) / 1e9
        while s < end:
            room = min(CHUNK, max_steps - len(found.steps))
            if room == 0:
                return found.solution(TOO_MANY_STEPS, -1, width)
            steps = np.empty((CHUNK, width))
            code, taken, vain, evaluations, _, s, h, body = march(
                *(*model, y, *input, *work, start, s, end, h, h_max, rtol, atol, *method, room, steps, *no_times)
            )
            found.count(evaluations, vain)
            if found.add(steps[:taken], offset, s, y):
                return found.solution(OK, -1, width)
            if code != OK:
                return found.solution(code, body, width)
        start = stop
    return found.solution(OK, -1, width)


class _Found:
    """The steps of `solve` as they come, and what the events find in them."""

    def __init__(self, events: Sequence[Event], y: np.ndarray):
        self.events, self.values = events, [e.function(0.0, y) for e in events]
        self.times, self.states = [0.0], [y.copy()]
        self.steps, self.hits = list[np.ndarray](), list[Hit]()
        self.evaluations, self.rejected = 0, 0

    def count(self, evaluations: int, rejected: int) -> None:
        """What a compiled call has cost."""
        self.evaluations, self.rejected = self.evaluations + evaluations, self.rejected + rejected

    def add(self, steps: np.ndarray, offset: float, s: float, y: np.ndarray) -> bool:
        """Steps of one call, `offset` [s] after the start, the last one to y at s [s]; whether an event ends them."""
        steps[:, 0] += offset
        ends = [*((row[0], row[2 : 2 + len(y)]) for row in steps[1:]), (offset + s, y)]
        return any(self._step(row, t, after) for row, (t, after) in zip(steps, ends, strict=False))

    def _step(self, row: np.ndarray, t: float, y: np.ndarray) -> bool:
        before, self.values = self.values, [e.function(t, y) for e in self.events]
        hits = hits_in_step(self.events, before, self.values, row[0], row[1], lambda x: dense_value(row, len(y), x))
        ends = bool(hits) and self.events[hits[-1].event].terminal
        self.steps.append(row)
        self.hits += hits
        self.times.append(hits[-1].t if ends else t)
        self.states.append(hits[-1].y if ends else y.copy())
        return ends

    def solution(self, code: int, body: int, width: int) -> Solution:
        """All of it. width: of the rows of the dense output."""
        steps = np.array(self.steps).reshape(len(self.steps), width)
        times, states = np.array(self.times), np.array(self.states)
        return Solution(code, body, times, states, steps, self.evaluations, self.rejected, self.hits)


def solve_at(
    model: Model,
    y: np.ndarray,
    input: Input,
    times_ns: Sequence[int] | np.ndarray,
    *,
    method: Method = DOP853,
    t_ns: int = 0,
    rtol: float = 1e-9,
    atol: float = 1e-12,
    h_max: float = math.inf,
    h_first: float | None = None,
    max_steps: int = MAX_STEPS,
    work: Work | None = None,
) -> Track:
    """The states at times_ns [ns], which ascend from t_ns on or later: one solution, from y at t_ns to the last time.

    y is not changed. Between two times at which an input may jump this is a single compiled call; the times do not
    change the steps. h_first [s]: the first step to try, chosen by itself if None.
    """
    y, work = y.copy(), workspace(model, len(y) - sum(model_size(model))) if work is None else work
    times_ns, out = np.asarray(times_ns, np.int64), np.empty((len(times_ns), len(y)))
    filled, steps, rejected, evaluations, reached = 0, 0, 0, 0, 0.0
    start, h, code, body = t_ns, h_first or 0.0, OK, -1
    step = np.empty((1, row_width(method, len(y))))
    for stop in stops_ns(input, t_ns, int(times_ns[-1])):
        last = np.searchsorted(times_ns, stop, side="right")
        times, end = (times_ns[filled:last] - start) / 1e9, (stop - start) / 1e9
        code, n, vain, calls, done, s, h, body = march(
            *(*model, y, *input, *work, start, 0.0, end, h, h_max, rtol, atol, *method, max_steps - steps),
            *(step, times, out[filled:last]),
        )
        steps, rejected, evaluations = steps + n, rejected + vain, evaluations + calls
        filled, reached = filled + done, (start - t_ns) / 1e9 + s
        if code == OK and s < end:
            code = TOO_MANY_STEPS
        if code != OK:
            break
        start = stop
    return Track(code, body, times_ns[:filled], out[:filled], reached, y, steps, rejected, evaluations)


class Controlled(NamedTuple):
    """Steps of any length under error control: what `integrate.advance` is for fixed steps."""

    rtol: float
    atol: float

    def advance(self, model, y, input, t_ns, h_ns, ticks, method, work) -> Status:
        """y in place, `ticks` ticks of h_ns [ns] further from t_ns, each solved on its own: choose long ones.

        So the bits do not depend on how a run is cut into calls. On a failure y is the last good state.
        """
        if ticks == 0:  # to compile: nothing moves
            solve_at(model, y, input, [1], method=method, work=work)
        for tick in range(ticks):
            start = t_ns + tick * h_ns
            found = solve_at(
                model, y, input, [start + h_ns], method=method, t_ns=start, rtol=self.rtol, atol=self.atol, work=work
            )
            if found.code != OK:
                return Status(found.code, tick, max(found.body, 0))
            y[:] = found.y_end
        return Status(OK, ticks, -1)

    def stepper(self, model, y, input, h_ns, method, work):
        """`advance` with only (t_ns, ticks) left to be given."""
        return lambda t_ns, ticks: self.advance(model, y, input, t_ns, h_ns, ticks, method, work)
