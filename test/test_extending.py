"""The recipes of docs/extending.md as a stranger follows them: an installed package outside of ours."""

import os
import subprocess
import sys

import pytest
from linkages import four_bar
from stranger import install

import rbt_ros as rbt
from rbt_ros.core.constrained import run_constrained_arrays
from rbt_ros.core.integrate import DOP853, RK4, run_arrays
from rbt_ros.core.kept import run_kept
from rbt_ros.core.side_by_side import run_eight
from rbt_ros.plug.integrators import INTEGRATORS, Integrator, explicit


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


def test_a_sensor_of_another_package_is_read_from_a_scenario(installed):
    scenario = installed / "skin.yaml"
    text = (
        "rbt: 1\nrobot: {bodies: {hub: {mass: 1, inertia: [1, 1, 1]}}}\nduration: 0.1 s\nsensors:\n"
        "  skin: {kind: thermometer, body: hub, rotation: [ZYX, 0, 90 deg, 0], rate: 10 Hz, noise: 0.1 K}\n"
    )
    scenario.write_text(text)
    code, said = run(installed, "check", str(scenario), "--strict")
    assert code == 0, said
    scenario.write_text(text.replace("thermometer", "thermometre"))
    code, said = run(installed, "check", str(scenario))
    assert code != 0 and "'thermometre' is no sensor; there are imu, thermometer" in said


@pytest.fixture
def my_package(tmp_path, monkeypatch):
    """The package of the page, as pip would have installed it."""
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "my_package"]:
        del sys.modules[name]
    INTEGRATORS._found.pop("ralston", None)


def loops():
    """How often each compiled loop was compiled."""
    return [len(getattr(each, "overloads", ())) for each in (run_arrays, run_kept, run_constrained_arrays, run_eight)]


@pytest.mark.usefixtures("my_package")
def test_the_integrator_of_another_package_works_like_ours_and_compiles_nothing(tmp_path):
    """In files, alone, stabilised, on a closed loop, in lanes, changed to; rk4 has compiled all that before."""
    assert "ralston" in INTEGRATORS.names()
    file, compiled, digests = tmp_path / "sat.yaml", [], {}
    body, start = "{bodies: {sat: {mass: 1, inertia: [1, 2, 3]}}}", "{bodies: {sat: {omega_body: [3, 2, 1]}}}"
    text = f"rbt: 1\nrobot: {body}\nstart: {start}\n"
    for name in ("rk4", "ralston"):
        file.write_text(f"{text}integrator: {name}\n", encoding="utf-8")
        alone = rbt.load(file).simulation()
        kept = rbt.load(file).simulation()
        kept.set_stabilise("projection")
        loop = rbt.Simulation(four_bar("pin").build(), gravity=(0, 0, -9.81), integrator=name)
        for sim in (alone, kept, loop):
            sim.advance(100)
        many = [rbt.load(file).simulation() for _ in range(8)]
        assert rbt.advance_many(many, 100) == [None] * 8
        assert {sim.digest() for sim in many} == {alone.digest()}
        assert abs(alone.sample().conservation.energy) < 1e-5  # 1 ms, 4 rad/s, order 3
        assert abs(kept.sample().conservation.energy) < 1e-14
        digests[name] = [sim.digest() for sim in (alone, kept, loop)]
        compiled.append(loops())
    assert compiled[0] == compiled[1]
    assert all(a != b for a, b in zip(*digests.values(), strict=True))


@pytest.mark.parametrize(
    ("integrator", "message"),
    [
        (explicit(1, [[0]], [0.9]), "'mine': the sum of the weights B is 0.9; order 1 needs 1. Scale or correct B."),
        (
            explicit(2, [[0, 0], [1, 0]], [0.5, 0.5], [0, 0.5]),
            r"'mine': row 1 of A sums to 1, but C\[1\] is 0.5. .*ave C",
        ),
        (explicit(1, [[1]], [1]), r"'mine': A\[0\]\[0\] = 1, so stage 0 would need stage 0: the method is implicit."),
        (explicit(1, [[0]], [float("nan")]), "'mine': a coefficient is nan; all must be finite."),
        (explicit(3, [[0, 0], [1, 0]], [0.5, 0.5]), "'mine': Σ B C² is 0.5; order 3 needs 0.333333333. .* order=2"),
        (explicit(0.5, [[0]], [1]), "'mine': order 0.5 must be a whole number from 1 on"),
        (Integrator(4, RK4, adaptive=True), "'mine': error control needs a pair"),
        (Integrator(4), "'mine': it must have a method or a rotation"),
    ],
)
def test_an_integrator_that_cannot_be_used_is_refused(integrator, message):
    with pytest.raises(rbt.ModelError, match=message):
        INTEGRATORS.add("mine", integrator)
    with pytest.raises(rbt.ModelError, match="integrator 'heun' is there already"):
        INTEGRATORS.add("heun", Integrator(8, DOP853))


@pytest.mark.parametrize(
    ("A", "message"),
    [([[0, 0], [1]], "must be numbers in n rows of n"), ([[0]], r"not shapes \(1, 1\), \(2,\)"), ("a", "numbers")],
)
def test_a_table_of_another_shape_is_refused_where_it_is_written(A, message):
    with pytest.raises(rbt.ModelError, match=message):
        explicit(1, A, [0.5, 0.5])
