"""The five-body system as it ships: scenario files and the example build what the reference file describes."""

import runpy
from pathlib import Path

import numpy as np
import pytest
from five_body import five_body, start_angles
from trees import EPS

from rbt_ros.core import types as t
from rbt_ros.core.vec import qmul
from rbt_ros.core.zxz import zxz_quat
from rbt_ros.model.attitude import from_euler
from rbt_ros.model.reading import read_yaml
from rbt_ros.model.scenario import _robot
from rbt_ros.paths import share

FILES = {"five_body": "as_coded", "five_body_report_text": "report_text", "five_body_physical": "physical"}
EXAMPLE = Path(__file__).parents[1] / "examples" / "five_body.py"


def assert_same(model, variant):
    expected = five_body(variant)
    assert (model.tree == expected.tree).all()
    # all but the second axis, which no hinge here has; the files give decimals of the reference's products
    assert model.body[:, : t.AXIS2] == pytest.approx(expected.body[:, : t.AXIS2], abs=2 * EPS, rel=2 * EPS)


@pytest.mark.parametrize(("file", "variant"), FILES.items())
def test_scenario_file_is_the_variant(file, variant):
    doc = read_yaml(share("config", f"{file}.yaml"))
    robot = _robot(doc["robot"], file)
    assert_same(robot.model, variant)
    assert doc["gravity"].vector("acceleration") == (0, 0, -9.81)
    starts = doc["start"]["hinges"].plain()
    angles = [a for h in robot.hinges for a in starts[h.name].get("euler", [None, starts[h.name].get("angle")])[1:]]
    assert (np.array(angles, float) == start_angles(variant)).all()


def test_example_is_the_system_as_coded():
    assert_same(runpy.run_path(str(EXAMPLE))["robot"].model, "as_coded")


def test_both_spellings_of_zxz_are_one_attitude():
    """The start of a scenario goes through `from_euler`, the Z-X-Z form through `zxz_quat`."""
    q = from_euler("ZXZ", (3.0, 1.0, 2.0), "test")
    p = zxz_quat(3.0, 1.0, 2.0)
    assert abs(qmul((q[0], -q[1], -q[2], -q[3]), p)[0]) == pytest.approx(1.0, abs=8 * EPS)
    assert q == pytest.approx(p, abs=8 * EPS)
