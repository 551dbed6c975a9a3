"""Plans to any attitude: exact by kinematics, free of collision, and reached in full dynamics."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbt_ros as rbt
from rbt_ros.modular import plans, turns
from rbt_ros.modular.clearance import Clearance


@pytest.fixture(scope="module")
def planner():
    return plans.Planner(rbt.modular.l_shape())


def random_attitudes(count, seed):
    return Rotation.random(count, random_state=seed).as_quat()[:, [3, 0, 1, 2]]


def check(planner, target):
    """A plan to `target`, flown: 0.1°, momentum 1e-12, free in between its samples too, |psi| <= π."""
    plan = planner.plan(target)
    assert turns.angles(turns.products(turns.conjugates(plan.quaternion[None]), target[None]))[0] < 1e-8
    flown = plans.fly_plan(planner.robot, plan)
    assert flown.error < np.radians(0.1) and flown.momentum < 1e-12
    assert flown.clearance > 0 and flown.largest <= np.pi
    return plan, flown


@pytest.mark.parametrize("angle", [0.3, 1.0])
def test_attitudes_near_and_far(planner, angle):
    check(planner, np.array([np.cos(angle / 2), *(np.sin(angle / 2) * np.array([2, -1, 2]) / 3)]))


def test_a_library_has_the_rectangles_that_keep_clear():
    """Each line of the grid looked at once tells the same as each rectangle."""
    places = np.linspace(-np.pi, np.pi, 9)
    planner = plans.Planner(rbt.modular.l_shape(), grid=9)
    seen = Clearance(planner.robot)
    free = [[p * q != 0 and seen.is_free(plans.TurnOf(p, q, 1).path, planner.margin) for q in places] for p in places]
    assert planner._free(places).tolist() == free and 10 < np.sum(free) < 60


@pytest.mark.soak
@pytest.mark.timeout(3000)
def test_two_hundred_random_attitudes(planner):
    """Every one reached; the figures of docs/modular.md."""
    found = [check(planner, target) for target in random_attitudes(200, 1)]
    turns_of, time = np.array([len(p.turns) for p, _ in found]), np.array([f.time for _, f in found])
    print(f"median {np.median(turns_of):g} turns, {np.median(time):g} s; most {turns_of.max()}, {time.max():g} s")


def test_from_any_attitude_to_any_other(planner):
    """What is planned is the turn between them."""
    start, step = random_attitudes(1, 3)[0], np.array([np.cos(0.1), np.sin(0.1), 0, 0])
    target = turns.products(start[None], step[None])[0]
    plan = planner.plan(target, start)
    assert plan.quaternion * np.sign(plan.quaternion[0]) == pytest.approx(step, abs=1e-8)
    assert planner.plan(start, start).turns == ()


def test_corrections_at_the_flat_vertices_help(planner):
    """Soft controllers miss corners; the rest is fitted anew after each turn, so that only the last one is missed."""
    some = (plans.TurnOf(-1.5, 1.2, 1), plans.TurnOf(1.0, -1.5, 2), plans.TurnOf(-0.6, 0.5, 1))
    plan = plans.Plan(some, plans.net(planner.robot, some), 0.0)
    soft = {"kp": 5.0, "kd": 5.0, "tolerance": 0.1}
    blind = plans.fly_plan(planner.robot, plan, correct=False, **soft)
    seeing = plans.fly_plan(planner.robot, plan, **soft)
    assert seeing.error < 0.5 * blind.error and seeing.turns[2] != some[2]


@pytest.mark.parametrize("scale", [{"mass": 0.2}, {"size": 3.0, "thickness": 0.03, "mass": 100.0}])
def test_a_plan_is_flown_alike_at_any_size_and_mass(planner, scale):
    """Kinematics know no mass, and similar arrays follow alike: the error of 1 m and 1 kg, to the figures of gains."""
    some, robot = (plans.TurnOf(-1.5, 1.2, 1), plans.TurnOf(1.0, -1.5, 2)), rbt.modular.l_shape(**scale)
    plan = plans.Plan(some, plans.net(planner.robot, some), 0.0)
    here, there = (plans.fly_plan(r, plan) for r in (planner.robot, robot))
    assert there.error == pytest.approx(here.error, rel=1e-4) and there.clearance > 0
    assert there.quaternion == pytest.approx(here.quaternion, abs=1e-9)


def test_a_flight_that_misses_or_touches_is_an_error(planner):
    """Soft hinges end off; two panels that are folded onto each other touch on the way."""
    some = (plans.TurnOf(-1.5, 1.2, 1),)
    with pytest.raises(rbt.SolveError, match=r"the plan ends .*° off, more than 0.1°, with kp 1, kd 1; give a longer"):
        plans.fly_plan(planner.robot, plans.Plan(some, plans.net(planner.robot, some), 0.0), kp=1.0, kd=1.0)
    through = (plans.TurnOf(3.0, 3.0, 1),)
    with pytest.raises(rbt.SolveError, match=r"flown, the panels touch in turn 1 of the plan: -.* mm"):
        plans.fly_plan(planner.robot, plans.Plan(through, plans.net(planner.robot, through), 0.0))


@pytest.mark.parametrize("lengths", [(2.0, 2.0, 2.0), (2.0, 1.0, 2.0), (1.0, 1.5, 1.0)])
@pytest.mark.parametrize("degrees", [7.5, -100.0, 180.0])
def test_plans_in_a_plane(degrees, lengths):
    """The map inverted: as many rectangles as it takes, none of which comes near the collision domain."""
    robot = rbt.modular.rods(lengths)
    plan = plans.plan_in_plane(robot, np.radians(degrees))
    q = plan.quaternion
    assert np.remainder(2 * np.arctan2(q[3], q[0]) - np.radians(degrees) + np.pi, 2 * np.pi) == pytest.approx(
        np.pi, abs=1e-9
    )
    assert all(Clearance(robot).clash(turn.path) is None for turn in plan.turns)


def test_a_plan_in_a_plane_that_turns_nothing_has_no_turns():
    assert plans.plan_in_plane(rbt.modular.rods(), 0.0).turns == ()


@pytest.mark.parametrize("turn, lines", [("0", 2), ("2e3", 3)])
def test_plans_in_a_plane_are_told_in_short(turn, lines, tmp_path, capsys):
    """Turns that are alike in one line, with their number; what plays them is a scenario, of none too."""
    from rbt_ros.studies.solve import main

    assert main(["plane", "--turn", turn, "--out", str(tmp_path)]) == 0
    told = capsys.readouterr().out.splitlines()
    assert len(told) == lines and ("99 times" in told[1]) == (turn != "0")
    assert rbt.load(str(tmp_path / "solution.yaml")).duration_ns > 0


def test_plans_play_as_scenarios(planner):
    """Locked and driven hinges, planned beforehand: the attitude within 1e-9."""
    from rbt_ros.model.scenario import scenario_from_text
    from rbt_ros.studies.solve import plan_scenario

    some = (plans.TurnOf(-1.5, 1.2, 1), plans.TurnOf(1.0, -1.5, 2))
    plan = plans.Plan(some, plans.net(planner.robot, some), 0.0)
    sim = rbt.Simulation.of(scenario_from_text(plan_scenario("l_shape", {}, plan)))
    sim.advance(round(len(plan.turns) * 24.0 / 0.01))
    q = sim.sample().pose[0, :4]
    assert q * np.sign(q @ plan.quaternion) == pytest.approx(plan.quaternion, abs=1e-9)


def test_what_cannot_be_planned():
    with pytest.raises(rbt.ScenarioError, match="robot 'l_shape': no rectangle of its shape keeps 1 m clear."):
        plans.Planner(rbt.modular.l_shape(), margin=1.0, grid=5)
    with pytest.raises(rbt.ModelError, match="target of a plan: a quaternion is four finite numbers"):
        plans.Planner(rbt.modular.l_shape(), grid=5).plan([1, 0, 0])
    with pytest.raises(rbt.ScenarioError, match="plan: turn nan rad must lie between -10000 and 10000 rad."):
        plans.plan_in_plane(rbt.modular.rods(), np.nan)
    with pytest.raises(rbt.SolveError, match=r"'rods' turns about .* alone, whatever it folds; .* has 22.92° across"):
        plans.Planner(rbt.modular.rods(), grid=5).plan([np.cos(0.2), np.sin(0.2), 0, 0])


def test_several_plans_lead_to_one_attitude(planner):
    """The first of them is the plan; the shortest first, each exact."""
    target = turns.along(planner.robot, plans.TurnOf(1.0, 0.7, 1).path)[-1]
    found = planner.plans(target, count=4)
    assert 2 <= len(found) <= 4 and [p.way for p in found] == sorted(p.way for p in found)
    assert all(np.abs(np.abs(p.quaternion @ target) - 1.0) < 1e-15 + 1e-9**2 for p in found)
