"""Scenario `wheel` under ros2_control: ros2 launch rbt_ros ros2_control.launch.py

The node, robot_state_publisher, the controller manager and a spawner, all but the node in the namespace /control. Takes
the arguments of simulator.launch.py, too.
"""

from pathlib import Path

from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, LogInfo, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from launch import LaunchDescription

SHARE = Path(__file__).resolve().parents[1]
ARGUMENTS = {
    "scenario": ("wheel", "a scenario YAML file, or the name of a shipped one"),
    "controllers": ("forward_position_controller", "which are activated, with spaces between their names"),
    "params_file": (str(SHARE / "config" / "ros2_control" / "wheel.yaml"), "parameters of all these nodes"),
    "robot": (str(SHARE / "urdf" / "wheel.ros2_control.urdf"), "the robot with its <ros2_control> tag, a URDF file"),
}
MANAGER = ["-c", "/control/controller_manager"]
PATIENT = ["--switch-timeout", "300", "--service-call-timeout", "300"]  # /clock begins when the kernels are compiled
LOOK = "The topics of the controllers are below /control, the wheel is in /joint_states. Ctrl-C ends all."


def control(context):
    """What drives the node over its topics."""
    given = {name: LaunchConfiguration(name).perform(context) for name in ARGUMENTS}
    description = ParameterValue(Path(given["robot"]).read_text(encoding="utf-8"), value_type=str)
    own_frames = [("/tf", "tf"), ("/tf_static", "tf_static")]  # the node publishes those of /tf
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            namespace="control",
            parameters=[{"robot_description": description, "use_sim_time": True}],
            remappings=[*own_frames, ("joint_states", "/joint_states")],
        ),
        Node(
            package="controller_manager",
            executable="ros2_control_node",
            namespace="control",
            parameters=[given["params_file"]],
            output="screen",
        ),
        Node(
            package="controller_manager",
            executable="spawner",
            arguments=[*given["controllers"].split(), *MANAGER, *PATIENT],
            output="screen",
        ),
    ]


def generate_launch_description():
    """The simulator with its parameters of that file, and what drives it."""
    declared = [DeclareLaunchArgument(name, default_value=d, description=t) for name, (d, t) in ARGUMENTS.items()]
    simulator = IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(Path(__file__).with_name("simulator.launch.py"))),
        launch_arguments=[(name, LaunchConfiguration(name)) for name in ("scenario", "params_file")],
    )
    return LaunchDescription([*declared, simulator, OpaqueFunction(function=control), LogInfo(msg=LOOK)])
