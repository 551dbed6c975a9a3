"""What is published of a Sample: topic, type, QoS, fields; and reports for /diagnostics. The node and bags follow it.

Fields are nested dicts by message field name; times, vectors and quaternions are NamedTuples with the field names of
the message, so that w x y z becomes x y z w by name, never by position.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.relative import relative_poses
from rbt_ros.core.types import JointKind, Q, V
from rbt_ros.core.vec import add, qconj, qmul, qturn, scale, turn_quat
from rbt_ros.errors import ScenarioError
from rbt_ros.fields import Fields as Fields
from rbt_ros.fields import Quaternion as Quaternion
from rbt_ros.fields import Time as Time
from rbt_ros.fields import Vector3 as Vector3
from rbt_ros.fields import header, time_of
from rbt_ros.markers import Markers, local_origin
from rbt_ros.model.attitude import IDENTITY, turn_all
from rbt_ros.model.constraints import Closure, Coupling
from rbt_ros.model.robot import WORLD, Hinge, Robot, SingleAxis
from rbt_ros.model.sensors import Mount
from rbt_ros.model.unilateral import Rope
from rbt_ros.model.urdf import urdf_text
from rbt_ros.poinsot_markers import PoinsotMarkers, lone_bodies
from rbt_ros.results import Sample

MARKERS = "visualization_msgs/msg/MarkerArray"
WRENCH = "geometry_msgs/msg/WrenchStamped"


class Topic(NamedTuple):
    """One topic that the simulation publishes."""

    key: str  # its name in the scenario's `outputs`; "" where it has no rate (every step, or latched)
    name: str
    type: str
    qos: str  # "clock" | "stream" | "latched" | "lazy": a stream that is made only when somebody listens
    fields: Callable[[Sample, int], Fields]  # (sample, stamp [ns]) -> message fields


def published(robot: Robot, prefix: str = "", local: str = "", mounts: Sequence[Mount] = ()) -> tuple[Topic, ...]:
    """All topics of `robot`; `prefix` stands before every frame name. local: a frame near the craft, see `Frames`.

    mounts: frames of sensors, for /tf_static.
    """
    check_local(robot, local, mounts)
    floating = robot.free_bodies
    odometry = [
        Topic(
            "odom",
            "odom" if len(floating) == 1 else f"odom/{robot.bodies[i].name}",
            "nav_msgs/msg/Odometry",
            "stream",
            lambda sample, stamp, i=i: odometry_fields(robot, prefix, i, sample, stamp),  # type: ignore[misc]
        )
        for i in floating
    ]
    closures = [constraint for constraint in robot.constraints if isinstance(constraint, Closure)]
    hinges = [
        Topic(
            "hinge_wrenches",
            f"hinges/{hinge.name}/wrench",
            WRENCH,
            "lazy",
            lambda sample, stamp, hinge=hinge: reaction_fields(robot, prefix, hinge, sample, stamp),  # type: ignore[misc]
        )
        for hinge in robot.hinges
        if hinge.kind != JointKind.FREE
    ]
    return (
        Topic("", "/clock", "rosgraph_msgs/msg/Clock", "clock", lambda _, stamp: {"clock": time_of(stamp)}),
        Topic(
            "tf",
            "/tf",
            "tf2_msgs/msg/TFMessage",
            "stream",
            lambda sample, stamp: transform_fields(robot, prefix, sample, stamp, fixed=False, local=local),
        ),
        Topic(
            "",
            "/tf_static",
            "tf2_msgs/msg/TFMessage",
            "latched",
            lambda sample, stamp: transform_fields(robot, prefix, sample, stamp, fixed=True, mounts=mounts),
        ),
        Topic(
            "joint_states",
            "joint_states",
            "sensor_msgs/msg/JointState",
            "stream",
            lambda sample, stamp: joint_state_fields(robot, sample, stamp),
        ),
        *odometry,
        *several_freedoms(robot, prefix),
        Topic("markers", "markers", MARKERS, "lazy", Markers(robot, prefix, local)),
        *(
            [Topic("poinsot", "poinsot", MARKERS, "lazy", PoinsotMarkers(robot, prefix, local))]
            if lone_bodies(robot)
            else []
        ),
        *(held_topic(robot, prefix, "ropes", rope, "stream") for rope in robot.ropes),
        *(held_topic(robot, prefix, "constraints", closure, "lazy") for closure in closures),
        *constraint_efforts(robot),
        *hinges,
        Topic("", "robot_description", "std_msgs/msg/String", "latched", lambda *_: {"data": urdf_text(robot)}),
    )


def check_local(robot: Robot, local: str, mounts: Sequence[Mount] = ()) -> None:
    """ScenarioError where the local frame has nothing to go with, or the name of another frame."""
    if local and not robot.free_bodies:
        raise ScenarioError(f"local_frame '{local}': robot '{robot.name}' has no floating body with which it could go.")
    frames = {WORLD, *(body.name for body in robot.bodies), *(mount.frame for mount in mounts)}
    frames |= {single.frame for hinge in robot.hinges for single in hinge.single_axes}
    if local in frames:
        raise ScenarioError(f"local_frame '{local}' is a frame of robot '{robot.name}' already; choose another name.")


def transform_fields(
    robot: Robot,
    prefix: str,
    sample: Sample,
    stamp: int,
    *,
    fixed: bool,
    local: str = "",
    mounts: Sequence[Mount] = (),
) -> Fields:
    """tf2_msgs/TFMessage: every link of robot_description in its parent; those on fixed hinges or all others."""
    sensors = [(mount.parent, mount.frame, mount.quaternion, mount.at) for mount in mounts]
    transforms = [
        {
            "header": header(stamp, prefix + parent),
            "child_frame_id": prefix + child,
            "transform": {"translation": Vector3(*p), "rotation": Quaternion(*q)},
        }
        for parent, child, q, p in [*Frames(robot, fixed, local).transforms(sample), *sensors]
    ]
    return {"transforms": transforms}


class Frames:
    """The frames that fixed hinges, or all others, move: bodies, and massless ones between the axes of a hinge.

    local: the name of one more that goes with the first floating body and does not turn. Seen from it, what is near the
    craft has small coordinates wherever the craft is: viewers compute in single precision.
    """

    def __init__(self, robot: Robot, fixed: bool, local: str = ""):
        self._robot, self._local = robot, local
        self._tree = robot.model.tree
        self._hinges = [
            (i, hinge, hinge.single_axes)
            for i, hinge in enumerate(robot.hinges)
            if (hinge.kind == JointKind.FIXED) == fixed
        ]

    def transforms(self, sample: Sample) -> list[tuple[str, str, Sequence[float], Sequence[float]]]:
        """(parent, child, q, p) of each."""
        relative = np.empty_like(sample.pose)
        relative_poses(self._tree, sample.pose, relative)
        rows, found = relative.tolist(), []
        for i, hinge, axes in self._hinges:
            if len(axes) < 2:
                found.append((hinge.parent, hinge.child, rows[i][:4], rows[i][4:]))
            else:
                found += self._chain(hinge, axes, sample.q[self._tree[i, Q] :].tolist())
        if self._local:
            found.append((WORLD, self._local, IDENTITY, local_origin(self._robot, sample).tolist()))
        return found

    def _chain(self, hinge: Hinge, axes: tuple[SingleAxis, ...], q_hinge: list[float]) -> list:
        transforms = []
        parent, q_PJ, p_PJ = hinge.parent, hinge.quaternion, hinge.at
        for single in axes:
            x = single.ratio * q_hinge[single.freedom]
            if single.kind == JointKind.PRISMATIC:
                q, p = q_PJ, add(p_PJ, qturn(q_PJ, scale(x, single.axis)))
            else:
                q, p = qmul(q_PJ, turn_quat(single.axis, x)), p_PJ
            transforms.append((parent, single.frame, q, p))
            parent, q_PJ, p_PJ = single.frame, IDENTITY, (0.0, 0.0, 0.0)
        return transforms


def joint_state_fields(robot: Robot, sample: Sample, stamp: int) -> Fields:
    """sensor_msgs/JointState of all one-axis freedoms; spherical and free hinges go out as TF and odometry."""
    position, velocity = [], []
    for i, hinge in enumerate(robot.hinges):
        q, v = robot.model.tree[i, Q], robot.model.tree[i, V]
        count = len(hinge.joint_names)
        position += sample.q[q : q + count].tolist()
        velocity += sample.v[v : v + count].tolist()
    return {"header": header(stamp), "name": list(robot.joint_names), "position": position, "velocity": velocity}


def several_freedoms(robot: Robot, prefix: str) -> list[Topic]:
    """multi_dof_joint_states, where a hinge is spherical or free."""
    if not any(hinge.kind in (JointKind.SPHERICAL, JointKind.FREE) for hinge in robot.hinges):
        return []

    def fields(sample: Sample, stamp: int) -> Fields:
        return multi_dof_fields(robot, prefix, sample, stamp)

    name = "multi_dof_joint_states"
    return [Topic(name, name, "sensor_msgs/msg/MultiDOFJointState", "lazy", fields)]


def multi_dof_fields(robot: Robot, prefix: str, sample: Sample, stamp: int) -> Fields:
    """sensor_msgs/MultiDOFJointState of spherical and free hinges: the child in the hinge's frame on the parent (of a
    free one: in the world), the twist in the child's axes."""
    names, transforms, twists = [], [], []
    for i, hinge in enumerate(robot.hinges):
        if hinge.kind == JointKind.FREE:
            fields = odometry_fields(robot, prefix, i, sample, stamp)
            pose, twist = fields["pose"]["pose"], fields["twist"]["twist"]
            p, q, v, w = pose["position"], pose["orientation"], twist["linear"], twist["angular"]
        elif hinge.kind == JointKind.SPHERICAL:
            at_q, at_v = robot.model.tree[i, [Q, V]]
            p, q = Vector3(0.0, 0.0, 0.0), Quaternion(*sample.q[at_q : at_q + 4].tolist())
            v, w = Vector3(0.0, 0.0, 0.0), Vector3(*sample.v[at_v : at_v + 3].tolist())
        else:
            continue
        names.append(hinge.name)
        transforms.append({"translation": p, "rotation": q})
        twists.append({"linear": v, "angular": w})
    return {"header": header(stamp, prefix + WORLD), "joint_names": names, "transforms": transforms, "twist": twists}


