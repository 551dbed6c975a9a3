"""Torque-free rotation of one rigid body, exact for any t: Jacobi functions, every phase in double-double.

    I ω̇ = I ω × ω, q̇ = ½ q ω. `free_top` finds the constants of a motion once, `state_at` gives q(t), ω(t) from them,
`free_rotation` does both for arrays of times. Equations in these letters, regimes, accuracy: docs/freetop.md.
Whittaker, Analytical Dynamics (1937), ch. VI; Landau and Lifshitz, Mechanics, sec. 37; elliptic functions: DLMF 19, 22.

Principal axes P = (a, b, c): c is the axis that L circles (I_c largest or smallest), b the middle one, a the other.
"""

import math
from typing import NamedTuple

import numpy as np

from rbt_ros.core import dd
from rbt_ros.core.elliptic import LEVELS, carlson_rf, carlson_rj, landen_chain, sn_cn_dn
from rbt_ros.core.jit import kernel, routine
from rbt_ros.errors import ModelError, SolveError

STEADY, CIRCLING, SEPARATRIX = 0, 1, 2  # FreeTop.regime: ω constant; ω periodic; ω on the curve between both kinds

SMALL = 1e-280  # squares below this have lost their second double
LARGEST_ANGLE = 1e12  # [rad]: up to it the reduction of phases is right to 1e-19 rad

# a double-double of FreeTop, and tuples of them
DD = tuple[float, float]


class FreeTop(NamedTuple):
    """The constants of one torque-free motion. Time is counted in 1/unit. Made by `free_top`; nothing in it changes."""

    regime: int
    unit: float  # a power of two [rad/s] by which ω is divided: no product under- or overflows
    q0: tuple[DD, DD, DD, DD]  # q_WB at t = 0
    w0: tuple[DD, DD, DD]  # w_WB_B at t = 0
    R_BP: tuple[tuple[DD, DD, DD], tuple[DD, DD, DD], tuple[DD, DD, DD]]  # columns a, b, c
    side: float  # S: 1 if I_c is the largest moment, -1 if the smallest
    w_peak: tuple[DD, DD, DD]  # ω_P = (A cn u, S B sn u, C dn u)
    h_peak: tuple[DD, DD, DD]  # I ω / L in P, from the same functions
    p: DD  # u = p t + u0
    u0: DD
    K: DD  # quarter period of cn, sn
    rate: DD  # secular turn about L: L / I_a; separatrix: L / I_b
    per_flip: DD  # χ lags by this at every half turn 2K: 4 Θ(K) + π
    phase0: DD  # Φ(u0)
    kappa: DD  # of Θ, see `theta`
    nc: DD  # 1 - n, n the characteristic of the integral of the third kind
    first: tuple[DD, DD, DD, DD]  # the shortest turn q_LP that brings L to axis c at t = 0
    chain: np.ndarray  # (LEVELS, 4) the Landen chain of k


@kernel
def less(a, b):
    """a < b of double-doubles."""
    return a[0] < b[0] or (a[0] == b[0] and a[1] < b[1])


@kernel
def power_of_two(x):
    """The power of two just above |x|; 1 for zero."""
    return 1.0 if x == 0.0 else math.ldexp(1.0, math.frexp(x)[1])


@kernel
def column_turn(c, s, x, y):
    """(c x - s y, s x + c y) of two 3-vectors."""
    cx = (dd.mul(c, x[0]), dd.mul(c, x[1]), dd.mul(c, x[2]))
    sx = (dd.mul(s, x[0]), dd.mul(s, x[1]), dd.mul(s, x[2]))
    cy = (dd.mul(c, y[0]), dd.mul(c, y[1]), dd.mul(c, y[2]))
    sy = (dd.mul(s, y[0]), dd.mul(s, y[1]), dd.mul(s, y[2]))
    return (
        (dd.sub(cx[0], sy[0]), dd.sub(cx[1], sy[1]), dd.sub(cx[2], sy[2])),
        (dd.add(sx[0], cy[0]), dd.add(sx[1], cy[1]), dd.add(sx[2], cy[2])),
    )


