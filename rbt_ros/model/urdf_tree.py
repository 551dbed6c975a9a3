"""How the parts of a URDF document hang together: one tree, hinges of several axes, links without mass."""

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import qmul, qturn
from rbt_ros.model.attitude import IDENTITY, Quaternion
from rbt_ros.model.elements import Element, Vector
from rbt_ros.model.robot import FREEDOM_NAMES, WORLD
from rbt_ros.model.shapes import Shape
from rbt_ros.model.urdf_parts import SPRING, ZERO, Joint, Link

TURN, SLIDE = JointKind.REVOLUTE, JointKind.PRISMATIC
CHAINS = {  # the single axes of a hinge, in the order of FREEDOM_NAMES
    JointKind.CYLINDRICAL: (TURN, SLIDE),
    JointKind.UNIVERSAL: (TURN, TURN),
    JointKind.PLANAR: (SLIDE, SLIDE, TURN),
}


def root_of(document: Element, links: dict[str, Link], joints: Iterable[Joint]) -> str:
    """The one link on which all others hang; an error where there is no such tree."""
    if not links:
        raise document.error("there is no link in it; a robot has at least one.")
    carried: dict[str, Joint] = {}
    for joint in joints:
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise joint.element.error(f"its {role} '{name[:40]}' is not a link; there are {', '.join(links)}.")
        if joint.child in carried:
            other = carried[joint.child]
            raise joint.element.error(
                f"link '{joint.child}' hangs on joint '{other.name}' already (line {other.element.line}); a link has "
                "one parent. Close loops with a constraint instead."
            )
        carried[joint.child] = joint
    roots = [name for name in links if name not in carried]
    if len(roots) > 1:
        names = ", ".join(f"'{name}'" for name in roots)
        raise links[roots[1]].element.error(
            f"the links {names} hang on nothing, and a URDF robot is one tree; join them, or hang each on a link "
            f"'{WORLD}' by a joint (fixed or floating)."
        )
    held = set(roots)
    while True:
        more = {joint.child for joint in carried.values() if joint.parent in held} - held
        if not more:
            break
        held |= more
    for joint in carried.values():
        if joint.child not in held:
            around = [joint]
            while around[-1].parent != around[0].child and len(around) <= len(carried):
                around.append(carried[around[-1].parent])
            names = ", ".join(f"'{j.child}' on '{j.parent}'" for j in around[: len(carried)])
            raise joint.element.error(f"the joints close a cycle ({names}). Close loops with a constraint instead.")
    root = links[roots[0]]
    if WORLD in links and (root.name != WORLD or root.inertial):
        why = "has an <inertial>" if root.name == WORLD else f"hangs on '{carried[WORLD].parent}'"
        raise links[WORLD].element.error(f"it {why}, but '{WORLD}' is the name of what stands still; rename the link.")
    return root.name


def hinges_of(links: dict[str, Link], joints: dict[str, Joint]) -> list[Joint]:
    """The joints, those that are the single axes of one hinge put together again; links between them go."""
    hinges: list[Joint] = []
    parts: dict[str, list[Joint]] = {}
    for joint in joints.values():
        if joint.hinge:
            parts.setdefault(joint.hinge, []).append(joint)
        else:
            hinges.append(_floating(joint) if joint.kind == JointKind.FREE else joint)
    for name, chain in parts.items():
        kind = chain[0].hinge_kind
        names = [f"{name}_{suffix}" for suffix in FREEDOM_NAMES[kind]]
        chain.sort(key=lambda joint: names.index(joint.name) if joint.name in names else -1)
        _check_chain(name, kind, names, chain, links, joints)
        for joint in chain[:-1]:
            del links[joint.child]
        hinges.append(_joined(name, kind, chain))
    return hinges


def _floating(joint: Joint) -> Joint:
    if joint.parent != WORLD:
        raise joint.element.error(
            f"link '{joint.child}' floats against '{joint.parent}'; only against '{WORLD}' can it. A ball hinge is a "
            'floating joint with <rbt kind="spherical"/> in it.'
        )
    if any(joint.at) or joint.quaternion != IDENTITY:
        raise joint.element.error(
            f"a floating joint has no <origin>; place link '{joint.child}' at the start of the scenario instead "
            f"(start: bodies: {joint.child}: position)."
        )
    return joint


