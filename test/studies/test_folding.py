"""`rbt study folding`: figures that are drawn, step responses that the thesis' gains confirm."""

import pytest

import rbt_ros as rbt
from rbt_ros.studies import folding


def test_figures_are_drawn(tmp_path, capsys):
    folding.main(["--out", str(tmp_path), "--figure", "4.5", "--figure", "4.9"])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["figure_4_5.png", "figure_4_9.png"]
    assert all(path.stat().st_size > 20_000 for path in tmp_path.iterdir())


def test_step_response_of_the_thesis_gains():
    """kp = kd = 5: 11.65 s (in twentieths) to 1e-5 rad, no overshoot, by r5 (the thesis prints 5.9 s)."""
    found = folding.response(5.0, 5.0)
    assert found.settling == pytest.approx(11.65, abs=0.05) and found.overshoot == 0.0


def test_less_damping_settles_faster_until_it_overshoots():
    assert folding.response(5.0, 3.0).settling < folding.response(5.0, 5.0).settling
    assert folding.response(5.0, 0.5).overshoot > 0.01


def test_what_is_refused():
    with pytest.raises(rbt.ScenarioError, match="--gains makes a table and no figure"):
        folding.main(["--gains", "--figure", "4.5"])
