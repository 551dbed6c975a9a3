"""Inputs as functions of time as people give them, checked -> core.signals. Their time starts where the input does."""

import math
from collections.abc import Callable, Sequence

import numpy as np

from rbt_ros.core import signals as core
from rbt_ros.core.signals import Signal
from rbt_ros.core.types import CUBIC, HOLD, LINEAR
from rbt_ros.errors import ModelError

BETWEEN = {"hold": HOLD, "linear": LINEAR, "cubic": CUBIC}


def sines(terms: Sequence[Sequence[float]], offset: float = 0.0) -> Signal:
    """offset + Σ a sin(ω t + φ); terms: (a, ω [rad/s], φ [rad]) each."""
    if any(len(term) != 3 for term in terms):
        raise ModelError(f"sines: each term is (amplitude, omega in rad/s, phase in rad), not {list(terms)}.")
    _refuse_non_finite("sines", [offset, *(c for term in terms for c in term)])
    return core.sines(float(offset), [tuple(float(c) for c in term) for term in terms])


def polynomial(coefficients: Sequence[float]) -> Signal:
    """c0 + c1 t + c2 t² + ..., t in s."""
    if len(coefficients) == 0:
        raise ModelError("polynomial: there is no coefficient; a constant is [c0].")
    _refuse_non_finite("polynomial", coefficients)
    return core.polynomial([float(c) for c in coefficients])


def table(times: Sequence[float], values: Sequence[float], between: str = "linear") -> Signal:
    """`values` at rising `times` [s]; between them "hold", "linear" or "cubic"; outside the end values."""
    if between not in BETWEEN:
        raise ModelError(f"table: '{between}' is not one of {', '.join(BETWEEN)}.")
    if len(times) != len(values) or len(times) < (2 if between == "cubic" else 1):
        raise ModelError(f"table: {len(times)} times and {len(values)} values; as many of both, cubic from two on.")
    _refuse_non_finite("table", [*times, *values])
    times_ns = [round(float(x) * 1e9) for x in times]
    for before, after in zip(times_ns, times_ns[1:], strict=False):
        if after <= before:
            raise ModelError(f"table: the times must rise, and {after * 1e-9:g} s follows {before * 1e-9:g} s.")
    return core.table(times_ns, [float(v) for v in values], BETWEEN[between])


def sampled(function: Callable[[float], float], h_ns: int, nodes: Sequence[float], steps: int) -> Signal:
    """`function` of t [s], sampled beforehand at all stages of `steps` steps: the integrator keeps its order."""
    values = np.empty((steps, len(nodes)))
    for k in range(steps):
        for j, node in enumerate(nodes):
            at = (k + node) * h_ns * 1e-9
            try:
                values[k, j] = function(at)
            except (TypeError, ValueError) as err:
                raise ModelError(f"input function at t = {at:g} s: {err}; it must return one number.") from err
            if not math.isfinite(values[k, j]):
                raise ModelError(f"input function at t = {at:g} s returned {values[k, j]}, which is not finite.")
    return core.stage_samples(h_ns, nodes, values)


def _refuse_non_finite(what: str, numbers: Sequence[float]) -> None:
    for number in numbers:
        if not math.isfinite(number):
            raise ModelError(f"{what}: {number} is not finite.")
