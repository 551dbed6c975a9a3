"""What may change about a robot while it runs: locks, docks, prescribed joints. Data, not kinds of hinges.

`Lock`, `Unlock`, `Dock`, `Undock`, `Prescribe` and `Release` are what a person asks for, `Modes` is how things are, and
`ModeChange` tells what came of it.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import IDENTITY
from rbt_ros.model.checks import WORLD, checked_name, unit, vector
from rbt_ros.model.constraints import Coupling, Vector
from rbt_ros.model.measured import Measured, checked_measured
from rbt_ros.model.robot import Robot
from rbt_ros.model.signals import Signal

DOCK_KINDS = {"weld": JointKind.FIXED, "revolute": JointKind.REVOLUTE, "point": JointKind.SPHERICAL}
Names = str | Sequence[str]


class Lock(NamedTuple):
    """Hold hinges where they are: all of them in one impact."""

    hinges: Names


class Unlock(NamedTuple):
    """Let locked hinges move again."""

    hinges: Names


class Dock(NamedTuple):
    """Join two bodies, or one to the "world", as they lie when it happens."""

    body_a: str
    body_b: str
    kind: str = "weld"  # or "revolute" about `axis` through `at`, or "point": a ball at `at`
    at: Vector = (0.0, 0.0, 0.0)  # in the frame of body_a [m]
    axis: Vector = (0.0, 0.0, 1.0)  # likewise
    name: str = ""  # default: body_a_body_b

    @property
    def title(self) -> str:
        """Its name."""
        return self.name or f"{self.body_a}_{self.body_b}"


class Undock(NamedTuple):
    """Part two bodies again."""

    dock: str


class Prescribe(NamedTuple):
    """Let a joint follow a motion from then on."""

    joint: str
    motion: "Signal | float | Measured"  # of the time since then; or what is measured of it


class Release(NamedTuple):
    """Let a prescribed joint move by itself."""

    joint: str


Change = Lock | Unlock | Dock | Undock | Prescribe | Release


class Docked(NamedTuple):
    """Two bodies that are joined; how they lay when it happened."""

    name: str
    kind: str  # one of DOCK_KINDS
    body_a: str
    body_b: str
    at_a: Vector  # where, in each body's frame [m]
    at_b: Vector
    axis_a: Vector  # of a revolute one, in each body's axes
    axis_b: Vector
    quaternion: tuple[float, float, float, float] = IDENTITY  # q_AB: body_b in body_a
    position: Vector = (0.0, 0.0, 0.0)  # p_AB_A [m]


class Modes(NamedTuple):
    """How the robot is now."""

    locked: tuple[str, ...] = ()  # hinges, in the robot's order
    docked: tuple[Docked, ...] = ()  # in the order of docking
    prescribed: tuple[Coupling, ...] = ()  # while it runs
    released: tuple[str, ...] = ()  # joints that the robot has prescribed, but that move by themselves


class ModeChange(NamedTuple):
    """What happened, and what it cost."""

    t_ns: int  # scenario time
    what: str  # lock, unlock, dock, undock, prescribe, release; lose, find: of a joint that follows measurements
    names: tuple[str, ...]  # of hinges, docks, joints that changed
    energy_lost: float = 0.0  # [J] in the impact: Carnot
    unchanged: tuple[str, ...] = ()  # that were so already
    error: str = ""  # of a planned change that could not be made: why

    @property
    def t(self) -> float:
        """Scenario time [s]."""
        return self.t_ns * 1e-9


class HasModes(ABC):
    """What anything whose modes can change offers to its users."""

    @property
    @abstractmethod
    def _modes(self) -> Modes:
        """How it is now."""

    @abstractmethod
    def change(self, change: Change) -> ModeChange:
        """Any change of modes, now."""

    @property
    def locked(self) -> tuple[str, ...]:
        """The hinges that are locked, in the robot's order."""
        return self._modes.locked

    @property
    def docked(self) -> tuple[str, ...]:
        """The names of the docks that hold, in the order in which they were made."""
        return tuple(dock.name for dock in self._modes.docked)

    def lock(self, *hinges: str) -> ModeChange:
        """Hold hinges where they are, in one plastic impact, from now until `unlock`; told: the energy lost [J]."""
        return self.change(Lock(hinges))

    def unlock(self, *hinges: str) -> ModeChange:
        """Let locked hinges move again, from rest."""
        return self.change(Unlock(hinges))

    def dock(
        self,
        body_a: str,
        body_b: str,
        kind: str = "weld",
        *,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        axis: Sequence[float] = (0.0, 0.0, 1.0),
        name: str = "",
    ) -> ModeChange:
        """Join two bodies, or one to the "world", as they lie now, in one plastic impact; told: the energy lost [J].

        kind: "weld", "revolute" about `axis` through `at`, or "point", a ball there, both in the frame of body_a [m].
        name: of the dock, for `undock`; by default body_a_body_b.
        """
        return self.change(Dock(body_a, body_b, kind, at, axis, name))  # type: ignore[arg-type]

    def undock(self, name: str) -> ModeChange:
        """Part two bodies: they go on as they move now."""
        return self.change(Undock(name))

    def prescribe(self, joint: str, motion: Signal | float | Measured) -> ModeChange:
        """Let a joint follow a smooth signal of the time since now, which must start where the joint is.

        Or `rbt.Measured(...)`: the `rbt.Measurement`s of it that come as commands.
        """
        return self.change(Prescribe(joint, motion))

    def release(self, joint: str) -> ModeChange:
        """Let a prescribed joint move by itself."""
        return self.change(Release(joint))


