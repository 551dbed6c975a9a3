"""`rbt map`: maps of arrays that turn by folding. All arguments are those of `studies.maps`."""

import argparse
import sys

from rbt_ros.progress import clear_progress, show_progress
from rbt_ros.studies import maps


def add(parser: argparse.ArgumentParser) -> None:
    """None here."""


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Make a map, or go on with one."""
    progress = show_progress if sys.stderr.isatty() else None
    try:
        return maps.main(rest, progress)
    finally:
        if progress:
            clear_progress()
