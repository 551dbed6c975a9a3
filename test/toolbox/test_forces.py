"""Forces and torques in either frame, at points, of time and state: against closed forms; VectorSum's laws."""

import math

import numpy as np
import pytest
from scipy.special import fresnel

import rbt_ros as rbt

EPS = np.finfo(float).eps
BODY = rbt.RigidBody(2.0, (0.5, 0.4, 0.3))
BALL = rbt.RigidBody(2.0, (0.4, 0.4, 0.4))
WAYS = [dict(solver="rk4", step=1e-3), dict(solver="dop853", step=1e-2), dict(solver="ode45", rtol=1e-10, atol=1e-12),
        dict(solver="dop853_adaptive"), dict(formalism="matrix", step=1e-2)]  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_a_body_force_turns_with_the_body(way):
    """Spin ω about z, force F along body x: v = F/(m ω) (sin ωt, 1 - cos ωt, 0)."""
    w, F = 3.0, 5.0
    found = rbt.simulate(BODY, omega_b=(0, 0, w), force=(F, 0, 0), **way)
    t = found.time
    v = F / (2.0 * w) * np.stack([np.sin(w * t), 1 - np.cos(w * t), 0 * t], axis=1)
    assert np.abs(found.velocity_e - v).max() < 1e-10
    assert found.velocity_b[-1] == pytest.approx(found.matrix[-1].T @ v[-1], abs=1e-10)
    assert np.abs(found.force_b - [F, 0, 0]).max() < 1e-14


@pytest.mark.parametrize("way", WAYS)
def test_a_body_force_at_a_point_turns_the_body(way):
    """F along x at (0, -r, 0): torque r F about z, angle α = r F t²/(2 I); v = F/m ∫(cos α, sin α) dt, by Fresnel."""
    F, r = 2.0, 0.25
    found = rbt.simulate(BODY, force=rbt.Force((F, 0, 0), at=(0, -r, 0)), duration=2.0, **way)
    t, a = found.time, r * F / 0.3
    s = math.sqrt(math.pi / a)
    S, C = fresnel(t / s)
    assert np.abs(found.omega_b - np.outer(t, [0, 0, a])).max() < 1e-12
    assert np.abs(found.velocity_e - F / 2.0 * s * np.stack([C, S, 0 * t], axis=1)).max() < 1e-10
    assert np.abs(found.torque_b - [0, 0, r * F]).max() < 1e-15


@pytest.mark.parametrize("way", WAYS)
def test_an_inertial_force_at_a_point_keeps_its_energy(way):
    """It has the potential -F·p_Q of the point on which it acts, and no torque about the inertial axis along F."""
    F, r = np.array([0.0, 0.0, -3.0]), np.array([0.2, 0.1, -0.3])
    start = dict(euler=("ZYX", 0.3, 0.6, 0.2), omega_b=(1.0, -2.0, 0.5), velocity=(0, 1, 2))
    found = rbt.simulate(BODY, **start, force=rbt.Force(F, frame="inertial", at=r), duration=2.0, **way)
    energy = found.kinetic_energy - (found.position + found.matrix @ r) @ F
    assert np.abs(energy - energy[0]).max() < 1e-9 * found.kinetic_energy.max()
    spin = found.angular_momentum_e[:, 2]
    assert np.abs(spin - spin[0]).max() < 1e-9
    assert np.abs(found.force_e - F).max() < 1e-15
    assert np.abs(found.torque_e - np.cross(found.matrix @ r, F)).max() < 1e-14


@pytest.mark.parametrize("way", WAYS)
def test_torques_in_either_frame(way):
    """On a ball: constant in the inertial axes, ω = ω0 + n t/I there; in body axes, likewise in the body's."""
    n, w0 = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, 0.5])
    found = rbt.simulate(BALL, omega_e=w0, torque=rbt.Torque(n, frame="inertial"), **way)
    assert np.abs(found.omega_e - (w0 + np.outer(found.time, n) / 0.4)).max() < 1e-10
    found = rbt.simulate(BALL, omega_b=w0, torque=n, **way)
    assert np.abs(found.omega_b - (w0 + np.outer(found.time, n) / 0.4)).max() < 1e-14 / 0.4 * 100


