"""What a run must keep: energy, momentum, |q| - 1."""

import math

from rbt_ros.core.dynamics import com_state, inertia, kinematics
from rbt_ros.core.jit import kernel
from rbt_ros.core.types import GRAVITY, KIND, MASS, JointKind, Q
from rbt_ros.core.vec import add, cross, dot, quat, rotation, scale, sub, sym_mul, turn, vec3


@kernel
def kinetic_energy(model, pose, twist):
    """Σ ½ m v² + ½ ω·Iω [J]."""
    T = 0.0
    for i in range(model.tree.shape[0]):
        _, v, w_B = com_state(model, pose, twist, i)
        T += 0.5 * model.body[i, MASS] * dot(v, v) + 0.5 * dot(w_B, sym_mul(inertia(model, i), w_B))
    return T


@kernel
def potential_energy(model, pose, twist):
    """-Σ m g·p [J]: uniform gravity, zero at the world's origin."""
    U, g_W = 0.0, vec3(model.world, GRAVITY)
    for i in range(model.tree.shape[0]):
        p, _, _ = com_state(model, pose, twist, i)
        U -= model.body[i, MASS] * dot(g_W, p)
    return U


@kernel
def linear_momentum(model, pose, twist):
    """Σ m v [kg·m/s], world axes."""
    P = (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        _, v, _ = com_state(model, pose, twist, i)
        P = add(P, scale(model.body[i, MASS], v))
    return P


@kernel
def angular_momentum(model, pose, twist):
    """Σ p × m v + R I ω [N·m·s] about the world's origin, world axes."""
    L = (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        p, v, w_B = com_state(model, pose, twist, i)
        spin = turn(rotation(quat(pose[i], 0)), sym_mul(inertia(model, i), w_B))
        L = add(L, add(cross(p, scale(model.body[i, MASS], v)), spin))
    return L


@kernel
def centre_of_mass(model, pose, twist):
    """p_WC [m], v_WC [m/s] of the whole system, world axes."""
    m, p_sum, v_sum = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        p, v, _ = com_state(model, pose, twist, i)
        m_i = model.body[i, MASS]
        m, p_sum, v_sum = m + m_i, add(p_sum, scale(m_i, p)), add(v_sum, scale(m_i, v))
    return scale(1.0 / m, p_sum), scale(1.0 / m, v_sum)


@kernel
def quaternion_error(model, q):
    """The largest | |q| - 1 | of all quaternions in q."""
    worst = 0.0
    for i in range(model.tree.shape[0]):
        if model.tree[i, KIND] == JointKind.FREE or model.tree[i, KIND] == JointKind.SPHERICAL:
            w, x, y, z = quat(q, model.tree[i, Q])
            worst = max(worst, abs(math.sqrt(w * w + x * x + y * y + z * z) - 1.0))
    return worst


# columns of what `observe` fills
KINETIC, POTENTIAL, MOMENTUM, ANGULAR, CENTRE, ANGULAR_COM, QUATERNION = 0, 1, 2, 5, 8, 11, 14
SUMMARY_COLUMNS = 15


@kernel
def observe(model, y, pose, twist, summary):
    """Fill pose and twist of every body's origin, and the invariants into `summary`, from y = [q, v]."""
    nq = y.shape[0] - model.freedom.shape[0]
    kinematics(model, y[:nq], y[nq:], pose, twist)
    P, L = linear_momentum(model, pose, twist), angular_momentum(model, pose, twist)
    p_C, _ = centre_of_mass(model, pose, twist)
    L_C = sub(L, cross(p_C, P))
    summary[KINETIC] = kinetic_energy(model, pose, twist)
    summary[POTENTIAL] = potential_energy(model, pose, twist)
    summary[QUATERNION] = quaternion_error(model, y[:nq])
    for c in range(3):
        summary[MOMENTUM + c] = P[c]
        summary[ANGULAR + c] = L[c]
        summary[CENTRE + c] = p_C[c]
        summary[ANGULAR_COM + c] = L_C[c]
