"""The balance: what the motion should keep, against what it has kept; conservation as every sample tells it."""

import math

from rbt_ros.core import invariants as inv
from rbt_ros.core import types as t
from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import norm
from rbt_ros.model.constraints import drives, holds_the_world
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.model.unilateral import ropes_hold_the_world, ropes_jerk_across
from rbt_ros.results import Conservation


class _Since:
    """What the samples are compared with: the first one after it was told to forget."""

    def __init__(self) -> None:
        self._then: list[float] | None = None
        self._then_ns = 0
        self._scale = 0.0

    def forget(self) -> None:
        """The next sample is compared with nothing."""
        self._then = None

    def compare(self, now: list[float], t_ns: int, size: float) -> tuple[list[float], int, float]:
        """That sample's summary and time [ns], and the largest size of the quantity since then."""
        if self._then is None:
            self._then, self._then_ns, self._scale = now, t_ns, 0.0
        self._scale = max(self._scale, size)
        return self._then, self._then_ns, self._scale or 1.0


class Balance:
    """What the system should keep: momenta since the last input, energy likewise, or with the work of all inputs."""

    def __init__(self, robot: Robot, model: t.Model, counts_work: bool):
        """model: the robot's, with the world it moves in."""
        self._counts_work = counts_work
        self._energy, self._momenta = _Since(), _Since()
        self._keeps = (False, False, False)  # energy, momentum, angular momentum
        self.watch(robot, model)

    def watch(self, robot: Robot, model: t.Model) -> None:
        """Look at this robot from now on; what it keeps unlike the one before counts anew."""
        floats = model.world[t.ATTRACTION] == 0.0 and all(
            h.kind == JointKind.FREE for h in robot.hinges if h.parent == WORLD
        )
        floats = floats and not holds_the_world(robot.constraints) and not ropes_hold_the_world(robot.ropes)
        turns = floats and not ropes_jerk_across(robot.ropes)
        dissipates = bool(robot.model.freedom[:, [t.DAMPING, t.COULOMB, t.SINK]].any()) or drives(robot.constraints)
        self._weight = (robot.mass * model.world[t.GRAVITY : t.GRAVITY + 3]).tolist()
        keeps = not dissipates or self._counts_work, floats, turns
        if keeps[0] != self._keeps[0]:
            self._energy.forget()
        if keeps[1:] != self._keeps[1:]:
            self._momenta.forget()
        self._keeps = keeps

    def forget(self) -> None:
        """The state was set: the next sample is compared with nothing."""
        self._energy.forget()
        self._momenta.forget()

    def acted(self) -> None:
        """Something acted from outside. If its work is known, the energy stays comparable."""
        self._momenta.forget()
        if not self._counts_work:
            self._energy.forget()

    def conservation(self, now: list[float], t_ns: int) -> Conservation:
        """Changes that work, losses and gravity's impulse do not explain; NaN for what this system does not keep."""
        momentum, angular = slice(inv.MOMENTUM, inv.MOMENTUM + 3), slice(inv.ANGULAR_COM, inv.ANGULAR_COM + 3)
        then, energy_ns, energy_scale = self._energy.compare(now, t_ns, now[inv.KINETIC])
        energy = (now[inv.KINETIC] - then[inv.KINETIC]) + (now[inv.POTENTIAL] - then[inv.POTENTIAL])
        energy += (now[inv.DISSIPATED] - then[inv.DISSIPATED]) - (now[inv.WORK] - then[inv.WORK])
        then, momenta_ns, angular_scale = self._momenta.compare(now, t_ns, now[inv.ANGULAR_SIZE])
        seconds = (t_ns - momenta_ns) * 1e-9
        lost = [a - b - w * seconds for a, b, w in zip(now[momentum], then[momentum], self._weight, strict=True)]
        turned = [a - b for a, b in zip(now[angular], then[angular], strict=True)]
        energetic, floats, turns = (1.0 if kept else math.nan for kept in self._keeps)
        return Conservation(
            energetic * energy / energy_scale,
            floats * norm(lost),
            turns * norm(turned) / angular_scale,
            now[inv.QUATERNION],
            momenta_ns,
            energy_ns,
        )
