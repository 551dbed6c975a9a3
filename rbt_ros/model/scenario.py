"""Scenario YAML -> Scenario: what runs, from where, how, for how long. Every error carries file and line."""

import os
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import STAMP_END_NS
from rbt_ros.model.coordinates import BodyStart, HingeStart, freedom_dimensions, neutral, put_body, put_hinge
from rbt_ros.model.input_yaml import FORCE, INPUT, read_force, read_input
from rbt_ros.model.inputs import PlannedChange, PlannedInput
from rbt_ros.model.integrators import integrator_named, no_inputs, obstacle
from rbt_ros.model.reading import Item, parse_yaml, read_yaml
from rbt_ros.model.robot import Robot
from rbt_ros.model.robot_yaml import ROBOT, read_robot
from rbt_ros.model.schema import (
    INTEGER,
    TIME,
    TRUTH,
    Key,
    Section,
    Value,
    any_of,
    by_name,
    checked,
    choice,
    later,
    list_of,
    number,
    vector,
    word,
)
from rbt_ros.model.sensor_yaml import SENSORS_BY_NAME, read_sensors
from rbt_ros.model.sensors import Sensor
from rbt_ros.model.stabilise import METHODS as STABILISERS
from rbt_ros.model.stabilise import ORDERS, Stabilise, checked_stabilise, stabilise_obstacle
from rbt_ros.model.yaml_parts import ATTITUDE, EULER, RATES, of_freedoms, per_freedom, placed
from rbt_ros.paths import as_path, share
from rbt_ros.plug.integrators import INTEGRATORS

Vector = tuple[float, float, float]
MODES = ("realtime", "lockstep", "fast")
RATE = checked(number("frequency"), lambda hz: hz >= 0, "{} Hz is negative; 0 switches the output off.", minimum=0)
POSITIVE = checked(TIME, lambda ns: ns > 0, "{} must be longer than nothing.", exclusiveMinimum=0)
SHARE = checked(
    number(),
    lambda x: 0 < x < 1,
    "{} must lie between 0 and 1: 1e-10 is usual.",
    exclusiveMinimum=0,
    exclusiveMaximum=1,
)
ATTITUDES = (
    Key("quaternion", ATTITUDE, "its attitude, w x y z; or give euler"),
    Key("euler", EULER, "its attitude by three turns about axes of the body", to="quaternion"),
)
ONE_ATTITUDE = {"not": {"required": [key.name for key in ATTITUDES]}}
START_BODY = Section(
    "start_body",
    "Where a floating body is, and how it moves.",
    Key("position", vector("length"), "of its frame in the world"),
    *ATTITUDES,
    Key("velocity", vector("velocity"), "of the origin of its frame, in world axes"),
    Key("omega_body", vector("angular velocity"), "in axes of the body"),
    **ONE_ATTITUDE,
)
START_HINGE = Section(
    "start_hinge",
    "Where a hinge is, and how it moves.",
    Key("angle", number("angle"), "of a hinge with one turn; or give position", to="position"),
    Key("position", per_freedom("angle", "length"), "one number for each freedom"),
    Key("rate", per_freedom("angular velocity", "velocity"), "one number for each freedom"),
    *ATTITUDES,
    Key("omega", vector("angular velocity"), "of a spherical hinge, in axes of the child"),
    **ONE_ATTITUDE,
)
START = Section(
    "start",
    "The state at t = 0; what is not given is at zero and at rest.",
    Key("bodies", later(by_name(START_BODY)), "floating bodies, by name"),
    Key("hinges", later(by_name(START_HINGE)), "hinges, by name"),
)
ATTRACTION = Section(
    "attraction",
    "A point mass that attracts by the inverse square, gravity gradient included.",
    Key(
        "mu",
        checked(number(), lambda mu: mu >= 0, "{} m³/s² is negative; masses attract.", minimum=0),
        "its gravitational parameter, in m³/s²",
        needed=True,
        to="attraction",
    ),
    Key("at", vector("length"), "its place in the world", [0, 0, 0], to="attractor"),
)
STABILISE = Section(
    "stabilise",
    "How angular momentum and energy are kept: docs/stabilise.md.",
    Key("method", choice(STABILISERS), "by which each step is corrected", needed=True),
    Key("order", choice(ORDERS), "seed: correct before each step", Stabilise().order),
    Key("k_e", number("energy"), "error above which the gain grows; without this key: 1e-10 of that at the start"),
    Key("k1", number(), "the gain falls by this factor per step", Stabilise().k1),
    Key("k2", number(), "and grows by this one", Stabilise().k2),
    Key("i0", number(), "the least gain", Stabilise().i0),
)


def _integrator(item: Item) -> str:
    name = item.text()
    try:
        integrator_named(name)
    except ScenarioError as err:
        raise item.error(str(err)) from err
    return name


