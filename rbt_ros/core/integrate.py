"""Fixed-step integration: `advance` computes whole ticks in one compiled call, the GIL released.

| method | order | evaluations | use |
|---|---|---|---|
| SEMI_IMPLICIT | 1 | 1 | v first, then q along the new v: energy of stiff springs swings, does not drift; rough |
| RK4 | 4 | 4 | the default: 1 ms for a tumbling satellite or a swinging chain |
| DOP853 | 8 | 12 | as exact as double precision allows, at three times the cost of RK4 |
| DORMAND_PRINCE | 5 | 6 | under error control: MATLAB's ode45 |

Quaternions are integrated as they stand (the field ½ q ω is defined off the unit sphere and `rotation` divides by |q|²)
and put back on the sphere after each step: any Runge-Kutta method keeps its order, and |q| - 1 stays at round-off.
"""

import math
from functools import partial
from typing import NamedTuple

import numpy as np

from rbt_ros.core import dop853, dormand_prince
from rbt_ros.core.dynamics import coordinates, derivative
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import step_on_manifold
from rbt_ros.core.lanes import all_zero, finite_or_zero, root
from rbt_ros.core.types import (
    KIND,
    NON_FINITE,
    NON_FINITE_WORK,
    NQ,
    NV,
    OK,
    Input,
    JointKind,
    Model,
    Q,
    Status,
    V,
)
from rbt_ros.core.work import CARRY_ROW, GOOD_ROW, STAGE_ROW, Work

BEYOND = 2.0**560  # times what is above 1e140, in round numbers, overflows: no state, since its energy does so, too

# rules: what is done with the stages of a method beyond summing them up
SUM, KICK_AND_DRIFT, LIE, PAIR_5_4, PAIR_8_5_3 = 0, 1, 2, 3, 4


class Method(NamedTuple):
    """An explicit Runge-Kutta method as data: whatever the method, the compiled loops are the same."""

    table: np.ndarray  # (n + 2, n): A, then B, then C; n: the stages of a step, and those beyond it
    count: int  # of the stages of a step
    rule: int


def runge_kutta(A, B, C, count, rule=SUM):
    """The method with these coefficients: stage i is f(t + C[i] h, y + h Σ A[i, j] k_j), the step y + h Σ B[j] k_j."""
    table = np.vstack([A, B, C]).astype(float)
    table.flags.writeable = False
    return Method(table, count, rule)


SEMI_IMPLICIT = runge_kutta([[0.0]], [1.0], [0.0], 1, KICK_AND_DRIFT)
RK4 = runge_kutta(
    A=[[0, 0, 0, 0], [1 / 2, 0, 0, 0], [0, 1 / 2, 0, 0], [0, 0, 1, 0]],
    B=[1 / 6, 1 / 3, 1 / 3, 1 / 6],
    C=[0, 1 / 2, 1 / 2, 1],
    count=4,
)
LIE_EULER = runge_kutta([[0.0]], [1.0], [0.0], 1, LIE)  # its loop is in `kept.py`
DOP853 = runge_kutta(dop853.A, dop853.B, dop853.C, dop853.STAGES, PAIR_8_5_3)
DORMAND_PRINCE = runge_kutta(dormand_prince.A, dormand_prince.B, dormand_prince.C, dormand_prince.STAGES, PAIR_5_4)


@kernel
def tableau(method):
    """(A, B, C, number of stages) of a method."""
    table = method.table
    n = table.shape[1]
    return table[:n], table[n], table[n + 1], method.count


def stage_nodes(method):
    """The different stage times of a method, in steps: where `signals.stage_samples` must sample."""
    _, _, C, count = tableau(method)
    return sorted({*C[:count].tolist()})


@kernel
def copy(a, out):
    """out = a."""
    for i in range(a.shape[0]):
        out[i] = a[i]


@kernel
def weighted_sum(stage, weights, count, out):
    """out = Σ weights[j] k_j over the first `count` stages."""
    for i in range(out.shape[0]):
        out[i] = 0.0
    for j in range(count):
        w = weights[j]
        if w != 0.0:
            for i in range(out.shape[0]):
                out[i] += w * stage[j, i]


@kernel
def stage_state(y, h, work, A, i, out):
    """out = y + h Σ A[i, j] k_j: the state at stage i."""
    weighted_sum(work.stage, A[i], i, out)
    for c in range(y.shape[0]):
        out[c] = y[c] + h * out[c]


@kernel
def fill_stages(model, y, input, t_ns, s0, h, work, A, C, first, last):
    """Fill rows first to last - 1 of work.stage: k_i = f(y + h Σ A[i, j] k_j), s0 + C[i] h [s] after t_ns."""
    s = work.stage[STAGE_ROW]
    for i in range(first, last):
        stage_state(y, h, work, A, i, s)
        derivative(model, s, input, t_ns, s0 + C[i] * h, work, work.stage[i])


@kernel
def step_along(model, y, h, work, B, count):
    """y += h Σ B[j] k_j, its quaternions put back on the unit sphere."""
    increment = work.stage[STAGE_ROW]
    weighted_sum(work.stage, B, count, increment)
    fly(model, y, h, increment, work.stage[CARRY_ROW])
    for c in range(y.shape[0]):
        y[c] += h * increment[c]
    normalise(model, y)


