"""Torque-free rotation by splitting: turns about two body axes, the rest a turn about L. For long runs in fixed steps.

    T = |h|²/2I_b + ½ (1/I_c - 1/I_b) h_c² + ½ (1/I_a - 1/I_b) h_a²,   h = I ω, b the axis of the middle moment.

|h|² commutes with everything: its flow turns the body about L by |h|/I_b · t and leaves h alone. Each of the other two
is solved exactly by a turn about its axis. Their composition is that of Blanes and Moan, J. Comput. Appl. Math. 142
(2002) 313, order 6 in 11 + 10 turns. Symplectic and reversible: the energy error stays bounded, and a symmetric body
(one of the two coefficients is zero) moves exactly. Figures and when to choose it: docs/freetop.md.

Within a step every component is a double-double: 21 roundings, alike in every step, would drift by eps per step; one
rounding at its end does a random walk.
"""

import math

from rbt_ros.core import dd
from rbt_ros.core.freetop import principal_axes
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.vec import sincos

# Blanes and Moan, S10 order 6: c, a, c, ..., a, c; symmetric, of which the first half is given
C1, C2, C3, C4, C5 = 0.0502627644003922, 0.413514300428344, 0.0450798897943977, -0.188054853819569, 0.541960678450780
A1, A2, A3, A4 = 0.148816447901042, -0.132385865767784, 0.067307604692185, 0.432666402578175
C6, A5 = 1.0 - 2.0 * (C1 + C2 + C3 + C4 + C5), 0.5 - (A1 + A2 + A3 + A4)
TURNS_C = (C1, C2, C3, C4, C5, C6, C5, C4, C3, C2, C1)
TURNS_A = (A1, A2, A3, A4, A5, A5, A4, A3, A2, A1)


@kernel
def middle(I):
    """The index of the middle one of three moments."""
    if (I[0] - I[1]) * (I[2] - I[0]) >= 0.0:
        return 0
    return 1 if (I[1] - I[0]) * (I[2] - I[1]) >= 0.0 else 2


@kernel
def carry(x, d):
    """x + d of a pair x and a double d; what the sum rounds off goes to the low part, which is not normalised."""
    y, e = dd.two_sum(x[0], d)
    return (y, x[1] + e)


@kernel
def turn_about_c(q, h, angle):
    """(q, h) in pairs after the body has turned by `angle` about its axis c, the second of (b, c, a)."""
    s, c = sincos(0.5 * angle)
    v = s / (1.0 + c)
    w, x, y, z = q[0][0], q[1][0], q[2][0], q[3][0]
    b, a = h[0][0], h[2][0]
    # increments as small as the turn, not products by its cosine: c - 1 = -s v, cos angle - 1 = -2 s²
    q = (
        carry(q[0], -s * (v * w + y)),
        carry(q[1], -s * (v * x + z)),
        carry(q[2], s * (w - v * y)),
        carry(q[3], s * (x - v * z)),
    )
    return q, (carry(h[0], -2.0 * s * (s * b + c * a)), h[1], carry(h[2], 2.0 * s * (c * b - s * a)))


@kernel
def turn_about_a(q, h, angle):
    """(q, h) in pairs after the body has turned by `angle` about its axis a, the third of (b, c, a)."""
    s, c = sincos(0.5 * angle)
    v = s / (1.0 + c)
    w, x, y, z = q[0][0], q[1][0], q[2][0], q[3][0]
    b, k = h[0][0], h[1][0]
    q = (
        carry(q[0], -s * (v * w + z)),
        carry(q[1], s * (y - v * x)),
        carry(q[2], -s * (v * y + x)),
        carry(q[3], s * (w - v * z)),
    )
    return q, (carry(h[0], -2.0 * s * (s * b - c * k)), carry(h[1], -2.0 * s * (s * k + c * b)), h[2])


@kernel
def turn_about_h(q, h, L, angle):
    """q in pairs after the body has turned by `angle` about h, |h| = L."""
    s, c = sincos(0.5 * angle)
    v = s / (1.0 + c)
    w, x, y, z = q[0][0], q[1][0], q[2][0], q[3][0]
    i, j, k = h[0][0] / L, h[1][0] / L, h[2][0] / L
    return (
        carry(q[0], -s * (v * w + x * i + y * j + z * k)),
        carry(q[1], s * (w * i + y * k - z * j - v * x)),
        carry(q[2], s * (w * j + z * i - x * k - v * y)),
        carry(q[3], s * (w * k + x * j - y * i - v * z)),
    )


