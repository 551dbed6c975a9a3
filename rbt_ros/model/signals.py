"""Inputs as functions of time as people give them, checked -> core.signals. Their time starts where the input does."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from rbt_ros.core import signals as core
from rbt_ros.core.signals import Signal
from rbt_ros.core.types import CUBIC, HOLD, LINEAR
from rbt_ros.errors import ModelError
from rbt_ros.model.checks import LONGEST_S, number, numbers

BETWEEN = {"hold": HOLD, "linear": LINEAR, "cubic": CUBIC}


def sines(terms: Sequence[Sequence[float]], offset: float = 0.0) -> Signal:
    """offset + Σ a sin(ω t + φ); terms: (a, ω [rad/s], φ [rad]) each."""
    rows = numbers(terms, "sines")
    if rows.shape[1:] != (3,) and rows.size:
        raise ModelError(f"sines: each term is (amplitude, omega in rad/s, phase in rad), not {terms!r:.80}.")
    mean = number(offset, "sines: offset")
    _refuse_non_finite("sines", rows.ravel().tolist())
    return core.sines(mean, [tuple(row) for row in rows.tolist()])


def polynomial(coefficients: Sequence[float]) -> Signal:
    """c0 + c1 t + c2 t² + ..., t in s."""
    row = _row(coefficients, "polynomial")
    if len(row) == 0:
        raise ModelError("polynomial: there is no coefficient; a constant is [c0].")
    _refuse_non_finite("polynomial", row)
    return core.polynomial(row)


def table(times: Sequence[float], values: Sequence[float], between: str = "linear") -> Signal:
    """`values` at rising `times` [s]; between them "hold", "linear" or "cubic"; outside the end values.

    cubic: the spline whose slope at each end is that of the cubic through the four knots there (three knots: of the
    parabola, two: of the line). As a motion, of `prescribe`, it goes straight on outside.
    """
    if not isinstance(between, str) or between not in BETWEEN:
        raise ModelError(f"table: '{between}' is not one of {', '.join(BETWEEN)}.")
    times, values = _row(times, "table: times"), _row(values, "table: values")
    if len(times) != len(values) or len(times) < (2 if between == "cubic" else 1):
        raise ModelError(f"table: {len(times)} times and {len(values)} values; as many of both, cubic from two on.")
    _refuse_non_finite("table", [*times, *values])
    if (late := max(map(abs, times))) > LONGEST_S:
        raise ModelError(f"table: time {late:g} s lies beyond {LONGEST_S:g} s, up to which scenario time is counted.")
    times_ns = [round(x * 1e9) for x in times]
    for before, after in zip(times_ns, times_ns[1:], strict=False):
        if after <= before:
            raise ModelError(f"table: the times must rise, and {after * 1e-9:g} s follows {before * 1e-9:g} s.")
    return core.table(times_ns, values, BETWEEN[between])


def sampled(function: Callable[[float], float], h_ns: int, nodes: Sequence[float], steps: int) -> Signal:
    """`function` of t [s], sampled beforehand at all stages of `steps` steps: the integrator keeps its order."""
    values = np.empty((steps, len(nodes)))
    for k in range(steps):
        for j, node in enumerate(nodes):
            at = (k + node) * h_ns * 1e-9
            try:
                values[k, j] = function(at)
            except (TypeError, ValueError, ArithmeticError) as err:
                raise ModelError(f"input function at t = {at:g} s: {err}; it must return one number.") from err
            if not math.isfinite(values[k, j]):
                raise ModelError(f"input function at t = {at:g} s returned {values[k, j]}, which is not finite.")
    return core.stage_samples(h_ns, nodes, values)


def _row(given: Sequence[float], what: str) -> list[float]:
    """A list of numbers."""
    row = numbers(given, what)
    if row.ndim != 1:
        raise ModelError(f"{what}: {given!r:.80} is not a list of numbers.")
    result: list[float] = row.tolist()
    return result


def _refuse_non_finite(what: str, row: Sequence[float]) -> None:
    for value in row:
        if not math.isfinite(value):
            raise ModelError(f"{what}: {value} is not finite.")
