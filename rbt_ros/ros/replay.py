"""A bag on ROS topics again: each message as it was recorded, or turned round, with /clock, at any rate."""

import time
from collections.abc import Iterator
from typing import Any, NamedTuple

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from rosgraph_msgs.msg import Clock

from rbt_ros.bags.bag import Bag
from rbt_ros.bags.metadata import profiles_of
from rbt_ros.bags.reverse import Mirror, obstacle
from rbt_ros.bags.sources import Topic
from rbt_ros.errors import ScenarioError
from rbt_ros.fields import time_of
from rbt_ros.ros.convert import message_class
from rbt_ros.ros.stop import StopRequest

NAME = "rbt_replay"
LOOK_S = 0.1  # how long a wait may last before a signal is looked for


class How(NamedTuple):
    """In which way a bag is published."""

    rate: float = 1.0  # seconds of the bag per second
    start_s: float = 0.0  # after the start, or before the end
    loop: bool = False
    reverse: bool = False


class Replay(Node):
    """Publishes a bag: the bytes that were recorded, or turned round; only /clock is made here, from their times."""

    def __init__(self, bag: Bag, reverse: bool = False):
        super().__init__(NAME)
        self.skipped = {name: f"{s.messages} messages of {s.type}: {s.reason}" for name, s in bag.skipped.items()}
        self._bag, self._senders = bag, dict[str, Any]()
        self._latched: list[Topic] = []
        for topic in bag.topics.values():
            if topic.t_ns and topic.name != "/clock":
                self._add(topic, reverse)
        self._topics = [bag.topics[name] for name in self._senders]
        if reverse:
            said_once = {topic.name for topic in self._latched}
            self._topics = [topic for topic in self._topics if topic.name not in said_once]
        if not self._topics:
            raise ScenarioError(f"{bag.path} holds no message that could be published here.")
        self._first = min(min(topic.t_ns) for topic in self._topics)
        self._last = max(max(topic.t_ns) for topic in self._topics)
        self._mirror = Mirror(bag.types(), self._first, self._last) if reverse else None
        self._time = self.create_publisher(Clock, "/clock", QoSProfile(depth=10))

    def _add(self, topic: Topic, reverse: bool) -> None:
        latched = any(str(p.get("durability")) in ("transient_local", "1") for p in profiles_of(topic.qos))
        count = f"{len(topic.t_ns)} messages of {topic.type}"
        if reverse and (why := obstacle(topic, latched)):
            self.skipped[topic.name] = f"{count}: {why}"
            return
        try:
            kind = message_class(topic.type)
        except (ImportError, AttributeError):
            self.skipped[topic.name] = f"{count}, which this ROS does not have"
            return
        durability = DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE
        qos = QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE, durability=durability)
        self._senders[topic.name] = self.create_publisher(kind, topic.name, qos)
        if latched:
            self._latched.append(topic)

    def play(self, stop: StopRequest, how: How) -> int:
        """Publish what there is; how many messages."""
        length_s = (self._last - self._first) * 1e-9
        if how.start_s > length_s:
            which = "start" if how.reverse else "end"
            text = f"start {how.start_s:g} s lies behind the {which} of the bag, which is {length_s:.9g} s long."
            raise ScenarioError(text)
        for topic in self._latched:  # whatever comes before the start
            self._senders[topic.name].publish(topic.data[0])
        count = 0
        while not stop.requested:
            count += self._play_once(stop, how)
            if not how.loop:
                break
        return count

    def _play_once(self, stop: StopRequest, how: How) -> int:
        start, count, told = self._first + round(how.start_s * 1e9), 0, -1
        began = time.monotonic_ns()
        for t, topic, data in self._rows():
            if t < start:
                continue
            if not self._waited(stop, began + round((t - start) / how.rate)):
                break
            if t != told:
                stamp, told = Clock(), t
                stamp.clock.sec, stamp.clock.nanosec = time_of(t)
                self._time.publish(stamp)
            self._senders[topic.name].publish(data)
            count += 1
        return count

    def _rows(self) -> Iterator[tuple[int, Topic, bytes]]:
        """(time of the clock [ns], topic, message) of all that is to be published; times rise."""
        mirror = self._mirror
        if mirror is None:
            return self._bag.rows(self._topics)
        rows = self._bag.rows(self._topics, backwards=True)
        return ((mirror.time(t), topic, mirror.message(topic, data, t)) for t, topic, data in rows)

    @staticmethod
    def _waited(stop: StopRequest, due_ns: int) -> bool:
        """Sleep to an absolute steady time; False where it was asked to end."""
        while (left := due_ns - time.monotonic_ns()) > 0 and not stop.requested:
            time.sleep(min(left * 1e-9, LOOK_S))
        return not stop.requested


def replay(bag: Bag, how: How, linger_s: float) -> int:
    """Publish a bag until its end, SIGINT or SIGTERM; the exit code. linger_s: wait for subscribers before [s]."""
    stop = StopRequest()
    rclpy.init(args=None, signal_handler_options=SignalHandlerOptions.NO)
    node = None
    try:
        node = Replay(bag, how.reverse)
        for name, reason in node.skipped.items():
            print(f"skipped {name}: {reason}")
        print(f"replaying {bag.path} {'backwards ' if how.reverse else ''}at {how.rate:g} times its speed", flush=True)
        node._waited(stop, time.monotonic_ns() + round(linger_s * 1e9))
        print(f"published {node.play(stop, how)} messages")
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    return 0
