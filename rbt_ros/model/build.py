"""RobotBuilder: bodies and hinges by name -> a checked, frozen Robot. Everything that can be wrong is found here."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.solvable import undetermined
from rbt_ros.core.types import NV, JointKind, Model
from rbt_ros.errors import ModelError
from rbt_ros.kinds import in_words
from rbt_ros.model.arrays import free_rows, frozen, tree_and_bodies
from rbt_ros.model.attitude import IDENTITY, as_quaternion
from rbt_ros.model.checks import checked_name, number, numbers, unit, vector
from rbt_ros.model.constraint_arrays import constrained
from rbt_ros.model.constraints import Constraint, closure, couple, mimic, prescribe
from rbt_ros.model.robot import WORLD, Body, Hinge, Robot
from rbt_ros.model.shapes import checked_shapes
from rbt_ros.model.unilateral import RADIAL, Rope, Stop, rope, stops_of
from rbt_ros.model.unilateral_arrays import with_ropes

DEFAULT_CREEP = 1e-3  # [rad/s, m/s]


class RobotBuilder:
    """Collects bodies and hinges in any order; `build` puts them into a tree and checks it.

    A body that no hinge carries floats freely, on a free hinge of its own name.
    """

    def __init__(self, name: str):
        self.name = checked_name("robot", name)
        self._bodies: dict[str, Body] = {}
        self._hinges: dict[str, Hinge] = {}
        self._springs: dict[str, dict[str, float]] = {}
        self._limits: dict[str, np.ndarray] = {}
        self._constraints: list[Constraint] = []
        self._ropes: list[Rope] = []
        self._stops: dict[str, tuple[Stop, ...]] = {}

    def body(
        self,
        name: str,
        *,
        mass: float,
        inertia: Any,
        com: Sequence[float] = (0.0, 0.0, 0.0),
        shapes: Sequence[Any] = (),
    ) -> "RobotBuilder":
        """Add a body. mass [kg]; inertia about the CoM [kg·m²]: 3 principal moments or 3x3; com in its frame [m].

        Massless links, point masses and thin rods are fine where the motion stays determined: `build` finds out.

        shapes: what it looks like, each `dict(kind="box", size=(x, y, z), at=..., rotation=..., rgba=...)`.
        """
        checked_name("body", name)
        if name in self._bodies or name == WORLD:
            raise ModelError(
                f"body '{name}' exists twice in robot '{self.name}'; names must differ ('world' is taken)."
            )
        m = number(mass, f"mass of body '{name}'")
        if m < 0:
            raise ModelError(f"body '{name}': mass {m:g} kg is negative.")
        looks = checked_shapes(name, shapes)
        self._bodies[name] = Body(
            name, m, checked_inertia(f"body '{name}'", inertia), vector(com, f"com of body '{name}'"), looks
        )
        return self

    def hinge(
        self,
        name: str,
        kind: str,
        *,
        parent: str,
        child: str,
        at: Sequence[float] = (0.0, 0.0, 0.0),
        axis: Sequence[float] = (0.0, 0.0, 1.0),
        axis2: Sequence[float] | None = None,
        pitch: float = 0.0,
        rotation: Any = IDENTITY,
        stiffness: float = 0.0,
        rest: float = 0.0,
        damping: float = 0.0,
        friction: float = 0.0,
        creep: float = DEFAULT_CREEP,
        internal_friction: float = 0.0,
        limits: Sequence[Any] | None = None,
        stop_restitution: float | None = None,
    ) -> "RobotBuilder":
        """Hang `child` on `parent` ("world" or a body). at: hinge point in the parent's frame [m].

        axis in the hinge's frame; rotation: the child's frame in the parent's at zero (quaternion, 3x3, or
        ("ZYX", a, b, c)). stiffness [N·m/rad], rest [rad], damping [N·m·s/rad], Coulomb friction [N·m] (N, m for
        slides), per freedom; creep [rad/s]: the rate over which friction turns round. axis2: of a universal hinge the
        second axis, in the child; of a planar one its x direction. pitch [m]: how far a full turn takes a screw along
        its axis, negative for a left-hand thread. limits: (lower, upper) [rad, m], or one such pair
        per freedom; kept for URDF, and nothing stops there unless stop_restitution says how much of its rate it
        keeps when it bounces off, 0 to 1.

        A free hinge has damping of its turning only (external friction: the moment -damping ω). If it carries a lone
        body, internal_friction [W] is what friction inside takes from its energy while its angular momentum stays.
        """
        checked_name("hinge", name)
        if name in self._hinges:
            raise ModelError(f"hinge '{name}' exists twice in robot '{self.name}'; names must differ.")
        where = f"hinge '{name}'"
        for role, carried in (("parent", parent), ("child", child)):
            checked_name(f"{where}: {role}", carried)
        kinds = {k.name.lower(): k for k in JointKind}
        if not isinstance(kind, str) or kind not in kinds:
            raise ModelError(f"{where}: '{kind}' is not a kind of hinge; use one of {', '.join(kinds)}.")
        if kinds[kind] == JointKind.FREE and parent != WORLD:
            raise ModelError(f"{where}: a free hinge hangs on the world, not on '{parent}'.")
        for other in self._hinges.values():
            if other.child == child:
                raise ModelError(
                    f"{where}: body '{child}' hangs on hinge '{other.name}' already; a body has one hinge."
                )
        made = Hinge(
            name,
            kinds[kind],
            parent,
            child,
            vector(at, f"at of {where}"),
            as_quaternion(rotation, where),
            unit(axis, f"axis of {where}"),
            second_axis(kinds[kind], axis, axis2, where),
            pitch=checked_pitch(kinds[kind], pitch, where),
        )
        if made.kind == JointKind.FREE and (any(made.at) or made.quaternion != IDENTITY):
            raise ModelError(f"{where}: a free hinge has no at or rotation; place body '{child}' at the start instead.")
        self._hinges[name] = made
        values = dict(stiffness=stiffness, rest=rest, damping=damping, friction=friction, creep=creep)
        values["internal_friction"] = internal_friction
        self._springs[name] = {key: number(value, f"{key} of {where}") for key, value in values.items()}
        for key in ("stiffness", "damping", "friction", "internal_friction"):
            if self._springs[name][key] < 0:
                raise ModelError(f"{where}: {key} {self._springs[name][key]:g} is negative and would feed energy in.")
        if friction and self._springs[name]["creep"] <= 0:
            raise ModelError(f"{where}: creep {creep:g} rad/s must be positive where there is friction.")
        if kinds[kind] == JointKind.SPHERICAL and rest:
            raise ModelError(
                f"{where}: the spring of a spherical hinge is at rest at no turn; rest {rest:g} has no axis."
            )
        if kinds[kind] == JointKind.FREE and (stiffness or friction):
            raise ModelError(f"{where}: a free hinge has no spring and no dry friction; damping slows its turning.")
        if kinds[kind] != JointKind.FREE and internal_friction:
            raise ModelError(
                f"{where}: internal_friction {internal_friction:g} W is of a body on a free hinge; use damping here."
            )
        self._limits[name] = checked_limits(kinds[kind], limits, where)
        self._stops[name] = stops_of(made.joint_names, self._limits[name], stop_restitution, where)
        return self

    def mimic(self, follower: str, leader: str, *, ratio: float = 1.0, offset: float = 0.0) -> "RobotBuilder":
        """Let joint `follower` be ratio · leader + offset [rad, m], as gears or links do. Joints: one-axis freedoms."""
        return self._constrain(mimic(follower, leader, ratio, offset))

    def couple(self, name: str, factors: Mapping[str, float], *, offset: float = 0.0) -> "RobotBuilder":
        """Let Σ factor · position of joints stay equal to offset; {"left": 1, "right": 1, "ring": -2}: differential."""
        return self._constrain(couple(name, factors, offset))

    def prescribe(self, joint: str, motion: Any) -> "RobotBuilder":
        """Let a joint follow `motion`: a number, or a smooth signal of the time (sines, polynomial, cubic table)."""
        return self._constrain(prescribe(joint, motion))

    @in_words(ModelError)
    def closure(
        self,
        name: str,
        kind: str,
        body_a: str,
        body_b: str,
        *,
        at_a: Sequence[float] = (0.0, 0.0, 0.0),
        at_b: Sequence[float] = (0.0, 0.0, 0.0),
        axis: Sequence[float] = (0.0, 0.0, 1.0),
        rotation: Any = IDENTITY,
        length: float | None = None,
    ) -> "RobotBuilder":
        """Close a loop between a point of body_a (or "world") and one of body_b, each in its body's frame [m].

        kind: "point" (a ball), "revolute" about `axis` (in body_a), "weld", or "distance" (a rod of that length).
        rotation: the frame of body_b in that of body_a when a revolute closure is at zero, or for ever in a weld.
        """
        return self._constrain(closure(name, kind, body_a, body_b, at_a, at_b, axis, rotation, length))

    @in_words(ModelError)
    def rope(
        self,
        name: str,
        body_a: str,
        body_b: str,
        *,
        at_a: Sequence[float] = (0.0, 0.0, 0.0),
        at_b: Sequence[float] = (0.0, 0.0, 0.0),
        length: float,
        restitution: float = 0.0,
        impact: str = RADIAL,
    ) -> "RobotBuilder":
        """Tie a point of body_a (or "world") to one of body_b, each in its body's frame [m], by a massless rope.

        restitution: how much of the velocity along it comes back when it goes taut, 0 to 1. impact: "radial", only the
        velocity along it is lost; "stop", its ends lose all velocity against each other at that instant, as the world
        sees it, which changes the angular momentum of bodies that float.
        """
        self._ropes.append(rope(name, body_a, body_b, at_a, at_b, length, restitution, impact))
        return self

    def _constrain(self, constraint: Constraint) -> "RobotBuilder":
        self._constraints.append(constraint)
        return self

    def build(self) -> Robot:
        """The checked, frozen Robot. Bodies come parents first, else in the order in which they were added."""
        if not self._bodies:
            raise ModelError(f"robot '{self.name}' has no body; add one with body(name, mass=..., inertia=...).")
        bodies, hinges = self._ordered()
        check_names(bodies, hinges)
        self._check_lone(bodies)
        arrays = *tree_and_bodies(bodies, hinges), self._freedoms(hinges), np.zeros(t.WORLD_COLUMNS)
        model = Model(*(frozen(a) for a in arrays))
        robot = Robot(self.name, tuple(bodies), tuple(hinges), model)
        if not all(body.mass > 0 and np.linalg.eigvalsh(body.inertia)[0] > 0 for body in bodies):
            _refuse_undetermined(robot)  # with full inertias everywhere no motion is free of them
        stops = tuple(stop for hinge in hinges for stop in self._stops.get(hinge.name, ()))
        return with_ropes(replace(constrained(robot, self._constraints), stops=stops), self._ropes)

    def _ordered(self) -> tuple[list[Body], list[Hinge]]:
        """Bodies and their hinges, parents first; what no hinge carries gets a free hinge."""
        carried = {h.child: h for h in self._hinges.values()}
        for hinge in self._hinges.values():
            for role, name in (("parent", hinge.parent), ("child", hinge.child)):
                if name not in self._bodies and not (role == "parent" and name == WORLD):
                    known = ", ".join([*self._bodies, WORLD] if role == "parent" else self._bodies)
                    raise ModelError(
                        f"hinge '{hinge.name}': its {role} '{name}' is not a body; there are {known}.",
                        ("hinges", hinge.name),
                    )
        origin = (0.0, 0.0, 0.0)
        for name in self._bodies:
            if name not in carried:
                z, y = (0.0, 0.0, 1.0), (0.0, 1.0, 0.0)
                carried[name] = Hinge(name, JointKind.FREE, WORLD, name, origin, IDENTITY, z, y)
        placed: dict[str, Body] = {}
        waiting = list(self._bodies.values())
        while waiting:
            ready = [b for b in waiting if carried[b.name].parent in placed or carried[b.name].parent == WORLD]
            if not ready:
                way = [carried[waiting[0].name]]  # inward: it never ends at the world
                while way[-1].parent not in [h.child for h in way]:
                    way.append(carried[way[-1].parent])
                cycle = way[[h.child for h in way].index(way[-1].parent) :]
                names = ", ".join(f"'{h.child}' on '{h.parent}'" for h in cycle)
                raise ModelError(
                    f"robot '{self.name}': the hinges close a cycle ({names}); a tree hangs on the world or floats. "
                    "Close loops with a constraint instead.",
                    ("hinges", cycle[0].name),
                )
            placed[ready[0].name] = ready[0]
            waiting.remove(ready[0])
        return list(placed.values()), [carried[name] for name in placed]

    def _check_lone(self, bodies: list[Body]) -> None:
        """Friction inside a body is of a lone one."""
        for name, given in self._springs.items():
            if given["internal_friction"] > 0 and len(bodies) > 1:
                raise ModelError(
                    f"hinge '{name}': internal_friction is of a lone body; robot '{self.name}' has {len(bodies)}. "
                    "Let the hinges between them have damping instead.",
                    ("hinges", name),
                )

    def _freedoms(self, hinges: list[Hinge]) -> np.ndarray:
        """Model.freedom: springs, dampers, friction and limits of all freedoms."""
        freedom = free_rows(hinges)
        v = 0
        for h in hinges:
            spring = self._springs.get(h.name, {})
            if h.kind == JointKind.FREE:
                freedom[v : v + 3, t.DAMPING] = spring.get("damping", 0.0)
                freedom[v, t.SINK] = spring.get("internal_friction", 0.0)
            else:
                for column, key in (
                    (t.STIFFNESS, "stiffness"),
                    (t.REST, "rest"),
                    (t.DAMPING, "damping"),
                    (t.COULOMB, "friction"),
                    (t.CREEP, "creep"),
                ):
                    freedom[v : v + NV[h.kind], column] = spring.get(key, 0.0)
            if h.name in self._limits:
                freedom[v : v + NV[h.kind], [t.LOWER, t.UPPER]] = self._limits[h.name]
            v += NV[h.kind]
        return freedom


def second_axis(kind: JointKind, axis: Any, axis2: Any, where: str) -> tuple[float, float, float]:
    """axis2 of a hinge, or its default; checked against the first axis where it matters."""
    first = np.array(unit(axis, f"axis of {where}"))
    if axis2 is None:
        candidate = np.array((1.0, 0.0, 0.0) if kind == JointKind.PLANAR else (0.0, 1.0, 0.0))
        if abs(candidate @ first) > 0.9:
            candidate = np.array((0.0, 0.0, 1.0))
        second = candidate - (candidate @ first) * first
        return unit(second, f"axis2 of {where}")
    second = np.array(unit(axis2, f"axis2 of {where}"))
    if kind == JointKind.UNIVERSAL and np.linalg.norm(np.cross(first, second)) < 1e-9:
        raise ModelError(
            f"{where}: axis2 {list(axis2)} is parallel to the axis; a universal hinge needs two directions."
        )
    if kind == JointKind.PLANAR and abs(first @ second) > 1e-9:
        raise ModelError(f"{where}: axis2 {list(axis2)}, the x direction, must be normal to the axis {list(axis)}.")
    return unit(second, f"axis2 of {where}")


def checked_pitch(kind: JointKind, pitch: Any, where: str) -> float:
    """The pitch [m] of a screw; others have none."""
    value = number(pitch, f"pitch of {where}")
    winds = any(freedom.winds for freedom in HINGE_KINDS[kind].freedoms)
    if winds and value == 0.0:
        raise ModelError(
            f"{where}: a {kind.name.lower()} needs its pitch, in m for each full turn; without, it is revolute."
        )
    if value and not winds:
        raise ModelError(f"{where}: pitch {value:g} m is of a screw; a {kind.name.lower()} hinge has none.")
    return value


def _refuse_undetermined(robot: Robot) -> None:
    """ModelError where some motion moves no mass, so that forces do not determine it."""
    found = undetermined(robot.model)
    if found is None:
        return
    hinge, body = robot.hinges[found.body], robot.bodies[found.body]
    start = robot.model.tree[found.body, t.V]
    share = found.velocity[start : start + NV[hinge.kind]]
    if hinge.joint_names:
        motion = f"freedom '{hinge.joint_names[int(np.argmax(np.abs(share)))]}'"
    else:
        turns = np.linalg.norm(share[:3]) >= np.linalg.norm(share[3:])
        direction = share[:3] if turns else share[3:]
        direction = direction / np.linalg.norm(direction)
        axis = ", ".join(f"{c:.3g}" for c in np.where(np.abs(direction) < 1e-9, 0.0, direction))
        motion = f"a turn about ({axis}) in its axes" if turns else f"a shift along ({axis})"
    raise ModelError(
        f"body '{body.name}' on hinge '{hinge.name}': {motion} moves no mass (mass {body.mass:g} kg, inertia "
        f"{body.inertia.tolist()} kg·m²), so no force determines it. Give it inertia there, or fix the hinge.",
        ("bodies", body.name),
    )


def check_names(bodies: list[Body], hinges: list[Hinge]) -> None:
    """Joints and frames, those of a hinge's single axes included, must differ: URDF, TF and JointState know them."""
    frames = {body.name: f"body '{body.name}'" for body in bodies}
    joints: dict[str, str] = {}
    for hinge in hinges:
        where = f"hinge '{hinge.name}'"
        for joint in hinge.joint_names or (hinge.name,):
            if joint in joints:
                raise ModelError(
                    f"{where}: its joint '{joint}' has the name of one of {joints[joint]}; rename a hinge.",
                    ("hinges", hinge.name),
                )
            joints[joint] = where
        for single in hinge.single_axes[:-1]:
            if single.frame in frames:
                raise ModelError(
                    f"{where}: its frame '{single.frame}' has the name of {frames[single.frame]}; rename.",
                    ("hinges", hinge.name),
                )
            frames[single.frame] = where


