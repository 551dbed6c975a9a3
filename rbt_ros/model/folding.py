"""Modular spacecraft that fold: rods in a plane, panels on each other's edges, a satellite with two solar arrays.

F. Trovarelli, Strategies for attitude control of reconfigurable modular spacecraft (MSc(R) thesis, Glasgow, 2022), and
the variants that it recommends. A rod lies along -y of its frame and turns about z. A panel lies in the plane of y and
z, x is its normal; what hangs on its edge +z or -z turns about y, on +y or -y about z. All are flat at zero.
"""

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.kinds import in_words
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.checks import number, numbers
from rbt_ros.model.mass.primitives import box
from rbt_ros.model.robot import Robot

EDGES = {"+y": (0.0, 1.0, 0.0), "-y": (0.0, -1.0, 0.0), "+z": (0.0, 0.0, 1.0), "-z": (0.0, 0.0, -1.0)}
FLOATS = ("", (0.0, 0.0, 0.0))  # a panel on no edge
ON_FORMS = """in YAML {b: [a, +y], c: [b, +y]}, on the command line 'on={"b": ["a", "+y"], "c": ["b", "+y"]}'"""
INERTIAS = ("thin", "equal")
HINGES = ("edge", "normal", "slide")
HALF_TURN = (-math.pi, math.pi)  # [rad]: neighbours lie on each other there
ROD_THICKNESS = 0.02  # [m] of the look, and of the small moment about the rod's own line
COLOURS = ((0.75, 0.3, 0.25, 1.0), (0.3, 0.6, 0.35, 1.0), (0.3, 0.45, 0.75, 1.0))
Offset = tuple[float, float, float]


def rods(lengths: Sequence[float] = (2.0, 2.0, 2.0), masses: Sequence[float] | float = 1.0) -> Robot:
    """The planar array: rods a, b, c, ... end to end, hinges psi1, psi2, ... about z; rod a floats.

    lengths [m], masses [kg] (one number: of each). The moment of a rod is m l²/12 (Eq. 3.1).
    """
    sizes = _positive("lengths", lengths)
    weights = [masses] * len(sizes) if isinstance(masses, int | float) else masses
    weights = _positive("masses", weights)
    if len(sizes) != len(weights) or not 2 <= len(sizes) <= 26:
        raise ModelError(f"rods: {len(sizes)} lengths and {len(weights)} masses; as many, for 2 to 26 rods.")
    b = RobotBuilder("rods")
    for k, (length, mass) in enumerate(zip(sizes, weights, strict=True)):
        across, along = mass * length**2 / 12.0, mass * ROD_THICKNESS**2 / 6.0
        com = (0.0, 0.0 if k == 0 else -0.5 * length, 0.0)
        look = dict(kind="box", size=(ROD_THICKNESS, length, ROD_THICKNESS), at=com, rgba=COLOURS[k % 3])
        b.body(_letter(k), mass=mass, inertia=(across, along, across), com=com, shapes=[look])
        if k:
            at = (0.0, -sizes[k - 1] * (0.5 if k == 1 else 1.0), 0.0)
            b.hinge(f"psi{k}", "revolute", parent=_letter(k - 1), child=_letter(k), at=at, limits=HALF_TURN)
    return b.build()


