"""Steps of Runge-Kutta pairs under error control, compiled: DOP853, and DORMAND_PRINCE of orders 5 and 4.

Each step is as long as the tolerance allows; what lies between is a polynomial of order 7 or 4. The tolerance is that
of q and v; the work of inputs, where it is asked for, is integrated along, and whether it is does not change their
bits. `adaptive.py` calls `march`.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), sections II.4 to II.6.
"""

import math

from rbt_ros.core import dop853, dormand_prince
from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.integrate import (
    PAIR_5_4,
    Method,
    all_finite,
    copy,
    fill_stages,
    first_non_finite,
    normalise,
    tableau,
    weighted_sum,
)
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.types import NON_FINITE, NON_FINITE_WORK, OK, STEP_TOO_SMALL, Input, Model
from rbt_ros.core.work import GOOD_ROW, Work

SAFETY, SHRINK, GROW = 0.9, 0.2, 10.0  # of the step size: margin; the least and the most it changes at once


@kernel
def order_root(x, method):
    """x^(1/8) of DOP853, x^(1/5) of DORMAND_PRINCE, without libm's pow: the same bits everywhere."""
    return fifth_root(x) if method.rule == PAIR_5_4 else math.sqrt(math.sqrt(math.sqrt(x)))


def dense_count(method):
    """How many coefficients of the dense output a component has."""
    return 4 if method.rule == PAIR_5_4 else 7


@kernel
def motion_size(model):
    """nq + nv: how many elements of y the error control looks at."""
    return coordinates(model) + model.freedom.shape[0]


