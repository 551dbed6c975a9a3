"""Where every body is, how it moves, how it accelerates; the Jacobian of any point.

World axes throughout, each body's quantities at its own origin B (its hinge point). Accelerations are the classical
ones, d²p/dt² of a material point, so that Newton's law may be written as in a first course:

    w_WB = w_WP + Σ e u                                       e: axis, u: rate of a turn; d: axis, u: rate of a slide
    a_WB = a_WP + ẇ_WP × r + w_WP × (w_WP × r) + Σ (2 w_WP × d u + d u̇),    r = p_PB_W
"""

from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import axes, half_turns, place, relative_motion, spin_through, twist
from rbt_ros.core.rows import at_once, eight
from rbt_ros.core.types import COM, GRAVITY, INERTIA, KIND, NV, PARENT, JointKind, V
from rbt_ros.core.vec import (
    add,
    cross,
    put3,
    put4,
    put9,
    qmul,
    rotation,
    row3,
    row4,
    row6,
    row9,
    scale,
    sub,
    sym_turn,
    transpose,
    turn,
    turn_back,
    vec3,
)
from rbt_ros.core.work import (
    ACC,
    ACC_V,
    ARM,
    AXIS_W,
    POS,
    QUAT,
    ROT,
    SPIN,
    SPIN_DOT,
    SPIN_DOT_V,
)


@kernel
def start_at_the_world(model, work):
    """Row -1. Uniform gravity g pulls on everything alike: the same as a world that accelerates by -g."""
    put3(work.bodies, -1, ACC, scale(-1.0, vec3(model.world, GRAVITY)))


@kernel
def unfold(model, q, work):
    """Fill QUAT and ROT of every row, and ARM with p_PB in P.

    Only quaternions wait for the parent's: sines and rotations are computed for eight bodies at a time.
    """
    half_turns(model, q, work)
    for i in range(model.tree.shape[0]):
        q_PB, p_PB = place(model, i, q, work)
        put4(work.bodies, i, QUAT, qmul(row4(work.bodies, model.tree[i, PARENT], QUAT), q_PB))
        put3(work.bodies, i, ARM, p_PB)
    rows = eight(work.bodies)
    for i in range(0, model.tree.shape[0], at_once(work.bodies)):
        put9(rows, i, ROT, rotation(row4(rows, i, QUAT)))


@kernel
def settle(model, i, work):
    """Fill the position, the arm (now in world axes) and the axes of row i, unfolded, from the parent's row."""
    p = model.tree[i, PARENT]
    R_WP, R_WB = row9(work.bodies, p, ROT), row9(work.bodies, i, ROT)
    r = turn(R_WP, row3(work.bodies, i, ARM))
    axes(model, i, R_WP, R_WB, work.freedoms, AXIS_W)
    put3(work.bodies, i, POS, add(row3(work.bodies, p, POS), r))
    put3(work.bodies, i, ARM, r)


@kernel
def move(model, i, v, work):
    """Fill the spin and the accelerations at v̇ = 0 of row i, settled, from the parent's row."""
    p, R_WB, r = model.tree[i, PARENT], row9(work.bodies, i, ROT), row3(work.bodies, i, ARM)
    w_WP, wdot_WP, a_WP = row3(work.bodies, p, SPIN), row3(work.bodies, p, SPIN_DOT), row3(work.bodies, p, ACC)
    w, wdot, a, _ = relative_motion(model, i, v, R_WB, w_WP, work.freedoms, AXIS_W)
    a = add(a_WP, add(a, add(cross(wdot_WP, r), cross(w_WP, cross(w_WP, r)))))
    put3(work.bodies, i, SPIN, w)
    put3(work.bodies, i, SPIN_DOT, add(wdot_WP, wdot))
    put3(work.bodies, i, ACC, a)


@kernel
def inertia_in_world(model, i, R_WB):
    """p_BC and I_Bcm of body i, world axes."""
    return turn(R_WB, row3(model.body, i, COM)), sym_turn(R_WB, row6(model.body, i, INERTIA))


@kernel
def accelerate(model, i, vdot, work):
    """Fill SPIN_DOT_V and ACC_V of row i: what v̇ adds to the accelerations of body i."""
    p, kind, j = model.tree[i, PARENT], model.tree[i, KIND], model.tree[i, V]
    wdot = row3(work.bodies, p, SPIN_DOT_V)
    a = add(row3(work.bodies, p, ACC_V), cross(wdot, row3(work.bodies, i, ARM)))
    if kind == JointKind.SPHERICAL:
        wdot = add(wdot, turn(row9(work.bodies, i, ROT), vec3(vdot, j)))
    elif kind == JointKind.FREE:
        wdot, a = turn(row9(work.bodies, i, ROT), vec3(vdot, j)), vec3(vdot, j + 3)
    else:
        for k in range(NV[kind]):
            w_j, v_j = twist(model, j + k, work.freedoms, AXIS_W)
            wdot, a = add(wdot, scale(vdot[j + k], w_j)), add(a, scale(vdot[j + k], v_j))
    put3(work.bodies, i, SPIN_DOT_V, wdot)
    put3(work.bodies, i, ACC_V, a)


