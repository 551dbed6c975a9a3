"""M⁻¹ τ without M, O(n): how a tree answers efforts, from the articulated inertias that an evaluation has left behind.

The second half of `articulated.py` once more, at rest and without any other force: the inertias are eliminated already,
so only wrenches go inward, and accelerations come outward.
"""

from rbt_ros.core.articulated import answer, row3_efforts, solve_free
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.joints import twist
from rbt_ros.core.types import KIND, NV, PARENT, JointKind, V
from rbt_ros.core.vec import add, cross, dot, lower_solve, put3, row3, row9, scale, sub, times, turn, turn_back
from rbt_ros.core.work import ARM, AXIS_W, D_INV, EFFORT, FORCE, HH, II, MOMENT, REST_EFFORT, ROT, UF, UN


@routine
def respond(model, tau, still, work, vdot):
    """Fill vdot (nv,) with M⁻¹ tau after an evaluation at the same q. still: zeros (nv,), the velocities at rest.

    Overwrites the efforts, bias wrenches and accelerations of that evaluation; its inertias stay.
    """
    n, zero = model.tree.shape[0], (0.0, 0.0, 0.0)
    for j in range(tau.shape[0]):
        work.freedoms[j, EFFORT] = tau[j]
    for i in range(n):
        put3(work.bodies, i, MOMENT, zero)
        put3(work.bodies, i, FORCE, zero)
    # inward: what the efforts of each hinge ask of the body below
    for i in range(n - 1, -1, -1):
        kind = model.tree[i, KIND]
        if kind == JointKind.SPHERICAL:
            pass_ball(model, i, work)
        elif kind == JointKind.FREE:
            solve_free(model, i, still, work, vdot)
        else:
            pass_axes(model, i, work)
    # outward
    for i in range(n):
        if model.tree[i, KIND] != JointKind.FREE:
            answer(model, i, work, vdot)


@kernel
def pass_axes(model, i, work):
    """`articulated.eliminate_axes` for the bias alone: it gains U (τ - e·bias) / D at each freedom."""
    kind, j = model.tree[i, KIND], model.tree[i, V]
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    for k in range(NV[kind] - 1, -1, -1):
        w, v = twist(model, j + k, work.freedoms, AXIS_W)
        rest = work.freedoms[j + k, EFFORT] - (dot(w, n) + dot(v, f))
        share = work.freedoms[j + k, D_INV] * rest
        n = add(n, scale(share, row3(work.freedoms, j + k, UN)))
        f = add(f, scale(share, row3(work.freedoms, j + k, UF)))
        work.freedoms[j + k, REST_EFFORT] = rest
    wrench_to_parent(model, i, work, n, f)


@kernel
def pass_ball(model, i, work):
    """`articulated.eliminate_ball` for the bias alone: s = L⁻¹ (τ - n) and f + hᵀ D⁻¹ s."""
    n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
    tau = turn(row9(work.bodies, i, ROT), row3_efforts(work, model.tree[i, V]))
    D_inv, L = row3(work.bodies, i, II), row3(work.bodies, i, II + 3)
    s = lower_solve(L, sub(tau, n))
    put3(work.bodies, i, MOMENT, s)
    wrench_to_parent(model, i, work, tau, add(f, turn_back(row9(work.bodies, i, HH), times(D_inv, s))))


@kernel
def wrench_to_parent(model, i, work, n, f):
    """Add the wrench at body i's origin to the parent's, at its own."""
    if model.tree[i, PARENT] < 0:
        return
    p, r = model.tree[i, PARENT], row3(work.bodies, i, ARM)
    put3(work.bodies, p, MOMENT, add(row3(work.bodies, p, MOMENT), add(n, cross(r, f))))
    put3(work.bodies, p, FORCE, add(row3(work.bodies, p, FORCE), f))
