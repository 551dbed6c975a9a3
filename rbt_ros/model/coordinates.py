"""Poses and hinge positions as people give them -> the engine's y = [q, v]. A body's frame is that of the user."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.types import NQ, NV, JointKind
from rbt_ros.core.vec import rotation
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import as_quaternion
from rbt_ros.model.checks import numbers
from rbt_ros.model.robot import Robot

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class BodyStart:
    """Where a floating body's frame is and how it moves; what is None stays as it was."""

    position: Sequence[float] | None = None  # p_WB [m]
    quaternion: Sequence[float] | None = None  # q_WB
    euler: Sequence[Any] | None = None  # or ("ZYX", a, b, c) [rad]
    velocity: Sequence[float] | None = None  # v_WB of the frame's origin, world axes [m/s]
    omega_body: Sequence[float] | None = None  # w_WB_B [rad/s]


@dataclass(frozen=True)
class HingeStart:
    """Where a hinge is and how it moves; what is None stays as it was."""

    position: float | Sequence[float] | None = None  # of each one-axis freedom [rad, m]
    rate: float | Sequence[float] | None = None  # [rad/s, m/s]
    quaternion: Sequence[float] | None = None  # q_JB of a spherical hinge
    euler: Sequence[Any] | None = None  # or ("ZXZ", a, b, c) [rad]
    omega: Sequence[float] | None = None  # w_PB_B of a spherical hinge [rad/s]


def coordinate_slices(robot: Robot, i: int) -> tuple[slice, slice]:
    """The places of hinge i's q and v in y."""
    kind, q, v = robot.model.tree[i, [t.KIND, t.Q, t.V]]
    v += robot.coordinates
    return slice(q, q + NQ[kind]), slice(v, v + NV[kind])


def neutral(robot: Robot) -> np.ndarray:
    """y with all hinges at zero, all floating frames on the world's, everything at rest."""
    y = np.zeros(robot.coordinates + robot.freedoms)
    for i, hinge in enumerate(robot.hinges):
        q, _ = coordinate_slices(robot, i)
        if hinge.kind == JointKind.SPHERICAL:
            y[q] = (1, 0, 0, 0)
        elif hinge.kind == JointKind.FREE:
            y[q] = (1, 0, 0, 0, *-robot.origin_shift[i])
    return y


def put_body(robot: Robot, y: np.ndarray, name: str, start: BodyStart) -> None:
    """Place the floating body `name` in y; nothing changes when something is wrong."""
    i = robot.body_index(name)
    if robot.hinges[i].kind != JointKind.FREE:
        raise ModelError(f"body '{name}' hangs on hinge '{robot.hinges[i].name}'; set the start of that hinge.")
    at_q, at_v = coordinate_slices(robot, i)
    where, shift = f"body '{name}'", robot.origin_shift[i]
    R, w_B = _matrix(y[at_q][:4]), y[at_v][:3]
    p_WB, v_WB = y[at_q][4:] + R @ shift, y[at_v][3:] + R @ np.cross(w_B, shift)
    q_WB = _given_attitude(start.quaternion, start.euler, y[at_q][:4], where)
    w_B = _given(start.omega_body, w_B, f"omega_body of {where}", "rad/s")
    p_WB = _given(start.position, p_WB, f"position of {where}", "m")
    v_WB = _given(start.velocity, v_WB, f"velocity of {where}", "m/s")
    R = _matrix(q_WB)
    y[at_q] = (*q_WB, *(p_WB - R @ shift))
    y[at_v] = (*w_B, *(v_WB - R @ np.cross(w_B, shift)))


