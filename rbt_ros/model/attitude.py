"""Attitudes as people write them (quaternion, matrix, Euler angles) -> unit quaternion w x y z."""

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from rbt_ros.core.vec import qmul
from rbt_ros.errors import ModelError

Quaternion = tuple[float, float, float, float]
IDENTITY: Quaternion = (1.0, 0.0, 0.0, 0.0)


def unit_quaternion(value: Sequence[float], where: str) -> Quaternion:
    """`value` as a unit quaternion; refused at zero, warned about when its norm is off by more than 1e-6."""
    q = np.asarray(value, dtype=float)
    if q.shape != (4,) or not np.isfinite(q).all():
        raise ModelError(f"{where}: a quaternion is four finite numbers w x y z, not {list(value)}.")
    norm = float(np.linalg.norm(q))
    if norm < 1e-12:
        raise ModelError(
            f"{where}: the quaternion {list(value)} is zero and has no direction; no turn is [1, 0, 0, 0]."
        )
    if abs(norm - 1) > 1e-6:
        warnings.warn(f"{where}: the quaternion {list(value)} has norm {norm:.9g} and was normalised.", stacklevel=3)
    if abs(norm - 1) > 4e-16:  # what is unit to round-off keeps its bits
        q = q / norm
    return (float(q[0]), float(q[1]), float(q[2]), float(q[3]))


def from_euler(sequence: str, angles: Sequence[float], where: str) -> Quaternion:
    """q_AB of three successive turns about the axes named, each an axis of the body as turned so far (intrinsic)."""
    axes = {"X": 1, "Y": 2, "Z": 3}
    name = str(sequence).upper()
    if len(name) != 3 or any(a not in axes for a in name) or name[0] == name[1] or name[1] == name[2]:
        raise ModelError(
            f"{where}: '{sequence}' is no Euler sequence; use three of X Y Z, no two neighbours alike: ZYX."
        )
    if len(angles) != 3 or not all(math.isfinite(a) for a in angles):
        raise ModelError(f"{where}: three finite angles in rad are needed, not {list(angles)}.")
    q = IDENTITY
    for axis, angle in zip(name, angles, strict=True):
        turn = [math.cos(angle / 2), 0.0, 0.0, 0.0]
        turn[axes[axis]] = math.sin(angle / 2)
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
    R = np.asarray(matrix, dtype=float)
    if not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
        raise ModelError(f"{where}: {R.tolist()} is no rotation: R Rᵀ must be 1 (to 1e-9) and det R = +1.")
    squares = np.array([1 + R.trace(), *(1 + 2 * np.diag(R) - R.trace())])  # 4 w², 4 x², 4 y², 4 z²
    k = int(np.argmax(squares))
    w, x, y, z = R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1], 0.0
    rows = [
        [squares[0], w, x, y],
        [w, squares[1], R[0, 1] + R[1, 0], R[0, 2] + R[2, 0]],
        [x, R[0, 1] + R[1, 0], squares[2], R[1, 2] + R[2, 1]],
        [y, R[0, 2] + R[2, 0], R[1, 2] + R[2, 1], squares[3]],
    ]
    q = np.array(rows[k]) / (2 * math.sqrt(squares[k]))
    w, x, y, z = (q if q[0] >= 0 else -q).tolist()
    return (w, x, y, z)


def as_quaternion(value: Any, where: str) -> Quaternion:
    """A unit quaternion from four numbers w x y z, a 3x3 matrix, or ("ZYX", a, b, c) with angles in rad."""
    if len(value) == 4 and isinstance(value[0], str):
        return from_euler(value[0], [float(a) for a in value[1:]], where)
    if np.shape(value) == (3, 3):
        return from_matrix(value, where)
    if np.shape(value) == (4,):
        return unit_quaternion(value, where)
    raise ModelError(f'{where}: {value} is no attitude; give w x y z, a 3x3 matrix, or ("ZYX", a, b, c) in rad.')


def zxz_angles(quaternions: np.ndarray) -> np.ndarray:
    """ψ θ φ (N, 3) [rad] of A_ψ A_θ A_φ, turns about z, x, z, along a motion q (N, 4): without jumps, θ in [0, π].

    q = (cos θ/2 cos s, sin θ/2 cos d, sin θ/2 sin d, cos θ/2 sin s) with s = (ψ + φ)/2, d = (ψ - φ)/2. Where sin θ gets
    small, s or d turns fast; it is followed as long as it turns by less than π from row to row.
    """
    q = np.array(quaternions, dtype=float)
    flips = np.where((q[1:] * q[:-1]).sum(axis=1) < 0, -1.0, 1.0)
    q[1:] *= np.cumprod(flips)[:, None]
    w, x, y, z = q.T
    s, d = np.unwrap(np.arctan2(z, w)), np.unwrap(np.arctan2(y, x))
    return np.column_stack([s + d, 2 * np.arctan2(np.hypot(x, y), np.hypot(w, z)), s - d])
