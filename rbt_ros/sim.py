"""Simulation: one robot in motion. Reset, command, advance, sample; the only object of the engine that changes."""

import hashlib
import math
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from rbt_ros.core import integrate, torque_free
from rbt_ros.core import invariants as inv
from rbt_ros.core import types as t
from rbt_ros.core.adaptive import Controlled
from rbt_ros.core.constrained import Constrained
from rbt_ros.core.forces import spring_potential
from rbt_ros.core.invariants import kinetic_energy
from rbt_ros.core.kept import LIE_EULER, Kept
from rbt_ros.core.stabilise import ACCOUNT
from rbt_ros.core.types import JointKind, State
from rbt_ros.core.work import workspace
from rbt_ros.errors import ModelError, ScenarioError, SolveError
from rbt_ros.model.assembly import Loops
from rbt_ros.model.checks import LONGEST_S, numbers, one_number, time_ns, whole_number
from rbt_ros.model.constraints import drives, holds_the_world, idle_force
from rbt_ros.model.contacts import Contacts, Forces
from rbt_ros.model.coordinates import BodyStart, HingeStart, neutral, put_body, put_hinge
from rbt_ros.model.hinge_commands import Law
from rbt_ros.model.impact import Motion, collide, motion_of
from rbt_ros.model.inputs import Command, Effort, Latched, PlannedChange, PlannedInput, Timeline, Wrench
from rbt_ros.model.integrators import ADAPTIVE, TORQUE_FREE, no_inputs, obstacle
from rbt_ros.model.mode_changes import Here, changed
from rbt_ros.model.modes import Change, HasModes, ModeChange, Modes, check_change
from rbt_ros.model.reduction import Reduction, reduced, whole
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.model.scenario import INTEGRATORS, Scenario, read_scenario
from rbt_ros.model.signals import Signal, sampled
from rbt_ros.model.stabilise import METHODS as STABILISERS
from rbt_ros.model.stabilise import Stabilise, checked_stabilise, stabilise_obstacle
from rbt_ros.model.unilateral import ContactEvent, ropes_hold_the_world
from rbt_ros.results import Conservation, Energy, Result, Sample, Work

NO_FORCES = Forces({}, {}, {})
METHODS = {
    "semi_implicit": integrate.SEMI_IMPLICIT,
    "rk4": integrate.RK4,
    "dop853": integrate.DOP853,
    "dop853_adaptive": integrate.DOP853,
    "dormand_prince": integrate.DORMAND_PRINCE,
    "exact": torque_free.EXACT,
    "splitting": torque_free.SPLITTING,
    "lie_euler": LIE_EULER,
}
ENERGY_ALARM = 1e-2  # relative drift of the energy at which `run` warns
FIXED_STEP = ("semi_implicit", "rk4", "dop853")
FAILURES = {
    t.NON_FINITE: "non-finite state at hinge '{}'; the last good state is kept. Try a smaller step, or look at the "
    "inputs.",
    t.STEP_TOO_SMALL: "the steps at hinge '{}' become too small for the tolerance; the last good state is kept. Is "
    "something very stiff, or rtol below 1e-13?",
    t.TOO_MANY_STEPS: "more than ten million steps at hinge '{}' for one tick; the last good state is kept. Try a "
    "larger rtol, or shorter ticks.",
    t.TURNED_TOO_FAR: "hinge '{}' has turned by 1e12 rad, up to which the exact motion is right to round-off; the last "
    "good state is kept. Is omega in rad/s?",
    t.NON_FINITE_WORK: "the work of the inputs is not finite; the last good state is kept. Look at the inputs, or "
    "leave work_of_inputs out.",
    t.UNMET: "the constraints at hinge '{}' cannot be met any more; the last good state is kept. Does the mechanism "
    "lock or come apart there, or is the step too long?",
    t.CROWDED: "more than a thousand impacts within the step at hinge '{}'; the last good state is kept. Try a shorter "
    "step, or less restitution.",
}


