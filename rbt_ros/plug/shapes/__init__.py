"""Shapes of bodies. What a kind of shape is stands in its one file; RViz, URDF, the browser, bounds and mass ask it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rbt_ros.core.vec import qmul, qturn
from rbt_ros.errors import ModelError
from rbt_ros.plug.registry import Registry

GREY = (0.7, 0.7, 0.75, 1.0)
CUBE, SPHERE, CYLINDER, MESH, TRIANGLES = 1, 2, 3, 10, 11  # visualization_msgs/Marker
Surface = tuple[np.ndarray, np.ndarray]  # vertices (n, 3) [m]; facets (m, 3), counter-clockwise seen from outside
Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]


@dataclass(frozen=True)
class Shape:
    """A coloured shape, placed in the body's frame."""

    kind: str  # a name in SHAPES
    size: tuple[float, ...]  # the numbers of that kind
    at: Vector = (0.0, 0.0, 0.0)  # p_BS_B [m], its origin
    quaternion: Quaternion = (1.0, 0.0, 0.0, 0.0)  # q_BS
    rgba: tuple[float, float, float, float] = GREY
    file: str = ""  # of a mesh: path or URI, as given


class ShapeKind:
    """A kind of shape. `numbers` and `triangles` are enough: the rest is taken from the triangles, or said exactly.

    All methods see the shape in its own axes, about its own origin.
    """

    numbers: Mapping[str, str] = {}  # of its size, in order: name -> dimension ("length"), for the units of a scenario
    rule = "each above zero"  # that these obey
    usual: tuple[float, ...] = ()  # the size where none is given; empty: it must be
    from_file = False  # whether it names a file
    urdf: Mapping[str, int] = {}  # attributes of URDF's element <kind>, numbers in each; empty: it has no such element
    marker = TRIANGLES  # how RViz draws it
    composed = False  # its parts together are it: RViz draws them, less to send than triangles

    def fits(self, size: tuple[float, ...]) -> bool:
        """Whether these finite numbers, as many as there must be, obey the rule."""
        return all(x > 0.0 for x in size)

    def triangles(self, shape: Shape) -> Surface:
        """Its surface, for those who do not know the kind; closed, if the mass is to be taken from it."""
        raise NotImplementedError("it has no triangles()")

    def parts(self, shape: Shape) -> Sequence[Shape]:
        """What stands for it where only URDF's shapes are known: the box that holds it."""
        high, low = self.support(shape, np.eye(3)), -self.support(shape, -np.eye(3))
        return [Shape("box", tuple((high - low).tolist()), tuple(((high + low) / 2).tolist()))]

    def support(self, shape: Shape, n: np.ndarray) -> np.ndarray:
        """(k,) how far it reaches along each of the unit vectors n (k, 3) [m]."""
        return (n @ np.transpose(self.triangles(shape)[0])).max(axis=1)

    def radius(self, shape: Shape) -> float:
        """Of the ball about its origin that holds it [m]; 0 where nobody knows."""
        return float(np.linalg.norm(self.triangles(shape)[0], axis=1).max())

    def volume(self, shape: Shape) -> float | None:
        """[m³]; None: volume, centre of mass and inertia are those of its triangles."""
        return None

    def com(self, shape: Shape) -> Vector:
        """Its centre of mass [m], where it is full and uniform."""
        return (0.0, 0.0, 0.0)

    def inertia(self, shape: Shape, mass: float) -> Sequence:
        """About the centre of mass [kg·m²]: three moments, or 3x3."""
        raise NotImplementedError("it has a volume(), but no inertia()")

    def scale(self, shape: Shape) -> tuple[float, ...]:
        """Of RViz's marker of the kind `marker`."""
        return (1.0, 1.0, 1.0)


SHAPES = Registry(
    "shape",
    ShapeKind,
    {
        "box": "rbt_ros.plug.shapes.box:BOX",
        "cylinder": "rbt_ros.plug.shapes.cylinder:CYLINDER",
        "sphere": "rbt_ros.plug.shapes.sphere:SPHERE",
        "mesh": "rbt_ros.model.mesh_size:MESH",
        "capsule": "rbt_ros.plug.shapes.capsule:CAPSULE",
    },
)


