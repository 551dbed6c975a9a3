"""What acts on a robot from outside, and when: planned by a scenario, commanded while it runs."""

from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import signals as core_signals
from rbt_ros.core import types as t
from rbt_ros.core.signals import Signal, scaled, signal_arrays
from rbt_ros.core.types import Input
from rbt_ros.errors import MessageError, ModelError, ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.model.body_forces import BodyForce, LawRows, law_rows
from rbt_ros.model.checks import remembered, whole_numbers
from rbt_ros.model.coordinates import coordinate_slices, is_finite
from rbt_ros.model.hinge_commands import HingeCommand, HingeInput, HingeTorque, HingeTrajectory
from rbt_ros.model.hinge_targets import Targets
from rbt_ros.model.measured import Measurement
from rbt_ros.model.modes import Change, Prescribe, Release
from rbt_ros.model.revisions import Revisions
from rbt_ros.model.robot import Robot
from rbt_ros.model.ticks import Ticks

NO_LOAD = np.zeros((0, t.LOAD_COLUMNS))
REST_OF_ROW = (0.0,) * (t.LOAD_COLUMNS - t.LOAD_SIGNAL)  # of one without signal and law

Vector = tuple[float, float, float]
FOR_EVER = 2**62  # [ticks] what has no end


class Wrench(NamedTuple):
    """Force and moment on a body, constant in their axes."""

    body: str
    force: Vector = (0.0, 0.0, 0.0)  # [N]
    moment: Vector = (0.0, 0.0, 0.0)  # [N·m], beside that of the force
    frame: str = "body"  # axes of both: "body" or "world"
    at: str | Vector = "com"  # where the force acts: "com", "origin" of the body's frame, or a point in that frame [m]


class Effort(NamedTuple):
    """Torque [N·m] or force [N] on each freedom of a hinge; of a spherical one in the child's axes."""

    hinge: str
    effort: tuple[float, ...]


class PlannedInput(NamedTuple):
    """An input of a scenario; its ends are rounded to whole ticks."""

    what: Wrench | Effort | BodyForce  # times the signal, where there is one
    signal: Signal | None = None  # of the time since from_ns
    from_ns: int = 0
    to_ns: int | None = None


class PlannedChange(NamedTuple):
    """A change of modes in a scenario; its time is rounded to whole ticks."""

    change: Change
    at_ns: int


class WrenchCommand(NamedTuple):
    """A wrench from outside: acts from the next tick for `hold_ns`, rounded to whole ticks (one at least)."""

    wrench: Wrench
    hold_ns: int


Command = WrenchCommand | HingeInput | Measurement


class Latched(NamedTuple):
    """A command as it was accepted: it acts on ticks first <= k < end (FOR_EVER: until changed)."""

    command: Command
    first: int
    end: int


class _Timed(NamedTuple):
    """One input with its ticks: a row of Input.load, LawRows, or a (nv,) array of efforts, times a signal."""

    value: Any
    first: int
    end: int
    signal: Signal | None = None
    origin_ns: int = 0  # of the signal: the time of `first`


