"""What RViz shows of a scenario, as an .rviz file: the robot, its frames, markers, odometry and ropes.

Topics are relative, so that RViz, started in the node's namespace, finds them there; /tf has none.
"""

import io
import math
from typing import Any

import numpy as np
from ruamel.yaml import YAML

from rbt_ros import topics
from rbt_ros.core.types import JointKind
from rbt_ros.markers import ARROW_LENGTH, BEYOND, SMALLEST, THIN, letters_of, size_of
from rbt_ros.model.attitude import turn_all
from rbt_ros.model.looks import extent, reaches
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.model.scenario import Scenario
from rbt_ros.poinsot_markers import construction_reach, lone_bodies
from rbt_ros.sim import Simulation

LEVEL, STEEPEST = 1.5708, 1.5697  # [rad] a right angle, and the largest pitch that RViz takes
HANGING, SWINGING = 0.35, 0.8  # where gravity acts: of the reach, to the middle of the picture, and its radius
FIELD_OF_VIEW = 0.785  # [rad] from the lowest to the highest line of the picture
OUTSIDE = 1.1  # of the momentum ellipsoid's longest semi-axis: how far away the eye is; its tips may leave the picture
PLUGIN = "rviz_default_plugins/"
# the display of each topic that has one: class, what else it needs
DISPLAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "std_msgs/msg/String": ("RobotModel", {"Description Source": "Topic", "TF Prefix": ""}),
    "visualization_msgs/msg/MarkerArray": ("MarkerArray", {}),
    "nav_msgs/msg/Odometry": ("Odometry", {"Keep": 1, "Covariance": {"Value": False}}),
    "geometry_msgs/msg/WrenchStamped": ("Wrench", {"History Length": 1}),
}
ARROW_WIDTH = 10 * THIN  # of the robot's size: a Wrench's shaft is a tenth of it; what is shorter is not drawn
TOPIC_KEY = {"RobotModel": "Description Topic"}  # of the others: Topic
PANELS = ("Displays", "Views", "Time")
# fits a laptop of 1280 x 800. The state is QMainWindow.saveState() of the docks Displays above Views at the left, 280
# wide, and Time below: without it the Time panel fills the left dock, and the 3D view has no width
WINDOW = {
    "X": 20,
    "Y": 20,
    "Width": 1200,
    "Height": 720,
    "Hide Left Dock": False,
    "Hide Right Dock": False,
    "QMainWindow State": "000000ff00000000fd00000002000000000000011800000273fc0200000002fb000000100044006900730070006c"
    "0061007900730100000011000001830000002c00fffffffb0000000a00560069006500770073010000019a000000ea0000002c00ffffff0000"
    "0003000004b000000046fc0100000001fb0000000800540069006d00650100000000000004b00000003e00ffffff0000039200000273000000"
    "04000000040000000800000008fc0000000100000002000000010000000a0054006f006f006c00730100000000ffffffff0000000000000000",
    **{panel: {"collapsed": False} for panel in PANELS},
}


def rviz_text(scenario: Scenario, prefix: str = "") -> str:
    """The text of an .rviz file; `prefix` stands before every frame name."""
    robot, size = scenario.robot, size_of(scenario.robot)
    centre, radius = _extent(scenario)
    displays = [_grid(prefix, size, centre, radius), _axes(robot, size)]
    for topic in topics.published(robot, prefix):
        if topic.type in DISPLAYS and _is_on(scenario, topic.key):
            displays.append(_display(topic, prefix, size, scenario))
    home = {
        "Class": PLUGIN + "Orbit",
        "Name": "Current View",
        "Target Frame": prefix + WORLD,
        "Distance": round(radius / math.sin(FIELD_OF_VIEW / 2.0), 3),
        "Focal Point": {axis: round(x, 3) for axis, x in zip("XYZ", centre, strict=True)},
        "Pitch": 0.4,
        "Yaw": 0.8,
    }
    document = {
        "Panels": [{"Class": f"rviz_common/{panel}", "Name": panel} for panel in PANELS],
        "Visualization Manager": {
            "Class": "",
            "Displays": displays,
            "Enabled": True,
            "Global Options": {"Fixed Frame": prefix + WORLD, "Frame Rate": 30},
            "Name": "root",
            "Tools": [{"Class": PLUGIN + tool} for tool in ("MoveCamera", "Select", "Measure")],
            "Value": True,
            "Views": {"Current": home, "Saved": _views(home, prefix + robot.bodies[0].name)},
        },
        "Window Geometry": WINDOW,
    }
    text = io.StringIO()
    yaml = YAML()
    yaml.width = 120
    yaml.representer.ignore_aliases = lambda _: True  # each view is complete in itself
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


def _is_on(scenario: Scenario, output: str) -> bool:
    return not output or scenario.outputs.get(output, 1.0) > 0.0


def _grid(prefix: str, size: float, centre: list[float], radius: float) -> dict[str, Any]:
    """Cells of 1, 2 or 5 times a power of ten, about as large as the robot, below all that moves."""
    power = 10.0 ** math.floor(math.log10(size))
    cell = power * max(k for k in (1.0, 2.0, 5.0) if k * power <= size * (1.0 + 1e-9))
    count = 2 * math.ceil(radius / cell) + 2
    place = [cell * round(x / cell) for x in centre[:2]] + [centre[2] - radius]
    return _shown("Grid", "Grid", True) | {
        "Reference Frame": prefix + WORLD,
        "Cell Size": round(cell, 9),
        "Plane Cell Count": count,
        "Offset": {axis: round(x, 3) for axis, x in zip("XYZ", place, strict=True)},
        "Alpha": 0.4,
    }


