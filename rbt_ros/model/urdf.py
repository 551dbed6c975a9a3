"""Robot -> URDF text, for RViz and everything else that reads `robot_description`. What the format is: docs/urdf.md."""

from collections.abc import Sequence
from itertools import islice
from xml.etree import ElementTree as ET

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, from_roll_pitch_yaw, nearest_quaternion, roll_pitch_yaw
from rbt_ros.model.build import DEFAULT_CREEP, second_axis
from rbt_ros.model.constraints import MIMIC, Coupling
from rbt_ros.model.robot import WORLD, Body, Hinge, Robot
from rbt_ros.plug.shapes import Shape, kind_of, urdf_parts

UNLIMITED = 1e9  # [rad, m]: a limit this large is none; URDF wants one where a joint slides
EXTENSION = "rbt"  # the element of a joint, visual or inertial that holds what URDF cannot say
NOTHING = [0.0] * t.FREEDOM_COLUMNS  # the row of Model.freedom of a joint that goes with another
NOTHING[t.LOWER], NOTHING[t.UPPER], NOTHING[t.CREEP] = -UNLIMITED, UNLIMITED, DEFAULT_CREEP
FLAT = 1e-7  # margin of Ix + Iy >= Iz below which readers that compute principal moments may find it broken
# what has no single axis: spherical and free hinges float, as nobody may move them by JointState; their TF is ours
AXISLESS = {JointKind.FIXED: "fixed", JointKind.SPHERICAL: "floating", JointKind.FREE: "floating"}


def urdf_text(robot: Robot) -> str:
    """The robot as URDF. The world is a link of its own, so that the whole is one tree."""
    if not isinstance(robot, Robot):
        raise ModelError(f"urdf_text: {type(robot).__name__} is no Robot; RobotBuilder.build makes one.")
    root = ET.Element("robot", name=robot.name)
    ET.SubElement(root, "link", name=WORLD)
    mimics = {x.name: x for x in robot.constraints if isinstance(x, Coupling) and x.kind == MIMIC}
    for i, (body, hinge) in enumerate(zip(robot.bodies, robot.hinges, strict=True)):
        freedoms = robot.model.freedom[robot.model.tree[i, t.V] :].tolist()
        for single in hinge.single_axes[:-1]:
            ET.SubElement(root, "link", name=single.frame)
        _link(root, body)
        if hinge.single_axes:
            _chain(root, hinge, freedoms, mimics)
        else:
            _axisless(root, hinge, freedoms)
    ET.indent(root)
    return '<?xml version="1.0"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _link(root: ET.Element, body: Body) -> None:
    link = ET.SubElement(root, "link", name=body.name)
    link.append(inertial_element(body.mass, body.com, body.inertia))
    for number, shape in enumerate(body.shapes):
        _visuals(link, shape, f"{body.name}_{number}")


def inertial_element(mass: float, com, inertia) -> ET.Element:
    """<inertial> of a link: mass [kg], CoM [m], tensor about the CoM (3, 3) [kg·m²]."""
    inertial = ET.Element("inertial")
    q_BI, written = valid_inertia(inertia)
    turned = {} if q_BI == IDENTITY else {"rpy": _numbers(roll_pitch_yaw(q_BI))}
    ET.SubElement(inertial, "origin", {"xyz": _numbers(com), **turned})
    ET.SubElement(inertial, "mass", value=repr(float(mass)))
    tensor = written.tolist()
    elements = {f"i{'xyz'[r]}{'xyz'[c]}": repr(tensor[r][c]) for r in range(3) for c in range(r, 3)}
    ET.SubElement(inertial, "inertia", elements)
    if written is not inertia:
        _extend(inertial, {"inertia": _numbers(inertia[np.triu_indices(3)])})
    return inertial


def valid_inertia(inertia: np.ndarray) -> tuple[Sequence[float], np.ndarray]:
    """q_BI and the tensor in axes I that obeys Ix + Iy >= Iz in doubles: (1, the very tensor) wherever that does.

    RViz takes the root of Ix + Iy - Iz, gets NaN, and aborts. Its formula for principal moments is good to 1.5e-8 where
    two are alike: a tensor this flat is written about its principal axes, where RViz computes nothing.
    """
    diagonal = np.count_nonzero(inertia - np.diag(np.diag(inertia))) == 0
    moments, R_BI = (np.diag(inertia), np.eye(3)) if diagonal else np.linalg.eigh(inertia)
    least, middle, largest = np.argsort(moments)
    limit = moments[least] + moments[middle]
    if limit - moments[largest] >= (0.0 if diagonal else FLAT * moments[largest]):
        return IDENTITY, inertia
    moments = np.maximum(moments, 0.0)
    moments[largest] = min(moments[largest], moments[least] + moments[middle])
    return nearest_quaternion(R_BI * np.sign(np.linalg.det(R_BI))), np.diag(moments)


def _visuals(link: ET.Element, shape: Shape, name: str) -> None:
    """The shape; one that URDF does not know as its parts, the first of which says what they are together."""
    parts = urdf_parts(shape)
    for number, part in enumerate(parts):
        visual = ET.SubElement(link, "visual", name=name if number == 0 else f"{name}_part{number}")
        extension = _origin(visual, part.at, part.quaternion)
        _geometry(visual, part)
        ET.SubElement(ET.SubElement(visual, "material", name=f"{name}_colour"), "color", rgba=_numbers(part.rgba))
        if number == 0 and part is not shape:
            extension |= {"shape": shape.kind, "size": _numbers(shape.size), "at": _numbers(shape.at)}
            extension |= {"rotation": _numbers(shape.quaternion)} | ({"file": shape.file} if shape.file else {})
        _extend(visual, extension)


