"""Hinge modes as commands: locked and prescribed beside what acts, taken all or none, and kept by a reset."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings, HingeTorque


def chain(**options):
    """A floating hub, a slide that turns, a ball and an elbow, under way."""
    b = rbt.RobotBuilder("chain")
    for name in ("hub", "sleeve", "ball", "tip"):
        b.body(name, mass=1.0, inertia=(0.1, 0.12, 0.14), com=(0.1, 0.05, 0.2))
    b.hinge("sleeve", "cylindrical", parent="hub", child="sleeve", at=(0.3, 0, 0))
    b.hinge("ball", "spherical", parent="sleeve", child="ball", at=(0, 0.3, 0))
    b.hinge("elbow", "revolute", parent="ball", child="tip", at=(0, 0, 0.4), axis=(0, 1, 0))
    sim = rbt.Simulation(b.build(), **{"integrator": "dop853", "work_of_inputs": True, **options})
    sim.set_body("hub", omega_body=(0.3, 0.2, -0.4), velocity=(0.1, 0, 0))
    sim.set_hinge("sleeve", (0.2, 0.1), rate=(1.0, -0.3))
    sim.set_hinge("ball", omega=(0.5, -0.2, 0.1))
    sim.set_hinge("elbow", 0.3, rate=2.0)
    return sim


def settings(mode, *joints, **more):
    return HingeSettings(tuple(HingeSetting(joint, mode, **more) for joint in joints))


SLEEVE = ("sleeve_turn", "sleeve_slide")


def test_a_locked_mode_is_a_lock():
    """The same bits as `lock` and `unlock`, of one hinge or several in one impact, whose loss is told once."""
    commanded, called = chain(), chain()
    commanded.command(settings("locked", "elbow", "ball", *SLEEVE))
    called.lock("elbow", "ball", "sleeve")
    assert set(commanded.locked) == set(called.locked) == {"elbow", "ball", "sleeve"}
    assert [c.energy_lost for c in commanded.changes] == [called.changes[0].energy_lost]
    for sim in (commanded, called):
        sim.advance(20)
    commanded.command(settings("effort", "elbow", *SLEEVE))
    called.unlock("elbow", "sleeve")
    commanded.command(HingeCommand(("elbow",), (), (), (0.5,)))
    called.set_effort("elbow", 0.5)
    for sim in (commanded, called):
        sim.advance(20)
    assert commanded.digest() == called.digest() and commanded.locked == ("ball",)


def test_a_prescribed_joint_goes_to_its_set_points_exactly():
    """It waits where it is, going straight on; at a set-point after the delay, at the rate that was given, and straight
    on; let go, it comes evenly to rest. Position and rate never jump; momenta and balance close."""
    sim = chain()
    before = sim.sample()
    sim.command(settings("prescribed", "elbow", delay=0.05))
    sim.advance(10)
    assert sim.state.q[-1] == pytest.approx(0.3 + 0.02, abs=1e-12)
    sim.command(HingeCommand(("elbow",), (0.5,), (1.0,)))
    path = [sim.state.q[-1]]
    for _ in range(60):
        sim.advance()
        path.append(sim.state.q[-1])
    assert path[50] == pytest.approx(0.5, abs=1e-12) and path[60] == pytest.approx(0.51, abs=1e-12)
    assert np.abs(np.diff(path, 2)).max() < 1e-6 * 6 * abs(0.5 - path[0]) / 0.05**2 + 1e-6 * 6 * 2.0 / 0.05
    sim.command(HingeCommand(("elbow",)))
    sim.advance(60)
    assert sim.state.q[-1] == pytest.approx(0.51 + 0.5 * 0.05, abs=1e-12) and abs(sim.state.v[-1]) < 1e-12
    sim.command(HingeSettings((HingeSetting("elbow", position=0.2, delay=0.02),)))
    sim.advance(20)
    assert sim.state.q[-1] == pytest.approx(0.2, abs=1e-12)
    after = sim.sample()
    assert np.array(after.momentum) == pytest.approx(before.momentum, abs=1e-13)
    assert np.array(after.angular_momentum) == pytest.approx(before.angular_momentum, abs=1e-13)
    assert abs(after.conservation.energy) < 1e-10
    sim.command(settings("effort", "elbow"))
    assert [c.what for c in sim.changes] == ["prescribe", "release"]


def test_modes_that_others_have_set_end_where_the_law_is_another():
    """A lock or a drive by call, or by the scenario, ends when a mode that is neither is set."""
    sim = chain()
    sim.lock("elbow")
    sim.command(settings("effort", "elbow"))
    assert sim.locked == ()
    sim.prescribe("elbow", float(sim.state.q[-1]))
    sim.command(settings("prescribed", "elbow"))
    assert [c.what for c in sim.changes] == ["lock", "unlock", "prescribe", "prescribe"]
    sim.command(settings("free", "elbow"))
    assert sim.changes[-1].what == "release"


def test_a_reset_keeps_modes():
    """As it does gains: back at the start the same hinges are locked, from there, and the motion is that of a run that
    has begun so."""
    sim, other = chain(), chain()
    sim.advance(10)
    sim.command(settings("locked", "ball"))
    sim.command(settings("prescribed", "elbow"))
    sim.advance(10)
    sim.reset()
    other.command(settings("locked", "ball"))
    other.command(settings("prescribed", "elbow"))
    assert sim.locked == ("ball",) and sim.t_ns == 0 and sim.digest() == other.digest()
    for one in (sim, other):
        one.advance(30)
    assert sim.digest() == other.digest()
    sim.command(settings("effort", "ball", "elbow"))
    sim.reset()
    assert sim.locked == () and sim.digest() == chain().digest()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            settings("locked", "sleeve_turn"),
            "hinge 'sleeve' has the joints sleeve_turn, sleeve_slide, which lock toget",
        ),
        (HingeSettings((HingeSetting("ball", "locked"), HingeSetting("elbow", "position"))), "position needs a gain"),
        (settings("prescribed", "ball"), "hinge 'ball' is spherical: it is free, takes effort or is locked"),
        (settings("locked", "elbow", effort=1.0), "joint 'elbow' is locked and takes no command"),
        (settings("prescribed", "elbow", effort=1.0), "joint 'elbow' is prescribed: it takes positions, and velocit"),
    ],
)
def test_what_cannot_be_is_refused_whole(given, words):
    sim, untouched = chain(), chain()
    with pytest.raises(rbt.MessageError, match=words):
        sim.command(given)
    assert sim.changes == () and sim.hinge_laws == untouched.hinge_laws
    for one in (sim, untouched):
        one.advance(10)
    assert sim.digest() == untouched.digest()


def test_what_the_motion_does_not_allow_is_refused_whole():
    """A lock in a chain of gears that is driven; a torque on a ball that is locked; a set-point for a locked joint."""
    b = rbt.RobotBuilder("gears")
    for name in ("slow", "fast"):
        b.body(name, mass=1.0, inertia=(1, 1, 1)).hinge(name, "revolute", parent="world", child=name)
    sim = rbt.Simulation(b.mimic("fast", "slow", ratio=-2.0).prescribe("slow", rbt.polynomial([0, 1])).build())
    digest = sim.digest()
    with pytest.raises(rbt.MessageError, match="'slow' does not allow it: its rates would be off by"):
        sim.command(HingeSettings((HingeSetting("slow", kp=5.0), HingeSetting("fast", "locked"))))
    assert (sim.hinge_laws["slow"].kp, sim.locked, sim.changes, sim.digest()) == (0.0, (), (), digest)
    with pytest.raises(rbt.MessageError, match="constraint 'fast' exists twice .* can follow one thing only"):
        sim.command(HingeSettings((HingeSetting("slow", "locked"), HingeSetting("fast", "prescribed"))))
    assert (sim.locked, sim.changes, sim.digest()) == ((), (), digest)
    sim = chain()
    sim.command(settings("locked", "ball", "elbow"))
    with pytest.raises(rbt.MessageError, match="hinge 'ball' is locked and takes no command"):
        sim.command(HingeTorque("ball", (1.0, 0, 0)))
    with pytest.raises(rbt.MessageError, match="joint 'elbow' is locked and takes no command"):
        sim.command(HingeCommand(("elbow",), (), (), (1.0,)))
