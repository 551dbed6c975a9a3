"""Messages that command <-> commands, in pairs: `x(message)` reads, `x_fields(command, stamp)` is what it came from.

`x` takes any object with the fields of the message: rclpy's, or what `rosbags` reads from a bag.
"""

import math
from collections.abc import Sequence
from typing import Any

from rbt_ros.core.types import JointKind
from rbt_ros.errors import MessageError
from rbt_ros.fields import Fields, header, time_of
from rbt_ros.model.hinge_commands import (
    HingeCommand,
    HingeSetting,
    HingeSettings,
    HingeTorque,
    HingeTrajectory,
    settable,
)
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.model.measured import Measurement
from rbt_ros.model.robot import WORLD, Robot

MOST_JOINTS = 10_000  # of a set-point: more are no robot's, and would take milliseconds to look at
MOST_POINTS = 100_000  # of a trajectory, times joints: more is a mistake, or an attack
TYPES = {
    bool: (1, "bool_value"),
    int: (2, "integer_value"),
    float: (3, "double_value"),
    str: (4, "string_value"),
    tuple: (8, "double_array_value"),
}


def stamp_of(message: Any) -> int:
    """The header's stamp [ns]; 0 where the sender left it out."""
    return int(message.header.stamp.sec) * 1_000_000_000 + int(message.header.stamp.nanosec)


def entry_stamp(message: Any) -> int:
    """The stamp of an entry of the command log [ns]; a ParameterEvent has no header."""
    stamp = message.stamp if hasattr(message, "stamp") else message.header.stamp
    return int(stamp.sec) * 1_000_000_000 + int(stamp.nanosec)


def wrench_command(message: Any, robot: Robot, body: str, *, prefix: str, at: str, hold_ns: int) -> WrenchCommand:
    """geometry_msgs/WrenchStamped -> command on `body`; MessageError where frame or numbers are not usable."""
    frame = message.header.frame_id
    if frame == prefix + WORLD:
        axes = "world"
    elif frame in ("", prefix + body):
        axes = "body"
    else:
        known = f"'{prefix + WORLD}', '{prefix + body}' or empty for the body's own axes"
        raise MessageError(f"wrench on '{body}': frame_id '{shortened(frame)}' is not usable here; use {known}.")
    force, torque = message.wrench.force, message.wrench.torque
    wrench = Wrench(body, (force.x, force.y, force.z), (torque.x, torque.y, torque.z), axes, at)
    return WrenchCommand(wrench, hold_ns)


def hinge_command(message: Any) -> HingeCommand:
    """sensor_msgs/JointState: which arrays are filled says what is meant.

    Beside one that has a number, an array of nothing but NaN is an empty one: ros2_control sends NaN on the command
    interfaces that no controller uses.
    """
    if max(len(message.name), len(message.position), len(message.velocity), len(message.effort)) > MOST_JOINTS:
        raise MessageError(f"set-points of {len(message.name)} joints; at most {MOST_JOINTS} are taken in one message.")
    arrays = [tuple(message.position), tuple(message.velocity), tuple(message.effort)]
    silent = [all(map(math.isnan, array)) for array in arrays]
    if not all(silent):
        arrays = [() if nothing else array for nothing, array in zip(silent, arrays, strict=True)]
    return HingeCommand(tuple(message.name), *arrays)


def hinge_command_fields(command: HingeCommand, stamp: int) -> Fields:
    """sensor_msgs/JointState."""
    values = {key: list(values) for key, values in zip(command._fields[1:], command[1:], strict=True)}
    return {"header": header(stamp), "name": list(command.joints), **values}


def measurement(message: Any) -> Measurement:
    """sensor_msgs/JointState of the command log: its frame_id tells how old the sample was, "5000000 ns old"."""
    age, _, unit = message.header.frame_id.partition(" ")
    if unit != "ns old" or not age.isdecimal():
        raise MessageError(f"measurement: frame_id '{shortened(message.header.frame_id)}' does not tell its age.")
    position, velocity = (tuple(map(float, values)) for values in (message.position, message.velocity))
    return Measurement(tuple(message.name), position, velocity, int(age))


def measurement_fields(command: Measurement, stamp: int) -> Fields:
    """sensor_msgs/JointState."""
    values = {"position": list(command.position), "velocity": list(command.velocity), "effort": []}
    return {"header": header(stamp, f"{command.age_ns} ns old"), "name": list(command.joints), **values}


def array_command(message: Any, what: str, joints: Sequence[str]) -> HingeCommand:
    """std_msgs/Float64MultiArray: one number for each of `joints`, the ones whose mode takes `what`."""
    values = tuple(message.data)
    if not joints:
        raise MessageError(f"no joint takes {what} now; set the parameter hinges.NAME.mode of one to it.")
    if len(values) != len(joints):
        listed = ", ".join(joints)
        raise MessageError(f"{len(values)} numbers as {what}; the joints that take that now are: {listed}.")
    return HingeCommand(tuple(joints))._replace(**{what: values})


def array_command_fields(command: HingeCommand, what: str) -> Fields:
    """std_msgs/Float64MultiArray."""
    return {"data": list(getattr(command, what))}


