"""Commands to hinges from outside: set-points, trajectories, torques, and the settings that say which are taken."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core.signals import Signal, cubics
from rbt_ros.core.types import JointKind
from rbt_ros.errors import MessageError, ModelError
from rbt_ros.model.robot import Robot

FREE, EFFORT, POSITION, VELOCITY, LOCKED, PRESCRIBED = MODES = (
    "free",
    "effort",
    "position",
    "velocity",
    "locked",
    "prescribed",
)
BALL_MODES = (FREE, EFFORT, LOCKED)  # of a spherical hinge
LAST_PIECE_NS = 1_000_000_000  # any length: after its last point a trajectory stays there
CLOSEST_NS = 1_000  # points of a trajectory: between closer ones rates leave all numbers
LATEST_NS = 2**31 * 1_000_000_000  # of a point: messages count seconds in 32 bits


class HingeCommand(NamedTuple):
    """Set-points of one-axis joints, until the next command. An array left empty says nothing; all three: let go."""

    joints: tuple[str, ...]
    position: tuple[float, ...] = ()  # [rad, m]
    velocity: tuple[float, ...] = ()  # [rad/s, m/s]
    effort: tuple[float, ...] = ()  # [N·m, N]


def says_nothing(command: object) -> bool:
    """Whether all numbers of set-points are NaN: so ros2_control sends them until a controller is active."""
    if not isinstance(command, HingeCommand):
        return False
    numbers = (*command.position, *command.velocity, *command.effort)
    return bool(numbers) and all(math.isnan(number) for number in numbers)


class HingeTrajectory(NamedTuple):
    """Positions to pass at given times: cubic between them where velocities are given, straight where not."""

    joints: tuple[str, ...]
    times_ns: tuple[int, ...]  # rising, from the tick at which it is taken; what lies before that is left out
    positions: tuple[tuple[float, ...], ...]  # one row per time
    velocities: tuple[tuple[float, ...], ...] = ()  # likewise, or none

    def since(self, first: int) -> "HingeTrajectory":
        """The same without the points before that one."""
        return HingeTrajectory(self.joints, self.times_ns[first:], self.positions[first:], self.velocities[first:])

    def shifted(self, later_ns: int) -> "HingeTrajectory":
        """The same, later."""
        return self._replace(times_ns=tuple(time + later_ns for time in self.times_ns))


class HingeTorque(NamedTuple):
    """Torque on a spherical hinge in the child's axes [N·m], until the next one."""

    hinge: str
    torque: tuple[float, float, float]


class HingeSetting(NamedTuple):
    """What a joint takes and with which gains; None: as it was. A new mode begins where the joint is."""

    joint: str
    mode: str | None = None  # free: nothing; effort; position, velocity: PD with kp, kd; locked; prescribed: exactly
    kp: float | None = None  # [N·m/rad, N/m]
    kd: float | None = None  # [N·m·s/rad, N·s/m]
    position: float | None = None  # a set-point to go with it
    velocity: float | None = None
    effort: float | None = None
    delay: float | None = None  # [s] in which a prescribed joint gets to a set-point


class HingeSettings(NamedTuple):
    """Settings that are taken all together or not at all."""

    settings: tuple[HingeSetting, ...]


HingeInput = HingeCommand | HingeTrajectory | HingeTorque | HingeSettings


class Law(NamedTuple):
    """How a joint is driven."""

    mode: str = EFFORT
    kp: float = 0.0
    kd: float = 0.0
    delay: float = 0.1


class Track(NamedTuple):
    """A trajectory of one joint: cubics in [s] since each knot."""

    origin_ns: int  # scenario time
    knots_ns: tuple[int, ...]
    pieces: np.ndarray  # (n - 1, 4)

    def effort(self, law: Law) -> Signal:
        """kp r + kd ṙ: what a PD controller with its feedback on q and v apart makes of it."""
        c, s = self.pieces, law
        rate = np.stack([c[:, 1], 2.0 * c[:, 2], 3.0 * c[:, 3], np.zeros(len(c))], axis=1)
        return cubics(self.knots_ns, s.kp * c + s.kd * rate)


def track(origin_ns: int, times_ns: Sequence[int], positions: Sequence[float], velocities: Sequence[float]) -> Track:
    """Through all points; velocities may be empty. It ends at rest in the last position."""
    pieces = []
    for k in range(len(times_ns) - 1):
        T, p, step = (times_ns[k + 1] - times_ns[k]) / 1e9, positions[k], positions[k + 1] - positions[k]
        if velocities:
            a, b = velocities[k], velocities[k + 1]
            pieces.append((p, a, (3.0 * step / T - 2.0 * a - b) / T, (a + b - 2.0 * step / T) / (T * T)))
        else:
            pieces.append((p, step / T, 0.0, 0.0))
    pieces.append((positions[-1], 0.0, 0.0, 0.0))
    return Track(origin_ns, (*times_ns, times_ns[-1] + LAST_PIECE_NS), np.array(pieces))


