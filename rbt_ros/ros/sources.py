"""Where commands come from: which of them lockstep waits for, and what happens when one falls silent."""

from typing import NamedTuple

from rbt_ros.model.hinge_commands import HingeSettings, HingeTorque
from rbt_ros.model.inputs import Command, WrenchCommand

FALLBACKS = ("zero", "hold", "hold_position")  # of the watchdog
ON_MISS = ("hold", "zero", "stop")  # of lockstep


class Posted(NamedTuple):
    """A command with the stamp of its message [ns]; 0: none, it means now."""

    command: Command
    stamp_ns: int
    source: str = ""  # the topic
    arrived_ns: int = 0  # steady time


class Lockstep(NamedTuple):
    """Which topics must answer, how often, how long that may take."""

    wait_for: tuple[str, ...] = ()
    every: int = 1  # ticks
    deadline_ns: int = 1_000_000_000  # of steady time
    fallback: str = "hold"  # or zero, stop


class Barrier:
    """Step k + 1 waits for the commands stamped k. Used by the stepping thread alone."""

    def __init__(self) -> None:
        self._answers: dict[str, Posted] = {}
        self._answered_ns: dict[str, int] = {}  # the stamp that each has answered last
        self.began_ns: int | None = None  # steady time since which it has been waiting

    def take(self, posted: Posted, stamp_ns: int | None) -> bool:
        """Whether it answers the tick of this stamp, or repeats an answer; None: no tick waits for one."""
        if posted.stamp_ns == stamp_ns:
            self._answers.setdefault(posted.source, posted)
            return True
        return posted.stamp_ns == self._answered_ns.get(posted.source)

    def missing(self, options: Lockstep) -> list[str]:
        """The topics that have not answered."""
        return [source for source in options.wait_for if source not in self._answers]

    def pass_on(self, stamp_ns: int) -> list[Posted]:
        """The answers, in an order that does not depend on their arrival; the next tick waits anew."""
        answers = [self._answers[source] for source in sorted(self._answers)]
        self._answered_ns.update(dict.fromkeys(self._answers, stamp_ns))
        self.forget()
        return answers

    def forget(self) -> None:
        """Wait anew."""
        self._answers, self.began_ns = {}, None


class Source:
    """One topic that has sent commands."""

    def __init__(self) -> None:
        self.heard_ns = 0  # steady time
        self.acting: dict[tuple[str, ...], Command] = {}  # the last command on each body or set of joints
        self.lost = False


class Watchdog:
    """Knows which sources are silent, by steady time. Used by the stepping thread alone."""

    def __init__(self, timeout_ns: int = 0, fallback: str = "zero"):
        """timeout_ns 0: nobody is ever too late."""
        self.timeout_ns, self.fallback = timeout_ns, fallback
        self._sources: dict[str, Source] = {}

    def adjust(self, other: "Watchdog") -> None:
        """Take timeout and fallback of another one; the sources stay."""
        self.timeout_ns, self.fallback = other.timeout_ns, other.fallback

    def heard(self, posted: Posted, now_ns: int) -> bool:
        """Note an accepted command; whether its source had been lost."""
        if not posted.source:
            return False
        source = self._sources.setdefault(posted.source, Source())
        source.heard_ns = now_ns
        source.acting[_target(posted.command)] = posted.command
        was_lost, source.lost = source.lost, False
        return was_lost

    def silent(self, now_ns: int) -> list[str]:
        """The sources that have just become too late; each is told once."""
        if not self.timeout_ns:
            return []
        return [name for name, s in self._sources.items() if not s.lost and now_ns - s.heard_ns > self.timeout_ns]

    def lose(self, name: str) -> list[Command]:
        """Count a source as lost; what it had commanded."""
        source = self._sources.setdefault(name, Source())
        source.lost = True
        acting = list(source.acting.values())
        source.acting.clear()
        return acting

    def is_lost(self, name: str) -> bool:
        """Whether that source is."""
        return name in self._sources and self._sources[name].lost

    def restart(self, now_ns: int) -> None:
        """Time that nobody could use does not count: after a pause all sources are as if just heard."""
        for source in self._sources.values():
            source.heard_ns = now_ns

    def forget(self) -> None:
        """Know no sources."""
        self._sources.clear()


def _target(command: Command) -> tuple[str, ...]:
    """What a command acts on, by kind."""
    if isinstance(command, WrenchCommand):
        return ("wrench", command.wrench.body)
    if isinstance(command, HingeTorque):
        return ("torque", command.hinge)
    if isinstance(command, HingeSettings):
        return ("settings",)
    return ("joints", *command.joints)
