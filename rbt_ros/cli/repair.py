"""`rbt repair`: a bag whose recording was killed."""

import argparse
from pathlib import Path


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Rebuild index and metadata.yaml of an MCAP bag from what is whole; damaged files are kept beside. Exit code "
        "0: the bag is whole now; 1: nothing of it can be read."
    )
    parser.add_argument("bag", help="the folder of a bag, or a file of it")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Repair it, tell what was done."""
    from rbt_ros.bags.mcap_source import mcap_files
    from rbt_ros.bags.repair import repair

    print("\n".join(repair(arguments.bag)))
    return 0 if mcap_files(Path(arguments.bag).expanduser()) else 1
