"""`rbt study stabilise`: integrators without and with stabilisation; what each keeps, and what it costs.

A free body tumbles for up to 1e6 s. Of each run: energy, angular momentum and attitude against the exact motion, all
from the published q and ω, and the time of computing. A table, a CSV file, a figure: docs/stabilise.md.
"""

import argparse
import csv
import itertools
import math
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.vec import qconj, qmul
from rbt_ros.errors import ScenarioError, SetupError
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.stabilise import METHODS, Stabilise
from rbt_ros.paths import made_folder
from rbt_ros.plug.integrators import INTEGRATORS
from rbt_ros.results import Sample, empty_figure
from rbt_ros.sim import Simulation

INERTIA = (0.2, 0.35, 0.5)  # [kg·m²]
OMEGA = (1.0, 0.3, 2.0)  # [rad/s], 2.3 in all
STEPS = {  # [s] of the runs to 1e4 s
    "lie_euler": (0.03, 0.01, 0.003, 0.001),
    "rk4": (0.2, 0.1, 0.05, 0.025, 0.01),
    "dop853": (1.0, 0.5, 0.25, 0.1),
    "splitting": (1.0, 0.5, 0.25, 0.1),
    "exact": (0.25,),
}
TYPICAL = {"lie_euler": 0.01, "rk4": 0.05, "dop853": 0.25, "splitting": 0.25, "exact": 0.25}  # those that are printed
CHECKPOINTS = (1e2, 1e4, 1e6)  # [s]
LONG = ("rk4", "dop853", "splitting", "exact")  # go to the last one, with the typical step
PER_DECADE = 30  # samples


class Row(NamedTuple):
    """What one run had done at one time: the largest errors until then."""

    integrator: str
    step: float  # [s]
    stabilise: str
    t: float  # [s]
    evaluations: float  # per simulated second
    work: float  # [µs] of processor time per simulated second, on this machine
    energy: float  # |E/E0 - 1|
    momentum: float  # |L - L0|/|L0|
    attitude: float  # [rad]


def tumbler(integrator: str, step: float, stabilise: "str | Stabilise" = "none") -> Simulation:
    """The free body of the study at its start."""
    robot = RobotBuilder("tumbler").body("body", mass=1.0, inertia=INERTIA).build()
    sim = Simulation(robot, integrator=integrator, step=step, stabilise=stabilise)
    sim.set_body("body", omega_body=OMEGA)
    return sim


def sample_ticks(until: float, step: float) -> list[int]:
    """Ticks in geometric order from 1 s to `until`, and the checkpoints."""
    times = np.geomspace(1.0, until, 1 + max(1, round(PER_DECADE * math.log10(until)))) if until > 1 else [until]
    return sorted({max(1, round(t / step)) for t in [*times, *(c for c in CHECKPOINTS if c <= until)]})


def angle_between(q: np.ndarray, r: np.ndarray) -> float:
    """The angle [rad] between two attitudes."""
    w, *xyz = qmul(qconj(tuple(q)), tuple(r))
    return 2.0 * math.atan2(math.hypot(*xyz), abs(w))


def errors(now: Sample, start: Sample, exact: Sample) -> tuple[float, float, float]:
    """Energy and momentum against the start, relative; attitude against the exact one [rad]."""
    L, L0 = np.array(now.angular_momentum_com), np.array(start.angular_momentum_com)
    return (
        abs(now.energy.kinetic / start.energy.kinetic - 1),
        float(np.linalg.norm(L - L0) / np.linalg.norm(L0)),
        angle_between(now.q[:4], exact.q[:4]),
    )


def run(integrator: str, step: float, stabilise: str, until: float, progress: Callable[[float], None]) -> list[Row]:
    """One run: a row at each sample. progress: told the steps that were taken."""
    sim, exact = tumbler(integrator, step, stabilise), tumbler("exact", step)
    method = INTEGRATORS.find(integrator).method
    evaluations = method.count if method else 0  # of the acceleration, per step
    sim.warm_up()
    start, seconds, worst = sim.sample(), 0.0, (0.0, 0.0, 0.0)
    rows = []
    for tick in sample_ticks(until, step):
        before, began = sim.tick, time.thread_time()
        sim.advance(tick - before)
        seconds += time.thread_time() - began
        exact.advance(tick - exact.tick)
        found = errors(sim.sample(), start, exact.sample())
        worst = (max(worst[0], found[0]), max(worst[1], found[1]), max(worst[2], found[2]))
        t = sim.t_ns * 1e-9
        rows.append(Row(integrator, step, stabilise, t, evaluations / step, seconds / t * 1e6, *worst))
        progress(tick - before)
    return rows


