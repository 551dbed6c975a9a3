"""The virtual coupling to a measured pose, without topics: it leads whatever comes when, and lets go in time."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.ros.coupling import (
    Coupling,
    MeasuredPose,
    felt_inertia,
    greatest_bandwidth,
    moved,
    rotation_vector,
    slowest_period,
)
from rbt_ros.ros.measured_topics import prescribe

BANDWIDTH, TIMEOUT_NS, MS = 5.0, 200_000_000, 1_000_000
START = MeasuredPose((0.5, -0.3, 0.1), (0.8, 0.0, 0.6, 0.0), (0.02, -0.01, 0.03), (0.1, -0.2, 0.05))


@pytest.fixture
def craft():
    """A hub whose mass is off its origin, with a wheel on it."""
    b = rbt.RobotBuilder("craft").body("hub", mass=12.0, inertia=(0.2, 0.2, 0.15), com=(0.05, -0.02, 0.1))
    b.body("wheel", mass=0.5, inertia=(4e-4, 4e-4, 7e-4))
    b.hinge("axis", "revolute", parent="hub", child="wheel", at=(0, 0, 0.1), axis=(0, 0, 1))
    return rbt.Simulation(b.build())


def lead(sim, coupling, ticks, comes, at="origin"):
    """The distance [m, rad] between the hub and what is measured, at each tick; comes(ms): whether a sample does."""
    hold = max(1, int(slowest_period(BANDWIDTH) * 1e3))
    apart = []
    for k in range(ticks):
        real = moved(START, k * 1e-3)
        if comes(k):
            coupling.follow(moved(START, (k - 5) * 1e-3), k * MS, 5 * MS)
        if k % hold == 0 and (wrench := coupling.wrench(sim.sample(), k * MS, at)) is not None:
            sim.command(WrenchCommand(wrench, hold * MS))
        pose = sim.sample().pose[0]
        turn = rotation_vector(tuple(pose[:4])) - rotation_vector(real.quaternion)
        apart.append((np.linalg.norm(pose[4:] - real.position), np.linalg.norm(turn)))
        sim.advance()
    return np.array(apart)


@pytest.mark.parametrize("at", ["origin", "com"])
def test_the_base_comes_to_a_vehicle_that_drifts_though_samples_come_in_bursts(craft, at):
    """Gaps of up to 0.15 s, five time constants of the spring: a wrench that is held as long throws the base away.

    The vehicle keeps its velocities, so that where it is behind a sample is known. What is left is how far the spring
    yields to what the turning craft needs: w² over ω², 5e-5 (seen: 1.4e-5).
    """
    rng, due = np.random.default_rng(5), [0]

    def comes(k):
        if k < due[0]:
            return False
        due[0] = k + int(rng.integers(1, 150))
        return True

    apart = lead(craft, Coupling(craft.robot, "hub", BANDWIDTH, TIMEOUT_NS), 1500, comes, at)
    assert apart[0, 0] > 0.5 and apart[:, 0].max() < 1.2 * apart[0, 0]
    assert apart[-1].max() < np.dot(START.omega, START.omega) / (2.0 * np.pi * BANDWIDTH) ** 2


@pytest.mark.parametrize("how", ["free", "locked", "prescribed"])
def test_a_long_boom_on_a_light_hub_throws_nothing_away(how):
    """A free hinge hands on no moment: with the inertia of all as one rigid body the hub would be shaken to bits."""
    b = rbt.RobotBuilder("craft").body("hub", mass=5.0, inertia=(0.1, 0.1, 0.1))
    b.body("boom", mass=2.0, inertia=(0.4, 0.4, 0.01), com=(0, 1.5, 0))
    b.hinge("root", "revolute", parent="hub", child="boom", at=(0, 0.2, 0), axis=(0, 0, 1))
    sim = rbt.Simulation(b.build())
    if how == "locked":
        sim.lock("root")
    elif how == "prescribed":
        sim.prescribe("root", 0.0)
    apart = lead(sim, Coupling(sim.robot, "hub", BANDWIDTH, TIMEOUT_NS), 1500, lambda k: k % 10 == 0)
    assert apart[-1].max() < (0.1 if how == "free" else 1e-3)  # the boom that swings pulls at the hub


@pytest.mark.parametrize("hinge", ["free", "locked"])
def test_what_a_wrench_on_the_base_feels(craft, hinge):
    """A unit wrench about the CoM, a step of 1 µs: the inertia is what it takes for the change of velocity."""
    if hinge == "locked":
        craft.lock("axis")
    before, i = craft.sample(), craft.robot.body_index("hub")
    inertia, known = felt_inertia(craft.robot, before, i), []
    memory = craft.memory()
    for column in np.eye(6):
        craft.recall(memory)
        craft.set_step(1e-6)
        craft.command(WrenchCommand(Wrench("hub", tuple(column[3:]), tuple(column[:3]), "body", "com"), MS))
        craft.advance()
        known.append((craft.sample().v[:6] - before.v[:6]) / 1e-6)
    np.testing.assert_allclose(inertia @ np.array(known).T, np.eye(6), atol=1e-6)


def test_it_lets_go_in_the_tick_in_which_the_time_is_over(craft):
    coupling, sample = Coupling(craft.robot, "hub", BANDWIDTH, TIMEOUT_NS), craft.sample()
    assert coupling.wrench(sample, 0) is None, "nothing has come"
    coupling.follow(START, 7 * MS, 0)
    assert coupling.wrench(sample, 7 * MS + TIMEOUT_NS - 1) is not None
    assert coupling.wrench(sample, 7 * MS + TIMEOUT_NS) is None
    assert coupling.wrench(sample, 6 * MS) is None, "/clock began again"


def test_a_coupling_that_steps_cannot_carry_is_refused(craft):
    """Each step holds the wrench: beyond 0.3 of the time constant the damping is not what it is said to be."""
    values = {"measured.joints": "", "measured.delay": 0.02, "measured.timeout": 0.2, "measured.on_loss": "hold"}
    values |= {"measured.body": "hub", "measured.bandwidth": 47.0}
    assert greatest_bandwidth(1e-3) == pytest.approx(0.3e3 / (2 * np.pi))
    assert prescribe(craft, values.__getitem__) == ()
    values["measured.bandwidth"] = 60.0
    with pytest.raises(rbt.ScenarioError, match="steps of 1 ms carry a coupling of 47.7 Hz at most, not 60 Hz"):
        prescribe(craft, values.__getitem__)
