"""`rbt study formulations`: minimal coordinates, Wittenburg's method, maximal coordinates with multipliers, compared.

Four systems, one integrator (DOP853) with the same steps for all; of each run the error at the end against a reference,
what should be kept, how far the hinges are open, and the time of computing. A table, a CSV file, a figure:
docs/formulations.md.
"""

import argparse
import csv
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import SetupError
from rbt_ros.paths import made_folder
from rbt_ros.results import empty_figure
from rbt_ros.sim import Simulation
from rbt_ros.studies.formulation_systems import System, systems
from rbt_ros.studies.formulation_ways import WAYS, Bodies, Minimal, Problem

US = 1000  # [ns]
REFERENCE_US = 250  # step of the reference where there is no closed form
SAMPLES = 40  # per run


class Row(NamedTuple):
    """One run."""

    system: str
    formulation: str
    step: float  # [s]
    error: float  # at the end: of attitudes [rad] and CoM [m] against the reference
    energy: float  # largest |E - E0| over the largest kinetic energy; NaN where a controller drives
    momentum: float  # largest |L - L0| over the largest sum of the sizes of its terms; NaN where it hangs on the world
    open: float  # largest distance of hinge points [m], or misalignment of hinge axes [-], at any sample
    cost: float  # [µs] of processor time per step, on this machine


# ------------------------------------------------------------------------------------------------------------ runs
def reference(problem: Problem) -> Bodies:
    """The end: of the free top in closed form, else by minimal coordinates with steps of a quarter of a ms."""
    system = problem.system
    if len(problem.robot.bodies) == 1:
        scenario = system.scenario
        sim = Simulation(scenario.robot, integrator="exact", step=system.duration)
        for name, start in scenario.start_bodies.items():
            sim.set_body(name, omega_body=start.omega_body)
        sim.advance(1)
        exact = Minimal(problem, 1)
        exact.y = np.concatenate([sim.state.q, sim.state.v])
        return exact.bodies()
    fine = Minimal(problem, REFERENCE_US * US)
    fine.advance(round(system.duration * 1e6 / REFERENCE_US))
    return fine.bodies()


def difference(one: Bodies, other: Bodies) -> float:
    """The largest distance of a CoM [m] or of an attitude [rad]."""
    turned = np.einsum("nji,njk->nik", one.R, other.R) - np.eye(3)
    angle = 2.0 * np.arcsin(np.minimum(1.0, np.linalg.norm(turned, axis=(1, 2)) / np.sqrt(8.0)))
    return float(max(np.linalg.norm(one.x - other.x, axis=1).max(), angle.max()))


class Track(NamedTuple):
    """What a run did over time."""

    row: Row
    t: np.ndarray  # (SAMPLES,) [s]
    kept: np.ndarray  # (SAMPLES,) energy where nothing drives, else momentum, as in Row, until then
    open: np.ndarray  # (SAMPLES,) as in Row, at that time


def run(problem: Problem, formulation: str, step_us: int, end: Bodies) -> Track:
    """One run to the end of the system's time."""
    system, way = problem.system, WAYS[formulation](problem, step_us * US)
    way.advance(0)  # compiles
    ticks = round(system.duration * 1e6 / step_us)
    stops = np.unique(np.linspace(1, ticks, SAMPLES).astype(int))
    seen, seconds, done = [way.bodies()], 0.0, 0
    for stop in stops:
        began = time.thread_time()
        way.advance(int(stop) - done)
        seconds, done = seconds + time.thread_time() - began, int(stop)
        seen.append(way.bodies())
    energy, momentum = _kept(problem, seen)
    opening = np.array([problem.opening(at) for at in seen[1:]])
    row = Row(
        system.name,
        formulation,
        step_us * 1e-6,
        difference(seen[-1], end),
        float(energy.max()),
        float(momentum.max()),
        float(opening.max()),
        seconds / ticks * 1e6,
    )
    return Track(row, stops * step_us * 1e-6, momentum if system.scenario.inputs else energy, opening)


def _kept(problem: Problem, seen: Sequence[Bodies]) -> tuple[np.ndarray, np.ndarray]:
    """|E - E0| and |L - L0| of all but the first, by the largest kinetic energy and the largest sum of |L|'s terms."""
    energies = np.array([problem.energy(at) for at in seen])
    total = energies.sum(axis=1)
    L, size = zip(*(problem.angular_momentum(at) for at in seen), strict=True)
    change = np.linalg.norm(np.array(L) - L[0], axis=1)[1:] / max(size)
    drives, hangs = bool(problem.system.scenario.inputs), bool(problem.gravity.any())
    energy = np.abs(total - total[0])[1:] / energies[:, 0].max()
    return energy * (np.nan if drives else 1.0), change * (np.nan if hangs else 1.0)


def cost_ratios(problem: Problem, rounds: int = 7) -> dict[str, float]:
    """Least processor time of the typical step, over that of minimal coordinates: all by turns, so that whatever else
    the machine does meets all alike."""
    system = problem.system
    ticks = max(1, round(system.duration * 1e6 / system.typical_us / 10))
    ways = {name: WAYS[name](problem, system.typical_us * US) for name in WAYS}
    least = dict.fromkeys(ways, np.inf)
    for way in ways.values():
        way.advance(0)
    for _ in range(rounds):
        for name, way in ways.items():
            began = time.thread_time()
            way.advance(ticks)
            least[name] = min(least[name], time.thread_time() - began)
    return {name: seconds / least["minimal"] for name, seconds in least.items()}


