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
