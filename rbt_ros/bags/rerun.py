"""A run again: a fresh simulation, driven by what a bag says that acted, each from its tick on."""

import io
import itertools
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from rbt_ros.bags.bag import Bag
from rbt_ros.bags.log import Event, Settings, events
from rbt_ros.bags.table import JOINTS, ODOMETRY
from rbt_ros.errors import ChangeError, MessageError, ScenarioError, SolveError
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import Scenario, read_scenario, scenario_from_text
from rbt_ros.sim import Simulation

SECOND_NS = 1_000_000_000


class Rerun:
    """`go(stamp)` takes `sim` to that stamp of the bag, with the inputs of the bag."""

    def __init__(
        self,
        bag: Bag,
        scenario: str | None = None,
        changes: dict[str, str] | None = None,
        *,
        what_if: bool = False,
    ):
        """scenario: a file in place of the bag's own; changes: YAML values by their path, as {"step": "2 ms"}.

        what_if: it need not be the run of the bag; begin at the start of the scenario, take what can be taken.
        """
        self.bag, self.told = bag, list[str]()
        runs = bag.runs()
        self._what_if = what_if or bool(changes)
        self.scenario = changed_scenario(bag, runs, scenario, changes or {})
        self.sim = Simulation.of(self.scenario)
        if lacking := check_names(bag, self.sim.robot, some=what_if and not runs):
            self.told.append(f"{bag.path} does not tell of {', '.join(lacking)}: simulated, and compared with nothing.")
        if not runs:
            runs = [_assumed(bag, self.scenario)]
        self.node, self.prefix = runs[0]["node"], runs[0]["frame_prefix"]
        self._settings = Settings(runs[0]["wrench_at"], runs[0]["wrench_hold"], self.prefix)
        by_stamp = runs[0].get("by_stamp", False)  # of a bag that others recorded: their times are no stamps
        self._events = events(bag, self.sim.robot, self.node, by_stamp)
        self._next_event = next(self._events, None)
        self._runs = [{**run, "time_ns": run["stamp"] - 1} for run in runs] if by_stamp else runs
        self._begin(self._runs.pop(0))

    def _begin(self, run: dict[str, Any]) -> None:
        """Go on from what the bag says that runs from a stamp on."""
        self._settings.at, self._settings.hold_ns = run["wrench_at"], round(run["wrench_hold"] * 1e9)
        memory, sim = run.get("memory"), self.sim
        if memory and not self._what_if:
            try:
                sim.recall(memory)
            except ScenarioError as err:
                raise ScenarioError(f"{self.bag.path} cannot be run again from its scenario: {err}") from err
        elif run["tick"] != 0:
            why = run.get("obstacle") or "its state is missing"
            why = "what if needs one that begins at t = 0" if self._what_if else why
            raise ScenarioError(f"{self.bag.path} cannot be run again from {run['stamp'] * 1e-9:.9g} s: {why}.")
        else:
            sim.reset()
        self.zero_ns = run["stamp"] - sim.t_ns
        if (digest := run.get("digest")) and not self._what_if and sim.digest() != digest:
            raise ScenarioError(
                f"{self.bag.path}: the run began with digest {digest}, and its scenario gives {sim.digest()}: was "
                "something set before it was recorded, which a bag cannot hold yet where there are ropes, stops, locks?"
            )

    def go(self, stamp: int) -> None:
        """Take the simulation to that stamp; what acts from it on does not act yet."""
        while True:
            event = self._next_event
            run = self._runs[0] if self._runs else None
            if run and run["time_ns"] <= stamp and (event is None or run["time_ns"] < event.time_ns):
                self._begin(self._runs.pop(0))
            elif event and event.stamp < stamp:
                self._do(event)
                self._next_event = next(self._events, None)
            else:
                break
        self._advance_to(stamp)

    def _do(self, event: Event) -> None:
        self._advance_to(event.stamp)
        try:
            event.act(self.sim, self._settings)
        except (MessageError, ScenarioError) as err:
            if not self._what_if:
                raise
            self.told.append(f"{event.what} is not taken: {err}")

    def _advance_to(self, stamp: int) -> None:
        """Commands that break the state are dropped, as the node does."""
        end = (stamp - self.zero_ns - self.sim.t_ns) // self.sim.h_ns + self.sim.tick
        while self.sim.tick < end:
            try:
                self.sim.advance(end - self.sim.tick)
            except SolveError as err:
                if isinstance(err, ChangeError) or not self.sim.drop_commands():
                    raise
                self.told.append(f"the commands that act were cancelled: {err}")

    @property
    def stamp(self) -> int:
        """Where the simulation is."""
        return self.zero_ns + self.sim.t_ns


