"""A motor at 1 kHz: sends its angle, and counts the time to the answer that accounts for it. Or the bare answer to it.

python hil_motor.py SECONDS prints percentiles as JSON; python hil_motor.py echo answers each sample at once.
"""

import json
import sys
import time

import numpy as np
import rclpy
import until_asked
from sensor_msgs.msg import JointState

PERIOD_NS = 1_000_000


def echo():
    """The least there can be: take a sample, send an answer."""
    node, answer = rclpy.create_node("echo"), JointState()
    publisher = node.create_publisher(JointState, "measured/efforts", 10)

    def on_sample(sample):
        stamp = sample.header.stamp
        answer.header.frame_id = str(stamp.sec * 1_000_000_000 + stamp.nanosec)
        publisher.publish(answer)

    node.create_subscription(JointState, "measured/joint_states", on_sample, 10)
    until_asked.spin(node)


def motor(seconds):
    """Percentiles of the time from a sample to the first answer that accounts for it."""
    node, sample, sent, delays = rclpy.create_node("motor"), JointState(name=["wheel_axis"]), {}, []
    publisher = node.create_publisher(JointState, "measured/joint_states", 10)

    def on_answer(answer):
        begin = sent.pop(answer.header.frame_id, None)
        if begin is not None:
            delays.append((time.monotonic_ns() - begin) * 1e-3)

    node.create_subscription(JointState, "measured/efforts", on_answer, 10)
    due = time.monotonic_ns()
    begin = None
    while begin is None or due < begin + seconds * 1e9:
        due += PERIOD_NS
        if due < time.monotonic_ns():  # what was missed is not made up for: answers are to be taken, too
            due = time.monotonic_ns() + PERIOD_NS
        while (left := due - time.monotonic_ns()) > 0:
            rclpy.spin_once(node, timeout_sec=left * 1e-9)
        now = time.monotonic_ns()
        sample.header.stamp.sec, sample.header.stamp.nanosec = divmod(now, 1_000_000_000)
        sample.position, sample.velocity = [0.0], [0.0]
        sent[str(now)] = now
        publisher.publish(sample)
        if begin is None and delays:
            begin = due
    p50, p99 = np.percentile(delays[1000:] or delays, [50, 99])
    print(json.dumps({"p50": p50, "p99": p99, "answered": len(delays)}))


def main():
    until_asked.begin()
    echo() if sys.argv[1] == "echo" else motor(float(sys.argv[1]))


if __name__ == "__main__":
    main()