def plan(until: float) -> list[tuple[str, float, float]]:
    """(integrator, step, until) of all runs, each with every stabilisation."""
    runs = []
    for integrator, steps in STEPS.items():
        for step in steps:
            far = integrator in LONG and step == TYPICAL[integrator]
            runs.append((integrator, step, min(until, CHECKPOINTS[-1] if far else CHECKPOINTS[1])))
    return runs


def compare(until: float, progress: Callable[[float], None] | None = None) -> list[list[Row]]:
    """All runs: a list of rows each. progress: called with the fraction done, by the steps still to be taken."""
    runs = plan(until)
    total, done = len(METHODS) * sum(end / step for _, step, end in runs), 0.0

    def went_on(steps: float) -> None:
        nonlocal done
        done += steps
        if progress is not None:
            progress(min(1.0, done / total))

    return [
        run(integrator, step, method, end, went_on)
        for (integrator, step, end), method in itertools.product(runs, METHODS)
    ]


def checkpoint_rows(curves: Iterable[Sequence[Row]], until: float) -> list[Row]:
    """The rows at the checkpoints, and at the end."""
    times = sorted({*(c for c in CHECKPOINTS if c <= until), until})
    return [row for rows in curves for row in rows for t in times if abs(row.t - t) < 0.5 * row.step]


def is_typical(row: Row) -> bool:
    """Whether it is printed."""
    return row.step == TYPICAL[row.integrator]


# ---------------------------------------------------------------------------------------------------- the gains
def steady_state(how: Stabilise, step: float, ticks: int = 4000) -> tuple[float, float]:
    """(largest error of the energy, largest change of it in one step), relative, of RK4 after its first `ticks`."""
    sim = tumbler("rk4", step, how)
    E0 = sim.sample().energy.kinetic
    sim.advance(ticks)
    error = np.empty(ticks)
    for k in range(ticks):
        sim.advance()
        error[k] = sim.sample().energy.kinetic / E0 - 1
    return float(np.abs(error).max()), float(np.abs(np.diff(error)).max())


GAIN_STEPS = (0.05, 0.1, 0.13)  # [s]: RK4 errs by up to 5e-9, 2e-7 and 1e-6 of the energy in one step
TOLERANCES = (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)  # of the energy


def print_gains(progress: Callable[[float], None] | None) -> None:
    """How the gradient corrector holds the energy: by its tolerance, and by its gains with a tolerance of 1e-6."""
    E = tumbler("exact", 1.0).sample().energy.kinetic
    gains = list(itertools.product((0.2, 0.5, 0.8), (1.2, 1.5, 3.0), (0.001, 0.01, 0.1)))
    tried = [(f"k_e/E {k_e:g}", Stabilise("gradient", k_e=k_e * E)) for k_e in TOLERANCES]
    for k1, k2, i0 in gains:
        tried.append((f"k1 {k1:g} k2 {k2:g} i0 {i0:g}", Stabilise("gradient", k_e=1e-6 * E, k1=k1, k2=k2, i0=i0)))
    print("Gradient corrector: largest relative error of the energy, and its largest jump, for RK4 steps of")
    print(" " * 22 + "".join(f"{1e3 * step:15g} ms  " for step in GAIN_STEPS))
    for n, (what, how) in enumerate(tried):
        found = [steady_state(how, step) for step in GAIN_STEPS]
        print(f"{what:<22}" + "".join(f"{error:11.1e}{jump:9.1e}" for error, jump in found))
        if progress is not None:
            progress((n + 1) / len(tried))


# ------------------------------------------------------------------------------------------------- what comes out
HEAD = "{:<11}{:>8}  {:<11}{:>8}{:>9}{:>12}{:>11}{:>11}{:>11}"


def print_rows(rows: Iterable[Row]) -> None:
    """The table."""
    print(HEAD.format("integrator", "step", "stabilise", "t", "eval./s", "µs per s", "energy", "|ΔL|/L", "angle"))
    for row in rows:
        evaluations = f"{row.evaluations:g}" if row.evaluations else "-"
        cells = (f"{row.work:.3g}", f"{row.energy:.1e}", f"{row.momentum:.1e}", f"{row.attitude:.1e}")
        step = f"{1e3 * row.step:g} ms"
        print(HEAD.format(row.integrator, step, row.stabilise, f"{row.t:.3g}", evaluations, *cells))


