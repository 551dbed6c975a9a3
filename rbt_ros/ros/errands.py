"""What other threads ask the executor's thread to do: parameters are set there, one at a time."""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NoAnswer
from typing import Any

from rclpy.node import Node

from rbt_ros.errors import MessageError

LOOK_S = 0.1  # how soon who waits sees that the node ends


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
