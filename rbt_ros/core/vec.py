"""3-vectors (tuples of 3), quaternions (w x y z) and 3x3 matrices (tuples of 3 rows), with verbs.

Tuples cost nothing against hand-written scalars in compiled code, and the lines still read. A matrix R_AB turns
components in B into components in A: `v_A = turn(R_AB, v_B)`, `v_B = turn_back(R_AB, v_A)`.
"""

import math

from rbt_ros.core.jit import kernel


@kernel
def vec3(a, i):
    """Elements i, i+1, i+2 of the array `a`."""
    return (a[i], a[i + 1], a[i + 2])


@kernel
def add(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@kernel
def sub(a, b):
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@kernel
def scale(s, a):
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


@kernel
def dot(a, b):
    """a · b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel
def cross(a, b):
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


@kernel
def norm(a):
    """|a|."""
    return math.sqrt(dot(a, a))


@kernel
def turn(R, a):
    """R a."""
    return (dot(R[0], a), dot(R[1], a), dot(R[2], a))


@kernel
def turn_back(R, a):
    """Rᵀ a."""
    return (
        R[0][0] * a[0] + R[1][0] * a[1] + R[2][0] * a[2],
        R[0][1] * a[0] + R[1][1] * a[1] + R[2][1] * a[2],
        R[0][2] * a[0] + R[1][2] * a[1] + R[2][2] * a[2],
    )


@kernel
def quat(a, i):
    """Elements i to i+3 of the array `a`."""
    return (a[i], a[i + 1], a[i + 2], a[i + 3])


@kernel
def qmul(a, b):
    """Hamilton product a b: q_AC = q_AB q_BC."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel
def qconj(a):
    """The inverse of a unit quaternion: q_BA from q_AB."""
    return (a[0], -a[1], -a[2], -a[3])


@kernel
def rotation(q):
    """R_AB of the quaternion q_AB. Divides by |q|²: a stage of an integrator may be off the unit sphere."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)),
        (s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)),
        (s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)),
    )


@kernel
def sym_mul(S, a):
    """S a for a symmetric S given as xx yy zz xy xz yz."""
    return (
        S[0] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[3] * a[0] + S[1] * a[1] + S[5] * a[2],
        S[4] * a[0] + S[5] * a[1] + S[2] * a[2],
    )


@kernel
def sym_solve(S, b):
    """S⁻¹ b for a symmetric S given as xx yy zz xy xz yz: the adjugate over the determinant."""
    xx, yy, zz, xy, xz, yz = S
    cxx, cxy, cxz = yy * zz - yz * yz, xz * yz - xy * zz, xy * yz - xz * yy
    cyy, cyz, czz = xx * zz - xz * xz, xy * xz - xx * yz, xx * yy - xy * xy
    det = xx * cxx + xy * cxy + xz * cxz
    return scale(1.0 / det, sym_mul((cxx, cyy, czz, cxy, cxz, cyz), b))


# pi/2 in three parts (Cody and Waite): the first two have 33 bits, so that n times them is exact for |n| < 2^20
HALF_PI_1, HALF_PI_2, HALF_PI_3 = 1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21
TWO_OVER_PI = 0.6366197723675814
ROUND = 6755399441055744.0  # 1.5 · 2^52: adding and subtracting it rounds to the nearest integer


@kernel
def sincos(x):
    """(sin x, cos x), the same bits on every processor: libm's differ by machine, this is +, -, * only.

    Within 1 ulp for |x| <= 1e6; beyond, the error of the reduction grows as |x| eps. Reduction to [-pi/4, pi/4] in two
    words, then minimax polynomials of relative error 7e-18 and 2e-19 (Remez exchange in 60 digits).
    """
    n = (x * TWO_OVER_PI + ROUND) - ROUND
    a, b = x - n * HALF_PI_1, n * HALF_PI_2
    u = a - b
    b = ((a - u) - b) - n * HALF_PI_3
    r = u + b
    lo = (u - r) + b  # x = n pi/2 + r + lo
    z = r * r
    p = 1.5894416286777947e-10
    p = p * z - 2.5050729638001124e-08
    p = p * z + 2.7557313621789016e-06
    p = p * z - 1.9841269830064246e-04
    p = p * z + 8.333333333323575e-03
    p = p * z - 0.1666666666666664
    s = r + (r * z * p + lo * (1.0 - 0.5 * z))
    p = -1.1367797742109137e-11
    p = p * z + 2.08758946521042e-09
    p = p * z - 2.7557315719802454e-07
    p = p * z + 2.4801587294577857e-05
    p = p * z - 1.3888888888882785e-03
    p = p * z + 4.166666666666665e-02
    w = 1.0 - 0.5 * z
    c = w + (((1.0 - w) - 0.5 * z) + (z * z * p - r * lo))
    # quadrant n mod 4: 0 (s, c), 1 (c, -s), 2 (-s, -c), 3 (-c, s)
    m = n * 0.25
    quadrant = n - 4.0 * ((m - 0.375 + ROUND) - ROUND)
    odd = quadrant == 1.0 or quadrant == 3.0
    sine, cosine = (c, s) if odd else (s, c)
    return (sine if quadrant < 2.0 else -sine), (-cosine if quadrant == 1.0 or quadrant == 2.0 else cosine)
