"""Bodies' looks, checked: what RViz and the browser draw. Mass properties come from the body, never from its looks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, as_quaternion
from rbt_ros.model.checks import numbers, vector
from rbt_ros.plug.shapes import GREY, SHAPES, Shape, answer, refuse_broken

KEYS = ("kind", "size", "at", "rotation", "rgba", "file")


def checked_shapes(body: str, given: Sequence[Any]) -> tuple[Shape, ...]:
    """The looks of the body named `body`: Shapes, or what `shape` takes, by name."""
    if not isinstance(given, Sequence) or isinstance(given, str):
        raise ModelError(f"body '{body}': shapes must be a list, not {given!r:.80}.")
    return tuple(checked_shape(f"shape of body '{body}'", one) for one in given)


def checked_shape(where: str, given: Any) -> Shape:
    """A Shape, or the one of `{"kind": ..., "size": ..., ...}`."""
    if isinstance(given, Shape):
        return given
    if not isinstance(given, Mapping) or "kind" not in given or not set(given) <= set(KEYS):
        raise ModelError(
            f"{where}: {given!r:.80} must have a kind, one of {', '.join(SHAPES.names())}, and may have "
            f"{', '.join(KEYS[1:])}; the size of a box is (x, y, z), of a cylinder (radius, length)."
        )
    return shape(where, **given)


def shape(where: str, kind, size=None, at=(0, 0, 0), rotation=IDENTITY, rgba=GREY, file="") -> Shape:
    """A checked Shape; `where` begins what its errors say."""
    if not isinstance(kind, str):
        raise ModelError(f"{where}: the kind {kind!r:.80} is no name; use one of {', '.join(SHAPES.names())}.")
    try:
        law = SHAPES.find(kind)
    except ModelError as err:
        raise ModelError(f"{where}: {err}") from err
    if not isinstance(file, str) or law.from_file != bool(file):
        takes = "must name its file, a path or URI" if law.from_file else "has no file: leave it out"
        raise ModelError(f"{where}: a {kind} {takes}, not {file!r:.80}.")
    colour = tuple(numbers(rgba, f"rgba of {where}").ravel().tolist())
    if len(colour) != 4 or not all(0 <= c <= 1 for c in colour):
        raise ModelError(f"{where}: rgba {rgba} is not four numbers from 0 to 1: red, green, blue, opacity.")
    given = law.usual if size is None else numbers(size, where)
    sizes = tuple(np.atleast_1d(given).ravel().tolist())
    made = Shape(kind, sizes, vector(at, f"at of {where}"), as_quaternion(rotation, where), colour, file)
    try:
        count, finite = len(law.numbers), np.isfinite(sizes).all()
        if len(sizes) != count or not finite or not answer(made, "fits", lambda: law.fits(sizes)):
            raise ModelError(
                f"the size of a {kind} is ({', '.join(law.numbers)}), in SI and {law.rule}; not {size!r:.80}."
            )
        refuse_broken(made)
    except ModelError as err:
        raise ModelError(f"{where}: {err}") from err
    return made
