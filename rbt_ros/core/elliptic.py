"""Elliptic integrals and Jacobi functions in double-double, for every modulus 0 <= k < 1 (k' down to 1e-150).

Carlson's R_F and R_J by duplication (Carlson, Numer. Algorithms 10 (1995) 13; DLMF 19.36.1-2), sn cn dn by descending
Landen transformation (DLMF 22.7(i)). The modulus comes as m = k² and mc = 1 - m, both to full relative precision.
"""

from rbt_ros.core import dd
from rbt_ros.core.jit import kernel, routine

# deviations from the mean below this: the first terms left out of the series are of degree 8, (1e-4)^8 = 1e-32
NEAR = 1e-4
# coefficients of the monomials in E2 .. E5, DLMF 19.36.1 and 19.36.2; from degree 6 on a double is exact enough
F_E2, F_E3, F_E2E2, F_E2E3 = dd.of_ratio(-1, 10), dd.of_ratio(1, 14), dd.of_ratio(1, 24), dd.of_ratio(-3, 44)
F_E2E2E2, F_E3E3, F_E2E2E3 = -5.0 / 208.0, 3.0 / 104.0, 1.0 / 16.0
J_E2, J_E3, J_E2E2, J_E4 = dd.of_ratio(-3, 14), dd.of_ratio(1, 6), dd.of_ratio(9, 88), dd.of_ratio(-3, 22)
J_E2E3, J_E5, J_E2E2E2, J_E3E3 = dd.of_ratio(-9, 52), dd.of_ratio(3, 26), -1.0 / 16.0, 3.0 / 40.0
J_E2E4, J_E2E2E3, J_E3E4, J_E2E5 = 3.0 / 20.0, 45.0 / 272.0, -9.0 / 68.0, -9.0 / 68.0

LEVELS = 24  # rows of a Landen chain; k' = 1e-150 uses 15


@kernel
def far(a, x):
    """Whether x deviates from the mean a by more than the series takes."""
    return abs(a[0] - x[0]) > NEAR * a[0]


@routine
def carlson_rf(x, y, z):
    """R_F(x, y, z) = ½ ∫ dt / √((t+x)(t+y)(t+z)) over t > 0. At most one argument is zero."""
    a = dd.div(dd.add(dd.add(x, y), z), (3.0, 0.0))
    while far(a, x) or far(a, y) or far(a, z):
        # duplication: every argument to (x + λ)/4
        rx, ry, rz = dd.sqrt(x), dd.sqrt(y), dd.sqrt(z)
        shift = dd.add(dd.mul(rx, dd.add(ry, rz)), dd.mul(ry, rz))
        x, y, z = dd.add(x, shift), dd.add(y, shift), dd.add(z, shift)
        x, y, z = dd.scaled(x, 0.25), dd.scaled(y, 0.25), dd.scaled(z, 0.25)
        a = dd.div(dd.add(dd.add(x, y), z), (3.0, 0.0))
    # symmetric functions of the deviations X + Y + Z = 0
    X, Y = dd.sub(dd.ONE, dd.div(x, a)), dd.sub(dd.ONE, dd.div(y, a))
    Z = dd.neg(dd.add(X, Y))
    E2, E3 = dd.sub(dd.mul(X, Y), dd.square(Z)), dd.mul(dd.mul(X, Y), Z)
    e2, e3 = E2[0], E3[0]
    s = dd.of(F_E2E2E2 * e2 * e2 * e2 + F_E3E3 * e3 * e3 + F_E2E2E3 * e2 * e2 * e3)
    s = dd.add(s, dd.mul(E2, dd.add(F_E2, dd.add(dd.mul(F_E2E2, E2), dd.mul(F_E2E3, E3)))))
    s = dd.add(s, dd.mul(F_E3, E3))
    return dd.div(dd.add(dd.ONE, s), dd.sqrt(a))


