"""Models for the tests of the core, made without the builder: random trees of all hinge kinds, and a few by hand."""

import numpy as np

from rbt_ros.core import constraints as c
from rbt_ros.core import types as t
from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.signals import FOR_EVER, signal_arrays
from rbt_ros.core.types import NQ, NV, Input, JointKind, Model
from rbt_ros.core.work import model_size

EPS = np.finfo(float).eps
ALL_KINDS = tuple(JointKind)
PITCH = -0.8  # [m] of screws


def unit(rng, n=3):
    a = rng.normal(size=n)
    return a / np.linalg.norm(a)


def perpendicular(rng, axis):
    a = np.cross(axis, unit(rng))
    return a / np.linalg.norm(a)


def random_inertia(rng):
    """A possible tensor: that of a cloud of points."""
    points = rng.normal(size=(6, 3)) * rng.uniform(0.1, 0.5, 3)
    return sum(np.dot(p, p) * np.eye(3) - np.outer(p, p) for p in points)


def body_row(mass, com, inertia, point=(0, 0, 0), turn=(1, 0, 0, 0), axis=(0, 0, 1), axis2=(1, 0, 0)):
    """One row of Model.body; `inertia`: 3 principal moments or 3x3."""
    I = np.diag(inertia) if np.ndim(inertia) == 1 else np.asarray(inertia)
    sym = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
    return np.array([mass, *com, *sym, *point, *turn, *axis, *axis2], dtype=float)


def model_of(hinges, rows, gravity=(0, 0, 0)):
    """hinges: [(parent, kind)], rows: of `body_row`."""
    tree = np.zeros((len(rows), t.TREE_COLUMNS), np.int64)
    q = v = 0
    for i, (parent, kind) in enumerate(hinges):
        tree[i] = parent, kind, q, v
        q, v = q + NQ[kind], v + NV[kind]
    freedoms = [freedom for _, kind in hinges for freedom in HINGE_KINDS[kind].freedoms]
    freedom = np.zeros((v, t.FREEDOM_COLUMNS))
    freedom[:, t.CREEP] = 1e-3
    freedom[:, t.TURNS] = [f.turns for f in freedoms]
    freedom[:, t.SLIDES] = [f.slides + f.winds * PITCH for f in freedoms]
    world = np.zeros(t.WORLD_COLUMNS)
    world[t.GRAVITY : t.GRAVITY + 3] = gravity
    return frozen(Model(tree, np.array(rows), freedom, world))


def frozen(model):
    for a in model:
        a.flags.writeable = False
    return model


def random_tree(rng, n, kinds=ALL_KINDS, gravity=(0, 0, 0)):
    """A tree of n bodies; free hinges only on the world."""
    hinges, rows = [], []
    for i in range(n):
        parent = int(rng.integers(-1, i))
        allowed = [k for k in kinds if k != JointKind.FREE or parent < 0]
        kind = allowed[rng.integers(len(allowed))] if allowed else JointKind.REVOLUTE
        axis = unit(rng)
        axis2 = perpendicular(rng, axis) if kind == JointKind.PLANAR else unit(rng)
        com = np.zeros(3) if kind == JointKind.FREE else rng.uniform(-0.5, 0.5, 3)
        turn = unit(rng, 4) if rng.random() < 0.5 else (1, 0, 0, 0)
        point = rng.uniform(-1, 1, 3)
        rows.append(body_row(rng.uniform(0.5, 3), com, random_inertia(rng), point, turn, axis, axis2))
        hinges.append((parent, kind))
    return model_of(hinges, rows, gravity)


def random_state(rng, model, speed=1.0):
    """q with unit quaternions and v."""
    nq, nv = model_size(model)
    q, v = rng.uniform(-2, 2, nq), speed * rng.uniform(-1, 1, nv)
    for _, kind, k, _ in model.tree:
        if kind in (JointKind.SPHERICAL, JointKind.FREE):
            q[k : k + 4] = unit(rng, 4)
    return q, v


def no_input(model):
    return Input(np.zeros(model_size(model)[1]), np.zeros((0, t.LOAD_COLUMNS)))


def chain(n, gravity=(0, 0, -9.81)):
    """n rods of 1 m and 1 kg on revolute hinges about y and x in turn, hanging from the world."""
    hinges = [(i - 1, JointKind.REVOLUTE) for i in range(n)]
    rows = [
        body_row(1.0, (0, 0, -0.5), (1 / 12, 1 / 12, 0.01), (0, 0, -1.0 if i else 0.0), axis=(i % 2, 1 - i % 2, 0))
        for i in range(n)
    ]
    return model_of(hinges, rows, gravity)


def common_body(model, a, b):
    """The last body that a and b hang on both, or are."""
    while a != b:
        a, b = (int(model.tree[a, t.PARENT]), b) if a > b else (a, int(model.tree[b, t.PARENT]))
    return a


def closure_row(model, law, a, b, points, axes=((0, 0, 1), (0, 0, 1)), target=0.0):
    """One row of core.constraints between bodies a and b."""
    row = np.zeros(c.ROW_COLUMNS)
    row[[c.LAW, c.BODY_A, c.BODY_B, c.COMMON, c.TARGET]] = law, a, b, common_body(model, a, b), target
    row[c.POINT_A : c.POINT_A + 6] = *points[0], *points[1]
    row[c.AXIS_A : c.AXIS_A + 6] = *axes[0], *axes[1]
    return row


def constraints_of(rows, terms=(), laws=()):
    """Constraints of rows, terms, and the laws of prescribed motions."""
    signals = signal_arrays([(law, -1, 0, FOR_EVER, 0) for law in laws])
    return frozen(c.Constraints(np.array(rows), np.array(terms, dtype=float).reshape(-1, c.TERM_COLUMNS), *signals))


def random_constraints(rng, model, m):
    """m rows: between any two bodies, and couplings of two freedoms that have a coordinate each."""
    rows, terms, n = [], [], len(model.tree)
    single = [
        (q + k, v + k)
        for _, kind, q, v in model.tree.tolist()
        if kind not in (JointKind.SPHERICAL, JointKind.FREE)
        for k in range(NV[kind])
    ]
    while len(rows) < m:
        a, b = rng.integers(-1, n, 2).tolist()
        law = int(rng.integers(4))
        if law == c.COUPLING and single:
            row = np.zeros(c.ROW_COLUMNS)
            row[[c.LAW, c.FIRST, c.COUNT]] = law, len(terms), 2
            terms += [(*single[rng.integers(len(single))], rng.uniform(-2, 2)) for _ in range(2)]
            rows.append(row)
        elif law != c.COUPLING and a != b:
            target = rng.uniform(0.1, 0.5)
            rows.append(closure_row(model, law, a, b, rng.uniform(-1, 1, (2, 3)), (unit(rng), unit(rng)), target))
    return constraints_of(rows, terms)
