"""Scenario YAML -> Scenario: what runs, from where, how, for how long. Every error carries file and line."""

import math
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.model.body_forces import scenario_force
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.change_yaml import WORDS as CHANGES
from rbt_ros.model.change_yaml import planned_change
from rbt_ros.model.checks import NAME, STAMP_END_NS
from rbt_ros.model.constraint_yaml import with_constraints
from rbt_ros.model.coordinates import BodyStart, HingeStart, freedom_dimensions, neutral, put_body, put_hinge
from rbt_ros.model.folding import array
from rbt_ros.model.inputs import Effort, PlannedChange, PlannedInput, Wrench
from rbt_ros.model.integrators import integrator_named, no_inputs, obstacle
from rbt_ros.model.reading import Item, parse_yaml, read_yaml
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario_mass import mass_from_file
from rbt_ros.model.shapes import KEYS as SHAPE_KEYS
from rbt_ros.model.stabilise import METHODS as STABILISERS
from rbt_ros.model.stabilise import ORDERS, Stabilise, checked_stabilise, stabilise_obstacle
from rbt_ros.model.unilateral_yaml import with_ropes_of, with_stops_of
from rbt_ros.model.units import UNITS
from rbt_ros.model.urdf_read import BASES, load_urdf
from rbt_ros.model.yaml_parts import attitude, euler, placed, signal
from rbt_ros.paths import as_path, share
from rbt_ros.plug.shapes import SHAPES

Vector = tuple[float, float, float]
KEYS = (
    *("rbt", "robot", "gravity", "attraction", "step", "integrator", "rtol", "atol", "start", "inputs"),
    *("forces", "stabilise"),
    *("duration", "seed", "outputs", "mode", "clock_start", "work_of_inputs"),
)
MODES = ("realtime", "lockstep", "fast")
RATES = {"angle": "angular velocity", "length": "velocity"}  # dimension of a freedom -> of its rate
EFFORTS = {"angle": "torque", "length": "force"}  # -> of its effort
OUTPUT_RATES = {  # [Hz] defaults
    "tf": 100.0,
    "joint_states": 1000.0,
    "odom": 100.0,
    "multi_dof_joint_states": 100.0,
    "markers": 30.0,
    "ropes": 100.0,
    "constraints": 100.0,
    "hinge_wrenches": 0.0,
    "poinsot": 0.0,
}