def as_names(names: Names) -> tuple[str, ...]:
    """One name, or several."""
    if not isinstance(names, Sequence):
        raise ModelError(f"{names!r:.80} names no hinge; give a name, or a list of them.")
    return (names,) if isinstance(names, str) else tuple(names)


@in_words(ModelError)
def check_change(robot: Robot, change: Change) -> None:
    """ModelError where no state of the robot would allow it: names that are not there, kinds that cannot."""
    if isinstance(change, Lock | Unlock):
        if not as_names(change.hinges):
            raise ModelError(f"{type(change).__name__.lower()}: name at least one hinge.")
        for name in as_names(change.hinges):
            hinge = robot.hinges[robot.hinge_index(name)]
            if hinge.kind == JointKind.FREE:
                raise ModelError(
                    f"hinge '{name}' is free: body '{hinge.child}' floats. Dock it to the world to hold it."
                )
            if hinge.kind == JointKind.FIXED:
                raise ModelError(f"hinge '{name}' is fixed for ever: there is nothing to lock or unlock.")
    elif isinstance(change, Dock):
        _check_dock(robot, change)
    elif isinstance(change, Prescribe | Release):
        robot.joint_place(change.joint)
        if isinstance(change, Prescribe) and isinstance(change.motion, Measured):
            checked_measured(change.motion, f"measured joint '{change.joint}'")


def _check_dock(robot: Robot, dock: Dock) -> None:
    where = f"dock '{checked_name('dock', dock.title)}'"
    if not isinstance(dock.kind, str) or dock.kind not in DOCK_KINDS:
        raise ModelError(f"{where}: '{dock.kind}' is not a kind of dock; use one of {', '.join(DOCK_KINDS)}.")
    if dock.body_a == dock.body_b:
        raise ModelError(f"{where}: it joins '{dock.body_a}' with itself; name two bodies.")
    for body in (dock.body_a, dock.body_b):
        if body != WORLD:
            robot.body_index(body)
    if dock.title in [h.name for h in robot.hinges] + [c.name for c in robot.constraints]:
        raise ModelError(f"{where}: a hinge or constraint of robot '{robot.name}' has that name; give name=.")
    vector(dock.at, f"at of {where}")
    unit(dock.axis, f"axis of {where}")
