"""Mass, centre of mass and inertia tensor of a body, and how they compose: turns, shifts, parallel axes."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.vec import rotation as matrix_of
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, as_quaternion
from rbt_ros.model.build import checked_inertia
from rbt_ros.model.checks import numbers

ALIKE = 1e-12  # moments that differ by less than this part of the largest count as equal
TIE = 1e-6  # components of a unit vector that differ by less do not decide which is the largest


class Principal(NamedTuple):
    """I_BBcm = axes diag(moments) axesᵀ."""

    moments: np.ndarray  # (3,) [kg·m²], rising
    axes: np.ndarray  # R_BP (3, 3): the axes are its columns, right-handed


class MassProperties(NamedTuple):
    """How the mass of a body is spread, in its frame B. The tensor has elements as in URDF: ixy = -∫ x y dm."""

    mass: float  # [kg]
    com: np.ndarray  # p_BBcm_B (3,) [m]
    inertia: np.ndarray  # I_BBcm (3, 3) [kg·m²], about the CoM

    def about(self, point: Any = (0.0, 0.0, 0.0)) -> np.ndarray:
        """I_BQ (3, 3) [kg·m²] about the point Q at p_BQ [m]: I_BBcm + m (c² 1 - c cᵀ), c from Q to the CoM."""
        return self.inertia + self.mass * gyration(self.com - vector(point, "point"))

    def placed(self, at: Any = (0.0, 0.0, 0.0), rotation: Any = IDENTITY) -> "MassProperties":
        """The same in frame A, in which B stands at p_AB [m], turned by q_AB: I_A = R_AB I_B R_ABᵀ.

        rotation: quaternion, 3x3, or ("ZYX", a, b, c), as everywhere.
        """
        p_AB = vector(at, "at")
        R_AB = np.array(matrix_of(as_quaternion(rotation, "rotation")))
        return MassProperties(self.mass, p_AB + R_AB @ self.com, symmetric(R_AB @ self.inertia @ R_AB.T))

    def in_frame(self, at: Any = (0.0, 0.0, 0.0), rotation: Any = IDENTITY) -> "MassProperties":
        """The same in frame C, which stands in B at p_BC [m], turned by q_BC: the inverse of `placed`."""
        R_BC = np.array(matrix_of(as_quaternion(rotation, "rotation")))
        com = R_BC.T @ (self.com - vector(at, "at"))
        return MassProperties(self.mass, com, symmetric(R_BC.T @ self.inertia @ R_BC))

    def __add__(self, other: "MassProperties") -> "MassProperties":  # type: ignore[override]
        """Both as one body; their frames must be one."""
        return combine([self, other])

    def principal(self) -> Principal:
        """Principal moments and axes, the same for the same tensor on every machine.

        Where moments are equal the axes are free, and those nearest to x, y, z are taken. Signs: the largest component
        of the first and of the second axis is positive; the third is their cross product.
        """
        moments, axes = np.linalg.eigh(self.inertia)
        alike = np.diff(moments) <= ALIKE * moments[2]
        if alike.all():
            axes = np.eye(3)
        elif alike[0]:
            axes = np.column_stack(_across(axes[:, 2]) + (axes[:, 2],))
        elif alike[1]:
            axes = np.column_stack((axes[:, 0],) + _across(axes[:, 0]))
        a, b = (_facing(axes[:, i]) for i in (0, 1))
        return Principal(moments, np.column_stack([a, b, np.cross(a, b)]))

    def as_body(self) -> dict[str, Any]:
        """What `RobotBuilder.body` takes: b.body("hub", **props.as_body())."""
        return {"mass": self.mass, "inertia": self.inertia, "com": tuple(self.com.tolist())}


def combine(parts: Iterable[MassProperties]) -> MassProperties:
    """All parts, given in one frame, as one body: parallel axes about the common CoM, so nothing cancels."""
    parts = list(parts) if isinstance(parts, Iterable) else [parts]
    for k, part in enumerate(parts):
        if not isinstance(part, MassProperties):
            raise ModelError(f"combine: part {k} is {part!r:.80}, not MassProperties; make one with rbt.mass.")
    if not parts:
        raise ModelError("combine: there is no part; give at least one.")
    mass = math.fsum(part.mass for part in parts)
    start = parts[0].com  # far from the origin, differences of positions are exact and positions are not
    com = start + sum(part.mass / mass * (part.com - start) for part in parts)
    inertia = sum(part.about(com) for part in parts)
    return MassProperties(mass, com, symmetric(np.asarray(inertia)))


def given(mass: float, inertia: Any, com: Any = (0.0, 0.0, 0.0), name: str = "part") -> MassProperties:
    """What a data sheet or a CAD program says, checked: inertia about the CoM, 3 principal moments or 3x3 [kg·m²]."""
    tensor = np.array(checked_inertia(f"'{name}'", inertia))
    return MassProperties(positive(mass, f"mass of '{name}'", "kg"), vector(com, f"com of '{name}'"), tensor)


class Moments(NamedTuple):
    """Sums over a body, r from an origin that whoever adds them chose."""

    mass: float  # ∫ dm [kg]
    first: np.ndarray  # ∫ r dm (3,)
    second: np.ndarray  # ∫ r rᵀ dm (3, 3)


def total(parts: Iterable[Moments]) -> Moments:
    """Their sum."""
    masses, firsts, seconds = (np.array(sums) for sums in zip(*parts, strict=True))
    return Moments(float(masses.sum()), firsts.sum(axis=0), seconds.sum(axis=0))


def simplex_moments(masses: np.ndarray, corners: np.ndarray, apex: bool = False) -> Moments:
    """Moments of points, rods, triangles or tetrahedra, each of uniform density: corners (n, k, 3), k = 1 to 4.

    Of one with corners a, b, ... and s = a + b + ...: m s / k and m (a aᵀ + b bᵀ + ... + s sᵀ) / (k (k + 1)).
    apex: one more corner of each is the origin.
    """
    n, k = corners.shape[:2]
    s, count = corners.sum(axis=1), k + apex
    rows = np.concatenate([corners.reshape(n * k, 3), s])
    weights = np.concatenate([np.repeat(masses, k), masses])
    second = (rows * weights[:, None]).T @ rows / (count * (count + 1))
    return Moments(float(masses.sum()), masses @ s / count, second)


def mass_properties(moments: Moments, origin: np.ndarray, mass: float | None = None) -> MassProperties:
    """I = m (tr C 1 - C), C = ∫ r rᵀ dm / m - c cᵀ, c the CoM from `origin`. mass: weighs that much instead."""
    c = moments.first / moments.mass
    C = symmetric(moments.second / moments.mass - np.outer(c, c))
    m = moments.mass if mass is None else mass
    return MassProperties(m, origin + c, m * (np.trace(C) * np.eye(3) - C))


def gyration(r: np.ndarray) -> np.ndarray:
    """r² 1 - r rᵀ (3, 3): the tensor of a unit mass at r."""
    return (r @ r) * np.eye(3) - np.outer(r, r)


def symmetric(tensor: np.ndarray) -> np.ndarray:
    """Its symmetric part: round-off goes."""
    return (tensor + tensor.T) / 2


def positive(value: Any, what: str, unit: str) -> float:
    """A positive, finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError) as err:
        raise ModelError(f"{what}: {value!r} is not a number in {unit}.") from err
    if not 0 < number < math.inf:
        raise ModelError(f"{what}: {number:g} {unit} must be positive and finite.")
    return number


