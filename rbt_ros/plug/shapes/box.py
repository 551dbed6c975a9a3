"""The box: edges a, b, c along x, y, z."""

import math

import numpy as np

from rbt_ros.plug.shapes import CUBE, Shape, ShapeKind


class Box(ShapeKind):
    """Centred on its origin."""

    numbers = dict.fromkeys(("x", "y", "z"), "length")
    urdf = {"size": 3}
    marker = CUBE

    def support(self, shape: Shape, n: np.ndarray) -> np.ndarray:
        return np.abs(n) @ np.array(shape.size) / 2.0

    def radius(self, shape: Shape) -> float:
        return math.hypot(*shape.size) / 2

    def volume(self, shape: Shape) -> float:
        return math.prod(shape.size)

    def inertia(self, shape: Shape, mass: float) -> tuple[float, float, float]:
        """Ix = m (b² + c²)/12 and so on."""
        a, b, c = shape.size
        return (mass * (b * b + c * c) / 12, mass * (a * a + c * c) / 12, mass * (a * a + b * b) / 12)

    def scale(self, shape: Shape) -> tuple[float, ...]:
        return shape.size


BOX = Box()
