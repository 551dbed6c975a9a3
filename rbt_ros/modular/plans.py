"""Plans: sequences of turns that bring an array from any attitude to any other, free of collision.

In a plane the map is inverted: as many equal rectangles as the turn needs. In space a library of rectangles that keep
clear is put together in twos, fours and eights; a plan is a head and the tail nearest to what it leaves in the space of
attitudes, made exact by moving the corners (Gauss and Newton, the shortest step): four to 32 angles for three
equations. Each turn starts and ends flat, where a controller can look and fit the rest anew.
"""

import itertools
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.vec import qconj, qmul
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import unit_quaternion
from rbt_ros.model.checks import number
from rbt_ros.model.robot import Robot
from rbt_ros.modular import planar
from rbt_ros.modular.clearance import Clearance
from rbt_ros.modular.flights import Pilot
from rbt_ros.modular.gains import STIFF, gains
from rbt_ros.modular.maps import turn_map
from rbt_ros.modular.paths import Piece, ShapePath, polygon, rectangle
from rbt_ros.modular.turns import Folding, along, angles, conjugates, products, rotation_vectors
from rbt_ros.results import Sample
from rbt_ros.sim import Simulation

MARGIN = 0.001  # [m]: five times what panels are off by while they follow the path
FARTHEST = np.radians(179.5)  # of a corner: hinges stop at 180°, and swing over by 0.03°
GRID = 25  # angles from -FARTHEST to FARTHEST of the corners in the library
MOST_GRID, MOST_TURN = 1001, 1e4
NEAR = np.radians(15.0)  # what Newton's method is left with, at most
FAR = 100.0  # rad of way that a rad still to be turned is taken for
QUADS, HEADS = 200_000, 5000  # sequences of four that are looked up; of heads that are tried
CANDIDATES, ENOUGH = 100, 2  # sequences that are made exact, in that order; until so many are free
ROUNDS, NUDGE, KEEP = 12, 1e-6, 0.2  # of Newton's method; [rad] of its differences; when its matrix is kept
EXACT = 1e-9  # [rad]
FINE = 721  # angles that corners of rectangles in a plane are sought among, a quarter of a degree apart
OFF = np.radians(5.0)  # that rectangles in a plane keep from where rods a and c touch: 120° of equal ones
FLIGHT_STEP = 0.005  # [s] at most
TOLERANCE = np.radians(0.1)  # of an attitude that is flown to


class TurnOf(NamedTuple):
    """One rectangle from the flat shape and back."""

    psi1: float  # [rad] of the far corner
    psi2: float
    first: int  # 1 or 2

    @property
    def path(self) -> ShapePath:
        """As a path of the shape."""
        return rectangle(self.psi1, self.psi2, first=self.first)

    @property
    def way(self) -> float:
        """[rad] that both hinges go."""
        return 2.0 * (abs(self.psi1) + abs(self.psi2))


class Plan(NamedTuple):
    """Turns one after the other."""

    turns: tuple[TurnOf, ...]
    quaternion: np.ndarray  # the attitude it leads to, from identity
    clearance: float  # [m] least on the way

    @property
    def way(self) -> float:
        """[rad] that both hinges go."""
        return sum(turn.way for turn in self.turns)

    def time(self, rate: float) -> float:
        """[s] if the hinges go at `rate` [rad/s] at most, each leg by the profile of least jerk (15/8 of the mean)."""
        return 15.0 / 8.0 * self.way / rate


NOTHING = Plan((), np.array([1.0, 0.0, 0.0, 0.0]), np.inf)


class Flown(NamedTuple):
    """A plan in full dynamics."""

    quaternion: np.ndarray  # of the base at the end
    error: float  # [rad] from the attitude wanted
    clearance: float  # [m] least that was seen
    momentum: float  # [N·m·s] largest that was seen
    largest: float  # [rad] |psi| that was seen
    time: float  # [s]
    turns: tuple[TurnOf, ...]  # as flown, the corrected ones


