"""What other threads hand over to the stepping thread: commands and requests, behind one condition."""

import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as TimeIsOver
from typing import Any

from rbt_ros.errors import RbtError
from rbt_ros.model.inputs import Command
from rbt_ros.ros.sources import Posted
from rbt_ros.sim import Simulation

ANSWER_S = 10.0  # for a request to be begun: the stepping thread serves them between two steps


class NoAnswer(RbtError):
    """A request that was not begun in time, and never will be."""


class Mailbox:
    """`commands` and `requests` are emptied by the stepping thread, in the order of arrival."""

    def __init__(self) -> None:
        self.commands: deque[Posted] = deque()
        self.requests: deque[Callable[[Simulation], Any]] = deque()
        self.closed = False
        self._news = threading.Condition()

    def post(self, command: Command, stamp_ns: int, source: str = "") -> None:
        """Hand over a command."""
        with self._news:
            self.commands.append(Posted(command, stamp_ns, source, time.monotonic_ns()))
            self._news.notify()

    def ask(self, request: Callable[[Simulation], Any]) -> None:
        """Hand over a request."""
        with self._news:
            self.requests.append(request)
            self._news.notify()

    def call(self, request: Callable[[Simulation], Any]) -> Any:
        """Hand over a request, and wait for what it returns or raises; NoAnswer where it was not begun in time.

        Who is told that nothing was done can rely on it. What has begun is waited for.
        """
        answer: Future = Future()

        def run(sim: Simulation) -> None:
            if not answer.set_running_or_notify_cancel():
                return
            try:
                answer.set_result(request(sim))
            except BaseException as err:  # raised again by `result`, in the thread that asked
                answer.set_exception(err)
                if not isinstance(err, Exception):
                    raise

        self.ask(run)
        try:
            return answer.result(ANSWER_S)
        except TimeIsOver:
            if answer.cancel():
                raise NoAnswer("the stepping thread gave no answer; nothing was done.") from None
        return answer.result()

    def close(self) -> None:
        """Nobody shall wait any more."""
        with self._news:
            self.closed = True
            self._news.notify()

    def wait(self, until: int) -> bool:
        """Wait for anything of it, at most to an absolute steady time [ns]; whether there is something."""
        with self._news:
            while not (self.commands or self.requests or self.closed):
                left = until - time.monotonic_ns()
                if left <= 0:
                    return False
                self._news.wait(left * 1e-9)
        return True
