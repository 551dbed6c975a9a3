"""NASTRAN's grid points and coordinate systems (GRID, CORD1x, CORD2x) -> positions in the basic system."""

import math
from typing import NamedTuple

import numpy as np

from rbt_ros.model.mass.bulk_data import Card

KINDS = {"R": "rectangular", "C": "cylindrical", "S": "spherical"}
SYSTEMS = tuple(f"CORD{way}{kind}" for way in "12" for kind in KINDS)
FLAT = 1e-10  # sine of the angle below which three points lie on one line


class Frame(NamedTuple):
    """A coordinate system C in the basic one, 0."""

    kind: str  # R, C or S
    origin: np.ndarray  # p_0C (3,)
    axes: np.ndarray  # R_0C (3, 3)


BASIC = Frame("R", np.zeros(3), np.eye(3))


class Grid:
    """Positions of grid points and axes of systems, worked out when asked for: each may hang on the other."""

    def __init__(self, points: dict[int, Card], systems: dict[int, tuple[Card, int]], default: int):
        """points: GRID by number; systems: by number (card, its first data field); default: system of a blank CP."""
        self._points, self._systems, self._default = points, systems, default
        self._positions: dict[int, np.ndarray] = {}
        self._frames: dict[int, Frame] = {0: BASIC}
        self._open: list[int] = []

    def position(self, number: int, user: Card) -> np.ndarray:
        """p of grid point `number` in the basic system, for `user`."""
        if number not in self._positions:
            if number not in self._points:
                raise user.error(f"it names grid point {number}, and there is no GRID {number}.")
            card = self._points[number]
            frame = self.frame(card.integer(2, "CP", self._default), card)
            self._positions[number] = frame.origin + frame.axes @ rectangular(frame.kind, card.reals(3, 3, "X"))
        return self._positions[number]

    def frame(self, number: int, user: Card) -> Frame:
        """The system `number`, for `user`."""
        if number not in self._frames:
            if number not in self._systems:
                raise user.error(f"it names coordinate system {number}, and there is no CORD1x or CORD2x {number}.")
            if number in self._open:
                raise user.error(f"coordinate system {number} hangs on itself.")
            self._open.append(number)
            card, first = self._systems[number]
            points = self._by_grid_points(card, first) if card.name[4] == "1" else self._by_points(card)
            self._frames[number] = Frame(card.name[5], points[0], _axes(points, card))
            self._open.pop()
        return self._frames[number]

    def _by_grid_points(self, card: Card, first: int) -> list[np.ndarray]:
        return [self.position(number, card) for number in card.integers(first + 1, 3, "G")]

    def _by_points(self, card: Card) -> list[np.ndarray]:
        base = self.frame(card.integer(2, "RID", 0), card)
        numbers = np.reshape(card.reals(3, 9, "A, B, C: component "), (3, 3))
        return [base.origin + base.axes @ rectangular(base.kind, row) for row in numbers]


def rectangular(kind: str, given) -> np.ndarray:
    """x, y, z of x, y, z (R), of r, θ, z (C) or of r, θ from z, φ about z (S); angles in degrees."""
    a, b, c = given
    if kind == "R":
        return np.array([a, b, c])
    b = math.radians(b)
    if kind == "C":
        return np.array([a * math.cos(b), a * math.sin(b), c])
    c = math.radians(c)
    return a * np.array([math.sin(b) * math.cos(c), math.sin(b) * math.sin(c), math.cos(b)])


def local_axes(frame: Frame, position: np.ndarray) -> np.ndarray:
    """R_0L at a position: the axes of the system, or the directions of its r, θ, z or r, θ, φ there."""
    if frame.kind == "R":
        return frame.axes
    x, y, z = frame.axes.T @ (position - frame.origin)
    about = math.atan2(y, x)
    c, s = math.cos(about), math.sin(about)
    if frame.kind == "C":
        return frame.axes @ np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    from_z = math.atan2(math.hypot(x, y), z)
    u, v = math.cos(from_z), math.sin(from_z)
    return frame.axes @ np.array([[v * c, u * c, -s], [v * s, u * s, c], [u, -v, 0]])


def _axes(points: list[np.ndarray], card: Card) -> np.ndarray:
    """R_0C from its origin A, B on the z axis, C in the plane of x and z."""
    z, c = points[1] - points[0], points[2] - points[0]
    y = np.cross(z, c)
    if not np.linalg.norm(y) > FLAT * np.linalg.norm(z) * np.linalg.norm(c):
        raise card.error("its three points lie on one line and give no axes.")
    z, y = z / np.linalg.norm(z), y / np.linalg.norm(y)
    return np.column_stack([np.cross(y, z), y, z])
