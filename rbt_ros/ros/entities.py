"""Bodies as the entities of simulation_interfaces: which there are, what they are, where they are, and how one is put.

Pure functions between a Robot, a Sample and messages. Pose and twist are those of the body's frame, both in the axes of
`header.frame_id`, which is the world.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import qconj, qturn
from rbt_ros.errors import MessageError, RbtError
from rbt_ros.fields import Fields, Quaternion, Vector3, header
from rbt_ros.model.coordinates import BodyStart
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.results import Sample
from rbt_ros.ros.bounds import EMPTY, overlapping
from rbt_ros.ros.convert import shortened
from rbt_ros.ros.expressions import Automaton, expression
from rbt_ros.ros.result_codes import (
    FAILED,
    INVALID_POSE,
    NAME_INVALID,
    NAME_NOT_UNIQUE,
    NOT_FOUND,
    UNSUPPORTED,
    Refusal,
)
from rbt_ros.sim import Simulation

ROBOT, DYNAMIC_OBJECT = 1, 4  # EntityCategory
MATCH_ALL = 1  # TagsFilter
LONGEST_FILTER = 200  # characters of a regular expression
SPAWN = "bodies are neither added nor removed while a simulation runs; start another scenario, or dock and undock."
UNIT = 1e-3  # how far a quaternion's length may be from 1: enough for a sender in single precision


def index_of(robot: Robot, entity: str) -> int:
    """The row of the body that an entity is."""
    for i, body in enumerate(robot.bodies):
        if body.name == entity:
            return i
    known = ", ".join(body.name for body in robot.bodies)
    raise Refusal(NOT_FOUND, f"there is no entity '{shortened(entity)}'; there are {known}.")


def refuse_to_spawn(robot: Robot, request: Any) -> None:
    """Always: first for what would be wrong with the request anywhere, a name in use."""
    if not request.allow_renaming and not request.name:
        raise Refusal(NAME_INVALID, "an entity without a name; give it one, or allow renaming.")
    if not request.allow_renaming and any(body.name == request.name for body in robot.bodies):
        text = f"there is an entity '{shortened(request.name)}' already; choose another name, or allow renaming."
        raise Refusal(NAME_NOT_UNIQUE, text)
    raise Refusal(UNSUPPORTED, SPAWN)


def refuse_to_delete(robot: Robot, request: Any) -> None:
    """Always: first where there is no such entity."""
    index_of(robot, request.entity)
    raise Refusal(UNSUPPORTED, SPAWN)


def category(robot: Robot, i: int) -> int:
    """A body that floats by itself is a dynamic object; one of a mechanism belongs to a robot."""
    name, hinge = robot.bodies[i].name, robot.hinges[i]
    alone = hinge.kind == JointKind.FREE and not any(h.parent == name for h in robot.hinges)
    return DYNAMIC_OBJECT if alone else ROBOT


def tags(robot: Robot, i: int) -> tuple[str, ...]:
    """The robot's name, and the kind of hinge that carries the body."""
    return robot.name, robot.hinges[i].kind.name.lower()


def info_fields(robot: Robot, i: int) -> Fields:
    """simulation_interfaces/EntityInfo."""
    body, hinge = robot.bodies[i], robot.hinges[i]
    description = f"{body.mass:g} kg, {hinge.kind.name.lower()} on {hinge.parent} by hinge {hinge.name}"
    return {
        "category": {"category": category(robot, i)},
        "description": description,
        "tags": list(tags(robot, i)),
    }


def selected(robot: Robot, filters: Any, sample: Sample) -> list[str]:
    """The entities that pass all of simulation_interfaces/EntityFilters."""
    pattern = _pattern(filters.filter)
    unbounded = filters.bounds.type == EMPTY
    near = range(len(robot.bodies)) if unbounded else overlapping(robot, sample, filters.bounds)
    kinds = {c.category for c in filters.categories}
    wanted, every = set(filters.tags.tags), filters.tags.filter_mode == MATCH_ALL
    found = []
    for i, body in enumerate(robot.bodies):
        has = wanted & set(tags(robot, i))
        tagged = not wanted or (has == wanted if every else bool(has))
        if i in near and pattern.search(body.name) and tagged and (not kinds or category(robot, i) in kinds):
            found.append(body.name)
    return found


