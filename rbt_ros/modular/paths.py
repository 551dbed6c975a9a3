"""Paths of the shape: which angles the hinges go through, and when.

A path is a row of pieces, each a curve over 0 <= s <= 1. Where it turns a corner a new piece starts, and what follows
it stands still there; within a piece the speed is that of a time profile.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.model.checks import number, numbers, one_number
from rbt_ros.model.hinge_commands import HingeTrajectory

Piece = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]  # s (k,) -> shape (k, n) and its derivative by s
MOST_POINTS = 1_000_000  # of a trajectory, on a piece
PROFILES = ("minimum_jerk", "trapezoid")
RAMP = 1.0 / 3.0  # of the time of a trapezoid: speeding up, and slowing down


class ShapePath(NamedTuple):
    """Where the joints go; all others stay at zero."""

    joints: tuple[str, ...]
    pieces: tuple[Piece, ...]
    smooth: bool = False  # the pieces go on into each other: one start and one stop

    @in_words(ScenarioError)
    def at(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Shape (k, n) and its derivative by s, for s from 0 to the number of pieces."""
        s = numbers(s, "s of a path", ScenarioError)
        if s.ndim != 1 or np.isnan(s).any():
            raise ScenarioError(f"s of a path: {s!r:.80} must be a row of numbers, 0 to {len(self.pieces)}.")
        piece = np.clip(s.astype(int), 0, len(self.pieces) - 1)
        shape, slope = np.empty((len(s), len(self.joints))), np.empty((len(s), len(self.joints)))
        for k in np.unique(piece):
            here = piece == k
            shape[here], slope[here] = self.pieces[k](s[here] - k)
        return shape, slope

    @property
    def corners(self) -> np.ndarray:
        """(pieces + 1, n): where the pieces meet."""
        return np.vstack([piece(np.zeros(1))[0] for piece in self.pieces] + [self.pieces[-1](np.ones(1))[0]])

    def reverse(self) -> "ShapePath":
        """The same, gone the other way."""
        return self._replace(pieces=tuple(_backward(piece) for piece in reversed(self.pieces)))


def polygon(corners: Sequence[Sequence[float]], joints: Sequence[str] = ("psi1", "psi2")) -> ShapePath:
    """Straight from corner to corner [rad]; it closes only where the last corner is the first."""
    _some_joints(joints, "polygon")
    points = numbers(corners, "polygon", ScenarioError)
    if points.ndim != 2 or len(points) < 2 or points.shape[1] != len(joints) or not np.isfinite(points).all():
        raise ScenarioError(
            f"polygon: corners of shape {points.shape} must be two or more rows of "
            f"{len(joints)} finite angles, one per joint."
        )
    return ShapePath(tuple(joints), tuple(_line(a, b) for a, b in zip(points, points[1:], strict=False)))


def rectangle(
    psi1: float,
    psi2: float,
    *,
    start: Sequence[float] = (0.0, 0.0),
    first: int = 1,
    joints: Sequence[str] = ("psi1", "psi2"),
) -> ShapePath:
    """One hinge at a time: from `start` to (psi1, psi2) and back; first: which of the two moves first, 1 or 2 [rad].

    first=1 is what the thesis calls clockwise; first=2 is the same rectangle backward.
    """
    if not isinstance(first, int | np.integer) or first not in (1, 2):
        raise ScenarioError(f"rectangle: first {first!r:.40} must be 1 (the thesis' clockwise) or 2.")
    a, b = pair(start, "start of a rectangle")
    p, q = one_number(psi1, "psi1", ScenarioError), one_number(psi2, "psi2", ScenarioError)
    _two_joints(joints, "rectangle")
    path = polygon([(a, b), (p, b), (p, q), (a, q), (a, b)], joints)
    return path if first == 1 else path.reverse()


