"""When steps are due in mode realtime: absolute deadlines on steady time, and how well they were kept."""

import ctypes
import time

from rbt_ros.ros.mailbox import Mailbox
from rbt_ros.ros.measures import Record
from rbt_ros.ros.priority import Urgency
from rbt_ros.sim import Simulation

PR_SET_TIMERSLACK = 29  # <linux/prctl.h>
MOST_LAG_NS = 5_000_000_000  # behind by more than this, the lag is given up and reported (a machine that slept)
LONG_NS, EARLY_NS = 20_000_000, 10_000_000  # a sleep that news may end, and how long before the deadline it ends


def wake_up_on_time() -> None:
    """Ask Linux to wake the calling thread within a microsecond of its timers; the default leaves it 50 us of slack."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:  # Linux only; elsewhere the jitter in /diagnostics tells
        prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(1))


class Pacer:
    """The next deadline is one step after the last: a late step is caught up, and no drift adds up."""

    def __init__(self, sim: Simulation, mailbox: Mailbox, factor: float, urgency: Urgency):
        self.factor = factor  # simulated seconds per second of steady time
        self.urgency = urgency
        self.late, self.overruns, self.given_up_ns = Record(), 0, 0
        self._sim, self._mailbox = sim, mailbox
        self._due = 0

    def restart(self, now: int) -> None:
        """Count deadlines from now on, if there are any."""
        self._due = now
        self.urgency.release()

    def next_due(self) -> int:
        """When the next step is due [ns of steady time]."""
        now = time.monotonic_ns()
        due = self._due + self._step_ns()
        if now - due > MOST_LAG_NS:
            self.given_up_ns += now - due
            return now
        return due

    def slept_until(self, due: int, look: int) -> bool:
        """Sleep to an absolute time; False where a long sleep was ended early, by news or at the time to look."""
        if due - time.monotonic_ns() > LONG_NS and (self._mailbox.wait(min(due - EARLY_NS, look)) or look < due):
            return False
        now = time.monotonic_ns()
        if now >= due or self._mailbox.closed:
            self.urgency.press_on(now)
            return True
        self.urgency.rest(now)
        time.sleep((due - now) * 1e-9)  # clock_nanosleep: half as much jitter as a condition
        return True

    def begin_step(self, due: int, now: int, *, counts: bool) -> None:
        """The step that was due then begins now. counts: whether anybody waits for it, so that it can be late.

        Nothing was due before the last restart: one that came while it slept counts.
        """
        due = max(due, self._due)
        if counts:
            self.late.add((now - due) * 1e-3)
            self.overruns += now - due > self._sim.h_ns / self.factor
        self._due = due

    def _step_ns(self) -> int:
        return round(self._sim.h_ns / self.factor)
