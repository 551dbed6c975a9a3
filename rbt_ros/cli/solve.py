"""`rbt solve`: optimal manoeuvres and plans. All arguments are those of `studies.solve`."""

import argparse

from rbt_ros.studies import solve


def add(parser: argparse.ArgumentParser) -> None:
    """None here."""


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Find it."""
    return solve.main(rest)
