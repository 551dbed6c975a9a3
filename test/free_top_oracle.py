"""Torque-free rotation in 40 digits, twice, sharing nothing with the kernels: oracles of test_freetop.py.

`exact_state`: Euler angles about L, Legendre's integrals, matrices (Whittaker, Analytical Dynamics, ch. VI), by
mpmath's ellipfun, ellipf, ellippi, eigsy. For any t; not for steady motion, not on the separatrix.
`taylor_state`: power series of Euler's equations. For every motion; short times.
"""

import mpmath as mp

DIGITS = 40


def exact_state(I, q0, w0, t):
    """(q_WB, w_WB_B) at t as mpf. I: 3 moments or 3 rows. Floats are the exact numbers they are."""
    with mp.workdps(DIGITS + 30):
        rows = [[I[i] if i == j else 0 for j in range(3)] for i in range(3)] if not hasattr(I[0], "__len__") else I
        moments, axes = principal(mp.matrix([[mp.mpf(float(x)) for x in row] for row in rows]))
        w = axes.T * mp.matrix([mp.mpf(float(x)) for x in w0])
        L2 = sum((moments[i] * w[i]) ** 2 for i in range(3))
        T2 = sum(moments[i] * w[i] ** 2 for i in range(3))
        order = (0, 1, 2) if L2 > T2 * moments[1] else (2, 1, 0)
        P = mp.matrix(3, 3)
        for k in range(3):
            P[:, k] = axes[:, order[k]]
        if mp.det(P) < 0:
            P[:, 1] = -P[:, 1]
        if (P.T * axes * w)[2] < 0:  # ω_c > 0
            P[:, 1], P[:, 2] = -P[:, 1], -P[:, 2]
        Ia, Ib, Ic = (moments[k] for k in order)
        w = P.T * mp.matrix([mp.mpf(float(x)) for x in w0])
        A = mp.sqrt((L2 - T2 * Ic) / (Ia * (Ia - Ic)))
        B = mp.sqrt((L2 - T2 * Ic) / (Ib * (Ib - Ic)))
        C = mp.sqrt((L2 - T2 * Ia) / (Ic * (Ic - Ia)))
        m = (Ia - Ib) * (L2 - T2 * Ic) / ((Ic - Ib) * (L2 - T2 * Ia))
        p = (Ic - Ib) / Ia * B * C / A  # signed
        L, n = mp.sqrt(L2), 1 - (Ib * B / (Ia * A)) ** 2
        K = mp.ellipk(m)

        def motion(u):
            """(ω_P, Legendre's Π) at the argument u."""
            half_turns = mp.nint(u / (2 * K))
            v = u - 2 * K * half_turns
            s, c, d = (mp.ellipfun(f, v, m=m).real for f in ("sn", "cn", "dn"))
            pi = mp.ellippi(n, mp.atan2(s, c), m).real + 2 * half_turns * mp.ellippi(n, m).real
            sign = (-1) ** int(half_turns)
            return mp.matrix([A * c * sign, B * s * sign, C * d]), pi

        u0 = mp.ellipf(mp.atan2(w[1] / B, w[0] / A), m).real
        w_0, pi_0 = motion(u0)
        w_t, pi_t = motion(u0 + p * mp.mpf(float(t)))
        psi = L / Ic * mp.mpf(float(t)) + L * (1 / Ia - 1 / Ic) / p * (pi_t - pi_0)
        J = (Ia, Ib, Ic)
        now, then = nodes(J, w_t), nodes(J, w_0)
        turn = mp.matrix([[mp.cos(psi), -mp.sin(psi), 0], [mp.sin(psi), mp.cos(psi), 0], [0, 0, 1]])
        q = quaternion(P * then.T * turn * now * P.T)
        a = [mp.mpf(float(x)) for x in q0]
        a = [x / mp.sqrt(sum(y * y for y in a)) for x in a]
        return product(a, q), list(P * w_t)


def principal(I):
    """Moments (ascending) and axes (columns) of a symmetric matrix."""
    if all(I[i, j] == 0 for i in range(3) for j in range(3) if i != j):
        values, vectors = [I[i, i] for i in range(3)], mp.eye(3)
    else:
        values, vectors = mp.eigsy(I)
    order = sorted(range(3), key=lambda i: values[i])
    axes = mp.matrix(3, 3)
    for k in range(3):
        axes[:, k] = vectors[:, order[k]]
    return [values[i] for i in order], axes


def nodes(J, w):
    """Rows: line of nodes e_c × L, L × line of nodes, L, in P."""
    h = [J[i] * w[i] for i in range(3)]
    L = mp.sqrt(sum(x * x for x in h))
    f = mp.sqrt(h[0] ** 2 + h[1] ** 2)
    x, z = [-h[1] / f, h[0] / f, mp.mpf(0)], [a / L for a in h]
    y = [z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]]
    return mp.matrix([x, y, z])


def quaternion(R):
    """w x y z of a rotation matrix: the column of 4 q qᵀ with the largest diagonal."""
    d = [1 + R[0, 0] + R[1, 1] + R[2, 2]] + [1 + 2 * R[i, i] - R[0, 0] - R[1, 1] - R[2, 2] for i in range(3)]
    Q = mp.matrix(4, 4)
    for i in range(4):
        Q[i, i] = d[i]
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        Q[0, i + 1] = Q[i + 1, 0] = R[k, j] - R[j, k]
        Q[j + 1, k + 1] = Q[k + 1, j + 1] = R[j, k] + R[k, j]
    i = max(range(4), key=lambda k: d[k])
    return [Q[i, k] / (2 * mp.sqrt(d[i])) for k in range(4)]


def product(a, b):
    """Hamilton product."""
    return [
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    ]


def taylor_state(I, q0, w0, t, order=40):
    """(q_WB, w_WB_B) at t as mpf, by Taylor steps of `order` with h |ω| <= 1/4. I: 3 moments."""
    with mp.workdps(DIGITS):
        J = [mp.mpf(float(x)) for x in I]
        w = [mp.mpf(float(x)) for x in w0]
        q = [mp.mpf(float(x)) for x in q0]
        q = [x / mp.sqrt(sum(y * y for y in q)) for x in q]
        n = 1 + int(4 * abs(t) * mp.sqrt(sum(x * x for x in w)))
        h = mp.mpf(float(t)) / n
        for _ in range(n):
            q, w = taylor_step(J, q, w, h, order)
        return q, w


def taylor_step(J, q, w, h, order):
    """Sum of the series of q and ω to h^order: coefficients from I ω̇ = I ω × ω and q̇ = ½ q ω by Cauchy products."""
    W, Q = [w], [q]
    for n in range(order):
        pairs = [(W[i], W[n - i]) for i in range(n + 1)]
        wdot = [
            (J[(k + 1) % 3] - J[(k + 2) % 3]) / J[k] * sum(a[(k + 1) % 3] * b[(k + 2) % 3] for a, b in pairs)
            for k in range(3)
        ]
        products = [product(Q[i], [0, *W[n - i]]) for i in range(n + 1)]
        W.append([x / (n + 1) for x in wdot])
        Q.append([sum(p[k] for p in products) / (2 * (n + 1)) for k in range(4)])

    def total(series, k):
        x = mp.mpf(0)
        for c in reversed(series):
            x = x * h + c[k]
        return x

    return [total(Q, k) for k in range(4)], [total(W, k) for k in range(3)]
