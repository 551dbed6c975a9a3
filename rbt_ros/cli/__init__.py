"""The command line: `rbt VERB`. Each verb is a module, imported when it is used, so that `rbt --help` is instant.

A module of a verb has `add(parser)`, which adds its arguments, and `run(arguments, rest)`, which returns the exit code.
"""

import argparse
import os
import sys
import warnings
from importlib import import_module
from io import TextIOWrapper
from typing import NamedTuple

from rbt_ros import __version__
from rbt_ros.cli.ending import leave, leave_after_interrupt, left_at_once
from rbt_ros.errors import RbtError

DESCRIPTION = """Rigid and multibody dynamics you can check, on ROS 2.

  rbt node cubesat               the simulation on ROS 2 topics, until Ctrl-C
  rbt run cubesat --until 10     the same without ROS: a table, a CSV file, a figure
  rbt view cubesat               the same in the browser: look at it, push it, change it
  rbt plot out/cubesat.csv       figures for print: energy, momentum, polhode, cones; also of bags and maps
  rbt info cubesat               what is in a scenario
  rbt check arm.yaml arm.urdf    whether they can be run; what is wrong with them
  rbt schema > scenario.schema.json      for editors: completion and checks of scenario files
  rbt run cubesat --until 10 --record flight     and a bag; then: rbt info, verify, replay, convert, repair flight
  rbt record /odom --out flight  topics of running nodes into a bag
  rbt convert a.yaml a.urdf      its robot as URDF
  rbt mass hub.stl --unit mm --density 2700     mass, centre of mass and inertia of a mesh or a NASTRAN deck
  rbt map l_shape                net turns, or collisions, of arrays that turn by folding
  rbt solve effort --turn 10 --time 25          their best manoeuvres; or: rbt solve attitude W X Y Z
  rbt study tables               studies that compare: the MATLAB toolbox's solvers; or: rbt study stabilise
  rbt setup-ros                  make the ROS 2 messages that pip does not have
"""


class Verb(NamedTuple):
    """What `rbt --help` says of a verb."""

    module: str  # in this package
    help: str
    passes_on: bool = False  # whether arguments that are not its own go to `run` as `rest`
    own_help: bool = False  # --help among them
    computes: bool = False  # whether it may compile anywhere, and Ctrl-C finds nothing to be closed


VERBS = {
    "node": Verb("node", "run a scenario as a ROS 2 node", passes_on=True),
    "run": Verb("run", "run a scenario without ROS, as fast as it goes"),
    "view": Verb("view", "look at a scenario or a recorded run in the browser"),
    "plot": Verb("plot", "figures for print of a run, a bag or a map", computes=True),
    "info": Verb("info", "what is in a scenario or a bag"),
    "check": Verb("check", "whether scenarios, robots and bags are sound", computes=True),
    "schema": Verb("schema", "what a scenario file may hold, for editors"),
    "record": Verb("record", "ROS topics of running nodes into a bag"),
    "replay": Verb("replay", "a bag on ROS topics again, or as the inputs of a simulation"),
    "verify": Verb("verify", "run again what a bag holds, and compare every bit", computes=True),
    "repair": Verb("repair", "make a bag whole whose recording was killed"),
    "convert": Verb("convert", "write a robot as URDF"),
    "mass": Verb("mass", "mass, centre of mass and inertia of a mesh or a NASTRAN deck"),
    "map": Verb("map", "maps of arrays that turn by folding: net turns, collisions", True, True, True),
    "solve": Verb("solve", "manoeuvres of such arrays: least effort, least time, plans", True, True, True),
    "study": Verb("study", "measure and compare: tables, figures", passes_on=True, computes=True),
    "setup-ros": Verb("setup_ros", "make the ROS 2 messages that pip does not have", True, own_help=True),
}


def main() -> None:
    """Entry point `rbt`."""
    asked = next((word for word in sys.argv[1:] if not word.startswith("-")), "")
    # a node ends by Ctrl-C, also while it still loads; other verbs are broken off
    broken_off = 0 if asked == "node" else 130
    with left_at_once(broken_off):
        parser = _parser(asked)
        arguments, rest = parser.parse_known_args()
    if rest and not VERBS[arguments.verb].passes_on:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")
    warnings.showwarning = lambda message, *_: print(f"rbt: warning: {message}", file=sys.stderr)
    if isinstance(sys.stdout, TextIOWrapper):  # names of files are any bytes
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        code = _run(arguments, rest)
        if asked == "node":
            leave(code)
        sys.exit(code)
    except RbtError as err:
        sys.exit(f"rbt: {err}")
    except KeyboardInterrupt:
        leave_after_interrupt(broken_off)
    except BrokenPipeError:  # `rbt info x | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as err:
        if err.filename is None:
            raise
        sys.exit(f"rbt: {err.filename!s:.200} cannot be used: {err.strerror}; give another path.")


def simulator() -> None:
    """Entry point `rbt_simulator`: `ros2 run rbt_ros rbt_simulator --ros-args -p scenario:=cubesat`."""
    try:
        with left_at_once(0):
            node = _module("node")
            spinning = node.ros_spinning()
        leave(spinning.spin(args=sys.argv, greet=node.greet))
    except RbtError as err:
        sys.exit(f"rbt_simulator: {err}")
    except KeyboardInterrupt:
        leave_after_interrupt(0)  # while it still loaded: as clean an end as later


def _run(arguments: argparse.Namespace, rest: list[str]) -> int:
    run = _module(arguments.verb).run
    if not VERBS[arguments.verb].computes:
        return run(arguments, rest)
    with left_at_once(130):
        from rbt_ros.interruptible import interruptible
    return interruptible(lambda: run(arguments, rest))


def _module(verb: str):
    return import_module(f"rbt_ros.cli.{VERBS[verb].module}")


def _parser(asked: str) -> argparse.ArgumentParser:
    """All verbs by name and help; the one that is asked for with its arguments."""
    parser = argparse.ArgumentParser(
        prog="rbt", description=DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--version", action="version", version=f"rbt_ros {__version__}")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")
    for name, verb in VERBS.items():
        sub = verbs.add_parser(name, help=verb.help, add_help=not verb.own_help)
        if name == asked:
            _module(name).add(sub)
    return parser