@routine
def kinematics(model, q, v, work, pose, twist):
    """Fill pose (n, 7) = [q_WB, p_WB] and twist (n, 6) = [w_WB, v_WB] in world axes, of every body's origin."""
    half_turns(model, q, work)
    for i in range(model.tree.shape[0]):
        p = model.tree[i, PARENT]
        q_WP, p_WP, w_WP, v_WP = (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if p >= 0:
            q_WP, p_WP, w_WP, v_WP = row4(pose, p, 0), row3(pose, p, 4), row3(twist, p, 0), row3(twist, p, 3)
        R_WP = rotation(q_WP)
        q_PB, p_PB = place(model, i, q, work)
        q_WB, r = qmul(q_WP, q_PB), turn(R_WP, p_PB)
        R_WB = rotation(q_WB)
        axes(model, i, R_WP, R_WB, work.freedoms, AXIS_W)
        w_WB, _, _, slide = relative_motion(model, i, v, R_WB, w_WP, work.freedoms, AXIS_W)
        put4(pose, i, 0, q_WB)
        put3(pose, i, 4, add(p_WP, r))
        put3(twist, i, 0, w_WB)
        put3(twist, i, 3, add(v_WP, add(cross(w_WP, r), slide)))


@routine
def spins(model, q, v, work, spin):
    """Fill spin (n, 3) = w_WB_B of every body, with the digits that q and v have. After `kinematics`."""
    for i in range(model.tree.shape[0]):
        p = model.tree[i, PARENT]
        w_WP_P = row3(spin, p, 0) if p >= 0 else (0.0, 0.0, 0.0)
        q_PB, _ = place(model, i, q, work)
        put3(spin, i, 0, spin_through(model, i, v, w_WP_P, rotation(q_PB)))


@routine
def accelerations(model, q, v, vdot, work, accel):
    """Fill accel (n, 6) = [ẇ_WB, a_WB], world axes, of every body's origin."""
    g = vec3(model.world, GRAVITY)
    start_at_the_world(model, work)
    unfold(model, q, work)
    for i in range(model.tree.shape[0]):
        settle(model, i, work)
        move(model, i, v, work)
        accelerate(model, i, vdot, work)
        put3(accel, i, 0, add(row3(work.bodies, i, SPIN_DOT), row3(work.bodies, i, SPIN_DOT_V)))
        put3(accel, i, 3, add(g, add(row3(work.bodies, i, ACC), row3(work.bodies, i, ACC_V))))


@routine
def point_jacobian(model, q, i, p_BQ_B, work, jacobian):
    """Fill jacobian (6, nv): [w_WB; v_WQ] = jacobian @ v, world axes, of the point Q of body i."""
    unfold(model, q, work)
    for b in range(i + 1):
        settle(model, b, work)
    p_WQ = add(row3(work.bodies, i, POS), turn(row9(work.bodies, i, ROT), p_BQ_B))
    jacobian[:, :] = 0.0
    # from body i down to the world: only its ancestors move it
    b = i
    while b >= 0:
        hinge_columns(model, b, sub(p_WQ, row3(work.bodies, b, POS)), work, jacobian)
        b = model.tree[b, PARENT]


@kernel
def hinge_columns(model, i, r, work, jacobian):
    """Write the columns of hinge i: its freedoms move a point at r from the origin of body i."""
    kind, j = model.tree[i, KIND], model.tree[i, V]
    if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
        columns = transpose(row9(work.bodies, i, ROT))
        for k in range(3):
            write_column(jacobian, j + k, columns[k], cross(columns[k], r))
            if kind == JointKind.FREE:
                jacobian[3 + k, j + 3 + k] = 1.0
        return
    for k in range(NV[kind]):
        w, v = twist(model, j + k, work.freedoms, AXIS_W)
        write_column(jacobian, j + k, w, add(v, cross(w, r)))


@kernel
def write_column(jacobian, k, w, v):
    """Column k of a Jacobian: what a unit rate of freedom k does."""
    jacobian[0, k], jacobian[1, k], jacobian[2, k] = w
    jacobian[3, k], jacobian[4, k], jacobian[5, k] = v


@kernel
def com_state(model, pose, twist, i):
    """p_WBcm, v_WBcm in world axes and w_WB in body axes of body i, from a filled pose and twist."""
    R_WB = rotation(row4(pose, i, 0))
    p_BBcm_W, w_W = turn(R_WB, row3(model.body, i, COM)), row3(twist, i, 0)
    return (
        add(row3(pose, i, 4), p_BBcm_W),
        add(row3(twist, i, 3), cross(w_W, p_BBcm_W)),
        turn_back(R_WB, w_W),
    )
