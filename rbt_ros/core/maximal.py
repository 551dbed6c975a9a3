"""Maximal coordinates: every body floats, and hinges are conditions held by multipliers. The third formulation.

    ⎡ M  -Gᵀ ⎤ ⎡ v̇ ⎤   ⎡ F    ⎤        y = [q_WB, p_WBcm of every body, then w_WB_B, v_WBcm of every body]
    ⎣ G   0  ⎦ ⎣ λ ⎦ = ⎣ -Ġ v ⎦        M: one mass and one inertia per body; 5 conditions per revolute, 3 per ball hinge

Rows and elimination, (G M⁻¹ Gᵀ) λ = -φ̈ at v̇_free, are those of `constrained.py`, on bodies that have nothing else in
common; the dense system above, in numpy, is `lagrange.py`. What acts along the hinges (springs, dampers, inputs) is
evaluated in relative coordinates, which are computed back from the bodies.

The cost is O(c³) in the number of conditions: for comparison (`rbt study formulations`), not for speed.
"""

import math
from typing import NamedTuple

import numpy as np

from rbt_ros.core.articulated import row3_efforts
from rbt_ros.core.constrained import LOST, constrained_derivative, put_back
from rbt_ros.core.constraints import Bonds, Constraints, bonds, no_constraints
from rbt_ros.core.forces import efforts
from rbt_ros.core.integrate import all_finite, copy, stage_state, step_along, tableau
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.types import (
    AXIS,
    DRIVES,
    KIND,
    NON_FINITE,
    OK,
    PARENT,
    TURN,
    UNMET,
    Input,
    JointKind,
    Model,
    Q,
    V,
)
from rbt_ros.core.vec import dot, qconj, qmul, quat, rotation, row3, row4, scale, sub, turn, turn_back, vec3
from rbt_ros.core.work import EFFORT, GOOD_ROW, STAGE_ROW, Work, model_size, workspace


class Maximal(NamedTuple):
    """A tree and its twin of bodies that float, with their scratch memory. `maximal` makes it."""

    tree: Model  # hinges fixed, revolute, spherical, free
    free: Model  # the same bodies in the same order, all on free hinges
    rows: Constraints  # the hinges of the tree, as closures between bodies of `free`
    acting: Input  # on `free`; its tau is filled by each evaluation
    work: Work
    free_work: Work
    bond: Bonds
    q: np.ndarray  # (nq,), (nv,) of the tree: where its hinges are
    v: np.ndarray


def maximal(tree, free, rows, input):
    """The system under the `input` of the tree; what drives its freedoms does not drive those of the bodies.

    rows: None where nothing hangs on anything.
    """
    rows = no_constraints() if rows is None else rows
    signal = input.signal.copy()
    signal[:, DRIVES] = -1
    acting = Input(np.zeros(len(free.freedom)), input.load, signal, input.data)
    nq, nv = model_size(tree)
    memory = workspace(tree), workspace(free), bonds(free, rows), np.zeros(nq), np.zeros(nv)
    return Maximal(tree, free, rows, acting, *memory)


@kernel
def pose_and_spin(y, n, i):
    """q_WB, R_WB and w_WB_B of body i; of the world for i = -1."""
    if i < 0:
        return (1.0, 0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)), (0.0, 0.0, 0.0)
    q_WB = quat(y, 7 * i)
    return q_WB, rotation(q_WB), vec3(y, 7 * n + 6 * i)


