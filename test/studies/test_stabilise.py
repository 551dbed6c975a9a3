"""The study of integrators and stabilisation: what it measures is so, and what it writes can be read."""

import csv
import math

import numpy as np
import pytest

from rbt_ros.core.vec import rotation_vector_quat
from rbt_ros.errors import ScenarioError
from rbt_ros.studies import stabilise as study


@pytest.fixture(scope="module")
def short():
    """All runs, for 4 s."""
    fractions = []
    return study.compare(4.0, fractions.append), fractions


def test_every_integrator_with_every_stabilisation(short):
    curves, fractions = short
    runs = {(rows[0].integrator, rows[0].stabilise) for rows in curves}
    assert runs == {(i, s) for i in study.STEPS for s in ("none", "gradient", "projection")}
    assert fractions == sorted(fractions) and fractions[-1] == pytest.approx(1.0, abs=0.01)
    for rows in curves:
        assert rows[-1].t == pytest.approx(4.0, abs=rows[0].step) and rows[0].work > 0
        for key in ("t", "energy", "momentum", "attitude"):  # largest until then: they do not fall
            values = [getattr(row, key) for row in rows]
            assert values == sorted(values)


def test_what_is_measured_is_known_in_advance(short):
    """Exact motion: round-off. Projection: E and L kept. Halving the step of RK4: errors 2⁴ smaller, of E 2⁵."""
    curves, _ = short
    last = {(rows[0].integrator, rows[0].step, rows[0].stabilise): rows[-1] for rows in curves}
    assert max(last["exact", 0.25, "none"][-3:]) < 1e-14
    for (_, _, method), row in last.items():
        if method == "projection":
            assert row.energy < 1e-14 and row.momentum < 1e-14
    coarse, fine = last["rk4", 0.1, "none"], last["rk4", 0.05, "none"]
    assert math.log2(coarse.attitude / fine.attitude) == pytest.approx(4, abs=0.5)
    assert math.log2(coarse.energy / fine.energy) == pytest.approx(5, abs=0.7)
    assert fine.evaluations == 80.0 and last["splitting", 0.1, "none"].evaluations == 0


@pytest.mark.parametrize(("until", "times"), [(50.0, [50.0]), (1e3, [1e2, 1e3]), (1e4, [1e2, 1e4])])
def test_the_table_has_the_end_of_the_run_too(until, times):
    """Rows at the checkpoints until then, and at the end, whatever it is."""
    curve = [
        study.Row("rk4", 0.05, "none", round(tick * 0.05, 9), 80.0, 1.0, 0.0, 0.0, 0.0)
        for tick in study.sample_ticks(until, 0.05)
    ]
    assert [row.t for row in study.checkpoint_rows([curve], until)] == times


def test_angle_between_attitudes():
    """A turn by 0.3 rad is 0.3 rad, either sign of the quaternion, wherever it starts; up to π."""
    q = np.array([0.5, 0.5, -0.5, 0.5])
    for x in (0.0, 1e-9, 0.3, 3.0):
        turned = np.array(study.qmul(tuple(q), rotation_vector_quat((0.0, -x, 0.0))))
        assert study.angle_between(q, turned) == pytest.approx(x, abs=1e-15)
        assert study.angle_between(q, -turned) == pytest.approx(x, abs=1e-15)


def test_sample_ticks_hold_the_checkpoints():
    ticks = study.sample_ticks(1e6, 0.25)
    assert ticks == sorted(set(ticks)) and {400, 40_000, 4_000_000} <= set(ticks) and ticks[-1] == 4_000_000


def test_tolerance_and_gain_hold_the_energy():
    """Why the defaults are what they are: below the error of a step, a smaller k_e and a larger i0 hold it better."""
    E = study.tumbler("exact", 1.0).sample().energy.kinetic
    wide, narrow = (study.steady_state(study.Stabilise("gradient", k_e=k * E), 0.1, 600)[0] for k in (1e-6, 1e-10))
    assert wide > 1e5 * narrow
    low, high = (study.steady_state(study.Stabilise("gradient", k_e=1e-6 * E, i0=i), 0.1, 600) for i in (0.001, 0.1))
    assert low[0] > 1.5 * high[0] and low[1] > high[1]


def test_the_command_writes_table_and_figure(tmp_path, capsys):
    fractions = []
    assert study.main(["--until", "2", "--out", str(tmp_path / "new")], fractions.append) == 0
    shown = capsys.readouterr().out
    assert "rk4           50 ms  projection" in shown and "stabilise.csv" in shown and fractions
    assert (tmp_path / "new" / "stabilise.png").read_bytes().startswith(b"\x89PNG")
    with open(tmp_path / "new" / "stabilise.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 3 * sum(map(len, study.STEPS.values()))
    assert float(rows[0]["t [s]"]) == pytest.approx(2, abs=0.02) and float(rows[0]["work [us/s]"]) > 0


@pytest.mark.parametrize("until", ["-1", "0", "1e9"])
def test_a_time_out_of_range_is_refused(until):
    with pytest.raises(ScenarioError, match="must lie between 2 and 1e"):
        study.main(["--until", until])
