"""Optimal manoeuvres of three rods: both references, scaling laws, the true domain, the engine's own integration."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.modular import optimal, planar, rectangles
from rbt_ros.studies import solve

OCP = json.loads((Path(__file__).parents[1] / "reference" / "r4_ocp.json").read_text(encoding="utf-8"))
RODS = rbt.modular.rods()


def test_least_effort_is_that_of_both_references():
    """10° in 25 s: direct and Pontryagin's, 1e-6; the engine, from the torques alone, ends where it should."""
    solution = optimal.solve(RODS, np.radians(10.0), time=25.0, starts=1)
    direct = OCP["min effort 10 deg in 25 s"]["J=int u.u dt"]
    indirect = OCP["min effort 10 deg: indirect (Pontryagin BVP, solve_bvp tol 1e-9)"]["J(25 s)"]
    assert solution.objective == pytest.approx(direct, rel=1e-6)
    assert solution.objective == pytest.approx(indirect, rel=1e-8)
    _, check = optimal.simulate(RODS, solution)
    assert max(abs(check.turn_error), check.shape_error, check.rate_error) < 1e-7 and check.momentum < 1e-12
    # the first integral of the path is the turn, by the closed form of the connection
    state, _ = optimal.sampled(solution, np.linspace(0, 1 - 1e-12, 8001))
    assert planar.path_turn(planar.of_rods(RODS), state[:, 1:3]) == pytest.approx(np.radians(10.0), abs=1e-5)


def test_half_the_speed_takes_an_eighth_of_the_effort_along_the_same_path():
    """Drift-free and of second degree in the rates: J T³ is constant, psi(t/T) as well."""
    one, two = (optimal.solve(RODS, np.radians(10.0), time=T, intervals=24, starts=1) for T in (25.0, 50.0))
    assert one.objective / two.objective == pytest.approx(8.0, rel=1e-6)
    s = np.linspace(0, 0.999, 50)
    assert optimal.sampled(one, s)[0][:, :3] == pytest.approx(optimal.sampled(two, s)[0][:, :3], abs=1e-5)


def test_least_time_is_bang_bang():
    """70° with 0.1 N·m: 18.7419 s by switching times, within 0.1 %; the torques at the bound nearly always."""
    solution = optimal.solve(RODS, np.radians(70.0), torque=0.1, starts=1)
    assert solution.time == pytest.approx(
        OCP["min time 70 deg no ellipse: switching-time shooting (second method)"]["T"], rel=1e-3
    )
    assert (np.abs(np.abs(solution.torque) - 0.1) < 1e-6).mean() > 0.9 and not solution.clear
    _, between = optimal.sampled(solution, np.linspace(0, 1, 9_999))
    assert np.abs(between).max() < 0.1 + 1e-7, "the bound holds between the points, too"
    _, check = optimal.simulate(RODS, solution)
    assert abs(check.turn_error) < 1e-6 and check.shape_error < 1e-5


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_least_time_around_the_true_domain():
    """As fast as around the ellipse at least, and not a point of the path within the exact domain."""
    solution = optimal.solve(RODS, np.radians(70.0), torque=0.1, avoid=True, starts=2)
    assert solution.time < OCP["min time 70 deg WITH ellipse: finest mesh"]["T"] and solution.clear
    state, _ = optimal.sampled(solution, np.linspace(0, 1, 99_999)[:-1])
    assert not planar.collide((2, 2, 2), state[:, 1], state[:, 2]).any()


def test_avoidance_that_costs_little():
    """30° in the least time: free of collision, by mesh and margin, from a coarse mesh."""
    solution = optimal.solve(RODS, np.radians(30.0), torque=0.1, avoid=True, intervals=24, starts=1)
    assert solution.clear and np.abs(solution.state[..., 1:3]).max() <= np.pi + 1e-9


def only_the_first_mesh(monkeypatch):
    """Enough for laws that hold on any mesh."""
    monkeypatch.setattr(optimal, "REFINEMENTS", 0)
    monkeypatch.setattr(optimal.collocation, "ROUGH", np.inf)


