"""The launch file: what it names exists, and where ROS's launch is installed, it runs."""

import importlib
import signal
import sys
import types
import xml.etree.ElementTree as ET

import pytest
from nav_msgs.msg import Odometry

import rbt_ros as rbt
from rbt_ros.paths import share
from rbt_ros.ros.parameters import parameter_table

LAUNCH_FILE = share("launch", "simulator.launch.py")
EXECUTABLES = {"rbt_simulator": "rbt_ros.cli:simulator"}  # the entry points of setup.py that a launch file may name


class Recorded:
    """Stands for a class of the launch API: remembers with what it was made."""

    made: list["Recorded"] = []

    def __init__(self, *args, **kwargs):
        self.args, self.kwargs = args, kwargs
        Recorded.made.append(self)


@pytest.fixture
def described(monkeypatch):
    """What generate_launch_description makes of a launch API that only records."""
    names = {
        "launch": ["LaunchDescription"],
        "launch.actions": ["DeclareLaunchArgument"],
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
    space: dict = {}
    exec(compile(LAUNCH_FILE.read_text(encoding="utf-8"), LAUNCH_FILE, "exec"), space)
    return space["generate_launch_description"]()


def of(kind: str) -> list[Recorded]:
    return [made for made in Recorded.made if type(made).__name__ == kind]


def test_the_launch_file_names_what_exists(described):
    (node,) = of("Node")
    assert node.kwargs["package"] == ET.parse(share("package.xml")).find("name").text
    module, _, function = EXECUTABLES[node.kwargs["executable"]].partition(":")
    assert callable(getattr(importlib.import_module(module), function))
    (parameters,) = node.kwargs["parameters"]
    table = {entry.name: entry for entry in parameter_table(rbt.load("cubesat"))}
    kinds = {name: value.kwargs["value_type"] for name, value in parameters.items()}
    assert kinds == {name: str if name == "scenario" else type(table[name].default) for name in parameters}
    assert described.args[0][-1] is node


def test_every_launch_argument_is_declared_used_and_has_a_default_that_is_right(described):
    declared = {argument.args[0]: argument.kwargs for argument in of("DeclareLaunchArgument")}
    assert {configuration.args[0] for configuration in of("LaunchConfiguration")} == set(declared)
    assert all(len(kwargs["description"]) > 10 for kwargs in declared.values())
    assert rbt.load(declared["scenario"]["default_value"]).name == "cubesat"
    table = {entry.name: entry for entry in parameter_table(rbt.load("cubesat"))}
    assert declared["publish_clock"]["default_value"] == str(table["publish_clock"].default).lower()
    assert declared["frame_prefix"]["default_value"] == table["frame_prefix"].default


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
