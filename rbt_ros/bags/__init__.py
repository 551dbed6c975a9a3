"""Bags: runs recorded as rosbag2 (MCAP), read into arrays, converted, run again and verified. Without ROS."""
