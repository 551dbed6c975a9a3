"""Wittenburg's method: its matrices, against the articulated bodies, and the five-body system it was set up for."""

import numpy as np
import pytest
from core.test_dynamics import SEEDS, forward, matrix, relaxed
from five_body import REFERENCE, VARIANTS, attitude_error, five_body, start_angles, states
from hypothesis import given, settings, target
from hypothesis import strategies as st
from trees import EPS, frozen, no_input, random_state, random_tree

from rbt_ros.core import types as t
from rbt_ros.core.graph import matrices
from rbt_ros.core.signals import FOR_EVER, signal_arrays, sines
from rbt_ros.core.types import JointKind
from rbt_ros.core.wittenburg import augmented_bodies, com_position, forward_dynamics, hinge_vectors, successive_turns
from rbt_ros.core.work import model_size, workspace
from rbt_ros.core.zxz import engine_state, run, zxz_accelerations

REST = "at q0, qdot=0"
MOVING = "at q0, qdot=[0.3, -0.5, 0.2, 0.6, 0.1, -0.4, 1.0, -2.0, 1.5]"


def wittenburg(model, q, v, input):
    """v̇, and the matrices it came from."""
    x, vdot = matrices(model), np.zeros(len(v))
    forward_dynamics(model, q, v, input, 0, 0.0, workspace(model), x, vdot)
    return vdot, x


def factor_against_articulated_bodies(model, q, v, input):
    """|difference of v̇| in units of eps cond(M) |v̇|."""
    vdot, _ = wittenburg(model, q, v, input)
    expected = forward(model, q, v, input)
    return np.linalg.norm(vdot - expected) / (EPS * np.linalg.cond(matrix(model, q)) * np.linalg.norm(expected))


def test_incidence_matrices_of_the_five_bodies():
    """As the course work prints them, its equations 18 and 19."""
    x = matrices(five_body("as_coded"))
    S = [[-1, 1, 0, 0, 0], [0, -1, 1, 0, 0], [0, 0, -1, 1, 1], [0, 0, 0, -1, 0], [0, 0, 0, 0, -1]]
    T = [[-1, -1, -1, -1, -1], [0, -1, -1, -1, -1], [0, 0, -1, -1, -1], [0, 0, 0, -1, 0], [0, 0, 0, 0, -1]]
    assert (x.S0 == [1, 0, 0, 0, 0]).all() and (x.S == S).all() and (x.T == T).all()


@settings(relaxed, max_examples=100)
@given(SEEDS, st.integers(1, 12))
def test_paths_are_the_inverse_of_the_incidence_matrix(seed, n):
    """T S = 1; and T's columns sum S0 to -1, as every way begins at the world."""
    x = matrices(random_tree(np.random.default_rng(seed), n))
    assert (x.T @ x.S == np.eye(n)).all()
    assert (x.S0 @ x.T == -1).all()


def test_articulated_bodies_agree_with_wittenburg():
    """1000 random trees of all hinge kinds, efforts in all hinges: |difference| <= 1000 eps cond(M) |v̇|."""
    largest = 0.0

    @settings(relaxed, max_examples=1000)
    @given(SEEDS, st.integers(1, 8))
    def compare(seed, n):
        nonlocal largest
        rng = np.random.default_rng(seed)
        model = random_tree(rng, n, gravity=rng.uniform(-10, 10, 3))
        q, v = random_state(rng, model, speed=3.0)
        if len(v) == 0:
            return
        tau = rng.uniform(-5, 5, len(v))
        factor = factor_against_articulated_bodies(model, q, v, no_input(model)._replace(tau=tau))
        target(factor)
        largest = max(largest, factor)
        assert factor < 1000

    compare()
    print(f"largest factor of eps cond(M): {largest:.3g}")  # measured: 19


@settings(relaxed, max_examples=200)
@given(SEEDS, st.integers(1, 6))
def test_every_force_acts_alike_in_both_formulations(seed, n):
    """Loads in either frame at any point, signals, an attracting mass, springs, friction: as above."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, gravity=rng.uniform(-10, 10, 3))
    q, v = random_state(rng, model)
    if len(v) == 0:
        return
    freedom, world = model.freedom.copy(), model.world.copy()
    freedom[:, t.STIFFNESS] = freedom[:, t.DAMPING] = freedom[:, t.COULOMB] = rng.uniform(0, 3, len(v))
    world[t.ATTRACTION], world[t.ATTRACTOR : t.ATTRACTOR + 3] = 50.0, (20.0, -10.0, 5.0)
    model = frozen(model._replace(freedom=freedom, world=world))
    load = np.zeros((4, t.LOAD_COLUMNS))
    load[:, : t.LOAD_LAW] = rng.uniform(-3, 3, (4, t.LOAD_LAW))
    load[:, t.LOAD_BODY] = rng.integers(0, n, 4)
    load[:, t.LOAD_FRAME] = (t.BODY_AXES, t.WORLD_AXES) * 2
    load[:, t.LOAD_SIGNAL] = 0, 0, 1, 1
    signal, data = signal_arrays([(sines(0.5, [(1.0, 30.0, 0.2)]), 0, 0, FOR_EVER, 0)])
    input = no_input(model)._replace(load=load, signal=signal, data=data)
    factor = factor_against_articulated_bodies(model, q, v, input)
    target(factor)
    assert factor < 1000  # measured: 7.3


@settings(relaxed, max_examples=100)
@given(SEEDS, st.integers(1, 8))
def test_left_side_is_the_mass_matrix(seed, n):
    """A of augmented bodies = M(q) of composite bodies: both are sums over at most n bodies, by different ways."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n)
    q, v = random_state(rng, model)
    _, x = wittenburg(model, q, v, no_input(model))
    M = matrix(model, q)
    assert np.abs(x.A - M).max(initial=0.0) <= 20 * n * EPS * np.abs(M).max(initial=0.0)


