"""`rbt check`: whether scenarios, robots and bags are sound, for people and for continuous integration."""

import argparse
import sys
import warnings
from pathlib import Path

from rbt_ros.errors import RbtError
from rbt_ros.paths import looks_like_bag

ROBOTS = (".urdf", ".xacro")


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Read scenarios (YAML, or the names of shipped ones), robots (URDF, xacro) and bags as a run would, find a "
        "consistent start, take one step, and tell what is wrong: file, line, value, rule and way out. Nothing is "
        "written. Exit code 1 where one of them cannot be run; warnings count where --strict is given."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a scenario, URDF or xacro file, or a bag")
    parser.add_argument("--strict", action="store_true", help="warnings are faults, too")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Check them all, each to its own first error."""
    faults = 0
    for file in arguments.files:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", UserWarning)
            try:
                told = f"{file}: ok, {_checked(file)}"
            except RbtError as err:
                where = "" if str(err).startswith(file) else f"{file}: "
                told, faults = f"{where}{err}", faults + 1
            else:
                faults += arguments.strict and bool(caught)
        print(told)
        for warning in caught:
            print(f"{file}: warning: {warning.message}")
    if faults and len(arguments.files) > 1:
        print(f"{faults} of {len(arguments.files)} have faults", file=sys.stderr)
    return 1 if faults else 0


def _checked(file: str) -> str:
    """What it is; raises what is wrong with it."""
    if looks_like_bag(file):
        return _checked_bag(file)
    from rbt_ros.sim import Simulation, load

    if Path(file).suffix in ROBOTS:
        from rbt_ros.model.urdf_read import load_urdf

        robot, what = load_urdf(file), "robot"
        sim = Simulation(robot)
    else:
        scenario = load(file)
        robot, sim, what = scenario.robot, scenario.simulation(), f"scenario of {scenario.robot.name}"
    sim.advance()
    return f"{what}, {len(robot.bodies)} bodies, {robot.freedoms} freedoms, {robot.mass:g} kg"


def _checked_bag(file: str) -> str:
    from rbt_ros.bags.bag import Bag
    from rbt_ros.bags.info import troubles

    bag = Bag(file)
    for trouble in troubles(bag):
        warnings.warn(trouble.strip(), stacklevel=1)
    return f"bag, {bag.messages} messages on {len(bag.topics)} topics"
