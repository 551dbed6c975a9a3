"""What the hinges of a robot transmit, by name, and how its bodies accelerate, computed when somebody asks."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

import numpy as np

from rbt_ros.core.constrained import constrained_derivative
from rbt_ros.core.constraints import Bonds, Constraints, bonds, no_constraints
from rbt_ros.core.kinematics import accelerations, kinematics
from rbt_ros.core.reactions import hinge_wrenches
from rbt_ros.core.rows import Rows
from rbt_ros.core.types import ATTRACTION, ATTRACTOR, GRAVITY, Input, Model
from rbt_ros.core.vec import row3, row9
from rbt_ros.core.work import POS, ROT, Work, workspace
from rbt_ros.model.assembly import least_multipliers
from rbt_ros.model.constraints import Vector
from rbt_ros.model.links import ORIGIN
from rbt_ros.model.modes import Docked
from rbt_ros.model.reduction import Reduction


class HingeForce(NamedTuple):
    """What a hinge transmits from its parent to its child; (3,) arrays in a Sample, (N, 3) over time in a Result.

    All six components: what the hinge constrains, and what acts along its freedoms.
    """

    moment: np.ndarray  # about the origin of the child's frame [N·m], world axes
    force: np.ndarray  # [N], world axes


class Reactions(Mapping[str, HingeForce]):
    """The wrenches of all hinges at one instant, of docks that carry likewise: body_a on body_b, about its point."""

    def __init__(
        self,
        now: Reduction,
        docks: tuple[Docked, ...],
        model: Model,
        motion: np.ndarray,
        input: Input,
        t_ns: int,
        constraints: Constraints | None,
    ):
        """motion: [q, v] of the engine, which nobody changes; constraints: all that hold at that instant."""
        self._now, self._model, self._motion, self._input, self._t_ns = now, model, motion, input, t_ns
        self._docks, self._constraints = docks, constraints or no_constraints()

    def __getitem__(self, name: str) -> HingeForce:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    @cached_property
    def _found(self) -> dict[str, HingeForce]:
        wrench, body = self._wrenches()
        rows = {hinge.name: row for row, hinge in enumerate(self._now.robot.hinges)}
        place = {body.name: row for body, row in zip(self._now.full.bodies, self._now.rows, strict=True)}
        asked = [(hinge.name, hinge.child, ORIGIN) for hinge in self._now.full.hinges]
        asked += [(dock.name, dock.body_b, _point(dock)) for dock in self._docks if dock.name in rows]
        found = {}
        for name, child, point in asked:
            if name not in rows:  # the free hinge of a body that is carried
                found[name] = HingeForce(np.zeros(3), np.zeros(3))
                continue
            row = rows[name]
            sign = 1.0 if self._now.robot.hinges[row].child == child else -1.0  # parent and child may have changed
            moment, force = sign * wrench[row, :3], sign * wrench[row, 3:]
            arm = self._arm(row, int(place[child]), point, body)
            found[name] = HingeForce(moment - np.cross(arm, force) if arm.any() else moment, force)
        return found

    @cached_property
    def accelerations(self) -> np.ndarray:
        """(n, 6) [ẇ_WB, a_WB] of the user's frames, in the user's order, world axes."""
        vdot, work, _, _ = self._solve()
        n, nq = len(self._model.tree), len(self._motion) - len(vdot)
        q, v, accel = self._motion[:nq], self._motion[nq:], np.empty((n, 6))
        accelerations(self._model, q, v, vdot, work, accel)
        pose, twist = np.empty((n, 7)), np.empty((n, 6))
        kinematics(self._model, q, v, work, pose, twist)
        return self._now.frame_accelerations(pose, twist, accel)

    def gravity(self, position: np.ndarray) -> np.ndarray:
        """What any mass falls with at a place, by uniform gravity and attraction [m/s²], world axes."""
        world = self._model.world
        away = position - world[ATTRACTOR : ATTRACTOR + 3]
        field = world[GRAVITY : GRAVITY + 3]
        return field - world[ATTRACTION] / np.linalg.norm(away) ** 3 * away if world[ATTRACTION] else field

    def _solve(self) -> tuple[np.ndarray, Work, Bonds, int]:
        """v̇, with the engine's rows of the bodies, and the bonds and their rank that it was found with."""
        model, motion, rows = self._model, self._motion, self._constraints
        work, bond, slope = workspace(model), bonds(model, rows), np.zeros_like(motion)
        rank = constrained_derivative(model, motion, self._input, self._t_ns, 0.0, rows, work, bond, slope)
        return slope[len(motion) - len(model.freedom) :], work, bond, rank

    def _wrenches(self) -> tuple[np.ndarray, Rows]:
        """Those of the hinges (n, 6) about the engine's origins, and its rows of the bodies."""
        model, rows = self._model, self._constraints
        vdot, work, bond, rank = self._solve()
        nq, wrench = len(self._motion) - len(vdot), np.empty((len(model.tree), 6))
        pull = least_multipliers(bond, rank)[:, None] * bond.direction
        q, v = self._motion[:nq], self._motion[nq:]
        hinge_wrenches(model, q, v, vdot, self._input, self._t_ns, rows.row, pull, work, wrench)
        return wrench, work.bodies

    def _arm(self, row: int, child: int, point: Vector, body: Rows) -> np.ndarray:
        """From the engine's origin of body `row` to a point in the frame of body `child`, both rows of the engine."""
        arm = np.array(row9(body, child, ROT)) @ (self._now.shift[child] + point)
        return arm if child == row else arm + np.subtract(row3(body, child, POS), row3(body, row, POS))


def _point(dock: Docked) -> Vector:
    """Where a dock's wrench is told, as where it closes a loop: in the frame of body_b."""
    return ORIGIN if dock.kind == "weld" else dock.at_b
