"""The ROS 2 node: parameters, publishers, subscriptions. It converts and delegates; it computes nothing."""

import functools
import gc
import signal
import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy._rclpy_pybind11 import RCLError, UnknownROSArgsError
from rclpy.exceptions import InvalidParameterTypeException
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from rclpy.qos_overriding_options import QoSOverridingOptions
from rclpy.signals import SignalHandlerOptions

from rbt_ros import topics
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.model.inputs import Latched
from rbt_ros.model.scenario import Scenario, read_scenario
from rbt_ros.results import Sample
from rbt_ros.ros.clock_guard import ClockGuard
from rbt_ros.ros.convert import fill, message_class, shortened, stamp_of, wrench_command
from rbt_ros.ros.loop import SECOND_NS, Loop, LoopStatistics, Output
from rbt_ros.ros.parameters import SCENARIO, declare, parameter_table
from rbt_ros.sim import Simulation

NAME = "rbt_simulator"
SWITCH_S = 1e-4  # how long the executor may keep the interpreter when a step is due; Python's default is 5 ms
QOS = {
    "stream": QoSProfile(depth=10, reliability=ReliabilityPolicy.RELIABLE),
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
        self._wrench_at = self._value("wrench_at")
        self._hold_ns = round(self._value("wrench_hold") * SECOND_NS)
        self.clock_guard = ClockGuard(self, lambda: self.loop.stamp_ns())
        if self._value("publish_clock"):
            self.clock_guard.search()
        self._publish_diagnostics = self._publisher("/diagnostics", "diagnostic_msgs/msg/DiagnosticArray", "stream")
        self._latched = {
            body.name: self._publisher(f"~/latched/wrench/{body.name}", "geometry_msgs/msg/WrenchStamped", "stream")
            for body in self.robot.bodies
        }
        every_tick, outputs = self._make_outputs()
        self.loop = Loop(
            self.sim,
            clock_start_ns=self.scenario.clock_start_ns,
            every_tick=every_tick,
            outputs=outputs,
            on_latched=self._on_latched,
            on_fault=self._report,
            second=self._on_second,
            paced=self._value("mode") == "realtime",
            factor=self._value("realtime_factor"),
        )
        self._status = ""
        self._subscribe()
        self.add_post_set_parameters_callback(self._on_parameters_set)

    def _value(self, name: str) -> Any:
        return self.get_parameter(name).value

    def _on_parameters_set(self, changes: list) -> None:
        self._wrench_at = self._value("wrench_at")
        self.loop.factor = self._value("realtime_factor")
        if any(change.name == "stabilise" for change in changes):
            how = self.sim.stabilise._replace(method=self._value("stabilise"))
            spare = Simulation.of(self.scenario)
            spare.set_stabilise(how)
            spare.warm_up()  # compiles here, if need be, not in the stepping thread
            self.loop.ask(lambda sim: sim.set_stabilise(how))

    # out

    def _publisher(self, topic: str, kind: str, qos: str) -> Callable[[topics.Fields], None]:
        """A function that publishes fields on `topic`, reusing one message."""
        message = message_class(kind)()
        overrides = QoSOverridingOptions.with_default_policies() if not topic.startswith("~") else None
        publisher = self.create_publisher(type(message), topic, QOS[qos], qos_overriding_options=overrides)
        return lambda fields: publisher.publish(fill(message, fields))

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
            publish = self._publisher(topic.name, topic.type, topic.qos)
            if topic.qos == "latched":
                publish(topic.fields(first, stamp))
            elif topic.qos == "clock":
                every_tick = functools.partial(_publish_stamp, publish, topic.fields)
            else:
                divider = max(1, round(SECOND_NS / (rate * self.sim.h_ns)))
                outputs.append(Output(divider, functools.partial(_publish_sample, publish, topic.fields)))
        return every_tick, outputs

    def _on_latched(self, latched: Latched, stamp: int) -> None:
        wrench = latched.wrench
        frame = self._prefix + ("world" if wrench.frame == "world" else wrench.body)
        self._latched[wrench.body](topics.wrench_fields(stamp, frame, wrench.force, wrench.moment))

    def _on_second(self, sample: Sample, stamp: int) -> None:
        s = self.loop.statistics()
        self._status = topics.status_line(sample, s.real_time_factor, s.overruns)
        reports = [
            topics.conservation_report(
                sample, self._value("warn.energy_drift"), self._value("warn.angular_momentum_drift")
            ),
            self._loop_report(s),
            self._command_report(),
        ]
        self._publish_diagnostics(
            topics.diagnostic_fields(stamp, self.get_fully_qualified_name()[1:], self.robot.name, reports)
        )

    def status_text(self) -> str:
        """How it goes, in one line, from the last report of a second; empty before the first."""
        return self._status

    def _loop_report(self, s: LoopStatistics) -> topics.Report:
        values = {
            "ticks": s.ticks,
            "elapsed [s]": s.elapsed_ns * 1e-9,
            "step [s]": self.sim.h_ns * 1e-9,
            "real-time factor": s.real_time_factor,
            "overruns": s.overruns,
            "overruns, part of ticks": s.overruns / max(1, s.ticks),
            "jitter p50 [us]": s.late_p50_us,
            "jitter p99 [us]": s.late_p99_us,
            "jitter max [us]": s.late_max_us,
            "lag given up [s]": s.given_up_ns * 1e-9,
        }
        if self.loop.failure:
            return topics.Report("loop", topics.ERROR, self.loop.failure, values)
        if s.given_up_ns or s.overruns > 0.001 * s.ticks + 1:
            return topics.Report("loop", topics.WARN, "steps come late: a longer step or lower rates help", values)
        return topics.Report("loop", topics.OK, "in time", values)

    def _command_report(self) -> topics.Report:
        c = self.loop.counters
        values = {
            "accepted": c.accepted,
            "rejected": c.rejected,
            "stale": c.stale,
            "stamped ahead of the clock": c.ahead,
            "cancelled": c.cancelled,
            "last fault": c.last_fault,
        }
        faults = c.rejected + c.stale + c.ahead + c.cancelled
        summary = f"{faults} commands were faulty: {c.last_fault}" if faults else "all commands were good"
        return topics.Report("commands", topics.WARN if faults else topics.OK, summary, values)

    # in

    def _subscribe(self) -> None:
        for body in self.robot.bodies:
            self._subscribe_wrench(f"wrench/{body.name}", body.name)
        if len(self.robot.free_bodies) == 1:
            self._subscribe_wrench("wrench", self.robot.bodies[self.robot.free_bodies[0]].name)

    def _subscribe_wrench(self, topic: str, body: str) -> None:
        handler = functools.partial(self._on_wrench, body)
        overrides = QoSOverridingOptions.with_default_policies()
        self.create_subscription(WrenchStamped, topic, handler, QOS["stream"], qos_overriding_options=overrides)

    def _on_wrench(self, body: str, message: WrenchStamped) -> None:
        try:
            command = wrench_command(
                message, self.robot, body, prefix=self._prefix, at=self._wrench_at, hold_ns=self._hold_ns
            )
            self.loop.post(command, stamp_of(message))
        except MessageError as err:
            self.loop.counters.reject(str(err))
            self._report(str(err))

    def _report(self, text: str) -> None:
        self.get_logger().warning(shortened(text, 400), throttle_duration_sec=1.0)


def _nothing(stamp: int) -> None:
    """Where no clock is published."""


def _publish_stamp(publish, fields, stamp: int) -> None:
    publish(fields(None, stamp))


def _publish_sample(publish, fields, sample: Sample, stamp: int) -> None:
    publish(fields(sample, stamp))


def spin(
    scenario: Scenario | None = None,
    args: list[str] | None = None,
    duration: float | None = None,
    watch: Callable[[SimulatorNode], None] | None = None,
) -> int:
    """Run the node until SIGINT, SIGTERM or `duration` [s of steady time]; the exit code.

    watch: called twice a second, for a line of status.
    """
    stop = _StopRequest()
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


class _StopRequest:
    """SIGINT and SIGTERM end the node after the step under way, with exit code 0."""

    def __init__(self) -> None:
        self.requested = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._on_signal)

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.requested = True
