"""The table of topics: fields from a sample, by hand."""

import math

import numpy as np
import pytest
from transforms3d.quaternions import qmult, quat2mat

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.core.relative import seen_from
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.unilateral import rope
from rbt_ros.model.unilateral_arrays import with_ropes
from rbt_ros.sim import Simulation


def moving():
    """A body that turned 90 deg about z, moves along the world's x and spins."""
    robot = RobotBuilder("sat").body("hub", mass=1, inertia=(1, 2, 2.5)).build()
    sim = Simulation(robot)
    spin = (0.1, 0.2, 0.3)
    sim.set_body("hub", position=(1, 2, 3), euler=("ZYX", math.pi / 2, 0, 0), velocity=(5, 0, 0), omega_body=spin)
    return robot, sim.sample()


def test_odometry_has_its_twist_in_the_body():
    robot, sample = moving()
    fields = topics.odometry_fields(robot, "a/", 0, sample, 1_500_000_002)
    assert fields["header"] == {"stamp": topics.Time(1, 500_000_002), "frame_id": "a/world"}
    assert fields["child_frame_id"] == "a/hub"
    assert fields["pose"]["pose"]["position"] == topics.Vector3(1, 2, 3)
    assert fields["pose"]["pose"]["orientation"] == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))
    assert fields["twist"]["twist"]["linear"] == pytest.approx((0, -5, 0), abs=1e-15)
    assert fields["twist"]["twist"]["angular"] == pytest.approx((0.1, 0.2, 0.3))


def test_seen_from_undoes_the_parent():
    rng = np.random.default_rng(1)
    parent, child = rng.normal(size=7), rng.normal(size=7)
    for pose in (parent, child):
        pose[:4] /= np.linalg.norm(pose[:4])
    q, p = seen_from(tuple(parent[:4]), tuple(parent[4:]), tuple(child[:4]), tuple(child[4:]))
    assert qmult(parent[:4], q) == pytest.approx(child[:4], abs=1e-15)
    assert parent[4:] + quat2mat(parent[:4]) @ p == pytest.approx(child[4:], abs=1e-14)


def test_a_floating_body_moves_in_tf_and_is_not_static():
    robot, sample = moving()
    moved = topics.transform_fields(robot, "", sample, 0, fixed=False)["transforms"]
    assert [(t["header"]["frame_id"], t["child_frame_id"]) for t in moved] == [("world", "hub")]
    assert topics.transform_fields(robot, "", sample, 0, fixed=True) == {"transforms": []}


def test_joint_states_without_one_axis_hinges_are_empty_and_of_one_length():
    robot, sample = moving()
    fields = topics.joint_state_fields(robot, sample, 0)
    assert fields["name"] == fields["position"] == fields["velocity"] == []


def test_names_are_unique_and_one_rate_each():
    b = rbt.RobotBuilder("sat")
    b.body("hub", mass=1.0, inertia=(1, 1, 1)).body("arm", mass=1.0, inertia=(1, 1, 1))
    b.hinge("elbow", "revolute", parent="hub", child="arm")
    b.body("mate", mass=1.0, inertia=(1, 1, 1)).prescribe("elbow", 0.0).closure("grip", "point", "mate", "arm")
    tied = with_ropes(b.build(), [rope("line", "world", "hub", (0, 0, 0), (0, 0, 0), 1.0, 0.0, "radial")])
    table = topics.published(tied)
    names = [topic.name for topic in table]
    assert len(set(names)) == len(names)
    assert set(rbt.load("cubesat").outputs) == {topic.key for topic in table if topic.key}


def test_conservation_report_warns_above_its_limits():
    sim = rbt.load("cubesat").simulation()
    sim.sample()
    sim.advance(1000)
    sample = sim.sample()
    assert topics.conservation_report(sample, 1e-4, 1e-4).level == topics.OK
    loud = topics.conservation_report(sample, 1e-12, 1e-4)
    assert loud.level == topics.WARN and "energy drift" in loud.summary and "angular" not in loud.summary


def test_what_inputs_change_is_not_told_as_a_drift():
    """While a torque acts there is nothing to compare the momenta with: no number, and none of 0 above all."""
    sim = rbt.load("cubesat").simulation()
    values = topics.conservation_report(sim.sample(), 1e-4, 1e-4).values
    assert values["angular momentum drift, relative"] == "counts from now on"
    sim.add_input(rbt.Wrench("cubesat", moment=(1, 0, 0)), start=0.0, stop=0.1)
    for told in ("changed by inputs", "counts from now on"):
        sim.advance(50)
        sample = sim.sample()
        values, line = topics.conservation_report(sample, 1e-4, 1e-4).values, topics.status_line(sample, 1.0, 0)
        assert values["momentum drift [kg m/s]"] == values["energy drift, relative"] == told
        assert f"angular momentum drift {told}" in line and f"J, drift {told}" in line
    sim.advance(50)
    values = topics.conservation_report(sim.sample(), 1e-4, 1e-4).values
    assert 0 < float(values["angular momentum drift, relative"]) < 1e-4


