"""The life of a node in this process: signals, a duration, one life after the other, the executor's turns."""

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
from rbt_ros.ros.node import NAME, SimulatorNode
from rbt_ros.ros.stop import StopRequest

__all__ = ["NAME", "spin"]

SWITCH_S = 1e-4  # how long the executor may keep the interpreter when a step is due; Python's default is 5 ms


def spin(
    scenario: Scenario | None = None,
    args: list[str] | None = None,
    duration: float | None = None,
    watch: Callable[[SimulatorNode], None] | None = None,
    greet: Callable[[SimulatorNode], None] = lambda node: None,
) -> int:
    """Run the node until SIGINT, SIGTERM or `duration` [s of steady time]; the exit code.

    watch: called twice a second, for a line of status; greet: once, with the first node.
    """
    stop = StopRequest()
    try:
        rclpy.init(args=args, signal_handler_options=SignalHandlerOptions.NO)
    except (RCLError, UnknownROSArgsError) as err:
        raise ScenarioError(f"ROS refuses the command line: {err}") from err
    clock_ns: int | None = 0
    end, autostart = End(duration), True
    try:
        while clock_ns is not None:
            clock_ns = _one_life(stop, scenario, autostart, clock_ns, end, watch, greet)
            autostart, greet = False, lambda node: None
            gc.unfreeze()
            gc.collect()  # until then the node of that life is seen by others
    except ExternalShutdownException:
        pass  # somebody else in this process shut ROS down: an ordinary end
    finally:
        context = rclpy.get_default_context()
        rclpy.try_shutdown()
        gc.collect()
        context.destroy()  # its shared memory, also where the process is left before the interpreter ends
    return 0


class End:
    """A duration [s of steady time] that is counted from when the first node spins."""

    def __init__(self, duration: float | None):
        self._duration, self._at = duration, float("inf")

    def begin(self) -> float:
        """When it is over."""
        if self._duration is not None:
            self._at, self._duration = time.monotonic() + self._duration, None
        return self._at


def _one_life(stop, scenario, autostart: bool, clock_ns: int, end: End, watch, greet) -> int | None:
    """Run a node until it ends or is cleaned up.

    What the clock has shown, where another one is to be made, which waits to be configured.
    """
    node = SimulatorNode(scenario, autostart, clock_ns, stop.interruptible)
    try:
        greet(node)
        executor = NodeExecutor(node)
        gc.collect()
        gc.freeze()  # what lives from here on is small: collections stay short
        sys.setswitchinterval(SWITCH_S)
        if node.autostart:
            node.trigger_activate()
        _spin_until(stop, node, executor, end.begin(), watch)
        if node.defect is not None:
            raise node.defect
        return node.shown_ns if node.renewed and not node.quitting and not stop.requested else None
    finally:
        node.destroy_node()


def _spin_until(stop, node, executor, end: float, watch) -> None:
    look = time.monotonic()
    while not (stop.requested or node.quitting or node.renewed) and (not node.configured or node.loop.running):
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
