"""Simulation: time, commands, samples, and that nothing but scenario and commands decides the bits."""

import math

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.errors import MessageError, ModelError, ScenarioError
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.sim import Simulation, WrenchCommand

EPS = np.finfo(float).eps
PUSH = WrenchCommand("cubesat", (0.1, 0.2, 0.3), (0.01, 0.0, 0.02), "world", "com", hold_ns=50_000_000)


def cubesat():
    """The shipped scenario's simulation."""
    return rbt.load("cubesat").simulation()


def test_however_it_is_cut_into_calls_and_looked_at_the_bits_are_the_same():
    whole, cut = cubesat(), cubesat()
    whole.advance(30)
    whole.command(PUSH)
    whole.advance(170)
    for chunk in (1, 2, 27):
        cut.advance(chunk)
        cut.sample()
    cut.command(PUSH)
    while cut.tick < 200:
        cut.advance(min(7, 200 - cut.tick))
        cut.sample()
    assert cut.digest() == whole.digest()


def test_the_digest_sees_one_bit():
    one, other = cubesat(), cubesat()
    w = np.nextafter(42.55072166726183, 50)
    other.set_body("cubesat", omega_body=(0.0, 28.12297962442758, w))
    assert one.digest() != other.digest()


def test_reset_returns_to_the_start_and_forgets_commands():
    sim = cubesat()
    fresh = sim.digest()
    sim.command(PUSH)
    sim.advance(5)
    sim.reset()
    assert sim.digest() == fresh
    sim.advance(100)
    other = cubesat()
    other.advance(100)
    assert sim.digest() == other.digest()


def test_a_command_acts_from_the_next_step_for_its_hold_time():
    sim = cubesat()
    sim.advance(10)
    latched = sim.command(PUSH)
    assert (latched.first, latched.end) == (10, 60)
    momenta = [sim.sample().momentum]
    for _ in range(60):
        sim.advance(1)
        momenta.append(sim.sample().momentum)
    steps = np.diff(np.array(momenta)[:, 2])
    assert steps[:50] == pytest.approx(0.3e-3, rel=1e-12)
    assert (steps[50:] == 0).all()


def test_the_last_command_on_a_body_wins():
    sim = cubesat()
    sim.command(PUSH)
    sim.command(PUSH._replace(force=(0.0, 0.0, -1.0), hold_ns=10_000_000))
    sim.advance(100)
    assert sim.sample().momentum == pytest.approx((0, 0, -0.01), abs=1e-15)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"force": (math.nan, 0, 0)}, "wrench on 'cubesat': force .* must be three finite numbers"),
        ({"moment": (0, math.inf, 0)}, "wrench on 'cubesat': moment .* must be three finite numbers"),
        ({"body": "moon"}, "has no body 'moon'; it has cubesat"),
    ],
)
def test_a_bad_command_is_refused_as_a_whole(change, message):
    sim, other = cubesat(), cubesat()
    with pytest.raises(MessageError, match=message):
        sim.command(PUSH._replace(**change))
    sim.advance(100)
    other.advance(100)
    assert sim.digest() == other.digest()


SCENARIO = """\
rbt: 1
robot: {bodies: {hub: {mass: 2, inertia: [1, 1, 1], com: [0, 0, 0.5]}}}
gravity: [0, 0, -10]
inputs: [{wrench: hub, force: [4, 0, 0], frame: world, from: 10 ms, to: 30 ms}]
start: {bodies: {hub: {position: [1, 2, 3], velocity: [0, 1, 0], omega_body: [1, 0, 0]}}}
"""


def test_planned_inputs_act_on_their_ticks():
    sim = Simulation.of(scenario_from_text(SCENARIO))
    result = sim.run(0.05)
    expected = 4 * np.clip(result.t - 0.01, 0, 0.02)
    assert result.momentum[:, 0] == pytest.approx(expected, abs=1e-15)


