"""The tree as it hangs together now: a link per body, hinges locked, floating trees re-rooted where they dock."""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.types import KIND, NQ, JointKind, Q
from rbt_ros.core.vec import add, qconj, qmul, qturn, scale, turn_quat
from rbt_ros.model.attitude import IDENTITY
from rbt_ros.model.checks import WORLD
from rbt_ros.model.constraints import Vector
from rbt_ros.model.modes import DOCK_KINDS, Docked, Modes
from rbt_ros.model.robot import Hinge, Robot

ORIGIN: Vector = (0.0, 0.0, 0.0)
X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)


class Link(NamedTuple):
    """How a body hangs on another now."""

    hinge: Hinge  # between the frames of both bodies as the user knows them
    point: Vector = ORIGIN  # of the hinge in the child's frame, at zero [m]
    source: int = -1  # the robot's hinge whose coordinates it has; -1: it has none of them
    turned: bool = False  # whether parent and child have changed places against that hinge


Links = dict[str, Link]  # by the body that hangs


def links_now(robot: Robot, modes: Modes, q: np.ndarray, pose: np.ndarray) -> tuple[Links, list[Docked]]:
    """The links of all bodies, and the docks that close loops, so that no link can be made of them.

    q: the robot's coordinates, of which those of locked hinges count; pose (n, 7): of its bodies' frames, now.
    """
    links: Links = {}
    for i, hinge in enumerate(robot.hinges):
        at = slice(robot.model.tree[i, Q], robot.model.tree[i, Q] + NQ[robot.model.tree[i, KIND]])
        if hinge.name in modes.locked:
            links[hinge.child] = weld(hinge.name, hinge.parent, hinge.child, *hinge_pose(hinge, q[at]))
        else:
            links[hinge.child] = Link(hinge, source=i)
    loops = []
    for dock in modes.docked:
        frames = {body.name: pose[i] for i, body in enumerate(robot.bodies)}
        if not _hang(links, dock, frames):
            loops.append(dock)
    return links, loops


def hinge_pose(hinge: Hinge, q: np.ndarray) -> tuple[tuple, Vector]:
    """q_PB, and p_PB in P [m]: where a hinge at q (its own coordinates) puts its child in its parent."""
    if hinge.kind == JointKind.SPHERICAL:
        return qmul(hinge.quaternion, tuple(q.tolist())), hinge.at
    q_PB, p_PB = hinge.quaternion, hinge.at
    for single in hinge.single_axes:
        x = single.ratio * float(q[single.freedom])
        if single.kind == JointKind.PRISMATIC:
            p_PB = add(p_PB, qturn(q_PB, scale(x, single.axis)))
        else:
            q_PB = qmul(q_PB, turn_quat(single.axis, x))
    return q_PB, p_PB


def weld(name: str, parent: str, child: str, q_PB: tuple, p_PB: Vector) -> Link:
    """A link that does not move."""
    return Link(Hinge(name, JointKind.FIXED, parent, child, p_PB, q_PB, Z, X))


def turn_round(link: Link) -> Link:
    """The same link with its child as the parent.

    R_CP = R(a, -q) R_PJᵀ = R_PJᵀ R(-R_PJ a, q): the coordinate stays, its axis is the opposite one, given in P.
    """
    h, q_JP = link.hinge, qconj(link.hinge.quaternion)
    if h.kind == JointKind.FIXED:
        return weld(h.name, h.child, h.parent, q_JP, scale(-1.0, qturn(q_JP, h.at)))
    axis, axis2 = (scale(-1.0, qturn(h.quaternion, a)) for a in (h.axis, h.axis2))
    swaps = HINGE_KINDS[h.kind].swaps
    if swaps:  # the axis that was the child's comes first now
        axis, axis2 = axis2, axis
    swapped = swaps and not h.swapped
    turned = Hinge(h.name, h.kind, h.child, h.parent, link.point, q_JP, axis, axis2, swapped, h.pitch)
    return Link(turned, h.at, link.source, not link.turned)


def path_to_root(links: Links, body: str) -> list[Link]:
    """The links from a body down to the world."""
    path = [links[body]]
    while path[-1].hinge.parent != WORLD:
        path.append(links[path[-1].hinge.parent])
    return path


def rigid_root(links: Links, body: str) -> str:
    """The first body of the rigid piece that a body belongs to; the world, if that stands still."""
    while body != WORLD and links[body].hinge.kind == JointKind.FIXED:
        body = links[body].hinge.parent
    return body


def _hang(links: Links, dock: Docked, frames: dict[str, np.ndarray]) -> bool:
    """Hang the tree of one of the two docked bodies on the other one, if that tree floats; whether it was done."""
    for carrier, carried in ((dock.body_a, dock.body_b), (dock.body_b, dock.body_a)):
        if carried == WORLD or not _can_move(links, carrier, carried):
            continue
        for link in path_to_root(links, carried)[:-1]:
            links[link.hinge.parent] = turn_round(link)
        link = _dock_link(dock, frames)
        links[carried] = link if carried == dock.body_b else turn_round(link)
        return True
    return False


def _can_move(links: Links, carrier: str, carried: str) -> bool:
    """Whether the tree of `carried` floats by itself, and can be seen from that body."""
    *path, root = path_to_root(links, carried)
    same = carrier != WORLD and path_to_root(links, carrier)[-1] is root
    return root.hinge.kind == JointKind.FREE and not same and all(HINGE_KINDS[x.hinge.kind].reversible for x in path)


def _dock_link(dock: Docked, frames: dict[str, np.ndarray]) -> Link:
    """body_b on body_a, at zero as they lie: a weld as when it was made, what can turn as it has turned since."""
    if dock.kind == "weld":
        return weld(dock.name, dock.body_a, dock.body_b, dock.quaternion, dock.position)
    q_AB, _ = relative_pose(frames, dock.body_a, dock.body_b)
    kind, a, b = DOCK_KINDS[dock.kind], dock.body_a, dock.body_b
    return Link(Hinge(dock.name, kind, a, b, dock.at_a, q_AB, dock.axis_b, X), dock.at_b)


def relative_pose(frames: dict[str, np.ndarray], a: str, b: str) -> tuple[tuple, Vector]:
    """q_AB and p_AB in A [m] from the poses [q_W, p_W] of two bodies, or the world."""
    (q_WA, p_WA), (q_WB, p_WB) = (_pose(frames, body) for body in (a, b))
    q_AW = qconj(q_WA)
    p_AB = tuple(y - x for x, y in zip(p_WA, p_WB, strict=True))
    return qmul(q_AW, q_WB), qturn(q_AW, p_AB)


def _pose(frames: dict[str, np.ndarray], body: str) -> tuple[tuple, tuple]:
    if body == WORLD:
        return IDENTITY, ORIGIN
    return tuple(frames[body][:4].tolist()), tuple(frames[body][4:].tolist())
