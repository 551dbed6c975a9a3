"""The scratch memory of the recursions: rows with named columns, allocated once per run."""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.lanes import LANES
from rbt_ros.core.types import INERTIA, KIND, NQ, PARENT, POINT, JointKind

# columns of Work.body. Row 0 is the world, row i + 1 is body i. World axes; moments, inertias about the body's origin
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

# columns of Work.freedom
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
    """Scratch arrays of one run on one model: its masses and inertias are in there. By columns: see `lanes.py`."""

    body: np.ndarray  # (n + LANES, BODY_WORK), rows from n + 1 on to spare
    freedom: np.ndarray  # (nv + LANES - 1, FREEDOM_WORK), rows from nv on to spare
    stage: np.ndarray  # (STAGE_ROWS, nq + nv [+ 2])


def workspace(model, extra=0):
    """The scratch arrays for `model` (a change of its bodies wants new ones). `extra`: states beside q and v."""
    nq, nv = model_size(model)
    n = len(model.tree)
    body = columns(n + LANES, BODY_WORK, first=1)
    body[1 : n + 1, OWN : OWN + POINT] = model.body[:, :POINT]
    body[1 : n + 1, OWN + INERTIA : OWN + POINT][model.tree[:, KIND] == JointKind.FREE] = 0.0
    body[:, [QUAT, ROT, ROT + 4, ROT + 8]] = 1.0  # the world stands still, at its own place, as do rows to spare
    body[1 : n + 1, LEAF] = ~np.isin(np.arange(n), model.tree[:, PARENT])
    return Work(body, columns(nv + LANES - 1, FREEDOM_WORK, first=0), np.zeros((STAGE_ROWS, nq + nv + extra)))


def columns(rows, count, first):
    """An array of zeros in Fortran order, in which eight rows from `first` on are one line of the cache, and so on."""
    rows = LANES * -(-rows // LANES)
    memory = np.zeros(rows * count + LANES)
    start = (-memory.ctypes.data // memory.itemsize - first) % LANES
    return memory[start : start + rows * count].reshape((rows, count), order="F")


def model_size(model):
    """(nq, nv) of a model."""
    return int(NQ[model.tree[:, KIND]].sum()), model.freedom.shape[0]
