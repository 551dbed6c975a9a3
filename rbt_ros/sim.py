"""Simulation: one robot in motion. Reset, command, advance, sample; the only object of the engine that changes."""

import hashlib
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import invariants as inv
from rbt_ros.core import types as t
from rbt_ros.core.integrate import RK4, advance
from rbt_ros.core.types import NQ, Input, JointKind, State
from rbt_ros.core.work import workspace
from rbt_ros.errors import MessageError, ModelError, ScenarioError, SolveError
from rbt_ros.model.attitude import as_quaternion
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import INTEGRATORS, BodyStart, Scenario, WrenchInput, read_scenario
from rbt_ros.results import Conservation, Energy, Result, Sample, turn_all

FOR_EVER = 2**62  # [ticks] a wrench without an end


class WrenchCommand(NamedTuple):
    """A wrench from outside: acts from the next tick for `hold_ns`, rounded to whole ticks (one at least)."""

    body: str
    force: tuple[float, float, float]  # [N]
    moment: tuple[float, float, float]  # [N·m], beside that of the force
    frame: str  # axes of both: "body" or "world"
    at: str  # where the force acts: "com" or "origin" of the body's frame
    hold_ns: int


class Latched(NamedTuple):
    """A command as it was accepted: it acts on ticks first <= k < end."""

    command: WrenchCommand
    first: int
    end: int