def changed_scenario(bag: Bag, runs: list[dict[str, Any]], name: str | None, changes: dict[str, str]) -> Scenario:
    """The scenario of a bag, or of a file, with other values at some paths."""
    if name:
        scenario = read_scenario(name)
    elif runs and runs[0]["scenario"]:
        file = Path(runs[0]["folder"]) / f"{runs[0]['name']}.yaml"
        try:
            scenario = scenario_from_text(runs[0]["scenario"], str(file))
        except Exception as err:
            raise ScenarioError(f"the scenario in {bag.path} cannot be read: {err} Give it: --scenario FILE") from err
    else:
        why = "was recorded from a simulation made in Python" if runs else "was not recorded by rbt"
        raise ScenarioError(f"{bag.path} {why} and holds no scenario; give it: --scenario FILE")
    if not changes:
        return scenario
    yaml = YAML(typ="rt")
    document = yaml.load(scenario.text)
    for path, value in changes.items():
        _put(document, path, _value(path, value))
    text = io.StringIO()
    yaml.dump(document, text)
    return scenario_from_text(text.getvalue(), str((scenario.folder or Path()) / f"{scenario.name}.yaml"))


def _value(path: str, text: str) -> Any:
    try:
        return YAML(typ="safe").load(text)
    except YAMLError as err:
        raise ScenarioError(f"{path}={text:.60}: the value is no YAML; quote what holds brackets or colons.") from err


def _put(document: Any, path: str, value: Any) -> None:
    *above, last = path.split(".")
    for key in above:
        if not isinstance(document, dict):
            break
        document = document.setdefault(key, {})
    if not isinstance(document, dict):
        raise ScenarioError(f"'{path}' names no value of the scenario; write its keys with dots: robot.bodies.hub.mass")
    document[last] = value


def check_names(bag: Bag, robot: Robot, *, some: bool = False) -> list[str]:
    """ScenarioError with the differences where the bag is of another robot, by the names of its joints and bodies.

    some: joints may be missing, as where not each has an encoder; which are.
    """
    joints = _names(bag, "joint_states", JOINTS, r"name\[\d+\]")
    frames = _names(bag, "tf", "tf2_msgs/msg/TFMessage", r"transforms\[\d+\]\.child_frame_id")
    known = {body.name for body in robot.bodies} | {
        single.frame for hinge in robot.hinges for single in hinge.single_axes
    }
    for what, found, own in (("joints", joints, set(robot.joint_names)), ("frames", frames, known)):
        strange = {name for name in found if name not in own and name.rpartition("/")[2] not in own}
        missing = own - found if what == "joints" and found else set()
        if strange:
            raise ScenarioError(
                f"{what} {', '.join(sorted(strange))} of the bag are not those of robot '{robot.name}'"
                + (f", whose {', '.join(sorted(missing))} it lacks" if missing else "")
                + "; it is the bag of another robot."
            )
        if missing and not some:
            lacking = ", ".join(sorted(missing))
            text = f"the bag lacks joints {lacking} of robot '{robot.name}'; it is the bag of another robot."
            raise ScenarioError(text)
    return sorted(set(robot.joint_names) - joints) if joints else []


def _names(bag: Bag, topic: str, kind: str, pattern: str) -> set[str]:
    try:
        found = bag.topic(topic, kind)
    except MessageError:
        return set()
    if not found.t_ns:
        return set()
    wanted = re.compile(pattern).fullmatch
    parts = (part.texts for part in bag.parts(found.name))
    return {name for texts in parts for path, names in texts.items() if wanted(path) for name in names if name}


def first_stamp(bag: Bag, otherwise: int) -> int:
    """When measuring of joints or bodies began: t = 0 of a bag that no simulator recorded."""
    found = [name for name, topic in bag.topics.items() if topic.type == ODOMETRY and topic.t_ns]
    try:
        found.append(bag.topic("joint_states", JOINTS).name)
    except MessageError:
        pass  # none, or of several robots
    firsts = [part.stamps["header.stamp"][0] for name in found for part in itertools.islice(bag.parts(name, most=1), 1)]
    return int(min(firsts, default=otherwise))


def _assumed(bag: Bag, scenario: Scenario) -> dict[str, Any]:
    """What runs in a bag that `ros2 bag record` made of our node: the scenario from its start."""
    nodes = {name.partition("/latched/")[0] for name in bag.topics if "/latched/" in name}
    if len(nodes) > 1:
        raise ScenarioError(f"{bag.path} holds command logs of several nodes: {', '.join(sorted(nodes))}.")
    return {
        "node": next(iter(nodes), "/rbt_simulator"),
        "by_stamp": True,
        "stamp": scenario.clock_start_ns if nodes else first_stamp(bag, scenario.clock_start_ns),
        "tick": 0,
        "frame_prefix": "",
        "wrench_at": "origin",
        "wrench_hold": 0.1,
    }
