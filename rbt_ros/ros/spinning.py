"""The life of a node in this process: signals, a duration, the executor's turns."""

import gc
import sys
import time
from collections.abc import Callable

import rclpy
from rclpy._rclpy_pybind11 import RCLError, UnknownROSArgsError
from rclpy.executors import ExternalShutdownException
from rclpy.signals import SignalHandlerOptions

from rbt_ros.errors import ScenarioError
from rbt_ros.model.scenario import Scenario
from rbt_ros.ros.executor import NodeExecutor
from rbt_ros.ros.hearing import LIMIT_S
from rbt_ros.ros.node import NAME, SimulatorNode
from rbt_ros.ros.stop import StopRequest

__all__ = ["NAME", "spin"]

ANSWER_S = 1.0  # for an answer to arrive: a service learns of no receipt, and what is on its way ends with the node
SWITCH_S = 1e-4  # how long the executor may keep the interpreter when a step is due; Python's default is 5 ms


def spin(
    scenario: Scenario | None = None,
    args: list[str] | None = None,
    duration: float | None = None,
    watch: Callable[[SimulatorNode], None] | None = None,
    greet: Callable[[SimulatorNode], None] = lambda node: None,
) -> int:
    """Run the node until SIGINT, SIGTERM or `duration` [s of steady time]; the exit code.

    watch: called twice a second, for a line of status; greet: once, with the node.
    """
    stop = StopRequest()
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    except (RCLError, UnknownROSArgsError) as err:
        raise ScenarioError(f"ROS refuses the command line: {err}") from err
    try:
        _live(stop, scenario, duration, watch, greet)
    except ExternalShutdownException:
        pass  # somebody else in this process shut ROS down: an ordinary end
    finally:
        context = rclpy.get_default_context()
        rclpy.try_shutdown()
        gc.collect()
        context.destroy()  # its shared memory, also where the process is left before the interpreter ends
    return 0


def _live(stop, scenario, duration: float | None, watch, greet) -> None:
    """Run a node until it ends."""
    node = SimulatorNode(scenario, stop.interruptible)
    try:
        greet(node)
        executor = NodeExecutor(node, node.faults.note)
        sys.setswitchinterval(SWITCH_S)
        if node.autostart:
            node.trigger_activate()
        end = float("inf") if duration is None else time.monotonic() + duration
        _spin_until(stop, node, executor, end, watch)
        if node.quitting:
            _answer_the_last(node, executor)
    finally:
        node.destroy_node()


def _spin_until(stop, node, executor, end: float, watch) -> None:
    look = time.monotonic()
    while not (stop.requested or node.quitting) and (not node.configured or node.loop.running):
        now = time.monotonic()
        if now >= end:
            return
        if now >= look:
            look += 0.5
            if node.configured and node.loop.started:
                if watch is not None:
                    watch(node)
                node.clock_guard.look()
        executor.spin_once(timeout_sec=min(0.1, end - now))


def _answer_the_last(node, executor) -> None:
    """Who asked for the end is answered, and who waits for the result of steps, whose request may just arrive."""
    if node.configured:
        node.loop.stop()
    now = time.monotonic()
    end, limit = now + ANSWER_S, now + LIMIT_S
    while now < end:
        executor.spin_once(timeout_sec=end - now)
        now = time.monotonic()
        if executor.waits:
            end = min(now + ANSWER_S, limit)
