"""Result: arrays, CSV, figure."""

import csv

import numpy as np
import pytest
from transforms3d.quaternions import rotate_vector

import rbt_ros as rbt
from rbt_ros.model.attitude import turn_all


@pytest.fixture(scope="module")
def result():
    return rbt.load("cubesat").simulation().run(0.2, every=0.01)


def test_turn_all_is_the_rotation_of_each_row():
    rng = np.random.default_rng(0)
    q, a = rng.normal(size=(5, 4)), rng.normal(size=(5, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    assert turn_all(q, a) == pytest.approx(
        np.array([rotate_vector(x, y) for x, y in zip(a, q, strict=True)]), abs=1e-15
    )


def test_rates_in_the_body_are_those_of_the_engine(result):
    engine = np.array([sample.v[:3] for sample in result.samples])
    assert result.body("cubesat").omega_body == pytest.approx(engine, rel=1e-14)


def test_csv_gives_back_the_same_bits(result, tmp_path):
    result.to_csv(tmp_path / "run.csv")
    with open(tmp_path / "run.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    table = result.columns()
    assert rows[0] == list(table) and "cubesat.omega_body_x [rad/s]" in rows[0]
    assert (np.array(rows[1:], dtype=float) == np.column_stack(list(table.values()))).all()


def test_figure_is_written(result, tmp_path):
    figure = result.plot(tmp_path / "run.png")
    assert (tmp_path / "run.png").read_bytes().startswith(b"\x89PNG")
    assert [ax.get_ylabel() for ax in figure.axes][0] == "ω, body axes [rad/s]"
    assert len(figure.axes[0].lines) == 3 and len(figure.axes[0].lines[0].get_xdata()) == len(result.t)


def test_where_angular_momenta_cancel_round_off_is_no_drift():
    """An array that folds by its hinges alone turns with L = 0: the drift is told against what its panels have."""
    sim = rbt.load("l_shape").simulation()
    drifts = []
    for _ in range(20):
        sim.advance(50)
        drifts.append(sim.sample().conservation.angular_momentum)
    assert max(drifts) < 1e-12 and np.linalg.norm(sim.sample().twist[:, :3]) > 0.01
