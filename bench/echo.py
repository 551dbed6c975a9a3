"""Answers every joint_states with a wrench of the same stamp, as the smallest controller does."""

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy._rclpy_pybind11 import RCLError
from rclpy.executors import ExternalShutdownException
from sensor_msgs.msg import JointState


def main():
    rclpy.init()
    node, answer = rclpy.create_node("echo"), WrenchStamped()
    publisher = node.create_publisher(WrenchStamped, "wrench/cubesat", 10)

    def on_state(state):
        answer.header.stamp = state.header.stamp
        publisher.publish(answer)

    node.create_subscription(JointState, "joint_states", on_state, 10)
    try:
        rclpy.spin(node)
    except (KeyboardInterrupt, ExternalShutdownException, RCLError):
        pass  # the ordinary end, wherever it was


if __name__ == "__main__":
    main()
