"""`rbt study tables`: Tables 1 to 3 of the Rigid Body Toolbox (R. Vega Ayora, 2018), run again, printed beside; and the
table that it could not have, of the asymmetric top.

Each figure of the tables is a mean square error over all samples and the three components, of runs with steps of 1 ms.
They are made again the way the toolbox made them (its samples, the curve that it compares with), which shows what each
figure tells of its solver, and beside it against the exact motion.
"""

import argparse
import csv
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.studies.table_problems import KAPPA, PROBLEMS, G, H, Problem, mean_square, predicted, refine
from rbt_ros.toolbox.simulate import FORMALISMS, simulate

NOISE = 1e-26  # mean square errors below it are round-off

# solver; quaternions: two mean square errors, seconds; Euler angles: the same
PRINTED = {
    1: """ode45   2.60E-31 1.81E-30 5.40E+00 2.60E-31 1.09E-29 4.68E+00
          ode23   3.00E-20 1.56E-20 2.58E+00 3.00E-20 1.14E-19 2.29E+00
          ode113  3.65E-20 6.31E-20 1.85E+00 3.65E-20 3.20E-20 1.62E+00
          ode23tb 1.79E-14 8.42E-15 1.98E+00 1.79E-14 1.84E-14 1.78E+00
          ode23s  1.79E-14 1.99E-14 1.72E+01 1.79E-14 3.04E-14 1.46E+01
          ode23t  2.84E-13 3.37E-13 1.16E+00 2.84E-13 3.96E-13 1.04E+00
          ode15s  1.38E-12 1.66E-12 1.19E+00 1.38E-12 1.88E-12 1.10E+00""",
    2: """ode45   3.3220E+00 2.7170E-02 3.14E+01 3.3220E+00 2.7170E-02 2.69E+01
          ode23tb 3.3221E+00 2.7171E-02 1.12E+01 3.3221E+00 2.7171E-02 1.02E+01
          ode23   3.3221E+00 2.7171E-02 1.48E+01 3.3221E+00 2.7171E-02 1.32E+01
          ode113  3.3221E+00 2.7171E-02 1.04E+01 3.3221E+00 2.7171E-02 9.42E+00
          ode23s  3.3221E+00 2.7171E-02 9.87E+01 3.3221E+00 2.7171E-02 9.82E+01
          ode23t  3.3221E+00 2.7171E-02 6.68E+00 3.3221E+00 2.7171E-02 6.16E+00
          ode15s  3.5045E+00 2.7171E-02 1.28E+01 3.5045E+00 2.7171E-02 1.16E+01""",
    3: """ode45   4.4403E-04 1.8136E-04 4.27E+00 4.4403E-04 1.8136E-04 3.80E+00
          ode23s  4.4416E-04 1.8137E-04 1.39E+01 4.4416E-04 1.8137E-04 1.20E+01
          ode23   4.4416E-04 1.8137E-04 2.13E+00 4.4416E-04 1.8137E-04 1.87E+00
          ode23tb 4.4416E-04 1.8137E-04 1.58E+00 4.4416E-04 1.8137E-04 1.44E+00
          ode23t  4.4424E-04 1.8137E-04 9.41E-01 4.4424E-04 1.8137E-04 8.57E-01
          ode15s  4.4436E-04 1.8137E-04 9.69E-01 4.4436E-04 1.8137E-04 8.86E-01
          ode113  6.5154E-04 1.3603E-04 1.49E+00 6.5154E-04 1.3603E-04 1.34E+00""",
}
NOTES = {
    "g": "gravity is 9.81 m/s² in the run and 9.8 in the curve: 0.005 t² and 0.01 t, whatever the solver",
    "r": "ode45 gives 4 samples a step (Refine): more samples of the same difference, so another last digit",
    "o": "found: by the formula of order 1 (0.315 h g t), which MATLAB's ode15s seems not to have left; error: ours",
    "s": "found: samples after first steps of h/4, h/4, h/2, which lag up to 2 h behind the even times of the curve",
    "e": "the Euler angles came near gimbal lock, and changed their sequence",
    "n": "round-off: no digits to compare",
    "x": "not reproduced: depends on MATLAB's Newton iteration, start and change of order",
}

MATLAB = ("ode45", "ode23", "ode113", "ode23tb", "ode23s", "ode23t", "ode15s")
ONE_STEP = ("ode45", "ode23", "ode23tb", "ode23s", "ode23t", "rk4", "dop853", "exact")
SOLVERS = (*MATLAB, "ode15i", "rk4", "dop853", "exact")
COMPILED = ("ode45", "rk4", "dop853", "exact")  # with quaternions


