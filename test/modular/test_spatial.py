"""Optimal manoeuvres of panels: equations against the engine, scaling laws, paths that are free, what is refused."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rbt_ros as rbt
from rbt_ros.modular import plans, spatial
from rbt_ros.modular.collocation import sampled
from rbt_ros.modular.reduced import reduced
from rbt_ros.studies import solve

L_SHAPE = rbt.modular.l_shape()
TURN = plans.TurnOf(-1.2, 1.0, 1)  # one rectangle, away from collisions
TARGET = plans.net(L_SHAPE, [TURN])
PLAN = plans.Plan((TURN,), TARGET, 0.004)


@pytest.mark.parametrize(
    "robot",
    [L_SHAPE, rbt.modular.rods((1.0, 2.0, 1.5)), rbt.modular.l_shape(hinge={"b": "slide", "c": "normal"})],
    ids=["edges", "rods", "slide and normal"],
)
def test_the_reduced_equations_move_as_the_engine(robot):
    """Attitude, shape and momenta under constant torques, two formulations and two integrators: 1e-9."""
    equations, torques = reduced(robot), np.array([0.3, -0.2])
    shape, rates = np.array([0.4, -0.3]), np.array([0.5, 0.8])
    momenta = np.array(equations.momenta(shape, rates)).ravel()
    begin = np.concatenate([[1.0, 0.0, 0.0, 0.0], shape, momenta])
    flow = solve_ivp(
        lambda _, x: np.array(equations.motion(x, torques)).ravel(), (0.0, 1.0), begin, "DOP853", rtol=1e-12, atol=1e-13
    )
    sim = rbt.Simulation(robot, step=0.01, integrator="dop853")
    for joint, angle, rate, effort in zip(robot.joint_names, shape, rates, torques, strict=True):
        sim.set_hinge(joint, float(angle), rate=float(rate))
        sim.set_effort(joint, float(effort))
    base = 2.0 * np.array(equations.motion(begin, torques)).ravel()[1:4]  # q̇ = ½ ω at identity
    sim.set_body("a", omega_body=base.tolist())
    slide = np.negative(sim.sample().momentum) / sum(body.mass for body in robot.bodies)
    sim.set_body("a", velocity=slide.tolist(), omega_body=base.tolist())
    assert np.abs(sim.sample().angular_momentum_com).max() < 1e-13  # of 10 N·m·s that hinges and base exchange
    sim.advance(100)
    sample = sim.sample()
    assert sample.pose[0, :4] == pytest.approx(flow.y[:4, -1], abs=1e-9)
    assert sample.q[7:] == pytest.approx(flow.y[4:6, -1], abs=1e-9)
    assert np.array(equations.momenta(sample.q[7:], sample.v[6:])).ravel() == pytest.approx(flow.y[6:, -1], abs=1e-9)


@pytest.fixture
def coarse(monkeypatch):
    """Two intervals on each side, not refined: enough for laws that hold on any mesh."""
    monkeypatch.setattr(spatial, "FEWEST", 8)
    monkeypatch.setattr(spatial, "REFINEMENTS", 0)
    monkeypatch.setattr(spatial.collocation, "ROUGH", np.inf)


def test_least_effort_ends_where_it_should():
    """The engine, from the torques alone; better by far than the rectangle it came from, which stops at each corner."""
    solution = spatial.solve_attitude(L_SHAPE, TARGET, time=20.0, plan=PLAN)
    _, check = spatial.simulate(L_SHAPE, TARGET, solution)
    assert max(check.turn_error, check.shape_error, check.rate_error) < 1e-6 and check.momentum < 1e-12
    guess, mesh = spatial._guess(L_SHAPE, reduced(L_SHAPE), PLAN, 20.0, None)
    assert solution.objective < 0.5 * spatial._effort(mesh, guess) and solution.defect < 1e-6


def test_half_the_speed_takes_an_eighth_of_the_effort(coarse):
    """Of second degree in the rates: J T³ is constant, along one path."""
    one, two = (spatial.solve_attitude(L_SHAPE, TARGET, time=T, plan=PLAN) for T in (20.0, 40.0))
    assert one.objective / two.objective == pytest.approx(8.0, rel=1e-6)
    s = np.linspace(0.0, 0.999, 50)
    assert sampled(one, s)[0][:, :6] == pytest.approx(sampled(two, s)[0][:, :6], abs=1e-5)


def test_least_time_is_at_the_bound(coarse):
    """|u| <= bound at all times, and there but in the intervals with a switch; few intervals here."""
    solution = spatial.solve_attitude(L_SHAPE, TARGET, torque=0.25, plan=PLAN)
    _, between = sampled(solution, np.linspace(0, 1, 999))
    assert np.abs(between).max() <= 0.25 + 1e-7 and (np.abs(solution.torque) > 0.2499).mean() > 0.6
    guess, _ = spatial._guess(L_SHAPE, reduced(L_SHAPE), PLAN, None, 0.25)
    assert solution.time < 0.8 * guess.time


def test_a_path_that_comes_too_near_is_led_around(coarse):
    """The best one passes at less than the margin; with it, the exact distances stay above, at the price of effort."""
    turn = plans.TurnOf(1.3, 1.2, 1)
    target = plans.net(L_SHAPE, [turn])
    plan, nearest = plans.Plan((turn,), target, 0.004), []
    free, kept = (spatial.solve_attitude(L_SHAPE, target, time=20.0, plan=plan, avoid=way) for way in (False, True))
    for solution in (free, kept):
        state, _ = sampled(solution, np.linspace(0.0, 1.0, 5001)[:-1])
        nearest.append(float(rbt.modular.Clearance(L_SHAPE).of_shapes(state[:, 4:6]).min()))
    assert nearest[0] < 0.003 < 0.0035 < nearest[1] and kept.clear and kept.objective > free.objective
    assert spatial.simulate(L_SHAPE, target, kept)[1].clearance > 0.0035


def test_the_command_line_reports_and_writes_what_plays(tmp_path, capsys, monkeypatch):
    """Optimality, the independent integration; the scenario ends at the attitude: kinematics of the same path, 1e-6."""
    monkeypatch.setattr(spatial.Planner, "plans", lambda *_, **__: [PLAN])
    words = ["effort", "--to", *(str(float(x)) for x in TARGET), "--time", "20", "--out", str(tmp_path)]
    assert solve.main(words) == 0
    told = capsys.readouterr().out
    assert "N²·m²·s of effort in 20 s" in told and "simulated anew       attitude " in told
    assert "scenario played      attitude " in told
    assert np.load(tmp_path / "solution.npz")["state"].shape[2] == 8 and (tmp_path / "solution_path.png").is_file()
    scenario = rbt.load(str(tmp_path / "solution.yaml"))
    sim = scenario.simulation()
    sim.advance(round(scenario.duration_ns / scenario.h_ns))
    q = sim.sample().pose[0, :4]
    assert q * np.sign(q @ TARGET) == pytest.approx(TARGET, abs=1e-6)


def test_a_mesh_that_stays_coarse_is_refused(monkeypatch):
    """Its polynomials miss the equations: an optimum of something else."""
    monkeypatch.setattr(spatial, "FEWEST", 8)
    monkeypatch.setattr(spatial, "REFINEMENTS", 0)
    with pytest.raises(rbt.SolveError, match=r"misses the equations between its points by \S+, and no finer mesh"):
        spatial.solve_attitude(L_SHAPE, TARGET, time=20.0, plan=PLAN)


def test_plans_compete_on_the_first_mesh(coarse, monkeypatch):
    """Rectangles one way round, and a detour to the same attitude: what each came to, and the better one."""
    there = plans.TurnOf(0.5, 0.4, 1)
    detour = plans.Plan((there, there._replace(first=2), *PLAN.turns), PLAN.quaternion, np.nan)
    monkeypatch.setattr(spatial.Planner, "plans", lambda self, target, count: [detour, PLAN][:count])
    found = spatial.solve_attitude(L_SHAPE, TARGET, time=20.0, starts=2)
    alone = spatial.solve_attitude(L_SHAPE, TARGET, time=20.0, plan=PLAN)
    assert len(found.objectives) == 2 and found.objective == min(found.objectives) <= alone.objective


@pytest.mark.parametrize("option", [["--lengths", "2,2,2"], ["--masses", "1"], ["--intervals", "20"]])
def test_options_of_rods_are_refused_for_panels(option, tmp_path):
    words = ["effort", "--to", "1", "0.1", "0", "0", "--time", "20", "--out", str(tmp_path)]
    with pytest.raises(rbt.ScenarioError, match=f"^{option[0]} is for three rods and goes with --turn"):
        solve.main([*words, *option])


@pytest.mark.parametrize(
    ("robot", "target", "arguments", "message"),
    [
        (
            L_SHAPE,
            TARGET,
            {"time": 1.0, "torque": 0.25},
            "torques up to 0.25 N·m cannot turn by 4.888° in 1 s: the least time found is 2.9",
        ),
        (L_SHAPE, TARGET, {}, "solve: the least time needs a bound of the torques; give torque, or a time."),
        (L_SHAPE, TARGET, {"torque": 0.0}, "solve: torque 0.0 must be positive."),
        (L_SHAPE, TARGET, {"time": 5.0, "starts": 2}, "solve: 2 starts; one or more, and one where a plan is given."),
        (L_SHAPE, (1, 0, 0), {"time": 5.0}, "target of solve: a quaternion is four finite numbers"),
        (rbt.modular.cubic_net(), TARGET, {"time": 5.0}, "robot 'cubic_net': solve takes two hinges; it has psi1, "),
    ],
)
def test_what_is_refused(coarse, robot, target, arguments, message):
    with pytest.raises(rbt.RbtError) as err:
        spatial.solve_attitude(robot, target, plan=PLAN, **arguments)
    assert str(err.value).startswith(message)


def test_nowhere_to_go():
    with pytest.raises(rbt.ScenarioError, match="solve: the target is the attitude that it starts from."):
        spatial.solve_attitude(L_SHAPE, (1, 0, 0, 0), time=5.0, plan=plans.Plan((), np.eye(4)[0], np.inf))


def test_four_times_the_torque_takes_half_the_time(coarse):
    """Of one problem, in other units: round-off of these, times what IPOPT takes it to (1e-9)."""
    one, four = (spatial.solve_attitude(L_SHAPE, TARGET, torque=bound, plan=PLAN) for bound in (0.3, 1.2))
    assert one.time / four.time == pytest.approx(2.0, rel=1e-8)
    assert one.state[..., 6:] * 2.0 == pytest.approx(four.state[..., 6:], abs=1e-6)


@pytest.mark.soak
@pytest.mark.timeout(1800)
def test_from_a_plan_of_several_turns():
    """An attitude that takes six rectangles: free of collision, in the engine too."""
    target = np.array([np.cos(0.3), *(np.sin(0.3) * np.array([0.6, 0.0, 0.8]))])
    corners = ((-0.262, -0.262, 2), (-1.048, 0.784, 1), (1.307, -2.099, 2), (-2.104, 2.384, 1), (0.785, 0.525, 1))
    turns = plans.refine(L_SHAPE, [plans.TurnOf(*turn) for turn in (*corners, (2.647, -1.870, 1))], target)
    plan = plans.Plan(tuple(turns), target, 0.004)
    solution = spatial.solve_attitude(L_SHAPE, target, time=100.0, avoid=True, plan=plan)
    _, check = spatial.simulate(L_SHAPE, target, solution)
    assert solution.clear and check.turn_error < 1e-4 and check.clearance > 0.0 and check.momentum < 1e-12