@kernel
def fly(model, y, h, increment, carry):
    """Move the positions of free bodies in y by h increment, which becomes zero, with compensated summation.

    At constant velocity every step rounds the same way: 0.1 mm after 1e6 steps at 7.5 km/s. So what rounding keeps back
    (Knuth's two-sum) is carried into the next step. Hairer, Lubich, Wanner, Geometric Numerical Integration, VIII.5.
    """
    for i in range(model.tree.shape[0]):
        if model.tree[i, KIND] == JointKind.FREE:
            first = model.tree[i, Q] + 4
            for c in range(first, first + 3):
                way = h * increment[c] + carry[c]
                there = y[c] + way
                moved = there - y[c]
                carry[c] = finite_or_zero((y[c] - (there - moved)) + (way - moved))
                y[c], increment[c] = there, 0.0


@kernel
def kick_and_drift(model, y, k, h):
    """Semi-implicit Euler: v along the acceleration at the start, then q along the new v."""
    nq, nv = coordinates(model), model.freedom.shape[0]
    for c in range(nq, y.shape[0]):
        y[c] += h * k[c]
    step_on_manifold(model, y[:nq], y[nq : nq + nv], h, y)


@kernel
def step(model, y, input, t_ns, h, method, work):
    """y after h [s], in place. `run_arrays` has these lines in its loop, which compiles a second sooner so."""
    A, B, C, count = tableau(method)
    fill_stages(model, y, input, t_ns, 0.0, h, work, A, C, 0, count)
    if method.rule == KICK_AND_DRIFT:
        kick_and_drift(model, y, work.stage[0], h)
    else:
        step_along(model, y, h, work, B, count)


@kernel
def failure(model, y, good):
    """(code, body) of a step that has left y non-finite; y goes back to the last good state."""
    body = first_non_finite(model, y)
    copy(good, y)
    return (NON_FINITE if body >= 0 else NON_FINITE_WORK), body


@kernel
def normalise(model, q):
    """Put every quaternion of q back on the unit sphere."""
    for i in range(model.tree.shape[0]):
        kind, a = model.tree[i, KIND], model.tree[i, Q]
        if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
            s = 1.0 / root(q[a] * q[a] + q[a + 1] * q[a + 1] + q[a + 2] * q[a + 2] + q[a + 3] * q[a + 3])
            for c in range(4):
                q[a + c] *= s


@kernel
def all_finite(y):
    """Whether no element is a NaN, an infinity, or so large that energies may be infinite: 1e140."""
    total = 0.0
    for i in range(y.shape[0]):
        total += 0.0 * (BEYOND * y[i])
    return all_zero(total)


@kernel
def first_non_finite(model, y):
    """The body whose coordinates or velocities are not finite for `all_finite`, -1 if all are."""
    nq = coordinates(model)
    for i in range(model.tree.shape[0]):
        kind, k, j = model.tree[i, KIND], model.tree[i, Q], nq + model.tree[i, V]
        for c in range(NQ[kind]):
            if not math.isfinite(BEYOND * y[k + c]):
                return i
        for c in range(NV[kind]):
            if not math.isfinite(BEYOND * y[j + c]):
                return i
    return -1


@routine
def run_arrays(
    tree, body, freedom, world, y, tau, load, signal, data, rows, axes, stage, h_ns, table, count, rule, t_ns, ticks
):
    """(code, tick, body) after `ticks` steps of h_ns [ns] from t_ns, y in place; on a failure y is the last good.

    For a call from Python: plain arrays cost numba's dispatcher 0.3 us, named tuples of them 1.7. The loops stand here,
    not in kernels of their own: with the dynamics inline, each level of nesting takes 0.8 s to compile.
    """
    model, input, work = Model(tree, body, freedom, world), Input(tau, load, signal, data), Work(rows, axes, stage)
    A, B, C, _ = tableau(Method(table, count, rule))
    h, good, s = h_ns / 1e9, work.stage[GOOD_ROW], work.stage[STAGE_ROW]
    for tick in range(ticks):
        copy(y, good)
        for i in range(count):
            stage_state(y, h, work, A, i, s)
            derivative(model, s, input, t_ns + tick * h_ns, C[i] * h, work, work.stage[i])
        if rule == KICK_AND_DRIFT:
            kick_and_drift(model, y, work.stage[0], h)
        else:
            step_along(model, y, h, work, B, count)
        if not all_finite(y):
            code, culprit = failure(model, y, good)
            return code, tick, culprit
    return OK, ticks, -1


def advance(model, y, input, t_ns, h_ns, ticks, method, work):
    """Take y = [q, v] in place `ticks` steps of h_ns [ns] further from t_ns; on a failure y is the last good state."""
    return Status(*run_arrays(*model, y, *input, *work, h_ns, *method, t_ns, ticks))


def stepper(model, y, input, h_ns, method, work):
    """`advance` with only (t_ns, ticks) left to be given: unpacked once, not in each of a million calls of one step."""
    return partial(run_arrays, *model, y, *input, *work, h_ns, *method)
