"""One thing that a viewer may set, with unit and range, and who runs the simulation on which it acts."""

import math
import sys
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from rbt_ros.errors import MessageError
from rbt_ros.model.hinge_commands import HingeSettings
from rbt_ros.model.inputs import FOR_EVER, Command, Wrench, WrenchCommand
from rbt_ros.model.robot import Robot
from rbt_ros.sim import Simulation

LARGEST = sys.float_info.max
EVER_NS = FOR_EVER // 4  # [ns] longer than any run


class Push(NamedTuple):
    """A force with its arm, and a moment, on a body until the next one."""

    body: str
    frame: str  # axes of force and moment: body or world
    force: tuple[float, float, float]  # [N]
    moment: tuple[float, float, float]  # [N·m] beside that of the force
    arm: tuple[float, float, float]  # from the CoM, body axes [m]

    def command(self, robot: Robot) -> WrenchCommand:
        """Without end."""
        com = robot.bodies[robot.body_index(self.body)].com
        x, y, z = (c + a for c, a in zip(com, self.arm, strict=True))
        return WrenchCommand(Wrench(self.body, self.force, self.moment, self.frame, (x, y, z)), EVER_NS)


class Host(Protocol):
    """Who runs the simulation: a plain run or a node. What it does not do it refuses by an RbtError."""

    rates: tuple[float, float]  # the least and the largest [simulated s per s]

    @property
    def sim(self) -> Simulation: ...

    @property
    def paused(self) -> bool: ...

    @property
    def rate(self) -> float: ...

    def set_paused(self, paused: bool) -> None: ...

    def set_rate(self, rate: float) -> None: ...

    def set_stabilise(self, how: str) -> None: ...

    def set_integrator(self, name: str) -> None: ...

    def set_step(self, step: float) -> None: ...

    def step(self, ticks: int) -> None: ...

    def reset(self) -> None: ...

    def command(self, command: Command) -> None: ...

    def settle(self, settings: HingeSettings) -> None: ...

    def push(self, push: Push) -> None: ...


class Control(NamedTuple):
    """One thing to set. `read` tells what it is now, `write` sets it or raises an RbtError."""

    key: str
    label: str
    group: str
    kind: str  # button, toggle, choice, number, vector
    read: Callable[[], Any]
    write: Callable[[Any], None]
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    options: tuple[str, ...] = ()
    parts: tuple[str, ...] = ("x", "y", "z")  # of a vector
    note: str = ""

    def described(self, refused: str) -> dict[str, Any]:
        """For the page."""
        return {
            "key": self.key,
            "label": self.label,
            "group": self.group,
            "kind": self.kind,
            "unit": self.unit,
            "low": self.low if math.isfinite(self.low) else None,
            "high": self.high if math.isfinite(self.high) else None,
            "options": list(self.options),
            "parts": list(self.parts) if self.kind == "vector" else [],
            "note": self.note,
            "value": self.read(),
            "refused": refused,
        }

    def checked(self, value: Any) -> Any:
        """The value as its kind, in its range; else MessageError."""
        if self.kind == "button":
            return None
        if self.kind == "toggle":
            return bool(value)
        if self.kind == "choice":
            if value not in self.options:
                raise MessageError(f"{self.label}: {value!r:.60} is not one of {', '.join(self.options)}.")
            return value
        if self.kind == "number":
            return self._number(value, self.label)
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != len(self.parts):
            raise MessageError(f"{self.label}: {value!r:.60} must be {len(self.parts)} numbers.")
        return tuple(self._number(x, f"{self.label} {part}") for x, part in zip(value, self.parts, strict=True))

    def _number(self, value: Any, label: str) -> float:
        low, high = max(self.low, -LARGEST), min(self.high, LARGEST)  # integers may be larger than floats
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            unit = f" {self.unit}" if self.unit else ""
            raise MessageError(f"{label}: {value!r:.60} must be a number from {self.low:g} to {self.high:g}{unit}.")
        return float(value)