def test_relative_acceleration_of_euler_angles():
    """ϕ as the course work writes it out, its equation 15, is the sum over pairs of turns."""
    rng = np.random.default_rng(1)
    _, a2, a3 = rng.uniform(-3, 3, 3)
    u1, u2, u3 = u = rng.uniform(-3, 3, 3)
    s2, c2, s3, c3 = np.sin(a2), np.cos(a2), np.sin(a3), np.cos(a3)
    expected = [
        u2 * s3 * (u1 * c2 - u3) + u1 * u3 * s2 * c3,
        u2 * c3 * (u1 * c2 - u3) - u1 * u3 * s2 * s3,
        -u1 * u2 * s2,
    ]
    p = np.array([[s2 * s3, s2 * c3, c2], [c3, -s3, 0], [0, 0, 1]])
    assert successive_turns(p, u, 0, 3) == pytest.approx(expected, abs=10 * EPS * np.abs(u).max() ** 2)


@settings(relaxed, max_examples=200)
@given(SEEDS, st.integers(1, 6))
def test_euler_angles_and_body_rates_give_the_same_motion(seed, n):
    """v̇ = p q̈ + ϕ in the child's axes, in trees of all kinds with efforts in all hinges."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, gravity=(0, 0, -9.81))
    (nq, nv), work, x = model_size(model), workspace(model), matrices(model)
    if nv == 0:
        return
    angles, rates = rng.uniform(-2, 2, nv), rng.uniform(-1, 1, nv)
    input = no_input(model)._replace(tau=rng.uniform(-5, 5, nv))
    q, v, accel = np.zeros(nq), np.zeros(nv), np.zeros(nv)
    engine_state(model, angles, rates, q, v)
    zxz_accelerations(model, angles, rates, input, 0, 0.0, work, x, accel)
    cond = np.linalg.cond(x.A)
    vdot = accel.copy()
    for i, (_, kind, _, j) in enumerate(model.tree):
        if kind in (JointKind.SPHERICAL, JointKind.FREE):
            vdot[j : j + 3] = x.R[i].reshape(3, 3).T @ (accel[j : j + 3] @ x.p[j : j + 3] + x.phi[i])
    expected = forward(model, q, v, input)
    assert np.linalg.norm(vdot - expected) <= 1000 * EPS * cond * np.linalg.norm(expected)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("motion", [REST, MOVING])
def test_euler_accelerations_of_the_five_bodies(variant, motion):
    """The spot checks of the reference, computed there in double precision too: 100 eps cond(A)."""
    model, accel = five_body(variant), np.zeros(9)
    rates = np.zeros(9) if motion == REST else np.array([0.3, -0.5, 0.2, 0.6, 0.1, -0.4, 1.0, -2.0, 1.5])
    x = matrices(model)
    zxz_accelerations(model, start_angles(variant), rates, no_input(model), 0, 0.0, workspace(model), x, accel)
    expected = np.array(REFERENCE["cases"][variant]["forward dynamics spot checks (Euler accelerations)"][motion])
    assert np.linalg.norm(accel - expected) <= 100 * EPS * np.linalg.cond(x.A) * np.linalg.norm(expected)


BOUND = {"as_coded": 1e-9, "report_text": 1e-9, "physical": 5e-9}


@pytest.mark.parametrize(("zxz", "h_ns"), [(False, 1_000_000), (True, 200_000)], ids=["body_rates", "zxz"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_five_bodies_move_as_the_reference(variant, zxz, h_ns):
    """Attitudes and CoM of all bodies at 0.5 ... 5 s against an integration in 34 digits; DOP853.

    Z-X-Z passes close to its singularity (|sin θ| = 0.008, rates of 300 rad/s), hence the smaller step: with 1 ms its
    error is 6e-10, 2e-8, 3e-6 in the three variants, all of it truncation. What is left is round-off, as grown by the
    motion itself: e^(Lyapunov exponent t).
    """
    model = five_body(variant)
    x, work, input = matrices(model), workspace(model), no_input(model)
    q, v = np.zeros(11), np.zeros(9)
    engine_state(model, start_angles(variant), np.zeros(9), q, v)
    y = np.concatenate([start_angles(variant), np.zeros(9)] if zxz else [q, v])
    worst = 0.0
    for state in states(variant):
        ticks = 500_000_000 // h_ns
        assert run(model, y, input, 0, h_ns, ticks, zxz, work, x) == (t.OK, ticks)
        if zxz:
            engine_state(model, y[:9], y[9:], q, v)
        else:
            q = y[:11]
        hinge_vectors(model, q, work, x)
        augmented_bodies(model, x)
        com_error = np.abs(np.array([com_position(x, i) for i in range(5)]) - state["body_com"]).max()
        worst = max(worst, attitude_error(x.quat, state), com_error)
    print(f"{variant}: {worst:.2g}")
    # measured, body rates and Z-X-Z: as_coded 1e-11, 5e-11; report_text 1e-12, 2e-10; physical 1.2e-10, 1.1e-9
    assert worst <= BOUND[variant]