@kernel
def own_order(x, b, c, flip):
    """x = (x_b, x_c, flip · x_a) in the order of the body's own axes."""
    xa = dd.scaled(x[2], flip)
    if b == 0:
        return (x[0], x[1], xa) if c == 1 else (x[0], xa, x[1])
    if b == 1:
        return (xa, x[0], x[1]) if c == 2 else (x[1], x[0], xa)
    return (x[1], xa, x[0]) if c == 0 else (xa, x[1], x[0])


@routine
def splitting_step(I, q, w, h):
    """(q_WB, w_WB_B) after h [s] without torque, order 6. I: principal moments [kg·m²]; the body axes are principal."""
    # axes b, c, a: middle moment, the slower of the two turns, the faster; a reversed where that is left-handed
    b = middle(I)
    c, a, flip = (b + 1) % 3, (b + 2) % 3, 1.0
    rate_c, rate_a = (I[b] - I[c]) / (I[b] * I[c]), (I[b] - I[a]) / (I[b] * I[a])
    if abs(rate_c) > abs(rate_a):
        c, a, flip = a, c, -1.0
        rate_c, rate_a = rate_a, rate_c
    k = (dd.two_prod(I[b], w[b]), dd.two_prod(I[c], w[c]), dd.two_prod(flip * I[a], w[a]))
    p = (dd.of(q[0]), dd.of(q[1 + b]), dd.of(q[1 + c]), dd.of(flip * q[1 + a]))
    L = math.sqrt(k[0][0] * k[0][0] + k[1][0] * k[1][0] + k[2][0] * k[2][0])
    if L == 0.0:
        return q, w
    p = turn_about_h(p, k, L, h * L / I[b])
    for i in range(10):
        p, k = turn_about_c(p, k, TURNS_C[i] * h * rate_c * k[1][0])
        p, k = turn_about_a(p, k, TURNS_A[i] * h * rate_a * k[2][0])
    p, k = turn_about_c(p, k, TURNS_C[10] * h * rate_c * k[1][0])
    # one rounding
    p = dd.qunit(p)
    x, y = own_order((p[1], p[2], p[3]), b, c, flip), own_order(k, b, c, flip)
    w0, w1, w2 = dd.div(y[0], dd.of(I[0])), dd.div(y[1], dd.of(I[1])), dd.div(y[2], dd.of(I[2]))
    return (p[0][0], x[0][0], x[1][0], x[2][0]), (w0[0], w1[0], w2[0])


@routine
def principal_steps(I, q, w, h, n):
    """(q_WB, w_WB_B) after n splitting steps. I: principal moments."""
    for _ in range(n):
        q, w = splitting_step(I, q, w, h)
    return q, w


@routine
def to_principal_axes(I, q, w):
    """(moments, columns of R_BP, q_WP, w_WP_P) of a body with the tensor I = xx yy zz xy xz yz, from q_WB, w_WB_B."""
    M, e = principal_axes(I)
    q_WP = dd.qmul((dd.of(q[0]), dd.of(q[1]), dd.of(q[2]), dd.of(q[3])), dd.quat_of_columns(e[0], e[1], e[2]))
    w_P = dd.turn(e, (dd.of(w[0]), dd.of(w[1]), dd.of(w[2])))
    return (
        (M[0][0], M[1][0], M[2][0]),
        e,
        (q_WP[0][0], q_WP[1][0], q_WP[2][0], q_WP[3][0]),
        (w_P[0][0], w_P[1][0], w_P[2][0]),
    )


@routine
def to_body_axes(e, q, w):
    """(q_WB, w_WB_B) from q_WP, w_WP_P and the columns e of R_BP."""
    q_PB = dd.qconj(dd.quat_of_columns(e[0], e[1], e[2]))
    q_WB = dd.qmul((dd.of(q[0]), dd.of(q[1]), dd.of(q[2]), dd.of(q[3])), q_PB)
    w_B = dd.turn_back(e, (dd.of(w[0]), dd.of(w[1]), dd.of(w[2])))
    return (q_WB[0][0], q_WB[1][0], q_WB[2][0], q_WB[3][0]), (w_B[0][0], w_B[1][0], w_B[2][0])


@routine
def splitting_steps(I, q, w, h, n):
    """(q_WB, w_WB_B) after n steps of h [s] without torque, taken in principal axes P. I: xx yy zz xy xz yz.

    The turns from B to P and back cost one rounding each, per call, and none if I is diagonal.
    """
    if I[3] == 0.0 and I[4] == 0.0 and I[5] == 0.0:
        return principal_steps((I[0], I[1], I[2]), q, w, h, n)
    M, e, q_WP, w_P = to_principal_axes(I, q, w)
    q_WP, w_P = principal_steps(M, q_WP, w_P, h, n)
    return to_body_axes(e, q_WP, w_P)
