"""A robot like another, with other dampers, when friction is set while it moves; and what dampers do not slow."""

import warnings
from dataclasses import replace

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.types import NV, JointKind
from rbt_ros.errors import ModelError
from rbt_ros.model.arrays import frozen
from rbt_ros.model.checks import number
from rbt_ros.model.robot import Robot


def with_friction(robot: Robot, hinge: str, damping: float | None, internal: float | None) -> Robot:
    """`robot` with that damping [N·m·s/rad, N·s/m] of a hinge, and friction inside a lone body afloat [W].

    None: as it was. On a free hinge damping is of its turning only, as in `RobotBuilder.hinge`.
    """
    i = robot.hinge_index(hinge)
    kind, first = robot.hinges[i].kind, int(robot.model.tree[i, t.V])
    freedom = robot.model.freedom.copy()
    for what, value in (("damping", damping), ("internal_friction", internal)):
        if value is not None and not 0.0 <= number(value, f"{what} of hinge '{hinge}'"):
            raise ModelError(f"hinge '{hinge}': {what} {value:g} must not be negative; it would drive the motion.")
    if damping is not None:
        freedom[first : first + (3 if kind == JointKind.FREE else NV[kind]), t.DAMPING] = damping
    if internal is not None:
        if kind != JointKind.FREE or len(robot.bodies) > 1:
            raise ModelError(f"hinge '{hinge}': internal_friction is of a lone body that floats; use damping here.")
        freedom[first, t.SINK] = internal
    return replace(robot, model=robot.model._replace(freedom=frozen(freedom)))


def warn_of_no_drag(robot: Robot, world: np.ndarray) -> None:
    """Warn where damping of a floating body may be meant to drag its way too: where it falls, or there are ropes."""
    if not (world[t.GRAVITY : t.GRAVITY + 3].any() or robot.ropes):
        return
    for hinge, (*_, first) in zip(robot.hinges, robot.model.tree.tolist(), strict=True):
        damping = float(robot.model.freedom[first, t.DAMPING]) if hinge.kind == JointKind.FREE else 0.0
        if damping > 0.0:
            warnings.warn(
                f"hinge '{hinge.name}': damping {damping:g} N·m·s/rad of a free hinge slows the turning of body "
                f"'{hinge.child}' only, nothing drags its way; the force linear_drag does (docs/forces.md).",
                stacklevel=4,
            )