class Study(NamedTuple):
    """All runs of one system."""

    system: System
    tracks: tuple[Track, ...]
    ratios: dict[str, float]  # of cost per step, by formulation


def study(system: System, steps_us: Sequence[int], progress: Callable[[], None] = lambda: None) -> Study:
    """Every formulation with every step. progress: told after each run."""
    problem, tracks = Problem(system), []
    end = reference(problem)
    for step in steps_us:
        for formulation in WAYS:
            tracks.append(run(problem, formulation, step, end))
            progress()
    return Study(system, tuple(tracks), cost_ratios(problem))


# ------------------------------------------------------------------------------------------------- what comes out
HEAD = "{:<17}{:<11}{:>8}{:>10}{:>10}{:>10}{:>10}{:>7}"


def report(studies: Sequence[Study]) -> str:
    """The table: every formulation with the typical step of the system, in words."""
    lines = [HEAD.format("system", "formulation", "step", "error", "energy", "|ΔL|", "open", "cost")]
    for found in studies:
        name = f"{found.system.name} {found.system.title}"
        for row in (track.row for track in found.tracks if is_typical(found.system, track.row)):
            cells = [f"{x:.1e}" if x == x else "-" for x in (row.error, row.energy, row.momentum, row.open)]
            cost = f"{found.ratios[row.formulation]:.1f}"
            lines.append(HEAD.format(name, row.formulation, f"{1e3 * row.step:g} ms", *cells, cost))
    return "\n".join(lines)


def is_typical(system: System, row: Row) -> bool:
    """Whether it is printed."""
    return round(row.step * 1e6) == system.typical_us


def write_csv(studies: Sequence[Study], path: Path) -> None:
    """All rows, units in the names."""
    units = {"step": "s", "error": "m or rad", "open": "m", "cost": "us"}
    with open(path, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(f"{name} [{units[name]}]" if name in units else name for name in Row._fields)
        table.writerows(track.row for found in studies for track in found.tracks)


LOOKS: dict[str, dict[str, Any]] = {
    "minimal": dict(color="C0", marker="o", linestyle="-", linewidth=2.5),
    "wittenburg": dict(color="C2", marker="x", linestyle="--"),
    "maximal": dict(color="C3", marker="s", linestyle="-"),
    "drifting": dict(color="C1", marker="^", linestyle="-."),
}
FLOOR = 1e-17  # what is zero is drawn there


def draw(studies: Sequence[Study], path: Path) -> None:
    """Per system: the error over the work of all steps; with the typical step, over time, what should be kept; and
    how far hinges are open."""
    figure = empty_figure(3.4 * len(studies), 9)
    axes = figure.subplots(3, len(studies), squeeze=False)
    for column, found in zip(axes.T, studies, strict=True):
        system = found.system
        for name, looks in LOOKS.items():
            tracks = [track for track in found.tracks if track.row.formulation == name]
            rows, style = [track.row for track in tracks], dict(looks, fillstyle="none", label=name)
            # work by the ratio of the interleaved runs: the same for all steps of a formulation
            column[0].plot([found.ratios[name] / row.step for row in rows], [row.error for row in rows], **style)
            for track in (track for track in tracks if is_typical(system, track.row)):
                for ax, values in zip(column[1:], (track.kept, track.open), strict=True):
                    ax.plot(track.t, np.maximum(FLOOR, values), **(looks | dict(marker="")))
        column[0].set(title=f"{system.name} {system.title}", xscale="log", xlabel="work [steps of minimal per s]")
        kept, step = "|ΔL|" if system.scenario.inputs else "|ΔE|", f"{system.typical_us / 1e3:g} ms"
        column[1].set(title=f"{kept}, relative, steps of {step}", xlabel="t [s]")
        column[2].set(title=f"hinges open [m], steps of {step}", xlabel="t [s]")
        column[2].set_visible(len(system.scenario.robot.bodies) > 1)  # there are hinges to open
        for ax in column:
            ax.set_yscale("log")
            ax.grid(alpha=0.3)
    axes[0, 0].set_ylabel("error at the end [m, rad]")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, ncols=len(labels), loc="outside upper center")
    figure.savefig(path, dpi=110)


def main(arguments: Sequence[str], progress: Callable[[float], None] | None = None) -> int:
    """`rbt study formulations`."""
    known = {system.name: system for system in systems()}
    parser = argparse.ArgumentParser(
        prog="rbt study formulations",
        description="Compare minimal coordinates (articulated bodies), Wittenburg's method and maximal coordinates "
        "with multipliers, by DOP853 with the same steps, on a free top (S1), five bodies (S2), three rods (S3) and "
        "three panels (S4) that fold: error, what is kept, how far hinges open, cost. A minute. Prints a table; writes "
        "OUT/formulations.csv and OUT/formulations.png. See docs/formulations.md.",
    )
    parser.add_argument("--only", nargs="+", choices=known, metavar="S", help="these systems only: S1 S2 S3 S4")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (out)")
    given = parser.parse_args(arguments)
    made_folder(given.out)
    chosen = [known[name] for name in given.only or known]
    total, done = sum(len(WAYS) * len(system.steps_us) for system in chosen), 0

    def went_on() -> None:
        nonlocal done
        done += 1
        if progress is not None:
            progress(done / total)

    studies = [study(system, system.steps_us, went_on) for system in chosen]
    print(report(studies))
    write_csv(studies, given.out / "formulations.csv")
    print(f"wrote {given.out / 'formulations.csv'}")
    try:
        draw(studies, given.out / "formulations.png")
        print(f"wrote {given.out / 'formulations.png'}")
    except SetupError as err:
        print(f"no figure: {err}")
    return 0