def _pattern(text: str) -> Automaton:
    if len(text) > LONGEST_FILTER:
        raise Refusal(FAILED, f"the filter has {len(text)} characters; at most {LONGEST_FILTER} are taken.")
    try:
        return expression(text)
    except MessageError as err:
        what = "no extended regular expression of POSIX"
        raise Refusal(FAILED, f"filter '{shortened(text)}' is {what}: {err}.") from err


def state_fields(robot: Robot, i: int, sample: Sample, stamp: int, prefix: str) -> Fields:
    """simulation_interfaces/EntityState of body i."""
    pose, twist, accel = sample.pose[i].tolist(), sample.twist[i].tolist(), sample.accelerations[i].tolist()
    return {
        "header": header(stamp, prefix + WORLD),
        "pose": {"position": Vector3(*pose[4:]), "orientation": Quaternion(*pose[:4])},
        "twist": {"linear": Vector3(*twist[3:]), "angular": Vector3(*twist[:3])},
        "acceleration": {"linear": Vector3(*accel[3:]), "angular": Vector3(*accel[:3])},
    }


def placement(robot: Robot, request: Any, sample: Sample, prefix: str) -> tuple[str, BodyStart]:
    """What a SetEntityState asks for: the floating body and its new start. Refusal where it is not usable.

    Shape 1 sets pose and twist; shape 2 says by `set_pose` and `set_twist` which. What is not set stays.
    """
    i = index_of(robot, request.entity)
    name, hinge = robot.bodies[i].name, robot.hinges[i]
    if hinge.kind != JointKind.FREE:
        raise Refusal(FAILED, f"'{name}' hangs on hinge '{hinge.name}' and cannot be put; command that hinge.")
    if getattr(request, "set_acceleration", False):
        raise Refusal(FAILED, f"the acceleration of '{name}' follows from the forces on it; send a wrench.")
    frame = request.state.header.frame_id
    if frame not in ("", WORLD, prefix + WORLD):
        raise Refusal(FAILED, f"frame_id '{shortened(frame)}' is not usable here; use '{prefix + WORLD}' or empty.")
    q_WB, start = tuple(sample.pose[i, :4].tolist()), BodyStart()
    w_W = tuple(sample.twist[i, :3].tolist())
    if getattr(request, "set_pose", True):
        p, q = request.state.pose.position, request.state.pose.orientation
        q_WB = _unit_quaternion((q.w, q.x, q.y, q.z), name)
        start = BodyStart(position=_finite((p.x, p.y, p.z), f"position of '{name}'", INVALID_POSE), quaternion=q_WB)
    if getattr(request, "set_twist", True):
        v, w = request.state.twist.linear, request.state.twist.angular
        velocity = _finite((v.x, v.y, v.z), f"linear velocity of '{name}'", FAILED)
        w_W = _finite((w.x, w.y, w.z), f"angular velocity of '{name}'", FAILED)
    else:  # the velocities of the frame stay as the world sees them, however it is turned
        velocity = tuple(sample.twist[i, 3:].tolist())
    omega = qturn(qconj(q_WB), w_W)
    return name, BodyStart(start.position, start.quaternion, None, velocity, omega)


def put(sim: Simulation, name: str, start: BodyStart) -> None:
    """Put a floating body there. Where what moves so cannot be computed: Refusal, and nothing has changed."""
    before = sim.memory()
    try:
        sim.set_body(
            name,
            position=start.position,
            quaternion=start.quaternion,
            velocity=start.velocity,
            omega_body=start.omega_body,
        )
        if not np.isfinite(sim.sample().accelerations).all():
            text = f"'{name}' cannot be put so: accelerations would not be finite numbers; move it slower, or nearer."
            raise Refusal(FAILED, text)
    except RbtError:
        sim.recall(before)
        raise


def _unit_quaternion(q: Sequence[float], name: str) -> tuple[float, ...]:
    length = float(np.linalg.norm(q))
    if not math.isfinite(length) or abs(length - 1.0) > UNIT:
        raise Refusal(INVALID_POSE, f"orientation of '{name}': its quaternion has length {length:g}, which must be 1.")
    return tuple(x / length for x in q)


def _finite(values: tuple[float, ...], what: str, code: int) -> tuple[float, ...]:
    if not all(math.isfinite(x) for x in values):
        raise Refusal(code, f"{what}: {values} must be three finite numbers.")
    return values
