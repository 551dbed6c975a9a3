"""Maps of rectangular manoeuvres: the net turn over a grid of the two angles of the far corner.

All rectangles of a grid share their sides. U1(p; b) turns the base while the first hinge goes from its start to p and
the second is locked at b, U2(q; a) likewise: one run along each line of the grid gives them all, and

    turn(p, q) = U1(p; b0) U2(q; p) U1(p; q)* U2(q; a0)*,         the other way round: its inverse
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rbt_ros.core.connection import NODES
from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import numbers
from rbt_ros.model.robot import Robot
from rbt_ros.modular.paths import pair
from rbt_ros.modular.turns import Folding, angles, conjugates, products, rotation_vectors

LONGEST = 0.1  # [rad] of a step along a line: 1e-12 (measured)


class TurnMap(NamedTuple):
    """Net turns of rectangles with corners at psi1 (m,) and psi2 (n,)."""

    psi1: np.ndarray  # [rad]
    psi2: np.ndarray  # [rad]
    quaternion: np.ndarray  # (m, n, 4): q_end q_start*
    start: tuple[float, float]
    first: int  # which hinge moves first: 1 as the thesis, 2 the other way round

    @property
    def angle(self) -> np.ndarray:
        """(m, n) [rad], in [0, π]."""
        return angles(self.quaternion)

    @property
    def axis(self) -> np.ndarray:
        """(m, n, 3): unit; zeros where nothing turned."""
        vector = rotation_vectors(self.quaternion)
        size = np.linalg.norm(vector, axis=-1, keepdims=True)
        return vector / np.where(size > 0, size, 1.0)

    @property
    def efficiency(self) -> np.ndarray:
        """(m, n): angle over the way of both hinges (Eq. 4.6 with absolute values)."""
        way = 2.0 * (np.abs(self.psi1 - self.start[0])[:, None] + np.abs(self.psi2 - self.start[1])[None, :])
        return self.angle / np.where(way > 0, way, 1.0)

    @property
    def about_z(self) -> np.ndarray:
        """(m, n) [rad]: the turn of a planar array, positive about z, in (-π, π]."""
        return rotation_vectors(self.quaternion)[..., 2]


def turn_map(
    robot: Robot,
    psi1: ArrayLike,
    psi2: ArrayLike,
    *,
    joints: Sequence[str] = ("psi1", "psi2"),
    start: Sequence[float] = (0.0, 0.0),
    held: Mapping[str, float] | None = None,
    first: int = 1,
    longest: float = LONGEST,
) -> TurnMap:
    """The map by kinematics. psi1, psi2: grids [rad], in any order; held: where other joints are locked [rad]."""
    grids = [numbers(grid, what, ScenarioError) for grid, what in ((psi1, "psi1"), (psi2, "psi2"))]
    for grid, what in zip(grids, ("psi1", "psi2"), strict=True):
        if grid.ndim != 1 or not len(grid) or not np.isfinite(grid).all():
            raise ScenarioError(f"turn_map: {what} must be a row of finite angles.")
    if first not in (1, 2):
        raise ScenarioError(f"turn_map: first {first!r:.40} must be 1 (the thesis' clockwise) or 2.")
    (a0, b0), folding = pair(start, "turn_map: start"), Folding(robot)
    if len(set(joints)) != 2 or len(joints) != 2 or set(joints) & set(held or {}):
        raise ScenarioError(f"turn_map: joints {joints!r:.60} must be two, and others than those held.")
    base = np.zeros(folding.size)
    for joint, angle in (held or {}).items():
        base[folding.column(joint)] = angle
    columns = [folding.column(joint) for joint in joints]

    def lines(moving: int, grid: np.ndarray, begin: float, locked: np.ndarray) -> np.ndarray:
        """(len(locked), len(grid), 4): turns while that hinge goes from `begin` to each of the grid."""
        one = np.empty((len(locked), len(grid), 4))
        for k, angle in enumerate(locked):
            base[columns[1 - moving]] = angle
            one[k] = _line(folding, base, columns[moving], begin, grid, longest)
        return one

    p, q = grids
    first_out, second_out = lines(0, p, a0, np.array([b0]))[0], lines(1, q, b0, p)
    first_back, second_back = lines(0, p, a0, q), lines(1, q, b0, np.array([a0]))[0]
    there = products(first_out[:, None], second_out)
    back = products(second_back[None, :], np.swapaxes(first_back, 0, 1))
    net = products(there, conjugates(back))
    return TurnMap(p, q, net if first == 1 else conjugates(net), (a0, b0), first)


def _line(
    folding: Folding, base: np.ndarray, column: int, begin: float, grid: np.ndarray, longest: float
) -> np.ndarray:
    """(len(grid), 4): turns while one joint goes from `begin` to each angle of the grid, outward on both sides."""
    found = np.empty((len(grid), 4))
    for side in (grid >= begin, grid < begin):
        order = np.flatnonzero(side)
        if not len(order):
            continue
        order = order[np.argsort(np.abs(grid[order] - begin), kind="stable")]
        stops = np.concatenate([[begin], grid[order]])
        counts = np.maximum(1, np.ceil(np.abs(np.diff(stops)) / longest).astype(int))
        h = np.repeat(np.diff(stops) / counts, counts)
        left = np.repeat(stops[:-1], counts) + h * (
            np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        )
        shape = np.tile(base, (len(h), 3, 1))
        rate = np.zeros_like(shape)
        shape[:, :, column], rate[:, :, column] = left[:, None] + h[:, None] * np.array(NODES), h[:, None]
        found[order] = folding.attitudes(shape, rate)[np.cumsum(counts)]
    return found