@routine
def principal_axes(I):
    """(moments, columns of R_BP) of the tensor I = xx yy zz xy xz yz in double-double, right-handed, not sorted.

    Jacobi's rotations, 8 sweeps (they converge quadratically: 5 reach 1e-32). A diagonal I comes back as it is.
    """
    xx, yy, zz = dd.of(I[0]), dd.of(I[1]), dd.of(I[2])
    xy, xz, yz = dd.of(I[3]), dd.of(I[4]), dd.of(I[5])
    ex, ey, ez = (dd.ONE, dd.ZERO, dd.ZERO), (dd.ZERO, dd.ONE, dd.ZERO), (dd.ZERO, dd.ZERO, dd.ONE)
    for _ in range(24):
        if xy[0] * xy[0] <= 2.0**-220 * xx[0] * yy[0]:
            xy = dd.ZERO
        else:
            # the turn in the xy plane that clears xy; t = tan of its angle
            cot2 = dd.div(dd.sub(yy, xx), dd.scaled(xy, 2.0))
            t = dd.div(dd.ONE, dd.add(dd.absolute(cot2), dd.sqrt(dd.add(dd.ONE, dd.square(cot2)))))
            t = t if cot2[0] >= 0.0 else dd.neg(t)
            c = dd.div(dd.ONE, dd.sqrt(dd.add(dd.ONE, dd.square(t))))
            s = dd.mul(t, c)
            xx, yy = dd.sub(xx, dd.mul(t, xy)), dd.add(yy, dd.mul(t, xy))
            xz, yz = dd.sub(dd.mul(c, xz), dd.mul(s, yz)), dd.add(dd.mul(s, xz), dd.mul(c, yz))
            xy = dd.ZERO
            ex, ey = column_turn(c, s, ex, ey)
        # next plane: y z x become x y z
        xx, yy, zz, xy, xz, yz = yy, zz, xx, yz, xy, xz
        ex, ey, ez = ey, ez, ex
    return (xx, yy, zz), (ex, ey, ez)


@routine
def theta(s, c, d, kappa, nc):
    """Θ = κ s³ R_J(c², d², 1, 1 - n s²)/6, κ² = -n (1 - n)(k² - n), at s = sn u: Legendre's Π(n) - F as an angle."""
    c2, s2 = dd.square(c), dd.square(s)
    rj = carlson_rj(c2, dd.square(d), dd.ONE, dd.add(c2, dd.mul(nc, s2)))
    return dd.div(dd.mul(dd.mul(kappa, dd.mul(s, s2)), rj), (6.0, 0.0))


@routine
def phase(regime, s, c, d, kappa, nc):
    """Φ(u) = 2 Θ(u) + α(u), α the angle of (I_a ω_a, S I_b ω_b) in its plane; separatrix: α - atan(√-n tanh u)."""
    alpha = dd.atan2(dd.mul(dd.sqrt(nc), s), c)
    if regime == SEPARATRIX:
        return dd.sub(alpha, dd.atan2(dd.mul(dd.sqrt(dd.sub(nc, dd.ONE)), s), dd.ONE))
    return dd.add(alpha, dd.scaled(theta(s, c, d, kappa, nc), 2.0))


@kernel
def shortest_turn(h):
    """The quaternion of the shortest turn of the unit vector h to axis c, h_c >= 0."""
    return dd.qunit((dd.add(dd.ONE, h[2]), h[1], dd.neg(h[0]), dd.ZERO))


@kernel
def sort_moments(M):
    """Indices (lo, mid, hi) of three moments in ascending order."""
    lo, mid, hi = 0, 1, 2
    if less(M[mid], M[lo]):
        lo, mid = mid, lo
    if less(M[hi], M[mid]):
        mid, hi = hi, mid
    if less(M[mid], M[lo]):
        lo, mid = mid, lo
    return lo, mid, hi


@kernel
def cut(x):
    """x, or zero below 1e-30."""
    return dd.ZERO if abs(x[0]) < 1e-30 else x


