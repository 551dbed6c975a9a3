"""rbt_ros: rigid and multibody dynamics you can check, on ROS 2."""

__version__ = "0.1.0"
