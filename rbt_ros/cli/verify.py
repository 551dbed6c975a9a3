"""`rbt verify`: runs again what a bag holds, and compares every bit."""

import argparse


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.description = (
        "Run again what a bag holds, from its command log, and compare digests and messages. Says in which tick and in "
        "what a difference starts. Exit code 0: the same; 1: not; 2: it cannot be said, as "
        "where a part of the bag is lost."
    )
    parser.add_argument("bag", help="the folder of a bag, or a file of it")
    parser.add_argument("--scenario", metavar="FILE", help="where the bag holds none: what was run")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Run it again, tell what came out."""
    import sys

    from rbt_ros.bags.bag import Bag
    from rbt_ros.bags.verify import verify
    from rbt_ros.errors import RbtError

    damage: list[str] = []
    try:
        bag = Bag(arguments.bag)
        damage = bag.damage
        verdict = verify(bag, arguments.scenario)
    except RbtError as err:
        print("\n".join([*(f"damaged: {text}" for text in damage), f"rbt: {err}"]), file=sys.stderr)
        return 2
    print(verdict.text())
    return verdict.code
