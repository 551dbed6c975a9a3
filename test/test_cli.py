"""The command line: what it prints, what it writes, how it ends."""

import csv
import re
import subprocess
import sys

import numpy as np
import pytest

import rbt_ros


def rbt(*arguments, cwd=None):
    """`rbt ...` in its own process."""
    command = [sys.executable, "-m", "rbt_ros.cli", *arguments]
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=170, check=False)


@pytest.mark.parametrize("arguments", [("--help",), ("run", "--help"), ("node", "--help"), ("info", "--help")])
def test_help_teaches(arguments):
    done = rbt(*arguments)
    assert done.returncode == 0 and "scenario" in done.stdout


def test_help_of_studies_teaches_how_to_go_on():
    assert "rbt study NAME --help" in rbt("study", "--help").stdout.replace("\n", " ")
    assert "--until" in rbt("study", "stabilise", "--help").stdout


def test_info():
    done = rbt("info", "cubesat")
    assert done.returncode == 0, done.stderr
    inertia = rbt_ros.load("cubesat").robot.bodies[0].inertia  # in the body's axes, not sorted
    told = ", ".join(f"{axis} {inertia[k, k]:.6g}" for k, axis in enumerate(("xx", "yy", "zz")))
    assert f"cubesat: free on world, 3.264 kg, inertia {told}" in done.stdout
    assert sorted(np.diag(inertia)) != np.diag(inertia).tolist()


def test_check_tells_what_is_sound_and_what_is_wrong_with_the_rest(tmp_path):
    """Scenarios, robots and bags, each to its own first error; the exit code is for continuous integration."""
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text("rbt: 1\nrobot:\n  bodies:\n    hub: {mass: 1, inertia: [1, 1, 9]}\n", encoding="utf-8")
    assert rbt("convert", "five_body", "arm.urdf", cwd=tmp_path).returncode == 0
    assert rbt("run", "cubesat", "--until", "0.01", "--record", "flight", cwd=tmp_path).returncode == 0
    done = rbt("check", "cubesat", "arm.urdf", "flight", cwd=tmp_path)
    assert done.returncode == 0, done.stdout
    assert "cubesat: ok, scenario of cubesat, 1 bodies, 6 freedoms, 3.264 kg\n" in done.stdout
    assert "arm.urdf: ok, robot, 5 bodies" in done.stdout and "flight: ok, bag, " in done.stdout
    (tmp_path / "flight" / "metadata.yaml").unlink()
    loose, strict = rbt("check", "flight", cwd=tmp_path), rbt("check", "flight", "--strict", cwd=tmp_path)
    assert (loose.returncode, strict.returncode) == (0, 1)
    assert "flight: warning: metadata.yaml is missing" in loose.stdout
    done = rbt("check", wrong, "cubesat", "nowhere.yaml", cwd=tmp_path)
    assert done.returncode == 1 and "2 of 3 have faults" in done.stderr
    assert f"\n{wrong}:4: " in f"\n{done.stdout}" and "cubesat: ok" in done.stdout


def test_run_prints_what_was_kept_and_writes_files(tmp_path):
    done = rbt("run", "cubesat", "--until", "0.5", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "cubesat: 0.5 s in 500 steps of 1 ms" in done.stdout and "relative drift" in done.stdout
    with open(tmp_path / "out" / "cubesat.csv", newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    assert float(rows[-1][0]) == 0.5 and len(rows) == 502
    assert (tmp_path / "out" / "cubesat.png").stat().st_size > 10_000


def test_a_run_warns_of_samples_too_far_apart_for_its_figure(tmp_path):
    """The CubeSat's 51 rad/s in 1000 samples: over 20 s 0.16 of a turn from one to the next, over 50 s 0.41."""
    given = ("run", "cubesat", "--until", "2", "--every")
    fine, coarse = (rbt(*given, every, cwd=tmp_path) for every in ("0.02", "0.05"))
    assert fine.returncode == coarse.returncode == 0 and "of a turn" not in fine.stderr
    text = r"'cubesat' turns by up to (\S+) of a turn between samples, 0.05 s apart.* --every (\S+) samples"
    told = re.search(text, coarse.stderr)
    rate = float(told[1]) * 2 * np.pi / 0.05
    assert rate == pytest.approx(51.4, rel=0.05) and rate * float(told[2]) <= 2 * np.pi / 10


def test_run_stabilised(tmp_path):
    """RK4 at 1 ms loses 1.5e-8 of the energy per second of this satellite: kept to round-off."""
    done = rbt("run", "cubesat", "--until", "0.5", "--stabilise", "projection", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert re.search(r"energy .* J, kept to round-off\n", done.stdout)


def test_convert_to_urdf_and_again(tmp_path):
    done = rbt("convert", "five_body", "a.urdf", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "wrote a.urdf: robot 'five_body', 5 bodies, 9 freedoms\n"
    assert rbt("convert", "a.urdf", "b.urdf", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.urdf").read_bytes() == (tmp_path / "b.urdf").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (("run", "cubesat"), 1, "rbt: scenario 'cubesat' has no duration; say how far to go: --until 10"),
        (("run", "nowhere.yaml", "--until", "1"), 1, "rbt: there is no file nowhere.yaml"),
        (("run", "cubesat", "--until", "1e300"), 2, "'1e300' is not a positive number of seconds below 9e9"),
        (("node", "cubesat", "--rate", "0"), 2, "argument --rate: '0' is not a number above 0"),
        (("view", "cubesat", "--rate", "nan"), 2, "argument --rate: 'nan' is not a number above 0"),
        (("run", "cubesat", "--until", "-1"), 2, "'-1' is not a positive number of seconds"),
        (
            ("run", "cubesat", "--until", "1", "--stabilise", "best"),
            1,
            "rbt: stabilise 'best' is not one of none, gradient",
        ),
        (("run", "five_body", "--stabilise", "projection"), 1, "body 'upper' hangs on the"),
        (("study", "stabilise", "--until", "-1"), 1, "rbt: --until -1 must lie between 2 and 1e+06 seconds."),
        (("run", "cubesat", "--until", "1", "--out", "/dev/null"), 1, "rbt: the folder /dev/null cannot be made (File"),
        (("study", "tables", "--out", "/dev/null/a"), 1, "rbt: the folder /dev/null/a cannot be made (Not a dir"),
        (("study",), 2, "required: NAME"),
        (("study", "flight"), 2, "invalid choice: 'flight'"),
        (("info", "cubesat", "--fast"), 2, "unrecognized arguments: --fast"),
        (
            ("convert", "cubesat", "a.sdf"),
            1,
            "and 'a.sdf' does not end in .urdf, the one format in which robots are written.",
        ),
        (("convert", "cubesat", "no/a.urdf"), 1, "rbt: no/a.urdf cannot be written"),
        (("convert", "none.urdf", "a.urdf"), 1, "rbt: there is no file none.urdf"),
        (("fly",), 2, "invalid choice: 'fly'"),
        ((), 2, "required: VERB"),
    ],
)
def test_errors_are_one_sentence(arguments, status, message, tmp_path):
    done = rbt(*arguments, cwd=tmp_path)
    assert done.returncode == status and message in done.stderr and "Traceback" not in done.stderr


def test_run_tells_what_hinges_transmit_when_asked(tmp_path):
    done = rbt("run", "five_body", "--until", "0.01", "--reactions", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "five_body_reactions.png").stat().st_size > 10_000
    head = (tmp_path / "out" / "five_body.csv").read_text().splitlines()[0].split(",")
    assert "shoulder.reaction_force_z [N]" in head and "wrist.reaction_moment_x [N m]" in head