def test_similar_problems_have_one_optimum(monkeypatch):
    """T goes as the root of inertia over torque, whichever of four optima a start finds: m r² 75 times, the bound 4."""
    only_the_first_mesh(monkeypatch)
    large = rbt.modular.rods((10.0, 10.0, 10.0), 3.0)
    arguments = {"starts": 2, "intervals": 24}
    one = optimal.solve(RODS, np.radians(120.0), torque=0.3, **arguments)
    two = optimal.solve(large, np.radians(120.0), torque=1.2, **arguments)
    ratio = np.sqrt(75.0 / 4.0)
    assert np.divide(two.objectives, one.objectives) == pytest.approx([ratio, ratio], rel=1e-7)
    assert two.time == pytest.approx(ratio * one.time, rel=1e-7)
    assert np.abs(two.torque).max() == pytest.approx(1.2, rel=1e-7)
    # the same angles in ratio times the time
    assert ratio * two.state[..., 3:] == pytest.approx(one.state[..., 3:], abs=1e-5)


def test_the_least_of_several_optima_is_found_without_being_told(monkeypatch):
    """120° in 30 s: from one loop 1.957, the next best 0.531, the least 0.4487 (of 32 loops and rectangles, too)."""
    only_the_first_mesh(monkeypatch)
    told = []
    solution = optimal.solve(RODS, np.radians(120.0), time=30.0, intervals=24, progress=told.append)
    assert solution.objective == pytest.approx(0.4487, rel=1e-3) and len(solution.objectives) > 6
    assert solution.objective == pytest.approx(min(solution.objectives), rel=1e-3)
    assert len(told) == 9 and told[-1] == 1.0


