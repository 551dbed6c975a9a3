"""Wittenburg's method in Z-X-Z Euler angles, and runs of it: what turns about a point (spherical, free) has three
angles ψ θ φ in place of a quaternion, and their rates in place of ω.

    A = A_ψ A_θ A_φ        child to parent: turns by ψ about z, θ about the new x, φ about the new z
    Ω = p₁ ψ̇ + p₂ θ̇ + p₃ φ̇      so v of the engine is pᵀ q̇ in the child's axes

`angles` and `rates` have the columns of v. At sin θ = 0 the first and the third axis coincide and A is singular: near
it the rates are large and cost accuracy. That is why the engine itself uses quaternions.
"""

from rbt_ros.core import dop853
from rbt_ros.core.forces import efforts
from rbt_ros.core.integrate import all_finite, copy, weighted_sum
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.types import KIND, NON_FINITE, NQ, NV, OK, JointKind, Q, V
from rbt_ros.core.vec import (
    add,
    dot,
    put3,
    qmul,
    row3,
    row9,
    scale,
    sincos,
    turn,
    turn_quat,
    vec3,
)
from rbt_ros.core.wittenburg import derivative, freedoms, hinge_vectors, solve, successive_turns
from rbt_ros.core.work import EFFORT, GOOD_ROW, STAGE_ROW

A, B, C = dop853.A, dop853.B, dop853.C
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


@kernel
def zxz_quat(psi, theta, phi):
    """The quaternion of A_ψ A_θ A_φ."""
    return qmul(turn_quat(Z, psi), qmul(turn_quat(X, theta), turn_quat(Z, phi)))


@kernel
def zxz_vectors(theta, phi):
    """p₁, p₂, p₃ in the child's axes: what one unit of ψ̇, θ̇, φ̇ turns about."""
    s2, c2 = sincos(theta)
    s3, c3 = sincos(phi)
    return (s2 * s3, s2 * c3, c2), (c3, -s3, 0.0), Z


@kernel
def about_a_point(kind):
    """Whether a hinge of this kind has Euler angles."""
    return kind == JointKind.SPHERICAL or kind == JointKind.FREE


@routine
def engine_state(model, angles, rates, q, v):
    """Fill the engine's q (nq,) and v (nv,) from angles and rates."""
    for a in range(model.tree.shape[0]):
        kind, k, j = model.tree[a, KIND], model.tree[a, Q], model.tree[a, V]
        shift = NQ[kind] - NV[kind]
        for c in range(NV[kind]):
            q[k + shift + c] = angles[j + c]
            v[j + c] = rates[j + c]
        if about_a_point(kind):
            psi, theta, phi = vec3(angles, j)
            q[k], q[k + 1], q[k + 2], q[k + 3] = zxz_quat(psi, theta, phi)
            p1, p2, p3 = zxz_vectors(theta, phi)
            w = add(scale(rates[j], p1), add(scale(rates[j + 1], p2), scale(rates[j + 2], p3)))
            v[j], v[j + 1], v[j + 2] = w


@kernel
def zxz_freedoms(model, angles, rates, x):
    """Put p and ϕ of Euler angles in the place of those of body-axis rates, and turn the efforts: Y = p · torque."""
    for a in range(model.tree.shape[0]):
        j = model.tree[a, V]
        if not about_a_point(model.tree[a, KIND]):
            continue
        R_WB = row9(x.R, a, 0)
        torque = turn(R_WB, vec3(x.Y, j))
        p1, p2, p3 = zxz_vectors(angles[j + 1], angles[j + 2])
        put3(x.p, j, 0, turn(R_WB, p1))
        put3(x.p, j + 1, 0, turn(R_WB, p2))
        put3(x.p, j + 2, 0, turn(R_WB, p3))
        put3(x.phi, a, 0, successive_turns(x.p, rates, j, 3))
        for c in range(3):
            x.Y[j + c] = dot(row3(x.p, j + c, 0), torque)


@routine
def zxz_accelerations(model, angles, rates, input, t_ns, s, work, x, accel):
    """Fill accel (nv,): q̈ of the Euler angles and of all other freedoms, s [s] after t_ns, under `input`."""
    engine_state(model, angles, rates, x.q, x.v)
    hinge_vectors(model, x.q, work, x)
    freedoms(model, x.v, x)
    efforts(model, x.q, x.v, input, t_ns, s, work)
    for l in range(rates.shape[0]):
        x.Y[l] = work.freedoms[l, EFFORT]
    zxz_freedoms(model, angles, rates, x)
    solve(model, rates, input, t_ns, s, x, accel)


@kernel
def slope(model, y, input, t_ns, s, zxz, work, x, ydot):
    """Fill ydot at y: [angles, rates] if `zxz`, else the engine's [q, v]."""
    if zxz:
        nv = model.freedom.shape[0]
        copy(y[nv:], ydot[:nv])
        zxz_accelerations(model, y[:nv], y[nv:], input, t_ns, s, work, x, ydot[nv:])
    else:
        derivative(model, y, input, t_ns, s, work, x, ydot)


@routine
def run(model, y, input, t_ns, h_ns, ticks, zxz, work, x):
    """(code, tick) after `ticks` steps of h_ns [ns] from t_ns by DOP853, y in place; on a failure y is the last good.

    The integrator is the engine's; formulation and coordinates are Wittenburg's. A quaternion is not put back on the
    unit sphere: its norm drifts by round-off only, and the attitude does not depend on it.
    """
    size, h = y.shape[0], h_ns * 1e-9
    stage = work.stage
    good, place = stage[GOOD_ROW, :size], stage[STAGE_ROW, :size]
    for tick in range(ticks):
        copy(y, good)
        for j in range(dop853.STAGES):
            weighted_sum(stage, A[j], j, place)
            shift(good, place, h)
            slope(model, place, input, t_ns, C[j] * h, zxz, work, x, stage[j, :size])
        weighted_sum(stage, B, dop853.STAGES, y)
        shift(good, y, h)
        if not all_finite(y):
            copy(good, y)
            return NON_FINITE, tick
        t_ns += h_ns
    return OK, ticks


@kernel
def shift(y, k, h):
    """k becomes y + h k."""
    for c in range(y.shape[0]):
        k[c] = y[c] + h * k[c]
