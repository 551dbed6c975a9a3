"""The topics that take commands: each message is parsed here, in the executor's thread, and posted to the loop."""

import copy
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.qos_overriding_options import QoSOverridingOptions

from rbt_ros.command_messages import array_command, hinge_command, spherical_hinges, torque_command, trajectory
from rbt_ros.errors import MessageError
from rbt_ros.model.inputs import Command
from rbt_ros.model.robot import Robot
from rbt_ros.ros.convert import message_class, shortened, stamp_of, wrench_command

ARRAYS = {f"hinge_{what}_commands": what for what in ("position", "velocity", "effort")}
WRENCH = "geometry_msgs/msg/WrenchStamped"


class Entry(NamedTuple):
    """A topic that takes commands."""

    topic: str
    type: str
    read: Callable[[Any], Command]
    stamped: bool = True


class CommandTopics:
    """Subscribes to all topics that take commands."""

    def __init__(
        self,
        node: Node,
        robot: Robot,
        *,
        value: Callable[[str], Any],
        post: Callable[[Command, int, str], None],
        refuse: Callable[[str], None],
        on_qos: Callable[[str], None],
        qos: QoSProfile,
    ):
        """value: of a parameter; post: (command, stamp, topic); refuse: counts and reports what was wrong."""
        self._robot, self._value, self._post, self._refuse = robot, value, post, refuse
        self._prefix = value("frame_prefix")
        self._hold_ns = round(value("wrench_hold") * 1e9)
        for entry in self._entries():
            node.create_subscription(
                message_class(entry.type),
                entry.topic,
                functools.partial(self._take, entry),
                copy.copy(qos),  # rclpy writes into it what overrides of this topic say
                qos_overriding_options=QoSOverridingOptions.with_default_policies(),
                event_callbacks=SubscriptionEventCallbacks(
                    incompatible_qos=functools.partial(_tell, on_qos, entry.topic)
                ),
            )

    def _entries(self) -> list[Entry]:
        robot = self._robot
        entries = [Entry(f"wrench/{b.name}", WRENCH, functools.partial(self._wrench, b.name)) for b in robot.bodies]
        if len(robot.free_bodies) == 1:
            floating = robot.bodies[robot.free_bodies[0]].name
            entries.append(Entry("wrench", WRENCH, functools.partial(self._wrench, floating)))
        if robot.joint_names:
            entries.append(Entry("hinge_commands", "sensor_msgs/msg/JointState", hinge_command))
            entries.append(Entry("hinge_trajectory", "trajectory_msgs/msg/JointTrajectory", trajectory))
            for topic, what in ARRAYS.items():
                read = functools.partial(self._array, what)
                entries.append(Entry(topic, "std_msgs/msg/Float64MultiArray", read, stamped=False))
        for hinge in spherical_hinges(robot):
            entries.append(Entry(f"hinges/{hinge}/wrench_command", WRENCH, functools.partial(self._torque, hinge)))
        return entries

    def _take(self, entry: Entry, message: Any) -> None:
        try:
            self._post(entry.read(message), stamp_of(message) if entry.stamped else 0, entry.topic)
        except MessageError as err:
            self._refuse(shortened(str(err), 300))

    def _wrench(self, body: str, message: Any) -> Command:
        at = self._value("wrench_at")
        return wrench_command(message, self._robot, body, prefix=self._prefix, at=at, hold_ns=self._hold_ns)

    def _torque(self, hinge: str, message: Any) -> Command:
        return torque_command(message, self._robot, hinge, self._prefix)

    def _array(self, what: str, message: Any) -> Command:
        joints = [joint for joint in self._robot.joint_names if self._value(f"hinges.{joint}.mode") == what]
        return array_command(message, what, joints)


def _tell(on_qos: Callable[[str], None], topic: str, event: Any) -> None:
    on_qos(f"subscriber of {topic}")


def answerable(robot: Robot) -> tuple[str, ...]:
    """The topics on which lockstep can wait: the stamped ones."""
    bodies = tuple(f"wrench/{body.name}" for body in robot.bodies)
    floating = ("wrench",) if len(robot.free_bodies) == 1 else ()
    torques = tuple(f"hinges/{hinge}/wrench_command" for hinge in spherical_hinges(robot))
    hinges = ("hinge_commands", "hinge_trajectory") if robot.joint_names else ()
    return (*hinges, *floating, *bodies, *torques)
