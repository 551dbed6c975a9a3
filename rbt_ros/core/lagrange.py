"""Lagrange's multipliers with every matrix in full: the readable second formulation of `constrained.py`, in numpy.

    ⎡ M  -Gᵀ ⎤ ⎡ v̇ ⎤   ⎡ τ - C ⎤
    ⎣ G   0  ⎦ ⎣ λ ⎦ = ⎣ -Ġ v  ⎦

G v = φ̇: the conditions on velocities. G from Jacobians of points, Ġ v from accelerations at v̇ = 0, C from inverse
dynamics, with nothing taken over from the fast formulation but the data. World axes.
"""

import numpy as np

from rbt_ros.core.constraints import (
    AXIS_A,
    AXIS_B,
    BODY_A,
    BODY_B,
    COUNT,
    COUPLING,
    DISTANCE,
    DOT,
    FACTOR,
    FIRST,
    LAW,
    POINT_A,
    POINT_B,
    TERM_V,
)
from rbt_ros.core.kinematics import accelerations, kinematics, point_jacobian
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.newton_euler import inverse_dynamics
from rbt_ros.core.vec import rotation
from rbt_ros.core.work import workspace


def solve_kkt(M, G, f, drift):
    """v̇ and λ of M v̇ - Gᵀ λ = f, G v̇ = -drift; λ of least norm where conditions follow from others."""
    m = len(G)
    matrix = np.block([[M, -G.T], [G, np.zeros((m, m))]])
    solution = np.linalg.lstsq(matrix, np.concatenate([f, -drift]), rcond=1e-13)[0]
    return solution[: len(M)], solution[len(M) :]


def lagrange(model, q, v, tau, constraints):
    """v̇ and λ under the efforts tau, gravity and constraints that do not move; other forces belong into tau."""
    nv = len(v)
    M, C = np.zeros((nv, nv)), np.zeros(nv)
    mass_matrix(model, q, workspace(model), M)
    inverse_dynamics(model, q, v, np.zeros(nv), workspace(model), C)
    G, drift = conditions(model, q, v, constraints)
    return solve_kkt(M, G, tau - C, drift)


def conditions(model, q, v, constraints):
    """G (m, nv) and Ġ v (m,), condition by condition."""
    rows = [_coupled(len(v), constraints, row) if row[LAW] == COUPLING else _closed(model, q, v, row)
            for row in constraints.row]  # fmt: skip
    return np.array([G for G, _ in rows]), np.array([drift for _, drift in rows])


def _coupled(nv, constraints, row):
    G = np.zeros(nv)
    for k in range(int(row[FIRST]), int(row[FIRST] + row[COUNT])):
        G[int(constraints.term[k, TERM_V])] += constraints.term[k, FACTOR]
    return G, 0.0


def _closed(model, q, v, row):
    A, B = (
        _Point(model, q, v, int(row[body]), row[at : at + 3]) for body, at in ((BODY_A, POINT_A), (BODY_B, POINT_B))
    )
    a, b = A.R @ row[AXIS_A : AXIS_A + 3], B.R @ row[AXIS_B : AXIS_B + 3]
    # of d = p_B - p_A: its Jacobian, rate, and acceleration at v̇ = 0
    J, d_dot, d_ddot = B.J - A.J, B.v - A.v, B.a - A.a
    d = B.p - A.p
    if row[LAW] == DOT:  # φ = a·b, ȧ = w_A × a
        a_dot, b_dot = np.cross(A.w, a), np.cross(B.w, b)
        a_ddot = np.cross(A.wdot, a) + np.cross(A.w, a_dot)
        b_ddot = np.cross(B.wdot, b) + np.cross(B.w, b_dot)
        return np.cross(a, b) @ A.J_w + np.cross(b, a) @ B.J_w, a_ddot @ b + 2 * a_dot @ b_dot + a @ b_ddot
    if row[LAW] == DISTANCE:  # φ = |d|
        length = np.linalg.norm(d)
        e = d / length
        return e @ J, e @ d_ddot + (d_dot @ d_dot - (e @ d_dot) ** 2) / length
    # φ = a·d
    a_dot = np.cross(A.w, a)
    a_ddot = np.cross(A.wdot, a) + np.cross(A.w, a_dot)
    return a @ J + np.cross(a, d) @ A.J_w, a @ d_ddot + 2 * a_dot @ d_dot + a_ddot @ d


class _Point:
    """A point of a body, or of the world: place, velocity, acceleration at v̇ = 0, Jacobians."""

    def __init__(self, model, q, v, i, p_BQ_B):
        nv, n = len(v), len(model.tree)
        self.R, self.p, self.v, self.a = np.eye(3), np.array(p_BQ_B), np.zeros(3), np.zeros(3)
        self.w, self.wdot, self.J, self.J_w = np.zeros(3), np.zeros(3), np.zeros((3, nv)), np.zeros((3, nv))
        if i < 0:
            return
        pose, twist, accel, J = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 6)), np.zeros((6, nv))
        kinematics(model, q, v, workspace(model), pose, twist)
        accelerations(model, q, v, np.zeros(nv), workspace(model), accel)
        point_jacobian(model, q, i, tuple(p_BQ_B), workspace(model), J)
        self.R = np.array(rotation(tuple(pose[i, :4])))
        r = self.R @ p_BQ_B
        self.w, self.wdot, self.J_w, self.J = twist[i, :3], accel[i, :3], J[:3], J[3:]
        self.p, self.v = pose[i, 4:] + r, twist[i, 3:] + np.cross(self.w, r)
        self.a = accel[i, 3:] + np.cross(self.wdot, r) + np.cross(self.w, np.cross(self.w, r))
