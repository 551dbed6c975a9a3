"""Arguments that several verbs take."""

import argparse
from collections.abc import Callable


def add_scenario(parser: argparse.ArgumentParser) -> None:
    """The scenario to work on."""
    from rbt_ros.paths import share

    shipped = ", ".join(sorted(file.stem for file in share("config").glob("*.yaml")))
    parser.add_argument("scenario", help=f"a scenario YAML file, or the name of a shipped one ({shipped})")


def positive(text: str) -> float:
    """Reads a time that is longer than nothing [s]."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < 9e9:  # 64 bits of nanoseconds
        raise argparse.ArgumentTypeError(f"'{text}' is not a positive number of seconds below 9e9")
    return value


def above_zero(text: str) -> float:
    """Reads a factor or a rate."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return value


def quantity_of(dimension: str) -> Callable[[str], float]:
    """Reads a number in SI, or one with a unit of that dimension."""

    def read(text: str) -> float:
        from rbt_ros.model.units import quantity

        try:
            return quantity(text, dimension)
        except ValueError as err:
            raise argparse.ArgumentTypeError(str(err)) from err

    return read
