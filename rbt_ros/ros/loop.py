"""The stepping thread: owns the Simulation, takes what other threads handed over, steps when it is time, publishes.

It waits on one condition for a command, a request or a deadline, whichever comes first, so that no service waits for a
step and no step for a service. The executor only parses and posts; nothing here waits on simulated time. When a step
is due says `pacing`, what must be answered before it `lockstep`, how commands are taken `taking`.
"""

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from rbt_ros.errors import ChangeError, MessageError, RbtError, ScenarioError, SolveError
from rbt_ros.model.checks import STAMP_END_NS
from rbt_ros.model.hinge_commands import HingeSettings
from rbt_ros.model.inputs import Command, Latched
from rbt_ros.results import Sample
from rbt_ros.ros.lockstep import Gate
from rbt_ros.ros.mailbox import Mailbox
from rbt_ros.ros.measures import Counters, LoopStatistics
from rbt_ros.ros.outputs import Output, Outputs, Seconds
from rbt_ros.ros.pacing import Pacer, wake_up_on_time
from rbt_ros.ros.priority import Urgency
from rbt_ros.ros.sources import Lockstep, Posted, Watchdog
from rbt_ros.ros.stamps import Stamps
from rbt_ros.ros.taking import Intake
from rbt_ros.sim import Simulation

INACTIVE = "the node is inactive; activate it first."
WAITING = "waiting"  # in a memory: commands that wait for the next tick
PLACE = "place"  # in a memory: how many ticks after one of all outputs, and of lockstep
LOOK_NS = 10_000_000  # how often to look whether a recorder that has fallen behind has caught up
SPARE_NS = 200_000  # before a deadline, where something that can wait is done


