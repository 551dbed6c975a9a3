"""What an inertial sensor tells, against what the textbook says of it."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.vec import rotation as rotation_rows
from rbt_ros.imu import imu_fields, sensors

AT, TURN = (0.3, -0.2, 0.5), ("ZYX", 0.4, -0.3, 0.2)


def craft(base="free", gravity=(0.0, 0.0, 0.0)):
    """A hub of 10 kg with a sensor of 10 g at AT, turned by TURN."""
    b = rbt.RobotBuilder("craft").body("hub", mass=10.0, inertia=(0.4, 0.5, 0.6))
    if base == "held":
        b.hinge("mount", "fixed", parent="world", child="hub")
    b.body("imu", mass=0.01, inertia=(1e-7, 1e-7, 1e-7))
    b.hinge("imu_mount", "fixed", parent="hub", child="imu", at=AT, rotation=TURN)
    return rbt.Simulation(b.build(), gravity=gravity)


def told(sim):
    """Specific force and rate, in the hub's axes."""
    fields = imu_fields(sim.robot, "", 1, sim.sample(), 7)
    assert fields["header"]["frame_id"] == "imu" and fields["orientation_covariance"][0] == -1.0
    R = np.array(rotation_rows(sim.robot.hinges[1].quaternion))
    return R @ fields["linear_acceleration"], R @ fields["angular_velocity"]


def test_at_rest_it_tells_what_holds_it_and_in_free_fall_nothing():
    force, rate = told(craft("held", (0, 0, -9.81)))
    assert force == pytest.approx([0, 0, 9.81], abs=1e-12) and rate == pytest.approx([0, 0, 0], abs=0)
    force, _ = told(craft(gravity=(0, 0, -9.81)))
    assert force == pytest.approx([0, 0, 0], abs=1e-13)


def test_a_spinning_craft_pulls_it_inward():
    """About a principal axis through the common centre of mass: a = -ω² r, r from the axis."""
    omega = 3.0
    b = rbt.RobotBuilder("rotor").body("hub", mass=10.0, inertia=(0.4, 0.4, 0.6))
    b.body("imu", mass=0.01, inertia=(1e-7, 1e-7, 1e-7))
    b.hinge("imu_mount", "fixed", parent="hub", child="imu", at=(0.3, 0.0, 0.0), rotation=TURN)
    sim = rbt.Simulation(b.build())
    com = np.array([0.3, 0.0, 0.0]) * 0.01 / 10.01
    sim.set_body("hub", velocity=np.cross([0, 0, -omega], com), omega_body=(0, 0, omega))
    force, rate = told(sim)
    assert force == pytest.approx([-(omega**2) * (0.3 - com[0]), 0, 0], abs=1e-13)
    assert rate == pytest.approx([0, 0, omega], abs=1e-15)


def test_a_thruster_through_the_centre_of_mass_is_felt_everywhere():
    sim = craft()
    com = np.array(AT) * 0.01 / 10.01
    push = (3.0, -2.0, 1.0)
    sim.add_input(rbt.Wrench("hub", force=push, moment=tuple(np.cross(com, push)), at="com"))
    sim.advance(0)
    force, _ = told(sim)
    assert force == pytest.approx(np.array(push) / 10.01, rel=1e-12)


def test_only_what_is_mounted_and_carries_nothing_is_a_sensor():
    assert sensors(craft().robot) == ("imu",)
    assert sensors(rbt.load("wheel").robot) == ()
