"""Bodies' looks: what RViz and the browser draw. Mass properties come from the body, never from its looks."""

from dataclasses import dataclass

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, as_quaternion

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


def shape(body, kind, size=None, at=(0, 0, 0), rotation=IDENTITY, rgba=GREY, file="") -> Shape:
    """A checked Shape of the body named `body`."""
    where = f"shape of body '{body}'"
    if kind not in SIZES:
        raise ModelError(f"{where}: '{kind}' is not a kind of shape; use one of {', '.join(SIZES)}.")
    if (kind == "mesh") != bool(file):
        raise ModelError(f"{where}: a mesh, and only a mesh, names its file; this is a {kind} with file '{file}'.")
    size = (1.0, 1.0, 1.0) if size is None and kind == "mesh" else size
    sizes = () if size is None else tuple(float(s) for s in np.atleast_1d(np.asarray(size, dtype=float)))
    if kind == "mesh" and (len(sizes) != 3 or not all(0 < abs(s) < np.inf for s in sizes)):
        raise ModelError(f"{where}: a mesh takes 3 scales that are not zero, not {size}.")
    if len(sizes) != SIZES[kind] or not (kind == "mesh" or all(0 < s < np.inf for s in sizes)):
        raise ModelError(f"{where}: a {kind} takes {SIZES[kind]} positive sizes in m, not {size}.")
    p = tuple(float(x) for x in at)
    colour = tuple(float(c) for c in rgba)
    return Shape(kind, sizes, p, as_quaternion(rotation, where), colour, str(file))  # type: ignore[arg-type]
