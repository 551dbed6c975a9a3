"""What a run must keep: energy, momentum, |q| - 1. From pose and twist of every body, as `kinematics` fills them.

And from its spin in body axes, as `spins` does: of a slender body the largest moment of inertia times the rounding of a
turn into the world's axes and back is more than the least moment times that of the spin.
"""

import math

from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.forces import gravity_potential, spring_potential
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.kinematics import com_state, kinematics, spins
from rbt_ros.core.types import (
    ATTRACTION,
    ATTRACTOR,
    COM,
    GRAVITY,
    INERTIA,
    KIND,
    MASS,
    NV,
    PARENT,
    REST,
    STIFFNESS,
    JointKind,
    Q,
    V,
)
from rbt_ros.core.vec import (
    add,
    cross,
    dot,
    norm,
    quat,
    rotation,
    row3,
    row4,
    row6,
    scale,
    sub,
    sym_mul,
    turn,
    vec3,
)


@routine
def kinetic_energy(model, pose, twist, spin):
    """Σ ½ m v² + ½ ω·Iω [J]."""
    T = 0.0
    for i in range(model.tree.shape[0]):
        (_, v, _), w_B = com_state(model, pose, twist, i), row3(spin, i, 0)
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
def angular_momentum(model, pose, twist, spin):
    """Σ p × m v + R I ω [N·m·s] about the world's origin, world axes."""
    return angular_momentum_about(model, pose, twist, spin, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


@routine
def angular_momentum_about(model, pose, twist, spin, p_WA, v_WA):
    """Σ (p - p_A) × m (v - v_A) + R I ω [N·m·s], world axes: of the motion seen from A (the CoM: its spin)."""
    L = (0.0, 0.0, 0.0)
    for i in range(model.tree.shape[0]):
        p, v, _ = com_state(model, pose, twist, i)
        turning = turn(rotation(row4(pose, i, 0)), sym_mul(row6(model.body, i, INERTIA), row3(spin, i, 0)))
        L = add(L, add(cross(sub(p, p_WA), scale(model.body[i, MASS], sub(v, v_WA))), turning))
    return L


@kernel
def angular_size(model, pose, twist, spin, p_WA, v_WA):
    """Σ |(p - p_A) × m (v - v_A)| + |I ω| [N·m·s]: how much angular momentum cancels in the sum, which may be zero."""
    size = 0.0
    for i in range(model.tree.shape[0]):
        p, v, _ = com_state(model, pose, twist, i)
        size += norm(cross(sub(p, p_WA), scale(model.body[i, MASS], sub(v, v_WA))))
        size += norm(sym_mul(row6(model.body, i, INERTIA), row3(spin, i, 0)))
    return size


# ------------------------------------------------------------------------------- how large what is summed is
# Each number is rounded to half a last place, the terms of a sum too: times a few eps these are the error of the sums.
@kernel
def absolute(u):
    """|u_k|, element by element."""
    return (abs(u[0]), abs(u[1]), abs(u[2]))


@kernel
def energy_parts(model, q, pose, twist, spin):
    """Sizes of all that is summed in kinetic and potential energy [J], before it cancels."""
    size = 0.0
    for i in range(model.tree.shape[0]):
        size += kinetic_parts(model, pose, twist, spin, i) + gravity_parts(model, pose, i) + spring_parts(model, q, i)
    return size


@kernel
def kinetic_parts(model, pose, twist, spin, i):
    """Of ½ m (v_B + ω × c)² + ½ ω·Iω of body i."""
    (_, v, _), w = com_state(model, pose, twist, i), absolute(row3(spin, i, 0))
    swept = norm(row3(twist, i, 3)) + norm(w) * norm(row3(model.body, i, COM))
    xx, yy, zz, xy, xz, yz = row6(model.body, i, INERTIA)
    turning = dot(w, sym_mul((xx, yy, zz, abs(xy), abs(xz), abs(yz)), w))
    return model.body[i, MASS] * norm(v) * swept + turning


@kernel
def gravity_parts(model, pose, i):
    """Of -m g·(p_P + p_PB + c) and of the attraction of body i."""
    g, p_WB, mu = vec3(model.world, GRAVITY), row3(pose, i, 4), model.world[ATTRACTION]
    m, p, away = model.body[i, MASS], model.tree[i, PARENT], norm(row3(model.body, i, COM))
    arm = norm(sub(p_WB, row3(pose, p, 4))) if p >= 0 else 0.0
    size = m * (dot(absolute(g), absolute(p_WB)) + norm(g) * (arm + away))
    if mu != 0.0:
        at = vec3(model.world, ATTRACTOR)
        r = norm(sub(p_WB, at))
        size += mu * m / r * (1.0 + (norm(p_WB) + norm(at) + away) / r)
    return size


@kernel
def spring_parts(model, q, i):
    """Of ½ k (q - rest)² of hinge i: k |q - rest| (|q| + |rest|)."""
    size, kind, k, j = 0.0, model.tree[i, KIND], model.tree[i, Q], model.tree[i, V]
    if kind == JointKind.FREE:
        return size
    for c in range(NV[kind]):
        stiffness, rest = model.freedom[j + c, STIFFNESS], model.freedom[j + c, REST]
        at = 2.0 * q[k + 1 + c] if kind == JointKind.SPHERICAL else q[k + c]
        size += stiffness * abs(at - rest) * (abs(at) + abs(rest))
    return size


@kernel
def angular_parts(model, pose, twist, spin, p_WA, v_WA):
    """Sizes of all that is summed in the angular momentum about A [N·m·s], before it cancels."""
    size = 0.0
    for i in range(model.tree.shape[0]):
        p, v, _ = com_state(model, pose, twist, i)
        far, fast = norm(sub(p, p_WA)), norm(sub(v, v_WA))
        size += model.body[i, MASS] * (far * (norm(v) + norm(v_WA)) + (norm(p) + norm(p_WA)) * fast)
        xx, yy, zz, xy, xz, yz = row6(model.body, i, INERTIA)
        size += norm(sym_mul((xx, yy, zz, abs(xy), abs(xz), abs(yz)), absolute(row3(spin, i, 0))))
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
ENERGY_PARTS, ANGULAR_PARTS = 18, 19
SUMMARY_COLUMNS = 20


@routine
def observe(model, y, work, pose, twist, spin, summary):
    """Fill pose and twist of every body's origin, w_WB_B into `spin`, and the invariants into `summary`, from
    y = [q, v (, energies)]."""
    nq, nv = coordinates(model), model.freedom.shape[0]
    q, v = y[:nq], y[nq : nq + nv]
    kinematics(model, q, v, work, pose, twist)
    spins(model, q, v, work, spin)
    _, p_C, v_C = centre_of_mass(model, pose, twist)
    P, L = linear_momentum(model, pose, twist), angular_momentum(model, pose, twist, spin)
    L_C = angular_momentum_about(model, pose, twist, spin, p_C, v_C)
    summary[ANGULAR_SIZE] = angular_size(model, pose, twist, spin, p_C, v_C)
    summary[ENERGY_PARTS] = energy_parts(model, q, pose, twist, spin)
    summary[ANGULAR_PARTS] = angular_parts(model, pose, twist, spin, p_C, v_C)
    summary[KINETIC] = kinetic_energy(model, pose, twist, spin)
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
