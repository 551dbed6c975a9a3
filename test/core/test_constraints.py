"""Constraints: rows against differences, multipliers against the full system, momentum, redundancy, order."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st
from trees import (
    EPS,
    body_row,
    closure_row,
    constraints_of,
    model_of,
    no_input,
    random_constraints,
    random_state,
    random_tree,
)

from rbt_ros.core import constraints as c
from rbt_ros.core import integrate
from rbt_ros.core import types as t
from rbt_ros.core.constrained import Constrained, constrained_derivative, put_back
from rbt_ros.core.dynamics import derivative
from rbt_ros.core.invariants import angular_momentum, kinetic_energy, linear_momentum
from rbt_ros.core.joints import step_on_manifold
from rbt_ros.core.kinematics import kinematics, spins
from rbt_ros.core.lagrange import lagrange
from rbt_ros.core.linear import semidefinite_factors, semidefinite_solve
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.prescribed import signal_motion
from rbt_ros.core.response import respond
from rbt_ros.core.signals import CUBIC, polynomial, sines, table
from rbt_ros.core.types import JointKind
from rbt_ros.core.work import model_size, workspace

SEEDS = st.integers(0, 2**32 - 1)
relaxed = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def moving_tree(seed, n, without=()):
    """A random tree that can move, with a state."""
    rng = np.random.default_rng(seed)
    kinds = [kind for kind in JointKind if kind not in (JointKind.FIXED, *without)]
    model = random_tree(rng, n, kinds, gravity=rng.uniform(-10, 10, 3))
    return rng, model, *random_state(rng, model, speed=2.0)


def matrix(model, q):
    M = np.zeros((model.freedom.shape[0],) * 2)
    mass_matrix(model, q, workspace(model), M)
    return M


@settings(relaxed, max_examples=100)
@given(SEEDS, st.integers(1, 8))
def test_response_is_the_inverse_of_the_mass_matrix(seed, n):
    """M⁻¹ τ of the O(n) pass against LU: <= 20 eps cond(M); 0.8 measured."""
    rng, model, q, v = moving_tree(seed, n)
    work, found = workspace(model), np.zeros(len(v))
    derivative(model, np.concatenate([q, v]), no_input(model), 0, 0.0, work, np.zeros(len(q) + len(v)))
    tau, M = rng.normal(size=len(v)), matrix(model, q)
    respond(model, tau, np.zeros(len(v)), work, found)
    exact = np.linalg.solve(M, tau)
    assert np.linalg.norm(found - exact) <= 20 * EPS * np.linalg.cond(M) * np.linalg.norm(exact)


@settings(relaxed, max_examples=60)
@given(SEEDS, st.integers(2, 7))
def test_rates_of_the_conditions_are_their_derivatives(seed, n):
    """φ̇ and φ̈ along q̇ = v, v̇ constant, against central differences of φ and φ̇: error O(h²)."""
    rng, model, q, v = moving_tree(seed, n)
    rows = random_constraints(rng, model, 4)
    work, bond = workspace(model), c.bonds(model, rows)
    ydot = np.zeros(len(q) + len(v))

    def fill(q, v):
        derivative(model, np.concatenate([q, v]), no_input(model), 0, 0.0, work, ydot)
        c.fill_rows(model, rows, q, v, ydot[len(q) :], 0, 0.0, work, bond)
        return bond.column[[c.PHI, c.PHI_DOT, c.PHI_DDOT]].copy()

    at, vdot, h = fill(q, v), None, 1e-4
    vdot = ydot[len(q) :].copy()

    def along(h):
        moved = q.copy()
        step_on_manifold(model, q, v + 0.5 * h * vdot, h, moved)
        return fill(moved, v + h * vdot)

    slope = (along(h) - along(-h)) / (2 * h)
    scale = 1.0 + np.abs(vdot).max() ** 2 + np.abs(at).max()
    assert np.abs(slope[:2] - at[1:]).max() <= 10 * h * h * scale**1.5


@settings(relaxed, max_examples=300)
@given(SEEDS, st.integers(2, 8), st.integers(1, 4))
def test_multipliers_agree_with_the_full_system(seed, n, m):
    """v̇ by O(n) responses against [M -Gᵀ; G 0] in full, whether φ and φ̇ are zero or not.

    Both divide by M and by G M⁻¹ Gᵀ: k eps times both conditions times the largest term; a search for the largest k
    finds 75. No screws: what their turn and slide do along a row may cancel, which neither condition knows.
    """
    rng, model, q, v = moving_tree(seed, n, [JointKind.SCREW])
    rows = random_constraints(rng, model, m)
    work, bond, ydot = workspace(model), c.bonds(model, rows), np.zeros(len(q) + len(v))
    rank = constrained_derivative(model, np.concatenate([q, v]), no_input(model), 0, 0.0, rows, work, bond, ydot)
    if rank < m:
        return  # at a random place, conditions that follow from others contradict them
    vdot, multipliers = lagrange(model, q, v, np.zeros(len(v)), rows)
    size = 1 / np.sqrt(np.diag(bond.A))
    cond = np.linalg.cond(matrix(model, q)) * np.linalg.cond(bond.A * np.outer(size, size))
    scale = np.linalg.norm(vdot) + np.linalg.norm(np.abs(bond.W.T) @ np.abs(multipliers))
    k = np.linalg.norm(ydot[len(q) :] - vdot) / (EPS * cond * scale)
    target(k, label="k")
    assert k <= 500


def test_semidefinite_factors_find_the_rank():
    """A = B Bᵀ, B (7, 4) with rows of different units: rank 4, and A x = b for any b = A y, to 100 eps cond(B)²."""
    rng = np.random.default_rng(1)
    B = rng.normal(size=(7, 4)) * 10.0 ** rng.integers(-6, 7, (7, 1))
    B[3] = 0.0
    A, L, size, rest, order = B @ B.T, np.zeros((7, 7)), np.zeros(7), np.zeros(7), np.zeros(7, np.int64)
    rank = semidefinite_factors(A, L, size, rest, order)
    b, x = A @ rng.normal(size=7), np.zeros(7)
    semidefinite_solve(L, size, order, rank, b, x)
    cond = np.linalg.cond(np.delete(B, 3, 0) / np.linalg.norm(np.delete(B, 3, 0), axis=1)[:, None])
    assert rank == 4 and np.count_nonzero(x) == 4 and x[3] == 0.0
    assert size * (A @ x - b) == pytest.approx(0, abs=100 * EPS * cond**2 * np.abs(size * b).max())


def test_motions_of_signals_are_their_derivatives():
    """Rates and accelerations of sines, polynomial and cubic table against central differences; straight outside."""
    knots = (np.array([0.0, 0.7, 1.1, 2.0]) * 1e9).astype(int).tolist()
    laws = (
        sines(0.3, [(2.0, 1.5, 0.2), (0.1, 7.0, 0.0)]),
        polynomial([1, -2, 0.5, 0.3]),
        table(knots, [0, 1, -1, 2], CUBIC),
    )
    rows, h = constraints_of(np.zeros((0, c.ROW_COLUMNS)), laws=laws), 1e-4
    for k in range(3):
        for x in (-0.5, 0.1, 0.9, 1.9, 2.5):
            before, now, after = (np.array(signal_motion(rows, k, 0, x + d)) for d in (-h, 0.0, h))
            assert (after - before)[:2] / (2 * h) == pytest.approx(now[1:], abs=200 * h * h)
        if k == 2:
            assert signal_motion(rows, k, 0, 2.5)[2] == 0.0


# ------------------------------------------------------------------------------------------------------ mechanisms
def rod(length, point):
    """A rod of 1 kg along x on a hinge about y."""
    I = length * length / 12
    return body_row(1.0, (length / 2, 0, 0), (0.01, I, I), point, axis=(0, 1, 0))


def double_pendulum_with_free_base(rng):
    """A floating ring of bodies: base, two arms on ball and revolute hinges, their ends joined in a point."""
    inertia = (0.3, 0.4, 0.5)
    rows = [
        body_row(3.0, (0, 0, 0), inertia),
        body_row(1.0, (0.4, 0, 0.1), inertia, (1, 0, 0)),
        body_row(1.0, (0.4, 0.1, 0), inertia, (-1, 0, 0), axis=(0, 0.6, 0.8)),
        body_row(1.0, (0.3, 0, 0), inertia, (1, 0, 0), axis=(0, 1, 0)),
    ]
    hinges = [(-1, JointKind.FREE), (0, JointKind.SPHERICAL), (0, JointKind.REVOLUTE), (2, JointKind.UNIVERSAL)]
    model = model_of(hinges, rows)
    q, v = random_state(rng, model)
    return model, np.concatenate([q, v])


def ring(seed=0):
    """A floating ring, closed: model, rows, y on the constraint."""
    model, y = double_pendulum_with_free_base(np.random.default_rng(seed))
    points = ((1.2, 0, 0), (0.8, 0.1, 0))
    rows = constraints_of([closure_row(model, c.POINT, 1, 3, points, (axis, axis)) for axis in np.eye(3)])
    work, bond = workspace(model), c.bonds(model, rows)
    for _ in range(20):  # Newton from a random start
        left = put_back(model, y, no_input(model), 0, 0.0, rows, work, bond)
    assert left < 1e-14
    return model, rows, y


def momenta(model, y):
    nq, n = model_size(model)[0], len(model.tree)
    pose, twist = np.zeros((n, 7)), np.zeros((n, 6))
    work, spin = workspace(model), np.zeros((n, 3))
    kinematics(model, y[:nq], y[nq:], work, pose, twist)
    spins(model, y[:nq], y[nq:], work, spin)
    return np.array([*linear_momentum(model, pose, twist), *angular_momentum(model, pose, twist, spin)])


def test_putting_back_keeps_momentum():
    """Impulses of a closure act in pairs in one point: putting rates back leaves all six momenta, to round-off."""
    model, rows, y = ring()
    nq = model_size(model)[0]
    y[nq:] += np.random.default_rng(3).normal(size=len(y) - nq)  # tears the closure
    before = momenta(model, y)
    put_back(model, y, no_input(model), 0, 0.0, rows, workspace(model), c.bonds(model, rows))
    assert momenta(model, y) == pytest.approx(before, abs=100 * EPS * np.abs(before).max())


def test_a_torn_closure_does_not_push_its_base():
    """The rows of a closure within a floating robot hold nothing of the base's six freedoms, even where it is open."""
    model, rows, y = ring()
    y[7] += 0.05
    integrate.normalise(model, y)
    work, bond = workspace(model), c.bonds(model, rows)
    constrained_derivative(model, y, no_input(model), 0, 0.0, rows, work, bond, np.zeros(len(y)))
    assert np.abs(bond.column[c.PHI]).max() > 1e-3
    assert not bond.G[:, :6].any() and bond.G[:, 6:].any()


