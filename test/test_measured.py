"""Joints that follow measurements which come while a simulation runs: how near, how smooth, and what when none come."""

import math

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.scenario import scenario_from_text

INERTIA = 0.5  # of the rotor, about its axis


PROMPT = rbt.Measured()


def rotor(how=PROMPT, **options):
    """A wheel on the world, at rest, that follows measurements."""
    b = rbt.RobotBuilder("rotor").body("wheel", mass=1.0, inertia=(0.3, 0.3, INERTIA))
    sim = rbt.Simulation(b.hinge("axle", "revolute", parent="world", child="wheel").build(), **options)
    sim.prescribe("axle", how)
    return sim


def tell(sim, position, velocity=None, age_ns=0, joint="axle"):
    sim.command(rbt.Measurement((joint,), (position,), () if velocity is None else (velocity,), age_ns))


def followed(sim, motion, rate, period, until):
    """Positions and rates of the axle at each tick, while a sample of motion comes every `period` ticks."""
    q, v = [], []
    for k in range(until):
        if k % period == 0:
            tell(sim, motion(k * 1e-3), rate and rate(k * 1e-3))
        sim.advance()
        q.append(sim.state.q[0])
        v.append(sim.state.v[0])
    return np.array(q), np.array(v)


def test_samples_with_rates_are_passed_on_cubics_a_delay_later():
    """A sine sampled at 50 Hz, twice within the delay of 40 ms: each sample is passed exactly, and between them the
    joint is at what was, a delay ago, within the error of a cubic: h⁴/384 of the fourth derivative, of the rate
    √3 h³/216."""
    omega, amplitude = 6.0, 0.7
    motion, rate = (lambda t: amplitude * math.sin(omega * t)), (lambda t: amplitude * omega * math.cos(omega * t))
    q, v = followed(rotor(rbt.Measured(delay=0.04)), motion, rate, 20, 1000)
    t = 1e-3 * np.arange(1, 1001) - 0.04
    late, fourth = t >= 0, amplitude * omega**4
    off = np.abs(q - amplitude * np.sin(omega * t))[late]
    assert off.max() < 1.01 * 0.02**4 / 384 * fourth
    assert np.abs(v - amplitude * omega * np.cos(omega * t))[late].max() < 1.01 * math.sqrt(3) / 216 * 0.02**3 * fourth
    at_samples = np.round(t[late] * 1e3).astype(int) % 20 == 0
    assert at_samples.sum() == 49 and off[at_samples].max() < 1e-12


def test_without_rates_they_come_from_the_sample_before():
    """Backward differences: off by half a period times the acceleration, so the error falls with the period, twice as
    fast in position, over whose cubics it acts for a quarter of a period."""
    errors = []
    for period in (40, 20, 10):
        q, _ = followed(rotor(rbt.Measured(delay=0.04)), lambda t: math.sin(3 * t), None, period, 1000)
        t = 1e-3 * np.arange(1, 1001) - 0.04
        errors.append(np.abs(q - np.sin(3 * t))[t > 0.2].max())
    assert np.diff(np.log2(errors)) == pytest.approx([-2, -2], abs=0.2)


def test_nothing_jumps_whatever_comes_and_the_effort_is_told():
    """Samples at random, some late, some twice within the delay, some 0.4 s apart: a step changes the rate by the mean
    of the efforts at its ends, over I, exactly, but where a sample is passed; there by no more than the largest one."""
    sim, rng, newest, changes, efforts = rotor(rbt.Measured(delay=0.03)), np.random.default_rng(1), -1, [], []
    for k in range(2000):
        age = int(rng.integers(0, 60))
        if rng.uniform() < (0.0 if 1000 < k < 1400 else 0.05) and k - age > newest:
            newest = k - age
            tell(sim, 0.5 * math.sin(4e-3 * newest) + rng.normal(0, 0.01), rng.normal(0, 1.0), age * 1_000_000)
        before = sim.sample()
        sim.advance()
        after = sim.sample()
        changes.append(after.v[0] - before.v[0])
        efforts.append([x.constraints["axle"].effort for x in (before, after)])
    efforts = np.array(efforts)
    off = np.abs(changes - 0.5e-3 * efforts.sum(axis=1) / INERTIA)
    assert np.abs(efforts).max() > 10.0 and (off < 1e-12).mean() > 0.9
    assert np.abs(changes).max() < 1.001e-3 * np.abs(efforts).max() / INERTIA


