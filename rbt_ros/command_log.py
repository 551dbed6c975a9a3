"""The command log `~/latched/...`: every command that was taken, under the stamp of the tick from which it acts."""

import functools
from collections.abc import Callable
from typing import Any

from rbt_ros import topics
from rbt_ros.command_messages import (
    hinge_command_fields,
    measurement_fields,
    parameter_fields,
    parameter_values,
    spherical_hinges,
    torque_frame,
    trajectory_fields,
)
from rbt_ros.model.hinge_commands import HingeCommand, HingeSettings, HingeTorque, HingeTrajectory
from rbt_ros.model.inputs import Latched, Wrench, WrenchCommand
from rbt_ros.model.measured import Measurement
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.sim import Simulation

WRENCH = "geometry_msgs/msg/WrenchStamped"
# in one tick hinge commands are latched in this order, and what comes out of it waits for the next tick: the topics of
# the command log do not tell which of two entries of one stamp was first
LOG_ORDER = {HingeSettings: 1, HingeCommand: 2, HingeTrajectory: 3, Measurement: 4}
FRICTIONS = {"damping": "damping", "internal": "internal_friction"}  # as the simulation and as scenarios call them
Publish = Callable[[topics.Fields], None]


class CommandLog:
    """Publishers of the log. A JointState without values lets its joints go; gains and modes are parameters."""

    def __init__(self, robot: Robot, prefix: str, node: str, publisher: Callable[[str, str], Publish]):
        """publisher: (topic, type) -> what publishes fields on it."""
        self._robot, self._prefix, self._node = robot, prefix, node
        self._wrench = {b.name: publisher(f"~/latched/wrench/{b.name}", WRENCH) for b in robot.bodies}
        self._torque = {
            hinge: publisher(f"~/latched/hinges/{hinge}/wrench_command", WRENCH) for hinge in spherical_hinges(robot)
        }
        self._parameters = publisher("~/latched/parameters", "rcl_interfaces/msg/ParameterEvent")
        if robot.joint_names:
            self._points = publisher("~/latched/hinge_commands", "sensor_msgs/msg/JointState")
            self._measured = publisher("~/latched/measured/joint_states", "sensor_msgs/msg/JointState")
            self._trajectory = publisher("~/latched/hinge_trajectory", "trajectory_msgs/msg/JointTrajectory")

    def note(self, latched: Latched, stamp: int) -> None:
        """Publish one command."""
        self._write(latched.command, stamp)

    @functools.singledispatchmethod
    def _write(self, command: Any, stamp: int) -> None:
        raise TypeError(f"no log for {type(command).__name__}")

    @_write.register
    def _(self, command: WrenchCommand, stamp: int) -> None:
        wrench = command.wrench
        frame = self._prefix + frame_of(wrench)
        self._wrench[wrench.body](topics.wrench_fields(stamp, frame, wrench.force, wrench.moment))

    @_write.register
    def _(self, command: HingeTorque, stamp: int) -> None:
        frame = torque_frame(command, self._robot, self._prefix)
        self._torque[command.hinge](topics.wrench_fields(stamp, frame, (0.0, 0.0, 0.0), command.torque))

    @_write.register
    def _(self, command: HingeCommand, stamp: int) -> None:
        self._points(hinge_command_fields(command, stamp))

    @_write.register
    def _(self, command: Measurement, stamp: int) -> None:
        self._measured(measurement_fields(command, stamp))

    @_write.register
    def _(self, command: HingeTrajectory, stamp: int) -> None:
        self._trajectory(trajectory_fields(command, stamp))

    @_write.register
    def _(self, command: HingeSettings, stamp: int) -> None:
        self.note_parameters(parameter_values(command), stamp)

    def note_parameters(self, values: dict[str, Any], stamp: int) -> None:
        """Publish other parameters that act on the motion."""
        self._parameters(parameter_fields(values, self._node, stamp))


def set_engine(sim: Simulation, values: dict[str, Any]) -> None:
    """Let those of the parameters of the log act that say how it is integrated; ScenarioError where they cannot."""
    if "integrator" in values:
        sim.set_integrator(values["integrator"])
    if "stabilise" in values:
        sim.set_stabilise(sim.stabilise._replace(method=values["stabilise"]))
    for hinge in sim.robot.hinges:
        friction = {key: values[name] for key in FRICTIONS if (name := friction_name(hinge.name, key)) in values}
        if friction:
            sim.set_friction(hinge.name, **friction)
    if "step" in values:
        sim.set_step(values["step"])


def friction_name(hinge: str, key: str) -> str:
    """The parameter of the log that `Simulation.set_friction` calls `key`."""
    return f"hinges.{hinge}.{FRICTIONS[key]}"


def frame_of(wrench: Wrench) -> str:
    """The frame of a wrench's components, without prefix."""
    return WORLD if wrench.frame == "world" else wrench.body
