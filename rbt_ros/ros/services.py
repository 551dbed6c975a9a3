"""~/pause, ~/resume, ~/step, ~/reset, ~/save_state, ~/load_state as std_srvs/Trigger. None waits for a step."""

import functools
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from rbt_ros.checkpoint import read_state, restore, write_state
from rbt_ros.errors import RbtError
from rbt_ros.ros.loop import Loop
from rbt_ros.sim import Simulation


class Services:
    """What a person or a script may ask of the node."""

    def __init__(self, node: Node, loop: Loop, value: Callable[[str], Any], on_loaded: Callable[[Simulation], None]):
        """value: of a parameter; on_loaded: called in the executor's thread, after a checkpoint was loaded."""
        self._loop, self._value, self._on_loaded = loop, value, on_loaded
        calls = {
            "pause": self._pause,
            "resume": self._resume,
            "step": self._step,
            "reset": self._reset,
            "save_state": self._save,
            "load_state": self._load,
        }
        for name, call in calls.items():
            node.create_service(Trigger, f"~/{name}", functools.partial(_answer, call))

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

    def _save(self) -> str:
        file = self._value("state_file")
        memory, clock = self._loop.call(lambda sim: (self._loop.memory(), self._loop.stamp_ns()))
        write_state(memory, file, clock)
        return f"wrote {file}"

    def _load(self) -> str:
        file = self._value("state_file")
        content = read_state(file)

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
