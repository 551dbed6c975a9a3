"""What every kernel takes and gives: Model, State, Input, Status.

Few flat arrays (each array argument of a compiled call costs 50 ns from Python), read through the columns below.
Inside the engine a body's origin B is its inboard hinge point; that of a body on a free hinge is its centre of mass,
so that free flight is exact. `model.build` shifts what the user gave; `Simulation` shifts back.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.hinge_kinds import NQ as NQ
from rbt_ros.core.hinge_kinds import NV as NV
from rbt_ros.core.hinge_kinds import JointKind as JointKind

# columns of Model.tree
PARENT, KIND, Q, V = 0, 1, 2, 3
TREE_COLUMNS = 4

# columns of Model.body
MASS = 0
COM = 1  # p_BBcm [m], 3
INERTIA = 4  # I_BBcm [kg·m²]: xx yy zz xy xz yz (tensor elements)
POINT = 10  # p_PJ_P [m], 3: the hinge point in the parent's frame
TURN = 13  # q_PJ, 4: the child's frame in the parent's when the hinge is at zero; w is 1 if, and only if, the rest is 0
AXIS = 17  # unit axis in J, 3 (universal: the first axis; planar: the normal)
AXIS2 = 20  # unit; universal: the second axis, in the child's frame; planar: x in J, normal to the axis, 3
BODY_COLUMNS = 23

# columns of Model.freedom
STIFFNESS = 0  # [N·m/rad, N/m] of a spring; spherical: see forces.ball_spring
REST = 1  # [rad, m] where the spring is at rest (spherical: at no turn)
DAMPING = 2  # [N·m·s/rad, N·s/m]
COULOMB = 3  # [N·m, N] dry friction
CREEP = 4  # [rad/s, m/s] > 0: width of the step of dry friction
LOWER, UPPER = 5, 6  # [rad, m]
SINK = 7  # [W] what friction inside a lone free body takes from its rotation, L kept; in its first row
TURNS, SLIDES = 8, 9  # its twist at rate 1 is TURNS about its axis [rad/rad] and SLIDES along it [m/rad, m/m]
FREEDOM_COLUMNS = 10

# columns of Model.world
GRAVITY = 0  # g_W [m/s²], 3: uniform
ATTRACTION = 3  # mu [m³/s²] of a point mass that attracts by the inverse square
ATTRACTOR = 4  # p_WA [m], 3: where that point mass is
SINK_FLOOR = 7  # [rad²/s²]: where the friction inside a body fades, see `forces.inner_friction`; 0: none
WORLD_COLUMNS = 8

# columns of Input.load
LOAD_BODY = 0  # index of the body
LOAD_FRAME = 1  # axes of moment and force: BODY_AXES or WORLD_AXES
LOAD_POINT = 2  # p_BcmQ_B [m], 3: where the force acts, from the CoM, in body axes
LOAD_MOMENT = 5  # [N·m], 3
LOAD_FORCE = 8  # [N], 3
LOAD_SIGNAL = 11  # 0: constant; k: times the value of signal k - 1
LOAD_LAW = 12  # 0: moment and force as above; else where the law that gives them is called: see `laws.py`
LOAD_DATA = 13  # where its parameters start in Input.data
LOAD_SIDE = 14  # 1: this is the body a of the law, -1: it is the body b
LOAD_OTHER = 15  # index of the other body, WORLD_ROW, or ALONE
LOAD_OTHER_POINT = 16  # on that one, as LOAD_POINT (of the world: from its origin), 3
LOAD_STORES = 19  # 1: what it does is in its potential, 0: it is work from outside
LOAD_COLUMNS = 20
ALONE, WORLD_ROW = -2, -1
BODY_AXES, WORLD_AXES = 0.0, 1.0

# columns of Input.signal; the laws are in `signals.py`
LAW = 0  # SINES, POLYNOMIAL, HOLD, LINEAR, CUBIC, STAGES or FEEDBACK
DRIVES = 1  # the freedom to whose effort the value is added, -1: none (it drives loads)
FROM, TO = 2, 3  # [ns] acts in the steps that start at FROM <= t < TO
ORIGIN = 4  # [ns] where its own time starts
DATA, COUNT = 5, 6  # where its numbers start in Input.data; of how many terms, knots or nodes (FEEDBACK: which q)
SIGNAL_COLUMNS = 7
SINES, POLYNOMIAL, HOLD, LINEAR, CUBIC, STAGES, FEEDBACK = 0, 1, 2, 3, 4, 5, 6
NO_SIGNAL, NO_DATA = np.zeros((0, SIGNAL_COLUMNS), np.int64), np.zeros(0)

# Status.code
OK, NON_FINITE, STEP_TOO_SMALL, TOO_MANY_STEPS = 0, 1, 2, 3
TURNED_TOO_FAR, NON_FINITE_WORK, UNMET, CROWDED = 4, 5, 6, 7


class Model(NamedTuple):
    """A tree of rigid bodies; body i hangs on its hinge i, parent[i] < i, -1 = world. Read-only arrays."""

    tree: np.ndarray  # (n, TREE_COLUMNS) int64
    body: np.ndarray  # (n, BODY_COLUMNS) float64
    freedom: np.ndarray  # (nv, FREEDOM_COLUMNS) float64: per velocity coordinate
    world: np.ndarray  # (WORLD_COLUMNS,) float64


class State(NamedTuple):
    """Where everything is, at scenario time t_ns."""

    t_ns: int
    q: np.ndarray  # (nq,)
    v: np.ndarray  # (nv,)


class Input(NamedTuple):
    """What acts during a call of `advance`: constants, and signals that are evaluated at every stage of a step."""

    tau: np.ndarray  # (nv,) effort of each freedom [N·m, N]
    load: np.ndarray  # (k, LOAD_COLUMNS) wrenches on bodies, constant in their own axes or times a signal
    signal: np.ndarray = NO_SIGNAL  # (s, SIGNAL_COLUMNS) int64: functions of time
    data: np.ndarray = NO_DATA  # the numbers of all signals


class Status(NamedTuple):
    """How a compiled run ended: `code` OK, or what went wrong in which tick (counted from the call) at which body."""

    code: int
    tick: int
    body: int
