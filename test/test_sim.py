"""Simulation: time, commands, samples, and that nothing but scenario and commands decides the bits."""

import math

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.checkpoint import load_state, save_state
from rbt_ros.errors import MessageError, ModelError, ScenarioError, SolveError
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.sim import Simulation

EPS = np.finfo(float).eps
PUSH = WrenchCommand(Wrench("cubesat", (0.1, 0.2, 0.3), (0.01, 0.0, 0.02), "world", "com"), 50_000_000)


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


def test_what_rounding_has_kept_back_is_forgotten_with_the_motion():
    """Beside the positions of free bodies stands what they have lost to rounding; a new start begins without."""
    robot = rbt.RobotBuilder("probe").body("hub", mass=1, inertia=(1, 2, 2.5)).build()
    sim = Simulation(robot)
    digests = set()
    for again in (lambda: None, sim.reset, sim.reset):
        again()
        sim.set_body("hub", position=(1e6, 0, 0), velocity=(7123.456, 0.1, 0.3))
        sim.advance(300)
        digests.add(sim.digest())
    assert len(digests) == 1
    assert sim._mech.carry.any()


def test_reset_returns_to_what_was_set_before_the_first_step():
    robot = rbt.load("cubesat").robot
    sim = Simulation(robot)
    sim.set_body("cubesat", omega_body=(1.0, 2.0, 3.0))
    start = sim.digest()
    sim.advance(3)
    sim.set_body("cubesat", omega_body=(0.0, 0.0, 0.0))
    sim.reset()
    assert sim.digest() == start


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
    sim.command(WrenchCommand(PUSH.wrench._replace(force=(0.0, 0.0, -1.0)), 10_000_000))
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
        sim.command(PUSH._replace(wrench=PUSH.wrench._replace(**change)))
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
    sim.set_body("cubesat", omega_body=scenario.start_bodies["cubesat"].omega_body)
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
        ({"integrator": "magic"}, "'magic' is no integrator; there are dop853, dop853_adaptive"),
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
    with pytest.raises(ModelError, match="omega_body of body 'cubesat': .* must be 3 finite numbers in rad/s"):
        sim.set_body("cubesat", omega_body=(math.nan, 0, 0))
    with pytest.raises(ModelError, match="is zero and has no direction"):
        sim.set_body("cubesat", quaternion=(0, 0, 0, 0))
    assert sim.digest() == cubesat().digest()


# hinges

PENDULUM = """\
rbt: 1
robot:
  bodies: {rod: {mass: 2, inertia: [0.1, 0.1, 0.01], com: [0, 0, -0.5]}}
  hinges: {pivot: {kind: revolute, parent: world, child: rod, at: [0, 0, 1], axis: [0, 1, 0]}}
gravity: [0, 0, -9.81]
integrator: dop853
start: {hinges: {pivot: {angle: 2 rad, rate: 0}}}
duration: 2 s
"""


def test_a_pendulum_keeps_its_energy_and_its_period():
    """T = 4 K(sin²(θ0/2)) sqrt(J / (m g l)), J about the hinge: back after T (interpolated)."""
    from scipy.special import ellipk

    sim = Simulation.of(scenario_from_text(PENDULUM))
    period = 4 * ellipk(math.sin(1.0) ** 2) * math.sqrt((0.1 + 2 * 0.25) / (2 * 9.81 * 0.5))
    result = sim.run(2.5)
    pivot = result.hinge("pivot")
    turning = np.nonzero((pivot.rate[:-1] > 0) & (pivot.rate[1:] <= 0))[0][-1]  # where it stands still again
    share = pivot.rate[turning] / (pivot.rate[turning] - pivot.rate[turning + 1])
    assert result.t[turning] + share * 1e-3 == pytest.approx(period, abs=1e-6)  # the rate bends by h² θ''' / 8
    assert np.abs(result.energy.total - result.energy.total[0]).max() < 1e-12 * result.energy.kinetic.max()
    kept = result.samples[-1].conservation
    assert abs(kept.energy) < 1e-12 and math.isnan(kept.momentum) and math.isnan(kept.angular_momentum)


