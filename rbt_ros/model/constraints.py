"""What holds beside the hinges, as people give it: couplings of joints, prescribed joints, closures of loops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.signals import Signal
from rbt_ros.core.types import CUBIC, POLYNOMIAL, SINES
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import as_quaternion
from rbt_ros.model.checks import WORLD, checked_name, number, unit, vector
from rbt_ros.model.measured import Followed, Measured

Vector = tuple[float, float, float]
CLOSURES = ("point", "pin", "revolute", "weld", "distance")
MIMIC, COUPLE, PRESCRIBE = "mimic", "couple", "prescribe"


@dataclass(frozen=True, eq=False)
class Coupling:
    """Σ factor · position = offset + signal(t), over joints (one-axis freedoms)."""

    name: str
    kind: str  # mimic, couple or prescribe
    factors: tuple[tuple[str, float], ...]  # joint, factor; mimic: the follower with 1, the leader with -ratio
    offset: float = 0.0  # [rad, m]
    signal: Signal | None = None
    origin_ns: int = 0  # where the signal's time starts
    followed: Followed | None = None  # of a joint that follows measurements: the signal is its, and changes with each

    @property
    def among(self) -> str:
        """The joints that it joins."""
        return ", ".join(joint for joint, _ in self.factors)


@dataclass(frozen=True, eq=False)
class Closure:
    """Two bodies held together, or at a distance, at a point of each."""

    name: str
    kind: str  # one of CLOSURES
    body_a: str  # or "world"
    body_b: str
    at_a: Vector  # in the frame of body_a [m]
    at_b: Vector
    axis: Vector  # of a revolute one or a pin: unit, in body_a
    quaternion: tuple[float, float, float, float]  # of a revolute or weld: the frame of body_b in that of body_a
    length: float = 0.0  # [m] of a distance

    @property
    def among(self) -> str:
        """The bodies that it joins."""
        return f"{self.body_a}, {self.body_b}"


Constraint = Coupling | Closure


class ConstraintForce(NamedTuple):
    """What a constraint does; numbers and a (6,) array in a Sample, arrays over time in a Result."""

    effort: Any  # of a coupling: times its factor, on each joint [N·m, N]; of a distance: the pull along it [N]
    wrench: np.ndarray  # of a closure, on body_b at its point: moment [N·m] and force [N], world axes
    residual: Any  # largest condition that does not hold [m, rad]


def idle_force(constraint: Constraint) -> ConstraintForce:
    """What a constraint does that others keep for it: nothing."""
    scalar = isinstance(constraint, Coupling) or constraint.kind == "distance"
    return ConstraintForce(0.0 if scalar else np.nan, np.zeros(6), 0.0)


def holds_the_world(constraints: Sequence[Constraint]) -> bool:
    """Whether some constraint pushes against the world, so that momentum is not kept."""
    return any(isinstance(x, Closure) and WORLD in (x.body_a, x.body_b) for x in constraints)


def drives(constraints: Sequence[Constraint]) -> bool:
    """Whether some constraint moves by itself, so that it does work."""
    return any(isinstance(x, Coupling) and x.signal is not None for x in constraints)


def mimic(follower: str, leader: str, ratio: Any, offset: Any) -> Coupling:
    """follower = ratio · leader + offset."""
    where = f"mimic of joint '{follower}'"
    for joint in (follower, leader):
        if not isinstance(joint, str):
            raise ModelError(f"{where}: {joint!r:.80} is no name of a joint.")
    if follower == leader:
        raise ModelError(f"{where}: it mimics itself; name another joint as leader.")
    factors = ((follower, 1.0), (leader, -number(ratio, f"ratio of {where}")))
    return Coupling(follower, MIMIC, factors, number(offset, f"offset of {where}"))


def couple(name: str, factors: Mapping[str, Any], offset: Any) -> Coupling:
    """Σ factor · position = offset."""
    where = f"coupling '{checked_name('coupling', name)}'"
    if not isinstance(factors, Mapping):
        raise ModelError(f"{where}: {factors!r:.80} is no mapping of joints to factors: {{'left': 1, 'right': 2}}.")
    given = tuple((joint, number(c, f"factor of '{joint}' in {where}")) for joint, c in factors.items())
    if not given or not any(c for _, c in given):
        raise ModelError(f"{where}: it couples nothing; give joints with factors: {{'left': 1, 'right': 2}}.")
    return Coupling(name, COUPLE, given, number(offset, f"offset of {where}"))


def prescribe(joint: str, motion: Any) -> Coupling:
    """position = motion(t): a smooth signal, or a constant."""
    where = f"prescribed joint '{joint}'"
    if isinstance(motion, Measured):
        raise ModelError(
            f"{where}: measurements come while a simulation runs; begin there: sim.prescribe, or inputs of a scenario."
        )
    if callable(motion):
        raise ModelError(
            f"{where}: a Python function has no rates that could be trusted; give rbt.sines, rbt.polynomial or "
            "rbt.table(times, values, between='cubic')."
        )
    if not isinstance(motion, Signal):
        return Coupling(joint, PRESCRIBE, ((joint, 1.0),), number(motion, f"motion of {where}"))
    if motion.law not in (SINES, POLYNOMIAL, CUBIC):
        raise ModelError(
            f"{where}: its motion has jumps in position or rate, which no finite effort makes; give rbt.sines, "
            "rbt.polynomial or rbt.table(..., between='cubic')."
        )
    return Coupling(joint, PRESCRIBE, ((joint, 1.0),), 0.0, motion)


def follow(joint: str, followed: Followed) -> Coupling:
    """position = what is measured of it."""
    factors, origin_ns = ((joint, 1.0),), followed.knots[0].t_ns
    return Coupling(joint, PRESCRIBE, factors, 0.0, followed.signal(), origin_ns, followed)


def closure(
    name: str,
    kind: str,
    body_a: str,
    body_b: str,
    at_a: Sequence[float],
    at_b: Sequence[float],
    axis: Sequence[float],
    rotation: Any,
    length: float | None,
) -> Closure:
    """A checked closure; whether its bodies exist is seen when the robot is built."""
    where = f"closure '{checked_name('closure', name)}'"
    if kind not in CLOSURES:
        raise ModelError(f"{where}: '{kind}' is not a kind of closure; use one of {', '.join(CLOSURES)}.")
    if (kind == "distance") != (length is not None):
        raise ModelError(f"{where}: length= goes with the kind distance, and only with it.")
    value = 0.0 if length is None else number(length, f"length of {where}")
    if kind == "distance" and value <= 0:
        raise ModelError(f"{where}: length {value:g} m must be positive; at no distance use the kind point.")
    places = vector(at_a, f"at_a of {where}"), vector(at_b, f"at_b of {where}")
    turned = unit(axis, f"axis of {where}"), as_quaternion(rotation, where)
    return Closure(name, kind, body_a, body_b, *places, *turned, value)
