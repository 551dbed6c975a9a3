"""Simple bodies' looks: what RViz and the browser draw. Mass properties come from the body, never from its looks."""

from dataclasses import dataclass

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, as_quaternion

SIZES = {"box": 3, "cylinder": 2, "sphere": 1}  # numbers per kind: x y z | radius length | radius


@dataclass(frozen=True)
class Shape:
    """A coloured primitive, placed in the body's frame."""

    kind: str  # box | cylinder | sphere
    size: tuple[float, ...]  # [m]
    at: tuple[float, float, float] = (0.0, 0.0, 0.0)  # p_BS_B [m], its centre
    quaternion: tuple[float, float, float, float] = IDENTITY  # q_BS
    rgba: tuple[float, float, float, float] = (0.7, 0.7, 0.75, 1.0)


def shape(body, kind, size, at=(0, 0, 0), rotation=IDENTITY, rgba=(0.7, 0.7, 0.75, 1.0)) -> Shape:
    """A checked Shape of the body named `body`."""
    where = f"shape of body '{body}'"
    if kind not in SIZES:
        raise ModelError(f"{where}: '{kind}' is not a kind of shape; use one of {', '.join(SIZES)}.")
    sizes = tuple(float(s) for s in np.atleast_1d(np.asarray(size, dtype=float)))
    if len(sizes) != SIZES[kind] or not all(0 < s < np.inf for s in sizes):
        raise ModelError(f"{where}: a {kind} takes {SIZES[kind]} positive sizes in m, not {size}.")
    p = tuple(float(x) for x in at)
    return Shape(kind, sizes, p, as_quaternion(rotation, where), tuple(float(c) for c in rgba))  # type: ignore[arg-type]
