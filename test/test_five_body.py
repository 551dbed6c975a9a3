"""The five-body system as it ships: scenario files and example are what the reference file describes, and move so."""

import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from five_body import attitude_error, five_body, start_angles, states
from trees import EPS

import rbt_ros as rbt
from rbt_ros.core import types as t
from rbt_ros.core.zxz import zxz_quat
from rbt_ros.model.attitude import zxz_angles
from rbt_ros.studies.plots import hinge_angles, hinges_figure, zxz_figure

FILES = {"five_body": "as_coded", "five_body_report_text": "report_text", "five_body_physical": "physical"}
BOUND = {"as_coded": 1e-9, "report_text": 1e-9, "physical": 5e-9}  # CoM [m], quaternions
EXAMPLE = Path(__file__).parents[1] / "examples" / "five_body.py"


def assert_same(model, variant):
    expected = five_body(variant)
    assert (model.tree == expected.tree).all()
    # all but the second axis, which no hinge here has; the files give decimals of the reference's products
    assert model.body[:, : t.AXIS2] == pytest.approx(expected.body[:, : t.AXIS2], abs=2 * EPS, rel=2 * EPS)


@pytest.mark.parametrize("integrator", ["dop853", "dop853_adaptive", "dormand_prince"])
@pytest.mark.parametrize(("file", "variant"), FILES.items())
def test_scenario_is_the_variant_and_moves_as_the_reference(file, variant, integrator):
    """Attitudes and CoM of all bodies at 0.5 ... 5 s: at the scenario's own step, and under error control."""
    scenario = rbt.load(file)
    assert scenario.integrator == "dop853"
    if integrator != "dop853":
        scenario = replace(scenario, integrator=integrator, h_ns=500_000_000, rtol=2e-13, atol=2e-14)
    assert_same(scenario.robot.model, variant)
    result = scenario.simulation().run(until=5.0, every=0.5)
    starts = np.concatenate([list(hinge_angles(result, h.name).values()) for h in result.robot.hinges])[:, 0]
    assert starts == pytest.approx(start_angles(variant), abs=8 * EPS)
    bodies = [result.body(body.name) for body in result.robot.bodies]
    worst = 0.0
    for k, state in enumerate(states(variant), start=1):
        com_error = np.abs(np.array([b.com[k] for b in bodies]) - state["body_com"]).max()
        worst = max(worst, com_error, attitude_error(np.array([b.quaternion[k] for b in bodies]), state))
    print(f"{variant}: {worst:.2g}")
    assert (
        worst <= BOUND[variant]
    )  # measured: 8e-12, 1e-12, 4e-11; adaptive 3e-11, 2e-12, 2e-10; 5(4): 9e-11, 4e-12, 1e-9


def test_example_is_the_system_as_coded():
    assert_same(runpy.run_path(str(EXAMPLE))["robot"].model, "as_coded")


@pytest.fixture(scope="module")
def motion():
    return rbt.load("five_body").simulation().run(until=5.0, every=5e-3)


def test_zxz_angles_are_followed_through_the_singularity(motion):
    """Against the Euler angles that the reference integrated, turns and all: |sin θ| gets down to 0.016."""
    for hinge, columns in (("shoulder", slice(0, 3)), ("elbow", slice(3, 6))):
        angles = zxz_angles(motion.hinge(hinge).quaternion)
        for state, row in zip(states("as_coded"), angles[100::100], strict=True):
            # 1e-9 is the bound on the attitude; ψ and φ have it divided by sin θ
            assert row == pytest.approx(state["q_euler"][columns], abs=1e-9 / abs(np.sin(row[1])))


@pytest.mark.parametrize("sign", [1, -1])
def test_zxz_angles_undo_zxz_quat(sign):
    """Round trip, whichever of the two quaternions: then s is another by π, and φ or ψ by a whole turn."""
    angles = np.array([1.0, 2.0, -1.5])
    turns = (zxz_angles(sign * np.array([zxz_quat(*angles)]))[0] - angles) / (2 * np.pi)
    assert turns == pytest.approx(np.round(turns), abs=8 * EPS)


def test_figure_has_a_diagram_per_hinge_and_one_of_the_energies(motion, tmp_path):
    path = tmp_path / "five_body.png"
    figure = zxz_figure(motion, path)
    assert path.stat().st_size > 10_000
    assert [ax.get_ylabel() for ax in figure.axes] == [*(f"{h.name} [rad]" for h in motion.robot.hinges), "energy [J]"]
    lines = [[line.get_label() for line in ax.get_lines()] for ax in figure.axes]
    assert lines[0] == lines[1] == ["ψ", "θ", "φ"] and lines[5] == ["kinetic", "potential", "total"]
    assert [len(names) for names in lines[2:5]] == [1, 1, 1]
    assert (figure.axes[2].get_lines()[0].get_ydata() == motion.hinge("wrist").angle).all()


def test_figure_from_arrays_alone(motion):
    time = motion.t
    figure = hinges_figure(time, {"pin": {"angle": time}}, motion.energy, "title")
    assert len(figure.axes) == 2
