"""Figures of Poinsot's construction for print: polhode on the energy ellipsoid, herpolhode in its plane, both cones."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rbt_ros.core.poinsot import Poinsot, plane_axes, poinsot, unit_rows
from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.studies.figure_style import COLOURS, grid, page
from rbt_ros.studies.histories import History

CELL_MM = 82.0
RAYS = 240  # of a cone that is drawn as a surface
BEHIND = "#f2b78a"  # PATH, pale; solid, as dashes of several rounds would fill each other
PATH, CURVE, SURFACE = COLOURS[0], COLOURS[3], COLOURS[1]


def constructions(history: History, wanted: Sequence[str] = ()) -> dict[str, Poinsot]:
    """Of the wanted bodies, or of all that turn freely and whose inertia is known."""
    known = [body for body in history.bodies("omega_body") if body in history.inertias]
    if not known:
        raise ScenarioError(
            f"{history.name} has no body of known inertia and rates; say of which scenario it is: --of SCENARIO."
        )
    if missing := [body for body in wanted if body not in known]:
        raise ScenarioError(
            f"{history.name} has no rates and inertia of {missing[0]}; it has them of {', '.join(known)}."
        )
    found, others = {}, []
    for body in wanted or known:
        attitude = history.attitude(body)
        try:
            made = poinsot(history.inertias[body], attitude.quaternion, attitude.omega_body)
        except ModelError:  # a rod or a point has no ellipsoid
            if wanted:
                raise
            continue
        if wanted or is_free(made):
            found[body] = made
        else:
            others.append(body)
    if not found:
        way_out = f"; draw it of one all the same: --body {others[0]}" if others else ""
        raise ScenarioError(f"{history.name} has no body that turns freely, at constant energy{way_out}.")
    return found


def is_free(made: Poinsot) -> bool:
    """Whether it turns, and keeps energy and momentum to a hundredth: then all instants have one construction."""
    kept = (made.energy, made.momentum_sphere)
    return bool(made.energy.min() > 0 and all(np.ptp(x) <= 0.01 * x.max() for x in kept))


def chosen_instant(made: Poinsot) -> int:
    """Whose ellipsoid is drawn: the first one; that of the largest energy where it changes."""
    return 0 if is_free(made) else int(np.argmax(made.energy))


def polhode_figure(history: History, width_mm: float, bodies: Sequence[str] = ()) -> Any:
    """ω in the body on the ellipsoid of its energy (where it changes: the largest), with the curve where L meets it."""
    figure, axes = _cells(constructions(history, bodies), width_mm, projection="3d")
    for ax, (body, made) in axes:
        k = chosen_instant(made)
        to_eye = _look_along(ax, made.polhode.mean(axis=0), made.R_BP)
        _glass(ax, *ellipsoid(made.energy_ellipsoid[k], made.R_BP))
        normals = (made.polhode @ made.R_BP * made.moments) @ made.R_BP.T
        _path(ax, made.polhode, normals @ to_eye > 0)
        for side, label in ((1.0, "all of its |L| and E"), (-1.0, "")):  # there is one round the other end, too
            ax.plot(*side * made.polhode_curve(k).T, color=CURVE, linewidth=0.5, zorder=1.9, label=label)
        _labels(ax)
        _equal(ax, np.abs(made.R_BP @ np.diag(made.energy_ellipsoid[k])).max(axis=1))
        ax.set_title(f"{body}, body axes")
    _legend(figure, axes)
    return figure


def herpolhode_figure(history: History, width_mm: float, bodies: Sequence[str] = ()) -> Any:
    """ω in the invariable plane, from the foot of L, within the ring that the polhode allows."""
    figure, axes = _cells(constructions(history, bodies), width_mm)
    for ax, (body, made) in axes:
        k = chosen_instant(made)
        ax.plot(*made.herpolhode_in_plane.T, color=PATH, linewidth=0.8, label="ω, as recorded")
        ax.plot(*made.herpolhode_in_plane[0], "o", color=PATH, markersize=3.5, label="start")
        ax.plot(0, 0, "+", color=CURVE, markersize=6, label="along L")
        square = (made.polhode_curve(k) ** 2).sum(axis=1) - made.plane_distance[k] ** 2
        angle = np.linspace(0, 2 * np.pi, 181)
        for radius in np.sqrt(np.maximum(0.0, [square.min(), square.max()])):
            ax.plot(radius * np.cos(angle), radius * np.sin(angle), color=CURVE, linewidth=0.8, linestyle=":")
        ax.lines[-1].set_label("least, largest distance")
        ax.set(aspect="equal", xlabel="ω along e₁ [rad/s]", ylabel="ω along e₂ [rad/s]", title=body)
    _legend(figure, axes)
    return figure


def cones_figure(history: History, width_mm: float, bodies: Sequence[str] = ()) -> Any:
    """What ω sweeps: the cone of the body in its axes, with its principal axes; that of space, with L."""
    made = constructions(history, bodies)
    both: dict[str, Any] = {}
    for body, found in made.items():
        both[f"{body}: body cone"] = (found.polhode, found.R_BP.T, "body axes", ("axis 1", "axis 2", "axis 3"))
        turning = found.plane_normal[found.momentum_sphere > 0][:1]  # at rest it has no direction
        name = "L" if is_free(found) else "first L"
        both[f"{body}: space cone"] = (found.herpolhode, turning, "world axes", (name,) * len(turning))
    figure, axes = _cells(both, width_mm, projection="3d")
    for ax, (title, (omega, directions, where, names)) in axes:
        _look_across(ax, omega.mean(axis=0))
        _cone(ax, once_round(omega))
        ax.plot(*omega.T, color=PATH, label="ω")
        ax.plot(*omega[0], "o", color=PATH, markersize=3.5, label="start")
        size = 1.1 * np.linalg.norm(omega, axis=1).max()
        for direction, name in zip(directions, names, strict=True):
            ends = np.array([[0, 0, 0], size * direction])
            ax.plot(*ends.T, color=CURVE, linewidth=0.6, linestyle=":" if name.startswith("axis") else "-")
            ax.text(*(1.06 * ends[1]), name, fontsize=7, ha="center", va="center")
        _labels(ax)
        _equal(ax, np.full(3, size))
        ax.set_title(f"{title}, {where}")
    _legend(figure, axes)
    return figure


# ------------------------------------------------------------------------------------------------------------ parts


def _cells(shown: dict[str, Any], width_mm: float, **projection: str) -> tuple[Any, list[tuple[Any, tuple[str, Any]]]]:
    """A figure with a square for each, at most two abreast."""
    columns = min(2, len(shown))
    rows = -(-len(shown) // columns)
    side = min(CELL_MM, width_mm / columns)
    figure = page(min(width_mm, 1.3 * side) if len(shown) == 1 else width_mm, side * rows + 8)
    axes = grid(figure, len(shown), columns, subplot_kw=projection)
    return figure, list(zip(axes.flat, shown.items(), strict=False))


def _look_along(ax: Any, direction: np.ndarray, axes: np.ndarray) -> np.ndarray:
    """Turn the diagram so that one looks onto what lies in `direction`, from somewhat beside; the way to the eye."""
    size = np.linalg.norm(direction)
    x, y, z = direction / size if size > 1e-9 else axes[:, 0]
    elevation = float(np.clip(np.degrees(np.arcsin(np.clip(z, -1, 1))) * 0.6 + 20, -60, 60))
    azimuth = _off_axes(float(np.degrees(np.arctan2(y, x)) + 40))
    _look_from(ax, elevation, azimuth)
    a, e = np.radians([azimuth, elevation])
    return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])


def _look_across(ax: Any, direction: np.ndarray) -> None:
    """Turn the diagram so that a cone about `direction` shows its side: from its inside it would be a disc."""
    _look_from(ax, 20.0, _off_axes(float(np.degrees(np.arctan2(direction[1], direction[0])) + 65)))


def _off_axes(azimuth: float) -> float:
    """Not along an axis, which would be a point."""
    return azimuth + 15 * (abs((azimuth + 45) % 90 - 45) < 12)


def _look_from(ax: Any, elevation: float, azimuth: float) -> None:
    ax.view_init(elev=elevation, azim=azimuth)
    ax.set_proj_type("ortho")
    ax.computed_zorder = False  # lines over surfaces, in the order in which they are drawn


def ellipsoid(semi_axes: np.ndarray, R_BP: np.ndarray) -> np.ndarray:
    """(3, m, n) points of its surface, body axes; semi-axes along the columns of R_BP."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 73), np.linspace(0, np.pi, 37))
    unit = np.stack([np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)], axis=-1)
    return np.moveaxis((unit * semi_axes) @ R_BP.T, -1, 0)