class Row(NamedTuple):
    """One run: the two quantities of its problem."""

    table: int
    solver: str
    formalism: str
    quantities: tuple[str, str]
    printed: tuple[str, str] | None  # mean square errors in the toolbox's table
    printed_seconds: float | None
    found: tuple[float, float]  # made the toolbox's way
    predicted: tuple[float | None, float | None]  # closed forms of `found`
    error: tuple[float, float]  # against the exact motion
    seconds: float
    notes: str  # keys of NOTES

    def matches(self, k: int) -> bool | None:
        """Whether quantity k has the printed digits; None where none are printed, or are round-off."""
        if self.printed is None or self.found[k] < NOISE and float(self.printed[k]) < NOISE:
            return None
        return rounded_like(self.found[k], self.printed[k]) == self.printed[k]


# ------------------------------------------------------------------------------------------------ runs
def samples(problem: Problem, solver: str) -> tuple[np.ndarray, np.ndarray]:
    """Times [s] of the samples of the toolbox's run, and those at which it evaluates the curve."""
    share = refine(problem.table, solver)
    even = np.arange(problem.steps * share + 1) * (round(H * 1e9) // share) / 1e9  # those of the steps bit for bit
    if (problem.table, solver) != (3, "ode113"):
        return even, even
    at = np.concatenate([[0.0, 0.25 * H, 0.5 * H], even[1:]])
    return at, np.linspace(0.0, problem.duration, len(at))


def first_order_fall(t: np.ndarray, h: float) -> np.ndarray:
    """Position [m] at t = k h of a body that falls from rest, by NDF1: ∇p - κ ∇²p = h v, with v = -G t exact."""
    p, step = np.zeros(len(t)), 0.0
    for k, v in enumerate((-G * t[1:]).tolist()):
        step = (h * v - KAPPA * step) / (1.0 - KAPPA)
        p[k + 1] = p[k] + step
    return p


def run(problem: Problem, solver: str, formalism: str, progress: Callable[[float], None] | None = None) -> Row:
    """One row: simulate, and compare both ways."""
    way: dict[str, Any] = dict(solver=solver, formalism=formalism, on_singularity="switch", **problem.start)
    way |= dict(step=H) if solver in ONE_STEP else dict(max_step=H, first_step=H)
    at, curve_at = samples(problem, solver)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*gimbal lock")  # that a run in Euler angles changes its sequence
        simulate(problem.body, duration=2 * H, **way)  # compiles what is compiled
        started = time.perf_counter()
        result = simulate(problem.body, duration=problem.duration, output_times=at, progress=progress or False, **way)
        seconds = time.perf_counter() - started
    got = tuple(getattr(result, name) for name in problem.quantities)
    found = [mean_square(a, b) for a, b in zip(got, problem.curve(curve_at), strict=True)]
    if (problem.table, solver) == (2, "ode15s"):
        found[0] = mean_square(4e3 + first_order_fall(at, H), problem.curve(at)[0][:, 0])
    error = [mean_square(a, b) for a, b in zip(got, problem.exact(at), strict=True)]
    printed, printed_seconds = printed_cells(problem.table, solver, formalism)
    row = Row(
        problem.table,
        solver,
        formalism,
        problem.quantities,
        printed,
        printed_seconds,
        (found[0], found[1]),
        predicted(problem.table, solver),
        (error[0], error[1]),
        seconds,
        "",
    )
    return row._replace(notes=_notes(row) + ("e" if result.gimbal_locks else ""))


def _notes(row: Row) -> str:
    """Why the figures of a row are what they are."""
    special = {(2, "ode15s"): "o", (3, "ode113"): "s"}.get((row.table, row.solver), "")
    notes = ("g" if row.table in (2, 3) else "") + special + ("r" if refine(row.table, row.solver) > 1 else "")
    if row.printed is None:
        return notes
    matches = (row.matches(0), row.matches(1))
    return notes + ("n" if None in matches else "") + ("x" if False in matches else "")


def printed_cells(table: int, solver: str, formalism: str) -> tuple[tuple[str, str] | None, float | None]:
    """The two errors and the seconds of the toolbox's table, or None."""
    for line in PRINTED.get(table, "").splitlines():
        name, *cells = line.split()
        if name == solver and formalism in ("quaternion", "euler"):
            first = 0 if formalism == "quaternion" else 3
            return (cells[first], cells[first + 1]), float(cells[first + 2])
    return None, None


def rounded_like(value: float, printed: str) -> str:
    """`value` to as many digits as `printed` has."""
    digits = len(printed.split("E")[0].split(".")[1])
    return f"{value:.{digits}E}"


def plan(quick: bool) -> list[tuple[int, str, str]]:
    """(table, solver, formalism) of all runs; quick: quaternions, and of the free fall, which costs most, a part."""
    runs = []
    for table in PROBLEMS:
        for solver in SOLVERS:
            for formalism in FORMALISMS[:1] if quick or solver == "exact" else FORMALISMS:
                trivial = table == 4 and solver == "exact"
                slow = quick and table == 2 and solver not in (*COMPILED, "ode15s")
                if not trivial and not slow:
                    runs.append((table, solver, formalism))
    return runs


def tables(quick: bool = False, progress: Callable[[float], None] | None = None) -> Iterator[Row]:
    """All rows, in the order of the tables. progress: called with the fraction done."""
    runs, problems = plan(quick), {table: make() for table, make in PROBLEMS.items()}
    weights = np.array([problems[table].duration for table, _, _ in runs])
    done = np.concatenate([[0.0], np.cumsum(weights)]) / weights.sum()
    for k, (table, solver, formalism) in enumerate(runs):

        def tell(fraction: float, k: int = k) -> None:
            if progress is not None:
                progress(done[k] + fraction * (done[k + 1] - done[k]))

        yield run(problems[table], solver, formalism, tell if progress else None)


# ------------------------------------------------------------------------------------------------ what is told
def report(rows: Sequence[Row]) -> str:
    """The tables as text."""
    parts = [_table_text([row for row in rows if row.table == table]) for table in sorted({row.table for row in rows})]
    used = {key for row in rows for key in row.notes}
    notes = [f"  {key}  {text}" for key, text in NOTES.items() if key in used]
    marks = "=  as printed, to the last digit; ! not.  error: against the exact motion.  s: seconds of the run."
    return "\n".join([*parts, marks, *notes])


def _table_text(rows: Sequence[Row]) -> str:
    """One table. The errors against the exact motion stand apart where the toolbox compares with something else."""
    problem = PROBLEMS[rows[0].table]()
    apart = problem.curve is not problem.exact
    source = f"Table {problem.table}" if problem.table in PRINTED else "Beyond the tables"
    head = f"{'printed':>10} {'found':>11} " + (f" {'error':>8}" if apart else "")
    first, second = (f"{name:^{len(head)}}" for name in problem.quantities)
    lines = [
        f"{source}: {problem.title}, {problem.duration:g} s in steps of 1 ms; mean square errors",
        f"{'':19} {first} {second}",
        f"{'solver':8}{'attitude':11} {head} {head}  {'printed s':>9} {'s':>7}",
        *(_row_text(row, apart) for row in rows),
    ]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _row_text(row: Row, apart: bool) -> str:
    cells = []
    for k in (0, 1):
        printed = row.printed[k] if row.printed else ""
        found = rounded_like(row.found[k], printed or "0.00E")
        error = f" {row.error[k]:8.1E}" if apart else ""
        cells.append(f"{printed:>10} {found:>11}{MARKS[row.matches(k)]}{error}")
    seconds = "" if row.printed_seconds is None else f"{row.printed_seconds:.2f}"
    return f"{row.solver:8}{row.formalism:11} {cells[0]} {cells[1]}  {seconds:>9} {row.seconds:7.3f}  {row.notes}"


MARKS = {True: "=", False: "!", None: " "}


def to_csv(rows: Sequence[Row], path: Path) -> None:
    """One line per figure."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        write = csv.writer(file).writerow
        write(COLUMNS)
        for row in rows:
            for k, name in enumerate(row.quantities):
                printed = row.printed[k] if row.printed else None
                figures = (printed, row.found[k], row.matches(k), row.predicted[k], row.error[k])
                write(
                    (row.table, row.solver, row.formalism, name, *figures, row.printed_seconds, row.seconds, row.notes)
                )


COLUMNS = (
    "table", "solver", "attitude", "quantity", "printed", "found", "as printed", "closed form", "error",
    "printed time [s]", "time [s]", "notes",
)  # fmt: skip


def main(arguments: Sequence[str], progress: Callable[[float], None] | None = None) -> int:
    """`rbt study tables`."""
    parser = argparse.ArgumentParser(
        prog="rbt study tables",
        description="Make Tables 1 to 3 of the Rigid Body Toolbox again, with quaternions, Euler angles and matrices, "
        "beside what is printed; and one of the asymmetric top. Some minutes. Prints the tables; writes "
        "OUT/tables.csv. See docs/demonstrations.md.",
    )
    parser.add_argument("--quick", action="store_true", help="quaternions only, less of Table 2: half a minute")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (out)")
    given = parser.parse_args(arguments)
    rows = list(tables(given.quick, progress))
    print(report(rows))
    given.out.mkdir(parents=True, exist_ok=True)
    path = given.out / "tables.csv"
    to_csv(rows, path)
    print(f"wrote {path}")
    return 0
