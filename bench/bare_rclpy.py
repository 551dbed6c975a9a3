"""The bare limit: rclpy, one thread on absolute deadlines, the node's messages at the node's rates, no simulation.

It is scheduled as the node's stepping thread is: SCHED_FIFO where the system allows it, unless --priority is 0.
"""

import argparse
import signal
import threading
import time

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue
from geometry_msgs.msg import TransformStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from rbt_ros.ros.pacing import wake_up_on_time
from rbt_ros.ros.priority import PRIORITY, Urgency

H_NS = 1_000_000


def publish_for_ever(node, stop, priority):
    """1 kHz /clock and joint_states, 100 Hz TF and odometry, 1 Hz diagnostics in the node's words."""
    clock, joints, odometry = Clock(), JointState(), Odometry()
    transforms = TFMessage(transforms=[TransformStamped()])
    publishers = {
        name: node.create_publisher(type(message), name, 10)
        for name, message in (("/clock", clock), ("joint_states", joints), ("/tf", transforms), ("odom", odometry))
    }
    diagnostics = node.create_publisher(DiagnosticArray, "/diagnostics", 10)
    sent, round_trips = {}, []

    def on_answer(message):
        stamp = message.header.stamp
        if (begin := sent.get(stamp.sec * 1_000_000_000 + stamp.nanosec)) is not None:
            round_trips.append((time.monotonic_ns() - begin) * 1e-3)

    node.create_subscription(WrenchStamped, "wrench/cubesat", on_answer, 10)
    late, ticks, overruns = np.zeros(60_000), 0, 0
    wake_up_on_time()
    urgency = Urgency(priority)
    start = deadline = time.monotonic_ns()
    while not stop.is_set():
        deadline += H_NS
        now = time.monotonic_ns()
        if now < deadline:
            urgency.rest(now)
            time.sleep((deadline - now) * 1e-9)
        else:
            urgency.press_on(now)
        lateness = time.monotonic_ns() - deadline
        late[ticks % len(late)] = lateness * 1e-3
        overruns += lateness > H_NS
        ticks += 1
        clock.clock.sec, clock.clock.nanosec = divmod(ticks * H_NS, 1_000_000_000)
        joints.header.stamp = clock.clock
        publishers["/clock"].publish(clock)
        publishers["joint_states"].publish(joints)
        if ticks % 10 == 0:
            publishers["/tf"].publish(transforms)
            publishers["odom"].publish(odometry)
        sent[ticks * H_NS] = time.monotonic_ns()
        sent.pop((ticks - 1000) * H_NS, None)
        if ticks % 1000 == 0:
            p50, p99, most = np.percentile(late[: min(ticks, len(late))], [50, 99, 100])
            trip = np.percentile(round_trips[-10_000:], [50, 99]) if round_trips else (0.0, 0.0)
            values = {
                "latency p50 [us]": trip[0],
                "latency p99 [us]": trip[1],
                "ticks": ticks,
                "overruns, part of ticks": overruns / ticks,
                "jitter p50 [us]": p50,
                "jitter p99 [us]": p99,
                "jitter max [us]": most,
                "elapsed [s]": (time.monotonic_ns() - start) * 1e-9,
                "step [s]": H_NS * 1e-9,
                "scheduling": urgency,
            }
            status = DiagnosticStatus(
                name="bare: loop", values=[KeyValue(key=k, value=str(v)) for k, v in values.items()]
            )
            diagnostics.publish(DiagnosticArray(status=[status]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--duration", type=float, required=True, help="[s]")
    parser.add_argument("--priority", type=int, default=PRIORITY, help="of SCHED_FIFO; 0: an ordinary thread")
    given = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    node = rclpy.create_node("bare")
    thread = threading.Thread(target=publish_for_ever, args=(node, stop, given.priority))
    thread.start()
    end = time.monotonic() + given.duration
    while not stop.is_set() and time.monotonic() < end:
        rclpy.spin_once(node, timeout_sec=0.1)
    stop.set()
    thread.join()


if __name__ == "__main__":
    main()
