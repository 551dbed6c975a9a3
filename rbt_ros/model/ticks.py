"""Scenario time by whole ticks: a grid of steps."""

from typing import NamedTuple

from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import LONGEST_S, one_number


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


def step_ns(step: float) -> int:
    """A step [s] as a whole number of ns."""
    seconds = one_number(step, "step", ScenarioError)
    h_ns = round(seconds * 1e9) if 0 < seconds <= LONGEST_S else 0
    if h_ns <= 0 or abs(seconds * 1e9 - h_ns) > 1e-3:
        raise ScenarioError(f"step {step} s must be a positive whole number of nanoseconds.")
    return h_ns