def odometry_fields(robot: Robot, prefix: str, i: int, sample: Sample, stamp: int) -> Fields:
    """nav_msgs/Odometry of floating body i: pose in the world, twist in the body's own axes."""
    p_WB, q_WB, v_B, w_B = odometry_numbers(sample, i)
    return {
        "header": header(stamp, prefix + WORLD),
        "child_frame_id": prefix + robot.bodies[i].name,
        "pose": {"pose": {"position": Vector3(*p_WB), "orientation": Quaternion(*q_WB)}},
        "twist": {"twist": {"linear": Vector3(*v_B), "angular": Vector3(*w_B)}},
    }


def odometry_numbers(sample: Sample, i: int) -> tuple[Sequence[float], ...]:
    """(p_WB, q_WB, v_B, w_B) of floating body i: its pose, its twist in its own axes."""
    pose, twist = sample.pose[i].tolist(), sample.twist[i].tolist()
    q_BW = qconj(pose[:4])
    return pose[4:], pose[:4], qturn(q_BW, twist[3:]), qturn(q_BW, twist[:3])


def constraint_efforts(robot: Robot) -> list[Topic]:
    """constraint_efforts, where a constraint does something that is one number."""
    scalar = [c.name for c in robot.constraints if isinstance(c, Coupling) or c.kind == "distance"]

    def fields(sample: Sample, stamp: int) -> Fields:
        return {
            "header": header(stamp),
            "name": scalar,
            "effort": [float(sample.constraints[name].effort) for name in scalar],
        }

    return [Topic("constraints", "constraint_efforts", "sensor_msgs/msg/JointState", "lazy", fields)] if scalar else []


