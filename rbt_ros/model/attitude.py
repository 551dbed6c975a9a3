"""Attitudes as people write them (quaternion, matrix, Euler angles) -> unit quaternion w x y z."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from rbt_ros.core.vec import qmul
from rbt_ros.errors import ModelError
from rbt_ros.model.checks import numbers

Quaternion = tuple[float, float, float, float]
IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)
SEQUENCES = tuple(a + b + c for a in "XYZ" for b in "XYZ" for c in "XYZ" if b not in (a, c))  # of Euler angles: 12


def unit_quaternion(value: Sequence[float], where: str) -> Quaternion:
    """`value` as a unit quaternion; refused at zero, warned about when its norm is off by more than 1e-6."""
    q = numbers(value, where)
    if q.shape != (4,) or not np.isfinite(q).all():
        raise ModelError(f"{where}: a quaternion is four finite numbers w x y z, not {list(value)}.")
    norm = math.hypot(*q)  # does not overflow
    if norm < 1e-12:
        raise ModelError(
            f"{where}: the quaternion {list(value)} is zero and has no direction; no turn is [1, 0, 0, 0]."
        )
    if abs(norm - 1) > 1e-6:
        warnings.warn(f"{where}: the quaternion {list(value)} has norm {norm:.9g} and was normalised.", stacklevel=3)
    if abs(norm - 1) > 4e-16:  # what is unit to round-off keeps its bits
        q = q / norm
    return (float(q[0]), float(q[1]), float(q[2]), float(q[3]))


def checked_sequence(sequence: str, where: str) -> str:
    """One of the `SEQUENCES`: turns about the body's axes. Small letters are those of fixed axes elsewhere: refused."""
    name = str(sequence)
    if name not in SEQUENCES and name.upper() in SEQUENCES:
        raise ModelError(
            f"{where}: '{name}' in small letters means turns about fixed axes in some libraries; say which: "
            f"'{name.upper()}' turns about the body's axes, one after the other, and the fixed axes {', '.join(name)} "
            f"are '{name.upper()[::-1]}' with the angles in the opposite order."
        )
    if name not in SEQUENCES:
        raise ModelError(
            f"{where}: '{sequence!s:.80}' is no Euler sequence; use three of X Y Z, no two neighbours alike: ZYX."
        )
    return name


def from_euler(sequence: str, angles: Sequence[float], where: str) -> Quaternion:
    """q_AB of three successive turns about the axes named, each an axis of the body as turned so far (intrinsic)."""
    name = checked_sequence(sequence, where)
    if len(angles) != 3 or not all(math.isfinite(a) for a in angles):
        raise ModelError(f"{where}: three finite angles in rad are needed, not {list(angles)}.")
    q = IDENTITY
    for axis, angle in zip(name, angles, strict=True):
        turn = [math.cos(angle / 2), 0.0, 0.0, 0.0]
        turn["_XYZ".index(axis)] = math.sin(angle / 2)
        q = qmul(q, tuple(turn))
    return q