def test_accelerations_are_those_of_newton_and_euler():
    """a = F/m + g, I ẇ = n - ω × I ω, at every sample."""
    I = np.array([[0.9, 0.05, 0.0], [0.05, 0.7, 0.02], [0.0, 0.02, 0.5]])
    body, g = rbt.RigidBody(2.0, I), np.array([0, 0, -9.81])
    force = rbt.Force(lambda t: (t, 1.0, -t), at=(0.1, 0.2, 0.3))
    found = rbt.simulate(body, omega_b=(1, 2, 3), force=force, torque=(0.1, 0.2, 0.3), gravity=g, step=0.01)
    assert found.acceleration_e == pytest.approx(found.force_e / 2.0 + g, abs=1e-14)
    assert np.einsum("nij,nj->ni", found.matrix, found.acceleration_b) == pytest.approx(found.acceleration_e, abs=1e-13)
    n = np.cross((0.1, 0.2, 0.3), found.force_b) + (0.1, 0.2, 0.3)
    assert found.torque_b == pytest.approx(n, abs=1e-14)
    w = found.omega_b
    euler = np.linalg.solve(I, (n - np.cross(w, w @ I)).T).T
    assert found.angular_acceleration_b == pytest.approx(euler, abs=1e-13)
    assert found.angular_acceleration_e[7] == pytest.approx(found.matrix[7] @ euler[7], abs=1e-13)


# ------------------------------------------------------------------------------------------- functions, series
@pytest.mark.parametrize("way", [*WAYS[:3], *WAYS[4:], dict(solver="ode23", rtol=1e-10, atol=1e-12)])
def test_a_function_of_time_is_evaluated_at_every_stage(way):
    """F = m (6 t, 0, 12 t²): p = (t³, 0, t⁴); a quartic is exact for rk4, so its error is round-off."""
    found = rbt.simulate(BODY, force=lambda t: (12 * t, 0, 24 * t * t), **way)
    t = found.time
    bound = 1e-8 if "rtol" in way else 1e-13
    assert np.abs(found.position - np.stack([t**3, 0 * t, t**4], axis=1)).max() < bound


def test_time_starts_where_the_span_does():
    """F = 12 t from t = 2: v = 3 (t² - 4), in the compiled and the plain path; series too."""
    times = np.array([1.0, 2.5, 4.0])
    series = (times, np.outer(12 * times, [1, 0, 0]))
    for force in (lambda t: (12 * t, 0, 0), series):
        for way in (dict(), dict(formalism="matrix"), dict(solver="ode45", rtol=1e-9, atol=1e-12)):
            found = rbt.simulate(BODY, force=force, span=(2, 3), **way)
            assert (found.time[0], found.time[-1]) == (2.0, 3.0)
            assert np.abs(found.velocity_e[:, 0] - 3 * (found.time**2 - 4)).max() < 1e-11


@pytest.mark.parametrize("way", [dict(step=0.01), dict(formalism="matrix", step=0.01), dict(solver="dop853_adaptive")])
def test_series_between_their_samples(way):
    """hold: a staircase; linear: its corners; cubic: a cubic exactly; all zero outside of their time."""
    t = np.array([0.25, 0.5, 1.0])
    up = np.outer([1.0, 3.0, 2.0], [2.0, 0, 0])
    for between, gain in (("hold", 0.25 * 1 + 0.5 * 3), ("linear", 0.25 * 2 + 0.5 * 2.5)):
        found = rbt.simulate(BODY, force=rbt.Force((t, up), between=between), duration=1.5, **way)
        assert found.velocity_e[-1, 0] == pytest.approx(gain, abs=1e-13)
        assert found.at(0.2).velocity_e[0] == 0.0
    knots = np.linspace(0, 1, 6)
    cubic = rbt.Force((knots, np.outer(knots**3 - knots, [2.0, 0, 0])), between="cubic")
    found = rbt.simulate(BODY, force=cubic, **way)
    assert found.velocity_e[-1, 0] == pytest.approx(1 / 4 - 1 / 2, abs=1e-13)