def test_what_a_damper_takes_is_not_called_drift():
    damped = scenario_from_text(PENDULUM.replace("axis: [0", "damping: 0.1, axis: [0"))
    sim = Simulation.of(damped)
    sim.advance(100)
    assert math.isnan(sim.sample().conservation.energy)


def test_effort_on_a_hinge_turns_it_by_its_law():
    """No gravity: J θ'' = τ for 0.5 s, then a constant rate."""
    text = PENDULUM.replace("-9.81", "0").replace("angle: 2 rad", "angle: 0")
    sim = Simulation.of(scenario_from_text(text + "inputs: [{hinge: pivot, effort: 3, to: 0.5 s}]\n"))
    pivot = sim.run(1.0, every=0.5).hinge("pivot")
    rate = 3 / 0.6 * 0.5
    assert pivot.rate == pytest.approx([0, rate, rate], rel=1e-12)
    assert pivot.angle == pytest.approx([0, rate * 0.25, rate * 0.75], rel=1e-12)
    sim.set_effort("pivot", -3)
    sim.advance(500)
    assert sim.state.v == pytest.approx([0], abs=1e-12)


def test_internal_efforts_leave_momentum_alone():
    """A floating pair of bodies on a hinge: P and L about the CoM stay zero, however the hinge is driven."""
    b = rbt.RobotBuilder("pair")
    b.body("left", mass=2, inertia=(1, 2, 2.5), com=(0.1, 0, 0)).body(
        "right", mass=1, inertia=(0.5, 0.5, 0.5), com=(1, 0, 0)
    )
    b.hinge("knee", "spherical", parent="left", child="right", at=(1, 0, 0))
    sim = Simulation(b.build(), integrator="dop853")
    sim.set_effort("knee", (1.0, -2.0, 0.5))
    sim.advance(1000)
    sample = sim.sample()
    assert np.abs(sample.momentum).max() < 1e-13 and np.abs(sample.angular_momentum_com).max() < 1e-13
    assert sample.energy.kinetic > 1
    hinge = sim.run(1.0).hinge("knee")
    assert np.linalg.norm(hinge.quaternion[0]) == pytest.approx(1) and np.linalg.norm(hinge.omega[0]) > 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (dict(position=(1, 2)), "position of hinge 'pivot': .* must be one finite number in rad or m"),
        (dict(rate=math.inf), "rate of hinge 'pivot': inf must be one finite number"),
        (dict(euler=("ZXZ", 0, 0, 0)), "hinge 'pivot' is revolute: it takes position and rate"),
    ],
)
def test_hinge_starts_that_cannot_be(call, message):
    sim = Simulation.of(scenario_from_text(PENDULUM))
    with pytest.raises(ModelError, match=message):
        sim.set_hinge("pivot", **call)
    with pytest.raises(ModelError, match="has no hinge 'elbow'; it has pivot"):
        sim.set_hinge("elbow", 0.0)


# functions of time

STILL = PENDULUM.replace("-9.81", "0").replace("angle: 2 rad", "angle: 0")


def test_every_form_of_the_same_signal_moves_alike():
    """τ = 3 sin(2 t): as sines, as a fine cubic table, as a Python function; θ = 3/(J ω²) (ω t - sin ω t)."""
    w, end = 2.0, 1.0
    exact = 3 / (0.6 * w * w) * (w * end - math.sin(w * end))
    times = np.linspace(0, end, 101)
    signals = [
        rbt.sines([(1.0, w, 0.0)]),
        rbt.table(times, np.sin(w * times), "cubic"),
        lambda t: math.sin(w * t),
    ]
    angles = []
    for signal in signals:
        sim = Simulation.of(scenario_from_text(STILL.replace("dop853", "rk4")))
        sim.add_input(rbt.Effort("pivot", (3.0,)), stop=end, signal=signal)
        angles.append(sim.run(end, every=end).hinge("pivot").angle[-1])
    assert angles[0] == pytest.approx(exact, rel=1e-12)  # h⁴ of 1 ms, over 4 ω⁴: below 1e-13
    assert angles[1] == pytest.approx(exact, rel=1e-8)  # knots every 10 ms: (ω 10 ms)⁴ / 384
    assert angles[2] == pytest.approx(angles[0], rel=1e-13)


