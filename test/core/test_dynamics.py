"""Forward and inverse dynamics, mass matrix, kinematics: of one another, and of their definitions."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, target
from hypothesis import strategies as st
from trees import ALL_KINDS, EPS, body_row, model_of, no_input, random_state, random_tree

from rbt_ros.core import types as t
from rbt_ros.core.dynamics import derivative
from rbt_ros.core.invariants import kinetic_energy
from rbt_ros.core.joints import step_on_manifold
from rbt_ros.core.kinematics import accelerations, com_state, kinematics, point_jacobian, spins
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.newton_euler import inverse_dynamics
from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import rotation
from rbt_ros.core.work import ACC_V, model_size, workspace

SEEDS = st.integers(0, 2**32 - 1)
relaxed = settings(deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck))


def pose_and_twist(model, q, v):
    pose, twist = np.zeros((len(model.tree), 7)), np.zeros((len(model.tree), 6))
    kinematics(model, q, v, workspace(model), pose, twist)
    return pose, twist


def spins_of(model, q, v):
    n, work, spin = len(model.tree), workspace(model), np.zeros((len(model.tree), 3))
    kinematics(model, q, v, work, np.zeros((n, 7)), np.zeros((n, 6)))
    spins(model, q, v, work, spin)
    return spin


def forward(model, q, v, input):
    ydot = np.zeros(len(q) + len(v))
    derivative(model, np.concatenate([q, v]), input, 0, 0.0, workspace(model), ydot)
    return ydot[len(q) :]


def matrix(model, q):
    M = np.zeros((model.freedom.shape[0],) * 2)
    mass_matrix(model, q, workspace(model), M)
    return M


def efforts_for(model, q, v, vdot):
    tau = np.zeros(len(v))
    inverse_dynamics(model, q, v, vdot, workspace(model), tau)
    return tau


def jacobian(model, q, i, p):
    J = np.zeros((6, model.freedom.shape[0]))
    point_jacobian(model, q, i, tuple(p), workspace(model), J)
    return J


@settings(relaxed, max_examples=1000)
@given(SEEDS, st.integers(1, 8))
def test_articulated_bodies_agree_with_mass_matrix_and_inverse_dynamics(seed, n):
    """v̇ of the O(n) recursion against M⁻¹ (τ - C) by LU: |difference| <= 1000 eps cond(M) |v̇|."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, gravity=rng.uniform(-10, 10, 3))
    q, v = random_state(rng, model, speed=3.0)
    if len(v) == 0:
        return
    tau = rng.uniform(-5, 5, len(v))
    M = matrix(model, q)
    C = efforts_for(model, q, v, np.zeros(len(v)))
    expected = np.linalg.solve(M, tau - C)
    # the right-hand side is itself a difference: its size counts, not that of what is left
    scale = np.linalg.norm(np.linalg.solve(M, np.abs(tau) + np.abs(C))) + np.linalg.norm(expected)
    error = np.linalg.norm(forward(model, q, v, no_input(model)._replace(tau=tau)) - expected)
    factor = error / (EPS * np.linalg.cond(M) * scale)
    target(factor)
    assert factor < 1000  # measured: the largest of 1000 trees is 2


@settings(relaxed, max_examples=200)
@given(SEEDS, st.integers(1, 8))
def test_inverse_dynamics_undoes_forward_dynamics(seed, n):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, gravity=(0, 0, -9.81))
    q, v = random_state(rng, model)
    if len(v) == 0:
        return
    vdot = rng.uniform(-5, 5, len(v))
    tau = efforts_for(model, q, v, vdot)
    M = matrix(model, q)
    error = np.linalg.norm(forward(model, q, v, no_input(model)._replace(tau=tau)) - vdot)
    scale = np.linalg.norm(np.linalg.solve(M, np.abs(tau))) + np.linalg.norm(vdot)
    assert error <= 1000 * EPS * np.linalg.cond(M) * scale


