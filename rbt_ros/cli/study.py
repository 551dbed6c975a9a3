"""`rbt study NAME`: studies that measure and compare."""

import argparse
import sys
from importlib import import_module

from rbt_ros.progress import clear_progress, show_progress

# name -> (module, what it finds out); the module has `main(arguments, progress)` with a parser of its own
STUDIES = {
    "tables": (
        "rbt_ros.studies.tables",
        "the tables of the MATLAB toolbox's thesis again: solvers, attitude formalisms",
    ),
    "folding": ("rbt_ros.studies.folding", "arrays that turn by folding: the thesis' figures, a search for gains"),
    "formulations": (
        "rbt_ros.studies.formulations",
        "minimal, Wittenburg's and maximal coordinates: error, drift, cost",
    ),
    "stabilise": ("rbt_ros.studies.stabilise", "what keeps angular momentum and energy, and what it costs"),
}


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments; those of a study are the study's own."""
    parser.description = "Studies that compare, with a table and a figure each. Their options: rbt study NAME --help"
    names = parser.add_subparsers(dest="study", required=True, metavar="NAME")
    for name, (_, what) in STUDIES.items():
        names.add_parser(name, help=what, add_help=False)


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Hand over to the study."""
    module, _ = STUDIES[arguments.study]
    progress = show_progress if sys.stderr.isatty() else None
    try:
        return import_module(module).main(rest, progress)
    finally:
        if progress:
            clear_progress()
