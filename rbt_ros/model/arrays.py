"""Bodies and hinges -> the arrays of core.types.Model, in the engine's frames."""

from collections.abc import Sequence

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.types import NQ, NV, JointKind
from rbt_ros.model.robot import Body, Hinge

BELOW_ONE = np.nextafter(1.0, 0.0)


def tree_and_bodies(bodies: Sequence[Body], hinges: Sequence[Hinge]) -> tuple[np.ndarray, np.ndarray]:
    """Model.tree and Model.body of bodies, parents first, each on the hinge beside it. Origin of a free body: CoM."""
    row = {b.name: i for i, b in enumerate(bodies)}
    tree = np.zeros((len(bodies), t.TREE_COLUMNS), np.int64)
    body = np.zeros((len(bodies), t.BODY_COLUMNS))
    shift = [np.array(b.com) if h.kind == JointKind.FREE else np.zeros(3) for b, h in zip(bodies, hinges, strict=True)]
    q = v = 0
    for i, (b, h) in enumerate(zip(bodies, hinges, strict=True)):
        parent = row.get(h.parent, -1)
        tree[i, [t.PARENT, t.KIND, t.Q, t.V]] = parent, h.kind, q, v
        body[i, t.MASS] = b.mass
        body[i, t.COM : t.COM + 3] = np.array(b.com) - shift[i]
        inertia = b.inertia
        body[i, t.INERTIA : t.INERTIA + 6] = inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]
        body[i, t.POINT : t.POINT + 3] = np.array(h.at) - (shift[parent] if parent >= 0 else 0.0)
        body[i, t.TURN : t.TURN + 4] = h.quaternion
        if h.quaternion[0] == 1.0 and any(h.quaternion[1:]):  # turned by less than 2e-8 rad
            body[i, t.TURN] = BELOW_ONE
        body[i, t.AXIS : t.AXIS + 3] = h.axis
        body[i, t.AXIS2 : t.AXIS2 + 3] = h.axis2
        q, v = q + NQ[h.kind], v + NV[h.kind]
    return tree, body


def free_rows(count: int) -> np.ndarray:
    """`count` rows of Model.freedom on which nothing acts."""
    rows = np.zeros((count, t.FREEDOM_COLUMNS))
    rows[:, t.LOWER], rows[:, t.UPPER] = -np.inf, np.inf
    return rows


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, read-only from now on."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
