"""`rbt solve path`: any closed path of the shape on the command line, checked, followed, and as a scenario."""

import re

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.modular import paths, turns
from rbt_ros.studies import solve

POINTS = [(0.0, 0.0), (1.0, 0.0), (1.0, -0.8), (0.2, -1.0)]


def words(rows):
    """Degrees, as the command line has them."""
    return " ".join(",".join(repr(float(np.degrees(x))) for x in row) for row in rows)


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        (["--rectangle", words([(1.0, 0.6)]), "--first", "2"], paths.rectangle(1.0, 0.6, first=2)),
        (["--ellipse", words([(0.5, 0.3)]), "--tilt", "-90", "--profile", "trapezoid"], None),
        (["--polygon", words(POINTS[1:])], paths.polygon([*POINTS, POINTS[0]])),
        (["--spline", words(POINTS[1:])], paths.spline(POINTS)),
    ],
    ids=["rectangle", "ellipse", "polygon", "spline"],
)
def test_the_scenario_turns_as_the_path_says(arguments, path, tmp_path, capsys):
    """Driven hinges, through knots of the set-points: 1e-5 (measured 1e-6); what is told is the turn of the path."""
    path = path or paths.ellipse((0.5, 0.3), tilt=-np.pi / 2)
    assert solve.main(["path", *arguments, "--out", str(tmp_path)]) == 0
    turn, told = turns.net_turn(rbt.modular.l_shape(), path), capsys.readouterr().out
    assert told.startswith(f"turns by {np.degrees(turn.angle):.6f}° about (") and "m apart at least" in told
    assert "followed by PD controllers, kp 100, kd 40: " in told
    scenario = rbt.load(str(tmp_path / "solution.yaml"))
    sim = scenario.simulation()
    sim.advance(round(scenario.duration_ns / scenario.h_ns))
    q = sim.sample().pose[0, :4]
    assert q * np.sign(q @ turn.quaternion) == pytest.approx(turn.quaternion, abs=1e-5)
    assert sim.state.q[7:] == pytest.approx([0.0, 0.0], abs=1e-5)


@pytest.mark.parametrize("scale", [["size=5", "mass=500"], ["mass=0.2"]])
def test_it_is_followed_at_any_size_and_mass(scale, tmp_path, capsys):
    """Gains go by the inertia; those of one kilogram left one of 500 kg 59° off."""
    options = [word for option in scale for word in ("--option", option)]
    assert solve.main(["path", "--rectangle=60,-35", *options, "--out", str(tmp_path)]) == 0
    assert float(re.search(r"followed by .*: (.*)° off", capsys.readouterr().out)[1]) < 0.01


def test_what_is_not_followed_is_an_error(tmp_path):
    """The scenario is written all the same: it drives its hinges."""
    command = ["path", "--rectangle=120,-120", "--kp", "0.01", "--kd", "0.1", "--out", str(tmp_path)]
    with pytest.raises(
        rbt.SolveError, match=r"followed with kp 0.01, kd 0.1, the path ends .*° off, more than 1°; give"
    ):
        solve.main(command)
    assert (tmp_path / "solution.yaml").exists()


def test_what_does_not_move_is_locked(tmp_path, capsys):
    arguments = ["--array", "chain", "--option", "count=4", "--joints", "psi1,psi3", "--polygon", "40,0 40,50"]
    assert solve.main(["path", *arguments, "--time", "6", "--out", str(tmp_path)]) == 0
    assert "{lock: psi2, at: 0 s}" in (tmp_path / "solution.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--rectangle", "150,150"],
            "the path collides in its piece 2 at 30 % of it (psi1 150°, psi2 44.95°), t = 8.3",
        ),
        (
            ["--rectangle", "90,190"],
            "corner 2 of the path cannot be reached: joint 'psi2' at 3.31613 is beyond its limits",
        ),
        (["--rectangle", "90"], "'90' must be 2 angles, one for each joint: 90,90."),
        (["--polygon", ""], "the path has no corner; give one at least"),
        (["--spline", "90,90"], "spline: points of shape (2, 2) must be three or more rows of 2 angles."),
        (["--rectangle", "9,9", "--time", "0"], "duration 0.0 s of a trajectory must be positive."),
        (["--rectangle", "9,9", "--joints", "psi1,psi7"], "robot 'l_shape' has no joint 'psi7' of one axis"),
        (["--rectangle", "9,9", "--margin", "0.05"], "the path collides in its piece 1 at"),
    ],
)
def test_what_is_refused(arguments, message, tmp_path):
    with pytest.raises(rbt.RbtError) as err:
        solve.main(["path", *arguments, "--out", str(tmp_path)])
    assert str(err.value).startswith(message)


def test_a_path_that_collides_tells_its_turn_before_it_is_refused(tmp_path, capsys):
    """The map of turns has it too: 11.632° of the square of 90° by 90°."""
    with pytest.raises(rbt.ScenarioError, match="the path collides"):
        solve.main(["path", "--rectangle=90,90", "--out", str(tmp_path)])
    turn = turns.net_turn(rbt.modular.l_shape(), paths.rectangle(np.pi / 2, np.pi / 2))
    assert capsys.readouterr().out.startswith(f"turns by {np.degrees(turn.angle):.6f}°")
    assert np.degrees(turn.angle) == pytest.approx(11.632, abs=1e-3)


@pytest.mark.parametrize("make", [paths.polygon, paths.spline])
@pytest.mark.parametrize("joints", [(), ("psi1", "psi1"), "psi"])
def test_a_path_moves_each_of_its_joints_once(make, joints):
    with pytest.raises(rbt.ScenarioError, match="must be names of joints, one at least, each once"):
        make(np.zeros((3, len(joints))), joints)
