"""A controller that turns an array to any attitude by folding: plans, flies, looks at each flat vertex, and corrects.

It is one of `rbt_ros.control`: the same object runs in-process, in lockstep with a node, and in real time. It sends
trajectories of the hinges, one for each turn (24 s); their PD controllers are the simulation's own.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import unit_quaternion
from rbt_ros.model.checks import one_number
from rbt_ros.model.hinge_commands import HingeSettings, HingeTrajectory
from rbt_ros.modular.clearance import Clearance
from rbt_ros.modular.gains import STIFF, gains
from rbt_ros.modular.paths import trajectory
from rbt_ros.modular.plans import Planner, TurnOf, net, refine
from rbt_ros.modular.turns import angles, conjugates, products

LEG, REST = 6.0, 1.0  # [s] of each side of a rectangle; behind it, so that the hinges are where they should be
TOLERANCE = np.radians(0.05)
NEAR = np.radians(1.0)  # that turns may lead astray which cannot be corrected
KEPT = 0.5  # of the planner's margin, that corrected turns keep


class Seen(Protocol):
    """What it looks at: an `Observation`."""

    @property
    def t_ns(self) -> int:
        """Scenario time."""

    @property
    def bodies(self) -> Mapping[str, Any]:
        """By name, each with `quaternion`, w x y z."""


class Steering:
    """Turns the base to a target: `aim` it, and call it with what is seen; it answers when it has something to say."""

    joints = True

    @in_words(ScenarioError)
    def __init__(
        self,
        planner: Planner,
        target: Sequence[float] | None = None,
        *,
        leg: float = LEG,
        tolerance: float = TOLERANCE,
    ):
        """planner: with a margin of some mm, since the hinge that rests is not locked and gives way a little.

        target: w x y z of the base; leg [s] of each side of a rectangle; tolerance [rad] within which it rests.
        """
        self._leg = one_number(leg, "leg", ScenarioError)
        if not self._leg > 0:
            raise ScenarioError(f"steering: leg {leg} s must be positive.")
        self._planner, self._robot, self._tolerance = planner, planner.robot, tolerance
        self._clearance = Clearance(self._robot)
        self.bodies = (self._robot.bodies[0].name,)
        self.error = np.inf  # [rad] from the target, as last seen
        self.flown: list[TurnOf] = []
        self._turns: list[TurnOf] = []
        self._target: np.ndarray | None = None
        self._busy_ns = 0  # scenario time until which a trajectory lasts
        self._answer: tuple[int, list[HingeTrajectory]] = -1, []  # the last one, and to what time
        if target is not None:
            self.aim(target)

    @property
    def period(self) -> float:
        """[s] from one vertex to the next: how often it must be called at least."""
        return 4.0 * self._leg + REST

    @property
    def settings(self) -> HingeSettings:
        """Modes and gains that the hinges need: for `Simulation.command`, or as the node's parameters.

        Stiff, by their inertia, for steps of 5 ms: some 1e-3° of a turn.
        """
        return gains(self._robot, like=STIFF).settings

    @in_words(ScenarioError)
    def aim(self, target: Sequence[float]) -> None:
        """Another target from the next vertex on; w x y z."""
        self._target = np.array(unit_quaternion(target, "target of the steering"))
        self._turns = []

    def __call__(self, seen: Seen) -> list[HingeTrajectory]:
        """The next turn, or where to stay until the next look; nothing while one is flown.

        What is seen twice, as lockstep repeats what was not answered, is answered alike.
        """
        if seen.t_ns == self._answer[0]:
            return self._answer[1]
        if seen.t_ns < self._busy_ns:
            return []
        self._busy_ns = seen.t_ns + round(self.period * 1e9)
        turn = self._next(np.array(seen.bodies[self.bodies[0]].quaternion))
        if turn is None:
            flat = (0.0,) * len(self._robot.joint_names)
            goes = HingeTrajectory(self._robot.joint_names, (round(REST * 1e9),), (flat,))
        else:
            self.flown.append(turn)
            goes = trajectory(turn.path, 4.0 * self._leg)
        self._answer = seen.t_ns, [goes]
        return self._answer[1]

    def _next(self, attitude: np.ndarray) -> TurnOf | None:
        """The turn to fly from here; None: rest, as it is there, or has to think first."""
        if self._target is None:
            return None
        rest = products(conjugates(attitude)[None], self._target[None])[0]
        self.error = float(angles(rest[None])[0])
        if self._turns:
            self._turns = self._refitted(rest)
        if not self._turns and self.error > self._tolerance:
            # this takes seconds: the turns begin with the next look, fitted to what is seen then
            self._turns = self._planned(attitude)
            return None
        return self._turns.pop(0) if self._turns else None

    def _refitted(self, rest: np.ndarray) -> list[TurnOf]:
        """What is left, its corners moved so that it leads to the target; or as it was, where that is near enough.

        A last turn alone has two angles for three equations, and others may not be free.
        """
        fitted = refine(self._robot, self._turns, rest)
        margin = KEPT * self._planner.margin
        if fitted is not None and all(self._clearance.clash(turn.path, margin) is None for turn in fitted):
            return fitted
        missed = products(conjugates(net(self._robot, self._turns))[None], rest[None])
        return self._turns if angles(missed)[0] < NEAR else []

    def _planned(self, attitude: np.ndarray) -> list[TurnOf]:
        """A new plan; where there is none, the target is given up with a warning."""
        assert self._target is not None
        try:
            return list(self._planner.plan(self._target.tolist(), attitude.tolist()).turns)
        except SolveError as err:
            warnings.warn(f"steering: {err} It stays where it is.", stacklevel=2)
            self._target = None
            return []
