"""One free rigid body: closed forms, order, invariants, symmetry."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from rbt_ros.core import types as t
from rbt_ros.core.vec import cross, qconj, qmul, rotation, sym_mul, sym_solve, turn, turn_back
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.sim import Simulation

EPS = np.finfo(float).eps
R1 = json.loads((Path(__file__).parents[1] / "reference" / "r1_free_top.json").read_text())


def satellite(inertia=(2.0, 3.0, 4.0), mass=5.0, com=(0.0, 0.0, 0.0), **settings):
    """A Simulation of one floating body named `hub`."""
    robot = RobotBuilder("satellite").body("hub", mass=mass, inertia=inertia, com=com).build()
    return Simulation(robot, **settings)


def attitude_error(q, reference):
    """The angle between two attitudes [rad]; q and -q are one."""
    return 2 * min(np.linalg.norm(np.subtract(q, reference)), np.linalg.norm(np.add(q, reference)))


# vectors


def test_rotation_is_the_quaternion_product():
    """R(q) a = q a q*, and turn_back undoes turn."""
    q = (0.5, -0.1, 0.7, math.sqrt(1 - 0.25 - 0.01 - 0.49))
    a = (0.3, -1.2, 2.0)
    b = qmul(qmul(q, (0.0, *a)), qconj(q))[1:]
    assert turn(rotation(q), a) == pytest.approx(b, abs=8 * EPS)
    assert turn_back(rotation(q), turn(rotation(q), a)) == pytest.approx(a, abs=8 * EPS)


def test_rotation_does_not_feel_the_length_of_the_quaternion():
    q = np.array([0.1, 0.2, -0.3, 0.4])
    assert np.array(rotation(tuple(q))) == pytest.approx(np.array(rotation(tuple(2 * q))), abs=4 * EPS)


def test_sym_solve_inverts_sym_mul():
    S, x = (4.0, 5.0, 6.0, 0.5, -0.3, 0.2), (1.0, -2.0, 3.0)
    assert sym_solve(S, sym_mul(S, x)) == pytest.approx(x, rel=20 * EPS)


def test_cross_is_right_handed():
    assert cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) == (0.0, 0.0, 1.0)


# motion


def test_symmetric_top_turns_at_the_closed_form_rate():
    """Ix = Iy, no torque: w_xy turns at (Iz - Ix)/Ix · wz. The error must fall as h⁴."""
    w0, T = (0.3, 0.0, 2.0), 4.0
    rate = (3.0 - 2.0) / 2.0 * w0[2]
    exact = np.array([0.3 * np.cos(rate * T), 0.3 * np.sin(rate * T), 2.0])
    errors = []
    for n in (40, 80, 160):  # coarse enough that truncation >> round-off
        sim = satellite((2.0, 2.0, 3.0), step=T / n)
        sim.set_body("hub", omega_body=w0)
        sim.advance(n)
        errors.append(np.abs(sim.state.v[:3] - exact).max())
    assert np.diff(np.log2(errors)) == pytest.approx([-4, -4], abs=0.1)


@pytest.mark.parametrize("name", ["cubesat_H1_E20", "cubesat_generic", "cubesat_printed"])
def test_tumbling_attitude_converges_to_the_exact_one_with_order_four(name):
    """Jacobi's solution at 1 s; h halved, the error falls 16-fold."""
    case = R1["cases"][name]
    at_1s = next(state for state in case["states"] if state["t"] == 1.0)
    errors = []
    for n in (1000, 2000, 4000):
        sim = satellite(case["inertia_diag"], step=1.0 / n)
        sim.set_body("hub", omega_body=case["omega0_body"])
        sim.advance(n)
        errors.append(attitude_error(sim.state.q[:4], at_1s["q"]))
    assert np.diff(np.log2(errors)) == pytest.approx([-4, -4], abs=0.3)


def test_force_free_flight_is_a_straight_line_however_it_tumbles():
    """v in world axes: p = v t to round-off (k = 40 measured over 2000 sums of 7.5 m)."""
    sim = satellite()
    sim.set_body("hub", omega_body=(10.0, 50.0, 3.0), velocity=(7500.0, -1.0, 2.0))
    sim.advance(2000)
    assert sim.state.q[4:] == pytest.approx(np.multiply((7500.0, -1.0, 2.0), 2.0), rel=200 * EPS)
    assert sim.state.v[3:].tolist() == [7500.0, -1.0, 2.0]


def test_throw_is_a_parabola():
    """Uniform gravity: RK4 is exact for polynomials of degree 2; round-off only (k = 60 measured, 1000 steps)."""
    g, v0, T = np.array([0.0, 0.0, -9.81]), np.array([3.0, 0.0, 12.0]), 2.0
    sim = satellite(gravity=g, step=2e-3)
    sim.set_body("hub", velocity=v0, omega_body=(0.0, 4.0, 0.0))
    sim.advance(1000)
    assert sim.state.q[4:] == pytest.approx(v0 * T + g * T * T / 2, abs=1000 * EPS * 20)


def test_pulse_gives_exactly_its_impulse():
    """F for n steps: ΔP = F n h, to the rounding of n sums."""
    sim = satellite()
    sim.set_body("hub", omega_body=(1.0, 2.0, 3.0))
    force = (0.3, -0.7, 1.1)
    sim.command(WrenchCommand(Wrench("hub", force, (0.0, 0.0, 0.0), "world", "com"), 100_000_000))
    sim.advance(250)
    assert sim.sample().momentum == pytest.approx(np.multiply(force, 0.1), rel=100 * EPS)


