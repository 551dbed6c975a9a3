"""The sphere of radius R; where its mass is asked for, hollow if there is an inner radius r."""

import math

import numpy as np

from rbt_ros.plug.shapes import SPHERE as MARKER
from rbt_ros.plug.shapes import Shape, ShapeKind


class Sphere(ShapeKind):
    """Centred on its origin."""

    numbers = {"radius": "length"}
    urdf = {"radius": 1}
    marker = MARKER

    def support(self, shape: Shape, n: np.ndarray) -> np.ndarray:
        return np.full(len(n), shape.size[0])

    def radius(self, shape: Shape) -> float:
        return shape.size[0]

    def volume(self, shape: Shape, inner: float = 0.0) -> float:
        (R,) = shape.size
        return 4 / 3 * math.pi * (R - inner) * _cubic(R, inner)

    def inertia(self, shape: Shape, mass: float, inner: float = 0.0) -> tuple[float, float, float]:
        """I = 2/5 m (R⁵ - r⁵)/(R³ - r³), the factor R - r divided out."""
        (R,), r = shape.size, inner
        quintic = R**4 + R**3 * r + R * R * r * r + R * r**3 + r**4  # (R⁵ - r⁵)/(R - r)
        return (mass * (2 * quintic / _cubic(R, r)) / 5,) * 3

    def scale(self, shape: Shape) -> tuple[float, ...]:
        return (2 * shape.size[0],) * 3


def _cubic(R: float, r: float) -> float:
    """(R³ - r³)/(R - r)."""
    return R * R + R * r + r * r


SPHERE = Sphere()
