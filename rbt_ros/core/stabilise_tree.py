"""`stabilise.py` for a floating tree: all bodies turned as one about their centre of mass C, or their motion scaled.

Frozen in its shape, a tree is a rigid body with the inertia I_C that turns with w_C = I_C⁻¹ L. Seen from C, its motion
is that turning and the rest, the change of its shape, which has no angular momentum; and their energies add up:

    2 T = L·I_C⁻¹ L + 2 T_shape

So P is put right by the velocity of C, L by w_C alone, and the error of the energy taken out by the smaller of two
changes: a turn of the whole (as of a lone body), or the rates of the change of shape times a factor near 1.
"""

import math

from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.forces import spring_potential
from rbt_ros.core.invariants import centre_of_mass
from rbt_ros.core.jit import kernel
from rbt_ros.core.kinematics import com_state, kinematics, spins
from rbt_ros.core.stabilise import GRADIENT, IMPULSE, MODE, MOMENTUM, ROUND_OFF, energy_turn, next_gain, targets, unit4
from rbt_ros.core.types import INERTIA, MASS
from rbt_ros.core.vec import (
    add,
    cross,
    dot,
    norm,
    qmul,
    quat,
    rotation,
    rotation_vector_quat,
    row3,
    row4,
    row6,
    scale,
    sub,
    sym_add,
    sym_mul,
    sym_solve,
    sym_turn,
    turn,
    turn_back,
    vec3,
)


@kernel
def frozen(model, pose, twist, spin):
    """(m, p_C, v_C, I_C, L, T) of a filled pose, twist and spin, world axes; I_C, L and T as seen from C."""
    m, p_C, v_C = centre_of_mass(model, pose, twist)
    I_C, L, T = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.0
    for i in range(model.tree.shape[0]):
        (p, v, _), w_B = com_state(model, pose, twist, i), row3(spin, i, 0)
        R_WB, I_B, m_i = rotation(row4(pose, i, 0)), row6(model.body, i, INERTIA), model.body[i, MASS]
        (x, y, z), u, h_B = sub(p, p_C), sub(v, v_C), sym_mul(I_B, w_B)
        away = (y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z)
        steiner = (m_i * away[0], m_i * away[1], m_i * away[2], m_i * away[3], m_i * away[4], m_i * away[5])
        I_C = sym_add(I_C, sym_add(sym_turn(R_WB, I_B), steiner))
        L = add(L, add(turn(R_WB, h_B), scale(m_i, cross((x, y, z), u))))
        T += 0.5 * (m_i * dot(u, u) + dot(w_B, h_B))
    return m, p_C, v_C, I_C, L, T


@kernel
def turned_to(I_C, L, energy, most):
    """(Q, ω): the turn Q of a frozen tree to ½ L·ω = energy, ω = I_C⁻¹ L as it then sees it; `most` steps of Newton."""
    Q, w = (1.0, 0.0, 0.0, 0.0), sym_solve(I_C, L)
    for _ in range(most):
        now = 0.5 * dot(w, L)
        if abs(now - energy) <= ROUND_OFF * now:
            break
        x = rotation_vector_quat(energy_turn(w, L, now - energy))
        Q, L = qmul(Q, x), turn_back(rotation(x), L)
        w = sym_solve(I_C, L)
    return Q, w


@kernel
def correct_tree(model, y, kept, account, work, pose, twist, spin):
    """Bring P, L and E of the one floating tree in y = [q, v] to what they must be; body 0 is its root.

    All in the axes of the root, with its origin at zero: a turn into the world's would mix the digits of the largest
    moment of inertia into those of the least.
    """
    nq, nv = coordinates(model), model.freedom.shape[0]
    q, v = y[:nq], y[nq : nq + nv]
    q_WB, p_WB, R_WB = quat(q, 0), vec3(q, 4), rotation(quat(q, 0))
    L_W, E = targets(kept, account)
    L = turn_back(R_WB, L_W)
    put_root(y, (1.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    v[3], v[4], v[5] = turn_back(R_WB, vec3(v, 3))
    kinematics(model, q, v, work, pose, twist)
    spins(model, q, v, work, spin)
    m, p_C, v_now, I_C, L_now, T = frozen(model, pose, twist, spin)
    v_C = turn_back(R_WB, scale(1.0 / m, add(vec3(kept, MOMENTUM), vec3(account, IMPULSE))))
    w_now = sym_solve(I_C, L_now)
    T_shape = max(0.0, T - 0.5 * dot(L_now, w_now))
    w = sym_solve(I_C, L)
    error = 0.5 * dot(w, L) + T_shape + spring_potential(model, q) - E
    if kept[MODE] == GRADIENT:
        error *= next_gain(kept, error)
    Q, factor = (1.0, 0.0, 0.0, 0.0), 1.0
    if norm(cross(w, L)) > 2.0 * T_shape:
        Q, w = turned_to(I_C, L, 0.5 * dot(w, L) - error, 1 if kept[MODE] == GRADIENT else 5)
    elif T_shape > 0.0:
        factor = math.sqrt(max(0.0, 1.0 - error / T_shape))
    # the root carries the others: what belongs to the change of shape times the factor, then all turned by Q about C
    R, r = rotation(Q), scale(-1.0, p_C)
    shape_spin = scale(factor, sub(row3(spin, 0, 0), w_now))
    shape_drift = scale(factor, sub(sub(row3(twist, 0, 3), v_now), cross(w_now, r)))
    put_root(y, unit4(qmul(q_WB, Q)), add(p_WB, turn(R_WB, add(p_C, turn(R, r)))))
    for j in range(6, nv):
        v[j] *= factor
    v[0], v[1], v[2] = add(w, shape_spin)
    v[3], v[4], v[5] = turn(R_WB, add(v_C, turn(R, add(cross(w, r), shape_drift))))


@kernel
def put_root(y, q_WB, p_WB):
    """Write the pose of the root."""
    y[0], y[1], y[2], y[3] = q_WB
    y[4], y[5], y[6] = p_WB