class Planner:
    """The library of an array of hinges psi1 and psi2, and its pairs: made once, for any number of plans."""

    def __init__(self, robot: Robot, margin: float = MARGIN, grid: int = GRID):
        """margin [m] that panels keep; grid: angles of the corners."""
        if not isinstance(grid, int | np.integer) or not 2 <= grid <= MOST_GRID:
            raise ScenarioError(f"Planner: grid {grid!r:.40} must be a whole number of angles, 2 to {MOST_GRID}.")
        margin = number(margin, "margin of Planner")
        self.robot, self.margin, self._clearance = robot, margin, Clearance(robot)
        places = np.linspace(-FARTHEST, FARTHEST, grid)
        found = turn_map(robot, places, places)
        self._turns: list[TurnOf] = []
        quaternions = []
        for i, j in np.argwhere(self._free(places)).tolist():
            p, q = float(places[i]), float(places[j])
            self._turns += [TurnOf(p, q, 1), TurnOf(p, q, 2)]
            quaternions += [found.quaternion[i, j], conjugates(found.quaternion[i, j])]
        if not self._turns:
            raise ScenarioError(f"robot '{robot.name}': no rectangle of its shape keeps {margin:g} m clear.")
        self._quaternions = np.array(quaternions)
        self._ways = np.array([turn.way for turn in self._turns])

    def _free(self, places: np.ndarray) -> np.ndarray:
        """(n, n): which rectangles keep clear: those whose four sides do. Each line of the grid is looked at once."""

        def ends(hinge: int, locked: float, way: float) -> float:
            """How far that hinge gets towards `way` with the other one locked [rad]."""
            line = np.full((2, 2), locked)
            line[:, hinge] = 0.0, way
            clash = self._clearance.clash(polygon(line.tolist()), self.margin)
            return np.inf if clash is None else abs(clash.shape[hinge])

        reach = np.array([[[ends(h, a, w) for w in (-FARTHEST, FARTHEST)] for a in places] for h in (0, 1)])
        size, side = np.abs(places), (places > 0).astype(int)
        first, second = (reach[h][:, side] for h in (0, 1))  # of (where the other one is locked, where it goes)
        axis1, axis2 = (np.array([ends(h, 0.0, w) for w in (-FARTHEST, FARTHEST)])[side] > size for h in (0, 1))
        moved = size > 1e-9
        along = (second > size) & (first > size).T & axis1[:, None] & axis2[None, :]
        return along & moved[:, None] & moved[None, :]

    @cached_property
    def _pairs(self) -> "_Table":
        """All sequences of two."""
        n = len(self._turns)
        index = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), axis=-1).reshape(-1, 2)
        return _Table(index, products(self._quaternions[index[:, 0]], self._quaternions[index[:, 1]]))

    @cached_property
    def _quads(self) -> "_Table":
        """Random sequences of four."""
        return self._joined(self._pairs, QUADS)

    @cached_property
    def _eights(self) -> "_Table":
        """Random sequences of eight."""
        return self._joined(self._quads, 4 * HEADS)

    def _joined(self, parts: "_Table", count: int) -> "_Table":
        """Random parts in twos, mostly such as turn far: else they would stay near identity; always the same ones."""
        rng = np.random.default_rng(0)
        chance = angles(parts.quaternion) ** 4
        left, right = (rng.choice(len(chance), count, p=chance / chance.sum()) for _ in range(2))
        index = np.hstack([parts.index[left], parts.index[right]])
        return _Table(index, products(parts.quaternion[left], parts.quaternion[right]))

    @in_words(ScenarioError)
    def plan(self, target: Sequence[float], start: Sequence[float] = (1.0, 0.0, 0.0, 0.0)) -> Plan:
        """The shortest plan found from attitude `start` to `target`, w x y z; SolveError where there is none."""
        return self.plans(target, start)[0]

    @in_words(ScenarioError)
    def plans(
        self, target: Sequence[float], start: Sequence[float] = (1.0, 0.0, 0.0, 0.0), count: int = 1
    ) -> list[Plan]:
        """Up to `count` plans from attitude `start` to `target`, w x y z, of those found the shortest, in that order.

        SolveError where there is none.
        """
        wanted = np.array(unit_quaternion(target, "target of a plan"))
        begin = np.array(unit_quaternion(start, "start of a plan"))
        relative = products(conjugates(begin)[None], wanted[None])[0]
        if angles(relative[None])[0] < EXACT:
            return [NOTHING]
        self._check_axis(relative)
        singles = _Table(np.arange(len(self._turns))[:, None], self._quaternions)
        nothing = _Table(np.zeros((1, 0), dtype=int), np.array([[1.0, 0.0, 0.0, 0.0]]))
        for heads, tails, near in (
            (nothing, self._pairs, 40),
            (singles, self._pairs, 4),
            (self._pairs.some(HEADS), self._pairs, 1),
            (self._pairs.some(HEADS), self._quads, 1),
            (self._quads.some(4 * HEADS), self._quads, 1),
            (self._eights, self._quads, 2),
            (self._eights, self._eights, 4),
        ):
            fitted = (self._exact(rough, relative) for rough in self._rough(relative, heads, tails, near))
            if found := list(itertools.islice((plan for plan in fitted if plan is not None), max(ENOUGH, count))):
                best = sorted(found, key=lambda plan: plan.way)[:count]
                return [p._replace(clearance=min(self._clearance.along(turn.path) for turn in p.turns)) for p in best]
        raise SolveError(
            f"no plan of up to sixteen turns found to {np.round(wanted, 4).tolist()}; a planner with a finer grid= or "
            "less margin= has more to choose from."
        )

    def _check_axis(self, relative: np.ndarray) -> None:
        """SolveError where all turns are about one axis, as of an array in a plane, and what is wanted is not."""
        _, sizes, axes = np.linalg.svd(rotation_vectors(self._quaternions), full_matrices=False)
        across = np.linalg.norm(np.cross(rotation_vectors(relative[None])[0], axes[0]))
        if sizes[1] < EXACT * sizes[0] and across > EXACT:
            raise SolveError(
                f"robot '{self.robot.name}' turns about {np.round(axes[0], 4).tolist()} alone, whatever it folds; the "
                f"turn that is wanted has {np.degrees(across):.4g}° across that axis."
            )

    def _rough(self, relative: np.ndarray, heads: "_Table", tails: "_Table", count: int) -> list[list[TurnOf]]:
        """Sequences of a head and one of the `count` tails nearest to what it leaves, the shortest first."""
        rest = products(conjugates(heads.quaternion), np.broadcast_to(relative, heads.quaternion.shape))
        chord, nearest = tails.tree.query(_folded(rest), k=[*range(1, count + 1)], distance_upper_bound=0.5 * NEAR)
        rows, columns = np.nonzero(np.isfinite(chord))
        sequences = np.hstack([heads.index[rows], tails.index[nearest[rows, columns]]])
        # a rough one is worth its way, and what is still to be turned
        worth = self._ways[sequences].sum(axis=1) + FAR * 2.0 * chord[rows, columns]
        order = np.argsort(worth, kind="stable")[:CANDIDATES]
        return [[self._turns[i] for i in sequences[k]] for k in order]

    def _exact(self, rough: Sequence[TurnOf], relative: np.ndarray) -> Plan | None:
        """The corners moved until it fits; None where that leads out of the free shapes."""
        fitted = refine(self.robot, rough, relative)
        if fitted is None or not all(self._clearance.is_free(turn.path, self.margin) for turn in fitted):
            return None
        return Plan(tuple(fitted), net(self.robot, fitted), np.nan)


