"""Work of inputs beside the state: energy changes by it, less what is dissipated; the motion keeps its bits."""

import csv
import math

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros import cli, topics
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.scenario import scenario_from_text

EPS = np.finfo(float).eps
STEPPING = ("semi_implicit", "rk4", "dop853", "dop853_adaptive")
ORDER = {"semi_implicit": 1, "rk4": 4, "dop853": 8}


def satellite(**settings):
    """A body that tumbles, its frame 0.2 m beside its centre of mass."""
    robot = rbt.RobotBuilder("sat").body("hub", mass=2.0, inertia=(0.3, 0.4, 0.5), com=(0.2, 0.1, 0)).build()
    sim = rbt.Simulation(robot, **settings)
    sim.set_body("hub", velocity=(0.5, 0, -0.3), omega_body=(1.0, -2.0, 0.7))
    return sim


def pushed(**settings):
    """It, pushed at the origin of its frame in its own axes, and at the CoM in the world's."""
    sim = satellite(**settings)
    sim.add_input(rbt.Wrench("hub", (3.0, 1.0, -2.0), (0.1, 0.4, 0.2), "body", "origin"))
    sim.add_input(rbt.Wrench("hub", (-1.0, 2.0, 0.5), (0.3, 0, 0.1), "world", "com"), signal=rbt.sines([(1, 9, 0.3)]))
    return sim


def driven(**settings):
    """The five bodies under gravity with efforts on a ball and a turning hinge, and a wrench."""
    scenario = rbt.load("five_body")
    sim = rbt.Simulation(scenario.robot, gravity=scenario.gravity, **settings)
    for name, start in scenario.start_hinges.items():
        sim.set_hinge(name, start.position, euler=start.euler)
    sim.add_input(rbt.Effort("shoulder", (9.0, -4.0, 6.0)), signal=rbt.sines([(1.0, 5.0, 0.0)]))
    sim.add_input(rbt.Effort("wrist", (3.0,)))
    sim.add_input(rbt.Wrench("left", (5.0, -2.0, 8.0), (0, 1.0, 0), "world", "origin"))
    return sim


def arm(**settings):
    """An arm with a spring, a damper and dry friction."""
    b = rbt.RobotBuilder("arm").body("rod", mass=1.0, inertia=(0.1, 0.1, 0.01), com=(0, 0, -0.5))
    losses = dict(stiffness=5.0, damping=0.3, friction=0.2, creep=3.0)
    b.hinge("pivot", "revolute", parent="world", child="rod", axis=(0, 1, 0), **losses)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), **settings)
    sim.set_hinge("pivot", 1.0, rate=0.5)
    return sim


def sampled_control(sim):
    """A controller that acts each 100 ms, and once commands a push."""
    sim.set_effort("pivot", -2.0 * math.sin(3.0 * sim.state.q[0]) + 1.0)
    if sim.t_ns == 200_000_000:
        sim.command(rbt.WrenchCommand(rbt.Wrench("rod", force=(4.0, 0, 0)), 40_000_000))


def residual(sim, until=1.0, every=0.1, controller=None):
    """Largest energy change between two samples that the work does not explain, over the energies in play."""
    result = sim.run(until, every, controller=controller)
    unexplained = np.diff(result.energy.total) - np.diff(result.work.inputs) + np.diff(result.work.dissipated)
    scale = np.abs(result.energy.kinetic).max() + np.abs(result.work.inputs).max()
    assert np.abs(result.work.inputs).max() > 0.01 * result.energy.kinetic.max()  # it is not about nothing
    drift = np.array([sample.conservation.energy for sample in result.samples])
    assert drift[-1] * result.energy.kinetic.max() == pytest.approx(unexplained.sum(), abs=200 * EPS * scale)
    assert {sample.conservation.energy_since_ns for sample in result.samples} == {0}
    return np.abs(unexplained).max() / scale


@pytest.mark.parametrize(("make", "controller"), [(pushed, None), (driven, None), (arm, sampled_control)])
def test_energy_changes_by_work_to_round_off(make, controller):
    """With DOP853 at 1 ms, and with error control; measured: 3e-15."""
    assert residual(make(integrator="dop853", work_of_inputs=True), controller=controller) < 2e-14
    adaptive = make(integrator="dop853_adaptive", step=4e-3, rtol=1e-12, atol=1e-14, work_of_inputs=True)
    assert residual(adaptive, controller=controller) < 2e-14


@pytest.mark.parametrize(("make", "controller"), [(pushed, None), (driven, None), (arm, sampled_control)])
@pytest.mark.parametrize("integrator", ORDER)
@pytest.mark.filterwarnings("ignore:.*the energy has drifted")
def test_the_balance_has_the_order_of_the_integrator(make, controller, integrator):
    coarse = {"semi_implicit": 1e-3, "rk4": 5e-3, "dop853": 5e-2}[integrator]
    settings = [dict(integrator=integrator, step=coarse / n, work_of_inputs=True) for n in (1, 2)]
    errors = [residual(make(**setting), controller=controller) for setting in settings]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(ORDER[integrator], abs=0.3)  # measured: within 0.28


@pytest.mark.parametrize("integrator", STEPPING)
@pytest.mark.filterwarnings("ignore:.*the energy has drifted")
def test_a_constant_force_does_f_times_the_way(integrator):
    """From rest, F along x, 2 kg, no turn: s = F t²/(2 m), W = F s = F² t²/(2 m)."""
    robot = rbt.RobotBuilder("block").body("hub", mass=2.0, inertia=(1, 1, 1)).build()
    sim = rbt.Simulation(robot, step=0.01, integrator=integrator, work_of_inputs=True)
    sim.add_input(rbt.Wrench("hub", force=(3.0, 0, 0)), stop=0.5)
    result = sim.run(1.0, every=0.5)
    work = 9.0 * 0.5**2 / 4.0 * (1 - 0.01 / 0.5 * (integrator == "semi_implicit"))  # its force sees v at the start
    assert result.work.inputs == pytest.approx([0, work, work], rel=50 * EPS)
    assert (result.work.dissipated == 0).all()


