"""Robot -> URDF text, for RViz and everything else that reads `robot_description`."""

import math
from xml.etree import ElementTree as ET

from rbt_ros.core.types import JointKind
from rbt_ros.model.robot import WORLD, Body, Hinge, Robot
from rbt_ros.model.shapes import Shape

# spherical and free hinges are `floating`: nobody may move them by JointState, their TF is ours
TYPES = {
    JointKind.FIXED: "fixed",
    JointKind.REVOLUTE: "continuous",
    JointKind.PRISMATIC: "prismatic",
    JointKind.SPHERICAL: "floating",
    JointKind.FREE: "floating",
}


def urdf_text(robot: Robot) -> str:
    """The robot as URDF. The world is a link of its own, so that the whole is one tree."""
    root = ET.Element("robot", name=robot.name)
    ET.SubElement(root, "link", name=WORLD)
    for body, hinge in zip(robot.bodies, robot.hinges, strict=True):
        _link(root, body)
        _joint(root, hinge)
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _link(root: ET.Element, body: Body) -> None:
    link = ET.SubElement(root, "link", name=body.name)
    inertial = ET.SubElement(link, "inertial")
    ET.SubElement(inertial, "origin", xyz=_numbers(body.com))
    ET.SubElement(inertial, "mass", value=repr(body.mass))
    tensor = body.inertia.tolist()
    elements = {f"i{'xyz'[r]}{'xyz'[c]}": repr(tensor[r][c]) for r in range(3) for c in range(r, 3)}
    ET.SubElement(inertial, "inertia", elements)
    for number, shape in enumerate(body.shapes):
        _visual(link, shape, f"{body.name}_{number}")


def _visual(link: ET.Element, shape: Shape, name: str) -> None:
    visual = ET.SubElement(link, "visual", name=name)
    ET.SubElement(visual, "origin", xyz=_numbers(shape.at), rpy=_numbers(roll_pitch_yaw(shape.quaternion)))
    geometry = ET.SubElement(visual, "geometry")
    if shape.kind == "box":
        ET.SubElement(geometry, "box", size=_numbers(shape.size))
    elif shape.kind == "cylinder":
        ET.SubElement(geometry, "cylinder", radius=repr(shape.size[0]), length=repr(shape.size[1]))
    else:
        ET.SubElement(geometry, "sphere", radius=repr(shape.size[0]))
    ET.SubElement(ET.SubElement(visual, "material", name=f"{name}_colour"), "color", rgba=_numbers(shape.rgba))


def _joint(root: ET.Element, hinge: Hinge) -> None:
    joint = ET.SubElement(root, "joint", name=hinge.name, type=TYPES[hinge.kind])
    ET.SubElement(joint, "origin", xyz=_numbers(hinge.at), rpy=_numbers(roll_pitch_yaw(hinge.quaternion)))
    ET.SubElement(joint, "parent", link=hinge.parent)
    ET.SubElement(joint, "child", link=hinge.child)
    if hinge.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        ET.SubElement(joint, "axis", xyz=_numbers(hinge.axis))
    if hinge.kind == JointKind.PRISMATIC:
        ET.SubElement(joint, "limit", lower="-1e9", upper="1e9", effort="1e9", velocity="1e9")


def _numbers(values) -> str:
    return " ".join(repr(float(v)) for v in values)


def roll_pitch_yaw(q) -> tuple[float, float, float]:
    """URDF's rpy of q_AB: R = Rz(yaw) Ry(pitch) Rx(roll)."""
    w, x, y, z = q
    sin_pitch = max(-1.0, min(1.0, 2 * (w * y - x * z)))
    if abs(sin_pitch) > 1 - 1e-14:  # straight up or down: roll and yaw turn about one axis; give it all to yaw
        return 0.0, math.copysign(math.pi / 2, sin_pitch), math.atan2(2 * (w * z - x * y), 1 - 2 * (x * x + z * z))
    roll = math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y))
    yaw = math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
    return roll, math.asin(sin_pitch), yaw