@kernel
def is_steady(I, w):
    """Whether ω × I ω = 0: rest, a sphere, a turn about a principal axis, or about any axis of equal moments."""
    x = (I[1][0] - I[2][0] + (I[1][1] - I[2][1])) * w[1][0] * w[2][0]
    y = (I[2][0] - I[0][0] + (I[2][1] - I[0][1])) * w[2][0] * w[0][0]
    z = (I[0][0] - I[1][0] + (I[0][1] - I[1][1])) * w[0][0] * w[1][0]
    return x == 0.0 and y == 0.0 and z == 0.0


@kernel
def steady_top(unit, q0, w0, R_BP, chain):
    """The constants of a motion whose ω does not change."""
    z, zzz = dd.ZERO, (dd.ZERO, dd.ZERO, dd.ZERO)
    first = (dd.ONE, dd.ZERO, dd.ZERO, dd.ZERO)
    rate = dd.sqrt(dd.dot3(w0, w0))
    return FreeTop(STEADY, unit, q0, w0, R_BP, 1.0, zzz, zzz, z, z, z, rate, z, z, z, z, first, chain)


@routine
def moving_top(unit, q0, w0, R_BP, regime, side, I, w, D, chain):
    """The constants of a motion that circles axis c or runs along the separatrix. I, w in P; D = |L² - 2 T I_b|.

    Fills chain where it circles.
    """
    Ia, Ib, Ic = I
    wa, wb, wc = w
    ca, cb, ba = dd.absolute(dd.sub(Ic, Ia)), dd.absolute(dd.sub(Ic, Ib)), dd.absolute(dd.sub(Ib, Ia))
    a, b, c = dd.mul(Ia, ca), dd.mul(Ib, cb), dd.mul(Ib, ba)
    # amplitudes: A is ω_a where ω_b = 0, B is ω_b where ω_a = 0, C the largest ω_c
    A2 = dd.add(dd.square(wa), dd.div(dd.mul(b, dd.square(wb)), a))
    B2 = dd.add(dd.square(wb), dd.div(dd.mul(a, dd.square(wa)), b))
    C2 = dd.add(dd.square(wc), dd.div(dd.mul(c, dd.square(wb)), dd.mul(Ic, ca)))
    if A2[0] < SMALL or (regime == SEPARATRIX and dd.square(wa)[0] < SMALL):
        return steady_top(unit, q0, w0, R_BP, chain)
    A, B, C = dd.sqrt(A2), dd.scaled(dd.sqrt(B2), side), dd.sqrt(C2)
    p = dd.mul(C, dd.sqrt(dd.div(dd.mul(cb, ca), dd.mul(Ia, Ib))))
    # modulus k² = m and 1 - m = mc, characteristic n < 0 and 1 - n = nc
    m = dd.div(dd.mul(c, B2), dd.mul(dd.mul(Ic, ca), C2))
    mc = dd.div(D, dd.mul(dd.mul(Ic, cb), C2))
    n = dd.neg(dd.div(dd.mul(Ic, ba), dd.mul(Ia, cb)))
    nc = dd.div(dd.mul(Ib, ca), dd.mul(Ia, cb))
    kappa = dd.sqrt(dd.mul(dd.neg(n), dd.mul(nc, dd.sub(m, n))))
    # t = 0
    cn, sn, dn = dd.div(wa, A), dd.div(wb, B), dd.div(wc, C)
    phase0 = phase(regime, sn, cn, dn, kappa, nc)
    ha, hb, hc = dd.mul(Ia, wa), dd.mul(Ib, wb), dd.mul(Ic, wc)
    L = dd.sqrt(dd.dot3((ha, hb, hc), (ha, hb, hc)))
    first = shortest_turn((dd.div(ha, L), dd.div(hb, L), dd.div(hc, L)))
    h_peak = (dd.div(dd.mul(Ia, A), L), dd.div(dd.mul(Ib, B), L), dd.div(dd.mul(Ic, C), L))
    if regime == SEPARATRIX:
        u0 = dd.mul(sn, carlson_rf(dd.square(cn), dd.square(cn), dd.ONE))
        K, per_flip, rate = dd.ZERO, dd.ZERO, dd.div(L, Ib)
    else:
        u0 = dd.mul(sn, carlson_rf(dd.square(cn), dd.square(dn), dd.ONE))
        K = landen_chain(m, mc, chain)
        per_flip = dd.add(dd.scaled(theta(dd.ONE, dd.ZERO, dd.sqrt(mc), kappa, nc), 4.0), dd.PI)
        rate = dd.div(L, Ia)
    w_peak = (A, B, C)
    return FreeTop(
        regime, unit, q0, w0, R_BP, side, w_peak, h_peak, p, u0, K, rate, per_flip, phase0, kappa, nc, first, chain
    )


