"""Where commands come from: which of them lockstep waits for, and what happens when one falls silent."""

from typing import NamedTuple

from rbt_ros.model.hinge_commands import HingeCommand, HingeSettings, HingeTorque
from rbt_ros.model.inputs import Command, WrenchCommand

FALLBACKS = ("zero", "hold", "hold_position")  # of the watchdog
ON_MISS = ("hold", "zero", "stop")  # of lockstep
STAMPS = ("tick", "period")  # of the answers that lockstep takes
JOINT, TORQUE, WRENCH = "joint", "torque", "wrench"
Target = tuple[str, str]  # one of these, and the name of the joint, spherical hinge or body


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
    stamps: str = "tick"  # of answers: that of the tick that waits, or (period) one per period, which may be behind


class Barrier:
    """Step k + 1 waits for the commands stamped k. Used by the stepping thread alone."""

    def __init__(self) -> None:
        self._answers: dict[str, Posted] = {}
        self._answered: dict[str, Posted] = {}  # what each has answered last
        self.began_ns: int | None = None  # steady time since which it has been waiting

    def take(self, posted: Posted) -> None:
        """Keep the answer of its source to the tick that waits."""
        self._answers[posted.source] = posted

    def first_answer(self, posted: Posted) -> Posted | None:
        """What its source has answered under this stamp already."""
        for answers in (self._answers, self._answered):
            if (first := answers.get(posted.source)) and first.stamp_ns == posted.stamp_ns:
                return first
        return None

    def missing(self, options: Lockstep) -> list[str]:
        """The topics that have not answered."""
        return [source for source in options.wait_for if source not in self._answers]

    def keeps(self, answer: Posted) -> bool:
        """Whether it is an answer to the tick that waits."""
        return self._answers.get(answer.source) is answer

    def drop(self, answer: Posted) -> None:
        """Its source has not answered."""
        del self._answers[answer.source]

    def answers(self) -> list[Posted]:
        """Those that have come, in an order that does not depend on their arrival."""
        return [self._answers[source] for source in sorted(self._answers)]

    def pass_on(self) -> list[Posted]:
        """The answers; the next tick waits anew."""
        answers = self.answers()
        self._answered.update(self._answers)
        self.forget()
        return answers

    def let_go(self) -> list[Posted]:
        """The answers, which are none any more."""
        answers = self.answers()
        self.forget()
        return answers

    def forget(self) -> None:
        """Wait anew."""
        self._answers, self.began_ns = {}, None


class Source:
    """One topic that has sent commands."""

    def __init__(self) -> None:
        self.heard_ns = 0  # steady time
        self.acting: dict[Target, Command] = {}  # the command on each joint, spherical hinge and body that is its last
        self.lost = False
        self.missed = False  # by lockstep; what it has commanded may still act


class Watchdog:
    """Knows which sources are silent, by steady time. Used by the stepping thread alone."""

    def __init__(self, timeout_ns: int = 0, fallback: str = "zero"):
        """timeout_ns 0: nobody is ever too late."""
        self.timeout_ns, self.fallback = timeout_ns, fallback
        self._sources: dict[str, Source] = {}

    def adjust(self, other: "Watchdog") -> None:
        """Take timeout and fallback of another one; the sources stay."""
        self.timeout_ns, self.fallback = other.timeout_ns, other.fallback

    def take_over(self, command: Command) -> None:
        """What this command acts on, whoever gave it, no source commands any more."""
        for target in targets(command):
            for source in self._sources.values():
                source.acting.pop(target, None)

    def heard(self, posted: Posted, now_ns: int) -> bool:
        """Note an accepted command, which has taken over; whether its source had been lost or missed."""
        if not posted.source:
            return False
        source = self._sources.setdefault(posted.source, Source())
        source.heard_ns = now_ns
        source.acting.update(dict.fromkeys(targets(posted.command), posted.command))
        was_away = source.lost or source.missed
        source.lost = source.missed = False
        return was_away

    def silent(self, now_ns: int) -> list[str]:
        """The sources that have just become too late; each is told once."""
        if not self.timeout_ns:
            return []
        heard = {name: source for name, source in self._sources.items() if source.heard_ns and not source.lost}
        return [name for name, source in heard.items() if now_ns - source.heard_ns > self.timeout_ns]

    def miss(self, name: str) -> bool:
        """Note that lockstep goes on without this source, which may be one that never came; whether that is new."""
        source = self._sources.setdefault(name, Source())
        new = not (source.missed or source.lost)
        source.missed = True
        return new

    def lose(self, name: str) -> list[Command]:
        """Count a source as lost; what it had commanded and nobody else since, joints as one let go."""
        source = self._sources.setdefault(name, Source())
        source.lost = True
        joints = tuple(target for kind, target in source.acting if kind == JOINT)
        others = [command for (kind, _), command in source.acting.items() if kind != JOINT]
        source.acting.clear()
        return [*([HingeCommand(joints)] if joints else []), *others]

    def restart(self, now_ns: int) -> None:
        """Time that nobody could use does not count: after a pause all sources are as if just heard."""
        for source in self._sources.values():
            source.heard_ns = now_ns if source.heard_ns else 0

    def forget(self) -> None:
        """Know no sources."""
        self._sources.clear()


def targets(command: Command) -> tuple[Target, ...]:
    """What a command acts on."""
    if isinstance(command, WrenchCommand):
        return ((WRENCH, command.wrench.body),)
    if isinstance(command, HingeTorque):
        return ((TORQUE, command.hinge),)
    if isinstance(command, HingeSettings):
        return tuple((kind, setting.joint) for setting in command.settings for kind in (JOINT, TORQUE))
    return tuple((JOINT, joint) for joint in command.joints)