def test_signals_in_a_scenario_act_in_their_time():
    """A ramp as polynomial from 0.2 s to 0.6 s, its own time starting with it: P = F s²/2."""
    text = SCENARIO.replace("[0, 0, -10]", "[0, 0, 0]")
    ramp = (
        "inputs: [{wrench: hub, force: [4, 0, 0], frame: world, from: 0.2 s, to: 0.6 s, signal: {polynomial: [0, 1]}}]"
    )
    sim = Simulation.of(scenario_from_text(text.replace(text.splitlines()[3], ramp)))
    result = sim.run(1.0, every=0.1)
    s = np.clip(result.t - 0.2, 0, 0.4)
    assert result.momentum[:, 0] == pytest.approx(4 * s * s / 2, abs=1e-13)


def test_a_controller_holds_what_it_sets_over_each_span():
    """Bang-bang by sign of the rate: the pendulum without gravity is braked to rest and stays within one span of it."""
    sim = Simulation.of(scenario_from_text(STILL))
    sim.set_hinge("pivot", rate=1.0)
    brake = 0.6
    result = sim.run(3.0, 0.01, controller=lambda s: s.set_effort("pivot", -brake * math.copysign(1, s.state.v[0])))
    assert np.abs(result.hinge("pivot").rate[-50:]).max() <= brake / 0.6 * 0.01 + 1e-12


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rbt.table([0, 1], [1]), "table: 2 times and 1 values"),
        (lambda: rbt.table([0, 0], [1, 2]), "the times must rise, and 0 s follows 0 s"),
        (lambda: rbt.table([-1e300, 0], [1, 2]), r"table: time 1e\+300 s lies beyond 9e\+09 s, up to which scenario"),
        (lambda: rbt.table([0, 1], [1, 2], "wavy"), "'wavy' is not one of hold, linear, cubic"),
        (lambda: rbt.polynomial([]), "there is no coefficient"),
        (lambda: rbt.polynomial([math.nan]), "polynomial: nan is not finite"),
        (lambda: rbt.polynomial("x"), "polynomial: 'x' is neither a number nor a regular array of numbers"),
        (lambda: rbt.polynomial(1.0), "polynomial: 1.0 is not a list of numbers"),
        (lambda: rbt.table(1, 2), "table: times: 1 is not a list of numbers"),
        (lambda: rbt.table([0, 1], [1, 2], None), "'None' is not one of hold, linear, cubic"),
        (lambda: rbt.sines(3.0), "sines: each term is .*, not 3.0"),
        (lambda: rbt.sines([(1, "fast", 0)]), r"sines: \[\(1, 'fast', 0\)\] is neither a number nor a regular array"),
        (lambda: rbt.sines([], offset=math.inf), "sines: offset: inf is not finite"),
        (lambda: rbt.sines([(1, 2)]), r"each term is \(amplitude, omega in rad/s, phase in rad\)"),
    ],
)
def test_signals_that_cannot_be(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_only_a_robot_is_simulated():
    """A builder, or a scenario, in its place is told the call that is missing."""
    for given in (rbt.RobotBuilder("r").body("a", mass=1, inertia=(1, 1, 1)), rbt.load("cubesat"), "cubesat", None):
        with pytest.raises(
            ScenarioError, match=r"is no Robot .* RobotBuilder.build\(\) makes one, and rbt.load\(name\)"
        ):
            Simulation(given)


@pytest.mark.parametrize("wrong", ["x", {}, [[1, 2], [3]], (1, 2), math.nan, None])
def test_starts_that_are_no_numbers_change_nothing(wrong):
    sim = Simulation.of(scenario_from_text(STILL))
    digest = sim.digest()
    if wrong is not None:
        with pytest.raises(ModelError, match="position of hinge 'pivot'"):
            sim.set_hinge("pivot", wrong)
    with pytest.raises(ModelError, match="has no hinge .*; it has pivot"):
        sim.set_hinge(wrong, 1.0)
    assert sim.digest() == digest


def test_functions_that_fail_say_when():
    sim = Simulation.of(scenario_from_text(STILL))
    with pytest.raises(ModelError, match="input function at t = 0.5.* returned nan"):
        sim.add_input(rbt.Effort("pivot", (1.0,)), stop=1.0, signal=lambda t: math.nan if t >= 0.5 else 0.0)
    with pytest.raises(
        ModelError, match="input function at t = 0 s: float division by zero; it must return one number"
    ):
        sim.add_input(rbt.Effort("pivot", (1.0,)), stop=1.0, signal=lambda t: 1.0 / t)
    with pytest.raises(ScenarioError, match="a Python function as signal needs stop="):
        sim.add_input(rbt.Effort("pivot", (1.0,)), signal=math.sin)


def test_energy_that_drifts_is_told_before_the_numbers_end():
    """51 rad/s in steps of 20 ms: RK4 loses a hundredth of the energy within seconds. Told once."""
    scenario = rbt.load("cubesat")
    sim = Simulation(scenario.robot, step=20e-3)
    sim.set_body("cubesat", omega_body=scenario.start_bodies["cubesat"].omega_body)
    with pytest.warns(UserWarning, match=r"t = .* s: the energy has drifted by -0.* a smaller step") as told:
        sim.run(10.0, 0.1)
    assert len(told) == 1


@pytest.mark.parametrize("integrator", ["rk4", "semi_implicit"])
def test_energy_that_drifts_is_told_also_where_the_numbers_end_before_the_next_sample(integrator):
    """A spring of 1e8 N·m/rad in steps of 1 ms: over within a few ticks, the first sample would come after 100."""
    b = (
        rbt.RobotBuilder("stiff")
        .body("rod", mass=1, inertia=(1, 1, 1))
        .body("tip", mass=1, inertia=(1, 1, 1), com=(0, 0, 1))
    )
    b.hinge("pivot", "spherical", parent="world", child="rod")
    b.hinge("elbow", "revolute", parent="rod", child="tip", axis=(0, 1, 0), at=(0, 0, 1), stiffness=1e8)
    sim = Simulation(b.build(), integrator=integrator)
    sim.set_hinge("elbow", 0.5)
    with (
        pytest.warns(UserWarning, match="t = .* s: the energy has drifted by"),
        pytest.raises(SolveError, match="tick .* non-finite state at hinge '.*'; the last good state is kept"),
    ):
        sim.run(1.0, 0.1)
    assert np.isfinite(sim.state.q).all() and 0 < sim.tick < 100


def test_a_circular_orbit_closes():
    """v = sqrt(mu/r): after 2 pi sqrt(r³/mu) it is back. Energy is kept, momentum is not claimed to be."""
    mu, r = 3.986004418e14, 7e6
    robot = rbt.RobotBuilder("probe").body("hub", mass=5, inertia=(1e-3, 1e-3, 1e-3)).build()
    sim = Simulation(robot, attraction=mu, step=10.0, integrator="dop853")
    sim.set_body("hub", position=(r, 0, 0), velocity=(0, math.sqrt(mu / r), 0))
    period = 2 * math.pi * math.sqrt(r**3 / mu)
    result = sim.run(10 * round(period / 10), every=10)
    phase = (result.t[-1] - period) * math.sqrt(mu / r**3)
    assert result.body("hub").position[-1] == pytest.approx((r * math.cos(phase), r * math.sin(phase), 0), abs=1e-3)
    kept = result.samples[-1].conservation
    assert abs(kept.energy) < 1e-12 and math.isnan(kept.momentum)
    with pytest.raises(ScenarioError, match="mu must be finite and not negative"):
        Simulation(robot, attraction=-1.0)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda sim: sim.advance(0.5), "ticks 0.5 must be a whole number"),
        (lambda sim: sim.advance(math.inf), "ticks inf must be a whole number"),
        (lambda sim: sim.advance("3"), "ticks '3' must be a whole number"),
        (lambda sim: sim.advance(-1), "ticks -1 must not be negative"),
        (lambda sim: sim.run(math.nan), "until nan s must lie between 0 and 9e\\+09 s"),
        (lambda sim: sim.run(math.inf), "until inf s must lie between 0"),
        (lambda sim: sim.run("1"), "until: '1' is neither a number"),
        (lambda sim: sim.run(0.01, every=0.0), "every 0.0 s must be a positive time"),
        (lambda sim: sim.run(0.01, every=math.nan), "every nan s must be a positive time"),
        (lambda sim: sim.run(0.01, progress="bar"), "progress 'bar' is not a function"),
        (lambda sim: sim.run(0.01, controller=3), "controller 3 is not a function"),
        (lambda sim: sim.add_input(rbt.Wrench("cubesat"), stop=math.inf), "stop inf s must lie between 0"),
        (lambda sim: sim.add_input(rbt.Wrench("cubesat"), start="now"), "start: 'now' is neither a number"),
        (lambda sim: rbt.Simulation(sim.robot, step="1 ms"), "step: '1 ms' is neither a number"),
        (lambda sim: rbt.Simulation(sim.robot, step=1e300), "step 1e\\+300 s must be a positive whole number"),
        (lambda sim: rbt.Simulation(sim.robot, gravity="down"), "gravity: 'down' is neither a number"),
        (lambda sim: rbt.Simulation(sim.robot, rtol="fine"), "rtol: 'fine' is neither a number"),
        (lambda sim: rbt.Simulation(sim.robot, attraction="earth"), "attraction: 'earth' is neither a number"),
    ],
)
def test_what_is_no_time_and_no_number_changes_nothing(call, text):
    sim = rbt.load("cubesat").simulation()
    sim.advance(np.int64(2))
    before = sim.digest()
    with pytest.raises(ScenarioError, match=text):
        call(sim)
    assert sim.digest() == before and sim.tick == 2