@pytest.mark.parametrize("integrator", STEPPING)
@pytest.mark.parametrize("make", [pushed, driven, arm])
def test_asking_changes_no_bit_and_neither_does_cutting(make, integrator):
    plain, whole, cut = (
        make(integrator=integrator, step=2e-3, **extra) for extra in ({}, *[{"work_of_inputs": True}] * 2)
    )
    plain.advance(20)
    whole.advance(20)
    for chunk in (1, 3, 7, 9):
        cut.advance(chunk)
        cut.sample()
    assert plain.digest() == whole.digest() == cut.digest()
    assert plain.sample().work is None and plain.run(plain.t_ns * 1e-9).work is None
    assert cut.sample().work == whole.sample().work != (0, 0)
    assert cut.sample().conservation.energy_since_ns == 0


def test_reset_counts_again_from_nothing_and_a_new_state_from_there():
    sim = pushed(work_of_inputs=True)
    fresh, start = sim.sample().work, sim.digest()
    sim.advance(100)
    first = sim.sample().work
    sim.set_body("hub", velocity=(1, 2, 3))  # 14 J out of nowhere: no drift
    assert sim.sample().conservation[0] == 0 and sim.sample().conservation.energy_since_ns == 100_000_000
    assert sim.sample().work == first
    sim.advance(100)
    assert abs(sim.sample().conservation.energy) < 1e-9  # RK4
    sim.reset()
    assert fresh == sim.sample().work == (0, 0) and sim.digest() == start
    sim.advance(100)
    assert sim.sample().work == first


def test_a_damper_takes_what_is_lost():
    """m v̇ = -d v: half m v0² (1 - exp(-2 d t/m)) is gone."""
    b = rbt.RobotBuilder("slide").body("block", mass=2.0, inertia=(1, 1, 1))
    b.hinge("rail", "prismatic", parent="world", child="block", axis=(1, 0, 0), damping=3.0)
    sim = rbt.Simulation(b.build(), integrator="dop853", step=0.01, work_of_inputs=True)
    sim.set_hinge("rail", 0.0, rate=1.5)
    result = sim.run(1.0, every=0.1)
    assert result.work.dissipated == pytest.approx(1.5**2 * (1 - np.exp(-3.0 * result.t)), rel=1e-13)
    assert (result.work.inputs == 0).all() and abs(result.samples[-1].conservation.energy) < 1e-13


@pytest.mark.parametrize("integrator", ["exact", "splitting"])
def test_without_torque_there_is_no_work(integrator):
    """These integrators take no inputs, and a floating body has no damper: zero, so that the balance closes."""
    sim, plain = satellite(integrator=integrator, work_of_inputs=True), satellite(integrator=integrator)
    sim.advance(100)
    plain.advance(100)
    assert sim.sample().work == (0, 0) and sim.digest() == plain.digest()
    assert abs(sim.sample().conservation.energy) < 1e-13


SLIDE = """\
rbt: 1
robot: {bodies: {hub: {mass: 2, inertia: [1, 1, 1]}}}
inputs: [{wrench: hub, force: [4, 0, 0], to: 1 s}]
work_of_inputs: true
"""


def test_a_scenario_asks_for_it(tmp_path):
    """F = 4 N on 2 kg for 1 s: 4 J; in columns and CSV too."""
    sim = rbt.Simulation.of(scenario_from_text(SLIDE))
    result = sim.run(2.0, every=1.0)
    assert result.work.inputs == pytest.approx([0, 4, 4])
    result.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="", encoding="utf-8") as file:
        last = list(csv.DictReader(file))[-1]
    assert float(last["work.inputs [J]"]) == result.work.inputs[-1] and float(last["work.dissipated [J]"]) == 0
    with pytest.raises(ScenarioError, match="scenario:4: work_of_inputs: 'maybe' is neither true nor false"):
        scenario_from_text(SLIDE.replace("true", "maybe"))


def test_the_command_line_and_the_diagnostics_tell_it(tmp_path, monkeypatch, capsys):
    """The energy is told since the start, the momenta since the force ended at 1 s."""
    (tmp_path / "slide.yaml").write_text(SLIDE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["rbt", "run", "slide.yaml", "--until", "2", "--every", "0.5"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 0
    energy, work, angular = capsys.readouterr().out.splitlines()[1:4]
    assert "since" not in energy and work == "  work of inputs       4 J, 0 J dissipated" and "since 1 s" in angular
    sim = rbt.load(str(tmp_path / "slide.yaml")).simulation()
    told = topics.conservation_report(sim.run(2.0, every=0.5).samples[-1], 1e-9, 1e-9).values
    assert told["work of inputs [J]"] == pytest.approx(4) and told["dissipated [J]"] == 0
    assert told["energy counted since scenario time [s]"] == 0 and told["counted since scenario time [s]"] == 1


@pytest.mark.parametrize("integrator", ["rk4", "dop853_adaptive"])
def test_work_beyond_all_numbers_is_told(integrator):
    """1e137 N: v stays a number, the work is beyond what a state may hold."""
    sim = satellite(integrator=integrator, work_of_inputs=True)
    sim.add_input(rbt.Wrench("hub", force=(1e137, 0, 0)))
    start = sim.digest()
    with pytest.raises(SolveError, match="tick 1, t = 0.001 s: the work of the inputs is not finite; the last good"):
        sim.advance(5)
    assert sim.digest() == start and sim.sample().work == (0, 0)
