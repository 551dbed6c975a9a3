"""Recording: samples and commands of a run into a bag, by a thread or a process of its own.

The thread that steps only hands over. What finds no room is counted and reported, never waited for, unless the run may
wait. At most `FLUSH_S` and a look of the scribe, 0.3 s, are lost when the process that writes is killed.
"""

import json
import math
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from rbt_ros import topics
from rbt_ros.bags.files import SECOND_NS, BagWriter
from rbt_ros.bags.handover import Apart, HandOver, Queue
from rbt_ros.bags.plan import DIGEST, STRING, Channel, Due, Output, Plan, Scribe, Written, due_of
from rbt_ros.command_log import CommandLog
from rbt_ros.errors import ScenarioError
from rbt_ros.fields import Fields, header
from rbt_ros.model.inputs import Effort, Latched, WrenchCommand
from rbt_ros.model.robot import Robot
from rbt_ros.model.sensors import Mount
from rbt_ros.paths import as_path
from rbt_ros.results import Sample

MOST_CYCLE = 100_000  # ticks until what is due repeats, up to which it is remembered
MOST_WAITING = 20_000  # samples
TRAIL_NS = 100_000_000  # from one digest to the next, scenario time
JOINTS = "sensor_msgs/msg/JointState"


class Report(NamedTuple):
    """What became of a recording."""

    folder: Path
    messages: int
    size: int  # [bytes]
    lost: int  # samples that found no place in the queue