@routine
def hinge_state(tree, y, q, v):
    """Fill q and v of the tree's hinges from the bodies: angles between -π and π."""
    n = tree.tree.shape[0]
    for i in range(n):
        kind, k, j = tree.tree[i, KIND], tree.tree[i, Q], tree.tree[i, V]
        q_WB, R_WB, w_B = pose_and_spin(y, n, i)
        if kind == JointKind.FREE:
            copy(y[7 * i : 7 * i + 7], q[k : k + 7])
            copy(y[7 * n + 6 * i : 7 * n + 6 * i + 6], v[j : j + 6])
            continue
        q_WP, R_WP, w_P = pose_and_spin(y, n, tree.tree[i, PARENT])
        w, x, y_, z = qmul(qconj(qmul(q_WP, row4(tree.body, i, TURN))), q_WB)
        w_PB_B = sub(w_B, turn_back(R_WB, turn(R_WP, w_P)))
        if kind == JointKind.SPHERICAL:
            s = 1.0 / math.sqrt(w * w + x * x + y_ * y_ + z * z)
            q[k], q[k + 1], q[k + 2], q[k + 3] = s * w, s * x, s * y_, s * z
            v[j], v[j + 1], v[j + 2] = w_PB_B
        elif kind == JointKind.REVOLUTE:
            axis = row3(tree.body, i, AXIS)
            sine = dot(axis, (x, y_, z))
            q[k] = 2.0 * math.atan2(sine if w >= 0.0 else -sine, abs(w))
            v[j] = dot(axis, w_PB_B)


@routine
def body_efforts(tree, y, work, tau):
    """Fill tau (6n,) of the bodies that float from the efforts of the tree: each acts on the child, and back."""
    n = tree.tree.shape[0]
    for c in range(tau.shape[0]):
        tau[c] = 0.0
    for i in range(n):
        kind, j, p = tree.tree[i, KIND], tree.tree[i, V], tree.tree[i, PARENT]
        if kind == JointKind.FIXED:
            continue
        if kind == JointKind.REVOLUTE:
            n_B = scale(work.freedoms[j, EFFORT], row3(tree.body, i, AXIS))
        else:
            n_B = row3_efforts(work, j)
        add_to(tau, 6 * i, n_B)
        if kind == JointKind.FREE:
            add_to(tau, 6 * i + 3, row3_efforts(work, j + 3))
        elif p >= 0:
            _, R_WB, _ = pose_and_spin(y, n, i)
            _, R_WP, _ = pose_and_spin(y, n, p)
            add_to(tau, 6 * p, scale(-1.0, turn_back(R_WP, turn(R_WB, n_B))))


@kernel
def add_to(a, k, x):
    """a[k : k + 3] += x."""
    for c in range(3):
        a[k + c] += x[c]


@routine
def maximal_derivative(system, y, input, t_ns, s, ydot):
    """Fill ydot = [q̇, v̇] of all bodies at y, s [s] after t_ns, under the `input` of the tree."""
    hinge_state(system.tree, y, system.q, system.v)
    efforts(system.tree, system.q, system.v, input, t_ns, s, system.work)
    body_efforts(system.tree, y, system.work, system.acting.tau)
    constrained_derivative(
        system.free, y, system.acting, t_ns, s, system.rows, system.free_work, system.bond, ydot
    )  # fmt: skip


@routine
def run_maximal(system, y, input, t_ns, h_ns, ticks, method, put):
    """(code, tick) after `ticks` steps of h_ns [ns] from t_ns, y in place; on a failure y is the last good state.

    put: whether y is put back on the hinges after each step, or drifts off them by the error of the steps.
    """
    A, B, C, count = tableau(method)
    work, free = system.free_work, system.free
    h, good, place = h_ns / 1e9, work.stage[GOOD_ROW], work.stage[STAGE_ROW]
    for tick in range(ticks):
        start_ns = t_ns + tick * h_ns
        copy(y, good)
        for i in range(count):
            stage_state(y, h, work, A, i, place)
            maximal_derivative(system, place, input, start_ns, C[i] * h, work.stage[i])
        step_along(free, y, h, work, B, count)
        left = 0.0
        if put:
            left = put_back(free, y, system.acting, start_ns + h_ns, 0.0, system.rows, work, system.bond)
        if not all_finite(y) or left > LOST:
            code = UNMET if all_finite(y) else NON_FINITE
            copy(good, y)
            return code, tick
    return OK, ticks
