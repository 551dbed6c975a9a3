"""The parts of a URDF document, one by one: <link> -> Link, <joint> -> Joint. How they hang together: urdf_tree.py."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import qmul, qturn, rotation, turn_quat
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, Quaternion, from_roll_pitch_yaw, unit_quaternion
from rbt_ros.model.elements import Element, Vector
from rbt_ros.model.robot import CHAINED
from rbt_ros.model.shapes import shape
from rbt_ros.model.urdf import EXTENSION, UNLIMITED
from rbt_ros.plug.shapes import GREY, SHAPES, Shape, kind_of, urdf_parts

TYPES = {
    "fixed": JointKind.FIXED,
    "revolute": JointKind.REVOLUTE,
    "continuous": JointKind.REVOLUTE,
    "prismatic": JointKind.PRISMATIC,
    "planar": JointKind.PLANAR,
    "floating": JointKind.FREE,
}
ZERO: Vector = (0.0, 0.0, 0.0)
AXIS = (1.0, 0.0, 0.0)  # URDF's default
SPRING = ("stiffness", "rest", "damping", "friction", "creep", "internal_friction")
DEGREES_SUSPECTED = 8 * math.pi  # [rad] a limit beyond four turns
SAME_INERTIA = 1e-9  # of the largest element: as SAME_ATTITUDE
SAME_ATTITUDE = 1e-9  # to which the extension's quaternion must agree with rpy, to be taken for it
MASSLESS: dict[str, Any] = {"mass": 0.0, "inertia": ZERO, "com": ZERO}


class Link(NamedTuple):
    """A <link>."""

    name: str
    element: Element
    inertial: bool  # whether it has <inertial>
    body: dict[str, Any]  # mass, inertia, com: what RobotBuilder.body takes
    shapes: list[Shape]


class Joint(NamedTuple):
    """A <joint>, or the hinge that several make."""

    name: str
    element: Element
    kind: JointKind
    parent: str
    child: str
    at: Vector = ZERO
    quaternion: Quaternion = IDENTITY
    given: dict[str, Any] = {}  # axis, axis2, limits, springs: what RobotBuilder.hinge takes
    hinge: str = ""  # of a joint that is a part of a hinge: its name
    hinge_kind: JointKind = JointKind.FIXED  # and its kind
    mimic: dict[str, Any] | None = None  # what RobotBuilder.mimic takes, but the follower


def colours(document: Element) -> dict[str, Vector]:
    """The materials that have a colour, by name, wherever they are defined."""
    found: dict[str, Vector] = {}
    for material in document.walk():
        colour = material.child("color") if material.tag == "material" else None
        if colour is not None and "name" in material.attributes:
            found.setdefault(material.text("name"), colour.vector("rgba", count=4))
    return found


def link(element: Element, materials: dict[str, Vector]) -> Link:
    """The link in `element`."""
    name = element.text("name")
    inertial = element.child("inertial")
    body = MASSLESS if inertial is None else _inertial(inertial)
    return Link(name, element, inertial is not None, body, _shapes(element.all("visual"), name, materials))


def _inertial(element: Element) -> dict[str, Any]:
    """Mass, CoM, and the tensor turned from the axes of the inertial frame into those of the link."""
    mass, tensor = element.child("mass"), element.child("inertia")
    for tag, part in (("mass", mass), ("inertia", tensor)):
        if part is None:
            raise element.error(f"<{tag}> is missing; give it, or leave <inertial> out if the link has no mass.")
    assert mass is not None and tensor is not None
    xx, xy, xz, yy, yz, zz = (tensor.number(key) for key in ("ixx", "ixy", "ixz", "iyy", "iyz", "izz"))
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    com, q_BI = origin(element)
    if q_BI != IDENTITY:
        R_BI = np.array(rotation(q_BI))
        I = R_BI @ I @ R_BI.T
        I = (I + I.T) / 2
    exact = _exact_inertia(element)
    if exact is not None and np.abs(exact - I).max() <= SAME_INERTIA * np.abs(I).max():
        I = exact
    return {"mass": mass.number("value"), "inertia": I, "com": com}


def _exact_inertia(element: Element) -> np.ndarray | None:
    """The tensor in the link's axes that the extension of an <inertial> holds."""
    extension = element.child(EXTENSION)
    if extension is None or "inertia" not in extension.attributes:
        return None
    xx, xy, xz, yy, yz, zz = extension.vector("inertia", count=6)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def origin(element: Element) -> tuple[Vector, Quaternion]:
    """p and q of the frame that `element` places: its <origin>, zero where it has none."""
    place = element.child("origin")
    if place is None:
        p, q = ZERO, IDENTITY
    else:
        p = place.vector("xyz", ZERO)
        if "quat_xyzw" in place.attributes:  # URDF 1.2
            if "rpy" in place.attributes:
                raise place.error("rpy and quat_xyzw both give the attitude; keep one.")
            x, y, z, w = place.vector("quat_xyzw", count=4)
            q = placed(place, unit_quaternion, (w, x, y, z), "quat_xyzw")
        else:
            q = from_roll_pitch_yaw(place.vector("rpy", ZERO), place.where)
    extension = element.child(EXTENSION)
    if extension is not None and "quaternion" in extension.attributes:
        exact = placed(extension, unit_quaternion, extension.vector("quaternion", count=4), "quaternion")
        if min(math.dist(exact, q), math.dist(exact, [-c for c in q])) <= SAME_ATTITUDE:
            return p, exact
    return p, q


