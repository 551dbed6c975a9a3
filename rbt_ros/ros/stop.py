"""How a process of ours is asked to end."""

import signal
from types import FrameType


class StopRequest:
    """SIGINT, SIGTERM, and SIGHUP of a closed terminal are remembered: who runs looks here and ends, exit code 0."""

    def __init__(self) -> None:
        self.requested = False
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