def trajectory(message: Any) -> HingeTrajectory:
    """trajectory_msgs/JointTrajectory, times from its stamp; accelerations are not needed and not looked at."""
    points = message.points
    if len(points) * max(1, len(message.joint_names)) > MOST_POINTS:
        raise MessageError(f"trajectory of {len(points)} points; at most {MOST_POINTS} numbers are taken.")
    if any(len(point.effort) for point in points):
        raise MessageError("trajectory with efforts; positions and velocities are taken.")
    times = tuple(_nanoseconds(point.time_from_start) for point in points)
    velocities = tuple(tuple(point.velocities) for point in points)
    if not any(velocities):
        velocities = ()
    return HingeTrajectory(tuple(message.joint_names), times, tuple(tuple(p.positions) for p in points), velocities)


def trajectory_fields(command: HingeTrajectory, stamp: int) -> Fields:
    """trajectory_msgs/JointTrajectory."""
    velocities = command.velocities or ((),) * len(command.times_ns)
    rows = zip(command.times_ns, command.positions, velocities, strict=True)
    points = [
        {"time_from_start": time_of(time), "positions": list(position), "velocities": list(velocity)}
        for time, position, velocity in rows
    ]
    return {"header": header(stamp), "joint_names": list(command.joints), "points": points}


def _nanoseconds(duration: Any) -> int:
    return int(duration.sec) * 1_000_000_000 + int(duration.nanosec)


def torque_command(message: Any, robot: Robot, hinge: str, prefix: str) -> HingeTorque:
    """geometry_msgs/WrenchStamped on a spherical hinge: a torque in the child's axes."""
    child = robot.hinges[robot.hinge_index(hinge)].child
    frame, force, torque = message.header.frame_id, message.wrench.force, message.wrench.torque
    if frame not in ("", prefix + child):
        raise MessageError(
            f"torque on hinge '{hinge}': frame_id '{shortened(frame)}' is not usable here; use '{prefix + child}', or "
            "empty for the child's axes."
        )
    if (force.x, force.y, force.z) != (0.0, 0.0, 0.0):
        raise MessageError(f"torque on hinge '{hinge}': a spherical hinge takes no force; put it on the body's wrench.")
    return HingeTorque(hinge, (torque.x, torque.y, torque.z))


def torque_frame(command: HingeTorque, robot: Robot, prefix: str) -> str:
    """The frame_id of a torque."""
    return prefix + robot.hinges[robot.hinge_index(command.hinge)].child


def spherical_hinges(robot: Robot) -> tuple[str, ...]:
    """Those that take a torque."""
    return tuple(h.name for h in robot.hinges if h.kind == JointKind.SPHERICAL)


def hinge_settings(values: dict[str, Any], robot: Robot) -> HingeSettings:
    """Parameters `hinges.NAME.KEY` -> what they ask for; other parameters are passed over."""
    found: dict[str, HingeSetting] = {}
    for joint in settable(robot):
        given = {key: values[name] for key in HingeSetting._fields[1:] if (name := f"hinges.{joint}.{key}") in values}
        if given:
            found[joint] = HingeSetting(joint, **given)
    return HingeSettings(tuple(found.values()))


def parameter_values(command: HingeSettings) -> dict[str, Any]:
    """Settings -> parameters."""
    return {
        f"hinges.{setting.joint}.{key}": value
        for setting in command.settings
        for key, value in zip(setting._fields[1:], setting[1:], strict=True)
        if value is not None
    }


def parameter_fields(values: dict[str, Any], node: str, stamp: int) -> Fields:
    """rcl_interfaces/ParameterEvent of changed parameters."""
    nothing = {"bool_value": False, "integer_value": 0, "double_value": 0.0, "string_value": ""}
    changed = [
        {"name": name, "value": {**nothing, "type": TYPES[type(value)][0], TYPES[type(value)][1]: value}}
        for name, value in values.items()
    ]
    return {"stamp": time_of(stamp), "node": node, "changed_parameters": changed}


def changed_parameters(message: Any) -> dict[str, Any]:
    """rcl_interfaces/ParameterEvent -> name: value."""
    fields = {number: field for number, field in TYPES.values()}
    values = {p.name: getattr(p.value, fields[p.value.type]) for p in message.changed_parameters}
    arrays = {p.name for p in message.changed_parameters if p.value.type == TYPES[tuple][0]}
    return {name: tuple(float(x) for x in value) if name in arrays else value for name, value in values.items()}


def shortened(text: str, most: int = 60) -> str:
    """`text` fit for a log line."""
    clean = "".join(c if c.isprintable() else "?" for c in text[: most + 1])
    return clean if len(text) <= most else f"{clean[:most]}... ({len(text)} characters)"


# ------------------------------------------------------------------------------------------------- in checkpoints
KINDS = {kind.__name__: kind for kind in (HingeCommand, HingeTrajectory, HingeSettings, Measurement)}


def command_memory(command: Any) -> list[Any]:
    """A command to hinges as lists and numbers."""
    return [type(command).__name__, *_as_lists(command)]


def command_of(memory: list[Any]) -> Any:
    """The command of which this is the memory."""
    name, *values = memory
    if name == HingeSettings.__name__:
        return HingeSettings(tuple(HingeSetting(*setting) for setting in values[0]))
    return KINDS[name](*map(_as_tuples, values))


def _as_lists(value: Any) -> Any:
    return [_as_lists(item) for item in value] if isinstance(value, tuple) else value


def _as_tuples(value: Any) -> Any:
    return tuple(_as_tuples(item) for item in value) if isinstance(value, list) else value
