"""How the parts of a URDF document hang together: one tree, hinges of several axes, links without mass."""

import math
from collections.abc import Iterable, Sequence

from rbt_ros.core.hinge_kinds import FIRST, HINGE_KINDS, SECOND
from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import qmul, qturn
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY, Quaternion
from rbt_ros.model.checks import unit
from rbt_ros.model.elements import Element, Vector
from rbt_ros.model.robot import WORLD, Hinge
from rbt_ros.model.urdf_parts import SPRING, ZERO, Joint, Link
from rbt_ros.plug.shapes import moved

NOWHERE = (0.0, 0.0, 0.0)
SAME = 1e-9  # to which the parts of a chain must agree


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
        hinges.append(_joined(name, chain[0].hinge_kind, chain, links, joints))
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


def _joined(name: str, kind: JointKind, chain: list[Joint], links: dict[str, Link], joints: dict[str, Joint]) -> Joint:
    """The hinge that a chain of joints is, if it is as our writer makes it; the links between go."""
    bare = Hinge(name, kind, "", "", NOWHERE, IDENTITY, NOWHERE, NOWHERE)
    expected = bare.single_axes
    names = [single.joint for single in expected]
    chain = sorted(chain, key=lambda joint: names.index(joint.name) if joint.name in names else -1)
    first, last, about = chain[0], chain[-1], [HINGE_KINDS[kind].freedoms[single.freedom].about for single in expected]

    def wrong(joint: Joint, what: str) -> ModelError:
        way_out = "To read them as hinges of their own, remove kind and hinge from <rbt>."
        return joint.element.error(f"hinge '{name}' is {kind.name.lower()}: {what}. {way_out}")

    if [(j.name, j.kind, j.hinge_kind) for j in chain] != [(single.joint, single.kind, kind) for single in expected]:
        wanted = ", ".join(f"{single.joint} ({single.kind.name.lower()})" for single in expected)
        raise wrong(first, f"joints {wanted}, not {', '.join(f'{j.name} ({j.kind.name.lower()})' for j in chain)}")
    for inner, outer in zip(chain, chain[1:], strict=False):
        link, place = links[inner.child], (outer.at, outer.quaternion)
        users = [j.name for j in joints.values() if j.parent == inner.child]
        if users != [outer.name] or link.inertial or link.shapes or place != (ZERO, IDENTITY):
            alone = "must hang alone, without <origin>, on the bare link"
            raise wrong(outer, f"joint '{outer.name}' {alone} that joint '{inner.name}' moves")
        del links[inner.child]
    own = [joint for joint in chain if joint.name in bare.joint_names]  # others go with one of these
    for one, other in zip(own, own[1:], strict=False):
        if [one.given.get(key, 0.0) for key in SPRING] != [other.given.get(key, 0.0) for key in SPRING]:
            values = f"it has one {', '.join(SPRING)} for all its freedoms"
            raise wrong(other, f"{values}, and joints '{one.name}' and '{other.name}' differ in them")
    given = {key: value for key, value in (first.given | own[0].given).items() if key not in ("axis", "limits")}
    given["axis"] = chain[about.index(FIRST)].given["axis"]
    if SECOND in about:
        given["axis2"] = chain[about.index(SECOND)].given["axis"]
    if "pitch" not in given and any(freedom.winds for freedom in HINGE_KINDS[kind].freedoms):
        raise wrong(own[0], f"its pitch is missing in the <rbt> of joint '{own[0].name}', in m for each full turn")
    axes = (unit(given["axis"], first.name), unit(given.get("axis2", given["axis"]), first.name))
    said = Hinge(name, kind, "", "", NOWHERE, IDENTITY, *axes, pitch=given.get("pitch", 0.0)).single_axes
    for joint, single in zip(chain, said, strict=True):
        if math.dist(unit(joint.given["axis"], joint.name), single.axis) > SAME:
            raise wrong(joint, f"the axis of joint '{joint.name}' must be ({_numbers(single.axis)}) beside the others'")
        if joint.name not in bare.joint_names and not _goes_with(joint, names[-1], single.ratio):
            raise wrong(
                joint,
                f"joint '{joint.name}' must mimic '{names[-1]}' by pitch / 2π = {single.ratio:.9g} m/rad, offset 0",
            )
    if any("limits" in joint.given for joint in own):
        given["limits"] = [joint.given.get("limits", (-math.inf, math.inf)) for joint in own]
    return Joint(name, first.element, kind, first.parent, last.child, first.at, first.quaternion, given)


def _goes_with(joint: Joint, leader: str, ratio: float) -> bool:
    mimic = joint.mimic or {"leader": "", "ratio": 0.0, "offset": 0.0}
    return (mimic["leader"], mimic["offset"]) == (leader, 0.0) and abs(mimic["ratio"] - ratio) <= SAME * abs(ratio)


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:.9g}" for value in values)


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
        looks = [moved(shape, p, q) for shape in links.pop(gone).shapes]
        if kept in links:
            links[kept].shapes.extend(looks)


def _seen_through(p: Vector, q: Quaternion, part) -> dict:
    """at and quaternion of `part`, from the frame in which p, q place the frame it is given in."""
    at = tuple(a + b for a, b in zip(p, qturn(q, part.at), strict=True))
    return {"at": at, "quaternion": qmul(q, part.quaternion)}
