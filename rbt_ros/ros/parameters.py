"""The node's parameters: declared with description, range and read-only flag; wrong values refused with the reason."""

from difflib import get_close_matches
from typing import Any, NamedTuple

from rcl_interfaces.msg import FloatingPointRange, IntegerRange, ParameterDescriptor, SetParametersResult
from rclpy.exceptions import InvalidParameterTypeException, InvalidParameterValueException
from rclpy.node import Node
from rclpy.parameter import Parameter

from rbt_ros.bags.mcap_write import PACK
from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import LONGEST_S
from rbt_ros.model.hinge_commands import Law, settable
from rbt_ros.model.measured import ON_LOSS
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import KEYS, OUTPUTS, Scenario
from rbt_ros.model.schema import meaning, words_of
from rbt_ros.model.stabilise import stabilise_obstacle
from rbt_ros.ros.command_topics import answerable
from rbt_ros.ros.priority import PRIORITY
from rbt_ros.ros.sources import FALLBACKS, ON_MISS, STAMPS

MODE_WORDS = (
    "which commands it takes: free (none), effort, position or velocity (PD with kp, kd), prescribed (positions, which "
    "it reaches exactly), or locked (none: it stands still)"
)
BALL_WORDS = "which commands it takes: free (none), effort, or locked (none: it stands still)"
SET_POINTS = {"position": "rad, m", "velocity": "rad/s, m/s", "effort": "N m, N"}
RATES = (0.01, 100.0)  # the least and the largest realtime_factor
SCENARIO = ParameterDescriptor(description="a scenario YAML file, or the name of a shipped one", read_only=True)
AUTOSTART = ParameterDescriptor(
    description="configure and activate at once; false: wait for lifecycle transitions", read_only=True
)


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
            known = ", ".join(filter(None, self.choices))
            return f"'{value}' is not one of {known}" if known else f"'{value}': there is none here; leave it empty"
        if self.words and self.default and not value.split():
            return f"it names none of {', '.join(self.words)}"
        for word in value.split() if self.words else ():
            if word not in self.words:
                return f"'{word}' is not one of {', '.join(self.words)}"
        return ""


REALTIME = (
    Declared(
        "realtime.priority",
        PRIORITY,
        "SCHED_FIFO priority of the stepping thread in mode realtime, where the system allows it; 0: ordinary",
        (0, 99),
        read_only=True,
    ),
    Declared("realtime.lock_memory", False, "keep all memory of the process from being swapped", read_only=True),
    Declared("realtime.cpu", -1, "the only CPU of the stepping thread; -1: any may be", (-1, 1023), read_only=True),
)


