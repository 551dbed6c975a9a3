"""What hinges transmit: the wrench of the parent on the child through every hinge of a tree.

By Newton and Euler, from the accelerations that the equations of motion have given: the hinge of body i supplies what
all that hangs on it needs (m a, I ẇ + ω × I ω) less what else acts there (gravity, attraction, loads, the pull of
closures and ropes). That is all six components: what the hinge constrains, and what acts along its freedoms (effort,
spring, damper, friction, stop, coupling, prescribed motion), which are all exerted by the parent on the child.

Nothing here is called by a step.
"""

from rbt_ros.core.articulated import row3_efforts
from rbt_ros.core.constraints import BODY_A, BODY_B, COMMON, POINT_B, from_common
from rbt_ros.core.forces import body_forces, efforts, take_off
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.newton_euler import body_wrenches, carry_to_parent
from rbt_ros.core.types import KIND, JointKind, V
from rbt_ros.core.vec import add, cross, put3, row3, row9, scale, sub, turn
from rbt_ros.core.work import FORCE, MOMENT, ROT


@routine
def hinge_wrenches(model, q, v, vdot, input, t_ns, row, pull, work, wrench):
    """Fill wrench (n, 6): moment [N·m] about the engine's origin of body i and force [N] through its hinge, world axes.

    v̇: as it is at q, v, t_ns under `input` and all constraints. row: those of Constraints; pull (m, 6): moment and
    force of each on its body B, at its point.
    """
    body_wrenches(model, q, v, vdot, work)
    body_forces(model, v, input, t_ns, 0.0, work)
    for r in range(row.shape[0]):
        take_off_pull(model, row, r, row3(pull, r, 0), row3(pull, r, 3), work)
    efforts(model, q, v, input, t_ns, 0.0, work)
    # inward: each hinge carries all that hangs on it
    for i in range(model.tree.shape[0] - 1, -1, -1):
        kind, j = model.tree[i, KIND], model.tree[i, V]
        n, f = row3(work.bodies, i, MOMENT), row3(work.bodies, i, FORCE)
        # where nothing is constrained, only efforts act: no round-off in place of zero
        if kind == JointKind.SPHERICAL or kind == JointKind.FREE:
            n = turn(row9(work.bodies, i, ROT), row3_efforts(work, j))
        if kind == JointKind.FREE:
            f = row3_efforts(work, j + 3)
        put3(wrench, i, 0, n)
        put3(wrench, i, 3, f)
        carry_to_parent(model, i, work)


@kernel
def take_off_pull(model, row, r, n, f, work):
    """What row r of the constraints does: (n, f) on body B at its point, the opposite on body A in the same point."""
    A, B, common = int(row[r, BODY_A]), int(row[r, BODY_B]), int(row[r, COMMON])
    p_BB = turn(row9(work.bodies, B, ROT), row3(row, r, POINT_B))
    arm = sub(from_common(model, B, common, p_BB, work), from_common(model, A, common, (0.0, 0.0, 0.0), work))
    take_off(B, work, add(n, cross(p_BB, f)), f)
    take_off(A, work, scale(-1.0, add(n, cross(arm, f))), scale(-1.0, f))
