"""Figures over time for print: hinges, attitudes, rates, energy and momentum with what they have changed by."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.model.attitude import checked_sequence, euler_angles, without_flips
from rbt_ros.results import not_enlarged
from rbt_ros.studies.figure_style import COLOURS, LINES, WIDE_MM, axis_lines, grid, one_legend, page
from rbt_ros.studies.histories import History, Series

ROW_MM = 34.0
TALLEST = 7  # rows; more bodies or joints go beside each other
SECONDS = "time t [s]"


def hinges_figure(history: History, width_mm: float) -> Any:
    """Position and rate of every joint; of ball hinges Z-X-Z angles ψ θ φ, and the rate in the child's axes."""
    joints, balls = history.joints(), history.balls
    if not joints and not balls:
        raise ScenarioError(f"{history.name} has no positions of hinges; of ball hinges alone, say --of SCENARIO.")
    rows = len(joints) + len(balls)
    figure = page(width_mm, ROW_MM * rows + 6)
    axes = figure.subplots(rows, 2, sharex=True, squeeze=False)
    largest = _largest(series for found in joints.values() for series in found.values())
    for row, found in zip(axes, joints.values(), strict=False):
        for ax, what in zip(row, ("position", "rate"), strict=True):
            if what in found:
                unit, series = found[what]
                ax.plot(*series, color=COLOURS[2])
                ax.set(ylabel=f"{what} [{unit}]")
                not_enlarged(ax, series.values, max(largest[unit], float(unit == "rad")), "the largest")
    for row, ball in zip(axes[len(joints) :], balls.values(), strict=True):
        axis_lines(row[0], *ball.angles, "xyz")
        for line, letter in zip(row[0].lines, "ψθφ", strict=True):
            line.set_label(letter)
        row[0].set(ylabel="angles [rad]")
        _legend_above(row[0])
        if ball.omega is not None:
            axis_lines(row[1], *ball.omega, "xyz", "ω{}")
            row[1].set(ylabel="ω in child [rad/s]")
            _legend_above(row[1])
    for k, (row, name) in enumerate(zip(axes, [*joints, *balls], strict=True)):
        beside = width_mm >= WIDE_MM or k < len(joints)
        row[0].set_title(name, loc="left", pad=None if beside else 14)  # in a column above its legend
    for column in axes.T:
        drawn = [ax for ax in column if ax.lines]
        for ax in column:
            ax.set_visible(ax in drawn)  # nothing is known of the rate in some bags
        for ax in drawn[-1:]:
            ax.set_xlabel(SECONDS)
            ax.tick_params(labelbottom=True)
    figure.align_ylabels(axes)
    return figure


def _largest(found: Iterable[tuple[str, Series]]) -> dict[str, float]:
    """The largest of all values, by their unit or label."""
    largest: dict[str, float] = {}
    for key, series in found:
        largest[key] = max(largest.get(key, 0.0), float(np.abs(series.values).max(initial=0.0)))
    return largest


def _legend_above(ax: Any) -> None:
    """At its right upper corner, where it hides no line."""
    slim = {"handlelength": 1.2, "handletextpad": 0.4, "columnspacing": 0.8, "borderaxespad": 0.2, "borderpad": 0.2}
    ax.legend(ncols=len(ax.lines), loc="lower right", bbox_to_anchor=(1.0, 1.0), **slim)


