"""Bodies of textbook shape and uniform density, centred on the origin, long axis z: `placed` puts them elsewhere."""

import math
from typing import Any

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.checks import number
from rbt_ros.model.mass.properties import MassProperties, mass_of, positive, vector


def point(mass: float, at: Any = (0.0, 0.0, 0.0)) -> MassProperties:
    """A point mass [kg] at `at` [m]."""
    return MassProperties(positive(mass, "mass of the point", "kg"), vector(at, "at"), np.zeros((3, 3)))


def box(size: Any, *, density: float | None = None, mass: float | None = None) -> MassProperties:
    """A block of edges a, b, c [m] along x, y, z: Ix = m (b² + c²)/12 and so on."""
    a, b, c = sizes("box", size=size)
    return _diagonal("box", a * b * c, density, mass, (b * b + c * c, a * a + c * c, a * a + b * b), 12)


def plate(width: float, depth: float, mass: float) -> MassProperties:
    """A thin plate, width along x, depth along y [m]: Ix = m d²/12, Iy = m w²/12, Iz = Ix + Iy."""
    w, d = sizes("plate", width=width, depth=depth)
    return _diagonal("plate", math.nan, None, mass, (d * d, w * w, w * w + d * d), 12)


def rod(length: float, mass: float) -> MassProperties:
    """A thin rod [m] along z: Ix = Iy = m l²/12, Iz = 0."""
    (l,) = sizes("rod", length=length)
    return _diagonal("rod", math.nan, None, mass, (l * l, l * l, 0.0), 12)


def cylinder(
    radius: float, length: float, *, inner: float = 0.0, density: float | None = None, mass: float | None = None
) -> MassProperties:
    """A cylinder [m] along z, a tube with `inner` radius r: Iz = m (R² + r²)/2, Ix = Iy = m (3 (R² + r²) + l²)/12."""
    R, l = sizes("cylinder", radius=radius, length=length)
    r = _inner("cylinder", inner, R, density)
    squares = R * R + r * r
    volume = math.pi * (R - r) * (R + r) * l
    return _diagonal("cylinder", volume, density, mass, (3 * squares + l * l, 3 * squares + l * l, 6 * squares), 12)


def sphere(
    radius: float, *, inner: float = 0.0, density: float | None = None, mass: float | None = None
) -> MassProperties:
    """A ball [m], hollow with `inner` radius r: I = 2/5 m (R⁵ - r⁵)/(R³ - r³), the factor R - r divided out."""
    (R,) = sizes("sphere", radius=radius)
    r = _inner("sphere", inner, R, density)
    cubic = R * R + R * r + r * r  # (R³ - r³)/(R - r)
    quintic = R**4 + R**3 * r + R * R * r * r + R * r**3 + r**4  # (R⁵ - r⁵)/(R - r)
    moment = 2 * quintic / cubic
    return _diagonal("sphere", 4 / 3 * math.pi * (R - r) * cubic, density, mass, (moment,) * 3, 5)


def sizes(name: str, **given: Any) -> tuple[float, ...]:
    """Positive lengths [m]: single ones, or the three of `size`."""
    if "size" in given:
        x, y, z = vector(given["size"], f"size of the {name}").tolist()
        given = {"size along x": x, "size along y": y, "size along z": z}
    return tuple(positive(value, f"{what} of the {name}", "m") for what, value in given.items())


def _inner(name: str, inner: float, outer: float, density: float | None) -> float:
    """A checked inner radius; equal to the outer one it means a thin wall, which has a mass but no volume."""
    inner = number(inner, f"inner radius of the {name}")
    if not 0 <= inner <= outer:
        raise ModelError(f"{name}: inner radius {inner:g} m must lie between 0 and the radius {outer:g} m.")
    if inner == outer and density is not None:
        raise ModelError(f"{name}: inner radius {inner:g} m leaves no wall; give its mass, or a smaller inner radius.")
    return inner


def _diagonal(
    name: str, volume: float, density: float | None, mass: float | None, moments: tuple[float, ...], divisor: int
) -> MassProperties:
    """Inertia m moments/divisor about the origin, where the CoM is."""
    m = mass_of(volume, density, mass, name)
    return MassProperties(m, np.zeros(3), np.diag([m * moment / divisor for moment in moments]))
