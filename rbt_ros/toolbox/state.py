"""LabState: where the body is and how it moves, at one instant or at many."""

from typing import NamedTuple

import numpy as np

from rbt_ros.model.attitude import checked_sequence, euler_angles, matrices

Q, P, W, V = slice(0, 4), slice(4, 7), slice(7, 10), slice(10, 13)  # columns of y = [q_WB, p_WB, w_WB_B, v_WB]
STATES = 13


class LabState(NamedTuple):
    """Arrays (3,), (4,) at one instant, (N, 3), (N, 4) at many. The body's origin B is its centre of mass."""

    position: np.ndarray  # p_WB [m], inertial axes
    velocity_e: np.ndarray  # v_WB [m/s], inertial axes
    quaternion: np.ndarray  # q_WB, w x y z, body to inertial
    omega_b: np.ndarray  # w_WB [rad/s], body axes

    @classmethod
    def of(cls, y: np.ndarray) -> "LabState":
        """From the engine's y (..., 13)."""
        return cls(y[..., P], y[..., V], y[..., Q], y[..., W])

    @property
    def velocity_b(self) -> np.ndarray:
        """v_WB [m/s], body axes."""
        return to_body(self.quaternion, self.velocity_e)

    @property
    def omega_e(self) -> np.ndarray:
        """w_WB [rad/s], inertial axes."""
        return to_inertial(self.quaternion, self.omega_b)

    @property
    def matrix(self) -> np.ndarray:
        """R_WB (..., 3, 3): turns components in body axes into components in inertial axes."""
        return matrices(self.quaternion)

    def euler(self, sequence: str = "ZYX") -> np.ndarray:
        """Three angles (..., 3) [rad] of successive turns about the body's axes."""
        return euler_angles(self.quaternion, checked_sequence(sequence, "euler"))


def to_inertial(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """R a for quaternions q (..., 4) and vectors a (..., 3) in body axes."""
    return np.einsum("...ij,...j->...i", matrices(q), a)


def to_body(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    """Rᵀ a for quaternions q (..., 4) and vectors a (..., 3) in inertial axes."""
    return np.einsum("...ji,...j->...i", matrices(q), a)
