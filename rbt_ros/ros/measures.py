"""What the stepping loop tells of itself: counts, and how late or long things were."""

import threading
from typing import NamedTuple

import numpy as np

KEPT = 10_000  # values over which percentiles are told: the last 10 s at 1 kHz


class Spread(NamedTuple):
    """Percentiles of the last KEPT values, and the largest since the start."""

    p50: float
    p99: float
    max: float


class Record:
    """The last KEPT values of something."""

    def __init__(self) -> None:
        self._values = np.zeros(KEPT)
        self._count = 0
        self._max = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self._values[self._count % KEPT] = value
        self._count += 1
        self._max = max(self._max, value)

    def spread(self) -> Spread:
        """Of what there is; zeros where there is nothing."""
        values = self._values[: min(self._count, KEPT)]
        p50, p99 = np.percentile(values, [50, 99]) if values.size else (0.0, 0.0)
        return Spread(float(p50), float(p99), self._max)


class Counters:
    """What happened to commands since the start. Each field has one writing thread, `rejected` by `reject` only."""

    def __init__(self) -> None:
        self.accepted = 0
        self.stale = 0  # older than their own hold time when they arrived
        self.late = 0  # in lockstep: stamped with a tick that is over
        self.ahead = 0  # stamped later than our clock: taken, but the sender's clock is another one
        self.cancelled = 0  # dropped because the state would have become non-finite
        self.lost = 0  # sources that fell silent: the watchdog's and lockstep's fallbacks
        self.rejected = 0
        self.last_fault = ""
        self._lock = threading.Lock()

    def reject(self, why: str) -> None:
        """Count a refused command."""
        with self._lock:
            self.rejected += 1
            self.last_fault = why


class LoopStatistics(NamedTuple):
    """How well time was kept."""

    ticks: int
    elapsed_ns: int  # of steady time, from the first step to the last report
    overruns: int  # ticks that began after the next one's deadline
    given_up_ns: int  # lag that was not caught up
    real_time_factor: float  # over the last second
    late_us: Spread  # wake-up after deadline
    latency_us: Spread  # a sample published to the command that answers it taken: the wait for a tick not counted
