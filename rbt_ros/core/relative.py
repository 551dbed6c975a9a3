"""Where each body is as its parent sees it."""

from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.types import PARENT
from rbt_ros.core.vec import put3, qconj, qmul, rotation, row3, row4, sub, turn_back


@kernel
def seen_from(q_WP, p_WP, q_WB, p_WB):
    """q_PB, p_PB_P."""
    return qmul(qconj(q_WP), q_WB), turn_back(rotation(q_WP), sub(p_WB, p_WP))


@routine
def relative_poses(tree, pose, out):
    """Fill out (n, 7) with [q_PB, p_PB_P] of all bodies from pose = [q_WB, p_WB]; those on the world have P = W."""
    for i in range(tree.shape[0]):
        parent = tree[i, PARENT]
        q, p = row4(pose, i, 0), row3(pose, i, 4)
        if parent >= 0:
            q, p = seen_from(row4(pose, parent, 0), row3(pose, parent, 4), q, p)
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = q
        put3(out, i, 4, p)
