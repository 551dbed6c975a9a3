"""The kinds of hinges: one row each, from which every table of sizes, twists, joint names and units is made.

A freedom is a twist: how much it turns about its axis and slides along it while its coordinate grows by one. To the
recursions a hinge is no more than that. What fits in a row: freedoms one after the other, each a turn, a slide or a
screw about one of the hinge's axes; slides come first or run along the axis of the turn; at most two axes turn.
A turn leaves its own axis alone, so that each axis is fixed in the child, or in the parent where a later freedom turns
about another one.
"""

from enum import IntEnum
from typing import NamedTuple

import numpy as np

FIRST, SECOND, NORMAL = 0, 1, 2  # what a freedom is about: the axis of its hinge, the second one, or axis × axis2


class JointKind(IntEnum):
    """How a body may move against its parent. The table of coordinates is in `joints.py`."""

    FIXED = 0
    REVOLUTE = 1
    PRISMATIC = 2
    CYLINDRICAL = 3
    UNIVERSAL = 4
    SPHERICAL = 5
    PLANAR = 6
    FREE = 7
    SCREW = 8


class Freedom(NamedTuple):
    """One velocity of a hinge."""

    turns: float = 0.0  # [rad/rad] about its axis
    slides: float = 0.0  # [m/m] along it
    winds: float = 0.0  # [turn/rad]: it slides by this much of the hinge's pitch
    name: str = ""  # behind that of the hinge, where this has several
    about: int = FIRST


class HingeKind(NamedTuple):
    """A row of the table."""

    freedoms: tuple[Freedom, ...] = ()  # one after the other, each moves those after it
    ball: bool = False  # the first three are turns about the child's x, y, z, their coordinate one quaternion
    reversible: bool = True  # its coordinates stay what they are when parent and child change places
    swaps: bool = False  # but then the second one comes first, and so do their axes

    @property
    def jointed(self) -> bool:
        """Whether each freedom is a joint with an axis, as URDF and JointState know them."""
        return bool(self.freedoms) and not self.ball


TURN, SLIDE = Freedom(turns=1.0), Freedom(slides=1.0)
HINGE_KINDS = {
    JointKind.FIXED: HingeKind(),
    JointKind.REVOLUTE: HingeKind((TURN,)),
    JointKind.PRISMATIC: HingeKind((SLIDE,)),
    JointKind.SCREW: HingeKind((Freedom(turns=1.0, winds=0.5 / np.pi),)),
    JointKind.CYLINDRICAL: HingeKind((TURN._replace(name="turn"), SLIDE._replace(name="slide"))),
    JointKind.UNIVERSAL: HingeKind((TURN._replace(name="1"), TURN._replace(name="2", about=SECOND)), swaps=True),
    JointKind.PLANAR: HingeKind(
        (
            SLIDE._replace(name="x", about=SECOND),
            SLIDE._replace(name="y", about=NORMAL),
            TURN._replace(name="turn"),
        ),
        reversible=False,
    ),
    JointKind.SPHERICAL: HingeKind((TURN,) * 3, ball=True, reversible=False),
    # of the centre of mass, linear part in world axes; on the world only
    JointKind.FREE: HingeKind((TURN,) * 3 + (SLIDE,) * 3, ball=True, reversible=False),
}
NV = np.array([len(HINGE_KINDS[kind].freedoms) for kind in JointKind])  # velocities per JointKind
NQ = np.array([NV[kind] + HINGE_KINDS[kind].ball for kind in JointKind])  # coordinates per JointKind
MOST = 3  # freedoms of a hinge whose freedoms have axes


def _by_freedom(value) -> np.ndarray:
    """(kinds, MOST) value(freedoms, k) of freedom k of each kind that has axes."""
    table = np.zeros((len(JointKind), MOST), np.int64)
    for kind, row in HINGE_KINDS.items():
        for k in range(len(row.freedoms) if row.jointed else 0):
            table[kind, k] = value(row.freedoms, k)
    return table


ABOUT = _by_freedom(lambda freedoms, k: freedoms[k].about)
# whether its axis is fixed in the child, else in the parent
IN_CHILD = _by_freedom(lambda freedoms, k: all(not f.turns or f.about == freedoms[k].about for f in freedoms[k + 1 :]))
