"""An answer waits until its client can hear it.

A client asks as soon as it sees the service, which sees the client in two parts: what it asks by, and what it hears by.
On a machine under load the second may come seconds after the first. The middleware waits 0.1 s for it, in which no
thread of Python runs, then drops the answer, and rclpy warns: "failed to send response (timeout)".
"""

import inspect
import time
import types
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from rclpy._rclpy_pybind11 import InvalidHandle
from rclpy.node import Node
from rclpy.service import Service

LIMIT_S = 10.0  # for a client that never hears
AGAIN_S = 0.2  # to the second attempt; to the next ones twice as long each, since nothing steps while one waits
PARTICIPANT = 12  # bytes of a global identity, the same for all that one process has


def answer_when_heard(node: Node, service: Service) -> None:
    """Let a service do at once what it is asked, and answer when its client hears."""
    warnings.filterwarnings("error", "failed to send response", RuntimeWarning)  # rclpy says it in no other way
    name, answer, send = service.service_name, service.callback, service.send_response

    async def answer_then(request: Any, response: Any) -> Any:
        response = answer(request, response)
        if inspect.isawaitable(response):
            response = await response
        await heard(node, name)
        return response

    async def send_again(response: Any, header: Any) -> None:
        pause = AGAIN_S
        while pause < LIMIT_S:
            await _until(time.monotonic() + pause)
            if _is_sent(send, response, header):
                return
            pause *= 2.0
        node.get_logger().warning(f"{name} was asked by a client that does not hear; its answer is lost")

    def send_surely(response: Any, header: Any) -> None:
        if not _is_sent(send, response, header):
            node.executor.create_task(send_again, response, header)  # type: ignore[union-attr]

    service.callback = answer_then  # type: ignore[assignment]
    service.send_response = send_surely  # type: ignore[method-assign]


def deaf(node: Node, service: str) -> set[bytes]:
    """The participants that ask by this service (its whole name) and are not seen to hear; where no DDS is below, none.

    Which of them has asked, rclpy does not tell.
    """
    asking = node.get_publishers_info_by_topic(f"rq{service}Request", no_mangle=True)
    if not asking:
        return set()
    hearing = node.get_subscriptions_info_by_topic(f"rr{service}Reply", no_mangle=True)
    each, both = (Counter(bytes(end.endpoint_gid[:PARTICIPANT]) for end in ends) for ends in (asking, hearing))
    return set(each - both)


_given_up: set[bytes] = set()  # participants that have not heard for LIMIT_S: nobody waits for them again


async def heard(node: Node, *services: str) -> None:
    """Return when all who ask by these services hear, or have not for LIMIT_S."""
    end = time.monotonic() + LIMIT_S
    while left := set[bytes]().union(*(deaf(node, service) for service in services)) - _given_up:
        if time.monotonic() > end:
            _given_up.update(left)
        await _until(0.0)


@types.coroutine
def _until(end: float) -> Iterator[None]:
    """Let the executor do other things, once at least: it looks at tasks that wait 100 times a second."""
    yield
    while time.monotonic() < end:
        yield


def _is_sent(send: Callable[[Any, Any], None], response: Any, header: Any) -> bool:
    """False: it was dropped, and may be sent again."""
    try:
        send(response, header)
    except RuntimeWarning:
        return False
    except SystemError as err:  # rclpy gives a warning and does not look whether that is an error
        if not isinstance(err.__cause__, RuntimeWarning):
            raise
        return False
    except InvalidHandle:
        pass  # the service was destroyed meanwhile
    return True