def _stabilise(item: Item) -> Stabilise:
    """`projection`, or {method: gradient, order: seed, k_e: 1e-6 J, k1: 0.5, k2: 1.5, i0: 0.01}."""
    given = STABILISE.read(item) if isinstance(item.value, dict) else {"method": item.choice(*STABILISERS)}
    try:
        return checked_stabilise(Stabilise(**given))
    except ScenarioError as err:
        raise item.error(str(err).removeprefix("stabilise: ")) from err


def _format(item: Item) -> int:
    if isinstance(item.value, bool) or item.value != 1:
        raise item.error(f"is {item.value!r}; this version reads scenarios of format 1: write `rbt: 1`.")
    return 1


OUTPUTS = Section(
    "outputs",
    "Rates of the topics, in simulated time, rounded to whole steps; 0: off.",
    Key("tf", RATE, "frames of all bodies", 100),
    Key("joint_states", RATE, "freedoms with one axis", 1000),
    Key("odom", RATE, "floating bodies", 100),
    Key("multi_dof_joint_states", RATE, "spherical and free hinges", 100),
    Key("markers", RATE, "for RViz", 30),
    Key("ropes", RATE, "pulls of ropes", 100),
    Key("constraints", RATE, "forces of constraints", 100),
    Key("hinge_wrenches", RATE, "what hinges transmit", 0),
    Key("poinsot", RATE, "Poinsot's construction of a single floating body", 0),
)
OUTPUT_RATES: dict[str, float] = OUTPUTS.defaults()  # [Hz]
KEYS = Section(
    "scenario",
    "A robot, where it starts, what acts on it, how it is integrated, what is published.",
    Key("rbt", Value(_format, lambda _: {"const": 1}), "format of the file", needed=True),
    Key("robot", later(ROBOT), "what moves", needed=True),
    Key("gravity", vector("acceleration"), "in world axes", [0, 0, 0]),
    Key("attraction", ATTRACTION, "by a point mass"),
    Key("step", POSITIVE, "of the integrator", "1 ms", to="h_ns"),
    Key(
        "integrator",
        Value(_integrator, word(INTEGRATORS.names).schema),
        "the method of integration: docs/integrators.md",
        "rk4",
    ),
    Key("rtol", SHARE, "relative error of a step, of integrators under error control", 1e-10),
    Key("atol", SHARE, "absolute error of a step, of the same", 1e-12),
    Key("start", START, "the state at t = 0"),
    Key("inputs", later(list_of(INPUT)), "what acts, and what changes, when"),
    Key("forces", later(list_of(FORCE)), "what acts by laws of position and velocity"),
    Key(
        "stabilise",
        any_of(_stabilise, choice(STABILISERS), STABILISE),
        "how angular momentum and energy are kept, by correcting each step",
        Stabilise().method,
    ),
    Key("sensors", later(SENSORS_BY_NAME), "what measures, by name"),
    Key("duration", POSITIVE, "when a run ends; without this key: when it is stopped", to="duration_ns"),
    Key(
        "seed",
        checked(INTEGER, lambda seed: seed >= 0, "{} must be 0 or more.", minimum=0),
        "of random numbers",
        0,
    ),
    Key("outputs", OUTPUTS, "rates of topics"),
    Key(
        "mode",
        choice(MODES),
        "realtime: paced by steady time; lockstep: each step waits for its command; fast: as fast as possible",
        MODES[0],
    ),
    Key(
        "clock_start",
        checked(
            POSITIVE,
            lambda ns: ns < STAMP_END_NS,
            f"{{}} must be less than {STAMP_END_NS // 10**9} s: seconds of a stamp have 32 bits.",
        ),
        "stamp of t = 0",
        "1 s",
        to="clock_start_ns",
    ),
    Key("work_of_inputs", TRUTH, "integrate the work of inputs and dampers beside the state", False),
)
DEFAULTS = KEYS.defaults()


@dataclass(frozen=True, eq=False)
class Scenario:
    """A checked scenario. `text` is what was read, for bags and for running it again."""

    robot: Robot
    name: str = "scenario"
    gravity: Vector = DEFAULTS["gravity"]  # g_W [m/s²]
    attraction: float = 0.0  # mu [m³/s²] of a point mass
    attractor: Vector = (0.0, 0.0, 0)  # and its place [m]
    h_ns: int = DEFAULTS["h_ns"]
    integrator: str = DEFAULTS["integrator"]
    rtol: float = DEFAULTS["rtol"]  # of those under error control
    atol: float = DEFAULTS["atol"]
    work_of_inputs: bool = DEFAULTS["work_of_inputs"]  # integrated beside the state
    stabilise: Stabilise = DEFAULTS["stabilise"]
    start_bodies: dict[str, BodyStart] = field(default_factory=dict)
    start_hinges: dict[str, HingeStart] = field(default_factory=dict)
    inputs: tuple[PlannedInput | PlannedChange, ...] = ()
    sensors: tuple[Sensor, ...] = ()
    duration_ns: int | None = None  # None: until told to stop
    seed: int = DEFAULTS["seed"]
    outputs: dict[str, float] = field(default_factory=OUTPUTS.defaults)  # [Hz]
    mode: str = DEFAULTS["mode"]
    clock_start_ns: int = DEFAULTS["clock_start_ns"]
    text: str = ""
    folder: Path | None = None  # where the files that it names are looked for

    @property
    def step(self) -> float:
        """[s]"""
        return self.h_ns * 1e-9


