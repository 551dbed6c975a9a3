"""Figures of `rbt solve`: the path of the shape, the torques, and what moves."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rbt_ros.model.robot import Robot
from rbt_ros.modular import planar
from rbt_ros.modular.clearance import Clearance
from rbt_ros.modular.optimal import Solution, sampled
from rbt_ros.results import empty_figure

ABOVE: Any = {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": 4, "frameon": False}  # legends, off curves


def draw(robot: Robot, solution: Solution, path: Path) -> None:
    """Path of the shape with the collision domain, torques, and the rods at quarters (Figures 4.2, 4.3)."""
    lengths = planar.of_rods(robot).lengths
    figure = empty_figure(11, 6.5)
    grid = figure.add_gridspec(2, 4)
    s = np.linspace(0.0, 1.0, 1001)
    state, torque = sampled(solution, np.minimum(s, np.nextafter(1.0, 0.0)))
    ax = figure.add_subplot(grid[0, :2])
    outline_collisions(ax, lengths)
    ax.plot(*np.degrees(state[:, 1:3]).T)
    ax.set(title="path of the shape; red: rods a and c touch", xlabel="psi1 [°]", ylabel="psi2 [°]", aspect="equal")
    ax = figure.add_subplot(grid[0, 2:])
    ax.plot(s * solution.time, torque, label=("u1", "u2"))
    ax.set(xlabel="t [s]", ylabel="torque [N·m]")
    ax.legend(**ABOVE)
    start, *later = (rod_points(robot, state[k, :3]) for k in (0, 250, 500, 750, 1000))
    reach = 1.07 * max(np.abs(points).max() for points in (start, *later))
    for k, points in enumerate(later):
        ax = figure.add_subplot(grid[1, k])
        for rods, style in ((start, "--"), (points, "-")):
            ax.plot(*rods.T, style, marker="o", markersize=3)
        ax.set(title=f"t = {0.25 * (k + 1):g} T", aspect="equal", xlim=(-reach, reach), ylim=(-reach, reach))
        ax.set(xlabel="x [m]", ylabel="y [m]" if k == 0 else "")
    figure.savefig(path, dpi=110)


def draw_panels(robot: Robot, solution: Solution, path: Path) -> None:
    """Path of the shape over the distances of the panels, torques, and the attitude on the way."""
    figure = empty_figure(12, 4)
    shapes, torques, attitudes = figure.subplots(1, 3)
    s = np.linspace(0.0, 1.0, 1001)
    state, torque = sampled(solution, np.minimum(s, np.nextafter(1.0, 0.0)))
    grid = np.linspace(-np.pi, np.pi, 181)
    distance = Clearance(robot).grid(grid, grid)
    shapes.contourf(np.degrees(grid), np.degrees(grid), (distance <= 0.0).T, levels=[0.5, 1.5], colors=["tab:red"])
    shapes.plot(*np.degrees(state[:, 4:6]).T)
    shapes.set(title="path of the shape; red: panels touch", xlabel="psi1 [°]", ylabel="psi2 [°]", aspect="equal")
    torques.plot(s * solution.time, torque, label=("u1", "u2"))
    torques.set(xlabel="t [s]", ylabel="torque [N·m]")
    attitudes.plot(s * solution.time, state[:, :4], label=("w", "x", "y", "z"))
    attitudes.set(xlabel="t [s]", ylabel="attitude of the base, w x y z [-]")
    for ax in (torques, attitudes):
        ax.legend(**ABOVE)
    figure.savefig(path, dpi=110)


def outline_collisions(ax: Any, lengths: Sequence[float]) -> None:
    """The collision domain of rods a and c in degrees."""
    grid = np.linspace(-np.pi, np.pi, 721)
    hit = planar.collide(lengths, grid[:, None], grid[None, :])
    if hit.any():
        ax.contourf(np.degrees(grid), np.degrees(grid), hit.T, levels=[0.5, 1.5], colors=["tab:red"], alpha=0.4)


def rod_points(robot: Robot, state: ArrayLike) -> np.ndarray:
    """(4, 2) [m]: the ends of the rods from their common centre of mass, at theta_a, psi1, psi2."""
    lengths, masses = planar.of_rods(robot).lengths, np.array([b.mass for b in robot.bodies])
    angles = np.cumsum(np.asarray(state))
    steps = np.array(lengths)[:, None] * np.stack([np.sin(angles), -np.cos(angles)], axis=1)
    points = np.vstack([np.zeros(2), np.cumsum(steps, axis=0)])
    middles = 0.5 * (points[:-1] + points[1:])
    return points - masses @ middles / masses.sum()