class Simulation(HasModes):
    """A robot, its state, and what acts on it.

    Time is counted in whole steps: scenario time is `tick * h_ns`. The same scenario and commands give the same bits,
    however `advance` is cut into calls and whoever looks on.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        gravity: Sequence[float] = (0.0, 0.0, 0.0),
        step: float = 1e-3,
        integrator: str = "rk4",
        attraction: float = 0.0,
        attractor: Sequence[float] = (0.0, 0.0, 0.0),
        seed: int = 0,
        rtol: float = 1e-10,
        atol: float = 1e-12,
        work_of_inputs: bool = False,
        stabilise: "str | Stabilise" = "none",
    ):
        """gravity: world axes [m/s²]; step [s], a whole number of ns; integrator: one of `INTEGRATORS`.

        attraction: mu [m³/s²] of a point mass at `attractor` [m] that attracts by the inverse square, gravity gradient
        included. rtol, atol: local error of dop853_adaptive and dormand_prince, atol + rtol |y|. They solve each step
        on its own, so take long ones. work_of_inputs: integrate their work, and what dampers and friction take, beside
        the state (`Sample.work`), so that the energy balance closes also while something acts. The motion keeps its
        bits.
        stabilise: none, gradient or projection, or `rbt.Stabilise(...)` with all options: see `set_stabilise`.
        """
        if integrator not in INTEGRATORS:
            raise ScenarioError(f"integrator '{integrator}' is not one of {', '.join(INTEGRATORS)}.")
        pull = _point_mass(attraction, attractor)
        if text := obstacle(integrator, robot, attraction):
            raise ScenarioError(text)
        seconds = one_number(step, "step", ScenarioError)
        h_ns = round(seconds * 1e9) if 0 < seconds <= LONGEST_S else 0
        if h_ns <= 0 or abs(seconds * 1e9 - h_ns) > 1e-3:
            raise ScenarioError(f"step {step} s must be a positive whole number of nanoseconds.")
        g = numbers(gravity, "gravity", ScenarioError)
        if g.shape != (3,) or not np.isfinite(g).all():
            raise ScenarioError(f"gravity {gravity} must be three finite numbers in m/s².")
        self.robot = robot
        self.seed = seed
        self.h_ns = h_ns
        self.tick = 0
        self.integrator = integrator
        self._method = METHODS[integrator]
        self._tolerances = _tolerance("rtol", rtol), _tolerance("atol", atol)
        self._modes, self._now = Modes(), whole(robot)
        self.changes: tuple[ModeChange, ...] = ()  # of modes since t = 0, and before
        self._lost = self._driven = 0.0  # [J] since t = 0 in changes of modes: energy lost, work of what is prescribed
        self._stored = 0.0  # [J] in the springs of locked hinges
        self._model = robot.model._replace(world=_world(g, pull, _sink_floor(robot, h_ns)))
        self._counts_work = work_of_inputs
        self._y = neutral(robot)  # [q, v (, account of what has acted)]
        self._open_account(2 if work_of_inputs and integrator not in TORQUE_FREE else 0)  # without torque no work
        self._loops = Loops(robot, self._model, self._work) if robot.constraints else None
        self._contacts = Contacts(robot, self._model, self._work) if robot.ropes or robot.stops else None
        self._inputs = Timeline(robot, h_ns, refusal=no_inputs(integrator))
        self._kept = _Kept(robot, self._model, work_of_inputs)
        self.set_stabilise(stabilise)
        self._placed()

    @classmethod
    def of(cls, scenario: Scenario) -> "Simulation":
        """The simulation that a scenario describes, at t = 0."""
        sim = cls(
            scenario.robot,
            gravity=scenario.gravity,
            step=scenario.h_ns * 1e-9,
            integrator=scenario.integrator,
            attraction=scenario.attraction,
            attractor=scenario.attractor,
            seed=scenario.seed,
            rtol=scenario.rtol,
            atol=scenario.atol,
            work_of_inputs=scenario.work_of_inputs,
            stabilise=scenario.stabilise,
        )
        for name, start in scenario.start_bodies.items():
            sim._put_body(name, start)
        for name, hinge_start in scenario.start_hinges.items():
            sim._put_hinge(name, hinge_start)
        sim._placed()
        for planned in scenario.inputs:
            if isinstance(planned, PlannedChange):
                sim._plan_change(planned)
            else:
                sim._inputs.plan(planned)
        return sim

    # where it is

    @property
    def state(self) -> State:
        """Time, coordinates and velocities, of the whole robot whatever is locked: copies."""
        self._close()
        nq, motion = self.robot.coordinates, self._seen()
        return State(self.t_ns, motion[:nq], motion[nq:])

    @property
    def t_ns(self) -> int:
        """Scenario time [ns]."""
        return self.tick * self.h_ns

    def digest(self) -> str:
        """16 hex digits of time and state: equal if and only if every bit is."""
        self._close()
        return hashlib.sha256(self.t_ns.to_bytes(8, "little") + self._seen().tobytes()).hexdigest()[:16]

    def _seen(self) -> np.ndarray:
        """[q, v] of the whole robot."""
        return self._now.expanded(self._model, self._motion, self._work)

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
        self._put_body(name, BodyStart(position, quaternion, euler, velocity, omega_body))
        self._placed()

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
        self._put_hinge(name, HingeStart(position, rate, quaternion, euler, omega))
        self._placed()

    def _put_body(self, name: str, start: BodyStart) -> None:
        if name in [self.robot.bodies[i].name for i in self._now.carried]:
            raise ScenarioError(f"body '{name}' is carried by what it is docked to; undock it before it is set.")
        self._put(put_body, name, start)
        if self._loops:
            self._loops.given_body(name, start)

    def _put_hinge(self, name: str, start: HingeStart) -> None:
        if name in self.locked:
            raise ScenarioError(f"hinge '{name}' is locked; unlock it before it is set.")
        self._put(put_hinge, name, start)
        if self._loops:
            self._loops.given_hinge(name, start)

    def _put(self, put: Callable[[Robot, np.ndarray, str, Any], None], name: str, start: Any) -> None:
        """Set a part of the whole robot, and so what moves of it."""
        if self._now.is_whole:
            put(self.robot, self._y, name, start)
            return
        motion, nq = self._seen(), self.robot.coordinates
        put(self.robot, motion, name, start)
        self._now.put(motion[:nq], motion[nq:], self._motion)

    def _placed(self) -> None:
        """What is set before the first step is the start that `reset` returns to; the energy balance counts anew."""
        self._kept.forget()
        self._keep_start()
        if self._stabiliser:
            self._stabiliser.start(self._model, self._y, self._work)
        if self._contacts:
            self._contacts.open = True
        if self._loops or self._contacts:
            self._inputs.current_end = 0  # so that the next step, or sample, closes the loops
        elif self._counts_work:
            self.sample()

    def reset(self) -> None:
        """Back to t = 0 and the start, its modes included; commands are dropped, the scenario's inputs stay."""
        modes, now, motion, changes = self._start
        self._refuse(now.robot)
        self.tick = 0
        self._inputs.rewind()
        if now is not self._now:
            self._install(modes, now, motion)
        self._y[:] = 0.0
        self._motion[:] = motion
        self.changes = changes
        self._lost = self._driven = 0.0
        if self._contacts:
            self._contacts.forget()
        self._placed()

    def _keep_start(self) -> None:
        """Before the first step: how things are is what `reset` returns to."""
        if self.tick == 0:
            self._start = self._modes, self._now, self._motion.copy(), self.changes

    def set_stabilise(self, how: "str | Stabilise") -> None:
        """Keep angular momentum and energy by correcting each step from now on: "projection", "gradient" or "none".

        For one floating body or tree, with any integrator (docs/stabilise.md). What they are now is kept; what acts
        changes them by its impulse and work. `rbt.Stabilise(...)` has the corrector's gains and the order of the seed.
        """
        options = checked_stabilise(how)
        mode = STABILISERS[options.method]
        if mode and (text := stabilise_obstacle(self._now.robot, self._model.world[t.ATTRACTION])):
            raise ScenarioError(text)
        base, kept = None, None
        if self._contacts:
            controlled = partial(self._contacts.controlled_stepper, *self._tolerances)
            base = controlled if self.integrator in ADAPTIVE else self._contacts.stepper
        elif self.integrator in ADAPTIVE:
            base = Controlled(*self._tolerances).stepper
        elif self._loops:
            base = Constrained(self._loops.rows).stepper
        if mode or self.integrator == "lie_euler":
            self._open_account(ACCOUNT)
            kept = Kept(self._model, base, mode, options.order == "seed", *options[2:])
            kept.start(self._model, self._y, self._work)
        self._remembers: torque_free.Flight | Kept | None = kept  # what has more to remember than y
        if self.integrator in TORQUE_FREE:
            self._remembers = torque_free.Flight(kept and kept.corrected_flight)
            self._stepper = self._remembers.stepper
        else:
            self._stepper = kept.stepper if kept else base or integrate.stepper
        self.stabilise, self._stabiliser = options, kept
        self._latch()

    def _open_account(self, size: int) -> None:
        """Make room in y for at least `size` sums of what has acted: see `forces.account`."""
        motion = self._now.robot.coordinates + self._now.robot.freedoms
        size = max(size, len(self._y) - motion)
        self._y = np.append(self._y, np.zeros(motion + size - len(self._y)))
        self._motion = self._y[:motion]
        self._work = workspace(self._model, size)

    # its modes

    def change(self, change: Change) -> ModeChange:
        """Any of these, before the next step."""
        self._close()
        done = self._change(change)
        self._keep_start()
        return done

    def _plan_change(self, planned: PlannedChange) -> None:
        """A change of modes at a tick to come; at t = 0 it is part of the start."""
        check_change(self.robot, planned.change)
        tick = round(planned.at_ns / self.h_ns)
        if tick < self.tick:
            raise ScenarioError(
                f"{planned.change} at {planned.at_ns * 1e-9:g} s: it is {self.t_ns * 1e-9:g} s already."
            )
        if tick == 0:
            self.change(planned.change)
        else:
            self._inputs.plan_change(planned.change, tick)

    def _change(self, change: Change) -> ModeChange:
        """Change the modes now: the velocities collide, where they have to. An error leaves everything as it was."""
        if self._contacts:
            raise ScenarioError(
                f"{change}: modes do not change yet where robot '{self.robot.name}' has ropes or stops."
            )
        before = motion_of(self._model, self._motion, self._work)
        pose, _ = self._now.frames(before.pose, before.twist)
        seen, nq = self._seen(), self.robot.coordinates
        modes, names, unchanged = changed(self.robot, self._modes, change, Here(seen[:nq], pose, self.t_ns))
        lost = 0.0
        if names:
            lost = self._switch(modes, reduced(self.robot, modes, seen[:nq], pose), seen, before)
        what = type(change).__name__.lower()
        for name in unchanged:
            warnings.warn(
                f"t = {self.t_ns * 1e-9:g} s: {what} '{name}' changes nothing; it is so already.", stacklevel=4
            )
        done = ModeChange(self.t_ns, what, names, lost, unchanged)
        self.changes = (*self.changes, done)
        return done

    def _switch(self, modes: Modes, now: Reduction, seen: np.ndarray, before: Motion) -> float:
        """Energy lost [J] when the robot that moves becomes that of `now`; all velocities collide."""
        self._refuse(now.robot)
        robot = now.robot
        model, motion = robot.model._replace(world=self._model.world), now.restricted(seen)
        work, twists = workspace(model), before.com_twist[self._now.rows][now.order]
        loops = Loops(robot, model, work) if robot.constraints else None
        self._inputs.renew(self.tick)
        lost, kinetic = collide(model, motion, twists, work, loops, now.acting(self._inputs.current), self.t_ns)
        if drives(robot.constraints):
            self._driven += kinetic + lost - kinetic_energy(self._model, before.pose, before.twist)
        self._lost += lost
        self._install(modes, now, motion)
        return lost

    def _refuse(self, robot: Robot) -> None:
        """ScenarioError where the integrator or the stabilisation could not go on with this robot."""
        attraction = float(self._model.world[t.ATTRACTION])
        text = obstacle(self.integrator, robot, attraction)
        if not text and STABILISERS[self.stabilise.method]:
            text = stabilise_obstacle(robot, attraction)
        if text:
            raise ScenarioError(text)

    def _install(self, modes: Modes, now: Reduction, motion: np.ndarray) -> None:
        """Let that robot move from [q, v] on."""
        account = self._y[len(self._motion) :]
        self._modes, self._now = modes, now
        self._model = now.robot.model._replace(world=self._model.world)
        self._y = np.concatenate([motion, account])
        self._motion = self._y[: len(motion)]
        self._work = workspace(self._model, len(account))
        self._loops = Loops(now.robot, self._model, self._work) if now.robot.constraints else None
        if self._loops:
            self._loops.open = False
        whole_q, q = self._seen()[: self.robot.coordinates], motion[: now.robot.coordinates]
        self._stored = float(spring_potential(self.robot.model, whole_q) - spring_potential(self._model, q))
        self._kept.watch(now.robot, self._model)
        self.set_stabilise(self.stabilise)

    # checkpoints

    def memory(self) -> dict[str, Any]:
        """All that the future depends on, as lists and numbers: see `checkpoint.py`."""
        self._close()
        if self._modes != Modes() or self._start[0] != Modes():
            raise ScenarioError("a checkpoint cannot hold locks, docks and prescribed joints; end them first.")
        if self._contacts:
            raise ScenarioError("a checkpoint cannot hold which ropes are taut and which stops are touched yet.")
        return {
            "scenario": self._fingerprint(),
            "tick": self.tick,
            "y": self._y.tolist(),
            "start": self._start[2].tolist(),
            "energies": [self._lost, self._driven],
            "inputs": self._inputs.memory(),
            "stabilise": list(self.stabilise),
            "stepper": self._remembers.memory() if self._remembers else None,
        }

    def recall(self, memory: dict[str, Any]) -> None:
        """Go on from `memory`: the same bits as where it was taken. ScenarioError where it is of another simulation."""
        if memory["scenario"] != self._fingerprint():
            raise ScenarioError(
                "the checkpoint is of another scenario: robot, gravity, step, integrator, tolerances must be the same."
            )
        self.tick = memory["tick"]
        if self._modes != Modes():
            self._install(Modes(), whole(self.robot), self._seen())
        self.set_stabilise(Stabilise(*memory["stabilise"]))
        self._inputs.recall(memory["inputs"])
        self._y = np.array(memory["y"])
        self._open_account(0)
        self._start = Modes(), self._now, np.array(memory["start"]), ()
        self._lost, self._driven = memory["energies"]
        self.changes = ()
        if self._loops:
            self._loops.open = False
        self._kept.forget()
        self._latch()
        if self._remembers:
            self._remembers.recall(memory["stepper"], self._model, self._y, self.t_ns, self.h_ns, self._method)

    def _fingerprint(self) -> str:
        """16 hex digits of all that does not change during a run."""
        names = [*(b.name for b in self.robot.bodies), *(h.name for h in self.robot.hinges)]
        told = (names, self.h_ns, self.integrator, self._tolerances, self._counts_work, self.seed)
        fixed = (*self.robot.model, self._model.world, *(self.robot.rows or ()))
        arrays = b"".join(array.tobytes() for array in fixed)
        return hashlib.sha256(repr(told).encode() + arrays).hexdigest()[:16]

    # what acts

    def command(self, command: Command) -> Latched:
        """Take a command: it acts from the next step on, in place of the last one on that body or those joints."""
        self._close()
        nq, motion = self.robot.coordinates, self._seen()
        return self._inputs.command(command, self.tick, motion[:nq], motion[nq:])

    def fallback(self, command: Command, how: str) -> tuple[Command, ...]:
        """The commands to give when the source of `command` is silent; how: zero, hold or hold_position."""
        if how == "hold":
            return ()
        return self._inputs.fallback(command, how == "hold_position", self._seen()[: self.robot.coordinates])

    @property
    def hinge_laws(self) -> dict[str, Law]:
        """Mode and gains of every hinge that takes commands."""
        return self._inputs.targets.laws

    def set_effort(self, hinge: str, effort: float | Sequence[float]) -> None:
        """Let a hinge feel this effort [N·m, N] from the next step on, until it is set again."""
        efforts = np.atleast_1d(numbers(effort, f"effort on hinge '{hinge}'"))
        self._inputs.set_effort(Effort(hinge, tuple(efforts.tolist())))

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
        if not isinstance(what, Wrench | Effort):
            if stop is not None or signal is not None:
                raise ScenarioError(f"{type(what).__name__} happens at start=; it takes no stop and no signal.")
            self._plan_change(PlannedChange(what, from_ns))
            return
        if signal is not None and not isinstance(signal, Signal):
            if to_ns is None or self.integrator not in FIXED_STEP:
                raise ScenarioError(
                    "a Python function as signal needs stop= and one of the fixed-step integrators "
                    f"{', '.join(FIXED_STEP)}; use rbt.table(...) otherwise."
                )
            steps = round(to_ns / self.h_ns) - round(from_ns / self.h_ns)
            signal = sampled(signal, self.h_ns, integrate.stage_nodes(self._method), steps)
        self._inputs.plan(PlannedInput(what, signal, from_ns, to_ns))

    def drop_commands(self) -> bool:
        """Forget the commands that act; whether there were any."""
        return self._inputs.drop_commands()

    # going on

    def advance(self, ticks: int = 1) -> None:
        """Compute `ticks` steps. SolveError names the tick and the hinge; the last good state is kept."""
        if ticks.__class__ is not int or ticks < 0:
            ticks = whole_number(ticks, "ticks")
        inputs, tick = self._inputs, self.tick
        end = tick + ticks
        while tick < end:
            if tick >= inputs.current_end:
                self._renew()
            n = end if end < inputs.current_end else inputs.current_end
            code, done, body = self._go_on(tick * self.h_ns, n - tick)
            self.tick = tick = tick + done
            if inputs.acts:
                self._kept.acted()
            if code != t.OK:
                raise SolveError(self._failure(code, body))

    def _renew(self) -> None:
        """Let act what acts from this tick on; loops are closed first, then the modes change that are due."""
        self._latch()
        if self._loops and self._loops.open:
            self._loops.close(self._motion, self._acting, self.t_ns)
            self._keep_start()
            if self._stabiliser:
                self._stabiliser.start(self._model, self._y, self._work)
        if self._contacts:
            self._contacts.begin(self._y, self._acting, self.t_ns)
        while change := self._inputs.next_change(self.tick):
            try:
                self._change(change)
            except (ModelError, ScenarioError) as err:
                raise SolveError(f"t = {self.t_ns * 1e-9:.9g} s: planned {change} failed: {err}") from err
            self._latch()

    def _close(self) -> None:
        """What was set is made consistent, and what is due has happened, before anyone looks."""
        is_open = (self._loops and self._loops.open) or (self._contacts and self._contacts.open)
        if is_open or self._inputs.change_is_due(self.tick):
            self._renew()

    @property
    def events(self) -> tuple[ContactEvent, ...]:
        """Ropes that went taut or slack, joints that hit or left their stops, since t = 0."""
        return self._contacts.events if self._contacts else ()

    def _forces(self) -> Forces:
        """What holds does now."""
        now = self._motion, self._acting, self.t_ns
        if self._contacts:
            return self._contacts.forces(*now, self._loops)
        if not self.robot.constraints and not self._loops:
            return NO_FORCES
        idle = {c.name: idle_force(c) for c in self.robot.constraints}  # those that locks keep do nothing
        return Forces(idle | (self._loops.forces(*now) if self._loops else {}), {}, {})

    def _latch(self) -> None:
        self._inputs.renew(self.tick)
        self._acting = self._now.acting(self._inputs.current)
        self._go_on = self._stepper(self._model, self._y, self._acting, self.h_ns, self._method, self._work)

    def _failure(self, code: int, body: int) -> str:
        hinge, tick = self._now.robot.hinges[body].name, self.tick + 1
        return f"tick {tick}, t = {tick * self.h_ns * 1e-9:.9g} s: {FAILURES[code].format(hinge)}"

    def warm_up(self, changes: bool = False) -> None:
        """Compile the kernels, or load them from the cache, now rather than in the first step; nothing moves.

        changes: those of locks and docks too, as where such are planned.
        """
        self._go_on(self.t_ns, 0)
        self.sample()
        if changes or self._inputs.plans_changes:
            motion, com_twist = self._motion.copy(), motion_of(self._model, self._motion, self._work).com_twist
            collide(self._model, motion, com_twist, self._work, None, self._acting, self.t_ns)

    def sample(self) -> Sample:
        """Everything there is to know now."""
        if self.tick >= self._inputs.current_end:
            self._renew()
        n, nq, motion = len(self.robot.bodies), self.robot.coordinates, self._seen()
        pose, twist, summary = np.empty((n, 7)), np.empty((n, 6)), np.empty(inv.SUMMARY_COLUMNS)
        inv.observe(self._model, self._y, self._work, pose, twist, summary)
        pose, twist = self._now.frames(pose, twist)
        if self.changes:
            summary[[inv.POTENTIAL, inv.WORK, inv.DISSIPATED]] += self._stored, self._driven, self._lost
        lost = self._contacts.lost if self._contacts else 0.0
        summary[inv.DISSIPATED] += lost
        values, forces = summary.tolist(), self._forces()
        return Sample(
            self.t_ns,
            self.tick,
            motion[:nq],
            motion[nq:],
            self._inputs.current.tau,
            self._inputs.current.load,
            pose,
            twist,
            Energy(values[inv.KINETIC], values[inv.POTENTIAL]),
            tuple(values[inv.MOMENTUM : inv.MOMENTUM + 3]),
            tuple(values[inv.ANGULAR : inv.ANGULAR + 3]),
            tuple(values[inv.ANGULAR_COM : inv.ANGULAR_COM + 3]),
            tuple(values[inv.CENTRE : inv.CENTRE + 3]),
            self._kept.conservation(summary, self.t_ns),
            forces.constraints,
            Work(values[inv.WORK], values[inv.DISSIPATED]) if self._counts_work else None,
            self.locked,
            self.docked,
            forces.ropes,
            forces.stops,
            lost,
        )

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
        end = round(time_ns(until, "until") / self.h_ns)
        stride = 1 if every is None else max(1, round(_period_ns(every) / self.h_ns))
        for what, given in (("progress", progress), ("controller", controller)):
            if given is not None and not callable(given):
                raise ScenarioError(f"{what} {given!r:.80} is not a function.")
        if end < self.tick:
            raise ScenarioError(f"until {until} s lies before now, {self.t_ns * 1e-9:g} s; reset() goes back to 0 s.")
        samples, alarmed = [self.sample()], False
        start = self.tick
        while self.tick < end:
            if controller is not None:
                controller(self)
            self.advance(min(stride, end - self.tick))
            samples.append(self.sample())
            alarmed = alarmed or self._alarm(samples[-1])
            if progress is not None:
                progress((self.tick - start) / (end - start))
        start_ns, end_ns = samples[0].t_ns, samples[-1].t_ns
        changes = [change for change in self.changes if start_ns <= change.t_ns <= end_ns]
        return Result(self.robot, samples, changes, [event for event in self.events if event.t >= samples[0].t])

    def _alarm(self, sample: Sample) -> bool:
        """Warn of an energy that is lost or made by the integration, long before the state leaves the numbers."""
        drift = sample.conservation.energy
        loud = abs(drift) > ENERGY_ALARM
        if loud:
            warnings.warn(
                f"t = {sample.t:g} s: the energy has drifted by {drift:.2g} of the kinetic energy since "
                f"{sample.conservation.energy_since_ns * 1e-9:g} s; a smaller step or a higher order (dop853) helps.",
                stacklevel=3,
            )
        return loud


