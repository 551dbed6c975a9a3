"""Double-double numbers: the pair (hi, lo) stands for hi + lo, |lo| <= ulp(hi)/2. 106 bits, rounding about 1e-32.

For phases that grow to 1e8 rad and must be right to 1e-16 rad. Sums, products, quotients and square roots of doubles
only, no fused multiply-add and no libm: the same bits on every processor, compiled or plain.
Use as `dd.mul(a, b)`. Sources: Dekker (1971), Numer. Math. 18, 224; Knuth, TAOCP 2, 4.2.2; Hida, Li and Bailey (2001).
"""

import math
from fractions import Fraction

from rbt_ros.core.jit import kernel, routine

SPLITTER = 134217729.0  # 2^27 + 1: cuts 53 bits in two halves whose products are exact
EPS = 2.0**-104  # relative error that one operation stays below


def of_fraction(x):
    """The double-double nearest to the Fraction x. Plain Python, for constants."""
    hi = float(x)
    return (hi, float(x - Fraction(hi)))


def of_ratio(a, b):
    """The double-double nearest to a/b. Plain Python, for constants."""
    return of_fraction(Fraction(a, b))


ZERO, ONE = (0.0, 0.0), (1.0, 0.0)
# pi and ln 2 to 50 digits, and pi/2 in three doubles for the reduction of large angles
_PI = Fraction("3.14159265358979323846264338327950288419716939937511")
_LN2 = Fraction("0.69314718055994530941723212145817656807550013436026")
PI, HALF_PI, LN2 = of_fraction(_PI), of_fraction(_PI / 2), of_fraction(_LN2)
HALF_PI_3 = float(_PI / 2 - Fraction(HALF_PI[0]) - Fraction(HALF_PI[1]))
TWO_OVER_PI = 2.0 / PI[0]

FACTORIAL = tuple(of_ratio(1, math.factorial(n)) for n in range(30))  # 1/n!
ODD = tuple(of_ratio(1, 2 * n + 1) for n in range(25))  # 1/(2n + 1)


@kernel
def quick_two_sum(a, b):
    """a + b without error, for |a| >= |b|."""
    s = a + b
    return (s, b - (s - a))


@kernel
def two_sum(a, b):
    """a + b without error (Knuth)."""
    s = a + b
    t = s - a
    return (s, (a - (s - t)) + (b - t))


@kernel
def two_prod(a, b):
    """a b without error (Dekker), for 1e-290 < |a b| and |a|, |b| < 1e300."""
    p = a * b
    t = SPLITTER * a
    a1 = t - (t - a)
    a2 = a - a1
    t = SPLITTER * b
    b1 = t - (t - b)
    b2 = b - b1
    return (p, ((a1 * b1 - p) + a1 * b2 + a2 * b1) + a2 * b2)


@kernel
def of(x):
    """The double x."""
    return (x, 0.0)


@kernel
def neg(a):
    """-a."""
    return (-a[0], -a[1])


@kernel
def absolute(a):
    """|a|."""
    return (-a[0], -a[1]) if a[0] < 0.0 else a


@kernel
def scaled(a, s):
    """s a without error, for s a power of two."""
    return (s * a[0], s * a[1])


@kernel
def add(a, b):
    """a + b."""
    s, e = two_sum(a[0], b[0])
    t, f = two_sum(a[1], b[1])
    s, e = quick_two_sum(s, e + t)
    return quick_two_sum(s, e + f)


@kernel
def sub(a, b):
    """a - b."""
    return add(a, (-b[0], -b[1]))


@kernel
def mul(a, b):
    """a b."""
    p, e = two_prod(a[0], b[0])
    return quick_two_sum(p, e + (a[0] * b[1] + a[1] * b[0]))


@kernel
def times(a, x):
    """a x of a double x."""
    p, e = two_prod(a[0], x)
    return quick_two_sum(p, e + a[1] * x)


@kernel
def square(a):
    """a²."""
    return mul(a, a)


@routine
def div(a, b):
    """a / b: two digits of long division, and a third for rounding."""
    x = a[0] / b[0]
    r = sub(a, times(b, x))
    y = r[0] / b[0]
    r = sub(r, times(b, y))
    q = quick_two_sum(x, y)
    return add(q, (r[0] / b[0], 0.0))


@routine
def sqrt(a):
    """√a, a >= 0: one Newton step from the double root."""
    if a[0] <= 0.0:
        return (0.0, 0.0)
    x = math.sqrt(a[0])
    r = sub(a, two_prod(x, x))
    y = r[0] / (2.0 * x)
    r = sub(r, add(scaled(two_prod(x, y), 2.0), two_prod(y, y)))
    q = quick_two_sum(x, y)
    return add(q, (r[0] / (2.0 * x), 0.0))


