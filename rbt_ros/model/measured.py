"""Joints that follow what is measured of them while a simulation runs: samples that come become a smooth motion.

A joint passes each sample `delay` after it was measured, on cubics from sample to sample, and behind the last one goes
straight on; so it never jumps, in position or rate, whatever comes. A sample that comes too late for that is taken
straight on to when it can be passed. How the motion looks from outside to the engine: a table of cubics of fixed size,
which is written anew with each sample.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

from rbt_ros.core.signals import Signal, cubics
from rbt_ros.errors import MessageError, ModelError
from rbt_ros.kinds import in_words
from rbt_ros.model.checks import number

HOLD, FREE, ZERO = "hold", "free", "zero"
ON_LOSS = (HOLD, FREE, ZERO)
KNOTS = 8  # of the table: of more samples within `delay` the last one gives way to the next
STRAIGHT_NS = 1_000_000_000  # between the knots behind the last one; behind all of them it goes straight on, too


class Measured(NamedTuple):
    """Let a joint follow the `Measurement`s of it that come while the simulation runs."""

    delay: float = 0.02  # [s] after which a sample is passed; samples further apart than that are left straight on
    timeout: float = math.inf  # [s] without a sample, after which the signal is lost
    on_loss: str = HOLD  # then: come to rest within delay, and stay; FREE: move by itself; ZERO: to 0 within timeout


class Measurement(NamedTuple):
    """Positions that were measured at one time, for joints that follow them: a command to a simulation."""

    joints: tuple[str, ...]
    position: tuple[float, ...]  # [rad, m]
    velocity: tuple[float, ...] = ()  # [rad/s, m/s]; none: from the position before
    age_ns: int = 0  # how long before the tick at which it comes it was measured


class Knot(NamedTuple):
    """Where a joint is to pass."""

    t_ns: int
    position: float
    rate: float


class Followed(NamedTuple):
    """What a joint that follows measurements does now."""

    how: Measured
    knots: tuple[Knot, ...]  # the first one is, or was, where it is
    heard_ns: int  # when the last sample came
    last: tuple[int, float] | None = None  # when that was measured, and what
    lost: bool = False

    @property
    def loss_ns(self) -> int | None:
        """When the signal is lost if nothing comes; None: never, or it is already."""
        if self.lost or math.isinf(self.how.timeout):
            return None
        return self.heard_ns + round(self.how.timeout * 1e9)

    @property
    def delay_ns(self) -> int:
        """The delay [ns]."""
        return round(self.how.delay * 1e9)

    def signal(self) -> Signal:
        """The motion since the first knot, as a table of KNOTS knots."""
        knots, end = list(self.knots), self.knots[-1]
        while len(knots) < KNOTS:
            later = knots[-1].t_ns + STRAIGHT_NS
            knots.append(Knot(later, end.position + end.rate * (later - end.t_ns) * 1e-9, end.rate))
        pieces = [hermite(a, b) for a, b in zip(knots, knots[1:], strict=False)]
        return cubics([knot.t_ns - knots[0].t_ns for knot in knots], pieces)


def hermite(a: Knot, b: Knot) -> tuple[float, float, float, float]:
    """c0 + c1 x + c2 x² + c3 x³, x [s] since a, through both knots at their rates."""
    T = (b.t_ns - a.t_ns) * 1e-9
    slope = (b.position - a.position) / T
    return a.position, a.rate, (3.0 * slope - 2.0 * a.rate - b.rate) / T, (a.rate + b.rate - 2.0 * slope) / (T * T)


@in_words(ModelError)
def checked_measured(how: Measured, where: str) -> Measured:
    """`how`, or ModelError."""
    delay, timeout = number(how.delay, f"delay of {where}"), how.timeout
    if not 1e-9 <= delay <= 1e6:
        raise ModelError(f"{where}: delay {delay:g} s must be positive: a joint cannot jump to where a sample puts it.")
    if timeout != math.inf and not 1e-9 <= number(timeout, f"timeout of {where}") <= 1e6:
        raise ModelError(f"{where}: timeout {timeout:g} s must be positive, or math.inf for never.")
    if how.on_loss not in ON_LOSS:
        raise ModelError(f"{where}: on_loss '{how.on_loss}' is not one of {', '.join(ON_LOSS)}.")
    return Measured(delay, float(timeout), how.on_loss)


def begun(how: Measured, t_ns: int, position: float, rate: float) -> Followed:
    """From here on: straight on until something comes."""
    return Followed(how, (Knot(t_ns, position, rate),), t_ns)


def sampled(old: Followed, here: Knot, measured_ns: int, position: float, velocity: float | None) -> Followed:
    """With one more sample; here: where the joint is now. A sample that is late is taken straight on."""
    if velocity is None:
        velocity = 0.0 if old.last is None else (position - old.last[1]) / ((measured_ns - old.last[0]) * 1e-9)
    pass_ns = max(measured_ns + old.delay_ns, here.t_ns + max(1, old.delay_ns // 2))
    late = (pass_ns - measured_ns - old.delay_ns) * 1e-9
    between = [] if old.lost else [knot for knot in old.knots[1:] if here.t_ns < knot.t_ns < pass_ns]
    knots = (here, *between[: KNOTS - 2], Knot(pass_ns, position + velocity * late, velocity))
    return Followed(old.how, knots, here.t_ns, (measured_ns, position))


def aimed(old: Followed, here: Knot, position: float, rate: float, within_ns: int) -> Followed:
    """To be there after that time, and whatever was to be passed is dropped."""
    return old._replace(knots=(here, Knot(here.t_ns + within_ns, position, rate)))


def at_rest(old: Followed, here: Knot) -> Followed:
    """Evenly slowed down to rest within the delay."""
    return aimed(old, here, here.position + 0.5 * here.rate * old.delay_ns * 1e-9, 0.0, old.delay_ns)


def lost(old: Followed, here: Knot) -> Followed:
    """What it does when nothing comes any more; FREE is not for it to do."""
    left = old._replace(lost=True)
    if old.how.on_loss == ZERO:
        return aimed(left, here, 0.0, 0.0, round(old.how.timeout * 1e9))
    return at_rest(left, here)


@in_words(MessageError)
def check_measurement(command: Measurement, known: Sequence[str], followed: Sequence[str]) -> None:
    """MessageError where it cannot be taken as a whole. known: joints; followed: those that follow measurements."""
    if not command.joints:
        raise MessageError("measurement without names; it needs the joints that were measured.")
    for joint in command.joints:
        if joint not in known:
            raise MessageError(f"measurement of joint '{joint[:80]}', which is not there; joints: {', '.join(known)}.")
        if joint not in followed:
            raise MessageError(f"joint '{joint}' follows no measurements; let it: prescribe it by rbt.Measured().")
    if len(set(command.joints)) < len(command.joints):
        raise MessageError("measurement that names a joint more than once.")
    for what, values in (("position", command.position), ("velocity", command.velocity)):
        if len(values) != len(command.joints) and (values or what == "position"):
            raise MessageError(f"measurement: {len(values)} numbers as {what} for {len(command.joints)} joints.")
        for joint, value in zip(command.joints, values, strict=False):
            if not math.isfinite(value):
                raise MessageError(f"measurement: {what} of joint '{joint}' is {value}, which is not finite.")
    if command.age_ns < 0:
        raise MessageError(f"measurement from {-command.age_ns * 1e-9:g} s ahead; it is of now, or before.")
