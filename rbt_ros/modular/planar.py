"""Rods in a plane: what turns them in closed form, the area rule, and where two of them collide.

With θ_k the angle of rod k, the angular momentum about the common centre of mass is Σ H_jk cos(θ_j - θ_k) θ̇_j, H
constant. For three rods, psi1 = θ_b - θ_a, psi2 = θ_c - θ_b,

    dθ_a = -(N1 dpsi1 + N2 dpsi2)/J,   J = tr H + 2 (H_ab cos psi1 + H_bc cos psi2 + H_ac cos(psi1 + psi2)),

and a closed path turns rod a by the integral over its inside of the curl of that (Stokes).
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError
from rbt_ros.kinds import in_words
from rbt_ros.model.checks import numbers
from rbt_ros.model.robot import Robot, as_robot

JUST_OPEN, ROUND_OFF = 1e-9, 1e-12  # [rad]; relative to the lengths
MOST_NODES, MOST_SAMPLES = 1000, 1_000_000  # of a quadrature; of a fit
SLOWEST = 0.05  # of b3: below, Eq. 4.4 becomes a cubic by huge terms that cancel


class Rods(NamedTuple):
    """What the closed forms need of three rods."""

    H: np.ndarray  # (3, 3) [kg·m²]
    lengths: tuple[float, float, float]  # [m] of a, b, c


class Fit(NamedTuple):
    """b1 psi + b2 sin(b3 psi + b4) + b5 (Eq. 4.4) beside the exact curve."""

    b: tuple[float, float, float, float, float]
    error: float  # [rad] the largest over the fit


def of_rods(robot: Robot) -> Rods:
    """H and the lengths of three rods end to end, as `rods` makes them."""
    if broken := _broken_rule(as_robot(robot, "the closed forms")):
        raise ModelError(
            f"robot '{robot.name}': the closed forms are for {broken}. The kinematics take any array: `turn_map`, or "
            "rbt map --mode kinematic."
        )
    masses = np.array([b.mass for b in robot.bodies])
    lengths = [2.0 * abs(robot.hinges[1].at[1]), abs(robot.hinges[2].at[1]), 2.0 * abs(robot.bodies[2].com[1])]
    # r_k = Σ_j D_kj e_j: centre of mass of rod k from the first hinge; then from the common centre of mass
    half = 0.5 * np.array(lengths)
    D = np.array([[-half[0], 0.0, 0.0], [0.0, half[1], 0.0], [0.0, 2.0 * half[1], half[2]]])
    D = D - (masses @ D) / masses.sum()
    H = D.T @ (masses[:, None] * D) + np.diag([b.inertia[2, 2] for b in robot.bodies])
    return Rods(H, (lengths[0], lengths[1], lengths[2]))


def _broken_rule(robot: Robot) -> str | None:
    """What the closed forms assume of an array and this one is not; None: it is."""
    hinges, bodies = robot.hinges[1:], robot.bodies
    if [h.name for h in hinges] != ["psi1", "psi2"] or len(bodies) != 3:
        return "three rods, hinges psi1 and psi2"
    if [(h.parent, h.child) for h in hinges] != [(bodies[0].name, bodies[1].name), (bodies[1].name, bodies[2].name)]:
        return "rods in a row, each on the one before"
    for h in hinges:
        if h.kind != JointKind.REVOLUTE or h.axis != (0.0, 0.0, 1.0) or h.quaternion != (1.0, 0.0, 0.0, 0.0):
            return (
                f"hinges about z, (0, 0, 1), of rods in line at zero; '{h.name}' is {h.kind.name.lower()} on {h.axis}"
            )
    (first, second), (a, b, c) = hinges, bodies
    for what, place, y in (
        (f"hinge '{first.name}'", first.at, first.at[1]),
        (f"hinge '{second.name}'", second.at, second.at[1]),
        *((f"the centre of mass of '{k.name}'", k.com, y) for k, y in ((a, 0), (b, 0.5 * second.at[1]), (c, c.com[1]))),
    ):
        if not np.allclose(place, (0.0, y, 0.0), rtol=0.0, atol=ROUND_OFF * abs(second.at[1])):
            return f"rods along y with their centres of mass in the middle; {what} is at {tuple(map(float, place))} m"
    if len({np.sign(y) for y in (first.at[1], second.at[1], c.com[1])}) != 1:
        return "rods that go on along y; one of these lies on the one before"
    for body in bodies:
        if np.abs(body.inertia[2, :2]).max() > ROUND_OFF * np.trace(body.inertia):
            return f"rods with z a principal axis; '{body.name}' has products of inertia with it"
    return None


def connection(rods: Rods, psi1: Any, psi2: Any) -> tuple[np.ndarray, np.ndarray]:
    """dθ_a/dpsi1 and dθ_a/dpsi2 at momentum zero."""
    H = rods.H
    c1, c2, c12 = H[0, 1] * np.cos(psi1), H[1, 2] * np.cos(psi2), H[0, 2] * np.cos(psi1 + psi2)
    J = np.trace(H) + 2.0 * (c1 + c2 + c12)
    return -(H[1, 1] + H[2, 2] + 2.0 * c2 + c1 + c12) / J, -(H[2, 2] + c2 + c12) / J


def leg(rods: Rods, moving: int, start: Any, end: Any, locked: Any) -> np.ndarray:
    """Turn of rod a [rad] while psi1 (moving=1) or psi2 (2) goes from start to end, the other locked: exact.

    J = K + 2 rho cos(psi + d) and N = K1 + rho cos(psi + d): half of each turn, and what is left is the integral of
    1/(K + 2 rho cos x), an arc tangent, counted on over whole turns.
    """
    H = rods.H
    if moving == 1:  # rod a against b and c, which are one piece
        K1 = H[1, 1] + H[2, 2] + 2.0 * H[1, 2] * np.cos(locked)
        x, y = H[0, 1] + H[0, 2] * np.cos(locked), H[0, 2] * np.sin(locked)
        K = K1 + H[0, 0]
    else:  # rods a and b against c
        K1 = H[2, 2] + 0.0 * locked
        x, y = H[1, 2] + H[0, 2] * np.cos(locked), H[0, 2] * np.sin(locked)
        K = K1 + H[0, 0] + H[1, 1] + 2.0 * H[0, 1] * np.cos(locked)
    rho, d = np.hypot(x, y), np.arctan2(y, x)
    whole = _inverse_integral(K, rho, end + d) - _inverse_integral(K, rho, start + d)
    return -0.5 * (end - start) - (K1 - 0.5 * K) * whole


def _inverse_integral(K: np.ndarray, rho: np.ndarray, x: np.ndarray) -> np.ndarray:
    """∫ dx / (K + 2 rho cos x) from 0, K > 2 rho >= 0, without jumps."""
    root = np.sqrt((K - 2.0 * rho) * (K + 2.0 * rho))
    turns = np.floor((x + np.pi) / (2.0 * np.pi))
    u = 0.5 * (x - 2.0 * np.pi * turns)
    return 2.0 / root * (np.arctan2((K - 2.0 * rho) * np.sin(u), root * np.cos(u)) + np.pi * turns)


@in_words(ModelError)
def rectangle_turn(rods: Rods, psi1: ArrayLike, psi2: ArrayLike, start: Sequence[float] = (0.0, 0.0)) -> np.ndarray:
    """Net turn of rod a [rad], psi1 first, of rectangles from `start` to the corners; psi2 first: minus that."""
    p, q = np.broadcast_arrays(np.asarray(psi1, dtype=float), np.asarray(psi2, dtype=float))
    if np.shape(start) != (2,):
        raise ModelError(f"rectangle_turn: start {start!r:.80} must be two angles, psi1 and psi2 [rad].")
    a, b = (np.full(p.shape, float(s)) for s in start)
    return leg(rods, 1, a, p, b) + leg(rods, 2, b, q, p) + leg(rods, 1, p, a, q) + leg(rods, 2, q, b, a)


@in_words(ModelError)
def area_turn(rods: Rods, psi1: float, psi2: float, order: int = 80) -> float:
    """The same by the integral of the curl over the rectangle, with `order`² nodes of Gauss."""
    if not 1 <= order <= MOST_NODES:
        raise ModelError(f"area_turn: order {order!r:.40} must be a whole number of nodes, 1 to {MOST_NODES}.")
    x, w = np.polynomial.legendre.leggauss(order)
    u, v = 0.5 * psi1 * (x + 1.0), 0.5 * psi2 * (x + 1.0)
    return float(0.25 * psi1 * psi2 * (w @ curl(rods, u[:, None], v[None, :]) @ w))


@in_words(ModelError)
def curl(rods: Rods, psi1: ArrayLike, psi2: ArrayLike) -> np.ndarray:
    """∂A2/∂psi1 - ∂A1/∂psi2 of dθ_a = A1 dpsi1 + A2 dpsi2: the turn per area enclosed (psi1 first)."""
    H, psi1, psi2 = rods.H, np.asarray(psi1, dtype=float), np.asarray(psi2, dtype=float)
    c1, c2, c12 = H[0, 1] * np.cos(psi1), H[1, 2] * np.cos(psi2), H[0, 2] * np.cos(psi1 + psi2)
    s1, s2, s12 = H[0, 1] * np.sin(psi1), H[1, 2] * np.sin(psi2), H[0, 2] * np.sin(psi1 + psi2)
    J = np.trace(H) + 2.0 * (c1 + c2 + c12)
    N1, N2 = H[1, 1] + H[2, 2] + 2.0 * c2 + c1 + c12, H[2, 2] + c2 + c12
    return (s12 * J - 2.0 * (s1 + s12) * N2) / J**2 - ((2.0 * s2 + s12) * J - 2.0 * (s2 + s12) * N1) / J**2


@in_words(ModelError)
def path_turn(rods: Rods, points: np.ndarray) -> float:
    """Turn of rod a [rad] along straight lines through points (k, 2), by 12 nodes of Gauss on each."""
    points = numbers(points, "points of path_turn")
    if points.ndim != 2 or points.shape[1] != 2:
        raise ModelError(f"path_turn: points of shape {points.shape} must be (k, 2), psi1 and psi2 [rad].")
    x, w = np.polynomial.legendre.leggauss(12)
    s, step = 0.5 * (x + 1.0), np.diff(points, axis=0)
    places = points[:-1, None, :] + s[None, :, None] * step[:, None, :]
    A1, A2 = connection(rods, places[..., 0], places[..., 1])
    return float(0.5 * ((A1 * step[:, :1] + A2 * step[:, 1:]) @ w).sum())


@in_words(ModelError)
def fit(rods: Rods, locked: float, samples: int = 721) -> Fit:
    """b1 to b5 of Eq. 4.4 for psi1 from -180° to 180° with psi2 locked [rad].

    Least squares at the nodes of Chebyshev, which is near the least of the largest errors.
    """
    from scipy.optimize import least_squares

    if not 10 <= samples <= MOST_SAMPLES:
        raise ModelError(f"fit: samples {samples!r:.40} must be a whole number, 10 to {MOST_SAMPLES}.")
    psi = -np.pi * np.cos(np.pi * np.arange(samples) / (samples - 1))
    exact = leg(rods, 1, np.zeros(samples), psi, np.full(samples, locked))

    def linear(b3: float) -> tuple[np.ndarray, np.ndarray]:
        """For a given b3 the rest is linear: b1, b2 cos b4, b2 sin b4, b5."""
        rows = np.stack([psi, np.sin(b3 * psi), np.cos(b3 * psi), np.ones(samples)], axis=1)
        found = np.linalg.lstsq(rows, exact, rcond=None)[0]
        return found, rows @ found - exact

    starts = [float(b3) for b3 in np.linspace(SLOWEST, 1.2, 45)]
    best = min(starts, key=lambda b3: float(np.sum(linear(b3)[1] ** 2)))
    b3 = float(least_squares(lambda x: linear(x[0])[1], [best], bounds=(SLOWEST, 3.0), xtol=1e-14, ftol=1e-14).x[0])
    (b1, x, y, b5), residual = linear(b3)
    return Fit((b1, float(np.hypot(x, y)), b3, float(np.arctan2(y, x)), b5), float(np.abs(residual).max()))


@in_words(ModelError)
def collide(lengths: Sequence[float], psi1: ArrayLike, psi2: ArrayLike) -> np.ndarray:
    """Whether rods a and c, on both sides of b, touch (Figure 3.12): exact, for angles in [-π, π].

    They are sides of a triangle over b with inner angles α = π - |psi1|, γ = π - |psi2| if both fold the same way; its
    other sides are b sin γ / sin(α + γ) and b sin α / sin(α + γ), and a and c must reach as far. Equal rods:
    |psi1| + 2 |psi2| >= 2π and 2 |psi1| + |psi2| >= 2π.
    """
    found = numbers(lengths, "lengths").tolist()
    if np.shape(found) != (3,):
        raise ModelError(f"lengths: {found} must be three, of rods a, b, c.")
    a, b, c = found
    p, q = np.asarray(psi1, dtype=float), np.asarray(psi2, dtype=float)
    # at ±π a rod lies on b and touches its far hinge, if as long: no collision unless there is one just before
    alpha, gamma = (np.maximum(np.pi - np.abs(angle), JUST_OPEN) for angle in (p, q))
    third, touch = np.sin(alpha + gamma), ROUND_OFF * (a + b + c)
    reach = (b * np.sin(gamma) <= a * third + touch) & (b * np.sin(alpha) <= c * third + touch)
    on_a_line = (alpha == JUST_OPEN) & (gamma == JUST_OPEN)
    return (p * q > 0.0) & np.where(on_a_line, b <= a + c, (alpha + gamma < np.pi) & reach)