def _geometry(visual: ET.Element, shape: Shape) -> None:
    size = iter(shape.size)
    attributes = {"filename": shape.file} if shape.file else {}
    attributes |= {key: _numbers(islice(size, count)) for key, count in kind_of(shape).urdf.items()}
    ET.SubElement(ET.SubElement(visual, "geometry"), shape.kind, attributes)


def _chain(root: ET.Element, hinge: Hinge, freedoms: list[list[float]], mimics: dict[str, Coupling]) -> None:
    """A hinge of one-axis freedoms: one joint, or several with massless links between."""
    parent = hinge.parent
    for number, single in enumerate(hinge.single_axes):
        own = single.joint in hinge.joint_names  # else it goes with another one
        freedom = freedoms[single.freedom] if own else NOTHING
        lower, upper = freedom[t.LOWER], freedom[t.UPPER]
        free = -lower >= UNLIMITED and upper >= UNLIMITED
        kind = "prismatic" if single.kind == JointKind.PRISMATIC else "continuous" if free else "revolute"
        joint = ET.SubElement(root, "joint", name=single.joint, type=kind)
        extension = {}
        if len(hinge.single_axes) > 1:
            extension = {"kind": hinge.kind.name.lower(), "hinge": hinge.name}
        if own and hinge.pitch:
            extension["pitch"] = repr(hinge.pitch)
        if number == 0:
            extension |= _origin(joint, hinge.at, hinge.quaternion) | _second_axis(hinge)
        _ends(joint, parent, single.frame)
        parent = single.frame
        ET.SubElement(joint, "axis", xyz=_numbers(single.axis))
        if kind != "continuous":
            bounds = {"lower": repr(max(lower, -UNLIMITED)), "upper": repr(min(upper, UNLIMITED))}
            ET.SubElement(joint, "limit", bounds, effort=repr(UNLIMITED), velocity=repr(UNLIMITED))
        if freedom[t.DAMPING] or freedom[t.COULOMB]:
            losses = {"damping": repr(freedom[t.DAMPING]), "friction": repr(freedom[t.COULOMB])}
            ET.SubElement(joint, "dynamics", losses)
        if not own:
            ET.SubElement(joint, "mimic", joint=hinge.joint_names[single.freedom], multiplier=repr(single.ratio))
        elif single.joint in mimics:
            _, (leader, factor) = mimics[single.joint].factors
            follows = {"joint": leader, "multiplier": repr(-factor), "offset": repr(mimics[single.joint].offset)}
            ET.SubElement(joint, "mimic", follows)
        _extend(joint, extension | _spring(freedom))


def _axisless(root: ET.Element, hinge: Hinge, freedoms: list[list[float]]) -> None:
    """A fixed, spherical or free hinge."""
    joint = ET.SubElement(root, "joint", name=hinge.name, type=AXISLESS[hinge.kind])
    extension = {"kind": "spherical"} if hinge.kind == JointKind.SPHERICAL else {}
    extension |= _origin(joint, hinge.at, hinge.quaternion)
    _ends(joint, hinge.parent, hinge.child)
    if hinge.axis != (0.0, 0.0, 1.0):
        extension["axis"] = _numbers(hinge.axis)
    extension |= _second_axis(hinge)
    if hinge.kind == JointKind.SPHERICAL:
        extension |= _spring(freedoms[0])
    if hinge.kind != JointKind.FIXED:
        losses = {"damping": t.DAMPING, "friction": t.COULOMB, "internal_friction": t.SINK}
        extension |= {key: repr(freedoms[0][column]) for key, column in losses.items() if freedoms[0][column]}
    _extend(joint, extension)


def _ends(joint: ET.Element, parent: str, child: str) -> None:
    ET.SubElement(joint, "parent", link=parent)
    ET.SubElement(joint, "child", link=child)


def _origin(element: ET.Element, p, q) -> dict[str, str]:
    """Write <origin>; what it cannot say to the last bit goes into the extension."""
    rpy = roll_pitch_yaw(q)
    ET.SubElement(element, "origin", xyz=_numbers(p), rpy=_numbers(rpy))
    return {} if from_roll_pitch_yaw(rpy, "") == q else {"quaternion": _numbers(q)}


def _second_axis(hinge: Hinge) -> dict[str, str]:
    """axis2 where neither a joint of the chain nor the default says it."""
    said = hinge.kind in (JointKind.UNIVERSAL, JointKind.PLANAR)
    return (
        {} if said or hinge.axis2 == second_axis(hinge.kind, hinge.axis, None, "") else {"axis2": _numbers(hinge.axis2)}
    )


def _spring(freedom: list[float]) -> dict[str, str]:
    values = {"stiffness": (t.STIFFNESS, 0.0), "rest": (t.REST, 0.0), "creep": (t.CREEP, DEFAULT_CREEP)}
    return {key: repr(freedom[column]) for key, (column, usual) in values.items() if freedom[column] != usual}


def _extend(element: ET.Element, values: dict[str, str]) -> None:
    if values:
        ET.SubElement(element, EXTENSION, values)


def _numbers(values) -> str:
    return " ".join(repr(float(v)) for v in values)
