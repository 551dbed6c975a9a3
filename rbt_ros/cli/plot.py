"""`rbt plot`: figures for print of a run, wherever it is kept, or of a map."""

import argparse
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from rbt_ros.cli.arguments import positive
from rbt_ros.cli.sampling import warn_of_far_samples
from rbt_ros.errors import ScenarioError
from rbt_ros.paths import as_path, looks_like_bag, made_folder
from rbt_ros.studies import figure_style, map_figures, poinsot_figures, time_figures
from rbt_ros.studies.histories import History, history_of, read_history

DESCRIPTION = """Figures for print: 8 pt, millimetres, units everywhere, colours that the colour-blind tell apart.

  rbt plot cubesat --until 1                  a scenario: it runs now
  rbt plot out/cubesat.csv                    a table of rbt run, or a file *.npz of result.to_npz
  rbt plot flight                             a bag
  rbt plot out/map.npz                        a result of rbt map: heat map, axes of the turns on a sphere
  rbt plot out/cubesat.csv --what polhode,cones --format pdf --width 85
  rbt plot table.csv --of arm.yaml            whose robot it is: inertias, ball hinges

Writes OUT/NAME_WHAT.FORMAT. docs/plot.md shows each."""

Figure = Callable[[], Any]
RUN = {
    "hinges": "position and rate of every joint",
    "attitude": "quaternions of the bodies, or --euler angles",
    "rates": "angular velocity in body axes",
    "position": "of the bodies",
    "energy": "kinetic, potential, total, and its change",
    "forces": "of constraints, ropes, stops; with --reactions of hinges",
    "momentum": "L about the centre of mass, P, and their changes",
    "polhode": "on the ellipsoid of the energy",
    "herpolhode": "in the invariable plane",
    "cones": "of the body and of space",
}
MAP = {"heat": "of a map: each quantity over the two hinges", "sphere": "of a map: the axes of the turns"}


