"""Answers every joint_states with a wrench of the same stamp, as the smallest controller does."""

import rclpy
import until_asked
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState


def main():
    until_asked.begin()
    node, answer = rclpy.create_node("echo"), WrenchStamped()
    publisher = node.create_publisher(WrenchStamped, "wrench/cubesat", 10)

    def on_state(state):
        answer.header.stamp = state.header.stamp
        publisher.publish(answer)

    node.create_subscription(JointState, "joint_states", on_state, 10)
    until_asked.spin(node)


if __name__ == "__main__":
    main()
