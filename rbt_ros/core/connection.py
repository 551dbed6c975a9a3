"""What floats turns by changing its shape: the attitude that momentum zero prescribes along a path of the hinges.

At rest as a whole, M(q) v has zeros in its first six rows. With the base's turning ω, its sliding v and the rates u
of the shape (M = [[I, H, N], [Hᵀ, m 1, F], ...]),

    I ω + H v + N u = 0,   Hᵀ ω + m v + F u = 0     so     (I - H Hᵀ/m) ω = -(N - H F/m) u

which is linear in u: only the path matters, not how fast it is gone. The attitude then is the solution of the linear
equation q̇ = ½ q ω, in steps by the series of Magnus of order 6 (Blanes, Casas, Oteo and Ros, Physics Reports 470
(2009) 151, section 5.4.2), which sees ω at the three nodes of Gauss in each step, and leaves |q| = 1.
"""

import math

from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.vec import add, cross, dot, put4, qmul, rotation_vector_quat, row3, row4, scale, sub, sym_solve

ROOT_15 = math.sqrt(15.0)
NODES = (0.5 - ROOT_15 / 10.0, 0.5, 0.5 + ROOT_15 / 10.0)  # of Gauss in a step of length 1


@kernel
def base_rate(M, u):
    """w_WB_B [rad/s] of the floating base (body 0) of mass matrix M, at momentum zero, when the hinges have rates u."""
    m = M[3, 3]
    n, f = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(u.shape[0]):
        k = 6 + j
        n = add(n, scale(u[j], (M[0, k], M[1, k], M[2, k])))
        f = add(f, scale(u[j], (M[3, k], M[4, k], M[5, k])))
    H = (row3(M, 0, 3), row3(M, 1, 3), row3(M, 2, 3))
    b = (n[0] - dot(H[0], f) / m, n[1] - dot(H[1], f) / m, n[2] - dot(H[2], f) / m)
    locked = (
        M[0, 0] - dot(H[0], H[0]) / m,
        M[1, 1] - dot(H[1], H[1]) / m,
        M[2, 2] - dot(H[2], H[2]) / m,
        M[0, 1] - dot(H[0], H[1]) / m,
        M[0, 2] - dot(H[0], H[2]) / m,
        M[1, 2] - dot(H[1], H[2]) / m,
    )
    return scale(-1.0, sym_solve(locked, b))


@kernel
def magnus(w1, w2, w3):
    """Rotation vector of a step of length 1 of q̇ = ½ q ω, from ω at the three nodes of Gauss; order 6."""
    a = w2
    b = scale(ROOT_15 / 3.0, sub(w3, w1))
    c = scale(10.0 / 3.0, add(sub(w3, scale(2.0, w2)), w1))
    # ω multiplies from the right: every bracket [x, y] of the series is y × x
    d = cross(b, a)
    e = scale(-1.0 / 60.0, cross(add(scale(2.0, c), d), a))
    bracket = cross(add(b, e), add(scale(-20.0, a), sub(d, c)))
    return add(a, add(scale(1.0 / 12.0, c), scale(1.0 / 240.0, bracket)))


@kernel
def rate_at(model, q, shape, u, work, M):
    """w_WB_B of the base where the hinges are at `shape`, with the rates u."""
    for j in range(shape.shape[0]):
        q[7 + j] = shape[j]
    mass_matrix(model, q, work, M)
    return base_rate(M, u)


@routine
def transport(model, q, shape, rate, work, M, attitude):
    """Fill attitude (k + 1, 4): q_WB of the base before the first and after each of k steps along a path of the shape.

    model: one tree on a free hinge, else revolute and prismatic ones. shape, rate (k, 3, n): the n coordinates behind
    the base's at the nodes of Gauss of each step, and their derivatives by the path times the length of the step.
    q (nq,), M (nv, nv): scratch. attitude[0] is where it starts.
    """
    for k in range(7):
        q[k] = 0.0
    q[0] = 1.0
    q_WB = row4(attitude, 0, 0)
    for i in range(shape.shape[0]):
        w1 = rate_at(model, q, shape[i, 0], rate[i, 0], work, M)
        w2 = rate_at(model, q, shape[i, 1], rate[i, 1], work, M)
        w3 = rate_at(model, q, shape[i, 2], rate[i, 2], work, M)
        q_WB = qmul(q_WB, rotation_vector_quat(magnus(w1, w2, w3)))
        put4(attitude, i + 1, 0, q_WB)
