"""Topics of whatever nodes into a bag: their bytes, as they come, under the time at which they came."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import rclpy
from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from rclpy.subscription import Subscription
from rosgraph_msgs.msg import Clock

from rbt_ros.bags.files import SECOND_NS, BagWriter
from rbt_ros.bags.metadata import profile, yaml_text
from rbt_ros.bags.plan import FLUSH_S
from rbt_ros.ros.convert import message_class
from rbt_ros.ros.executor import NodeExecutor
from rbt_ros.ros.stop import StopRequest

NAME = "rbt_record"
LOOK_S = 0.1  # how often new topics are looked for
DEPTH = 1000  # messages of a topic that may wait


class How(NamedTuple):
    """In which way topics are recorded."""

    topics: tuple[str, ...] = ()  # none: all
    sim_time: bool = False  # times of /clock in place of the system's
    duration_s: float | None = None
    compression: str = "zstd"
    split_bytes: int = 0
    split_s: float = 0.0


class Heard(NamedTuple):
    """One topic that is recorded."""

    subscription: Subscription
    channel: int
    kind: type
    quality: QoSProfile


def quality(infos: Sequence) -> QoSProfile:
    """The strongest that all these publishers offer."""
    reliable = all(info.qos_profile.reliability != ReliabilityPolicy.BEST_EFFORT for info in infos)
    latched = all(info.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for info in infos)
    return QoSProfile(
        depth=DEPTH,
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def profiles(of: QoSProfile) -> str:
    """What a bag says of it, in the words of rosbag2."""
    latched, reliable = of.durability == DurabilityPolicy.TRANSIENT_LOCAL, of.reliability == ReliabilityPolicy.RELIABLE
    (told,) = profile("latched" if latched else "stream")
    return yaml_text([{**told, "reliability": "reliable" if reliable else "best_effort"}])


class Capture(Node):
    """Subscribes to topics as they appear, and hands what comes to the writer of a bag."""

    def __init__(self, writer: BagWriter, how: How):
        super().__init__(NAME, enable_rosout=False, start_parameter_services=False)
        self._writer, self._sim_time = writer, how.sim_time
        self._wanted = {self.resolve_topic_name(topic) for topic in how.topics}
        self.heard: dict[str, Heard] = {}
        self.skipped: dict[str, str] = {}
        self.lost = self.untimed = 0
        self._now_ns = 0  # of /clock
        if how.sim_time:
            self.create_subscription(Clock, "/clock", self._on_clock, qos_profile_sensor_data)

    def _on_clock(self, message: Clock) -> None:
        self._now_ns = message.clock.sec * SECOND_NS + message.clock.nanosec

    @property
    def missing(self) -> list[str]:
        """The topics that were asked for and nobody publishes."""
        return sorted(self._wanted - set(self.heard) - set(self.skipped))

    def look(self) -> None:
        """Subscribe to what is new, and anew where a publisher came that offers less than the others."""
        for topic, kinds in self.get_topic_names_and_types():
            if topic in self.skipped or (topic not in self._wanted if self._wanted else "/_" in topic):
                continue
            infos = self.get_publishers_info_by_topic(topic)
            if not infos:
                continue
            known, offered = self.heard.get(topic), quality(infos)
            if known is None:
                self._begin(topic, kinds, offered)
            elif _weaker(offered, known.quality):
                self.destroy_subscription(known.subscription)
                subscription = self._subscribe(topic, known.kind, known.channel, offered)
                self.heard[topic] = known._replace(subscription=subscription, quality=offered)

    def _begin(self, topic: str, kinds: Sequence[str], offered: QoSProfile) -> None:
        name = kinds[0]
        if len(kinds) > 1:
            self.skipped[topic] = f"is published as {' and as '.join(kinds)}"
        elif not self._writer.types.has(name):
            self.skipped[topic] = f"{name} is none of ROS 2 Jazzy's types: its definition cannot be put into the bag"
        else:
            try:
                kind = message_class(name)
            except (ImportError, AttributeError):
                self.skipped[topic] = f"this ROS does not have {name}"
                return
            channel = self._writer.add_channel(topic, name, profiles=profiles(offered))
            self.heard[topic] = Heard(self._subscribe(topic, kind, channel, offered), channel, kind, offered)

    def _subscribe(self, topic: str, kind: type, channel: int, offered: QoSProfile) -> Subscription:
        events = SubscriptionEventCallbacks(message_lost=self._on_lost)
        return self.create_subscription(kind, topic, self._keeper(channel), offered, event_callbacks=events, raw=True)

    def _on_lost(self, event) -> None:
        self.lost += event.total_count_change

    def _keeper(self, channel: int) -> Callable[[bytes], None]:
        def keep(data: bytes) -> None:
            now = self._now_ns if self._sim_time else time.time_ns()
            if now:
                self._writer.write(channel, now, data)
            else:
                self.untimed += 1

        return keep


def _weaker(offered: QoSProfile, asked: QoSProfile) -> bool:
    """Whether who asks for that hears nothing of who offers this."""
    unreliable = offered.reliability == ReliabilityPolicy.BEST_EFFORT != asked.reliability
    return unreliable or offered.durability == DurabilityPolicy.VOLATILE != asked.durability


def capture(folder: Path, how: How) -> int:
    """Record until SIGINT, SIGTERM or the duration is over; the exit code, 1 where nothing came."""
    stop = StopRequest()
    writer = BagWriter(folder, compression=how.compression, split_bytes=how.split_bytes, split_s=how.split_s)
    rclpy.init(args=None, signal_handler_options=SignalHandlerOptions.NO)
    node = None
    try:
        node = Capture(writer, how)
        print(f"recording {folder}, until Ctrl-C" if how.duration_s is None else f"recording {folder}", flush=True)
        _record(node, writer, how, stop)
    except BaseException:
        writer.abandon()
        raise
    finally:
        if node is not None:
            node.destroy_node()
        rclpy.try_shutdown()
    writer.close({"rbt_lost_samples": str(node.lost)})
    return _told(node, writer)


def _record(node: Capture, writer: BagWriter, how: How, stop: StopRequest) -> None:
    executor, told = NodeExecutor(node), set[str]()
    now = time.monotonic()
    end, look, flush = now + (how.duration_s or float("inf")), now, now + FLUSH_S
    while not stop.requested and now < end:
        if now >= look:
            node.look()
            look = now + LOOK_S
            for topic in [*node.heard, *node.skipped]:
                if topic not in told:
                    told.add(topic)
                    print(
                        f"  {topic}" + (f": skipped, {node.skipped[topic]}" if topic in node.skipped else ""),
                        flush=True,
                    )
        executor.spin_once(min(LOOK_S, end - now))
        now = time.monotonic()
        if now >= flush:
            writer.flush()
            flush = now + FLUSH_S
    executor.shutdown()


def _told(node: Capture, writer: BagWriter) -> int:
    for topic in node.missing:
        print(f"nobody published {topic}; `ros2 topic list` tells what there is, or record all: name none")
    if node.untimed:
        print(f"{node.untimed} messages came before the first /clock and are left out")
    if node.lost:
        print(f"{node.lost} messages came faster than they could be taken and were lost")
    topics = len(node.heard)
    print(f"wrote {writer.folder}: {writer.messages} messages of {topics} topics, {writer.size * 1e-6:.3g} MB")
    return 0 if writer.messages else 1
