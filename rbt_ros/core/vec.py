"""3-vectors (tuples of 3), quaternions (w x y z), 3x3 matrices (tuples of 3 rows) and symmetric ones (tuples of 6:
xx yy zz xy xz yz), with verbs.

Tuples cost nothing against hand-written scalars in compiled code, and the lines still read. A matrix R_AB turns
components in B into components in A: `v_A = turn(R_AB, v_B)`, `v_B = turn_back(R_AB, v_A)`.
"""

from rbt_ros.core.jit import kernel
from rbt_ros.core.lanes import root


@kernel
def vec3(a, i):
    """Elements i, i+1, i+2 of the array `a`."""
    return (a[i], a[i + 1], a[i + 2])


@kernel
def row3(a, i, k):
    """Elements k, k+1, k+2 of row i."""
    return (a[i, k], a[i, k + 1], a[i, k + 2])


@kernel
def row4(a, i, k):
    """Elements k to k+3 of row i: a quaternion."""
    return (a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3])


@kernel
def row6(a, i, k):
    """Elements k to k+5 of row i: a symmetric matrix."""
    return (a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3], a[i, k + 4], a[i, k + 5])


@kernel
def row9(a, i, k):
    """Elements k to k+8 of row i: a 3x3 matrix."""
    return (row3(a, i, k), row3(a, i, k + 3), row3(a, i, k + 6))


@kernel
def put3(a, i, k, x):
    """Write x into elements k, k+1, k+2 of row i."""
    a[i, k], a[i, k + 1], a[i, k + 2] = x[0], x[1], x[2]


@kernel
def put4(a, i, k, x):
    """Write x into elements k to k+3 of row i."""
    a[i, k], a[i, k + 1], a[i, k + 2], a[i, k + 3] = x[0], x[1], x[2], x[3]


@kernel
def put6(a, i, k, x):
    """Write x into elements k to k+5 of row i."""
    a[i, k], a[i, k + 1], a[i, k + 2] = x[0], x[1], x[2]
    a[i, k + 3], a[i, k + 4], a[i, k + 5] = x[3], x[4], x[5]


@kernel
def put9(a, i, k, x):
    """Write the rows of x into elements k to k+8 of row i."""
    put3(a, i, k, x[0])
    put3(a, i, k + 3, x[1])
    put3(a, i, k + 6, x[2])


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
def times(a, b):
    """Element by element."""
    return (a[0] * b[0], a[1] * b[1], a[2] * b[2])


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
    return root(dot(a, a))


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
def qturn(q, a):
    """R(q) a for a unit quaternion: a + 2 u × (u × a + w a), u the vector part."""
    u = (q[1], q[2], q[3])
    return add(a, scale(2.0, cross(u, add(cross(u, a), scale(q[0], a)))))


@kernel
def mat_add(A, B):
    """A + B."""
    return (add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2]))


@kernel
def transpose(A):
    """Aᵀ."""
    return ((A[0][0], A[1][0], A[2][0]), (A[0][1], A[1][1], A[2][1]), (A[0][2], A[1][2], A[2][2]))


@kernel
def skew(a):
    """[a]×, so that [a]× b = a × b."""
    z = 0.0 * a[0]
    return ((z, -a[2], a[1]), (a[2], z, -a[0]), (-a[1], a[0], z))


@kernel
def sub_outer(A, a, b):
    """A - a bᵀ."""
    return (sub(A[0], scale(a[0], b)), sub(A[1], scale(a[1], b)), sub(A[2], scale(a[2], b)))


@kernel
def sym_add(S, T):
    """S + T of symmetric matrices."""
    return (S[0] + T[0], S[1] + T[1], S[2] + T[2], S[3] + T[3], S[4] + T[4], S[5] + T[5])


@kernel
def sym_sub_outer(S, a, s):
    """S - s a aᵀ of a symmetric S."""
    b = scale(s, a)
    return (
        S[0] - b[0] * a[0],
        S[1] - b[1] * a[1],
        S[2] - b[2] * a[2],
        S[3] - b[0] * a[1],
        S[4] - b[0] * a[2],
        S[5] - b[1] * a[2],
    )


