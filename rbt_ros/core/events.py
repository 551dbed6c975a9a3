"""Zeros of functions of (t, y) along a solution: which changed sign in a step, and where."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Event(NamedTuple):
    """A function of (t [s], y) whose zero is sought. `direction`: +1 rising only, -1 falling only, 0 both."""

    function: Callable[[float, np.ndarray], float]
    terminal: bool = False
    direction: int = 0


class Hit(NamedTuple):
    """Where an event happened."""

    event: int  # which of the events
    t: float  # [s]
    y: np.ndarray


def hits_in_step(
    events: Sequence[Event],
    before: Sequence[float],
    after: Sequence[float],
    t: float,
    h: float,
    at: Callable[[float], np.ndarray],
) -> list[Hit]:
    """Events with a change of sign between t and t + h [s], in the order in which they happen.

    before, after: their values at the ends; at: y at a fraction of the step. The last hit is the first terminal one,
    if there is any. Rising and falling are meant in the direction of the run, which may be backward.
    """
    found = []
    for k, event in enumerate(events):
        rises, falls = before[k] < 0.0 <= after[k], before[k] > 0.0 >= after[k]
        if (rises and event.direction >= 0) or (falls and event.direction <= 0):
            x = zero(lambda x, f=event.function: f(t + x * h, at(x)), before[k], after[k])
            found.append((x, Hit(k, t + x * h, at(x))))
    hits = [hit for _, hit in sorted(found, key=lambda pair: pair[0])]
    last = next((i for i, hit in enumerate(hits) if events[hit.event].terminal), len(hits) - 1)
    return hits[: last + 1]


def zero(function: Callable[[float], float], at_0: float, at_1: float) -> float:
    """A zero of a function of opposite signs at 0 and 1: regula falsi, halving the value that stays (Illinois)."""
    low, high, side = 0.0, 1.0, 0
    for _ in range(100):
        if high - low <= 1e-15:
            break
        x = (low * at_1 - high * at_0) / (at_1 - at_0)
        if not low < x < high:
            x = 0.5 * (low + high)
        value = function(x)
        if value == 0.0:
            return x
        if (value > 0.0) == (at_1 > 0.0):
            high, at_1 = x, value
            at_0 = 0.5 * at_0 if side == 1 else at_0
            side = 1
        else:
            low, at_0 = x, value
            at_1 = 0.5 * at_1 if side == -1 else at_1
            side = -1
    return high