def test_the_reaction_is_inner_to_a_floating_tree():
    """An arm on a hub in space follows measurements: momenta stay to round-off, and with the work of the drive so does
    the energy balance, within the error of DOP853."""
    b = rbt.RobotBuilder("servicer").body("hub", mass=5.0, inertia=(1, 1.2, 1.4))
    b.body("arm", mass=1.0, inertia=(0.1, 0.12, 0.02), com=(0.4, 0, 0.1))
    b.hinge("elbow", "revolute", parent="hub", child="arm", at=(0.5, 0, 0), axis=(0, 0.6, 0.8))
    sim = rbt.Simulation(b.build(), integrator="dop853", work_of_inputs=True)
    sim.set_body("hub", omega_body=(0.1, 0.2, 0.3), velocity=(0.3, 0, 0))
    sim.prescribe("elbow", rbt.Measured(delay=0.02))
    start = sim.sample()
    for k in range(500):
        if k % 10 == 0:
            tell(sim, math.sin(5e-3 * k), 5 * math.cos(5e-3 * k), joint="elbow")
        sim.advance()
    end = sim.sample()
    assert np.array(end.momentum) == pytest.approx(start.momentum, abs=1e-13)
    assert np.array(end.angular_momentum) == pytest.approx(start.angular_momentum, abs=1e-13)
    assert end.conservation.angular_momentum < 1e-12 and abs(end.conservation.energy) < 1e-10
    assert end.work.inputs > 0.01 and abs(end.constraints["elbow"].effort) > 1e-3


@pytest.mark.parametrize("on_loss", ["hold", "free", "zero"])
def test_a_lost_signal_does_what_was_declared_and_may_come_back(on_loss):
    """1 rad/s until 0.1 s, then silence of 0.2 s: hold comes to rest within the delay, after half of it at that rate;
    free goes on by itself; zero is at 0 after as long again. All at the tick of the timeout, and told."""
    sim = rotor(rbt.Measured(delay=0.02, timeout=0.2, on_loss=on_loss))
    for k in range(0, 101, 10):
        tell(sim, 1e-3 * k, 1.0)
        sim.advance(10 if k < 100 else 200)
    assert sim.t_ns == 300_000_000 and [c.what for c in sim.changes] == ["prescribe"]
    assert sim.state.q[0] == pytest.approx(0.28, abs=1e-12)  # straight on, a delay behind
    sim.sample()  # the next step, or a look, finds that nothing has come
    told = ["prescribe", "lose", "release"] if on_loss == "free" else ["prescribe", "lose"]
    assert [c.what for c in sim.changes] == told and sim.changes[1].t_ns == 300_000_000
    sim.advance(100)
    middle = sim.state
    sim.advance(100)
    end = sim.state
    if on_loss == "hold":
        assert (middle.q[0], middle.v[0]) == (end.q[0], 0.0) and end.q[0] == pytest.approx(0.28 + 0.01, abs=1e-12)
    elif on_loss == "free":
        assert end.q[0] == pytest.approx(0.28 + 0.2, abs=1e-12) and end.v[0] == pytest.approx(1.0, abs=1e-12)
        with pytest.raises(rbt.MessageError, match="joint 'axle' follows no measurements; let it: prescribe it by rbt"):
            tell(sim, 0.0)
        return
    else:
        assert 0.1 < middle.q[0] < 0.2 and end.q[0] == pytest.approx(0, abs=1e-12) and abs(end.v[0]) < 1e-12
    tell(sim, 0.5, 0.0)
    assert sim.changes[-1] == rbt.ModeChange(500_000_000, "find", ("axle",))
    sim.advance(30)
    assert sim.state.q[0] == pytest.approx(0.5, abs=1e-12)


