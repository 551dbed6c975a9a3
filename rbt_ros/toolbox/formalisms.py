"""The attitude formalisms: each integrates its own coordinates; accelerations are the engine's in all of them.

| formalism | y | kinematics | constraint |
|---|---|---|---|
| Quaternions | q (4), p, ω, v | q̇ = ½ q ω | q·q = 1 |
| Matrices | R (9), p, ω, v | Ṙ = R [ω]× | RᵀR = 1 |
| EulerAngles | α β γ (3), p, ω, v | ω = J(β, γ) (α̇, β̇, γ̇) | none; singular in gimbal lock |
| MultiplierQuaternions | q (4), p, q̇ (4), v | q̈ = ½ q ω̇ + λ q | q·q = 1, by λ |
| Chart | rotation vector φ (3) from q0, p, ω, v | φ̇ = J⁻¹(φ) ω | none; new q0 each step |

ω is w_WB in body axes, p and v in inertial axes. Diebel, Representing Attitude (2006); the multiplier: an equation of
second order for q whose constraint force λ q keeps d²(q·q)/dt² = 0.
"""

import math
from typing import NamedTuple, Protocol

import numpy as np

from rbt_ros.core.vec import cross, dot, qconj, qmul, rotation, rotation_vector_quat, skew, turn_back, turn_quat
from rbt_ros.errors import SolveError
from rbt_ros.model.attitude import euler_angles, from_euler, matrices, nearest_quaternion
from rbt_ros.toolbox.state import STATES, P, Q, V, W

AXES = {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}


class Coordinates(Protocol):
    """Coordinates y of a rigid body's motion, beside the engine's y13 = [q, p, ω, v]."""

    def engine(self, y: np.ndarray) -> np.ndarray:
        """The engine's from y."""

    def rate(self, y: np.ndarray, rate13: np.ndarray) -> np.ndarray:
        """ẏ, from the engine's ẏ13 = [q̇, v, ω̇, v̇]."""


class Formalism(Coordinates, Protocol):
    """Coordinates for a whole run."""

    def start(self, y13: np.ndarray) -> np.ndarray:
        """y from the engine's."""

    def project(self, y: np.ndarray) -> np.ndarray:
        """y put back on the constraint."""

    def constraint_errors(self, y: np.ndarray) -> np.ndarray:
        """(N,) by how much rows y (N, ...) are off the constraint."""


class Quaternions:
    """The engine's own coordinates."""

    def start(self, y13: np.ndarray) -> np.ndarray:
        """As they are."""
        return y13

    def engine(self, y: np.ndarray) -> np.ndarray:
        """As they are."""
        return y

    def rate(self, y: np.ndarray, rate13: np.ndarray) -> np.ndarray:
        """As it is."""
        return rate13

    def project(self, y: np.ndarray) -> np.ndarray:
        """q / |q|."""
        return np.concatenate([y[Q] / np.linalg.norm(y[Q]), y[4:]])

    def constraint_errors(self, y: np.ndarray) -> np.ndarray:
        """|q| - 1."""
        return np.linalg.norm(y[:, Q], axis=1) - 1.0

    def turned(self, y: np.ndarray, q: tuple[float, ...]) -> np.ndarray:
        """The attitude (4,) of y, turned by q about the body's axes."""
        return np.array(qmul(y[Q], q))


class Matrices:
    """The nine elements of R_WB, row by row."""

    def start(self, y13: np.ndarray) -> np.ndarray:
        """R of q."""
        return np.concatenate([matrices(y13[Q]).ravel(), y13[4:]])

    def engine(self, y: np.ndarray) -> np.ndarray:
        """q of R."""
        return np.concatenate([nearest_quaternion(y[:9].reshape(3, 3)), y[9:]])

    def rate(self, y: np.ndarray, rate13: np.ndarray) -> np.ndarray:
        """Ṙ = R [ω]×."""
        return np.concatenate([(y[:9].reshape(3, 3) @ skew(y[12:15].tolist())).ravel(), rate13[4:]])

    def project(self, y: np.ndarray) -> np.ndarray:
        """The nearest rotation: U Vᵀ of the singular value decomposition."""
        U, _, Vt = np.linalg.svd(y[:9].reshape(3, 3))
        return np.concatenate([(U @ Vt).ravel(), y[9:]])

    def constraint_errors(self, y: np.ndarray) -> np.ndarray:
        """The largest element of RᵀR - 1."""
        R = y[:, :9].reshape(-1, 3, 3)
        return np.abs(np.einsum("nki,nkj->nij", R, R) - np.eye(3)).max(axis=(1, 2))

    def turned(self, y: np.ndarray, q: tuple[float, ...]) -> np.ndarray:
        """The attitude (9,) of y, turned by q about the body's axes."""
        return (y[:9].reshape(3, 3) @ matrices(np.array(q))).ravel()


