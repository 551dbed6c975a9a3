"""What holds in one direction only, as people give it: ropes between bodies, stops of hinges."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import IDENTITY
from rbt_ros.model.checks import WORLD, checked_name, number, vector
from rbt_ros.model.constraints import Closure, Vector

RADIAL, STOP = "radial", "stop"
IMPACTS = (RADIAL, STOP)
LOWER, UPPER = "lower", "upper"


@dataclass(frozen=True, eq=False)
class Rope:
    """Massless, not elastic: keeps a point of one body within `length` of one of another."""

    name: str
    body_a: str  # or "world"
    body_b: str
    at_a: Vector  # in the frame of body_a [m]
    at_b: Vector
    length: float  # [m]
    restitution: float = 0.0
    impact: str = RADIAL  # what is lost when it goes taut: the velocity along it, or (STOP) all of it

    def as_closure(self, kind: str) -> Closure:
        """A closure of that kind between its ends."""
        ends = self.body_a, self.body_b, self.at_a, self.at_b
        return Closure(self.name, kind, *ends, (0.0, 0.0, 1.0), IDENTITY, self.length)


@dataclass(frozen=True, eq=False)
class Stop:
    """Where a joint (a one-axis freedom) stops."""

    joint: str
    lower: float  # [rad, m]; -inf: none
    upper: float
    restitution: float

    @property
    def sides(self) -> tuple[str, ...]:
        """Where it stops: on one side, or on both."""
        return tuple(side for side, limit in ((LOWER, self.lower), (UPPER, self.upper)) if math.isfinite(limit))


class RopeForce(NamedTuple):
    """What a rope does; a number, truth and a (6,) array in a Sample, arrays over time in a Result."""

    tension: Any  # [N], 0 where it is slack
    taut: Any
    wrench: np.ndarray  # on body_b at its point: moment [N·m] and force [N], world axes


class StopForce(NamedTuple):
    """What the stops of a joint do; numbers in a Sample, arrays over time in a Result."""

    effort: Any  # on the joint [N·m, N]: positive at the lower stop, negative at the upper
    touching: Any


class ContactEvent(NamedTuple):
    """A rope goes taut or slack, a joint comes to a stop, bounces off, or leaves it."""

    t: float  # [s] scenario time
    name: str  # of the rope, or of the joint
    what: str  # of a rope: taut, bounce, slack; of a joint: stop, bounce, leave
    side: str  # of a joint: lower or upper; of a rope empty
    speed: float  # at which it was hit [m/s, rad/s], 0: gently
    impulse: float  # of the impact >= 0 [N·s, N·m·s]
    energy_lost: float  # in it [J]


def ropes_hold_the_world(ropes: Sequence[Rope]) -> bool:
    """Whether one of them pulls at the world, so that momentum is not kept."""
    return any(WORLD in (rope.body_a, rope.body_b) for rope in ropes)


def ropes_jerk_across(ropes: Sequence[Rope]) -> bool:
    """Whether one of them may pull across itself at an impact, so that angular momentum is not kept."""
    return any(rope.impact == STOP for rope in ropes)


def rope(
    name: str,
    body_a: str,
    body_b: str,
    at_a: Sequence[float],
    at_b: Sequence[float],
    length: Any,
    restitution: Any,
    impact: str,
) -> Rope:
    """A checked rope; whether its bodies exist is seen when the robot is built."""
    where = f"rope '{checked_name('rope', name)}'"
    value = number(length, f"length of {where}")
    if value <= 0:
        raise ModelError(f"{where}: length {value:g} m must be positive; at no length use a closure of kind point.")
    bounce = checked_restitution(restitution, where)
    if impact not in IMPACTS:
        raise ModelError(f"{where}: impact '{impact}' is not one of {', '.join(IMPACTS)}.")
    if impact == STOP and bounce > 0:
        raise ModelError(f"{where}: impact 'stop' ends all motion of its ends; restitution {bounce:g} must be 0 there.")
    places = vector(at_a, f"at_a of {where}"), vector(at_b, f"at_b of {where}")
    return Rope(name, body_a, body_b, *places, value, bounce, impact)


def checked_restitution(value: Any, where: str) -> float:
    """0 to 1."""
    e = number(value, f"restitution of {where}")
    if not 0 <= e <= 1:
        raise ModelError(f"{where}: restitution {e:g} must lie between 0 (no rebound) and 1 (nothing lost).")
    return e


def stops_of(joints: Sequence[str], limits: np.ndarray, restitution: Any, where: str) -> tuple[Stop, ...]:
    """The stops of a hinge, at its limits; of a hinge whose restitution is None, none."""
    if restitution is None:
        return ()
    e = checked_restitution(restitution, where)
    if not np.isfinite(limits).any():
        raise ModelError(f"{where}: stop_restitution needs limits, at which it stops; give limits=(lower, upper).")
    pairs = zip(joints, limits.tolist(), strict=True)
    stops = (Stop(joint, lower, upper, e) for joint, (lower, upper) in pairs)
    return tuple(stop for stop in stops if stop.sides)
