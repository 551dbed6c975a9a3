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
from rbt_ros.core.kept import LIE_EULER, Kept
from rbt_ros.core.stabilise import ACCOUNT
from rbt_ros.core.types import JointKind, State
from rbt_ros.core.work import workspace
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.assembly import Loops
from rbt_ros.model.constraints import drives, holds_the_world
from rbt_ros.model.contacts import Contacts, Forces
from rbt_ros.model.coordinates import BodyStart, HingeStart, neutral, put_body, put_hinge
from rbt_ros.model.inputs import Effort, Latched, PlannedInput, Timeline, Wrench, WrenchCommand
from rbt_ros.model.integrators import ADAPTIVE, TORQUE_FREE, no_inputs, obstacle
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.model.scenario import INTEGRATORS, Scenario, read_scenario
from rbt_ros.model.signals import Signal, sampled
from rbt_ros.model.stabilise import METHODS as STABILISERS
from rbt_ros.model.stabilise import Stabilise, checked_stabilise, stabilise_obstacle
from rbt_ros.model.unilateral import ContactEvent, ropes_hold_the_world
from rbt_ros.results import Conservation, Energy, Result, Sample, Work, turn_all

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


class Simulation:
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
        h_ns = round(step * 1e9) if math.isfinite(step) else 0
        if h_ns <= 0 or abs(step * 1e9 - h_ns) > 1e-3:
            raise ScenarioError(f"step {step} s must be a positive whole number of nanoseconds.")
        g = np.asarray(gravity, dtype=float)
        if g.shape != (3,) or not np.isfinite(g).all():
            raise ScenarioError(f"gravity {gravity} must be three finite numbers in m/s².")
        self.robot = robot
        self.seed = seed
        self.h_ns = h_ns
        self.tick = 0
        self.integrator = integrator
        self._method = METHODS[integrator]
        self._tolerances = _tolerance("rtol", rtol), _tolerance("atol", atol)
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
        for planned in scenario.inputs:
            sim._inputs.plan(planned)
        sim._placed()
        return sim

    # where it is

    @property
    def state(self) -> State:
        """Time, coordinates and velocities: copies."""
        self._close()
        nq = self.robot.coordinates
        return State(self.t_ns, self._motion[:nq].copy(), self._motion[nq:].copy())

    @property
    def t_ns(self) -> int:
        """Scenario time [ns]."""
        return self.tick * self.h_ns

    def digest(self) -> str:
        """16 hex digits of time and state: equal if and only if every bit is."""
        self._close()
        return hashlib.sha256(self.t_ns.to_bytes(8, "little") + self._motion.tobytes()).hexdigest()[:16]

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
        put_body(self.robot, self._y, name, start)
        if self._loops:
            self._loops.given_body(name, start)

    def _put_hinge(self, name: str, start: HingeStart) -> None:
        put_hinge(self.robot, self._y, name, start)
        if self._loops:
            self._loops.given_hinge(name, start)

    def _placed(self) -> None:
        """What is set before the first step is the start that `reset` returns to; the energy balance counts anew."""
        self._kept.forget()
        if self.tick == 0:
            self._start = self._motion.copy()
        if self._stabiliser:
            self._stabiliser.start(self._model, self._y, self._work)
        if self._contacts:
            self._contacts.open = True
        if self._loops or self._contacts:
            self._inputs.current_end = 0  # so that the next step, or sample, closes the loops
        elif self._counts_work:
            self.sample()

    def reset(self) -> None:
        """Back to t = 0 and the start; commands are dropped, the scenario's inputs stay."""
        self._y[:] = 0.0
        self._motion[:] = self._start
        self.tick = 0
        self._inputs.drop_commands()
        if self._contacts:
            self._contacts.forget()
        self._placed()

    def set_stabilise(self, how: "str | Stabilise") -> None:
        """Keep angular momentum and energy by correcting each step from now on: "projection", "gradient" or "none".

        For one floating body or tree, with any integrator (docs/stabilise.md). What they are now is kept; what acts
        changes them by its impulse and work. `rbt.Stabilise(...)` has the corrector's gains and the order of the seed.
        """
        options = checked_stabilise(how)
        mode = STABILISERS[options.method]
        if mode and (text := stabilise_obstacle(self.robot, self._model.world[t.ATTRACTION])):
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
        if self.integrator in TORQUE_FREE:
            self._stepper = torque_free.Flight(kept and kept.corrected_flight).stepper
        else:
            self._stepper = kept.stepper if kept else base or integrate.stepper
        self.stabilise, self._stabiliser = options, kept
        self._latch()

    def _open_account(self, size: int) -> None:
        """Make room in y for at least `size` sums of what has acted: see `forces.account`."""
        motion = self.robot.coordinates + self.robot.freedoms
        size = max(size, len(self._y) - motion)
        self._y = np.append(self._y, np.zeros(motion + size - len(self._y)))
        self._motion = self._y[:motion]
        self._work = workspace(self._model, size)

    # what acts

    def command(self, command: WrenchCommand) -> Latched:
        """Take a command: it acts from the next step on, in place of the last one on that body."""
        return self._inputs.command(command, self.tick)

    def set_effort(self, hinge: str, effort: float | Sequence[float]) -> None:
        """Let a hinge feel this effort [N·m, N] from the next step on, until it is set again."""
        self._inputs.set_effort(Effort(hinge, tuple(np.atleast_1d(np.asarray(effort, dtype=float)).tolist())))

    def add_input(
        self,
        what: Wrench | Effort,
        *,
        start: float = 0.0,
        stop: float | None = None,
        signal: Signal | Callable[[float], float] | None = None,
    ) -> None:
        """Let a wrench or effort act from `start` to `stop` [s], times `signal`, as an input of a scenario does.

        signal: `rbt.sines`, `rbt.polynomial`, `rbt.table`, or any Python function of the time since `start` [s], which
        is sampled here and now at the stages of all steps until `stop`. Evaluated at every stage: orders hold.
        """
        from_ns, to_ns = round(start * 1e9), None if stop is None else round(stop * 1e9)
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
        """Let act what acts from this tick on; loops are closed first."""
        self._latch()
        if self._loops and self._loops.open:
            self._loops.close(self._motion, self._inputs.current, self.t_ns)
            if self.tick == 0:
                self._start = self._motion.copy()
            if self._stabiliser:
                self._stabiliser.start(self._model, self._y, self._work)
        if self._contacts:
            self._contacts.begin(self._y, self._inputs.current, self.t_ns)

    def _close(self) -> None:
        """What was set is made consistent before anyone looks at it."""
        if (self._loops and self._loops.open) or (self._contacts and self._contacts.open):
            self._renew()

    @property
    def events(self) -> tuple[ContactEvent, ...]:
        """Ropes that went taut or slack, joints that hit or left their stops, since t = 0."""
        return self._contacts.events if self._contacts else ()

    def _forces(self) -> Forces:
        """What holds does now."""
        now = self._motion, self._inputs.current, self.t_ns
        if self._contacts:
            return self._contacts.forces(*now, self._loops)
        return Forces(self._loops.forces(*now) if self._loops else {}, {}, {})

    def _latch(self) -> None:
        self._inputs.renew(self.tick)
        now = self._inputs.current
        self._go_on = self._stepper(self._model, self._y, now, self.h_ns, self._method, self._work)

    def _failure(self, code: int, body: int) -> str:
        hinge, tick = self.robot.hinges[body].name, self.tick + 1
        return f"tick {tick}, t = {tick * self.h_ns * 1e-9:.9g} s: {FAILURES[code].format(hinge)}"

    def warm_up(self) -> None:
        """Compile the kernels, or load them from the cache, now rather than in the first step; nothing moves."""
        self._go_on(self.t_ns, 0)
        self.sample()

    def sample(self) -> Sample:
        """Everything there is to know now."""
        if self.tick >= self._inputs.current_end:
            self._renew()
        n, nq = len(self.robot.bodies), self.robot.coordinates
        pose, twist, summary = np.empty((n, 7)), np.empty((n, 6)), np.empty(inv.SUMMARY_COLUMNS)
        inv.observe(self._model, self._y, self._work, pose, twist, summary)
        if self.robot.origin_is_shifted:
            arm = turn_all(pose[:, :4], self.robot.origin_shift)
            pose[:, 4:] += arm
            twist[:, 3:] += np.cross(twist[:, :3], arm)
        lost = self._contacts.lost if self._contacts else 0.0
        summary[inv.DISSIPATED] += lost
        values, forces = summary.tolist(), self._forces()
        return Sample(
            self.t_ns,
            self.tick,
            self._motion[:nq].copy(),
            self._motion[nq:].copy(),
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
        end = round(until * 1e9 / self.h_ns)
        stride = 1 if every is None else max(1, round(every * 1e9 / self.h_ns))
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
        return Result(self.robot, samples, [event for event in self.events if event.t >= samples[0].t])

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
        floats = model.world[t.ATTRACTION] == 0.0 and all(
            h.kind == JointKind.FREE for h in robot.hinges if h.parent == WORLD
        )
        floats = floats and not holds_the_world(robot.constraints) and not ropes_hold_the_world(robot.ropes)
        dissipates = bool(robot.model.freedom[:, [t.DAMPING, t.COULOMB, t.SINK]].any()) or drives(robot.constraints)
        self._weight = robot.mass * model.world[t.GRAVITY : t.GRAVITY + 3]
        self._counts_work = counts_work
        self._factors = (math.nan if dissipates and not counts_work else 1.0, 1.0 if floats else math.nan)
        self._energy, self._momenta = _Since(), _Since()

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


def _tolerance(name: str, value: float) -> float:
    if not (math.isfinite(value) and 0 < value < 1):
        raise ScenarioError(f"{name} {value} must lie between 0 and 1: 1e-10 is usual.")
    return float(value)


def _point_mass(mu: float, at: Sequence[float]) -> tuple[float, ...]:
    """What stands in the world for an attracting point mass: mu, then its place."""
    place = np.asarray(at, dtype=float)
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
