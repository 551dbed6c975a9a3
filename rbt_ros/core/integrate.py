"""Fixed-step integration: `advance` computes whole ticks in one compiled call, the GIL released.

Quaternions are integrated as they stand (the field ½ q ω is defined off the unit sphere and `rotation` divides by |q|²)
and put back on the sphere after each step: any Runge-Kutta method keeps its order, and |q| - 1 stays at round-off.
"""

import math

import numpy as np

from rbt_ros.core.dynamics import derivative
from rbt_ros.core.jit import kernel
from rbt_ros.core.types import NON_FINITE, OK, Q, Status


def workspace(model):
    """The scratch arrays of one `advance` on `model`: allocate once, reuse for ever."""
    nq, nv = model_size(model)
    return np.zeros((6, nq + nv))


def model_size(model):
    """(nq, nv) of a model."""
    nv = model.freedom.shape[0]
    return nv + model.tree.shape[0], nv  # a free hinge has 7 coordinates for 6 velocities


@kernel
def stage(y, k, h, out):
    """out = y + h k."""
    for i in range(y.shape[0]):
        out[i] = y[i] + h * k[i]


@kernel
def rk4_step(model, y, nq, input, h, work):
    """y = [q, v] after h [s], in place: classical Runge-Kutta, error O(h⁴)."""
    k1, k2, k3, k4, s = work[0], work[1], work[2], work[3], work[4]
    derivative(model, y[:nq], y[nq:], input, k1[:nq], k1[nq:])
    stage(y, k1, 0.5 * h, s)
    derivative(model, s[:nq], s[nq:], input, k2[:nq], k2[nq:])
    stage(y, k2, 0.5 * h, s)
    derivative(model, s[:nq], s[nq:], input, k3[:nq], k3[nq:])
    stage(y, k3, h, s)
    derivative(model, s[:nq], s[nq:], input, k4[:nq], k4[nq:])
    for i in range(y.shape[0]):
        y[i] += h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i])


@kernel
def normalise(model, q):
    """Put every quaternion of q back on the unit sphere."""
    for i in range(model.tree.shape[0]):
        a = model.tree[i, Q]
        s = 1.0 / math.sqrt(q[a] * q[a] + q[a + 1] * q[a + 1] + q[a + 2] * q[a + 2] + q[a + 3] * q[a + 3])
        for c in range(4):
            q[a + c] *= s


@kernel
def first_non_finite(model, y):
    """The body whose coordinates hold a NaN or an infinity, -1 if none does."""
    total = 0.0
    for i in range(y.shape[0]):
        total += abs(y[i])
    if math.isfinite(total):
        return -1
    nq = y.shape[0] - model.freedom.shape[0]
    for i in range(model.tree.shape[0]):
        a, b = model.tree[i, Q], nq + model.tree[i, Q] - i
        for c in range(7):
            if not math.isfinite(y[a + c]) or (c < 6 and not math.isfinite(y[b + c])):
                return i
    return 0


@kernel
def advance(model, y, input, h_ns, ticks, work):
    """Take y = [q, v] (in place) `ticks` steps of h_ns [ns] further. On a failure y is the last good state."""
    h = h_ns * 1e-9
    nq = y.shape[0] - model.freedom.shape[0]
    good = work[5]
    for tick in range(ticks):
        good[:] = y
        rk4_step(model, y, nq, input, h, work)
        normalise(model, y[:nq])
        body = first_non_finite(model, y)
        if body >= 0:
            y[:] = good
            return Status(NON_FINITE, tick, body)
    return Status(OK, ticks, -1)
