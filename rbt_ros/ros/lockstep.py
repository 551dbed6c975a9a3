"""Mode lockstep: each step waits for the commands that answer the tick before it, up to a deadline."""

from collections.abc import Callable

from rbt_ros.model.hinge_commands import says_nothing
from rbt_ros.ros.sources import Barrier, Lockstep, Posted, targets
from rbt_ros.ros.taking import Intake

REPEAT_NS = 100_000_000  # how often the outputs are repeated that nobody has answered, at most
MOST_NS = 1_000_000_000  # at least, where the deadline leaves time for an answer


class Gate:
    """Shut in every tick that must be answered, until it is. Used by the stepping thread alone."""

    def __init__(self, options: Lockstep, intake: Intake, stamp_ns: Callable[[], int]):
        """stamp_ns: the clock."""
        self.options = options
        self._intake, self._stamp_ns = intake, stamp_ns
        self._barrier = Barrier()
        self._passed = -1  # the step whose answers are behind us
        self._passed_ns, self._answered = -1, frozenset[str]()  # the stamp of then, and who had answered
        self._repeat_at, self._pause_ns = 0, REPEAT_NS
        self._repeated = False  # whether this step was counted as one that needed a repeat

    def wait_anew(self) -> None:
        """The wait begins now; who has answered needs not answer twice."""
        self._barrier.began_ns = None

    def forget(self) -> None:
        """Nobody has answered: it is another tick, or others are waited for."""
        self._barrier.forget()

    def let_go(self) -> list[Posted]:
        """The answers to the tick of now: others are waited for, or nobody."""
        return self._barrier.let_go()

    def rewind(self) -> None:
        """The steps are counted from 0 again."""
        self._passed = self._passed_ns = -1
        self._answered = frozenset()
        self.forget()

    def waits_for(self, posted: Posted) -> bool:
        """Whether a command comes from a source that must answer."""
        return posted.source in self.options.wait_for

    def take(self, posted: Posted, step: int) -> None:
        """Keep an answer to this tick.

        One to another tick is late, and so is one to a tick that went on without it. Who answers twice repeats it: a
        sample may have come twice. What would be refused is no answer.
        """
        now, first = self._stamp_ns(), self._barrier.first_answer(posted)
        self._intake.latency.measure(posted, now)
        if self.options.stamps == "period":
            self._take_of_period(posted, now)
        elif first is None and (posted.stamp_ns != now or not self.is_shut(step)):
            self._be_late(posted)
        elif first is None or (self._barrier.keeps(first) and self._refuses(first)):
            self._barrier.take(posted)
        elif targets(first.command) != targets(posted.command):
            self._intake.refuse(
                f"command on {posted.source} ignored: another one has answered {posted.stamp_ns} ns; lockstep takes "
                "one message per topic and tick."
            )

    def _take_of_period(self, posted: Posted, now: int) -> None:
        """Of a sender that is led by the clock there is one message per period, whose stamp may be behind.

        So who has answered the wait before sends the answer to this one next. Of who has not, it may still come.
        """
        is_next = posted.source in self._answered or posted.stamp_ns > self._passed_ns
        if posted.stamp_ns > now or not is_next:
            self._be_late(posted)
        else:
            self._barrier.take(posted)

    def _is_mute(self, posted: Posted) -> bool:
        """Whether it answers without a command, as a controller manager does while no controller is active."""
        return self.options.stamps == "period" and says_nothing(posted.command)

    def _be_late(self, posted: Posted) -> None:
        self._intake.counters.late += 1
        self._intake.fault(
            f"command on {posted.source} is stamped {posted.stamp_ns} ns, and lockstep waits for {self._stamp_ns()} ns."
        )

    def _refuses(self, answer: Posted) -> bool:
        """Whether an answer that is kept would be refused; it is no answer then."""
        if self._is_mute(answer) or self._intake.would_take(answer.command):
            return False
        self._barrier.drop(answer)
        return True

    def missing(self) -> list[str]:
        """The topics that have not answered."""
        return self._barrier.missing(self.options)

    def is_shut(self, step: int) -> bool:
        """Whether this step must be answered, and is not yet."""
        return bool(self.options.wait_for) and step % self.options.every == 0 and self._passed != step

    def has_opened(self, step: int) -> bool:
        """Whether the next step may be taken: all that is waited for has come, and is latched now."""
        if not self.is_shut(step):
            return True
        if self.missing() or any([self._refuses(answer) for answer in self._barrier.answers()]):
            return False
        self._open(step)
        return True

    def _open(self, step: int) -> None:
        self._pause_ns = self._pause_after(self._barrier.answers())
        answers = self._barrier.pass_on()
        for posted in answers:
            if not self._is_mute(posted):
                self._intake.accept(posted)
        self._passed, self._passed_ns, self._repeated = step, self._stamp_ns(), False
        self._answered = frozenset(posted.source for posted in answers)
        self._intake.take_deferred()

    def _pause_after(self, answers: list[Posted]) -> int:
        """How long to wait for the next answers before a repeat: twice as long as for these.

        Each repeat that a slow controller is sent waits in its queue, and makes it slower.
        """
        began = self._barrier.began_ns
        if began is None or not answers:
            return REPEAT_NS
        took = max(posted.arrived_ns for posted in answers) - began
        return max(REPEAT_NS, min(2 * took, MOST_NS, self.options.deadline_ns // 2))

    # while it is shut: times are steady [ns]

    def deadline(self, now: int) -> int:
        """Until when this wait lasts; it begins with the first look."""
        if self._barrier.began_ns is None:
            self._barrier.began_ns, self._repeat_at = now, now + self._pause_ns
        return self._barrier.began_ns + self.options.deadline_ns

    def repeats(self, now: int) -> bool:
        """Whether the outputs are due again: a controller that came (back) finds what to answer."""
        if now < self._repeat_at:
            return False
        self._repeat_at = now + self._pause_ns
        if not self._repeated:
            self._repeated = True
            self._intake.counters.repeated += 1
        return True

    def next_look(self, end: int) -> int:
        """When there is something to do at the latest."""
        return min(end, self._repeat_at)

    def give_up(self, step: int) -> bool:
        """The deadline is over: do what was declared, tell it once until they answer again. True: stop is asked for."""
        missing, fallback = self.missing(), self.options.fallback
        watchdog, seconds = self._intake.watchdog, self.options.deadline_ns * 1e-9
        new = [source for source in missing if watchdog.miss(source)]
        if new:
            late = f"no command stamped {self._stamp_ns()} ns on {', '.join(new)} within {seconds:g} s"
            self._intake.counters.lost += len(new)
            self._intake.change(f"{late}: {fallback}.")
        if fallback == "stop":
            return True
        if fallback == "zero":
            for source in missing:
                self._intake.fall_back(watchdog.lose(source), "zero")
        self._open(step)
        return False