@in_words(ModelError)
def panels(
    on: Mapping[str, tuple[str, str]],
    *,
    size: float = 1.0,
    mass: float = 1.0,
    thickness: float = 0.01,
    inertia: str = "thin",
    offset: Sequence[float] | Mapping[str, Sequence[float]] = (0.0, 0.0, 0.0),
    hinge: str | Mapping[str, str] = "edge",
    name: str = "panels",
) -> Robot:
    """Square panels, on = {child: (parent, edge of the parent)}; the one that is no child floats.

    Hinges psi1, psi2, ... in the order given. size, thickness [m], mass [kg] of each. inertia: "thin", that of a plate;
    "equal", three times m (l² + t²)/12 (Eq. 3.2 as printed). offset: of the centres of mass from the middles [m], for
    all or by name: off the plane, a chain turns out of it. hinge: "edge", about the common edge; "normal", about the
    normal through its middle; "slide", along it; for all, or by child.
    """
    l, m, t = (
        _positive(what, [value])[0] for what, value in (("size", size), ("mass", mass), ("thickness", thickness))
    )
    if not isinstance(inertia, str) or inertia not in INERTIAS:
        raise ModelError(f"panels: inertia '{inertia!s:.40}' is not one of {', '.join(INERTIAS)}.")
    flat = m * (l**2 + t**2) / 12.0
    moments = (m * l**2 / 6.0 if inertia == "thin" else flat, flat, flat)
    b = RobotBuilder(name)
    edges = _edges(on)
    root = sorted({parent for parent, _ in edges.values()} - set(edges)) if edges else ["a"]
    if len(root) != 1:
        raise ModelError(
            f"panels: {len(root)} panels hang on no other ({', '.join(root)}); one must, to carry the rest."
        )
    for what, given, named in (("offset", offset, (root[0], *edges)), ("hinge", hinge, tuple(edges))):
        if isinstance(given, Mapping) and (strange := set(given) - set(named)):
            raise ModelError(
                f"panels: {what} names '{min(map(str, strange))}', no panel that has one; such are {', '.join(named)}."
            )
    for k, panel in enumerate((root[0], *edges)):
        _, outward = edges.get(panel, FLOATS)
        middle = tuple(0.5 * l * c for c in outward)
        shift = _of(offset, panel, (0.0, 0.0, 0.0)) if isinstance(offset, Mapping) else offset
        com = np.add(middle, _vector(shift, f"offset of '{panel}'")).tolist()
        look = dict(kind="box", size=(t, l, l), at=middle, rgba=COLOURS[k % 3])
        b.body(panel, mass=m, inertia=moments, com=com, shapes=[look])
    for k, (child, (parent, outward)) in enumerate(edges.items()):
        along = (0.0, abs(outward[2]), abs(outward[1]))
        # a root's frame is in its middle, any other's on the edge by which it hangs
        back = edges.get(parent, FLOATS)[1]
        at = tuple(0.5 * l * (c + d) for c, d in zip(back, outward, strict=True))
        if parent in edges and np.allclose(np.add(back, outward), 0.0):
            raise ModelError(f"panels: '{child}' lies on the edge of '{parent}' by which that one hangs; take another.")
        how = _of(hinge, child, "edge") if isinstance(hinge, Mapping) else hinge
        if how not in HINGES:
            raise ModelError(f"panels: hinge '{how!s:.40}' of '{child}' is not one of {', '.join(HINGES)}.")
        axis = (1.0, 0.0, 0.0) if how == "normal" else along
        limits = (-l, l) if how == "slide" else HALF_TURN
        kind = "prismatic" if how == "slide" else "revolute"
        b.hinge(f"psi{k + 1}", kind, parent=parent, child=child, at=at, axis=axis, limits=limits)
    return b.build()


def l_shape(**options: Any) -> Robot:
    """The array of three panels of Figure 2.4: a on the edge +z of b, c on its edge +y; a floats. Options of `panels`.

    psi1 turns b against a about y (alpha_ba), psi2 c against b about z (alpha_cb).
    """
    return panels({"b": ("a", "-z"), "c": ("b", "+y")}, **{"name": "l_shape", **options})


def chain(count: int = 3, **options: Any) -> Robot:
    """Panels a, b, c, ... in a row, each on the edge -z of the one before; a floats. Options of `panels`."""
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= 26:
        raise ModelError(f"chain: count {count!r:.40} must be a whole number from 2 to 26.")
    on = {_letter(k): (_letter(k - 1), "-z") for k in range(1, count)}
    return panels(on, **{"name": "chain", **options})


def cubic_net(**options: Any) -> Robot:
    """Six panels that fold to a cube at psi = ±90° (Figure 1.1): a cross around a, and f on the far edge of d."""
    on = {"b": ("a", "+y"), "c": ("a", "-y"), "d": ("a", "+z"), "e": ("a", "-z"), "f": ("d", "+z")}
    return panels(on, **{"name": "cubic_net", **options})


def two_arrays(
    hub: Sequence[float] = (1.0, 1.0, 1.0),
    hub_mass: float = 10.0,
    array: Sequence[float] = (3.0, 1.0),
    array_mass: float = 2.0,
    thickness: float = 0.02,
) -> Robot:
    """A satellite with a solar array on each side, which turn about their long axes, y (Figures 3.6 to 3.8).

    hub: its edges [m]; array: length and width [m]. Hinges left (on +y) and right.
    """
    x, y, z = _positive("hub", hub, 3)
    length, width = _positive("array", array, 2)
    m, w, t = (
        _positive(k, [v])[0] for k, v in (("hub_mass", hub_mass), ("array_mass", array_mass), ("thickness", thickness))
    )
    b = RobotBuilder("two_arrays")
    b.body(
        "hub",
        mass=m,
        inertia=box((x, y, z), mass=m).inertia,
        shapes=[dict(kind="box", size=(x, y, z), rgba=COLOURS[1])],
    )
    for name, side in (("left", 1.0), ("right", -1.0)):
        com = (0.0, side * 0.5 * length, 0.0)
        look = dict(kind="box", size=(t, length, width), at=com, rgba=COLOURS[2])
        b.body(f"{name}_array", mass=w, inertia=box((t, length, width), mass=w).inertia, com=com, shapes=[look])
        b.hinge(name, "revolute", parent="hub", child=f"{name}_array", at=(0.0, side * 0.5 * y, 0.0), axis=(0, 1, 0))
    return b.build()