@dataclass(frozen=True, eq=False)
class Scenario:
    """A checked scenario. `text` is what was read, for bags and for running it again."""

    robot: Robot
    name: str = "scenario"
    gravity: Vector = (0.0, 0.0, 0.0)  # g_W [m/s²]
    attraction: float = 0.0  # mu [m³/s²] of a point mass
    attractor: Vector = (0.0, 0.0, 0.0)  # and its place [m]
    h_ns: int = 1_000_000
    integrator: str = "rk4"
    rtol: float = 1e-10  # of those under error control
    atol: float = 1e-12
    work_of_inputs: bool = False  # integrated beside the state
    stabilise: Stabilise = Stabilise()
    start_bodies: dict[str, BodyStart] = field(default_factory=dict)
    start_hinges: dict[str, HingeStart] = field(default_factory=dict)
    inputs: tuple[PlannedInput | PlannedChange, ...] = ()
    duration_ns: int | None = None  # None: until told to stop
    seed: int = 0
    outputs: dict[str, float] = field(default_factory=lambda: dict(OUTPUT_RATES))  # [Hz]
    mode: str = "realtime"
    clock_start_ns: int = 1_000_000_000
    text: str = ""
    folder: Path | None = None  # where the files that it names are looked for


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
    doc.mapping(*KEYS)
    if isinstance(doc["rbt"].value, bool) or doc["rbt"].value != 1:
        raise doc["rbt"].error(f"is {doc['rbt'].value!r}; this version reads scenarios of format 1: write `rbt: 1`.")
    robot = _robot(doc["robot"], path)
    given: dict[str, Any] = {}
    if "gravity" in doc:
        given["gravity"] = doc["gravity"].vector("acceleration")
    if "attraction" in doc:
        doc["attraction"].mapping("mu", "at")
        given["attraction"] = doc["attraction"]["mu"].number()
        if given["attraction"] < 0:
            raise doc["attraction"]["mu"].error(f"{doc['attraction']['mu'].value} m³/s² is negative; masses attract.")
        if "at" in doc["attraction"]:
            given["attractor"] = doc["attraction"]["at"].vector("length")
    if "step" in doc:
        given["h_ns"] = _positive_time(doc["step"])
    if "integrator" in doc:
        given["integrator"] = _integrator(doc, robot, given.get("attraction", 0.0))
    for key in ("rtol", "atol"):
        if key in doc:
            given[key] = doc[key].number()
            if not 0 < given[key] < 1:
                raise doc[key].error(f"{doc[key].value} must lie between 0 and 1: 1e-10 is usual.")
    if "work_of_inputs" in doc:
        given["work_of_inputs"] = doc["work_of_inputs"].truth()
    if "stabilise" in doc:
        given["stabilise"] = _stabilise(doc["stabilise"], robot, given.get("attraction", 0.0))
    if "start" in doc:
        doc["start"].mapping("bodies", "hinges")
        if "bodies" in doc["start"]:
            given["start_bodies"] = _start_bodies(doc["start"]["bodies"], robot)
        if "hinges" in doc["start"]:
            given["start_hinges"] = _start_hinges(doc["start"]["hinges"], robot)
    if "inputs" in doc:
        given["inputs"] = tuple(_input(entry, robot) for entry in doc["inputs"].entries())
    if "forces" in doc:
        forces = tuple(_force(entry, robot) for entry in doc["forces"].entries())
        given["inputs"] = (*given.get("inputs", ()), *forces)
    if "duration" in doc:
        given["duration_ns"] = _positive_time(doc["duration"])
        _check_ends(doc, given["duration_ns"], given.get("h_ns", Scenario.h_ns), given.get("inputs", ()))
    if "seed" in doc:
        given["seed"] = doc["seed"].integer()
        if given["seed"] < 0:
            raise doc["seed"].error(f"{given['seed']} must be 0 or more.")
    if "outputs" in doc:
        given["outputs"] = {**OUTPUT_RATES, **_outputs(doc["outputs"])}
    if "mode" in doc:
        given["mode"] = doc["mode"].choice(*MODES)
    if "clock_start" in doc:
        given["clock_start_ns"] = _first_stamp(doc["clock_start"])
    return Scenario(robot, name=path.stem, text=text, folder=path.parent.absolute(), **given)


def _check_ends(doc: Item, duration_ns: int, h_ns: int, inputs: Sequence[PlannedInput | PlannedChange]) -> None:
    """A run of no step is an error; an input after its end is worth a warning."""
    if duration_ns < h_ns:
        raise doc["duration"].error(f"{doc['duration'].value} is less than one step of {h_ns * 1e-6:g} ms.")
    items = [item for key in ("inputs", "forces") if key in doc for item in doc[key].entries()]
    for item, planned in zip(items, inputs, strict=True):
        start_ns = planned.from_ns if isinstance(planned, PlannedInput) else planned.at_ns
        if start_ns > duration_ns:
            warnings.warn(
                f"{item.place}: it starts at {start_ns * 1e-9:g} s, and a run ends at {duration_ns * 1e-9:g} s.",
                stacklevel=4,
            )


def _integrator(doc: Item, robot: Robot, attraction: float) -> str:
    """The integrator of the document, checked against its robot and inputs."""
    integrator = doc["integrator"].text()
    try:
        integrator_named(integrator)
    except ScenarioError as err:
        raise doc["integrator"].error(str(err)) from err
    if text := obstacle(integrator, robot, attraction):
        raise doc["integrator"].error(text)
    for key in ("inputs", "forces"):
        if key in doc and doc[key].entries() and (text := no_inputs(integrator)):
            raise doc[key].error(text)
    return integrator


def _stabilise(item: Item, robot: Robot, attraction: float) -> Stabilise:
    """`projection`, or {method: gradient, order: seed, k_e: 1e-6 J, k1: 0.5, k2: 1.5, i0: 0.01}."""
    given: dict[str, Any] = {}
    if isinstance(item.value, dict):
        item.mapping("method", "order", "k_e", "k1", "k2", "i0")
        given = {key: item[key].number() for key in ("k1", "k2", "i0") if key in item}
        if "k_e" in item:
            given["k_e"] = item["k_e"].number("energy")
        if "order" in item:
            given["order"] = item["order"].choice(*ORDERS)
        given["method"] = item["method"].choice(*STABILISERS)
    else:
        given["method"] = item.choice(*STABILISERS)
    try:
        options = checked_stabilise(Stabilise(**given))
    except ScenarioError as err:
        raise item.error(str(err).removeprefix("stabilise: ")) from err
    if options.method != "none" and (text := stabilise_obstacle(robot, attraction)):
        raise item.error(text.removeprefix("stabilise: "))
    return options


