"""A robot like another, with other dampers: what changes when friction is set while it moves."""

from dataclasses import replace

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
