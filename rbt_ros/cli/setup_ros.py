"""`rbt setup-ros`: the messages that pip does not have."""

import argparse

from rbt_ros import setup_ros


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments are its own."""


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Make them."""
    return setup_ros.main(rest)
