"""How a program of ours ends where Ctrl-C breaks it off."""

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Iterator
from typing import NoReturn


@contextlib.contextmanager
def left_at_once(code: int) -> Iterator[None]:
    """While it is open Ctrl-C ends the process: for imports, which leave nothing to close.

    An exception that is raised in the middle of an import comes out as another one, or not at all.
    """
    if threading.current_thread() is not threading.main_thread():  # the only one that may say what a signal does
        yield
        return
    before = signal.signal(signal.SIGINT, lambda *_: os._exit(code))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def leave_after_interrupt(code: int) -> NoReturn:
    """End after KeyboardInterrupt; where a compiler still works in another thread, without waiting for it."""
    module = sys.modules.get("rbt_ros.interruptible")
    if module is None or not module.is_abandoned():
        sys.exit(code)
    leave(code)


def leave(code: int) -> NoReturn:
    """End now, as everything is closed: to take the interpreter apart, numba in it, lasts 5 s on a busy machine."""
    with contextlib.suppress(OSError):  # who reads it has gone
        sys.stdout.flush()
    with contextlib.suppress(OSError):
        sys.stderr.flush()
    os._exit(code)