def _check_chain(
    name: str, kind: JointKind, names: list[str], chain: list[Joint], links: dict[str, Link], joints: dict[str, Joint]
) -> None:
    """Whether the chain is as our writer makes it."""
    first, word = chain[0], kind.name.lower()
    way_out = "To read them as hinges of their own, remove kind and hinge from <rbt>."
    expected = [(n, k, kind) for n, k in zip(names, CHAINS[kind], strict=True)]
    if [(j.name, j.kind, j.hinge_kind) for j in chain] != expected:
        axes = ", ".join(f"{n} ({k.name.lower()})" for n, k, _ in expected)
        found = ", ".join(f"{j.name} ({j.kind.name.lower()})" for j in chain)
        raise first.element.error(f"hinge '{name}' is {word}: joints {axes}, not {found}. {way_out}")
    for inner, outer in zip(chain, chain[1:], strict=False):
        link, place = links[inner.child], (outer.at, outer.quaternion)
        users = [j.name for j in joints.values() if j.parent == inner.child]
        if users != [outer.name] or link.inertial or link.shapes or place != (ZERO, IDENTITY):
            raise outer.element.error(
                f"hinge '{name}' is {word}: joint '{outer.name}' must hang alone, without <origin>, on the bare link "
                f"that joint '{inner.name}' moves. {way_out}"
            )
        if [inner.given.get(key, 0.0) for key in SPRING] != [outer.given.get(key, 0.0) for key in SPRING]:
            raise outer.element.error(
                f"hinge '{name}' has one {', '.join(SPRING)} for all its freedoms, and joints '{inner.name}' and "
                f"'{outer.name}' differ in them. {way_out}"
            )
    a = [np.array(joint.given["axis"]) / np.linalg.norm(joint.given["axis"]) for joint in chain]
    straight = {
        JointKind.CYLINDRICAL: lambda: np.abs(a[0] - a[1]).max(),
        JointKind.UNIVERSAL: lambda: 0.0,
        JointKind.PLANAR: lambda: np.abs(np.cross(a[2], a[0]) - a[1]).max(),
    }
    if straight[kind]() > 1e-9:
        rule = "both axes alike" if kind == JointKind.CYLINDRICAL else "x, y and the axis of the turn at right angles"
        raise first.element.error(f"hinge '{name}' is {word}: it has {rule}. {way_out}")


def _joined(name: str, kind: JointKind, chain: list[Joint]) -> Joint:
    first, last = chain[0], chain[-1]
    given = {key: value for key, value in first.given.items() if key not in ("axis", "limits")}
    given["axis"] = last.given["axis"] if kind == JointKind.PLANAR else first.given["axis"]
    if kind == JointKind.PLANAR:
        given["axis2"] = first.given["axis"]
    elif kind == JointKind.UNIVERSAL:
        given["axis2"] = last.given["axis"]
    if any("limits" in joint.given for joint in chain):
        given["limits"] = [joint.given.get("limits", (-math.inf, math.inf)) for joint in chain]
    return Joint(name, first.element, kind, first.parent, last.child, first.at, first.quaternion, given)


def merge_massless(root: str, links: dict[str, Link], hinges: list[Joint]) -> list[Joint]:
    """The hinges left when every link without <inertial> on a fixed joint has become a part of its parent.

    A root without <inertial> that floats becomes a part of the link fixed to it.
    """
    hinges = list(hinges)
    while True:
        fixed = [h for h in hinges if h.kind == JointKind.FIXED]
        bare = next((h for h in fixed if not links[h.child].inertial), None)
        if bare is not None:
            gone, kept, p, q = bare.child, bare.parent, bare.at, bare.quaternion
        else:
            floats = root in links and not links[root].inertial and all(h.child != root for h in hinges)
            bare = next((h for h in fixed if h.parent == root), None) if floats else None
            if bare is None:
                return hinges
            w, x, y, z = bare.quaternion
            gone, kept, q = root, bare.child, (w, -x, -y, -z)
            p = tuple(-c for c in qturn(q, bare.at))
            root = kept
        hinges.remove(bare)
        hinges = [h._replace(parent=kept, **_seen_through(p, q, h)) if h.parent == gone else h for h in hinges]
        looks = [_moved(shape, p, q) for shape in links.pop(gone).shapes]
        if kept in links:
            links[kept].shapes.extend(looks)


def _seen_through(p: Vector, q: Quaternion, part) -> dict:
    """at and quaternion of `part`, from the frame in which p, q place the frame it is given in."""
    at = tuple(a + b for a, b in zip(p, qturn(q, part.at), strict=True))
    return {"at": at, "quaternion": qmul(q, part.quaternion)}


def _moved(shape: Shape, p: Vector, q: Quaternion) -> Shape:
    return replace(shape, **_seen_through(p, q, shape))