def put_hinge(robot: Robot, y: np.ndarray, name: str, start: HingeStart) -> None:
    """Set the hinge `name` in y; nothing changes when something is wrong."""
    i = robot.hinge_index(name)
    kind, where = robot.hinges[i].kind, f"hinge '{name}'"
    at_q, at_v = coordinate_slices(robot, i)
    if kind == JointKind.FREE:
        raise ModelError(f"{where} is free; set the start of body '{robot.bodies[i].name}' instead.")
    if kind == JointKind.SPHERICAL:
        if start.position is not None or start.rate is not None:
            raise ModelError(f"{where} is spherical: it takes euler or quaternion, and omega; not position or rate.")
        q = _given_attitude(start.quaternion, start.euler, y[at_q], where)
        v = _given(start.omega, y[at_v], f"omega of {where}", "rad/s")
    else:
        if any(value is not None for value in (start.quaternion, start.euler, start.omega)):
            raise ModelError(
                f"{where} is {kind.name.lower()}: it takes position and rate; not quaternion, euler or omega."
            )
        q = _given(start.position, y[at_q], f"position of {where}", "rad or m", NQ[kind])
        v = _given(start.rate, y[at_v], f"rate of {where}", "rad/s or m/s", NV[kind])
    y[at_q], y[at_v] = q, v


def described(robot: Robot, y: np.ndarray, rates: bool) -> str:
    """All positions in y, or rates, in the words of `set_hinge` and `set_body`: for people."""
    said = []
    for i, hinge in enumerate(robot.hinges):
        q, v = (y[at] for at in coordinate_slices(robot, i))
        if hinge.kind == JointKind.SPHERICAL:
            said.append(f"{hinge.name} " + (f"omega={_tuple(v)}" if rates else f"quaternion={_tuple(q)}"))
        elif hinge.kind == JointKind.FREE and rates:
            velocity = v[3:] + _matrix(q[:4]) @ np.cross(v[:3], robot.origin_shift[i])
            said.append(f"{hinge.child} velocity={_tuple(velocity)} omega_body={_tuple(v[:3])}")
        elif hinge.kind == JointKind.FREE:
            position = q[4:] + _matrix(q[:4]) @ robot.origin_shift[i]
            said.append(f"{hinge.child} position={_tuple(position)} quaternion={_tuple(q[:4])}")
        else:
            values = (v if rates else q).tolist()
            said += [f"{joint} {value:.9g}" for joint, value in zip(hinge.joint_names, values, strict=True)]
    return ", ".join(said)


def _tuple(values: np.ndarray) -> str:
    """Numbers in parentheses, for people."""
    return f"({', '.join(f'{value + 0.0:.9g}' for value in values.tolist())})"


def freedom_dimensions(kind: JointKind) -> tuple[str, ...]:
    """What each one-axis freedom of a hinge of this kind is: "angle" or "length"."""
    freedoms = HINGE_KINDS[kind].freedoms if HINGE_KINDS[kind].jointed else ()
    return tuple("angle" if freedom.turns else "length" for freedom in freedoms)


def _given(value: Any, old: np.ndarray, what: str, unit: str, count: int = 3) -> np.ndarray:
    """`value` as `count` finite numbers, or `old` where it is None."""
    if value is None:
        return old
    array = np.atleast_1d(numbers(value, what))
    if array.shape != (count,) or not np.isfinite(array).all():
        wanted = "one finite number" if count == 1 else f"{count} finite numbers"
        raise ModelError(f"{what}: {value} must be {wanted} in {unit}.")
    return array


def _given_attitude(quaternion: Any, euler: Any, old: np.ndarray, where: str) -> np.ndarray:
    if quaternion is not None and euler is not None:
        raise ModelError(f"{where}: quaternion and euler both give the attitude; keep one.")
    value = quaternion if quaternion is not None else euler
    return old if value is None else np.array(as_quaternion(value, where))


def _matrix(q: np.ndarray) -> np.ndarray:
    return np.array(rotation(tuple(q)))


def is_finite(values: Sequence[float], count: int) -> bool:
    """Whether `values` are `count` finite numbers."""
    try:
        array = numbers(values, "values")
    except ModelError:
        return False
    return array.shape == (count,) and bool(np.isfinite(array).all())