def driven_pendulum(step=2e-3, integrator="dop853"):
    """A pendulum with a torque that comes and goes between the ticks of any step."""
    b = rbt.RobotBuilder("pendulum")
    b.body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), com=(0, 0, -0.5))
    b.hinge("pivot", "revolute", parent="world", child="bob", axis=(0, 1, 0), at=(0, 0, 0))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=step, integrator=integrator)
    sim.add_input(rbt.Effort("pivot", (0.4,)), start=0.02, stop=0.08, signal=rbt.sines([(1.0, 30.0, 0.5)]))
    return sim


def test_a_new_step_acts_from_its_tick_and_inputs_keep_their_times():
    """Steps of 2, 1, 3 ms and what is left, changed while the input acts, come to where steps of 0.5 ms do."""
    fine, mixed = driven_pendulum(0.5e-3), driven_pendulum()
    fine.run(until=0.1, every=0.1)
    for step, until in ((2e-3, 0.03), (1e-3, 0.05), (3e-3, 0.098)):
        mixed.set_step(step)
        mixed.run(until=until)
    mixed.set_step(0.1 - mixed.sample().t)
    mixed.advance()
    assert mixed.t_ns == fine.t_ns == 100_000_000
    assert mixed.state.q[0] == pytest.approx(fine.state.q[0], abs=1e-12)
    assert mixed.state.v[0] == pytest.approx(fine.state.v[0], abs=1e-11)


