"""Hinge wrenches against Newton and Euler's equations of every single body, and against what drives every freedom."""

import numpy as np
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st
from trees import EPS, no_input, random_constraints, random_state, random_tree

from rbt_ros.core import constraints as c
from rbt_ros.core.constrained import constrained_derivative
from rbt_ros.core.kinematics import accelerations, kinematics, point_jacobian
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.reactions import hinge_wrenches
from rbt_ros.core.types import COM, GRAVITY, INERTIA, KIND, MASS, NV, PARENT, V
from rbt_ros.core.vec import rotation, sym_rows
from rbt_ros.core.work import workspace

relaxed = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


class Tree:
    """A random tree of all kinds of hinges under gravity, efforts and m constraints, and what its hinges transmit."""

    def __init__(self, seed, n, m):
        rng = np.random.default_rng(seed)
        self.model = model = random_tree(rng, n, gravity=rng.uniform(-10, 10, 3))
        self.q, self.v = random_state(rng, model, speed=2.0)
        self.input = no_input(model)._replace(tau=rng.uniform(-5, 5, len(self.v)))
        self.rows = random_constraints(rng, model, m)
        y, work, self.bond = np.concatenate([self.q, self.v]), workspace(model), c.bonds(model, self.rows)
        ydot, self.wrench = np.zeros(len(y)), np.zeros((n, 6))
        constrained_derivative(model, y, self.input, 0, 0.0, self.rows, work, self.bond, ydot)
        self.pull, self.vdot = self.bond.column[c.LAMBDA][:, None] * self.bond.direction, ydot[len(self.q) :]
        state = self.q, self.v, self.vdot, self.input
        hinge_wrenches(model, *state, 0, self.rows.row, self.pull, work, self.wrench)
        self.pose, twist, accel = np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 6))
        kinematics(model, self.q, self.v, work, self.pose, twist)
        accelerations(model, *state[:3], work, accel)
        self.R, self.p = np.array([np.array(rotation(tuple(q))) for q in self.pose[:, :4]]), self.pose[:, 4:]
        self.w, self.wdot, self.a = twist[:, :3], accel[:, :3], accel[:, 3:]

    def point(self, i, p):
        """A point of a body, or of the world."""
        return self.p[i] + self.R[i] @ p if i >= 0 else p

    def left_over(self, i):
        """m a_C less all forces on body i, I ẇ + ω × I ω less all moments about its CoM; and the size of the terms."""
        model, com = self.model, self.R[i] @ self.model.body[i, COM : COM + 3]
        m, I_B = model.body[i, MASS], np.array(sym_rows(tuple(model.body[i, INERTIA : INERTIA + 6])))
        I, w, wdot = self.R[i] @ I_B @ self.R[i].T, self.w[i], self.wdot[i]
        a_C = self.a[i] + np.cross(wdot, com) + np.cross(w, np.cross(w, com))
        moment, force = [-I @ wdot, -np.cross(w, I @ w)], [-m * a_C, m * model.world[GRAVITY : GRAVITY + 3]]
        acts = [(self.p[i], 1.0, self.wrench[i])]
        acts += [(self.p[k], -1.0, self.wrench[k]) for k in np.flatnonzero(model.tree[:, PARENT] == i)]
        for row, pull in zip(self.rows.row, self.pull, strict=True):
            A, B = row[[c.BODY_A, c.BODY_B]].astype(int)
            at = self.point(B, row[c.POINT_B : c.POINT_B + 3])
            acts += [(at, float(body == i) * sign, pull) for body, sign in ((B, 1.0), (A, -1.0))]
        for at, sign, (*n, x, y, z) in acts:
            f = np.array([x, y, z])
            force.append(sign * f)
            moment.append(sign * (np.array(n) + np.cross(at - self.p[i] - com, f)))
        left = np.concatenate([sum(moment), sum(force)])
        return np.abs(left).max(), np.abs(np.array(moment + force)).max()

    def along_freedoms(self, i):
        """What the wrench through hinge i does along its freedoms, less what drives them."""
        J, at = np.zeros((6, len(self.v))), slice(self.model.tree[i, V], None)
        point_jacobian(self.model, self.q, i, (0.0, 0.0, 0.0), workspace(self.model), J)
        at = slice(at.start, at.start + NV[self.model.tree[i, KIND]])
        driven = self.input.tau.copy()
        for row, value in zip(self.rows.row, self.bond.column[c.LAMBDA], strict=True):
            if row[c.LAW] == c.COUPLING:
                for k in range(int(row[c.FIRST]), int(row[c.FIRST] + row[c.COUNT])):
                    driven[int(self.rows.term[k, c.TERM_V])] += value * self.rows.term[k, c.FACTOR]
        return J[:, at].T @ self.wrench[i] - driven[at]

    def unit(self):
        """eps times the condition of what v̇ was divided by (M, and A = G M⁻¹ Gᵀ in the scale of its diagonal) and the
        largest term of any balance."""
        M, A = np.zeros((len(self.v),) * 2), self.bond.A
        mass_matrix(self.model, self.q, workspace(self.model), M)
        says = np.flatnonzero(np.diag(A))
        size = 1 / np.sqrt(np.diag(A)[says])
        scaled = A[np.ix_(says, says)] * np.outer(size, size)
        cond = np.prod([np.linalg.cond(matrix) for matrix in (M, scaled) if len(matrix)])
        return EPS * cond * max(self.left_over(i)[1] for i in range(len(self.p)))


@settings(relaxed, max_examples=150)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 4))
def test_every_body_is_in_balance_to_round_off(seed, n, m):
    """Inertia, gravity, constraints, its own hinge and those of its children; floating or not. A search for the largest
    k finds 1."""
    tree = Tree(seed, n, m)
    k = max(tree.left_over(i)[0] for i in range(n)) / tree.unit()
    target(k, label="k")
    assert k <= 20


@settings(relaxed, max_examples=150)
@given(st.integers(0, 2**32 - 1), st.integers(1, 8), st.integers(1, 4))
def test_along_its_freedoms_a_hinge_transmits_what_drives_them(seed, n, m):
    """Efforts and couplings, and nothing else; a search for the largest k finds 1."""
    tree = Tree(seed, n, m)
    k = max(np.abs(tree.along_freedoms(i)).max(initial=0.0) for i in range(n)) / tree.unit()
    target(k, label="k")
    assert k <= 20
