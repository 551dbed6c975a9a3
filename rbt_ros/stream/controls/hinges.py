"""Mode, gains and set-points of joints; mode and torque of spherical hinges."""

from typing import Any

from rbt_ros.core.types import JointKind
from rbt_ros.model.hinge_commands import (
    BALL_MODES,
    LOCKED,
    MODES,
    HingeCommand,
    HingeSetting,
    HingeSettings,
    HingeTorque,
    Law,
    settable,
)
from rbt_ros.model.robot import Robot
from rbt_ros.stream.controls.control import Control, Host
from rbt_ros.stream.controls.pushing import ZERO

TURNS = ("rad", "rad/s", "N·m", "N·m/rad", "N·m·s/rad")  # of position, rate, effort, kp, kd
SLIDES = ("m", "m/s", "N", "N/m", "N·s/m")


def hinges(host: Host) -> list[Control]:
    """A group for each joint and each spherical hinge."""
    robot = host.sim.robot
    return [
        control
        for name in settable(robot)
        for control in (Joint(host, name) if name in robot.joint_names else Ball(host, name)).controls()
    ]


class Driven:
    """What has a mode."""

    modes: tuple[str, ...] = MODES

    def __init__(self, host: Host, name: str):
        self._host, self._name, self._group = host, name, f"Hinge {name}"
        self._beside = beside(host.sim.robot, name)

    def _mode(self) -> Control:
        note = f"locks with {', '.join(self._beside)}" if self._beside else ""
        return Control(
            f"{self._name}.mode",
            "Mode",
            self._group,
            "choice",
            lambda: self._law(self._name).mode,
            self._set_mode,
            options=self.modes,
            note=note,
        )

    def _law(self, name: str) -> Law:
        return self._host.sim.hinge_laws[name]

    def _set_mode(self, mode: str) -> None:
        """A hinge locks with all its joints, and unlocks with them."""
        told = [HingeSetting(self._name, mode)]
        for other in self._beside:
            if mode == LOCKED:
                told.append(HingeSetting(other, LOCKED))
            elif self._law(other).mode == LOCKED:
                told.append(HingeSetting(other, Law().mode))
        self._host.settle(HingeSettings(tuple(told)))


class Joint(Driven):
    """A joint of one axis."""

    def __init__(self, host: Host, name: str):
        super().__init__(host, name)
        self._given = {"position": 0.0, "velocity": 0.0, "effort": 0.0}

    def controls(self) -> list[Control]:
        """Its controls."""
        p, v, f, kp, kd = SLIDES if slides(self._host.sim.robot, self._name) else TURNS
        return [
            self._mode(),
            self._setting("kp", "kp", kp, 0.0, 1e6),
            self._setting("kd", "kd", kd, 0.0, 1e6),
            self._setting("delay", "Delay", "s", 1e-3, 10.0, note="to a position, where it is prescribed"),
            self._set_point("position", "Position", p),
            self._set_point("velocity", "Rate", v),
            self._set_point("effort", "Effort", f),
        ]

    def _setting(self, key: str, label: str, unit: str, low: float, high: float, note: str = "") -> Control:
        def write(value: Any) -> None:
            self._host.settle(HingeSettings((HingeSetting(self._name)._replace(**{key: value}),)))

        def read() -> float:
            return getattr(self._law(self._name), key)

        return Control(f"{self._name}.{key}", label, self._group, "number", read, write, unit, low, high, note=note)

    def _set_point(self, key: str, label: str, unit: str) -> Control:
        def write(value: float) -> None:
            self._host.command(HingeCommand((self._name,), **{key: (value,)}))
            self._given[key] = value

        def read() -> float:
            return self._given[key]

        return Control(f"{self._name}.{key}", label, self._group, "number", read, write, unit, -1e4, 1e4)


class Ball(Driven):
    """A spherical hinge."""

    modes = BALL_MODES

    def __init__(self, host: Host, name: str):
        super().__init__(host, name)
        self._torque: tuple[float, float, float] = ZERO

    def controls(self) -> list[Control]:
        """Its controls."""
        torque = Control(
            f"{self._name}.torque",
            "Torque",
            self._group,
            "vector",
            lambda: list(self._torque),
            self._set_torque,
            "N·m",
            -1e4,
            1e4,
            note="child's axes",
        )
        return [self._mode(), torque]

    def _set_torque(self, torque: tuple[float, float, float]) -> None:
        self._host.command(HingeTorque(self._name, torque))
        self._torque = torque


def beside(robot: Robot, name: str) -> tuple[str, ...]:
    """The other joints of that joint's hinge."""
    found = next((hinge.joint_names for hinge in robot.hinges if name in hinge.joint_names), ())
    return tuple(joint for joint in found if joint != name)


def slides(robot: Robot, name: str) -> bool:
    """Whether a joint is a sliding one."""
    axes = [axis for hinge in robot.hinges for axis in hinge.single_axes]
    return any(axis.joint == name and axis.kind == JointKind.PRISMATIC for axis in axes)
