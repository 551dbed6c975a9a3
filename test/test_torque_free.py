"""The integrators `exact` and `splitting` through Simulation, scenarios and `rbt run`."""

import csv
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.vec import rotation
from rbt_ros.errors import MessageError, ScenarioError, SolveError
from rbt_ros.model.inputs import PlannedInput, Wrench, WrenchCommand
from rbt_ros.model.scenario import Scenario, scenario_from_text
from rbt_ros.sim import Simulation

EPS = np.finfo(float).eps
R1 = json.loads((Path(__file__).parent / "reference" / "r1_free_top.json").read_text())
TENSOR = ((2.0, 0.3, -0.5), (0.3, 3.0, 0.7), (-0.5, 0.7, 4.0))
OMEGA, VELOCITY, GRAVITY = (1.0, 2.0, 0.5), (3.0, -1.0, 12.0), (0.1, -0.2, -9.81)
BOTH = pytest.mark.parametrize("integrator", ["exact", "splitting"])


def satellite(integrator, inertia=TENSOR, com=(0.1, 0.2, -0.3), **settings):
    """One floating body `hub` with its CoM beside its frame, thrown and tumbling."""
    robot = rbt.RobotBuilder("satellite").body("hub", mass=5.0, inertia=inertia, com=com).build()
    sim = Simulation(robot, integrator=integrator, **{"gravity": GRAVITY, **settings})
    sim.set_body("hub", omega_body=OMEGA, velocity=VELOCITY, quaternion=(0.5, 0.5, -0.5, 0.5))
    return sim


def r1_simulation(case, integrator="exact", **settings):
    sim = satellite(integrator, case["inertia_diag"], (0.0, 0.0, 0.0), gravity=(0.0, 0.0, 0.0), **settings)
    sim.set_body("hub", omega_body=case["omega0_body"], quaternion=R1["attitude at t=0"])
    return sim


def distance(q, w, state):
    """The largest error of q (up to its sign) and of ω against its own size."""
    dq = min(np.abs(np.subtract(q, state["q"])).max(), np.abs(np.add(q, state["q"])).max())
    return max(dq, np.abs(np.subtract(w, state["omega_body"])).max() / np.abs(state["omega_body"]).max())


# exact


@pytest.mark.parametrize("step", [1e-3, 0.1])
@pytest.mark.parametrize("name", R1["cases"])
def test_exact_meets_the_reference_to_1000_s(name, step):
    """One rounding of each element, at whatever step. Measured: 0, bit for bit (8.9e-30 where an element is zero)."""
    case = R1["cases"][name]
    sim = r1_simulation(case, step=step)
    for state in case["states"]:
        while sim.t_ns < state["t"] * 1e9:
            sim.advance(min(round(7.0 / step), round(state["t"] / step) - sim.tick))
        assert sim.t_ns == state["t"] * 1e9
        assert distance(sim.state.q[:4], sim.state.v[:3], state) <= EPS


SCENARIO = """\
rbt: 1
robot: {{bodies: {{hub: {{mass: 2, inertia: {inertia}}}}}}}
integrator: exact
step: 100 ms
start: {{bodies: {{hub: {{omega_body: {omega}}}}}}}
duration: 1000 s
"""