def test_what_a_sample_told_stays_when_the_next_one_comes():
    """Reactions are computed when somebody asks, maybe after the motion is another: still those of their instant."""
    sim = rotor()
    tell(sim, 0.1, 0.0)
    sim.advance(5)
    before = sim.sample()
    tell(sim, -0.2, 1.0)
    assert before.reactions["axle"].moment[2] == pytest.approx(before.constraints["axle"].effort, rel=1e-12)
    assert sim.sample().reactions["axle"].moment[2] != before.reactions["axle"].moment[2]


def test_locked_it_stays_and_unlocked_it_begins_there():
    sim = rotor(rbt.Measured(delay=0.02))
    tell(sim, 0.3, 0.0)
    sim.advance(10)
    sim.lock("axle")
    at = sim.state.q[0]
    tell(sim, 0.4, 0.0)
    sim.advance(50)
    assert sim.state.q[0] == at and 0.1 < at < 0.2
    sim.unlock("axle")
    sim.advance(50)
    assert sim.state.q[0] == pytest.approx(at, abs=1e-14)
    tell(sim, 0.4, 0.0)
    sim.advance(30)
    assert sim.state.q[0] == pytest.approx(0.4, abs=1e-12)


def test_bits_do_not_depend_on_cuts_and_come_back_after_a_reset():
    def go(sim, cut):
        digests = []
        for k in range(6):
            tell(sim, 0.1 * k, 0.5)
            for _ in range(cut):
                sim.advance(20 // cut)
            digests.append(sim.digest())
        sim.advance(400)  # the signal is lost on the way
        return [*digests, sim.digest()]

    how = rbt.Measured(delay=0.05, timeout=0.1, on_loss="zero")
    sim = rotor(how)
    first = go(sim, 1)
    sim.reset()
    assert sim.state.q[0] == 0.0 and [c.what for c in sim.changes] == ["prescribe"]
    assert go(sim, 1) == first
    assert go(rotor(how), 10) == first


SCENARIO = """\
rbt: 1
robot:
  bodies: {wheel: {mass: 1, inertia: [0.3, 0.3, 0.5]}}
  hinges: {axle: {kind: revolute, parent: world, child: wheel}}
inputs:
  - {prescribe: axle, measured: {delay: 30 ms, timeout: 0.5 s, on_loss: free}, at: 0 s}
"""


def test_a_scenario_lets_a_joint_follow():
    sim = rbt.Simulation.of(scenario_from_text(SCENARIO))
    tell(sim, 0.2, 0.0)
    sim.advance(30)
    assert sim.state.q[0] == pytest.approx(0.2, abs=1e-14)
    sim.run(until=0.6)
    assert [c.what for c in sim.changes] == ["prescribe", "lose", "release"]
    for old, new, text in (
        ("on_loss: free", "on_loss: fly", r":6: .*'fly' is not one of hold, free, zero"),
        ("delay: 30 ms", "delay: 0 s", r":6: .*delay 0 s must be positive: a joint cannot jump"),
        ("measured: {", "motion: 0.3, measured: {", r":6: .*give motion, or measured, not both"),
    ):
        with pytest.raises(rbt.ScenarioError, match=text):
            scenario_from_text(SCENARIO.replace(old, new))


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (rbt.Measurement((), ()), "measurement without names; it needs the joints that were measured"),
        (rbt.Measurement(("hand",), (0.0,)), "measurement of joint 'hand', which is not there; joints: axle"),
        (rbt.Measurement(("axle", "axle"), (0.0, 0.0)), "measurement that names a joint more than once"),
        (rbt.Measurement(("axle",), ()), "measurement: 0 numbers as position for 1 joints"),
        (rbt.Measurement(("axle",), (0.0,), (0.0, 1.0)), "measurement: 2 numbers as velocity for 1 joints"),
        (rbt.Measurement(("axle",), (math.nan,)), "measurement: position of joint 'axle' is nan, which is not finite"),
        (rbt.Measurement(("axle",), (0.0,), (), -1), "measurement from 1e-09 s ahead; it is of now, or before"),
        (rbt.Measurement(("axle",), (0.0,), (), 10**7), "at 0.04 s is not newer than the last one"),
    ],
)
def test_what_cannot_be_taken_is_refused_and_changes_nothing(command, text):
    sims = [rotor(), rotor()]
    for sim in sims:
        sim.advance(50)
        tell(sim, 0.1, 0.0, 10_000_000)
    with pytest.raises(rbt.MessageError, match=text):
        sims[0].command(command)
    for sim in sims:
        sim.advance(50)
    assert sims[0].digest() == sims[1].digest()


