"""An inertial sensor: a small body on a fixed hinge, and what its mount does to it.

What an accelerometer tells, specific force, is all that acts on its mass but gravity: for a body that nobody pushes and
that carries nothing this is the force through its hinge, per mass. So impacts, thrusters and springs of the whole craft
are in it, at the sensor's own place, whatever holds the craft.
"""

import numpy as np

from rbt_ros.core.types import JointKind
from rbt_ros.fields import Fields, Quaternion, Vector3, header
from rbt_ros.model.attitude import turn_all
from rbt_ros.model.robot import Robot
from rbt_ros.results import Sample

NOT_TOLD = [-1.0] + [0.0] * 8  # sensor_msgs/Imu: the first number of a covariance, where there is no such estimate


def sensors(robot: Robot) -> tuple[str, ...]:
    """The bodies that can be inertial sensors: with mass, on a fixed hinge, with nothing that hangs on them."""
    parents = {hinge.parent for hinge in robot.hinges}
    return tuple(
        body.name
        for body, hinge in zip(robot.bodies, robot.hinges, strict=True)
        if hinge.kind == JointKind.FIXED and body.mass > 0.0 and body.name not in parents
    )


def imu_fields(robot: Robot, prefix: str, i: int, sample: Sample, stamp: int) -> Fields:
    """sensor_msgs/Imu of body i, in its axes (REP 145, imu/data_raw): specific force of its CoM, rate; no attitude."""
    q = sample.pose[i, :4]
    force_W = sample.reactions[robot.hinges[i].name].force
    vectors_W = np.array([force_W / robot.bodies[i].mass, sample.twist[i, :3]])
    force, omega = turn_all((q * [1, -1, -1, -1])[None, :], vectors_W).tolist()
    return {
        "header": header(stamp, prefix + robot.bodies[i].name),
        "orientation": Quaternion(1.0, 0.0, 0.0, 0.0),
        "orientation_covariance": NOT_TOLD,
        "angular_velocity": Vector3(*omega),
        "linear_acceleration": Vector3(*force),
    }