@in_words(ModelError)
def pendulum(count: int = 1, size: float = 1.0, mass: float = 1.0, thickness: float = 0.01) -> Robot:
    """The thesis' validation cases: one panel on a ball in the middle of its edge; with one or two more in an L below.

    Panel a hangs on the world by the hinge "ball", down -z; b on its lower edge (psi1), c on the edge +y of b (psi2).
    """
    if isinstance(count, bool) or count not in (1, 2, 3):
        raise ModelError(f"pendulum: count {count!r:.40} must be 1, 2 or 3 panels.")
    l, m, t = (
        _positive(what, [value])[0] for what, value in (("size", size), ("mass", mass), ("thickness", thickness))
    )
    b = RobotBuilder("pendulum")
    places = {"a": (0.0, 0.0, -0.5 * l), "b": (0.0, 0.0, -0.5 * l), "c": (0.0, 0.5 * l, 0.0)}
    for k, panel in enumerate("abc"[:count]):
        look = dict(kind="box", size=(t, l, l), at=places[panel], rgba=COLOURS[k])
        b.body(panel, mass=m, inertia=box((t, l, l), mass=m).inertia, com=places[panel], shapes=[look])
    b.hinge("ball", "spherical", parent="world", child="a")
    if count > 1:
        b.hinge("psi1", "revolute", parent="a", child="b", at=(0, 0, -l), axis=(0, 1, 0))
    if count > 2:
        b.hinge("psi2", "revolute", parent="b", child="c", at=(0, 0.5 * l, -0.5 * l), axis=(0, 0, 1))
    return b.build()


ARRAYS = {f.__name__: f for f in (rods, panels, l_shape, chain, cubic_net, two_arrays, pendulum)}


def array(kind: str, **options: Any) -> Robot:
    """The array of that name, as scenarios have it: robot: {array: l_shape, options: {size: 2}}."""
    if kind not in ARRAYS:
        raise ModelError(f"array '{kind!s:.40}' is not one of {', '.join(ARRAYS)}.")
    known = dict.fromkeys((*inspect.signature(ARRAYS[kind]).parameters, *_panel_options(kind)))
    for key in options:
        if key not in known:
            raise ModelError(
                f"array '{kind}' has no option '{key}'; it has {', '.join(k for k in known if k != 'options')}."
            )
    for key, parameter in inspect.signature(ARRAYS[kind]).parameters.items():
        if parameter.default is parameter.empty and parameter.kind is not parameter.VAR_KEYWORD and key not in options:
            raise ModelError(f"array '{kind}' needs its option '{key}', each child on an edge: {ON_FORMS}.")
    return ARRAYS[kind](**options)


def _panel_options(kind: str) -> list[str]:
    """What is handed on to `panels`."""
    return (
        [k for k in inspect.signature(panels).parameters if k != "on"]
        if kind in ("l_shape", "chain", "cubic_net")
        else []
    )


def _edges(on: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, Offset]]:
    """Of each child the parent, and the outward direction of that one's edge that it hangs on: no two on one."""
    if not isinstance(on, Mapping):
        raise ModelError(f"panels: on is {on!r:.80} and should be {{child: (panel, edge)}}; {ON_FORMS}.")
    edges: dict[str, tuple[str, Offset]] = {}
    taken: dict[tuple[str, str], str] = {}
    for child, given in on.items():
        if (
            not isinstance(given, list | tuple)
            or len(given) != 2
            or not isinstance(given[0], str)
            or given[1] not in [*EDGES]
        ):
            raise ModelError(
                f"panels: '{child}' hangs on {given!r:.80}; give a panel and one of its edges {', '.join(EDGES)}."
            )
        parent, edge = given
        if (other := taken.setdefault((parent, edge), child)) != child:
            raise ModelError(f"panels: '{other}' and '{child}' hang on the same edge {edge} of '{parent}'; one may.")
        edges[child] = parent, EDGES[edge]
    return edges


def _of(given: Mapping[str, Any], name: str, otherwise: Any) -> Any:
    return given[name] if name in given else otherwise


def _vector(given: Any, what: str) -> np.ndarray:
    found = numbers(given, what)
    if found.shape != (3,) or not np.isfinite(found).all():
        raise ModelError(f"panels: {what} {found.tolist()} must be three finite numbers [m].")
    return found


def _letter(k: int) -> str:
    return chr(ord("a") + k)


def _positive(what: str, values: Sequence[float], count: int | None = None) -> list[float]:
    if isinstance(values, str) or not isinstance(values, Sequence | np.ndarray) or count not in (None, len(values)):
        raise ModelError(f"{what}: {values!r:.40} must be a row of {count or 'two or more'} numbers.")
    found = [number(value, what) for value in values]
    if not all(0 < value < 1e100 for value in found):  # its square is one too
        raise ModelError(f"{what}: {found} must be positive and finite.")
    return found