def held_topic(robot: Robot, prefix: str, key: str, what: Rope | Closure, qos: str) -> Topic:
    """<key>/<name>/wrench: what a rope or closure does to its body b, about the origin and in the axes of b's frame."""

    def fields(sample: Sample, stamp: int) -> Fields:
        return held_fields(robot, prefix, what, getattr(sample, key)[what.name].wrench, sample, stamp)

    return Topic(key, f"{key}/{what.name}/wrench", WRENCH, qos, fields)


def held_fields(
    robot: Robot, prefix: str, what: Rope | Closure, wrench: np.ndarray, sample: Sample, stamp: int
) -> Fields:
    """geometry_msgs/WrenchStamped of a wrench on body b of a rope or closure: at its point, of the world's axes."""
    moment, force = wrench.reshape(2, 3)
    if what.body_b != WORLD:
        moment, force = in_body_axes(robot, what.body_b, sample, wrench.reshape(2, 3))
    moment = moment + np.cross(what.at_b, force)
    return wrench_fields(stamp, prefix + what.body_b, force.tolist(), moment.tolist())


def reaction_fields(robot: Robot, prefix: str, hinge: Hinge, sample: Sample, stamp: int) -> Fields:
    """geometry_msgs/WrenchStamped: what a hinge transmits to its child, about the origin of its frame, in its axes."""
    force, moment = in_body_axes(robot, hinge.child, sample, np.array(sample.reactions[hinge.name][::-1])).tolist()
    return wrench_fields(stamp, prefix + hinge.child, force, moment)


