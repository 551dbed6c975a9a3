"""LabResult: what follows from the states fits together; what is written is read back; the figure shows the motion."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

import rbt_ros as rbt
from rbt_ros.toolbox.result import COLUMNS

I = np.array([[0.9, 0.05, 0.0], [0.05, 0.7, 0.02], [0.0, 0.02, 0.5]])
BODY = rbt.RigidBody(2.0, I, "probe")
G = (0.0, 0.0, -9.81)


@pytest.fixture(scope="module")
def flight():
    start = dict(position=(1, 2, 3), velocity=(4, 5, 6), euler=("ZYX", 0.3, 0.2, 0.1), omega_b=(1, 2, 3))
    return rbt.simulate(BODY, **start, gravity=G, step=0.01)


def test_energies_and_momenta(flight):
    """Of free flight: conserved, or driven by gravity; and each as its definition."""
    w, v, R = flight.omega_b, flight.velocity_e, flight.matrix
    assert flight.angular_momentum_b == pytest.approx(w @ I, abs=1e-14)
    assert flight.angular_momentum_e == pytest.approx(np.einsum("nij,nj->ni", R, w @ I), abs=1e-13)
    assert np.abs(flight.angular_momentum_e - flight.angular_momentum_e[0]).max() < 1e-13
    assert flight.rotational_energy == pytest.approx(0.5 * np.einsum("ni,ij,nj->n", w, I, w), abs=1e-13)
    assert flight.translational_energy == pytest.approx((v**2).sum(axis=1), abs=1e-12)  # m = 2
    assert flight.kinetic_energy == pytest.approx(flight.translational_energy + flight.rotational_energy)
    assert flight.potential_energy == pytest.approx(2.0 * 9.81 * flight.position[:, 2], abs=1e-12)
    assert np.abs(flight.energy - flight.energy[0]).max() < 1e-12 * flight.kinetic_energy.max()
    assert flight.momentum == pytest.approx([8, 10, 12] + 2.0 * np.outer(flight.time, G), abs=1e-12)


def test_both_frames(flight):
    for name in ("velocity", "acceleration", "omega", "angular_acceleration", "force", "torque", "angular_momentum"):
        in_body, inertial = getattr(flight, f"{name}_b"), getattr(flight, f"{name}_e")
        assert np.einsum("nij,nj->ni", flight.matrix, in_body) == pytest.approx(inertial, abs=1e-12), name
    assert np.abs(flight.acceleration_e - G).max() < 1e-13
    # the rate of change of omega_b, by central differences of order 2
    difference = (flight.omega_b[2:] - flight.omega_b[:-2]) / 0.02
    assert np.abs(flight.angular_acceleration_b[1:-1] - difference).max() < 1e-3


def test_attitude_in_all_forms(flight):
    from rbt_ros.model.attitude import from_euler

    for sequence in (None, "ZYX", "ZXZ", "XYZ"):
        q = np.array([from_euler(sequence or "ZYX", a, "test") for a in flight.euler(sequence)])
        assert np.abs(np.abs((q * flight.quaternion).sum(axis=1)) - 1).max() < 1e-14
    assert np.abs(flight.matrix @ flight.matrix.transpose(0, 2, 1) - np.eye(3)).max() < 1e-14
    with pytest.raises(rbt.ModelError, match="'ZZX' is no Euler sequence"):
        flight.euler("ZZX")


def test_at(flight):
    assert np.array_equal(flight.at(0.5).omega_b, flight.omega_b[50])
    fine = rbt.simulate(BODY, quaternion=flight.quaternion[0], omega_b=(1, 2, 3), step=0.005)
    state = flight.at([0.105, 0.5, 0.995])
    assert state.omega_b == pytest.approx(fine.omega_b[[21, 100, 199]], abs=1e-11)  # at the end from one side: (h ω)⁸
    assert state.quaternion == pytest.approx(fine.quaternion[[21, 100, 199]], abs=1e-11)
    assert state.position.shape == (3, 3) and flight.at(0.105).position.shape == (3,)
    for t in (-0.1, 1.1):
        with pytest.raises(rbt.ScenarioError, match=f"t = {t} s lies outside of the run, 0 to 1 s"):
            flight.at(t)


def test_columns_and_csv(flight, tmp_path):
    table = flight.columns()
    assert list(table)[:4] == ["t [s]", "position_x [m]", "position_y [m]", "position_z [m]"]
    assert {"quaternion_w", "euler_ZYX_x [rad]", "matrix_zx", "torque_b_z [N m]", "potential_energy [J]"} <= set(table)
    assert np.array_equal(table["omega_b_y [rad/s]"], flight.omega_b[:, 1])
    flight.to_csv(tmp_path / "a.csv")
    with open(tmp_path / "a.csv", encoding="utf-8") as file:
        assert file.readline().rstrip("\n").split(",") == list(table)
    rows = np.loadtxt(tmp_path / "a.csv", delimiter=",", skiprows=1)
    assert np.array_equal(rows, np.column_stack(list(table.values())))


def test_npz(flight, tmp_path):
    flight.to_npz(tmp_path / "a.npz")
    found = np.load(tmp_path / "a.npz")
    assert np.array_equal(found["matrix"], flight.matrix) and np.array_equal(found["time"], flight.time)
    assert "omega_b [rad/s]" in found["units"] and set(found) == {"time", "units", "inertia", *COLUMNS}


def test_every_column_is_documented_with_unit_and_frame():
    for name, unit in COLUMNS.items():
        text = " ".join((getattr(rbt.LabResult, name).__doc__ or "").split())
        said = "the same" in text or "of both" in text
        shown = unit.replace("2", "²").replace("N m", "N·m").replace("m s", "m·s").replace("kg m", "kg·m")
        assert f"[{shown}]" in text or not unit or said, name


def test_figure(flight, tmp_path):
    """The four diagrams of the thesis: position, velocity in both frames, angular velocity."""
    figure = flight.plot(tmp_path / "a.png", title="flight")
    FigureCanvasAgg(figure).draw()
    titles = [ax.get_title() for ax in figure.axes]
    assert titles == [
        "position [m]",
        "velocity, inertial axes [m/s]",
        "angular velocity, body axes [rad/s]",
        "velocity, body axes [m/s]",
    ]
    shown = [[line.get_ydata() for line in ax.lines] for ax in figure.axes]
    for lines, values in zip(
        shown, (flight.position, flight.velocity_e, flight.omega_b, flight.velocity_b), strict=True
    ):
        assert np.array_equal(np.array(lines).T, values)
    assert (tmp_path / "a.png").stat().st_size > 10_000
