"""Samples from hardware, judged before they act: their clock, age, jumps; and rates made of positions.

Pure: times come as arguments.
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

SAME_CLOCK_NS = 1_000_000_000  # stamps that lie nearer to ours are of our clock
WINDOW = 500  # samples over which the offset of a clock is looked for
STAYS = 5  # as many jumps to one place, one after another, are no outliers: the hardware is there; so with clocks


class Limits(NamedTuple):
    """What a sample must keep."""

    age_ns: int = 500_000_000  # older samples are dropped
    rate: float = 0.0  # [rad/s, m/s] that a sample may imply; faster ones are outliers; 0: any
    cutoff: float = 50.0  # [Hz] of the low-pass on rates that are made from positions


class ClockOffset:
    """Our clock less the sender's, as far as stamps tell: the least delay within a window counts as none.

    Stamps within a second of ours are of our clock: they have no offset, and their delay is their age.
    """

    def __init__(self) -> None:
        self._count = 0  # of samples
        # (number of the sample, difference) that may be the least of a window to come: later ones are larger
        self._least: deque[tuple[int, int]] = deque()

    def add(self, stamp_ns: int, now_ns: int) -> None:
        """One more sample, at its arrival."""
        difference, least = now_ns - stamp_ns, self._least
        while least and least[-1][1] >= difference:
            least.pop()
        least.append((self._count, difference))
        self._count += 1
        if least[0][0] < self._count - WINDOW:
            least.popleft()

    def forget(self) -> None:
        """The clock was put elsewhere."""
        self._least.clear()

    def ahead_ns(self, stamp_ns: int, now_ns: int) -> int:
        """By how much a stamp is ahead of all that the sender's clock may show, were it the one that it was."""
        return self._least[0][1] - (now_ns - stamp_ns) if self._least else 0

    @property
    def offset_ns(self) -> int:
        """What to add to a stamp of the sender."""
        least = self._least[0][1] if self._least else 0
        return 0 if abs(least) < SAME_CLOCK_NS else least

    @property
    def foreign(self) -> bool:
        """Whether the sender has another clock."""
        return self.offset_ns != 0


class Counts:
    """What became of the samples."""

    def __init__(self) -> None:
        self.taken = self.old = self.unordered = self.outliers = self.refused = 0
        self.last_fault = ""

    @property
    def faults(self) -> int:
        """All that were not taken."""
        return self.old + self.unordered + self.outliers + self.refused


class Judged(NamedTuple):
    """A sample that is taken."""

    values: tuple[float, ...]
    rates: tuple[float, ...]
    age_ns: int  # when it was judged
    now_ns: int  # our clock then

    def age_at(self, later_ns: int) -> int:
        """How old it is when our clock shows that."""
        return self.age_ns + max(0, later_ns - self.now_ns)


class Misplaced(NamedTuple):
    """Why a sample is dropped for its stamp."""

    text: str
    old: bool = False  # or out of order


def farthest(a: Sequence[float], b: Sequence[float]) -> float:
    """How far two samples are from each other: the greatest difference."""
    return max(abs(x - y) for x, y in zip(a, b, strict=True))