@routine
def cos_sin(a):
    """(cos a, sin a): reduction to [-pi/4, pi/4] by pi/2 in three doubles, Taylor series. Error 1e-32 (1 + |a|)."""
    k = math.floor(a[0] * TWO_OVER_PI + 0.5)
    x = float(k)
    r = sub(sub(sub(a, two_prod(x, HALF_PI[0])), two_prod(x, HALF_PI[1])), (x * HALF_PI_3, 0.0))
    z = neg(square(r))
    # (pi/4)^28 / 28! = 4e-33 is the first term left out of the cosine
    c, s = FACTORIAL[26], FACTORIAL[27]
    for n in range(12, -1, -1):
        c = add(mul(c, z), FACTORIAL[2 * n])
        s = add(mul(s, z), FACTORIAL[2 * n + 1])
    s = mul(s, r)
    quadrant = k % 4
    if quadrant == 0:
        return c, s
    if quadrant == 1:
        return neg(s), c
    if quadrant == 2:
        return neg(c), neg(s)
    return s, neg(c)


@routine
def atan_ratio(e):
    """atan(√e)/√e, e >= 0, = R_C(1, 1 + e) of Carlson: 1 - e/3 + e²/5 ..."""
    f = ONE
    # atan x = 2 atan(x/(1 + √(1 + x²))) until x² <= 0.04
    while e[0] > 0.04:
        g = add(ONE, sqrt(add(ONE, e)))
        f = div(scaled(f, 2.0), g)
        e = div(e, square(g))
    # as many terms of the series as 1e-33 needs: 0.04^23 = 7e-33, over 47
    n, term = 1, e[0]
    while n < 23 and term > 1e-33:
        n, term = n + 1, term * e[0]
    z = neg(e)
    s = ODD[n]
    for i in range(n - 1, -1, -1):
        s = add(mul(s, z), ODD[i])
    return mul(f, s)


@kernel
def atan2(y, x):
    """The angle of the point (x, y) in [-pi/2, pi/2], for x >= 0, not both zero."""
    if abs(y[0]) <= x[0]:
        t = div(y, x)
        return mul(t, atan_ratio(square(t)))
    t = div(x, y)
    quarter = HALF_PI if y[0] > 0.0 else neg(HALF_PI)
    return sub(quarter, mul(t, atan_ratio(square(t))))


@kernel
def exp(a):
    """e^a for a <= 0: 2^k e^r with |r| <= ln 2 / 2, Taylor series; 0 below e^-690."""
    if a[0] < -690.0:
        return (0.0, 0.0)
    k = math.floor(a[0] / LN2[0] + 0.5)
    r = sub(a, times(LN2, float(k)))
    s = FACTORIAL[26]  # 0.347^27 / 27! = 4e-41
    for n in range(25, -1, -1):
        s = add(mul(s, r), FACTORIAL[n])
    # 2^k exactly
    return (math.ldexp(s[0], k), math.ldexp(s[1], k))


# quaternions (w x y z) and 3-vectors of double-doubles


@kernel
def dot3(a, b):
    """a · b of two 3-vectors."""
    return add(add(mul(a[0], b[0]), mul(a[1], b[1])), mul(a[2], b[2]))


@kernel
def turn(R, a):
    """R a."""
    return (dot3(R[0], a), dot3(R[1], a), dot3(R[2], a))


@kernel
def turn_back(R, a):
    """Rᵀ a."""
    return (
        dot3((R[0][0], R[1][0], R[2][0]), a),
        dot3((R[0][1], R[1][1], R[2][1]), a),
        dot3((R[0][2], R[1][2], R[2][2]), a),
    )


@routine
def qmul(a, b):
    """Hamilton product a b: q_AC = q_AB q_BC."""
    w, x, y, z = a
    p, q, r, s = b
    return (
        sub(sub(sub(mul(w, p), mul(x, q)), mul(y, r)), mul(z, s)),
        add(add(mul(w, q), mul(x, p)), sub(mul(y, s), mul(z, r))),
        add(add(mul(w, r), mul(y, p)), sub(mul(z, q), mul(x, s))),
        add(add(mul(w, s), mul(z, p)), sub(mul(x, r), mul(y, q))),
    )


@kernel
def qconj(a):
    """The inverse of a unit quaternion."""
    return (a[0], neg(a[1]), neg(a[2]), neg(a[3]))


@routine
def qunit(a):
    """a / |a|."""
    n2 = add(add(square(a[0]), square(a[1])), add(square(a[2]), square(a[3])))
    s = div(ONE, sqrt(n2))
    return (mul(s, a[0]), mul(s, a[1]), mul(s, a[2]), mul(s, a[3]))


@kernel
def quat_of_columns(x, y, z):
    """q_AB of the rotation matrix R_AB with the columns x, y, z: that column of 4 q qᵀ whose diagonal is largest."""
    ww = add(add(ONE, x[0]), add(y[1], z[2]))
    xx = sub(add(ONE, x[0]), add(y[1], z[2]))
    yy = sub(add(ONE, y[1]), add(x[0], z[2]))
    zz = sub(add(ONE, z[2]), add(x[0], y[1]))
    wx, wy, wz = sub(y[2], z[1]), sub(z[0], x[2]), sub(x[1], y[0])
    xy, xz, yz = add(x[1], y[0]), add(x[2], z[0]), add(y[2], z[1])
    largest = max(max(ww[0], xx[0]), max(yy[0], zz[0]))
    if ww[0] == largest:
        return qunit((ww, wx, wy, wz))
    if xx[0] == largest:
        return qunit((wx, xx, xy, xz))
    if yy[0] == largest:
        return qunit((wy, xy, yy, yz))
    return qunit((wz, xz, yz, zz))
