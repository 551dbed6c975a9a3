"""How a process of ours is asked to end."""

import signal
from collections.abc import Callable
from types import FrameType

from rbt_ros.interruptible import T, interruptible


class StopRequest:
    """SIGINT, SIGTERM, and SIGHUP of a closed terminal are remembered: who runs looks here and ends, exit code 0."""

    def __init__(self) -> None:
        self.requested = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def interruptible(self, work: Callable[[], T]) -> T:
        """What work() returns; KeyboardInterrupt when it is asked to end before."""
        return interruptible(work, lambda: self.requested)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
