"""Torque-free rotation by splitting: two turns about body axes, the rest a turn about L. For long runs in fixed steps.

    T = |L|²/2I_b + ½ (1/I_c - 1/I_b) h_c² + ½ (1/I_a - 1/I_b) h_a²,   h = I ω, b the axis of the middle moment.

|L|² commutes with everything: its flow turns the body about L by |L|/I_b · t and leaves h alone. Each of the other two is
solved exactly by a turn about its axis. Their composition is that of Blanes and Moan, J. Comput. Appl. Math. 142 (2002)
313, order 6 in 11 + 10 turns. Symplectic and reversible: the energy error stays bounded, |h| is kept to round-off, and
a symmetric body (one of the two coefficients is zero) moves exactly. Figures and when to choose it: docs/freetop.md.
"""

import math

from rbt_ros.core.jit import kernel
from rbt_ros.core.vec import dot, qmul, scale, sincos

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
def turn_about_c(q, h, angle):
    """(q, h) after the body has turned by `angle` about its axis c = 1 of (b, c, a)."""
    s, c = sincos(0.5 * angle)
    w, x, y, z = q
    q = (c * w - s * y, c * x - s * z, c * y + s * w, c * z + s * x)
    cos, sin = 1.0 - 2.0 * s * s, 2.0 * s * c
    return q, (cos * h[0] - sin * h[2], h[1], cos * h[2] + sin * h[0])


@kernel
def turn_about_a(q, h, angle):
    """(q, h) after the body has turned by `angle` about its axis a = 2 of (b, c, a)."""
    s, c = sincos(0.5 * angle)
    w, x, y, z = q
    q = (c * w - s * z, c * x + s * y, c * y - s * x, c * z + s * w)
    cos, sin = 1.0 - 2.0 * s * s, 2.0 * s * c
    return q, (cos * h[0] + sin * h[1], cos * h[1] - sin * h[0], h[2])


@kernel
def splitting_step(I, q, w, h):
    """(q_WB, w_WB_B) after h [s] without torque, order 6. I: principal moments [kg·m²], the body axes are principal."""
    # cyclic renumbering (b, c, a), the middle moment first: it keeps the axes right-handed
    b = middle(I)
    c, a = (b + 1) % 3, (b + 2) % 3
    k = (I[b] * w[b], I[c] * w[c], I[a] * w[a])
    L = math.sqrt(dot(k, k))
    if L == 0.0:
        return q, w
    rate_c, rate_a = (I[b] - I[c]) / (I[b] * I[c]), (I[b] - I[a]) / (I[b] * I[a])
    # turn about L
    s, cos = sincos(0.5 * h * L / I[b])
    e = scale(s / L, k)
    p = qmul((q[0], q[1 + b], q[1 + c], q[1 + a]), (cos, e[0], e[1], e[2]))
    # turns about c and a in turn
    for i in range(10):
        p, k = turn_about_c(p, k, TURNS_C[i] * h * rate_c * k[1])
        p, k = turn_about_a(p, k, TURNS_A[i] * h * rate_a * k[2])
    p, k = turn_about_c(p, k, TURNS_C[10] * h * rate_c * k[1])
    # the same turn in every step has the same rounding: without this, |q| and |h| would drift by eps per step
    p = qunit(p)
    k = scale(1.0 - 0.5 * (dot(k, k) / (L * L) - 1.0), k)
    w1 = (k[0] / I[b], k[1] / I[c], k[2] / I[a])
    i, j = (3 - b) % 3, (4 - b) % 3
    m = (5 - b) % 3
    return (p[0], p[1 + i], p[1 + j], p[1 + m]), (w1[i], w1[j], w1[m])


@kernel
def qunit(q):
    """q / |q| of a nearly unit quaternion, one Newton step."""
    s = 1.5 - 0.5 * (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
    return (s * q[0], s * q[1], s * q[2], s * q[3])