@kernel
def sym_rows(S):
    """A symmetric S as a 3x3 matrix."""
    return ((S[0], S[3], S[4]), (S[3], S[1], S[5]), (S[4], S[5], S[2]))


@kernel
def sym_product(A, B):
    """A Bᵀ where it is known to be symmetric: six dot products of rows."""
    return (
        dot(A[0], B[0]),
        dot(A[1], B[1]),
        dot(A[2], B[2]),
        dot(A[0], B[1]),
        dot(A[0], B[2]),
        dot(A[1], B[2]),
    )


@kernel
def sym_turn(R, S):
    """R S Rᵀ: the symmetric S_B expressed in A."""
    return sym_product((sym_mul(S, R[0]), sym_mul(S, R[1]), sym_mul(S, R[2])), R)


@kernel
def sym_mul(S, a):
    """S a for a symmetric S given as xx yy zz xy xz yz."""
    return (
        S[0] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[3] * a[0] + S[1] * a[1] + S[5] * a[2],
        S[4] * a[0] + S[5] * a[1] + S[2] * a[2],
    )


@kernel
def sym_factors(S):
    """1/D and L (its 10 20 21) of a symmetric positive definite S = L D Lᵀ, ones on the diagonal of L.

    Elimination without fractions, xx times the second and third row, then yy' times the third: so the divisions need
    not wait for each other. Bareiss, Math. Comp. 22 (1968) 565.
    """
    xx, yy, zz, xy, xz, yz = S
    yy, yz, zz = xx * yy - xy * xy, xx * yz - xy * xz, xx * zz - xz * xz
    x_inv, y_inv, z_inv = 1.0 / xx, 1.0 / yy, 1.0 / (yy * zz - yz * yz)
    return (x_inv, xx * y_inv, xx * yy * z_inv), (xy * x_inv, xz * x_inv, yz * y_inv)


@kernel
def gyroscopic(I, w):
    """ω × I ω with the differences of the moments of inertia first: where they are nearly equal no digits are lost."""
    xx, yy, zz, xy, xz, yz = I
    x, y, z = w
    return (
        (zz - yy) * y * z + yz * (y * y - z * z) + x * (xz * y - xy * z),
        (xx - zz) * z * x + xz * (z * z - x * x) + y * (xy * z - yz * x),
        (yy - xx) * x * y + xy * (x * x - y * y) + z * (yz * x - xz * y),
    )


@kernel
def lower_solve(L, b):
    """L⁻¹ b."""
    y = b[1] - L[0] * b[0]
    return (b[0], y, b[2] - L[1] * b[0] - L[2] * y)


@kernel
def upper_solve(L, b):
    """L⁻ᵀ b."""
    y = b[1] - L[2] * b[2]
    return (b[0] - L[0] * y - L[1] * b[2], y, b[2])


@kernel
def sym_solve(S, b):
    """S⁻¹ b of a symmetric positive definite S: backward stable, which a product with S⁻¹ is not."""
    D_inv, L = sym_factors(S)
    return upper_solve(L, times(D_inv, lower_solve(L, b)))


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
    half = (0.5 * quadrant - 0.25 + ROUND) - ROUND
    odd = quadrant - 2.0 * half
    even, sign = 1.0 - odd, 1.0 - 2.0 * half  # no branch: eight lanes may be in different quadrants
    return sign * (even * s + odd * c), (sign - 2.0 * (sign * odd)) * (even * c + odd * s)


@kernel
def turn_quat(e, angle):
    """The quaternion of a turn by `angle` [rad] about the unit vector e."""
    s, c = sincos(0.5 * angle)
    return (c, s * e[0], s * e[1], s * e[2])


@kernel
def rotation_vector_quat(a):
    """The quaternion of a turn by |a| [rad] about a."""
    angle = norm(a)
    s, c = sincos(0.5 * angle)
    # sin(x/2)/x below 1e-4 rad: 1/2 - x²/48 is exact to x⁴/3840 < 3e-20
    k = s / angle if angle > 1e-4 else 0.5 - angle * angle / 48.0
    return (c, k * a[0], k * a[1], k * a[2])
