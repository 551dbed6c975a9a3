"""A bag on topics again: the messages that were recorded, latched ones for who comes late, a clock, faster."""

import signal
import sys
from types import SimpleNamespace

from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

import rbt_ros as rbt
from rbt_ros.ros.convert import stamp_of

RBT = (sys.executable, "-m", "rbt_ros.cli")


def recorded(folder):
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(folder, sim):
        sim.advance(300)
    return rbt.Bag(folder)


def test_a_bag_is_published_as_it_was_recorded(ros, tmp_path):
    """From 0.1 s on, at a fiftieth of its speed: the same numbers under the same stamps, and the clock beside them."""
    bag = recorded(tmp_path / "b")
    child = ros.run(*RBT, "replay", tmp_path / "b", "--rate", "0.02", "--start", "0.1", "--wait", "3")
    peer = ros.peer()
    joints, clock = peer.listen(JointState, "joint_states"), peer.listen(Clock, "/clock")
    transforms = peer.listen(TFMessage, "/tf")
    peer.until(lambda: len(joints) > 50 and transforms, "joint_states", child)
    described = peer.listen(String, "robot_description", latched=True)  # late
    peer.until(lambda: described, "robot_description", child)
    want = {stamp_of(message): message for _, message in bag.read("joint_states")}
    assert min(stamp_of(message) for message in joints) >= 1_100_000_000
    for message in joints:
        there = want[stamp_of(message)]
        assert list(message.name) == there.name and list(message.position) == there.position.tolist()
    assert described[0].data == bag.texts("robot_description")[0][1]
    told = [message.clock.sec * 10**9 + message.clock.nanosec for message in clock]
    assert told == sorted(told) and set(told) & set(want)
    assert child.stop(signal.SIGINT) == 0
    assert "replaying" in child.stdout and "Traceback" not in child.stderr


def test_a_bag_is_published_backwards(ros, tmp_path):
    """The last state comes first, with the other rate, under stamps and a clock that rise; commands are left out."""
    bag = recorded(tmp_path / "b")
    child = ros.run(*RBT, "replay", tmp_path / "b", "--rate", "0.02", "--reverse", "--wait", "3")
    peer = ros.peer()
    joints, clock = peer.listen(JointState, "joint_states"), peer.listen(Clock, "/clock")
    described = peer.listen(String, "robot_description", latched=True)
    peer.until(lambda: len(joints) > 50 and described, "joint_states", child)
    first, last = bag.span
    want = {first + last - stamp_of(message): message for _, message in bag.read("joint_states")}
    for message in joints:
        there = want[stamp_of(message)]
        assert list(message.position) == there.position.tolist()
        assert list(message.velocity) == (-there.velocity).tolist()
    for told in (joints, [header_of(message) for message in clock]):
        stamps = [stamp_of(message) for message in told]
        assert stamps == sorted(stamps)
    assert child.stop(signal.SIGINT) == 0
    assert "replaying" in child.stdout and "backwards at 0.02 times" in child.stdout
    assert "skipped /markers: 10 messages of visualization_msgs/msg/MarkerArray: vis" in child.stdout


def test_a_loop_sets_the_clock_back(ros, tmp_path):
    """0.3 s again and again, until it is asked to end."""
    recorded(tmp_path / "b")
    child = ros.run(*RBT, "replay", tmp_path / "b", "--loop", "--wait", "0.5")
    peer = ros.peer()
    clock = peer.listen(Clock, "/clock")

    def times_back():
        stamps = [stamp_of(header_of(message)) for message in clock]
        return sum(a > b for a, b in zip(stamps, stamps[1:], strict=False))

    peer.until(lambda: times_back() >= 2, "the third beginning", child)
    assert child.stop(signal.SIGTERM) == 0
    assert "published " in child.stdout and "Traceback" not in child.stderr


def header_of(clock):
    """A clock as a message with a header."""
    return SimpleNamespace(header=SimpleNamespace(stamp=clock.clock))


def test_what_cannot_be_replayed_is_told(ros, tmp_path):
    recorded(tmp_path / "b")
    child = ros.run(*RBT, "replay", tmp_path / "b", "--start", "9", "--wait", "0.01")
    assert child.wait() == 1 and "start 9 s lies behind the end of the bag, which is 0.3 s long" in child.stderr
    child = ros.run(*RBT, "replay", tmp_path / "b", "--start", "9", "--wait", "0.01", "--reverse")
    assert child.wait() == 1 and "start 9 s lies behind the start of the bag, which is 0.3 s long" in child.stderr
