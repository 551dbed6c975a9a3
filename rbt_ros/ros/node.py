"""The ROS 2 node: parameters, publishers, subscriptions. It converts and delegates; it computes nothing."""

import contextlib
import copy
import functools
import json
import re
import time
from collections import Counter
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.msg import ParameterDescriptor
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.task import Future

from rbt_ros import topics
from rbt_ros.bags.recorder import run_of
from rbt_ros.command_log import CommandLog
from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.interruptible import Patience, interruptible
from rbt_ros.model.hinge_commands import settable
from rbt_ros.model.inputs import Latched
from rbt_ros.model.scenario import Scenario, read_scenario
from rbt_ros.results import Sample
from rbt_ros.ros.clock_guard import ClockGuard
from rbt_ros.ros.command_topics import CommandTopics
from rbt_ros.ros.convert import message_class, shortened
from rbt_ros.ros.engine_parameters import ENGINE, EngineParameters, begin
from rbt_ros.ros.errands import aside
from rbt_ros.ros.hinge_parameters import HingeParameters
from rbt_ros.ros.loop import Loop
from rbt_ros.ros.managed import ManagedNode
from rbt_ros.ros.measured_topics import EFFORTS, MeasuredTopics, prescribe
from rbt_ros.ros.outputs import SECOND_NS, Output
from rbt_ros.ros.parameters import AUTOSTART, SCENARIO, declare, is_given, parameter_table, undeclared
from rbt_ros.ros.priority import Urgency, claim
from rbt_ros.ros.record import Extra, NodeRecorder
from rbt_ros.ros.reports import command_report, connection_report, loop_report
from rbt_ros.ros.sensor_topics import SensorTopics
from rbt_ros.ros.services import Services
from rbt_ros.ros.sources import Lockstep, Watchdog
from rbt_ros.ros.stepping import Stepping
from rbt_ros.ros.view import View
from rbt_ros.ros.writers import field_writer, own_types, sample_writer
from rbt_ros.sim import Simulation

NAME = "rbt_simulator"
ENDS = ("what the view is told", "loop", "clock guard", "recorder", "standard services", "view")  # in this order
QOS = {
    "stream": QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE),
    "lazy": QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE),
    "commands": QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE),  # bursts, which no log would miss
    "log": QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE),  # no command may be missing in a record
    "clock": QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE),
    "runs": QoSProfile(depth=100, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL),
    "latched": QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL),
}