def _positive_time(item: Item) -> int:
    ns = item.nanoseconds()
    if ns <= 0:
        raise item.error(f"{item.value} must be longer than nothing.")
    return ns


def _first_stamp(item: Item) -> int:
    ns = _positive_time(item)
    if ns >= STAMP_END_NS:
        raise item.error(f"{item.value} must be less than {STAMP_END_NS // 10**9} s: seconds of a stamp have 32 bits.")
    return ns


def _outputs(item: Item) -> dict[str, float]:
    rates = {}
    for key, rate in item.mapping(*OUTPUT_RATES).items():
        rates[key] = rate.number("frequency")
        if rates[key] < 0:
            raise rate.error(f"{rate.value} Hz is negative; 0 switches the output off.")
    return rates


def _robot(item: Item, path: Path) -> Robot:
    """The robot of `robot: {name:, bodies:, hinges:}`, `robot: {urdf: FILE, base:, stops:}` or
    `robot: {array: l_shape, options: {size: 2}}`; each with constraints:, ropes:."""
    item.mapping("name", "bodies", "hinges", "constraints", "ropes", "urdf", "base", "stops", "array", "options")
    robot = _tree(item, path)
    robot = with_constraints(robot, item["constraints"]) if "constraints" in item else robot
    return with_ropes_of(robot, item["ropes"]) if "ropes" in item else robot


def _tree(item: Item, path: Path) -> Robot:
    if "array" in item:
        item.mapping("array", "options", "constraints", "ropes")
        options = item["options"].mapping().plain() if "options" in item else {}
        return placed(item["array"], array, item["array"].text(), **options)
    if "urdf" in item:
        item.mapping("urdf", "base", "constraints", "ropes", "stops")
        base = item["base"].choice(*BASES) if "base" in item else BASES[0]
        robot = placed(item["urdf"], load_urdf, _urdf_file(item["urdf"].text(), path.parent), base)
        return with_stops_of(robot, item["stops"]) if "stops" in item else robot
    if "base" in item:
        raise item["base"].error("goes with a urdf only; a body that no hinge carries floats.")
    if "stops" in item:
        raise item["stops"].error("goes with a urdf only; give stop_restitution of the hinge instead.")
    if "name" not in item and not NAME.fullmatch(path.stem):
        raise item.error(f"'name' is missing, and ROS cannot carry that of the file, '{path.stem}'; give it a name.")
    builder = placed(item["name"], RobotBuilder, item["name"].text()) if "name" in item else RobotBuilder(path.stem)
    for body, spec in item["bodies"].mapping().items():
        _add_body(builder, body, spec, path.parent)
    if "hinges" in item:
        for hinge, spec in item["hinges"].mapping().items():
            _add_hinge(builder, hinge, spec)
    try:
        return builder.build()
    except ModelError as err:
        section, name = err.about or ("", "")
        place = item[section][name] if section in item and name in item[section] else item
        raise place.error(str(err)) from err


def _urdf_file(name: str, folder: Path) -> Path:
    """Where the URDF `name` is: beside the scenario, among the package's own, else as given."""
    for file in (folder / Path(name).expanduser(), share("urdf", name)):
        if os.path.isfile(file):
            return file
    return Path(name)


def _add_body(builder: RobotBuilder, name: str, spec: Item, folder: Path) -> None:
    spec.mapping("mass", "inertia", "com", "shapes")
    shapes = []
    for shape in spec["shapes"].entries() if "shapes" in spec else []:
        shape.mapping(*SHAPE_KEYS)
        looks = {key: item.plain() for key, item in shape.items() if key not in ("size", "at")}
        if "size" in shape:
            looks["size"] = _size(shape)
        if "at" in shape:
            looks["at"] = shape["at"].vector("length")
        shapes.append(looks)
    if isinstance(spec["mass"].value, dict):
        given = mass_from_file(spec, folder)
    else:
        given = {"mass": spec["mass"].number("mass"), "inertia": _inertia(spec["inertia"])}
        given["com"] = spec["com"].vector("length") if "com" in spec else (0.0, 0.0, 0.0)
    placed(spec, builder.body, name, shapes=shapes, **given)