class Recording:
    """A bag of one robot: the topics that the node publishes, the command log, the digests, what runs."""

    def __init__(
        self,
        folder: str | Path,
        robot: Robot,
        *,
        h_ns: int,
        outputs: dict[str, float],
        clock_start_ns: int = SECOND_NS,
        prefix: str = "",
        node: str = "/rbt_simulator",
        compression: str = "zstd",
        split_bytes: int = 0,
        split_s: float = 0.0,
        most_waiting: int = MOST_WAITING,
        extra: tuple[tuple[str, str], ...] = (),
        mounts: tuple[Mount, ...] = (),
        apart: bool = False,
        writer: Callable[..., BagWriter] = BagWriter,
    ):
        """outputs: rates by key [Hz]; node: its full name; extra: more topics and types, for `put`.

        mounts: frames of sensors.

        apart: written by a process of its own, so that nothing takes the interpreter from the thread that steps.
        """
        for name, value in {"split_bytes": split_bytes, "split_s": split_s}.items():
            if not 0 <= value < 9e18:
                raise ScenarioError(f"{name} {value!r:.40} must be a number, 0 or more; 0: one file.")
        if not most_waiting >= 1:
            raise ScenarioError(f"most_waiting {most_waiting!r:.40} must be a number of samples, 1 or more.")
        self.folder = as_path(folder, "the folder of a bag", ScenarioError)
        self._node, self._space = node, node.rpartition("/")[0]
        self._h_ns, self._zero_ns, self._robot = h_ns, clock_start_ns, robot
        self._channels: list[Channel] = []
        self._outputs: list[Output] = []
        clock, latched = self._add_outputs(robot, prefix, outputs)
        self._run = self._channel(f"{node}/run", STRING, "latched")
        self._efforts = self._channel(f"{node}/latched/efforts", JOINTS, "log")
        self._extra = {topic: self._channel(self._full(topic), kind, "stream") for topic, kind in extra}
        self._divide()
        self._log = CommandLog(robot, prefix, node, self._log_channel)
        self._order = (0, 0)  # stamp of the last entry of the log, and how many had it
        self._told: dict[str, Any] = {}  # how wrench commands are to be read
        self._written: Written | None = None
        self._left_out = 0  # messages of extra topics that found no room
        what = str(self.folder), robot, prefix, tuple(self._channels), tuple(self._outputs), clock, latched
        plan = Plan(*what, compression, split_bytes, split_s, self._run, mounts)
        self._hand: HandOver = Apart(plan) if apart else Queue(Scribe(plan, writer), most_waiting)
        self._sample = self._hand.sample

    def _channel(self, topic: str, kind: str, qos: str) -> int:
        self._channels.append(Channel(topic, kind, qos))
        return len(self._channels)

    def _add_outputs(self, robot: Robot, prefix: str, rates: dict[str, float]) -> tuple[Output, tuple[Output, ...]]:
        """Note what is made of samples; the clock, and what is said once."""
        clock, *published = topics.published(robot, prefix)
        latched = []
        for topic in published:
            rate = rates.get(topic.key, 0.0) if topic.key else 0.0
            if topic.qos == "latched":
                latched.append(self._output(topic))
            elif rate > 0.0:
                self._outputs.append(self._output(topic, round(SECOND_NS / rate)))
        trail = self._channel(f"{self._node}/digest", STRING, "log")
        self._outputs.append(Output(DIGEST, "", TRAIL_NS, trail))
        return self._output(clock), tuple(latched)

    def _output(self, topic: topics.Topic, period_ns: int = 0) -> Output:
        channel = self._channel(self._full(topic.name), topic.type, topic.qos)
        return Output(topic.key, topic.name, period_ns, channel)

    def _divide(self) -> None:
        """The periods of the outputs in whole ticks."""
        self._dividers = [max(1, round(output.period_ns / self._h_ns)) for output in self._outputs]
        self._every = 1 in self._dividers
        self._cycle = math.lcm(*self._dividers)
        self._due: dict[int, Due] = {}  # by the tick in a cycle

    def _full(self, topic: str) -> str:
        return topic if topic.startswith("/") else f"{self._space}/{topic}"

    def _log_channel(self, topic: str, kind: str) -> Callable[[Fields], None]:
        channel = self._channel(topic.replace("~", self._node, 1), kind, "log")
        return lambda fields: self._note(channel, fields)

    @property
    def waiting(self) -> int:
        """How much was handed over and is not written yet."""
        return self._hand.waiting

    @property
    def has_room(self) -> bool:
        """Whether a sample would find room now; also where nothing is recorded any more."""
        return self._hand.has_room

    @property
    def spent(self) -> float:
        """Time that a processor has spent on writing [s]."""
        return self._hand.spent

    @property
    def writer(self) -> str:
        """Who writes, for people."""
        return self._hand.writer

    @property
    def lost(self) -> int:
        """How many samples found no room, and messages of extra topics."""
        return self._hand.lost + self._left_out

    @property
    def failure(self) -> str:
        """Why nothing is recorded any more."""
        return self._hand.failure

    # from the thread that steps

    @property
    def common_ticks(self) -> int:
        """Something is recorded at multiples of so many ticks only."""
        return math.gcd(*self._dividers)

    def ticks_to_next(self, stamp: int) -> int:
        """How many ticks after this stamp something is recorded."""
        if self._every:
            return 1
        tick = (stamp - self._zero_ns) // self._h_ns
        return min(divider - tick % divider for divider in self._dividers)

    def take(self, sample: Sample, stamp: int, *, wait: bool = False) -> None:
        """Record what is due at this stamp. wait: rather than lose it, until there is room."""
        at = (stamp - self._zero_ns) // self._h_ns % self._cycle
        due = self._due.get(at)
        if due is None:
            due = self._due_at(at)
        if due.outputs:
            self._sample(due, sample, stamp, wait)

    def _due_at(self, at: int) -> Due:
        due = due_of(self._outputs, tuple(k for k, n in enumerate(self._dividers) if at % n == 0))
        if len(self._due) < MOST_CYCLE:
            self._due[at] = due
        return due

    def begin(self, sample: Sample, stamp: int, run: dict[str, Any]) -> None:
        """Record what is said once, and what runs from here on: all that `verify` needs."""
        self._hand.latched(sample, stamp)
        self.runs(stamp, run)

    def runs(self, stamp: int, run: dict[str, Any], after: int | None = None, zero_ns: int | None = None) -> None:
        """What runs from this stamp on.

        after: the last stamp of what ran before, where a reset or the like came; zero_ns: the stamp from which periods
        are counted, in place of this one where the step has changed.
        """
        if run["step_ns"] != self._h_ns:
            self._h_ns, self._zero_ns = run["step_ns"], stamp
            self._divide()
        if zero_ns is not None:
            self._zero_ns = zero_ns
        self._told = {"wrench_at": run["wrench_at"], "wrench_hold": run["wrench_hold"]}
        data = {"data": json.dumps({**run, "stamp": stamp})}
        time_ns = self._log_time(stamp if after is None else after)
        self._hand.fields(self._run, data, time_ns)

    def note(self, latched: Latched, stamp: int) -> None:
        """Record a command. These are never lost."""
        self._log_stamp = stamp
        if isinstance(command := latched.command, WrenchCommand):
            how = {"wrench_at": command.wrench.at, "wrench_hold": command.hold_ns * 1e-9}
            if changed := {key: value for key, value in how.items() if value != self._told[key]}:
                self.note_parameters(changed, stamp)
        self._log.note(latched, stamp)

    def note_parameters(self, values: dict[str, Any], stamp: int) -> None:
        """Record parameters that act on the motion."""
        self._log_stamp = stamp
        self._told.update({key: value for key, value in values.items() if key in self._told})
        self._log.note_parameters(values, stamp)

    def note_effort(self, effort: Effort, stamp: int) -> None:
        """Record what `Simulation.set_effort` was told: the hinge as frame_id, one name per freedom."""
        self._log_stamp = stamp
        hinge = self._robot.hinges[self._robot.hinge_index(effort.hinge)]
        names = hinge.joint_names or tuple(f"{hinge.name}_{k + 1}" for k in range(len(effort.effort)))
        fields = {"header": header(stamp, effort.hinge), "name": list(names), "effort": list(effort.effort)}
        self._note(self._efforts, fields)

    def put(self, topic: str, fields: Fields, stamp: int, *, always: bool = False) -> None:
        """Record a message of an extra topic, where there is room; always: where there is none, too."""
        if always or self._hand.has_room:
            self._hand.fields(self._extra[topic], fields, stamp)
        else:
            self._left_out += 1

    def _note(self, channel: int, fields: Fields) -> None:
        self._hand.fields(channel, fields, self._log_time(self._log_stamp))

    def _log_time(self, stamp: int) -> int:
        """The stamp, and 1 ns more for each entry of the tick: any bag keeps their order, behind the samples."""
        last, count = self._order
        self._order = (stamp, count + 1 if stamp == last else 1)
        return stamp + self._order[1]

    # the end

    def close(self) -> Report:
        """Write what waits, the index and metadata.yaml. ScenarioError where the bag could not be written."""
        if self._written is None:
            self._written = self._hand.close()
        if self._written.failure:
            raise ScenarioError(
                f"the bag {self.folder} could not be written to its end ({self._written.failure}); `rbt repair "
                f"{self.folder}` makes what is there readable."
            )
        if self.lost:
            warnings.warn(
                f"the bag {self.folder} lacks {self.lost} samples that came faster than they could be written.",
                stacklevel=2,
            )
        return Report(self.folder, self._written.messages, self._written.size, self.lost)
