"""Plastic impacts: hinges lock, bodies are joined, all at once and for good.

Of all velocities that what is left of the freedoms allows, the bodies take those nearest to the ones they had, in the
measure of their masses (Gauss's principle for impulses):

    Jᵀ M (J u - V) = 0,        that is        M(q) u = Jᵀ M V

V: twists of all bodies before, J: the Jacobian of the freedoms that are left, M(q) = Jᵀ M J. The generalised momentum
of every freedom that is left stays, so that a floating tree keeps linear and angular momentum; and by Pythagoras the
kinetic energy lost is that of the lost velocities (Carnot's theorem), ½ (V - J u)ᵀ M (V - J u).
"""

from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.kinematics import com_state, inertia_in_world, kinematics, point_jacobian
from rbt_ros.core.linear import solve_symmetric
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.types import COM, MASS
from rbt_ros.core.vec import add, cross, dot, put3, rotation, row3, row4, scale, sub, sym_mul, turn

REFINEMENTS = 3  # of u: the first solves, the others take the momenta to round-off whatever the condition of M


@routine
def com_twists(model, pose, twist, out):
    """Fill out (n, 6) = [w_WB, v_WBcm], world axes, from pose and twist as `kinematics` fills them."""
    for i in range(model.tree.shape[0]):
        w, c = row3(twist, i, 0), turn(rotation(row4(pose, i, 0)), row3(model.body, i, COM))
        put3(out, i, 0, w)
        put3(out, i, 3, add(row3(twist, i, 3), cross(w, c)))


@routine
def keep_momenta(model, q, before, work, pose, twist, jacobian, M, L, p, change, u):
    """u (nv,), any velocities, becomes what the twists `before` (n, 6: [w_WB, v_WBcm]) turn into by a plastic impact.

    jacobian (6, nv), M, L (nv, nv), p, change (nv,): scratch.
    """
    mass_matrix(model, q, work, M)
    for _ in range(REFINEMENTS):
        kinematics(model, q, u, work, pose, twist)
        for j in range(p.shape[0]):
            p[j] = 0.0
        for i in range(model.tree.shape[0]):
            turning, pushing = lost_momentum(model, i, before, pose, twist)
            point_jacobian(model, q, i, row3(model.body, i, COM), work, jacobian)
            for j in range(p.shape[0]):
                w, v = (
                    (jacobian[0, j], jacobian[1, j], jacobian[2, j]),
                    (jacobian[3, j], jacobian[4, j], jacobian[5, j]),
                )
                p[j] += dot(w, turning) + dot(v, pushing)
        solve_symmetric(M, p, L, change)
        for j in range(p.shape[0]):
            u[j] += change[j]


@kernel
def lost_momentum(model, i, before, pose, twist):
    """What body i has lost of its spin [N·m·s] and of its linear momentum [kg·m/s] since `before`, world axes."""
    _, I_W = inertia_in_world(model, i, rotation(row4(pose, i, 0)))
    _, v, _ = com_state(model, pose, twist, i)
    spin = sym_mul(I_W, sub(row3(before, i, 0), row3(twist, i, 0)))
    return spin, scale(model.body[i, MASS], sub(row3(before, i, 3), v))


@routine
def carnot(model, before, pose, twist):
    """½ Σ m |Δv|² + Δω·I Δω [J]: the kinetic energy of the velocities lost since `before`."""
    energy = 0.0
    for i in range(model.tree.shape[0]):
        turning, pushing = lost_momentum(model, i, before, pose, twist)
        _, v, _ = com_state(model, pose, twist, i)
        energy += 0.5 * dot(sub(row3(before, i, 0), row3(twist, i, 0)), turning)
        energy += 0.5 * dot(sub(row3(before, i, 3), v), pushing)
    return energy
