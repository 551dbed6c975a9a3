"""What ROS messages say of a motion, read independently of the package; and messages that push."""

import numpy as np
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry

from rbt_ros.ros.convert import stamp_of


def quaternion(q) -> np.ndarray:
    return np.array([q.w, q.x, q.y, q.z])


def vector(v) -> np.ndarray:
    return np.array([v.x, v.y, v.z])


def rotation(q) -> np.ndarray:
    """R(q), written out independently of the package."""
    w, x, y, z = q
    return np.array(
        [
            [w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z],
        ]
    ) / (q @ q)


class Motion:
    """What an Odometry says: pose of the body's frame in the world, twist in body axes."""

    def __init__(self, message: Odometry):
        self.stamp = stamp_of(message)
        self.p = vector(message.pose.pose.position)
        self.q = quaternion(message.pose.pose.orientation)
        self.v_B, self.w_B = vector(message.twist.twist.linear), vector(message.twist.twist.angular)

    def momentum(self, body) -> np.ndarray:
        """m v of the CoM, world axes."""
        return body.mass * rotation(self.q) @ (self.v_B + np.cross(self.w_B, body.com))


def wrench(frame: str = "", force=(0.0, 0.0, 0.0), torque=(0.0, 0.0, 0.0)) -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = frame
    message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = force
    message.wrench.torque.x, message.wrench.torque.y, message.wrench.torque.z = torque
    return message
