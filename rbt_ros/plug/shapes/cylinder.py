"""The cylinder of radius R and length l along z; where its mass is asked for, a tube if there is an inner radius r."""

import math

import numpy as np

from rbt_ros.plug.shapes import CYLINDER as MARKER
from rbt_ros.plug.shapes import Shape, ShapeKind


class Cylinder(ShapeKind):
    """Centred on its origin."""

    numbers = {"radius": "length", "length": "length"}
    urdf = {"radius": 1, "length": 1}
    marker = MARKER

    def support(self, shape: Shape, n: np.ndarray) -> np.ndarray:
        """A disc across its axis, and half its length along it."""
        R, l = shape.size
        return R * np.sqrt(np.clip(1.0 - n[:, 2] ** 2, 0.0, None)) + 0.5 * l * np.abs(n[:, 2])

    def radius(self, shape: Shape) -> float:
        return math.hypot(shape.size[0], shape.size[1] / 2)

    def volume(self, shape: Shape, inner: float = 0.0) -> float:
        R, l = shape.size
        return math.pi * (R - inner) * (R + inner) * l

    def inertia(self, shape: Shape, mass: float, inner: float = 0.0) -> tuple[float, float, float]:
        """Iz = m (R² + r²)/2, Ix = Iy = m (3 (R² + r²) + l²)/12."""
        R, l = shape.size
        squares = R * R + inner * inner
        across = mass * (3 * squares + l * l) / 12
        return (across, across, mass * (6 * squares) / 12)

    def scale(self, shape: Shape) -> tuple[float, ...]:
        return (2 * shape.size[0], 2 * shape.size[0], shape.size[1])


CYLINDER = Cylinder()