def _shapes(visuals: list[Element], body: str, materials: dict[str, Vector]) -> list[Shape]:
    """The shapes of a link: some visuals together are one, as long as they still are what would be written for it."""
    parts, found = [_visual(v, body, materials) for v in visuals], []
    while len(parts) > 0:
        whole = _extended_shape(visuals[-len(parts)], body, parts[0])
        said = urdf_parts(whole) if whole else []
        if whole and len(said) <= len(parts) and all(map(_alike, said, parts)):
            found.append(whole)
            parts = parts[len(said) :]
        else:
            found.append(parts.pop(0))
    return found


def _visual(element: Element, body: str, materials: dict[str, Vector]) -> Shape:
    at, q = origin(element)
    geometry = element.child("geometry")
    found = geometry.children if geometry is not None else []
    kind = SHAPES.find(found[0].tag) if len(found) == 1 and found[0].tag in SHAPES else None
    if kind is None or not kind.urdf:
        what = ", ".join(f"<{f.tag:.40}>" for f in found) or "nothing"
        raise element.error(f"its geometry is {what}; give one <box>, <cylinder>, <sphere> or <mesh>.")
    form, usual = found[0], kind.usual or None
    size = tuple(x for key, count in kind.urdf.items() for x in form.vector(key, usual, count))
    file = form.text("filename") if kind.from_file else ""
    rgba = _colour(element, materials)
    return placed(element, shape, f"shape of body '{body}'", form.tag, size, at, q, rgba, file)


def _extended_shape(visual: Element, body: str, part: Shape) -> Shape | None:
    """The shape that the extension of a visual says it is, with those that follow."""
    extension = visual.child(EXTENSION)
    if extension is None or "shape" not in extension.attributes:
        return None
    where = f"shape of body '{body}' (its <visual> counts without this <{EXTENSION}>)"
    size = tuple(extension.vector("size", count=len(extension.text("size").split())))
    at, q = extension.vector("at", ZERO), extension.vector("rotation", IDENTITY, count=4)
    file = extension.attributes.get("file", "")
    return placed(extension, shape, where, extension.text("shape"), size, at, q, part.rgba, file)


def _alike(a: Shape, b: Shape) -> bool:
    """Whether they are one but for round-off."""
    far = SAME_ATTITUDE * max(kind_of(a).radius(a), math.hypot(*a.at))
    turned = min(math.dist(a.quaternion, b.quaternion), math.dist(a.quaternion, [-c for c in b.quaternion]))
    near = a.kind == b.kind and max(map(abs, np.subtract((*a.size, *a.at), (*b.size, *b.at)).tolist())) <= far
    return near and turned <= SAME_ATTITUDE and a.rgba == b.rgba and a.file == b.file


def _colour(visual: Element, materials: dict[str, Vector]) -> Vector:
    material = visual.child("material")
    if material is None:
        return GREY
    colour = material.child("color")
    if colour is not None:
        return colour.vector("rgba", count=4)
    return materials.get(material.attributes.get("name", ""), GREY)


def joint(element: Element) -> Joint:
    """The joint in `element`: a hinge, or a single axis of one."""
    word = element.text("type")
    if word not in TYPES:
        raise element.error(f"'{word[:40]}' is not a type of joint; use one of {', '.join(TYPES)}.")
    ends = []
    for tag in ("parent", "child"):
        end = element.child(tag)
        if end is None:
            raise element.error(f"<{tag}> is missing; a joint joins a parent and a child link.")
        ends.append(end.text("link"))
    at, q = origin(element)
    made = Joint(element.text("name"), element, TYPES[word], ends[0], ends[1], at, q)
    given: dict[str, Any] = {}
    if made.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC, JointKind.PLANAR):
        axis = element.child("axis")
        given["axis"] = AXIS if axis is None else axis.vector("xyz", AXIS)
        if axis is not None and not any(given["axis"]):
            raise axis.error("xyz has length zero and gives no direction.")
    if word in ("revolute", "prismatic"):
        given |= _limits(element, word)
    dynamics = element.child("dynamics")
    if dynamics is not None and word != "fixed":
        given |= {key: dynamics.number(key) for key in ("damping", "friction") if key in dynamics.attributes}
    made = _extended(made._replace(given=given))
    return made if element.child("mimic") is None else _mimicking(made, word)