# ------------------------------------------------------------------------------------------------------ checks
def checked_law(joint: str, law: Law, robot: Robot) -> Law:
    """`law`, or ModelError: an unknown mode, gains that are none, a mode that the hinge does not have."""
    if law.mode not in MODES:
        raise ModelError(f"hinges.{joint}.mode: '{law.mode[:40]}' is not one of {', '.join(MODES)}.")
    for name, gain in (("kp", law.kp), ("kd", law.kd)):
        if not (math.isfinite(gain) and gain >= 0.0):
            raise ModelError(f"hinges.{joint}.{name}: {gain} must be finite and not negative.")
    if not 1e-9 <= law.delay <= 1e6:
        raise ModelError(f"hinges.{joint}.delay: {law.delay} s must be positive: a prescribed joint cannot jump.")
    if joint not in robot.joint_names:
        if law != Law(law.mode) or law.mode not in BALL_MODES:
            raise ModelError(f"hinge '{joint}' is spherical: it is free, takes effort or is locked, and has no gains.")
    elif law.mode == "position" and law.kp == 0.0:
        raise ModelError(f"hinges.{joint}.mode: position needs a gain; set hinges.{joint}.kp (and kd) with it.")
    elif law.mode == "velocity" and law.kd == 0.0:
        raise ModelError(f"hinges.{joint}.mode: velocity needs a gain; set hinges.{joint}.kd with it.")
    return law


def check_whole_hinges(laws: dict[str, Law], robot: Robot) -> None:
    """ModelError where a part of a hinge would be locked: a hinge locks with all its joints."""
    for hinge in robot.hinges:
        locked = [joint for joint in hinge.joint_names if laws[joint].mode == LOCKED]
        if locked and len(locked) < len(hinge.joint_names):
            raise ModelError(
                f"hinges.{locked[0]}.mode: hinge '{hinge.name}' has the joints {', '.join(hinge.joint_names)}, which "
                "lock together; set the modes of all of them at once."
            )


def settable(robot: Robot) -> tuple[str, ...]:
    """What has a mode: all one-axis joints, all spherical hinges."""
    balls = tuple(h.name for h in robot.hinges if h.kind == JointKind.SPHERICAL)
    return (*robot.joint_names, *balls)


def check_names(joints: Sequence[str], robot: Robot) -> None:
    """MessageError where a joint is not there, or twice."""
    if not joints:
        raise MessageError("hinge command without names; it needs the joints that it is for.")
    known = robot.joint_names
    for joint in joints:
        if joint not in known:
            listed = ", ".join(known) or "none"
            raise MessageError(f"robot '{robot.name}' has no joint '{joint[:80]}' of one axis; it has {listed}.")
    if len(set(joints)) < len(joints):
        twice = next(joint for joint in joints if list(joints).count(joint) > 1)
        raise MessageError(f"hinge command names joint '{twice}' more than once.")


def check_values(what: str, joints: Sequence[str], values: Sequence[float]) -> None:
    """MessageError where there are not as many as joints, or one is not finite."""
    if len(values) != len(joints):
        raise MessageError(f"hinge command: {len(values)} numbers as {what} for {len(joints)} joints; as many or none.")
    for joint, value in zip(joints, values, strict=True):
        if not math.isfinite(value):
            raise MessageError(f"hinge command: {what} of joint '{joint}' is {value}, which is not finite.")


def check_mode(joint: str, law: Law, command: HingeCommand) -> None:
    """MessageError where the joint's mode does not take what is commanded."""
    way = f"set the parameter hinges.{joint}.mode"
    if law.mode in (FREE, LOCKED):
        raise MessageError(f"joint '{joint}' is {law.mode} and takes no command; {way}.")
    if law.mode == PRESCRIBED and (command.effort or not command.position):
        raise MessageError(f"joint '{joint}' is prescribed: it takes positions, and velocities with them; {way}.")
    if law.mode == "effort" and (command.position or command.velocity):
        given = "position" if command.position else "velocity"
        raise MessageError(f"joint '{joint}' takes effort, not {given}; {way} to {given} (with gains).")
    if law.mode == "position" and not command.position:
        raise MessageError(f"joint '{joint}' takes positions (velocity and effort go with them); {way}.")
    if law.mode == "velocity" and (command.position or not command.velocity):
        raise MessageError(f"joint '{joint}' takes velocities (effort goes with them); {way}.")


def check_trajectory(command: HingeTrajectory) -> None:
    """MessageError where times do not rise or rows are not whole."""
    if not command.times_ns:
        raise MessageError("trajectory without points.")
    if command.velocities and len(command.velocities) != len(command.positions):
        raise MessageError("trajectory: all points have velocities, or none has.")
    for before, after in zip(command.times_ns, command.times_ns[1:], strict=False):
        if after <= before:
            raise MessageError(f"trajectory: times must rise, and {after * 1e-9:g} s follows {before * 1e-9:g} s.")
        if after - before < CLOSEST_NS:
            raise MessageError(
                f"trajectory: {after - before} ns between the points at {before * 1e-9:g} s and after; leave one out, "
                f"points may be {CLOSEST_NS} ns apart."
            )
    if command.times_ns[-1] >= LATEST_NS:
        last = command.times_ns[-1] * 1e-9
        raise MessageError(f"trajectory: its last point lies {last:g} s ahead, beyond what clocks of messages hold.")
    for row in command.positions:
        check_values("position", command.joints, row)
    for row in command.velocities:
        check_values("velocity", command.joints, row)