def in_body_axes(robot: Robot, body: str, sample: Sample, vectors: np.ndarray) -> np.ndarray:
    """Vectors (k, 3) of the world's axes in those of a body."""
    q = sample.pose[robot.body_index(body), :4]
    return turn_all((q * [1, -1, -1, -1])[None, :], vectors)


def wrench_fields(stamp: int, frame: str, force, moment) -> Fields:
    """geometry_msgs/WrenchStamped."""
    return {"header": header(stamp, frame), "wrench": {"force": Vector3(*force), "torque": Vector3(*moment)}}


class Report(NamedTuple):
    """One line of /diagnostics: how a part of the node does."""

    subject: str
    level: int  # 0 OK, 1 WARN, 2 ERROR
    summary: str
    values: dict[str, Any]  # name with its unit -> number or text


OK, WARN, ERROR = 0, 1, 2


def drift_text(drift: float, since_ns: int, sample: Sample, digits: str = "") -> str:
    """A drift as a number; or that this system does not keep the quantity (a damper, a hinge on the world), or that
    there is nothing yet to compare it with. since_ns: from when it counts."""
    if math.isnan(drift):
        return "not kept by this system"
    if since_ns < sample.t_ns:
        return format(drift, digits)
    return "changed by inputs" if sample.tau.any() or len(sample.load) else "counts from now on"


def status_line(sample: Sample, real_time_factor: float, overruns: int) -> str:
    """How a run goes, in one line, for people."""
    kept = sample.conservation
    energy = drift_text(kept.energy, kept.energy_since_ns, sample, "+.1e")
    angular_momentum = drift_text(kept.angular_momentum, kept.since_ns, sample, ".1e")
    return (
        f"t = {sample.t:.1f} s  real-time factor {real_time_factor:.3f}  energy {sample.energy.total:.6g} J, "
        f"drift {energy}  angular momentum drift {angular_momentum}  overruns {overruns}"
    )


def conservation_report(sample: Sample, warn_energy: float, warn_momentum: float) -> Report:
    """Energy, momenta and |q| - 1, and how far they went since the last input (REP 107 at 1 Hz)."""
    kept = sample.conservation
    values = {
        "scenario time [s]": sample.t,
        "energy, kinetic [J]": sample.energy.kinetic,
        "energy, potential [J]": sample.energy.potential,
        "energy, total [J]": sample.energy.total,
    }
    if sample.work is not None:
        values["work of inputs [J]"], values["dissipated [J]"] = sample.work
    for axis, p, l_origin, l_com in zip(
        "xyz", sample.momentum, sample.angular_momentum, sample.angular_momentum_com, strict=True
    ):
        values[f"momentum {axis} [kg m/s]"] = p
        values[f"angular momentum about the origin {axis} [N m s]"] = l_origin
        values[f"angular momentum about the CoM {axis} [N m s]"] = l_com
    values["counted since scenario time [s]"] = kept.since_ns * 1e-9
    values["energy counted since scenario time [s]"] = kept.energy_since_ns * 1e-9
    values["energy drift, relative"] = drift_text(kept.energy, kept.energy_since_ns, sample)
    values["momentum drift [kg m/s]"] = drift_text(kept.momentum, kept.since_ns, sample)
    values["angular momentum drift, relative"] = drift_text(kept.angular_momentum, kept.since_ns, sample)
    values["largest | |q| - 1 |"] = kept.quaternion
    loud = [
        f"{name} {abs(drift):.1e} above {limit:.1e}"
        for name, drift, limit in (
            ("energy drift", kept.energy, warn_energy),
            ("angular momentum drift", kept.angular_momentum, warn_momentum),
        )
        if abs(drift) > limit
    ]
    known = (sample.energy.total, *sample.momentum, *sample.angular_momentum)
    if not all(map(math.isfinite, known)):
        return Report("conservation", ERROR, "energy or momentum is not finite: reset, or look at the inputs", values)
    summary = "; ".join(loud) + ": a smaller step helps" if loud else "kept"
    return Report("conservation", WARN if loud else OK, summary, values)


def diagnostic_fields(stamp: int, node: str, hardware: str, reports: list[Report]) -> Fields:
    """diagnostic_msgs/DiagnosticArray; numbers with all their digits."""
    statuses = [
        {
            "level": bytes([report.level]),
            "name": f"{node}: {report.subject}",
            "message": report.summary,
            "hardware_id": hardware,
            "values": [{"key": key, "value": str(value)} for key, value in report.values.items()],
        }
        for report in reports
    ]
    return {"header": header(stamp), "status": statuses}
