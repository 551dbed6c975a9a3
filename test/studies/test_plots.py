"""Figures: what is drawn, from a result made of the reference system."""

from types import SimpleNamespace

import numpy as np
import pytest
from five_body import five_body, start_angles, states
from trees import no_input

from rbt_ros.core import types as t
from rbt_ros.core.graph import matrices
from rbt_ros.core.work import workspace
from rbt_ros.core.zxz import engine_state, run
from rbt_ros.model.attitude import zxz_angles
from rbt_ros.model.build import RobotBuilder
from rbt_ros.results import Energy
from rbt_ros.studies.plots import hinges_figure, zxz_figure


@pytest.fixture(scope="module")
def motion():
    """q (N, 11) of the five bodies every 5 ms for 5 s."""
    model = five_body("as_coded")
    q, v = np.zeros(11), np.zeros(9)
    engine_state(model, start_angles("as_coded"), np.zeros(9), q, v)
    y, rows = np.concatenate([q, v]), [q]
    for _ in range(1000):
        assert run(model, y, no_input(model), 0, 1_000_000, 5, False, workspace(model), matrices(model))[0] == t.OK
        rows.append(y[:11].copy())
    return np.array(rows)


def test_zxz_angles_are_followed_through_the_singularity(motion):
    """Against the Euler angles that the reference integrated, turns and all: |sin θ| gets down to 0.016."""
    for first, columns in ((0, slice(0, 3)), (4, slice(3, 6))):
        angles = zxz_angles(motion[:, first : first + 4])
        for state, row in zip(states("as_coded"), angles[100::100], strict=True):
            # 1e-9 is the bound on the attitude; ψ and φ have it divided by sin θ
            assert row == pytest.approx(state["q_euler"][columns], abs=1e-9 / abs(np.sin(row[1])))


def five_rods():
    b = RobotBuilder("five_body")
    for name, inertia in zip(("upper", "lower", "tee", "right", "left"), range(1, 6), strict=True):
        b.body(name, mass=1.0, inertia=(inertia,) * 3)
    for parent, child, kind in (("world", "upper", "spherical"), ("upper", "lower", "spherical")):
        b.hinge(f"{child}_hinge", kind, parent=parent, child=child)
    for parent, child in (("lower", "tee"), ("tee", "right"), ("tee", "left")):
        b.hinge(f"{child}_hinge", "revolute", parent=parent, child=child)
    return b.build()


def test_figure_has_a_diagram_per_hinge_and_one_of_the_energies(motion, tmp_path):
    time = np.linspace(0, 5, len(motion))
    result = SimpleNamespace(
        robot=five_rods(),
        t=time,
        samples=[SimpleNamespace(q=q) for q in motion],
        energy=Energy(1 + np.sin(time), -np.sin(time)),
    )
    path = tmp_path / "five_body.png"
    figure = zxz_figure(result, path)
    assert path.stat().st_size > 10_000
    assert [ax.get_ylabel() for ax in figure.axes] == [
        *(f"{name}_hinge [rad]" for name in ("upper", "lower", "tee", "right", "left")),
        "energy [J]",
    ]
    lines = [[line.get_label() for line in ax.get_lines()] for ax in figure.axes]
    assert lines[0] == lines[1] == ["ψ", "θ", "φ"] and lines[5] == ["kinetic", "potential", "total"]
    assert [len(names) for names in lines[2:5]] == [1, 1, 1]
    assert figure.axes[2].get_lines()[0].get_ydata() == pytest.approx(motion[:, 8])


def test_figure_from_arrays_alone():
    time = np.linspace(0, 1, 5)
    figure = hinges_figure(time, {"pin": {"angle": time}}, Energy(time, -time), "title")
    assert len(figure.axes) == 2 and "0.0e+00 J" in figure.axes[-1].get_xlabel()
