"""The launch files: what they name exists, and where ROS's launch is installed, they run."""

import importlib
import re
import signal
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from nav_msgs.msg import Odometry
from ruamel.yaml import YAML

import rbt_ros as rbt
from rbt_ros.paths import share
from rbt_ros.ros.parameters import parameter_table
from rbt_ros.rviz import rviz_text

LAUNCH_FILE = share("launch", "simulator.launch.py")
SCENARIOS = sorted(file.stem for file in share("config").glob("*.yaml"))
OTHERS = {"params_file", "namespace", "rviz", "rviz_folder"}  # arguments that are no parameters of the node
RENAMED = {"rate": "realtime_factor"}  # argument -> parameter
EXECUTABLES = {"rbt_simulator": "rbt_ros.cli:simulator"}  # the entry points of setup.py that a launch file may name


class Recorded:
    """Stands for a class of the launch API: remembers with what it was made."""

    made: list["Recorded"] = []

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs
        Recorded.made.append(self)


@pytest.fixture
def recording(monkeypatch, tmp_path):
    """Instead of ROS's launch: an API that only records."""
    names = {
        "launch": ["LaunchDescription"],
        "launch.actions": ["DeclareLaunchArgument", "IncludeLaunchDescription", "LogInfo", "OpaqueFunction"],
        "launch.conditions": ["IfCondition"],
        "launch.launch_description_sources": ["PythonLaunchDescriptionSource"],
        "launch.logging": [],
        "launch.substitutions": ["LaunchConfiguration"],
        "launch_ros": [],
        "launch_ros.actions": ["Node"],
        "launch_ros.parameter_descriptions": ["ParameterValue"],
    }
    for module, classes in names.items():
        fake = types.ModuleType(module)
        for name in classes:
            setattr(fake, name, type(name, (Recorded,), {}))
        monkeypatch.setitem(sys.modules, module, fake)
    monkeypatch.setattr(Recorded, "made", [])
    config = types.SimpleNamespace(log_dir=str(tmp_path))
    monkeypatch.setattr(sys.modules["launch.logging"], "launch_config", config, raising=False)
    perform = lambda self, context: context[self.args[0]]  # noqa: E731
    monkeypatch.setattr(sys.modules["launch.substitutions"].LaunchConfiguration, "perform", perform, raising=False)


def description(file):
    """What generate_launch_description of a file makes."""
    space: dict = {"__file__": str(file)}
    exec(compile(file.read_text(encoding="utf-8"), file, "exec"), space)
    return space["generate_launch_description"]()


@pytest.fixture
def described(recording):
    return description(LAUNCH_FILE)


def of(kind: str) -> list[Recorded]:
    return [made for made in Recorded.made if type(made).__name__ == kind]


def node_of(described, **given) -> Recorded:
    """The node that is started with these arguments."""
    simulator = described.args[0][-2]
    defaults = {argument.args[0]: argument.kwargs["default_value"] for argument in of("DeclareLaunchArgument")}
    (node,) = simulator.kwargs["function"]({**defaults, **given})
    return node


def test_the_launch_file_names_what_exists(described):
    node = node_of(described)
    assert node.kwargs["package"] == ET.parse(share("package.xml")).find("name").text
    module, _, function = EXECUTABLES[node.kwargs["executable"]].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    beside = described.args[0][-1]
    assert isinstance(beside.kwargs["condition"], Recorded)


