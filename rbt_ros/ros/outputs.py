"""What is published when: every tick the clock, on dividers what a sample tells, once a second a report."""

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

from rbt_ros.results import Sample
from rbt_ros.ros.stamps import Stamps

SECOND_NS = 1_000_000_000


class Output(NamedTuple):
    """What to publish each `period_ns` of simulated time, in whole ticks; 0: every tick."""

    period_ns: int
    publish: Callable[[Sample, int], None]  # (sample, stamp [ns])
    in_step: bool = True  # whether controllers read it: repeated in lockstep; the report of a second bears its stamps


class Outputs:
    """Used by the stepping thread, but for `add` before it starts."""

    def __init__(self, stamps: Stamps, outputs: Sequence[Output]):
        self._stamps, self._outputs = stamps, tuple(outputs)
        self.divide()

    def add(self, output: Output) -> None:
        """Call it, too, from now on."""
        self._outputs = (*self._outputs, output)
        self.divide()

    def remove(self, output: Output | None) -> None:
        """Call it no more."""
        self._outputs = tuple(known for known in self._outputs if known is not output)
        self.divide()

    def divide(self) -> None:
        """The periods in whole ticks, which may have changed."""
        ticks = self._stamps.ticks
        self._divided = [(ticks.count(output.period_ns), output) for output in self._outputs]
        self._report_divider = math.lcm(*(divider for divider, output in self._divided if output.in_step))

    @property
    def all(self) -> tuple[Output, ...]:
        """All of them."""
        return self._outputs

    def due(self) -> list[Output]:
        """Those of this tick."""
        place = self._stamps.place
        return [output for divider, output in self._divided if place % divider == 0]

    @property
    def meet(self) -> bool:
        """Whether this tick is one of all that controllers read."""
        return self._stamps.place % self._report_divider == 0


class Seconds:
    """When a report is due, and at what rate the clock went since the last one. Times are steady [ns]."""

    def __init__(self, outputs: Outputs, stamps: Stamps):
        self.rate = 0.0  # simulated seconds per second
        self.at = 0  # when the next one is due
        self._outputs, self._stamps, self._stamp = outputs, stamps, 0

    def begin(self, now: int) -> None:
        """The first second begins."""
        self.at, self._stamp = now + SECOND_NS, self._stamps.now_ns

    def jumped(self, by_ns: int) -> None:
        """The clock has changed by that, and no step was taken."""
        self._stamp += by_ns

    def due(self, stands: bool) -> int:
        """When the next report is made, if no step is taken before.

        It bears the stamp of all other outputs, and waits a second for that, unless nothing moves.
        """
        return self.at if stands or self._outputs.meet else self.at + SECOND_NS

    def is_over(self, stands: bool) -> bool:
        """Whether the report is to be made now; then the next second begins."""
        now = time.monotonic_ns()
        if now < self.due(stands):
            return False
        stamp = self._stamps.now_ns
        self.rate = (stamp - self._stamp) / (now - self.at + SECOND_NS)
        self.at, self._stamp = now + SECOND_NS, stamp
        return True