def vector(value: Any, what: str) -> np.ndarray:
    """Three finite numbers."""
    array = numbers(value, what)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ModelError(f"{what}: {value!r:.80} is not three finite numbers.")
    return array


def per_item(value: Any, count: int, what: str, unit: str) -> np.ndarray:
    """(count,) positive numbers: one for all, or one each."""
    array = numbers(value, f"{what} [{unit}]")
    if array.ndim == 0:
        return np.full(count, positive(value, what, unit))
    if array.shape != (count,):
        raise ModelError(f"{what}: {array.shape} numbers for {count} facets; give one for all, or one each.")
    wrong = ~((array > 0) & (array < math.inf))
    if wrong.any():
        worst = int(np.argmax(wrong))
        raise ModelError(f"{what}: {array[worst]:g} {unit} of facet {worst} must be positive and finite.")
    return array


def only_one(density: Any, mass: Any, name: str) -> None:
    """ModelError unless exactly one of both is given."""
    if (density is None) == (mass is None):
        raise ModelError(f"{name}: give either a density [kg/m³] or a mass [kg], and not both.")


def mass_of(volume: float, density: Any, mass: Any, name: str) -> float:
    """[kg], from exactly one of density and mass."""
    only_one(density, mass, name)
    if mass is None:
        return volume * positive(density, f"density of {name}", "kg/m³")
    return positive(mass, f"mass of {name}", "kg")


def _facing(axis: np.ndarray) -> np.ndarray:
    """±axis, so that its largest component is positive; of some as large, the first."""
    size = np.abs(axis)
    return axis if axis[np.argmax(size > size.max() - TIE)] > 0 else -axis


def _across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two axes normal to `axis` and to each other, the first nearest to the (first) coordinate axis most across it."""
    size = np.abs(axis)
    e = np.eye(3)[np.argmax(size < size.min() + TIE)]
    first = e - (e @ axis) * axis
    first /= np.linalg.norm(first)
    return first, np.cross(axis, first)
