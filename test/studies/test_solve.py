"""`rbt solve` of three rods: figures that show all of it."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import rbt_ros as rbt
from rbt_ros.modular import optimal
from rbt_ros.studies import solve_figures


@pytest.fixture(scope="module")
def bang_bang():
    """Torques that jump from bound to bound: open loop, the slightest error of them grows."""
    robot = rbt.modular.rods()
    return robot, optimal.solve(robot, np.radians(70.0), torque=0.1, intervals=24)


def test_rods_and_torques_are_drawn_within_their_frames(bang_bang, tmp_path, monkeypatch):
    """Of any length; no legend lies over an axis."""
    robot, drawn = rbt.modular.rods((10.0, 10.0, 10.0)), []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    solve_figures.draw(robot, bang_bang[1], tmp_path / "rods.png")
    drawn[0].draw_without_rendering()
    for ax in drawn[0].axes:
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        for line in ax.lines:
            x, y = np.asarray(line.get_data())
            assert left <= x.min() and x.max() <= right and low <= y.min() and y.max() <= high
        legend = ax.get_legend()
        assert legend is None or not legend.get_window_extent().overlaps(ax.get_window_extent())
