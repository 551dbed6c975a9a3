"""What moves, and how it goes on: state, what acts, modes, checkpoints. What may be done with it is in `sim.py`."""

import contextlib
import hashlib
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.balance import Balance
from rbt_ros.core import invariants as inv
from rbt_ros.core import types as t
from rbt_ros.core.jit import direct
from rbt_ros.core.side_by_side import Run
from rbt_ros.core.types import State
from rbt_ros.errors import ChangeError, ModelError, RbtError, ScenarioError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.body_forces import culprit, told
from rbt_ros.model.checks import remembered, whole_number
from rbt_ros.model.constraints import PRESCRIBE
from rbt_ros.model.contacts import Forces, idle_forces
from rbt_ros.model.failures import FAILURES
from rbt_ros.model.friction import warn_of_no_drag
from rbt_ros.model.inputs import Timeline
from rbt_ros.model.integration import Integration
from rbt_ros.model.integrators import no_inputs
from rbt_ros.model.mechanism import Mechanism
from rbt_ros.model.mode_memory import changes_memory, changes_of, modes_memory, modes_of
from rbt_ros.model.modes import Change, HasModes, ModeChange, Modes, Prescribe, Release
from rbt_ros.model.reduction import Reduction, reduction_of, then_memory
from rbt_ros.model.revisions import Revisions
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import Scenario
from rbt_ros.model.stabilise import Stabilise
from rbt_ros.model.start_report import StartReport
from rbt_ros.model.ticks import Ticks, refuse_beyond, remembered_ticks
from rbt_ros.model.unilateral import ContactEvent
from rbt_ros.results import Energy, Sample, Work, state_digest

NO_FORCES = Forces({}, {}, {})


class Start(NamedTuple):
    """What `reset` returns to."""

    modes: Modes
    now: Reduction
    motion: np.ndarray  # [q, v] of what moves
    changes: tuple[ModeChange, ...]


