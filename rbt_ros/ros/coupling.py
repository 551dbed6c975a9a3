"""A floating base that follows a measured pose: a virtual coupling, the wrench of a critically damped spring.

What hangs on the base feels its real motion, and the wrench is what the base's surroundings would have to bring up: the
reaction of the simulated craft on the testbed, with the other sign. Colgate, Stanley, Brown (1995), virtual couplings.
It is made anew with each of our ticks, or some, and not with each sample: a spring that is held while samples are late
is none, and drives the base away.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.types import NV, V
from rbt_ros.core.vec import add, qconj, qmul, qturn, rotation_vector_quat, scale
from rbt_ros.core.work import workspace
from rbt_ros.errors import MessageError
from rbt_ros.model.inputs import Wrench
from rbt_ros.model.robot import Robot
from rbt_ros.results import Sample

UNIT = 1e-3  # how far a quaternion's length may be from 1


class MeasuredPose(NamedTuple):
    """Where the base really is, and how it moves, in world axes."""

    position: tuple[float, float, float]  # p_WB [m]
    quaternion: tuple[float, float, float, float]  # q_WB
    velocity: tuple[float, float, float]  # v_WB [m/s]
    omega: tuple[float, float, float]  # w_WB [rad/s]


def unit_quaternion(q: tuple[float, ...], before: tuple[float, ...] | None) -> tuple[float, ...]:
    """q of length 1, on the side of the one before, so that its components do not jump. MessageError: it is none."""
    length = math.sqrt(sum(x * x for x in q))
    if not (math.isfinite(length) and abs(length - 1.0) <= UNIT):
        raise MessageError(f"measured pose: its quaternion has length {length:g}, which must be 1.")
    side = -1.0 if before is not None and sum(x * y for x, y in zip(q, before, strict=True)) < 0.0 else 1.0
    return tuple(side * x / length for x in q)


def pose_of(values: tuple[float, ...], rates: tuple[float, ...]) -> MeasuredPose:
    """From (x, y, z, w, x, y, z) and their rates: w_WB = 2 q̇ q*."""
    q = values[3:]
    _, *omega = qmul(rates[3:], qconj(q))
    return MeasuredPose(values[:3], q, rates[:3], tuple(2.0 * x for x in omega))  # type: ignore[arg-type]


def pose_distance(a: Sequence[float], b: Sequence[float]) -> float:
    """How far two (x, y, z, w, x, y, z) are from each other: the greater of way [m] and turn [rad], q = -q.

    |q_a - q_b| = 2 sin(θ/4) on the side that is nearer.
    """
    chord = min(math.dist(a[3:], b[3:]), math.dist(a[3:], [-x for x in b[3:]]))
    return max(math.dist(a[:3], b[:3]), 4.0 * math.asin(min(1.0, 0.5 * chord)))


class Coupling:
    """Leads a floating body to where it was measured last; from there on it moves as it did, until nothing comes."""

    def __init__(self, robot: Robot, body: str, bandwidth: float, timeout_ns: int):
        """bandwidth [Hz]; timeout_ns: of our clock, after which it lets go."""
        self._robot, self._i = robot, robot.body_index(body)
        self._omega, self._timeout_ns = 2.0 * math.pi * bandwidth, timeout_ns
        self._target: tuple[MeasuredPose, int, int] | None = None

    def warm_up(self, sample: Sample) -> None:
        """Compile here what it needs, if need be, not in the stepping thread."""
        here = MeasuredPose((0.0,) * 3, tuple(sample.pose[self._i, :4].tolist()), (0.0,) * 3, (0.0,) * 3)
        coupling_wrench(self._robot, sample, self._i, moved(here, 0.0), self._omega, "com")

    def follow(self, pose: MeasuredPose, now_ns: int, age_ns: int) -> None:
        """A pose came now, which was measured `age_ns` ago."""
        self._target = pose, now_ns, age_ns

    def wrench(self, sample: Sample, now_ns: int, at: str = "origin") -> Wrench | None:
        """What leads the body now, at the origin or the com of its frame; None: it is let go."""
        if self._target is None:
            return None
        pose, heard_ns, age_ns = self._target
        silent_ns = now_ns - heard_ns
        if not 0 <= silent_ns < self._timeout_ns:
            return None
        return coupling_wrench(self._robot, sample, self._i, moved(pose, (silent_ns + age_ns) * 1e-9), self._omega, at)


def moved(pose: MeasuredPose, seconds: float) -> MeasuredPose:
    """Where it is so much later, if its rates stay."""
    p = add(pose.position, scale(seconds, pose.velocity))
    turn = rotation_vector_quat(scale(seconds, pose.omega))
    return pose._replace(position=p, quaternion=qmul(turn, pose.quaternion))


def slowest_period(bandwidth: float) -> float:
    """How long its wrench is held at most [s]: a tenth of the time constant of the spring."""
    return 0.1 / (2.0 * math.pi * bandwidth)


def greatest_bandwidth(step: float) -> float:
    """Of a coupling that acts anew with each step of that length [s]: 0.3 of the time constant [Hz]."""
    return 0.3 / (2.0 * math.pi * step)


def coupling_wrench(
    robot: Robot, sample: Sample, i: int, pose: MeasuredPose, omega: float, at: str = "origin"
) -> Wrench:
    """What lets floating body i accelerate by ω² Δ + 2 ω Δ̇, with the inertia that it has now.

    omega: 2π times the bandwidth [rad/s]; Δ: the way and the turn from the simulated pose to the measured one.
    """
    q, (w, v) = tuple(sample.pose[i, :4].tolist()), np.split(sample.twist[i], 2)
    linear = omega**2 * (np.array(pose.position) - sample.pose[i, 4:]) + 2.0 * omega * (np.array(pose.velocity) - v)
    turn = rotation_vector(qmul(pose.quaternion, qconj(q)))
    angular = omega**2 * turn + 2.0 * omega * (np.array(pose.omega) - w)
    arm = np.array(qturn(q, robot.bodies[i].com))
    wanted = [*qturn(qconj(q), tuple(angular.tolist())), *(linear + np.cross(angular, arm))]
    effort = felt_inertia(robot, sample, i) @ wanted
    force, moment = effort[3:], np.array(qturn(q, tuple(effort[:3].tolist())))  # about the CoM
    if at != "com":
        moment += np.cross(arm, force)
    return Wrench(robot.bodies[i].name, tuple(force.tolist()), tuple(moment.tolist()), "world", at)


def felt_inertia(robot: Robot, sample: Sample, i: int) -> np.ndarray:
    """(6, 6) of [ω̇ in body axes, acceleration of the CoM] of floating body i: what a wrench on it feels now.

    What hangs on it by hinges that are locked or prescribed is rigid; what is free to move, springs and controllers
    included, yields at once. Were that counted as rigid too, damping held for a tick would throw a light base away.
    """
    M = np.empty((robot.freedoms, robot.freedoms))
    mass_matrix(robot.model, sample.q, workspace(robot.model), M)
    starts = robot.model.tree[:, V]
    base = np.arange(starts[i], starts[i] + 6)
    held = {
        k
        for h, s in zip(robot.hinges, starts, strict=True)
        if h.name in sample.locked
        for k in range(s, s + NV[h.kind])
    }
    held |= {robot.joint_place(joint)[2] for joint in sample.constraints if joint in robot.joint_names}
    free = np.array([k for k in range(robot.freedoms) if k not in base and k not in held], int)
    across = M[np.ix_(base, free)]
    return M[np.ix_(base, base)] - across @ np.linalg.solve(M[np.ix_(free, free)], across.T)


def rotation_vector(q: tuple[float, ...]) -> np.ndarray:
    """Axis times angle [rad] of the shorter turn."""
    w, vector = q[0], np.array(q[1:])
    if w < 0.0:
        w, vector = -w, -vector
    sine = float(np.linalg.norm(vector))
    return vector * (2.0 if sine < 1e-9 else 2.0 * math.atan2(sine, w) / sine)