def find_scenario(name: str) -> Path:
    """The file of a scenario given by path, or by the name of one that ships with the package ("cubesat")."""
    path = as_path(name, "scenario", ScenarioError)
    if path.suffix in (".yaml", ".yml") or os.path.exists(path):
        return path
    shipped = share("config")
    known = sorted(p.stem for p in shipped.glob("*.yaml"))
    if name not in known:
        raise ScenarioError(f"'{name:.200}' is neither a YAML file nor a scenario of the package ({', '.join(known)}).")
    return shipped / f"{name}.yaml"


def read_scenario(name: str) -> Scenario:
    """The scenario in a file, or the shipped one of that name."""
    path = find_scenario(name)
    document, text = read_yaml(path)
    return _scenario(document, path, text)


def scenario_from_text(text: str, name: str = "scenario") -> Scenario:
    """The scenario in a YAML text; `name`, a path, stands in error messages, and a URDF is looked for beside it."""
    return _scenario(parse_yaml(text, name), Path(name), text)


def _scenario(doc: Item, path: Path, text: str) -> Scenario:
    given = KEYS.read(doc)
    given.pop("rbt")
    robot = given["robot"] = read_robot(given["robot"], path)
    given |= given.pop("attraction", {})
    attraction = given.get("attraction", Scenario.attraction)
    if obstructed := obstacle(given["integrator"], robot, attraction):
        raise doc["integrator"].error(obstructed)
    if given["stabilise"].method != "none" and (obstructed := stabilise_obstacle(robot, attraction)):
        raise doc["stabilise"].error(obstructed.removeprefix("stabilise: "))
    start = given.pop("start", {})
    if "bodies" in start:
        given["start_bodies"] = _start_bodies(start["bodies"], robot)
    if "hinges" in start:
        given["start_hinges"] = _start_hinges(start["hinges"], robot)
    planned: list[tuple[Item, PlannedInput | PlannedChange]] = []
    readers: dict[str, Callable[[Item, Robot], PlannedInput | PlannedChange]]
    readers = {"inputs": read_input, "forces": read_force}
    for key, read in readers.items():
        entries = given.pop(key).entries() if key in given else []
        if entries and (refusal := no_inputs(given["integrator"])):
            raise doc[key].error(refusal)
        planned += [(entry, read(entry, robot)) for entry in entries]
    if "sensors" in given:
        given["sensors"] = read_sensors(given["sensors"], robot, given["h_ns"])
    if "duration_ns" in given:
        _check_ends(doc["duration"], given["duration_ns"], given["h_ns"], planned)
    given["inputs"] = tuple(what for _, what in planned)
    return Scenario(name=path.stem, text=text, folder=path.parent.absolute(), **given)


def _check_ends(
    duration: Item, duration_ns: int, h_ns: int, planned: Sequence[tuple[Item, PlannedInput | PlannedChange]]
) -> None:
    """A run of no step is an error; an input after its end is worth a warning."""
    if duration_ns < h_ns:
        raise duration.error(f"{duration.value} is less than one step of {h_ns * 1e-6:g} ms.")
    for item, what in planned:
        start_ns = what.from_ns if isinstance(what, PlannedInput) else what.at_ns
        if start_ns > duration_ns:
            warnings.warn(
                f"{item.place}: it starts at {start_ns * 1e-9:g} s, and a run ends at {duration_ns * 1e-9:g} s.",
                stacklevel=4,
            )


def _start_bodies(item: Item, robot: Robot) -> dict[str, BodyStart]:
    starts = {}
    for name, spec in item.mapping().items():
        starts[name] = BodyStart(**_one_attitude(START_BODY, spec))
        placed(spec, put_body, robot, neutral(robot), name, starts[name])
    return starts


def _start_hinges(item: Item, robot: Robot) -> dict[str, HingeStart]:
    starts = {}
    for name, spec in item.mapping().items():
        dimensions = freedom_dimensions(robot.hinges[placed(spec, robot.hinge_index, name)].kind)
        given = _one_attitude(START_HINGE, spec)
        if "position" in spec:
            given["position"] = of_freedoms(spec["position"], dimensions)
        if "rate" in spec:
            given["rate"] = of_freedoms(spec["rate"], [RATES[dimension] for dimension in dimensions])
        starts[name] = HingeStart(**given)
        placed(spec, put_hinge, robot, neutral(robot), name, starts[name])
    return starts


def _one_attitude(section: Section, spec: Item) -> dict[str, Any]:
    given = section.read(spec)
    if "quaternion" in spec and "euler" in spec:
        raise spec["euler"].error("quaternion and euler both give the attitude; keep one.")
    return given