def _glass(ax: Any, x: np.ndarray, y: np.ndarray, z: np.ndarray) -> None:
    ax.plot_surface(x, y, z, color=SURFACE, alpha=0.25, linewidth=0, antialiased=True, rstride=1, cstride=1)
    ax.plot_wireframe(x, y, z, color=SURFACE, alpha=0.5, linewidth=0.25, rstride=6, cstride=6)


def _path(ax: Any, omega: np.ndarray, near: np.ndarray) -> None:
    """The recorded ω: pale behind the ellipsoid, strong before it."""
    ax.plot(*omega.T, color=BEHIND, linewidth=1.0, label="behind")
    ax.plot(*np.where(near[:, None], omega, np.nan).T, color=PATH, linewidth=1.4, label="ω, as recorded")
    ax.plot(*omega[0], "o", color=PATH, markersize=3.5, label="start")


def once_round(omega: np.ndarray) -> np.ndarray:
    """ω until it has gone once round its mean: a surface that is drawn again and again would become opaque."""
    mean = omega.mean(axis=0)
    e1, e2 = plane_axes(unit_rows(mean[None]))[0]
    angle = np.unwrap(np.arctan2(omega @ e2, omega @ e1))
    return omega[: 1 + int(np.argmax(np.abs(angle - angle[0]) >= 2 * np.pi) or len(omega))]