@routine
def motion_constants(I, q, w, chain):
    """`free_top`, compiled: fills chain (LEVELS, 4) and keeps it in the result. I: positive definite, q any length."""
    # powers of two out: the motion does not depend on the scale of I, and that of ω is that of 1/t
    unit = power_of_two(max(abs(w[0]), max(abs(w[1]), abs(w[2]))))
    f = 1.0 / power_of_two(I[0] + I[1] + I[2])
    J = (f * I[0], f * I[1], f * I[2], f * I[3], f * I[4], f * I[5])
    q0 = dd.qunit((dd.of(q[0]), dd.of(q[1]), dd.of(q[2]), dd.of(q[3])))
    w0 = (dd.of(w[0] / unit), dd.of(w[1] / unit), dd.of(w[2] / unit))
    M, e = principal_axes(J)
    v = dd.turn(e, w0)  # the rows of R_PB are the axes
    if J[3] != 0.0 or J[4] != 0.0 or J[5] != 0.0:
        v = (cut(v[0]), cut(v[1]), cut(v[2]))  # the axes are known to 1e-32: a component of that size is none
    # D = L² - 2 T I_b: L circles the axis of the largest moment if it is positive, of the smallest if negative
    lo, b, hi = sort_moments(M)
    most = dd.mul(dd.mul(M[hi], dd.sub(M[hi], M[b])), dd.square(v[hi]))
    least = dd.mul(dd.mul(M[lo], dd.sub(M[b], M[lo])), dd.square(v[lo]))
    D = dd.sub(most, least)
    a, c, side = (lo, hi, 1.0) if D[0] >= 0.0 else (hi, lo, -1.0)
    # closer to the separatrix than a double-double can tell: on it
    regime = SEPARATRIX if abs(D[0]) <= max(SMALL, 2.0**-100 * (most[0] + least[0])) else CIRCLING
    # axes with ω_c >= 0, ω_a >= 0, right-handed
    to_c = -1.0 if v[c][0] < 0.0 else 1.0
    to_a = -1.0 if v[a][0] < 0.0 else 1.0
    to_b = to_a * to_c if (b - a) % 3 == 1 else -to_a * to_c
    R_BP = (
        (dd.scaled(e[a][0], to_a), dd.scaled(e[b][0], to_b), dd.scaled(e[c][0], to_c)),
        (dd.scaled(e[a][1], to_a), dd.scaled(e[b][1], to_b), dd.scaled(e[c][1], to_c)),
        (dd.scaled(e[a][2], to_a), dd.scaled(e[b][2], to_b), dd.scaled(e[c][2], to_c)),
    )
    w_P = (dd.scaled(v[a], to_a), dd.scaled(v[b], to_b), dd.scaled(v[c], to_c))
    I_P = (M[a], M[b], M[c])
    if is_steady(I_P, w_P):
        return steady_top(unit, q0, w0, R_BP, chain)
    return moving_top(unit, q0, w0, R_BP, regime, side, I_P, w_P, dd.absolute(D), chain)


def free_top(I, q, w):
    """The constants of the torque-free motion from q_WB, w_WB_B [rad/s] at t = 0. I: xx yy zz xy xz yz [kg·m²]."""
    return motion_constants(I, q, w, np.zeros((LEVELS, 4)))


