"""What a run must keep: energy, momentum, |q| - 1. From pose and twist of every body as `kinematics` fills them."""

import math

from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.forces import gravity_potential, spring_potential
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.kinematics import com_state, kinematics
from rbt_ros.core.types import INERTIA, KIND, MASS, JointKind, Q
from rbt_ros.core.vec import add, cross, dot, norm, quat, rotation, row4, row6, scale, sub, sym_mul, turn


@routine
def kinetic_energy(model, pose, twist):
    """Σ ½ m v² + ½ ω·Iω [J]."""
    T = 0.0
    for i in range(model.tree.shape[0]):
        _, v, w_B = com_state(model, pose, twist, i)
        T += 0.5 * model.body[i, MASS] * dot(v, v) + 0.5 * dot(w_B, sym_mul(row6(model.body, i, INERTIA), w_B))
    return T


@routine
def potential_energy(model, q, pose):
    """Gravity and springs [J]; zero at the world's origin (uniform gravity), at infinity (attraction), at rest."""
    return gravity_potential(model, pose) + spring_potential(model, q)


@routine
def linear_momentum(model, pose, twist):
    """Σ m v [kg·m/s], world axes."""
    P = (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        _, v, _ = com_state(model, pose, twist, i)
        P = add(P, scale(model.body[i, MASS], v))
    return P


@routine
def angular_momentum(model, pose, twist):
    """Σ p × m v + R I ω [N·m·s] about the world's origin, world axes."""
    return angular_momentum_about(model, pose, twist, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@routine
def angular_momentum_about(model, pose, twist, p_WA, v_WA):
    """Σ (p - p_A) × m (v - v_A) + R I ω [N·m·s], world axes: of the motion seen from A (the CoM: its spin)."""
    L = (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        p, v, w_B = com_state(model, pose, twist, i)
        spin = turn(rotation(row4(pose, i, 0)), sym_mul(row6(model.body, i, INERTIA), w_B))
        L = add(L, add(cross(sub(p, p_WA), scale(model.body[i, MASS], sub(v, v_WA))), spin))
    return L


@kernel
def angular_size(model, pose, twist, p_WA, v_WA):
    """Σ |(p - p_A) × m (v - v_A)| + |I ω| [N·m·s]: how much angular momentum cancels in the sum, which may be zero."""
    size = 0.0
    for i in range(model.tree.shape[0]):
        p, v, w_B = com_state(model, pose, twist, i)
        size += norm(cross(sub(p, p_WA), scale(model.body[i, MASS], sub(v, v_WA))))
        size += norm(sym_mul(row6(model.body, i, INERTIA), w_B))
    return size


@routine
def centre_of_mass(model, pose, twist):
    """m [kg], p_WC [m], v_WC [m/s] of the whole system, world axes."""
    m, p_sum, v_sum = 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        p, v, _ = com_state(model, pose, twist, i)
        m_i = model.body[i, MASS]
        m, p_sum, v_sum = m + m_i, add(p_sum, scale(m_i, p)), add(v_sum, scale(m_i, v))
    return m, scale(1.0 / m, p_sum), scale(1.0 / m, v_sum)


@routine
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
WORK, DISSIPATED = 15, 16  # zero where they are not integrated
ANGULAR_SIZE = 17
SUMMARY_COLUMNS = 18


@routine
def observe(model, y, work, pose, twist, summary):
    """Fill pose and twist of every body's origin, and the invariants into `summary`, from y = [q, v (, energies)]."""
    nq, nv = coordinates(model), model.freedom.shape[0]
    q = y[:nq]
    kinematics(model, q, y[nq : nq + nv], work, pose, twist)
    _, p_C, v_C = centre_of_mass(model, pose, twist)
    P, L = linear_momentum(model, pose, twist), angular_momentum(model, pose, twist)
    L_C = angular_momentum_about(model, pose, twist, p_C, v_C)
    summary[ANGULAR_SIZE] = angular_size(model, pose, twist, p_C, v_C)
    summary[KINETIC] = kinetic_energy(model, pose, twist)
    summary[POTENTIAL] = potential_energy(model, q, pose)
    summary[QUATERNION] = quaternion_error(model, q)
    counted = y.shape[0] > nq + nv
    summary[WORK] = y[nq + nv] if counted else 0.0
    summary[DISSIPATED] = y[nq + nv + 1] if counted else 0.0
    for c in range(3):
        summary[MOMENTUM + c] = P[c]
        summary[ANGULAR + c] = L[c]
        summary[CENTRE + c] = p_C[c]
        summary[ANGULAR_COM + c] = L_C[c]