@settings(relaxed, max_examples=200)
@given(SEEDS, st.integers(1, 8))
def test_mass_matrix_is_the_sum_over_bodies(seed, n):
    """M = Σ m JᵀJ (of the CoM) + Jᵀ I J (of the rotation), from point Jacobians; and T = ½ vᵀ M v."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n)
    q, v = random_state(rng, model)
    pose, twist = pose_and_twist(model, q, v)
    expected = np.zeros((len(v), len(v)))
    for i in range(n):
        J = jacobian(model, q, i, model.body[i, t.COM : t.COM + 3])
        xx, yy, zz, xy, xz, yz = model.body[i, t.INERTIA : t.INERTIA + 6]
        R = rotation_of(pose[i])
        I_W = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
        expected += model.body[i, t.MASS] * J[3:].T @ J[3:] + J[:3].T @ I_W @ J[:3]
    M = matrix(model, q)
    size = np.abs(expected).max(initial=1.0)
    assert np.abs(M - expected).max(initial=0.0) <= 50 * n * EPS * size
    spin = spins_of(model, q, v)
    assert kinetic_energy(model, pose, twist, spin) == pytest.approx(
        0.5 * v @ M @ v, abs=200 * n * EPS * size * (v @ v + 1)
    )


def rotation_of(pose):
    w, x, y, z = pose[:4]
    u = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * u + 2 * u @ u


@settings(relaxed, max_examples=200)
@given(SEEDS, st.integers(1, 8))
def test_twist_is_jacobian_times_velocity(seed, n):
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n)
    q, v = random_state(rng, model)
    pose, twist = pose_and_twist(model, q, v)
    for i in range(n):
        assert np.abs(jacobian(model, q, i, (0, 0, 0)) @ v - twist[i]).max() <= 100 * n * EPS * (1 + np.abs(v).sum())
        w_B = rotation_of(pose[i]).T @ twist[i, :3]
        assert np.abs(spins_of(model, q, v)[i] - w_B).max() <= 100 * n * EPS * (1 + np.abs(v).sum())
        p = rng.uniform(-1, 1, 3)
        v_WQ = twist[i, 3:] + np.cross(twist[i, :3], rotation_of(pose[i]) @ p)
        assert np.abs(jacobian(model, q, i, p)[3:] @ v - v_WQ).max() <= 100 * n * EPS * (1 + np.abs(v).sum())


@settings(relaxed, max_examples=100)
@given(SEEDS, st.integers(1, 6))
def test_motion_is_the_time_derivative_of_place(seed, n):
    """Twist and acceleration of every CoM against central differences along q (+) v h: the error falls as h²."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, n, gravity=(1.0, 2.0, -9.0))
    q, v = random_state(rng, model)
    vdot = rng.uniform(-1, 1, len(v))

    def com(h):
        """CoM positions and velocities, angular velocities (world axes) at time h, to second order."""
        moved = np.empty_like(q)
        step_on_manifold(model, q, v + 0.5 * h * vdot, h, moved)
        pose, twist = pose_and_twist(model, moved, v + h * vdot)
        states = [com_state(model, pose, twist, i) for i in range(n)]
        return np.array([s[0] for s in states]), np.array([s[1] for s in states]), twist[:, :3]

    accel = np.zeros((n, 6))
    accelerations(model, q, v, vdot, workspace(model), accel)
    pose, twist = pose_and_twist(model, q, v)
    p_BC = np.array([rotation_of(pose[i]) @ model.body[i, t.COM : t.COM + 3] for i in range(n)])
    w, wdot = twist[:, :3], accel[:, :3]
    a_C = accel[:, 3:] + np.cross(wdot, p_BC) + np.cross(w, np.cross(w, p_BC))
    v_C = np.array([com_state(model, pose, twist, i)[1] for i in range(n)])
    h = 1e-4
    plus, minus = com(h), com(-h)
    # third derivatives are of the size (1 + speed)³ per body of the chain: h² / 6 times that, and round-off eps / h
    size = (1 + np.abs(w).max()) ** 3 * (1 + np.abs(v).sum()) ** 2
    assert np.abs((plus[0] - minus[0]) / (2 * h) - v_C).max() <= h * h * 10 * size
    assert np.abs((plus[1] - minus[1]) / (2 * h) - a_C).max() <= h * h * 100 * size
    assert np.abs((plus[2] - minus[2]) / (2 * h) - wdot).max() <= h * h * 100 * size


@pytest.mark.parametrize("kind", [k for k in ALL_KINDS if k != JointKind.FIXED])
def test_every_kind_of_hinge_moves_alone(kind):
    """One body on one hinge: forward dynamics against its mass matrix; q has as many numbers as the table says."""
    rng = np.random.default_rng(3)
    model = random_tree(rng, 1, kinds=(kind,), gravity=(0, 0, -9.81))
    assert model_size(model) == (t.NQ[kind], t.NV[kind])
    q, v = random_state(rng, model)
    M = matrix(model, q)
    expected = np.linalg.solve(M, -efforts_for(model, q, v, np.zeros(len(v))))
    assert forward(model, q, v, no_input(model)) == pytest.approx(expected, rel=1e3 * EPS * np.linalg.cond(M))


def test_what_hangs_on_thin_rods_does_not_feel_how_thin():
    """Rods that do not spin about their own axes, on spherical hinges, a load pinned about the axis of the last: their
    axial moments of inertia take no part. So the accelerations of the hinges are the same whatever these are, and must
    not lose digits to them (measured: 4 eps; 4e6 eps where I⁻¹ is formed in world axes)."""
    rng, worst = np.random.default_rng(11), 0.0
    hinges = [(-1, JointKind.SPHERICAL), (0, JointKind.SPHERICAL), (1, JointKind.REVOLUTE), (2, JointKind.REVOLUTE)]
    work = workspace(rods(hinges, 1.0))
    for _ in range(100):
        q, v = random_state(rng, rods(hinges, 1.0), speed=3.0)
        v[2], v[6] = 0.0, 0.0
        R_UL = np.array(rotation(tuple(q[4:8])))
        v[5] = -(R_UL.T @ v[:3])[2]  # neither rod spins about its own axis
        accelerations_of_hinges = []
        for thin in (1.0, 6e-6):
            model = rods(hinges, thin)
            derivative(model, np.concatenate([q, v]), no_input(model), 0, 0.0, work, np.zeros(len(q) + len(v)))
            accelerations_of_hinges.append(work.bodies.table[1 : len(hinges), ACC_V : ACC_V + 3])
        thick, thin = accelerations_of_hinges
        worst = max(worst, np.abs(thick - thin).max() / np.abs(thick).max())
    print(f"{worst / EPS:.3g} eps")
    assert worst < 50 * EPS


def rods(hinges, axial):
    """Two rods of 3 kg, 2 m with a given moment of inertia about themselves, and two bodies on revolute hinges."""
    rod, pin = (1.0, 1.0, axial), (0.3, 0.4, 0.1)
    rows = [
        body_row(3.0, (0, 0, -1), rod),
        body_row(3.0, (0, 0, -1), rod, (0, 0, -2)),
        body_row(2.0, (0, 0, -1), pin, (0, 0, -2), axis=(0, 0, 1)),
        body_row(1.5, (0, 0, -0.5), pin, (0.5, 0, -1), axis=(0, 1, 0)),
    ]
    return model_of(hinges, rows, (0, 0, -9.81))
