"""The ROS 2 node: parameters, publishers, subscriptions. It converts and delegates; it computes nothing."""

import functools
import gc
import sys
import time
from collections.abc import Callable
from typing import Any

import rclpy
from rclpy._rclpy_pybind11 import RCLError, UnknownROSArgsError
from rclpy.event_handler import PublisherEventCallbacks
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.signals import SignalHandlerOptions

from rbt_ros import topics
from rbt_ros.errors import ScenarioError
from rbt_ros.model.scenario import Scenario, read_scenario
from rbt_ros.model.stabilise import Stabilise
from rbt_ros.results import Sample
from rbt_ros.ros.clock_guard import ClockGuard
from rbt_ros.ros.command_log import CommandLog
from rbt_ros.ros.command_topics import CommandTopics
from rbt_ros.ros.convert import fill, message_class, shortened
from rbt_ros.ros.hinge_parameters import HingeParameters
from rbt_ros.ros.loop import SECOND_NS, Loop, Output
from rbt_ros.ros.parameters import SCENARIO, declare, parameter_table
from rbt_ros.ros.reports import command_report, connection_report, loop_report
from rbt_ros.ros.services import Services
from rbt_ros.ros.sources import Lockstep, Watchdog
from rbt_ros.ros.stop import StopRequest
from rbt_ros.ros.writers import writer
from rbt_ros.sim import Simulation

NAME = "rbt_simulator"
SWITCH_S = 1e-4  # how long the executor may keep the interpreter when a step is due; Python's default is 5 ms
QOS = {
    "stream": QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE),
    "lazy": QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE),
    "log": QoSProfile(depth=1000, reliability=ReliabilityPolicy.RELIABLE),  # no command may be missing in a record
    "clock": QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE),
    "latched": QoSProfile(depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL),
}


