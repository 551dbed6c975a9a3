"""The scratch memory of the recursions: rows with named columns, allocated once per run."""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.types import KIND, NQ

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
# (a free body's own inertia and ω × I ω are in neither: `articulated.solve_free` has them in body axes)
BODY_WORK = 61

# columns of Work.freedom
AXIS_W = 0  # world axis of a turn or slide, 3
UN, UF = 3, 6  # articulated inertia times the axis: moment and force, 3 and 3
D_INV = 9  # one over the inertia the freedom feels
REST_EFFORT = 10  # effort left for v̇: τ less the bias
EFFORT = 11  # τ: input, spring, damper, friction
FREEDOM_WORK = 12

# rows of Work.stage: 0 to 15 the derivatives at the stages of an integrator, then
STAGE_ROW = 16  # the state at a stage
GOOD_ROW = 17  # the state at the start of the step
STAGE_ROWS = 18


class Work(NamedTuple):
    """Scratch arrays of one run on one model."""

    body: np.ndarray  # (n + 1, BODY_WORK)
    freedom: np.ndarray  # (nv, FREEDOM_WORK)
    stage: np.ndarray  # (STAGE_ROWS, nq + nv [+ 1])


def workspace(model, extra=0):
    """The scratch arrays for `model`: allocate once, reuse for ever. `extra`: states beside q and v."""
    nq, nv = model_size(model)
    body = np.zeros((len(model.tree) + 1, BODY_WORK))
    body[0, [QUAT, ROT, ROT + 4, ROT + 8]] = 1.0  # the world stands still, at its own place
    return Work(body, np.zeros((nv, FREEDOM_WORK)), np.zeros((STAGE_ROWS, nq + nv + extra)))


def model_size(model):
    """(nq, nv) of a model."""
    return int(NQ[model.tree[:, KIND]].sum()), model.freedom.shape[0]
