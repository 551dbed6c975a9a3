"""Scenario time by whole ticks: a grid of steps."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import END_NS, LONGEST_S, STAMP_END_NS, one_number


class Ticks(NamedTuple):
    """A step and the time that tick 0 has, or would have had by steps of this length."""

    h_ns: int
    zero_ns: int = 0

    def ns(self, tick: int) -> int:
        """Scenario time of a tick [ns]."""
        return self.zero_ns + tick * self.h_ns

    def nearest(self, t_ns: int) -> int:
        """The tick nearest to a time."""
        return round((t_ns - self.zero_ns) / self.h_ns)

    def count(self, span_ns: float) -> int:
        """How many ticks a span of time is, rounded, one at least."""
        return max(1, round(span_ns / self.h_ns))


def refuse_beyond(grid: tuple[int, ...], end: int) -> None:
    """ScenarioError where that tick of a grid (step, zero [ns]) is later than time can be counted."""
    h_ns, zero_ns = grid
    if zero_ns + end * h_ns > END_NS:
        raise ScenarioError(f"tick {end} lies beyond {LONGEST_S:g} s, up to which scenario time is counted.")


def remembered_ticks(tick: Any, ticks: Any) -> tuple[int, Ticks]:
    """A tick and the grid of a memory; ScenarioError where they are no time."""
    all_whole = isinstance(ticks, Sequence) and len(ticks) == 2 and all(type(n) is int for n in (tick, *ticks))
    if not all_whole or tick < 0 or ticks[0] <= 0 or max(map(abs, (tick, *ticks))) >= STAMP_END_NS:
        raise ScenarioError(f"its time is tick {tick!r:.40} of {ticks!r:.40} ns, which cannot be; save it anew.")
    return tick, Ticks(*ticks)


def step_ns(step: float) -> int:
    """A step [s] as a whole number of ns."""
    seconds = one_number(step, "step", ScenarioError)
    h_ns = round(seconds * 1e9) if 0 < seconds <= LONGEST_S else 0
    if h_ns <= 0 or abs(seconds * 1e9 - h_ns) > 1e-3:
        raise ScenarioError(f"step {step} s must be a positive whole number of nanoseconds.")
    return h_ns
