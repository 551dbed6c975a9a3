"""`rbt node`: a scenario on ROS 2 topics."""

import argparse
import contextlib
import os
import sys
import time
from typing import Any

from rbt_ros.cli.arguments import above_zero, add_scenario, positive
from rbt_ros.cli.ending import left_at_once
from rbt_ros.errors import SetupError
from rbt_ros.model.robot import Robot
from rbt_ros.topics import published


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Run a scenario as a ROS 2 node until Ctrl-C. ROS arguments go behind --ros-args, as everywhere: "
        "rbt node cubesat --ros-args -p frame_prefix:=a/ -r __ns:=/a"
    )
    add_scenario(parser)
    parser.add_argument("--duration", type=positive, metavar="S", help="end after S seconds of wall time")
    parser.add_argument("--namespace", metavar="NS", help="of the node and its topics, for several simulators")
    parser.add_argument("--frame-prefix", metavar="P", default="", help="before every frame name, for several robots")
    parser.add_argument("--mode", help="realtime, lockstep or fast, in place of the scenario's own")
    parser.add_argument("--rate", type=above_zero, metavar="R", help="simulated seconds per second in mode realtime")
    parser.add_argument("--view", action="store_true", help="show it in the browser (docs/view.md)")
    parser.add_argument("--rviz", action="store_true", help="start rviz2 with displays for this scenario")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Spin until it ends."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    with left_at_once(0):
        from rbt_ros.model.scenario import read_scenario

        spinning = ros_spinning()
        from rbt_ros.ros.launching import ros_arguments, rviz_beside

    scenario = read_scenario(arguments.scenario)
    line = StatusLine()
    beside = contextlib.ExitStack()

    def begin(node: Any) -> None:
        if arguments.rviz:
            prefix = node.get_parameter("frame_prefix").value if node.configured else arguments.frame_prefix
            beside.enter_context(rviz_beside(scenario, node.get_namespace(), prefix))
        greet(node)

    try:
        with beside:
            words = [sys.argv[0], *ros_arguments(arguments), *rest]
            return spinning.spin(scenario, words, arguments.duration, watch=line.show, greet=begin)
    finally:
        line.close()


def greet(node: Any) -> None:
    """Tell what starts, where to look, how to end it; once it has its name, whoever gave it."""
    space, name = node.get_namespace().rstrip("/"), node.get_fully_qualified_name()
    if not node.configured:
        print(f"{name} waits to be configured: ros2 lifecycle set {name} configure. Ctrl-C ends.", flush=True)
        return
    scope = os.environ.get("ROS_AUTOMATIC_DISCOVERY_RANGE") or "SUBNET"
    clock = "clock" if node.get_parameter("publish_clock").value else ""
    print(f"{node.scenario.name} starts as {name}, scope {scope}. {hints(node.robot, space, clock)}", flush=True)


def hints(robot: Robot, space: str, clock: str = "clock") -> str:
    """Which topics to look at, and where to push. space: the namespace, "" for none; clock: "" where it has none."""
    named = {"odom", *(("joint_states",) if robot.joint_names else ())}
    seen = [f"{space}/{topic.name}" for topic in published(robot) if topic.key in named][:4]
    wrench = "wrench" if len(robot.free_bodies) == 1 else f"wrench/{robot.bodies[0].name}"
    looks = "  ".join(["/tf", *seen, f"{space}/robot_description", "/diagnostics", *([f"/{clock}"] if clock else [])])
    return f"Topics to look at:\n  {looks}; push it on {space}/{wrench}. Ctrl-C ends."


def ros_spinning() -> Any:
    """The module that spins the node, or SetupError where ROS is not complete."""
    try:
        from rbt_ros.ros import spinning
    except ImportError as err:
        raise SetupError(
            f"ROS 2 is not complete here ({err}): source your ROS, or pip install 'rbt_ros[ros]' and run rbt setup-ros."
        ) from err
    return spinning


class StatusLine:
    """One line about the run, rewritten in a terminal, repeated every 5 s elsewhere."""

    def __init__(self, stream: Any = None):
        self._stream = stream if stream is not None else sys.stdout
        self._live = self._stream.isatty()
        self._next = 0.0
        self._shown = False

    def show(self, node: Any) -> None:
        """Tell time, real-time factor and what is kept."""
        text = node.status_text()
        if not text or not self._live and time.monotonic() < self._next:
            return
        self._next = time.monotonic() + 5.0
        self._stream.write(("\r\x1b[K" if self._live else "") + text + ("" if self._live else "\n"))
        self._stream.flush()
        self._shown = True

    def close(self) -> None:
        """Leave the cursor on a fresh line."""
        if self._live and self._shown:
            self._stream.write("\n")
            self._stream.flush()