def _limits(element: Element, word: str) -> dict[str, Any]:
    """limits, where they are any."""
    limit = element.child("limit")
    if limit is None:
        unbounded = "a joint that turns without end is continuous" if word == "revolute" else "±1e9 is none"
        raise element.error(f"a {word} joint needs <limit lower= upper= ...>; {unbounded}.")
    lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
    for key in ("effort", "velocity"):
        if key in limit.attributes and not _not_negative(limit.attributes[key]):
            raise limit.error(f"{key} '{limit.attributes[key][:40]}' is not a number >= 0.")
    if lower >= upper:
        raise limit.error(
            f"lower {lower:g} is not below upper {upper:g}. A joint that cannot move has the type fixed"
            + (", one without limits the type continuous." if word == "revolute" else ".")
        )
    largest = max((abs(bound) for bound in (lower, upper) if abs(bound) < UNLIMITED), default=0.0)
    if word == "revolute" and largest > DEGREES_SUSPECTED:
        warnings.warn(
            str(limit.error(f"{lower:g} to {upper:g} rad: is this in degrees? URDF wants rad.")), stacklevel=2
        )
    if lower <= -UNLIMITED and upper >= UNLIMITED:
        return {}
    return {"limits": (lower if lower > -UNLIMITED else -math.inf, upper if upper < UNLIMITED else math.inf)}


def _not_negative(text: str) -> bool:
    try:
        return float(text) >= 0
    except ValueError:
        return False


def _extended(made: Joint) -> Joint:
    """What the extension adds: the kind of a hinge that URDF does not know, springs, exact axes."""
    extension = made.element.child(EXTENSION)
    if extension is None:
        return made
    known = ("kind", "hinge", "quaternion", "axis", "axis2", "pitch", *SPRING)
    for key in extension.attributes:
        if key not in known:
            raise extension.error(f"unknown attribute '{key[:40]}'; the attributes here are {', '.join(known)}.")
    given = made.given | {key: extension.number(key) for key in (*SPRING, "pitch") if key in extension.attributes}
    given |= {key: extension.vector(key) for key in ("axis", "axis2") if key in extension.attributes}
    made = made._replace(given=given)
    kind = extension.attributes.get("kind", "")
    chains = {kind.name.lower(): kind for kind in CHAINED}
    if kind == "spherical" and made.kind == JointKind.FREE:
        return made._replace(kind=JointKind.SPHERICAL)
    if kind in chains and made.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        return made._replace(hinge=extension.text("hinge"), hinge_kind=chains[kind])
    if kind:
        raise extension.error(
            f"kind '{kind[:40]}' does not go with a {made.element.text('type')} joint: spherical goes with floating, "
            f"{', '.join(chains)} with single axes."
        )
    return made


def _mimicking(made: Joint, word: str) -> Joint:
    """A joint that follows another; with multiplier 0 it is fixed at the offset."""
    mimic = made.element.child("mimic")
    assert mimic is not None
    if made.kind not in (JointKind.REVOLUTE, JointKind.PRISMATIC):
        raise mimic.error(f"joint '{made.name}' is {word}; only a joint of a single axis can mimic one.")
    leader, ratio, offset = mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
    if ratio == 0 and not made.hinge:
        return _held(made, offset)
    return made._replace(mimic={"leader": leader, "ratio": ratio, "offset": offset})


def _held(made: Joint, offset: float) -> Joint:
    """The joint as a fixed one, at its offset."""
    axis = np.array(made.given["axis"]) / np.linalg.norm(made.given["axis"])
    at, q = made.at, made.quaternion
    if made.kind == JointKind.REVOLUTE:
        q = qmul(q, turn_quat(tuple(axis.tolist()), offset))
    else:
        at = tuple(np.add(at, qturn(q, tuple((offset * axis).tolist()))).tolist())
    return made._replace(kind=JointKind.FIXED, at=at, quaternion=q, given={})


def placed(element: Element, make, *args, **kwargs):
    """make(...), its ModelError told with the place in the file."""
    try:
        return make(*args, **kwargs)
    except ModelError as err:
        raise element.error(str(err)) from err
