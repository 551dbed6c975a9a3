"""The equations of motion of a tree under its inputs: q̇, v̇."""

from rbt_ros.core.articulated import set_out, solve_tree
from rbt_ros.core.forces import account, body_forces, efforts, inner_friction
from rbt_ros.core.jit import kernel
from rbt_ros.core.joints import rates
from rbt_ros.core.types import KIND, NQ, SINK_FLOOR, Q


@kernel
def coordinates(model):
    """nq: how many coordinates the model has."""
    last = model.tree.shape[0] - 1
    return model.tree[last, Q] + NQ[model.tree[last, KIND]]


@kernel
def derivative(model, y, input, t_ns, s, work, ydot):
    """Fill ydot = [q̇, v̇] at y = [q, v], s [s] after t_ns: forward dynamics under `input`.

    If y has more elements, they are the account of what has acted: see `forces.account`.
    """
    nq, nv = coordinates(model), model.freedom.shape[0]
    q, v, vdot = y[:nq], y[nq : nq + nv], ydot[nq : nq + nv]
    rates(model, q, v, ydot)
    set_out(model, q, v, work)
    efforts(model, q, v, input, t_ns, s, work)
    body_forces(model, v, input, t_ns, s, work)
    if y.shape[0] > nq + nv:
        account(model, q, v, input, t_ns, s, work, ydot[nq + nv :])
    solve_tree(model, v, work, vdot)
    if model.world[SINK_FLOOR] > 0.0:
        taken = inner_friction(model, q, v, ydot)
        if y.shape[0] > nq + nv:
            ydot[nq + nv + 1] += taken