def test_parameters_are_those_that_are_given_and_come_before_those_of_the_file(described):
    """What is not given is left to the file, and to the scenario: a default would override both."""
    assert node_of(described).kwargs["parameters"] == []
    assert node_of(described, params_file="own.yaml").kwargs["parameters"] == ["own.yaml"]
    table = {entry.name: entry for entry in parameter_table(rbt.load("cubesat"))}
    kinds = {"scenario": str, **{name: type(entry.default) for name, entry in table.items()}}
    words = {str: "1", bool: "True", float: "2"}
    names = [argument.args[0] for argument in of("DeclareLaunchArgument")]
    everything = {name: words[kinds.get(RENAMED.get(name, name), str)] for name in names}
    file, parameters = node_of(described, **everything).kwargs["parameters"]
    assert file == "1"
    assert {RENAMED.get(name, name) for name in everything} - set(parameters) == OTHERS
    for name, value in parameters.items():
        is_text = isinstance(value, Recorded) and value.kwargs == {"value_type": str}
        assert is_text if kinds[name] is str else type(value) is kinds[name]
    with pytest.raises(ValueError, match="'1' is neither true nor false"):
        node_of(described, record="1")


def displays_of(beside, **given):
    """The .rviz file with which RViz is started."""
    defaults = {argument.args[0]: argument.kwargs["default_value"] for argument in of("DeclareLaunchArgument")}
    (rviz,) = beside.kwargs["function"]({**defaults, "scenario": "wheel", **given})
    assert (rviz.kwargs["package"], rviz.kwargs["executable"]) == ("rviz2", "rviz2")
    option, file = rviz.kwargs["arguments"]
    assert option == "-d"
    return Path(file)


def test_rviz_shows_what_is_made_for_the_scenario_and_its_frame_prefix(described, tmp_path):
    """Every frame in the file bears the prefix, not the fixed one alone."""
    beside = described.args[0][-1]
    assert displays_of(beside).read_text(encoding="utf-8") == rviz_text(rbt.load("wheel"))
    assert displays_of(beside, frame_prefix="a/").read_text(encoding="utf-8") == rviz_text(rbt.load("wheel"), "a/")
    mine = tmp_path / "mine.yaml"
    mine.write_text(share("config", "wheel.yaml").read_text(encoding="utf-8"), encoding="utf-8")
    assert displays_of(beside, scenario=str(mine)).is_file()
    declared = {each.text for each in ET.parse(share("package.xml")).findall("exec_depend")}
    assert {node.kwargs["package"] for node in of("Node")} <= declared | {"rbt_ros"}


def test_rviz_shows_what_only_the_file_of_parameters_says(described, tmp_path):
    """By the rules of rcl: `*` is a part of a name, `**` any number, nested or not; later ones win. Arguments win."""
    beside, file = described.args[0][-1], tmp_path / "parameters.yaml"
    own = "rbt_simulator"
    names_and_spaces = [("/**", ""), (own, ""), ("/" + own, "/"), ("/*/" + own, "a"), (f"/a/b/{own}", "/a/b")]
    for names, space in [*names_and_spaces, ("/a/**", "a/b")]:
        no = {"ros__parameters": {"scenario": "no"}}
        tree = {"/**": no, names: {}, "/other": no, "/rbt": no, "/a/b": no} | {
            names: {"ros__parameters": {"scenario": "l_shape", "frame_prefix": "b/"}}
        }
        with file.open("w", encoding="utf-8") as stream:
            YAML().dump(tree, stream)
        given = {"params_file": str(file), "namespace": space, "scenario": ""}
        shown = displays_of(beside, **given)
        assert shown.read_text(encoding="utf-8") == rviz_text(rbt.load("l_shape"), "b/"), names
    file.write_text("a: {rbt_simulator: {ros__parameters: {frame_prefix: c/}}}\n", encoding="utf-8")
    prefixed = displays_of(beside, params_file=str(file), namespace="a", scenario="wheel")
    assert prefixed.read_text(encoding="utf-8") == rviz_text(rbt.load("wheel"), "c/")
    nearer = displays_of(beside, params_file=str(file), namespace="a", scenario="wheel", frame_prefix="d/")
    assert nearer.read_text(encoding="utf-8") == rviz_text(rbt.load("wheel"), "d/")


