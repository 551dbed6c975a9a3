"""The robot with its modes taken in: a smaller robot that the engine moves, and how its numbers stand for all of them.

A locked hinge becomes a fixed one at its place, which costs no freedom; a floating tree that is docked hangs on what it
is docked to. What the user sees (coordinates, velocities, efforts, poses, names) keeps its full list: `Reduction` maps
that to and from the engine's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.kinematics import com_state, kinematics
from rbt_ros.core.types import NQ, NV, Input, JointKind, Model
from rbt_ros.core.vec import sub
from rbt_ros.core.work import Work
from rbt_ros.errors import ModelError
from rbt_ros.model.arrays import free_rows, frozen, tree_and_bodies
from rbt_ros.model.attitude import turn_all
from rbt_ros.model.checks import WORLD
from rbt_ros.model.constraint_arrays import constrained
from rbt_ros.model.constraints import COUPLE, PRESCRIBE, Closure, Constraint, Coupling
from rbt_ros.model.links import ORIGIN, Link, Links, links_now, rigid_root
from rbt_ros.model.modes import Docked, Modes
from rbt_ros.model.robot import Body, Robot
from rbt_ros.model.unilateral import Rope, Stop

Joined = TypeVar("Joined", Closure, Rope)


@dataclass(frozen=True, eq=False)
class Reduction:
    """What moves now."""

    full: Robot  # as the user knows it
    robot: Robot  # what the engine moves: the same bodies, in another order, on fewer freedoms
    rows: np.ndarray  # (n,) of the full robot's bodies, in the engine
    q_at: np.ndarray  # (nq,) of the full robot's coordinates, in the engine; -1: it has none
    v_at: np.ndarray  # (nv,) likewise of the velocities
    held: np.ndarray  # (nq,) the full robot's coordinates where the engine has none and they stay
    shift: np.ndarray  # (n, 3) in the engine's order: from the engine's origin of a body to its frame's
    loops: tuple[Constraint, ...] = ()  # docks that close loops
    then: tuple[np.ndarray, np.ndarray] | None = None  # q and pose that `reduced` has made it from; None: `whole`

    @cached_property
    def is_whole(self) -> bool:
        """Whether the engine moves the robot as the user knows it."""
        return self.robot is self.full

    @cached_property
    def carried(self) -> tuple[int, ...]:
        """The full robot's floating bodies that another one carries now."""
        return tuple(i for i in self.full.free_bodies if self.q_at[self.full.model.tree[i, t.Q]] < 0)

    @cached_property
    def _moving(self) -> tuple[np.ndarray, np.ndarray]:
        """The full robot's freedoms that move by themselves: in it, and in the engine."""
        moving = np.flatnonzero(self.v_at >= 0)
        return moving, self.v_at[moving]

    @cached_property
    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of the full robot's [q, v] that the engine has: in it, and in the engine's."""
        placed, (moving, freedoms) = np.flatnonzero(self.q_at >= 0), self._moving
        here = [placed, self.full.coordinates + moving]
        return np.concatenate(here), np.concatenate([self.q_at[placed], self.robot.coordinates + freedoms])

    @cached_property
    def _is_in_order(self) -> bool:
        """Whether the engine has the bodies in the user's order."""
        return bool((self.rows == np.arange(len(self.rows))).all())

    @cached_property
    def _is_shifted(self) -> bool:
        return bool(self.shift.any())

    @cached_property
    def order(self) -> np.ndarray:
        """(n,) of the engine's bodies, in the full robot."""
        return np.argsort(self.rows)

    def frames(self, pose: np.ndarray, twist: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Poses and twists of the user's frames, in the user's order, from those of the engine's origins."""
        if self._is_shifted:
            arm = turn_all(pose[:, :4], self.shift)
            pose, twist = pose.copy(), twist.copy()
            pose[:, 4:] += arm
            twist[:, 3:] += np.cross(twist[:, :3], arm)
        return (pose, twist) if self._is_in_order else (pose[self.rows], twist[self.rows])

    def frame_accelerations(self, pose: np.ndarray, twist: np.ndarray, accel: np.ndarray) -> np.ndarray:
        """Those of the user's frames, in the user's order, from those of the engine's: a + ẇ × r + ω × (ω × r)."""
        if self._is_shifted:
            arm, w = turn_all(pose[:, :4], self.shift), twist[:, :3]
            accel = accel.copy()
            accel[:, 3:] += np.cross(accel[:, :3], arm) + np.cross(w, np.cross(w, arm))
        return accel if self._is_in_order else accel[self.rows]

    def restricted(self, motion: np.ndarray) -> np.ndarray:
        """[q, v] of the engine from the user's; docks that can turn are at zero and rest."""
        nq, small = self.full.coordinates, np.zeros(self.robot.coordinates + self.robot.freedoms)
        for i, hinge in enumerate(self.robot.hinges):  # docks with a ball
            if hinge.kind == JointKind.SPHERICAL:
                small[self.robot.model.tree[i, t.Q]] = 1.0
        self.put(motion[:nq], motion[nq:], small)
        return small

    def put(self, q: np.ndarray, v: np.ndarray, motion: np.ndarray) -> None:
        """Write the user's q and v into the engine's motion [q, v], as far as it has them."""
        here, there = self._places
        motion[there] = np.concatenate([q, v])[here]

    def expanded(self, model: Model, motion: np.ndarray, work: Work) -> np.ndarray:
        """[q, v] of the user from the engine's; floating bodies that are carried: from where they are."""
        if self.is_whole:
            return motion.copy()
        here, there = self._places
        full = np.concatenate([self.held, np.zeros(self.full.freedoms)])
        full[here] = motion[there]
        if self.carried:
            nq, small_nq = self.full.coordinates, self.robot.coordinates
            pose, twist = np.empty((len(self.rows), 7)), np.empty((len(self.rows), 6))
            kinematics(model, motion[:small_nq], motion[small_nq:], work, pose, twist)
            for i in self.carried:
                row = self.rows[i]
                p_WC, v_WC, w_B = com_state(model, pose, twist, row)
                q, v = self.full.model.tree[i, [t.Q, t.V]]
                full[q : q + 7] = (*pose[row, :4], *p_WC)
                full[nq + v : nq + v + 6] = (*w_B, *v_WC)
        return full

    def acting(self, given: Input) -> Input:
        """What acts on the engine's freedoms and bodies; locks take what acts on theirs."""
        if self.is_whole:
            return given
        tau, load, signal = np.zeros(self.robot.freedoms), given.load, given.signal
        here, there = self._moving
        tau[there] = given.tau[here]
        if len(load):
            load = load.copy()
            load[:, t.LOAD_BODY] = self.rows[load[:, t.LOAD_BODY].astype(int)]
            paired = (load[:, t.LOAD_LAW] != 0.0) & (load[:, t.LOAD_OTHER] >= 0.0)
            load[paired, t.LOAD_OTHER] = self.rows[load[paired, t.LOAD_OTHER].astype(int)]
        if len(signal):
            signal = signal.copy()
            driving = signal[:, t.DRIVES] >= 0
            signal[driving, t.DRIVES] = self.v_at[signal[driving, t.DRIVES]]
            reading = signal[:, t.LAW] == t.FEEDBACK
            signal[reading, t.COUNT] = self.q_at[signal[reading, t.COUNT]]
        return Input(tau, load, signal, given.data)


def then_memory(now: Reduction) -> list[Any] | None:
    """What a reduction was made from, beside the modes, as lists."""
    return [array.tolist() for array in now.then] if now.then else None


def reduction_of(robot: Robot, modes: Modes, then: list[Any] | None) -> Reduction:
    """The reduction that was made from these, with the same bits."""
    return whole(robot) if then is None else reduced(robot, modes, *(np.array(x) for x in then))


def whole(robot: Robot) -> Reduction:
    """Nothing is locked, docked or prescribed beside what the robot itself has."""
    n, nq, nv = len(robot.bodies), robot.coordinates, robot.freedoms
    return Reduction(robot, robot, np.arange(n), np.arange(nq), np.arange(nv), np.zeros(nq), robot.origin_shift)


def reduced(robot: Robot, modes: Modes, q: np.ndarray, pose: np.ndarray) -> Reduction:
    """The robot in these modes; q: its coordinates now, pose (n, 7): of its bodies' frames."""
    if modes == Modes():
        return whole(robot)
    links, loops = links_now(robot, modes, q, pose)
    order = _parents_first(robot, links)
    row = {robot.bodies[i].name: r for r, i in enumerate(order)}
    bodies, hinges = _reframed(robot, links, order)
    tree, body = tree_and_bodies(bodies, hinges)
    q_at, v_at = np.full(robot.coordinates, -1), np.full(robot.freedoms, -1)
    freedom = free_rows(hinges)
    for r, i in enumerate(order):
        _map_freedoms(robot, links[robot.bodies[i].name], tree[r], freedom, q_at, v_at)
    _refuse_lost_friction(robot, v_at)
    model = Model(*(frozen(a) for a in (tree, body, freedom, robot.model.world)))
    small = Robot(robot.name, tuple(bodies), tuple(hinges), model)
    frame = np.array([links[b.name].point for b in bodies])
    shift = small.origin_shift - frame
    docks = tuple(_dock_closure(dock) for dock in loops)
    rows = np.array([row[b.name] for b in robot.bodies])
    small = constrained(small, _constraints(robot, modes, links, docks, q))
    small = replace(small, ropes=_ropes_left(robot, links), stops=_stops_left(robot, modes))
    return Reduction(robot, small, rows, q_at, v_at, np.where(q_at < 0, q, 0.0), shift, docks, (q.copy(), pose.copy()))


def _parents_first(robot: Robot, links: Links) -> list[int]:
    """The robot's bodies in an order in which each comes after the one it hangs on; its own, where that will do."""
    order: list[int] = []
    placed, waiting = {WORLD}, list(range(len(robot.bodies)))
    while waiting:
        i = next(i for i in waiting if links[robot.bodies[i].name].hinge.parent in placed)
        waiting.remove(i)
        order.append(i)
        placed.add(robot.bodies[i].name)
    return order


def _reframed(robot: Robot, links: Links, order: list[int]):
    """Bodies and hinges with the origin of every body at its hinge, as the engine has it."""
    bodies, hinges = [], []
    for i in order:
        body = robot.bodies[i]
        link = links[body.name]
        parent = link.hinge.parent
        origin = links[parent].point if parent != WORLD else ORIGIN
        moved = link.point != ORIGIN
        bodies.append(Body(body.name, body.mass, body.inertia, sub(body.com, link.point)) if moved else body)
        hinges.append(replace(link.hinge, at=sub(link.hinge.at, origin)) if origin != ORIGIN else link.hinge)
    return bodies, hinges


def _map_freedoms(robot: Robot, link: Link, tree_row, freedom: np.ndarray, q_at: np.ndarray, v_at: np.ndarray) -> None:
    """Enter where the coordinates and freedoms of the link's source are now, and what acts on those."""
    if link.source < 0:
        return
    (q, v), (k, j) = robot.model.tree[link.source, t.Q :], tree_row[t.Q :]
    kind, order = link.hinge.kind, 1
    if link.turned and HINGE_KINDS[kind].swaps:
        order = -1
    places, freedoms = slice(q, q + NQ[kind]), slice(v, v + NV[kind])
    q_at[places] = np.arange(k, k + NQ[kind])[::order]
    v_at[freedoms] = np.arange(j, j + NV[kind])[::order]
    freedom[j : j + NV[kind]] = robot.model.freedom[freedoms][::order]


def _refuse_lost_friction(robot: Robot, v_at: np.ndarray) -> None:
    """Friction of a floating body has no place once it is carried."""
    for i in robot.free_bodies:
        v = robot.model.tree[i, t.V]
        rubs = robot.model.freedom[v : v + 3, [t.DAMPING, t.SINK]].any()
        if rubs and (v_at[v] < 0 or robot.model.freedom[v, t.SINK] > 0):
            raise ModelError(
                f"body '{robot.bodies[i].name}' has friction on its free hinge, which is of a body that floats by "
                "itself; it cannot be docked."
            )


def _ropes_left(robot: Robot, links: Links) -> tuple[Rope, ...]:
    """The ropes between parts that still move against each other."""
    apart = [x for x in robot.ropes if rigid_root(links, x.body_a) != rigid_root(links, x.body_b)]
    return tuple(_reframed_ends(rope, links) for rope in apart)


def _stops_left(robot: Robot, modes: Modes) -> tuple[Stop, ...]:
    """The stops of the joints that still move; a joint that is seen from its child has the same coordinate."""
    return tuple(x for x in robot.stops if robot.hinges[robot.joint_place(x.joint)[0]].name not in modes.locked)


def _constraints(
    robot: Robot, modes: Modes, links: Links, docks: Sequence[Constraint], q: np.ndarray
) -> list[Constraint]:
    """The constraints that are left to be kept: locks keep what is between locked hinges."""
    kept: list[Constraint] = []
    replaced = (*modes.released, *(c.name for c in modes.prescribed))
    for constraint in (*robot.constraints, *modes.prescribed, *docks):
        if isinstance(constraint, Closure):
            if rigid_root(links, constraint.body_a) != rigid_root(links, constraint.body_b):
                kept.append(_reframed_ends(constraint, links))
        elif constraint.kind != PRESCRIBE or constraint in modes.prescribed or constraint.name not in replaced:
            left = _coupling_left(robot, modes, constraint, q)
            kept += [left] if left.factors else []
    return kept


def _reframed_ends(joined: Joined, links: Links) -> Joined:
    """The same closure or rope in the engine's frames."""
    points = (
        sub(at, links[body].point if body != WORLD else ORIGIN)
        for at, body in ((joined.at_a, joined.body_a), (joined.at_b, joined.body_b))
    )
    return replace(joined, **dict(zip(("at_a", "at_b"), points, strict=True)))


def _coupling_left(robot: Robot, modes: Modes, coupling: Coupling, q: np.ndarray) -> Coupling:
    """The coupling of the joints that still move."""
    offset, factors = coupling.offset, []
    for joint, factor in coupling.factors:
        body, at, _ = robot.joint_place(joint)
        if robot.hinges[body].name in modes.locked:
            offset -= factor * float(q[at])
        else:
            factors.append((joint, factor))
    if len(factors) == len(coupling.factors):
        return coupling
    return replace(coupling, kind=COUPLE, factors=tuple(factors), offset=offset)


def _dock_closure(dock: Docked) -> Closure:
    """A dock as a closure."""
    points = (dock.position, ORIGIN) if dock.kind == "weld" else (dock.at_a, dock.at_b)
    return Closure(dock.name, dock.kind, dock.body_a, dock.body_b, *points, dock.axis_a, dock.quaternion)
