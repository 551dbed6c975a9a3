"""The hinges: where each puts its body, the axes of its freedoms, and what its velocities do to its coordinates.

| kind | q | v | q̇ |
|---|---|---|---|
| fixed | - | - | |
| revolute, screw, prismatic | angle; angle; slide | rate | v |
| cylindrical | turn, slide | rates | v |
| universal | turn 1, turn 2 | rates | v |
| spherical | q_JB (w x y z) | w_PB_B | ½ q ω |
| planar | x, y, turn | rates | v |
| free | q_WB, p_WBcm | w_WB_B, v_WBcm (world axes) | ½ q ω, v |

J is the frame of the hinge: fixed in the parent P at `point`, turned by `turn`; B coincides with J at zero. What
the freedoms of a kind are is one row in `hinge_kinds.py`; spherical and free hinges have lines of their own.

Most hinges are revolute. They have a line of their own before some loops over the freedoms of a hinge, in which a loop
over one costs as much as what is in it: the loop gives the same bits (measured: chains 9 % faster).
"""

from rbt_ros.core.hinge_kinds import ABOUT, FIRST, IN_CHILD, NORMAL, SECOND
from rbt_ros.core.jit import kernel
from rbt_ros.core.lanes import common
from rbt_ros.core.rows import at_once, eight
from rbt_ros.core.types import AXIS, AXIS2, KIND, NQ, NV, POINT, SLIDES, TURN, TURNS, JointKind, Q, V
from rbt_ros.core.vec import (
    add,
    cross,
    put3,
    qmul,
    qturn,
    quat,
    rotation_vector_quat,
    row3,
    row4,
    scale,
    sincos,
    turn,
    turn_back,
    vec3,
)
from rbt_ros.core.work import COS, HALF_ANGLE, SIN


@kernel
def mounted(model, i, q_JB):
    """q_PB from q_JB: the hinge's frame J may be turned in P."""
    q_PJ = row4(model.body, i, TURN)
    if common(q_PJ[0]) == 1.0:  # most are not
        return q_JB
    return qmul(q_PJ, q_JB)


@kernel
def axis_in_parent(model, i, k):
    """The axis in columns k, k+1, k+2 of hinge i, given in J: in P."""
    q_PJ, axis_J = row4(model.body, i, TURN), row3(model.body, i, k)
    if common(q_PJ[0]) == 1.0:
        return axis_J
    return qturn(q_PJ, axis_J)


@kernel
def half_turns(model, q, work):
    """Fill HALF_ANGLE, SIN and COS of all freedoms (0, 0, 1 where one only slides): eight sines at a time."""
    first, end = model.freedom.shape[0], 0
    for i in range(model.tree.shape[0]):
        kind, k, j = model.tree[i, KIND], model.tree[i, Q], model.tree[i, V]
        if kind == JointKind.REVOLUTE:
            first, end = min(first, j), j + 1
            work.freedoms[j, HALF_ANGLE] = 0.5 * q[k]
        elif kind != JointKind.SPHERICAL and kind != JointKind.FREE:
            first, end = min(first, j), j + NV[kind]
            for c in range(NV[kind]):
                work.freedoms[j + c, HALF_ANGLE] = 0.5 * model.freedom[j + c, TURNS] * q[k + c]
    rows, count = eight(work.freedoms), at_once(work.freedoms)
    for j in range(first - first % count, end, count):
        rows[j, SIN], rows[j, COS] = sincos(rows[j, HALF_ANGLE])


@kernel
def turned(e, j, work):
    """The quaternion of freedom j's turn about the unit vector e."""
    s = work.freedoms[j, SIN]
    return (work.freedoms[j, COS], s * e[0], s * e[1], s * e[2])


@kernel
def parent_axis(model, i, about):
    """An axis of hinge i that is fixed in the parent: in P."""
    if about == FIRST:
        return axis_in_parent(model, i, AXIS)
    second = axis_in_parent(model, i, AXIS2)
    if about == SECOND:
        return second
    return cross(axis_in_parent(model, i, AXIS), second)


@kernel
def place(model, i, q, work):
    """q_PB, and p_PB in P: where hinge i puts its body in the parent's frame. After `half_turns`."""
    kind, k, j = model.tree[i, KIND], model.tree[i, Q], model.tree[i, V]
    p_PJ = row3(model.body, i, POINT)
    if kind == JointKind.REVOLUTE:
        return mounted(model, i, turned(row3(model.body, i, AXIS), j, work)), p_PJ
    if kind == JointKind.SPHERICAL:
        return mounted(model, i, quat(q, k)), p_PJ
    if kind == JointKind.FREE:
        return quat(q, k), vec3(q, k + 4)
    q_JB, slide = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for c in range(NV[kind]):
        about = ABOUT[kind, c]
        if not slides_only(model, j + c):
            e = row3(model.body, i, AXIS2 if about == SECOND else AXIS)
            q_JB = qmul(q_JB, turned(e, j + c, work))
        if not turns_only(model, j + c):
            slide = add(slide, scale(model.freedom[j + c, SLIDES] * q[k + c], parent_axis(model, i, about)))
    return mounted(model, i, q_JB), add(p_PJ, slide)