def test_rviz_shows_your_own_file_where_you_name_its_folder(described):
    beside = described.args[0][-1]
    folder = str(share("rviz"))
    assert displays_of(beside, scenario="/path/wheel.yaml", rviz_folder=folder) == share("rviz", "wheel.rviz")
    with pytest.raises(FileNotFoundError, match=r"x\.rviz is not there: leave rviz_folder out"):
        displays_of(beside, scenario="/path/x.yaml", rviz_folder=folder)


def test_every_launch_argument_is_declared_used_and_has_a_default_that_is_right(described):
    declared = {argument.args[0]: argument.kwargs for argument in of("DeclareLaunchArgument")}
    node_of(described)
    displays_of(described.args[0][-1])
    assert {configuration.args[0] for configuration in of("LaunchConfiguration")} == set(declared)
    assert all(len(kwargs["description"]) > 10 for kwargs in declared.values())
    table = {entry.name: entry for entry in parameter_table(rbt.load("cubesat"))}
    told = {name: re.search(r"\((.+?)\)", kwargs["description"]) for name, kwargs in declared.items()}
    for name, parameter in {"record": "record", "publish_clock": "publish_clock", "view": "view"}.items():
        assert told[name][1] == str(table[parameter].default).lower()
    assert float(told["rate"][1]) == table["realtime_factor"].default
    assert {f"{name}.rviz" for name in SCENARIOS} == {file.name for file in share("rviz").iterdir()}


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_has_a_launch_file_that_includes_the_one(recording, name):
    description(share("launch", f"{name}.launch.py"))
    (include,), (source,) = of("IncludeLaunchDescription"), of("PythonLaunchDescriptionSource")
    assert include.args == (source,) and source.args == (str(LAUNCH_FILE),)
    assert include.kwargs["launch_arguments"] == [("scenario", name)]


def test_the_launch_file_of_ros2_control_starts_all_that_it_needs(recording):
    described = description(share("launch", "ros2_control.launch.py"))
    (include,), (control,) = of("IncludeLaunchDescription"), of("OpaqueFunction")
    assert include.args[0].args == (str(LAUNCH_FILE),)
    assert dict(include.kwargs["launch_arguments"]).keys() == {"scenario", "params_file"}
    given = {argument.args[0]: argument.kwargs["default_value"] for argument in of("DeclareLaunchArgument")}
    nodes = {node.kwargs["executable"]: node.kwargs for node in control.kwargs["function"](given)}
    assert list(nodes) == ["robot_state_publisher", "ros2_control_node", "spawner"]
    (robot,) = nodes["robot_state_publisher"]["parameters"]
    assert "<ros2_control " in robot["robot_description"].args[0]
    assert robot["robot_description"].kwargs == {"value_type": str}
    assert nodes["ros2_control_node"]["parameters"] == [given["params_file"]]
    settings = YAML(typ="safe").load(Path(given["params_file"]).read_text(encoding="utf-8"))
    assert (
        given["controllers"]
        in settings[f"/{nodes['ros2_control_node']['namespace']}/controller_manager"]["ros__parameters"]
    )
    assert rbt.load(given["scenario"]).name == "wheel"
    assert described.args[0][-2] is control


def test_the_file_runs_in_ros_launch(ros):
    """For real, where ROS's `launch` is importable; PyPI's package of that name is another one."""
    try:
        found = hasattr(importlib.import_module("launch"), "LaunchDescription")
        importlib.import_module("launch_ros.actions")
        importlib.import_module("ros2launch")
    except ImportError:
        found = False
    if not found:
        pytest.skip("this system lacks ROS's launch, launch_ros and ros2launch (apt: ros-jazzy-ros2launch)")
    child = ros.run("ros2", "launch", LAUNCH_FILE, "namespace:=a", "frame_prefix:=a/")
    peer = ros.peer()
    odom = peer.listen(Odometry, "/a/odom")
    peer.until(lambda: odom, "odom of the launched node", child)
    assert odom[0].header.frame_id == "a/world"
    assert child.stop(signal.SIGINT) == 0
