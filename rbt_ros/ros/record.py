"""Recording from the node: parameter `record`, service `~/record`. The stepping thread only appends to a ring; another
process makes the messages and writes: a thread of this one would take the interpreter from the steps."""

import time
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from std_srvs.srv import SetBool

from rbt_ros import topics
from rbt_ros.bags.recorder import run_of
from rbt_ros.bags.recording import Recording
from rbt_ros.command_log import friction_name
from rbt_ros.errors import RbtError
from rbt_ros.model.inputs import Effort, Latched
from rbt_ros.model.scenario import Scenario
from rbt_ros.results import Sample
from rbt_ros.ros.loop import Loop
from rbt_ros.ros.outputs import Output
from rbt_ros.sim import Simulation

FAR = 1 << 40  # ticks
MOST_PENDING = 50  # samples that wait for a time between two steps
DIAGNOSTICS = ("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray")


class NodeRecorder:
    """Starts and stops bags of what the node publishes. `note...` and `take` are called by the stepping thread."""

    def __init__(self, node: Node, scenario: Scenario, loop: Loop, value: Callable[[str], Any]):
        """value: of a parameter."""
        self._scenario, self._loop, self._value = scenario, loop, value
        self._name = node.get_fully_qualified_name()
        self._made: Recording | None = None  # by the executor's thread
        self._recording: Recording | None = None  # what the stepping thread writes to, from when it began that
        self._output: Output | None = None
        self._h_ns = 0  # the step for which that output was made
        self._pending: list[tuple[Sample, int]] = []
        self._last = 0  # the last stamp that it was told
        node.create_service(SetBool, "~/record", self._serve)
        if value("record"):
            self.start()

    # from the executor's thread

    def start(self) -> str:
        """Begin a bag; what is said of it."""
        if self._made:
            return f"the bag {self._made.folder} is being recorded already"
        rates = {key: self._value(f"outputs.{key}") for key in self._scenario.outputs}
        folder = self._value("record_to") or f"{self._scenario.name}_{time.strftime('%Y-%m-%d_%H-%M-%S')}"
        recording = Recording(
            folder,
            self._loop.sim.robot,
            h_ns=self._loop.sim.h_ns,
            outputs=rates,
            clock_start_ns=self._loop.zero_ns,
            prefix=self._value("frame_prefix"),
            node=self._name,
            compression=self._value("record_compression"),
            split_bytes=round(self._value("record_split_mb") * 1e6),
            split_s=self._value("record_split_s"),
            extra=(DIAGNOSTICS,),
            apart=True,
        )

        def begin(sim: Simulation) -> None:
            if self._made is not recording:  # ended before the first step
                return
            stamp, sample = self._loop.stamp_ns(), sim.sample()
            self._last = stamp
            recording.begin(sample, stamp, self._run(sim))
            self._recording = recording
            self._look_in_time(sim.h_ns)
            self._loop.between = self.hand_over
            sim.attach(self)
            self.take(sample, stamp)

        self._made = recording
        if not self._loop.alive:
            self._loop.ask(begin)  # done first thing
            return f"recording {recording.folder}"
        try:
            self._loop.call(begin)
        except RbtError:
            self._made = None
            recording.close()
            raise
        return f"recording {recording.folder}"

    def stop(self) -> str:
        """End the bag; what is said of it."""
        if not self._made:
            return "nothing is being recorded"
        recording, self._made = self._made, None

        def end(sim: Simulation) -> None:
            self.hand_over()
            self._recording, self._loop.between = None, None
            self._loop.outputs.remove(self._output)
            sim.detach(self)

        if self._loop.alive:
            self._loop.call(end)
        else:
            self.hand_over()
            self._recording = None
        report = recording.close()
        lost = f", {report.lost} samples lost" if report.lost else ""
        return f"wrote {report.folder}: {report.messages} messages, {report.size * 1e-6:.3g} MB{lost}"

    def _serve(self, request: SetBool.Request, response: SetBool.Response) -> SetBool.Response:
        try:
            response.message, response.success = self.start() if request.data else self.stop(), True
        except RbtError as err:
            response.message, response.success = str(err), False
        return response

    # from the stepping thread

    def take(self, sample: Sample, stamp: int) -> None:
        """Record this sample; where steps are paced between two of them, not in one, as soon as there is time."""
        self._pending.append((sample, stamp))
        if len(self._pending) >= MOST_PENDING or self._loop.mode != "realtime":
            self.hand_over()

    def hand_over(self) -> None:
        """Record what is due of the samples that wait. Only a run that is paced may lose what comes too fast."""
        if self._recording:
            wait = self._loop.mode != "realtime"
            for sample, stamp in self._pending:
                self._recording.take(sample, stamp, wait=wait)
                self._last = stamp
        self._pending.clear()

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
        if self._recording:
            self._recording.put(DIAGNOSTICS[0], fields, stamp)

    def reports(self) -> list[topics.Report]:
        """How recording goes, while it does."""
        if not (recording := self._recording):
            return []
        level, summary = topics.OK, f"to {recording.folder}"
        if recording.lost:
            level, summary = topics.WARN, f"{recording.lost} samples came faster than they could be written"
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