def kind_of(shape: Shape) -> ShapeKind:
    """What the shape is."""
    return SHAPES.find(shape.kind)


def moved(shape: Shape, p: Sequence[float], q: Quaternion) -> Shape:
    """The same, seen from a frame in which p and q place the frame that it is given in."""
    x, y, z = qturn(q, shape.at)
    return replace(shape, at=(p[0] + x, p[1] + y, p[2] + z), quaternion=qmul(q, shape.quaternion))


def urdf_parts(shape: Shape) -> list[Shape]:
    """The shape in shapes that URDF knows: itself, or its parts, placed and coloured as it is."""
    if kind_of(shape).urdf:
        return [shape]
    return [replace(moved(part, shape.at, shape.quaternion), rgba=shape.rgba) for part in kind_of(shape).parts(shape)]


def refuse_broken(shape: Shape) -> None:
    """ModelError where the code of its kind raises, or gives what is not finite or does not fit."""
    kind = kind_of(shape)
    if kind.urdf:  # URDF's are ours
        return
    answer(shape, "support", lambda: kind.support(shape, np.eye(3)))
    answer(shape, "radius", lambda: kind.radius(shape))
    answer(shape, "volume, com or inertia", lambda: _mass_numbers(kind, shape))
    answer(shape, "parts", lambda: [x for part in urdf_parts(shape) for x in (*part.size, *part.at, *part.quaternion)])
    answer(shape, "triangles", lambda: corners(shape))
    for part in urdf_parts(shape):
        if not kind_of(part).urdf or len(part.size) != len(kind_of(part).numbers) or not kind_of(part).fits(part.size):
            raise _broken(shape, "parts", f"has a {part.kind} of size {part.size}, which URDF does not know or allow")


def answer(shape: Shape, name: str, call: Callable[[], Any]) -> np.ndarray:
    """What the code of the shape's kind gives, which may be another's; ModelError where it raises or is not finite."""
    try:
        given = np.array(call(), dtype=float)
    except Exception as err:  # anything may happen in there
        raise _broken(shape, name, f"fails: {err!s:.200}") from err
    if not np.isfinite(given).all():
        raise _broken(shape, name, "gives numbers that are not finite")
    return given


def _mass_numbers(kind: ShapeKind, shape: Shape) -> list[float]:
    volume = kind.volume(shape)
    return [] if volume is None else [volume, *kind.com(shape), *np.ravel(kind.inertia(shape, 1.0))]


def _broken(shape: Shape, name: str, why: str) -> ModelError:
    return ModelError(
        f"shape '{shape.kind}' of size {shape.size}: its {name} {why}. This is a fault of that kind of shape, not of "
        "the robot: mend it, or use another kind (docs/extending.md)."
    )


def corners(shape: Shape) -> np.ndarray:
    """(m, 3, 3): the corners of its triangles."""
    vertices, facets = kind_of(shape).triangles(shape)
    return np.asarray(vertices, dtype=float).reshape(-1, 3)[np.asarray(facets).reshape(-1, 3)]


def turned(profile: np.ndarray, sides: int = 36) -> Surface:
    """The closed surface that a line (n, 2) of radius and z [m], from a lower tip to an upper one, makes about z."""
    angles = np.arange(sides) * (2.0 * np.pi / sides)
    r, z = profile[1:-1, :1], np.repeat(profile[1:-1, 1:], sides, axis=1)
    rings = np.stack([r * np.cos(angles), r * np.sin(angles), z], axis=2).reshape(-1, 3)
    vertices = np.vstack([[0.0, 0.0, profile[0, 1]], rings, [0.0, 0.0, profile[-1, 1]]])
    here = np.arange(sides)
    after, last = (here + 1) % sides, 1 + len(rings) - sides  # the number of the last ring's first vertex
    a, b = (np.arange(1, last, sides) + side[:, None] for side in (here, after))  # side by side, not ring by ring:
    around = np.stack([a, b, b + sides, a, b + sides, a + sides], axis=2).reshape(-1, 3)  # glass shows one seam at most
    lower = np.column_stack([0 * here, 1 + after, 1 + here])
    upper = np.column_stack([last + here, last + after, 0 * here + len(vertices) - 1])
    return vertices, np.vstack([lower, around, upper])
