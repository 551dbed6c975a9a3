"""Ropes and stops of a simulation by name: their rows, their start, what they do, what has happened."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import constraints as c
from rbt_ros.core.constrained import constrained_derivative
from rbt_ros.core.contacts import Contact
from rbt_ros.core.contacts import Contacts as Run
from rbt_ros.core.types import OK, Input, Model
from rbt_ros.core.work import Work
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.assembly import Loops, least_multipliers
from rbt_ros.model.constraints import ConstraintForce, idle_force
from rbt_ros.model.robot import Robot
from rbt_ros.model.unilateral import UPPER, ContactEvent, RopeForce, StopForce
from rbt_ros.model.unilateral_arrays import unilateral

START_TOLERANCE = 1e-9  # [m, rad], per 1 + |length or limit|: by which a start may be beyond what holds it


class Forces(NamedTuple):
    """What holds does, by name."""

    constraints: dict[str, ConstraintForce]
    ropes: dict[str, RopeForce]
    stops: dict[str, StopForce]


def idle_forces(robot: Robot) -> Forces:
    """What holds does where nothing does anything."""
    return Forces(
        {constraint.name: idle_force(constraint) for constraint in robot.constraints},
        {rope.name: RopeForce(0.0, False, np.zeros(6)) for rope in robot.ropes},
        {stop.joint: StopForce(0.0, False) for stop in robot.stops},
    )


class Contacts:
    """The ropes and stops of what moves in one simulation, and what has happened to them."""

    def __init__(self, robot: Robot, model: Model, work: Work, before: "Contacts | None" = None):
        """before: those of the same simulation while its modes were others; who held then holds."""
        self._robot, self._model, self._work = robot, model, work
        self._rows = [(rope.name, "") for rope in robot.ropes] + [
            (stop.joint, side) for stop in robot.stops for side in stop.sides
        ]
        self._data = unilateral(robot)
        self._run = Run(model, self._data, work)
        self.stepper, self.controlled_stepper = self._run.stepper, self._run.controlled_stepper
        self._past: tuple[ContactEvent, ...] = ()
        if before is not None:
            self._past = before.events
            self._run.lost, self._run.driven = before.lost, before.driven
            self.hold(before.held)

    @property
    def watches(self) -> bool:
        """Whether there is anything that could be hit: not where locks keep it all."""
        return bool(self._rows)

    @property
    def held(self) -> tuple[tuple[str, str], ...]:
        """Who holds now: name of the rope or joint, and side of a joint."""
        return tuple(self._rows[r - self._data.two_sided] for r in self._run.held)

    def hold(self, held: Sequence[tuple[str, str]]) -> None:
        """Let those hold, as far as they are here."""
        self._run.held = tuple(self._data.two_sided + r for r, row in enumerate(self._rows) if row in held)

    def set_work(self, work: Work) -> None:
        """Compute in that workspace: the account of y has grown."""
        self._work = self._run.work = work

    @property
    def lost(self) -> float:
        """Energy lost in impacts since t = 0 [J]."""
        return self._run.lost

    @property
    def driven(self) -> float:
        """Work that prescribed joints did in impacts since t = 0 [J]."""
        return self._run.driven

    @property
    def rows(self) -> c.Constraints:
        """All conditions that hold now, the two-sided ones first."""
        return self._run.split.held

    @property
    def events(self) -> tuple[ContactEvent, ...]:
        """What has happened since t = 0; of more than a hundred thousand events, the last."""
        return (*self._past, *(self._event(contact) for contact in self._run.happened))

    def forget(self) -> None:
        """Back to t = 0: nothing has happened yet."""
        self._past = ()
        self._run.forget()

    def memory(self) -> dict[str, Any]:
        """What has happened, and who holds, as lists and numbers."""
        return {"held": [list(row) for row in self.held], "events": [list(event) for event in self.events]} | {
            "energies": [self.lost, self.driven]
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Become what `memory` told."""
        self.forget()
        self._past = tuple(ContactEvent(*event) for event in memory["events"])
        self._run.lost, self._run.driven = memory["energies"]
        self.hold([(name, side) for name, side in memory["held"]])

    def begin(self, y: np.ndarray, input: Input, t_ns: int, *, anew: bool) -> None:
        """Find out who holds now; what is hit now, is hit. anew: the state was set, so nobody is known to hold."""
        if not self.watches:
            return
        if anew:
            self._refuse_beyond(y, input, t_ns)
        if self._run.begin(y, input, t_ns, anew) != OK:
            raise SolveError(
                f"t = {t_ns * 1e-9:.9g} s: no impulses are found that keep all ropes and stops of robot "
                f"'{self._robot.name}' that are at their ends. Do they work against each other?"
            )

    def _refuse_beyond(self, y: np.ndarray, input: Input, t_ns: int) -> None:
        """ScenarioError where a rope is too short, or a joint beyond its stop."""
        phi = self._run.distances(y, input, t_ns)
        for value, row, (name, side) in zip(phi, self._data.rows.row[self._data.two_sided :], self._rows, strict=True):
            target = float(row[c.TARGET])
            if value <= START_TOLERANCE * (1.0 + abs(target)):
                continue
            if side:
                limit = target if side == UPPER else -target
                raise ScenarioError(
                    f"start: joint '{name}' is beyond its {side} stop at {limit:g}, by {value:.4g}; set it within its "
                    "limits."
                )
            raise ScenarioError(
                f"start: rope '{name}' is {target:g} m long, but its ends are {target + value:.9g} m apart; move one "
                "of its bodies, or give it more length."
            )

    def forces(self, y: np.ndarray, input: Input, t_ns: int, loops: Loops | None) -> Forces:
        """What constraints, ropes and stops do now."""
        held, bond, *_ = self._run.split
        rank = constrained_derivative(self._model, y, input, t_ns, 0.0, held, self._work, bond, np.zeros_like(y))
        multipliers, first = least_multipliers(bond, rank), self._data.two_sided
        places = {r - first: first + k for k, r in enumerate(self._run.held)}
        ropes: dict[str, RopeForce] = {}
        stops: dict[str, StopForce] = {}
        for number, (name, side) in enumerate(self._rows):
            place = places.get(number)
            value = 0.0 if place is None else float(multipliers[place])
            if side:
                before = stops.get(name, StopForce(0.0, False))
                push = value if side == UPPER else -value
                stops[name] = StopForce(before.effort + push, before.touching or place is not None)
            else:
                wrench = np.zeros(6) if place is None else value * bond.direction[place]
                ropes[name] = RopeForce(-value if value else 0.0, place is not None, wrench)
        named = loops.named(multipliers, bond) if loops else {}
        return Forces(named, ropes, stops)

    def _event(self, contact: Contact) -> ContactEvent:
        name, side = self._rows[contact.row - self._data.two_sided]
        struck = contact.speed > 0.0 or contact.impulse > 0.0
        if contact.holds:
            what = "stop" if side else "taut"
        else:
            what = "bounce" if struck else "leave" if side else "slack"
        t = contact.t_ns * 1e-9 + contact.s
        return ContactEvent(t, name, what, side, contact.speed, contact.impulse, contact.lost)
