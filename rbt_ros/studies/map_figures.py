"""Figures of `rbt map` results for print: heat maps over the two hinges, the axes of the turns on a sphere."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.studies import maps
from rbt_ros.studies.figure_style import COLOURS, SHADES, TWO_SIGNS, WIDE_MM, grid, page
from rbt_ros.studies.histories import read_npz
from rbt_ros.studies.maps import MODES, OVERLAP, Spec

QUANTITIES = {  # in the file -> (what the bar says, factor)
    "angle": ("turn [°]", np.degrees(1.0)),
    "turn": ("turn [°]", np.degrees(1.0)),
    "efficiency": ("turn / way of the hinges [-]", 1.0),
    "distance": (f"distance [m], {OVERLAP}", 1.0),
}
AT_REST = 1e-9  # [rad] a turn that has no axis


class Map(NamedTuple):
    """What `rbt map` has written."""

    name: str
    spec: Spec
    values: Mapping[str, np.ndarray]

    @property
    def degrees(self) -> tuple[np.ndarray, np.ndarray]:
        """psi1, psi2 [°]."""
        return np.degrees(self.values["psi1"]), np.degrees(self.values["psi2"])


def read_map(path: Path) -> Map | None:
    """The map in a file *.npz; None where it is something else."""
    arrays = read_npz(path)
    if not {"parameters", "psi1", "psi2"} <= set(arrays):
        return None
    try:
        spec = Spec(**json.loads(str(arrays.pop("parameters"))))
    except (TypeError, ValueError) as err:
        raise ScenarioError(f"{path} is of another version of rbt map; make it again.") from err
    return Map(path.stem, spec, arrays)


def heat_figure(made: Map, width_mm: float) -> Any:
    """Each quantity of the map in shades; collisions outlined: where the distance is zero, or rods cut each other.

    Turns of three rods and distances are shaded up to the largest without contact: those with contact would leave it
    no shades.
    """
    shown = [name for name in QUANTITIES if name in made.values]
    columns = len(shown) if width_mm >= WIDE_MM else 1
    figure = page(width_mm, 0.85 * width_mm * len(shown) / columns**2)
    for ax, name in zip(grid(figure, len(shown), columns).flat, shown, strict=True):
        label, factor = QUANTITIES[name]
        values = made.values[name] * factor
        ax.grid(False)
        hit = maps.rods_touch(made.spec) if made.spec.mode == "planar" else None
        scale: dict[str, Any] = {"cmap": SHADES}
        if made.spec.mode in ("planar", "collision"):  # of both signs, the largest of which are of contact
            scale = {"cmap": TWO_SIGNS} | maps.reach(values if hit is None else np.abs(values[~hit]))
        shades = ax.pcolormesh(*made.degrees, values.T, shading="nearest", rasterized=True, **scale)
        figure.colorbar(shades, ax=ax, label=label, shrink=0.75, extend=maps.beyond(shades))
        note = _collisions(ax, made, values, hit)
        ax.set(xlabel=f"{made.spec.joints[0]} [°]", ylabel=f"{made.spec.joints[1]} [°]", aspect="equal")
    figure.suptitle(f"{made.name}: {MODES[made.spec.mode]}" + (f"\n{note}" if note else ""))
    return figure


def _collisions(ax: Any, made: Map, values: np.ndarray, hit: np.ndarray | None) -> str:
    """Outlines, where there are any; what they are, for the title."""
    if min(values.shape) < 2:
        return ""  # a row of cells
    if made.spec.mode == "collision" and np.nanmin(values) < 0 < np.nanmax(values):
        for colour, width in (("white", 2.2), (COLOURS[0], 1.1)):  # seen on dark and on bright
            ax.contour(*made.degrees, values.T, levels=[0.0], colors=[colour], linewidths=width)
        return maps.CONTACT
    if hit is not None and hit.any():
        ax.contourf(*made.degrees, hit.T, levels=[0.5, 1.5], colors="none", hatches=["////"])
        ax.contour(*made.degrees, hit.T, levels=[0.5], colors="black", linewidths=0.8)
        return maps.HATCHED
    return ""


def sphere_figure(made: Map, width_mm: float) -> Any:
    """The axes of all turns as points on the unit sphere, world axes, shaded by the angle; seen from both sides."""
    if "axis" not in made.values:
        raise ScenarioError(
            f"{made.name} is a map of {MODES[made.spec.mode]}, which has no axes; nothing for a sphere."
        )
    angle = np.degrees(made.values["angle"]).ravel()
    turned = np.isfinite(angle) & (angle > np.degrees(AT_REST))
    if not turned.any():
        raise ScenarioError(f"{made.name}: nothing turns; there are no axes.")
    points, angle = made.values["axis"].reshape(-1, 3)[turned], angle[turned]
    figure = page(width_mm, 0.56 * width_mm)
    axes = figure.subplots(1, 2, subplot_kw={"projection": "3d"})
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
    wires = (np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v))
    to_eye = np.array([1.0, -1.0, 0.8]) / np.sqrt(2.64)
    for ax, side in zip(axes, (1.0, -1.0), strict=True):
        x, y, z = side * to_eye
        ax.view_init(elev=np.degrees(np.arcsin(z)), azim=np.degrees(np.arctan2(y, x)))
        ax.set_proj_type("ortho")
        ax.patch.set_visible(False)  # that of the right one would cover the left one's z
        ax.plot_wireframe(*wires, color="0.75", linewidth=0.3)
        near = points @ (side * to_eye) >= 0
        shades = ax.scatter(
            *points[near].T, c=angle[near], s=5, cmap=SHADES, vmin=0.0, vmax=angle.max(), linewidths=0, depthshade=False
        )
        ax.set(xlabel="x", ylabel="y", zlabel="z", xticks=[-1, 0, 1], yticks=[-1, 0, 1], zticks=[-1, 0, 1])
        ax.set_box_aspect((1, 1, 1), zoom=0.78)
        for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
            axis.pane.set_alpha(0.0)
        ax.set_title(f"seen from ({', '.join('+' if c > 0 else '-' for c in (x, y, z))})", y=1.14)
    figure.colorbar(shades, ax=axes, label="turn [°]", location="right", shrink=0.7)
    figure.suptitle(f"{made.name}: axes of the turns, world axes [-]")
    return figure
