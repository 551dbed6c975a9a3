"""Newton and Euler for free bodies: rates of the coordinates, accelerations, poses and twists."""

from rbt_ros.core.jit import kernel
from rbt_ros.core.types import (
    COM,
    GRAVITY,
    INERTIA,
    LOAD_BODY,
    LOAD_FORCE,
    LOAD_FRAME,
    LOAD_MOMENT,
    LOAD_POINT,
    MASS,
    WORLD_AXES,
    Q,
    V,
)
from rbt_ros.core.vec import (
    add,
    cross,
    quat,
    rotation,
    scale,
    sub,
    sym_mul,
    sym_solve,
    turn,
    turn_back,
    vec3,
)


@kernel
def inertia(model, i):
    """I_BBcm of body i: xx yy zz xy xz yz."""
    a, k = model.body[i], INERTIA
    return (a[k], a[k + 1], a[k + 2], a[k + 3], a[k + 4], a[k + 5])


@kernel
def load_on_body(R_WB, load):
    """Moment about the CoM in body axes and force in world axes [N·m, N] of one row of Input.load."""
    n, f, p = vec3(load, LOAD_MOMENT), vec3(load, LOAD_FORCE), vec3(load, LOAD_POINT)
    if load[LOAD_FRAME] == WORLD_AXES:
        n_B, f_B = turn_back(R_WB, n), turn_back(R_WB, f)
        return add(n_B, cross(p, f_B)), f
    return add(n, cross(p, f)), turn(R_WB, f)


@kernel
def derivative(model, q, v, input, qdot, vdot):
    """Fill qdot, vdot: q̇_WB = ½ q ω, I ω̇ = n - ω × I ω, m a = f + m g."""
    g_W = vec3(model.world, GRAVITY)
    for i in range(model.tree.shape[0]):
        iq, iv = model.tree[i, Q], model.tree[i, V]
        q_WB, w_B, v_W = quat(q, iq), vec3(v, iv), vec3(v, iv + 3)
        R_WB = rotation(q_WB)
        # loads: moment about the CoM in body axes, force in world axes
        n_B, f_W = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for k in range(input.load.shape[0]):
            if input.load[k, LOAD_BODY] == i:
                n, f = load_on_body(R_WB, input.load[k])
                n_B, f_W = add(n_B, n), add(f_W, f)
        n_B = add(n_B, vec3(input.tau, iv))
        f_W = add(f_W, vec3(input.tau, iv + 3))
        # Euler, Newton
        I_B = inertia(model, i)
        wdot = sym_solve(I_B, sub(n_B, cross(w_B, sym_mul(I_B, w_B))))
        a_W = add(g_W, scale(1.0 / model.body[i, MASS], f_W))
        # rates of the coordinates
        w, x, y, z = q_WB
        p, r, s = w_B
        qdot[iq] = -0.5 * (x * p + y * r + z * s)
        qdot[iq + 1] = 0.5 * (w * p + y * s - z * r)
        qdot[iq + 2] = 0.5 * (w * r + z * p - x * s)
        qdot[iq + 3] = 0.5 * (w * s + x * r - y * p)
        for c in range(3):
            qdot[iq + 4 + c] = v_W[c]
            vdot[iv + c] = wdot[c]
            vdot[iv + 3 + c] = a_W[c]


@kernel
def kinematics(model, q, v, pose, twist):
    """Fill pose (n, 7) = [q_WB, p_WB] and twist (n, 6) = [w_WB, v_WB] in world axes, of every body's origin."""
    for i in range(model.tree.shape[0]):
        iq, iv = model.tree[i, Q], model.tree[i, V]
        w_W = turn(rotation(quat(q, iq)), vec3(v, iv))
        for c in range(7):
            pose[i, c] = q[iq + c]
        for c in range(3):
            twist[i, c] = w_W[c]
            twist[i, 3 + c] = v[iv + 3 + c]


@kernel
def com_state(model, pose, twist, i):
    """p_WBcm, v_WBcm in world axes and w_WB in body axes of body i, from a filled pose and twist."""
    R_WB = rotation(quat(pose[i], 0))
    p_BBcm_W, w_W = turn(R_WB, vec3(model.body[i], COM)), vec3(twist[i], 0)
    return (
        add(vec3(pose[i], 4), p_BBcm_W),
        add(vec3(twist[i], 3), cross(w_W, p_BBcm_W)),
        turn_back(R_WB, w_W),
    )
