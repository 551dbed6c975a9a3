"""The scenario of this file's name; arguments as of simulator.launch.py."""

from pathlib import Path

from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import PythonLaunchDescriptionSource

from launch import LaunchDescription


def generate_launch_description():
    """The simulator with this scenario."""
    simulator = PythonLaunchDescriptionSource(str(Path(__file__).with_name("simulator.launch.py")))
    return LaunchDescription([IncludeLaunchDescription(simulator, launch_arguments=[("scenario", "rope")])])
