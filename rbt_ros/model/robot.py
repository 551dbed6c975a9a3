"""What a robot is, with its names: the frozen answer of `RobotBuilder.build`, the URDF and the scenario readers."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.constraints import Constraints
from rbt_ros.core.hinge_kinds import HINGE_KINDS
from rbt_ros.core.types import NQ, NV, JointKind, Model, Q, V
from rbt_ros.errors import ModelError
from rbt_ros.model.checks import WORLD as WORLD
from rbt_ros.model.constraints import Constraint
from rbt_ros.model.unilateral import Rope, Stop
from rbt_ros.plug.shapes import Shape


@dataclass(frozen=True, eq=False)
class Body:
    """A rigid body. Its frame B is its URDF link frame: origin at the inboard hinge (on a free hinge: as given)."""

    name: str
    mass: float  # [kg]
    inertia: np.ndarray  # I_BBcm (3, 3) [kg·m²], tensor elements (ixy = -∫ x y dm)
    com: tuple[float, float, float]  # p_BBcm_B [m]
    shapes: tuple[Shape, ...] = ()


class SingleAxis(NamedTuple):
    """One freedom of a hinge as a joint of its own, as URDF, TF and JointState know it."""

    joint: str
    kind: JointKind  # REVOLUTE or PRISMATIC
    axis: tuple[float, float, float]  # unit; in the frame that the joint before it moves (of the first: J)
    frame: str  # the frame it moves: a massless one named like the joint, or the child
    freedom: int  # which one of the hinge; a screw is one that two joints show, a slide that goes with the turn
    ratio: float = 1.0  # its position is this much of that freedom's [rad/rad, m/m, m/rad]


@dataclass(frozen=True, eq=False)
class Hinge:
    """How `child` hangs on `parent`."""

    name: str
    kind: JointKind
    parent: str  # a body, or "world"
    child: str
    at: tuple[float, float, float]  # p_PJ_P [m]
    quaternion: tuple[float, float, float, float]  # q_PJ: the child's frame in the parent's, hinge at zero
    axis: tuple[float, float, float]  # unit
    axis2: tuple[float, float, float]  # unit; universal: the second axis, in the child; planar: x
    swapped: bool = False  # universal, seen from its child: the first axis is the joint _2
    pitch: float = 0.0  # [m] of a screw: how far a full turn takes it along its axis

    @property
    def joint_names(self) -> tuple[str, ...]:
        """One name per one-axis freedom, as JointState wants them; none for spherical and free hinges."""
        kind = HINGE_KINDS[self.kind]
        if not kind.jointed:
            return ()
        names = tuple(f"{self.name}_{freedom.name}" if freedom.name else self.name for freedom in kind.freedoms)
        return names[::-1] if self.swapped else names

    @property
    def single_axes(self) -> tuple[SingleAxis, ...]:
        """The hinge as a chain of one-axis joints with massless frames between; none for fixed, spherical and free."""
        (a, b, c), (e, f, g) = self.axis, self.axis2
        axes = (self.axis, self.axis2, (b * g - c * f, c * e - a * g, a * f - b * e))
        found: list[SingleAxis] = []
        for k, (joint, freedom) in enumerate(zip(self.joint_names, HINGE_KINDS[self.kind].freedoms, strict=False)):
            axis = axes[freedom.about]
            if freedom.winds:
                slide = f"{joint}_slide"
                found.append(SingleAxis(slide, JointKind.PRISMATIC, axis, slide, k, freedom.winds * self.pitch))
            found.append(
                SingleAxis(joint, JointKind.REVOLUTE if freedom.turns else JointKind.PRISMATIC, axis, joint, k)
            )
        return (*found[:-1], found[-1]._replace(frame=self.child)) if found else ()


# the kinds that are more than one joint where a joint has one axis
CHAINED = tuple(
    kind for kind, row in HINGE_KINDS.items() if row.jointed and (len(row.freedoms) > 1 or row.freedoms[0].winds)
)


@dataclass(frozen=True, eq=False)
class Robot:
    """Model plus names. bodies[i] hangs on hinges[i], in the order of the model."""

    name: str
    bodies: tuple[Body, ...]
    hinges: tuple[Hinge, ...]
    model: Model
    constraints: tuple[Constraint, ...] = ()
    rows: Constraints | None = None  # of the constraints; None: there are none
    ropes: tuple[Rope, ...] = ()
    stops: tuple[Stop, ...] = ()  # of joints that stop at their limits

    def body_index(self, name: str) -> int:
        """The row of the body named `name` in every per-body array."""
        return self._index("body", name, [b.name for b in self.bodies])

    def hinge_index(self, name: str) -> int:
        """The row of the hinge named `name`: that of the body it carries."""
        return self._index("hinge", name, [h.name for h in self.hinges])

    def _index(self, what: str, name: str, names: list[str]) -> int:
        if not isinstance(name, str) or name not in names:
            raise ModelError(f"robot '{self.name}' has no {what} {name!r:.80}; it has {', '.join(names)}.")
        return names.index(name)

    @cached_property
    def free_bodies(self) -> tuple[int, ...]:
        """The bodies that float: those on free hinges."""
        return tuple(i for i, h in enumerate(self.hinges) if h.kind == JointKind.FREE)

    @cached_property
    def joint_names(self) -> tuple[str, ...]:
        """All one-axis freedoms, in the order of JointState and of the command arrays."""
        return tuple(name for h in self.hinges for name in h.joint_names)

    def joint_place(self, joint: str) -> tuple[int, int, int]:
        """Body, coordinate and freedom of a one-axis joint."""
        if isinstance(joint, str) and joint in self._joint_places:
            return self._joint_places[joint]
        known = ", ".join(self.joint_names) or "none"
        raise ModelError(f"robot '{self.name}' has no joint {joint!r:.80} of one axis; it has {known}.")

    @cached_property
    def _joint_places(self) -> dict[str, tuple[int, int, int]]:
        tree = self.model.tree
        return {
            joint: (i, int(tree[i, Q]) + k, int(tree[i, V]) + k)
            for i, hinge in enumerate(self.hinges)
            for k, joint in enumerate(hinge.joint_names)
        }

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return sum(b.mass for b in self.bodies)

    @cached_property
    def freedoms(self) -> int:
        """nv: number of velocities."""
        return int(sum(NV[h.kind] for h in self.hinges))

    @cached_property
    def coordinates(self) -> int:
        """nq: number of coordinates."""
        return int(sum(NQ[h.kind] for h in self.hinges))

    @cached_property
    def origin_shift(self) -> np.ndarray:
        """(n, 3): from the engine's origin of each body to that of its frame; -com on a free hinge, else zero."""
        zero = (0.0, 0.0, 0.0)
        floats = [h.kind == JointKind.FREE for h in self.hinges]
        return np.array([np.negative(b.com) if f else zero for b, f in zip(self.bodies, floats, strict=True)])


def as_robot(given: Any, what: str) -> Robot:
    """`given`, if it is a Robot."""
    if not isinstance(given, Robot):
        raise ModelError(f"{what} takes a Robot (RobotBuilder.build, load_urdf, load(...).robot), not {given!r:.80}.")
    return given
