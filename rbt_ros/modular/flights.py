"""Manoeuvres in full dynamics: hinges driven by PD controllers (Eqs. 3.5 and 4.3), real locks for those that rest."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.ensemble import advance_many
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.checks import one_number
from rbt_ros.model.hinge_commands import HingeCommand
from rbt_ros.model.robot import Robot
from rbt_ros.modular.gains import JUMPING, SMOOTH, Gains, gains, step_for
from rbt_ros.modular.paths import ShapePath, trajectory
from rbt_ros.modular.turns import Folding, check_path
from rbt_ros.sim import Simulation

STEP = 0.01  # [s] at most: 5e-9 of an attitude where the set-point jumps by π, 1e-14 where it goes smoothly (measured)
LOOK = 0.1  # [s]
DRIFT = 1e-6  # [rad] that an array, all locked, may turn in the time of a leg: it started at rest
FAR = 0.1  # of a joint's way, that it may be short of a corner when it is locked there


class Flight(NamedTuple):
    """How a manoeuvre ended."""

    quaternion: np.ndarray  # of the base at the end; it started at identity
    corners: np.ndarray  # (pieces + 1, size) [rad]: where the hinges of the whole shape were locked in fact
    momentum: float  # [N·m·s] largest angular momentum about the centre of mass at a corner
    simulation: Simulation


@in_words(ScenarioError)
def fly(
    robot: Robot,
    path: ShapePath,
    *,
    leg: float = 10.0,
    profile: str | None = None,
    kp: float | None = None,
    kd: float | None = None,
    step: float | None = None,
    watch: Callable[[Simulation], None] | None = None,
) -> Flight:
    """One manoeuvre: see `fly_many`. watch: called with the simulation every LOOK [s]; its errors end the flight."""
    pilot = Pilot(robot, gains(robot, kp, kd), step)
    pilot.fly(path, leg, profile, watch)
    return pilot.flight()


@in_words(ScenarioError)
def fly_many(
    robot: Robot,
    paths: Sequence[ShapePath],
    *,
    leg: float = 10.0,
    profile: str | None = None,
    kp: float | None = None,
    kd: float | None = None,
    step: float | None = None,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Flight | SolveError]:
    """Every path from the flat shape at rest, `leg` [s] for each piece, in threads; the same bits as alone.

    What a piece does not move is locked, and the locks carry what it takes. profile None: the corner is the set-point
    from the start of its leg on (Eq. 4.3); else the set-point goes there by that time profile (Eq. 3.5). kp, kd: of all
    hinges; None: as the thesis' by the inertia of each. step [s]; None: STEP, or shorter where the gains need it. All
    paths have as many pieces. A flight that misses a corner, or gains momentum, is a SolveError.
    """
    legs = {len(path.pieces) for path in paths}
    if len(legs) > 1:
        raise ScenarioError(f"fly_many: paths of {sorted(legs)} pieces; those that fly together have as many.")
    for path in paths:
        check_path(robot, path)
    stiffness = gains(robot, kp, kd)
    pilots = [Pilot(robot, stiffness, step) for _ in paths]
    failed: dict[int, SolveError] = {}
    count = legs.pop() if legs else 0
    for k in range(count):
        ticks: dict[int, list[int]] = {}
        for i, pilot in enumerate(pilots):
            if i not in failed:
                ticks.setdefault(pilot.begin(paths[i], k, leg, profile), []).append(i)
        for some, flying in ticks.items():
            outcomes = advance_many([pilots[i].sim for i in flying], some, threads)
            for case, (i, err) in enumerate(zip(flying, outcomes, strict=True)):
                try:
                    if err is not None:
                        raise SolveError(str(err).removeprefix(f"case {case}: "))
                    pilots[i].arrive()
                except SolveError as why:
                    failed[i] = why
        if progress is not None:
            progress((k + 1) / count)
    return [failed[i] if i in failed else pilot.flight() for i, pilot in enumerate(pilots)]


def ticks_of(leg: float, step: float) -> int:
    """How many steps a leg has, one at least."""
    ticks = one_number(leg, "leg", ScenarioError) / step
    if not 0.5 < ticks < 1e12:
        raise ScenarioError(f"a leg of {leg} s must be finite and no shorter than a step of {step} s.")
    return round(ticks)


def check_stillness(sim: Simulation, time: float, gains: Gains) -> None:
    """SolveError where an array that was at rest, and is all locked, still turns: by DRIFT or more in `time` [s]."""
    if not float(np.linalg.norm(sim.state.v[:3])) * time <= DRIFT:
        momentum = float(np.linalg.norm(sim.sample().angular_momentum_com))
        raise SolveError(
            f"at {sim.t_ns * 1e-9:g} s the array has an angular momentum of {momentum:.1e} N·m·s, and should have "
            f"none: with {gains} steps of {sim.h_ns * 1e-9:g} s are too long; give smaller gains, or a shorter step=."
        )


class Leg(NamedTuple):
    """What is flown from one corner to the next."""

    time: float  # [s]
    target: dict[str, float]  # of the joints that move
    way: dict[str, float]  # [rad, m] of each


class Pilot:
    """Drives one simulation from corner to corner, of any paths one after the other."""

    def __init__(self, robot: Robot, gains: Gains, step: float | None = None, longest: float = STEP):
        """Flat, at rest, nothing locked. step [s]; None: `longest`, or shorter where a path needs it with these gains.

        A step that is given is taken as it is.
        """
        self._folding, self._gains, self._longest = Folding(robot), gains, None if step is not None else longest
        self.sim = Simulation(robot, step=longest if step is None else step, integrator="dop853")
        self.sim.command(gains.settings)
        self._corners, self._momentum = [self._shape()], 0.0
        self._leg = Leg(0.0, {}, {})

    def fly(
        self, path: ShapePath, leg: float, profile: str | None, watch: Callable[[Simulation], None] | None = None
    ) -> None:
        """All of a path, from where the hinges are; see `fly`."""
        for k in range(len(path.pieces)):
            ticks = self.begin(path, k, leg, profile)
            stride = ticks if watch is None else max(1, round(LOOK * 1e9 / self.sim.h_ns))
            for done in range(0, ticks, stride):
                self.sim.advance(min(stride, ticks - done))
                if watch is not None:
                    watch(self.sim)
            self.arrive()

    def begin(self, path: ShapePath, k: int, leg: float, profile: str | None) -> int:
        """Lock what piece k does not move, let go of the rest, and say where it goes: how many steps that takes."""
        if k == 0:
            check_path(self.sim.robot, path)
            self._fit_step(path, SMOOTH if profile else JUMPING)
        if profile is None and path.smooth:
            raise ScenarioError(
                "a curve is flown by set-points along it, not by its corners alone: give profile='minimum_jerk' or "
                "'trapezoid'."
            )
        piece = path._replace(pieces=path.pieces[k : k + 1])
        places, slope = piece.at(np.linspace(0.0, 0.999, 8))
        moving = [joint for joint, rate in zip(piece.joints, slope.T, strict=True) if rate.any()]
        hinges = {h.name: set(h.joint_names) for h in self.sim.robot.hinges[1:]}
        rest = {name for name, joints in hinges.items() if not joints & set(moving)}
        locked = set(self.sim.locked)
        for name in sorted(locked - rest):
            self.sim.unlock(name)
        if rest - locked:
            self.sim.lock(*sorted(rest - locked))
        ends = dict(zip(piece.joints, piece.corners[-1].tolist(), strict=True))
        ways = dict(zip(piece.joints, np.ptp(np.vstack([places, piece.corners]), axis=0).tolist(), strict=True))
        self._leg = Leg(leg, {joint: ends[joint] for joint in moving}, ways)
        if moving:
            jump = HingeCommand(tuple(moving), tuple(self._leg.target.values()))
            self.sim.command(jump if profile is None else trajectory(piece, leg, profile))
        return ticks_of(leg, self.sim.h_ns * 1e-9)

    def arrive(self) -> None:
        """Lock all, where they are; SolveError where that is far from the corner, or the array is not at rest then."""
        free = [h.name for h in self.sim.robot.hinges[1:] if h.name not in self.sim.locked]
        if free:
            self.sim.lock(*free)
        self._corners.append(self._shape())
        self._momentum = max(self._momentum, float(np.linalg.norm(self.sim.sample().angular_momentum_com)))
        check_stillness(self.sim, self._leg.time, self._gains)
        for joint, target in self._leg.target.items():
            place = float(self._corners[-1][self._folding.column(joint)])
            if not abs(place - target) <= FAR * self._leg.way[joint]:
                raise SolveError(
                    f"joint '{joint}' is at {place:.4g} after a leg of {self._leg.time:g} s and should be at "
                    f"{target:.4g}, within {FAR:.0%} of its way: with {self._gains} it is too slow or swings; give a "
                    "longer leg or other gains."
                )

    def _fit_step(self, path: ShapePath, limit: float) -> None:
        """Steps as short as the path needs."""
        if self._longest is not None:
            step = step_for(self._folding, self._gains, path, limit, self._longest)
            if round(step * 1e9) != self.sim.h_ns:
                self.sim.set_step(step)

    def flight(self) -> Flight:
        """What came of it."""
        return Flight(self.sim.sample().pose[0, :4], np.array(self._corners), self._momentum, self.sim)

    def _shape(self) -> np.ndarray:
        return self.sim.state.q[7:].copy()
