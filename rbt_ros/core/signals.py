"""Inputs as functions of time, evaluated at every stage of an integrator, so that its order holds.

| law | value, with x [s] since the signal's origin | data |
|---|---|---|
| SINES | c + Σ a sin(w x + p) | c, then a, w [rad/s], p [rad] per term |
| POLYNOMIAL | c0 + c1 x + c2 x² + ... | c0, c1, ... |
| HOLD, LINEAR | table, constant or straight between its knots, constant outside | knots [ns], values |
| CUBIC | table, a cubic in each interval | knots [ns], then c0, c1, c2, c3 of each interval |
| STAGES | any function, sampled beforehand at the stages of fixed steps | step [ns], stage times / step, values |
| FEEDBACK | kp (r - q) + kd (u - v) of the freedom that it drives | kp, kd, r, u |

A knot at the end of a step belongs to the next step, at its start to this one: kinks on ticks cost no order.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core.jit import kernel
from rbt_ros.core.lanes import common
from rbt_ros.core.types import (
    COUNT,
    CUBIC,
    DATA,
    DRIVES,
    FEEDBACK,
    FROM,
    HOLD,
    LAW,
    LINEAR,
    ORIGIN,
    POLYNOMIAL,
    SIGNAL_COLUMNS,
    SINES,
    STAGES,
    TO,
)
from rbt_ros.core.vec import sincos

FOR_EVER = np.iinfo(np.int64).max


# ------------------------------------------------------------------------------------------------- evaluation
@kernel
def signal_value(input, k, t_ns, s):
    """Value of signal k, s [s] after the start t_ns of the step; zero outside its time."""
    if not input.signal[k, FROM] <= t_ns < input.signal[k, TO]:
        return 0.0
    law, start, count = input.signal[k, LAW], input.signal[k, DATA], input.signal[k, COUNT]
    since = t_ns - input.signal[k, ORIGIN]
    if law == SINES:
        return sines_value(input.data, start, count, since / 1e9 + s)
    if law == POLYNOMIAL:
        return polynomial_value(input.data, start, count, since / 1e9 + s)
    if law == STAGES:
        return stages_value(input.data, start, count, since, s)
    piece = interval(input.data, start, count, since, s)
    x = (since - common(input.data[start + max(piece, 0)])) / 1e9 + s  # since the knot
    if law == CUBIC:
        return cubic_value(input.data, start, count, piece, x)
    return table_value(input.data, start, count, piece, x, law == LINEAR)


@kernel
def driven_effort(input, k, q, v, t_ns, s):
    """What signal k adds to the effort of the freedom that it drives: a function of time, or of q, v at the stage."""
    if input.signal[k, LAW] == FEEDBACK:
        if not input.signal[k, FROM] <= t_ns < input.signal[k, TO]:
            return 0.0
        at, i, j = input.signal[k, DATA], input.signal[k, COUNT], input.signal[k, DRIVES]
        kp, kd, r, u = input.data[at], input.data[at + 1], input.data[at + 2], input.data[at + 3]
        return kp * (r - q[i]) + kd * (u - v[j])
    return signal_value(input, k, t_ns, s)


@kernel
def sines_value(data, start, count, x):
    """c + Σ a sin(w x + p)."""
    value = data[start]
    for i in range(start + 1, start + 1 + 3 * count, 3):
        sine, _ = sincos(data[i + 1] * x + data[i + 2])
        value += data[i] * sine
    return value


@kernel
def polynomial_value(data, start, count, x):
    """c0 + c1 x + c2 x² + ... by Horner."""
    value = 0.0
    for i in range(start + count - 1, start - 1, -1):
        value = value * x + data[i]
    return value


@kernel
def interval(data, start, count, since, s):
    """The last knot that is passed s [s] after `since` [ns], -1 before the first: at `since` or before, or before
    the stage. A stage at the end of a step may lie a few ulp behind the knot there."""
    low, high, reached = -1, count - 1, s * (1.0 - 2e-15)
    while low < high:
        middle = (low + high + 1) // 2
        ahead = common(data[start + middle]) - since
        if ahead <= 0.0 or ahead / 1e9 < reached:
            low = middle
        else:
            high = middle - 1
    return low


@kernel
def table_value(data, start, count, piece, x, linear):
    """A table at x [s] after knot `piece`."""
    values = start + count
    if piece < 0:
        return data[values]
    if not linear or piece == count - 1:
        return data[values + piece]
    width = (data[start + piece + 1] - data[start + piece]) / 1e9
    return data[values + piece] + (data[values + piece + 1] - data[values + piece]) * (x / width)


@kernel
def cubic_value(data, start, count, piece, x):
    """c0 + c1 x + c2 x² + c3 x³ of the interval; outside the table its end values."""
    if piece < 0:
        return data[start + count]
    if piece == count - 1:
        piece -= 1
        x = (data[start + count - 1] - data[start + count - 2]) / 1e9
    return polynomial_value(data, start + count + 4 * piece, 4, x)


@kernel
def stages_value(data, start, count, since, s):
    """The sample at the stage; zero where there is none (another step or method than it was made for)."""
    h_ns = common(data[start])
    step = int(since // h_ns)
    for node in range(count):
        if common(data[start + 1 + node]) * (h_ns / 1e9) == s:
            return data[start + 1 + count + step * count + node]
    return 0.0


# ------------------------------------------------------------------------------------------------ composition
class Signal(NamedTuple):
    """A law and its numbers, before it is given a target and a time."""

    law: int
    count: int
    data: list[float]


def sines(offset: float, terms: Sequence[tuple[float, float, float]]) -> Signal:
    """offset + Σ amplitude sin(omega x + phase); terms: (amplitude, omega [rad/s], phase [rad])."""
    return Signal(SINES, len(terms), [offset, *(c for term in terms for c in term)])


def polynomial(coefficients: Sequence[float]) -> Signal:
    """c0 + c1 x + c2 x² + ..., x in s."""
    return Signal(POLYNOMIAL, len(coefficients), list(coefficients))


def table(times_ns: Sequence[int], values: Sequence[float], between: int) -> Signal:
    """Values at rising times since the origin; between them HOLD, LINEAR or CUBIC (a spline, from two knots on)."""
    if between == CUBIC:
        x = np.asarray(times_ns, dtype=np.int64) / 1e9
        return cubics(times_ns, cubic_pieces(x, np.asarray(values, dtype=float)))
    return Signal(between, len(values), [*map(float, times_ns), *values])


def feedback(coordinate: int, kp: float, kd: float, r: float, u: float) -> Signal:
    """kp (r - q) + kd (u - v), q being that coordinate and v the freedom that the signal drives: a spring and a damper
    whose rest moves at u, so the integrator keeps its order."""
    return Signal(FEEDBACK, coordinate, [kp, kd, r, u])


def cubics(knots_ns: Sequence[int], pieces: Iterable[Iterable[float]]) -> Signal:
    """c0 + c1 x + c2 x² + c3 x³, x [s] since the knot before: pieces (n - 1, 4); outside the end values."""
    return Signal(CUBIC, len(knots_ns), [*map(float, knots_ns), *(float(c) for piece in pieces for c in piece)])


def stage_samples(h_ns: int, nodes: Sequence[float], values: np.ndarray) -> Signal:
    """A function sampled at x = (k + node) step: values (steps, nodes); nodes: of `integrate.stage_nodes`."""
    return Signal(STAGES, len(nodes), [float(h_ns), *nodes, *np.asarray(values, dtype=float).ravel()])


def cubic_pieces(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """(n - 1, 4) coefficients of the cubic spline through (x, y): two smooth derivatives, error O(h⁴).

    End slopes are those of the cubic through the four end points (fewer points: the parabola, the line).
    """
    n, h, slope = len(x), np.diff(x), np.diff(y) / np.diff(x)
    m = np.empty(n)
    m[0], m[-1] = _end_slope(x[:4], y[:4]), _end_slope(x[::-1][:4], y[::-1][:4])
    # inner slopes: h[i] m[i-1] + 2 (h[i-1] + h[i]) m[i] + h[i-1] m[i+1] = 3 (h[i] slope[i-1] + h[i-1] slope[i])
    upper, right = np.zeros(n), np.zeros(n)
    right[0] = m[0]
    for i in range(1, n - 1):
        pivot = 2.0 * (h[i - 1] + h[i]) - h[i] * upper[i - 1]
        upper[i] = h[i - 1] / pivot
        right[i] = (3.0 * (h[i] * slope[i - 1] + h[i - 1] * slope[i]) - h[i] * right[i - 1]) / pivot
    for i in range(n - 2, 0, -1):
        m[i] = right[i] - upper[i] * m[i + 1]
    c2 = (3.0 * slope - 2.0 * m[:-1] - m[1:]) / h
    c3 = (m[:-1] + m[1:] - 2.0 * slope) / (h * h)
    return np.stack([y[:-1], m[:-1], c2, c3], axis=1)


def _end_slope(x: np.ndarray, y: np.ndarray) -> float:
    """Derivative at x[0] of the polynomial through all points (Newton's divided differences)."""
    c = y.astype(float)
    for k in range(1, len(x)):
        c[k:] = (c[k:] - c[k - 1 : -1]) / (x[k:] - x[:-k])
    return float(sum(c[k] * np.prod(x[0] - x[1:k]) for k in range(1, len(x))))


def scaled(signal: Signal, factor: float) -> Signal:
    """`signal` times `factor`."""
    data, law, n = np.array(signal.data), signal.law, signal.count
    if law == SINES:
        data[0] *= factor
        data[1::3] *= factor
    elif law == POLYNOMIAL:
        data *= factor
    else:  # behind the knots, behind the step and its nodes
        data[n + (law == STAGES) :] *= factor
    return signal._replace(data=data.tolist())


def signal_arrays(signals: Sequence[tuple[Signal, int, int, int, int]]) -> tuple[np.ndarray, np.ndarray]:
    """Input.signal and Input.data of signals given as (signal, drives, from_ns, to_ns, origin_ns)."""
    rows, data = np.zeros((len(signals), SIGNAL_COLUMNS), np.int64), []
    for row, (signal, drives, from_ns, to_ns, origin_ns) in zip(rows, signals, strict=True):
        row[[LAW, DRIVES, FROM, TO, ORIGIN]] = signal.law, drives, from_ns, to_ns, origin_ns
        row[[DATA, COUNT]] = len(data), signal.count
        data.extend(signal.data)
    return rows, np.array(data, dtype=float)


def breaks_ns(input) -> list[int]:
    """All times [ns] at which an input may jump or have a kink: where a step should end."""
    times: set[int] = set()
    for row in input.signal:
        ends = {int(row[FROM]), int(row[TO])} - {FOR_EVER}
        if row[LAW] in (HOLD, LINEAR, CUBIC):
            knots = input.data[row[DATA] : row[DATA] + row[COUNT]]
            ends |= {int(row[ORIGIN]) + int(x) for x in knots}
        times |= {x for x in ends if row[FROM] <= x <= row[TO]}
    return sorted(times)