def test_solve_tells_local_optima_and_the_best_rectangle(monkeypatch, tmp_path, capsys):
    """10° in 25 s: the rectangle takes 7.7 times the effort."""
    monkeypatch.setattr(optimal, "LOOPS", 1)
    assert solve.main(["effort", "--turn", "10", "--time", "25", "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "best of local optima 0.04028" in told
    assert re.search(r"best rectangle +0\.3111\d* N²·m²·s: one to \(-140\.4°, -64\.3°\), psi1 first", told), told


def test_torques_along_a_path_are_those_of_the_optimum_s_equations():
    """Two forms of the equations: inverse dynamics here, forward dynamics there."""
    import casadi as ca

    rods = planar.of_rods(rbt.modular.rods((1.0, 2.0, 1.5), (2.0, 1.0, 0.5)))
    shape, rate, accel = np.random.default_rng(0).uniform(-2.0, 2.0, (3, 50, 2))
    u = rectangles.torques(rods, shape, rate, accel)
    motion = optimal._motion(ca, rods)
    found = np.array([motion([0.0, *p, *v], t) for p, v, t in zip(shape, rate, u, strict=True)])[:, 3:, 0]
    assert np.abs(found - accel).max() < 1e-13 * np.abs(u).max()


@pytest.mark.parametrize(("degrees", "count"), [(-10.0, 1), (120.0, 2)])
def test_the_best_rectangles_turn_as_far_with_the_least_effort(degrees, count):
    """By the closed form; of a grid of others that turn as far or farther none is cheaper."""
    rods, turn = planar.of_rods(RODS), np.radians(degrees)
    best = rectangles.best_rectangles(rods, turn, avoid=False)
    one = planar.rectangle_turn(rods, best.psi1, best.psi2) * (1 if best.first == 1 else -1)
    assert best.rounds == count and count * one == pytest.approx(turn, rel=1e-12)
    grid = np.linspace(-np.pi, np.pi, 145)[1:-1]
    p, q = np.meshgrid(grid, grid)
    turns = np.abs(planar.rectangle_turn(rods, p, q))
    others = np.where(turns >= abs(one), rectangles._effort(rods, p, q), np.inf)  # farther takes more
    assert best.effort < 1.001 * count**4 * others.min()
    s = np.linspace(0.0, 1.0, 20_001)
    shape, slope = rectangles.motion(rods, best, s)
    assert planar.path_turn(rods, shape) == pytest.approx(turn, rel=1e-6)
    accel = np.gradient(slope, s, axis=0)
    u = rectangles.torques(rods, shape, slope, accel)
    smooth = np.abs(np.diff(accel, axis=0)).max(axis=1) < 1e3  # away from the jumps at corners
    assert ((u[1:] ** 2).sum(axis=1) * smooth).mean() == pytest.approx(best.effort, rel=5e-3)


def test_rectangles_that_keep_clear_do():
    """Where the cheapest would touch: its legs are free, and it takes more."""
    rods = planar.of_rods(RODS)
    free, any_ = (rectangles.best_rectangles(rods, np.radians(60.0), avoid) for avoid in (True, False))
    shape, _ = rectangles.motion(rods, free, np.linspace(0.0, 1.0, 4001))
    assert not planar.collide(rods.lengths, shape[:, 0], shape[:, 1]).any() and free.effort > any_.effort
    touching, _ = rectangles.motion(rods, any_, np.linspace(0.0, 1.0, 4001))
    assert planar.collide(rods.lengths, touching[:, 0], touching[:, 1]).any()
    assert rectangles.best_rectangles(rods, np.radians(330.0), True) is None


def test_a_path_that_cut_a_corner_is_led_around_it(monkeypatch):
    """100° in 40 s: a coarse mesh jumps over the corners of the domain, which is cheaper; what is free is dearer."""
    only_the_first_mesh(monkeypatch)
    solution = optimal.solve(RODS, np.radians(100.0), time=40.0, avoid=True, intervals=24, starts=1)
    state, _ = optimal.sampled(solution, np.linspace(0, 1, 99_999)[:-1])
    assert solution.clear and not planar.collide((2, 2, 2), state[:, 1], state[:, 2]).any()


def test_a_mesh_that_stays_coarse_is_refused(monkeypatch):
    """Its polynomials miss the equations: an optimum of something else."""
    monkeypatch.setattr(optimal, "REFINEMENTS", 0)
    with pytest.raises(rbt.SolveError, match=r"misses the equations between its points by \S+, and no finer mesh"):
        optimal.solve(RODS, np.radians(70.0), torque=0.1, intervals=4, starts=1)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_uneven_rods_around_the_domain():
    """A coarse mesh promises less than the finer ones keep: refined all the same, 29.27 s."""
    robot = rbt.modular.rods((1.0, 2.0, 3.0), (1.0, 2.0, 1.0))
    solution = optimal.solve(robot, np.radians(40.0), torque=0.1, avoid=True, starts=3)
    _, check = optimal.simulate(robot, solution)
    assert solution.clear and solution.time < 29.28
    assert max(abs(check.turn_error), check.shape_error) < 1e-3  # of the torques alone, which nothing stabilises


def test_unequal_rods():
    """Other lengths and masses: the engine agrees with the symbolic equations."""
    robot = rbt.modular.rods((1.0, 2.0, 1.5), (2.0, 1.0, 0.5))
    solution = optimal.solve(robot, np.radians(5.0), time=20.0, intervals=24, starts=1)
    _, check = optimal.simulate(robot, solution)
    assert max(abs(check.turn_error), check.shape_error) < 1e-6


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"torque": 0.1, "time": 10.0, "intervals": 24, "starts": 1},
            "torques up to 0.1 N·m cannot turn by 70° in 10 s: the least time found is 18.74",
        ),
        ({}, "solve: the least time needs a bound of the torques; give torque, or a time."),
        ({"time": 1.0, "start": (1.0,)}, "start of solve: [1.0] must be two finite numbers, one for each joint."),
        ({"time": -1.0}, "solve: time -1.0 must be positive."),
        (
            {"time": 1.0, "start": (4.0, 0.0)},
            "solve: the shape (4.0, 0.0) at the start cannot be reached; hinges go to ±π.",
        ),
        (
            {"time": 1.0, "avoid": True, "end": (3.0, 3.0)},
            "solve: rods a and c collide in the shape (3.0, 3.0) at the end.",
        ),
        ({"time": 1.0, "starts": 0}, "solve: 0 starts on 40 intervals; one or more, on two or more."),
    ],
)
def test_what_is_refused(arguments, message):
    with pytest.raises(rbt.RbtError) as err:
        optimal.solve(RODS, np.radians(70.0), **arguments)
    assert str(err.value).startswith(message)


def test_a_turn_is_a_number():
    with pytest.raises(rbt.ScenarioError, match=r"solve: turn nan must be finite\."):
        optimal.solve(RODS, np.nan, time=10.0)


def test_missing_casadi_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "casadi", None)
    with pytest.raises(rbt.RbtError, match=r"optimal control needs CasADi: pip install 'rbt_ros\[optimal\]'"):
        optimal.solve(RODS, 0.1, time=10.0)