@routine
def carlson_rj(x, y, z, p):
    """R_J(x, y, z, p) = 3/2 ∫ dt / ((t+p) √((t+x)(t+y)(t+z))) over t > 0, for p >= x, y, z. At most one is zero."""
    delta = dd.mul(dd.mul(dd.sub(p, x), dd.sub(p, y)), dd.sub(p, z))
    f, total = 1.0, dd.ZERO  # f = 4^-n, exact
    a = dd.div(dd.add(dd.add(x, y), dd.add(z, dd.scaled(p, 2.0))), (5.0, 0.0))
    while far(a, x) or far(a, y) or far(a, z) or far(a, p):
        # duplication: R_J = R_J((x + λ)/4, ...)/4 + 6 R_C(1, 1 + e)/d
        rx, ry, rz, rp = dd.sqrt(x), dd.sqrt(y), dd.sqrt(z), dd.sqrt(p)
        d = dd.mul(dd.mul(dd.add(rp, rx), dd.add(rp, ry)), dd.add(rp, rz))
        e = dd.div(delta, dd.square(d))
        total = dd.add(total, dd.scaled(dd.div(dd.atan_ratio(e), d), f))
        shift = dd.add(dd.mul(rx, dd.add(ry, rz)), dd.mul(ry, rz))
        x, y, z, p = dd.add(x, shift), dd.add(y, shift), dd.add(z, shift), dd.add(p, shift)
        x, y, z, p = dd.scaled(x, 0.25), dd.scaled(y, 0.25), dd.scaled(z, 0.25), dd.scaled(p, 0.25)
        f, delta = 0.25 * f, dd.scaled(delta, 1.0 / 64.0)
        a = dd.div(dd.add(dd.add(x, y), dd.add(z, dd.scaled(p, 2.0))), (5.0, 0.0))
    # symmetric functions of the deviations X + Y + Z + 2P = 0
    X, Y, Z = dd.sub(dd.ONE, dd.div(x, a)), dd.sub(dd.ONE, dd.div(y, a)), dd.sub(dd.ONE, dd.div(z, a))
    P = dd.scaled(dd.add(dd.add(X, Y), Z), -0.5)
    XY, XYZ, P2 = dd.mul(X, Y), dd.mul(dd.mul(X, Y), Z), dd.square(P)
    E2 = dd.sub(dd.add(XY, dd.mul(Z, dd.add(X, Y))), dd.times(P2, 3.0))
    E3 = dd.add(XYZ, dd.add(dd.scaled(dd.mul(E2, P), 2.0), dd.scaled(dd.mul(P2, P), 4.0)))
    E4 = dd.mul(P, dd.add(dd.scaled(XYZ, 2.0), dd.add(dd.mul(E2, P), dd.times(dd.mul(P2, P), 3.0))))
    E5 = dd.mul(XYZ, P2)
    e2, e3, e4, e5 = E2[0], E3[0], E4[0], E5[0]
    s = dd.of(
        e2 * e2 * (J_E2E2E2 * e2 + J_E2E2E3 * e3) + e3 * (J_E3E3 * e3 + J_E3E4 * e4) + e2 * (J_E2E4 * e4 + J_E2E5 * e5)
    )
    s = dd.add(s, dd.mul(E2, dd.add(J_E2, dd.add(dd.mul(J_E2E2, E2), dd.mul(J_E2E3, E3)))))
    s = dd.add(s, dd.add(dd.mul(J_E3, E3), dd.add(dd.mul(J_E4, E4), dd.mul(J_E5, E5))))
    last = dd.div(dd.add(dd.ONE, s), dd.mul(a, dd.sqrt(a)))
    return dd.add(dd.scaled(last, f), dd.times(total, 6.0))


@routine
def landen_chain(m, mc, chain):
    """The quarter period K(m) = π/2 Π (1 + k1), DLMF 19.8(ii). Fills chain (LEVELS, 4): the moduli k1 and 1 - k1.

    A row per descending step, k1 = (1 - k')/(1 + k'), is [k1, 1 - k1] as two double-doubles; the row after the last
    starts with zero (k1 below 1e-33: sn is sin).
    """
    kc, K = dd.sqrt(mc), dd.HALF_PI
    for i in range(LEVELS):
        w = dd.add(dd.ONE, kc)
        k1 = dd.div(m, dd.square(w))
        if k1[0] < 1e-33:
            chain[i, 0] = 0.0
            break
        k1c = dd.div(dd.scaled(kc, 2.0), w)
        chain[i, 0], chain[i, 1], chain[i, 2], chain[i, 3] = k1[0], k1[1], k1c[0], k1c[1]
        K = dd.mul(K, dd.add(dd.ONE, k1))
        m = dd.square(k1)
        kc = dd.sqrt(dd.mul(k1c, dd.add(dd.ONE, k1)))
    return K


@routine
def sn_cn_dn(u, chain, K):
    """sn, cn, dn of |u| <= K. Only positive terms are added: cn and dn keep relative precision however small k' is."""
    c, s = dd.cos_sin(dd.div(dd.mul(dd.HALF_PI, u), K))
    d = dd.ONE
    i = 0
    while chain[i, 0] > 0.0:
        i += 1
    while i > 0:
        i -= 1
        k1, k1c = (chain[i, 0], chain[i, 1]), (chain[i, 2], chain[i, 3])
        s2 = dd.square(s)
        f = dd.div(dd.ONE, dd.add(dd.ONE, dd.mul(k1, s2)))
        sn = dd.mul(dd.mul(dd.add(dd.ONE, k1), s), f)
        cn = dd.mul(dd.mul(c, d), f)
        # dn = (1 - k1 s²)/(1 + k1 s²), its numerator without cancellation
        d = dd.mul(dd.add(dd.square(c), dd.mul(k1c, s2)), f)
        s, c = sn, cn
    return s, c, d
