"""`solve`: drive any method over a span, with output times, events, progress, and errors that say when."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import DenseOutput, OdeSolution, OdeSolver

from rbt_ros.core.events import Event, Hit, hits_in_step
from rbt_ros.errors import SolveError
from rbt_ros.model.checks import numbers
from rbt_ros.solvers.bdf import ODE15I
from rbt_ros.solvers.methods import METHODS, Method
from rbt_ros.solvers.newton import ROOT_EPS, jacobian
from rbt_ros.solvers.stepper import Options, tolerance

PROGRESS_STEPS = 200  # at most so many calls of `progress`


class Solution(NamedTuple):
    """What `solve` found. With dense=True call it for y at any time of the span."""

    method: str
    t: np.ndarray  # (m,) the times that were asked for, or the ends of the steps
    y: np.ndarray  # (m, n)
    evaluations: int  # of f, those for Jacobians by differences included
    steps: int
    rejected: int | None  # steps tried in vain; None: scipy does not count them
    orders: np.ndarray | None  # (steps,) with which each step was begun, of methods of variable order
    hits: list[Hit]  # what the events found
    status: str  # how it ended, a sentence
    dense: OdeSolution | None

    def __call__(self, t: float | Sequence[float] | np.ndarray) -> np.ndarray:
        """y at t, (n,) or (m, n), to the accuracy of the steps."""
        if self.dense is None:
            raise SolveError("this solution has no dense output: solve with dense=True.")
        t = np.asarray(t, dtype=float)
        if not (np.all(t >= self.dense.t_min) and np.all(t <= self.dense.t_max)):
            raise SolveError(f"t = {t} is outside of the span {self.dense.t_min:.9g} to {self.dense.t_max:.9g}.")
        return self.dense(t).T


class Checked:
    """f(t, y), counted, and its values looked at: length, and whether they are numbers."""

    def __init__(self, f: Callable, n: int, tolerant: bool):
        """tolerant: a step with values that are not finite may be tried again, shorter."""
        self.f, self.n, self.tolerant = f, n, tolerant
        self.evaluations = 0
        self.last_bad: str | None = None  # of the last value that was not finite

    def __call__(self, t: float, *y: np.ndarray) -> np.ndarray:
        self.evaluations += 1
        value = _numbers(f"f at t = {t:.9g} returned", self.f(t, *y))
        if value.shape != (self.n,):
            raise SolveError(
                f"f at t = {t:.9g} returned shape {value.shape}, not ({self.n},): one value per element of y."
            )
        finite = np.isfinite(value)
        if not finite.all():
            k = int(np.argmin(finite))
            self.last_bad = f"f at t = {t:.9g} is not finite: element {k} is {value[k]}"
            if self.evaluations == 1 or not self.tolerant:
                raise SolveError(self.last_bad + ".")
        return value


def solve(
    f: Callable[[float, np.ndarray], Any],
    t_span: Sequence[float],
    y0: Sequence[float] | np.ndarray,
    method: str = "ode45",
    *,
    rtol: float = 1e-3,
    atol: float | Sequence[float] | np.ndarray = 1e-6,
    max_step: float | None = None,
    first_step: float | None = None,
    step: float | None = None,
    output_times: Sequence[float] | np.ndarray | None = None,
    refine: int = 1,
    dense: bool = False,
    events: Event | Sequence[Event] = (),
    progress: Callable[[float], None] | None = None,
    jac: Any = None,
) -> Solution:
    """The solution of y' = f(t, y) over t_span = (start, end), which may run backward, from y0. SolveError says when.

    method: one of METHODS. rtol, atol: local error of a step, rtol |y| + atol, root mean square over the elements.
    max_step: default a tenth of the span. step: fixed, no error control. output_times: default the ends of the steps,
    and refine - 1 times between. jac: ∂f/∂y of the implicit methods, a function of (t, y) or a matrix, default by
    differences. progress: called now and then with the fraction done. A terminal event ends the run.
    """
    way = METHODS.get(method) if isinstance(method, str) else None
    if way is None:
        raise SolveError(f"solver '{method}' is not one of {', '.join(METHODS)}.")
    t0, t_end = _span(t_span)
    y = _start("y0", y0)
    _check_refine(refine)
    options = _options(method, way, t0, t_end, y, rtol, atol, max_step, first_step, step, jac)
    rhs = Checked(f, len(y), tolerant=step is None and method != "lsoda")
    make = way.controlled if step is None else way.fixed
    assert make is not None  # _options has refused what a method cannot do
    run = _Run(method, (t0, t_end), _outputs(output_times, t0, t_end), refine, dense, _listed(events), progress)
    return run.follow(lambda: make(rhs, t0, y, t_end, options), rhs, way.stages if step is None else None)


def solve_implicit(
    F: Callable[[float, np.ndarray, np.ndarray], Any],
    t_span: Sequence[float],
    y0: Sequence[float] | np.ndarray,
    yp0: Sequence[float] | np.ndarray,
    *,
    rtol: float = 1e-3,
    atol: float | Sequence[float] | np.ndarray = 1e-6,
    max_step: float | None = None,
    first_step: float | None = None,
    output_times: Sequence[float] | np.ndarray | None = None,
    refine: int = 1,
    dense: bool = False,
    events: Event | Sequence[Event] = (),
    progress: Callable[[float], None] | None = None,
    jac: Callable[[float, np.ndarray, np.ndarray], tuple] | None = None,
) -> Solution:
    """ode15i: the solution of F(t, y, y') = 0 from y0 and the y'0 that goes with it; an index of 1 at most.

    jac: (∂F/∂y, ∂F/∂y') as a function of (t, y, y'), default by differences. All else as in `solve`.
    """
    t0, t_end = _span(t_span)
    y, yp = _start("y0", y0), _start("yp0", yp0)
    _check_refine(refine)
    if y.shape != yp.shape:
        raise SolveError(f"yp0 has {len(yp)} elements, y0 {len(y)}: give one derivative per element.")
    options = _options("ode15i", METHODS["ode15i"], t0, t_end, y, rtol, atol, max_step, first_step, None, jac)
    residual = Checked(F, len(y), tolerant=True)
    size = np.abs(residual(t0, y, yp)).max()
    if size > options.rtol * max(1.0, np.abs(yp).max()):
        raise SolveError(
            f"F(t, y0, yp0) at t = {t0:.9g} is {size:.3g}, not zero: start from y0 and yp0 that fulfil the equations."
        )

    def jacobians(t: float, y: np.ndarray, yp: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        if jac is not None:
            by_y, by_slope = jac(t, y, yp)
            return np.asarray(by_y), np.asarray(by_slope)
        value, scale = residual(t, y, yp), tolerance(options, y)
        by_y = jacobian(lambda x: residual(t, x, yp), y, value, np.maximum(ROOT_EPS * np.abs(y), scale))
        step = np.maximum(ROOT_EPS * np.abs(yp), scale / abs(h))
        return by_y, jacobian(lambda x: residual(t, y, x), yp, value, step)

    run = _Run("ode15i", (t0, t_end), _outputs(output_times, t0, t_end), refine, dense, _listed(events), progress)
    return run.follow(lambda: ODE15I(residual, jacobians, t0, y, yp, t_end, options), residual, None)


class _Run(NamedTuple):
    """One run of one method."""

    method: str
    span: tuple[float, float]
    outputs: np.ndarray | None
    refine: int
    dense: bool
    events: list[Event]
    progress: Callable[[float], None] | None

    def follow(self, make: Callable[[], OdeSolver], f: Checked, stages: int | None) -> Solution:
        """Step to the end of the span or a terminal event. stages: evaluations that a try costs, None: others count."""
        t0, t_end = self.span
        solver = make()
        record, watch, rejected, orders = _Record(self, solver.y), _Watch(self.events, t0, solver.y), 0, []
        while solver.status == "running" and watch.end is None:
            orders.append(getattr(solver, "order", 0))
            before = f.evaluations
            self._advance(solver, f)
            rejected += (f.evaluations - before) // stages - 1 if stages is not None else 0
            at = _once(solver.dense_output)
            watch.step(solver.t_old, solver.t, solver.y, at)
            record.step(solver.t_old, solver.t, solver.y, at, watch.end)
        status = f"reached the end of the span, t = {t_end:.9g}."
        if watch.end is not None:
            status = f"event {watch.end.event} ended the run at t = {watch.end.t:.9g}."
        varies = " to " in METHODS[self.method].order and orders[0] > 0
        return Solution(
            method=self.method,
            t=np.array(record.times),
            y=np.array(record.rows).reshape(len(record.rows), solver.n),
            evaluations=f.evaluations,
            steps=len(orders),
            rejected=getattr(solver, "rejected", rejected if stages is not None else None),
            orders=np.array(orders) if varies else None,
            hits=watch.hits,
            status=status,
            dense=OdeSolution(record.ends, record.pieces) if self.dense else None,
        )

    def _advance(self, solver: OdeSolver, f: Checked) -> None:
        """One step, or a SolveError that says from which time on it does not go."""
        try:
            message = solver.step()
        except (ValueError, np.linalg.LinAlgError) as err:  # scipy's matrices with elements that are not finite
            if f.last_bad is None:
                raise
            raise SolveError(f"{self.method}: {f.last_bad}.") from err
        if solver.status == "failed":
            why = f"{f.last_bad}." if f.last_bad else "is the problem stiff, or does the solution grow without bound?"
            text = str(message).rstrip(".")
            raise SolveError(f"{self.method} stops at t = {solver.t:.9g}: {text[:1].lower()}{text[1:]}; {why}")


class _Watch:
    """The events along a run."""

    def __init__(self, events: list[Event], t0: float, y0: np.ndarray):
        self.events, self.hits = events, list[Hit]()
        self.values = [event.function(t0, y0) for event in events]
        self.end: Hit | None = None

    def step(self, t_old: float, t: float, y: np.ndarray, at: Callable[[], DenseOutput]) -> None:
        """Look for zeros in a step; `end` is the terminal one."""
        if not self.events:
            return
        before, self.values = self.values, [event.function(t, y) for event in self.events]
        found = hits_in_step(
            self.events, before, self.values, t_old, t - t_old, lambda x: at()(t_old + x * (t - t_old))
        )
        self.hits += found
        if found and self.events[found[-1].event].terminal:
            self.end = found[-1]


class _Record:
    """What a run gives back: rows at the times that are wanted, pieces of dense output, progress."""

    def __init__(self, run: _Run, y0: np.ndarray):
        (t0, t_end), wants = run.span, run.outputs
        self.run, self.told = run, 0.0
        self.way = math.copysign(1.0, t_end - t0)
        self.ahead = self.way * (np.zeros(0) if wants is None else wants)  # ascends in the direction of the run
        self.times, self.rows, self.ends, self.pieces = list[float](), list[np.ndarray](), [t0], list[DenseOutput]()
        if wants is None:
            self.times, self.rows = [t0], [y0.copy()]
        else:
            self.times = [t0] * int(np.searchsorted(self.ahead, self.way * t0, side="right"))
            self.rows = [y0.copy() for _ in self.times]

    def step(self, t_old: float, t: float, y: np.ndarray, at: Callable[[], DenseOutput], end: Hit | None) -> None:
        """Add a step, up to the terminal event if there is one in it."""
        if end is not None:
            t, y = end.t, end.y
        round_off = 8 * math.ulp(max(map(abs, self.run.span)))
        for when in self._due(t_old, t):
            self.times.append(float(when))
            self.rows.append(y.copy() if abs(when - t) <= round_off else at()(when))
        if end is not None and self.times[-1:] != [t]:
            self.times.append(t)
            self.rows.append(y)
        if self.run.dense and t != t_old:
            self.ends.append(t)
            self.pieces.append(at())
        self._tell(t, end is not None)

    def _due(self, t_old: float, t: float) -> np.ndarray:
        """The times wanted of this step."""
        if self.run.outputs is None:
            return np.linspace(t_old, t, self.run.refine + 1)[1:]
        last = int(np.searchsorted(self.ahead, self.way * t, side="right"))
        return self.run.outputs[len(self.times) : last]

    def _tell(self, t: float, ends: bool) -> None:
        """Progress, now and then, and at the end."""
        t0, t_end = self.run.span
        fraction = (t - t0) / (t_end - t0)
        if self.run.progress and (fraction >= self.told + 1.0 / PROGRESS_STEPS or fraction >= 1.0 or ends):
            self.run.progress(min(fraction, 1.0))
            self.told = fraction


def _once(make: Callable[[], Any]) -> Callable[[], Any]:
    """The result of make(), computed when first asked for."""
    made: list[Any] = []

    def get() -> Any:
        if not made:
            made.append(make())
        return made[0]

    return get


def _numbers(name: str, values: Any) -> np.ndarray:
    """An array of floats, or of complex numbers."""
    try:
        array = np.asarray(values)
    except ValueError as err:
        raise SolveError(f"{name} {values!r:.80}, which is no row of numbers.") from err
    return array if array.dtype.kind in "fc" else numbers(array, name, SolveError)


def _span(t_span: Sequence[float]) -> tuple[float, float]:
    span = numbers(t_span, "t_span", SolveError)
    if span.shape != (2,) or not np.isfinite(span).all() or span[0] == span[1]:
        raise SolveError(
            f"t_span {t_span} must be two different finite times, (start, end); end < start runs backward."
        )
    return float(span[0]), float(span[1])


def _start(name: str, values: Any) -> np.ndarray:
    y = np.atleast_1d(_numbers(name, values)).copy()
    if y.ndim != 1 or len(y) == 0 or not np.isfinite(y).all():
        raise SolveError(f"{name} {values} must be a row of finite numbers.")
    return y


def _check_refine(refine: int) -> None:
    if not (isinstance(refine, int | np.integer) and refine >= 1):
        raise SolveError(f"refine {refine} must be a whole number of 1 or more.")


def _listed(events: Event | Sequence[Event]) -> list[Event]:
    return [events] if isinstance(events, Event) else list(events)


def _outputs(times: Any, t0: float, t_end: float) -> np.ndarray | None:
    if times is None:
        return None
    wants = np.atleast_1d(np.asarray(times, dtype=float))
    way = math.copysign(1.0, t_end - t0)
    inside = way * (wants - t0) >= 0.0, way * (t_end - wants) >= 0.0
    if wants.ndim != 1 or len(wants) == 0 or not np.all(inside) or not np.all(way * np.diff(wants) >= 0.0):
        raise SolveError(f"output_times must go from t = {t0:.9g} towards {t_end:.9g} and stay between: not {times}.")
    return wants


def _options(
    method: str, way: Method, t0: float, t_end: float, y: np.ndarray, rtol: float, atol: Any, max_step: float | None,
    first_step: float | None, step: float | None, jac: Any,
) -> Options:  # fmt: skip
    """Checked options."""
    span = abs(t_end - t0)
    if step is None and way.controlled is None:
        raise SolveError(f"{method} has no error control: give a fixed step=.")
    if step is not None and way.fixed is None:
        able = ", ".join(name for name, other in METHODS.items() if other.fixed is not None)
        raise SolveError(f"{method} has no fixed steps, its order depends on the error: use max_step=, or {able}.")
    if not 1e-14 <= rtol < 1.0:
        raise SolveError(f"rtol {rtol} must lie between 1e-14 and 1: 1e-6 is usual.")
    atols = np.asarray(atol, dtype=float)
    if atols.shape not in ((), y.shape) or not np.all((atols > 0.0) & np.isfinite(atols)):
        raise SolveError(f"atol {atol} must be a number > 0, or {len(y)} of them, one per element of y.")
    for name, value in (("max_step", max_step), ("first_step", first_step), ("step", step)):
        if value is not None and not (value > 0.0 and (value < math.inf or name == "max_step")):
            raise SolveError(f"{name} {value} must be > 0; the direction is that of t_span.")
    longest = span / 10.0 if max_step is None else max_step
    first = None if first_step is None else min(first_step, longest, span)
    return Options(rtol, atol if atols.ndim == 0 else atols, longest, first, step, jac)