def test_a_body_frame_off_its_centre_of_mass():
    """The face speaks of the link frame: p_com = p + R com, v_com = v + ω × R com; the rest is Newton's."""
    sim = Simulation.of(scenario_from_text(SCENARIO))
    start = sim.sample()
    assert start.pose[0].tolist() == [1, 0, 0, 0, 1, 2, 3] and start.twist[0].tolist() == [1, 0, 0, 0, 1, 0]
    assert start.com == (1, 2, 3.5)
    assert start.momentum == pytest.approx((0, 2 * (1 - 0.5), 0))  # ω × r = (1, 0, 0) × (0, 0, 0.5) = (0, -0.5, 0)
    sim.advance(1000)
    body = sim.run(sim.t_ns * 1e-9).body("hub")
    assert body.com[0] == pytest.approx((1 + 0.5 * 2 * 0.02**2 + 0.04 * 0.97, 2.5, 3.5 - 5), abs=1e-12)
    assert np.linalg.norm(body.com[0] - body.position[0]) == pytest.approx(0.5, rel=1e-12)
    assert body.omega_body[0] == pytest.approx((1, 0, 0), abs=1e-14)


def test_set_body_keeps_what_is_not_given():
    sim = Simulation.of(scenario_from_text(SCENARIO))
    sim.set_body("hub", quaternion=(0, 1, 0, 0))
    sample = sim.sample()
    assert sample.pose[0] == pytest.approx([0, 1, 0, 0, 1, 2, 3]) and sample.twist[0] == pytest.approx(
        [1, 0, 0, 0, 1, 0]
    )
    assert sample.com == pytest.approx((1, 2, 2.5))


def test_conservation_is_counted_from_the_last_input_and_allows_for_gravity():
    sim = Simulation.of(scenario_from_text(SCENARIO))
    sim.advance(20)
    assert sim.sample().conservation.since_ns == 20_000_000  # the force acts: nothing to compare with
    sim.advance(10)
    sim.sample()
    sim.advance(970)
    kept = sim.sample().conservation
    assert kept.since_ns == 30_000_000
    assert (
        abs(kept.energy) < 1e-12
        and kept.momentum < 1e-12
        and kept.angular_momentum < 1e-12
        and kept.quaternion < 4 * EPS
    )


def test_conservation_tells_a_real_drift():
    """A step of 5 ms is coarse for 51 rad/s: energy falls by parts in 10⁴, and the sample says so."""
    scenario = rbt.load("cubesat")
    sim = Simulation(scenario.robot, step=5e-3)
    sim.set_body("cubesat", omega_body=scenario.start["cubesat"].omega_body)
    first = sim.sample()
    sim.advance(2000)
    last = sim.sample()
    change = (last.energy.total - first.energy.total) / 20
    assert last.conservation.energy == pytest.approx(change, rel=1e-3) and abs(change) > 1e-5


def test_run_ends_where_it_is_told_and_reports_progress():
    sim, told = cubesat(), []
    result = sim.run(0.1, every=0.03, progress=told.append)
    assert result.t == pytest.approx([0, 0.03, 0.06, 0.09, 0.1]) and told[-1] == 1.0
    with pytest.raises(ScenarioError, match="until 0.05 s lies before now, 0.1 s; reset"):
        sim.run(0.05)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"integrator": "magic"}, "integrator 'magic' is not one of rk4"),
        ({"step": 0}, "step 0 s must be a positive whole number of nanoseconds"),
        ({"step": 1.5e-10}, "must be a positive whole number of nanoseconds"),
        ({"step": math.nan}, "step nan s must be a positive"),
        ({"gravity": (0, 0)}, "gravity .* must be three finite numbers"),
    ],
)
def test_settings_that_cannot_be(settings, message):
    with pytest.raises(ScenarioError, match=message):
        Simulation(rbt.load("cubesat").robot, **settings)


def test_starts_that_cannot_be():
    sim = cubesat()
    with pytest.raises(ModelError, match="omega_body of body 'cubesat': .* must be three finite numbers in rad/s"):
        sim.set_body("cubesat", omega_body=(math.nan, 0, 0))
    with pytest.raises(ModelError, match="is zero and has no direction"):
        sim.set_body("cubesat", quaternion=(0, 0, 0, 0))
    assert sim.digest() == cubesat().digest()