def test_step_and_integrator_are_kept_by_reset_and_by_checkpoints(tmp_path):
    sim = driven_pendulum()
    sim.advance(20)
    sim.set_step(1e-3)
    sim.set_integrator("rk4")
    sim.advance(7)
    save_state(sim, tmp_path / "x.json")
    sim.advance(50)
    other = driven_pendulum()
    load_state(other, tmp_path / "x.json")
    assert (other.h_ns, other.integrator, other.t_ns) == (1_000_000, "rk4", 47_000_000)
    other.advance(50)
    assert other.digest() == sim.digest()
    fresh = driven_pendulum(1e-3, "rk4")
    sim.reset()
    for each in (sim, fresh):
        each.advance(100)
    assert sim.digest() == fresh.digest()


def test_a_step_or_integrator_that_cannot_be_is_refused_and_nothing_changes():
    sim = driven_pendulum()
    sim.advance(3)
    before = sim.digest()
    with pytest.raises(ScenarioError, match=r"step 1e-10 s must be a positive whole number of nanoseconds"):
        sim.set_step(1e-10)
    with pytest.raises(ScenarioError, match=r"'rk5' is no integrator; there are dop853"):
        sim.set_integrator("rk5")
    with pytest.raises(ScenarioError, match=r"integrator 'exact' moves one floating body"):
        sim.set_integrator("exact")
    assert (sim.digest(), sim.h_ns, sim.integrator) == (before, 2_000_000, "dop853")
    top = cubesat()
    top.add_input(rbt.Wrench("cubesat", force=(1.0, 0.0, 0.0)))
    with pytest.raises(ScenarioError, match=r"integrator 'exact' moves a torque-free body; use rk4 or dop853"):
        top.set_integrator("exact")


