"""A controller (`rbt_ros.control`) as a process of its own: it answers each state with commands of the same stamp."""

import functools
import json
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import rclpy
from geometry_msgs.msg import PoseStamped
from nav_msgs.msg import Odometry
from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from rbt_ros import topics
from rbt_ros.command_log import frame_of
from rbt_ros.command_messages import hinge_command_fields, trajectory_fields
from rbt_ros.control import (
    CLOCK_START_NS,
    Action,
    BodySeen,
    Controller,
    JointSeen,
    Observation,
    body_seen,
    by_topic,
    joints_seen,
)
from rbt_ros.errors import RbtError
from rbt_ros.model.hinge_commands import HingeCommand, HingeTorque, HingeTrajectory
from rbt_ros.model.inputs import Wrench
from rbt_ros.ros.convert import fields_of, message_class, stamp_of
from rbt_ros.ros.executor import NodeExecutor
from rbt_ros.ros.hearing import answer_when_heard
from rbt_ros.ros.stop import StopRequest
from rbt_ros.ros.writers import field_writer

JOINTS = ""  # stands for joint_states among the bodies
DEPTH = 10
RUNS = QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL)
WRENCH = "geometry_msgs/msg/WrenchStamped"


class ControllerNode(Node):
    """Waits for all that the controller looks at to bear one stamp; then the controller acts."""

    def __init__(self, controller: Controller, clock_start_ns: int):
        super().__init__("controller")
        self._controller, self._clock_start_ns = controller, clock_start_ns
        self._runs = f"{self.declare_parameter('simulator', 'rbt_simulator').value}/run"
        self._zeros: deque[tuple[int, int]] = deque(maxlen=100)  # from which stamp on: that of t = 0
        self.create_subscription(String, self._runs, self._on_run, RUNS)  # first: it is taken before samples
        self._prefix = self.declare_parameter("frame_prefix", "").value
        self._wanted = {JOINTS} if controller.joints else set()
        self._wanted |= set(controller.bodies)
        self._parts: dict[str, tuple[int, Any]] = {}
        self._answered: tuple[int, Observation, dict[str, Action]] | None = None  # the last one
        self._publish: dict[str, Callable[[topics.Fields], None]] = {}
        if controller.joints:
            self.create_subscription(JointState, "joint_states", self._on_joints, DEPTH)
        for body in controller.bodies:
            for topic in ("odom", f"odom/{body}"):
                self.create_subscription(Odometry, topic, functools.partial(self._on_body, body), DEPTH)
        if hasattr(controller, "aim"):
            target = self.declare_parameter("target", Parameter.Type.DOUBLE_ARRAY).value  # w x y z; not set: None
            if target is not None:
                controller.aim(tuple(target))
            self.add_on_set_parameters_callback(self._on_parameters)
            self.create_subscription(PoseStamped, "target_pose", self._on_target, DEPTH)
        for service in self.services:
            answer_when_heard(self, service)

    def _on_parameters(self, changes: list[Parameter]) -> SetParametersResult:
        for change in changes:
            if change.name == "target":
                try:
                    self._controller.aim(tuple(change.value))  # type: ignore[attr-defined]
                except RbtError as err:
                    return SetParametersResult(successful=False, reason=f"target: {err}")
        return SetParametersResult(successful=True)

    def _on_target(self, message: PoseStamped) -> None:
        q = message.pose.orientation
        try:
            self._controller.aim((q.w, q.x, q.y, q.z))  # type: ignore[attr-defined]
        except RbtError as err:
            self.get_logger().warning(f"target_pose ignored: {err}")

    def _on_joints(self, message: JointState) -> None:
        self._see(JOINTS, stamp_of(message), joints_seen(message.name, message.position, message.velocity))

    def _on_body(self, body: str, message: Odometry) -> None:
        if message.child_frame_id == self._prefix + body:
            self._see(body, stamp_of(message), body_seen(fields_of(message)))

    def _see(self, part: str, stamp: int, seen: dict[str, JointSeen] | BodySeen) -> None:
        self._parts[part] = stamp, seen
        if self._wanted != {name for name, (at, _) in self._parts.items() if at == stamp}:
            return
        joints = self._parts[JOINTS][1] if self._controller.joints else {}
        bodies = {name: self._parts[name][1] for name in self._controller.bodies}
        if (t_ns := self._scenario_time(stamp)) is not None:
            for topic, action in self._actions(stamp, Observation(t_ns, joints, bodies)).items():
                self._send(topic, action, stamp)

    def _actions(self, stamp: int, seen: Observation) -> dict[str, Action]:
        """What the controller does; the same again where the simulator repeats a sample that nobody has answered.

        A controller that remembers (an integral, a filter) would count it twice otherwise.
        """
        if self._answered is None or self._answered[:2] != (stamp, seen):
            self._answered = stamp, seen, by_topic(self._controller(seen))
        return self._answered[2]

    def _on_run(self, message: String) -> None:
        try:
            run = json.loads(message.data)
            self._zeros.append((run["stamp"], run["stamp"] - run["t_ns"]))
        except (ValueError, KeyError, TypeError) as err:
            self.get_logger().warning(f"{self._runs} ignored, it does not say what runs: {err!r}")

    def _scenario_time(self, stamp: int) -> int | None:
        """By what the simulator says of its runs; None where that is still under way, and the sample comes again."""
        zeros = [zero for since, zero in self._zeros if since <= stamp]
        if not self._zeros and self.count_publishers(self._runs):
            return None
        return stamp - (zeros[-1] if zeros else self._clock_start_ns)

    def _send(self, topic: str, action: Action, stamp: int) -> None:
        if isinstance(action, HingeCommand):
            self._on(topic, "sensor_msgs/msg/JointState")(hinge_command_fields(action, stamp))
        elif isinstance(action, HingeTrajectory):
            self._on(topic, "trajectory_msgs/msg/JointTrajectory")(trajectory_fields(action, stamp))
        elif isinstance(action, HingeTorque):
            self._on(topic, WRENCH)(topics.wrench_fields(stamp, "", (0.0, 0.0, 0.0), action.torque))
        elif isinstance(action, Wrench):
            frame = self._prefix + frame_of(action)
            self._on(topic, WRENCH)(topics.wrench_fields(stamp, frame, action.force, action.moment))

    def _on(self, topic: str, kind: str) -> Callable[[topics.Fields], None]:
        """What publishes fields on `topic`."""
        if topic not in self._publish:
            publisher, write = self.create_publisher(message_class(kind), topic, DEPTH), field_writer(kind)
            self._publish[topic] = lambda fields: publisher.publish(write(fields))
        return self._publish[topic]


def spin(controller: Controller, clock_start_ns: int = CLOCK_START_NS) -> None:
    """Run `controller` until SIGINT or SIGTERM."""
    stop = StopRequest()
    rclpy.init(args=sys.argv, signal_handler_options=SignalHandlerOptions.NO)
    node = ControllerNode(controller, clock_start_ns)
    executor = NodeExecutor(node)
    while not stop.requested:
        executor.spin_once(timeout_sec=0.1)
    node.destroy_node()
    rclpy.try_shutdown()