@kernel
def steady_turn(top, t):
    """q_BB' of the turn by |ω| t about ω."""
    c, s = dd.cos_sin(dd.scaled(dd.mul(top.rate, t), 0.5))
    f = dd.ZERO if top.rate[0] == 0.0 else dd.div(s, top.rate)
    return (c, dd.mul(f, top.w0[0]), dd.mul(f, top.w0[1]), dd.mul(f, top.w0[2]))


@kernel
def jacobi_at(top, t):
    """(sn u, cn u, dn u) at u - 2K · flips in [-K, K], and the number of half turns `flips`, u = p t + u0."""
    u = dd.add(dd.mul(top.p, t), top.u0)
    if top.regime == CIRCLING:
        flips = float(math.floor(u[0] / (2.0 * top.K[0]) + 0.5))
        sn, cn, dn = sn_cn_dn(dd.sub(u, dd.times(dd.scaled(top.K, 2.0), flips)), top.chain, top.K)
        return sn, cn, dn, flips
    # k = 1: sn = tanh u, cn = dn = 1 / cosh u
    e = dd.exp(dd.neg(dd.absolute(u)))
    f = dd.div(dd.ONE, dd.add(dd.ONE, dd.square(e)))
    sech, tanh = dd.mul(dd.scaled(e, 2.0), f), dd.mul(dd.sub(dd.ONE, dd.square(e)), f)
    return tanh if u[0] >= 0.0 else dd.neg(tanh), sech, sech, 0.0


@kernel
def state_in_double_double(top, t):
    """(q_WB, w_WB_B / unit) at t, a double-double in 1/unit."""
    if top.regime == STEADY:
        return dd.qmul(top.q0, steady_turn(top, t)), top.w0
    sn, cn, dn, flips = jacobi_at(top, t)
    # χ, the turn about L beside the shortest turns: secular rate, less what the phase lags behind
    lag = dd.sub(phase(top.regime, sn, cn, dn, top.kappa, top.nc), top.phase0)
    lag = dd.add(lag, dd.times(top.per_flip, flips))
    chi = dd.sub(dd.mul(top.rate, t), dd.scaled(lag, top.side))
    if flips % 2.0 != 0.0:
        sn, cn = dd.neg(sn), dd.neg(cn)
    # the turn of P: (L to c at t = 0)⁻¹, χ about L, L to c now
    now = shortest_turn((dd.mul(top.h_peak[0], cn), dd.mul(top.h_peak[1], sn), dd.mul(top.h_peak[2], dn)))
    cx, sx = dd.cos_sin(dd.scaled(chi, 0.5))
    turn = dd.qmul(dd.qmul(dd.qconj(top.first), (cx, dd.ZERO, dd.ZERO, sx)), now)
    x = dd.turn(top.R_BP, (turn[1], turn[2], turn[3]))
    w_P = (dd.mul(top.w_peak[0], cn), dd.mul(top.w_peak[1], sn), dd.mul(top.w_peak[2], dn))
    return dd.qmul(top.q0, (turn[0], x[0], x[1], x[2])), dd.turn(top.R_BP, w_P)


@routine
def rounded_state(top, t):
    """(q_WB, w_WB_B) at t, a double-double in seconds, each element rounded once."""
    q, w = state_in_double_double(top, dd.scaled(t, top.unit))
    q = dd.qunit(q)
    return (q[0][0], q[1][0], q[2][0], q[3][0]), (w[0][0] * top.unit, w[1][0] * top.unit, w[2][0] * top.unit)


@routine
def state_at(top, t):
    """(q_WB, w_WB_B [rad/s]) at t [s]."""
    return rounded_state(top, dd.of(t))


@routine
def state_at_ns(top, t_ns):
    """(q_WB, w_WB_B [rad/s]) at t_ns whole nanoseconds (below 2^62: 146 years), without rounding of t."""
    hi = float(t_ns)
    return rounded_state(top, dd.div((hi, float(t_ns - int(hi))), dd.of(1e9)))