def _cone(ax: Any, omega: np.ndarray) -> None:
    """The surface between the origin and the path of ω."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    picked = omega[np.unique(np.linspace(0, len(omega) - 1, min(RAYS, len(omega))).round().astype(int))]
    faces = np.stack([np.zeros_like(picked[1:]), picked[:-1], picked[1:]], axis=1)
    ax.add_collection3d(Poly3DCollection(list(faces), facecolor=SURFACE, alpha=0.15))


def _labels(ax: Any) -> None:
    for axis in "xyz":
        getattr(ax, f"set_{axis}label")(f"ω{axis} [rad/s]", labelpad=0)
        getattr(ax, f"{axis}axis").set_tick_params(pad=0)
        getattr(ax, f"{axis}axis").pane.set_alpha(0.0)
        getattr(ax, f"{axis}axis").set_major_formatter("{x:g}")


def _equal(ax: Any, half: np.ndarray) -> None:
    """The same scale along all axes."""
    half = 1.05 * np.maximum(half, 0.5 * half.max())
    ax.set(xlim=(-half[0], half[0]), ylim=(-half[1], half[1]), zlim=(-half[2], half[2]))
    ax.set_box_aspect(half / half.max(), zoom=0.72)
    for axis, end in zip("xyz", half, strict=True):
        getattr(ax, f"set_{axis}ticks")(_few(end, half.min()))


def _few(half: float, least: float) -> list[float]:
    """Ticks ..., -a, 0, a, ... up to half: alike on all axes, so that the shortest has its scale too."""
    power = 10 ** np.floor(np.log10(least))
    step = power * next(k for k in (5, 2, 1, 0.5) if k * power <= 0.9 * least)
    count = int(0.95 * half / step)
    return [float(k * step) for k in range(-count, count + 1) if count < 3 or k % 2 == 0]


def _legend(figure: Any, axes: list[tuple[Any, Any]]) -> None:
    handles, labels = axes[0][0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels))
