"""Simulation: one robot in motion, with all that may be done with it. What moves, and its state, is in `motion.py`."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.errors import MessageError, ModelError, ScenarioError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.body_forces import body_force
from rbt_ros.model.checks import END_NS, natural, numbers, time_ns, whole_number
from rbt_ros.model.coordinates import BodyStart, HingeStart
from rbt_ros.model.friction import with_friction
from rbt_ros.model.hinge_commands import HingeInput, HingeSettings, Law
from rbt_ros.model.inputs import FOR_EVER, Command, Effort, Latched, PlannedChange, PlannedInput, Wrench
from rbt_ros.model.integration import Integration
from rbt_ros.model.integrators import no_inputs, obstacle
from rbt_ros.model.measured import Measured, Measurement
from rbt_ros.model.modes import Change, ModeChange, Modes, Prescribe, Release, check_change
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import Scenario, read_scenario
from rbt_ros.model.signals import Signal, sampled
from rbt_ros.model.stabilise import Stabilise
from rbt_ros.model.ticks import Ticks, refuse_beyond, step_ns
from rbt_ros.model.world import world_row
from rbt_ros.motion import Motion
from rbt_ros.plug.force import ForceLaw
from rbt_ros.results import Result
from rbt_ros.running import run
from rbt_ros.sensing import HasSensors


class Observer(Protocol):
    """Who looks on. It changes nothing; called by the thread that steps."""

    def next_tick(self, tick: int) -> int:
        """The first tick after this one at which it wants to look."""

    def look(self, sim: "Simulation") -> None:
        """Such a tick has come."""

    def latched(self, sim: "Simulation", latched: Latched) -> None:
        """A command acts from now on."""

    def effort(self, sim: "Simulation", effort: Effort) -> None:
        """An effort was set."""

    def friction(self, sim: "Simulation", hinge: str, given: dict[str, float]) -> None:
        """Friction of a hinge was set: these arguments of `set_friction`."""

    def changed(self, sim: "Simulation") -> None:
        """Something else than steps, commands and efforts has changed what comes: reset, set_hinge, lock, ..."""


class Simulation(Motion, HasSensors):
    """A robot, its state, and what acts on it.

    Time is counted in whole steps: scenario time is `tick * h_ns`. The same scenario and commands give the same bits,
    however `advance` is cut into calls and whoever looks on.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        gravity: Sequence[float] = Scenario.gravity,
        step: float = Scenario.h_ns * 1e-9,
        integrator: str = Scenario.integrator,
        attraction: float = Scenario.attraction,
        attractor: Sequence[float] = Scenario.attractor,
        seed: int = Scenario.seed,
        rtol: float = Scenario.rtol,
        atol: float = Scenario.atol,
        work_of_inputs: bool = Scenario.work_of_inputs,
        stabilise: "str | Stabilise" = Scenario.stabilise.method,
    ):
        """gravity: world axes [m/s²]; step [s], a whole number of ns; integrator: a name of `INTEGRATORS`.

        attraction: mu [m³/s²] of a point mass at `attractor` [m] that attracts by the inverse square, gravity gradient
        included. rtol, atol: local error of dop853_adaptive and dormand_prince, atol + rtol |y|. They solve each step
        on its own, so take long ones. work_of_inputs: integrate their work, and what dampers and friction take, beside
        the state (`Sample.work`), so that the energy balance closes also while something acts. The motion keeps its
        bits.
        stabilise: none, gradient or projection, or `rbt.Stabilise(...)` with all options: see `set_stabilise`.
        """
        world = world_row(gravity, attraction, attractor)
        how = Integration(integrator, rtol, atol)
        how.refuse(robot, attraction)
        if not isinstance(work_of_inputs, bool):
            raise ScenarioError(f"work_of_inputs {work_of_inputs!r:.80} is neither True nor False.")
        super().__init__(robot, world, Ticks(step_ns(step)), how, natural(seed, "seed"), work_of_inputs)
        self._observers: tuple[Observer, ...] = ()
        how.stabilise_by(stabilise, self._mech)

    @classmethod
    @in_words(ScenarioError)
    def of(cls, scenario: Scenario) -> "Simulation":
        """The simulation that a scenario describes, at t = 0."""
        options = Simulation.__init__.__kwdefaults__ or ()
        sim = cls(scenario.robot, **{name: getattr(scenario, name) for name in options})
        sim.scenario = scenario
        for name, start in scenario.start_bodies.items():
            sim._mech.put_body(name, start)
        for name, hinge_start in scenario.start_hinges.items():
            sim._mech.put_hinge(name, hinge_start)
        for planned in scenario.inputs:
            if isinstance(planned, PlannedChange):
                sim._plan_change(planned)
            else:
                sim._inputs.plan(planned)
        sim._mount(scenario.sensors)
        return sim

    # who looks on

    def attach(self, observer: Observer) -> None:
        """Let `observer` look on from now on. The motion keeps its bits."""
        self._observers = (*self._observers, observer)

    def detach(self, observer: Observer) -> None:
        """Let it look on no more."""
        self._observers = tuple(known for known in self._observers if known is not observer)

    @property
    def is_watched(self) -> bool:
        """Whether anybody looks on."""
        return bool(self._observers)

    def _tell_changed(self) -> None:
        for observer in self._observers:
            observer.changed(self)

    # setting the start

    def set_body(
        self,
        name: str,
        *,
        position: Sequence[float] | None = None,
        quaternion: Sequence[float] | None = None,
        velocity: Sequence[float] | None = None,
        omega_body: Sequence[float] | None = None,
        euler: Sequence[Any] | None = None,
    ) -> None:
        """Place a floating body: its frame's origin [m] and velocity [m/s] in world axes, omega_body [rad/s].

        What is not given stays. The attitude is w x y z (`quaternion`) or `euler=("ZYX", a, b, c)` in rad.
        """
        self._mech.put_body(name, BodyStart(position, quaternion, euler, velocity, omega_body))
        self._tell_changed()

    def set_hinge(
        self,
        name: str,
        position: float | Sequence[float] | None = None,
        *,
        rate: float | Sequence[float] | None = None,
        quaternion: Sequence[float] | None = None,
        euler: Sequence[Any] | None = None,
        omega: Sequence[float] | None = None,
    ) -> None:
        """Set a hinge: position [rad, m] and rate [rad/s, m/s], one number per freedom.

        A spherical one takes `quaternion` or `euler=("ZXZ", a, b, c)` [rad], and omega of the child against the parent
        in the child's axes [rad/s]. What is not given stays.
        """
        self._mech.put_hinge(name, HingeStart(position, rate, quaternion, euler, omega))
        self._tell_changed()

    def reset(self) -> None:
        """Back to t = 0 and the start, its modes included; commands are dropped, the scenario's inputs stay.

        So do step and integrator as they are now, and modes and gains that were commanded to hinges.
        """
        modes, now, motion, changes = self._last_start()
        self._how.refuse(now.robot, self._attraction)
        self.tick, self.ticks = 0, Ticks(self.h_ns)
        self._inputs.rewind(self.ticks)
        if now is not self._mech.now:
            self._mech.install(modes, now, motion)
        self._mech.back_to(modes, motion)
        self.changes = changes
        if kept := self._inputs.targets.kept_changes(modes):  # as modes and gains of hinges are
            self._ensure(acting=False)
            self._change_in_turn(kept)
        self._tell_changed()

    # how it is integrated

    def set_step(self, step: float) -> None:
        """Take steps of that length [s] from now on; `t_ns` goes on from here, planned inputs keep their times.

        `set_step` and `set_integrator` act from the next step on. They are kept by `reset`.
        """
        h_ns = step_ns(step)
        self._inputs.refuse_sampled("the step", self.tick)
        self._ensure(acting=False)
        self.ticks = Ticks(h_ns, self.t_ns - self.tick * h_ns)
        self._inputs.rebase(self.ticks, self.tick)
        self._mech.set_sink_floor(h_ns)
        self._tell_changed()

    def set_integrator(self, integrator: str) -> None:
        """Integrate by another of `INTEGRATORS` from now on. What is stabilised is kept as it is now."""
        if text := obstacle(integrator, self._mech.now.robot, self._attraction):
            raise ScenarioError(text)
        refusal = no_inputs(integrator)
        self._inputs.refuse_sampled("the integrator", self.tick)
        self._ensure(acting=False)
        self._inputs.set_refusal(refusal)
        if self._counts_work and not refusal:
            self._mech.open_account(2)
        self._how.integrate_by(integrator, self._mech)
        self._revisions.steps()
        self._tell_changed()

    def set_friction(self, hinge: str, *, damping: float | None = None, internal: float | None = None) -> None:
        """Let a hinge be damped so from now on [N·m·s/rad, N·s/m]; internal [W]: friction inside a lone body afloat.

        What is not given stays. `reset` keeps it; a checkpoint of before does not fit any more.
        """
        self._ensure(acting=False)
        start = self._last_start()
        if self._mech.modes != Modes() or start.modes != Modes() or self._mech.contacts:
            raise ScenarioError(
                f"friction of hinge '{hinge}': it cannot be set beside locks, docks, ropes and stops yet."
            )
        robot = with_friction(self.robot, hinge, damping, internal)
        self._how.refuse(robot, self._attraction)
        self.robot = robot
        self._mech.change_robot(robot)
        self._mech.set_sink_floor(self.h_ns)
        self._start = start._replace(now=self._mech.now)
        given = {"damping": damping, "internal": internal}
        for observer in self._observers:
            observer.friction(self, hinge, {key: value for key, value in given.items() if value is not None})

    def set_stabilise(self, how: "str | Stabilise") -> None:
        """Keep angular momentum and energy by correcting each step from now on: "projection", "gradient" or "none".

        For one floating body or tree, with any integrator (docs/stabilise.md). What they are now is kept; what acts
        changes them by its impulse and work. `rbt.Stabilise(...)` has the corrector's gains and the order of the seed.
        """
        self._how.stabilise_by(how, self._mech)
        self._revisions.steps()
        self._tell_changed()

    # its modes

    def change(self, change: Change) -> ModeChange:
        """Any of these, before the next step."""
        try:
            self._ensure(acting=False)
        except ScenarioError:  # a start that cannot be; maybe without what is to be released
            if not isinstance(change, Release):
                raise
            done = self._release_what_contradicts(change)
            self._tell_changed()
            return done
        if isinstance(change, Prescribe) and isinstance(change.motion, Measured):
            self._inputs.refuse_second_source(change.joint)
        done = self._change(change)
        self._keep_start()
        self._tell_changed()
        return done

    def _plan_change(self, planned: PlannedChange) -> None:
        """A change of modes at a tick to come; at t = 0 it is part of the start."""
        check_change(self.robot, planned.change)
        tick = self.ticks.nearest(planned.at_ns)
        if tick < self.tick:
            raise ScenarioError(
                f"{planned.change} at {planned.at_ns * 1e-9:g} s: it is {self.t_ns * 1e-9:g} s already."
            )
        if tick == 0:
            self.change(planned.change)
        else:
            self._inputs.plan_change(planned)

    # what acts

    @in_words(MessageError)
    def command(self, command: Command) -> Latched:
        """Take a command: it acts from the next step on, in place of the last one on that body or those joints."""
        self._ensure(acting=False)
        if isinstance(command, Measurement):
            if back := self._mech.measure(command, self.t_ns):
                self._note(ModeChange(self.t_ns, "find", back))
            return self._told(Latched(command, self.tick, FOR_EVER))
        if isinstance(command, HingeSettings):
            self._settle(command)
        nq, motion = self.robot.coordinates, self._mech.seen()
        latched = self._inputs.command(command, self.tick, motion[:nq], motion[nq:])
        for aim in self._inputs.targets.aims(latched.command) if isinstance(latched.command, HingeInput) else ():
            self._mech.aim(aim, self.t_ns)
        return self._told(latched)

    @in_words(MessageError)
    def check(self, command: Command) -> None:
        """MessageError where `command` would be refused now, as far as that is seen without taking it."""
        if not isinstance(command, Measurement):
            self._ensure(acting=False)
            nq, motion = self.robot.coordinates, self._mech.seen()
            self._inputs.check(command, self.tick, motion[:nq], motion[nq:])

    def _told(self, latched: Latched) -> Latched:
        for observer in self._observers:
            observer.latched(self, latched)
        return latched

    def _settle(self, settings: HingeSettings) -> None:
        """Lock, unlock, prescribe and release what these settings want; MessageError where it cannot be."""
        before = None
        try:
            if changes := self._inputs.targets.changes(settings, self._mech.modes):
                before = self.memory()
                self._change_in_turn(changes)
        except (ModelError, ScenarioError, SolveError) as err:
            if before:
                self.recall(before)
            raise MessageError(str(err)) from err

    @in_words(MessageError)
    def fallback(self, command: Command, how: str) -> tuple[Command, ...]:
        """The commands to give when the source of `command` is silent; how: zero, hold or hold_position."""
        if how == "hold":
            return ()
        return self._inputs.fallback(command, how == "hold_position", self._mech.seen()[: self.robot.coordinates])

    @property
    def hinge_laws(self) -> dict[str, Law]:
        """Mode and gains of every hinge that takes commands."""
        return self._inputs.targets.laws

    def set_effort(self, hinge: str, effort: float | Sequence[float]) -> None:
        """Let a hinge feel this effort [N·m, N] from the next step on, until it is set again."""
        efforts = np.atleast_1d(numbers(effort, f"effort on hinge '{hinge}'"))
        given = Effort(hinge, tuple(efforts.tolist()))
        self._inputs.set_effort(given)
        for observer in self._observers:
            observer.effort(self, given)

    def add_input(
        self,
        what: Wrench | Effort | Change,
        *,
        start: float = 0.0,
        stop: float | None = None,
        signal: Signal | Callable[[float], float] | None = None,
    ) -> None:
        """Let a wrench or effort act from `start` to `stop` [s], times `signal`, as an input of a scenario does.

        signal: `rbt.sines`, `rbt.polynomial`, `rbt.table`, or any Python function of the time since `start` [s], which
        is sampled here and now at the stages of all steps until `stop`. Evaluated at every stage: orders hold.
        A change of modes, like `rbt.Lock("elbow")`, happens at `start`.
        """
        from_ns, to_ns = time_ns(start, "start"), None if stop is None else time_ns(stop, "stop")
        if to_ns is not None and to_ns <= from_ns:
            raise ScenarioError(f"stop {stop} s must lie after start {start} s.")
        if not isinstance(what, Wrench | Effort):
            if stop is not None or signal is not None:
                raise ScenarioError(f"{type(what).__name__} happens at start=; it takes no stop and no signal.")
            self._plan_change(PlannedChange(what, from_ns))
            return
        if signal is not None and not isinstance(signal, Signal):
            if to_ns is None or not (nodes := self._how.plugged.stage_times):
                raise ScenarioError(
                    "a Python function as signal needs stop= and an integrator of fixed steps, as rk4 and dop853 are, "
                    f"not {self.integrator}; use rbt.table(...) otherwise."
                )
            steps = self.ticks.nearest(to_ns) - self.ticks.nearest(from_ns)
            signal = sampled(signal, self.h_ns, nodes, steps)
        self._inputs.plan(PlannedInput(what, signal, from_ns, to_ns))
        self._tell_changed()

    @in_words(ScenarioError)
    def add_force(
        self,
        law: str | ForceLaw | Callable[..., Any],
        *bodies: str,
        at: Sequence[Any] = (),
        start: float = 0.0,
        stop: float | None = None,
        signal: Signal | None = None,
        **parameters: Any,
    ) -> None:
        """Let a force that follows from the motion act, as `forces:` of a scenario does.

        law: a name (`rbt.FORCES.names()`), a `rbt.ForceLaw`, or a Python function of (t [s], body) that gives a force,
        or (moment, force), in world axes; it is called at every stage, which takes some microseconds. bodies: one, or
        two of which one may be "world". at: a point for each, "com" (default), "origin" or in its frame [m].
        """
        from_ns, to_ns = time_ns(start, "start"), None if stop is None else time_ns(stop, "stop")
        if to_ns is not None and to_ns <= from_ns:
            raise ScenarioError(f"stop {stop} s must lie after start {start} s.")
        force = body_force(self.robot, law, bodies, at, parameters)
        self._inputs.plan(PlannedInput(force, signal, from_ns, to_ns))
        self._tell_changed()

    def drop_commands(self) -> bool:
        """Forget the commands that act; whether there were any."""
        dropped = self._inputs.drop_commands()
        self._tell_changed()
        return dropped

    # going on

    def advance(self, ticks: int = 1) -> None:
        """Compute `ticks` steps. SolveError names the tick and the hinge; the last good state is kept."""
        if ticks.__class__ is not int or ticks < 0:
            ticks = whole_number(ticks, "ticks")
        inputs, observers, tick, end = self._inputs, self._observers, self.tick, self.tick + ticks
        if tick >= self._valid_to or self._valid != self._revisions.last:
            self._ensure()
        h_ns, zero_ns = self._grid
        if zero_ns + end * h_ns > END_NS:
            refuse_beyond(self._grid, end)
        valid_to = self._valid_to
        while tick < end:
            if tick >= valid_to:
                self._ensure()
                valid_to = self._valid_to
            n = end if end < valid_to else valid_to
            if observers:
                looks = [observer.next_tick(tick) for observer in observers]
                n = min(n, *looks)
            code, done, body = self._go_on(zero_ns + tick * h_ns, n - tick)
            self.tick = tick = tick + done
            if inputs.acts:
                self._balance.acted()
            if code != t.OK:
                raise SolveError(self._failure(code, body))
            if observers:
                for observer, due in zip(observers, looks, strict=True):
                    if due <= tick:
                        observer.look(self)

    def run(
        self,
        until: float,
        every: float | None = None,
        progress: Callable[[float], None] | None = None,
        controller: Callable[["Simulation"], None] | None = None,
    ) -> Result:
        """Go on to scenario time `until` [s], with a sample every `every` [s] (default: each step), ends included.

        progress: called with the fraction done, after each sample. controller: called with this simulation before each
        of these spans; what it sets (`set_effort`, `command`) is held over the span.
        """
        return run(self, until, every, progress, controller)


class RunnableScenario(Scenario):
    """A scenario as read from a file, ready to run."""

    def simulation(self) -> Simulation:
        """Its simulation at t = 0."""
        return Simulation.of(self)


def load(name: str) -> RunnableScenario:
    """The scenario in the YAML file `name`, or the one of that name that ships with the package."""
    return RunnableScenario(**vars(read_scenario(str(name))))