def ellipse(
    axes: Sequence[float],
    *,
    tilt: float = 0.0,
    start: Sequence[float] = (0.0, 0.0),
    direction: float = 0.0,
    clockwise: bool = True,
    joints: Sequence[str] = ("psi1", "psi2"),
) -> ShapePath:
    """Once round an ellipse that leaves from `start`. axes: half axes [rad]; tilt: of the first one from psi1 [rad].

    direction [rad]: where on it `start` lies, as seen from the centre in the ellipse's own axes. clockwise as the
    thesis has it: psi1 right, psi2 up, geometrically counter-clockwise.
    """
    a, b = pair(axes, "axes of an ellipse")
    _two_joints(joints, "ellipse")
    tilt, direction = number(tilt, "tilt of an ellipse"), number(direction, "direction of an ellipse")
    if not isinstance(clockwise, bool | np.bool_):
        raise ScenarioError(f"ellipse: clockwise {clockwise!r:.40} is neither True nor False.")
    c, d = np.cos(tilt), np.sin(tilt)
    turn, origin = np.array([[c, -d], [d, c]]), np.array(pair(start, "start of an ellipse"))
    way = 1.0 if clockwise else -1.0

    def piece(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        phase = direction + way * 2.0 * np.pi * s
        place = np.stack([a * (np.cos(phase) - np.cos(direction)), b * (np.sin(phase) - np.sin(direction))], axis=1)
        slope = way * 2.0 * np.pi * np.stack([-a * np.sin(phase), b * np.cos(phase)], axis=1)
        return origin + place @ turn.T, slope @ turn.T

    return ShapePath(tuple(joints), (piece,), smooth=True)


def spline(points: Sequence[Sequence[float]], joints: Sequence[str] = ("psi1", "psi2")) -> ShapePath:
    """A closed smooth curve through the points [rad], back to the first one: cubic, periodic, one piece per point."""
    from scipy.interpolate import CubicSpline

    _some_joints(joints, "spline")
    given = numbers(points, "spline", ScenarioError)
    if given.ndim != 2 or len(given) < 3 or given.shape[1] != len(joints) or not np.isfinite(given).all():
        raise ScenarioError(
            f"spline: points of shape {given.shape} must be three or more rows of {len(joints)} angles."
        )
    curve = CubicSpline(np.arange(len(given) + 1), np.vstack([given, given[:1]]), bc_type="periodic")
    slope = curve.derivative()
    pieces = tuple(lambda s, k=k: (curve(k + s), slope(k + s)) for k in range(len(given)))
    return ShapePath(tuple(joints), pieces, smooth=True)


def _some_joints(joints: Sequence[str], what: str) -> None:
    """ScenarioError where no joint moves, or one moves twice."""
    if not _are_names(joints) or not joints:
        raise ScenarioError(
            f"{what}: joints {joints!r:.80} must be names of joints, one at least, each once: ('psi1',)."
        )


def profile(kind: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """s and ds/dx at x, both from 0 to 1, from rest to rest: "minimum_jerk", 10 x³ - 15 x⁴ + 6 x⁵, or "trapezoid"."""
    x = np.clip(np.asarray(x, dtype=float), 0.0, 1.0)
    if kind == "minimum_jerk":
        return x**3 * (10.0 - 15.0 * x + 6.0 * x * x), 30.0 * x * x * (1.0 - x) ** 2
    if kind != "trapezoid":
        raise ScenarioError(f"time profile '{kind!s:.40}' is not one of {', '.join(PROFILES)}.")
    top = 1.0 / (1.0 - RAMP)
    speed = top * np.clip(np.minimum(x, 1.0 - x) / RAMP, 0.0, 1.0)
    up, down = 0.5 * top * x * x / RAMP, 1.0 - 0.5 * top * (1.0 - x) ** 2 / RAMP
    return np.where(x < RAMP, up, np.where(x > 1.0 - RAMP, down, top * (x - 0.5 * RAMP))), speed


def when_at(s: float) -> float:
    """The fraction of the time at which the profile of least jerk has gone the fraction s of its way."""
    x = np.linspace(0.0, 1.0, 2001)
    return float(np.interp(s, profile("minimum_jerk", x)[0], x))


@in_words(ScenarioError)
def trajectory(path: ShapePath, duration: float, kind: str = "minimum_jerk", points: int = 50) -> HingeTrajectory:
    """The path as set-points, for `Simulation.command` and, as JointTrajectory, for the node.

    duration [s] of the whole; each piece has an equal part of it, with `points` cubics, and ends at rest unless the
    path is smooth.
    """
    total = one_number(duration, "duration of a trajectory", ScenarioError)
    if not 0 < total < 9e9:
        raise ScenarioError(f"duration {total} s of a trajectory must be positive.")
    if not 1 <= points <= MOST_POINTS:
        raise ScenarioError(f"trajectory: {points!r:.40} points on a piece; 1 to {MOST_POINTS}.")
    legs = 1 if path.smooth else len(path.pieces)
    x = np.arange(points + 1) / points
    along, speed = profile(kind, x)
    each = len(path.pieces) / legs
    times, rows, rates = [0], [path.corners[0]], [np.zeros(len(path.joints))]
    for leg in range(legs):
        # a corner belongs to the leg that ends there: the last s stays just within it
        s = np.minimum(each * (leg + along), np.nextafter(each * (leg + 1), 0.0))
        shape, slope = path.at(s)
        rate = slope * (speed * each * legs / total)[:, None]
        times += [round((leg + value) * total / legs * 1e9) for value in x[1:]]
        rows += list(shape[1:])
        rates += list(rate[1:])
    as_rows = tuple(tuple(float(v) for v in row) for row in rows)
    return HingeTrajectory(path.joints, tuple(times), as_rows, tuple(tuple(float(v) for v in row) for row in rates))


def pair(given: Sequence[float], what: str) -> tuple[float, float]:
    """Two finite numbers, one for each of two joints."""
    found = numbers(given, what, ScenarioError)
    if found.shape != (2,) or not np.isfinite(found).all():
        raise ScenarioError(f"{what}: {found.tolist()} must be two finite numbers, one for each joint.")
    return float(found[0]), float(found[1])


def _are_names(joints: Any) -> bool:
    """Whether these are names, each of them once."""
    listed = isinstance(joints, list | tuple) and all(isinstance(joint, str) for joint in joints)
    return listed and len({*joints}) == len(joints)


def _two_joints(joints: Sequence[str], what: str) -> None:
    if not _are_names(joints) or len(joints) != 2:
        raise ScenarioError(f"{what}: joints {joints!r:.60} must be two: ('psi1', 'psi2').")


def _line(a: np.ndarray, b: np.ndarray) -> Piece:
    return lambda s: (a + np.multiply.outer(s, b - a), np.broadcast_to(b - a, (len(s), len(a))))


def _backward(piece: Piece) -> Piece:
    def back(s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        shape, slope = piece(1.0 - s)
        return shape, -slope

    return back