def add(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    whats = "".join(f"\n  {name:<12}{text}" for name, text in (RUN | MAP).items())
    parser.description = f"{DESCRIPTION}\n\nWHAT, separated by commas; default: all that there is data for:{whats}"
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("source", help="a scenario (file or shipped name), a *.csv or *.npz file, or a bag")
    parser.add_argument("--what", metavar="WHAT", help="which figures: see above")
    parser.add_argument("--of", metavar="SCENARIO", help="of a table, file or bag: the scenario that it is of")
    parser.add_argument("--until", type=positive, metavar="S", help="of a scenario: how far; default: its duration")
    parser.add_argument(
        "--every", type=positive, metavar="S", help="of a scenario: time between samples; default: 2000"
    )
    parser.add_argument("--reactions", action="store_true", help="of a scenario: what the hinges transmit, too")
    parser.add_argument("--from", dest="first", type=float, default=-math.inf, metavar="S", help="draw from there on")
    parser.add_argument("--to", dest="last", type=float, default=math.inf, metavar="S", help="draw up to there")
    parser.add_argument("--body", metavar="NAMES", help="only these bodies, separated by commas")
    parser.add_argument("--euler", metavar="SEQUENCE", help="attitudes as Euler angles: ZYX")
    parser.add_argument("--format", default="png", metavar="LIST", help=f"{', '.join(figure_style.FORMATS)} (png)")
    parser.add_argument(
        "--width", type=float, default=figure_style.WIDTH_MM, metavar="MM", help="170: a page; 85: a column (170)"
    )
    parser.add_argument("--name", help="of the files; default: of the source")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (out)")


def run(arguments: argparse.Namespace, rest: list[str]) -> int:
    """Draw what is asked for, or all that can be; tell the files."""
    given = arguments
    if not 40 <= given.width <= 1000:
        raise ScenarioError(f"--width {given.width:g} must lie between 40 and 1000 mm.")
    formats = _list(given.format, "--format", figure_style.FORMATS)
    made_map = map_figures.read_map(Path(given.source)) if given.source.endswith(".npz") and _is_file(given) else None
    if made_map is not None:
        name, figures = made_map.name, _of_map(made_map, given.width)
    else:
        _list(given.what, "--what", tuple(RUN))  # before a long run
        history = _history(given)
        name, figures = history.name, _of_run(history, given)
    wanted = _list(given.what, "--what", tuple(figures))
    out, drawn = made_folder(given.out), 0
    with figure_style.for_print():
        for what in wanted or figures:
            try:
                figure = figures[what]()
            except ScenarioError as err:
                if wanted:
                    raise
                print(f"left out: {what}: {err}")
                continue
            for file in figure_style.write(figure, out / f"{given.name or name}_{what}", formats):
                print(f"wrote {file}")
            drawn += 1
    if not drawn:
        raise ScenarioError(f"{given.source} has nothing that can be drawn.")
    return 0


def _is_file(given: argparse.Namespace) -> bool:
    return os.path.isfile(as_path(given.source, "run", ScenarioError))


def _history(given: argparse.Namespace) -> History:
    if given.source.endswith((".csv", ".npz")) or looks_like_bag(given.source):
        for option, value in (
            ("--until", given.until),
            ("--every", given.every),
            ("--reactions", given.reactions or None),
        ):
            if value is not None:
                raise ScenarioError(
                    f"{option} is of a scenario, which runs; of {given.source} draw a part: --from, --to."
                )
        history = read_history(given.source, given.of)
        step = None
    else:
        history, step = _ran(given)
    if given.first > -math.inf or given.last < math.inf:
        history = history.between(given.first, given.last)
    rates = {body: history.vector(body, "omega_body") for body in history.bodies("omega_body")}
    warn_of_far_samples({body: (w.t, np.linalg.norm(w.values, axis=1)) for body, w in rates.items()}, step)
    return history


def _ran(given: argparse.Namespace) -> tuple[History, float]:
    """A scenario that runs now, and its step [s]."""
    from rbt_ros.sim import load

    if given.of is not None:
        raise ScenarioError(f"--of is of tables, files and bags; {given.source} is a scenario itself.")
    scenario = load(given.source)
    until = given.until or (scenario.duration_ns or 0) * 1e-9
    if not until:
        raise ScenarioError(f"scenario '{scenario.name}' has no duration; say how far to go: --until 10")
    sim = scenario.simulation()
    step = sim.h_ns * 1e-9
    every = given.every or max(1, round(until / 2000 / step)) * step
    return history_of(sim.run(until, every), scenario.name, given.reactions), step


def _of_run(history: History, given: argparse.Namespace) -> dict[str, Figure]:
    bodies, width = [body for body in (given.body or "").split(",") if body], given.width
    return {
        "hinges": lambda: time_figures.hinges_figure(history, width),
        "attitude": lambda: time_figures.attitude_figure(history, width, bodies, given.euler),
        "rates": lambda: time_figures.rates_figure(history, width, bodies),
        "position": lambda: time_figures.position_figure(history, width, bodies),
        "energy": lambda: time_figures.energy_figure(history, width),
        "forces": lambda: time_figures.forces_figure(history, width),
        "momentum": lambda: time_figures.momentum_figure(history, width),
        "polhode": lambda: poinsot_figures.polhode_figure(history, width, bodies),
        "herpolhode": lambda: poinsot_figures.herpolhode_figure(history, width, bodies),
        "cones": lambda: poinsot_figures.cones_figure(history, width, bodies),
    }


def _of_map(made: map_figures.Map, width: float) -> dict[str, Figure]:
    return {
        "heat": lambda: map_figures.heat_figure(made, width),
        "sphere": lambda: map_figures.sphere_figure(made, width),
    }


def _list(text: str | None, option: str, known: tuple[str, ...]) -> list[str]:
    words = [word.strip() for word in (text or "").split(",") if word.strip()]
    for word in words:
        if word not in known:
            raise ScenarioError(f"{option}: there is no '{word:.40}' here; there are {', '.join(known)}.")
    return words
