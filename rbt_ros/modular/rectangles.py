"""The best equal rectangles of three rods: one hinge at a time, flat to flat. Optima begin there.

Each leg goes by 3 s² - 2 s³, which is the least effort where inertia does not change; one that takes e for one second
takes e/T³ in T. So n rectangles of legs e1 to e4 share their time best as T_i ∝ e_i^(1/4), and take
n⁴ (Σ e_i^(1/4))⁴/T³.
"""

from typing import Any, NamedTuple

import numpy as np

from rbt_ros.modular import planar
from rbt_ros.modular.planar import Rods

GRID = 91  # corners from -180° to 180°, each hinge
MOST = 6  # rectangles in a row
ORDER = 16  # nodes of Gauss on a leg
SEEN = 61  # shapes on a leg that are looked at
NEAR_END = 1e-6  # [rad] to the ends of the hinges


class Rectangles(NamedTuple):
    """`rounds` times from (0, 0) over the corner and back."""

    psi1: float  # [rad] far corner
    psi2: float
    first: int  # which hinge moves first
    rounds: int
    effort: float  # [N²·m²·s] ∫ u·u dt of all in one second; in T seconds: over T³

    @property
    def corners(self) -> np.ndarray:
        """(4 rounds + 1, 2): of the shape [rad]."""
        p, q = self.psi1, self.psi2
        way = [(p, 0.0), (p, q), (0.0, q), (0.0, 0.0)]
        if self.first == 2:
            way = [(0.0, q), (p, q), (p, 0.0), (0.0, 0.0)]
        return np.array([(0.0, 0.0), *self.rounds * way])


def torques(rods: Rods, psi: np.ndarray, rate: np.ndarray, accel: np.ndarray) -> np.ndarray:
    """(..., 2) [N·m] of the hinges along a motion of the shape (..., 2), momentum zero."""
    A1, A2 = planar.connection(rods, psi[..., 0], psi[..., 1])
    spin = A1 * rate[..., 0] + A2 * rate[..., 1]
    angle, w, wdot = _rods(0.0 * spin, psi), _rods(spin, rate), _rods(0.0 * spin, accel)
    apart = angle[..., :, None] - angle[..., None, :]
    M = rods.H * np.cos(apart)
    n = (M @ wdot[..., None])[..., 0] + ((rods.H * np.sin(apart)) @ (w * w)[..., None])[..., 0]
    n = n - M.sum(axis=-1) * (n.sum(axis=-1) / M.sum(axis=(-2, -1)))[..., None]  # rod a turns so that their sum is zero
    return np.stack([-n[..., 0], n[..., 2]], axis=-1)


def _rods(first: Any, relative: np.ndarray) -> np.ndarray:
    """(..., 3): of rods a, b, c from that of rod a and those of the hinges."""
    return np.stack([first, first + relative[..., 0], first + relative[..., 0] + relative[..., 1]], axis=-1)


def legs_effort(rods: Rods, psi1: Any, psi2: Any) -> np.ndarray:
    """(4, ...): efforts for one second of the legs of rectangles, in the order of psi1 first."""
    x, weights = np.polynomial.legendre.leggauss(ORDER)
    s = 0.5 * (x + 1.0)
    p, q = (np.asarray(angle, dtype=float)[..., None] for angle in (psi1, psi2))
    moved, rate, accel = 3.0 * s**2 - 2.0 * s**3, 6.0 * s - 6.0 * s**2, 6.0 - 12.0 * s
    still = 0.0 * (p + q + s)
    found = []
    for moving, to, locked in ((0, p, still), (1, q, p + still), (0, p, q + still), (1, q, still)):
        shape = [locked, locked]
        shape[moving] = to * moved + still
        rates, accels = [still, still], [still, still]
        rates[moving], accels[moving] = to * rate + still, to * accel + still
        u = torques(rods, *(np.stack(parts, axis=-1) for parts in (shape, rates, accels)))
        found.append((u * u).sum(axis=-1) @ (0.5 * weights))
    return np.array(found)