class Filter:
    """The samples of one source: values measured at one time, always in the same order."""

    def __init__(self, limits: Limits, distance: Callable[[Sequence[float], Sequence[float]], float] = farthest):
        """distance: between two samples' values; per second it is the rate that is limited."""
        self._limits, self._distance = limits, distance
        self.clock, self.counts = ClockOffset(), Counts()
        self._last: tuple[int, tuple[float, ...]] | None = None  # the sender's stamp, values
        self._rates: tuple[float, ...] = ()
        self._jumps: list[tuple[float, ...]] = []
        self._strays: list[tuple[int, int]] = []  # stamp and arrival of samples in a row that are misplaced in time

    def forget(self) -> None:
        """The next sample is the first one again."""
        self._last, self._rates, self._jumps = None, (), []

    def judge(self, stamp_ns: int, now_ns: int, values: Sequence[float], rates: Sequence[float] = ()) -> Judged | None:
        """The sample as it may act; None: why not is counted. stamp 0: measured now. rates: told, or made here."""
        values, counts = tuple(values), self.counts
        stamp = stamp_ns or now_ns
        if not all(math.isfinite(x) for x in (*values, *rates)):
            counts.refused += 1
            counts.last_fault = f"a sample holds {values}, {tuple(rates)}: not all of them are finite."
            return None
        fault = self._misplaced(stamp, now_ns)
        if fault and self._stays(fault, stamp, now_ns):
            self._begin_anew(stamp)
            fault = self._misplaced(stamp, now_ns)
        if fault:
            counts.old += fault.old
            counts.unordered += not fault.old
            counts.last_fault = fault.text
            return None
        self._strays = []
        if self._is_jump(stamp, values):
            counts.outliers += 1
            return None
        self._rates = tuple(rates) or self._made_rates(stamp, values)
        self._last, self._jumps = (stamp, values), []
        counts.taken += 1
        return Judged(values, self._rates, max(0, self._age_ns(stamp, now_ns)), now_ns)

    def _age_ns(self, stamp: int, now_ns: int) -> int:
        return now_ns - stamp - self.clock.offset_ns

    def _misplaced(self, stamp: int, now_ns: int) -> Misplaced | None:
        """Why a sample is not of now, by the clock as it is known, or not after the last one."""
        ahead = self.clock.ahead_ns(stamp, now_ns)
        if ahead > SAME_CLOCK_NS:
            return Misplaced(f"a sample is stamped {ahead * 1e-9:.3f} s ahead of those before: of another clock.")
        self.clock.add(stamp, now_ns)
        age, limit = self._age_ns(stamp, now_ns), self._limits.age_ns
        if age > limit:
            return Misplaced(f"a sample is {age * 1e-9:.3f} s old; the limit is {limit * 1e-9:g} s.", old=True)
        if self._last is not None and stamp <= self._last[0]:
            return Misplaced(f"a sample stamped {stamp} ns comes after one stamped {self._last[0]} ns.")
        return None

    def _stays(self, fault: Misplaced, stamp: int, now_ns: int) -> bool:
        """Whether a clock was put elsewhere, the sender's or ours: several in a row agree that it is so.

        They come as far apart as they are stamped: what was held up on the way comes all at once. On our own clock what
        is old is old.
        """
        if fault.old and not self.clock.foreign:
            return False
        self._strays = [*self._strays, (stamp, now_ns)][-STAYS:]
        stamps = [stray for stray, _ in self._strays]
        differences = [now - stray for stray, now in self._strays]
        in_order = all(a < b for a, b in zip(stamps, stamps[1:], strict=False))
        return len(stamps) == STAYS and in_order and 2 * (max(differences) - min(differences)) <= stamp - stamps[0]

    def _begin_anew(self, stamp: int) -> None:
        """Compare the clocks from here on; the last sample is of before if this one does not come soon after it."""
        self._strays = []
        self.clock.forget()
        if self._last is not None and not 0 < stamp - self._last[0] < SAME_CLOCK_NS:
            self.forget()

    def _is_jump(self, stamp: int, values: tuple[float, ...]) -> bool:
        """Whether it implies too high a rate; not where the samples before imply the same place."""
        if self._last is None or self._limits.rate == 0.0:
            return False
        seconds = (stamp - self._last[0]) * 1e-9
        if self._near(values, self._last[1], seconds):
            return False
        if len(self._jumps) >= STAYS - 1 and all(self._near(values, jump, seconds) for jump in self._jumps):
            self.forget()  # its rate begins anew
            return False
        self._jumps = [*self._jumps, values][-(STAYS - 1) :]
        most = self._distance(values, self._last[1]) / seconds
        self.counts.last_fault = f"a jump at {most:.3g} per s; the limit is {self._limits.rate:g}."
        return True

    def _near(self, values: tuple[float, ...], others: tuple[float, ...], seconds: float) -> bool:
        return self._distance(values, others) <= self._limits.rate * seconds

    def _made_rates(self, stamp: int, values: tuple[float, ...]) -> tuple[float, ...]:
        """Differences over time through a low-pass of first order, exact for a rate that is held between samples."""
        if self._last is None:
            return (0.0,) * len(values)
        seconds = (stamp - self._last[0]) * 1e-9
        share = -math.expm1(-2.0 * math.pi * self._limits.cutoff * seconds)
        old = self._rates or (0.0,) * len(values)
        slopes = [(x - y) / seconds for x, y in zip(values, self._last[1], strict=True)]
        return tuple(rate + share * (slope - rate) for rate, slope in zip(old, slopes, strict=True))