class Motion(HasModes):
    """A robot, its state, and what acts on it, tick by tick.

    Whatever is set only notes that it has changed (`Revisions`). `_ensure` alone makes valid what depends on it, before
    anyone looks or a step is taken.
    """

    def __init__(self, robot: Robot, world: np.ndarray, ticks: Ticks, how: Integration, seed: int, counts_work: bool):
        """counts_work: of what acts, and of what dampers and friction take."""
        self.robot, self.seed = robot, seed
        self.scenario: Scenario | None = None  # what it was made of
        self.tick, self.ticks = 0, ticks
        self.changes: tuple[ModeChange, ...] = ()  # of modes since t = 0, and before
        self._how, self._counts_work = how, counts_work
        self._given = self.h_ns, how.integrator  # what checkpoints fit
        self._revisions = Revisions()
        self._mech = Mechanism(robot, world, self._revisions)
        if counts_work and not how.plugged.torque_free:  # without torque no work
            self._mech.open_account(2)
        self._inputs = Timeline(robot, self.ticks, self._revisions, refusal=no_inputs(how.integrator))
        self._balance = Balance(robot, self._mech.model, counts_work)
        self._mech.set_sink_floor(self.h_ns)
        self._start: Start | None = None
        self._valid, self._valid_to = self._revisions.last, 0  # the revision that is valid, and to which tick
        self._grid = tuple(ticks)  # a plain tuple is unpacked in a tenth of the time
        self._revisions.places(opens=True)
        warn_of_no_drag(robot, world)

    # where it is

    @property
    def state(self) -> State:
        """Time, coordinates and velocities, of the whole robot whatever is locked: copies."""
        self._ensure(acting=False)
        nq, motion = self.robot.coordinates, self._mech.seen()
        return State(self.t_ns, motion[:nq], motion[nq:])

    @property
    def _modes(self) -> Modes:
        return self._mech.modes

    @property
    def t_ns(self) -> int:
        """Scenario time [ns]."""
        return self.ticks.ns(self.tick)

    @property
    def h_ns(self) -> int:
        """The step [ns]."""
        return self.ticks.h_ns

    @property
    def integrator(self) -> str:
        """By which it is integrated now."""
        return self._how.integrator

    @property
    def stabilise(self) -> Stabilise:
        """How angular momentum and energy are kept now."""
        return self._how.stabilise

    @property
    def _attraction(self) -> float:
        """mu of the point mass that attracts [m³/s²]."""
        return float(self._mech.model.world[t.ATTRACTION])

    def digest(self) -> str:
        """16 hex digits of time and state: equal if and only if every bit is."""
        self._ensure(acting=False)
        return state_digest(self.t_ns, self._mech.seen().tobytes())

    @property
    def events(self) -> tuple[ContactEvent, ...]:
        """Ropes that went taut or slack, joints that hit or left their stops, since t = 0."""
        return self._mech.contacts.events if self._mech.contacts else ()

    @property
    def start_report(self) -> StartReport | None:
        """What of the last start was given, what followed, what was left open, what was said twice; None: no loops."""
        self._ensure(acting=False)
        return self._mech.loops.report if self._mech.loops else None

    # what follows from what was set

    def _ensure(self, acting: bool = True) -> None:
        """Make valid what has changed: constraints, modes that are due, what acts, the next step. All, or nothing.

        What was set and cannot be raises the same error each time, until set_body or set_hinge, release or reset mends
        it. A planned change that cannot be made raises once, and stands in `changes`. acting: False for who asks only
        where everything is: what acts may have changed.
        """
        now, before, due = self._revisions, self._valid, self.tick >= self._valid_to
        if now.last == before and not due:
            return
        placed = now.placed > before
        if not (acting or placed or self._inputs.change_is_due(self.tick)):
            return
        self._renew()
        if placed:
            self._assemble(is_open=now.opened > before)
        elif self._mech.contacts and (due or now.acting > before):
            self._mech.contacts.begin(self._mech.y, self._acting, self.t_ns, anew=False)
        self._let_happen()
        if now.built > before:
            self._balance.watch(self._mech.now.robot, self._mech.model)
            self._how.choose(self._mech)
        elif placed:
            self._how.start(self._mech)
        self._latch()
        if placed:
            self._keep_start()
            if self._counts_work and not (self._mech.loops or self._mech.contacts):
                self.sample()  # with which the next ones are compared

    def _renew(self) -> None:
        """Find out what acts now."""
        before = self._inputs.laws
        self._inputs.renew(self.tick)
        if self._inputs.laws != before:  # the energy has other parts now
            self._balance.forget()
        self._acting = self._mech.now.acting(self._inputs.current)

    def _assemble(self, *, is_open: bool) -> None:
        """The state was set: put it on the constraints, if it may be off; find who holds; the balance counts anew."""
        mech, now = self._mech, (self._acting, self.t_ns)
        y, given = mech.y.copy(), mech.loops and mech.loops.given
        try:
            if mech.loops and is_open:
                mech.loops.close(mech.motion, *now)
            if mech.contacts:
                mech.contacts.begin(mech.y, *now, anew=True)
        except (ScenarioError, SolveError) as err:
            mech.y[:] = y
            if mech.loops and given:
                mech.loops.given = given
            raise type(err)(f"{err}{self._ways_out()}") from err
        self._balance.forget()

    def _ways_out(self) -> str:
        """What mends a state that cannot be; of a scenario's own start its file."""
        if self.scenario and not self._start:
            return ""
        driven = [c.name for c in (*self._mech.modes.prescribed, *self.robot.constraints) if c.kind == PRESCRIBE]
        release = f"release({' or '.join(repr(name) for name in dict.fromkeys(driven))})" if driven else ""
        reset = "reset()" if self._start else ""
        return f" Ways out: {', '.join(filter(None, ('set_hinge or set_body', release, reset)))}."

    def _let_happen(self) -> None:
        """The modes change that are due, and signals are lost."""
        before = self._revisions.last
        while change := self._inputs.next_change(self.tick):
            try:
                self._change(change)
            except (ModelError, ScenarioError, SolveError) as err:
                self._note(ModeChange(self.t_ns, type(change).__name__.lower(), (), error=str(err)))
                raise ChangeError(f"t = {self.t_ns * 1e-9:.9g} s: planned {change} failed: {err}") from err
        if self._mech.modes.prescribed:
            self._lose()
        if self._revisions.last != before:
            self._renew()

    def _latch(self) -> None:
        """All is valid now: the next step is what follows from it."""
        loss_ns = self._mech.next_loss_ns()
        lost = self._inputs.current_end if loss_ns is None else self._inputs.tick_from(loss_ns)
        self._valid, self._valid_to = self._revisions.last, min(lost, self._inputs.current_end)
        self._go_on = self._first_step
        self._grid = tuple(self.ticks)

    def _keep_start(self) -> None:
        """Before the first step: how things are is what `reset` returns to."""
        if self.tick == 0:
            self._start = Start(self._mech.modes, self._mech.now, self._mech.motion.copy(), self.changes)

    def _last_start(self) -> Start:
        """What `reset` returns to: before the first step what is set now, unless that cannot be."""
        if self.tick == 0:
            try:
                self._ensure(acting=False)
            except (ScenarioError, SolveError):
                if self._start is None:
                    raise
        assert self._start is not None  # whatever has moved was valid
        return self._start

    # going on

    def _first_step(self, t_ns: int, ticks: int) -> tuple[int, int, int]:
        """The first call of `_go_on` with what acts now: it finds, maybe compiles, what the others call."""
        self._go_on = direct(self._how.step(self._mech, self._acting, self.h_ns))
        return self._go_on(t_ns, ticks)

    def plain_run(self) -> Run | None:
        """What moves from here on and how, if it can go side by side with others: see `core/side_by_side.py`."""
        self._ensure()
        if not self._how.is_plain or not all(law.force.law.compiled for law in self._inputs.laws):
            return None
        mech = self._mech
        return Run(mech.model, mech.y, self._acting, self.h_ns, self._how.method, mech.work, self.t_ns)

    @property
    def ticks_alike(self) -> int:
        """For how many ticks the same acts; 0: to be found out."""
        return max(0, self._valid_to - self.tick) if self._valid == self._revisions.last else 0

    def has_gone(self, ticks: int) -> None:
        """What `plain_run` told was taken so many steps further."""
        end = self.tick + whole_number(ticks, "ticks")
        refuse_beyond(self._grid, end)
        self.tick = end
        if self._inputs.acts:
            self._balance.acted()

    def _failure(self, code: int, body: int) -> str:
        hinge, tick = self._mech.now.robot.hinges[body].name, self.tick + 1
        at = f"tick {tick}, t = {self.ticks.ns(tick) * 1e-9:.9g} s"
        pose, twist, _ = self._observed()
        guilty = culprit(self.robot, self._inputs.laws, pose, twist, self.t_ns)
        return f"{at}: {FAILURES[code].format(hinge)}{guilty}"

    def _observed(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Poses and twists of the bodies' own frames; the summary."""
        n = len(self.robot.bodies)
        pose, twist, spin, summary = np.empty((n, 7)), np.empty((n, 6)), np.empty((n, 3)), np.empty(inv.SUMMARY_COLUMNS)
        inv.observe(self._mech.model, self._mech.y, self._mech.work, pose, twist, spin, summary)
        return *self._mech.now.frames(pose, twist), summary

    @in_words(ScenarioError)
    def warm_up(self, changes: bool = False) -> None:
        """Compile the kernels, or load them from the cache, now rather than in the first step; nothing moves.

        changes: those of locks and docks too, as where such are planned.
        """
        self._ensure()
        self._go_on(self.t_ns, 0)
        self.sample()
        if changes or self._inputs.plans_changes:
            self._mech.warm_up(self._acting, self.t_ns)

    # its modes

    def _change(self, *changes: Change) -> ModeChange:
        """Change the modes now: the velocities collide, where they have to. An error leaves everything as it was.

        Several changes are one impact, whose loss stands with the first.
        """
        before = self._mech.bodies()
        outcomes, now = self._mech.after(changes, before, self.t_ns)
        lost = 0.0
        if any(outcome.names for outcome in outcomes):
            self._how.refuse(now.robot, self._attraction)
            self._inputs.renew(self.tick)
            lost = self._mech.switch(outcomes[-1].modes, now, before, now.acting(self._inputs.current), self.t_ns)
        for number, (change, outcome) in enumerate(zip(changes, outcomes, strict=True)):
            what = type(change).__name__.lower()
            for name in outcome.unchanged:
                warnings.warn(
                    f"t = {self.t_ns * 1e-9:g} s: {what} '{name}' changes nothing; it is so already.", stacklevel=4
                )
            loss = 0.0 if number else lost
            done = self._note(ModeChange(self.t_ns, what, outcome.names, loss, outcome.unchanged))
        return done

    def _release_what_contradicts(self, change: Release) -> ModeChange:
        """Free a joint of a motion that does not fit what was set, so that a start may be found without it."""
        (outcome,), now = self._mech.after([change], self._mech.bodies(), self.t_ns)
        self._mech.reopen(outcome.modes, now)
        return self._note(ModeChange(self.t_ns, "release", outcome.names, 0.0, outcome.unchanged))

    def _change_in_turn(self, changes: Sequence[Change]) -> None:
        """First, in one impact, all that locks and frees; then what is driven begins as it moves after that."""
        for drives in (False, True):
            if together := [change for change in changes if isinstance(change, Prescribe) == drives]:
                self._change(*together)

    def _note(self, done: ModeChange) -> ModeChange:
        self.changes = (*self.changes, done)
        return done

    def _lose(self) -> None:
        """Joints whose signal is lost by now do what was declared for that."""
        alone, free = self._mech.lose(self.t_ns)
        for names in (alone, free):
            if names:
                self._note(ModeChange(self.t_ns, "lose", tuple(names)))
        for joint in free:
            self._change(Release(joint))

    # what can be known

    def sample(self) -> Sample:
        """Everything there is to know now."""
        self._ensure()
        nq, motion = self.robot.coordinates, self._mech.seen()
        pose, twist, summary = self._observed()
        if self.changes:
            summary[[inv.POTENTIAL, inv.WORK, inv.DISSIPATED]] += self._mech.stored, self._mech.driven, self._mech.lost
            summary[inv.ENERGY_PARTS] += abs(self._mech.stored)
        load = self._inputs.current.load
        if self._inputs.laws:
            load, stored = told(self.robot, self._inputs.laws, self._inputs.current, pose, twist, self.t_ns)
            summary[inv.POTENTIAL] += stored
            summary[inv.ENERGY_PARTS] += abs(stored)
        lost, driven = (self._mech.contacts.lost, self._mech.contacts.driven) if self._mech.contacts else (0.0, 0.0)
        summary[[inv.WORK, inv.DISSIPATED]] += driven, lost
        values, forces = summary.tolist(), self._forces()
        return Sample(
            self.t_ns,
            self.tick,
            motion[:nq],
            motion[nq:],
            self._inputs.current.tau,
            load,
            pose,
            twist,
            Energy(values[inv.KINETIC], values[inv.POTENTIAL]),
            tuple(values[inv.MOMENTUM : inv.MOMENTUM + 3]),
            tuple(values[inv.ANGULAR : inv.ANGULAR + 3]),
            tuple(values[inv.ANGULAR_COM : inv.ANGULAR_COM + 3]),
            tuple(values[inv.CENTRE : inv.CENTRE + 3]),
            self._balance.conservation(values, self.t_ns),
            forces.constraints,
            Work(values[inv.WORK], values[inv.DISSIPATED]) if self._counts_work else None,
            self.locked,
            self.docked,
            forces.ropes,
            forces.stops,
            lost,
            self._mech.reactions(self._acting, self.t_ns),
        )

    def _forces(self) -> Forces:
        """What holds does now."""
        now, loops, contacts = (self._mech.motion, self._acting, self.t_ns), self._mech.loops, self._mech.contacts
        if not (loops or contacts or self.robot.constraints):
            return NO_FORCES
        idle = idle_forces(self.robot)  # what locks keep does nothing
        if contacts and contacts.watches:
            found = contacts.forces(*now, loops)
        else:
            found = Forces(loops.forces(*now) if loops else {}, {}, {})
        return Forces(idle.constraints | found.constraints, idle.ropes | found.ropes, idle.stops | found.stops)

    # checkpoints

    def memory(self) -> dict[str, Any]:
        """All that the future depends on, as lists and numbers: see `checkpoint.py`."""
        self._ensure()
        modes, now, motion, changes = self._last_start()
        return {
            "scenario": self._fingerprint(),
            "tick": self.tick,
            "ticks": list(self.ticks),
            **self._how.memory(),
            "mechanism": self._mech.memory(),
            "changes": changes_memory(self.changes),
            "start": [modes_memory(modes), then_memory(now), motion.tolist(), changes_memory(changes)],
            "inputs": self._inputs.memory(),
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from `memory`: the same bits as where it was taken. ScenarioError where it is of another simulation.

        Or where it is no memory, or damaged. After an error this one goes on as before, if it could.
        """
        if not isinstance(memory, dict) or not isinstance(memory.get("scenario"), str):
            raise ScenarioError(f"{memory!r:.80} is no memory of a simulation; `memory()` gives one.")
        before = None
        with contextlib.suppress(RbtError):  # what cannot go on itself can be put elsewhere
            before = self.memory()
        try:
            self._recall(memory)
        except Exception as err:  # whatever is made of impossible content may fail anyhow
            if before:
                self._recall(before)
            if isinstance(err, RbtError):
                raise
            text = f"the memory is damaged: {type(err).__name__}: {err!s:.200}. Take one by `memory()` anew."
            raise ScenarioError(text) from err
        self._tell_changed()

    def _tell_changed(self) -> None:
        """Let who looks on know that something else than steps and commands has changed what comes."""

    def _recall(self, memory: dict[str, Any]) -> None:
        if memory["scenario"] != self._fingerprint():
            raise ScenarioError(
                "the checkpoint is of another scenario: robot, gravity, step, integrator, tolerances must be the same."
            )
        self.tick, self.ticks = remembered_ticks(memory["tick"], memory["ticks"])
        self._inputs.rebase(self.ticks, self.tick)
        self._mech.set_sink_floor(self.h_ns)
        self._mech.recall(memory["mechanism"])
        self._how.recall(memory, self._mech)
        self._inputs.set_refusal(no_inputs(self.integrator))
        self._inputs.recall(memory["inputs"])
        modes, then, motion, changes = memory["start"]
        modes = modes_of(modes)
        now = reduction_of(self.robot, modes, then)
        size = now.robot.coordinates + now.robot.freedoms
        start = remembered(motion, (size,), "coordinates and velocities at the start")
        self._start = Start(modes, now, start, changes_of(changes))
        self.changes = changes_of(memory["changes"])
        self._balance.watch(self._mech.now.robot, self._mech.model)
        self._balance.forget()
        self._renew()
        self._latch()
        self._how.recall_steps(memory, self._mech, self.t_ns, self.h_ns)

    def _fingerprint(self) -> str:
        """16 hex digits of all that does not change during a run."""
        names = [*(b.name for b in self.robot.bodies), *(h.name for h in self.robot.hinges)]
        one_sided = [repr(x) for x in (*self.robot.ropes, *self.robot.stops)]
        told = (names, one_sided, *self._given, self._how.tolerances, self._counts_work, self.seed)
        fixed = (*self.robot.model, self._mech.model.world[: t.SINK_FLOOR], *(self.robot.rows or ()))
        arrays = b"".join(array.tobytes() for array in fixed)
        return hashlib.sha256(repr(told).encode() + arrays).hexdigest()[:16]