def parameter_table(scenario: Scenario) -> tuple[Declared, ...]:
    """All parameters but `scenario`, with the scenario's values as defaults."""
    return (
        *mirrored(scenario),
        *lockstep_table(scenario.robot),
        Declared(
            "watchdog.timeout", 0.0, "a source silent for so long [s of steady time] is lost; 0: never", (0.0, 1e6)
        ),
        Declared("watchdog.fallback", "zero", "what becomes of the commands of a lost source", choices=FALLBACKS),
        Declared("start_paused", False, "wait for ~/resume or ~/step before the first step", read_only=True),
        Declared("step_ticks", 1, "how many steps ~/step takes", (1, 1_000_000_000)),
        Declared("state_file", f"{scenario.name}.checkpoint.json", "what ~/save_state writes and ~/load_state reads"),
        *hinge_table(scenario.robot),
        Declared("realtime_factor", 1.0, "simulated seconds per second in mode realtime", RATES),
        Declared("record", False, "record a bag from the start; ~/record begins and ends one later", read_only=True),
        Declared("record_to", "", "the folder of the next bag; empty: the scenario's name and the time"),
        Declared("record_compression", "zstd", "of each chunk of the next bag", choices=tuple(PACK)),
        Declared("record_split_mb", 0.0, "a new file of the bag begins when one holds more [MB]; 0: never", (0.0, 1e9)),
        Declared("record_split_s", 0.0, "a new file of the bag begins when one holds more [s]; 0: never", (0.0, 9e9)),
        *REALTIME,
        Declared(
            "imu.body",
            "",
            "the body whose specific force and rate imu/data_raw has; empty: none",
            choices=("", *(body.name for body in scenario.robot.bodies)),
            read_only=True,
        ),
        Declared("imu.rate", 100.0, "of imu/data_raw [Hz of simulated time]", (1e-3, 1e6), read_only=True),
        *measured_table(scenario.robot),
        Declared("publish_clock", True, "publish /clock; one node per ROS domain may", read_only=True),
        Declared("view", False, "show it in the browser (docs/view.md)", read_only=True),
        Declared("frame_prefix", "", "stands before every frame name, for several robots", read_only=True),
        Declared(
            "local_frame",
            "",
            "a frame that goes with the first floating body, for viewers; empty: none",
            read_only=True,
        ),
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


def mirrored(scenario: Scenario) -> list[Declared]:
    """The parameters that begin as keys of the scenario, described as these are."""
    table = []
    for key, row in OUTPUTS.keys.items():
        words = f"{meaning(row)}, in simulated time; 0: off"
        table.append(Declared(f"outputs.{key}", scenario.outputs[key], words, (0.0, 1e6), read_only=True))
    engine = {"step": scenario.step, "integrator": scenario.integrator, "stabilise": scenario.stabilise.method}
    obstacle = stabilise_obstacle(scenario.robot, scenario.attraction)
    for key, value in {**engine, "mode": scenario.mode}.items():
        words, choices = f"{meaning(KEYS.keys[key])}; from the next step on", words_of(KEYS.keys[key].kind)
        if key == "stabilise" and obstacle:
            words, choices = obstacle, ("none",)
        table.append(Declared(key, value, words, (1e-9, LONGEST_S) if key == "step" else None, choices))
    return table


def measured_table(robot: Robot) -> tuple[Declared, ...]:
    """Hardware in the loop: docs/testbed.md."""
    floating = ("", *(robot.bodies[i].name for i in robot.free_bodies))
    table = (
        Declared(
            "measured.joints", "", "joints that follow measured/joint_states, blanks between", words=robot.joint_names
        ),
        Declared("measured.body", "", "the floating body that measured/pose leads; empty: none", choices=floating),
        Declared(
            "measured.delay", 0.02, "after which a sample is passed [s], at least the sender's period", (1e-4, 10.0)
        ),
        Declared("measured.timeout", 0.2, "without a sample, after which the signal is lost [s]", (1e-3, 1e3)),
        Declared("measured.on_loss", "hold", "what joints do then: rest, move freely, go to 0", choices=ON_LOSS),
        Declared("measured.age_limit", 0.5, "a sample that is older [s] is dropped", (1e-3, 1e3)),
        Declared(
            "measured.outlier", 0.0, "a sample that implies a higher rate [rad/s, m/s] is dropped; 0: none", (0.0, 1e9)
        ),
        Declared("measured.cutoff", 50.0, "low-pass on rates that are made of positions [Hz]", (1e-3, 1e6)),
        Declared("measured.bandwidth", 5.0, "of the coupling of measured.body to measured/pose [Hz]", (1e-3, 1e3)),
    )
    return tuple(entry._replace(read_only=True) for entry in table)


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
        Declared(
            "lockstep.stamps",
            "tick",
            "which stamps answer: tick: of the tick that waits; period: one per period (of controllers led by /clock)",
            choices=STAMPS,
        ),
    )


def hinge_table(robot: Robot) -> list[Declared]:
    """Mode, gains and set-points of every hinge: checked together, see `hinge_parameters.py`."""
    table = []
    for joint in settable(robot):
        words = MODE_WORDS if joint in robot.joint_names else BALL_WORDS
        table.append(Declared(f"hinges.{joint}.mode", Law().mode, words))
        if joint in robot.joint_names:
            table += [
                Declared(f"hinges.{joint}.kp", 0.0, "gain on the position [N m/rad, N/m]", (0.0, 1e15)),
                Declared(f"hinges.{joint}.kd", 0.0, "gain on the velocity [N m s/rad, N s/m]", (0.0, 1e15)),
                Declared(f"hinges.{joint}.delay", Law().delay, "mode prescribed: to a set-point [s]", (1e-9, 1e6)),
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


def is_given(node: Node, name: str) -> bool:
    """Whether a parameter has its value from outside: the command line, a launch file."""
    return name in node._parameter_overrides


def undeclared(node: Node) -> list[str]:
    """A sentence about each value from outside that no parameter takes. A file may serve several nodes: no error."""
    known = [name for name in node.get_parameters_by_prefix("") if not name.startswith("qos_overrides.")]
    sentences = []
    for name in sorted(node._parameter_overrides):
        if not node.has_parameter(name):
            meant = get_close_matches(name, known, 1)
            hint = f" Is {meant[0]} meant?" if meant else ""
            sentences.append(f"parameter {name}: there is none of this name, its value is not used.{hint}")
    return sentences


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
