"""The node's parameters: declared with description, range and read-only flag; wrong values refused with the reason."""

from typing import Any, NamedTuple

from rcl_interfaces.msg import FloatingPointRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from rbt_ros.errors import ScenarioError
from rbt_ros.model.scenario import MODES, Scenario
from rbt_ros.model.stabilise import METHODS, stabilise_obstacle

SCENARIO = ParameterDescriptor(description="a scenario YAML file, or the name of a shipped one", read_only=True)


class Declared(NamedTuple):
    """One parameter."""

    name: str
    default: Any
    description: str
    span: tuple[float, float] | None = None
    choices: tuple[str, ...] = ()
    read_only: bool = False


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
        Declared("mode", scenario.mode, "realtime: paced by steady time; fast: as fast as it goes", None, MODES, True),
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


def declare(node: Node, table: tuple[Declared, ...]) -> None:
    """Declare all of `table` on `node`; ScenarioError where a value from outside breaks a rule."""
    for entry in table:
        descriptor = ParameterDescriptor(description=_described(entry), read_only=entry.read_only)
        if entry.span:
            descriptor.floating_point_range = [FloatingPointRange(from_value=entry.span[0], to_value=entry.span[1])]
        try:
            value = node.declare_parameter(entry.name, entry.default, descriptor).value
        except (InvalidParameterTypeException, InvalidParameterValueException) as err:
            given = node._parameter_overrides.get(entry.name)
            got = f" {given.value!r}" if given is not None else ""
            hint = f" Write {given.value}.0." if given and entry.span and type(given.value) is int else ""
            raise ScenarioError(f"parameter {entry.name}:{got} is refused: {_described(entry)}.{hint} ({err})") from err
        if entry.choices and value not in entry.choices:
            raise ScenarioError(
                f"parameter {entry.name}: '{value}' is not one of {', '.join(entry.choices)}: {entry.description}"
            )
    choices = {entry.name: entry.choices for entry in table if entry.choices}
    node.add_on_set_parameters_callback(lambda changes: _judged(changes, choices))


def _described(entry: Declared) -> str:
    text = entry.description
    if entry.span:
        text += f"; from {entry.span[0]:g} to {entry.span[1]:g}"
    if entry.choices:
        text += f"; one of {', '.join(entry.choices)}"
    return text


def _judged(changes: list[Parameter], choices: dict[str, tuple[str, ...]]) -> SetParametersResult:
    """Ranges and read-only are rclpy's to check; words are ours."""
    for change in changes:
        allowed = choices.get(change.name)
        if allowed and change.value not in allowed:
            reason = f"{change.name}: '{change.value}' is not one of {', '.join(allowed)}"
            return SetParametersResult(successful=False, reason=reason)
    return SetParametersResult(successful=True)
