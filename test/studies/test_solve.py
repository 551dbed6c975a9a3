"""`rbt solve` of three rods: what it writes plays the manoeuvre, or is refused; figures that show all of it."""

import numpy as np
import pytest
from matplotlib.figure import Figure

import rbt_ros as rbt
from rbt_ros.modular import optimal
from rbt_ros.studies import solve, solve_figures

WORDS = ["time", "--turn", "70", "--torque", "0.1", "--intervals", "24"]


@pytest.fixture(scope="module")
def bang_bang():
    """Torques that jump from bound to bound: open loop, the slightest error of them grows."""
    robot = rbt.modular.rods()
    return robot, optimal.solve(robot, np.radians(70.0), torque=0.1, intervals=24)


@pytest.fixture
def solved(bang_bang, monkeypatch):
    monkeypatch.setattr(solve, "solve", lambda *_, **__: bang_bang[1])


def test_the_scenario_plays_the_manoeuvre(bang_bang, solved, tmp_path, capsys):
    """The hinges pass the shapes of the optimum; what these turn is kinematics: 1e-6 from the target, flat, at rest."""
    assert solve.main([*WORDS, "--out", str(tmp_path)]) == 0
    assert "scenario played      attitude " in capsys.readouterr().out
    scenario, solution = rbt.load(str(tmp_path / "solution.yaml")), bang_bang[1]
    sim, steps = scenario.simulation(), solve.KNOTS * solve.STEPS
    for quarter in (1, 2, 3, 4):
        sim.advance(steps // 4)
        wanted = optimal.sampled(solution, np.array([0.25 * quarter]))[0][0]
        sample = sim.sample()
        turn = 2.0 * np.arctan2(sample.pose[0, 3], sample.pose[0, 0])
        # splines round a switch off over a knot or two, T/1000: ü h²/8 with ü of 1 rad/s²
        assert [turn, *sample.q[7:]] == pytest.approx(wanted[:3], abs=5e-5)
        assert quarter == 4 or sample.v[6:] == pytest.approx(wanted[3:], abs=1e-5)
    sim.advance(round(scenario.duration_ns / scenario.h_ns) - steps)
    sample = sim.sample()
    assert 2.0 * np.arctan2(sample.pose[0, 3], sample.pose[0, 0]) == pytest.approx(np.radians(70.0), abs=1e-6)
    assert np.abs(sample.q[7:]).max() < 1e-6 and np.abs(sample.v).max() < 1e-10


def test_a_scenario_that_misses_is_not_written(solved, tmp_path):
    """A solution of another turn."""
    words = ["time", "--turn", "60", "--torque", "0.1", "--out", str(tmp_path)]
    with pytest.raises(rbt.SolveError, match=r"the scenario of this solution ends 1\.7e-01 rad off its attitude"):
        solve.main(words)
    assert not list(tmp_path.iterdir())


def test_rods_and_torques_are_drawn_within_their_frames(bang_bang, tmp_path, monkeypatch):
    """Of any length; no legend lies over an axis."""
    robot, drawn = rbt.modular.rods((10.0, 10.0, 10.0)), []
    monkeypatch.setattr(Figure, "savefig", lambda figure, *_, **__: drawn.append(figure))
    solve_figures.draw(robot, bang_bang[1], tmp_path / "rods.png")
    assert drawn[0].axes[0].get_title() == "path of the shape; red: rods a and c touch"  # what a colour means is said
    drawn[0].draw_without_rendering()
    for ax in drawn[0].axes:
        (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
        for line in ax.lines:
            x, y = np.asarray(line.get_data())
            assert left <= x.min() and x.max() <= right and low <= y.min() and y.max() <= high
        legend = ax.get_legend()
        assert legend is None or not legend.get_window_extent().overlaps(ax.get_window_extent())