class SimulatorNode(Node):
    """A Simulation on ROS topics. `scenario` None: the one that parameter `scenario` names."""

    def __init__(self, scenario: Scenario | None = None):
        super().__init__(NAME)
        try:
            name = self.declare_parameter("scenario", scenario.name if scenario else "cubesat", SCENARIO).value
        except InvalidParameterTypeException as err:
            raise ScenarioError(f"parameter scenario is refused: {SCENARIO.description}. ({err})") from err
        self.scenario = scenario or read_scenario(name)
        self.robot = self.scenario.robot
        self.sim = Simulation.of(self.scenario)
        self.sim.warm_up()
        declare(self, parameter_table(self.scenario))
        if self._value("stabilise") != self.sim.stabilise.method:
            self.sim.set_stabilise(self.sim.stabilise._replace(method=self._value("stabilise")))
        self._prefix = self._value("frame_prefix")
        self.clock_guard = ClockGuard(self, lambda: self.loop.stamp_ns())
        if self._value("publish_clock"):
            self.clock_guard.search()
        self._incompatible, self._last_incompatible = 0, ""
        self._publish_diagnostics = self._publisher("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "stream")
        self._log = CommandLog(self.robot, self._prefix, self.get_fully_qualified_name(), self._log_publisher)
        every_tick, outputs = self._make_outputs()
        self.loop = Loop(
            self.sim,
            clock_start_ns=self.scenario.clock_start_ns,
            every_tick=every_tick,
            outputs=outputs,
            on_latched=self._log.note,
            on_fault=self._report,
            second=self._on_second,
            mode=self._value("mode"),
            factor=self._value("realtime_factor"),
            lockstep=self._lockstep(),
            watchdog=self._watchdog(),
            paused=self._value("start_paused"),
        )
        self._status = ""
        self._hinges = HingeParameters(self, self.robot, lambda settings: self.loop.post(settings, 0))
        if self._hinges.start.settings:
            self.loop.post(self._hinges.start, 0)
        CommandTopics(
            self,
            self.robot,
            value=self._value,
            post=self.loop.post,
            refuse=self._refuse,
            on_qos=self._on_incompatible_qos,
            qos=QOS["stream"],
        )
        Services(self, self.loop, self._value, self._on_loaded)
        self.add_post_set_parameters_callback(self._on_parameters_set)

    # parameters

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _lockstep(self) -> Lockstep:
        deadline_ns = round(self._value("lockstep.deadline") * SECOND_NS)
        topics = tuple(self._value("lockstep.wait_for").split())
        return Lockstep(topics, self._value("lockstep.every"), deadline_ns, self._value("lockstep.fallback"))

    def _watchdog(self) -> Watchdog:
        return Watchdog(round(self._value("watchdog.timeout") * SECOND_NS), self._value("watchdog.fallback"))

    def _on_parameters_set(self, changes: list) -> None:
        names = {change.name for change in changes}
        self.loop.factor = self._value("realtime_factor")
        if any(name.startswith("lockstep.") for name in names):
            lockstep = self._lockstep()
            self.loop.ask(lambda sim: self.loop.set_lockstep(lockstep))
        if any(name.startswith("watchdog.") for name in names):
            watchdog = self._watchdog()
            self.loop.ask(lambda sim: self.loop.watchdog.adjust(watchdog))
        if "mode" in names:
            mode = self._value("mode")
            self.loop.ask(lambda sim: self.loop.set_mode(mode))
        if "stabilise" in names:
            self._set_stabilise(self.sim.stabilise._replace(method=self._value("stabilise")))
        if logged := {name: self._value(name) for name in names & {"stabilise", "wrench_at"}}:
            self.loop.ask(lambda sim: self._log.note_parameters(logged, self.loop.stamp_ns()))

    def _set_stabilise(self, how: Stabilise) -> None:
        spare = Simulation.of(self.scenario)
        spare.set_stabilise(how)
        spare.warm_up()  # compiles here, if need be, not in the stepping thread
        self.loop.ask(lambda sim: sim.set_stabilise(how))

    def _on_loaded(self, sim: Simulation) -> None:
        self._hinges.adopt(sim.hinge_laws)

    # out

    def _publisher(self, topic: str, kind: str, qos: str) -> Callable[[topics.Fields], None]:
        """A function that publishes fields on `topic`, reusing one message."""
        message, send = message_class(kind)(), self._sender(topic, kind, qos)
        return lambda fields: send(fill(message, fields))

    def _sender(self, topic: str, kind: str, qos: str) -> Callable[[Any], None]:
        """A function that publishes messages on `topic`."""
        publisher = self.create_publisher(
            message_class(kind),
            topic,
            QOS[qos],
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
        first, stamp = self.sim.sample(), self.scenario.clock_start_ns
        for topic in topics.published(self.robot, self._prefix):
            if topic.qos == "clock" and not self._value("publish_clock"):
                continue
            rate = self._value(f"outputs.{topic.key}") if topic.key else 0.0
            if topic.key and rate == 0.0:
                continue
            send, write = self._sender(topic.name, topic.type, topic.qos), writer(topic, self.robot, self._prefix)
            if topic.qos == "latched":
                send(write(first, stamp))
            elif topic.qos == "clock":
                every_tick = functools.partial(_publish_stamp, send, write)
            else:
                divider = max(1, round(SECOND_NS / (rate * self.sim.h_ns)))
                lazy = topic.qos == "lazy"
                publish = _publish_if_wanted if lazy else _publish_sample
                outputs.append(Output(divider, functools.partial(publish, send, write), in_step=not lazy))
        return every_tick, outputs

    def _on_second(self, sample: Sample, stamp: int) -> None:
        s = self.loop.statistics()
        self._status = topics.status_line(sample, s.real_time_factor, s.overruns)
        limits = self._value("warn.energy_drift"), self._value("warn.angular_momentum_drift")
        reports = [
            topics.conservation_report(sample, *limits),
            loop_report(s, self.sim.h_ns, self.loop.state, self.loop.failure),
            command_report(self.loop.counters),
            connection_report(self._incompatible, self._last_incompatible),
        ]
        name = self.get_fully_qualified_name()[1:]
        self._publish_diagnostics(topics.diagnostic_fields(stamp, name, self.robot.name, reports))

    def status_text(self) -> str:
        """How it goes, in one line, from the last report of a second; empty before the first."""
        return self._status

    # faults

    def _on_incompatible_qos(self, where: str) -> None:
        self._incompatible, self._last_incompatible = self._incompatible + 1, where
        self._report(f"somebody at the other side of the {where} has an incompatible quality of service")

    def _refuse(self, text: str) -> None:
        self.loop.counters.reject(text)
        self._report(text)

    def _report(self, text: str) -> None:
        self.get_logger().warning(shortened(text, 400), throttle_duration_sec=1.0)


def _nothing(stamp: int) -> None:
    """Where no clock is published."""


def _publish_stamp(send, write, stamp: int) -> None:
    send(write(None, stamp))


def _publish_sample(send, write, sample: Sample, stamp: int) -> None:
    send(write(sample, stamp))


def _publish_if_wanted(send, write, sample: Sample, stamp: int) -> None:
    if send.__self__.get_subscription_count():  # of the publisher whose method it is
        send(write(sample, stamp))


def spin(
    scenario: Scenario | None = None,
    args: list[str] | None = None,
    duration: float | None = None,
    watch: Callable[[SimulatorNode], None] | None = None,
) -> int:
    """Run the node until SIGINT, SIGTERM or `duration` [s of steady time]; the exit code.

    watch: called twice a second, for a line of status.
    """
    stop = StopRequest()
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    except (RCLError, UnknownROSArgsError) as err:
        raise ScenarioError(f"ROS refuses the command line: {err}") from err
    node = None
    try:
        node = SimulatorNode(scenario)
        executor = SingleThreadedExecutor()
        executor.add_node(node)
        gc.collect()
        gc.freeze()  # what lives from here on is small: collections stay short
        sys.setswitchinterval(SWITCH_S)
        node.loop.start()
        _spin_until(stop, node, executor, duration, watch)
    except ExternalShutdownException:
        pass  # somebody else in this process shut ROS down: an ordinary end
    finally:
        if node is not None:
            if hasattr(node, "loop"):
                node.loop.stop()
            node.destroy_node()
        rclpy.try_shutdown()
    return 0


def _spin_until(stop, node, executor, duration, watch) -> None:
    start = time.monotonic()
    end, look = start + (duration if duration is not None else float("inf")), start
    while not stop.requested and node.loop.alive:
        now = time.monotonic()
        if now >= end:
            return
        if now >= look:
            look += 0.5
            if watch is not None:
                watch(node)
            node.clock_guard.look()
        executor.spin_once(timeout_sec=min(0.1, end - now))
