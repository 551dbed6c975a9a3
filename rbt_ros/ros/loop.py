"""The stepping thread: owns the Simulation, keeps absolute deadlines on steady time, publishes from where it steps.

It waits on one condition for a command, a request or a deadline, whichever comes first, so that no service waits for a
step and no step for a service. The executor only parses and posts; nothing here waits on simulated time.
"""

import ctypes
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import MessageError, SolveError
from rbt_ros.model.hinge_commands import HingeCommand, HingeSettings, HingeTrajectory
from rbt_ros.model.inputs import Command, Latched, WrenchCommand
from rbt_ros.results import Sample
from rbt_ros.ros.measures import Counters, LoopStatistics, Record
from rbt_ros.ros.sources import Barrier, Lockstep, Posted, Watchdog
from rbt_ros.sim import Simulation

PR_SET_TIMERSLACK = 29  # <linux/prctl.h>
MOST_LAG_NS = 5_000_000_000  # behind by more than this, the lag is given up and reported (a machine that slept)
SECOND_NS = 1_000_000_000
REPEAT_NS = 100_000_000  # how often lockstep repeats the outputs that nobody has answered
STAMPS_KEPT = 8192  # ticks whose time of publication is known
# in one tick hinge commands are latched in this order, and what comes out of it waits for the next tick: the topics of
# the command log do not tell which of two entries of one stamp was first
LOG_ORDER = {HingeSettings: 1, HingeCommand: 2, HingeTrajectory: 3}
MOST_DEFERRED = 1000
ANSWER_S = 10.0  # for a request, which the stepping thread serves between two steps


def wake_up_on_time() -> None:
    """Ask Linux to wake the calling thread within a microsecond of its timers; the default leaves it 50 us of slack."""
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:  # Linux only; elsewhere the jitter in /diagnostics tells
        prctl(PR_SET_TIMERSLACK, ctypes.c_ulong(1))


