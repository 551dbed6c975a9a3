"""The stepping thread: owns the Simulation, keeps absolute deadlines on steady time, publishes from where it steps.

The executor only parses and posts; nothing here waits on a lock held by it, and nothing waits on simulated time.
"""

import ctypes
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.errors import MessageError, SolveError
from rbt_ros.model.inputs import Latched, WrenchCommand
from rbt_ros.results import Sample
from rbt_ros.sim import Simulation

PR_SET_TIMERSLACK = 29  # <linux/prctl.h>
LATENESS_KEPT = 10_000  # wake-ups over which the percentiles are told: the last 10 s at 1 kHz
MOST_LAG_NS = 5_000_000_000  # behind by more than this, the lag is given up and reported (a machine that slept)
SECOND_NS = 1_000_000_000


def wake_up_on_time() -> None:
    """Ask Linux to wake the calling thread within a microsecond of its timers; the default leaves it 50 us of slack."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:  # Linux only; elsewhere the jitter in /diagnostics tells
        prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(1))


class Output(NamedTuple):
    """What to publish every `divider` ticks."""

    divider: int
    publish: Callable[[Sample, int], None]  # (sample, stamp [ns])


class Posted(NamedTuple):
    """A command with the stamp of its message [ns]; 0: none, it means now."""

    command: WrenchCommand
    stamp_ns: int


class Counters:
    """What happened since the start. Each field has one writing thread, `rejected` by `reject` only."""

    def __init__(self) -> None:
        self.accepted = 0
        self.stale = 0  # older than their own hold time when they arrived
        self.ahead = 0  # stamped later than our clock: taken, but the sender's clock is another one
        self.cancelled = 0  # dropped because the state would have become non-finite
        self.rejected = 0
        self.last_fault = ""
        self._lock = threading.Lock()

    def reject(self, why: str) -> None:
        """Count a refused command."""
        with self._lock:
            self.rejected += 1
            self.last_fault = why


class LoopStatistics(NamedTuple):
    """How well time was kept."""

    ticks: int
    elapsed_ns: int  # of steady time, from the first step to the last report
    overruns: int  # ticks that began after the next one's deadline
    given_up_ns: int  # lag that was not caught up
    real_time_factor: float  # over the last second
    late_p50_us: float  # wake-up after deadline, over the last LATENESS_KEPT ticks
    late_p99_us: float
    late_max_us: float  # since the start


class Loop:
    """Steps `sim` and calls `outputs`; `every_tick` gets the stamp of each step, `second` is called once a second."""

    def __init__(
        self,
        sim: Simulation,
        *,
        clock_start_ns: int,
        every_tick: Callable[[int], None],
        outputs: Sequence[Output],
        on_latched: Callable[[Latched, int], None],
        on_fault: Callable[[str], None],
        second: Callable[[Sample, int], None],
        paced: bool = True,
        factor: float = 1.0,
    ):
        self.sim = sim
        self.counters = Counters()
        self.failure: str | None = None  # why the simulation stands still
        self.crashed: BaseException | None = None  # a defect of ours, raised again by `stop`
        self._clock_start_ns = clock_start_ns
        self._every_tick, self._outputs = every_tick, tuple(outputs)
        self._on_latched, self._on_fault, self._second = on_latched, on_fault, second
        self._paced, self._factor = paced, factor
        self._report_divider = math.lcm(*(o.divider for o in self._outputs))
        self._steps = 0  # since the start of the process; the clock counts these
        self._overruns = self._given_up_ns = self._elapsed_ns = 0
        self._rate = 0.0
        self._late = np.zeros(LATENESS_KEPT)
        self._late_max_ns = 0
        self._inbox: deque[Posted] = deque()
        self._requests: deque[Callable[[Simulation], None]] = deque()
        self._wake = threading.Condition()
        self._stopping = False
        self._thread = threading.Thread(target=self._guarded_run, name="stepping", daemon=True)

    # from other threads

    def start(self) -> None:
        """Begin to step."""
        self._thread.start()

    def stop(self) -> None:
        """End after the step under way; raises what the thread died of, if it did."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.ident is not None:
            self._thread.join()
        if self.crashed is not None:
            raise self.crashed

    def post(self, command: WrenchCommand, stamp_ns: int) -> None:
        """Hand over a command; it is latched before the next step."""
        with self._wake:
            self._inbox.append(Posted(command, stamp_ns))
            self._wake.notify()

    def ask(self, request: Callable[[Simulation], None]) -> None:
        """Let the stepping thread call `request`, checked by who asks, with the simulation before its next step."""
        with self._wake:
            self._requests.append(request)
            self._wake.notify()

    @property
    def factor(self) -> float:
        """Simulated seconds per second of steady time."""
        return self._factor

    @factor.setter
    def factor(self, value: float) -> None:
        self._factor = value

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    def stamp_ns(self) -> int:
        """The clock: `clock_start` plus the steps since the start, whatever was reset. Never goes back."""
        return self._clock_start_ns + self._steps * self.sim.h_ns

    def statistics(self) -> LoopStatistics:
        """How well time was kept so far."""
        late = self._late[: min(self._steps, LATENESS_KEPT)] if self._paced else np.zeros(0)
        p50, p99 = np.percentile(late, [50, 99]) if late.size else (0.0, 0.0)
        return LoopStatistics(
            self._steps,
            self._elapsed_ns,
            self._overruns,
            self._given_up_ns,
            self._rate,
            float(p50),
            float(p99),
            self._late_max_ns * 1e-3,
        )

    # the thread

    def _guarded_run(self) -> None:
        try:
            self._run()
        except BaseException as err:  # kept for `stop`, which raises it in the main thread
            self.crashed = err

    def _run(self) -> None:
        wake_up_on_time()
        self._publish_all()
        started = deadline = time.monotonic_ns()
        second_at, steps_at_second = deadline + SECOND_NS, 0
        while not self._stopping:
            self._latch()
            now = time.monotonic_ns()
            if self.failure is None:
                deadline = self._next_deadline(deadline, now)
                self._wait_until(deadline)
                if self._stopping:
                    break
                self._step(deadline)
            else:
                self._wait_until(second_at)
                deadline = time.monotonic_ns()
            now = time.monotonic_ns()
            if now >= second_at and (self._outputs_meet() or now >= second_at + SECOND_NS):
                elapsed = now - second_at + SECOND_NS
                self._elapsed_ns = now - started
                self._rate = (self._steps - steps_at_second) * self.sim.h_ns / elapsed
                second_at, steps_at_second = now + SECOND_NS, self._steps
                self._second(self.sim.sample(), self.stamp_ns())

    def _outputs_meet(self) -> bool:
        """Whether the report of a second made now bears the stamp of all other outputs. It waits a second for that."""
        return self.failure is not None or self._steps % self._report_divider == 0

    def _next_deadline(self, last: int, now: int) -> int:
        """When the next step is due: a fixed grid, so that a late step is caught up and no drift adds up."""
        if not self._paced:
            return now
        due = last + round(self.sim.h_ns / self._factor)
        if now - due > MOST_LAG_NS:
            self._given_up_ns += now - due
            return now
        return due

    def _wait_until(self, deadline: int) -> None:
        """Sleep to an absolute time; a long wait can be ended by `stop` and by commands."""
        while (left := deadline - time.monotonic_ns()) > 20_000_000 and not self._stopping:
            with self._wake:
                if not self._stopping:
                    self._wake.wait((left - 10_000_000) * 1e-9)
        if (left := deadline - time.monotonic_ns()) > 0 and not self._stopping:
            time.sleep(left * 1e-9)  # clock_nanosleep: half as much jitter as a condition

    def _latch(self) -> None:
        """Do what was asked; take over what was posted, in the order of arrival: it acts from this step on."""
        while self._requests:
            self._requests.popleft()(self.sim)
        while self._inbox:
            command, stamp = self._inbox.popleft()
            age = self.stamp_ns() - stamp if stamp else 0
            if age > command.hold_ns:
                self.counters.stale += 1
                held = command.hold_ns * 1e-9
                self._fault(
                    f"wrench on '{command.wrench.body}' ignored: stamped {age * 1e-9:.3f} s ago, held for {held:.3f} s."
                )
                continue
            if -age > SECOND_NS:
                self.counters.ahead += 1
                self._fault(
                    f"wrench on '{command.wrench.body}' is stamped {-age * 1e-9:.3f} s ahead of /clock and acts now; "
                    "set use_sim_time on its sender."
                )
            try:
                latched = self.sim.command(command)
            except MessageError as err:
                self.counters.reject(str(err))
                self._on_fault(str(err))
                continue
            self.counters.accepted += 1
            self._on_latched(latched, self.stamp_ns())

    def _fault(self, text: str) -> None:
        self.counters.last_fault = text
        self._on_fault(text)

    def _step(self, deadline: int) -> None:
        late = time.monotonic_ns() - deadline
        self._late[self._steps % LATENESS_KEPT] = late * 1e-3
        if self._paced:
            self._late_max_ns = max(self._late_max_ns, late)
            self._overruns += late > self.sim.h_ns / self._factor
        if not self._advanced():
            return
        self._steps += 1
        stamp = self.stamp_ns()
        self._every_tick(stamp)
        due = [output for output in self._outputs if self._steps % output.divider == 0]
        if due:
            sample = self.sim.sample()
            for output in due:
                output.publish(sample, stamp)

    def _advanced(self) -> bool:
        """Take one step; without the commands that act, where they would break the state. False: it is broken."""
        try:
            self.sim.advance(1)
        except SolveError as err:
            if self.sim.drop_commands():
                self.counters.cancelled += 1
                self._fault(f"the commands that act were cancelled: {err}")
                return self._advanced()
            self.failure = str(err)
            self._fault(f"the simulation stands still: {err}")
            return False
        return True

    def _publish_all(self) -> None:
        """The start, t = 0, on every output."""
        sample, stamp = self.sim.sample(), self.stamp_ns()
        self._every_tick(stamp)
        for output in self._outputs:
            output.publish(sample, stamp)
