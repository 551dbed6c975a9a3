"""One guard round every callback: what one raises is answered, logged and counted, and the node goes on.

An RbtError is an answer, and each service gives it in its own words. All else is a defect of ours, or of who called.
"""

import functools
import inspect
import time
import traceback
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult

from rbt_ros import topics

REPEAT_S = 1.0  # [s] of steady time, after which the same error is logged again
MOST_TEXT = 300


class Faults:
    """What callbacks have raised. `note` is called by any thread."""

    def __init__(self, warn: Callable[[str], None]):
        self.count, self.last = 0, ""
        self._warn, self._told = warn, dict[str, float]()

    def note(self, where: str, err: Exception) -> str:
        """Count it and say it in the log; what it says."""
        self.count += 1
        self.last = text = f"{where}: {described(err)}"
        now = time.monotonic()
        if self._told.get(text, 0.0) <= now:
            self._told = {known: due for known, due in self._told.items() if due > now}
            self._told[text] = now + REPEAT_S
            self._warn(f"unexpected error in {text}; nothing else is stopped by it")
        return text

    def report(self) -> topics.Report:
        """For /diagnostics."""
        values = {"unexpected errors": self.count, "last": self.last or "none"}
        if self.count:
            return topics.Report("callbacks", topics.WARN, f"{self.count} unexpected errors: {self.last}", values)
        return topics.Report("callbacks", topics.OK, "no unexpected error", values)


def described(err: BaseException) -> str:
    """An error in words, with the place that raised it."""
    frames = traceback.extract_tb(err.__traceback__)
    place = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    return f"{type(err).__name__}: {err!s:.{MOST_TEXT}}{place}"


def guarded(callback: Callable[[Any, Any], Any], where: str, faults: Faults) -> Callable[[Any, Any], Any]:
    """A service that always answers: with what `callback` answers, or that it failed, and why."""

    def refused(err: Exception, request: Any, response: Any) -> Any:
        return refusal(faults.note(where, err), request, type(response)())  # not half of another answer

    if inspect.iscoroutinefunction(callback):

        async def later(request: Any, response: Any) -> Any:
            try:
                return await callback(request, response)
            except Exception as err:
                return refused(err, request, response)

        return later

    @functools.wraps(callback)
    def now(request: Any, response: Any) -> Any:
        try:
            return callback(request, response)
        except Exception as err:
            return refused(err, request, response)

    return now


def refusal(text: str, request: Any, response: Any) -> Any:
    """The response, saying in its own fields that nothing came of the request; one without any stays empty."""
    result: Any = getattr(response, "result", None)
    if hasattr(response, "success"):
        response.success = False
        if hasattr(response, "message"):
            response.message = text
    elif hasattr(response, "results"):
        failed = SetParametersResult(successful=False, reason=text)
        response.results = [failed for _ in request.parameters]
    elif isinstance(result, SetParametersResult):
        result.successful, result.reason = False, text
    elif hasattr(result, "error_message"):
        result.result, result.error_message = result.RESULT_OPERATION_FAILED, text
    return response