def test_energy_that_is_not_finite_is_an_error():
    sample = rbt.load("cubesat").simulation().sample()
    for kinetic in (float("inf"), float("nan")):
        report = topics.conservation_report(sample._replace(energy=sample.energy._replace(kinetic=kinetic)), 1.0, 1.0)
        assert report.level == topics.ERROR and "not finite" in report.summary


def test_ropes_pull_at_their_body_in_its_own_frame():
    """A weight of 2 kg that hangs, turned by half a turn about x, from a rope on its corner: the pull is up in the
    world, down in the body's axes, and its moment about the origin is that of the arm."""
    b = rbt.RobotBuilder("weight")
    b.body("weight", mass=2.0, inertia=(0.1, 0.1, 0.1), com=(0.3, 0, 0))
    b.rope("line", "world", "weight", at_b=(0.3, 0, 0.5), length=1.0)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -10.0))
    sim.set_body("weight", quaternion=(0, 1, 0, 0), position=(-0.3, 0, -0.5))
    topic = next(t for t in topics.published(sim.robot, "p_") if t.name == "ropes/line/wrench")
    fields = topic.fields(sim.sample(), 3_000_000_000)
    assert fields["header"] == {"stamp": (3, 0), "frame_id": "p_weight"}
    force, torque = fields["wrench"]["force"], fields["wrench"]["torque"]
    assert np.array(force) == pytest.approx([0, 0, -20.0], abs=1e-13)
    assert np.array(torque) == pytest.approx([0, 0.3 * 20.0, 0], abs=1e-13)


def test_constraints_tell_what_they_do():
    """A level arm of 2 kg, turned by 90 degrees about its own axis, driven at its hinge and held by a pin at its end:
    the pin's wrench is in the arm's axes, about its origin; efforts go by name."""
    b = rbt.RobotBuilder("gate")
    b.body("arm", mass=2.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0)).body("float", mass=3.0, inertia=(1, 1, 1))
    b.hinge("roll", "revolute", parent="world", child="arm", axis=(1, 0, 0)).prescribe("roll", np.pi / 2)
    b.closure("pin", "weld", "arm", "float", at_a=(1, 0, 0), at_b=(0, 0.2, 0.4))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -10.0))
    sim.set_hinge("roll", np.pi / 2)
    sim.set_body("float", position=(1, 0.4, -0.2), euler=("XYZ", np.pi / 2, 0, 0))
    sample = sim.sample()
    wrench, efforts = (t for t in topics.published(sim.robot, "p_") if t.key == "constraints")
    assert (wrench.name, efforts.name) == ("constraints/pin/wrench", "constraint_efforts")
    fields = wrench.fields(sample, 3_000_000_000)
    assert fields["header"] == {"stamp": (3, 0), "frame_id": "p_float"}
    # the float's y is up: 30 N along it, through its centre of mass and origin: no moment about that
    assert np.array(fields["wrench"]["force"]) == pytest.approx([0, 30.0, 0], abs=1e-11)
    assert np.array(fields["wrench"]["torque"]) == pytest.approx([0, 0, 0], abs=1e-11)
    told = efforts.fields(sample, 3_000_000_000)
    assert (told["name"], told["header"]["stamp"]) == (["roll"], (3, 0))
    assert told["effort"] == [sample.constraints["roll"].effort] == [pytest.approx(3 * 10 * 0.4, abs=1e-11)]


def test_hinges_tell_what_they_transmit_in_the_frame_of_their_child():
    """A lamp of 2 kg on an arm that stands turned by 90 degrees about the upright and hangs level: its weight and its
    moment, up and about the arm's own y; what floats has no such topic."""
    b = rbt.RobotBuilder("lamp")
    b.body("arm", mass=2.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0)).body("fly", mass=1.0, inertia=(1, 1, 1))
    b.hinge("socket", "revolute", parent="world", child="arm", at=(0, 0, 3))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -10.0))
    sim.set_hinge("socket", np.pi / 2)
    (topic,) = (t for t in topics.published(sim.robot, "p_") if t.key == "hinge_wrenches")
    assert (topic.name, topic.qos) == ("hinges/socket/wrench", "lazy")
    fields = topic.fields(sim.sample(), 3_000_000_000)
    assert fields["header"] == {"stamp": (3, 0), "frame_id": "p_arm"}
    assert np.array(fields["wrench"]["force"]) == pytest.approx([0, 0, 20.0], abs=1e-13)
    assert np.array(fields["wrench"]["torque"]) == pytest.approx([0, -10.0, 0], abs=1e-13)