class EulerAngles(NamedTuple):
    """Three angles of successive turns about the body's axes."""

    sequence: str

    def start(self, y13: np.ndarray) -> np.ndarray:
        """The angles of q."""
        return np.concatenate([euler_angles(y13[Q], self.sequence), y13[4:]])

    def engine(self, y: np.ndarray) -> np.ndarray:
        """q of the angles."""
        return np.concatenate([from_euler(self.sequence, y[:3].tolist(), "attitude"), y[3:]])

    def rate(self, y: np.ndarray, rate13: np.ndarray) -> np.ndarray:
        """ω = α̇ a + β̇ b + γ̇ c, solved for the rates: b is normal to a and c."""
        a, b, c = self.axes(y)
        n = cross(b, c)
        w, size = tuple(y[6:9].tolist()), dot(a, n)
        if size == 0.0:
            raise SolveError(
                f"Euler angles {self.sequence}: gimbal lock at a middle angle of {math.degrees(y[1]):.6g} deg; the "
                'rates of the outer angles do not exist. Use on_singularity="switch", another sequence, or quaternions.'
            )
        first = dot(w, n) / size
        return np.concatenate([(first, dot(w, b), dot(w, c) - first * dot(a, c)), rate13[4:]])

    def axes(self, y: np.ndarray) -> tuple[tuple[float, ...], ...]:
        """The axes of the three turns, in body axes: the last is one of the body's own, the first of the world's."""
        i, j, k = (AXES[name] for name in self.sequence)
        R_k, R_j = (rotation(turn_quat(e, angle)) for e, angle in ((k, float(y[2])), (j, float(y[1]))))
        return turn_back(R_k, turn_back(R_j, i)), turn_back(R_k, j), k

    def project(self, y: np.ndarray) -> np.ndarray:
        """There is no constraint."""
        return y

    def constraint_errors(self, y: np.ndarray) -> np.ndarray:
        """Zero."""
        return np.zeros(len(y))

    def margin(self, y: np.ndarray) -> np.ndarray:
        """Sine of the angle to gimbal lock, signed: cos β, or sin β where first and last axis are the same.

        y: (..., 3 and more).
        """
        return np.sin(y[..., 1]) if self.sequence[0] == self.sequence[2] else np.cos(y[..., 1])


class MultiplierQuaternions:
    """q and q̇ as coordinates of second order: q̈ = ½ q ω̇ + λ q, with ω = 2 q* q̇.

    d²(q·q)/dt² = 0 gives λ = -q̇·q̇ / q·q, which on the unit sphere is -ω²/4: the centripetal acceleration of q. What
    drifts is only the round-off and truncation that this leaves in the constraint, growing with t.
    """

    def start(self, y13: np.ndarray) -> np.ndarray:
        """q̇ = ½ q ω in place of ω."""
        qdot = 0.5 * np.array(qmul(y13[Q], (0.0, *y13[W])))
        return np.concatenate([y13[:7], qdot, y13[V]])

    def engine(self, y: np.ndarray) -> np.ndarray:
        """ω = 2 q* q̇ / |q|²."""
        q = y[Q]
        omega = np.array(qmul(qconj(q), y[7:11])[1:]) * (2.0 / (q @ q))
        return np.concatenate([y[:7], omega, y[11:14]])

    def rate(self, y: np.ndarray, rate13: np.ndarray) -> np.ndarray:
        """[q̇, v, ½ q ω̇ + λ q, v̇]."""
        q, qdot = y[Q], y[7:11]
        multiplier = -(qdot @ qdot) / (q @ q)
        qddot = 0.5 * np.array(qmul(q, (0.0, *rate13[W]))) + multiplier * q
        return np.concatenate([qdot, rate13[P], qddot, rate13[V]])

    def project(self, y: np.ndarray) -> np.ndarray:
        """As it is: the multiplier alone keeps the constraint."""
        return y

    def constraint_errors(self, y: np.ndarray) -> np.ndarray:
        """|q| - 1."""
        return np.linalg.norm(y[:, Q], axis=1) - 1.0


class Chart:
    """Exponential coordinates about an attitude q0: q = q0 exp(φ). Each step starts a new chart at φ = 0.

    Munthe-Kaas, Applied Numerical Mathematics 29 (1999) 115: a Runge-Kutta method keeps its order and the attitude
    never leaves the unit sphere.
    """

    def __init__(self, q0: tuple[float, ...]):
        self.q0 = q0

    def engine(self, y: np.ndarray) -> np.ndarray:
        """q0 exp(φ)."""
        return np.concatenate([qmul(self.q0, rotation_vector_quat(tuple(y[:3].tolist()))), y[3:]])

    def rate(self, y: np.ndarray, rate13: np.ndarray) -> np.ndarray:
        """φ̇ = ω + ½ φ × ω + c φ × (φ × ω), c = (1 - ½φ cot ½φ)/φ² = 1/12 + φ²/720 + ..."""
        phi, w = y[:3], y[6:9]
        angle = math.sqrt(phi @ phi)
        # below 0.02 rad the series is exact to φ⁴/30240 < 1e-11 of a term that is itself φ² ω
        c = 1 / 12 + angle * angle / 720 if angle < 0.02 else (1 - 0.5 * angle / math.tan(0.5 * angle)) / angle**2
        once = np.array(cross(phi, w))
        return np.concatenate([w + 0.5 * once + c * np.array(cross(phi, once)), rate13[4:]])


def engine_rows(form: Formalism, y: np.ndarray) -> np.ndarray:
    """(N, 13) the engine's states of rows y (N, ...)."""
    if isinstance(form, Quaternions):
        return y
    return np.array([form.engine(row) for row in y]).reshape(len(y), STATES)
