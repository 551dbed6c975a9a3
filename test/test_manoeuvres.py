"""Rectangular manoeuvres of the seed: one hinge prescribed while the other is locked, in turn, against r4 and r5.

Nothing turns at first, so nothing turns at the end; yet the attitude has changed, by the area in the plane of the shape
angles (planar) or by the order of the turns (L-shape).
"""

import json
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt

REFERENCE = Path(__file__).parent / "reference"
PLANAR = json.loads((REFERENCE / "r4_planar.json").read_text(encoding="utf-8"))
PANELS = json.loads((REFERENCE / "r5_lshape.json").read_text(encoding="utf-8"))
STEP, LEG = 0.02, 1.0  # [s]; the figures do not depend on the time a leg takes
ROUND_OFF = 1e-12  # [N·m·s] of an angular momentum that is zero, where single rods have 50 (measured: 3e-13)


def three_rods():
    """Rods of 2 m, end to end along -y of the floating rod a; psi1, psi2 about z."""
    b = rbt.RobotBuilder("three_rods")
    for name, com in (("a", (0, 0, 0)), ("b", (0, -1, 0)), ("c", (0, -1, 0))):
        b.body(name, mass=1.0, inertia=(1 / 3, 1e-3, 1 / 3), com=com)
    b.hinge("psi1", "revolute", parent="a", child="b", at=(0, -1, 0))
    b.hinge("psi2", "revolute", parent="b", child="c", at=(0, -2, 0))
    return b.build()


def three_panels(inertia):
    """Square panels of 1 m in the plane of y and z: a on the +z edge of b, c on its +y edge; a floats."""
    b = rbt.RobotBuilder("panels")
    for name, com in (("a", (0, 0, 0)), ("b", (0, 0, -0.5)), ("c", (0, 0.5, 0))):
        b.body(name, mass=1.0, inertia=inertia, com=com)
    b.hinge("psi1", "revolute", parent="a", child="b", at=(0, 0, -0.5), axis=(0, 1, 0))
    b.hinge("psi2", "revolute", parent="b", child="c", at=(0, 0.5, -0.5), axis=(0, 0, 1))
    return b.build()


def smooth(start, end):
    """From rest to rest in a leg, without a jump of the acceleration."""
    d = end - start
    return rbt.polynomial([start, 0, 0, 10 * d / LEG**3, -15 * d / LEG**4, 6 * d / LEG**5])


def rectangle(sim, psi1, psi2):
    """(0, 0) -> (psi1, 0) -> (psi1, psi2) -> (0, psi2) -> (0, 0): the hinge that does not move is locked."""
    sim.lock("psi2")
    for joint, other, start, end in (
        ("psi1", "psi2", 0.0, psi1),
        ("psi2", "psi1", 0.0, psi2),
        ("psi1", "psi2", psi1, 0.0),
        ("psi2", "psi1", psi2, 0.0),
    ):
        if joint in sim.locked:
            sim.lock(other)
            sim.release(other)
            sim.unlock(joint)
        sim.prescribe(joint, smooth(start, end))
        sim.advance(round(LEG / STEP))
        assert np.abs(sim.sample().angular_momentum_com).max() < ROUND_OFF
    assert sum(change.energy_lost for change in sim.changes) < 1e-20  # each leg ends at rest


def at(key):
    """psi1, psi2 [rad] from "30,60" [deg]."""
    return np.radians([float(degrees) for degrees in key.split(",")])


def test_planar_rectangles_turn_rod_a_by_the_closed_form():
    """36 rectangles: net rotation within 1e-9 rad (measured 2e-13 at steps of 20 ms)."""
    robot = three_rods()
    for key, (angle, _) in PLANAR['rectangular manoeuvre map key "psi1_deg,psi2_deg" -> [rad, deg]'].items():
        sim = rbt.Simulation(robot, step=STEP, integrator="dop853")
        rectangle(sim, *at(key))
        w, x, y, z = sim.sample().pose[0, :4]
        assert abs(x) + abs(y) < 1e-12
        assert 2 * np.arctan2(z, w) == pytest.approx(angle, abs=1e-9), key


@pytest.mark.parametrize("variant", ["thin_panel", "eq3_2"])
def test_panels_turn_by_the_reference(variant):
    """64 rectangles: the attitude within 1e-9 of r5 (measured 2e-13)."""
    robot = three_panels(PANELS[variant]["parameters"]["I_diag (X normal)"])
    for key, right in PANELS[variant]['map "psi1_deg,psi2_deg"'].items():
        sim = rbt.Simulation(robot, step=STEP, integrator="dop853")
        rectangle(sim, *at(key))
        q = sim.sample().pose[0, :4]
        assert q * np.sign(q @ right["q_net"]) == pytest.approx(np.array(right["q_net"]), abs=1e-9), key
