"""Ctrl-C is heard within a moment, also while the kernels are compiled."""

import functools
import threading
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from rbt_ros.core import jit

T = TypeVar("T")
LOOK_S = 0.05  # how often the waiting thread looks whether it is to break off
COMPILING = "compiling the kernels: 10 to 40 s, once on this machine for such a model"

_threads: list[threading.Thread] = []


@functools.cache
def _tell() -> None:
    """Once in a process."""
    print(COMPILING, flush=True)


class Patience(Protocol):
    """A way to wait for work that may compile."""

    def __call__(self, work: Callable[[], T]) -> T: ...


def interruptible(work: Callable[[], T], asked: Callable[[], bool] = lambda: False) -> T:
    """What work() returns; it runs in a thread of its own, and where it compiles, that is printed.

    A compiler of machine code comes back to Python only after seconds, and drops exceptions that signal handlers raise
    in its callbacks. So the calling thread only waits: KeyboardInterrupt leaves it at once, also where asked() turns
    true; the work is abandoned, and the process is to end.
    """
    outcome: list[Any] = [None, None]

    def run() -> None:
        try:
            outcome[0] = work()
        except BaseException as err:
            outcome[1] = err
        finally:
            done.set()

    done = threading.Event()
    thread = threading.Thread(target=run, name="rbt_work", daemon=True)
    _threads[:] = [each for each in _threads if each.is_alive()] + [thread]
    with jit.announced(_tell):
        if not asked():
            thread.start()
        while not done.wait(LOOK_S):
            if asked():
                raise KeyboardInterrupt
    if outcome[1] is not None:
        raise outcome[1]
    return outcome[0]


def is_abandoned() -> bool:
    """Whether such work still runs: an interpreter that ends in order would wait for it, or fall over it."""
    return any(thread.is_alive() for thread in _threads)