def from_roll_pitch_yaw(rpy: Sequence[float], where: str) -> Quaternion:
    """q_AB of URDF's rpy [rad]: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    roll, pitch, yaw = rpy
    return from_euler("ZYX", (yaw, pitch, roll), where)


def roll_pitch_yaw(q: Sequence[float]) -> tuple[float, float, float]:
    """URDF's rpy [rad] of q_AB: R = Rz(yaw) Ry(pitch) Rx(roll), pitch in [-π/2, π/2].

    From half sums: with s = (roll + yaw)/2, d = (roll - yaw)/2, u = pitch/2 + π/4,
    (w - y, x + z) = √2 cos u (cos s, sin s) and (w + y, x - z) = √2 sin u (cos d, sin d). Straight up or down one pair
    is zero and its angle free: any value gives the same attitude, so this is exact to round-off everywhere.
    """
    w, x, y, z = q
    s, d = math.atan2(x + z, w - y), math.atan2(x - z, w + y)
    pitch = 2 * math.atan2(math.hypot(w + y, x - z), math.hypot(w - y, x + z)) - math.pi / 2
    return math.remainder(s + d, math.tau), pitch, math.remainder(s - d, math.tau)


def from_matrix(matrix: Any, where: str) -> Quaternion:
    """q_AB of the rotation matrix R_AB, from its largest component (Shepperd), w >= 0."""
    R = numbers(matrix, where)
    if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
        raise ModelError(f"{where}: {R.tolist()} is no rotation: R Rᵀ must be 1 (to 1e-9) and det R = +1.")
    return nearest_quaternion(R)


def nearest_quaternion(R: np.ndarray) -> Quaternion:
    """q_AB of an R_AB that is a rotation but for integration errors: Shepperd's, made unit; w >= 0.

    4 q qᵀ has these rows; the one with the largest diagonal element loses no digits.
    """
    (a, b, c), (d, e, f), (g, h, i) = R.tolist()
    rows = (
        (1 + a + e + i, h - f, c - g, d - b),
        (h - f, 1 + a - e - i, b + d, c + g),
        (c - g, b + d, 1 - a + e - i, f + h),
        (d - b, c + g, f + h, 1 - a - e + i),
    )
    w, x, y, z = max((rows[k][k], rows[k]) for k in range(4))[1]
    s = math.copysign(1 / math.sqrt(w * w + x * x + y * y + z * z), w if w != 0 else 1.0)
    return (s * w, s * x, s * y, s * z)


def as_quaternion(value: Any, where: str) -> Quaternion:
    """A unit quaternion from four numbers w x y z, a 3x3 matrix, or ("ZYX", a, b, c) with angles in rad."""
    if isinstance(value, list | tuple) and value and isinstance(value[0], str):
        if len(value) != 4:
            raise ModelError(f'{where}: {value} is not a sequence and three angles in rad: ("ZYX", a, b, c).')
        return from_euler(value[0], numbers(value[1:], where).tolist(), where)
    shape = numbers(value, where).shape
    if shape == (3, 3):
        return from_matrix(value, where)
    if shape == (4,):
        return unit_quaternion(value, where)
    raise ModelError(f'{where}: {value} is no attitude; give w x y z, a 3x3 matrix, or ("ZYX", a, b, c) in rad.')


def without_flips(quaternions: np.ndarray) -> np.ndarray:
    """The same attitudes q (N, 4) along a motion, with the sign of each, as q and -q are one, nearest to the last."""
    q = np.array(quaternions, dtype=float)
    flips = np.where((q[1:] * q[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    q[1:] *= np.cumprod(flips)[:, None]
    return q


def zxz_angles(quaternions: np.ndarray) -> np.ndarray:
    """ψ θ φ (N, 3) [rad] of A_ψ A_θ A_φ, turns about z, x, z, along a motion q (N, 4): without jumps, θ in [0, π].

    q = (cos θ/2 cos s, sin θ/2 cos d, sin θ/2 sin d, cos θ/2 sin s) with s = (ψ + φ)/2, d = (ψ - φ)/2. Where sin θ gets
    small, s or d turns fast; it is followed as long as it turns by less than π from row to row.
    """
    w, x, y, z = without_flips(quaternions).T
    s, d = np.unwrap(np.arctan2(z, w)), np.unwrap(np.arctan2(y, x))
    return np.column_stack([s + d, 2 * np.arctan2(np.hypot(x, y), np.hypot(w, z)), s - d])


def matrices(q: np.ndarray) -> np.ndarray:
    """R_AB (..., 3, 3) of quaternions q_AB (..., 4) of any length but zero."""
    w, x, y, z = np.moveaxis(np.asarray(q, dtype=float), -1, 0)
    s = 2 / (w * w + x * x + y * y + z * z)
    rows = [
        [1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
        [s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)],
        [s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def euler_angles(q: np.ndarray, sequence: str) -> np.ndarray:
    """α β γ (..., 3) [rad] of successive turns about the body axes named by `sequence`, from q_AB (..., 4).

    α and γ in [-π, π); β in [0, π] where first and last axis are the same, else in [-π/2, π/2]. With axes i, j, i and
    m = ± i × j: (q0, qi) = cos β/2 (cos s, sin s) and (qj, ± qm) = sin β/2 (cos d, sin d), s = (α + γ)/2,
    d = (α - γ)/2. In gimbal lock one pair is zero and its angle free: any value gives the same attitude. Three
    different axes i, j, k: k is i turned by ± 90° about j, so that turn is added to β and taken off again.
    Bernardes, Viollet, PLoS ONE 17 (2022) e0276302.
    """
    i, j, k = ("_XYZ".index(a) for a in sequence)
    m = 6 - i - j
    sign = 1.0 if (j - i) % 3 == 1 else -1.0  # i × j = sign m
    q = np.asarray(q, dtype=float)
    parts = [q[..., 0], q[..., i], q[..., j], sign * q[..., m]]
    if k != i:  # q (1 - sign j)/√2, √2 left out
        w, a, b, c = parts
        parts = [w + sign * b, a + sign * c, b - sign * w, c - sign * a]
    w, a, b, c = parts
    s, d = np.arctan2(a, w), np.arctan2(c, b)
    middle: np.ndarray = 2.0 * np.arctan2(np.hypot(b, c), np.hypot(w, a))
    outer = np.stack([s + d, s - d])
    if k != i and sign < 0:  # k is i turned by +90°
        middle = middle - np.pi / 2
    elif k != i:  # by -90°: β = middle + π/2, and its twin, which is in range
        middle, outer = np.pi / 2 - middle, outer + np.pi
    outer = np.remainder(outer + np.pi, 2 * np.pi) - np.pi
    return np.stack([outer[0], middle, outer[1]], axis=-1)


def turn_all(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """R(q) a for rows of unit quaternions q (N, 4) and rows of vectors a (N, 3)."""
    w, u = q[:, :1], q[:, 1:]
    return a + 2 * np.cross(u, np.cross(u, a) + w * a)
