"""Bodies and hinges -> the arrays of core.types.Model, in the engine's frames."""

from collections.abc import Sequence

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.types import NQ, NV, JointKind
from rbt_ros.model.robot import Body, Hinge

BELOW_ONE = np.nextafter(1.0, 0.0)


def tree_and_bodies(bodies: Sequence[Body], hinges: Sequence[Hinge]) -> tuple[np.ndarray, np.ndarray]:
    """Model.tree and Model.body of bodies, parents first, each on the hinge beside it. Origin of a free body: CoM."""
    kinds, row = [h.kind for h in hinges], {b.name: i for i, b in enumerate(bodies)}
    parents = np.array([row.get(h.parent, -1) for h in hinges])
    tree, body = np.zeros((len(bodies), t.TREE_COLUMNS), np.int64), np.zeros((len(bodies), t.BODY_COLUMNS))
    tree[:, t.PARENT], tree[:, t.KIND] = parents, kinds
    tree[1:, t.Q], tree[1:, t.V] = NQ[kinds].cumsum()[:-1], NV[kinds].cumsum()[:-1]
    com = np.array([b.com for b in bodies], float)
    shift = np.zeros((len(bodies) + 1, 3))  # and of the world
    shift[:-1][tree[:, t.KIND] == JointKind.FREE] = com[tree[:, t.KIND] == JointKind.FREE]
    body[:, t.MASS] = [b.mass for b in bodies]
    body[:, t.COM : t.COM + 3] = com - shift[:-1]
    body[:, t.INERTIA : t.INERTIA + 6] = np.array([b.inertia for b in bodies])[
        :, [0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]
    ]
    body[:, t.POINT : t.POINT + 3] = np.array([h.at for h in hinges]) - shift[parents]
    body[:, t.TURN : t.TURN + 4] = turn = np.array([h.quaternion for h in hinges], float)
    barely = (turn[:, 0] == 1.0) & turn[:, 1:].any(axis=1)  # by less than 2e-8 rad
    body[barely, t.TURN] = BELOW_ONE
    body[:, t.AXIS : t.AXIS + 3] = [h.axis for h in hinges]
    body[:, t.AXIS2 : t.AXIS2 + 3] = [h.axis2 for h in hinges]
    return tree, body


def free_rows(hinges: Sequence[Hinge]) -> np.ndarray:
    """Model.freedom of these hinges, with nothing that acts on them."""
    twists = [(f.turns, f.slides + f.winds * h.pitch) for h in hinges for f in HINGE_KINDS[h.kind].freedoms]
    rows = np.zeros((len(twists), t.FREEDOM_COLUMNS))
    rows[:, t.LOWER], rows[:, t.UPPER] = -np.inf, np.inf
    rows[:, [t.TURNS, t.SLIDES]] = np.reshape(twists, (-1, 2))
    return rows


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, read-only from now on."""
    array = np.ascontiguousarray(array)
    array.flags.writeable = False
    return array
