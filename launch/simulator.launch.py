"""Start the simulator: ros2 launch rbt_ros simulator.launch.py scenario:=cubesat namespace:=a frame_prefix:=a/

Each shipped scenario has a launch file of its name that includes this one.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.logging import launch_config
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription
from rbt_ros.model.scenario import read_scenario
from rbt_ros.ros.launching import parameters_in, written_displays

ARGUMENTS = {
    "scenario": ("", "a scenario YAML file, or the name of a shipped one (cubesat)"),
    "params_file": ("", "parameters of the node, a YAML file; what is given here as an argument comes before it"),
    "namespace": ("", "namespace of node and topics, for several simulators"),
    "frame_prefix": ("", "stands before every frame name, for several robots"),
    "record": ("", "whether a bag is recorded from the start (false)"),
    "publish_clock": ("", "whether this node publishes /clock (true); one per ROS domain may"),
    "mode": ("", "realtime, lockstep or fast, in place of the scenario's own"),
    "rate": ("", "simulated seconds per second in mode realtime (1.0)"),
    "view": ("", "whether it is shown in the browser (false)"),
    "rviz": ("false", "whether rviz2 is started beside it"),
    "rviz_folder": ("", "where your own SCENARIO.rviz is; empty: displays made for the scenario"),
}


def text(word):
    """A parameter that is a word, whatever YAML would make of it."""
    return ParameterValue(word, value_type=str)


def truth(word):
    """A parameter that is true or false."""
    if word.lower() not in ("true", "false"):
        raise ValueError(f"'{word}' is neither true nor false")
    return word.lower() == "true"


# argument: parameter of the node, and what reads it
PARAMETERS = {
    "scenario": ("scenario", text),
    "frame_prefix": ("frame_prefix", text),
    "record": ("record", truth),
    "publish_clock": ("publish_clock", truth),
    "mode": ("mode", text),
    "view": ("view", truth),
    "rate": ("realtime_factor", float),
}


def simulator(context):
    """The node: the parameters of the file, and before them those that are given as arguments."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ("params_file", *PARAMETERS)}
    parameters = {parameter: read(given[name]) for name, (parameter, read) in PARAMETERS.items() if given[name]}
    node = Node(
        package="rbt_ros",
        executable="rbt_simulator",
        namespace=LaunchConfiguration("namespace"),
        parameters=[each for each in (given["params_file"], parameters) if each],
        output="screen",
    )
    return [node]


def rviz(context):
    """RViz with the displays of the scenario, or with the file of its name in your folder."""
    names = ("scenario", "frame_prefix", "params_file", "namespace", "rviz_folder")
    name, prefix, file, space, own = (LaunchConfiguration(each).perform(context) for each in names)
    told = parameters_in(file, f"{space}/rbt_simulator") if file else {}
    name, prefix = name or told.get("scenario", "cubesat"), prefix or told.get("frame_prefix", "")
    if own:
        displays = Path(own, f"{Path(name).stem}.rviz")
        if not displays.is_file():
            raise FileNotFoundError(f"{displays} is not there: leave rviz_folder out, or name the folder that has it")
    else:
        displays = written_displays(read_scenario(name), prefix, launch_config.log_dir)
    program = Node(
        package="rviz2",
        executable="rviz2",
        namespace=LaunchConfiguration("namespace"),
        arguments=["-d", str(displays)],
        parameters=[{"use_sim_time": True}],
    )
    return [program]


def generate_launch_description():
    """One node, and RViz where it is wanted; everything else is in the scenario."""
    declared = [DeclareLaunchArgument(name, default_value=d, description=t) for name, (d, t) in ARGUMENTS.items()]
    beside = OpaqueFunction(function=rviz, condition=IfCondition(LaunchConfiguration("rviz")))
    return LaunchDescription([*declared, OpaqueFunction(function=simulator), beside])