def _size(shape: Item) -> tuple[float, ...]:
    """The numbers of a shape, each of its own dimension."""
    kind = placed(shape["kind"], SHAPES.find, shape["kind"].text())
    given = shape["size"].entries() if isinstance(shape["size"].value, list) else [shape["size"]]
    for name, dimension in kind.numbers.items():
        if dimension not in UNITS:
            raise shape["kind"].error(f"its {name} has the dimension '{dimension}'; there are {', '.join(UNITS)}.")
    dimensions = [*kind.numbers.values(), *["plain number"] * len(given)]  # too many of them are refused later
    return tuple(item.number(dimension) for item, dimension in zip(given, dimensions, strict=False))


def _inertia(item: Item) -> list:
    """3 principal moments or 3 rows of 3."""
    rows = item.entries()
    if rows and isinstance(rows[0].value, list):
        return [row.vector("inertia") for row in rows]
    return [row.number("inertia") for row in rows]


def _add_hinge(builder: RobotBuilder, name: str, spec: Item) -> None:
    spec.mapping(
        *("kind", "parent", "child", "at", "axis", "axis2", "pitch", "rotation", "limits"),
        *("stiffness", "rest", "damping", "friction", "creep", "internal_friction", "stop_restitution"),
    )
    given: dict[str, Any] = {}
    if "at" in spec:
        given["at"] = spec["at"].vector("length")
    for key in ("axis", "axis2"):
        if key in spec:
            given[key] = spec[key].vector("plain number")
    if "pitch" in spec:
        given["pitch"] = spec["pitch"].number("length")
    if "rotation" in spec:
        given["rotation"] = attitude(spec["rotation"])
    kind, parent, child = (spec[key].text() for key in ("kind", "parent", "child"))
    freedoms = freedom_dimensions(JointKind[kind.upper()]) if kind.upper() in JointKind.__members__ else ()
    if "limits" in spec:
        given["limits"] = _limits(spec["limits"], freedoms)
    alike = freedoms[0] if len(set(freedoms)) == 1 else ""  # where angles and lengths share a number it has no unit
    units = {"rest": alike, "friction": EFFORTS.get(alike, ""), "creep": RATES.get(alike, "")}
    for key in ("stiffness", "rest", "damping", "friction", "creep", "internal_friction", "stop_restitution"):
        if key in spec:
            given[key] = spec[key].number(units.get(key) or "plain number")
    placed(spec, builder.hinge, name, kind, parent=parent, child=child, **given)


def _limits(item: Item, dimensions: Sequence[str]) -> Any:
    """[lower, upper], or one such pair per freedom, in SI; what has another shape is left to the builder to refuse."""
    entries = item.entries()
    if len(dimensions) == 1 and not any(isinstance(entry.value, list) for entry in entries):
        return [_bound(entry, dimensions[0]) for entry in entries]
    if len(entries) == len(dimensions) and all(isinstance(entry.value, list) for entry in entries):
        pairs = zip(entries, dimensions, strict=True)
        return [[_bound(bound, dimension) for bound in pair.entries()] for pair, dimension in pairs]
    return item.plain()


def _bound(item: Item, dimension: str) -> float:
    """A limit; infinite where there is none."""
    return float(item.value) if item.value in (math.inf, -math.inf) else item.number(dimension)


def _start_bodies(item: Item, robot: Robot) -> dict[str, BodyStart]:
    starts = {}
    for name, spec in item.mapping().items():
        spec.mapping("position", "quaternion", "euler", "velocity", "omega_body")
        given = _attitude_keys(spec)
        for key, unit in (("position", "length"), ("velocity", "velocity"), ("omega_body", "angular velocity")):
            if key in spec:
                given[key] = spec[key].vector(unit)
        starts[name] = BodyStart(**given)  # type: ignore[arg-type]
        placed(spec, put_body, robot, neutral(robot), name, starts[name])
    return starts


