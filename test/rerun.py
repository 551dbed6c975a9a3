"""The command log of a node, read from its topics, and fed into a Simulation of our own."""

import functools
import json

from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterEvent
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.command_log import LOG_ORDER
from rbt_ros.command_messages import (
    changed_parameters,
    entry_stamp,
    hinge_command,
    hinge_settings,
    spherical_hinges,
    torque_command,
    trajectory,
)
from rbt_ros.ros.convert import fill, stamp_of, wrench_command


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
        self._node, self._last, self._origin = node, {}, 0
        self._names, self._convert = list(read), {name: convert for name, (_, convert) in read.items()}
        self._runs = peer.listen(String, f"{node}/run", latched=True)
        for name, (kind, convert) in read.items():
            note = functools.partial(self._note, name, convert)
            peer.node.create_subscription(kind, f"{node}/latched/{name}", note, 10_000)

    def _note(self, name, convert, message) -> None:
        stamp, command = entry_stamp(message), convert(message)
        self._last[name] = command
        if stamp >= self._origin:
            self.entries.append((stamp, command))

    def open(self, child, steered: str = "") -> None:
        """See that nothing of the log is lost from here on: every topic has brought something, and then t = 0 again.

        The node is paused. A volatile topic is open once its first message arrives; seeing its publisher does not
        suffice. steered: a joint in mode position, for the trajectories.
        """
        push, zero, other = self._peer.publisher, WrenchStamped(), WrenchStamped()
        other.wrench.torque.x = 1.0
        self._open_topics(
            child,
            **{name: (push(WrenchStamped, name), zero, other) for name in self._names if "wrench" in name},
        )
        if self.robot.joint_names:
            joints = list(self.robot.joint_names)
            points = push(JointState, "hinge_commands"), JointState(name=joints), JointState(name=joints[:1])
            self._open_topics(child, hinge_commands=points)
        if steered:  # last: set-points would have to wait for a step after it
            there = [[JointTrajectoryPoint(positions=[at])] for at in (0.0, 1e-3)]
            messages = [JointTrajectory(joint_names=[steered], points=points) for points in there]
            self._open_topics(child, hinge_trajectory=(push(JointTrajectory, "hinge_trajectory"), *messages))
        while "parameters" not in self._last:
            assert self._peer.set_parameter("wrench_at", "origin", self._node).successful
        said = self._peer.call(Trigger, f"{self._node}/reset", Trigger.Request())
        assert said.success
        self._origin = round(float(said.message.split()[-2]) * 1e9)
        self.entries = [entry for entry in self.entries if entry[0] >= self._origin]
        self._peer.until(self.runs, "what runs from there on", child)

    def _open_topics(self, child, **topics) -> None:
        """topics: name -> publisher, a first message, and another one, behind which none of the first is under way."""

        def are_open() -> bool:
            missing = [name for name in topics if name not in self._last]
            for name in missing:
                publisher, first, _ = topics[name]
                publisher.publish(first)
            return not missing

        self._peer.until(are_open, "a first entry in every topic of the log", child)
        for publisher, _, last in topics.values():
            publisher.publish(last)
        ends = {name: self._convert[name](last) for name, (_, _, last) in topics.items()}
        self._peer.until(lambda: all(self._last[name] == end for name, end in ends.items()), "their last", child)

    def runs(self) -> list[dict]:
        """What ran, and from which stamp on: since the opening."""
        runs = [json.loads(message.data) for message in self._runs]
        return [run for run in runs if run["stamp"] >= self._origin]

    def replayed(self):
        """A Simulation, and a function that takes it to a stamp with what the log says."""
        sim, runs, zero = rbt.load(str(self._scenario)).simulation(), self.runs(), 0
        entries = sorted(self.entries, key=lambda entry: (entry[0], LOG_ORDER.get(type(entry[1]), 0)))

        def step_to(stamp: int) -> None:
            while entries and entries[0][0] < stamp:
                first, command = entries.pop(0)
                advance_to(sim, (first - zero) // sim.h_ns)
                sim.command(command)
            advance_to(sim, (stamp - zero) // sim.h_ns)

        def go(stamp: int) -> None:
            nonlocal zero
            while runs and runs[0]["stamp"] <= stamp:
                run = runs.pop(0)
                while entries and entries[0][0] < run["stamp"]:  # what acted before is over
                    entries.pop(0)
                sim.recall(run["memory"])
                zero = run["stamp"] - sim.t_ns
            step_to(stamp)

        return sim, go

    def digests_match(self, joints: list[JointState]) -> int:
        """How many of the node's joint_states since the opening the replay gives bit by bit: all, or AssertionError."""
        sim, go = self.replayed()
        since = [message for message in joints if stamp_of(message) >= self._origin]
        for message in since:
            go(stamp_of(message))
            expected = fill(JointState(), topics.joint_state_fields(self.robot, sim.sample(), stamp_of(message)))
            assert bits_of_joints(message) == bits_of_joints(expected), f"stamp {stamp_of(message)}"
        return len(since)
