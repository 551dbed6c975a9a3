"""How a command is taken: judged by its stamp, latched in the order that the log can tell, missed when silent."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from rbt_ros.command_log import LOG_ORDER
from rbt_ros.command_messages import command_memory, command_of
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.model.hinge_commands import HingeCommand, HingeSettings, HingeTrajectory
from rbt_ros.model.inputs import Command, Latched, WrenchCommand
from rbt_ros.ros.measures import Counters, Latency
from rbt_ros.ros.sources import Posted, Watchdog
from rbt_ros.sim import Simulation

AHEAD_NS = 1_000_000_000  # stamped later than this after the clock: the sender's clock is another one
FAR_AHEAD_NS = 86_400 * 1_000_000_000  # likewise of a trajectory, which may begin later
ANSWERS = LOG_ORDER[HingeCommand]  # what lockstep waits for
MOST_DEFERRED = 1000


class Intake:
    """Latches commands in `sim`. Used by the stepping thread alone, but for `counters.reject`."""

    def __init__(
        self,
        sim: Simulation,
        stamp_ns: Callable[[], int],
        watchdog: Watchdog,
        on_latched: Callable[[Latched, int], None],
        on_fault: Callable[[str], None],
        on_change: Callable[[str], None],
    ):
        """stamp_ns: the clock; on_change: told once that somebody is lost, or back."""
        self.counters, self.latency, self.watchdog = Counters(), Latency(sim), watchdog
        self._sim, self._stamp_ns, self._on_latched = sim, stamp_ns, on_latched
        self._on_fault, self._on_change = on_fault, on_change
        self._order_now = 0  # of the hinge commands latched in this tick: see LOG_ORDER
        self._deferred: list[Posted] = []
        self.own_refusal = ""  # the last one of a command without a source: of a parameter or a viewer

    def take(self, posted: Posted, *, before_answers: bool = False) -> None:
        """Latch a command now, or keep it for later; refuse what is too old.

        before_answers: lockstep still waits in this tick for set-points, which the log shows before trajectories.
        """
        if self._out_of_order(posted.command, before_answers):
            self._defer(posted)  # as it came: it is shifted, judged and measured once, when it is taken
            return
        self.latency.measure(posted, self._stamp_ns())
        if not self._too_old(posted) and not self._too_far_ahead(posted):
            self._tell_if_ahead(posted)
            self.accept(self._from_its_stamp(posted))

    def take_deferred(self) -> None:
        """After the answers of a tick: what had to wait for them."""
        for posted in self._emptied():
            self.take(posted)

    def next_tick(self) -> list[Posted]:
        """A step was taken: what was deferred comes before all that is new."""
        self._order_now = 0
        return self._emptied()

    def memory(self) -> list[list[Any]]:
        """What waits for the next tick, as lists and numbers: command, stamp against the clock (None: none), source."""
        now = self._stamp_ns()
        return [
            [command_memory(posted.command), posted.stamp_ns - now if posted.stamp_ns else None, posted.source]
            for posted in self._deferred
        ]

    def recall(self, memory: Sequence[list[Any]]) -> None:
        """Let that wait for the next tick."""
        self._deferred = self.posted_of(memory)

    def posted_of(self, memory: Sequence[list[Any]]) -> list[Posted]:
        """What such lists say; ScenarioError where they are none."""
        now, arrived = self._stamp_ns(), time.monotonic_ns()
        try:
            return [
                Posted(command_of(command), 0 if ahead is None else now + int(ahead), str(source), arrived)
                for command, ahead, source in memory
            ]
        except (TypeError, ValueError, KeyError, OverflowError) as err:
            raise ScenarioError(f"a command that waits is none: {err!r:.200}.") from err

    def settings_waiting(self) -> list[HingeSettings]:
        """The modes and gains among what waits."""
        return [posted.command for posted in self._deferred if isinstance(posted.command, HingeSettings)]

    def forget(self) -> list[Posted]:
        """The simulation was put elsewhere in time: nothing waits, nobody is missed. Modes and gains that waited."""
        self.watchdog.forget()
        return [posted for posted in self.next_tick() if isinstance(posted.command, HingeSettings)]

    def _emptied(self) -> list[Posted]:
        deferred, self._deferred = self._deferred, []
        return deferred

    def accept(self, posted: Posted) -> None:
        """Latch a command that is judged already, and count it."""
        if refusal := self.latch(posted.command):
            if not posted.source:
                self.own_refusal = refusal
            return
        self.counters.accepted += 1
        if self.watchdog.heard(posted, time.monotonic_ns()):
            self._on_change(f"{posted.source} is back.")

    def latch(self, command: Command) -> str:
        """Let a command act from the next step on, and put it into the log; why it is refused, or nothing."""
        try:
            self.note(self._sim.command(command))
        except MessageError as err:
            self.refuse(str(err))
            return str(err)
        return ""

    def would_take(self, command: Command) -> bool:
        """Whether a command would be latched now; if not, it is refused."""
        try:
            self._sim.check(command)
        except MessageError as err:
            self.refuse(str(err))
            return False
        return True

    def refuse(self, text: str) -> None:
        """Count a command that is not taken, and say why."""
        self.counters.reject(text)
        self._on_fault(text)

    def note(self, latched: Latched) -> None:
        """Put a command that was taken into the log; what it acts on is nobody else's now."""
        self.watchdog.take_over(latched.command)
        self._order_now = max(self._order_now, LOG_ORDER.get(type(latched.command), 0))
        self._on_latched(latched, self._stamp_ns())

    def fault(self, text: str) -> None:
        """Report what went wrong."""
        self.counters.last_fault = text
        self._on_fault(text)

    def change(self, text: str) -> None:
        """Report what is otherwise from now on, and is told once."""
        self.counters.last_fault = text
        self._on_change(text)

    # by its stamp

    def _too_old(self, posted: Posted) -> bool:
        """Whether a wrench would have ended before it came."""
        age = self._age_ns(posted)
        if not isinstance(posted.command, WrenchCommand) or age <= posted.command.hold_ns:
            return False
        self.counters.stale += 1
        held, body = posted.command.hold_ns * 1e-9, posted.command.wrench.body
        self.fault(f"wrench on '{body}' ignored: stamped {age * 1e-9:.3f} s ago, held for {held:.3f} s.")
        return True

    def _too_far_ahead(self, posted: Posted) -> bool:
        """Whether a trajectory would begin in days: where its joints go on from there, nobody would see."""
        ahead = -self._age_ns(posted)
        if not isinstance(posted.command, HingeTrajectory) or ahead <= FAR_AHEAD_NS:
            return False
        self.counters.ahead += 1
        self.fault(
            f"{described(posted)} ignored: it is stamped {ahead * 1e-9:.0f} s ahead of /clock; set use_sim_time on its "
            "sender."
        )
        return True

    def _tell_if_ahead(self, posted: Posted) -> None:
        """Of a sender on another clock; a trajectory may begin when it likes."""
        ahead = -self._age_ns(posted)
        if ahead > AHEAD_NS and not isinstance(posted.command, HingeTrajectory):
            self.counters.ahead += 1
            self.fault(
                f"{described(posted)} is stamped {ahead * 1e-9:.3f} s ahead of /clock and acts now; set use_sim_time "
                "on its sender."
            )

    def _from_its_stamp(self, posted: Posted) -> Posted:
        """A trajectory begins at its stamp: its times from this tick on."""
        if not isinstance(posted.command, HingeTrajectory):
            return posted
        return posted._replace(command=posted.command.shifted(-self._age_ns(posted)))

    def _age_ns(self, posted: Posted) -> int:
        return self._stamp_ns() - posted.stamp_ns if posted.stamp_ns else 0

    # in the order of the log

    def _out_of_order(self, command: Command, before_answers: bool) -> bool:
        """Whether the log could not tell that it acts after what was latched in this tick, or before what will be."""
        order = LOG_ORDER.get(type(command))
        if order is None:
            return False
        return bool(self._deferred) or order < self._order_now or (before_answers and order > ANSWERS)

    def _defer(self, posted: Posted) -> None:
        if len(self._deferred) < MOST_DEFERRED:
            self._deferred.append(posted)
        else:
            self.counters.reject(f"{described(posted)} ignored: {MOST_DEFERRED} commands wait for the next tick.")

    # when nothing comes

    def miss_silent(self) -> None:
        """Do what the watchdog says for those who have fallen silent."""
        if not self.watchdog.timeout_ns:
            return
        for name in self.watchdog.silent(time.monotonic_ns()):
            fallback, seconds = self.watchdog.fallback, self.watchdog.timeout_ns * 1e-9
            self.counters.lost += 1
            self.change(f"nothing on {name} for {seconds:g} s: {fallback}.")
            self.fall_back(self.watchdog.lose(name), fallback)

    def fall_back(self, acting: list[Command], how: str) -> None:
        """Latch what takes the place of commands whose source is lost."""
        for command in acting:
            for instead in self._sim.fallback(command, how):
                self.latch(instead)


def described(posted: Posted) -> str:
    """A command, for people."""
    if isinstance(posted.command, WrenchCommand):
        return f"wrench on '{posted.command.wrench.body}'"
    return f"command on {posted.source or 'a hinge'}"
