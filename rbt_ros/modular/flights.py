"""Manoeuvres in full dynamics: hinges driven by PD controllers (Eqs. 3.5 and 4.3), real locks for those that rest."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core.types import Q
from rbt_ros.ensemble import advance_many
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.checks import one_number
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings
from rbt_ros.model.robot import Robot
from rbt_ros.modular.paths import ShapePath, trajectory
from rbt_ros.modular.turns import Folding, check_path
from rbt_ros.sim import Simulation

KP = KD = 5.0  # [N·m/rad, N·m·s/rad] of the thesis
STEP = 0.01  # [s]: 5e-9 of an attitude where the set-point jumps by π, 1e-14 where it goes smoothly (measured)
LOOK = 0.1  # [s]


class Flight(NamedTuple):
    """How a manoeuvre ended."""

    quaternion: np.ndarray  # of the base at the end; it started at identity
    corners: np.ndarray  # (pieces + 1, size) [rad]: where the hinges of the whole shape were locked in fact
    momentum: float  # [N·m·s] largest angular momentum about the centre of mass at a corner
    simulation: Simulation


def fly(
    robot: Robot,
    path: ShapePath,
    *,
    leg: float = 10.0,
    profile: str | None = None,
    kp: float = KP,
    kd: float = KD,
    step: float = STEP,
    watch: Callable[[Simulation], None] | None = None,
) -> Flight:
    """One manoeuvre: see `fly_many`. watch: called with the simulation every LOOK [s]; its errors end the flight."""
    pilot = Pilot(robot, kp, kd, step)
    pilot.fly(path, leg, profile, watch)
    return pilot.flight()


def fly_many(
    robot: Robot,
    paths: Sequence[ShapePath],
    *,
    leg: float = 10.0,
    profile: str | None = None,
    kp: float = KP,
    kd: float = KD,
    step: float = STEP,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[Flight | SolveError]:
    """Every path from the flat shape at rest, `leg` [s] for each piece, in threads; the same bits as alone.

    What a piece does not move is locked, and the locks carry what it takes. profile None: the corner is the set-point
    from the start of its leg on (Eq. 4.3); else the set-point goes there by that time profile (Eq. 3.5). All paths have
    as many pieces.
    """
    legs = {len(path.pieces) for path in paths}
    if len(legs) > 1:
        raise ScenarioError(f"fly_many: paths of {sorted(legs)} pieces; those that fly together have as many.")
    ticks = ticks_of(leg, step)
    for path in paths:
        check_path(robot, path)
    pilots = [Pilot(robot, kp, kd, step) for _ in paths]
    failed: dict[int, SolveError] = {}
    count = legs.pop() if legs else 0
    for k in range(count):
        waiting = [i for i in range(len(pilots)) if i not in failed]
        for i in waiting:
            pilots[i].begin(paths[i], k, leg, profile)
        outcomes = advance_many([pilots[i].sim for i in waiting], ticks, threads)
        failed |= {i: err for i, err in zip(waiting, outcomes, strict=True) if err is not None}
        for i in waiting:
            if i not in failed:
                pilots[i].arrive()
        if progress is not None:
            progress((k + 1) / count)
    return [failed[i] if i in failed else pilot.flight() for i, pilot in enumerate(pilots)]


def ticks_of(leg: float, step: float) -> int:
    """How many steps a leg has, one at least."""
    ticks = one_number(leg, "leg", ScenarioError) / step
    if not 0.5 < ticks < 1e12:
        raise ScenarioError(f"a leg of {leg} s must be finite and no shorter than a step of {step} s.")
    return round(ticks)


class Pilot:
    """Drives one simulation from corner to corner, of any paths one after the other."""

    def __init__(self, robot: Robot, kp: float, kd: float, step: float):
        """Flat, at rest, nothing locked. kp, kd: of all hinges; step [s]."""
        Folding(robot)  # refuses what does not float or has other hinges
        self.sim = Simulation(robot, step=step, integrator="dop853")
        settings = tuple(HingeSetting(joint, "position", kp, kd) for joint in robot.joint_names)
        self.sim.command(HingeSettings(settings))
        self._corners, self._momentum = [self._shape()], 0.0

    def fly(
        self, path: ShapePath, leg: float, profile: str | None, watch: Callable[[Simulation], None] | None = None
    ) -> None:
        """All of a path, from where the hinges are; see `fly`."""
        check_path(self.sim.robot, path)
        ticks = ticks_of(leg, self.sim.h_ns * 1e-9)
        stride = ticks if watch is None else max(1, round(LOOK * 1e9 / self.sim.h_ns))
        for k in range(len(path.pieces)):
            self.begin(path, k, leg, profile)
            for done in range(0, ticks, stride):
                self.sim.advance(min(stride, ticks - done))
                if watch is not None:
                    watch(self.sim)
            self.arrive()

    def begin(self, path: ShapePath, k: int, leg: float, profile: str | None) -> None:
        """Lock what piece k does not move, let go of the rest, and say where it goes."""
        if k == 0:
            check_path(self.sim.robot, path)
        if profile is None and path.smooth:
            raise ScenarioError(
                "a curve is flown by set-points along it, not by its corners alone: give profile='minimum_jerk' or "
                "'trapezoid'."
            )
        piece = path._replace(pieces=path.pieces[k : k + 1])
        _, slope = piece.at(np.linspace(0.0, 0.999, 8))
        moving = [joint for joint, rate in zip(piece.joints, slope.T, strict=True) if rate.any()]
        hinges = {h.name: set(h.joint_names) for h in self.sim.robot.hinges[1:]}
        rest = {name for name, joints in hinges.items() if not joints & set(moving)}
        locked = set(self.sim.locked)
        for name in sorted(locked - rest):
            self.sim.unlock(name)
        if rest - locked:
            self.sim.lock(*sorted(rest - locked))
        if profile is None:
            target = dict(zip(piece.joints, piece.corners[-1].tolist(), strict=True))
            self.sim.command(HingeCommand(tuple(moving), tuple(target[joint] for joint in moving)))
        elif moving:
            self.sim.command(trajectory(piece, leg, profile))

    def arrive(self) -> None:
        """Lock all, where they are."""
        free = [h.name for h in self.sim.robot.hinges[1:] if h.name not in self.sim.locked]
        if free:
            self.sim.lock(*free)
        self._corners.append(self._shape())
        self._momentum = max(self._momentum, float(np.linalg.norm(self.sim.sample().angular_momentum_com)))

    def flight(self) -> Flight:
        """What came of it."""
        return Flight(self.sim.sample().pose[0, :4], np.array(self._corners), self._momentum, self.sim)

    def _shape(self) -> np.ndarray:
        return self.sim.state.q[self.sim.robot.model.tree[1, Q] :].copy()
