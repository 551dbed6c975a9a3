"""Constraints by name -> the rows of core.constraints, checked against the robot's bodies and joints."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rbt_ros.core import constraints as c
from rbt_ros.core.signals import FOR_EVER, Signal, signal_arrays
from rbt_ros.core.types import DATA, KIND, ORIGIN, PARENT, JointKind
from rbt_ros.core.vec import rotation
from rbt_ros.errors import ModelError
from rbt_ros.model.constraints import MIMIC, PRESCRIBE, Closure, Constraint, Coupling
from rbt_ros.model.robot import WORLD, Robot

AXES = np.eye(3)


def constrained(robot: Robot, added: Sequence[Constraint]) -> Robot:
    """`robot` with these constraints beside those that it has."""
    constraints = (*robot.constraints, *added)
    names = [x.name for x in constraints]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(
                f"constraint '{name}' exists twice in robot '{robot.name}'; names must differ (a mimic or prescribed "
                "motion has that of its joint, which can follow one thing only)."
            )
    return replace(robot, constraints=constraints, rows=constraint_arrays(robot, constraints)) if added else robot


def constraint_arrays(robot: Robot, constraints: tuple[Constraint, ...]) -> c.Constraints:
    """The rows of all constraints, in their order."""
    _refuse_circles([x for x in constraints if isinstance(x, Coupling) and x.kind == MIMIC])
    rows: list[np.ndarray] = []
    terms: list[tuple[float, ...]] = []
    signals: list[tuple[Any, ...]] = []
    for constraint in constraints:
        if isinstance(constraint, Closure):
            rows += closure_rows(robot, constraint, f"closure '{constraint.name}'")
            continue
        row = np.zeros(c.ROW_COLUMNS)
        row[[c.LAW, c.TARGET, c.FIRST]] = c.COUPLING, constraint.offset, len(terms)
        for joint, factor in constraint.factors:
            body, q, v = _joint(robot, constraint, joint)
            terms.append((q, v, factor))
            if row[c.COUNT] == 0:
                row[[c.BODY_A, c.BODY_B, c.COMMON]] = body
            row[c.COUNT] += 1
        if constraint.signal is not None:
            signals.append((constraint.signal, -1, 0, FOR_EVER, constraint.origin_ns))
            row[c.SIGNAL] = len(signals)
        rows.append(row)
    first = np.array(rows), np.array(terms, dtype=float).reshape(-1, c.TERM_COLUMNS)
    return c.Constraints(*(frozen(array) for array in first), *(seen(array) for array in signal_arrays(signals)))


def write_motion(rows: c.Constraints, row: int, motion: Signal, origin_ns: int) -> None:
    """Let another motion, of as many numbers, be that of a prescribed row: for all who have these arrays."""
    laws, numbers = rows.signal.base, rows.data.base
    law = laws[int(rows.row[row, c.SIGNAL]) - 1]
    law[ORIGIN] = origin_ns
    numbers[law[DATA] : law[DATA] + len(motion.data)] = motion.data


def frozen(array: np.ndarray) -> np.ndarray:
    """The array, read-only from now on."""
    array.flags.writeable = False
    return array


def seen(array: np.ndarray) -> np.ndarray:
    """The array, to be read; who is to write it has its base."""
    return frozen(array.view())


def row_slices(constraints: tuple[Constraint, ...]) -> list[slice]:
    """The rows of each constraint."""
    counts = {"point": 3, "pin": 2, "revolute": 5, "weld": 6}
    ends = np.cumsum([counts.get(x.kind, 1) for x in constraints]).tolist()
    return [slice(a, b) for a, b in zip([0, *ends], ends, strict=False)]


def _joint(robot: Robot, constraint: Coupling, joint: str) -> tuple[int, int, int]:
    """Body, coordinate and freedom of a joint."""
    try:
        return robot.joint_place(joint)
    except ModelError as err:
        what = {MIMIC: "mimic of joint", PRESCRIBE: "prescribed joint"}.get(constraint.kind, "coupling")
        raise ModelError(f"{what} '{constraint.name}': {err}", ("constraints", constraint.name)) from err


def _refuse_circles(mimics: list[Coupling]) -> None:
    leader = {x.factors[0][0]: x.factors[1][0] for x in mimics}
    for follower in leader:
        chain = [follower]
        while chain[-1] in leader and leader[chain[-1]] != follower and len(chain) <= len(leader):
            chain.append(leader[chain[-1]])
        if leader.get(chain[-1]) == follower:
            circle = ", ".join(f"'{a}' mimics '{leader[a]}'" for a in chain)
            raise ModelError(
                f"the mimics go in a circle: {circle}. One of them must lead; drop a mimic.", ("constraints", follower)
            )


def closure_rows(robot: Robot, closure: Closure, where: str) -> list[np.ndarray]:
    """The rows of one closure; `where` stands in errors."""
    a, b = (_body(robot, where, name) for name in (closure.body_a, closure.body_b))
    if _rigid_root(robot, a) == _rigid_root(robot, b):
        raise ModelError(
            f"{where}: '{closure.body_a}' and '{closure.body_b}' are one rigid piece, joined by fixed hinges; nothing "
            "is there to close."
        )
    base = np.zeros(c.ROW_COLUMNS)
    base[[c.BODY_A, c.BODY_B, c.COMMON]] = a, b, _common(robot, a, b)
    base[c.POINT_A : c.POINT_A + 3] = np.array(closure.at_a) + _shift(robot, a)
    base[c.POINT_B : c.POINT_B + 3] = np.array(closure.at_b) + _shift(robot, b)
    if closure.kind == "distance":
        base[[c.LAW, c.TARGET]] = c.DISTANCE, closure.length
        return [base]
    if closure.kind == "ends":
        base[c.COMMON] = -1  # who turns with both sees them stand still: the world does not
        return [_row(base, c.ENDS, axis, np.zeros(3)) for axis in AXES]
    R_AB = np.array(rotation(closure.quaternion))
    x, y = _across(np.array(closure.axis))
    if closure.kind == "pin":
        return [_row(base, c.POINT, axis, np.zeros(3)) for axis in (x, y)]
    dots = {"point": [], "revolute": [(x, closure.axis), (y, closure.axis)]}.get(
        closure.kind, [(AXES[k], AXES[(k + 1) % 3]) for k in range(3)]
    )
    return [_row(base, c.POINT, axis, np.zeros(3)) for axis in AXES] + [
        _row(base, c.DOT, first, R_AB.T @ second) for first, second in dots
    ]


def _row(base: np.ndarray, law: int, axis_a, axis_b) -> np.ndarray:
    row = base.copy()
    row[c.LAW] = law
    row[c.AXIS_A : c.AXIS_A + 3], row[c.AXIS_B : c.AXIS_B + 3] = axis_a, axis_b
    return row


def _across(axis: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two unit vectors normal to `axis` and to each other."""
    x = np.cross(axis, AXES[np.argmin(np.abs(axis))])
    x /= np.linalg.norm(x)
    return x, np.cross(axis, x)


def _body(robot: Robot, where: str, name: str) -> int:
    if name == WORLD:
        return -1
    try:
        return robot.body_index(name)
    except ModelError as err:
        raise ModelError(f"{where}: {err}") from err


def _shift(robot: Robot, i: int) -> np.ndarray:
    """From the engine's origin of a body to that of its frame."""
    return robot.origin_shift[i] if i >= 0 else np.zeros(3)


def _rigid_root(robot: Robot, i: int) -> int:
    while i >= 0 and robot.model.tree[i, KIND] == JointKind.FIXED:
        i = int(robot.model.tree[i, PARENT])
    return i


def _common(robot: Robot, a: int, b: int) -> int:
    """The last body that a and b hang on both, or are; -1: the world. parent[i] < i: the larger goes down first."""
    while a != b:
        if a > b:
            a = int(robot.model.tree[a, PARENT])
        else:
            b = int(robot.model.tree[b, PARENT])
    return a
