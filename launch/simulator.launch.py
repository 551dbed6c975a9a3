"""Start the simulator: ros2 launch rbt_ros simulator.launch.py scenario:=cubesat namespace:=a frame_prefix:=a/"""

from launch.actions import DeclareLaunchArgument
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

ARGUMENTS = {
    "scenario": ("cubesat", "a scenario YAML file, or the name of a shipped one"),
    "namespace": ("", "namespace of node and topics, for several simulators"),
    "frame_prefix": ("", "stands before every frame name, for several robots"),
    "publish_clock": ("true", "whether this node publishes /clock; one per ROS domain may"),
}


def generate_launch_description():
    """One node; everything else is in the scenario."""
    declared = [DeclareLaunchArgument(name, default_value=d, description=t) for name, (d, t) in ARGUMENTS.items()]
    parameters = {
        "scenario": ParameterValue(LaunchConfiguration("scenario"), value_type=str),
        "frame_prefix": ParameterValue(LaunchConfiguration("frame_prefix"), value_type=str),
        "publish_clock": ParameterValue(LaunchConfiguration("publish_clock"), value_type=bool),
    }
    node = Node(
        package="rbt_ros",
        executable="rbt_simulator",
        namespace=LaunchConfiguration("namespace"),
        parameters=[parameters],
        output="screen",
    )
    return LaunchDescription([*declared, node])