def best_rectangles(rods: Rods, turn: float, avoid: bool) -> Rectangles | None:
    """Those of least effort that turn rod a by `turn` [rad]; avoid: rods a and c may not touch. None: not with MOST."""
    grid = np.linspace(-np.pi, np.pi, GRID)[1:-1]
    p, q = np.meshgrid(grid, grid, indexing="ij")
    turns, effort = np.abs(planar.rectangle_turn(rods, p, q)), _effort(rods, p, q)
    if avoid:
        effort = np.where(_touches(rods, p, q), np.inf, effort)
    best: tuple[float, int, int, int] | None = None
    for rounds in range(1, MOST + 1):
        beyond = turns >= abs(turn) / rounds
        crossed = (beyond[:, 1:] != beyond[:, :-1]) & (q[:, 1:] * q[:, :-1] > 0.0) & (p[:, 1:] != 0.0)
        cost = np.where(crossed, np.maximum(effort[:, 1:], effort[:, :-1]), np.inf) * rounds**4
        at = divmod(int(np.argmin(cost)), cost.shape[1])
        if np.isfinite(cost[at]) and (best is None or cost[at] < best[0]):
            best = float(cost[at]), rounds, *at
    if best is None:
        return None
    _, rounds, i, j = best
    psi1, psi2, least = _finer(rods, abs(turn) / rounds, avoid, (grid[i], grid[j], grid[1] - grid[0]))
    if not np.isfinite(least):
        return None
    first = 1 if float(planar.rectangle_turn(rods, psi1, psi2)) * turn > 0.0 else 2
    return Rectangles(psi1, psi2, first, rounds, rounds**4 * least)


def _effort(rods: Rods, p: Any, q: Any) -> np.ndarray:
    """Of rectangles to the corners p, q, each in one second."""
    return (legs_effort(rods, p, q) ** 0.25).sum(axis=0) ** 4


def _finer(rods: Rods, turn: float, avoid: bool, cell: tuple[float, float, float]) -> tuple[float, float, float]:
    """Corner and effort of the best rectangle that turns by ±turn around a cell of the grid (psi1, psi2, its size)."""
    p0, q0, step = cell
    side, best = np.sign(q0), (p0, q0, np.inf)
    for width in (1.0, 1.0, 1.0, 0.1, 0.01):  # [cells] around the best one so far
        p = np.clip(best[0] + width * step * np.linspace(-1.0, 1.0, 41), -np.pi + NEAR_END, np.pi - NEAR_END)
        low, high = (np.clip(abs(best[1]) + d * step, 0.0, np.pi - NEAR_END) + 0.0 * p for d in (-2.0, 2.0))
        ends = [np.abs(planar.rectangle_turn(rods, p, side * q)) >= turn for q in (low, high)]
        for _ in range(60):
            middle = 0.5 * (low + high)
            alike = (np.abs(planar.rectangle_turn(rods, p, side * middle)) >= turn) == ends[0]
            low, high = np.where(alike, middle, low), np.where(alike, high, middle)
        q = side * high
        wrong = ends[0] == ends[1]
        effort = np.where(wrong | (_touches(rods, p, q) if avoid else False), np.inf, _effort(rods, p, q))
        k = int(np.argmin(effort))
        if effort[k] < best[2]:
            best = float(p[k]), float(q[k]), float(effort[k])
    return best


def _touches(rods: Rods, p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Whether rods a and c touch on a leg of a rectangle from flat to (p, q): on those with both hinges turned."""
    s = np.linspace(0.0, 1.0, SEEN)
    p, q = p[..., None], q[..., None]
    return (planar.collide(rods.lengths, p, s * q) | planar.collide(rods.lengths, s * p, q)).any(axis=-1)


def motion(rods: Rods, found: Rectangles, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shapes (k, 2) and their slopes by s, at fractions s of the time, with the shares of it that are best."""
    shares = legs_effort(rods, found.psi1, found.psi2) ** 0.25
    if found.first == 2:
        shares = shares[::-1]
    ends = np.concatenate([[0.0], np.cumsum(np.tile(shares, found.rounds))])
    ends, corners = ends / ends[-1], found.corners
    k = np.clip(np.searchsorted(ends, s, side="right") - 1, 0, len(ends) - 2)
    lengths, step = (ends[k + 1] - ends[k])[:, None], corners[k + 1] - corners[k]
    x = (s - ends[k])[:, None] / lengths
    return corners[k] + step * (3.0 * x**2 - 2.0 * x**3), step * (6.0 * x - 6.0 * x**2) / lengths
