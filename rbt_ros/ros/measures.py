"""What the stepping loop tells of itself: counts, and how late or long things were."""

import threading
import time
from typing import NamedTuple

import numpy as np

from rbt_ros.ros.sources import Posted
from rbt_ros.sim import Simulation

STAMPS_KEPT = 8192  # ticks whose time of publication is known
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
        self.count = 0
        self._max = 0.0

    def add(self, value: float) -> None:
        """One more."""
        self._values[self.count % KEPT] = value
        self.count += 1
        self._max = max(self._max, value)

    def spread(self) -> Spread:
        """Of what there is; zeros where there is nothing."""
        values = self._values[: min(self.count, KEPT)]
        p50, p99 = np.percentile(values, [50, 99]) if values.size else (0.0, 0.0)
        return Spread(float(p50), float(p99), self._max)


class Latency:
    """From a sample published to the arrival of the command that answers it; the wait for a tick is not counted."""

    def __init__(self, sim: Simulation) -> None:
        self.record = Record()
        self._sim = sim
        self._published_ns = np.zeros(STAMPS_KEPT, dtype=np.int64)

    def published(self, stamp_ns: int) -> None:
        """What bears this stamp was published now."""
        self._published_ns[self._place(stamp_ns)] = time.monotonic_ns()

    def measure(self, posted: Posted, now_ns: int) -> None:
        """Note how long this answer took, if it is one. now_ns: the clock."""
        behind, off = divmod(now_ns - posted.stamp_ns, self._sim.h_ns)
        if posted.stamp_ns and posted.source and off == 0 and 0 <= behind < STAMPS_KEPT:
            if published := int(self._published_ns[self._place(posted.stamp_ns)]):
                self.record.add((posted.arrived_ns - published) * 1e-3)

    def forget(self) -> None:
        """Stamps come a second time."""
        self._published_ns[:] = 0

    def _place(self, stamp_ns: int) -> int:
        return stamp_ns // self._sim.h_ns % STAMPS_KEPT


class Counters:
    """What happened to commands since the start. Each field has one writing thread, `rejected` by `reject` only."""

    def __init__(self) -> None:
        self.accepted = 0
        self.stale = 0  # older than their own hold time when they arrived
        self.late = 0  # in lockstep: stamped with a tick that is over
        self.ahead = 0  # stamped later than our clock: taken, but the sender's clock is another one
        self.cancelled = 0  # dropped because the state would have become non-finite
        self.repeated = 0  # steps of lockstep whose outputs had to be repeated before they were answered
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
    elapsed_ns: int  # of steady time, from the start to the begin of the last step
    overruns: int  # ticks that began after the next one's deadline
    given_up_ns: int  # lag that was not caught up
    real_time_factor: float  # over the last second
    late_us: Spread  # wake-up after deadline
    latency_us: Spread  # a sample published to the command that answers it taken: the wait for a tick not counted
    scheduling: str  # of the stepping thread, for people
