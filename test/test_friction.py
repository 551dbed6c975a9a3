"""Friction that is set while it moves."""

import warnings

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.errors import ModelError, ScenarioError


def ball(**friction):
    """A spinning ball, 2 kg·m², semi-implicit excluded: dω/dt = -k ω/I decays as exp(-k t/I)."""
    b = rbt.RobotBuilder("ball").body("ball", mass=1.0, inertia=(2, 2, 2))
    b.hinge("ball", "free", parent="world", child="ball", **friction)
    sim = rbt.Simulation(b.build(), integrator="dop853")
    sim.set_body("ball", omega_body=(0.0, 0.0, 3.0))
    return sim


def test_damping_acts_from_the_step_on_at_which_it_is_set():
    """exp(-k t/I) from there; DOP853 of that at h = 1 ms is exact to round-off, 500 steps: 1e-13."""
    sim = ball()
    sim.advance(250)
    sim.set_friction("ball", damping=0.8)
    sim.advance(500)
    np.testing.assert_allclose(sim.sample().twist[0, 2], 3.0 * np.exp(-0.8 * 0.5 / 2.0), rtol=1e-13)


def test_it_has_the_bits_of_a_robot_that_was_built_so():
    sim, built = ball(), ball(damping=0.3)
    sim.set_friction("ball", damping=0.3)
    for each in (sim, built):
        each.advance(200)
    assert sim.digest() == built.digest()


def test_reset_keeps_it():
    sim = ball()
    sim.advance(10)
    sim.set_friction("ball", damping=0.3)
    sim.reset()
    built = ball(damping=0.3)
    for each in (sim, built):
        each.advance(100)
    assert sim.digest() == built.digest()


def test_friction_inside_takes_energy_at_its_power_and_keeps_angular_momentum():
    sim = rbt.load("cubesat").simulation()
    sim.set_integrator("dop853")
    sim.advance(100)
    before = sim.sample()
    sim.set_friction("cubesat", internal=2.0)
    sim.advance(500)
    after = sim.sample()
    assert before.energy.kinetic - after.energy.kinetic == pytest.approx(2.0 * 0.5, rel=1e-6)
    np.testing.assert_allclose(after.angular_momentum_com, before.angular_momentum_com, atol=1e-13)


def test_what_cannot_be_is_refused_by_name_and_changes_nothing():
    sim = rbt.load("five_body").simulation()
    with pytest.raises(ModelError, match="hinge 'wrist': damping -1 must not be negative"):
        sim.set_friction("wrist", damping=-1)
    with pytest.raises(ModelError, match="'wrist': internal_friction is of a lone body that floats; use damping"):
        sim.set_friction("wrist", internal=1.0)
    with pytest.raises(ModelError, match="has no hinge 'knee'"):
        sim.set_friction("knee", damping=1.0)
    fresh = rbt.load("five_body").simulation()
    for each in (sim, fresh):
        each.advance(10)
    assert sim.digest() == fresh.digest()
    sim.lock("wrist")
    with pytest.raises(ScenarioError, match="friction of hinge 'elbow': it cannot be set beside locks"):
        sim.set_friction("elbow", damping=1.0)


@pytest.mark.parametrize(("gravity", "tied"), [((0, 0, -9.81), False), ((0, 0, 0), True), ((0, 0, 0), False)])
def test_damping_of_what_floats_is_told_not_to_drag_its_way(gravity, tied):
    """Where it falls, or hangs on a rope; elsewhere it is friction outside, and nothing is to be said."""
    b = rbt.RobotBuilder("stone").body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.hinge("float", "free", parent="world", child="stone", damping=0.1)
    robot = (b.rope("tether", "world", "stone", length=1.0) if tied else b).build()
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        rbt.Simulation(robot, gravity=gravity)
    assert len(told) == (any(gravity) or tied)
    for warning in told:
        text = (
            "hinge 'float': damping 0.1 N·m·s/rad of a free hinge slows the turning of body 'stone' only, nothing drags"
        )
        assert str(warning.message).startswith(text) and warning.filename == __file__