@routine
def fill_states(top, t, q, w):
    """Fill q (n, 4) and w (n, 3) at the times t (n,) [s]."""
    for i in range(t.shape[0]):
        a, b = state_at(top, t[i])
        for k in range(4):
            q[i, k] = a[k]
        for k in range(3):
            w[i, k] = b[k]


def fastest_rate(top):
    """The larger rate [rad/s] of the two phases of a motion: it may go on until LARGEST_ANGLE."""
    return max(top.rate[0], top.p[0]) * top.unit


def free_rotation(inertia, q0, omega0, t):
    """(q_WB, w_WB_B) at t [s] of a body without torque: shapes (4,), (3,) for a number t, (n, 4), (n, 3) for an array.

    inertia: 3 principal moments (body axes are principal) or the 3 x 3 tensor [kg·m²]; q0 = q_WB (w x y z), normalised
    here; omega0 = w_WB_B [rad/s]. q follows q0 continuously in t (its sign does not jump).
    """
    I = checked_inertia(inertia)
    q0, omega0 = checked_vector(q0, 4, "q0"), checked_vector(omega0, 3, "omega0")
    if not np.any(q0):
        raise ModelError("q0 is zero: a quaternion (w x y z) needs a length; no turn is (1, 0, 0, 0).")
    times = np.asarray(t, dtype=np.float64)
    if not np.all(np.isfinite(times)):
        raise ModelError("t holds a number that is not finite; give times in seconds.")
    # a power of two: the square of no element under- or overflows
    q0 = q0 / 2.0 ** math.frexp(float(np.abs(q0).max()))[1]
    top = free_top(I, tuple(map(float, q0)), tuple(map(float, omega0)))
    angle = fastest_rate(top) * float(np.abs(times).max(initial=0.0))
    if angle > LARGEST_ANGLE:
        raise SolveError(
            f"the phases of this motion reach {angle:.3g} rad at the largest t; they are exact up to "
            f"{LARGEST_ANGLE:.0e} rad. Propagate in several calls, or check the units (rad/s, s)."
        )
    flat = np.ascontiguousarray(times.reshape(-1))
    q, w = np.empty((flat.size, 4)), np.empty((flat.size, 3))
    fill_states(top, flat, q, w)
    return q.reshape((*times.shape, 4)), w.reshape((*times.shape, 3))


def checked_vector(x, n, name):
    """x as n finite numbers."""
    a = np.asarray(x, dtype=np.float64)
    if a.shape != (n,) or not np.all(np.isfinite(a)):
        raise ModelError(f"{name} = {x}: {n} finite numbers are needed.")
    return a


def checked_inertia(inertia):
    """xx yy zz xy xz yz [kg·m²] of three moments or a symmetric positive definite 3 x 3 tensor."""
    a = np.asarray(inertia, dtype=np.float64)
    if a.shape == (3,):
        a = np.diag(a)
    if a.shape != (3, 3) or not np.all(np.isfinite(a)):
        raise ModelError(f"inertia = {inertia}: 3 principal moments or a finite 3 x 3 tensor [kg·m²] are needed.")
    if np.abs(a - a.T).max() > 1e-12 * np.abs(a).max():
        raise ModelError(f"inertia = {a.tolist()}: I_BBcm is symmetric; element [i][j] must be that at [j][i].")
    smallest = np.linalg.eigvalsh(a)[0]
    if smallest <= 0.0:
        raise ModelError(
            f"inertia: smallest principal moment {smallest:.4g} kg·m² is not positive. A thin rod has no turn about "
            "its own axis to propagate: give it a small moment there."
        )
    return (
        float(a[0, 0]),
        float(a[1, 1]),
        float(a[2, 2]),
        float(a[0, 1] + a[1, 0]) / 2.0,
        float(a[0, 2] + a[2, 0]) / 2.0,
        float(a[1, 2] + a[2, 1]) / 2.0,
    )
