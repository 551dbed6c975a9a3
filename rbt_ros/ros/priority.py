"""Real-time scheduling for the stepping thread, locked memory, a CPU of its own: asked for, and left out with a reason.

Linux only, by name of the system call; what the system refuses costs a warning, not the run.
"""

import ctypes
import os
from collections.abc import Callable

MCL_CURRENT, MCL_FUTURE = 1, 2  # <sys/mman.h>


def claim(priority: int, lock_memory: bool, cpu: int, warn: Callable[[str], None]) -> None:
    """For the calling thread: SCHED_FIFO of that priority (0: leave it), memory locked, only that CPU (-1: any)."""
    if lock_memory and (why := _locked_memory()):
        warn(f"memory is not locked: {why}; raise `ulimit -l` (LimitMEMLOCK), or leave realtime.lock_memory out.")
    if cpu >= 0 and (why := _attempt(lambda: os.sched_setaffinity(0, {cpu}))):
        usable = ", ".join(map(str, sorted(os.sched_getaffinity(0))))
        warn(f"the stepping thread is not bound to CPU {cpu}: {why}; usable here: {usable}.")
    if priority > 0 and (why := _attempt(lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority)))):
        warn(f"no SCHED_FIFO of priority {priority}: {why}; allow it by `ulimit -r` (LimitRTPRIO) or CAP_SYS_NICE.")


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
