"""Random robots of all kinds of hinges, made with the builder."""

import numpy as np
from trees import perpendicular, random_inertia, unit

from rbt_ros.core.types import NV, JointKind
from rbt_ros.model.build import RobotBuilder

KINDS = tuple(kind.name.lower() for kind in JointKind)
SHAPES = (
    {"kind": "box", "size": (0.1, 0.2, 0.3)},
    {"kind": "cylinder", "size": (0.1, 0.5), "rgba": (0.1, 0.2, 0.3, 0.4)},
    {"kind": "capsule", "size": (0.2, 0.3)},
    {"kind": "mesh", "file": "package://somewhere/hull.stl", "size": (1e-3, -1e-3, 1e-3)},
)


def pair() -> RobotBuilder:
    """Two bodies: "a" on hinge "g" of the world, "c" on hinge "h" of "a"."""
    b = RobotBuilder("pair")
    b.body("a", mass=1.0, inertia=(1, 1, 1))
    b.body("c", mass=1.0, inertia=(1, 1, 1), com=(0, 0, -1))
    b.hinge("g", "revolute", parent="world", child="a")
    return b.hinge("h", "revolute", parent="a", child="c", axis=(0, 1, 0))


def random_robot(rng, n, kinds=KINDS):
    """A tree of n bodies on hinges of random kinds, places, axes, springs and limits; half of them not turned."""
    b = RobotBuilder("random")
    for i in range(n):
        parent = f"b{rng.integers(i)}" if i and rng.random() < 0.8 else "world"
        kind = kinds[rng.integers(len(kinds))]
        if kind == "free":
            parent = "world"
        shapes = [
            SHAPES[rng.integers(len(SHAPES))] | {"at": rng.uniform(-1, 1, 3), "rotation": unit(rng, 4)}
            for _ in range(rng.integers(3))
        ]
        com = rng.uniform(-0.5, 0.5, 3)
        mass, inertia = rng.uniform(0.5, 3), random_inertia(rng)
        if kind == "fixed" and rng.random() < 0.5:  # a mere frame
            mass, inertia = 0.0, np.zeros(3)
        b.body(f"b{i}", mass=mass, inertia=inertia, com=com, shapes=shapes)
        if kind == "free":
            if rng.random() < 0.5:  # else the builder makes the same
                slow = {"damping": rng.uniform(0.1, 2)} if rng.random() < 0.5 else {}
                if n == 1 and rng.random() < 0.5:
                    slow["internal_friction"] = rng.uniform(0.1, 2)
                b.hinge(f"b{i}", "free", parent="world", child=f"b{i}", **slow)
        else:
            b.hinge(f"h{i}", kind, parent=parent, child=f"b{i}", **_placing(rng, kind), **_losses(rng, kind))
    return b.build()


def _placing(rng, kind):
    given = {"at": rng.uniform(-1, 1, 3), "axis": unit(rng)}
    if rng.random() < 0.5:
        given["rotation"] = unit(rng, 4)
    if kind == "planar":
        given["axis2"] = perpendicular(rng, given["axis"])
    elif rng.random() < 0.5:
        given["axis2"] = unit(rng)
    if kind == "screw":
        given["pitch"] = rng.uniform(-0.5, -0.1)
    return given


def _losses(rng, kind):
    given = {}
    if rng.random() < 0.7:
        given = dict(zip(("stiffness", "damping", "friction", "creep"), rng.uniform(0.1, 2, 4), strict=True))
        given["rest"] = rng.uniform(-1, 1) if kind != "spherical" else 0.0
    freedoms = int(NV[JointKind[kind.upper()]])
    if kind not in ("fixed", "spherical") and rng.random() < 0.5:
        pairs = np.sort(rng.uniform(-3, 3, (freedoms, 2)), axis=1)
        pairs[rng.random(freedoms) < 0.3, 0] = -np.inf
        pairs[rng.random(freedoms) < 0.3, 1] = np.inf
        given["limits"] = pairs[0] if freedoms == 1 else pairs
    return given
