"""The capsule: a cylinder of radius r and length l along z, with a half-sphere at each end."""

import math

import numpy as np

from rbt_ros.plug.shapes import Shape, ShapeKind, Surface, turned


class Capsule(ShapeKind):
    """Centred on its origin; it is 2 r + l long."""

    numbers = {"radius": "length", "length": "length"}
    composed = True

    def parts(self, shape: Shape) -> list[Shape]:
        r, l = shape.size
        return [Shape("cylinder", (r, l)), *(Shape("sphere", (r,), (0.0, 0.0, z)) for z in (l / 2, -l / 2))]

    def triangles(self, shape: Shape) -> Surface:
        r, l = shape.size
        quarter = np.linspace(0.0, np.pi / 2, 7)
        upper = np.column_stack([r * np.cos(quarter), l / 2 + r * np.sin(quarter)])
        return turned(np.vstack([upper[::-1] * [1.0, -1.0], upper]))

    def support(self, shape: Shape, n: np.ndarray) -> np.ndarray:
        r, l = shape.size
        return r + 0.5 * l * np.abs(n[:, 2])

    def radius(self, shape: Shape) -> float:
        r, l = shape.size
        return r + l / 2

    def volume(self, shape: Shape) -> float:
        r, l = shape.size
        return math.pi * r * r * (l + 4 / 3 * r)

    def inertia(self, shape: Shape, mass: float) -> tuple[float, float, float]:
        """Iz = c r²/2 + s 2/5 r², Ix = Iy = c (r²/4 + l²/12) + s (2/5 r² + 3/8 r l + l²/4).

        c is the mass of the cylinder, s that of both half-spheres; the CoM of one lies 3/8 r beyond the cylinder's end.
        """
        r, l = shape.size
        c, s = mass * l / (l + 4 / 3 * r), mass * (4 / 3 * r) / (l + 4 / 3 * r)
        across = c * (r * r / 4 + l * l / 12) + s * (2 / 5 * r * r + 3 / 8 * r * l + l * l / 4)
        return (across, across, c * r * r / 2 + s * (2 / 5 * r * r))


CAPSULE = Capsule()
