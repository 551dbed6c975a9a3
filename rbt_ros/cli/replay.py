"""`rbt replay`: a bag on topics again, or as the inputs of a simulation."""

import argparse
import os
from pathlib import Path

from rbt_ros.cli.arguments import above_zero, positive
from rbt_ros.errors import ScenarioError, SetupError


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Publish a bag on ROS topics, with /clock; or (--as inputs) drive a simulation by its command log, with other "
        "values if wanted, and tell how far it is from what was recorded (docs/bags.md)."
    )
    parser.add_argument("bag", help="the folder of a bag, or a file of it")
    parser.add_argument("--as", dest="what", choices=("topics", "inputs"), default="topics")
    topics = parser.add_argument_group("as topics")
    topics.add_argument("--rate", type=above_zero, default=1.0, metavar="R", help="seconds of the bag per second (1)")
    topics.add_argument(
        "--start", type=not_negative, default=0.0, metavar="S", help="begin S seconds after its start (before its end)"
    )
    topics.add_argument("--reverse", action="store_true", help="from the end back, under a clock that rises")
    topics.add_argument("--loop", action="store_true", help="begin again at the end")
    topics.add_argument("--wait", type=positive, default=1.0, metavar="S", help="for subscribers, before it begins (1)")
    inputs = parser.add_argument_group("as inputs")
    inputs.add_argument("--scenario", metavar="FILE", help="in place of the one in the bag")
    inputs.add_argument(
        "--set", action="append", default=[], metavar="KEY=VALUE", help="what if: robot.bodies.hub.mass='2 kg'"
    )
    inputs.add_argument("--drive", action="append", default=[], metavar="JOINT", help="follows its measured positions")
    inputs.add_argument("--align", action="store_true", help="shift the simulation in time for the best fit")
    inputs.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the figure (out)")


def not_negative(text: str) -> float:
    """Reads a time [s]."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0 <= value < 9e9:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of seconds from 0 to 9e9")
    return value


def check_way(arguments: argparse.Namespace) -> None:
    """ScenarioError where an option is of the other way to replay."""
    topics = {"--rate": arguments.rate != 1.0, "--start": arguments.start, "--loop": arguments.loop}
    inputs = {"--scenario": arguments.scenario, "--set": arguments.set, "--drive": arguments.drive}
    strange = {"topics": {**inputs, "--align": arguments.align}, "inputs": {**topics, "--reverse": arguments.reverse}}
    if given := [name for name, value in strange[arguments.what].items() if value]:
        other = "inputs" if arguments.what == "topics" else "topics"
        raise ScenarioError(f"{', '.join(given)}: for --as {other} only, and this is --as {arguments.what}.")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Replay it."""
    from rbt_ros.bags.bag import Bag

    check_way(arguments)
    bag = Bag(arguments.bag)
    for damage in bag.damage:
        print(f"damaged: {damage}")
    return _publish(bag, arguments) if arguments.what == "topics" else _compare(bag, arguments)


def _publish(bag, arguments: argparse.Namespace) -> int:
    os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    try:
        from rbt_ros.ros.replay import How, replay
    except ImportError as err:
        raise SetupError(
            f"ROS 2 is not complete here ({err}): source your ROS, or pip install 'rbt_ros[ros]' and run rbt setup-ros."
        ) from err
    how = How(arguments.rate, arguments.start, arguments.loop, arguments.reverse)
    return replay(bag, how, arguments.wait)


def _compare(bag, arguments: argparse.Namespace) -> int:
    from rbt_ros.bags.residual import residuals
    from rbt_ros.paths import made_folder

    changes = {}
    for change in arguments.set:
        key, equals, value = change.partition("=")
        if not equals:
            raise ScenarioError(f"--set '{change}' is not of the form KEY=VALUE.")
        changes[key] = value
    out = made_folder(arguments.out)
    found = residuals(bag, arguments.scenario, changes, driven=arguments.drive, align=arguments.align)
    print(found.text())
    figure = out / f"{bag.path.stem}_residuals.png"
    try:
        found.plot(figure)
        print(f"wrote {figure}")
    except SetupError as err:
        print(f"no figure: {err}")
    return 0
