"""`rbt record`: topics of running nodes into a bag, byte by byte, that the other verbs take like any other."""

import signal
import sys

import pytest
from nav_msgs.msg import Odometry
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

import rbt_ros as rbt
from rbt_ros.bags.verify import verify
from rbt_ros.ros.convert import stamp_of

RECORD = (sys.executable, "-m", "rbt_ros.cli", "record")


def test_a_node_is_recorded_from_its_topics_and_runs_again_with_the_same_bits(ros, tmp_path):
    """All topics, from before the node starts; what others received under a stamp is there, and `verify` agrees."""
    folder = tmp_path / "flight"
    recorder = ros.run(*RECORD, "--out", folder)
    peer = ros.peer()
    odom = peer.listen(Odometry, "odom")
    peer.until(lambda: "recording" in recorder.stdout, "the recorder", recorder)
    ros.start("cubesat", realtime_factor=0.5)

    def common() -> int:
        bag = rbt.Bag(folder)
        if not bag.runs() or "/odom" not in bag.topics:
            return 0
        kept = set(bag.stamps(bag.topic("/odom")).tolist())
        return sum(stamp_of(message) in kept for message in odom)

    peer.until(lambda: "/odom" in recorder.stdout, "odom at the recorder", recorder)
    peer.until(lambda: common() > 20, "the run and odometry in the bag", recorder)
    assert recorder.stop(signal.SIGINT) == 0
    assert f"wrote {folder}: " in recorder.stdout
    bag = rbt.Bag(folder)
    kept = {stamp_of(message): message for _, message in bag.read("odom")}
    both = [message for message in odom if stamp_of(message) in kept]
    assert len(both) > 10 and not bag.damage and not bag.skipped
    for message in both:
        there = kept[stamp_of(message)].twist.twist.angular
        assert (there.x, there.y, there.z) == tuple(getattr(message.twist.twist.angular, c) for c in "xyz")
    assert verify(bag).same


def test_times_of_the_simulated_clock_and_publishers_that_offer_less(ros, tmp_path):
    """By --sim-time a message has the time of /clock; a best-effort publisher beside a reliable one is heard, too."""
    folder = tmp_path / "words"
    peer = ros.peer()
    clock, words = peer.node.create_publisher(Clock, "/clock", 10), peer.node.create_publisher(String, "words", 10)
    recorder = ros.run(*RECORD, "words", "nobody", "--out", folder, "--sim-time")

    def recorded(word):
        stamp = Clock()
        stamp.clock.sec = 7
        clock.publish(stamp)
        sender.publish(String(data=word))
        return folder.exists() and word in {text for _, text in rbt.Bag(folder).texts("words")}

    sender = words
    peer.until(lambda: words.get_subscription_count() > 0, "the recorder", recorder)
    peer.until(lambda: recorded("reliable"), "the first words in the bag", recorder)
    sender = peer.node.create_publisher(String, "words", QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT))
    peer.until(lambda: recorded("best effort"), "the others", recorder)
    assert recorder.stop(signal.SIGINT) == 0
    assert "nobody published /nobody" in recorder.stdout
    assert {time_ns for time_ns, _ in rbt.Bag(folder).texts("words")} == {7_000_000_000}


@pytest.mark.parametrize("there", [False, True])
def test_where_nothing_comes_or_the_bag_is_there_it_says_so(ros, tmp_path, there):
    folder = tmp_path / "bag"
    if there:
        folder.mkdir()
    recorder = ros.run(*RECORD, "nothing", "--out", folder, "--duration", "0.5")
    ros.peer().until(lambda: not recorder.running, "its end")
    assert recorder.stop() == 1
    if there:
        assert f"rbt: the bag {folder} is there already; give another name, or remove it." in recorder.stderr
    else:
        assert "nobody published /nothing" in recorder.stdout and "0 messages of 0 topics" in recorder.stdout
