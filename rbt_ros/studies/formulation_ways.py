"""One system in all formulations: what is integrated, and where the bodies are then, whatever the coordinates."""

from typing import NamedTuple

import numpy as np

from rbt_ros.core import integrate, maximal, zxz
from rbt_ros.core.graph import matrices as letters
from rbt_ros.core.kinematics import kinematics
from rbt_ros.core.types import KIND, OK, PARENT, POINT, TURN, Input, JointKind, Model
from rbt_ros.core.vec import qturn
from rbt_ros.core.work import workspace
from rbt_ros.errors import SolveError
from rbt_ros.model.attitude import matrices, turn_all
from rbt_ros.model.inputs import PlannedInput, Timeline
from rbt_ros.model.maximal import floating_state, floating_twin
from rbt_ros.model.revisions import Revisions
from rbt_ros.model.ticks import Ticks
from rbt_ros.model.world import world_row
from rbt_ros.sim import Simulation
from rbt_ros.studies.formulation_systems import System


class Bodies(NamedTuple):
    """Where all bodies are at one instant, whatever the coordinates: what the formulations are compared by."""

    R: np.ndarray  # (n, 3, 3) R_WB
    x: np.ndarray  # (n, 3) p_WBcm [m]
    v: np.ndarray  # (n, 3) v_WBcm [m/s]
    w: np.ndarray  # (n, 3) w_WB [rad/s], world axes


class Problem:
    """A system at its start, ready for all formulations."""

    def __init__(self, system: System):
        scenario, self.system = system.scenario, system
        self.robot, world = scenario.robot, world_row(scenario.gravity, 0.0, (0.0, 0.0, 0.0))
        world.flags.writeable = False
        self.tree = self.robot.model._replace(world=world)
        self.twin = floating_twin(self.robot)
        self.free: Model = self.twin.model._replace(world=world)
        self.state = Simulation.of(scenario).state
        self.com = np.array([body.com for body in self.robot.bodies]) + self.robot.origin_shift
        self.mass = np.array([body.mass for body in self.robot.bodies])
        self.inertia = np.array([body.inertia for body in self.robot.bodies])
        self.gravity = np.array(scenario.gravity)

    def input(self, h_ns: int) -> Input:
        """What drives the freedoms of the tree, all the time."""
        timeline = Timeline(self.robot, Ticks(h_ns), Revisions())
        for planned in self.system.scenario.inputs:
            assert isinstance(planned, PlannedInput)
            timeline.plan(planned)
        timeline.renew(0)
        return timeline.current

    # what should be kept

    def energy(self, at: Bodies) -> tuple[float, float]:
        """Kinetic and potential [J]."""
        spin = np.einsum("nji,nj->ni", at.R, at.w)
        kinetic = 0.5 * (self.mass @ (at.v**2).sum(axis=1) + np.einsum("ni,nij,nj", spin, self.inertia, spin))
        return float(kinetic), float(-(self.mass @ at.x) @ self.gravity)

    def angular_momentum(self, at: Bodies) -> tuple[np.ndarray, float]:
        """About the world's origin [N·m·s], and the sum of the sizes of its terms."""
        spin = np.einsum("nij,njk,nlk,nl->ni", at.R, self.inertia, at.R, at.w)
        terms = np.concatenate([spin, np.cross(at.x, self.mass[:, None] * at.v)])
        return terms.sum(axis=0), float(np.linalg.norm(terms, axis=1).sum())

    def opening(self, at: Bodies) -> float:
        """How far the hinges are open: the largest distance of points [m] or difference of unit axes."""
        worst, origin = 0.0, at.x - np.einsum("nij,nj->ni", at.R, self.com)
        for i, (parent, kind) in enumerate(self.tree.tree[:, [PARENT, KIND]]):
            if kind == JointKind.FREE:
                continue
            R_WP, p_WP = (at.R[parent], origin[parent]) if parent >= 0 else (np.eye(3), np.zeros(3))
            gap = p_WP + R_WP @ self.tree.body[i, POINT : POINT + 3] - origin[i]
            worst = max(worst, float(np.linalg.norm(gap)))
            if kind == JointKind.REVOLUTE:
                axis, q_PJ = self.robot.hinges[i].axis, tuple(self.tree.body[i, TURN : TURN + 4])
                worst = max(worst, float(np.linalg.norm(R_WP @ qturn(q_PJ, axis) - at.R[i] @ axis)))
        return worst


# ------------------------------------------------------------------------------------------------- the formulations
class Minimal:
    """[q, v] of the tree, by articulated bodies."""

    def __init__(self, problem: Problem, h_ns: int):
        self._problem, self._h_ns, self._t_ns = problem, h_ns, 0
        self._input, self._work = problem.input(h_ns), workspace(problem.tree)
        self.y = np.concatenate([problem.state.q, problem.state.v])

    def advance(self, ticks: int) -> None:
        """So many steps."""
        code, *_ = self._run(ticks)
        if code != OK:
            raise SolveError(f"{self._problem.system.name}: no motion beyond {self._t_ns * 1e-9:g} s; a smaller step?")
        self._t_ns += ticks * self._h_ns

    def _run(self, ticks: int) -> tuple[int, ...]:
        arrays = *self._problem.tree, self.y, *self._input, *self._work
        return integrate.run_arrays(*arrays, self._h_ns, *integrate.DOP853, self._t_ns, ticks)

    def bodies(self) -> Bodies:
        """Where they are."""
        problem, n = self._problem, len(self._problem.tree.tree)
        nq, pose, twist = len(problem.state.q), np.empty((n, 7)), np.empty((n, 6))
        kinematics(problem.tree, self.y[:nq], self.y[nq:], self._work, pose, twist)
        q, w = pose[:, :4] / np.linalg.norm(pose[:, :4], axis=1)[:, None], twist[:, :3]
        arm = turn_all(q, problem.com)
        return Bodies(matrices(q), pose[:, 4:] + arm, twist[:, 3:] + np.cross(w, arm), w)


class Wittenburg(Minimal):
    """The same coordinates, by augmented bodies."""

    def __init__(self, problem: Problem, h_ns: int):
        super().__init__(problem, h_ns)
        self._letters = letters(problem.tree)

    def _run(self, ticks: int) -> tuple[int, ...]:
        rest = ticks, False, self._work, self._letters
        return zxz.run(self._problem.tree, self.y, self._input, self._t_ns, self._h_ns, *rest)


class Maximal(Minimal):
    """All bodies afloat, hinges as closures."""

    put = True

    def __init__(self, problem: Problem, h_ns: int):
        super().__init__(problem, h_ns)
        self._system = maximal.maximal(problem.tree, problem.free, problem.twin.rows, self._input)
        self.y = floating_state(problem.tree, problem.state.q, problem.state.v)

    def _run(self, ticks: int) -> tuple[int, ...]:
        rest = ticks, integrate.DOP853, self.put
        return maximal.run_maximal(self._system, self.y, self._input, self._t_ns, self._h_ns, *rest)

    def bodies(self) -> Bodies:
        """Where they are."""
        n = len(self._problem.tree.tree)
        pose, twist = self.y[: 7 * n].reshape(n, 7), self.y[7 * n :].reshape(n, 6)
        w = turn_all(pose[:, :4], twist[:, :3])
        return Bodies(matrices(pose[:, :4]), pose[:, 4:].copy(), twist[:, 3:].copy(), w)


class Drifting(Maximal):
    """The same, not put back."""

    put = False


WAYS: dict[str, type[Minimal]] = {
    "minimal": Minimal,
    "wittenburg": Wittenburg,
    "maximal": Maximal,
    "drifting": Drifting,
}
