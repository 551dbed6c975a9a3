"""A change of modes, asked for -> the modes after it. Everything that can be wrong with it is found here."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from rbt_ros.core.vec import qconj, qturn, sub
from rbt_ros.errors import ModelError
from rbt_ros.model.checks import unit, vector
from rbt_ros.model.constraints import PRESCRIBE, Coupling, follow, prescribe
from rbt_ros.model.links import links_now, relative_pose, rigid_root
from rbt_ros.model.measured import Measured, begun, checked_measured
from rbt_ros.model.modes import (
    Change,
    Dock,
    Docked,
    Lock,
    Modes,
    Prescribe,
    Release,
    Undock,
    Unlock,
    as_names,
    check_change,
)
from rbt_ros.model.robot import Robot


class Outcome(NamedTuple):
    """What a change makes of the modes."""

    modes: Modes
    names: tuple[str, ...]  # of hinges, docks, joints that change
    unchanged: tuple[str, ...] = ()  # that are so already


class Here(NamedTuple):
    """Where the robot is when its modes change."""

    q: np.ndarray  # (nq,) its coordinates
    v: np.ndarray  # (nv,) and velocities
    pose: np.ndarray  # (n, 7) [q_WB, p_WB] of its bodies' frames
    t_ns: int


def changed(robot: Robot, modes: Modes, change: Change, here: Here) -> Outcome:
    """The modes after `change`; ModelError where it cannot be."""
    check_change(robot, change)
    if isinstance(change, Lock | Unlock):
        return _locked(robot, modes, as_names(change.hinges), isinstance(change, Lock), here)
    if isinstance(change, Dock):
        return _docked(robot, modes, change, here)
    if isinstance(change, Undock):
        left = tuple(dock for dock in modes.docked if dock.name != change.dock)
        if len(left) == len(modes.docked):
            known = ", ".join(dock.name for dock in modes.docked) or "none"
            raise ModelError(f"nothing is docked by the name of {change.dock!r:.80}; docks that hold: {known}.")
        return Outcome(modes._replace(docked=left), (change.dock,))
    if isinstance(change, Prescribe):
        if isinstance(change.motion, Measured):
            motion = _follows(robot, change.joint, change.motion, here)
        else:
            motion = replace(prescribe(change.joint, change.motion), origin_ns=here.t_ns)
        others = tuple(c for c in modes.prescribed if c.name != change.joint)
        return Outcome(modes._replace(prescribed=(*others, motion)), (change.joint,))
    if isinstance(change, Release):
        return _released(robot, modes, change)
    kinds = "Lock, Unlock, Dock, Undock, Prescribe, Release"
    raise ModelError(f"{change!r:.80} is no change of modes; use one of rbt.{kinds}.")


def _follows(robot: Robot, joint: str, how: Measured, here: Here) -> Coupling:
    """A joint that follows measurements, from where it is."""
    _, q, v = robot.joint_place(joint)
    how = checked_measured(how, f"measured joint '{joint}'")
    return follow(joint, begun(how, here.t_ns, float(here.q[q]), float(here.v[v])))


def _locked(robot: Robot, modes: Modes, names: tuple[str, ...], lock: bool, here: Here) -> Outcome:
    names = tuple(dict.fromkeys(names))
    unchanged = tuple(name for name in names if (name in modes.locked) == lock)
    new = tuple(name for name in names if name not in unchanged)
    after = {*modes.locked, *new} if lock else {*modes.locked} - {*new}
    in_order = tuple(hinge.name for hinge in robot.hinges if hinge.name in after)
    if lock:
        return Outcome(modes._replace(locked=in_order), new, unchanged)
    prescribed = tuple(
        _follows(robot, c.name, c.followed.how, here)
        if c.followed and robot.hinges[robot.joint_place(c.name)[0]].name in new
        else c
        for c in modes.prescribed
    )
    return Outcome(modes._replace(locked=in_order, prescribed=prescribed), new, unchanged)


def _released(robot: Robot, modes: Modes, change: Release) -> Outcome:
    own = any(c.name == change.joint and c.kind == PRESCRIBE for c in robot.constraints)
    others = tuple(c for c in modes.prescribed if c.name != change.joint)
    if change.joint in modes.released or (not own and others == modes.prescribed):
        return Outcome(modes, (), (change.joint,))
    released = (*modes.released, change.joint) if own else modes.released
    return Outcome(modes._replace(prescribed=others, released=released), (change.joint,))


def _docked(robot: Robot, modes: Modes, dock: Dock, here: Here) -> Outcome:
    where = f"dock '{dock.title}'"
    for there in modes.docked:
        if there.name == dock.title and {there.body_a, there.body_b} == {dock.body_a, dock.body_b}:
            return Outcome(modes, (), (dock.title,))
        if there.name == dock.title:
            raise ModelError(
                f"{where}: '{there.body_a}' and '{there.body_b}' are docked by this name already; give another: name=."
            )
    links, _ = links_now(robot, modes, here.q, here.pose)
    if rigid_root(links, dock.body_a) == rigid_root(links, dock.body_b):
        raise ModelError(
            f"{where}: '{dock.body_a}' and '{dock.body_b}' are one rigid piece now (fixed and locked hinges, docks); "
            "nothing is there to join. Unlock a hinge between them first, or undock what joins them."
        )
    frames = {body.name: here.pose[i] for i, body in enumerate(robot.bodies)}
    q_AB, p_AB = relative_pose(frames, dock.body_a, dock.body_b)
    at, axis, q_BA = vector(dock.at, f"at of {where}"), unit(dock.axis, f"axis of {where}"), qconj(q_AB)
    made = Docked(
        dock.title,
        dock.kind,
        dock.body_a,
        dock.body_b,
        at,
        qturn(q_BA, sub(at, p_AB)),
        axis,
        qturn(q_BA, axis),
        q_AB,
        p_AB,
    )
    return Outcome(modes._replace(docked=(*modes.docked, made)), (dock.title,))