class _TimedLoad(NamedTuple):
    row: tuple[float, ...]  # of Input.load
    first: int
    end: int


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
        seed: int = 0,
    ):
        """gravity: world axes [m/s²]; step [s], a whole number of ns; integrator: one of `INTEGRATORS`."""
        if integrator not in INTEGRATORS:
            raise ScenarioError(f"integrator '{integrator}' is not one of {', '.join(INTEGRATORS)}.")
        h_ns = round(step * 1e9) if math.isfinite(step) else 0
        if h_ns <= 0 or abs(step * 1e9 - h_ns) > 1e-3:
            raise ScenarioError(f"step {step} s must be a positive whole number of nanoseconds.")
        g = np.asarray(gravity, dtype=float)
        if g.shape != (3,) or not np.isfinite(g).all():
            raise ScenarioError(f"gravity {gravity} must be three finite numbers in m/s².")
        world = np.zeros(t.WORLD_COLUMNS)
        world[t.GRAVITY : t.GRAVITY + 3] = g
        world.flags.writeable = False
        for hinge in robot.hinges:
            if hinge.kind != JointKind.FREE:
                raise ModelError(
                    f"hinge '{hinge.name}' is {hinge.kind.name.lower()}; this version moves free bodies only."
                )
        self.robot = robot
        self.seed = seed
        self.h_ns = h_ns
        self.tick = 0
        self._model = robot.model._replace(world=world)
        self._nq = sum(NQ[h.kind] for h in robot.hinges)
        # origin of the user's frame of a floating body from the engine's (its CoM), body axes
        self._origin = np.array(
            [
                np.negative(b.com) if h.kind == JointKind.FREE else (0.0, 0.0, 0.0)
                for b, h in zip(robot.bodies, robot.hinges, strict=True)
            ]
        )
        self._shifted = bool(self._origin.any())
        self._start = self._neutral()
        self._y = self._start.copy()
        self._work = workspace(self._model)
        self._planned: list[_TimedLoad] = []  # of the scenario
        self._commanded: dict[str, _TimedLoad] = {}  # the last valid one of each body
        self._no_effort = np.zeros(robot.freedoms())
        self._input = Input(self._no_effort, np.zeros((0, t.LOAD_COLUMNS)))
        self._input_end = 0  # the tick at which _input must be made anew
        self._reference: tuple[int, np.ndarray] | None = None  # tick and summary from which conservation is counted
        self._scale = np.zeros(2)  # largest kinetic energy and |L| since then

    @classmethod
    def of(cls, scenario: Scenario) -> "Simulation":
        """The simulation that a scenario describes, at t = 0."""
        sim = cls(
            scenario.robot,
            gravity=scenario.gravity,
            step=scenario.h_ns * 1e-9,
            integrator=scenario.integrator,
            seed=scenario.seed,
        )
        for name, start in scenario.start.items():
            sim.set_body(name, **vars(start))
        for wrench in scenario.inputs:
            sim._plan(wrench)
        sim._start = sim._y.copy()
        return sim

    # where it is

    @property
    def state(self) -> State:
        """Time, coordinates and velocities: copies."""
        return State(self.t_ns, self._y[: self._nq].copy(), self._y[self._nq :].copy())

    @property
    def t_ns(self) -> int:
        """Scenario time [ns]."""
        return self.tick * self.h_ns

    def digest(self) -> str:
        """16 hex digits of time and state: equal if and only if every bit is."""
        return hashlib.sha256(self.t_ns.to_bytes(8, "little") + self._y.tobytes()).hexdigest()[:16]

    def _neutral(self) -> np.ndarray:
        """All hinges at zero, all floating frames on the world's, at rest."""
        y = np.zeros(self._nq + self.robot.freedoms())
        for i, hinge in enumerate(self.robot.hinges):
            if hinge.kind in (JointKind.FREE, JointKind.SPHERICAL):
                y[self._model.tree[i, t.Q]] = 1.0
            if hinge.kind == JointKind.FREE:
                q = self._model.tree[i, t.Q]
                y[q + 4 : q + 7] = -self._origin[i]
        return y

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
        i = self.robot.body_index(name)
        if i not in self.robot.free_bodies:
            raise ModelError(f"body '{name}' hangs on hinge '{self.robot.hinges[i].name}'; use set_hinge.")
        where = f"body '{name}'"
        q, v = self._model.tree[i, t.Q], self._nq + self._model.tree[i, t.V]
        old = self._body_start(i)
        attitude = euler if euler is not None else quaternion
        q_WB = np.array(as_quaternion(attitude, where) if attitude is not None else old.quaternion)
        w_B = _finite(omega_body if omega_body is not None else old.omega_body, f"omega_body of {where}", "rad/s")
        p_WB = _finite(position if position is not None else old.position, f"position of {where}", "m")
        v_WB = _finite(velocity if velocity is not None else old.velocity, f"velocity of {where}", "m/s")
        shift = self._origin[i]
        self._y[q : q + 4] = q_WB
        self._y[q + 4 : q + 7] = p_WB - _turned(q_WB, shift)
        self._y[v : v + 3] = w_B
        self._y[v + 3 : v + 6] = v_WB - _turned(q_WB, np.cross(w_B, shift))
        self._reference = None

    def _body_start(self, i: int) -> BodyStart:
        q, v = self._model.tree[i, t.Q], self._nq + self._model.tree[i, t.V]
        q_WB, w_B = self._y[q : q + 4], self._y[v : v + 3]
        p_WB = self._y[q + 4 : q + 7] + _turned(q_WB, self._origin[i])
        v_WB = self._y[v + 3 : v + 6] + _turned(q_WB, np.cross(w_B, self._origin[i]))
        return BodyStart(tuple(p_WB), tuple(q_WB), tuple(v_WB), tuple(w_B))

    def reset(self) -> None:
        """Back to t = 0 and the start; commands are dropped, the scenario's inputs stay."""
        self._y[:] = self._start
        self.tick = 0
        self._commanded.clear()
        self._input_end = 0
        self._reference = None

    # what acts

    def command(self, command: WrenchCommand) -> Latched:
        """Take a command: it acts from the next step on, in place of the last one on that body."""
        try:
            self.robot.body_index(command.body)
        except ModelError as err:
            raise MessageError(str(err)) from err
        for what, value in (("force", command.force), ("moment", command.moment)):
            if len(value) != 3 or not all(math.isfinite(c) for c in value):
                raise MessageError(f"wrench on '{command.body}': {what} {value} must be three finite numbers.")
        hold = max(1, round(command.hold_ns / self.h_ns))
        row = self._load_row(command.body, command.force, command.moment, command.frame, command.at)
        latched = Latched(command, self.tick, self.tick + hold)
        self._commanded[command.body] = _TimedLoad(row, latched.first, latched.end)
        self._input_end = 0
        return latched

    def drop_commands(self) -> bool:
        """Forget the commands that act; whether there were any."""
        dropped = bool(self._commanded)
        self._commanded.clear()
        self._input_end = 0
        return dropped

    def _plan(self, wrench: WrenchInput) -> None:
        first = round(wrench.from_ns / self.h_ns)
        end = FOR_EVER if wrench.to_ns is None else max(first + 1, round(wrench.to_ns / self.h_ns))
        row = self._load_row(wrench.body, wrench.force, wrench.moment, wrench.frame, wrench.at)
        self._planned.append(_TimedLoad(row, first, end))

    def _load_row(self, body: str, force, moment, frame: str, at: str) -> tuple[float, ...]:
        i = self.robot.body_index(body)
        point = (0.0, 0.0, 0.0) if at == "com" else tuple(-c for c in self.robot.bodies[i].com)
        axes = t.WORLD_AXES if frame == "world" else t.BODY_AXES
        return (float(i), axes, *point, *(float(c) for c in moment), *(float(c) for c in force), 0.0)

    def _renew_input(self) -> None:
        """The Input from this tick on, and the tick at which it ends."""
        loads = [*self._planned, *self._commanded.values()]
        acting = [load.row for load in loads if load.first <= self.tick < load.end]
        edges = [edge for load in loads for edge in (load.first, load.end) if edge > self.tick]
        self._input = Input(self._no_effort, np.array(acting).reshape(len(acting), t.LOAD_COLUMNS))
        self._input_end = min(edges, default=FOR_EVER)
        self._commanded = {body: load for body, load in self._commanded.items() if load.end > self.tick}

    # going on

    def advance(self, ticks: int = 1) -> None:
        """Compute `ticks` steps. SolveError names the tick and the body; the last good state is kept."""
        end = self.tick + ticks
        while self.tick < end:
            if self.tick >= self._input_end:
                self._renew_input()
            n = min(end, self._input_end) - self.tick
            status = advance(self._model, self._y, self._input, self.t_ns, self.h_ns, n, RK4, self._work)
            self.tick += status.tick
            if self._input.load.shape[0]:
                self._reference = None
            if status.code != t.OK:
                hinge = self.robot.hinges[status.body].name
                raise SolveError(
                    f"tick {self.tick + 1}, t = {(self.tick + 1) * self.h_ns * 1e-9:.9g} s: non-finite state at hinge "
                    f"'{hinge}'; the last good state is kept. Try a smaller step, or look at the inputs."
                )

    def warm_up(self) -> None:
        """Compile the kernels, or load them from the cache, now rather than in the first step; nothing moves."""
        advance(self._model, self._y, self._input, self.t_ns, self.h_ns, 0, RK4, self._work)
        self.sample()

    def sample(self) -> Sample:
        """Everything there is to know now."""
        if self.tick >= self._input_end:
            self._renew_input()
        n = len(self.robot.bodies)
        pose, twist, summary = np.empty((n, 7)), np.empty((n, 6)), np.empty(inv.SUMMARY_COLUMNS)
        inv.observe(self._model, self._y, self._work, pose, twist, summary)
        conservation = self._conservation(summary)
        if self._shifted:
            arm = turn_all(pose[:, :4], self._origin)
            pose[:, 4:] += arm
            twist[:, 3:] += np.cross(twist[:, :3], arm)
        values = summary.tolist()
        return Sample(
            self.t_ns,
            self.tick,
            self._y[: self._nq].copy(),
            self._y[self._nq :].copy(),
            self._input.load,
            pose,
            twist,
            Energy(values[inv.KINETIC], values[inv.POTENTIAL]),
            tuple(values[inv.MOMENTUM : inv.MOMENTUM + 3]),
            tuple(values[inv.ANGULAR : inv.ANGULAR + 3]),
            tuple(values[inv.ANGULAR_COM : inv.ANGULAR_COM + 3]),
            tuple(values[inv.CENTRE : inv.CENTRE + 3]),
            conservation,
        )

    def _conservation(self, now: np.ndarray) -> Conservation:
        """Changes since the last input, gravity's impulse taken off."""
        momentum_at, angular_at = slice(inv.MOMENTUM, inv.MOMENTUM + 3), slice(inv.ANGULAR_COM, inv.ANGULAR_COM + 3)
        size = np.array([now[inv.KINETIC], np.linalg.norm(now[angular_at])])
        if self._reference is None:
            self._reference = (self.tick, now.copy())
            self._scale = size
        self._scale = np.maximum(self._scale, size)
        tick, then = self._reference
        energy_scale, angular_scale = np.where(self._scale > 0, self._scale, 1.0)
        energy = (now[inv.KINETIC] - then[inv.KINETIC]) + (now[inv.POTENTIAL] - then[inv.POTENTIAL])
        impulse = (
            self.robot.mass * self._model.world[t.GRAVITY : t.GRAVITY + 3] * ((self.tick - tick) * self.h_ns * 1e-9)
        )
        floats = len(self.robot.free_bodies) > 0 and all(
            h.parent != "world" or h.kind == JointKind.FREE for h in self.robot.hinges
        )
        momentum = np.linalg.norm(now[momentum_at] - then[momentum_at] - impulse) if floats else math.nan
        angular = np.linalg.norm(now[angular_at] - then[angular_at]) / angular_scale if floats else math.nan
        return Conservation(
            float(energy / energy_scale), float(momentum), float(angular), float(now[inv.QUATERNION]), tick * self.h_ns
        )

    def run(self, until: float, every: float | None = None, progress: Callable[[float], None] | None = None) -> Result:
        """Go on to scenario time `until` [s], with a sample every `every` [s] (default: each step), ends included.

        progress: called with the fraction done, after each sample.
        """
        end = round(until * 1e9 / self.h_ns)
        stride = 1 if every is None else max(1, round(every * 1e9 / self.h_ns))
        if end < self.tick:
            raise ScenarioError(f"until {until} s lies before now, {self.t_ns * 1e-9:g} s; reset() goes back to 0 s.")
        samples = [self.sample()]
        start = self.tick
        while self.tick < end:
            self.advance(min(stride, end - self.tick))
            samples.append(self.sample())
            if progress is not None:
                progress((self.tick - start) / (end - start))
        return Result(self.robot, samples)


class RunnableScenario(Scenario):
    """A scenario as read from a file, ready to run."""

    def simulation(self) -> Simulation:
        """Its simulation at t = 0."""
        return Simulation.of(self)


def load(name: str) -> RunnableScenario:
    """The scenario in the YAML file `name`, or the one of that name that ships with the package."""
    return RunnableScenario(**vars(read_scenario(str(name))))


def _finite(value: Sequence[float], what: str, unit: str) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise ModelError(f"{what}: {value} must be three finite numbers in {unit}.")
    return array


def _turned(q: np.ndarray, a: np.ndarray) -> np.ndarray:
    return turn_all(q[None, :], a[None, :])[0]
