"""Bodies of textbook shape and uniform density, centred on the origin, long axis z: `placed` puts them elsewhere."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.checks import number
from rbt_ros.model.mass.properties import MassProperties, mass_of, positive, vector
from rbt_ros.model.mass.solids import solid
from rbt_ros.model.shapes import checked_shape
from rbt_ros.plug.shapes import Shape, kind_of
from rbt_ros.plug.shapes.cylinder import CYLINDER
from rbt_ros.plug.shapes.sphere import SPHERE


def of_shape(shape: Any, *, density: float | None = None, mass: float | None = None) -> MassProperties:
    """A full, uniform body of the shape of a body's looks, where it stands: a Shape, or dict(kind=..., size=...)."""
    made = checked_shape("mass.of_shape", shape)
    kind = kind_of(made)
    volume = kind.volume(made)
    if volume is None:
        props = solid(*kind.triangles(made), name=made.kind, density=density, mass=mass)
    else:
        props = _full(made.kind, volume, density, mass, lambda m: kind.inertia(made, m), kind.com(made))
    return props.placed(made.at, made.quaternion)


def point(mass: float, at: Any = (0.0, 0.0, 0.0)) -> MassProperties:
    """A point mass [kg] at `at` [m]."""
    return MassProperties(positive(mass, "mass of the point", "kg"), vector(at, "at"), np.zeros((3, 3)))


def box(size: Any, *, density: float | None = None, mass: float | None = None) -> MassProperties:
    """A block of edges a, b, c [m] along x, y, z: Ix = m (b² + c²)/12 and so on."""
    return of_shape(Shape("box", sizes("box", size=size)), density=density, mass=mass)


def plate(width: float, depth: float, mass: float) -> MassProperties:
    """A thin plate, width along x, depth along y [m]: Ix = m d²/12, Iy = m w²/12, Iz = Ix + Iy."""
    w, d = sizes("plate", width=width, depth=depth)
    squares = (d * d, w * w, w * w + d * d)
    return _full("plate", math.nan, None, mass, lambda m: [m * square / 12 for square in squares])


def rod(length: float, mass: float) -> MassProperties:
    """A thin rod [m] along z: Ix = Iy = m l²/12, Iz = 0."""
    (l,) = sizes("rod", length=length)
    return _full("rod", math.nan, None, mass, lambda m: (m * (l * l) / 12, m * (l * l) / 12, 0.0))


def cylinder(
    radius: float, length: float, *, inner: float = 0.0, density: float | None = None, mass: float | None = None
) -> MassProperties:
    """A cylinder [m] along z, a tube with `inner` radius r: Iz = m (R² + r²)/2, Ix = Iy = m (3 (R² + r²) + l²)/12."""
    shape = Shape("cylinder", sizes("cylinder", radius=radius, length=length))
    r = _inner("cylinder", inner, shape.size[0], density)
    return _full("cylinder", CYLINDER.volume(shape, r), density, mass, lambda m: CYLINDER.inertia(shape, m, r))


def sphere(
    radius: float, *, inner: float = 0.0, density: float | None = None, mass: float | None = None
) -> MassProperties:
    """A ball [m], hollow with `inner` radius r: I = 2/5 m (R⁵ - r⁵)/(R³ - r³), the factor R - r divided out."""
    shape = Shape("sphere", sizes("sphere", radius=radius))
    r = _inner("sphere", inner, shape.size[0], density)
    return _full("sphere", SPHERE.volume(shape, r), density, mass, lambda m: SPHERE.inertia(shape, m, r))


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


def _full(
    name: str,
    volume: float,
    density: float | None,
    mass: float | None,
    inertia: Callable[[float], Sequence],
    com: Sequence[float] = (0.0, 0.0, 0.0),
) -> MassProperties:
    """Of that density, or mass; `inertia` about the CoM of a mass: moments, or 3x3."""
    m = mass_of(volume, density, mass, name)
    tensor = np.array(inertia(m), dtype=float)
    return MassProperties(m, np.array(com, dtype=float), np.diag(tensor) if tensor.ndim == 1 else tensor)
