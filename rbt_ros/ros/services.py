"""~/pause, ~/resume, ~/step, ~/reset, ~/save_state, ~/load_state as std_srvs/Trigger. None waits for a step.

What reads or writes a file does so aside: the others are served meanwhile.
"""

import functools
from collections.abc import Awaitable, Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from rbt_ros.checkpoint import read_state, rehearse, restore, write_state
from rbt_ros.errors import RbtError, ScenarioError
from rbt_ros.ros.errands import aside
from rbt_ros.ros.loop import Loop
from rbt_ros.sim import Simulation


class Services:
    """What a person or a script may ask of the node."""

    def __init__(
        self,
        node: Node,
        loop: Loop,
        value: Callable[[str], Any],
        twin: Callable[[], Simulation],
        on_loaded: Callable[[Simulation], None],
    ):
        """value: of a parameter; twin: makes another simulation like ours, in any thread.

        on_loaded: called in the executor's thread, after a checkpoint was loaded.
        """
        self._loop, self._value, self._twin, self._on_loaded = loop, value, twin, on_loaded
        calls = {
            "pause": self._pause,
            "resume": self._resume,
            "step": self._step,
            "reset": self._reset,
        }
        for name, call in calls.items():
            node.create_service(Trigger, f"~/{name}", functools.partial(_answer, call))
        for name, job in {"save_state": self._save, "load_state": self._load}.items():
            node.create_service(Trigger, f"~/{name}", answering(job))

    def _pause(self) -> str:
        self._loop.call(lambda sim: self._loop.set_paused(True))
        return f"paused at {self._now()}"

    def _resume(self) -> str:
        self._loop.call(lambda sim: self._loop.set_paused(False))
        return f"goes on from {self._now()}"

    def _step(self) -> str:
        count = self._value("step_ticks")

        def step(sim: Simulation) -> None:
            self._loop.refuse_to_move()
            if not self._loop.paused:
                raise Refused("it runs; pause it first")
            self._loop.add_steps(count)

        self._loop.call(step)
        return f"{count} steps are to be taken; /clock tells when they are"

    def _reset(self) -> str:
        def reset(sim: Simulation) -> None:
            sim.reset()
            self._loop.restarted()

        self._loop.call(reset)
        return f"back at the start; the clock goes on at {self._now()}"

    async def _save(self, request: Trigger.Request) -> str:
        file = self._value("state_file")
        memory, clock = self._loop.call(lambda sim: (self._loop.memory(), self._loop.stamp_ns()))
        await aside(lambda: write_state(memory, file, clock))
        return f"wrote {file}"

    async def _load(self, request: Trigger.Request) -> str:
        file = self._value("state_file")

        def read() -> dict[str, Any]:
            """Tried on a twin: what cannot be changes nothing here, and what compiles does so now."""
            content = read_state(file)
            rehearse(self._twin(), content, file)
            try:
                self._loop.check(content["simulation"])
            except ScenarioError as err:
                raise ScenarioError(f"checkpoint {file} is damaged: {err}") from err
            return content

        content = await aside(read)

        def load(sim: Simulation) -> None:
            restore(sim, content, file)
            self._loop.restarted(content["clock_ns"], content["simulation"])

        self._loop.call(load)
        self._on_loaded(self._loop.sim)
        return f"went on from {file}; the clock shows {self._now()}"

    def _now(self) -> str:
        return f"{self._loop.stamp_ns() * 1e-9:.9g} s"


class Refused(RbtError):
    """What is asked does not fit the state of the node."""


def _answer(call: Callable[[], str], request: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
    try:
        response.message, response.success = call(), True
    except RbtError as err:
        response.message, response.success = str(err), False
    return response


def answering(job: Callable[[Any], Awaitable[str]]) -> Callable[[Any, Any], Any]:
    """A service with `success` and `message` that awaits `job`, a function of the request."""

    async def answer(request: Any, response: Any) -> Any:
        try:
            response.message, response.success = await job(request), True
        except RbtError as err:
            response.message, response.success = str(err), False
        return response

    return answer
