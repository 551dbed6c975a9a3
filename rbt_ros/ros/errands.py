"""What threads ask of each other: others of the executor's thread, and it of others what waits for a disk.

Parameters are set in the executor's thread, one change at a time. It waits for no disk, no process and no compiler:
what does is done `aside`, and the service that asked answers when it is done.
"""

import threading
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from typing import Any

from rclpy import task
from rclpy.node import Node

from rbt_ros.errors import MessageError

LOOK_S = 0.1  # how soon who waits sees that the node ends


def aside(work: Callable[[], Any]) -> task.Future:
    """What `work` returns or raises, done by a thread of its own: for a callback that awaits it."""
    answer = task.Future()

    def run() -> None:
        try:
            answer.set_result(work())
        except Exception as err:  # raised again by `await`
            answer.set_exception(err)

    threading.Thread(target=run, name="aside", daemon=True).start()
    return answer


class Turns:
    """Callbacks that await come to their end in the order of their begin."""

    def __init__(self) -> None:
        self._last = task.Future()
        self._last.set_result(None)

    async def one_by_one(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """What `work` returns or raises, begun when all that came before have ended."""
        before, mine = self._last, task.Future()
        self._last = mine
        await before
        try:
            return await work()
        finally:
            mine.set_result(None)


class Errands:
    """Made in the executor's thread; `call` is for all others."""

    def __init__(self, node: Node):
        self._waiting: deque[tuple[Callable[[], Any], Future]] = deque()
        self._guard = node.create_guard_condition(self._run_all)

    def call(self, errand: Callable[[], Any], given_up: Callable[[], bool]) -> Any:
        """What `errand` returns or raises; MessageError once `given_up` says that nobody will do it any more."""
        answer: Future = Future()
        self._waiting.append((errand, answer))
        self._guard.trigger()
        while True:
            try:
                return answer.result(LOOK_S)
            except NoAnswer:
                if given_up():
                    raise MessageError("the node is ending.") from None

    def _run_all(self) -> None:
        while self._waiting:
            errand, answer = self._waiting.popleft()
            try:
                answer.set_result(errand())
            except Exception as err:  # raised again by `result`, in the thread that asked
                answer.set_exception(err)
