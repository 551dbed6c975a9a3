"""The command log of a node, read from its topics, and fed into a Simulation of our own."""

import functools

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterEvent
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

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
from rbt_ros.ros.loop import LOG_ORDER


def stamp_of_entry(message) -> int:
    stamp = getattr(message, "stamp", None)  # a ParameterEvent has no header
    return stamp_of(message) if stamp is None else stamp.sec * 1_000_000_000 + stamp.nanosec


def bits_of_joints(message: JointState) -> tuple[bytes, bytes]:
    return message.position.tobytes(), message.velocity.tobytes()


def advance_to(sim, tick: int) -> None:
    """Go on to a tick; commands that break the state are dropped, as the node does."""
    while sim.tick < tick:
        try:
            sim.advance(tick - sim.tick)
        except rbt.SolveError:
            assert sim.drop_commands(), "the simulation is broken without commands"


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
        self._node, self._seen, self._origin = node, set(), 0
        self._names = list(read)
        for name, (kind, convert) in read.items():
            note = functools.partial(self._note, name, convert)
            peer.node.create_subscription(kind, f"{node}/latched/{name}", note, 10_000)

    def _note(self, name, convert, message) -> None:
        self._seen.add(name)
        stamp = stamp_of_entry(message)
        if stamp >= self._origin:
            self.entries.append((stamp, convert(message)))

    def open(self, child, steered: str = "") -> None:
        """See that nothing of the log is lost from here on: every topic has brought something, and then t = 0 again.

        The node is paused. A volatile topic is open once its first message arrives; seeing its publisher does not
        suffice. steered: a joint in mode position, for the trajectories.
        """
        zero, push = WrenchStamped(), self._peer.publisher
        openers = {name: (push(WrenchStamped, name), zero) for name in self._names if "wrench" in name}
        if self.robot.joint_names:
            joints = JointState(name=list(self.robot.joint_names))
            openers["hinge_commands"] = (push(JointState, "hinge_commands"), joints)
        if steered:
            points = [JointTrajectoryPoint(positions=[0.0])]
            message = JointTrajectory(joint_names=[steered], points=points)
            openers["hinge_trajectory"] = (push(JointTrajectory, "hinge_trajectory"), message)

        def is_open() -> bool:
            missing = [name for name in openers if name not in self._seen]
            for name in missing:
                if name != "hinge_trajectory" or len(missing) == 1:  # set-points would have to wait for a step after it
                    publisher, message = openers[name]
                    publisher.publish(message)
            return not missing

        self._peer.until(is_open, "a first entry in every topic of the log", child)
        while "parameters" not in self._seen:
            assert self._peer.set_parameter("wrench_at", "origin", self._node).successful
        said = self._peer.call(Trigger, f"{self._node}/reset", Trigger.Request())
        assert said.success
        self._origin = round(float(said.message.split()[-2]) * 1e9)
        self.entries = [entry for entry in self.entries if entry[0] >= self._origin]

    def replayed(self, start: dict | None = None):
        """A Simulation, and a function that takes it to a tick with the log's commands."""
        sim = rbt.load(str(self._scenario)).simulation()
        if start:
            sim.command(hinge_settings(start, self.robot))
            sim.reset()  # as `open` does
        entries = sorted(self.entries, key=lambda entry: (entry[0], LOG_ORDER.get(type(entry[1]), 0)))

        def go(tick: int) -> None:
            while entries and (first := (entries[0][0] - self._origin) // sim.h_ns) < tick:
                advance_to(sim, first)
                sim.command(entries.pop(0)[1])
            advance_to(sim, tick)

        return sim, go

    def digests_match(self, joints: list[JointState], start: dict | None = None) -> int:
        """How many of the node's joint_states the replay gives bit by bit: all, or an AssertionError."""
        sim, go = self.replayed(start)
        for message in joints:
            go((stamp_of(message) - self._origin) // sim.h_ns)
            expected = fill(JointState(), topics.joint_state_fields(self.robot, sim.sample(), stamp_of(message)))
            assert bits_of_joints(message) == bits_of_joints(expected), f"stamp {stamp_of(message)}"
        return len(joints)
