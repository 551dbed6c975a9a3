"""Recording from the node: parameter `record`, service `~/record`. The stepping thread only appends to a ring; another
process makes the messages and writes: a thread of this one would take the interpreter from the steps. Nobody here
waits for it: a run that is not paced pauses where it falls behind, and its end is looked after by a thread."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from rclpy.node import Node
from rclpy.task import Future
from std_srvs.srv import SetBool

from rbt_ros import topics
from rbt_ros.bags.recorder import run_of
from rbt_ros.bags.recording import Recording
from rbt_ros.command_log import friction_name
from rbt_ros.errors import RbtError, ScenarioError
from rbt_ros.model.inputs import Effort, Latched
from rbt_ros.model.scenario import Scenario
from rbt_ros.model.sensors import Mount
from rbt_ros.results import Sample
from rbt_ros.ros.errands import LOOK_S, aside
from rbt_ros.ros.guard import described
from rbt_ros.ros.loop import Loop
from rbt_ros.ros.outputs import Output
from rbt_ros.ros.services import answering
from rbt_ros.sim import Simulation

FAR = 1 << 40  # ticks
MOST_PENDING = 50  # samples that wait for a time between two steps
SOON_S = 0.03  # who ends a bag is answered after that
END_S = 5.0  # a bag whose end takes longer is told of, and the node does not wait for a writer that is idle so long
MOST_S = 60.0  # nor for one that works longer
DIAGNOSTICS = ("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")


class Extra(NamedTuple):
    """A topic of the node that is not one of `topics.published`."""

    topic: str
    type: str
    period_ns: int  # 0: every tick
    made_of: Callable[[Sample, int], topics.Fields | None]  # None: there is no message


class Ending:
    """A bag that is being brought to its end, by a thread of its own: a disk takes as long as it takes."""

    def __init__(self, recording: Recording, rest: Sequence[tuple[Sample, int]], tell: Callable[[str, bool], None]):
        """rest: samples that found no room; tell: called by that thread with what became of it, and whether well."""
        self.recording, self.began, self.said = recording, time.monotonic(), Future()
        self._rest, self._tell, self._told = rest, tell, threading.Lock()
        self.waiting = recording.waiting  # [bytes] now
        self.thread = threading.Thread(target=self._end, name="ending", daemon=True)
        self.thread.start()
        threading.Timer(SOON_S, self._answer, [lambda: (self._under_way(), True)]).start()

    @property
    def late(self) -> bool:
        """Whether it takes longer than it should."""
        return self.thread.is_alive() and time.monotonic() > self.began + END_S

    @property
    def not_whole(self) -> str:
        """What is to be said of a bag that is late."""
        folder, writer = self.recording.folder, self.recording.writer
        return f"the bag {folder} is not whole yet: its writer, {writer}, needs more than {END_S:g} s for its end"

    def awaited(self) -> bool:
        """Whether it has come to its end; False once its writer has done nothing for END_S, or after MOST_S."""
        begin = idle_since = time.monotonic()
        spent = self.recording.spent
        while self.thread.is_alive():
            self.thread.join(LOOK_S)
            now = time.monotonic()
            if self.recording.spent != spent:
                spent, idle_since = self.recording.spent, now
            if now > min(idle_since + END_S, begin + MOST_S):
                break
        return not self.thread.is_alive()

    def _under_way(self) -> str:
        waiting = self.waiting * 1e-6
        return f"ending {self.recording.folder}: {waiting:.3g} MB are to be written; the log tells when it is whole"

    def _end(self) -> None:
        try:
            for sample, stamp in self._rest:
                self.recording.take(sample, stamp, wait=True)
            report = self.recording.close()
        except Exception as err:  # told, whatever it is: nobody else waits for this thread
            text, well = str(err) if isinstance(err, RbtError) else described(err), False
        else:
            lost = f", {report.lost} samples lost" if report.lost else ""
            text, well = f"wrote {report.folder}: {report.messages} messages, {report.size * 1e-6:.3g} MB{lost}", True
        self._tell(text, well)
        self._answer(lambda: (text, well))

    def _answer(self, what: Callable[[], Any]) -> None:
        with self._told:
            if not self.said.done():
                self.said.set_result(what())


class NodeRecorder:
    """Starts and stops bags of what the node publishes. `note...` and `take` are called by the stepping thread."""

    def __init__(
        self,
        node: Node,
        scenario: Scenario,
        loop: Loop,
        value: Callable[[str], Any],
        extra: Sequence[Extra] = (),
        mounts: tuple[Mount, ...] = (),
    ):
        """value: of a parameter; extra: what is published beside what each bag holds; it comes by `also`.

        mounts: frames of sensors.
        """
        self._extra, self._mounts = tuple(extra), mounts
        self._scenario, self._loop, self._value = scenario, loop, value
        self._name, self._logger = node.get_fully_qualified_name(), node.get_logger()
        self._opening = ""  # the folder that a thread makes now
        self._made: Recording | None = None  # by the executor's thread
        self._endings: list[Ending] = []
        self._recording: Recording | None = None  # what the stepping thread writes to, from when it began that
        self._output: Output | None = None
        self._h_ns = 0  # the step for which that output was made
        self._pending: list[tuple[Sample, int]] = []
        self._last = 0  # the last stamp that it was told
        self._failed = False  # whether it was told that nothing is written any more
        node.create_service(SetBool, "~/record", answering(self._asked))
        if value("record"):
            self._begin(self._opened(self._folder()))

    # from the executor's thread

    async def _asked(self, request: SetBool.Request) -> str:
        return await (self._start() if request.data else self._stop())

    async def _start(self) -> str:
        """Begin a bag; what is said of it."""
        if self._opening or self._made:
            return f"the bag {self._made.folder if self._made else self._opening} is being recorded already"
        self._opening = folder = self._folder()
        try:
            recording = await aside(lambda: self._opened(folder))
        finally:
            self._opening = ""
        self._begin(recording)
        return f"recording {recording.folder}"

    async def _stop(self) -> str:
        """End the bag; what is said of it, at once: the disk may need longer."""
        if not self._made:
            return "nothing is being recorded"
        text, well = await self._let_go(
            lambda end: self._loop.call(end) if self._loop.alive else end(self._loop.sim)
        ).said
        if not well:
            raise ScenarioError(text)
        return text

    def close(self) -> None:
        """When the loop has ended: let what waits be written, and tell of what cannot be waited for."""
        if self._made:
            self._let_go(lambda end: end(self._loop.sim))
        for ending in self._endings:
            if not ending.awaited():
                self._logger.warning(f"{ending.not_whole}; it goes on without us, with all that it was given")

    def _folder(self) -> str:
        return self._value("record_to") or f"{self._scenario.name}_{time.strftime('%Y-%m-%d_%H-%M-%S')}"

    def _opened(self, folder: str) -> Recording:
        """A new bag; ScenarioError where it cannot be made. May wait for a disk."""
        return Recording(
            folder,
            self._loop.sim.robot,
            h_ns=self._loop.sim.h_ns,
            outputs={key: self._value(f"outputs.{key}") for key in self._scenario.outputs},
            clock_start_ns=self._loop.zero_ns,
            prefix=self._value("frame_prefix"),
            node=self._name,
            compression=self._value("record_compression"),
            split_bytes=round(self._value("record_split_mb") * 1e6),
            split_s=self._value("record_split_s"),
            extra=(DIAGNOSTICS, *(each[:2] for each in self._extra)),
            mounts=self._mounts,
            apart=True,
        )

    def _begin(self, recording: Recording) -> None:
        """Let the stepping thread record from its next turn on."""

        def begin(sim: Simulation) -> None:
            if self._made is not recording:  # ended before the first step
                return
            stamp, sample = self._loop.stamp_ns(), sim.sample()
            self._last, self._failed = stamp, False
            recording.begin(sample, stamp, self._run(sim))
            self._recording = recording
            self._look_in_time(sim.h_ns)
            self._loop.between, self._loop.may_go_on = self.hand_over, self.keeps_up
            sim.attach(self)
            self.take(sample, stamp)
            for topic, _, period_ns, made_of in self._extra:  # what was published at this stamp before
                due = not period_ns or (stamp - self._loop.zero_ns) % period_ns == 0
                if due and (fields := made_of(sample, stamp)) is not None:
                    self.also(topic, fields, stamp)

        self._made = recording
        if not self._loop.alive:
            self._loop.ask(begin)  # done first thing
            return
        try:
            self._loop.call(begin)
        except Exception:
            self._let_go(lambda end: self._loop.call(end))
            raise

    def _let_go(self, do: Callable[[Callable[[Simulation], None]], None]) -> Ending:
        """Record no more, and let what was recorded be written. do: calls a function of the simulation."""
        recording, self._made = self._made, None
        assert recording is not None
        rest: list[tuple[Sample, int]] = []

        def end(sim: Simulation) -> None:
            if self._recording is recording:
                self.hand_over()
                rest.extend(self._pending)
                self._pending.clear()
                self._recording = self._loop.between = self._loop.may_go_on = None
                self._loop.outputs.remove(self._output)
                sim.detach(self)

        try:
            do(end)
        except Exception:  # the stepping thread has it still
            self._made = recording
            raise
        ending = Ending(recording, rest, self._tell)
        self._endings = [*(known for known in self._endings if known.thread.is_alive()), ending]
        return ending

    def _tell(self, text: str, well: bool) -> None:
        if well:  # two lines: rclpy allows one severity for each that calls it
            self._logger.info(text)
        else:
            self._logger.warning(text)

    # from the stepping thread

    def take(self, sample: Sample, stamp: int) -> None:
        """Record this sample; where steps are paced between two of them, not in one, as soon as there is time."""
        self._pending.append((sample, stamp))
        if len(self._pending) >= MOST_PENDING or self._loop.mode != "realtime":
            self.hand_over()

    def hand_over(self) -> None:
        """Record what is due of the samples that wait. Only a run that is paced may lose what comes too fast."""
        if (recording := self._recording) is None:
            self._pending.clear()
            return
        if recording.failure and not self._failed:
            self._failed = True
            self._logger.error(f"nothing is recorded in {recording.folder} any more: {recording.failure}")
        paced = self._loop.mode == "realtime"
        done = 0
        while done < len(self._pending) and (paced or recording.has_room):
            sample, self._last = self._pending[done]
            recording.take(sample, self._last)
            done += 1
        del self._pending[:done]

    def keeps_up(self) -> bool:
        """Whether a run that is not paced may take another step: else it would lose samples, or fill all memory."""
        if self._pending and self._loop.mode != "realtime":
            self.hand_over()
            return not self._pending
        return True

    def note(self, latched: Latched, stamp: int) -> None:
        """Record a command that acts from this stamp on."""
        if self._recording:
            self._last = stamp
            self._recording.note(latched, stamp)

    def note_parameters(self, values: dict[str, Any], stamp: int) -> None:
        """Record parameters that act on the motion."""
        if self._recording:
            self._last = stamp
            self._recording.note_parameters(values, stamp)

    def restarted(self) -> None:
        """Record that the simulation was put elsewhere in time."""
        if self._recording:
            self.hand_over()
            run, stamp = self._run(self._loop.sim), self._loop.stamp_ns()
            self._recording.runs(stamp, run, after=self._last, zero_ns=self._loop.zero_ns)
            if self._loop.sim.h_ns != self._h_ns:
                self._look_in_time(self._loop.sim.h_ns)

    def _look_in_time(self, h_ns: int) -> None:
        """Ask the loop for all ticks at which something may be recorded, by steps of that length."""
        assert self._recording is not None
        self._loop.outputs.remove(self._output)
        self._h_ns, self._output = h_ns, Output(self._recording.common_ticks * h_ns, self.take, in_step=False)
        self._loop.outputs.add(self._output)

    # Observer: what others than the loop change

    def next_tick(self, tick: int) -> int:
        """Samples come from the loop."""
        return tick + FAR

    def look(self, sim: Simulation) -> None:
        """Samples come from the loop."""

    def latched(self, sim: Simulation, latched: Latched) -> None:
        """Commands come from the loop, with their stamps."""

    def effort(self, sim: Simulation, effort: Effort) -> None:
        """Record an effort."""
        if self._recording:
            self._recording.note_effort(effort, self._loop.stamp_ns())

    def friction(self, sim: Simulation, hinge: str, given: dict[str, float]) -> None:
        """Record it as parameters."""
        values = {friction_name(hinge, key): value for key, value in given.items()}
        self.note_parameters(values, self._loop.stamp_ns())

    def changed(self, sim: Simulation) -> None:
        """Record that something else was set: the state of an entity, the stabilisation."""
        self.restarted()

    def diagnostics(self, fields: topics.Fields, stamp: int) -> None:
        """Record what the node says of itself."""
        self.also(DIAGNOSTICS[0], fields, stamp)

    def also(self, topic: str, fields: topics.Fields, stamp: int) -> None:
        """Record a message of a topic that is not made of samples alone."""
        if self._recording:
            self._recording.put(topic, fields, stamp)

    @property
    def records(self) -> bool:
        """Whether a bag takes what comes now."""
        return self._recording is not None

    def reports(self) -> list[topics.Report]:
        """How recording goes, while it does, and of what does not come to its end."""
        late = [ending for ending in self._endings if ending.late]
        if not (recording := self._recording):
            values = {"waiting": sum(ending.waiting for ending in late)}
            return [topics.Report("recording", topics.WARN, late[0].not_whole, values)] if late else []
        level, summary = topics.OK, f"to {recording.folder}"
        if late:
            level, summary = topics.WARN, late[0].not_whole
        if recording.lost:
            level, summary = topics.WARN, f"{recording.lost} samples came faster than they could be written"
        if not recording.has_room:
            level, summary = (
                topics.WARN,
                f"its writer, {recording.writer}, falls behind; what is not paced waits for it",
            )
        if recording.failure:
            level, summary = topics.ERROR, f"nothing is recorded any more: {recording.failure}"
        values = {"samples lost": recording.lost, "waiting": recording.waiting}
        return [topics.Report("recording", level, summary, values)]

    def _run(self, sim: Simulation) -> dict[str, Any]:
        return run_of(
            sim,
            self._scenario,
            wrench_at=self._value("wrench_at"),
            wrench_hold=self._value("wrench_hold"),
            frame_prefix=self._value("frame_prefix"),
        )