def forces_figure(history: History, width_mm: float) -> Any:
    """What constraints, ropes and stops do, and hinges transmit where it was asked for: forces and efforts, moments."""
    rows = history.forces()
    if not rows:
        raise ScenarioError(
            f"{history.name} tells no forces: its robot has no constraints, ropes or stops; what hinges transmit is in "
            "a table of `rbt run --reactions`."
        )
    figure = page(width_mm, ROW_MM * len(rows) + 6)
    axes = figure.subplots(len(rows), 2, sharex=True, squeeze=False)
    largest = _largest(what for found in rows.values() for what in found if what is not None)
    for row, (name, found) in zip(axes, rows.items(), strict=True):
        row[0].set_title(name, loc="left")
        for ax, what in zip(row, (found.force, found.moment), strict=True):
            if what is None:
                ax.set_axis_off()
                continue
            label, series = what
            if series.values.ndim == 1:
                ax.plot(*series, color=COLOURS[2])
            else:
                axis_lines(ax, *series, "xyz")
                ax.legend(ncols=3, loc="best")
            ax.set_ylabel(label)
            not_enlarged(ax, series.values, largest[label], "the largest")
    for column in axes.T:
        shown = [ax for ax in column if ax.axison]
        if shown:
            shown[-1].set_xlabel(SECONDS)
            shown[-1].tick_params(labelbottom=True)
    figure.align_ylabels(axes)
    return figure


def attitude_figure(history: History, width_mm: float, bodies: Sequence[str] = (), euler: str | None = None) -> Any:
    """Quaternions q_WB of every body, w x y z; or Euler angles of a sequence [°], without jumps."""
    if euler is None:
        return _of_bodies(history, width_mm, bodies, "quaternion", "attitude q [-]", "wxyz", without_flips)
    sequence = checked_sequence(euler, "Euler angles")

    def angles(q: np.ndarray) -> np.ndarray:
        return np.degrees(np.unwrap(euler_angles(q, sequence), axis=0))

    labels = [f"{letter}, about {axis.lower()}" for letter, axis in zip("αβγ", sequence, strict=True)]
    return _of_bodies(history, width_mm, bodies, "quaternion", "angle [°]", "xyz", angles, labels)


def rates_figure(history: History, width_mm: float, bodies: Sequence[str] = ()) -> Any:
    """w_WB_B of every body [rad/s]."""
    labels = [f"ω{axis}" for axis in "xyz"]
    return _of_bodies(history, width_mm, bodies, "omega_body", "ω, body axes [rad/s]", "xyz", lambda w: w, labels)


def position_figure(history: History, width_mm: float, bodies: Sequence[str] = ()) -> Any:
    """p_WB of every body's frame [m]."""
    return _of_bodies(history, width_mm, bodies, "position", "position [m]", "xyz", lambda p: p)


def energy_figure(history: History, width_mm: float) -> Any:
    """Kinetic, potential and total energy [J]; below, what the total has changed by."""
    kinetic, potential = history.one("energy.kinetic [J]"), history.one("energy.potential [J]")
    if kinetic is None or potential is None:
        raise ScenarioError(f"{history.name} has no energies; `rbt run` of its scenario writes them.")
    t, total = kinetic.t, kinetic.values + potential.values
    figure = page(width_mm, 2.4 * ROW_MM)
    above, below = figure.subplots(2, 1, sharex=True)
    for k, (label, values) in enumerate(
        (("total", total), ("kinetic", kinetic.values), ("potential", potential.values))
    ):
        above.plot(t, values, color=COLOURS[(3, 0, 2)[k]], linestyle=LINES[k], label=label)
    above.set_ylabel("energy [J]")
    above.legend(ncols=3, loc="best")
    change, what = total - total[0], "E - E(0)"
    work = history.one("work.inputs [J]", "work.dissipated [J]")
    if work is not None:  # what came in and went is accounted for
        inputs, dissipated = (work.values - work.values[0]).T
        change, what = change - inputs + dissipated, "E - E(0) - W + D"
    scales = np.abs(kinetic.values).max(), (np.abs(kinetic.values) + np.abs(potential.values)).max()
    _change(below, Series(t, change), what, "J", scales, ("the largest kinetic energy", "|T| + |V|"))
    below.set_xlabel(SECONDS)
    figure.align_ylabels()
    return figure


