"""The equations of motion once more, by another method in plain numpy: Kane's, with Jacobians of all centres of mass.

M(q) v̇ = Σ J_cᵀ (m g - m a_c) - J_wᵀ (I ẇ + ω × I ω), the accelerations at v̇ = 0. The type of y decides the precision:
with np.longdouble it is the common reference of the accelerations.
"""

import numpy as np
from bodies import FREE, SPHERICAL, System, matrix, offsets


def right_hand_side(system: System):
    """f(t, y) = [q̇, v̇] of a system without control."""
    places, nq, nv = offsets(system), len(system.q), len(system.v)

    def f(t, y):
        type_ = y.dtype
        q, v, qdot = y[:nq], y[nq:], np.zeros(nq, type_)
        M, Q = np.zeros((nv, nv), type_), np.zeros(nv, type_)
        nothing = np.zeros((3, nv), type_)
        rows: list[tuple] = []  # R_WB, ω, ẇ and a of the origin at v̇ = 0, Jacobians of ω and of the origin's velocity
        for part, (kind, k, j) in zip(system.parts, places, strict=True):
            world = (np.eye(3, dtype=type_), nothing[:, 0], nothing[:, 0], nothing[:, 0], nothing, nothing)
            R_WP, w_P, wdot_P, a_P, Jw_P, Jv_P = rows[part.parent] if part.parent >= 0 else world
            Jw = Jw_P.copy()
            if kind == FREE:
                R, Jv = matrix(q[k : k + 4]), nothing.copy()
                Jw[:, j : j + 3], Jv[:, j + 3 : j + 6] = R, np.eye(3)
                w, wdot, a = R @ v[j : j + 3], nothing[:, 0], nothing[:, 0]
                qdot[k : k + 4], qdot[k + 4 : k + 7] = half_turn(q[k : k + 4], v[j : j + 3]), v[j + 3 : j + 6]
            else:
                if kind == SPHERICAL:
                    R = R_WP @ matrix(q[k : k + 4])
                    Jw[:, j : j + 3] = R
                    relative = R @ v[j : j + 3]
                    qdot[k : k + 4] = half_turn(q[k : k + 4], v[j : j + 3])
                else:
                    axis = np.array(part.axis, type_)
                    half = q[k] / 2
                    R = R_WP @ matrix(np.array([np.cos(half), *(np.sin(half) * axis)]))
                    Jw[:, j] = R @ axis
                    relative = Jw[:, j] * v[j]
                    qdot[k] = v[j]
                r = R_WP @ np.array(part.at, type_)
                Jv = Jv_P - skew(r) @ Jw_P
                a = a_P + cross(wdot_P, r) + cross(w_P, cross(w_P, r))
                w, wdot = w_P + relative, wdot_P + cross(w_P, relative)
            rows.append((R, w, wdot, a, Jw, Jv))
            c, I = R @ np.array(part.com, type_), (R * np.array(part.inertia, type_)) @ R.T
            Jc, a_c = Jv - skew(c) @ Jw, a + cross(wdot, c) + cross(w, cross(w, c))
            a_c = a_c + np.array([0, 0, system.g], type_)
            M += part.mass * Jc.T @ Jc + Jw.T @ (I @ Jw)
            Q -= part.mass * Jc.T @ a_c + Jw.T @ (I @ wdot + cross(w, I @ w))
        vdot = np.linalg.solve(M, Q) if type_ == np.float64 else gauss(M, Q)
        return np.concatenate([qdot, vdot])

    return f


def cross(a, b):
    """a × b: np.cross costs ten times as much."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def skew(a):
    """[a]×."""
    return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]], a.dtype)


def half_turn(q, w):
    """q̇ = ½ q ω."""
    return np.array(
        [
            -0.5 * (q[1] * w[0] + q[2] * w[1] + q[3] * w[2]),
            0.5 * (q[0] * w[0] + q[2] * w[2] - q[3] * w[1]),
            0.5 * (q[0] * w[1] + q[3] * w[0] - q[1] * w[2]),
            0.5 * (q[0] * w[2] + q[1] * w[1] - q[2] * w[0]),
        ]
    )


def gauss(M, Q):
    """M⁻¹ Q of a positive definite M in any precision."""
    A, n = np.column_stack([M, Q]), len(Q)
    for k in range(n):
        A[k] /= A[k, k]
        others = np.arange(n) != k
        A[others] -= np.outer(A[others, k], A[k])
    return A[:, n]
