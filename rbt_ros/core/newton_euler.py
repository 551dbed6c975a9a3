"""Inverse dynamics by Newton and Euler.

Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 5, with classical accelerations in world axes.
"""

from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import twist
from rbt_ros.core.kinematics import accelerate, inertia_in_world, move, settle, start_at_the_world, unfold
from rbt_ros.core.types import KIND, MASS, NV, PARENT, JointKind, V
from rbt_ros.core.vec import add, cross, dot, put3, row3, row9, scale, sym_mul, turn_back
from rbt_ros.core.work import (
    ACC,
    ACC_V,
    ARM,
    AXIS_W,
    FORCE,
    MOMENT,
    ROT,
    SPIN,
    SPIN_DOT,
    SPIN_DOT_V,
)


@kernel
def newton_euler(m, c, I_Bcm, w, wdot, a):
    """Moment about B and force [N·m, N] that body B needs: f = m a_C, n = I ẇ + ω × I ω + c × f, with C the CoM at c
    from B, a the acceleration of B; everything in one set of axes."""
    f = newton(m, c, w, wdot, a)
    n = add(sym_mul(I_Bcm, wdot), cross(w, sym_mul(I_Bcm, w)))
    return add(n, cross(c, f)), f


@kernel
def newton(m, c, w, wdot, a):
    """m a_C [N]."""
    return scale(m, add(a, add(cross(wdot, c), cross(w, cross(w, c)))))


@routine
def inverse_dynamics(model, q, v, vdot, work, tau):
    """Fill tau (nv,): the efforts that give v̇ against inertia and uniform gravity (no loads, springs, friction).

    Where other forces act they belong to the efforts that are there already: `forces.py`.
    """
    body_wrenches(model, q, v, vdot, work)
    # inward: each hinge carries all that hangs on it
    for i in range(model.tree.shape[0] - 1, -1, -1):
        hinge_efforts(model, i, work, tau)
        carry_to_parent(model, i, work)


@kernel
def body_wrenches(model, q, v, vdot, work):
    """Outward: motion of every body, then the wrench that it needs, about its origin, in the columns MOMENT, FORCE."""
    start_at_the_world(model, work)
    unfold(model, q, work)
    for i in range(model.tree.shape[0]):
        settle(model, i, work)
        move(model, i, v, work)
        accelerate(model, i, vdot, work)
        wdot = add(row3(work.bodies, i, SPIN_DOT), row3(work.bodies, i, SPIN_DOT_V))
        a = add(row3(work.bodies, i, ACC), row3(work.bodies, i, ACC_V))
        c, I_W = inertia_in_world(model, i, row9(work.bodies, i, ROT))
        n_B, f = newton_euler(model.body[i, MASS], c, I_W, row3(work.bodies, i, SPIN), wdot, a)
        put3(work.bodies, i, MOMENT, n_B)
        put3(work.bodies, i, FORCE, f)


@kernel
def carry_to_parent(model, i, work):
    """Add the wrench that body i needs, with all that hangs on it, to that of its parent, about the parent's origin."""
    p, f = model.tree[i, PARENT], row3(work.bodies, i, FORCE)
    n_P = add(row3(work.bodies, i, MOMENT), cross(row3(work.bodies, i, ARM), f))
    put3(work.bodies, p, MOMENT, add(row3(work.bodies, p, MOMENT), n_P))
    put3(work.bodies, p, FORCE, add(row3(work.bodies, p, FORCE), f))


@kernel
def hinge_efforts(model, i, work, tau):
    """Write the part of the wrench through hinge i that its freedoms must supply into tau."""
    kind, j = model.tree[i, KIND], model.tree[i, V]
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
        tau[j], tau[j + 1], tau[j + 2] = turn_back(row9(work.bodies, i, ROT), n)
        if kind == JointKind.FREE:
            tau[j + 3], tau[j + 4], tau[j + 5] = f
    else:
        for k in range(NV[kind]):
            w, v = twist(model, j + k, work.freedoms, AXIS_W)
            tau[j + k] = dot(w, n) + dot(v, f)
