"""Collisions: how near the panels of an array come to each other, over shapes, along paths, and while simulating.

Panels are the boxes by which bodies are drawn. Edges with a hinge are drawn in by `INSET`, as hinges keep panels apart
there; what a hinge joins may touch, and keeps off by its limits.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from rbt_ros.core import clearance as core
from rbt_ros.core.clearance import AXES, BOX_COLUMNS, CENTRE, HALF, Boxes, corner
from rbt_ros.core.types import LOWER, UPPER
from rbt_ros.core.work import workspace
from rbt_ros.errors import ModelError, ScenarioError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import matrices
from rbt_ros.model.checks import numbers
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.modular.paths import ShapePath, when_at
from rbt_ros.modular.turns import Folding
from rbt_ros.sim import Simulation

INSET = 0.005  # [m] of edges with a hinge
CHECKS = 16  # intervals per piece of a path, to start with
FINE = 1e-5  # [m] of motion: to this the place of a contact is found, and a distance told from the margin
COARSE = 1e-4  # [m]: to this the least distance on a path is found


class Nearest(NamedTuple):
    """Where two panels are nearest to each other."""

    distance: float  # [m]; not positive: they touch
    bodies: tuple[str, str]


class Clash(NamedTuple):
    """The first shape of a path that cannot be."""

    piece: int
    s: float  # from 0 to 1 in that piece
    shape: tuple[float, ...]  # of the path's joints [rad]
    why: str


class Clearance:
    """The distances of a robot's panels; scratch arrays of one thread."""

    def __init__(self, robot: Robot, inset: float = INSET):
        """inset [m]: how far an edge with a hinge is drawn in."""
        self.robot, self._folding = robot, Folding(robot)
        owners, shapes = [], []
        for i in range(len(robot.bodies)):
            for row in _boxes(robot, i, inset):
                owners.append(i)
                shapes.append(row)
        if not shapes:
            raise ModelError(f"robot '{robot.name}': no body has a box as its shape, so nothing can collide.")
        self._boxes = Boxes(np.array(owners), np.array(shapes), _strangers(robot, owners))
        n, nq, nv = len(robot.bodies), robot.coordinates, robot.freedoms
        self._scratch = np.zeros(nq), np.zeros(nv), workspace(robot.model), np.empty((n, 7)), np.empty((n, 6))
        self._scratch[0][0], self._scratch[0][4:7] = 1.0, robot.bodies[0].com
        self._placed = np.empty((len(shapes), BOX_COLUMNS))

    @in_words(ScenarioError)
    def of_shapes(self, shapes: np.ndarray) -> np.ndarray:
        """(k,) [m]: the least distance at each shape (k, all joints)."""
        rows = np.ascontiguousarray(numbers(shapes, "shapes", ScenarioError))
        self._check_shape("shapes", rows, (len(rows) if rows.ndim else 0, self._folding.size))
        found = np.empty(len(rows))
        core.shape_distances(self.robot.model, self._boxes, rows, *self._scratch, self._placed, found)
        return found

    @in_words(ScenarioError)
    def of_pose(self, pose: np.ndarray) -> Nearest:
        """The two that are nearest, from all bodies' poses as `Sample.pose` has them."""
        rows = np.ascontiguousarray(numbers(pose, "pose", ScenarioError))
        self._check_shape("pose", rows, (len(self.robot.bodies), 7))
        least, pair = core.least_distance(self._boxes, rows, self._placed)
        if pair < 0:
            return Nearest(np.inf, ("", ""))
        first, second = (self.robot.bodies[self._boxes.owner[k]].name for k in self._boxes.pairs[pair])
        return Nearest(float(least), (first, second))

    def _check_shape(self, what: str, rows: np.ndarray, wanted: tuple[int, int]) -> None:
        if rows.shape != wanted:
            raise ScenarioError(f"{what} of shape {rows.shape} must be {wanted[0] or 'k'} x {wanted[1]} numbers.")

    @in_words(ScenarioError)
    def grid(
        self,
        psi1: ArrayLike,
        psi2: ArrayLike,
        joints: Sequence[str] = ("psi1", "psi2"),
        held: Mapping[str, float] | None = None,
    ) -> np.ndarray:
        """(m, n) [m]: the collision map over two joints, the others held [rad]."""
        if len(joints) != 2:
            raise ScenarioError(f"grid: joints {joints!r:.80} must be two names.")
        rows = (numbers(row, what, ScenarioError) for row, what in ((psi1, "psi1"), (psi2, "psi2")))
        p, q = np.meshgrid(*rows, indexing="ij")
        shapes = np.zeros((p.size, self._folding.size))
        for joint, angle in (held or {}).items():
            shapes[:, self._folding.column(joint)] = angle
        for joint, values in zip(joints, (p, q), strict=True):
            shapes[:, self._folding.column(joint)] = values.ravel()
        return self.of_shapes(shapes).reshape(p.shape)

    @in_words(ScenarioError)
    def clash(self, path: ShapePath, margin: float = 0.0) -> Clash | None:
        """The first shape along a path that is out of a hinge's limits, or nearer than `margin` [m]; None: all free.

        Nothing is missed between the shapes that are looked at, see `_parts`.
        """
        s, outside = _grid(path), self._outside(path)
        inside = int(np.argmax(outside.any(axis=1))) if outside.any() else len(s)
        if (contact := self._contact(path, s[:inside], margin)) is not None:
            at, near = contact
            return _clash(path, at, f"the panels are {near:.4g} m apart, {margin:g} m is asked for")
        if inside == len(s):
            return None
        joint = self.robot.joint_names[int(np.argmax(outside[inside]))]
        return _clash(path, float(s[inside]), f"hinge '{joint}' is beyond its limits")

    @in_words(ScenarioError)
    def is_free(self, path: ShapePath, margin: float = 0.0) -> bool:
        """Whether `clash` would find nothing; sooner told than where it clashes."""
        return not self._outside(path).any() and self._contact(path, _grid(path), margin, first=False) is None

    @in_words(ScenarioError)
    def along(self, path: ShapePath) -> float:
        """The least distance [m] on a path, within 0.1 mm."""
        s, least = _grid(path), np.inf
        left, right, reach = s[:-1], s[1:], self._reach(path, s)
        while len(left):
            middle, near, travel = self._parts(path, left, right, reach)
            least = min(least, float(near.min()))
            left, right = _halves(left, middle, right, near - travel < least - COARSE)
        return least

    def _contact(self, path: ShapePath, s: np.ndarray, margin: float, first: bool = True) -> tuple[float, float] | None:
        """The first place on a path, from s[0] to s[-1], that is not further apart than `margin`, and its distance;
        with first=False any such place."""
        left, right, found = s[:-1], s[1:], None
        reach = self._reach(path, s)
        while len(left):
            middle, near, travel = self._parts(path, left, right, reach)
            open_ = (near - travel <= margin) & (travel >= FINE)
            hit = (near <= margin) | ((near - travel <= margin) & ~open_)
            if hit.any():  # what lies behind does not matter any more
                k = int(np.argmax(hit))
                found = (float(middle[k]), float(near[k]))
                if not first:
                    break
                open_[k + 1 :] = False
            left, right = _halves(left, middle, right, open_)
            if found is not None:
                left, right = left[left < found[0]], right[left < found[0]]
        return found

    def _parts(
        self, path: ShapePath, left: np.ndarray, right: np.ndarray, reach: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Middles of parts of a path, the distance there [m], and by how much it can be less elsewhere in the part [m].

        Panels come nearer by no more than their points move: their distance from a hinge, at most, times its angle. The
        rate of a hinge in a part is taken as the largest at its ends and its middle, which is exact on polygons.
        """
        middle = 0.5 * (left + right)
        shapes, slope = self._shapes(path, middle)
        fastest = np.abs(slope)
        for end in (left, np.nextafter(right, 0.0)):
            fastest = np.maximum(fastest, np.abs(self._shapes(path, end)[1]))
        return middle, self.of_shapes(shapes), fastest @ reach * (right - middle)

    def _outside(self, path: ShapePath) -> np.ndarray:
        """(k, size): which joints are beyond their limits at the ends of the parts that are looked at first."""
        shapes, limits = self._shapes(path, _grid(path))[0], self.robot.model.freedom[6:, [LOWER, UPPER]]
        return (shapes < limits[:, 0] - 1e-9) | (shapes > limits[:, 1] + 1e-9)

    def _shapes(self, path: ShapePath, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """All joints (k, size) at places of a path, and their derivatives by s."""
        columns = [self._folding.column(joint) for joint in path.joints]
        shapes, slopes = np.zeros((len(s), self._folding.size)), np.zeros((len(s), self._folding.size))
        shapes[:, columns], slopes[:, columns] = path.at(s)
        return shapes, slopes

    def _reach(self, path: ShapePath, s: np.ndarray) -> np.ndarray:
        """(size,): how far points of panels move, at most, per rad or m of a joint, others being as on the path."""
        strokes, robot = np.abs(self._shapes(path, s)[0]).max(axis=0), self.robot
        reach, far = np.ones(self._folding.size), np.zeros(len(robot.bodies))
        for owner, box in zip(self._boxes.owner, self._boxes.shape, strict=True):
            corners = [corner(box[HALF:], n) for n in range(8)]
            places = box[CENTRE:AXES] + np.array(corners) @ box[AXES:HALF].reshape(3, 3).T
            far[owner] = max(far[owner], np.linalg.norm(places, axis=1).max())
        for i in range(len(robot.bodies) - 1, 0, -1):  # a body comes behind the one that it hangs on
            hinge, stroke = robot.hinges[i], 0.0
            for joint, dimension in zip(hinge.joint_names, freedom_dimensions(hinge.kind), strict=True):
                if dimension == "length":
                    stroke += strokes[self._folding.column(joint)]
                else:
                    reach[self._folding.column(joint)] = far[i]
            parent = robot.body_index(hinge.parent)
            far[parent] = max(far[parent], np.linalg.norm(hinge.at) + stroke + far[i])
        return reach

    @in_words(ScenarioError)
    def require_free(self, path: ShapePath, margin: float = 0.0, leg: float | None = None) -> None:
        """ScenarioError that says where the path collides; and when, if each piece takes `leg` [s] by least jerk."""
        if (clash := self.clash(path, margin)) is not None:
            at = ", ".join(
                f"{joint} {np.degrees(angle):.4g}°" for joint, angle in zip(path.joints, clash.shape, strict=True)
            )
            # a smooth path has one start and one stop
            legs = len(path.pieces) if path.smooth else 1
            first = 0 if path.smooth else clash.piece
            gone = when_at((clash.piece - first + clash.s) / legs)
            when = "" if leg is None else f", t = {leg * (first + legs * gone):.4g} s"
            raise ScenarioError(
                f"the path collides in its piece {clash.piece + 1} at {100 * clash.s:.3g} % of it ({at}){when}: "
                f"{clash.why}."
            )


@in_words(ScenarioError, first=True)
def guard(robot: Robot, margin: float = 0.0, stop: bool = True) -> Callable[[Simulation], None]:
    """For `Simulation.run(controller=...)`: looks before each span, and stops the run, or warns once, where panels are
    nearer than `margin` [m]."""
    clearance, told = Clearance(robot), False

    @in_words(ScenarioError)
    def look(sim: Simulation) -> None:
        nonlocal told
        found = clearance.of_pose(sim.sample().pose)
        if found.distance > margin or told:
            return
        text = (
            f"t = {sim.t_ns * 1e-9:.9g} s: '{found.bodies[0]}' and '{found.bodies[1]}' collide: {found.distance:.4g} m "
            f"apart, {margin:g} m is asked for."
        )
        if stop:
            raise SolveError(text)
        told = True
        warnings.warn(text, stacklevel=2)

    return look


def _grid(path: ShapePath) -> np.ndarray:
    """The ends of the parts in which a path is looked at first."""
    return np.linspace(0.0, len(path.pieces), len(path.pieces) * CHECKS + 1)


def _halves(
    left: np.ndarray, middle: np.ndarray, right: np.ndarray, chosen: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The two halves of each chosen part, in order: where they start and end."""
    ends = np.stack([left, middle, right], axis=1)[chosen]
    return ends[:, :2].ravel(), ends[:, 1:].ravel()


def _clash(path: ShapePath, s: float, why: str) -> Clash:
    piece = min(int(s), len(path.pieces) - 1)
    return Clash(piece, s - piece, tuple(path.at(np.array([s]))[0][0].tolist()), why)


def _boxes(robot: Robot, i: int, inset: float) -> list[np.ndarray]:
    """The boxes of body i as rows of Boxes.shape: both long sides of each drawn in where a hinge is."""
    body, rows = robot.bodies[i], []
    joints = [(0.0, 0.0, 0.0)] if robot.hinges[i].parent != WORLD else []
    joints += [h.at for h in robot.hinges if h.parent == body.name]
    for shape in body.shapes:
        if shape.kind != "box":
            continue
        R_BS, half, centre = matrices(np.array(shape.quaternion)), 0.5 * np.array(shape.size), np.array(shape.at)
        for side in np.argsort(half, kind="stable")[1:]:
            along = np.array([R_BS[:, side] @ (np.array(p) - shape.at) for p in joints])
            at_edge = np.abs(np.abs(along) - 0.5 * shape.size[side]) < 1e-9
            for end in np.unique(np.sign(along[at_edge])):
                half[side] -= 0.5 * inset
                centre = centre - 0.5 * end * inset * R_BS[:, side]
        rows.append(np.concatenate([centre, R_BS.ravel(), np.maximum(half, 0.0)]))
    return rows


def _strangers(robot: Robot, owners: Sequence[int]) -> np.ndarray:
    """(m, 2): pairs of boxes of bodies that no hinge joins."""
    joined = {(h.parent, h.child) for h in robot.hinges}
    names = [robot.bodies[i].name for i in owners]
    pairs = [
        (k, m)
        for k in range(len(names))
        for m in range(k + 1, len(names))
        if names[k] != names[m] and not {(names[k], names[m]), (names[m], names[k])} & joined
    ]
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)