def test_a_function_sampled_at_the_stages_holds_the_step_until_it_has_ended():
    sim = driven_pendulum()
    sim.add_input(rbt.Effort("pivot", (1.0,)), start=0.0, stop=0.01, signal=math.sin)
    with pytest.raises(ScenarioError, match=r"the step cannot change before 0.01 s: the Python function"):
        sim.set_step(1e-3)
    with pytest.raises(ScenarioError, match=r"the integrator cannot change before 0.01 s"):
        sim.set_integrator("rk4")
    sim.run(until=0.01)
    sim.set_step(1e-3)
    assert sim.h_ns == 1_000_000


def test_a_floating_body_changes_between_closed_form_and_steps():
    """Torque-free: exact to 0.1 s, RK4 for 0.1 s, exact again; what RK4 errs is all that differs."""
    exact, mixed = cubesat(), cubesat()
    exact.set_integrator("exact")
    exact.run(until=0.3, every=0.1)
    for integrator, until in (("exact", 0.1), ("dop853", 0.2), ("exact", 0.3)):
        mixed.set_integrator(integrator)
        mixed.run(until=until, every=0.1)
    assert np.abs(mixed.state.q - exact.state.q).max() < 1e-11


def test_samples_that_cannot_come_as_often_as_asked_for_are_warned_of():
    with pytest.warns(UserWarning, match=r"every 0.003 s is no whole number of steps of 2 ms: .* every 0.004 s"):
        result = driven_pendulum().run(until=0.1, every=0.003)
    assert result.t[1] == 0.004


def test_a_state_so_large_that_its_energy_is_infinite_is_none():
    sim = rbt.load("cubesat").simulation()
    start = sim.digest()
    sim.command(WrenchCommand(Wrench("cubesat", (1e160, 0.0, 0.0), frame="world"), 10**9))
    with pytest.raises(rbt.SolveError, match="non-finite state"):
        sim.advance(1)
    assert sim.digest() == start
