"""Maximal coordinates: accelerations of all bodies against the recursion, against the dense system, and bad input."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st
from robots import random_robot
from trees import EPS, frozen

import rbt_ros as rbt
from rbt_ros.core import types as t
from rbt_ros.core.constraints import LAMBDA
from rbt_ros.core.dynamics import derivative
from rbt_ros.core.kinematics import accelerations, kinematics
from rbt_ros.core.lagrange import lagrange
from rbt_ros.core.maximal import hinge_state, maximal, maximal_derivative
from rbt_ros.core.types import COM, GRAVITY, KIND, Input, JointKind, Q
from rbt_ros.core.vec import rotation
from rbt_ros.core.work import workspace
from rbt_ros.model.maximal import floating_state, floating_twin

relaxed = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))
KINDS = ("revolute", "spherical", "free", "fixed")


class Pair:
    """A random tree with springs, friction, efforts and gravity, and its twin, in the same state."""

    def __init__(self, seed, n):
        rng = np.random.default_rng(seed)
        robot = random_robot(rng, n, KINDS)
        world = np.zeros(t.WORLD_COLUMNS)
        world[GRAVITY : GRAVITY + 3] = rng.uniform(-10, 10, 3)
        self.tree = frozen(robot.model._replace(world=world))
        self.twin = floating_twin(robot)
        self.free = frozen(self.twin.model._replace(world=world))
        self.q, self.v = rng.uniform(-3, 3, robot.coordinates), rng.uniform(-2, 2, robot.freedoms)
        for kind, k in self.tree.tree[:, [KIND, Q]]:
            if kind in (JointKind.SPHERICAL, JointKind.FREE):
                self.q[k : k + 4] /= np.linalg.norm(self.q[k : k + 4])
        self.input = Input(rng.uniform(-3, 3, len(self.v)), np.zeros((0, t.LOAD_COLUMNS)))
        self.y = floating_state(self.tree, self.q, self.v)
        self.system = maximal(self.tree, self.free, self.twin.rows, self.input)

    def tree_accelerations(self):
        """[ẇ_WB_B, a_C] of all bodies, of the tree."""
        n, y = len(self.tree.tree), np.concatenate([self.q, self.v])
        ydot, accel, pose, twist = np.zeros(len(y)), np.zeros((n, 6)), np.zeros((n, 7)), np.zeros((n, 6))
        derivative(self.tree, y, self.input, 0, 0.0, workspace(self.tree), ydot)
        accelerations(self.tree, self.q, self.v, ydot[len(self.q) :], workspace(self.tree), accel)
        kinematics(self.tree, self.q, self.v, workspace(self.tree), pose, twist)
        found = np.zeros((n, 6))
        for i in range(n):
            R, w, wdot = np.array(rotation(tuple(pose[i, :4]))), twist[i, :3], accel[i, :3]
            c = R @ self.tree.body[i, COM : COM + 3]
            found[i] = *(R.T @ wdot), *(accel[i, 3:] + np.cross(wdot, c) + np.cross(w, np.cross(w, c)))
        return found


def massive(seed, n):
    """A pair of which every body has mass: a mere frame cannot float."""
    robot = random_robot(np.random.default_rng(seed), n, KINDS)
    return Pair(seed, n) if all(body.mass > 0 for body in robot.bodies) and floating_twin(robot).rows else None


@settings(relaxed, max_examples=120)
@given(st.integers(0, 2**32 - 1), st.integers(2, 6))
def test_bodies_that_float_accelerate_as_those_of_the_tree(seed, n):
    """Nothing but rows of hinges and what acts along them in common: k eps cond(G M⁻¹ Gᵀ) of the largest acceleration
    that hinges have to undo; a search for the largest k finds 3. Angles come back, turns by 2π apart."""
    pair = massive(seed, n)
    if pair is None:
        return
    ydot = np.zeros(len(pair.y))
    maximal_derivative(pair.system, pair.y, pair.input, 0, 0.0, ydot)
    found, exact = ydot[7 * n :].reshape(n, 6), pair.tree_accelerations()
    A, undone = pair.system.bond.A, np.abs(pair.system.bond.W.T) @ np.abs(pair.system.bond.column[LAMBDA])
    size = 1 / np.sqrt(np.diag(A))
    k = np.abs(found - exact).max() / (EPS * np.linalg.cond(A * np.outer(size, size)) * (undone.max() + 1))
    target(k, label="k")
    assert k <= 50
    q, v = np.zeros(len(pair.q)), np.zeros(len(pair.v))
    hinge_state(pair.tree, pair.y, q, v)
    assert v == pytest.approx(pair.v, abs=200 * EPS)
    for kind, k in pair.tree.tree[:, [KIND, Q]]:
        if kind == JointKind.REVOLUTE:
            assert np.cos(q[k] - pair.q[k]) == pytest.approx(1, abs=20 * EPS)


def test_elimination_gives_what_the_dense_system_gives():
    """The five bodies at their start, 21 conditions: M, G in full by `lagrange`, 1e-11 of the largest acceleration."""
    scenario = rbt.load("five_body")
    state, world = scenario.simulation().state, np.zeros(t.WORLD_COLUMNS)
    world[GRAVITY : GRAVITY + 3] = scenario.gravity
    tree, twin = frozen(scenario.robot.model._replace(world=world)), floating_twin(scenario.robot)
    free, nothing = frozen(twin.model._replace(world=world)), Input(np.zeros(9), np.zeros((0, t.LOAD_COLUMNS)))
    v = np.random.default_rng(1).uniform(-1, 1, 9)
    y, ydot = floating_state(tree, state.q, v), np.zeros(65)
    maximal_derivative(maximal(tree, free, twin.rows, nothing), y, nothing, 0, 0.0, ydot)
    vdot, multipliers = lagrange(free, y[:35], y[35:], np.zeros(30), twin.rows)
    assert len(multipliers) == 21
    assert ydot[35:] == pytest.approx(vdot, abs=1e-11 * np.abs(vdot).max())


def test_hinges_that_slide_are_refused_by_name():
    b = rbt.RobotBuilder("lift")
    b.body("cage", mass=1.0, inertia=(1, 1, 1))
    b.hinge("rail", "prismatic", parent="world", child="cage")
    with pytest.raises(
        rbt.ModelError, match="hinge 'rail' is prismatic; maximal coordinates take fixed, revolute, sph"
    ):
        floating_twin(b.build())
