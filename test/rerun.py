"""The command log of a node, read from its topics, and fed into a Simulation of our own."""

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterEvent
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.ros.convert import fill, stamp_of, wrench_command
from rbt_ros.ros.convert_hinges import (
    changed_parameters,
    hinge_command,
    hinge_settings,
    spherical_hinges,
    torque_command,
    trajectory,
)

CLOCK_START = 1_000_000_000


def stamp_of_entry(message) -> int:
    stamp = getattr(message, "stamp", None)  # a ParameterEvent has no header
    return stamp_of(message) if stamp is None else stamp.sec * 1_000_000_000 + stamp.nanosec


def bits_of_joints(message: JointState) -> tuple[bytes, bytes]:
    return message.position.tobytes(), message.velocity.tobytes()


class Log:
    """Everything below ~/latched/ in the order of arrival, as (stamp [ns], command)."""

    def __init__(self, peer, scenario, node: str = "/rbt_simulator", hold_ns: int = 100_000_000, at: str = "origin"):
        self._peer, self.robot = peer, rbt.load(str(scenario)).robot
        self._scenario, self.entries = scenario, []
        robot = self.robot
        read = {
            f"wrench/{body.name}": (
                WrenchStamped,
                lambda m, b=body.name: wrench_command(m, robot, b, prefix="", at=at, hold_ns=hold_ns),
            )
            for body in robot.bodies
        }
        for hinge in spherical_hinges(robot):
            read[f"hinges/{hinge}/wrench_command"] = (
                WrenchStamped,
                lambda m, h=hinge: torque_command(m, robot, h, ""),
            )
        if robot.joint_names:
            read["hinge_commands"] = (JointState, hinge_command)
            read["hinge_trajectory"] = (JointTrajectory, trajectory)
        read["parameters"] = (ParameterEvent, lambda m: hinge_settings(changed_parameters(m), robot))
        self._topics = [f"{node}/latched/{name}" for name in read]
        for topic, (kind, convert) in zip(self._topics, read.values(), strict=True):
            peer.node.create_subscription(kind, topic, lambda m, c=convert: self._note(m, c), 10_000)

    def _note(self, message, convert) -> None:
        self.entries.append((stamp_of_entry(message), convert(message)))

    def connected(self) -> bool:
        """Whether every topic of the log has its publisher, as far as our side knows."""
        return all(self._peer.node.count_publishers(topic) for topic in self._topics)

    def replayed(self, start: dict | None = None):
        """A Simulation, and a function that takes it to a tick with the log's commands."""
        sim = rbt.load(str(self._scenario)).simulation()
        if start:
            sim.command(hinge_settings(start, self.robot))
        entries = sorted(self.entries, key=lambda entry: entry[0])  # stable: the order within a tick stays

        def go(tick: int) -> None:
            while entries and entries[0][0] <= CLOCK_START + tick * sim.h_ns:
                stamp, command = entries[0]
                if stamp == CLOCK_START + tick * sim.h_ns and sim.tick == tick:
                    break  # acts after this tick
                sim.advance((stamp - CLOCK_START) // sim.h_ns - sim.tick)
                sim.command(entries.pop(0)[1])
            sim.advance(tick - sim.tick)

        return sim, go

    def digests_match(self, joints: list[JointState], start: dict | None = None) -> int:
        """How many of the node's joint_states the replay gives bit by bit: all, or an AssertionError."""
        sim, go = self.replayed(start)
        for message in joints:
            go((stamp_of(message) - CLOCK_START) // sim.h_ns)
            expected = fill(JointState(), topics.joint_state_fields(self.robot, sim.sample(), stamp_of(message)))
            assert bits_of_joints(message) == bits_of_joints(expected), f"stamp {stamp_of(message)}"
        return len(joints)
