"""`rbt solve`: optimal manoeuvres and plans. All arguments are those of `studies.solve`."""

import argparse
import sys

from rbt_ros.progress import clear_progress, show_progress
from rbt_ros.studies import solve


def add(parser: argparse.ArgumentParser) -> None:
    """None here."""


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Find it."""
    progress = show_progress if sys.stderr.isatty() else None
    try:
        return solve.main(rest, progress)
    finally:
        if progress:
            clear_progress()
