"""The recipes of docs/extending.md as a stranger follows them: an installed package outside of ours."""

import os
import subprocess
import sys

import pytest
from stranger import install


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package of the page."""
    folder = tmp_path_factory.mktemp("site")
    install(folder)
    return folder


def run(folder, *words):
    """`rbt ...` in a process that finds the package."""
    path = os.pathsep.join([str(folder), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-m", "rbt_ros.cli", *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def test_a_force_of_another_package_runs_from_a_scenario(installed):
    scenario = installed / "stone.yaml"
    text = (
        "rbt: 1\nrobot: {bodies: {stone: {mass: 1, inertia: [1, 1, 1]}}}\ngravity: [0, 0, -9.81]\n"
        "duration: 0.1 s\nforces: [{quadratic_drag: stone, area: 0.01 m2}]\n"
    )
    scenario.write_text(text)
    code, said = run(installed, "check", str(scenario), "--strict")
    assert code == 0, said
    scenario.write_text(text.replace("quadratic_drag: stone", "qubic_drag: stone"))
    code, said = run(installed, "check", str(scenario))
    assert code != 0 and "'qubic_drag' is no force; there are linear_drag, quadratic_drag, spring" in said
    scenario.write_text(text.replace("area: 0.01 m2", "area: -1"))
    code, said = run(installed, "check", str(scenario))
    assert code != 0 and "area -1 m2 must be 0 m2 or more" in said
