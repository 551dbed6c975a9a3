"""One source of simulated time: a node that finds another publisher of /clock gives way if it came later, or tells.

Simulators of one machine know each other at once, by a name that only one of them can hold. Others have to be
discovered, which takes from nothing to some seconds: what is found after the start is judged by its clock.
"""

import errno
import os
import socket
import sys
import time
from collections.abc import Callable

from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo
from rosgraph_msgs.msg import Clock

from rbt_ros.errors import ScenarioError

SEARCH_S = 0.5  # before the start; most discovery takes a tenth of this
NAME_S = 5.0  # for the name of who was found
WATCH_S = 20.0  # after the start: discovery can take seconds on a busy machine
LISTEN_S = 1.0  # to whom we found
BEHIND_NS = 200_000_000  # a stamp further behind ours is that of a node that came later: our own take less long
UNKNOWN_NODE = "_NODE_NAME_UNKNOWN_"  # of a publisher whose node is not discovered yet


class ClockGuard:
    """Looks for other publishers of /clock, before `node` publishes it and in the first seconds after."""

    def __init__(self, node: Node, stamp_ns: Callable[[], int]):
        """stamp_ns: what the node's own clock shows."""
        self._node, self._stamp_ns = node, stamp_ns
        self._publishing = False
        self._started = time.monotonic()
        self._subscription: Subscription | None = None
        self._listening_until = 0.0
        self._ahead = self._behind = False
        self._claim: socket.socket | None = None
        self.other = ""  # who else publishes /clock, for /diagnostics

    def search(self) -> None:
        """Before the node publishes: ScenarioError when somebody does."""
        self._claim = claim(self._node.context.get_domain_id())
        there, until = self._claim is None, self._started + SEARCH_S
        while time.monotonic() < until:
            if other := self._other():
                raise refusal(f"node {other}")
            there = self._claim is None or bool(self._found())  # somebody is, and not known by name yet
            until = self._started + (NAME_S if there else SEARCH_S)
            time.sleep(0.02)
        if there:
            raise refusal("a node whose name is not known yet")
        self._publishing = True

    def close(self) -> None:
        """Publish no more: another one may."""
        if self._claim is not None:
            self._claim.close()

    def look(self) -> None:
        """While the node publishes: ScenarioError when somebody else does, and has for longer.

        Whose clock is ahead came first. One that is silent is taken for a simulator that pauses, and came first. Who
        comes later than the first seconds is told of only.
        """
        if not self._publishing:
            return
        now, other = time.monotonic(), self._other()
        self.other = other or ""
        if other is None or self._behind or now > self._started + WATCH_S:
            self._stop_listening()
        elif self._subscription is None:
            self._ahead, self._listening_until = False, now + LISTEN_S
            self._subscription = self._node.create_subscription(Clock, "/clock", self._hear, qos_profile_sensor_data)
        elif self._ahead or now > self._listening_until:
            raise refusal(f"node {other}")

    def _hear(self, message: Clock) -> None:
        lead = message.clock.sec * 1_000_000_000 + message.clock.nanosec - self._stamp_ns()
        self._ahead |= lead > 0
        self._behind |= lead < -BEHIND_NS

    def _stop_listening(self) -> None:
        if self._subscription is not None:
            self._node.destroy_subscription(self._subscription)
            self._subscription = None

    def _other(self) -> str | None:
        """The node of a publisher of /clock that is not ours; None where there is none, or it is not known yet."""
        names = [place_of(info) for info in self._found() if info.node_name != UNKNOWN_NODE]
        return names[0] if names else None

    def _found(self) -> list[TopicEndpointInfo]:
        """The publishers of /clock that are not ours."""
        found: list[TopicEndpointInfo] = self._node.get_publishers_info_by_topic("/clock")
        if self._publishing:
            mine = (self._node.get_name(), self._node.get_namespace())
            # a namesake in our namespace cannot be told from us: one of the entries is ours
            found = [info for info in found if (info.node_name, info.node_namespace) != mine] or found[1:]
        return found


def claim(domain: int) -> socket.socket | None:
    """A name that one process of this machine's network holds for as long as it lives; None: another one does.

    Linux has such names, with no file behind them; elsewhere, and where nodes are not to find each other, all may.
    """
    holder = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server, scope = os.environ.get("ROS_DISCOVERY_SERVER", ""), os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE")
    if sys.platform == "linux" and scope != "OFF":
        try:
            holder.bind(f"\0rbt_ros/clock/{domain}/{server}"[:100])
        except OSError as err:
            holder.close()
            if err.errno != errno.EADDRINUSE:
                raise
            return None
    return holder


def place_of(info: TopicEndpointInfo) -> str:
    """A node's name with its namespace."""
    return f"{info.node_namespace.rstrip('/')}/{info.node_name}"


def refusal(other: str) -> ScenarioError:
    """What the later node says."""
    return ScenarioError(
        f"/clock is published already, by {other}. Start this node with publish_clock:=false, or in another "
        "domain (ROS_DOMAIN_ID)."
    )