def test_wrong_ways_to_follow_are_refused_by_name():
    b = rbt.RobotBuilder("rotor").body("wheel", mass=1.0, inertia=(0.3, 0.3, 0.5))
    b.hinge("axle", "revolute", parent="world", child="wheel")
    with pytest.raises(rbt.ModelError, match="prescribed joint 'axle': measurements come while a simulation runs"):
        b.prescribe("axle", rbt.Measured())
    sim = rbt.Simulation(b.build())
    for how, text in (
        (rbt.Measured(delay=0), "measured joint 'axle': delay 0 s must be positive"),
        (rbt.Measured(delay="soon"), "delay of measured joint 'axle': 'soon' is not a number"),
        (rbt.Measured(timeout=-1.0), "timeout -1 s must be positive, or math.inf for never"),
        (rbt.Measured(on_loss="panic"), "on_loss 'panic' is not one of hold, free, zero"),
    ):
        with pytest.raises(rbt.ModelError, match=text):
            sim.prescribe("axle", how)
    with pytest.raises(rbt.ModelError, match="'rotor' has no joint 'hand'"):
        sim.prescribe("hand", rbt.Measured())
    assert sim.changes == ()


def drift_of_a_servicer(integrator, step):
    """[N·s, N·m·s] greatest momenta, about the CoM, of a hub at rest with an arm off its axis that samples move.

    5 ms apart, 5 ms late, 2 in 100 lost.
    """
    b = rbt.RobotBuilder("servicer").body("hub", mass=5.0, inertia=(1, 1.2, 1.4))
    b.body("arm", mass=1.0, inertia=(0.1, 0.12, 0.02), com=(0.4, 0, 0.1))
    b.hinge("elbow", "revolute", parent="hub", child="arm", at=(0.5, 0, 0), axis=(0, 0.6, 0.8))
    sim = rbt.Simulation(b.build(), integrator=integrator, step=step)
    sim.prescribe("elbow", rbt.Measured(delay=0.02, timeout=0.2))
    rng, drift = np.random.default_rng(7), []
    for k in range(1, 161):
        if rng.random() > 0.02:
            tell(sim, 0.4 * math.sin(15e-3 * k), age_ns=5_000_000, joint="elbow")
        sim.run(until=5e-3 * k)
        sample = sim.sample()
        drift.append((np.abs(sample.momentum).max(), np.abs(sample.angular_momentum_com).max()))
    return np.max(drift, axis=0)


def test_the_momentum_of_an_arm_off_its_axis_closes_to_the_order_of_the_integrator():
    """The effort is a reaction, so only truncation is left: none beside rounding with dop853, h⁴ with rk4."""
    assert drift_of_a_servicer("dop853", 1e-3).max() < 1e-10 * 0.4  # [N·s] of the arm itself: 1 kg · 0.4 m · 1 rad/s
    orders = np.log2(drift_of_a_servicer("rk4", 1e-3) / drift_of_a_servicer("rk4", 5e-4))
    assert orders == pytest.approx([4, 4], abs=0.1)


@pytest.mark.parametrize("later", [rbt.Release("axle"), rbt.Prescribe("axle", 0.0)])
def test_a_joint_that_is_still_planned_to_move_otherwise_has_a_source_already(later):
    """Refused by name at once, not as a broken run at that time; what is planned after it ends the following."""
    sim = rbt.Simulation(rotor().robot)
    sim.add_input(later, start=12.0)
    with pytest.raises(rbt.ScenarioError, match=rf"'axle' .* the inputs {type(later).__name__.lower()} it at 12 s"):
        sim.prescribe("axle", PROMPT)
    followed = rotor()
    followed.add_input(rbt.Release("axle"), start=0.01)
    followed.advance(11)
    assert followed.changes[-1].what == "release"
