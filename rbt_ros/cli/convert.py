"""`rbt convert`: a robot as URDF; a bag as a table, arrays, another bag."""

import argparse
from pathlib import Path

from rbt_ros.cli.arguments import above_zero
from rbt_ros.errors import ModelError
from rbt_ros.paths import looks_like_bag, writing

URDF = (".urdf", ".xacro")
ROBOTS = (*URDF, ".yaml")


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Read the robot of a scenario, a URDF or a xacro file, check it, and write it as URDF "
        "(docs/urdf.md): rbt convert arm.urdf.xacro arm.urdf. Or a bag (docs/bags.md) as *.csv, *.npz or another bag, "
        "and a *.csv as a bag: rbt convert swing swing.csv"
    )
    parser.add_argument(
        "source", help="a scenario YAML file or the name of a shipped one, *.urdf, *.xacro, a bag, *.csv"
    )
    parser.add_argument("target", type=Path, help="the file to write (*.urdf, *.csv, *.npz), or the folder of a bag")
    parser.add_argument("--layout", choices=("wide", "blender"), default="wide", help="of the CSV file of a bag")
    parser.add_argument("--frame-rate", type=above_zero, default=24.0, metavar="HZ", help="of layout blender (24)")
    parser.add_argument(
        "--storage", choices=("mcap", "sqlite3"), default="sqlite3", help="of a bag from a bag (sqlite3)"
    )


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Read, check, write."""
    if looks_like_bag(arguments.source) or arguments.source.endswith(".csv"):
        from rbt_ros.bags.convert import convert

        options = {"layout": arguments.layout, "frame_rate": arguments.frame_rate, "storage": arguments.storage}
        print("\n".join(convert(arguments.source, str(arguments.target), **options)))
        return 0
    from rbt_ros.model.scenario import read_scenario
    from rbt_ros.model.urdf import urdf_text
    from rbt_ros.model.urdf_read import load_urdf

    source, target = arguments.source, arguments.target
    if target.suffix != ".urdf":
        what = f"'{source}' is neither a bag nor a table" if not source.endswith(ROBOTS) else f"'{source}' is a robot"
        raise ModelError(f"{what}, and '{target}' does not end in .urdf, the one format in which robots are written.")
    robot = load_urdf(source) if source.endswith(URDF) else read_scenario(source).robot
    text = urdf_text(robot)
    with writing(target):
        target.write_text(text, encoding="utf-8")
    print(f"wrote {target}: robot '{robot.name}', {len(robot.bodies)} bodies, {robot.freedoms} freedoms")
    return 0