def test_rbt_run_writes_the_reference_states(tmp_path):
    case = R1["cases"]["cubesat_generic"]
    text = SCENARIO.format(inertia=case["inertia_diag"], omega=case["omega0_body"])
    (tmp_path / "top.yaml").write_text(text)
    command = [sys.executable, "-m", "rbt_ros.cli", "run", "top.yaml", "--every", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0, done.stderr
    with open(tmp_path / "out" / "top.csv", newline="", encoding="utf-8") as file:
        rows = {round(float(row["t [s]"]), 6): row for row in csv.DictReader(file)}
    for state in case["states"]:
        row = rows[state["t"]]
        q = [float(row[f"hub.quaternion_{axis}"]) for axis in "wxyz"]
        w = [float(row[f"hub.omega_body_{axis} [rad/s]"]) for axis in "xyz"]
        assert distance(q, w, state) <= 1e-13


def test_exact_keeps_energy_and_momentum_to_round_off():
    """After 1 ms to 1e5 s of fall. Measured, in EPS of their size: energy 0.7, P 2, L 4.4 (q is squared)."""
    sim = satellite("exact")
    energies = sim.sample().energy
    for ticks in (1, 999, 99_000, 99_900_000):
        sim.advance(ticks)
        sample = sim.sample()
        size = sample.energy.kinetic + abs(sample.energy.potential)
        assert abs(sample.energy.total - energies.total) <= 8 * EPS * size
        assert sample.conservation.angular_momentum <= 16 * EPS
        assert sample.conservation.momentum <= 8 * EPS * np.linalg.norm(sample.momentum)


@BOTH
def test_the_centre_of_mass_flies_its_parabola(integrator):
    """p = p0 + v0 t + g t²/2 of the CoM, v0 = v + ω × r; the rest against DOP853. Measured: 6 EPS of 24 m, 4e-13."""
    sim, other = satellite(integrator, step=1e-2), satellite("dop853", step=1e-3)
    start = sim.sample()
    v0 = np.array(start.momentum) / 5.0
    sim.advance(200)
    other.advance(2000)
    expected = np.array(start.com) + 2.0 * v0 + 0.5 * 2.0**2 * np.array(GRAVITY)
    assert sim.sample().com == pytest.approx(expected, abs=2 * EPS * 24)
    assert sim.state.q == pytest.approx(other.state.q, abs=4e-12)
    assert sim.state.v == pytest.approx(other.state.v, abs=4e-12)


@BOTH
def test_the_step_does_not_matter_to_a_steady_turn(integrator):
    """About a principal axis both are exact: 1 s of 2 rad/s about z, h = 1 ms or 250 ms. Measured: 2 EPS."""
    for step in (1e-3, 0.25):
        sim = satellite(integrator, (2.0, 3.0, 4.0), step=step)
        sim.set_body("hub", omega_body=(0.0, 0.0, 2.0), quaternion=(1.0, 0.0, 0.0, 0.0))
        sim.advance(round(1.0 / step))
        assert sim.state.q[:4] == pytest.approx([math.cos(1.0), 0.0, 0.0, math.sin(1.0)], abs=16 * EPS)


# bits


@BOTH
def test_however_it_is_cut_into_calls_and_looked_at_the_bits_are_the_same(integrator):
    whole, cut = satellite(integrator), satellite(integrator)
    whole.advance(500)
    cut.warm_up()
    for chunk in (1, 2, 27):
        cut.advance(chunk)
        cut.sample()
        cut.warm_up()
    while cut.tick < 500:
        cut.advance(min(7, 500 - cut.tick))
    assert cut.digest() == whole.digest()


@BOTH
def test_reset_and_set_body_start_a_new_motion(integrator):
    sim, fresh = satellite(integrator), satellite(integrator)
    sim.advance(100)
    sim.set_body("hub", omega_body=(0.0, 1.0, 1.0))
    middle = sim.state
    sim.advance(100)
    fresh._mech.y[:] = [*middle.q, *middle.v]
    fresh.advance(100)
    assert np.array_equal(sim.state.q, fresh.state.q) and np.array_equal(sim.state.v, fresh.state.v)
    sim.reset()
    start = sim.digest()
    sim.advance(100)
    once = sim.digest()
    sim.reset()
    assert sim.digest() == start
    sim.advance(100)
    assert sim.digest() == once


@BOTH
def test_plain_python_gives_the_same_bits(integrator):
    code = f"from test_torque_free import satellite; s = satellite('{integrator}'); s.advance(40); print(s.digest())"
    path = os.pathsep.join([str(Path(__file__).parent), str(Path(rbt.__file__).parents[1])])
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": path}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=170, check=False)
    sim = satellite(integrator)
    sim.advance(40)
    assert done.stdout.strip() == sim.digest(), done.stderr


def test_the_default_integrator_compiles_none_of_this():
    code = (
        "import rbt_ros, rbt_ros.core.freetop as f; s = rbt_ros.load('cubesat').simulation(); s.advance(1); s.sample();"
        "print(len(f.motion_constants.signatures), len(f.state_at_ns.signatures))"
    )
    command, environment = [sys.executable, "-c", code], {**os.environ, "NUMBA_DISABLE_JIT": "0"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=170, check=False)
    assert done.stdout.split() == ["0", "0"], done.stderr


# splitting


def test_splitting_has_no_drift_of_energy_in_1e5_steps():
    """h |ω| = 1: T stays in the band of its truncation error, which RK4 leaves by 2e6 widths in 100 steps.

    Measured: first and last 1000 steps agree in 5e-6 of the band.
    """
    case = R1["cases"]["cubesat_generic"]
    step = 0.033
    bands = []
    sim = r1_simulation(case, "splitting", step=step)
    for ticks in (0, 100_000 - 2000):
        sim.advance(ticks)
        kinetic = sim.run(sim.t_ns * 1e-9 + 1000 * step).energy.kinetic
        bands.append((kinetic.min(), kinetic.max()))
    width = bands[0][1] - bands[0][0]
    assert 1e-12 < width / bands[0][0] < 1e-6
    assert bands[1] == pytest.approx(bands[0], abs=1e-3 * width)
    rk4 = r1_simulation(case, "rk4", step=step)
    rk4.advance(100)
    assert abs(rk4.sample().energy.kinetic - bands[0][0]) > 1000 * width


def test_splitting_at_a_fine_step_keeps_energy_and_momentum_as_a_random_walk():
    """1e5 steps of 1 ms, one rounding each: √n EPS. Measured: 0.2 √n EPS."""
    sim = r1_simulation(R1["cases"]["cubesat_generic"], "splitting")
    sim.sample()
    sim.advance(100_000)
    kept = sim.sample().conservation
    assert abs(kept.energy) <= 4 * math.sqrt(1e5) * EPS
    assert kept.angular_momentum <= 4 * math.sqrt(1e5) * EPS


def test_splitting_converges_to_exact_with_order_six():
    """The same body, full tensor: h halved, the error falls 64-fold, h |ω| = 1/2, 1/4, 1/8. Measured: 5.97, 5.99."""
    exact = satellite("exact", step=1.0)
    exact.advance(16)
    errors = []
    for n in (4, 8, 16):
        sim = satellite("splitting", step=1.0 / n)
        sim.advance(16 * n)
        errors.append(np.abs(sim.state.q[:4] - exact.state.q[:4]).max())
    assert errors[-1] > 1e-13  # above round-off
    assert -np.diff(np.log2(errors)) == pytest.approx([6, 6], abs=0.1)


# what they refuse

PUSH = Wrench("hub", (0.1, 0.2, 0.3))
TORQUE_FREE = "integrator '{}' moves a torque-free body; use rk4 or dop853 for inputs"


@BOTH
def test_inputs_are_refused(integrator):
    sim = satellite(integrator)
    message, before = TORQUE_FREE.format(integrator), sim.digest()
    with pytest.raises(MessageError, match=message):
        sim.command(WrenchCommand(PUSH, 50_000_000))
    with pytest.raises(MessageError, match=message):
        sim.set_effort("hub", (0.0,) * 6)
    with pytest.raises(ScenarioError, match=message):
        Simulation.of(Scenario(sim.robot, integrator=integrator, inputs=(PlannedInput(PUSH),)))
    assert sim.digest() == before
    sim.advance(10)
    untouched = satellite(integrator)
    untouched.advance(10)
    assert sim.digest() == untouched.digest()


BOB = "bob: {mass: 1, inertia: [1, 1, 1]}"
ONE_BODY = "integrator 'exact' moves one floating body without torque; "


@pytest.mark.parametrize(
    ("bodies", "rest", "message"),
    [
        (BOB, "inputs: [{wrench: bob, force: [0, 0, 1]}]", r"top.yaml:4: inputs: " + TORQUE_FREE.format("exact")),
        (BOB + ", bib: {mass: 1, inertia: [1, 1, 1]}", "", ONE_BODY + "robot 'top' has 2 bodies: use rk4 or dop853"),
        (
            BOB + "}, hinges: {pin: {kind: spherical, parent: world, child: bob}",
            "",
            r"top.yaml:3: integrator: " + ONE_BODY + "body 'bob' hangs on the spherical hinge 'pin': use rk4 or dop853",
        ),
    ],
)
def test_scenarios_that_are_not_torque_free(bodies, rest, message):
    text = f"rbt: 1\nrobot: {{bodies: {{{bodies}}}}}\nintegrator: exact\n{rest}\n"
    with pytest.raises(ScenarioError, match=message):
        scenario_from_text(text, "top.yaml")
    allowed = scenario_from_text(text.replace("exact", "dop853"), "top.yaml")
    if not allowed.inputs:
        with pytest.raises(ScenarioError, match=message.partition("integrator: ")[2] or message):
            Simulation(allowed.robot, integrator="exact")


def test_an_attracting_mass_turns_a_body():
    with pytest.raises(ScenarioError, match="a point mass attracts robot 'satellite', and its gravity gradient turns"):
        Simulation(satellite("rk4").robot, integrator="exact", attraction=3.986e14)


def test_more_turns_than_the_exact_motion_allows():
    """Phases are right to 1e12 rad: the run stops at the last good tick, however it is cut."""
    ends = []
    for chunk in (10**7, 999_983):
        sim = satellite("exact", (2.0, 3.0, 4.0))
        sim.set_body("hub", omega_body=(0.0, 0.0, 1e9))
        with pytest.raises(SolveError, match=r"tick 1000001, .*hinge 'hub' has turned by 1e12 rad.*last good state"):
            while True:
                sim.advance(chunk)
        ends.append(sim.digest())
        assert sim.tick == 1_000_000
    assert ends[0] == ends[1]


@BOTH
def test_a_state_that_leaves_the_numbers_is_reported_and_the_last_good_one_kept(integrator):
    sim = satellite(integrator, gravity=(1e307, 0.0, 0.0), step=100.0)
    before = sim.digest()
    with pytest.raises(SolveError, match=r"tick 1, t = 100 s: non-finite state at hinge 'hub'; the last good state"):
        sim.advance(3)
    assert sim.digest() == before


@BOTH
def test_the_attitude_stays_a_turn(integrator):
    sim = satellite(integrator)
    sim.advance(1000)
    R = np.array(rotation(tuple(sim.state.q[:4])))
    assert np.abs(R @ R.T - np.eye(3)).max() <= 8 * EPS


@pytest.mark.parametrize("integrator", ["exact", "splitting", "rk4"])
def test_time_ends_where_it_cannot_be_counted(integrator):
    """64 bits of nanoseconds hold 292 years, and scenario time 285: one tick more is refused, and nothing moves."""
    sim = rbt.Simulation(rbt.load("cubesat").robot, integrator=integrator, step=3e9)
    sim.set_body("cubesat", omega_body=(1e-12, 2e-12, 0))
    sim.advance(3)
    good = sim.digest()
    with pytest.raises(rbt.ScenarioError, match=r"tick 4 lies beyond 9e\+09 s, up to which scenario time is counted\."):
        sim.advance()
    assert sim.digest() == good and sim.t_ns == 9 * 10**18
