"""Net turns: how far an array that floats at rest has turned when its shape has gone along a path.

Kinematics alone (`core/connection.py`): momentum zero prescribes the attitude from the path, whoever drives it.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rbt_ros.core.connection import NODES, transport
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.types import LOWER, NQ, NV, UPPER, JointKind
from rbt_ros.core.vec import qmul
from rbt_ros.core.work import workspace
from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.model.robot import Robot, as_robot
from rbt_ros.modular.paths import ShapePath

STEPS, LONGEST = 32, 0.1  # per piece of a path, or more: none longer [rad]; 1e-12 of a turn at ±180° (measured)
MOST_STEPS = 1_000_000  # likewise, at most
REACH = 1e-9  # [rad, m] that a corner may lie beyond a limit


class Turn(NamedTuple):
    """What a path of the shape has turned, all bodies alike when the shape is the old one."""

    quaternion: np.ndarray  # q_end q_start*, world axes (Eq. 4.5)
    axis: np.ndarray  # unit, of an angle in [0, π]
    angle: float  # [rad]
    efficiency: float  # angle over the way of all hinges together (Eq. 4.6)


class Folding:
    """A floating array, ready to have its shape changed: the scratch arrays of one thread."""

    def __init__(self, robot: Robot):
        """robot: one tree on a free hinge, all other hinges of single axes."""
        kinds = [h.kind for h in as_robot(robot, "an array that folds").hinges]
        if kinds[0] != JointKind.FREE or JointKind.FREE in kinds[1:]:
            raise ModelError(f"robot '{robot.name}': one tree that floats is needed, its base a body on no hinge.")
        for hinge in robot.hinges[1:]:
            if NQ[hinge.kind] != NV[hinge.kind]:
                raise ModelError(f"robot '{robot.name}': hinge '{hinge.name}' is spherical; a shape has single axes.")
        self.robot = robot
        self._work = workspace(robot.model)
        self._q, self._M = np.zeros(robot.coordinates), np.zeros((robot.freedoms, robot.freedoms))

    @property
    def size(self) -> int:
        """How many joints the shape has."""
        return self.robot.freedoms - 6

    def column(self, joint: str) -> int:
        """The place of a joint in a shape."""
        return self.robot.joint_place(joint)[2] - 6

    def reduced_inertias(self, shapes: np.ndarray) -> np.ndarray:
        """(k, size, size) [kg·m², kg·m, kg]: the mass matrix of the hinges at momentum zero, of shapes (k, size)."""
        M = np.empty((len(shapes), *self._M.shape))
        self._q[:7] = 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for shape, one in zip(shapes, M, strict=True):
            self._q[7:] = shape
            mass_matrix(self.robot.model, self._q, self._work, one)
        both = M[:, :6, 6:]
        return M[:, 6:, 6:] - np.swapaxes(both, 1, 2) @ np.linalg.solve(M[:, :6, :6], both)

    def attitudes(self, shape: np.ndarray, rate: np.ndarray) -> np.ndarray:
        """(k + 1, 4): of the base, from identity on. shape, rate (k, 3, size): at the nodes of Gauss of each step."""
        attitude = np.zeros((len(shape) + 1, 4))
        attitude[0, 0] = 1.0
        transport(
            self.robot.model,
            self._q,
            np.ascontiguousarray(shape),
            np.ascontiguousarray(rate),
            self._work,
            self._M,
            attitude,
        )
        return attitude


def along(robot: Robot | Folding, path: ShapePath, steps: int | None = None) -> np.ndarray:
    """(pieces · steps + 1, 4): attitudes of the base along the path, in equal steps of each piece.

    steps None: STEPS, or so many that none is longer than LONGEST.
    """
    folding = robot if isinstance(robot, Folding) else Folding(robot)
    if steps is None:
        fastest = float(np.abs(path.at(np.arange(len(path.pieces) * STEPS) / STEPS)[1]).max())
        steps = max(STEPS, math.ceil(fastest / LONGEST))
    s = (np.arange(len(path.pieces) * steps)[:, None] + NODES) / steps
    places, slopes = path.at(s.ravel())
    shape, rate = np.zeros((*s.shape, folding.size)), np.zeros((*s.shape, folding.size))
    columns = [folding.column(joint) for joint in path.joints]
    shape[:, :, columns] = places.reshape(*s.shape, -1)
    rate[:, :, columns] = slopes.reshape(*s.shape, -1) / steps
    return folding.attitudes(shape, rate)


def net_turn(robot: Robot, path: ShapePath, steps: int | None = None) -> Turn:
    """The turn by a closed path of the shape, from rest to rest; steps as `along` has them."""
    _check_kinds(robot, path, steps)
    corners = path.corners
    if np.abs(corners[0] - corners[-1]).max() > 1e-9:
        raise ScenarioError(
            f"the path of {', '.join(path.joints)} ends at {corners[-1].tolist()} and starts at {corners[0].tolist()}; "
            "only a closed one has a net turn."
        )
    check_path(robot, path)
    return as_turn(along(robot, path, steps)[-1], way(path, steps or STEPS))


def _check_kinds(robot: Any, path: Any, steps: Any) -> None:
    """ScenarioError where one of them is something else."""
    as_robot(robot, "net_turn")
    if not isinstance(path, ShapePath):
        raise ScenarioError(f"net_turn takes a ShapePath (rectangle, polygon, ellipse, spline), not {path!r:.80}.")
    if steps is not None and not (isinstance(steps, int | np.integer) and 1 <= steps <= MOST_STEPS):
        raise ScenarioError(f"net_turn: steps {steps!r:.40} must be a whole number of each piece, 1 to {MOST_STEPS}.")


def check_path(robot: Robot, path: ShapePath) -> None:
    """ScenarioError where a path goes beyond the limits of a hinge."""
    if path.smooth:
        s = np.linspace(0.0, len(path.pieces), len(path.pieces) * STEPS + 1)
        check_reach(robot, path.joints, path.at(s)[0], "the curve")
    else:
        check_reach(robot, path.joints, path.corners)


def check_reach(robot: Robot, joints: Sequence[str], shapes: ArrayLike, what: str = "corner {} of the path") -> None:
    """ScenarioError where a shape (k, joints) lies beyond the limits of a hinge."""
    for joint, angles in zip(joints, np.asarray(shapes).T, strict=True):
        low, high = robot.model.freedom[robot.joint_place(joint)[2], [LOWER, UPPER]]
        for k, angle in enumerate(angles):
            if not low - REACH <= angle <= high + REACH:
                raise ScenarioError(
                    f"{what.format(k)} cannot be reached: joint '{joint}' at {angle:.6g} is beyond its limits "
                    f"{low:.6g} and {high:.6g}."
                )


def way(path: ShapePath, steps: int = STEPS) -> float:
    """How far all hinges go together [rad]: the sum of |dpsi|."""
    s = (np.arange(len(path.pieces) * steps)[:, None] + NODES) / steps
    _, slope = path.at(s.ravel())
    weights = np.array([5.0, 8.0, 5.0]) / 18.0
    return float((np.abs(slope).sum(axis=1).reshape(s.shape) @ weights).sum() / steps)


def as_turn(quaternion: Any, way: float) -> Turn:
    """Axis, angle and efficiency of a net quaternion."""
    q = np.asarray(quaternion, dtype=float)
    vector, angle = rotation_vectors(q[None, :])[0], float(angles(q[None, :])[0])
    size = np.linalg.norm(vector)
    axis = vector / size if size > 0 else np.zeros(3)
    return Turn(q, axis, angle, angle / way if way > 0 else 0.0)


def angles(q: np.ndarray) -> np.ndarray:
    """[rad], in [0, π], of rows of unit quaternions."""
    return 2.0 * np.arctan2(np.linalg.norm(q[..., 1:], axis=-1), np.abs(q[..., 0]))


def rotation_vectors(q: np.ndarray) -> np.ndarray:
    """(..., 3) [rad]: axis times angle, the angle in [0, π]."""
    size = np.linalg.norm(q[..., 1:], axis=-1)
    factor = np.where(size > 0, angles(q) / np.where(size > 0, size, 1.0), 2.0)
    return q[..., 1:] * (factor * np.where(q[..., 0] < 0, -1.0, 1.0))[..., None]


def products(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b for arrays of quaternions (..., 4)."""
    return np.stack(qmul(np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)), axis=-1)


def conjugates(q: np.ndarray) -> np.ndarray:
    """The inverse of each of these unit quaternions (..., 4)."""
    return q * np.array([1.0, -1.0, -1.0, -1.0])
