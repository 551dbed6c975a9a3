"""`rbt study folding`: figures of the thesis on arrays that turn by folding, made again; a search for gains."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.model.attitude import matrices
from rbt_ros.model.folding import l_shape, rods
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings
from rbt_ros.modular import planar
from rbt_ros.modular.maps import TurnMap, turn_map
from rbt_ros.paths import made_folder
from rbt_ros.results import empty_figure
from rbt_ros.sim import Simulation

LOCKS = (0, 60, 90, 120, 150, 180)  # [°] of psi2 in Figure 4.5
RATIOS = ((1, 1, 1), (2, 1, 2), (1, 2, 1), (0.75, 1, 0.75), (1, 1, 0.5), (1, 1.5, 1))  # of lengths in Figure 3.12
TICKS = range(-180, 181, 60)  # [°]
COUNT = 20  # a side of the 400 turns of Figures 4.9 to 4.11
SETTLED, STEP, LONGEST = 1e-5, 0.01, 40.0  # [rad], [s], [s]
GAINS = (2.0, 5.0, 10.0, 20.0)  # [N·m/rad] of kp
RATIOS_OF_GAINS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.85, 1.0, 1.3)  # [s] kd/kp


class Response(NamedTuple):
    """Of hinge psi1 of the L-shape to a set-point that jumps by 90°, psi2 held by the same controller."""

    kp: float
    kd: float
    overshoot: float  # [rad] beyond the set-point
    settling: float  # [s] until it stays within 1e-5 rad; inf: not in 40 s


def figure_3_12() -> Any:
    """Collision domains of the outer rods, one panel per ratio of lengths."""
    figure = empty_figure(10, 6.5)
    grid = np.linspace(0.0, np.pi, 361)
    for ax, ratio in zip(figure.subplots(2, 3).flat, RATIOS, strict=True):
        hit = planar.collide(ratio, grid[:, None], grid[None, :])
        ax.contourf(np.degrees(grid), np.degrees(grid), hit.T, levels=[-0.5, 0.5, 1.5], colors=["white", "tab:blue"])
        title = " : ".join(f"{l:g}" for l in ratio)
        ax.set(xlabel="psi1 [°]", ylabel="psi2 [°]", aspect="equal", title=title)
        ax.set(xticks=range(0, 181, 30), yticks=range(0, 181, 30))
    figure.suptitle("Where rods a and c touch, by the lengths a : b : c")
    return figure


def figure_4_5() -> Any:
    """Turn of rod a over psi1 with psi2 locked: exact, and the fit of Eq. 4.4; below what the fit misses."""
    figure, array = empty_figure(7, 7), planar.of_rods(rods())
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    psi = np.linspace(-np.pi, np.pi, 361)
    for degrees in LOCKS:
        locked = np.radians(degrees)
        exact = planar.leg(array, 1, np.zeros(361), psi, np.full(361, locked))
        b1, b2, b3, b4, b5 = planar.fit(array, locked).b
        fitted = b1 * psi + b2 * np.sin(b3 * psi + b4) + b5
        (line,) = above.plot(np.degrees(psi), np.degrees(exact), label=f"{degrees}°")
        above.plot(np.degrees(psi[::8]), np.degrees(fitted[::8]), ".", color="black", markersize=3)
        below.plot(np.degrees(psi), np.degrees(fitted - exact), color=line.get_color())
    above.set(ylabel="turn of rod a [°]", title="Lines: exact; dots: the fit of Eq. 4.4")
    above.legend(title="psi2 locked at")
    below.set(xlabel="psi1 [°]", ylabel="fit less exact [°]", xticks=TICKS)
    for ax in (above, below):
        ax.grid(alpha=0.3)
    return figure


def the_turns() -> TurnMap:
    """The 400 turns of the L-shape, psi1 first."""
    grid = np.radians(np.linspace(-180.0, 180.0, COUNT))
    return turn_map(l_shape(), grid, grid)


def figure_4_9() -> Any:
    """Axes of the turns on the sphere, coloured by efficiency."""
    found, figure = the_turns(), empty_figure(7, 6)
    ax = _sphere(figure, "Axes of 400 turns of the L-shape")
    x, y, z = found.axis.reshape(-1, 3).T
    points = ax.scatter(x, y, z, c=found.efficiency.ravel(), s=12)
    figure.colorbar(points, label="efficiency: turn over the way of the hinges", shrink=0.7, pad=0.1)
    return figure


def figure_4_10() -> Any:
    """Efficiency over the two angles."""
    found, figure = the_turns(), empty_figure(7, 5.5)
    ax = figure.subplots()
    colours = ax.pcolormesh(np.degrees(found.psi1), np.degrees(found.psi2), found.efficiency.T, shading="nearest")
    figure.colorbar(colours, label="efficiency")
    ax.set(xlabel="Δpsi1 [°]", ylabel="Δpsi2 [°]", xticks=TICKS, yticks=TICKS)
    ax.set_title("400 turns of the L-shape, psi1 first")
    return figure


def figure_4_11() -> Any:
    """Where the axes of the panels point after each turn: X blue, Y red, Z green."""
    R, figure = matrices(the_turns().quaternion.reshape(-1, 4)), empty_figure(6.5, 6)
    ax = _sphere(figure, "Axes of panel a after each of 400 turns")
    for k, (name, colour) in enumerate((("X", "tab:blue"), ("Y", "tab:red"), ("Z", "tab:green"))):
        ax.scatter(*R[:, :, k].T, s=6, color=colour, label=name)
    ax.legend()
    return figure


def _sphere(figure: Any, title: str) -> Any:
    """Axes of a unit sphere, with its net."""
    ax = figure.add_subplot(projection="3d")
    turn, height = np.meshgrid(np.linspace(0.0, 2.0 * np.pi, 25), np.linspace(-0.5 * np.pi, 0.5 * np.pi, 13))
    net = np.cos(height) * np.cos(turn), np.cos(height) * np.sin(turn), np.sin(height)
    ax.plot_wireframe(*net, color="gray", linewidth=0.3, alpha=0.4)
    ends, ticks = (-1.0, 1.0), (-0.5, 0.0, 0.5)
    ax.set(xlabel="X", ylabel="Y", zlabel="Z", xlim=ends, ylim=ends, zlim=ends, box_aspect=(1, 1, 1), title=title)
    ax.set(xticks=ticks, yticks=ticks, zticks=ticks)
    return ax


FIGURES: dict[str, Callable[[], Any]] = {
    "3.12": figure_3_12,
    "4.5": figure_4_5,
    "4.9": figure_4_9,
    "4.10": figure_4_10,
    "4.11": figure_4_11,
}


def response(kp: float, kd: float) -> Response:
    """One step response in full dynamics."""
    sim = Simulation(l_shape(), step=STEP, integrator="dop853")
    sim.command(HingeSettings(tuple(HingeSetting(joint, "position", kp, kd) for joint in ("psi1", "psi2"))))
    sim.command(HingeCommand(("psi1", "psi2"), (0.5 * np.pi, 0.0)))
    miss = np.empty(round(LONGEST / STEP))
    for k in range(len(miss)):
        sim.advance()
        miss[k] = sim.state.q[7] - 0.5 * np.pi
    away = np.flatnonzero(np.abs(miss) > SETTLED)
    settling = STEP * (int(away[-1]) + 1) if away[-1] < len(miss) - 1 else np.inf
    return Response(kp, kd, max(0.0, float(miss.max())), settling)


def search(progress: Callable[[float], None] | None = None) -> list[Response]:
    """All step responses of the grid of gains, without overshoot first, the fastest first."""
    pairs = [(kp, kp * ratio) for kp in GAINS for ratio in RATIOS_OF_GAINS]
    found = []
    for kp, kd in pairs:
        found.append(response(kp, kd))
        if progress is not None:
            progress(len(found) / len(pairs))
    return sorted(found, key=lambda r: (r.overshoot > SETTLED, r.settling, r.kp))


def main(arguments: Sequence[str], progress: Callable[[float], None] | None = None) -> int:
    """`rbt study folding`."""
    parser = argparse.ArgumentParser(
        prog="rbt study folding",
        description="Figures of the thesis on modular spacecraft, made again: collision domains (3.12), turns of three "
        "rods with the fit of Eq. 4.4 (4.5), turns of the L-shape (4.9 to 4.11). --gains: step responses over a grid "
        "of PD gains instead. Figure 4.7 is rbt map, 4.2 and 4.3 are rbt solve. See docs/modular.md.",
    )
    parser.add_argument("--figure", action="append", choices=FIGURES, help="this one only")
    parser.add_argument("--gains", action="store_true", help="search for the gains of Eq. 3.5; half a minute")
    parser.add_argument("--out", type=Path, default=Path("out"), metavar="DIR", help="folder for the files (out)")
    given = parser.parse_args(arguments)
    if given.gains and given.figure:
        raise ScenarioError("--gains makes a table and no figure; leave one of the two out.")
    if given.gains:
        print("   kp     kd   overshoot   settled to 1e-5 rad")
        for r in search(progress):
            print(f"{r.kp:5.1f}  {r.kd:5.2f}  {r.overshoot:9.1e}  {r.settling:8.2f} s")
        return 0
    made_folder(given.out)
    for name in given.figure or FIGURES:
        path = given.out / f"figure_{name.replace('.', '_')}.png"
        FIGURES[name]().savefig(path, dpi=110)
        print(f"wrote {path}")
    return 0