class _Since:
    """What the samples are compared with: the first one after it was told to forget."""

    def __init__(self) -> None:
        self._then: np.ndarray | None = None
        self._then_ns = 0
        self._scale = 0.0

    def forget(self) -> None:
        """The next sample is compared with nothing."""
        self._then = None

    def compare(self, now: np.ndarray, t_ns: int, size: float) -> tuple[np.ndarray, int, float]:
        """That sample's summary and time [ns], and the largest size of the quantity since then."""
        if self._then is None:
            self._then, self._then_ns, self._scale = now.copy(), t_ns, 0.0
        self._scale = max(self._scale, size)
        return self._then, self._then_ns, self._scale or 1.0


class _Kept:
    """What the system should keep: momenta since the last input, energy likewise, or with the work of all inputs."""

    def __init__(self, robot: Robot, model: t.Model, counts_work: bool):
        """model: the robot's, with the world it moves in."""
        self._counts_work = counts_work
        self._energy, self._momenta = _Since(), _Since()
        self._factors = (math.nan, math.nan)
        self.watch(robot, model)

    def watch(self, robot: Robot, model: t.Model) -> None:
        """Look at this robot from now on; what it keeps unlike the one before counts anew."""
        floats = model.world[t.ATTRACTION] == 0.0 and all(
            h.kind == JointKind.FREE for h in robot.hinges if h.parent == WORLD
        )
        floats = floats and not holds_the_world(robot.constraints) and not ropes_hold_the_world(robot.ropes)
        dissipates = bool(robot.model.freedom[:, [t.DAMPING, t.COULOMB, t.SINK]].any()) or drives(robot.constraints)
        self._weight = robot.mass * model.world[t.GRAVITY : t.GRAVITY + 3]
        factors = (math.nan if dissipates and not self._counts_work else 1.0, 1.0 if floats else math.nan)
        if not np.array_equal(factors, self._factors, equal_nan=True):
            self.forget()
        self._factors = factors

    def forget(self) -> None:
        """The state was set: the next sample is compared with nothing."""
        self._energy.forget()
        self._momenta.forget()

    def acted(self) -> None:
        """Something acted from outside. If its work is known, the energy stays comparable."""
        self._momenta.forget()
        if not self._counts_work:
            self._energy.forget()

    def conservation(self, now: np.ndarray, t_ns: int) -> Conservation:
        """Changes that work, losses and gravity's impulse do not explain; NaN for what this system does not keep."""
        momentum, angular = slice(inv.MOMENTUM, inv.MOMENTUM + 3), slice(inv.ANGULAR_COM, inv.ANGULAR_COM + 3)
        then, energy_ns, energy_scale = self._energy.compare(now, t_ns, now[inv.KINETIC])
        energy = (now[inv.KINETIC] - then[inv.KINETIC]) + (now[inv.POTENTIAL] - then[inv.POTENTIAL])
        energy += (now[inv.DISSIPATED] - then[inv.DISSIPATED]) - (now[inv.WORK] - then[inv.WORK])
        then, momenta_ns, angular_scale = self._momenta.compare(now, t_ns, float(np.linalg.norm(now[angular])))
        impulse = self._weight * ((t_ns - momenta_ns) * 1e-9)
        conservative, floats = self._factors
        return Conservation(
            float(conservative * energy / energy_scale),
            float(floats * np.linalg.norm(now[momentum] - then[momentum] - impulse)),
            float(floats * np.linalg.norm(now[angular] - then[angular]) / angular_scale),
            float(now[inv.QUATERNION]),
            momenta_ns,
            energy_ns,
        )