def write_csv(rows: Iterable[Row], path: Path) -> None:
    """All rows, units in the names."""
    units = {"step": "s", "t": "s", "evaluations": "1/s", "work": "us/s", "attitude": "rad"}
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(f"{name} [{units[name]}]" if name in units else name for name in Row._fields)
        table.writerows(rows)


COLOURS = {"lie_euler": "C3", "rk4": "C1", "dop853": "C0", "splitting": "C2", "exact": "k"}
LINES: dict[str, tuple[Any, str]] = {"none": ("-", "o"), "gradient": ("--", "s"), "projection": (":", "x")}
PANELS = (("energy", "|E/E₀ - 1|"), ("momentum", "|ΔL|/|L|"), ("attitude", "attitude [rad]"))


def draw(curves: Sequence[Sequence[Row]], path: Path) -> None:
    """Above: errors over time, with the typical steps; below: errors until 1e4 s over work, with all steps."""
    figure = empty_figure(12, 8)
    from matplotlib.lines import Line2D  # there, now

    axes = figure.subplots(2, 3)
    for column, (key, label) in enumerate(PANELS):
        for rows in filter(lambda rows: is_typical(rows[0]), curves):
            _plot(axes[0, column], rows, "t", key, markers=False)
        for kind in itertools.product(STEPS, METHODS):
            _plot(axes[1, column], at_same_time(curves, *kind), "work", key, markers=True)
        axes[0, column].set(xlabel="t [s]", ylabel=label)
        axes[1, column].set(xlabel="processor time [µs per simulated second]", ylabel=f"{label} until 1e4 s")
    for ax in axes.flat:
        ax.set(xscale="log", yscale="log")
        ax.grid(alpha=0.3)
    keys: list[Any] = [Line2D([], [], color=colour, label=name) for name, colour in COLOURS.items()]
    keys += [Line2D([], [], color="grey", linestyle=s, marker=m, label=name) for name, (s, m) in LINES.items()]
    figure.legend(handles=keys, ncols=len(keys), loc="outside upper center")
    figure.savefig(path, dpi=110)


def at_same_time(curves: Iterable[Sequence[Row]], integrator: str, stabilise: str) -> list[Row]:
    """The last row until 1e4 s for each step of one integrator with one stabilisation."""
    chosen = [rows for rows in curves if (rows[0].integrator, rows[0].stabilise) == (integrator, stabilise)]
    return [[row for row in rows if row.t <= CHECKPOINTS[1] + row.step][-1] for rows in chosen]


def _plot(ax: Any, rows: Sequence[Row], x: str, y: str, markers: bool) -> None:
    """One line; what is zero is drawn as 1e-17."""
    style, marker = LINES[rows[0].stabilise]
    values = [max(1e-17, getattr(row, y)) for row in rows]
    looks = dict(color=COLOURS[rows[0].integrator], linestyle=style, marker=marker if markers else "", fillstyle="none")
    ax.plot([getattr(row, x) for row in rows], values, **looks)


def main(arguments: Sequence[str], progress: Callable[[float], None] | None = None) -> int:
    """`rbt study stabilise`."""
    parser = argparse.ArgumentParser(
        prog="rbt study stabilise",
        description="Compare integrators without stabilisation, with the gradient corrector and with projection, on a "
        "free body that tumbles at 2.3 rad/s: what is kept, and what it costs. Two to three minutes; --until 1e4: half "
        "a minute. Prints a table; writes OUT/stabilise.csv (all runs) and OUT/stabilise.png. See docs/stabilise.md.",
    )
    parser.add_argument("--until", type=float, default=CHECKPOINTS[-1], metavar="S", help="simulated time [s] (1e6)")
    parser.add_argument("--gains", action="store_true", help="measure the gains k1, k2, i0 of the corrector instead")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (out)")
    given = parser.parse_args(arguments)
    if not 2 <= given.until <= CHECKPOINTS[-1]:
        raise ScenarioError(f"--until {given.until:g} must lie between 2 and {CHECKPOINTS[-1]:g} seconds.")
    if given.gains:
        print_gains(progress)
        return 0
    made_folder(given.out)
    curves = compare(given.until, progress)
    rows = checkpoint_rows(curves, given.until)
    print_rows(filter(is_typical, rows))
    write_csv(rows, given.out / "stabilise.csv")
    print(f"wrote {given.out / 'stabilise.csv'}")
    try:
        draw(curves, given.out / "stabilise.png")
        print(f"wrote {given.out / 'stabilise.png'}")
    except SetupError as err:
        print(f"no figure: {err}")
    return 0
