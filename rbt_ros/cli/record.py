"""`rbt record`: topics of running nodes, ours or others', into a bag."""

import argparse
import os
from datetime import datetime
from pathlib import Path

from rbt_ros.cli.arguments import above_zero, positive
from rbt_ros.errors import SetupError


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Record ROS topics into a bag, as `ros2 bag record` does, without it: of a node of ours, a controller, a "
        "testbed. Until Ctrl-C; what was written stays readable whatever is killed (docs/bags.md). A run of ours is "
        "recorded better by itself: rbt run --record, or record:=true of the node, which lose no step."
    )
    parser.add_argument("topics", nargs="*", metavar="TOPIC", help="what to record (all but hidden ones)")
    parser.add_argument(
        "--out", type=Path, metavar="BAG", help="a folder that is not there yet (out/record_ and the time)"
    )
    parser.add_argument("--duration", type=positive, metavar="S", help="end after that time")
    parser.add_argument("--sim-time", action="store_true", help="times of /clock in place of the system's")
    parser.add_argument("--compression", choices=("zstd", "lz4", "none"), default="zstd", help="of each chunk (zstd)")
    parser.add_argument("--split-mb", type=above_zero, metavar="MB", help="a new file begins when one holds more")
    parser.add_argument("--split-s", type=positive, metavar="S", help="a new file begins when one holds more [s]")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Record."""
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    try:
        from rbt_ros.ros.capture import How, capture
    except ImportError as err:
        raise SetupError(
            f"ROS 2 is not complete here ({err}): source your ROS, or pip install 'rbt_ros[ros]' and run rbt setup-ros."
        ) from err
    how = How(
        tuple(arguments.topics),
        arguments.sim_time,
        arguments.duration,
        arguments.compression,
        round((arguments.split_mb or 0.0) * 1e6),
        arguments.split_s or 0.0,
    )
    return capture(arguments.out or Path("out") / f"record_{datetime.now():%Y%m%d_%H%M%S}", how)