def test_per_stage_is_the_equation_and_per_step_a_held_controller():
    """F = -k p. Per stage: cos √(k/m) t. Per step: exactly x' = x + v h + a h²/2, v' = v + a h with a = -k x/m."""
    k, h, n = 8.0, 0.05, 40

    def spring(t, state):
        return -k * state.position

    stage = rbt.simulate(BODY, position=(1, 0, 0), force=rbt.Force(spring, "inertial", per="stage"), step=h, duration=2)
    assert np.abs(stage.position[:, 0] - np.cos(2 * stage.time)).max() < 1e-12
    step = np.array([[1 - k / 2 * h * h / 2, h], [-k / 2 * h, 1]])
    held = np.array([np.linalg.matrix_power(step, i) @ [1, 0] for i in range(n + 1)])
    for way in (dict(), dict(solver="rk4"), dict(formalism="matrix"), dict(solver="ode45")):
        force = rbt.Force(spring, "inertial", per="step")
        found = rbt.simulate(BODY, position=(1, 0, 0), force=force, step=h, duration=2, **way)
        assert np.stack([found.position[:, 0], found.velocity_e[:, 0]], 1) == pytest.approx(held, abs=1e-12)
        assert found.force_e[:, 0] == pytest.approx(-k * held[:, 0], abs=1e-12)
        middle = found.at(0.5 * h)  # between the samples the force is that of the step's start
        assert middle.position[0] == pytest.approx(1 - k / 2 * (h / 2) ** 2 / 2, abs=1e-14)


def test_a_held_body_force_turns_with_the_body_within_the_step():
    """Held in its own axes: with a force that never changes, per step is the constant force."""
    held = rbt.simulate(BODY, omega_b=(0, 0, 3), force=rbt.Force(lambda t, s: (5, 0, 0), per="step"), step=0.01)
    constant = rbt.simulate(BODY, omega_b=(0, 0, 3), force=(5, 0, 0), step=0.01)
    assert np.abs(held.y - constant.y).max() < 1e-14


@pytest.mark.parametrize("way", [dict(), dict(formalism="matrix")])
def test_a_controller_may_keep_what_it_saw(way):
    """Once per step and at the end; and the arrays are its own."""
    seen = []

    def force(t, state):
        seen.append((t, state))
        return -state.position

    found = rbt.simulate(BODY, position=(1, 0, 0), force=rbt.Force(force, per="step"), step=0.1, **way)
    assert np.array_equal([t for t, _ in seen], found.time)
    assert np.array_equal([state.position for _, state in seen], found.position)


def test_a_controller_sees_every_form_of_the_state():
    seen = {}

    def torque(t, state):
        seen.update(t=t, v=state.velocity_b, w=state.omega_e, R=state.matrix, a=state.euler("XYZ"))
        return (0, 0, 0)

    start = dict(euler=("XYZ", 0.1, 0.2, 0.3), velocity_b=(1, 2, 3), omega_e=(4, 5, 6), duration=1e-3)
    rbt.simulate(BALL, **start, torque=rbt.Torque(torque, per="step"))
    assert seen["t"] == 1e-3
    assert seen["w"] == pytest.approx((4, 5, 6), abs=1e-13)
    assert seen["R"] @ seen["v"] == pytest.approx(seen["R"] @ seen["v"]) and seen["v"].shape == (3,)
    assert seen["a"] == pytest.approx((0.1, 0.2, 0.3), abs=0.02)


def test_compiled_and_plain_paths_agree():
    """The same force as a function of time (compiled) and as one of time and state at every stage (plain)."""
    start = dict(omega_b=(1, 2, 3), solver="rk4", step=0.01)
    compiled = rbt.simulate(BODY, **start, force=rbt.Force(lambda t: (np.sin(t), 1, t), at=(0.1, 0, 0)))
    plain = rbt.simulate(BODY, **start, force=rbt.Force(lambda t, s: (np.sin(t), 1, t), at=(0.1, 0, 0), per="stage"))
    assert np.abs(compiled.y - plain.y).max() < 100 * 8 * EPS  # round-off of 100 steps


