"""What drives each freedom by command: efforts, PD set-points, trajectories; until changed."""

from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import signals as core_signals
from rbt_ros.core.signals import Signal
from rbt_ros.core.types import V
from rbt_ros.errors import MessageError, ModelError
from rbt_ros.model.checks import remembered
from rbt_ros.model.coordinates import is_finite
from rbt_ros.model.hinge_commands import (
    FREE,
    LOCKED,
    POSITION,
    PRESCRIBED,
    VELOCITY,
    HingeCommand,
    HingeInput,
    HingeSetting,
    HingeSettings,
    HingeTorque,
    HingeTrajectory,
    Law,
    Track,
    check_mode,
    check_names,
    check_trajectory,
    check_values,
    check_whole_hinges,
    checked_law,
    settable,
    track,
)
from rbt_ros.model.hinge_modes import changes_for
from rbt_ros.model.modes import Change, Modes
from rbt_ros.model.robot import Robot

Driven = tuple[Signal, int, int, int, int]  # what `signal_arrays` takes


class Point(NamedTuple):
    """A set-point."""

    position: float
    velocity: float


class Aim(NamedTuple):
    """Where a prescribed joint is to go."""

    joint: str
    point: Point | None  # None: to rest
    delay: float  # [s]


class Targets:
    """The commanded efforts, set-points and trajectories of a robot's hinges."""

    def __init__(self, robot: Robot):
        self._robot = robot
        self.laws = dict.fromkeys(settable(robot), Law())
        self.efforts = np.zeros(robot.freedoms)  # replaced, not written into
        self._points: dict[str, Point | Track] = {}

    def take(self, command: HingeInput, t_ns: int, q: np.ndarray, v: np.ndarray) -> HingeInput:
        """Let it act, whole or not at all; as it was taken. MessageError when it is refused. q, v: where all is now."""
        if isinstance(command, HingeCommand):
            return self._set_points(command)
        if isinstance(command, HingeTrajectory):
            return self._follow(command, t_ns, q, v)
        if isinstance(command, HingeTorque):
            return self._torque(command)
        return self._settle(command, q)

    def check(self, command: HingeInput, t_ns: int, q: np.ndarray, v: np.ndarray) -> None:
        """MessageError where `take` would refuse it; nothing changes."""
        kept = self.laws, self.efforts, dict(self._points)
        try:
            self.take(command, t_ns, q, v)
        finally:
            self.laws, self.efforts, self._points = kept

    def drop(self) -> bool:
        """Let go of all; whether anything acted. Modes and gains stay."""
        acted = bool(self._points) or bool(self.efforts.any())
        self.efforts = np.zeros(self._robot.freedoms)
        self._points = {}
        return acted

    def driven(self) -> list[Driven]:
        """The feedback and the trajectories that act."""
        found: list[Driven] = []
        for joint, point in self._points.items():
            law, (_, at, freedom) = self.laws[joint], self._robot.joint_place(joint)
            kp = law.kp if law.mode == "position" else 0.0
            rest = point if isinstance(point, Point) else Point(0.0, 0.0)
            always = (freedom, 0, core_signals.FOR_EVER)
            found.append((core_signals.feedback(at, kp, law.kd, *rest), *always, 0))
            if isinstance(point, Track):
                found.append((point.effort(law), *always, point.origin_ns))
        return found

    def held(self, joints: tuple[str, ...], q: np.ndarray) -> HingeCommand | None:
        """The command that keeps those of them that follow positions where they are."""
        steered = tuple(joint for joint in joints if self.laws[joint].mode == "position")
        if not steered:
            return None
        places = tuple(float(q[self._robot.joint_place(joint)[1]]) for joint in steered)
        return HingeCommand(steered, places)

    # commands

    def _set_points(self, command: HingeCommand) -> HingeCommand:
        joints = command.joints
        check_names(joints, self._robot)
        for what, values in zip(command._fields[1:], command[1:], strict=True):
            if values:
                check_values(what, joints, values)
        lets_go = not any(command[1:])
        if not lets_go:
            for joint in joints:
                check_mode(joint, self.laws[joint], command)
        zeros = (0.0,) * len(joints)
        positions, velocities, efforts = command.position or zeros, command.velocity or zeros, command.effort or zeros
        for joint, position, velocity in zip(joints, positions, velocities, strict=True):
            self._points.pop(joint, None)
            if not lets_go and self.laws[joint].mode in (POSITION, VELOCITY):
                self._points[joint] = Point(position, velocity)
        self._write_efforts(joints, efforts)
        return command

    def _write_efforts(self, joints: tuple[str, ...], efforts: tuple[float, ...]) -> None:
        changed = self.efforts.copy()
        changed[[self._robot.joint_place(joint)[2] for joint in joints]] = efforts
        self.efforts = changed

    def _follow(self, command: HingeTrajectory, t_ns: int, q: np.ndarray, v: np.ndarray) -> HingeTrajectory:
        check_names(command.joints, self._robot)
        check_trajectory(command)
        for joint in command.joints:
            if self.laws[joint].mode != "position":
                raise MessageError(
                    f"trajectory: joint '{joint}' does not follow positions; set the parameter hinges.{joint}.mode."
                )
        first = next((k for k, time in enumerate(command.times_ns) if time >= 0), None)
        if first is None:
            raise MessageError(f"trajectory: its last point lies {-command.times_ns[-1] * 1e-9:.3f} s in the past.")
        left = command.since(first)
        times = left.times_ns if left.times_ns[0] == 0 else (0, *left.times_ns)
        tracks = {}
        for k, joint in enumerate(command.joints):
            _, at, freedom = self._robot.joint_place(joint)
            positions, velocities = [row[k] for row in left.positions], [row[k] for row in left.velocities]
            if len(times) > len(positions):  # it starts where the joint is
                positions = [float(q[at]), *positions]
                velocities = [float(v[freedom]), *velocities] if velocities else []
            tracks[joint] = track(t_ns, times, positions, velocities)
        self._points.update(tracks)
        self._write_efforts(command.joints, (0.0,) * len(command.joints))
        return left

    def _torque(self, command: HingeTorque) -> HingeTorque:
        law = self.laws.get(command.hinge)
        if law is None or command.hinge in self._robot.joint_names:
            raise MessageError(f"robot '{self._robot.name}' has no spherical hinge '{command.hinge[:80]}'.")
        if law.mode in (FREE, LOCKED):
            raise MessageError(
                f"hinge '{command.hinge}' is {law.mode} and takes no command; set the parameter "
                f"hinges.{command.hinge}.mode."
            )
        if not is_finite(command.torque, 3):
            raise MessageError(f"torque on hinge '{command.hinge}': {command.torque} must be three finite numbers.")
        first = int(self._robot.model.tree[self._robot.hinge_index(command.hinge), V])
        changed = self.efforts.copy()
        changed[first : first + 3] = command.torque
        self.efforts = changed
        return command

    # settings

    def checked(self, command: HingeSettings) -> dict[str, Law]:
        """The laws after these settings; ModelError or MessageError when one is refused."""
        laws = dict(self.laws)
        for setting in command.settings:
            if setting.joint not in laws:
                raise ModelError(f"robot '{self._robot.name}' has no hinge '{setting.joint[:80]}' with a mode.")
            given = {key: value for key in Law._fields if (value := getattr(setting, key)) is not None}
            laws[setting.joint] = laws[setting.joint]._replace(**given)
        for setting in command.settings:
            checked_law(setting.joint, laws[setting.joint], self._robot)
            point = HingeCommand((setting.joint,), *_given_point(setting))
            for what, values in zip(point._fields[1:], point[1:], strict=True):
                if values:
                    check_values(what, point.joints, values)
            if any(point[1:]):
                check_mode(setting.joint, laws[setting.joint], point)
        if any(setting.mode is not None for setting in command.settings):
            check_whole_hinges(laws, self._robot)
        return laws

    # locked and prescribed: modes of the robot, not of what acts on it

    def changes(self, command: HingeSettings, modes: Modes) -> list[Change]:
        """What the robot's modes must become for these settings; ModelError or MessageError when one is refused."""
        laws = self.checked(command)
        chosen = {setting.joint: laws[setting.joint] for setting in command.settings if setting.mode}
        return changes_for(self._robot, modes, chosen)

    def kept_changes(self, modes: Modes) -> list[Change]:
        """The same for the joints that are locked or prescribed by what was set before."""
        held = {joint: law for joint, law in self.laws.items() if law.mode in (LOCKED, PRESCRIBED)}
        return changes_for(self._robot, modes, held)

    def aims(self, command: HingeInput) -> list[Aim]:
        """Where prescribed joints are to go now that this command was taken."""
        if isinstance(command, HingeSettings):
            points = [HingeCommand((x.joint,), *_given_point(x)) for x in command.settings if x.position is not None]
            return [aim for point in points for aim in self.aims(point)]
        if not isinstance(command, HingeCommand):
            return []
        lets_go, count = not any(command[1:]), len(command.joints)
        rows = zip(command.joints, command.position or (0.0,) * count, command.velocity or (0.0,) * count, strict=True)
        return [
            Aim(joint, None if lets_go else Point(position, velocity), self.laws[joint].delay)
            for joint, position, velocity in rows
            if self.laws[joint].mode == PRESCRIBED
        ]

    def _settle(self, command: HingeSettings, q: np.ndarray) -> HingeSettings:
        try:
            laws = self.checked(command)
        except ModelError as err:
            raise MessageError(str(err)) from err
        old, self.laws = self.laws, laws
        for setting in command.settings:
            joint, point = setting.joint, HingeCommand((setting.joint,), *_given_point(setting))
            if any(point[1:]):
                self._set_points(point)
            elif laws[joint].mode != old[joint].mode:
                self._begin(joint, q)
        return command

    def _begin(self, joint: str, q: np.ndarray) -> None:
        """A new mode: hold the position, or the rate zero, or let go."""
        if joint not in self._robot.joint_names:
            self._torque_off(joint)
            return
        held = {"position": self.held((joint,), q), "velocity": HingeCommand((joint,), (), (0.0,))}
        self._set_points(held.get(self.laws[joint].mode) or HingeCommand((joint,)))

    def _torque_off(self, hinge: str) -> None:
        first = int(self._robot.model.tree[self._robot.hinge_index(hinge), V])
        changed = self.efforts.copy()
        changed[first : first + 3] = 0.0
        self.efforts = changed

    # checkpoints

    def memory(self) -> dict[str, Any]:
        """All of it as lists and numbers."""
        points = {
            joint: list(p) if isinstance(p, Point) else [p.origin_ns, list(p.knots_ns), p.pieces.tolist()]
            for joint, p in self._points.items()
        }
        return {"laws": {joint: list(law) for joint, law in self.laws.items()}, "points": points} | {
            "efforts": self.efforts.tolist()
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Become what `memory` told."""
        self.laws = {joint: Law(*law) for joint, law in memory["laws"].items()}
        self.efforts = remembered(memory["efforts"], (self._robot.freedoms,), "efforts")
        self._points = {
            joint: Point(*p)
            if len(p) == 2
            else Track(p[0], tuple(p[1]), remembered(p[2], (len(p[1]) - 1, 4), "cubics"))
            for joint, p in memory["points"].items()
        }


def _given_point(setting: HingeSetting) -> tuple[tuple[float, ...], ...]:
    """Its set-points as the arrays of a HingeCommand."""
    values = (setting.position, setting.velocity, setting.effort)
    return tuple(() if value is None else (value,) for value in values)
