"""Poinsot's construction: the ellipsoids, the invariable plane, the curves and the cones of a turning body, as arrays.

    energy    2 E = Σ I_k ω_k²     an ellipsoid of ω fixed in the body; it touches, at ω, the
    momentum  L² = Σ I_k² ω_k²     plane  ω·L = 2 E, fixed in space, and rolls on it

Of a free body both are constant: in the body ω runs along the curve where the ellipsoids meet (polhode), in the plane
along the herpolhode; its rays are the cone of the body, which rolls on that of space. Where something acts, each
instant has the construction of its own L and E. Goldstein, Classical Mechanics (1980), section 5.6.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.stabilise import ALIKE
from rbt_ros.core.vec import rotation, turn
from rbt_ros.errors import ModelError


class Poinsot(NamedTuple):
    """The construction at N instants. World axes W, body axes B, principal axes P of the body about its CoM."""

    moments: np.ndarray  # (3,) principal moments of inertia, ascending [kg·m²]
    R_BP: np.ndarray  # (3, 3) its columns: the principal axes in body axes
    energy: np.ndarray  # (N,) E of the rotation [J]
    momentum: np.ndarray  # (N, 3) L_W about the CoM [N·m·s]
    energy_ellipsoid: np.ndarray  # (N, 3) semi-axes √(2E/I_k) along P, of ω [rad/s]
    momentum_ellipsoid: np.ndarray  # (N, 3) semi-axes |L|/I_k along P, of ω [rad/s]
    energy_ellipsoid_L: np.ndarray  # (N, 3) the first one over L: semi-axes √(2E I_k) along P [N·m·s]
    momentum_sphere: np.ndarray  # (N,) the second one over L: radius |L| [N·m·s]
    polhode: np.ndarray  # (N, 3) w_WB_B [rad/s]
    herpolhode: np.ndarray  # (N, 3) w_WB_W [rad/s]
    plane_normal: np.ndarray  # (N, 3) of the invariable plane, world axes: L/|L|; zero at rest
    plane_distance: np.ndarray  # (N,) from ω = 0: 2E/|L| [rad/s]
    plane_axes: np.ndarray  # (N, 2, 3) e1, e2 in the plane, world axes: e1 × e2 = normal, at rest any
    herpolhode_in_plane: np.ndarray  # (N, 2) along e1, e2 from the foot of the normal [rad/s]
    body_cone: np.ndarray  # (N, 3) rays ω/|ω| in body axes; zero where nothing turns
    space_cone: np.ndarray  # (N, 3) the same rays in world axes

    def polhode_curve(self, instant: int = 0, points: int = 361) -> np.ndarray:
        """(points, 3) ω [rad/s], body axes, all along the polhode that belongs to L and E of one instant: closed."""
        L, E = self.momentum_sphere[instant], self.energy[instant]
        return level_curve(self.moments, L, E, self.polhode[instant] @ self.R_BP, points) @ self.R_BP.T


def poinsot(inertia, q_WB, w_WB_B) -> Poinsot:
    """Poinsot's construction of a body at attitudes (N, 4), w x y z, that turns with (N, 3) [rad/s], body axes.

    inertia: about the CoM, three principal moments or 3x3 [kg·m²]. One attitude and one ω make N = 1.
    """
    moments, R_BP = principal_moments(inertia)
    q, w = np.atleast_2d(floats(q_WB, "attitude")), np.atleast_2d(floats(w_WB_B, "omega"))
    if q.ndim != 2 or q.shape[1] != 4 or w.shape != (len(q), 3):
        raise ModelError(f"poinsot: attitudes {np.shape(q_WB)} and rates {np.shape(w_WB_B)} must be (N, 4) and (N, 3).")
    R_WB, w_P = rotation(tuple(q.T)), w @ R_BP
    w_W, L_W = in_world(R_WB, w), in_world(R_WB, w_P * moments @ R_BP.T)
    energy, size = 0.5 * (w_P**2 @ moments), np.linalg.norm(w_P * moments, axis=1)
    normal, distance = unit_rows(L_W), np.divide(2.0 * energy, size, out=np.zeros(len(q)), where=size > 0)
    axes = plane_axes(normal)
    return Poinsot(
        moments=moments,
        R_BP=R_BP,
        energy=energy,
        momentum=L_W,
        energy_ellipsoid=np.sqrt(2.0 * energy[:, None] / moments),
        momentum_ellipsoid=size[:, None] / moments,
        energy_ellipsoid_L=np.sqrt(2.0 * energy[:, None] * moments),
        momentum_sphere=size,
        polhode=w,
        herpolhode=w_W,
        plane_normal=normal,
        plane_distance=distance,
        plane_axes=axes,
        herpolhode_in_plane=np.einsum("nij,nj->ni", axes, w_W),
        body_cone=unit_rows(w),
        space_cone=unit_rows(w_W),
    )


def principal_moments(inertia):
    """(moments (3,), ascending, R_BP (3, 3), right-handed) of three moments or a tensor; ModelError unless positive."""
    tensor = floats(inertia, "inertia")
    tensor = np.diag(tensor) if tensor.shape == (3,) else tensor
    if tensor.shape != (3, 3) or not np.isfinite(tensor).all():
        raise ModelError(f"poinsot: inertia {inertia} must be three principal moments or a 3x3 tensor in kg·m².")
    moments, R_BP = np.linalg.eigh(tensor)
    if moments[0] <= 0.0:
        raise ModelError(
            f"poinsot: principal moments {', '.join(f'{m:.4g}' for m in moments)} kg·m² must be positive: a body "
            "without inertia about an axis has no energy ellipsoid."
        )
    return moments, R_BP * [1.0, 1.0, np.sign(np.linalg.det(R_BP))]


def floats(given, what):
    """An array of numbers; ModelError where it is none."""
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError, OverflowError) as err:
        raise ModelError(f"poinsot: {what} {given!r:.80} is no array of numbers.") from err


def in_world(R_WB, a):
    """R a for rows of vectors."""
    return np.column_stack(turn(R_WB, tuple(a.T)))


def unit_rows(a):
    """a/|a| for rows; zero for zero."""
    size = np.linalg.norm(a, axis=1)[:, None]
    return np.divide(a, size, out=np.zeros_like(a), where=size > 0)


def plane_axes(normal):
    """(N, 2, 3) e1, e2 normal to the unit vectors `normal` (N, 3) and to each other, e1 × e2 = normal.

    The first pair is chosen, the others follow it by the shortest turn of the normal: of a free body all are one.
    """
    n0 = normal[0] if normal[0].any() else np.array([0.0, 0.0, 1.0])
    e1 = unit_rows(np.cross(n0, np.eye(3)[[np.argmin(np.abs(n0))]]))[0]
    n = np.where(normal.any(axis=1)[:, None], normal, n0)
    across, along = np.cross(n0, n), n @ n0
    opposite = along < -1.0 + 1e-14  # no shortest turn can be told: that about e1
    share = (across @ e1) / np.where(opposite, 1.0, 1.0 + along)
    first = e1 + np.cross(across, e1) + share[:, None] * across  # Rodrigues
    first[opposite] = e1
    first = unit_rows(first - n * np.einsum("ni,ni->n", n, first)[:, None])
    return np.stack([first, np.cross(n, first)], axis=1)


def circled_axis(moments, L, E):
    """(c, a): the axis that L circles, of the largest moment if L² > 2 E I_b, else of the smallest; and the other."""
    if moments[2] - moments[1] <= ALIKE * moments[2]:
        return 0, 2
    if moments[1] - moments[0] <= ALIKE * moments[2] or L * L > 2.0 * E * moments[1]:
        return 2, 0
    return 0, 2


def level_curve(moments, L, E, w_P, points):
    """(points, 3) ω in principal axes with |I ω| = L [N·m·s] and energy E [J], around the axis c on the side of w_P.

    With h = I ω: what is left of the energy without h_c is an ellipse, Σ h_k² (1/I_k - 1/I_c) = 2 E - L²/I_c, k = a, b,
    and h_c² = L² - h_a² - h_b². moments: ascending. Through the middle axis, L² = 2 E I_b, it is a pair of
    separatrices; of a sphere it is one point.
    """
    if moments[2] - moments[0] <= ALIKE * moments[2]:
        return np.tile(w_P, (points, 1))
    c, a = circled_axis(moments, L, E)
    angle = np.linspace(0.0, 2.0 * np.pi, points)
    h = np.zeros((points, 3))
    for k, share in ((a, np.cos(angle)), (1, np.sin(angle))):
        square = (2.0 * E - L * L / moments[c]) / (1.0 / moments[k] - 1.0 / moments[c])
        h[:, k] = share * np.sqrt(max(0.0, square))
    h[:, c] = np.copysign(np.sqrt(np.maximum(0.0, L * L - h[:, a] ** 2 - h[:, 1] ** 2)), w_P[c])
    h[-1] = h[0]
    return h / moments
