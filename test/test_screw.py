"""A screw: one freedom that turns and slides. Against closed forms, and against the same made of what was there."""

import math
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.model.urdf import urdf_text
from rbt_ros.model.urdf_read import robot_from_urdf
from rbt_ros.topics import joint_state_fields, transform_fields

EPS = np.finfo(float).eps
NUT = """
rbt: 1
robot:
  bodies: {nut: {mass: 2, inertia: [0.02, 0.02, 0.03]}}
  hinges: {thread: {kind: screw, parent: world, child: nut, pitch: 5 cm}}
gravity: [0, 0, -9.81]
"""


def with_arm(kind, **given):
    """A nut on `kind` in the air on a floating base, with an arm on it that swings: gyroscopic moments, no symmetry."""
    b = rbt.RobotBuilder("crane")
    b.body("base", mass=5.0, inertia=(0.4, 0.5, 0.6), com=(0.1, 0.0, 0.2))
    b.body("nut", mass=1.5, inertia=(0.02, 0.03, 0.04), com=(0.05, -0.02, 0.1))
    b.body("arm", mass=0.7, inertia=(0.01, 0.05, 0.05), com=(0.4, 0.1, 0.0))
    b.hinge(
        "thread",
        kind,
        parent="base",
        child="nut",
        at=(0.2, 0.1, 0.3),
        axis=(1, 2, 3),
        rotation=("ZYX", 1, 2, 3),
        **given,
    )
    b.hinge("swing", "revolute", parent="nut", child="arm", at=(0.1, 0.2, 0.1), axis=(0, 1, 1))
    return b


@pytest.mark.parametrize("pitch", [0.05, -0.4])
def test_a_falling_nut(pitch):
    """(I + m k²) θ̈ = -m g k with k = pitch / 2π; z = k θ."""
    sim = rbt.Simulation.of(scenario_from_text(NUT.replace("5 cm", f"{pitch}")))
    sim.advance(1000)
    k = pitch / (2 * math.pi)
    theta = -0.5 * 2 * 9.81 * k / (0.03 + 2 * k * k)
    sample = sim.sample()
    assert sample.q[0] == pytest.approx(theta, rel=1e-12) and sample.pose[0, 6] == pytest.approx(k * theta, rel=1e-12)
    assert sample.energy.total == pytest.approx(0, abs=1e-11)
    assert sim.sample().twist[0] == pytest.approx([0, 0, 2 * theta, 0, 0, 2 * k * theta], rel=1e-12)


def test_is_a_cylindrical_hinge_whose_slide_goes_with_its_turn():
    """To the round-off of the multipliers: motion, energy, and what the thread bears beside its own couple."""
    pitch = 0.3
    screw = rbt.Simulation(with_arm("screw", pitch=pitch).build(), gravity=(0, 0, -9.81), integrator="dop853")
    coupled = with_arm("cylindrical").couple("nut", {"thread_slide": 1.0, "thread_turn": -pitch / (2 * math.pi)})
    pair = rbt.Simulation(coupled.build(), gravity=(0, 0, -9.81), integrator="dop853")
    k = pitch / (2 * math.pi)
    screw.set_hinge("thread", 0.4, rate=9.0)
    pair.set_hinge("thread", (0.4, 0.4 * k), rate=(9.0, 9.0 * k))
    for sim in (screw, pair):
        sim.set_body("base", omega_body=(0.3, -0.5, 2.0), velocity=(1, 0, 0))
        sim.set_hinge("swing", 0.5, rate=-3.0)
        sim.advance(1000)
    a, b = screw.sample(), pair.sample()
    assert a.pose == pytest.approx(b.pose, abs=1e4 * EPS) and a.twist == pytest.approx(b.twist, abs=1e5 * EPS)
    assert a.energy.total == pytest.approx(b.energy.total, rel=1e5 * EPS)
    assert a.reactions["swing"].force == pytest.approx(b.reactions["swing"].force, abs=1e6 * EPS)


def test_other_tools_see_a_slide_that_mimics_the_turn():
    """JointState has the turn alone; by URDF's mimic others put every frame where TF does."""
    robot = with_arm("screw", pitch=0.3).build()
    sim = rbt.Simulation(robot)
    sim.set_hinge("thread", 1.7)
    fields = joint_state_fields(robot, sim.sample(), 0)
    assert fields["name"] == ["thread", "swing"] and fields["position"][0] == 1.7
    joints = {joint.get("name"): joint for joint in ET.fromstring(urdf_text(robot)).iter("joint")}
    mimic = joints["thread_slide"].find("mimic")
    assert mimic.get("joint") == "thread" and float(mimic.get("multiplier")) == pytest.approx(0.3 / (2 * math.pi))
    assert (joints["thread_slide"].get("type"), joints["thread"].get("type")) == ("prismatic", "continuous")
    frames = {x["child_frame_id"]: x for x in transform_fields(robot, "", sim.sample(), 0, fixed=False)["transforms"]}
    assert frames["nut"]["header"]["frame_id"] == "thread_slide" and frames["nut"]["transform"]["translation"] == (
        0,
        0,
        0,
    )
    slid = np.subtract(frames["thread_slide"]["transform"]["translation"], (0.2, 0.1, 0.3))
    assert np.linalg.norm(slid) == pytest.approx(1.7 * 0.3 / (2 * math.pi), rel=1e-14)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (", pitch: 5 cm", "", "hinge 'thread': a screw needs its pitch, in m for each full turn; without, it is revol"),
        ("5 cm", "0", "hinge 'thread': a screw needs its pitch"),
        ("5 cm", "5 deg", "pitch"),
        ("kind: screw", "kind: revolute", "pitch 0.05 m is of a screw; a revolute hinge has none"),
    ],
)
def test_a_wrong_pitch_is_refused(old, new, message):
    with pytest.raises(rbt.RbtError, match=message):
        rbt.Simulation.of(scenario_from_text(NUT.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'multiplier="',
            'multiplier="1',
            r"joint 'thread_slide': hinge 'thread' is screw: .* must mimic 'thread' by pitch",
        ),
        ("<mimic ", "<other ", "must mimic 'thread' by pitch / 2π = 0.0477464829 m/rad, offset 0"),
        ('pitch="0.3"', "", "is screw: its pitch is missing in the <rbt> of joint 'thread', in m for each full turn"),
        ('<axis xyz="0.26', '<axis xyz="0.27', "the axis of joint 'thread' must be \\(0.27"),
    ],
)
def test_a_broken_screw_in_a_urdf_is_refused(old, new, message):
    text = urdf_text(with_arm("screw", pitch=0.3).build())
    assert old in text
    with pytest.raises(rbt.ModelError, match=message):
        robot_from_urdf(text.replace(old, new, 1))
