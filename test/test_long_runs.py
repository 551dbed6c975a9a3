"""What should hold for ever, over long runs: each law once in a second or two, and once, marked `soak`, for long."""

import numpy as np
import pytest

import rbt_ros as rbt

EPS = np.finfo(float).eps
LONG = [pytest.mark.soak, pytest.mark.timeout(1800)]


def cubesat(integrator, step, stabilise="none"):
    """The shipped scenario's satellite, which tumbles at 51 rad/s."""
    scenario = rbt.load("cubesat")
    sim = rbt.Simulation(scenario.robot, integrator=integrator, step=step, stabilise=stabilise)
    sim.set_body("cubesat", omega_body=scenario.start_bodies["cubesat"].omega_body)
    return sim


def craft(stabilise):
    """A hub with an arm on a spring, afloat; it tumbles, and the arm swings."""
    b = rbt.RobotBuilder("craft")
    b.body("hub", mass=3.0, inertia=(0.3, 0.5, 0.6), com=(0.1, 0, 0.05))
    b.body("arm", mass=1.0, inertia=(0.1, 0.05, 0.12), com=(0.3, 0, 0))
    b.hinge("elbow", "revolute", parent="hub", child="arm", at=(0.5, 0, 0), axis=(0, 1, 0), stiffness=2.0)
    sim = rbt.Simulation(b.build(), step=5e-3, stabilise=stabilise)
    sim.set_body("hub", omega_body=(1.0, 2.0, -1.0))
    sim.set_hinge("elbow", 0.3, rate=1.0)
    return sim


def energy_errors(sim, until, count=2000):
    """E/E(0) - 1 at `count` times, evenly up to `until` [s]."""
    E, ticks = sim.sample().energy.total, round(until / (sim.h_ns * 1e-9) / count)
    errors = np.empty(count)
    for k in range(count):
        sim.advance(ticks)
        errors[k] = sim.sample().energy.total / E - 1
    return errors


def trend(errors):
    """(mean of the second half less that of the first, four times what chance gives it)."""
    first, second = np.split(errors, 2)
    return abs(second.mean() - first.mean()), 4 * errors.std() * np.sqrt(4 / len(errors))


@pytest.mark.parametrize("until", [1e3, pytest.param(1e6, marks=LONG)])
def test_splitting_keeps_the_energy_of_the_cubesat(until):
    """At 5 ms: truncation 1.2e-11, which oscillates and has no trend; round-off, one rounding a step, walks √n eps.

    Of n = 2e5 and 2e8 steps. Beside it the exact motion: a few eps at any time.
    """
    errors = energy_errors(cubesat("splitting", 5e-3), until)
    walk = np.sqrt(until / 5e-3) * EPS
    assert np.abs(errors).max() < 1.3e-11 + walk < 1e-9
    moved, chance = trend(errors)
    assert moved < chance + walk
    assert np.abs(energy_errors(cubesat("exact", 5e-3), until, 50)).max() < 8 * EPS


@pytest.mark.parametrize(
    ("integrator", "step", "steps"),
    [
        ("rk4", 5e-3, 20_000),
        ("dop853", 2e-2, 20_000),
        pytest.param("rk4", 5e-3, 100_000_000, marks=LONG),
        pytest.param("dop853", 2e-2, 10_000_000, marks=LONG),
    ],
)
def test_projection_has_no_trend(integrator, step, steps):
    """The level is found to 4 eps of the largest 1/I: E to 20 where moments differ by 1 : 5. Found: 9 eps."""
    errors = energy_errors(cubesat(integrator, step, "projection"), steps * step, 1000)
    assert np.abs(errors).max() < 32 * EPS
    moved, chance = trend(errors)
    assert moved < chance + 4 * EPS


@pytest.mark.parametrize("steps", [10_000, pytest.param(1_000_000, marks=LONG)])
def test_projection_of_a_tree_has_no_trend(steps):
    """Energy with springs, and L; without it RK4 loses 3e-9 of the energy in 1e4 steps."""
    sim = craft("projection")
    L = np.array(sim.sample().angular_momentum_com)
    errors = energy_errors(sim, steps * 5e-3, 1000)
    assert np.abs(errors).max() < 32 * EPS  # found: 7
    moved, chance = trend(errors)
    assert moved < chance + 8 * EPS
    assert np.array(sim.sample().angular_momentum_com) == pytest.approx(L, abs=1e-13 * np.linalg.norm(L))


def test_ten_minutes_of_pushes_are_booked():
    """At 1 kHz, a moment in world axes for 0.1 s in every second: ΔL is the impulse of all of them, to 1e-12 of it."""
    sim, rng = cubesat("rk4", 1e-3, "projection"), np.random.default_rng(5)
    before, impulse, size = np.array(sim.sample().angular_momentum_com), np.zeros(3), 0.0
    for _ in range(600):
        moment = rng.normal(scale=0.02, size=3)
        sim.command(rbt.WrenchCommand(rbt.Wrench("cubesat", moment=tuple(moment), frame="world"), 100_000_000))
        sim.advance(1000)
        impulse, size = impulse + 0.1 * moment, size + 0.1 * np.linalg.norm(moment)
    gained = np.array(sim.sample().angular_momentum_com) - before
    assert np.linalg.norm(gained - impulse) < 1e-12 * size