class RunnableScenario(Scenario):
    """A scenario as read from a file, ready to run."""

    def simulation(self) -> Simulation:
        """Its simulation at t = 0."""
        return Simulation.of(self)


def load(name: str) -> RunnableScenario:
    """The scenario in the YAML file `name`, or the one of that name that ships with the package."""
    return RunnableScenario(**vars(read_scenario(str(name))))


def _tolerance(name: str, given: float) -> float:
    value = one_number(given, name, ScenarioError)
    if not 0 < value < 1:
        raise ScenarioError(f"{name} {value} must lie between 0 and 1: 1e-10 is usual.")
    return value


def _period_ns(every: float) -> float:
    period = one_number(every, "every", ScenarioError)
    if not 0 < period <= LONGEST_S:
        raise ScenarioError(f"every {every} s must be a positive time; it is rounded to whole steps, at least one.")
    return period * 1e9


def _point_mass(attraction: float, at: Sequence[float]) -> tuple[float, ...]:
    """What stands in the world for an attracting point mass: mu, then its place."""
    mu, place = one_number(attraction, "attraction", ScenarioError), numbers(at, "attractor", ScenarioError)
    if not (math.isfinite(mu) and mu >= 0) or place.shape != (3,) or not np.isfinite(place).all():
        raise ScenarioError(
            f"attraction {mu} m³/s² at {at}: mu must be finite and not negative, at three finite numbers."
        )
    return (float(mu), *place.tolist())


def _sink_floor(robot: Robot, h_ns: int) -> float:
    """Where the friction inside a lone body fades (`forces.inner_friction`): what is left decays in four steps."""
    power = float(robot.model.freedom[:, t.SINK].sum())
    inverse = 1.0 / np.linalg.eigvalsh(robot.bodies[0].inertia) if power > 0.0 else np.zeros(1)
    return 4.0 * power * h_ns * 1e-9 * float(np.ptp(inverse))


def _world(gravity: np.ndarray, point_mass: tuple[float, ...], sink_floor: float) -> np.ndarray:
    world = np.zeros(t.WORLD_COLUMNS)
    world[t.GRAVITY : t.GRAVITY + 3] = gravity
    world[t.ATTRACTION : t.ATTRACTOR + 3] = point_mass
    world[t.SINK_FLOOR] = sink_floor
    world.flags.writeable = False
    return world
