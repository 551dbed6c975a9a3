"""Start the simulator: ros2 launch rbt_ros simulator.launch.py scenario:=cubesat namespace:=a frame_prefix:=a/

Each shipped scenario has a launch file of its name that includes this one.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.conditions import IfCondition
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

ARGUMENTS = {
    "scenario": ("cubesat", "a scenario YAML file, or the name of a shipped one"),
    "namespace": ("", "namespace of node and topics, for several simulators"),
    "frame_prefix": ("", "stands before every frame name, for several robots"),
    "record": ("false", "whether a bag is recorded from the start"),
    "publish_clock": ("true", "whether this node publishes /clock; one per ROS domain may"),
    "mode": ("realtime", "realtime, lockstep or fast, whatever the scenario says"),
    "rate": ("1.0", "simulated seconds per second in mode realtime"),
    "view": ("false", "whether it is shown in the browser"),
    "rviz": ("false", "whether rviz2 is started beside it"),
    "rviz_folder": (str(Path(__file__).resolve().parents[1] / "rviz"), "where SCENARIO.rviz is"),
}


def rviz(context, scenario, folder):
    """RViz with the displays of the scenario, by its name also where a file is given."""
    scenario = scenario.perform(context)
    displays = Path(folder.perform(context), f"{Path(scenario).stem}.rviz")
    if not displays.is_file():
        raise FileNotFoundError(f"{displays} is not there: name its rviz_folder:=, or use rbt node {scenario} --rviz")
    program = Node(
        package="rviz2",
        executable="rviz2",
        namespace=LaunchConfiguration("namespace"),
        arguments=["-d", str(displays), "-f", [LaunchConfiguration("frame_prefix"), "world"]],
        parameters=[{"use_sim_time": True}],
    )
    return [program]


def generate_launch_description():
    """One node, and RViz where it is wanted; everything else is in the scenario."""
    declared = [DeclareLaunchArgument(name, default_value=d, description=t) for name, (d, t) in ARGUMENTS.items()]
    parameters = {
        "scenario": ParameterValue(LaunchConfiguration("scenario"), value_type=str),
        "frame_prefix": ParameterValue(LaunchConfiguration("frame_prefix"), value_type=str),
        "record": ParameterValue(LaunchConfiguration("record"), value_type=bool),
        "publish_clock": ParameterValue(LaunchConfiguration("publish_clock"), value_type=bool),
        "mode": ParameterValue(LaunchConfiguration("mode"), value_type=str),
        "view": ParameterValue(LaunchConfiguration("view"), value_type=bool),
        "realtime_factor": ParameterValue(LaunchConfiguration("rate"), value_type=float),
    }
    node = Node(
        package="rbt_ros",
        executable="rbt_simulator",
        namespace=LaunchConfiguration("namespace"),
        parameters=[parameters],
        output="screen",
    )
    beside = OpaqueFunction(
        function=rviz,
        args=[LaunchConfiguration("scenario"), LaunchConfiguration("rviz_folder")],
        condition=IfCondition(LaunchConfiguration("rviz")),
    )
    return LaunchDescription([*declared, node, beside])
