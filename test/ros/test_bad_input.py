"""Faulty commands through real topics: the node goes on, counts and reports them, and nothing of them acts."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from tf2_msgs.msg import TFMessage

import rbt_ros as rbt
from rbt_ros.ros.convert import stamp_of

CLOCK_START = 1_000_000_000
H = 1_000_000
NAN, INF = float("nan"), float("inf")


def wrench(frame="", force=(0.0, 0.0, 1.0), torque=(0.1, 0.2, 0.3), sec=0) -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id, message.header.stamp.sec = frame, sec
    message.wrench.force.x, message.wrench.force.y, message.wrench.force.z = force
    message.wrench.torque.x, message.wrench.torque.y, message.wrench.torque.z = torque
    return message


CASES = {
    "unknown frame": (wrench("map"), "rejected", "frame_id 'map' is not usable here; use 'world', 'cubesat' or empty"),
    "huge frame": (wrench("x" * 1_000_000), "rejected", "x... (1000000 characters)' is not usable here"),
    "frame of blanks": (wrench(" "), "rejected", "frame_id ' ' is not usable here"),
    "unprintable frame": (wrench("\x1b[2J\n"), "rejected", "frame_id '?[2J?' is not usable here"),
    "NaN force": (wrench(force=(0.0, NAN, 0.0)), "rejected", "force (0.0, nan, 0.0) must be three finite numbers"),
    "infinite force": (wrench(force=(INF, 0.0, 0.0)), "rejected", "force (inf, 0.0, 0.0) must be three finite numbers"),
    "NaN torque": (wrench(torque=(0.0, 0.0, NAN)), "rejected", "moment (0.0, 0.0, nan) must be three finite numbers"),
    "stale stamp": (wrench(sec=-5), "stale", "ignored: stamped"),
    "torque of 1e308": (wrench(torque=(1e308, 1e308, 1e308)), "cancelled", "the commands that act were cancelled"),
}


@pytest.fixture(scope="module")
def node(module_ros):
    return module_ros.start()


@pytest.fixture(scope="module")
def push(module_peer, node):
    return module_peer.publisher(WrenchStamped, "wrench/cubesat")


@pytest.mark.parametrize("case", CASES)
def test_a_faulty_command_is_counted_and_reported_and_does_not_act(node, peer, push, case):
    """The attitude afterwards is, bit by bit, that of a flight that nobody disturbed, and the clock advances."""
    message, counter, words = CASES[case]
    diagnostics, tf, clock = peer.diagnostics(), peer.listen(TFMessage, "/tf"), peer.listen(Clock, "/clock", depth=1)
    before = diagnostics.values(diagnostics.next(node), "commands")
    push.publish(message)
    report = diagnostics.until(
        lambda m: diagnostics.values(m, "commands")[counter] != before[counter], "the count of the fault", node
    )
    after = diagnostics.values(report, "commands")
    changed = {key: (before[key], after[key]) for key in before if key != "last fault" and before[key] != after[key]}
    expected = {counter: (before[counter], str(int(before[counter]) + 1))}
    if counter == "cancelled":  # taken at first, as any finite number is
        expected["accepted"] = (before["accepted"], str(int(before["accepted"]) + 1))
    assert changed == expected
    assert words in after["last fault"] and len(after["last fault"]) < 400
    status = diagnostics.status(report, "commands")
    assert status.level == b"\x01" and words in status.message

    seen, ticks = len(tf), len(clock)
    peer.until(
        lambda: len(tf) > seen and len(clock) > ticks and stamp_of(tf[-1].transforms[0]) > stamp_of(report), "tf"
    )
    sim = rbt.load("cubesat").simulation()
    sim.advance((stamp_of(tf[-1].transforms[0]) - CLOCK_START) // H)
    q = tf[-1].transforms[0].transform.rotation
    assert np.array_equal([q.w, q.x, q.y, q.z], sim.sample().pose[0, :4])
    assert not any(sim.sample().pose[0, 4:]) and tf[-1].transforms[0].transform.translation.z == 0.0


def test_a_stamp_far_ahead_acts_now_and_is_reported(ros):
    """A sender on wall-clock time is the commonest mistake: its wrench acts, and it is told to use_sim_time."""
    child = ros.start()
    peer = ros.peer()
    diagnostics = peer.diagnostics()
    push, log = peer.commander("wrench", "/rbt_simulator/latched/wrench/cubesat", child)
    push.publish(wrench("world", sec=1_700_000_000))
    report = diagnostics.until(
        lambda m: diagnostics.values(m, "commands")["stamped ahead of the clock"] != "0", "the command", child
    )
    values = diagnostics.values(report, "commands")
    assert (values["stamped ahead of the clock"], values["rejected"]) == ("1", "0")
    assert "use_sim_time" in values["last fault"]
    peer.until(lambda: log, "the command in the log", child)
    assert log[0].header.stamp.sec < 100


@pytest.mark.parametrize("side", ["publisher", "subscriber"])
def test_a_quality_of_service_that_does_not_fit_is_reported(node, peer, side):
    """A best-effort sender of wrenches, a late reader who wants old odometry: neither gets anything, both are named."""
    diagnostics = peer.diagnostics()
    before = int(diagnostics.values(diagnostics.next(node), "connections")["incompatible QoS"])
    if side == "publisher":
        profile = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        stranger, where = peer.node.create_publisher(WrenchStamped, "wrench", profile), "subscriber of wrench"
    else:
        peer.listen(Odometry, "odom", latched=True)
        stranger, where = None, "publisher of odom"
    report = diagnostics.until(
        lambda m: int(diagnostics.values(m, "connections")["incompatible QoS"]) > before, "the report of it", node
    )
    if stranger is not None:
        peer.node.destroy_publisher(stranger)
    status = diagnostics.status(report, "connections")
    assert status.level == b"\x01" and where in status.message and "does not fit" in status.message
