"""The systems of the engine's benchmarks, described once: as our Model, and as MuJoCo XML.

Body frames lie at the hinges (a free body: at its centre of mass) and are aligned with the world at zero.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.types import NQ, NV, JointKind, Model
from rbt_ros.core.vec import qmul, turn_quat

FREE, SPHERICAL, REVOLUTE = JointKind.FREE, JointKind.SPHERICAL, JointKind.REVOLUTE
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


class Part(NamedTuple):
    """A body and its hinge."""

    parent: int
    kind: JointKind
    mass: float
    inertia: tuple  # principal moments about the CoM
    com: tuple = ORIGIN
    at: tuple = ORIGIN  # hinge point in the parent's frame
    axis: tuple = Z


class System(NamedTuple):
    """Bodies, start, gravity along -z."""

    parts: list[Part]
    q: np.ndarray
    v: np.ndarray
    g: float


def free_top() -> System:
    """S1: a satellite that tumbles at 51 rad/s."""
    part = Part(-1, FREE, 3.0, (0.0361, 0.0337, 0.00733))
    return System([part], np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0, 28.123, 42.55, 0, 0, 0]), 0.0)


def five_bodies() -> System:
    """S2: two rods on spherical hinges, a T and two rods on revolute ones; chaotic."""
    parts = [
        Part(-1, SPHERICAL, 3.0, (4.0, 4.0, 3.6), (0, 0, -1)),
        Part(0, SPHERICAL, 3.0, (4.0, 4.0, 2.4), (0, 0, -1), (0, 0, -2)),
        Part(1, REVOLUTE, 2.0, (1 / 3, 5 / 12, 1 / 12), (0, 0, -1), (0, 0, -2), Z),
        Part(2, REVOLUTE, 1.5, (0.5, 0.5, 0.3), (0, 0, -0.5), (0.5, 0, -1), Y),
        Part(2, REVOLUTE, 1.5, (0.5, 0.5, 0.3), (0, 0, -0.5), (-0.5, 0, -1), Y),
    ]

    def zxz(a, b, c):
        return qmul(qmul(turn_quat(Z, a), turn_quat(X, b)), turn_quat(Z, c))

    q = np.array([*zxz(np.pi, 1, 2), *zxz(1, 2, 1), np.pi, 2.0, -2.0])
    return System(parts, q, np.zeros(9), 9.81)


def chain(n: int) -> System:
    """n rods of 1 m in a row, hinges about y and x in turn."""
    parts = [
        Part(i - 1, REVOLUTE, 1.0, (1 / 12, 1 / 12, 0.01), (0, 0, -0.5), (0, 0, -1.0 if i else 0.0), X if i % 2 else Y)
        for i in range(n)
    ]
    rng = np.random.default_rng(n)
    return System(parts, rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), 9.81)


def random_tree(n: int) -> System:
    """n bodies, each on a random earlier one, revolute hinges about random axes: no pattern to exploit."""
    rng = np.random.default_rng(1000 + n)
    parts = []
    for i in range(n):
        axis = rng.normal(size=3)
        parent = i - 1  # or one of its ancestors: numbered depth first, as MuJoCo does
        for _ in range(int(rng.integers(0, 3))):
            parent = parts[parent].parent if parent > 0 else parent
        com, at = rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.5, 0.5, 3)
        moments = rng.uniform(0.05, 0.09, 3)
        parts.append(
            Part(parent, REVOLUTE, 1.0, tuple(moments), tuple(com), tuple(at), tuple(axis / np.linalg.norm(axis)))
        )
    return System(parts, rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), 9.81)


def our_model(system: System) -> Model:
    """The arrays of the engine."""
    n = len(system.parts)
    tree, body = np.zeros((n, t.TREE_COLUMNS), np.int64), np.zeros((n, t.BODY_COLUMNS))
    q = v = 0
    for i, part in enumerate(system.parts):
        tree[i] = part.parent, part.kind, q, v
        q, v = q + NQ[part.kind], v + NV[part.kind]
        row = [part.mass, *part.com, *part.inertia, 0, 0, 0, *part.at, 1, 0, 0, 0, *part.axis, *Y]
        body[i] = row
    world = np.zeros(t.WORLD_COLUMNS)
    world[t.GRAVITY + 2] = -system.g
    model = Model(tree, body, np.zeros((v, t.FREEDOM_COLUMNS)), world)
    for array in model:
        array.flags.writeable = False
    return model


def mujoco_xml(system: System, step: float) -> str:
    """The same for MuJoCo: no contacts, no armature, no damping."""
    text = {FREE: "free", SPHERICAL: "ball", REVOLUTE: "hinge"}

    def numbers(a):
        return " ".join(repr(float(x)) for x in a)

    def body(i):
        p = system.parts[i]
        axis = f' axis="{numbers(p.axis)}"' if p.kind == REVOLUTE else ""
        inertial = f'<inertial pos="{numbers(p.com)}" mass="{p.mass!r}" diaginertia="1 1 1"/>'
        children = "".join(body(k) for k in range(len(system.parts)) if system.parts[k].parent == i)
        joint = f'<joint type="{text[p.kind]}"{axis} armature="0" damping="0"/>'
        return f'<body pos="{numbers(p.at)}">{inertial}{joint}{children}</body>'

    return (
        '<mujoco><compiler angle="radian" inertiafromgeom="false"/>'
        f'<option timestep="{step!r}" gravity="0 0 {-system.g}" integrator="RK4">'
        '<flag contact="disable" constraint="disable"/></option><worldbody>'
        + "".join(body(i) for i in range(len(system.parts)) if system.parts[i].parent < 0)
        + "</worldbody></mujoco>"
    )
