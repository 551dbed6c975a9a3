"""The world has no preferred direction, and bodies no preferred order."""

import numpy as np
import pytest
from trees import EPS, frozen, model_of, no_input, random_state, random_tree, unit

from rbt_ros.core import types as t
from rbt_ros.core.integrate import DOP853, advance
from rbt_ros.core.kinematics import kinematics
from rbt_ros.core.types import NQ, NV, JointKind
from rbt_ros.core.vec import qmul, qturn
from rbt_ros.core.work import model_size, workspace

TICKS = 200


def poses_after(model, y):
    """Pose and twist of every body after TICKS ms."""
    y, work, n = y.copy(), workspace(model), len(model.tree)
    assert advance(model, y, no_input(model), 0, 1_000_000, TICKS, DOP853, work).code == t.OK
    nq, nv = model_size(model)
    pose, twist = np.zeros((n, 7)), np.zeros((n, 6))
    kinematics(model, y[:nq], y[nq : nq + nv], work, pose, twist)
    return pose, twist


def same(a, b):
    """Round-off of TICKS steps, grown by the motion's own divergence (measured: up to 300 eps)."""
    return b == pytest.approx(a, rel=0, abs=10_000 * EPS * (1 + np.abs(a).max()))


@pytest.mark.parametrize("seed", range(8))
def test_turning_the_world_turns_the_motion(seed):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5, gravity=(1.0, 2.0, -9.0))
    q, v = random_state(rng, model)
    s = tuple(unit(rng, 4))
    world, body, q_turned, v_turned = model.world.copy(), model.body.copy(), q.copy(), v.copy()
    world[t.GRAVITY : t.GRAVITY + 3] = qturn(s, tuple(world[t.GRAVITY : t.GRAVITY + 3]))
    for i, (parent, kind, k, j) in enumerate(model.tree):
        if parent >= 0:
            continue
        if kind == JointKind.FREE:
            q_turned[k : k + 4] = qmul(s, tuple(q[k : k + 4]))
            q_turned[k + 4 : k + 7] = qturn(s, tuple(q[k + 4 : k + 7]))
            v_turned[j + 3 : j + 6] = qturn(s, tuple(v[j + 3 : j + 6]))
        body[i, t.POINT : t.POINT + 3] = qturn(s, tuple(body[i, t.POINT : t.POINT + 3]))
        body[i, t.TURN : t.TURN + 4] = qmul(s, tuple(body[i, t.TURN : t.TURN + 4]))
    turned = frozen(model._replace(world=world, body=body))
    pose, twist = poses_after(model, np.concatenate([q, v]))
    pose_t, twist_t = poses_after(turned, np.concatenate([q_turned, v_turned]))
    for i in range(5):
        expected = np.array(qmul(s, tuple(pose[i, :4])))
        assert same(expected, pose_t[i, :4] * np.sign(expected @ pose_t[i, :4]))
        assert same(np.array(qturn(s, tuple(pose[i, 4:]))), pose_t[i, 4:])
        assert same(np.array(qturn(s, tuple(twist[i, 3:]))), twist_t[i, 3:])


@pytest.mark.parametrize("seed", range(8))
def test_renumbering_the_bodies_changes_nothing(seed):
    """Another order in which parents still come first."""
    rng = np.random.default_rng(100 + seed)
    model = random_tree(rng, 6, gravity=(0, 0, -9.81))
    q, v = random_state(rng, model)
    order, left = [], list(range(6))
    while left:
        ready = [i for i in left if model.tree[i, t.PARENT] in (-1, *order)]
        order.append(ready[rng.integers(len(ready))])
        left.remove(order[-1])
    place = {old: new for new, old in enumerate(order)} | {-1: -1}
    hinges = [(place[model.tree[i, t.PARENT]], model.tree[i, t.KIND]) for i in order]
    other = model_of(hinges, [model.body[i] for i in order], (0, 0, -9.81))
    parts = [(model.tree[i, t.Q], model.tree[i, t.V], model.tree[i, t.KIND]) for i in order]
    y = np.concatenate([*(q[k : k + NQ[kind]] for k, _, kind in parts), *(v[j : j + NV[kind]] for _, j, kind in parts)])
    pose, twist = poses_after(model, np.concatenate([q, v]))
    pose_o, twist_o = poses_after(other, y)
    assert same(pose[order], pose_o) and same(twist[order], twist_o)