@kernel
def fifth_root(x):
    """x^(1/5) of x >= 0 by Newton's method on r⁵ = m, where x = m 32^n and 1/32 < m < 1."""
    if not 0.0 < x < math.inf:
        return x
    m, e = math.frexp(x)
    n = -((-e) // 5)
    m, r = math.ldexp(m, e - 5 * n), 1.0
    for _ in range(10):  # the start is too large by 2 at most: 0.8 of it per step, then quadratic
        r -= (r - m / (r * r * r * r)) / 5.0
    return math.ldexp(r, n)


@kernel
def error_norm(y, new, h, rtol, atol, method, work):
    """The error of a step over the tolerance atol + rtol |y|, root mean square over the components."""
    if method.rule == PAIR_5_4:
        return fourth_order_error(y, new, h, rtol, atol, work)
    return third_and_fifth_order_error(y, new, h, rtol, atol, work)


@kernel
def fourth_order_error(y, new, h, rtol, atol, work):
    """Of the pair 5(4): the result of order 5 less that of order 4."""
    total = 0.0
    for c in range(y.shape[0]):
        e = 0.0
        for j in range(7):
            e += dormand_prince.E[j] * work.stage[j, c]
        e *= h / (atol + rtol * max(abs(y[c]), abs(new[c])))
        total += e * e
    return math.sqrt(total / y.shape[0])


@kernel
def third_and_fifth_order_error(y, new, h, rtol, atol, work):
    """Of DOP853: from the estimates of order 5 and 3."""
    five, three = 0.0, 0.0
    for c in range(y.shape[0]):
        e5, e3 = 0.0, 0.0
        for j in range(dop853.STAGES):
            e5 += dop853.E5[j] * work.stage[j, c]
            e3 += dop853.E3[j] * work.stage[j, c]
        size = atol + rtol * max(abs(y[c]), abs(new[c]))
        five += (e5 / size) * (e5 / size)
        three += (e3 / size) * (e3 / size)
    if five == 0.0 and three == 0.0:
        return 0.0
    return abs(h) * five / math.sqrt((five + 0.01 * three) * y.shape[0])


@kernel
def step_factor(error, method):
    """By how much the next step, or the next try, may be longer; error: over the tolerance, NaN if not finite."""
    if error == 0.0:
        return GROW
    if not math.isfinite(error):
        return SHRINK
    return min(GROW if error <= 1.0 else 1.0, max(SHRINK, SAFETY / order_root(error, method)))


@kernel
def dense_coefficients(y, new, h, method, work, row):
    """Write y and the 7 or 4 coefficients of each component into a row of steps: see `interpolate`."""
    ny, end_stage = y.shape[0], 6 if method.rule == PAIR_5_4 else 12
    for c in range(ny):
        rise, start, end = new[c] - y[c], h * work.stage[0, c], h * work.stage[end_stage, c]
        row[2 + c], row[2 + ny + c], row[2 + 2 * ny + c] = y[c], rise, start - rise
        row[2 + 3 * ny + c] = 2.0 * rise - (end + start)
        if method.rule == PAIR_5_4:
            total = 0.0
            for j in range(7):
                total += dormand_prince.D[j] * work.stage[j, c]
            row[2 + 4 * ny + c] = h * total
        else:
            for m in range(4):
                total = 0.0
                for j in range(16):
                    total += dop853.D[m, j] * work.stage[j, c]
                row[2 + (4 + m) * ny + c] = h * total


@routine
def stages(model, y, input, t_ns, s, h, method, work, first, last):
    """Stages first to last - 1: also those beyond the step itself, of error estimate and dense output."""
    A, _, C, _ = tableau(method)
    fill_stages(model, y, input, t_ns, s, h, work, A, C, first, last)


@kernel
def first_step(model, y, input, t_ns, end, rtol, atol, method, work):
    """A step [s] whose error will be about the tolerance: from the size of y, its rate, and the rate's change."""
    ny = motion_size(model)
    stages(model, y, input, t_ns, 0.0, 0.0, method, work, 0, 1)
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
    stages(model, new, input, t_ns, h, 0.0, method, work, 0, 1)
    for c in range(ny):
        size = atol + rtol * abs(y[c])
        change = (work.stage[0, c] - work.stage[15, c]) / size
        d2 += change * change
    d2 = math.sqrt(d2 / ny) / h
    steepest = max(d1, d2)
    h = min(100.0 * h, max(1e-6, 1e-3 * h) if steepest <= 1e-15 else order_root(0.01 / steepest, method), end)
    return h if h > 0.0 else end  # also of NaN: the first step then finds out


@kernel
def dense_state(row, x, out):
    """out = y at the fraction x of the step in `row`: y + x (F1 + (1-x) (F2 + x (F3 + (1-x) (F4 + ...))))."""
    ny = out.shape[0]
    count = (row.shape[0] - 2) // ny - 1
    for c in range(ny):
        total = 0.0
        for i in range(count - 1, -1, -1):
            total = (total + row[2 + (1 + i) * ny + c]) * (x if i % 2 == 0 else 1.0 - x)
        out[c] = row[2 + c] + total


@kernel
def fill_rows(model, y, s, row, times, filled, out):
    """Rows of out from `filled` on, while times <= s, where y is the end of the step in `row`; how many are full."""
    while filled < times.shape[0] and times[filled] <= s:
        if times[filled] < s:
            dense_state(row, (times[filled] - row[0]) / row[1], out[filled])
            normalise(model, out[filled])
        else:
            copy(y, out[filled])
        filled += 1
    return filled


@routine
def march(
    tree, body, freedom, world, y, tau, load, signal, data, rows, axes, stage,
    t_ns, s, end, h, h_max, rtol, atol, table, count, rule, max_steps, steps, times, out,
):  # fmt: skip
    """(code, steps taken, rejected, evaluations, times filled, s, h, body): from s to end [s] after t_ns, y in place.

    At most max_steps steps; h = 0: choose the first one. The k-th step is kept as [s, h, y, coefficients] in row k of
    steps, in turn. Row i of out becomes y at times[i] [s] after t_ns, s or later, quaternions normalised.
    """
    model, input, work = Model(tree, body, freedom, world), Input(tau, load, signal, data), Work(rows, axes, stage)
    method = Method(table, count, rule)
    _, B, _, _ = tableau(method)
    tried = 7 if method.rule == PAIR_5_4 else count  # stages that the error estimate needs
    dense = 7 if method.rule == PAIR_5_4 else 16  # and the dense output
    new, ny, taken, rejected, evaluations, again = work.stage[GOOD_ROW], y.shape[0], 0, 0, 0, False
    size = motion_size(model)
    filled = fill_rows(model, y, s, steps[0], times, 0, out)
    if not h > 0.0 and s < end:
        h = first_step(model, y, input, t_ns, end, rtol, atol, method, work)
        evaluations += 2
    while s < end and taken < max_steps:
        h = min(h, h_max)
        if end - s < 1.01 * h:
            h = end - s
        else:
            h = (s + h) - s  # what the time will really advance by: no drift in ten thousand steps
        known = 1 if again else 0  # the first stage does not depend on h
        stages(model, y, input, t_ns, s, h, method, work, known, tried)
        evaluations += tried - known
        weighted_sum(work.stage, B, count, new)
        for c in range(ny):
            new[c] = y[c] + h * new[c]
        finite = all_finite(new)
        error = error_norm(y[:size], new[:size], h, rtol, atol, method, work) if finite else math.nan
        if not error <= 1.0:  # NaN too
            h *= max(SHRINK, SAFETY / order_root(error, method)) if math.isfinite(error) else SHRINK
            rejected += 1
            again = True
            if not h > 1e-15 * end:
                who = first_non_finite(model, new)
                code = STEP_TOO_SMALL if finite else NON_FINITE_WORK if who < 0 else NON_FINITE
                return code, taken, rejected, evaluations, filled, s, h, who
            continue
        stages(model, y, input, t_ns, s, h, method, work, tried, dense)
        evaluations += dense - tried
        row = steps[taken % steps.shape[0]]
        row[0], row[1] = s, h
        dense_coefficients(y, new, h, method, work, row)
        copy(new, y)
        normalise(model, y)
        s = end if h == end - s else s + h
        taken += 1
        filled = fill_rows(model, y, s, row, times, filled, out)
        factor = GROW if error == 0.0 else min(GROW, max(SHRINK, SAFETY / order_root(error, method)))
        h *= min(1.0, factor) if again else factor
        again = False
    return OK, taken, rejected, evaluations, filled, s, h, -1


@routine
def interpolate(row, x, out):
    """`dense_state` for a call from Python."""
    dense_state(row, x, out)
