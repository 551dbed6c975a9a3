"""`rbt view`: a scenario, or what was recorded of one, in the browser."""

import argparse
from pathlib import Path

from rbt_ros.cli.arguments import above_zero, positive


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Look at a simulation in the browser, and act on it (docs/view.md). rbt view cubesat: it runs now; "
        "rbt view out/cubesat.csv or a bag: what was recorded."
    )
    parser.add_argument(
        "source",
        nargs="?",
        help="a scenario (file or shipped name), a table *.csv of rbt run, a file of result.to_npz, or a bag",
    )
    parser.add_argument("--of", metavar="SCENARIO", help="of a recording: the scenario that it is of")
    parser.add_argument(
        "--save", type=Path, metavar="FILE", help="of a recording: as *.html, *.mp4, *.gif or *.png instead"
    )
    parser.add_argument("--port", type=int, help="on 127.0.0.1; default: 7373 or the next one that is free")
    parser.add_argument("--rate", type=above_zero, default=1.0, metavar="X", help="simulated seconds per second")
    parser.add_argument(
        "--record", type=Path, metavar="BAG", help="of a scenario: all that acts and comes of it, into a new folder"
    )
    parser.add_argument("--paused", action="store_true", help="wait for the first step")
    parser.add_argument("--duration", type=positive, metavar="S", help="end after S seconds of wall time")
    parser.add_argument("--no-browser", action="store_true", help="print the address only")
    parser.add_argument("--build", action="store_true", help="bundle the page first; needs node (docs/view.md)")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Until Ctrl-C, or the end of the duration."""
    from rbt_ros.web import command

    return command.run(arguments)
