"""The node's parameters: declared with description, range and read-only flag; wrong values refused with the reason."""

from typing import Any, NamedTuple

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from rbt_ros.errors import ScenarioError
from rbt_ros.model.hinge_commands import settable
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import MODES, Scenario
from rbt_ros.model.stabilise import METHODS, stabilise_obstacle
from rbt_ros.ros.command_topics import answerable
from rbt_ros.ros.sources import FALLBACKS, ON_MISS

MODE_WORDS = "which commands it takes: free (none), effort, position or velocity (PD with kp, kd)"
SET_POINTS = {"position": "rad, m", "velocity": "rad/s, m/s", "effort": "N m, N"}
SCENARIO = ParameterDescriptor(description="a scenario YAML file, or the name of a shipped one", read_only=True)


class Declared(NamedTuple):
    """One parameter."""

    name: str
    default: Any
    description: str
    span: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    read_only: bool = False
    words: tuple[str, ...] = ()  # a text of any of these, blanks between

    def obstacle(self, value: Any) -> str:
        """Why a value of the right type and range is refused; empty if it is not."""
        if self.choices and value not in self.choices:
            return f"'{value}' is not one of {', '.join(self.choices)}"
        for word in value.split() if self.words else ():
            if word not in self.words:
                return f"'{word}' is not one of {', '.join(self.words)}"
        return ""


def parameter_table(scenario: Scenario) -> tuple[Declared, ...]:
    """All parameters but `scenario`, with the scenario's values as defaults."""
    rates = [
        Declared(f"outputs.{key}", rate, f"rate of {key} [Hz of simulated time], 0: off", (0.0, 1e6), read_only=True)
        for key, rate in scenario.outputs.items()
    ]
    obstacle = stabilise_obstacle(scenario.robot, scenario.attraction)
    return (
        *rates,
        Declared(
            "stabilise",
            scenario.stabilise.method,
            obstacle or "keep angular momentum and energy by correcting each step, from the next one on",
            choices=("none",) if obstacle else tuple(METHODS),
        ),
        Declared(
            "mode",
            scenario.mode,
            "realtime: paced by steady time; lockstep: each step waits for its command; fast: as fast as it goes",
            choices=MODES,
        ),
        *lockstep_table(scenario.robot),
        Declared(
            "watchdog.timeout", 0.0, "a source silent for so long [s of steady time] is lost; 0: never", (0.0, 1e6)
        ),
        Declared("watchdog.fallback", "zero", "what becomes of the commands of a lost source", choices=FALLBACKS),
        Declared("start_paused", False, "wait for ~/resume or ~/step before the first step", read_only=True),
        Declared("step_ticks", 1, "how many steps ~/step takes", (1, 1_000_000_000)),
        Declared("state_file", f"{scenario.name}.checkpoint.json", "what ~/save_state writes and ~/load_state reads"),
        *hinge_table(scenario.robot),
        Declared("realtime_factor", 1.0, "simulated seconds per second in mode realtime", (0.01, 100.0)),
        Declared("publish_clock", True, "publish /clock; one node per ROS domain may", read_only=True),
        Declared("frame_prefix", "", "stands before every frame name, for several robots", read_only=True),
        Declared(
            "wrench_hold", 0.1, "how long a wrench command acts [s of simulated time]", (1e-9, 3600.0), read_only=True
        ),
        Declared(
            "wrench_at",
            "origin",
            "where a commanded force acts: origin of the body's frame, or com",
            None,
            ("origin", "com"),
        ),
        Declared("warn.energy_drift", 1e-4, "relative energy drift above which /diagnostics warns", (0.0, 1e9)),
        Declared("warn.angular_momentum_drift", 1e-4, "the same for angular momentum", (0.0, 1e9)),
    )


def lockstep_table(robot: Robot) -> tuple[Declared, ...]:
    """How mode lockstep waits."""
    topics = answerable(robot)
    return (
        Declared("lockstep.wait_for", topics[0], "the topics that must answer, blanks between", words=topics),
        Declared("lockstep.every", 1, "ticks from one wait to the next: the controller's period", (1, 1_000_000)),
        Declared("lockstep.deadline", 1.0, "how long a wait may last [s of steady time]", (1e-6, 1e6)),
        Declared(
            "lockstep.fallback", "hold", "what happens then: go on, without their commands, or pause", choices=ON_MISS
        ),
    )


def hinge_table(robot: Robot) -> list[Declared]:
    """Mode, gains and set-points of every hinge: checked together, see `hinge_parameters.py`."""
    table = []
    for joint in settable(robot):
        words = MODE_WORDS if joint in robot.joint_names else "which commands it takes: free (none) or effort"
        table.append(Declared(f"hinges.{joint}.mode", "effort", words))
        if joint in robot.joint_names:
            table += [
                Declared(f"hinges.{joint}.kp", 0.0, "gain on the position [N m/rad, N/m]", (0.0, 1e15)),
                Declared(f"hinges.{joint}.kd", 0.0, "gain on the velocity [N m s/rad, N s/m]", (0.0, 1e15)),
            ]
            table += [
                Declared(f"hinges.{joint}.{key}", 0.0, f"a set-point: acts when it is set [{unit}]", (-1e15, 1e15))
                for key, unit in SET_POINTS.items()
            ]
    return table


def declare(node: Node, table: tuple[Declared, ...]) -> None:
    """Declare all of `table` on `node`; ScenarioError where a value from outside breaks a rule."""
    for entry in table:
        descriptor = ParameterDescriptor(description=_described(entry), read_only=entry.read_only)
        if entry.span and isinstance(entry.default, int):
            descriptor.integer_range = [IntegerRange(from_value=entry.span[0], to_value=entry.span[1], step=1)]
        elif entry.span:
            descriptor.floating_point_range = [FloatingPointRange(from_value=entry.span[0], to_value=entry.span[1])]
        try:
            value = node.declare_parameter(entry.name, entry.default, descriptor).value
        except (InvalidParameterTypeException, InvalidParameterValueException) as err:
            given = node._parameter_overrides.get(entry.name)
            got = f" {given.value!r}" if given is not None else ""
            whole = given is not None and type(given.value) is int and type(entry.default) is float
            hint = f" Write {given.value}.0." if given is not None and whole else ""
            raise ScenarioError(f"parameter {entry.name}:{got} is refused: {_described(entry)}.{hint} ({err})") from err
        if reason := entry.obstacle(value):
            raise ScenarioError(f"parameter {entry.name}: {reason}: {entry.description}")
    entries = {entry.name: entry for entry in table}
    node.add_on_set_parameters_callback(lambda changes: _judged(changes, entries))


def _described(entry: Declared) -> str:
    text = entry.description
    if entry.span:
        text += f"; from {entry.span[0]:g} to {entry.span[1]:g}"
    if entry.choices or entry.words:
        text += f"; {'one' if entry.choices else 'any'} of {', '.join(entry.choices or entry.words)}"
    return text


def _judged(changes: list[Parameter], entries: dict[str, Declared]) -> SetParametersResult:
    """Ranges and read-only are rclpy's to check; words are ours."""
    for change in changes:
        if change.name in entries and (reason := entries[change.name].obstacle(change.value)):
            return SetParametersResult(successful=False, reason=f"{change.name}: {reason}")
    return SetParametersResult(successful=True)
