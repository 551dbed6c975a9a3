"""Result: arrays, CSV, figure."""

import csv

import numpy as np
import pytest
from transforms3d.quaternions import rotate_vector

import rbt_ros as rbt
from rbt_ros import topics
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
    assert (result.body("cubesat").omega_body == engine).all()  # no turn into the world's axes and back


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


def on_a_spring(off):
    """1 kg that hangs on a spring of 100 N/m, that far from rest [m]."""
    b = rbt.RobotBuilder("scales").body("pan", mass=1.0, inertia=(1, 1, 1))
    b.hinge("spring", "prismatic", parent="world", child="pan", axis=(0, 0, 1), stiffness=100.0)
    return b.build(), {"spring": -0.0981 + off}


def pendulum(angle, height=0.0):
    b = rbt.RobotBuilder("clock").body("bob", mass=1.0, inertia=(0.01, 0.01, 0.01), com=(0, 0, -1))
    b.hinge("pivot", "revolute", parent="world", child="bob", axis=(0, 1, 0), at=(0, 0, height))
    return b.build(), {"pivot": angle}


def in_gravity(robot, start, **settings):
    sim = rbt.Simulation(robot, gravity=(0, 0, -9.81), **settings)
    for hinge, position in start.items():
        sim.set_hinge(hinge, position)
    return sim


@pytest.mark.parametrize(
    "still", [on_a_spring(0.0), on_a_spring(1e-9), pendulum(1e-5), pendulum(1e-8), pendulum(1e-4, height=1000.0)]
)
def test_where_large_energies_cancel_round_off_is_no_drift(still, recwarn):
    """Kinetic energy of 5e-17 to 5e-8 J beside gravity and springs of 0.5 to 9810 J, of which eps is up to 4e-12 J."""
    sim = in_gravity(*still, step=5e-3)
    samples = sim.run(20.0, every=0.1).samples
    energy = np.array([s.energy.total for s in samples])
    assert np.abs(energy - energy[0]).max() <= 4 * np.finfo(float).eps * abs(energy[0])
    assert max(abs(s.conservation.energy) for s in samples) < 1e-4 and not recwarn.list
    assert topics.conservation_report(samples[-1], 1e-4, 1e-4).summary == "kept"


@pytest.mark.parametrize("angle", [1e-3, 1e-5])
def test_a_drift_of_small_motions_is_told_beside_large_energies(angle):
    """RK4 loses (h ω)⁶/72 of the energy of a swing in each step: at 1e-5 rad, 100 steps of 0.1 s, that is 300 times
    eps of the potential energy, and told to 1 part in 10. At h ω = 1.9 `run` warns."""
    run = in_gravity(*pendulum(angle), step=0.1).run(10.0)
    last, x = run.samples[-1], 0.1 * np.sqrt(9.81 / 1.01)
    assert last.conservation.energy == pytest.approx(-100 * x**6 / 72, rel=0.1)
    assert "energy drift" in topics.conservation_report(last, 1e-4, 1e-4).summary
    with pytest.warns(UserWarning, match="the energy has drifted by -0"):
        in_gravity(*pendulum(angle), step=0.6).run(6.0, every=0.6)