def checked_limits(kind: JointKind, limits: Any, where: str) -> np.ndarray:
    """(nv, 2): lower and upper bound of each freedom; infinite where there is none."""
    if limits is None:
        return np.tile([-np.inf, np.inf], (NV[kind], 1))
    if kind in (JointKind.FIXED, JointKind.SPHERICAL, JointKind.FREE):
        raise ModelError(f"{where}: a {kind.name.lower()} hinge has no single axis that could have limits.")
    pairs = numbers(limits, f"limits of {where}")
    pairs = pairs[None, :] if pairs.shape == (2,) and NV[kind] == 1 else pairs
    if pairs.shape != (NV[kind], 2):
        count = "(lower, upper)" if NV[kind] == 1 else f"{NV[kind]} pairs (lower, upper), one per freedom"
        raise ModelError(f"{where}: limits {limits} must be {count}.")
    for lower, upper in pairs.tolist():
        if not lower < upper:
            raise ModelError(f"{where}: limits {lower:g} to {upper:g}: the lower must be below the upper.")
    return pairs


def checked_inertia(owner: str, inertia: Any) -> np.ndarray:
    """The 3x3 tensor of `owner` ("body 'hub'"): symmetric, no negative principal moment, triangle inequality."""
    where = f"{owner}: inertia"
    value = numbers(inertia, where)
    if value.shape == (3,):
        value = np.diag(value)
    if value.shape != (3, 3) or not np.isfinite(value).all():
        raise ModelError(
            f"{where} {np.asarray(inertia).tolist()} is not 3 principal moments or a finite 3x3 tensor in kg·m²."
        )
    if np.abs(value - value.T).max() > 1e-12 * np.abs(value).max():
        raise ModelError(f"{where} {value.tolist()} kg·m² is not symmetric.")
    a, b, c = np.linalg.eigvalsh(value)
    if a < -1e-12 * abs(c):
        raise ModelError(f"{where} with principal moments {a:.4g}, {b:.4g}, {c:.4g} kg·m² is not positive definite.")
    if a / 2 + b / 2 < c / 2 * (1 - 1e-12):
        raise ModelError(
            f"{where}: principal moments {a:.4g}, {b:.4g}, {c:.4g} kg·m² break Ix + Iy >= Iz. "
            "Is the tensor about the centre of mass, and in kg·m² (not g·mm²)?"
        )
    return frozen(0.5 * value + 0.5 * value.T)