@kernel
def axes(model, i, R_WP, R_WB, out, c):
    """Write the unit axis of every single-axis freedom of hinge i, in world axes, into columns c, c+1, c+2 of `out`."""
    kind, j = model.tree[i, KIND], model.tree[i, V]
    if kind == JointKind.FIXED or kind == JointKind.SPHERICAL or kind == JointKind.FREE:
        return
    axis = turn(R_WB, row3(model.body, i, AXIS))
    if kind == JointKind.REVOLUTE:
        put3(out, j, c, axis)
        return
    for k in range(NV[kind]):
        about = ABOUT[kind, k]
        if about == FIRST:
            e = axis if IN_CHILD[kind, k] else turn(R_WP, axis_in_parent(model, i, AXIS))
        elif IN_CHILD[kind, k]:
            e = turn(R_WB, row3(model.body, i, AXIS2))
        else:
            e = turn(R_WP, axis_in_parent(model, i, AXIS2))
        put3(out, j + k, c, cross(axis, e) if about == NORMAL else e)


@kernel
def turns_only(model, j):
    """Whether freedom j turns and does not slide, as most."""
    return common(model.freedom[j, SLIDES]) == 0.0


@kernel
def slides_only(model, j):
    """Whether freedom j slides and does not turn."""
    return common(model.freedom[j, TURNS]) == 0.0


@kernel
def twist(model, j, axis, c):
    """(w, v): how freedom j, at rate 1, turns and moves what hangs on it, about the hinge; its axis: in columns c."""
    e = row3(axis, j, c)
    return scale(model.freedom[j, TURNS], e), scale(model.freedom[j, SLIDES], e)


@kernel
def relative_motion(model, i, v, R_WB, w_WP, axis, c):
    """Of B against P through hinge i, in world axes: w_WB; the acceleration (angular, linear) it has at v̇ = 0 beside
    that of a point fixed in P (turns: ω × e u, slides: 2 ω × d u); and the velocity of its slides."""
    kind, j = model.tree[i, KIND], model.tree[i, V]
    w, zero = w_WP, (0.0, 0.0, 0.0)
    if kind == JointKind.REVOLUTE:
        u = scale(v[j], row3(axis, j, c))
        return add(w, u), cross(w, u), zero, zero
    if kind == JointKind.SPHERICAL:
        w_PB = turn(R_WB, vec3(v, j))
        return add(w, w_PB), cross(w, w_PB), zero, zero
    if kind == JointKind.FREE:
        return turn(R_WB, vec3(v, j)), zero, zero, vec3(v, j + 3)
    wdot, vdot, slide = zero, zero, zero
    for k in range(j, j + NV[kind]):
        turning, sliding = twist(model, k, axis, c)
        turning, sliding = scale(v[k], turning), scale(v[k], sliding)
        wdot = add(wdot, cross(w, turning))
        w = add(w, turning)
        vdot = add(vdot, scale(2.0, cross(w_WP, sliding)))
        slide = add(slide, sliding)
    return w, wdot, vdot, slide


@kernel
def spin_through(model, i, v, w_WP_P, R_PB):
    """w_WB_B from the parent's w_WP_P: no turn through the world's axes, which would mix the digits of a fast
    component into slow ones."""
    kind, j = model.tree[i, KIND], model.tree[i, V]
    if kind == JointKind.FREE:
        return vec3(v, j)
    if kind == JointKind.SPHERICAL:
        return add(turn_back(R_PB, w_WP_P), vec3(v, j))
    w_P, w_B = w_WP_P, (0.0, 0.0, 0.0)
    for k in range(NV[kind]):
        if not slides_only(model, j + k):
            if IN_CHILD[kind, k]:
                w_B = add(w_B, scale(v[j + k], row3(model.body, i, AXIS2 if ABOUT[kind, k] == SECOND else AXIS)))
            else:
                w_P = add(w_P, scale(v[j + k], parent_axis(model, i, ABOUT[kind, k])))
    return add(turn_back(R_PB, w_P), w_B)


@kernel
def rates(model, q, v, qdot):
    """Fill qdot from q and v: the last column of the table above."""
    for i in range(model.tree.shape[0]):
        kind, k, j = model.tree[i, KIND], model.tree[i, Q], model.tree[i, V]
        if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
            w, x, y, z = quat(q, k)
            a, b, c = vec3(v, j)
            qdot[k] = -0.5 * (x * a + y * b + z * c)
            qdot[k + 1] = 0.5 * (w * a + y * c - z * b)
            qdot[k + 2] = 0.5 * (w * b + z * a - x * c)
            qdot[k + 3] = 0.5 * (w * c + x * b - y * a)
            for m in range(4, NQ[kind]):
                qdot[k + m] = v[j + m - 1]
        elif kind == JointKind.REVOLUTE:
            qdot[k] = v[j]
        else:
            for m in range(NQ[kind]):
                qdot[k + m] = v[j + m]


@kernel
def step_on_manifold(model, q, v, h, out):
    """out = q (+) v h: coordinates after h [s] at constant v; a quaternion turns by |ω| h about ω. `out` may be q."""
    for i in range(model.tree.shape[0]):
        kind, k, j = model.tree[i, KIND], model.tree[i, Q], model.tree[i, V]
        if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
            turned = qmul(quat(q, k), rotation_vector_quat(scale(h, vec3(v, j))))
            out[k], out[k + 1], out[k + 2], out[k + 3] = turned
            for m in range(4, NQ[kind]):
                out[k + m] = q[k + m] + h * v[j + m - 1]
        else:
            for m in range(NQ[kind]):
                out[k + m] = q[k + m] + h * v[j + m]
