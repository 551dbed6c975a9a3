"""What of a start was given, what follows, what is left open, what is said twice: by name."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core.types import JointKind
from rbt_ros.model.robot import Robot

RANK = 1e-9  # singular values below this, of rows of length one, are zero
SMALL = 1e-6  # a part of a unit vector that is not there


class Determined(NamedTuple):
    """How far the positions, or rates, that were given determine all others. Names of joints, or parts of a hinge."""

    given: tuple[str, ...]  # what was set
    found: tuple[str, ...]  # what follows from that and the constraints
    undetermined: tuple[str, ...]  # what does not: it was left as near as can be to where it was
    tied: tuple[str, ...]  # what was set and follows, more or less, from the rest of what was set
    surplus: int  # how many numbers were set too many: they had to agree

    def __str__(self) -> str:
        parts = [f"given: {', '.join(self.given) or 'nothing'}", f"found: {', '.join(self.found) or 'nothing'}"]
        if self.undetermined:
            parts.append(f"undetermined: {', '.join(self.undetermined)}")
        if self.surplus:
            parts.append(f"{self.surplus} of {', '.join(self.tied)} follow from the others")
        return "; ".join(parts)


class StartReport(NamedTuple):
    """What a consistent start was made of."""

    positions: Determined
    rates: Determined


def freedom_names(robot: Robot) -> list[str]:
    """The name of each freedom: its joint, its spherical hinge, or attitude and position of its floating body."""
    names: list[str] = []
    for hinge in robot.hinges:
        if hinge.kind == JointKind.FREE:
            names += [f"attitude of {hinge.child}"] * 3 + [f"position of {hinge.child}"] * 3
        else:
            names += [hinge.name] * 3 if hinge.kind == JointKind.SPHERICAL else hinge.joint_names
    return names


def determined(robot: Robot, G: np.ndarray, given: Sequence[int]) -> Determined:
    """From the rows G of all constraints at the start, and the freedoms that were set.

    A freedom is determined if no motion that the constraints allow, with what was given held, moves it. What was given
    is tied where a combination of constraints touches nothing but what was given.
    """
    names, held = freedom_names(robot), sorted(given)
    rest = [j for j in range(len(names)) if j not in held]
    size = np.linalg.norm(G, axis=1, keepdims=True)
    rows = np.divide(G, size, out=np.zeros_like(G), where=size > 0)
    U, values, Vt = np.linalg.svd(rows[:, rest])
    rank = int((values > RANK).sum())
    open_ones = [rest[k] for k in np.nonzero(np.linalg.norm(Vt[rank:], axis=0) > SMALL)[0]]
    ties = U[:, rank:].T @ rows[:, held]
    tied = [held[k] for k in np.nonzero(np.linalg.norm(ties, axis=0) > SMALL)[0]]
    surplus = int(np.linalg.matrix_rank(ties, tol=SMALL)) if ties.size else 0
    found = [j for j in rest if j not in open_ones]
    groups = [tuple(dict.fromkeys(names[j] for j in places)) for places in (held, found, open_ones, tied)]
    return Determined(groups[0], groups[1], groups[2], groups[3], surplus)
