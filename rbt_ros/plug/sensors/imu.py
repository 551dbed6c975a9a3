"""An inertial sensor: specific force and angular rate where it is, in its axes (REP 145, data_raw); no attitude."""

from rbt_ros.core.vec import sub
from rbt_ros.plug.parameter import Parameter
from rbt_ros.plug.sensor import Quantity, SensorKind, SensorMessage


def read(p, seen, noise):
    """a - g and ω. What acts on all mass alike, gravity and attraction, is not felt."""
    force, rate = seen.in_axes(sub(seen.acceleration, seen.gravity)), seen.in_axes(seen.omega)
    if p.force_noise or p.rate_noise:
        n = noise.normal(6)
        force = [f + p.force_noise * x for f, x in zip(force, n[:3], strict=True)]
        rate = [w + p.rate_noise * x for w, x in zip(rate, n[3:], strict=True)]
    return {"specific_force": force, "angular_velocity": rate}


def fields(p, values, header):
    """sensor_msgs/Imu. The first number of a covariance is -1 where there is no such estimate."""
    return {
        "header": header,
        "orientation": {"x": 0.0, "y": 0.0, "z": 0.0, "w": 1.0},
        "orientation_covariance": [-1.0] + [0.0] * 8,
        "angular_velocity": vector(values["angular_velocity"]),
        "angular_velocity_covariance": diagonal(p.rate_noise**2),
        "linear_acceleration": vector(values["specific_force"]),
        "linear_acceleration_covariance": diagonal(p.force_noise**2),
    }


def vector(values):
    """geometry_msgs/Vector3."""
    return dict(zip("xyz", values, strict=True))


def diagonal(variance):
    """A covariance of three numbers; all zero: not known."""
    return [variance if k % 4 == 0 else 0.0 for k in range(9)]


IMU = SensorKind(
    read,
    (Quantity("specific_force", "m/s2", 3), Quantity("angular_velocity", "rad/s", 3)),
    (SensorMessage("data_raw", "sensor_msgs/msg/Imu", fields),),
    parameters=(
        Parameter("force_noise", "m/s2", 0.0, 0.0, about="standard deviation of each sample's specific force"),
        Parameter("rate_noise", "rad/s", 0.0, 0.0, about="standard deviation of each sample's angular rate"),
    ),
    about="an inertial sensor: specific force and angular rate",
)
