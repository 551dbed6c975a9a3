"""The command log of a bag, as events: what acts on a Simulation, in the order in which it did."""

import heapq
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from rbt_ros import command_messages as read
from rbt_ros.bags.bag import Bag
from rbt_ros.bags.sources import Topic
from rbt_ros.command_log import LOG_ORDER, set_engine
from rbt_ros.errors import MessageError
from rbt_ros.model.hinge_commands import HingeCommand, HingeSettings, HingeTrajectory
from rbt_ros.model.measured import Measurement
from rbt_ros.model.robot import Robot
from rbt_ros.sim import Simulation

MEASURED = "measured/joint_states"
HINTS = {
    "parameters": HingeSettings,
    "hinge_commands": HingeCommand,
    "hinge_trajectory": HingeTrajectory,
    MEASURED: Measurement,
}
TYPES = {
    "parameters": "rcl_interfaces/msg/ParameterEvent",
    "hinge_commands": "sensor_msgs/msg/JointState",
    "efforts": "sensor_msgs/msg/JointState",
    "hinge_trajectory": "trajectory_msgs/msg/JointTrajectory",
    MEASURED: "sensor_msgs/msg/JointState",
}
WRENCH = "geometry_msgs/msg/WrenchStamped"


class Settings:
    """How wrenches of the log are to be read; entries of the log change it."""

    def __init__(self, wrench_at: str = "origin", wrench_hold: float = 0.1, prefix: str = ""):
        self.at, self.hold_ns, self.prefix = wrench_at, round(wrench_hold * 1e9), prefix


class Event(NamedTuple):
    """One entry of the log."""

    time_ns: int  # in the bag; its stamp where by_stamp
    order: int  # among entries of one time
    stamp: int  # of the tick from which it acts
    what: str  # for people
    act: Callable[[Simulation, Settings], None]


def events(bag: Bag, robot: Robot, node: str, by_stamp: bool) -> Iterator[Event]:
    """All entries below `node`/latched/ in order; by_stamp: of a bag whose times do not tell it."""
    start = f"{node}/latched/"
    for name, skipped in bag.skipped.items():
        if name.startswith(start) and skipped.messages:
            raise MessageError(f"{skipped.messages} entries of {name} cannot be read ({skipped.reason}).")
    streams = []
    for name, topic in bag.topics.items():
        key = name.removeprefix(start)
        if name.startswith(start) and topic.t_ns:
            bag.topic(topic.name, TYPES.get(key, WRENCH))  # its type
            stamps = bag.stamps(topic)  # which reads all of them, so that none is found damaged when it should act
            times = stamps if by_stamp else np.array(topic.t_ns)
            streams.append(_events_of(bag, topic, key, robot, times))
    return heapq.merge(*streams, key=lambda event: (event.time_ns, event.order))


def _events_of(bag: Bag, topic: Topic, name: str, robot: Robot, times: np.ndarray) -> Iterator[Event]:
    order = LOG_ORDER.get(HINTS[name], 0) if name in HINTS else 0
    for row in np.argsort(times, kind="stable").tolist():
        message = bag.message(topic, topic.data[row])
        stamp = read.entry_stamp(message)
        yield Event(int(times[row]), order, stamp, f"{name} at {stamp * 1e-9:.9g} s", _action(name, message, robot))


def _action(name: str, message: Any, robot: Robot) -> Callable[[Simulation, Settings], None]:
    if name == "parameters":
        return lambda sim, settings: _set(sim, settings, read.changed_parameters(message))
    if name == "efforts":
        return lambda sim, settings: sim.set_effort(message.header.frame_id, list(message.effort))
    return lambda sim, settings: _command(sim, _read_command(name, message, robot, settings))


def _command(sim: Simulation, command: Any) -> None:
    sim.command(command)


def _read_command(name: str, message: Any, robot: Robot, how: Settings) -> Any:
    if name == "hinge_commands":
        return read.hinge_command(message)
    if name == "hinge_trajectory":
        return read.trajectory(message)
    if name == MEASURED:
        return read.measurement(message)
    kind, _, rest = name.partition("/")
    if kind == "wrench" and rest:
        return read.wrench_command(message, robot, rest, prefix=how.prefix, at=how.at, hold_ns=how.hold_ns)
    if kind == "hinges" and rest.endswith("/wrench_command"):
        return read.torque_command(message, robot, rest.removesuffix("/wrench_command"), how.prefix)
    raise MessageError(f"an entry of the command log, {name}, is none that this version knows.")


def _set(sim: Simulation, settings: Settings, values: dict[str, Any]) -> None:
    settings.at = values.get("wrench_at", settings.at)
    if "wrench_hold" in values:
        settings.hold_ns = round(values["wrench_hold"] * 1e9)
    set_engine(sim, values)
    hinges = read.hinge_settings(values, sim.robot)
    if hinges.settings:
        sim.command(hinges)
