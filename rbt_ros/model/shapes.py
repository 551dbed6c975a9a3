"""Bodies' looks: what RViz and the browser draw. Mass properties come from the body, never from its looks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, as_quaternion
from rbt_ros.model.checks import numbers, vector

# numbers per kind: x y z | radius length | radius | scale along x y z (negative: mirrored)
SIZES = {"box": 3, "cylinder": 2, "sphere": 1, "mesh": 3}
GREY = (0.7, 0.7, 0.75, 1.0)


@dataclass(frozen=True)
class Shape:
    """A coloured primitive or a mesh, placed in the body's frame."""

    kind: str  # box | cylinder | sphere | mesh
    size: tuple[float, ...]  # [m]; of a mesh: its scale
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)  # p_BS_B [m], its centre
    quaternion: tuple[float, float, float, float] = IDENTITY  # q_BS
    rgba: tuple[float, float, float, float] = GREY
    file: str = ""  # of a mesh: path or URI, as given


def checked_shapes(body: str, given: Sequence[Any]) -> tuple[Shape, ...]:
    """The looks of the body named `body`: Shapes, or what `shape` takes, by name."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ModelError(f"body '{body}': shapes must be a list, not {given!r:.80}.")
    return tuple(s if isinstance(s, Shape) else _named(body, s) for s in given)


def _named(body: str, given: Any) -> Shape:
    """The Shape of `{"kind": ..., "size": ..., ...}`."""
    keys = ("kind", "size", "at", "rotation", "rgba", "file")
    if not isinstance(given, Mapping) or "kind" not in given or not set(given) <= set(keys):
        raise ModelError(
            f"shape of body '{body}': {given!r:.80} must have a kind and may have {', '.join(keys[1:])}; size is "
            "(x, y, z) of a box, (radius, length) of a cylinder, radius of a sphere, scale of a mesh."
        )
    return shape(body, **given)


def shape(body, kind, size=None, at=(0, 0, 0), rotation=IDENTITY, rgba=GREY, file="") -> Shape:
    """A checked Shape of the body named `body`."""
    where = f"shape of body '{body}'"
    if not isinstance(kind, str) or kind not in SIZES:
        raise ModelError(f"{where}: '{kind}' is not a kind of shape; use one of {', '.join(SIZES)}.")
    if not isinstance(file, str) or (kind == "mesh") != bool(file):
        raise ModelError(f"{where}: a mesh, and only a mesh, names its file; this is a {kind} with file {file!r}.")
    size = (1.0, 1.0, 1.0) if size is None and kind == "mesh" else size
    sizes = () if size is None else tuple(np.atleast_1d(numbers(size, where)).ravel().tolist())
    if kind == "mesh" and (len(sizes) != 3 or not all(0 < abs(s) < np.inf for s in sizes)):
        raise ModelError(f"{where}: a mesh takes 3 scales that are not zero, not {size}.")
    if len(sizes) != SIZES[kind] or not (kind == "mesh" or all(0 < s < np.inf for s in sizes)):
        raise ModelError(f"{where}: a {kind} takes {SIZES[kind]} positive sizes in m, not {size}.")
    colour = tuple(numbers(rgba, f"rgba of {where}").ravel().tolist())
    if len(colour) != 4 or not all(0 <= c <= 1 for c in colour):
        raise ModelError(f"{where}: rgba {rgba} is not four numbers from 0 to 1: red, green, blue, opacity.")
    return Shape(kind, sizes, vector(at, f"at of {where}"), as_quaternion(rotation, where), colour, file)
