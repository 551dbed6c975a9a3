"""Steps that are asked for while the simulation is paused, one order at a time; who asked is told of their end."""

import functools
import threading
import time
from collections.abc import Callable
from typing import NamedTuple

from rbt_ros.ros.loop import Loop
from rbt_ros.ros.outputs import SECOND_NS
from rbt_ros.ros.result_codes import FAILED, INCORRECT_STATE, Refusal
from rbt_ros.sim import Simulation

MOST_STEPS = 10**12  # a millennium at 30 ms: more is a mistake
PROGRESS_NS = SECOND_NS // 20  # of steady time, from one report to the next


class Order(NamedTuple):
    """Steps under way."""

    begin: int  # the clock when they were asked for [ns]
    steps: int
    on_progress: Callable[[int], None]  # (how many are done)
    on_end: Callable[[int, str], None]  # (how many are done, why not all; empty: all)


class Stepping:
    """Watches the clock of a loop. All but `order`, `cancel` and `busy` runs in the stepping thread."""

    def __init__(self) -> None:
        self._loop: Loop | None = None
        self._order: Order | None = None
        self._report_at = 0

    def watched(self, every_tick: Callable[[int], None]) -> Callable[[int], None]:
        """`every_tick` that also counts what was asked for."""

        def tick(stamp: int) -> None:
            every_tick(stamp)
            if self._order is not None:
                self._count(stamp)

        return tick

    def attach(self, loop: Loop) -> None:
        """The loop whose `every_tick` this watches."""
        self._loop, loop.began_anew = loop, self.look

    @property
    def busy(self) -> bool:
        """Whether steps are under way."""
        return self._order is not None

    def order(self, steps: int, on_end: Callable[[int, str], None], on_progress: Callable[[int], None]) -> None:
        """Begin; both functions are called in the stepping thread. Refusal where it cannot be."""
        assert self._loop is not None
        self._loop.call(lambda sim: self._begin(steps, on_end, on_progress))

    def cancel(self, on_end: Callable[[int, str], None]) -> None:
        """End the steps under way after the one that is being taken, if that function waits for their end."""
        assert self._loop is not None
        self._loop.ask(functools.partial(self._cancel, on_end))

    def look(self) -> None:
        """When somebody pauses, resumes, resets, and once a second: end what ended otherwise than by its last step."""
        loop = self._loop
        if loop is not None and not (loop.paused and loop.failure is None and loop.steps_left):
            self.end(loop.failure or "somebody paused, resumed or reset")

    def end(self, why: str) -> None:
        """Let the order under way end here, if there is one; its steps are still to be dropped."""
        order, loop = self._order, self._loop
        if order is not None and loop is not None:
            self._end((loop.stamp_ns() - order.begin) // loop.sim.h_ns, why)

    def _begin(self, steps: int, on_end: Callable[[int, str], None], on_progress: Callable[[int], None]) -> None:
        loop = self._loop
        assert loop is not None
        if self._order is not None:
            raise Refusal(INCORRECT_STATE, "other steps are being taken; wait for their end, or cancel them.")
        if loop.failure is not None:
            raise Refusal(FAILED, f"the simulation stands still: {loop.failure}")
        loop.refuse_to_move()
        if not loop.paused:
            raise Refusal(FAILED, "the simulation runs; pause it first.")
        if steps > MOST_STEPS:
            raise Refusal(FAILED, f"{steps} steps; at most {MOST_STEPS} are taken at once.")
        if steps == 0:
            on_end(0, "")
            return
        self._order = Order(loop.stamp_ns(), steps, on_progress, on_end)
        self._report_at = time.monotonic_ns()
        loop.add_steps(steps)

    def _cancel(self, on_end: Callable[[int, str], None], sim: Simulation) -> None:
        order, loop = self._order, self._loop
        if order is not None and loop is not None and order.on_end is on_end:
            self.end("cancelled")
            loop.set_paused(True)

    def _count(self, stamp: int) -> None:
        order, loop = self._order, self._loop
        assert order is not None and loop is not None
        done = (stamp - order.begin) // loop.sim.h_ns
        if done >= order.steps:
            order.on_progress(order.steps)
            self._end(order.steps, "")
        elif (now := time.monotonic_ns()) >= self._report_at:
            self._report_at = now + PROGRESS_NS
            order.on_progress(done)

    def _end(self, done: int, why: str) -> None:
        order, self._order = self._order, None
        assert order is not None
        order.on_end(done, why)


class Waiting:
    """For who waits for the end of an order in a thread of its own."""

    def __init__(self) -> None:
        self._ended = threading.Event()
        self.why = ""

    def end(self, done: int, why: str) -> None:
        """`on_end` of the order."""
        self.why = why
        self._ended.set()

    def wait(self, loop: Loop) -> None:
        """Return at the end; Refusal where the steps were not all taken."""
        while not self._ended.wait(0.2):
            if not loop.alive:
                raise Refusal(FAILED, "the simulator ended.")
        if self.why:
            raise Refusal(FAILED, f"not all steps were taken: {self.why.rstrip('.')}.")