def test_several_loads_add_up():
    loads = [(1, 2, 3), rbt.Force(lambda t: (t, 0, 0), frame="inertial", at=(0.1, 0, 0)), lambda t: (0, t, 0)]
    assert rbt.simulate(BODY, force=[loads[1], loads[2]]).force_e[-1] == pytest.approx((1, 1, 0), abs=0.1)
    both = rbt.simulate(BALL, force=[rbt.Force((1, 2, 3)), rbt.Force((0, 0, 1))], torque=[rbt.Torque((1, 0, 0))])
    assert both.force_b[0].tolist() == [1, 2, 4] and both.torque_b[0].tolist() == [1, 0, 0]


# ------------------------------------------------------------------------------------------------- VectorSum
GRAVITY, TIMES = (0.0, 0.0, -9.81 * 1.5), np.linspace(0, 10, 11)
SERIES = np.column_stack([TIMES, TIMES**2, TIMES, 0 * TIMES])


def thruster(t):
    return (0.0, 0.0, 100 / t)


def test_a_sum_is_the_sum_of_its_terms_in_any_order():
    terms = [GRAVITY, thruster, SERIES, rbt.VectorSum((1, 1, 1), SERIES)]
    t = np.array([0.5, 3.0, 7.25])
    forward, backward = rbt.VectorSum(*terms), rbt.VectorSum()
    for term in reversed(terms):
        backward.add(term)
    apart = sum(rbt.VectorSum(term).at(t) for term in terms)
    assert forward.at(t) == pytest.approx(apart, rel=4 * EPS)
    assert backward.at(t) == pytest.approx(apart, rel=4 * EPS)
    assert forward.at(3.0) == pytest.approx(apart[1]) and forward(3.0).shape == (3,)


def test_the_sum_of_the_users_guide():
    """Gravity and a thruster of 100/t at t = 60 s."""
    assert rbt.VectorSum(GRAVITY).add(thruster).at(60) == pytest.approx((0, 0, -9.81 * 1.5 + 100 / 60))


def test_a_sum_as_a_force_is_its_terms_as_forces():
    found = rbt.simulate(BODY, omega_b=(1, 2, 3), force=rbt.VectorSum(GRAVITY, np.cos(TIMES[:3]), SERIES))
    apart = [rbt.Force(GRAVITY), rbt.Force(np.cos(TIMES[:3])), rbt.Force(SERIES)]
    assert np.array_equal(found.y, rbt.simulate(BODY, omega_b=(1, 2, 3), force=apart).y)


def test_joined_runs_are_one_run():
    """The user's guide: 0.2 s at a time, a braking force once the body is beyond 299 m."""
    joined, state, force = rbt.VectorSum(), dict(position=(0, 0, 0), velocity=(100, 0, 0)), (0, 0, 0)
    for k in range(50):
        run = rbt.simulate(span=(0.2 * k, 0.2 * (k + 1)), step=0.01, force=force, **state)
        joined.join(run.time, run.position)
        if run.position[-1, 0] > 299:
            force = (-50, 0, 0)
        state = dict(position=run.position[-1], velocity=run.velocity_e[-1])
    t = joined.times
    assert len(t) == 1001 and t == pytest.approx(np.linspace(0, 10, 1001), abs=1e-12)
    brake = 3.0  # the first end of a run beyond 299 m, at 100 m/s
    x = 100 * t - 25 * np.maximum(t - brake, 0) ** 2
    assert joined.values[:, 0] == pytest.approx(x, abs=1e-9)
    assert joined.at(4.005)[0] == pytest.approx((joined.at(4.0) + joined.at(4.01))[0] / 2)


def test_joined_samples_go_on_in_time():
    joined = rbt.VectorSum().join([0, 1], [(0, 0, 0), (1, 0, 0)])
    joined.join([1, 2], [(5, 0, 0), (6, 0, 0)])
    assert joined.joined.tolist() == [[0, 0, 0, 0], [1, 5, 0, 0], [2, 6, 0, 0]]
    assert joined.at([-1, 3]).tolist() == [[0, 0, 0], [0, 0, 0]]
    with pytest.raises(rbt.ScenarioError, match="the samples start at 1.5 s, before the end of the last ones at 2 s"):
        joined.join([1.5, 3], [(0, 0, 0), (0, 0, 0)])
