"""The launch files: what they name exists, and where ROS's launch is installed, they run."""

import importlib
import signal
import sys
import types
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from nav_msgs.msg import Odometry

import rbt_ros as rbt
from rbt_ros.paths import share
from rbt_ros.ros.parameters import parameter_table

LAUNCH_FILE = share("launch", "simulator.launch.py")
SCENARIOS = sorted(file.stem for file in share("config").glob("*.yaml"))
RENAMED = {"rate": "realtime_factor"}  # argument -> parameter
EXECUTABLES = {"rbt_simulator": "rbt_ros.cli:simulator"}  # the entry points of setup.py that a launch file may name


class Recorded:
    """Stands for a class of the launch API: remembers with what it was made."""

    made: list["Recorded"] = []

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs
        Recorded.made.append(self)


@pytest.fixture
def recording(monkeypatch):
    """Instead of ROS's launch: an API that only records."""
    names = {
        "launch": ["LaunchDescription"],
        "launch.actions": ["DeclareLaunchArgument", "IncludeLaunchDescription", "OpaqueFunction"],
        "launch.conditions": ["IfCondition"],
        "launch.launch_description_sources": ["PythonLaunchDescriptionSource"],
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


def test_the_launch_file_names_what_exists(described):
    (node,), (beside,) = of("Node"), of("OpaqueFunction")
    assert node.kwargs["package"] == ET.parse(share("package.xml")).find("name").text
    module, _, function = EXECUTABLES[node.kwargs["executable"]].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    (parameters,) = node.kwargs["parameters"]
    table = {entry.name: entry for entry in parameter_table(rbt.load("cubesat"))}
    kinds = {name: value.kwargs["value_type"] for name, value in parameters.items()}
    used = {value.args[0].args[0] for value in parameters.values()}
    assert {RENAMED.get(name, name) for name in used} == set(parameters)
    assert kinds == {name: str if name == "scenario" else type(table[name].default) for name in parameters}
    assert described.args[0][-2:] == [node, beside]
    assert isinstance(beside.kwargs["condition"], Recorded)


@pytest.mark.parametrize("scenario", ["wheel", "/path/wheel.yaml"])
def test_rviz_shows_the_displays_of_the_scenario_by_its_name(described, scenario):
    (beside,) = of("OpaqueFunction")
    context = {"scenario": scenario, "rviz_folder": str(share("rviz"))}
    (rviz,) = beside.kwargs["function"](context, *beside.kwargs["args"])
    assert (rviz.kwargs["package"], rviz.kwargs["executable"]) == ("rviz2", "rviz2")
    assert rviz.kwargs["arguments"][:2] == ["-d", str(share("rviz", "wheel.rviz"))]
    declared = {each.text for each in ET.parse(share("package.xml")).findall("exec_depend")}
    assert {node.kwargs["package"] for node in of("Node")} <= declared | {"rbt_ros"}
    with pytest.raises(FileNotFoundError, match=r"x\.rviz is not there: .* or use rbt node /path/x\.yaml --rviz"):
        beside.kwargs["function"]({**context, "scenario": "/path/x.yaml"}, *beside.kwargs["args"])


def test_every_launch_argument_is_declared_used_and_has_a_default_that_is_right(described):
    declared = {argument.args[0]: argument.kwargs for argument in of("DeclareLaunchArgument")}
    assert {configuration.args[0] for configuration in of("LaunchConfiguration")} == set(declared)
    assert all(len(kwargs["description"]) > 10 for kwargs in declared.values())
    assert rbt.load(declared["scenario"]["default_value"]).name == "cubesat"
    table = {entry.name: entry for entry in parameter_table(rbt.load("cubesat"))}
    assert declared["publish_clock"]["default_value"] == str(table["publish_clock"].default).lower()
    assert declared["frame_prefix"]["default_value"] == table["frame_prefix"].default
    assert declared["mode"]["default_value"] in table["mode"].choices
    assert float(declared["rate"]["default_value"]) == table["realtime_factor"].default
    assert {f"{name}.rviz" for name in SCENARIOS} == {
        file.name for file in Path(declared["rviz_folder"]["default_value"]).iterdir()
    }


@pytest.mark.parametrize("name", SCENARIOS)
def test_each_scenario_has_a_launch_file_that_includes_the_one(recording, name):
    description(share("launch", f"{name}.launch.py"))
    (include,), (source,) = of("IncludeLaunchDescription"), of("PythonLaunchDescriptionSource")
    assert include.args == (source,) and source.args == (str(LAUNCH_FILE),)
    assert include.kwargs["launch_arguments"] == [("scenario", name)]


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