def momentum_figure(history: History, width_mm: float) -> Any:
    """Angular momentum about the centre of mass, and momentum, world axes; below each what it has changed by."""
    if width_mm >= WIDE_MM:
        figure = page(width_mm, 3.6 * ROW_MM)
        pairs = figure.subplots(2, 2, sharex=True).T
    else:  # under each other: titles are as wide as a column
        figure = page(width_mm, 5.4 * ROW_MM)
        pairs = figure.subplots(4, 1, sharex=True).reshape(2, 2)
    kinds = (("angular_momentum_com_{} [N m s]", "L", "N·m·s"), ("momentum_{} [kg m/s]", "P", "kg·m/s"))
    sums = history.sums_of_momenta()
    for k, ((above, below), (columns, letter, unit)) in enumerate(zip(pairs, kinds, strict=True)):
        series = history.one(*(columns.format(axis) for axis in "xyz"))
        if series is None:
            raise ScenarioError(f"{history.name} has no momenta; `rbt run` of its scenario writes them.")
        size = np.linalg.norm(series.values, axis=1)
        axis_lines(above, series.t, series.values, "xyz", letter + "{}")
        above.plot(series.t, size, color=COLOURS[3], linestyle=":", label=f"|{letter}|")
        above.set_ylabel(f"{letter} [{unit}]")
        _legend_above(above)
        of_what = f"Σ|{letter}| of bodies" if sums else f"the largest |{letter}|"
        scale = sums[k] if sums else float(size.max())
        not_enlarged(above, size, scale, of_what)
        change = Series(series.t, np.linalg.norm(series.values - series.values[0], axis=1))
        _change(below, change, f"|{letter} - {letter}(0)|", unit, (scale, scale), (of_what, of_what))
    for below in pairs[1:, 1] if width_mm < WIDE_MM else pairs[:, 1]:
        below.set_xlabel(SECONDS)
    figure.align_ylabels()
    return figure


def _change(
    ax: Any, change: Series, label: str, unit: str, scales: tuple[float, float], of_what: tuple[str, str]
) -> None:
    """What stays zero where it is kept; its largest value, as a share of the first scale, or as round-off of the second
    one, which is what it is the difference of."""
    ax.plot(*change, color=COLOURS[0])
    ax.set_ylabel(f"{label} [{unit}]")
    most = np.abs(change.values).max()
    is_round_off = not_enlarged(ax, change.values, scales[1], of_what[1])
    scale, what = scales[is_round_off], of_what[is_round_off]
    share = f", {_short(most / scale)} of {what}" if most > 0 and scale > 0 else ""
    ax.set_title(f"{'round-off:' if is_round_off else 'at most'} {_short(most)} {unit}{share}", loc="right")


def _short(x: float) -> str:
    """Two digits: 54, 0.013, 7.7e-08."""
    return f"{x:.2g}" if x == 0 or 0.01 <= x < 1000 else f"{x:.1e}"


def _of_bodies(
    history: History,
    width_mm: float,
    wanted: Sequence[str],
    what: str,
    label: str,
    axes: str,
    shown: Callable[[np.ndarray], np.ndarray],
    labels: Sequence[str] = (),
) -> Any:
    """A diagram for each body."""
    bodies = [body for body in history.bodies(what) if not wanted or body in wanted]
    if not bodies:
        raise ScenarioError(f"{history.name} has no {what} of {', '.join(wanted) or 'any body'}.")
    columns = -(-len(bodies) // TALLEST)
    figure = page(width_mm, ROW_MM * (1 + -(-len(bodies) // columns)) - 0.6 * ROW_MM)
    made = grid(figure, len(bodies), columns, sharex=True)
    most = max(np.abs(history.vector(body, what).values).max(initial=0.0) for body in bodies)
    for ax, body in zip(made.flat, bodies, strict=False):
        t, values = history.vector(body, what)
        axis_lines(ax, t, shown(values), axes)
        for line, name in zip(ax.lines, labels, strict=False):
            line.set_label(name)
        ax.set_title(body, loc="left")
        ax.set_ylabel(label)
        if what != "quaternion":
            not_enlarged(ax, values, most, "the largest")
    for column in made.T:
        last = [ax for ax in column if ax.figure is not None][-1]
        last.set_xlabel(SECONDS)
        last.tick_params(labelbottom=True)
    one_legend(figure, made.flat[0])
    figure.align_ylabels()
    return figure
