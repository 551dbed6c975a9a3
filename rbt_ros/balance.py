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

ROUND_OFF = 16.0 * 2.0**-52  # of all parts summed: what the difference of two sums may be off (measured: 11 eps)


class _Since:
    """What the samples are compared with: the first one after it was told to forget."""

    def __init__(self) -> None:
        self._then: list[float] | None = None
        self._then_ns = 0
        self._scale = 0.0
        self._parts = 0.0

    def forget(self) -> None:
        """The next sample is compared with nothing."""
        self._then = None

    def compare(self, now: list[float], t_ns: int, size: float, parts: float) -> tuple[list[float], int]:
        """That sample's summary and time [ns]. size: of the quantity; parts: of all that is summed in it."""
        if self._then is None:
            self._then, self._then_ns, self._scale, self._parts = now, t_ns, 0.0, 0.0
        self._scale, self._parts = max(self._scale, size), max(self._parts, parts)
        return self._then, self._then_ns

    def share(self, change: float) -> float:
        """A change as a share of the largest size; zero where the rounding of the sums explains it."""
        return 0.0 if abs(change) < ROUND_OFF * self._parts else change / (self._scale or 1.0)


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
        roots = [i for i, h in enumerate(robot.hinges) if h.parent == WORLD]
        floats = model.world[t.ATTRACTION] == 0.0 and all(robot.hinges[i].kind == JointKind.FREE for i in roots)
        floats = floats and not holds_the_world(robot.constraints) and not ropes_hold_the_world(robot.ropes)
        turns = floats and not ropes_jerk_across(robot.ropes)
        turns = turns and not robot.model.freedom[robot.model.tree[roots, t.V], t.DAMPING].any()
        dissipates = bool(robot.model.freedom[:, [t.DAMPING, t.COULOMB, t.SINK]].any()) or drives(robot.constraints)
        self._weight = (robot.mass * model.world[t.GRAVITY : t.GRAVITY + 3]).tolist()
        keeps = not dissipates or self._counts_work, floats, bool(turns)
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
        """Changes that work, losses, gravity's impulse and round-off do not explain; NaN for what is not kept here."""
        momentum, angular = slice(inv.MOMENTUM, inv.MOMENTUM + 3), slice(inv.ANGULAR_COM, inv.ANGULAR_COM + 3)
        booked = abs(now[inv.WORK]) + abs(now[inv.DISSIPATED])
        then, energy_ns = self._energy.compare(now, t_ns, now[inv.KINETIC], now[inv.ENERGY_PARTS] + booked)
        energy = (now[inv.KINETIC] - then[inv.KINETIC]) + (now[inv.POTENTIAL] - then[inv.POTENTIAL])
        energy += (now[inv.DISSIPATED] - then[inv.DISSIPATED]) - (now[inv.WORK] - then[inv.WORK])
        then, momenta_ns = self._momenta.compare(now, t_ns, now[inv.ANGULAR_SIZE], now[inv.ANGULAR_PARTS])
        seconds = (t_ns - momenta_ns) * 1e-9
        lost = [a - b - w * seconds for a, b, w in zip(now[momentum], then[momentum], self._weight, strict=True)]
        turned = [a - b for a, b in zip(now[angular], then[angular], strict=True)]
        energetic, floats, turns = (1.0 if kept else math.nan for kept in self._keeps)
        return Conservation(
            energetic * self._energy.share(energy),
            floats * norm(lost),
            turns * self._momenta.share(norm(turned)),
            now[inv.QUATERNION],
            momenta_ns,
            energy_ns,
        )