class SimulatorNode(ManagedNode):
    """A Simulation on ROS topics. `scenario` None: the one that parameter `scenario` names.

    It is configured now, or, by parameter `autostart` false, when a lifecycle transition asks for it.
    """

    def __init__(self, scenario: Scenario | None = None, patiently: Patience = interruptible):
        """patiently(work): does what may compile."""
        super().__init__(NAME)
        self._patiently = patiently
        self._clock_ns = 0  # what the clock has shown
        self._given = scenario
        self._ends = dict[str, Callable[[], None]]()  # of the parts that are there: those of ENDS
        self._report_due, self._told = 0.0, dict[str, float]()  # until when what was told is not repeated [s, steady]
        self.autostart = self._first("autostart", True, AUTOSTART)
        choice = SCENARIO if self.autostart else ParameterDescriptor(description=SCENARIO.description)
        self._first("scenario", scenario.name if scenario else "cubesat", choice)
        if self.autostart:
            try:
                self.begin()
            except KeyboardInterrupt:
                self.destroy_node()
                raise

    def _first(self, name: str, default: Any, descriptor: ParameterDescriptor) -> Any:
        """One of the parameters that are there before the scenario is; its value."""
        try:
            return self.declare_parameter(name, default, descriptor).value
        except InvalidParameterTypeException as err:
            raise ScenarioError(f"parameter {name}: {descriptor.description}. ({err})") from err

    def configure(self) -> None:
        """Read the scenario and make everything that parameters, topics and services need."""
        chosen = self.describe_parameter("scenario")
        if not chosen.read_only:
            text = SCENARIO.description
            self.set_descriptor("scenario", ParameterDescriptor(type=chosen.type, description=text, read_only=True))
        name = self._value("scenario")
        self.scenario = self._given if self._given and self._given.name == name else read_scenario(name)
        self.robot = self.scenario.robot
        self.sim = self._patiently(lambda: Simulation.of(self.scenario))
        self._clock_start_ns = max(
            self.scenario.clock_start_ns, self._clock_ns + self.sim.h_ns if self._clock_ns else 0
        )
        declare(self, parameter_table(self.scenario))
        followed = self._patiently(self._warmed_up)
        self._measured = MeasuredTopics(self, self.sim, followed, self._value, self._report)
        self._prefix = self._value("frame_prefix")
        self.clock_guard = ClockGuard(self, lambda: self.loop.stamp_ns())
        self._ends["clock guard"] = self.clock_guard.close
        if self._value("publish_clock"):
            self.clock_guard.search()
        self._incompatible: Counter[str] = Counter()
        self._publish_diagnostics = self._publisher("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "stream")
        self._log = CommandLog(self.robot, self._prefix, self.get_fully_qualified_name(), self._log_publisher)
        self._recorded: list[Extra] = []
        self._sensors = SensorTopics(self.sim, self._value, self._tell)
        every_tick, outputs = self._make_outputs()
        self._view = self._made_view() if self._value("view") else None
        if self._view:
            outputs.append(self._view.output)
            self._ends |= {"what the view is told": self._view.take_no_more, "view": self._view.close}
        self._stepping = Stepping()
        self._status = ""
        self.loop = self._made_loop(every_tick, outputs)
        self._ends["loop"] = self.loop.stop
        self._publish_run = self._publisher("~/run", "std_msgs/msg/String", "runs")
        self._tell_run()
        post = functools.partial(self.loop.post, stamp_ns=0)
        self._engine = EngineParameters(self, self.scenario, self.loop, self._note_parameters, self._tell)
        self._hinges = HingeParameters(self, self.robot, post, self._engine.rehearse, self.loop.taking_no_messages)
        if self._hinges.start.settings:
            self.loop.post(self._hinges.start, 0)
        CommandTopics(
            self,
            self.robot,
            value=self._value,
            post=self.loop.post,
            refuse=self._refuse,
            on_qos=self._on_incompatible_qos,
            qos=QOS["commands"],
        )
        Services(self, self.loop, self._value, self._engine.twin, self._on_loaded)
        self.recorder = NodeRecorder(self, self.scenario, self.loop, self._value, self._recorded, self._sensors.mounts)
        self._ends["recorder"] = self.recorder.close
        self._stepping.attach(self.loop)
        self._measured.attach(self.loop)
        self._open_view()
        self._serve_standard()
        self.add_post_set_parameters_callback(self._on_parameters_set)
        for sentence in undeclared(self):
            self.get_logger().warning(sentence)

    def _made_loop(self, every_tick: Callable[[int], None], outputs: list[Output]) -> Loop:
        return Loop(
            self.sim,
            clock_start_ns=self._clock_start_ns,
            every_tick=self._stepping.watched(every_tick),
            outputs=outputs,
            on_latched=self._on_latched,
            on_fault=self._report,
            on_change=self._tell,
            second=self._on_second,
            on_restart=self._on_restart,
            on_defect=self.faults.note,
            mode=self._value("mode"),
            factor=self._value("realtime_factor"),
            lockstep=self._lockstep(),
            watchdog=self._watchdog(),
            paused=self._value("start_paused"),
            urgency=self._urgency(),
            claim=self._claim,
        )

    def _warmed_up(self) -> tuple[str, ...]:
        """As the parameters say, and compiled; the joints that are prescribed by measurements."""
        begin(self.sim, self._value)
        followed = prescribe(self.sim, self._value)
        self.sim.warm_up(changes=bool(settable(self.robot)))  # who locks shall not wait for a compiler
        return followed

    @property
    def configured(self) -> bool:
        """Whether there is a loop."""
        return "loop" in self._ends

    def activate(self) -> None:
        """Step, or go on."""
        if not self.loop.started:
            self.loop.start()
        else:
            self.loop.call(lambda sim: self.loop.set_held(False))

    def deactivate(self) -> None:
        """Stand still."""
        self.loop.call(lambda sim: self.loop.set_held(True))

    def _made_view(self) -> View | None:
        """Where it finds no room, the node goes on and says why."""
        try:
            return View(self, self.sim, self.scenario, self.prepare, self.faults.note)
        except SetupError as err:
            self.get_logger().warning(f"no view: {err}")
            return None

    def _open_view(self) -> None:
        """Where it cannot be shown, the node goes on and says why."""
        if self._view is not None:
            try:
                print(f"view: {self._view.open(self.loop)}", flush=True)
            except SetupError as err:
                self.get_logger().warning(f"no view: {err}")

    # parameters

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _urgency(self) -> Urgency:
        """Where nobody has asked for it, /diagnostics says that it is refused, and that will do."""
        warn = [self.get_logger().warning] if is_given(self, "realtime.priority") else []
        return Urgency(self._value("realtime.priority"), *warn)

    def _claim(self) -> None:
        """In the stepping thread: what it asks of the system for good."""
        claim(self._value("realtime.lock_memory"), self._value("realtime.cpu"), self.get_logger().warning)

    def _lockstep(self) -> Lockstep:
        deadline_ns = round(self._value("lockstep.deadline") * SECOND_NS)
        topics = tuple(self._value("lockstep.wait_for").split())
        every, fallback, stamps = (self._value(f"lockstep.{name}") for name in ("every", "fallback", "stamps"))
        return Lockstep(topics, every, deadline_ns, fallback, stamps)

    def _watchdog(self) -> Watchdog:
        return Watchdog(round(self._value("watchdog.timeout") * SECOND_NS), self._value("watchdog.fallback"))

    def preparation(self, changes: list[ParameterMessage]) -> Future | None:
        """What must be awaited before these parameters can be set without waiting for a compiler."""
        names = {message.name for message in changes}
        if not self.configured or not any(
            n in ENGINE or n.startswith("hinges.") and n.endswith(".mode") for n in names
        ):
            return None
        return aside(lambda: self.prepare([Parameter.from_parameter_msg(message) for message in changes]))

    def prepare(self, changes: list[Parameter]) -> None:
        """In a thread that may wait: compile what these parameters want."""
        self._engine.prepare(changes)
        self._hinges.prepare(changes)

    def _on_parameters_set(self, changes: list) -> None:
        names = {change.name for change in changes}
        if (factor := self._value("realtime_factor")) != self.loop.factor:
            self.loop.ask(lambda sim: self.loop.set_factor(factor))
        if any(name.startswith("lockstep.") for name in names):
            lockstep = self._lockstep()
            self.loop.ask(lambda sim: self.loop.set_lockstep(lockstep))
        if any(name.startswith("watchdog.") for name in names):
            watchdog = self._watchdog()
            self.loop.ask(lambda sim: self.loop.watchdog.adjust(watchdog))
        if "mode" in names:
            mode = self._value("mode")
            self.loop.ask(lambda sim: self.loop.set_mode(mode))
        if "wrench_at" in names:
            logged = {"wrench_at": self._value("wrench_at")}
            self.loop.ask(lambda sim: self._note_parameters(logged))

    def _on_loaded(self, sim: Simulation) -> None:
        self._engine.adopt(sim)
        self._hinges.adopt(*self.loop.call(lambda sim: (sim.hinge_laws, self.loop.settings_waiting())))

    # out

    def _on_restart(self) -> None:
        """The simulation was put elsewhere in time."""
        self._tell_run()
        self.recorder.restarted()

    def _on_latched(self, latched: Latched, stamp: int) -> None:
        self._log.note(latched, stamp)
        self.recorder.note(latched, stamp)

    def _note_parameters(self, values: dict[str, Any]) -> None:
        self._log.note_parameters(values, self.loop.stamp_ns())
        self.recorder.note_parameters(values, self.loop.stamp_ns())

    def _tell_run(self) -> None:
        """Publish what runs from this stamp on, as a bag holds it; `by_stamp`: its log is ordered by stamps."""
        told = {name: self._value(name) for name in ("wrench_at", "wrench_hold", "frame_prefix")}
        run = run_of(self.sim, self.scenario, **told)
        self._publish_run({"data": json.dumps({**run, "stamp": self.loop.stamp_ns(), "by_stamp": True})})

    def _publisher(self, topic: str, kind: str, qos: str) -> Callable[[topics.Fields], None]:
        """A function that publishes fields on `topic`."""
        write, send = field_writer(kind), self._sender(topic, kind, qos)
        return lambda fields: send(write(fields))

    def _sender(self, topic: str, kind: str, qos: str) -> Callable[[Any], None]:
        """A function that publishes messages, or the bytes of messages, on `topic`."""
        publisher = self.create_publisher(
            message_class(kind),
            topic,
            copy.copy(QOS[qos]),  # rclpy writes into it what overrides of this topic say
            qos_overriding_options=QoSOverridingOptions.with_default_policies() if topic[0] != "~" else None,
            event_callbacks=PublisherEventCallbacks(
                incompatible_qos=lambda event: self._on_incompatible_qos(f"publisher of {topic}")
            ),
        )
        return publisher.publish

    def _log_publisher(self, topic: str, kind: str) -> Callable[[topics.Fields], None]:
        return self._publisher(topic, kind, "log")

    def _make_outputs(self) -> tuple[Callable[[int], None], list[Output]]:
        """What is published every tick, and what on dividers; latched topics are published here and now."""
        outputs, every_tick = [], _nothing
        first, stamp = self.sim.sample(), self._clock_start_ns
        local = self._value("local_frame")
        for topic in topics.published(self.robot, self._prefix, local, self._sensors.mounts):
            if topic.qos == "clock" and not self._value("publish_clock"):
                continue
            rate = self._value(f"outputs.{topic.key}") if topic.key else 0.0
            if topic.key and rate == 0.0:
                continue
            send, write = (
                self._sender(topic.name, topic.type, topic.qos),
                sample_writer(topic, self.robot, self._prefix, local),
            )
            if topic.qos == "latched":
                send(write(first, stamp))
            elif topic.qos == "clock":
                every_tick = functools.partial(_publish_stamp, send, write)
            else:
                self._patiently(functools.partial(write, first, stamp))  # compiles here, not in the stepping thread
                lazy = topic.qos == "lazy"
                publish = _publish_if_wanted if lazy else _publish_sample
                send_sample = functools.partial(publish, send, write)
                outputs.append(Output(round(SECOND_NS / rate), send_sample, in_step=not lazy))
        return every_tick, [*self._outputs_on_request(), *outputs]  # hardware waits for the first of these

    def _outputs_on_request(self) -> list[Output]:
        """Efforts of measured joints, every step; what leads a measured body; sensors."""
        found = []
        if self._value("measured.joints"):
            found.append(self._recorded_too(EFFORTS, "sensor_msgs/msg/JointState", 0, self._measured.effort_fields))
        if self._measured.coupling is not None:
            self._patiently(functools.partial(self._measured.coupling.warm_up, self.sim.sample()))
            period_ns = int(self._measured.lead_period * SECOND_NS)
            found.append(Output(period_ns, self._measured.lead, in_step=False))
        for extra in self._sensors.extras():
            self._patiently(functools.partial(extra.made_of, self.sim.sample(), 0))  # compiles here, not in a step
            found.append(self._recorded_too(*extra, only_if_wanted=True))
        return found

    def _recorded_too(self, *what: Any, only_if_wanted: bool = False) -> Output:
        """An output that a bag of this node holds, too: the fields of `Extra`. Made for who listens, or in any case."""
        extra = Extra(*what)
        write, send = field_writer(extra.type), self._sender(extra.topic, extra.type, "stream")
        if recorded := own_types().has(extra.type):
            self._recorded.append(extra)
        else:
            self.get_logger().warning(f"{extra.topic} is in no bag of this node: {extra.type} is no standard message")

        def tell(sample: Sample, stamp: int) -> None:
            heard = not only_if_wanted or send.__self__.get_subscription_count()  # type: ignore[attr-defined]
            if not (heard or self.recorder.records) or (fields := extra.made_of(sample, stamp)) is None:
                return
            if heard:
                send(write(fields))
            if recorded:
                self.recorder.also(extra.topic, fields, stamp)

        return Output(extra.period_ns, tell)

    def _on_second(self, sample: Sample, stamp: int) -> None:
        self._stepping.look()
        s = self.loop.statistics()
        self._status = topics.status_line(sample, s.real_time_factor, s.overruns)
        limits = self._value("warn.energy_drift"), self._value("warn.angular_momentum_drift")
        reports = [
            topics.conservation_report(sample, *limits),
            loop_report(s, self.sim.h_ns, self.loop.state, self.loop.failure),
            command_report(self.loop.counters),
            connection_report(self._incompatible, self.clock_guard.other),
            self.faults.report(),
            *self._measured.look(),
            *self._sensors.reports(),
            *self.recorder.reports(),
        ]
        name = self.get_fully_qualified_name()[1:]
        fields = topics.diagnostic_fields(stamp, name, self.robot.name, reports)
        self._publish_diagnostics(fields)
        self.recorder.diagnostics(fields, stamp)

    def _serve_standard(self) -> None:
        """The services of simulation_interfaces, where that package is there."""
        if find_spec("simulation_interfaces") is None:
            return
        try:
            from rbt_ros.ros.simulation_interfaces import SimulationInterfaces
        except ImportError as err:
            self._report(f"the services of simulation_interfaces are left out: {err}; its version is another one")
            return
        standard = SimulationInterfaces(self, self.loop, self._stepping, self._prefix, self.faults, self._quit)
        self._ends["standard services"] = standard.close

    def _quit(self) -> None:
        self.quitting = True

    def discard(self) -> None:
        """End what has threads of its own, each part whatever becomes of others; raises what the steps died of."""
        if self.configured and self.loop.started:
            self._clock_ns = self.loop.stamp_ns()
        with contextlib.ExitStack() as ends:  # the last one first
            for name in reversed(ENDS):
                if name in self._ends:
                    ends.callback(self._ends.pop(name))

    def destroy_node(self) -> None:
        """End everything; raises what the stepping thread died of."""
        try:
            self.discard()
        finally:
            super().destroy_node()

    def status_text(self) -> str:
        """How it goes, in one line, from the last report of a second; empty before the first."""
        return self._status

    # faults

    def _on_incompatible_qos(self, where: str) -> None:
        self._incompatible[where] += 1
        self._report(f"somebody at the other side of the {where} has an incompatible quality of service")

    def _refuse(self, text: str) -> None:
        self.loop.counters.reject(text)
        self._report(text)

    def _tell(self, text: str) -> None:
        """What changes and is told once: each such thing at most once a second, whatever else is reported."""
        about, now = re.sub("[0-9]{9,}", "", text), time.monotonic()
        self._told = {what: due for what, due in self._told.items() if due > now}
        if about not in self._told:
            self._told[about] = now + 1.0
            self.get_logger().warning(shortened(text, 400))

    def _report(self, text: str) -> None:
        """Once a second. rclpy's own throttle looks up who calls in the sources, each time: 0.25 ms."""
        if (now := time.monotonic()) >= self._report_due:
            self._report_due = now + 1.0
            self.get_logger().warning(shortened(text, 400))


def _nothing(stamp: int) -> None:
    """Where no clock is published."""


def _publish_stamp(send, write, stamp: int) -> None:
    send(write(None, stamp))


def _publish_sample(send, write, sample: Sample, stamp: int) -> None:
    send(write(sample, stamp))


def _publish_if_wanted(send, write, sample: Sample, stamp: int) -> None:
    if send.__self__.get_subscription_count():  # of the publisher whose method it is
        send(write(sample, stamp))