class _Table:
    """Sequences of turns, by their index, and what they turn."""

    def __init__(self, index: np.ndarray, quaternion: np.ndarray):
        self.index, self.quaternion = index, quaternion

    def some(self, count: int) -> "_Table":
        """Evenly taken ones."""
        step = max(1, len(self.index) // count)
        return _Table(self.index[::step], self.quaternion[::step])

    @cached_property
    def tree(self) -> Any:
        """For the nearest of them."""
        from scipy.spatial import cKDTree

        return cKDTree(_folded(self.quaternion))


def _folded(q: np.ndarray) -> np.ndarray:
    """q and -q are one attitude: that with w >= 0."""
    return q * np.where(q[..., :1] < 0, -1.0, 1.0)


def refine(robot: Robot, rough: Sequence[TurnOf], wanted: np.ndarray) -> list[TurnOf] | None:
    """The turns with their corners moved, as little as may be, until their product is `wanted`; None where it fails.

    Newton's method; its matrix is kept while each step leaves a fifth of the error or less.
    """
    folding, turns = Folding(robot), list(rough)
    before, inverse = 0.0, np.empty(0)
    for _ in range(ROUNDS):
        quaternions = [_turned(folding, turn) for turn in turns]
        error = _miss(quaternions, wanted)
        size = float(np.linalg.norm(error))
        if size < EXACT:
            return turns
        if size > KEEP * before:
            inverse = np.linalg.pinv(_slopes(folding, turns, quaternions, error, wanted), rcond=1e-4)
        before, step = size, -inverse @ error
        step *= min(1.0, 0.5 / max(float(np.abs(step).max()), 1e-12))
        corners = np.clip(np.array([turn[:2] for turn in turns]) + step.reshape(-1, 2), -FARTHEST, FARTHEST)
        turns = [TurnOf(float(p), float(q), turn.first) for (p, q), turn in zip(corners, turns, strict=True)]
    return None


def _slopes(
    folding: Folding, turns: Sequence[TurnOf], quaternions: list[np.ndarray], error: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """(3, 2 n): how the error goes with both angles of each corner."""
    columns = []
    for k, turn in enumerate(turns):
        for moved in (turn._replace(psi1=turn.psi1 + NUDGE), turn._replace(psi2=turn.psi2 + NUDGE)):
            nudged = [*quaternions[:k], _turned(folding, moved), *quaternions[k + 1 :]]
            columns.append((_miss(nudged, wanted) - error) / NUDGE)
    return np.stack(columns, axis=1)


def _turned(folding: Folding, turn: TurnOf) -> np.ndarray:
    return along(folding, turn.path, 16)[-1]


def _product(quaternions: Sequence[np.ndarray]) -> np.ndarray:
    """One after the other, from identity."""
    q = (1.0, 0.0, 0.0, 0.0)
    for turn in quaternions:
        q = qmul(q, turn.tolist())
    return np.array(q)


def _miss(quaternions: Sequence[np.ndarray], wanted: np.ndarray) -> np.ndarray:
    """Rotation vector [rad] from their product to what is wanted."""
    return rotation_vectors(np.array(qmul(qconj(tuple(_product(quaternions).tolist())), tuple(wanted.tolist())))[None])[
        0
    ]


def net(robot: Robot, turns: Sequence[TurnOf]) -> np.ndarray:
    """The attitude after these turns, from identity."""
    folding = Folding(robot)
    each = {turn: _turned(folding, turn) for turn in set(turns)}
    return _product([each[turn] for turn in turns])


@in_words(ScenarioError)
def plan_in_plane(robot: Robot, turn: float) -> Plan:
    """The fewest equal rectangles of three rods that turn rod a by `turn` [rad]: the map inverted along psi1 = psi2."""
    from scipy.optimize import brentq

    rods = planar.of_rods(robot)
    if not abs(turn) <= MOST_TURN:
        raise ScenarioError(f"plan: turn {turn} rad must lie between -{MOST_TURN:g} and {MOST_TURN:g} rad.")
    if turn == 0.0:
        return NOTHING
    corners = np.linspace(0.0, _free_corner(rods.lengths), FINE)
    net_turns = planar.rectangle_turn(rods, corners, corners)
    best = int(np.argmax(np.abs(net_turns)))
    count = int(np.ceil(abs(turn) / abs(net_turns[best])))
    part = np.copysign(turn / count, net_turns[best])
    corner = brentq(lambda x: float(planar.rectangle_turn(rods, x, x)) - part, 0.0, corners[best], xtol=1e-15)
    turns = (TurnOf(corner, corner, 1 if (part > 0) == (turn > 0) else 2),) * count
    return Plan(turns, net(robot, turns), np.nan)


def _free_corner(lengths: Sequence[float]) -> float:
    """[rad] psi1 = psi2 of the largest square in which rods a and c keep OFF from each other."""
    grid = np.linspace(0.0, np.pi, FINE)
    hit = planar.collide(lengths, grid[:, None], grid[None, :])
    return min(float(np.maximum(grid[:, None], grid[None, :])[hit].min(initial=np.inf)) - OFF, FARTHEST)


def fly_plan(
    robot: Robot,
    plan: Plan,
    *,
    leg: float = 6.0,
    kp: float | None = None,
    kd: float | None = None,
    correct: bool = True,
    tolerance: float = TOLERANCE,
) -> Flown:
    """The plan in full dynamics, one simulation from identity on; correct: after each turn the rest is fitted anew.

    kp, kd: of all hinges; None: stiff, by the inertia of each. SolveError where panels touch on the way, or it ends
    farther from the attitude than `tolerance` [rad].
    """
    if not isinstance(plan, Plan):
        raise ScenarioError(f"fly_plan takes a Plan (Planner(robot).plan(...)), not {plan!r:.80}.")
    leg, tolerance = number(leg, "leg of fly_plan"), number(tolerance, "tolerance of fly_plan")
    stiffness = gains(robot, kp, kd, like=STIFF)
    pilot, clearance = Pilot(robot, stiffness, longest=FLIGHT_STEP), Clearance(robot)
    left, flown, momentum, nearest, largest = list(plan.turns), [], 0.0, np.inf, 0.0
    while left:
        seen: list[Sample] = [pilot.sim.sample()]
        pilot.fly(left[0].path, leg, "minimum_jerk", _recorder(seen))
        momentum = max(momentum, *(float(np.linalg.norm(sample.angular_momentum_com)) for sample in seen))
        nearest = min(nearest, clearance.along(_as_flown(robot, seen, len(left[0].path.pieces))))
        largest = max(largest, *(float(np.abs(sample.q[7:]).max()) for sample in seen))
        flown.append(left.pop(0))
        if not nearest > 0.0:
            raise SolveError(
                f"flown, the panels touch in turn {len(flown)} of the plan: {1e3 * nearest:.3g} mm. The hinges do not "
                f"follow closely enough with {stiffness}; give a longer leg, stiffer gains, or a planner more margin=."
            )
        if correct and left:
            rest = products(conjugates(_attitude(pilot.sim))[None], plan.quaternion[None])[0]
            left = refine(robot, left, rest) or left
    attitude = _attitude(pilot.sim)
    error = float(angles(products(conjugates(attitude)[None], plan.quaternion[None]))[0])
    if not error <= tolerance:
        raise SolveError(
            f"flown, the plan ends {np.degrees(error):.3g}° off, more than {np.degrees(tolerance):.3g}°, with "
            f"{stiffness}; give a longer leg, stiffer gains, or more tolerance=."
        )
    return Flown(attitude, error, nearest, momentum, largest, pilot.sim.t_ns * 1e-9, tuple(flown))


def _recorder(seen: list[Sample]) -> Callable[[Simulation], None]:
    return lambda sim: seen.append(sim.sample())


def _attitude(sim: Simulation) -> np.ndarray:
    return sim.sample().pose[0, :4]


def _as_flown(robot: Robot, seen: Sequence[Sample], legs: int) -> ShapePath:
    """The shape over equal legs: cubics through the angles and rates of all samples."""
    each = (len(seen) - 1) // legs
    return ShapePath(robot.joint_names, tuple(_cubics(seen[k * each : (k + 1) * each + 1]) for k in range(legs)))


def _cubics(seen: Sequence[Sample]) -> Piece:
    from scipy.interpolate import CubicHermiteSpline

    s, total = np.linspace(0.0, 1.0, len(seen)), seen[-1].t - seen[0].t
    curve = CubicHermiteSpline(s, [sample.q[7:] for sample in seen], [total * sample.v[6:] for sample in seen])
    slope = curve.derivative()
    return lambda s: (curve(s), slope(s))
