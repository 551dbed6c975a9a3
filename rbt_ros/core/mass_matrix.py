"""The mass matrix M(q) by composite bodies.

Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 6: row j is what every hinge must supply when freedom j alone
accelerates, at rest and without gravity; only what hangs on freedom j, rigid in itself, then moves.
"""

from rbt_ros.core.articulated import hand_to_parent, weigh
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import twist
from rbt_ros.core.kinematics import inertia_in_world, settle, unfold
from rbt_ros.core.newton_euler import hinge_efforts
from rbt_ros.core.types import KIND, MASS, NV, PARENT, JointKind, V
from rbt_ros.core.vec import add, cross, put3, row3, row6, row9, sym_mul, turn, turn_back
from rbt_ros.core.work import ARM, AXIS_W, FORCE, HH, II, MM, MOMENT, ROT


@routine
def mass_matrix(model, q, work, M):
    """Fill M (nv, nv) at q."""
    n = model.tree.shape[0]
    M[:, :] = 0.0
    unfold(model, q, work)
    for i in range(n):
        settle(model, i, work)
        c, I_W = inertia_in_world(model, i, row9(work.bodies, i, ROT))
        weigh(i, model.body[i, MASS], c, I_W, work.bodies)
    # inward: each body takes in all that hangs on it; the columns of its hinge
    zero = (0.0, 0.0, 0.0)
    for i in range(n - 1, -1, -1):
        I, H, Mi = row6(work.bodies, i, II), row9(work.bodies, i, HH), row6(work.bodies, i, MM)
        for k in range(NV[model.tree[i, KIND]]):
            wdot, a = freedom_acceleration(model, i, k, work)
            put3(work.bodies, i, MOMENT, add(sym_mul(I, wdot), turn(H, a)))
            put3(work.bodies, i, FORCE, add(turn_back(H, wdot), sym_mul(Mi, a)))
            carry_row(model, i, model.tree[i, V] + k, work, M)
        hand_to_parent(model, i, work, I, H, Mi, zero, zero)
    for i in range(M.shape[0]):
        for j in range(i):
            M[j, i] = M[i, j]


@kernel
def freedom_acceleration(model, i, k, work):
    """(ẇ, a) of body i when freedom k of its hinge alone has v̇ = 1."""
    kind, j, zero = model.tree[i, KIND], model.tree[i, V], (0.0, 0.0, 0.0)
    if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
        c = k % 3
        e = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
        if k >= 3:
            return zero, e
        return turn(row9(work.bodies, i, ROT), e), zero
    return twist(model, j + k, work.freedoms, AXIS_W)


@kernel
def carry_row(model, i, row, work, M):
    """Write the efforts that hold the wrench of row i in all hinges from body i to the world into a row of M."""
    hinge_efforts(model, i, work, M[row])
    b = i
    while model.tree[b, PARENT] >= 0:
        p = model.tree[b, PARENT]
        n, f = row3(work.bodies, b, MOMENT), row3(work.bodies, b, FORCE)
        put3(work.bodies, p, MOMENT, add(n, cross(row3(work.bodies, b, ARM), f)))
        put3(work.bodies, p, FORCE, f)
        hinge_efforts(model, p, work, M[row])
        b = p