class Inactive(RbtError):
    """What is asked of a node that is not active."""


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
        on_change: Callable[[str], None] | None = None,
        on_restart: Callable[[], None] = lambda: None,
        on_defect: Callable[[str, Exception], str] | None = None,
        mode: str = "realtime",
        factor: float = 1.0,
        lockstep: Lockstep | None = None,
        watchdog: Watchdog | None = None,
        paused: bool = False,
        urgency: Urgency | None = None,
        claim: Callable[[], None] | None = None,
    ):
        """on_change: told who is lost or back, and that it stands still; on_fault is, where there is none.

        on_defect: told of an error that nobody foresaw, gives words for it; None: such an error ends the thread.
        claim: called by the stepping thread before its first step, for what a thread asks of the system for good.
        """
        self.sim = sim
        self.failure: str | None = None  # why the simulation stands still
        self.crashed: BaseException | None = None  # a defect of ours, raised again by `stop`
        self.mode, self.paused = mode, paused  # written by the stepping thread
        self.held = False  # so is this: deactivated
        # called where steps that were asked for may have been dropped
        self.began_anew: Callable[[], None] = lambda: None
        self.between: Callable[[], None] | None = None  # done between two steps where there is time: what can wait
        self.may_go_on: Callable[[], bool] | None = None  # whether a recorder keeps up, asked before each step
        self.watchdog = watchdog or Watchdog()
        self._deaf = 0  # for how many reasons nobody takes messages
        self._mailbox = Mailbox()
        self._pacer = Pacer(sim, self._mailbox, factor, urgency or Urgency())
        self._intake = Intake(sim, self.stamp_ns, self.watchdog, on_latched, on_fault, on_change or on_fault)
        self._gate = Gate(lockstep or Lockstep(), self._intake, self.stamp_ns)
        self._every_tick, self._second, self._claim, self._on_defect = every_tick, second, claim, on_defect
        self._on_restart = on_restart  # the simulation was put elsewhere in time
        self._stamps = Stamps(sim.h_ns, clock_start_ns)
        self.outputs = Outputs(self._stamps, outputs)  # changed by the stepping thread, or before it starts
        self._seconds = Seconds(self.outputs, self._stamps)
        self._steps_asked = 0  # while paused
        self._started = self._stepped_at = 0  # steady time [ns] of the start, and of the begin of the last step
        self._thread = threading.Thread(target=self._guarded_run, name="stepping", daemon=True)

    # from other threads

    def start(self) -> None:
        """Begin to step."""
        self._thread.start()

    def stop(self) -> None:
        """End after the step under way; raises what the thread died of, if it did."""
        self._mailbox.close()
        if self._thread.ident is not None:
            self._thread.join()
        if self.crashed is not None:
            raise self.crashed

    def post(self, command: Command, stamp_ns: int, source: str = "") -> None:
        """Hand over a command; it is latched before the next step. MessageError: nobody takes one from a topic yet."""
        if source and not self.started:
            raise MessageError(f"command on {source} ignored: {INACTIVE}")
        self._mailbox.post(command, stamp_ns, source)

    def ask(self, request: Callable[[Simulation], Any]) -> None:
        """Let the stepping thread call `request`, checked by who asks, with the simulation before its next step."""
        self._mailbox.ask(request)

    @contextlib.contextmanager
    def taking_no_messages(self) -> Iterator[None]:
        """For the thread that takes them, while it does something long: nobody is missed meanwhile."""
        self._deaf += 1
        try:
            yield
        finally:
            self._deaf -= 1

    def call(self, request: Callable[[Simulation], Any]) -> Any:
        """What `request` returns or raises, called by the stepping thread between two steps."""
        if not self.started:
            raise Inactive(INACTIVE)
        return self._mailbox.call(request)

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive()

    @property
    def started(self) -> bool:
        """Whether the thread was started."""
        return self._thread.ident is not None

    @property
    def running(self) -> bool:
        """Whether the thread has not ended: it runs, or is still to be started."""
        return not self.started or self.alive

    @property
    def counters(self) -> Counters:
        """What became of the commands."""
        return self._intake.counters

    @property
    def factor(self) -> float:
        """Simulated seconds per second of steady time."""
        return self._pacer.factor

    def set_factor(self, factor: float) -> None:
        """A request: another one, from now on; what is behind by the old one is not caught up by the new."""
        self._pacer.factor = factor
        self._begin_anew()

    @property
    def state(self) -> str:
        """What it does, for people."""
        if self.failure is not None:
            return "stands still"
        if self.held:
            return "inactive"
        if self.paused:
            return "paused"
        missing = self._gate.missing() if self.mode == "lockstep" else []
        return f"{self.mode}, waits for {', '.join(missing)}" if missing else self.mode

    def stamp_ns(self) -> int:
        """The clock: `clock_start` plus the steps since the start, whatever was reset. Never goes back."""
        return self._stamps.now_ns

    @property
    def zero_ns(self) -> int:
        """The stamp from which steps of the present length, and with them the periods of outputs, are counted."""
        return self._stamps.zero_ns if self._stamps.ticks.h_ns == self.sim.h_ns else self.stamp_ns()

    def statistics(self) -> LoopStatistics:
        """How well time was kept so far."""
        pacer, elapsed = self._pacer, max(0, self._stepped_at - self._started)
        late, latency = pacer.late.spread(), self._intake.latency.record.spread()
        return LoopStatistics(
            self._stamps.computed,
            elapsed,
            pacer.overruns,
            pacer.given_up_ns,
            self._seconds.rate,
            late,
            latency,
            str(pacer.urgency),
        )

    # requests: called in the stepping thread, by `ask` and `call`

    def set_mode(self, mode: str) -> None:
        """realtime, lockstep or fast from the next step on."""
        self.mode = mode
        self._mailbox.commands.extendleft(reversed(self._gate.let_go()))  # they are taken by the new rules
        self._begin_anew()

    def set_lockstep(self, lockstep: Lockstep) -> None:
        """Wait for other topics, or otherwise."""
        self._gate.options = lockstep
        self._mailbox.commands.extendleft(reversed(self._gate.let_go()))
        self._begin_anew()

    @property
    def steps_left(self) -> int:
        """How many steps are still to be taken of those that were asked for while it is paused."""
        return self._steps_asked

    def rewind_clock(self) -> None:
        """Show the start of the clock again. Only for who asks: listeners of /tf do not expect it."""
        self._jump(self._stamps.rewind)
        self._begin_anew()
        self._on_restart()
        self._publish(self.outputs.all)

    def set_step(self, step: float) -> None:
        """Take steps of that length [s] from now on; the clock goes on, outputs keep their periods from here on.

        ScenarioError where it cannot be.
        """
        self.refuse_another_step()
        self.sim.set_step(step)
        self._jump(lambda: self._stamps.count_from(self.stamp_ns(), self.sim.h_ns))
        self._begin_anew()

    def refuse_another_step(self) -> None:
        """ScenarioError where steps of the present length are still to be taken."""
        if self._steps_asked:
            raise ScenarioError(f"the step is not changed while {self._steps_asked} steps are being taken; wait.")

    def set_paused(self, paused: bool) -> None:
        """Stand still, or go on; the clock stands still with it. Inactive: who is held or broken does not go on."""
        if not paused:
            self.refuse_to_move()
        self.paused, self._steps_asked = paused, 0
        self._begin_anew()

    def set_held(self, held: bool) -> None:
        """Stand still whatever is asked, or be as before; steps that were asked for are dropped."""
        self.held, self._steps_asked = held, 0
        self._begin_anew()

    def refuse_to_move(self) -> None:
        """Inactive where no step may be taken."""
        if self.held:
            raise Inactive(INACTIVE)
        if self.failure is not None:
            raise Inactive(f"the simulation stands still, reset it: {self.failure}")

    def add_steps(self, count: int) -> None:
        """Take so many steps though it is paused, in the mode it is in. Inactive: who is held or broken takes none."""
        self.refuse_to_move()
        self._steps_asked += count
        self._begin_anew()

    def take_posted(self) -> None:
        """Take over what was posted, in the order of arrival."""
        while self._mailbox.commands:
            posted = self._mailbox.commands.popleft()
            with self._survived(f"command on {posted.source or 'a hinge'}"):
                self._take(posted)

    def _take(self, posted: Posted) -> None:
        if self.failure is not None and posted.source:
            self._intake.refuse(f"command on {posted.source} ignored: the simulation stands still; reset it.")
        elif self.mode == "lockstep" and self._gate.waits_for(posted):
            self._gate.take(posted, self._stamps.place)
        else:
            self._intake.take(posted, before_answers=self._is_shut())

    @contextlib.contextmanager
    def _survived(self, where: str) -> Iterator[None]:
        """What somebody has handed over, in which an error that nobody foresaw ends it alone."""
        try:
            yield
        except SolveError:
            raise
        except Exception as err:
            if self._on_defect is None:
                raise
            self._on_defect(where, err)

    def forget_own_refusal(self) -> None:
        """Begin to look whether parameters and viewers are refused something."""
        self._intake.own_refusal = ""

    def take_own(self) -> None:
        """Take over what was posted; MessageError where parameters and viewers were refused something since that."""
        self.take_posted()
        if self._intake.own_refusal:
            raise MessageError(self._intake.own_refusal)

    def note(self, latched: Latched) -> None:
        """A request has given this command itself."""
        self._intake.note(latched)

    def memory(self) -> dict[str, Any]:
        """All that the future depends on, what waits for the next tick included: see `checkpoint.py`."""
        return {**self.sim.memory(), WAITING: self._intake.memory(), PLACE: self._stamps.place}

    def settings_waiting(self) -> list[HingeSettings]:
        """The modes and gains that act from the next tick on."""
        return self._intake.settings_waiting()

    def check(self, memory: Mapping[str, Any]) -> None:
        """ScenarioError where `restarted` could not go on from this memory. Any thread may ask."""
        place = memory.get(PLACE, 0)
        if type(place) is not int or not 0 <= place < STAMP_END_NS:
            raise ScenarioError(f"{PLACE} is {place!r:.40}, not a number of ticks.")
        self._intake.posted_of(memory.get(WAITING, ()))

    def restarted(self, clock_ns: int = 0, memory: Mapping[str, Any] | None = None) -> None:
        """The simulation was put elsewhere in time: forget its past, show it under the next stamp, or clock_ns.

        memory: from which it goes on. Otherwise outputs and lockstep count from t = 0, and modes and gains that were
        to act from the next tick on act now.
        """
        self.failure, self._steps_asked = None, 0
        place = self.sim.tick if memory is None else memory.get(PLACE, self.sim.tick)
        self._jump(lambda: self._stamps.go_on_at(clock_ns, self.sim.h_ns, place))
        settings = self._intake.forget()
        if memory is None:
            self._mailbox.commands.extendleft(reversed(settings))
        else:
            self._intake.recall(memory.get(WAITING, ()))
        self._begin_anew()
        self._on_restart()
        self._publish(self.outputs.all)

    def _jump(self, jump: Callable[[], None]) -> None:
        """Let the clock begin a grid: outputs and lockstep count from there, and stamps may come a second time."""
        before = self.stamp_ns()
        jump()
        self._seconds.jumped(self.stamp_ns() - before)
        self.outputs.divide()
        self._gate.rewind()
        self._intake.latency.forget()

    def _begin_anew(self) -> None:
        """No deadline counts from before now; what answers the tick of now still does."""
        now = time.monotonic_ns()
        self._gate.wait_anew()
        self._pacer.restart(now)
        self.watchdog.restart(now)
        self.began_anew()

    # the thread

    def _guarded_run(self) -> None:
        try:
            self._run()
        except BaseException as err:  # kept for `stop`, which raises it in the main thread
            self.crashed = err

    def _run(self) -> None:
        wake_up_on_time()
        if self._claim is not None:
            self._claim()
        self._seen = self.sim.sample()
        self._publish(self.outputs.all)
        self._started = time.monotonic_ns()
        self._pacer.restart(self._started)
        self._seconds.begin(self._started)
        while not self._mailbox.closed:
            try:
                self._serve()
                self._turn()
                self._tell_second()
            except SolveError as err:  # of what begins at this tick: whoever looks first finds it
                self._stand_still(err)
            except Exception as err:
                if self._on_defect is None:
                    raise
                self._stand_still(SolveError(self._on_defect("a step", err)))

    def _serve(self) -> None:
        """Take over what was posted, in the order of arrival, then do what was asked, then miss who is silent."""
        self.take_posted()
        while self._mailbox.requests:
            with self._survived("a request"):
                self._mailbox.requests.popleft()(self.sim)
        if self._deaf:
            self.watchdog.restart(time.monotonic_ns())
            self._gate.wait_anew()
        elif not self._stands():
            self._intake.miss_silent()

    def _turn(self) -> None:
        """Take the next step when its time has come, or wait for that or for news."""
        if self._stands():
            self._do_between()
            self._mailbox.wait(self._seconds.at)
            self._pacer.restart(time.monotonic_ns())
        elif self.may_go_on is not None and not self.may_go_on():
            self._mailbox.wait(time.monotonic_ns() + LOOK_NS)
        elif not self._has_opened():
            self._await_answers()
        elif self.mode == "realtime":
            due = self._pacer.next_due()
            if due - time.monotonic_ns() > SPARE_NS:
                self._do_between()
            if self._pacer.slept_until(due, self._report_due()):
                self._step(due)
        else:
            self._step(time.monotonic_ns())

    def _do_between(self) -> None:
        if self.between is not None:
            self.between()

    def _stands(self) -> bool:
        return self.failure is not None or self.held or (self.paused and self._steps_asked == 0)

    # lockstep

    def _is_shut(self) -> bool:
        return self.mode == "lockstep" and self._gate.is_shut(self._stamps.place)

    def _has_opened(self) -> bool:
        return self.mode != "lockstep" or self._gate.has_opened(self._stamps.place)

    def _await_answers(self) -> None:
        now = time.monotonic_ns()
        end = self._gate.deadline(now)
        if now >= end:
            if self._gate.give_up(self._stamps.place):
                self.set_paused(True)
            return
        if self._gate.repeats(now):
            self._publish([output for output in self.outputs.due() if output.in_step])
        self._mailbox.wait(min(self._gate.next_look(end), self._report_due()))

    # stepping

    def _step(self, due: int) -> None:
        """Take the step that is due then, with what has come meanwhile."""
        self._serve()
        if self._mailbox.closed or self._stands() or not self._has_opened():
            return
        self._stepped_at = time.monotonic_ns()
        self._pacer.begin_step(due, self._stepped_at, counts=self.mode == "realtime")
        if not self._advanced():
            return
        self._stamps.step()
        self._mailbox.commands.extendleft(reversed(self._intake.next_tick()))
        self._steps_asked = max(0, self._steps_asked - 1)
        self._publish(self.outputs.due())

    def _advanced(self) -> bool:
        """Take one step; without the commands that act, where they would break the state. False: it is broken."""
        try:
            self.sim.advance(1)
        except SolveError as err:
            if not isinstance(err, ChangeError) and self.sim.drop_commands():
                self.counters.cancelled += 1
                self._intake.fault(f"the commands that act were cancelled: {err}")
                return self._advanced()
            self._stand_still(err)
            return False
        return True

    def _stand_still(self, err: SolveError) -> None:
        """The simulation cannot go on from here; a reset or a checkpoint can help."""
        if self.failure is None:
            self.failure = str(err)
            self._intake.change(f"the simulation stands still: {err}")

    # publishing

    def _publish(self, outputs: Sequence[Output]) -> None:
        stamp = self.stamp_ns()
        self._every_tick(stamp)
        if outputs:
            sample = self.sim.sample()
            for output in outputs:
                output.publish(sample, stamp)
        self._intake.latency.published(stamp)

    def _tell_second(self) -> None:
        if self._seconds.is_over(self._stands()):
            if self._stands():
                self._every_tick(self.stamp_ns())  # who comes now shall know the time
            self._second(self._last_sample(), self.stamp_ns())

    def _last_sample(self) -> Sample:
        """What is now; where that cannot be known, what was known last."""
        try:
            self._seen = self.sim.sample()
        except SolveError as err:
            self._stand_still(err)
        return self._seen

    def _report_due(self) -> int:
        return self._seconds.due(self._stands())