class Timeline:
    """All inputs of a run by the ticks on which they act. `current` is what acts, once it is renewed."""

    def __init__(self, robot: Robot, ticks: Ticks, revisions: Revisions, refusal: str = ""):
        """refusal: why no input may act at all, if so."""
        self._robot, self._ticks, self._revisions, self._refusal = robot, ticks, revisions, refusal
        self._plans: list[PlannedInput] = []
        self._planned: list[_Timed] = []  # the same by ticks
        self._changes: list[PlannedChange] = []  # of modes, by the time at which they happen
        self._happened = 0  # how many of them have
        self._commanded: dict[str, _Timed] = {}  # the last valid wrench on each body
        self.targets = Targets(robot)  # of the hinges
        self.current = Input(self.targets.efforts, NO_LOAD)
        self.laws: tuple[LawRows, ...] = ()  # those of `current`, in the order of their rows
        self.acts = False  # whether anything does, while `current` holds
        self.current_end = 0  # the first tick for which `current` does not hold

    def plan(self, planned: PlannedInput) -> None:
        """Add an input of the scenario."""
        if self._refusal:
            raise ScenarioError(self._refusal)
        self._planned.append(self._timed(planned))
        self._plans.append(planned)
        self._revisions.acts()

    def _timed(self, planned: PlannedInput) -> _Timed:
        first = self._ticks.nearest(planned.from_ns)
        end = FOR_EVER if planned.to_ns is None else max(first + 1, self._ticks.nearest(planned.to_ns))
        what = planned.what
        if isinstance(what, BodyForce):
            value: Any = law_rows(self._robot, what)
        else:
            value = self._row(what) if isinstance(what, Wrench) else self._spread(what)
        return _Timed(value, first, end, planned.signal, self._ticks.ns(first))

    def plan_change(self, planned: PlannedChange) -> None:
        """Let the modes change before the step at that time."""
        self._changes.append(planned)
        self._changes[self._happened :] = sorted(self._changes[self._happened :], key=lambda entry: entry.at_ns)
        self._revisions.acts()

    def set_refusal(self, refusal: str) -> None:
        """Why no input may act from now on, if so: ScenarioError where some are planned or act."""
        if refusal and (self._plans or self._commanded or self.acts):
            raise ScenarioError(refusal)
        self._refusal = refusal

    def refuse_sampled(self, what: str, tick: int) -> None:
        """ScenarioError where a Python function was sampled at the stages of the steps as they are."""
        for plan, item in zip(self._plans, self._planned, strict=True):
            if plan.signal is not None and plan.signal.law == t.STAGES and item.end > tick:
                raise ScenarioError(
                    f"{what} cannot change before {self._ticks.ns(item.end) * 1e-9:g} s: the Python function that "
                    f"drives {plan.what} was sampled at the stages of the steps as they are; use rbt.table(...)."
                )

    def rebase(self, ticks: Ticks, tick: int) -> None:
        """Count in other ticks from `tick` on; what has begun goes on, what is to come keeps its time."""
        old, self._ticks = self._ticks, ticks
        again = [self._timed(plan) for plan in self._plans]
        self._planned = [
            new._replace(first=was.first, origin_ns=was.origin_ns) if was.first <= tick else new
            for was, new in zip(self._planned, again, strict=True)
        ]
        self._commanded = {
            body: item._replace(end=tick + ticks.count(old.ns(item.end) - old.ns(tick)))
            for body, item in self._commanded.items()
        }
        self._revisions.steps()

    @property
    def plans_changes(self) -> bool:
        """Whether the modes are to change at some time."""
        return bool(self._changes)

    def next_change(self, tick: int) -> Change | None:
        """The next change of modes that is due and has not happened; it counts as happened from now on."""
        if not self.change_is_due(tick):
            return None
        self._happened += 1
        return self._changes[self._happened - 1].change

    def refuse_second_source(self, joint: str) -> None:
        """ScenarioError where that joint is still to be prescribed or released: it cannot follow measurements, too."""
        for planned in self._changes[self._happened :]:
            if isinstance(planned.change, Prescribe | Release) and planned.change.joint == joint:
                what = type(planned.change).__name__.lower()
                raise ScenarioError(
                    f"joint '{joint}' cannot follow measurements: the inputs {what} it at "
                    f"{planned.at_ns * 1e-9:g} s, and a joint has one source; take its prescribe and release out of "
                    "the inputs, or follow another joint."
                )

    def change_is_due(self, tick: int) -> bool:
        """Whether a change of modes should have happened by this tick, and has not."""
        return self._happened < len(self._changes) and self._tick_of(self._changes[self._happened]) <= tick

    def _tick_of(self, planned: PlannedChange) -> int:
        return self._ticks.nearest(planned.at_ns)

    def rewind(self, ticks: Ticks) -> None:
        """Back to the start, by these ticks: what is planned is still to come."""
        self._ticks, self._happened = ticks, 0
        self._planned = [self._timed(plan) for plan in self._plans]
        self._changes.sort(key=lambda entry: entry.at_ns)
        self.drop_commands()

    def command(self, command: WrenchCommand | HingeInput, tick: int, q: np.ndarray, v: np.ndarray) -> Latched:
        """Take a command in place of the last one on that body or those joints; MessageError when it is refused.

        q, v: where everything is at this tick.
        """
        self._refuse_strange(command)
        if not isinstance(command, WrenchCommand):
            taken = self.targets.take(command, self._ticks.ns(tick), q, v)
            self._revisions.acts()
            return Latched(taken, tick, FOR_EVER)
        row = self._commanded_row(command)
        latched = Latched(command, tick, tick + self._ticks.count(command.hold_ns))
        self._commanded[command.wrench.body] = _Timed(row, latched.first, latched.end)
        self._revisions.acts()
        return latched

    def check(self, command: WrenchCommand | HingeInput, tick: int, q: np.ndarray, v: np.ndarray) -> None:
        """MessageError where `command` would be refused; nothing changes."""
        self._refuse_strange(command)
        if isinstance(command, WrenchCommand):
            self._commanded_row(command)
        else:
            self.targets.check(command, self._ticks.ns(tick), q, v)

    def _refuse_strange(self, command: Any) -> None:
        """MessageError where nothing may be commanded, or this is no command."""
        self._refuse()
        if not isinstance(command, Command):
            raise MessageError(f"{command!r:.80} is no command; rbt.WrenchCommand(wrench, hold_ns) is one.")

    def _commanded_row(self, command: WrenchCommand) -> tuple[float, ...]:
        """The load of a wrench that comes from outside."""
        try:
            return self._row(command.wrench)
        except ModelError as err:
            raise MessageError(str(err)) from err

    def set_effort(self, effort: Effort) -> None:
        """Let a hinge feel this effort from now on."""
        self._refuse()
        spread = self._spread(effort)
        i = self._robot.hinge_index(effort.hinge)
        _, at = coordinate_slices(self._robot, i)
        freedoms = slice(at.start - self._robot.coordinates, at.stop - self._robot.coordinates)
        changed = self.targets.efforts.copy()
        changed[freedoms] = spread[freedoms]
        self.targets.efforts = changed
        self._revisions.acts()

    def drop_commands(self) -> bool:
        """Forget what was commanded and set from outside; whether there was anything. Modes and gains stay."""
        dropped = bool(self._commanded)
        self._commanded.clear()
        dropped |= self.targets.drop()
        self._revisions.acts()
        return dropped

    def fallback(self, command: Command, hold_position: bool, q: np.ndarray) -> tuple[Command, ...]:
        """The commands that end what `command` does: nothing acts any more, or what can holds its position."""
        if isinstance(command, WrenchCommand):
            zero = (0.0, 0.0, 0.0)
            return (command._replace(wrench=command.wrench._replace(force=zero, moment=zero)),)
        if isinstance(command, HingeTorque):
            return (command._replace(torque=(0.0, 0.0, 0.0)),)
        if not isinstance(command, HingeCommand | HingeTrajectory):
            return ()
        held = self.targets.held(command.joints, q) if hold_position else None
        left = tuple(joint for joint in command.joints if held is None or joint not in held.joints)
        return (*((HingeCommand(left),) if left else ()), *((held,) if held else ()))

    def memory(self) -> dict[str, Any]:
        """What was commanded and set from outside, as lists and numbers."""
        commanded = {
            body: [list(item.value[: t.LOAD_LAW]), item.first, item.end] for body, item in self._commanded.items()
        }
        return {
            "planned": [[item.first, item.end, item.origin_ns] for item in self._planned],
            "happened": self._happened,
            "commanded": commanded,
            "hinges": self.targets.memory(),
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Become what `memory` told."""
        planned = memory["planned"]
        if len(planned) != len(self._planned):
            raise ScenarioError(f"the checkpoint was made with {len(planned)} planned inputs, not these.")
        self._planned = [
            item._replace(first=first, end=end, origin_ns=origin_ns)
            for item, (first, end, origin_ns) in zip(self._planned, map(whole_numbers, planned), strict=True)
        ]
        self._commanded = {
            body: _Timed(self._remembered_row(body, row), *whole_numbers(ticks))
            for body, (row, *ticks) in memory["commanded"].items()
        }
        (self._happened,) = whole_numbers([memory["happened"]])
        self.targets.recall(memory["hinges"])
        self._revisions.acts()

    def _remembered_row(self, body: str, row: Any) -> tuple[float, ...]:
        """That of a wrench; ScenarioError where it is none on that body."""
        found = tuple(remembered(row, (t.LOAD_LAW,), f"the wrench on '{body}'").tolist())
        if found[t.LOAD_BODY] != self._robot.body_index(body) or found[t.LOAD_SIGNAL] != 0.0:
            raise ScenarioError(f"the wrench on '{body}' of the memory is one on another body.")
        return (*found, *REST_OF_ROW[1:])

    def renew(self, tick: int) -> None:
        """Make `current` hold from `tick` on, and find the tick at which it ends."""
        timed = [*self._planned, *self._commanded.values()]
        rows, efforts, signals, laws = [], self.targets.efforts, self.targets.driven(), []
        for item in timed:
            if not item.first <= tick < item.end:
                continue
            if isinstance(item.value, np.ndarray):
                if item.signal is None:
                    efforts = efforts + item.value
                else:
                    driven = [(int(j), scaled(item.signal, item.value[j])) for j in np.nonzero(item.value)[0]]
                    signals += [self._driven(item, signal, j) for j, signal in driven]
                continue
            if item.signal is not None:
                signals.append(self._driven(item, item.signal, -1))
            by = float(len(signals)) if item.signal else 0.0
            if isinstance(item.value, LawRows):
                laws.append((item.value, by))
            else:
                rows.append((*item.value[: t.LOAD_SIGNAL], by, *item.value[t.LOAD_SIGNAL + 1 :]))
        input = Input(efforts, NO_LOAD, *(signal_arrays(signals) if signals else ()))
        data = input.data
        for law, by in laws:
            for row in law.rows:
                rows.append((*row[: t.LOAD_SIGNAL], by, row[t.LOAD_LAW], float(len(data)), *row[t.LOAD_DATA + 1 :]))
                if by:  # what turns a potential up and down works: all that it does is work from outside
                    rows[-1] = (*rows[-1][: t.LOAD_STORES], 0.0)
            data = np.concatenate([data, law.data])
        self.laws = tuple(law for law, _ in laws)
        self.current = input._replace(load=np.array(rows) if rows else NO_LOAD, data=data)
        self.acts = bool(rows) or bool(signals) or bool(efforts.any())
        edges = [edge for item in timed for edge in (item.first, item.end) if edge > tick]
        edges += [self._tick_of(planned) for planned in self._changes[self._happened :]]
        self.current_end = min(edges, default=FOR_EVER)
        self._commanded = {body: item for body, item in self._commanded.items() if item.end > tick}

    def tick_from(self, t_ns: int) -> int:
        """The first tick that is not before that time."""
        return -((self._ticks.zero_ns - t_ns) // self._ticks.h_ns)

    def _driven(self, item: _Timed, signal: Signal, freedom: int) -> tuple[Signal, int, int, int, int]:
        """A row for `signal_arrays`: the signal, what it drives, from, to and its origin [ns]."""
        end = core_signals.FOR_EVER if item.end == FOR_EVER else self._ticks.ns(item.end)
        return signal, freedom, item.origin_ns, min(end, core_signals.FOR_EVER), item.origin_ns

    def _refuse(self) -> None:
        if self._refusal:
            raise MessageError(self._refusal)

    @in_words(ModelError)
    def _row(self, wrench: Wrench) -> tuple[float, ...]:
        if not isinstance(wrench, Wrench):
            raise ModelError(f"{wrench!r:.80} is no wrench; rbt.Wrench(body, force, moment) is one.")
        i = self._robot.body_index(wrench.body)
        for what, value in (("force", wrench.force), ("moment", wrench.moment)):
            if not is_finite(value, 3):
                raise ModelError(f"wrench on '{wrench.body}': {what} {value} must be three finite numbers.")
        if wrench.frame not in ("body", "world"):
            raise ModelError(f"wrench on '{wrench.body}': frame {wrench.frame!r:.80} is not one of body, world.")
        com = self._robot.bodies[i].com
        at = {"com": com, "origin": (0.0, 0.0, 0.0)}.get(wrench.at) if isinstance(wrench.at, str) else wrench.at
        if at is None:
            raise ModelError(f"wrench on '{wrench.body}': at {wrench.at!r:.80} is not one of com, origin.")
        if not is_finite(at, 3):
            raise ModelError(f"wrench on '{wrench.body}': point {at} must be three finite numbers [m].")
        point = tuple(float(a) - c for a, c in zip(at, com, strict=True))
        axes = t.WORLD_AXES if wrench.frame == "world" else t.BODY_AXES
        return (float(i), axes, *point, *(float(c) for c in (*wrench.moment, *wrench.force)), *REST_OF_ROW)

    def _spread(self, effort: Effort) -> np.ndarray:
        i = self._robot.hinge_index(effort.hinge)
        _, at = coordinate_slices(self._robot, i)
        count = at.stop - at.start
        if not is_finite(effort.effort, count):
            raise ModelError(f"effort on hinge '{effort.hinge}': {effort.effort} must be {count} finite numbers.")
        efforts = np.zeros(self._robot.freedoms)
        efforts[at.start - self._robot.coordinates : at.stop - self._robot.coordinates] = effort.effort
        return efforts