@pytest.mark.parametrize(("method", "order"), [(integrate.SEMI_IMPLICIT, 1), (integrate.RK4, 4), (integrate.DOP853, 8)])
def test_order_holds_with_constraints(method, order):
    """A floating closed ring, 0.4 s: halving the step divides the error by 2^order (1.0, 3.9, 8.5 measured)."""
    model, rows, y0 = ring()
    input, ends = no_input(model), []
    steps = {1: (800, 1600), 4: (40, 80), 8: (5, 10)}[order]
    for n in (*steps, None):
        y, work = y0.copy(), workspace(model)
        ticks, how = (n, method) if n else (1600, integrate.DOP853)
        status = Constrained(rows).stepper(model, y, input, 400_000_000 // ticks, how, work)(0, ticks)
        assert status == (t.OK, ticks, -1)
        ends.append(y)
    errors = [np.abs(y - ends[-1]).max() for y in ends[:-1]]
    assert np.diff(np.log2(errors)) == pytest.approx([-order], abs=0.1 * order)
    assert put_back(model, ends[0], input, 0, 0.0, rows, workspace(model), c.bonds(model, rows)) < 1e-14


def test_redundant_rows_change_nothing():
    """A planar four-bar closed in a point, and by a revolute hinge with three conditions too many: the same motion."""
    model = model_of(
        [(-1, 1), (0, 1), (-1, 1)], [rod(1, (0, 0, 0)), rod(3, (1, 0, 0)), rod(2.5, (3, 0, 0))], gravity=(0, 0, -9.81)
    )
    points = ((3, 0, 0), (2.5, 0, 0))
    ball = [closure_row(model, c.POINT, 1, 2, points, (axis, axis)) for axis in np.eye(3)]
    turn = [closure_row(model, c.DOT, 1, 2, points, (axis, (0, 1, 0))) for axis in np.eye(3)[[0, 2]]]
    ends = []
    for rows, rank in ((ball, 2), (ball + turn, 2)):
        rows = constraints_of(rows)
        y, work, bond = np.array([-1.2, 0.65, -1.6, 0, 0, 0]), workspace(model), c.bonds(model, rows)
        put_back(model, y, no_input(model), 0, 0.0, rows, work, bond)
        assert constrained_derivative(model, y, no_input(model), 0, 0.0, rows, work, bond, np.zeros(6)) == rank
        Constrained(rows).stepper(model, y, no_input(model), 1_000_000, integrate.RK4, work)(0, 1000)
        ends.append(y)
    assert (ends[0] == ends[1]).all()


def test_a_mechanism_that_cannot_go_on_stops_at_its_last_good_state():
    """A crank driven to where its coupler cannot reach: UNMET, at the coupler, y as it was."""
    model = model_of([(-1, 1), (0, 1)], [rod(1, (0, 0, 0)), rod(1, (1, 0, 0))])
    far = closure_row(model, c.DISTANCE, -1, 1, ((3, 0, 0), (1, 0, 0)), target=1.5)
    rows = constraints_of([far])
    y, work = np.array([0.2, 0.1, 0.0, 0.0]), workspace(model)
    for _ in range(5):
        put_back(model, y, no_input(model), 0, 0.0, rows, work, c.bonds(model, rows))
    prescribed = np.zeros(c.ROW_COLUMNS)
    prescribed[[c.LAW, c.COUNT, c.SIGNAL]] = c.COUPLING, 1, 1
    rows = constraints_of([far, prescribed], [(0, 0, 1.0)], [polynomial([y[0], 1.0])])
    code, tick, body = Constrained(rows).stepper(model, y, no_input(model), 1_000_000, integrate.RK4, work)(0, 3000)
    assert code == t.UNMET and 0 < tick < 3000 and body in (0, 1) and np.isfinite(y).all()


def driven_ring():
    """The floating ring, a hinge of it prescribed; y has work and dissipation as its last elements."""
    model, rows, y = ring()
    q, j = model.tree[2, [t.Q, t.V]].tolist()
    prescribed = np.zeros(c.ROW_COLUMNS)
    prescribed[[c.LAW, c.COUNT, c.SIGNAL]] = c.COUPLING, 1, 1
    rows = constraints_of([*rows.row, prescribed], [(q, j, 1.0)], [sines(y[q], [(0.5, 3.0, 0.0)])])
    y = np.append(y, (0.0, 0.0))
    put_back(model, y, no_input(model), 0, 0.0, rows, workspace(model, 2), c.bonds(model, rows))
    return model, rows, y


def energy(model, y):
    (nq, nv), n = model_size(model), len(model.tree)
    pose, twist = np.zeros((n, 7)), np.zeros((n, 6))
    work, spin = workspace(model), np.zeros((n, 3))
    kinematics(model, y[:nq], y[nq : nq + nv], work, pose, twist)
    spins(model, y[:nq], y[nq : nq + nv], work, spin)
    return kinetic_energy(model, pose, twist, spin)


def test_work_of_prescribed_motion_closes_the_balance():
    """Kinetic energy less the work of the prescribed hinge stays, DOP853 1 s in steps of 10 ms: within 1e-11."""
    model, rows, y = driven_ring()
    before = energy(model, y)
    Constrained(rows).stepper(model, y, no_input(model), 10_000_000, integrate.DOP853, workspace(model, 2))(0, 100)
    assert abs(y[-2]) > 0.1 and y[-1] == 0.0
    assert energy(model, y) - y[-2] == pytest.approx(before, abs=1e-11)