class Output(NamedTuple):
    """What to publish every `divider` ticks."""

    divider: int
    publish: Callable[[Sample, int], None]  # (sample, stamp [ns])
    in_step: bool = True  # whether the report of a second waits for its stamp


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
        mode: str = "realtime",
        factor: float = 1.0,
        lockstep: Lockstep | None = None,
        watchdog: Watchdog | None = None,
        paused: bool = False,
    ):
        self.sim = sim
        self.counters = Counters()
        self.failure: str | None = None  # why the simulation stands still
        self.crashed: BaseException | None = None  # a defect of ours, raised again by `stop`
        self.mode, self.paused = mode, paused  # written by the stepping thread
        self.factor = factor  # simulated seconds per second of steady time
        self.lockstep = lockstep or Lockstep()
        self.watchdog = watchdog or Watchdog()
        self._clock_start_ns = clock_start_ns
        self._every_tick, self._outputs = every_tick, tuple(outputs)
        self._on_latched, self._on_fault, self._second = on_latched, on_fault, second
        self._report_divider = math.lcm(*(o.divider for o in self._outputs if o.in_step))
        self._steps = 0  # since the start of the process; the clock counts these
        self._steps_asked = 0  # while paused
        self._overruns = self._given_up_ns = self._elapsed_ns = 0
        self._rate = 0.0
        self._late, self._latency = Record(), Record()
        self._published_ns = np.zeros(STAMPS_KEPT, dtype=np.int64)
        self._barrier, self._repeat_at = Barrier(), 0
        self._order_now = 0  # of the hinge commands latched in this tick: see LOG_ORDER
        self._deferred: list[Posted] = []  # for the next tick
        self._passed = -1  # the step whose barrier is behind us
        self._inbox: deque[Posted] = deque()
        self._requests: deque[Callable[[Simulation], Any]] = deque()
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

    def post(self, command: Command, stamp_ns: int, source: str = "") -> None:
        """Hand over a command; it is latched before the next step."""
        with self._wake:
            self._inbox.append(Posted(command, stamp_ns, source, time.monotonic_ns()))
            self._wake.notify()

    def ask(self, request: Callable[[Simulation], Any]) -> None:
        """Let the stepping thread call `request`, checked by who asks, with the simulation before its next step."""
        with self._wake:
            self._requests.append(request)
            self._wake.notify()

    def call(self, request: Callable[[Simulation], Any]) -> Any:
        """What `request` returns or raises, called by the stepping thread between two steps."""
        answer: Future = Future()

        def run(sim: Simulation) -> None:
            try:
                answer.set_result(request(sim))
            except Exception as err:  # raised again by `result`, in the thread that asked
                answer.set_exception(err)

        self.ask(run)
        return answer.result(ANSWER_S)

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    @property
    def state(self) -> str:
        """What it does, for people."""
        if self.failure is not None:
            return "stands still"
        if self.paused:
            return "paused"
        missing = self._barrier.missing(self.lockstep) if self.mode == "lockstep" else []
        return f"{self.mode}, waits for {', '.join(missing)}" if missing else self.mode

    def stamp_ns(self) -> int:
        """The clock: `clock_start` plus the steps since the start, whatever was reset. Never goes back."""
        return self._clock_start_ns + self._steps * self.sim.h_ns

    def statistics(self) -> LoopStatistics:
        """How well time was kept so far."""
        late, latency = self._late.spread(), self._latency.spread()
        return LoopStatistics(
            self._steps, self._elapsed_ns, self._overruns, self._given_up_ns, self._rate, late, latency
        )

    # requests: called in the stepping thread, by `ask` and `call`

    def set_mode(self, mode: str) -> None:
        """realtime, lockstep or fast from the next step on."""
        self.mode = mode
        self._begin_anew()

    def set_lockstep(self, lockstep: Lockstep) -> None:
        """Wait for other topics, or otherwise."""
        self.lockstep = lockstep
        self._begin_anew()

    def set_paused(self, paused: bool) -> None:
        """Stand still, or go on; the clock stands still with it."""
        self.paused, self._steps_asked = paused, 0
        self._begin_anew()

    def add_steps(self, count: int) -> None:
        """Take so many steps though it is paused, in the mode it is in."""
        self._steps_asked += count
        self._begin_anew()

    def restarted(self, clock_ns: int = 0) -> None:
        """The simulation was put elsewhere in time: forget its past, show it under the next stamp, or clock_ns."""
        self.failure, self._steps_asked = None, 0
        saved = -(-(clock_ns - self._clock_start_ns) // self.sim.h_ns)
        self._steps = max(self._steps + 1, saved)
        self._deferred.clear()
        self._next_tick()
        self.watchdog.forget()
        self._begin_anew()
        self._publish_all()

    def _begin_anew(self) -> None:
        """No deadline counts from before now."""
        self._barrier.forget()
        self._due = time.monotonic_ns()
        self.watchdog.restart(self._due)

    # the thread

    def _guarded_run(self) -> None:
        try:
            self._run()
        except BaseException as err:  # kept for `stop`, which raises it in the main thread
            self.crashed = err

    def _run(self) -> None:
        wake_up_on_time()
        self._publish_all()
        self._started = self._due = time.monotonic_ns()
        self._second_at, self._steps_at_second = self._due + SECOND_NS, self._steps
        while not self._stopping:
            self._serve()
            self._turn()
            self._tell_second()

    def _turn(self) -> None:
        """Take the next step when its time has come, or wait for that or for news."""
        if self._stands():
            self._wait_for_news(self._second_at)
            self._due = time.monotonic_ns()
        elif self.mode == "lockstep" and not self._answered():
            self._await_answers()
        else:
            due = self._next_due()
            if self.mode == "realtime" and not self._slept_until(due):
                return
            self._serve()
            if not self._stopping and not self._stands() and (self.mode != "lockstep" or self._answered()):
                self._step(due)

    def _stands(self) -> bool:
        return self.failure is not None or (self.paused and self._steps_asked == 0)

    def _tell_second(self) -> None:
        now = time.monotonic_ns()
        if now < self._second_at or not (self._outputs_meet() or now >= self._second_at + SECOND_NS):
            return
        elapsed = now - self._second_at + SECOND_NS
        self._elapsed_ns = now - self._started
        self._rate = (self._steps - self._steps_at_second) * self.sim.h_ns / elapsed
        self._second_at, self._steps_at_second = now + SECOND_NS, self._steps
        if self._stands():
            self._every_tick(self.stamp_ns())  # who comes now shall know the time
        self._second(self.sim.sample(), self.stamp_ns())

    def _outputs_meet(self) -> bool:
        """Whether the report of a second made now bears the stamp of all other outputs. It waits a second for that."""
        return self._stands() or self._steps % self._report_divider == 0

    # waiting

    def _next_due(self) -> int:
        """When the next step is due: a fixed grid, so that a late step is caught up and no drift adds up."""
        now = time.monotonic_ns()
        if self.mode != "realtime":
            return now
        due = self._due + round(self.sim.h_ns / self.factor)
        if now - due > MOST_LAG_NS:
            self._given_up_ns += now - due
            return now
        return due

    def _slept_until(self, due: int) -> bool:
        """Sleep to an absolute time; False where a long sleep was ended early, by news."""
        if due - time.monotonic_ns() > 20_000_000 and self._wait_for_news(due - 10_000_000):
            return False
        if (left := due - time.monotonic_ns()) > 0 and not self._stopping:
            time.sleep(left * 1e-9)  # clock_nanosleep: half as much jitter as a condition
        return True

    def _wait_for_news(self, until: int) -> bool:
        """Wait for a command, a request or the end, at most to an absolute time; whether there is any of them."""
        with self._wake:
            while not (self._inbox or self._requests or self._stopping):
                left = until - time.monotonic_ns()
                if left <= 0:
                    return False
                self._wake.wait(left * 1e-9)
        return True

    # lockstep

    def _answered(self) -> bool:
        """Whether the next step may be taken: all that is waited for has come, and is latched now."""
        if not self.lockstep.wait_for or self._steps % self.lockstep.every or self._passed == self._steps:
            return True
        if self._barrier.missing(self.lockstep):
            return False
        self._pass_barrier()
        return True

    def _pass_barrier(self) -> None:
        for posted in self._barrier.pass_on(self.stamp_ns()):
            self._accept(posted)
        self._passed = self._steps

    def _await_answers(self) -> None:
        now = time.monotonic_ns()
        if self._barrier.began_ns is None:
            self._barrier.began_ns, self._repeat_at = now, now + REPEAT_NS
        end = self._barrier.began_ns + self.lockstep.deadline_ns
        if now >= end:
            self._miss_answers()
            return
        if now >= self._repeat_at:  # a controller that came (back) finds what to answer
            self._publish(self._outputs_due())
            self._repeat_at = now + REPEAT_NS
        self._wait_for_news(min(end, self._repeat_at, self._second_at))

    def _miss_answers(self) -> None:
        """The deadline is over: what was declared for that is done, and told once until they answer again."""
        missing, seconds = self._barrier.missing(self.lockstep), self.lockstep.deadline_ns * 1e-9
        fallback = self.lockstep.fallback
        new = [source for source in missing if not self.watchdog.is_lost(source)]
        acting = {source: self.watchdog.lose(source) for source in missing}
        if new:
            self.counters.lost += len(new)
            names = ", ".join(new)
            self._fault(f"no command stamped {self.stamp_ns()} ns on {names} within {seconds:g} s: {fallback}.")
        if fallback == "stop":
            self.set_paused(True)
            return
        if fallback == "zero":
            for source in missing:
                self._fall_back(acting[source], "zero")
        self._pass_barrier()

    # commands

    def _serve(self) -> None:
        """Take over what was posted, in the order of arrival, then do what was asked, then miss who is silent."""
        while self._inbox:
            self._take(self._inbox.popleft())
        while self._requests:
            self._requests.popleft()(self.sim)
        if self.watchdog.timeout_ns and not self._stands():
            for name in self.watchdog.silent(time.monotonic_ns()):
                self.counters.lost += 1
                fallback, seconds = self.watchdog.fallback, self.watchdog.timeout_ns * 1e-9
                self._fault(f"nothing on {name} for {seconds:g} s: {fallback}.")
                self._fall_back(self.watchdog.lose(name), fallback)

    def _fall_back(self, acting: list[Command], how: str) -> None:
        for command in acting:
            for instead in self.sim.fallback(command, how):
                self._latch(instead)

    def _take(self, posted: Posted) -> None:
        """Latch a command now, or keep it for the barrier; refuse what is too old."""
        stamp, now = posted.stamp_ns, self.stamp_ns()
        if stamp and posted.source:
            self._measure_latency(posted)
        if isinstance(posted.command, HingeTrajectory) and stamp:  # it begins at its stamp
            posted = posted._replace(command=posted.command.shifted(stamp - now))
        if self.mode == "lockstep" and posted.source in self.lockstep.wait_for:
            if not self._barrier.take(posted, now):
                self.counters.late += 1
                self._fault(f"command on {posted.source} is stamped {stamp} ns, and lockstep waits for {now} ns.")
            return
        age = now - stamp if stamp else 0
        if isinstance(posted.command, WrenchCommand) and age > posted.command.hold_ns:
            self.counters.stale += 1
            held, body = posted.command.hold_ns * 1e-9, posted.command.wrench.body
            self._fault(f"wrench on '{body}' ignored: stamped {age * 1e-9:.3f} s ago, held for {held:.3f} s.")
            return
        if -age > SECOND_NS and not isinstance(posted.command, HingeTrajectory):
            self.counters.ahead += 1
            self._fault(
                f"{described(posted)} is stamped {-age * 1e-9:.3f} s ahead of /clock and acts now; set use_sim_time on "
                "its sender."
            )
        if self._out_of_order(posted.command):
            self._defer(posted)
        else:
            self._accept(posted)

    def _out_of_order(self, command: Command) -> bool:
        """Whether the log could not tell that it acts after what was latched in this tick."""
        order = LOG_ORDER.get(type(command))
        return order is not None and (bool(self._deferred) or order < self._order_now)

    def _defer(self, posted: Posted) -> None:
        if len(self._deferred) < MOST_DEFERRED:
            self._deferred.append(posted)
        else:
            self.counters.reject(f"{described(posted)} ignored: {MOST_DEFERRED} commands wait for the next tick.")

    def _next_tick(self) -> None:
        """What was deferred comes before all that is new."""
        self._order_now = 0
        self._inbox.extendleft(reversed(self._deferred))
        self._deferred.clear()

    def _accept(self, posted: Posted) -> None:
        if not self._latch(posted.command):
            return
        self.counters.accepted += 1
        if self.watchdog.heard(posted, time.monotonic_ns()):
            self._on_fault(f"{posted.source} is back.")

    def _latch(self, command: Command) -> bool:
        """Let a command act from the next step on, and put it into the log; False where it is refused."""
        try:
            latched = self.sim.command(command)
        except MessageError as err:
            self.counters.reject(str(err))
            self._on_fault(str(err))
            return False
        self._order_now = max(self._order_now, LOG_ORDER.get(type(command), 0))
        self._on_latched(latched, self.stamp_ns())
        return True

    def _measure_latency(self, posted: Posted) -> None:
        behind, off = divmod(self.stamp_ns() - posted.stamp_ns, self.sim.h_ns)
        if off == 0 and 0 <= behind < STAMPS_KEPT:
            published = int(self._published_ns[(self._steps - behind) % STAMPS_KEPT])
            if published:
                self._latency.add((posted.arrived_ns - published) * 1e-3)

    def _fault(self, text: str) -> None:
        self.counters.last_fault = text
        self._on_fault(text)

    # stepping

    def _step(self, due: int) -> None:
        if self.mode == "realtime":
            late = time.monotonic_ns() - due
            self._late.add(late * 1e-3)
            self._overruns += late > self.sim.h_ns / self.factor
        self._due = due
        if not self._advanced():
            return
        self._steps += 1
        self._next_tick()
        self._steps_asked = max(0, self._steps_asked - 1)
        self._publish(self._outputs_due())

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

    # publishing

    def _outputs_due(self) -> list[Output]:
        return [output for output in self._outputs if self._steps % output.divider == 0]

    def _publish_all(self) -> None:
        """What is now, on every output."""
        self._publish(self._outputs)

    def _publish(self, outputs: Sequence[Output]) -> None:
        stamp = self.stamp_ns()
        self._every_tick(stamp)
        if outputs:
            sample = self.sim.sample()
            for output in outputs:
                output.publish(sample, stamp)
        self._published_ns[self._steps % STAMPS_KEPT] = time.monotonic_ns()


def described(posted: Posted) -> str:
    """A command, for people."""
    if isinstance(posted.command, WrenchCommand):
        return f"wrench on '{posted.command.wrench.body}'"
    return f"command on {posted.source or 'a hinge'}"
