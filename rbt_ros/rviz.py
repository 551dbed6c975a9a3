"""What RViz shows of a scenario, as an .rviz file: the robot, its frames, markers, odometry and ropes.

Topics are relative, so that RViz, started in the node's namespace, finds them there; /tf has none.
"""

import io
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from rbt_ros import topics
from rbt_ros.markers import SMALLEST, reach
from rbt_ros.model.robot import WORLD
from rbt_ros.model.scenario import Scenario
from rbt_ros.sim import Simulation

LEVEL, STEEPEST = 1.5708, 1.5697  # [rad] a right angle, and the largest pitch that RViz takes
MARGIN = 3.0  # how many radii of all there is the eye is away
PLUGIN = "rviz_default_plugins/"
# the display of each topic that has one: class, what else it needs
DISPLAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "std_msgs/msg/String": ("RobotModel", {"Description Source": "Topic", "TF Prefix": ""}),
    "visualization_msgs/msg/MarkerArray": ("MarkerArray", {"Namespaces": {"shapes": False}}),  # RobotModel draws them
    "nav_msgs/msg/Odometry": ("Odometry", {"Keep": 1, "Covariance": {"Value": False}}),
    "geometry_msgs/msg/WrenchStamped": ("Wrench", {"Force Arrow Scale": 0.1, "History Length": 1}),
}
TOPIC_KEY = {"RobotModel": "Description Topic"}  # of the others: Topic


def rviz_text(scenario: Scenario, prefix: str = "") -> str:
    """The text of an .rviz file; `prefix` stands before every frame name."""
    displays = [
        {"Class": PLUGIN + "Grid", "Name": "Grid", "Enabled": True, "Value": True, "Reference Frame": prefix + WORLD},
        {"Class": PLUGIN + "TF", "Name": "TF", "Enabled": False, "Value": False, "Show Names": True},
    ]
    for topic in topics.published(scenario.robot, prefix):
        if topic.type in DISPLAYS and (not topic.key or scenario.outputs.get(topic.key, 1.0) > 0.0):
            displays.append(_display(topic, prefix))
    centre, radius = _extent(scenario)
    home = {
        "Class": PLUGIN + "Orbit",
        "Name": "Current View",
        "Target Frame": prefix + WORLD,
        "Distance": round(MARGIN * radius, 3),
        "Focal Point": {axis: round(x, 3) for axis, x in zip("XYZ", centre, strict=True)},
        "Pitch": 0.4,
        "Yaw": 0.8,
    }
    document = {
        "Panels": [
            {"Class": "rviz_common/Displays", "Name": "Displays"},
            {"Class": "rviz_common/Time", "Name": "Time"},
        ],
        "Visualization Manager": {
            "Class": "",
            "Displays": displays,
            "Enabled": True,
            "Global Options": {"Fixed Frame": prefix + WORLD, "Frame Rate": 30},
            "Name": "root",
            "Tools": [{"Class": PLUGIN + tool} for tool in ("MoveCamera", "Select", "Measure")],
            "Value": True,
            "Views": {"Current": home, "Saved": _views(home, prefix + scenario.robot.bodies[0].name)},
        },
    }
    text = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.dump(document, text)
    return text.getvalue()


def _views(home: dict[str, Any], body: str) -> list[dict[str, Any]]:
    """From above, beside and before, as in the browser; and after the first body, without turning with it."""
    return [
        home | {"Name": "Home"},
        home | {"Name": "Top", "Pitch": STEEPEST, "Yaw": -LEVEL},
        home | {"Name": "Side", "Pitch": 0.0, "Yaw": -LEVEL},
        home | {"Name": "Front", "Pitch": 0.0, "Yaw": 0.0},
        home | {"Name": "Follow", "Target Frame": body, "Focal Point": dict.fromkeys("XYZ", 0.0)},
    ]


def _display(topic: topics.Topic, prefix: str) -> dict[str, Any]:
    kind, extra = DISPLAYS[topic.type]
    extra = {**extra, "TF Prefix": prefix.rstrip("/")} if "TF Prefix" in extra else extra
    quality = {
        "Value": topic.name,
        "Depth": 5,
        "History Policy": "Keep Last",
        "Reliability Policy": "Reliable",
        "Durability Policy": "Transient Local" if topic.qos == "latched" else "Volatile",
    }
    enabled = kind != "Odometry"  # its arrow hides a small craft
    return {
        "Class": PLUGIN + kind,
        "Name": topic.name,
        "Enabled": enabled,
        "Value": enabled,
        TOPIC_KEY.get(kind, "Topic"): quality,
        **extra,
    }


def _extent(scenario: Scenario) -> tuple[list[float], float]:
    """Middle and radius of all bodies at the start [m], shapes included."""
    robot, places = scenario.robot, Simulation.of(scenario).sample().pose[:, 4:]
    middle = (places.min(axis=0) + places.max(axis=0)) / 2.0
    sizes = [
        float(np.linalg.norm(p - middle)) + float(np.linalg.norm(shape.at)) + reach(shape)
        for p, body in zip(places, robot.bodies, strict=True)
        for shape in body.shapes
    ]
    return middle.tolist(), max([SMALLEST, *sizes])