def _start_hinges(item: Item, robot: Robot) -> dict[str, HingeStart]:
    starts = {}
    for name, spec in item.mapping().items():
        kind = robot.hinges[placed(spec, robot.hinge_index, name)].kind
        spec.mapping("angle", "position", "rate", "quaternion", "euler", "omega")
        given = _attitude_keys(spec)
        lengths = freedom_dimensions(kind)
        if "angle" in spec:
            given["position"] = spec["angle"].number("angle")
        if "position" in spec:
            given["position"] = _per_freedom(spec["position"], lengths)
        if "rate" in spec:
            given["rate"] = _per_freedom(spec["rate"], [RATES[dimension] for dimension in lengths])
        if "omega" in spec:
            given["omega"] = spec["omega"].vector("angular velocity")
        starts[name] = HingeStart(**given)  # type: ignore[arg-type]
        placed(spec, put_hinge, robot, neutral(robot), name, starts[name])
    return starts


def _per_freedom(item: Item, dimensions: Sequence[str]) -> tuple[float, ...]:
    """One number per freedom; a hinge of one freedom needs no list."""
    entries = item.entries() if isinstance(item.value, list) else [item]
    if len(entries) != len(dimensions):
        raise item.error(f"takes {len(dimensions)} numbers, one per freedom of the hinge, not {len(entries)}.")
    return tuple(entry.number(dimension) for entry, dimension in zip(entries, dimensions, strict=True))


def _attitude_keys(spec: Item) -> dict[str, object]:
    if "quaternion" in spec and "euler" in spec:
        raise spec["euler"].error("quaternion and euler both give the attitude; keep one.")
    if "quaternion" in spec:
        return {"quaternion": attitude(spec["quaternion"])}
    return {"quaternion": euler(spec["euler"])} if "euler" in spec else {}


def _input(item: Item, robot: Robot) -> PlannedInput | PlannedChange:
    if isinstance(item.value, dict) and any(word in item for word in CHANGES):
        return planned_change(item, robot)
    item.mapping("wrench", "hinge", "force", "moment", "effort", "frame", "at", "from", "to", "signal")
    if ("wrench" in item) == ("hinge" in item):
        raise item.error(
            "an input names what it acts on: either wrench: BODY or hinge: HINGE; or says what "
            f"changes: {', '.join(CHANGES)}."
        )
    what = _wrench(item, robot) if "wrench" in item else _effort(item, robot)
    return PlannedInput(what, signal(item["signal"]) if "signal" in item else None, *_span(item))


def _force(item: Item, robot: Robot) -> PlannedInput:
    force = scenario_force(item, robot)
    return PlannedInput(force, signal(item["signal"]) if "signal" in item else None, *_span(item))


def _span(item: Item) -> tuple[int, int | None]:
    """From and to [ns]."""
    from_ns = item["from"].nanoseconds() if "from" in item else 0
    to_ns = item["to"].nanoseconds() if "to" in item else None
    if (to_ns is not None and to_ns <= from_ns) or from_ns < 0:
        span = f"from {from_ns * 1e-9:g} s to {(to_ns or math.inf) * 1e-9:g} s"
        raise item.error(f"it acts {span}; it must start at 0 s or later and end after it starts.")
    return from_ns, to_ns


def _effort(item: Item, robot: Robot) -> Effort:
    item.mapping("hinge", "effort", "from", "to", "signal")
    hinge = item["hinge"].text()
    kind = robot.hinges[placed(item["hinge"], robot.hinge_index, hinge)].kind
    dimensions = freedom_dimensions(kind) or ("angle",) * 3
    return Effort(hinge, _per_freedom(item["effort"], [EFFORTS[dimension] for dimension in dimensions]))


def _wrench(item: Item, robot: Robot) -> Wrench:
    item.mapping("wrench", "force", "moment", "frame", "at", "from", "to", "signal")
    body = item["wrench"].text()
    placed(item["wrench"], robot.body_index, body)
    given: dict[str, Any] = {}
    for key, unit in (("force", "force"), ("moment", "torque")):
        if key in item:
            given[key] = item[key].vector(unit)
    if not given:
        raise item.error("a wrench needs a force or a moment: force: [0, 0, 1].")
    if "frame" in item:
        frame = item["frame"].text()
        if frame not in ("world", "body", body):
            raise item["frame"].error(
                f"'{frame}' is no frame for this wrench; use world, or body for the axes of {body}."
            )
        given["frame"] = "world" if frame == "world" else "body"
    if "at" in item:
        given["at"] = item["at"].choice("com", "origin")
    return Wrench(body, **given)