def _axes(robot: Robot, size: float) -> dict[str, Any]:
    """The axes of world and bodies. RViz makes them 0.2 m long at scale 1."""
    length = (0.5 if len(robot.bodies) == 1 else 0.3) * size
    scale = {"Marker Scale": round(length / 0.2, 3), "Show Names": False, "Show Arrows": False, "Show Axes": True}
    return _shown("TF", "TF", True) | scale


def _shown(kind: str, name: str, enabled: bool) -> dict[str, Any]:
    return {"Class": PLUGIN + kind, "Name": name, "Enabled": enabled, "Value": enabled}


def _display(topic: topics.Topic, prefix: str, size: float, scenario: Scenario) -> dict[str, Any]:
    kind, extra = DISPLAYS[topic.type]
    extra = {**extra, "TF Prefix": prefix.rstrip("/")} if "TF Prefix" in extra else extra
    quality = {
        "Value": topic.name,
        "Depth": 5,
        "History Policy": "Keep Last",
        "Reliability Policy": "Reliable",
        "Durability Policy": "Transient Local" if topic.qos == "latched" else "Volatile",
    }
    # markers show where the body is, and its shapes in their own colours, where RobotModel has one for each link
    enabled = kind != "Odometry" and not (kind == "RobotModel" and _is_on(scenario, "markers"))
    sizes = _sizes(kind, size, scenario)
    return _shown(kind, topic.name, enabled) | {TOPIC_KEY.get(kind, "Topic"): quality} | extra | sizes


def _sizes(kind: str, size: float, scenario: Scenario) -> dict[str, Any]:
    """What RViz would make as large as a car: [m], and [m/N], [m/(N m)] so that a weight is as long as an arrow."""
    thin = {"shaft": round(THIN * size, 4), "head": round(3 * THIN * size, 4)}
    if kind == "Odometry":
        axes = {"Axes Length": round(0.5 * size, 4), "Axes Radius": thin["shaft"]}
        shaft = {"Shaft Length": round(0.5 * size, 4), "Shaft Radius": thin["shaft"]}
        head = {"Head Length": thin["head"], "Head Radius": thin["head"]}
        return {"Shape": {"Value": "Axes", **axes, **shaft, **head}}
    if kind == "Wrench":
        mass = sum(body.mass for body in scenario.robot.bodies)
        weight = mass * (float(np.linalg.norm(scenario.gravity)) or 1.0)
        force = float(f"{ARROW_LENGTH * size / weight:.3g}")
        return {"Force Arrow Scale": force, "Torque Arrow Scale": force, "Arrow Width": round(ARROW_WIDTH * size, 4)}
    return {}


def _extent(scenario: Scenario) -> tuple[list[float], float]:
    """Middle and radius [m] of all that is drawn: bodies wherever their hinges let them, their arrows and labels.

    What hangs on the world stays in a sphere about its hinge, mostly in the lower part, or about the end of its rope.
    What floats is where it starts.
    """
    robot, sample = scenario.robot, Simulation.of(scenario).sample()
    far, floats = reaches(robot), _floating(robot)
    middles = [sample.pose[i, 4:] for i in floats]
    radii = [extent(robot.bodies[i]) for i in floats]
    for hinge, reach in zip(robot.hinges, far, strict=True):
        if hinge.parent == WORLD and hinge.kind != JointKind.FREE:
            weight = float(np.linalg.norm(scenario.gravity))
            down = np.array(scenario.gravity) / weight if weight > 0.0 else np.zeros(3)
            middles.append(np.array(hinge.at) + HANGING * reach * down)
            radii.append(reach * (1.0 if weight == 0.0 else SWINGING))
    for rope in robot.ropes:
        for name, at in ((rope.body_a, rope.at_a), (rope.body_b, rope.at_b)):
            if name == WORLD:
                middles.append(np.array(at, dtype=float))
                radii.append(rope.length)
    if _is_on(scenario, "poinsot"):
        for i in lone_bodies(robot):
            drawn, momentum = construction_reach(robot, sample, i)
            middles.append(
                sample.pose[i, 4:] + turn_all(sample.pose[i : i + 1, :4], np.array([robot.bodies[i].com]))[0]
            )
            radii.append(max(drawn, OUTSIDE * momentum * math.sin(FIELD_OF_VIEW / 2.0)))
    middle = (np.min(middles, axis=0) + np.max(middles, axis=0)) / 2.0
    around = [float(np.linalg.norm(p - middle)) + radius for p, radius in zip(middles, radii, strict=True)]
    arrows = ARROW_LENGTH * size_of(robot) + (BEYOND + 1.2) * letters_of(robot)
    return middle.tolist(), max([SMALLEST, arrows + float(np.linalg.norm(np.array(sample.com) - middle)), *around])


def _floating(robot: Robot) -> list[int]:
    """The bodies that float, and those that hang on them."""
    found: list[int] = []
    for i, hinge in enumerate(robot.hinges):  # parents come first
        if hinge.kind == JointKind.FREE or hinge.parent in [robot.bodies[k].name for k in found]:
            found.append(i)
    return found
