"""The scratch memory of the recursions: rows with named columns, allocated once per run."""

from typing import NamedTuple

import numpy as np
from numba.core import types
from numba.core.typing.templates import AttributeTemplate
from numba.extending import infer_getattr, lower_getattr

from rbt_ros.core.lanes import LANES
from rbt_ros.core.rows import Rows, RowsType, as_rows, empty_memory
from rbt_ros.core.types import INERTIA, KIND, NQ, PARENT, POINT, JointKind

# columns of Work.bodies. Row -1 is the world, row i is body i. World axes; moments, inertias about the body's origin
QUAT = 0  # q_WB, 4
ROT = 4  # R_WB, 9
POS = 13  # p_WB, 3
ARM = 16  # p_PB: from the parent's origin, 3
SPIN = 19  # w_WB, 3
SPIN_DOT = 22  # angular acceleration at v̇ = 0, 3
ACC = 25  # acceleration of the origin at v̇ = 0, less uniform gravity, 3
SPIN_DOT_V, ACC_V = 28, 31  # what v̇ adds to both, 3 and 3
II, HH, MM = 34, 40, 49  # articulated inertia [[I, H], [Hᵀ, M]]: symmetric 6, 9, symmetric 6
MOMENT, FORCE = 55, 58  # bias wrench: what the parent must exert at v̇ = 0, 3 and 3
OWN = 61  # mass, CoM and inertia as in Model.body, 10: constant
# (a free body's own inertia and ω × I ω are in neither: `articulated.solve_free` has them in body axes; OWN has zeros)
LEAF = 71  # 1 if nothing hangs on the body, else 0: constant
BODY_WORK = 72

# columns of Work.freedoms, a row for each
AXIS_W = 0  # world axis of a turn or slide, 3
UN, UF = 3, 6  # articulated inertia times the axis: moment and force, 3 and 3
D_INV = 9  # one over the inertia the freedom feels
REST_EFFORT = 10  # effort left for v̇: τ less the bias
EFFORT = 11  # τ: input, spring, damper, friction
HALF_ANGLE, SIN, COS = 12, 13, 14  # of a turn: half its angle, with sine and cosine
FREEDOM_WORK = 15

# rows of Work.stage: 0 to 15 the derivatives at the stages of an integrator, then
STAGE_ROW = 16  # the state at a stage
GOOD_ROW = 17  # the state at the start of the step
CARRY_ROW = 18  # what rounding has kept back from positions of free bodies: the one row that a step leaves for the next
STAGE_ROWS = 19


class Work(NamedTuple):
    """Scratch arrays of one run on one model: its masses and inertias are in there. Read as `bodies`, `freedoms`."""

    body_memory: np.ndarray  # (blocks, BODY_WORK, LANES): see `rows.py`
    freedom_memory: np.ndarray  # (blocks, FREEDOM_WORK, LANES)
    stage: np.ndarray  # (STAGE_ROWS, nq + nv [+ 2])

    @property
    def bodies(self):
        """The rows of the bodies."""
        return Rows(self.body_memory)

    @property
    def freedoms(self):
        """The rows of the freedoms."""
        return Rows(self.freedom_memory)


MEMORY_OF = {"bodies": ("body_memory", BODY_WORK), "freedoms": ("freedom_memory", FREEDOM_WORK)}


@infer_getattr
class WorkAttributes(AttributeTemplate):
    """The properties of Work, compiled."""

    key = types.NamedTuple

    def generic_resolve(self, tuple_type, name):
        if tuple_type.instance_class is Work and name in MEMORY_OF:
            return RowsType(MEMORY_OF[name][1])


def lower_rows(name):
    """Compile `work.name`."""
    field, columns = MEMORY_OF[name]

    @lower_getattr(types.NamedTuple, name)
    def lower(context, builder, tuple_type, value):
        at = tuple_type.fields.index(field)
        return as_rows(context, builder, tuple_type.types[at], builder.extract_value(value, at), columns)


for name in MEMORY_OF:
    lower_rows(name)


def workspace(model, extra=0):
    """The scratch arrays for `model` (a change of its bodies wants new ones). `extra`: states beside q and v."""
    nq, nv = model_size(model)
    n = len(model.tree)
    work = Work(empty_memory(n, BODY_WORK), empty_memory(nv, FREEDOM_WORK), np.zeros((STAGE_ROWS, nq + nv + extra)))
    # the world stands still, at its own place, as do rows to spare
    work.body_memory[:, [QUAT, ROT, ROT + 4, ROT + 8]] = 1.0
    own, leaf = model.body[:, :POINT].copy(), np.ones(n + 1)
    leaf[model.tree[:, PARENT]] = 0.0  # of the world, -1, it is the last one
    own[model.tree[:, KIND] == JointKind.FREE, INERTIA:] = 0.0
    block, lane = np.arange(n) // LANES + 1, np.arange(n) % LANES
    work.body_memory[block, OWN : OWN + POINT, lane] = own
    work.body_memory[block, LEAF, lane] = leaf[:n]
    return work


def model_size(model):
    """(nq, nv) of a model."""
    return int(NQ[model.tree[:, KIND]].sum()), model.freedom.shape[0]