def test_force_off_the_centre_of_mass_gives_its_arm_times_force():
    """At rest, one short push at the origin, CoM at (0, 0, -1): L about the CoM grows by r × F h (r = 1 m up)."""
    sim = satellite(com=(0.0, 0.0, -1.0), step=1e-6)
    sim.command(WrenchCommand(Wrench("hub", (2.0, 0.0, 0.0), (0.0, 0.0, 0.0), "body", "origin"), 1000))
    sim.advance(1)
    assert sim.sample().angular_momentum_com == pytest.approx((0.0, 2.0e-6, 0.0), rel=1e-12, abs=1e-18)


def test_body_axes_turn_with_the_body_and_world_axes_do_not():
    """A body turned 90 deg about z: force along its x is a force along the world's y."""
    pushes = {"body": (0.0, 1.0, 0.0), "world": (1.0, 0.0, 0.0)}
    for frame, direction in pushes.items():
        sim = satellite()
        sim.set_body("hub", euler=("ZYX", math.pi / 2, 0.0, 0.0))
        sim.command(WrenchCommand(Wrench("hub", (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), frame, "com"), 1_000_000))
        sim.advance(1)
        assert sim.sample().momentum == pytest.approx(np.multiply(direction, 1e-3), abs=1e-18)


def test_turning_the_world_turns_the_motion():
    """Symmetry: start, gravity and world force turned by Q: positions are Q p, rates in the body stay (k = 30)."""
    q_turn = (0.4, -0.5, 0.6, math.sqrt(1 - 0.16 - 0.25 - 0.36))
    states = []
    for q in ((1.0, 0.0, 0.0, 0.0), q_turn):
        R = np.array(rotation(q))
        sim = satellite(gravity=R @ (0.1, 0.2, -9.0))
        sim.set_body("hub", quaternion=q, velocity=R @ (1.0, 2.0, 3.0), omega_body=(0.5, 1.0, -2.0))
        sim.command(
            WrenchCommand(Wrench("hub", tuple(R @ (1.0, 0.0, 2.0)), tuple(R @ (0.1, 0.2, 0.3)), "world", "com"), 10**9)
        )
        sim.advance(500)
        states.append(sim.state)
    assert states[1].v[:3] == pytest.approx(states[0].v[:3], abs=500 * 4 * EPS)
    assert states[1].q[4:] == pytest.approx(R @ states[0].q[4:], abs=500 * 4 * EPS)


def test_full_tensor_moves_like_its_principal_axes():
    """The same body described in axes turned by R: ω transforms as a vector, to round-off."""
    q = np.array([0.8, 0.1, -0.5, math.sqrt(1 - 0.64 - 0.01 - 0.25)])
    R = np.array(rotation(tuple(q)))
    principal = satellite((2.0, 3.0, 4.0))
    turned = satellite(R.T @ np.diag((2.0, 3.0, 4.0)) @ R)
    w0 = np.array([1.0, 2.0, -1.5])
    principal.set_body("hub", omega_body=w0)
    turned.set_body("hub", omega_body=R.T @ w0, quaternion=q)
    for sim in (principal, turned):
        sim.advance(3000)
    assert R @ turned.state.v[:3] == pytest.approx(principal.state.v[:3], abs=3000 * 4 * EPS)


def test_invariants_of_a_moving_tumbling_body():
    """E, P, L from the textbook's formulas on the start."""
    mass, inertia, w, v, p = (
        5.0,
        np.diag((2.0, 3.0, 4.0)),
        *np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 1.0], [0.0, 7.0, 2.0]]),
    )
    sim = satellite(gravity=(0.0, 0.0, -9.81))
    q = (0.5, 0.5, -0.5, 0.5)
    sim.set_body("hub", position=p, velocity=v, omega_body=w, quaternion=q)
    sample, R = sim.sample(), np.array(rotation(q))
    assert sample.energy.kinetic == pytest.approx(mass * v @ v / 2 + w @ inertia @ w / 2, rel=4 * EPS)
    assert sample.energy.potential == pytest.approx(mass * 9.81 * 2.0, rel=4 * EPS)
    assert sample.momentum == pytest.approx(mass * v, rel=4 * EPS)
    assert sample.angular_momentum_com == pytest.approx(R @ inertia @ w, abs=100 * EPS)
    assert sample.angular_momentum == pytest.approx(R @ inertia @ w + mass * np.cross(p, v), abs=400 * EPS)


def test_a_state_that_leaves_the_numbers_is_reported_and_the_last_good_one_kept():
    from rbt_ros.errors import SolveError

    sim = satellite()
    sim.set_body("hub", omega_body=(1e160, 2e160, 3e160))
    before = sim.state
    with pytest.raises(SolveError, match=r"tick 1, t = 0.001 s: non-finite state at hinge 'hub'; the last good state"):
        sim.advance(10)
    after = sim.state
    assert after.t_ns == 0 and np.array_equal(after.q, before.q) and np.array_equal(after.v, before.v)


def test_columns_of_the_model_do_not_overlap():
    starts = [t.MASS, t.COM, t.INERTIA, t.POINT, t.TURN, t.AXIS, t.AXIS2, t.BODY_COLUMNS]
    assert np.diff(starts).tolist() == [1, 3, 6, 3, 4, 3, 3]
