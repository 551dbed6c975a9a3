"""Real-time scheduling for the stepping thread, locked memory, a CPU of its own: asked for, and left out with a reason.

Linux only, by name of the system call; what the system refuses costs a sentence, not the run.
"""

import ctypes
import os
from collections.abc import Callable

MCL_CURRENT, MCL_FUTURE = 1, 2  # <sys/mman.h>
PRIORITY = 50  # above all ordinary threads, not above those of the kernel's interrupts
BREATHLESS_NS = 100_000_000  # a thread that has not slept for so long does not keep up


class Urgency:
    """SCHED_FIFO for a thread that sleeps between its steps, as long as it does; its calls are made by that thread.

    Such a thread wakes up before all ordinary ones, and then runs until it sleeps. One that does not would leave them
    nothing of its CPU: controllers for whose commands it waits, the signal that is to end it.
    """

    def __init__(self, priority: int = 0, warn: Callable[[str], None] = lambda sentence: None):
        """priority: 0 leaves the thread as it is. warn: told of a refusal."""
        self._priority, self._warn = priority, warn
        self._taken, self._refusal = False, ""
        self._rested_ns = 0  # steady time of the last sleep

    def rest(self, now: int) -> None:
        """The thread sleeps now: what it does afterwards is urgent."""
        self._rested_ns = now
        if not self._taken and self._priority and not self._refusal:
            self._take()

    def press_on(self, now: int) -> None:
        """The thread is late and does not sleep; too long, and it is one of many again until it does."""
        if self._taken and now - self._rested_ns > BREATHLESS_NS:
            self.release()

    def release(self) -> None:
        """Nothing is urgent."""
        if self._taken:
            self._taken = bool(_scheduled("SCHED_OTHER", 0))

    def __str__(self) -> str:
        """What is so, for people."""
        if self._refusal:
            return f"ordinary, SCHED_FIFO {self._priority} refused: {self._refusal}"
        return f"SCHED_FIFO {self._priority}" if self._taken else "ordinary"

    def _take(self) -> None:
        self._refusal = _scheduled("SCHED_FIFO", self._priority)
        self._taken = not self._refusal
        if self._refusal:
            self._warn(
                f"no SCHED_FIFO of priority {self._priority}: {self._refusal}; allow it by `ulimit -r` (LimitRTPRIO) "
                "or CAP_SYS_NICE."
            )


def claim(lock_memory: bool, cpu: int, warn: Callable[[str], None]) -> None:
    """For the calling thread: memory locked, only that CPU (-1: any)."""
    if lock_memory and (why := _locked_memory()):
        warn(f"memory is not locked: {why}; raise `ulimit -l` (LimitMEMLOCK), or leave realtime.lock_memory out.")
    if cpu >= 0 and (why := _attempt(lambda: os.sched_setaffinity(0, {cpu}))):
        usable = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
        warn(f"the stepping thread is not bound to CPU {cpu}: {why}; usable here: {usable}.")


def _scheduled(policy: str, priority: int) -> str:
    """Why the calling thread is not scheduled so from now on; empty: it is. The threads it begins are ordinary ones."""

    def schedule() -> None:
        # once set, the flag can only be kept by who has no privilege
        os.sched_setscheduler(0, getattr(os, policy) | os.SCHED_RESET_ON_FORK, os.sched_param(priority))

    return _attempt(schedule)


def _locked_memory() -> str:
    """Why memory cannot be locked; empty: it is."""
    mlockall = getattr(ctypes.CDLL(None, use_errno=True), "mlockall", None)
    if mlockall is None:
        return "this system has no mlockall"
    return "" if mlockall(MCL_CURRENT | MCL_FUTURE) == 0 else os.strerror(ctypes.get_errno())


def _attempt(call: Callable[[], None]) -> str:
    """Why the system refused it; empty: it did not."""
    try:
        call()
    except (OSError, AttributeError, ValueError) as err:  # AttributeError: not Linux
        return err.strerror if isinstance(err, OSError) and err.strerror else str(err)
    return ""
