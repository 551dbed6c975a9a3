"""Stops of joints: bounces against closed forms, coming to rest, several at once, in any cut, bad input."""

import math

import numpy as np
import pytest

import rbt_ros as rbt

G = 10.0


def ball(restitution, height=1.0, **options):
    """A body that falls along z on a stop at zero."""
    b = rbt.RobotBuilder("ball")
    b.body("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    fall = dict(parent="world", child="ball", axis=(0, 0, 1), limits=(0, math.inf))
    b.hinge("fall", "prismatic", **fall, stop_restitution=restitution)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -G), **{"step": 1e-2, **options})
    sim.set_hinge("fall", height)
    return sim


@pytest.mark.parametrize("restitution", [0.0, 0.5, 0.9, 1.0])
def test_bouncing_ball_is_geometric(restitution):
    """Speed e^k √(2 g h) at bounce k, 2 v e^k / g between two, height e^2k h; at rest after the sum of all, m g on the
    stop. RK4 is exact for a parabola, so that only the round-off of the height, 2e-16 m, is left: it changes a speed
    by g 2e-16 / v, 2e-9 at the slowest, and the times since by 2e-10 s."""
    result = ball(restitution).run(until=12.0, every=0.01)
    bounces, e, v = list(result.events), restitution, math.sqrt(2 * G)
    times = [math.sqrt(2 / G) + 2 * v / G * sum(e**j for j in range(1, k + 1)) for k in range(len(bounces))]
    assert [b.t for b in bounces] == pytest.approx(times, abs=5e-10)
    assert [b.speed for b in bounces] == pytest.approx([v * e**k for k in range(len(bounces))], abs=1e-8)
    lost = [(1 - e * e) * G * 2 * e ** (2 * k) for k in range(len(bounces) - 1)]
    assert [b.energy_lost for b in bounces[:-1]] == pytest.approx(lost, abs=1e-7)
    assert max(abs(s.conservation.energy) for s in result.samples) < 1e-12  # what impacts take is booked
    z, t = result.hinge("fall").position, result.t
    if e == 1.0:
        assert len(bounces) == 13
        phase = (t - times[0]) % (2 * v / G)
        late = t > times[0]
        assert z[late] == pytest.approx((v * phase - G / 2 * phase**2)[late], abs=1e-12)
        return
    assert bounces[-1].what == "stop" and bounces[-1].speed <= 1e-6 / max(e, 1e-6) or e == 0.0
    end = math.sqrt(2 / G) * (1 + e) / (1 - e)
    resting = t > end
    assert (result.stop("fall").touching == resting).all()
    assert np.abs(z[resting]).max() < 1e-14
    assert result.stop("fall").effort[resting] == pytest.approx(2.0 * G, rel=1e-14)
    assert result.samples[-1].impact_loss == pytest.approx(2.0 * G, rel=1e-12)


def test_pendulum_loses_its_height_at_a_stop():
    """Let go at 1 rad, a stop at the bottom, e = 0.6: at each hit ω = e ω before, and from hit to hit the height falls
    by e²; hits are one half of the period of that amplitude apart: K(sin θ/2), by the arithmetic-geometric mean."""
    b = rbt.RobotBuilder("pendulum")
    b.body("bob", mass=1.5, inertia=(0.2, 0.2, 0.2), com=(0, 0, -0.5))
    b.hinge("pivot", "revolute", parent="world", child="bob", axis=(0, 1, 0), limits=(0, 3), stop_restitution=0.6)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -G), step=5e-3, integrator="dop853")
    sim.set_hinge("pivot", 1.0)
    events = sim.run(until=6.0, every=0.05).events
    w0, k = math.sqrt(1.5 * G * 0.5 / (0.2 + 1.5 * 0.25)), math.sin(0.5)
    t = _quarter(k) / w0
    for event in events[:6]:
        assert event.t == pytest.approx(t, abs=1e-11)
        assert event.speed == pytest.approx(2 * w0 * k, abs=1e-11)
        k *= 0.6
        t += 2 * _quarter(k) / w0
    assert {e.what for e in events[:6]} == {"bounce"}


def _quarter(k):
    """K(k): a quarter of the period, times ω0."""
    a, g = 1.0, math.sqrt(1 - k * k)
    for _ in range(8):
        a, g = (a + g) / 2, math.sqrt(a * g)
    return math.pi / (2 * a)


def double_stop():
    """A double pendulum that beats against three stops under an effort, and comes to rest on two while it acts."""
    b = rbt.RobotBuilder("two")
    for name in ("upper", "lower"):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.02), com=(0, 0, -0.5))
    b.hinge(
        "a", "revolute", parent="world", child="upper", axis=(0, 1, 0), limits=(-0.5, 0.4), stop_restitution=0.5,
        damping=0.5,
    )  # fmt: skip
    b.hinge(
        "b", "revolute", parent="upper", child="lower", at=(0, 0, -1), axis=(0, 1, 0), limits=(-0.3, 2.0),
        stop_restitution=0.3, damping=0.5,
    )  # fmt: skip
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -G), step=5e-3, work_of_inputs=True)
    sim.set_hinge("a", 0.2, rate=1.0)
    sim.set_hinge("b", 1.0, rate=-4.0)
    for hinge, effort in (("a", 25.0), ("b", -5.0)):
        sim.add_input(rbt.Effort(hinge, (effort,)), start=1.0, stop=5.0)
    return sim


def test_two_stops_hold_together_and_let_go():
    """Under an effort both joints end up on stops, which push only one way; without it both leave them. The books close
    throughout: energy, work of the effort, damping, impacts."""
    sim = double_stop()
    result = sim.run(until=7.0, every=5e-3)
    a, b = result.stop("a"), result.stop("b")
    held = result.t_ns == 4_900_000_000
    assert a.touching[held] and b.touching[held]
    for stop, joint, lower, upper in ((a, "a", -0.5, 0.4), (b, "b", -0.3, 2.0)):
        angle = result.hinge(joint).angle
        assert angle.min() >= lower - 1e-11 and angle.max() <= upper + 1e-11
        assert (stop.effort[angle < 0] >= 0).all() and (stop.effort[angle > 0.1] <= 0).all()
    assert {"bounce", "stop", "leave"} <= {e.what for e in result.events}
    assert max(abs(s.conservation.energy) for s in result.samples) < 1e-6  # of RK4 at 5 ms
    assert sum(e.energy_lost for e in result.events) == pytest.approx(result.samples[-1].impact_loss, rel=1e-12)


def test_bits_do_not_depend_on_cuts_or_onlookers():
    one, many = double_stop(), double_stop()
    one.advance(800)
    for ticks in (1, 7, 130, 2, 60, 200, 400):
        many.advance(ticks)
        many.sample()
    assert one.digest() == many.digest()
    assert one.events == many.events
    one.reset()
    assert one.events == ()
    one.advance(800)
    assert one.digest() == many.digest()


def test_blocks_that_hit_together_are_solved_together():
    """Two carriages pushed on the same stop at the same instant, and one that hits another body's stop: each joint
    on its own, so what happens is that of each alone."""
    b = rbt.RobotBuilder("two")
    for name in ("left", "right"):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
        b.hinge(
            f"x_{name}", "prismatic", parent="world", child=name, axis=(1, 0, 0), limits=(-1, 1), stop_restitution=0.5
        )
    sim = rbt.Simulation(b.build(), step=1e-2)
    sim.set_hinge("x_left", 0.0, rate=-3.0)
    sim.set_hinge("x_right", 0.0, rate=3.0)
    first, second = sim.run(until=0.5).events
    assert (first.t, second.t) == pytest.approx((1 / 3, 1 / 3), abs=1e-15)
    assert {(e.name, e.side) for e in (first, second)} == {("x_left", "lower"), ("x_right", "upper")}
    assert first.energy_lost == second.energy_lost == pytest.approx(0.75 * 4.5, rel=1e-13)


def test_a_joint_that_only_touches_is_not_hit():
    """A parabola whose top is 1e-9 m below the stop passes; 1e-9 m above it is an impact at √(2 g 1e-9): the top lies
    within one step of 10 ms, at whose ends the joint is 1e-4 m away."""
    for over, events in ((-1e-9, 0), (1e-9, 1)):
        b = rbt.RobotBuilder("throw")
        b.body("stone", mass=1.0, inertia=(0.1, 0.1, 0.1))
        b.hinge("up", "prismatic", parent="world", child="stone", limits=(-9, 1.0), stop_restitution=1.0)
        sim = rbt.Simulation(b.build(), gravity=(0, 0, -G), step=1e-2)
        sim.set_hinge("up", 0.0, rate=math.sqrt(2 * G * (1.0 + over)))
        sim.advance(60)
        assert len(sim.events) == events
        for event in sim.events:
            assert event.speed == pytest.approx(math.sqrt(2 * G * over), rel=1e-6)


def test_stops_of_a_hinge_with_two_freedoms():
    b = rbt.RobotBuilder("tube")
    b.body("rod", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.hinge(
        "tube", "cylindrical", parent="world", child="rod", limits=[(-math.inf, math.inf), (-1, 2)], stop_restitution=0
    )
    sim = rbt.Simulation(b.build(), step=1e-2)
    sim.set_hinge("tube", (0.0, 0.0), rate=(9.0, 4.0))
    result = sim.run(until=1.0)
    assert [(e.name, e.what, e.side) for e in result.events] == [("tube_slide", "stop", "upper")]
    assert result.events[0].t == pytest.approx(0.5, abs=1e-14)
    assert result.hinge("tube").position[-1] == pytest.approx([9.0, 2.0], abs=1e-12)
    with pytest.raises(
        rbt.ModelError, match="no stops of joint 'tube_turn' in robot 'tube'; joints with stops: tube_sl"
    ):
        result.stop("tube_turn")


@pytest.mark.parametrize(
    "given, text",
    [
        (
            {"limits": (0, 1), "stop_restitution": 1.2},
            "hinge 'h': restitution 1.2 must lie between 0 .no rebound. and 1",
        ),
        ({"limits": (0, 1), "stop_restitution": -0.1}, "hinge 'h': restitution -0.1 must lie between 0"),
        ({"limits": (0, 1), "stop_restitution": "hard"}, "restitution of hinge 'h': 'hard' is not a number"),
        ({"stop_restitution": 0.5}, "hinge 'h': stop_restitution needs limits, at which it stops"),
    ],
)
def test_wrong_stops_are_refused(given, text):
    b = rbt.RobotBuilder("r")
    b.body("a", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(rbt.ModelError, match=text):
        b.hinge("h", "revolute", parent="world", child="a", **given)


def test_a_start_beyond_a_stop_is_refused():
    sim = ball(0.5, height=-0.25)
    with pytest.raises(rbt.ScenarioError, match="start: joint 'fall' is beyond its lower stop at 0, by 0.25; set it"):
        sim.advance(1)


@pytest.mark.parametrize("integrator", ["exact", "splitting", "lie_euler"])
def test_integrators_that_do_not_see_stops_refuse(integrator):
    with pytest.raises(rbt.ScenarioError, match="does not see the ropes and stops of robot 'ball'; use semi_implicit"):
        ball(0.5, integrator=integrator)


def test_too_many_impacts_in_one_step_are_told():
    """Between stops 1e-6 m apart a body at 10 m/s hits them 1e5 times in 10 ms: the last good state is kept."""
    b = rbt.RobotBuilder("rattle")
    b.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.hinge("gap", "prismatic", parent="world", child="ball", limits=(0, 1e-6), stop_restitution=1.0)
    sim = rbt.Simulation(b.build(), step=1e-2)
    sim.set_hinge("gap", 5e-7, rate=10.0)
    with pytest.raises(
        rbt.SolveError, match="tick 1, t = 0.01 s: more than a thousand impacts within the step at hinge 'gap'"
    ):
        sim.advance(1)
    assert sim.tick == 0 and sim.events == () and sim.sample().v == pytest.approx([10.0])


@pytest.mark.parametrize("integrator", ["dop853_adaptive", "dormand_prince"])
def test_error_controlled_ticks_find_their_events_and_jumps(integrator):
    """Ticks of 0.25 s. A force that jumps at 0.3 s drives a carriage into a stop: x = a (t - 0.3)²/2 = 1 at a = 8 is
    0.8 s, at 4 m/s; half of it comes back, until 0.25 s later the force has turned it round, and after 0.5 s it is
    back at 2 m/s. In any cut the bits are the same."""
    b = rbt.RobotBuilder("car")
    b.body("car", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rail = dict(parent="world", child="car", axis=(1, 0, 0), limits=(-1, 1))
    robot = b.hinge("rail", "prismatic", **rail, stop_restitution=0.5).build()
    sims = [rbt.Simulation(robot, step=0.25, integrator=integrator) for _ in range(2)]
    for sim in sims:
        push = rbt.table([0.0, 0.3], [0.0, 1.0], between="hold")
        sim.add_input(rbt.Effort("rail", (8.0,)), signal=push)
    sims[0].advance(8)
    for ticks in (1, 2, 5):
        sims[1].advance(ticks)
        sims[1].sample()
    assert sims[0].digest() == sims[1].digest() and sims[0].events == sims[1].events
    first, second = sims[0].events[:2]
    assert (first.t, first.speed) == pytest.approx((0.8, 4.0), abs=1e-12)
    assert (second.t, second.speed) == pytest.approx((1.3, 2.0), abs=1e-12)
    assert sims[0].events[-1].what == "stop"
    assert sims[0].sample().stops["rail"].effort == pytest.approx(-8.0, rel=1e-13)


@pytest.mark.parametrize("seed", [0, 1, 2, 33, 59, 89])
def test_random_trees_between_stops_and_ropes(seed):
    """Trees of six hinges that float, all of them between stops, tied to themselves and to a stone by ropes: whatever
    hits what, P and L stay (1e-12 of the motion; P where a rope stops its ends dead), books close, nothing is beyond
    its end, all push one way only."""
    rng = np.random.default_rng(seed)
    b = rbt.RobotBuilder("chain")
    for i in range(7):
        b.body(f"b{i}", mass=rng.uniform(0.5, 2), inertia=(0.02, 0.03, 0.04), com=tuple(rng.uniform(-0.1, 0.1, 3)))
        if i:
            hinge = dict(parent=f"b{rng.integers(0, i)}", child=f"b{i}", at=tuple(rng.uniform(-0.5, 0.5, 3)))
            limits = dict(limits=(-rng.uniform(0.1, 1), rng.uniform(0.1, 1)), stop_restitution=rng.choice([0, 0.4, 1]))
            kind, axis = rng.choice(["revolute", "prismatic"]), tuple(rng.normal(size=3))
            b.hinge(f"h{i}", str(kind), axis=axis, **hinge, **limits)
    b.body("stone", mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.rope("r0", "b6", "stone", length=3.0, restitution=0.3)
    b.rope("r1", "b0", "stone", length=3.2, impact=str(rng.choice(["radial", "stop"])))
    b.rope("r2", "b3", "b6", length=2.5)
    sim = rbt.Simulation(b.build(), step=2e-3, integrator="dop853")
    for i in range(1, 7):
        sim.set_hinge(f"h{i}", 0.0, rate=rng.uniform(-2, 2))
    sim.set_body("b0", velocity=(0.1, 0, 0), omega_body=(0.3, -0.5, 0.8))
    sim.set_body("stone", position=(0.5, 0.5, 0), velocity=(1.0, 2.0, 0.5))
    result = sim.run(until=4.0, every=0.01)
    assert len(result.events) > 15
    size = np.linalg.norm(result.samples[0].momentum) + 1.0
    assert np.abs(result.momentum - result.momentum[0]).max() < 1e-12 * size
    if sim.robot.ropes[1].impact == "radial":
        assert np.abs(result.angular_momentum - result.angular_momentum[0]).max() < 1e-11 * size
    lost = np.array([s.impact_loss for s in result.samples])
    assert result.energy.total + lost == pytest.approx(result.energy.total[0], abs=1e-9)
    assert min(e.energy_lost for e in result.events) > -1e-12
    for stop in result.robot.stops:
        angle, push = result.hinge(stop.joint).position, result.stop(stop.joint)
        assert angle.min() >= stop.lower - 1e-10 and angle.max() <= stop.upper + 1e-10
        assert (push.effort[angle < 0] >= -1e-9).all() and (push.effort[angle > 0] <= 1e-9).all()
    for rope in result.robot.ropes:
        assert result.rope(rope.name).tension.min() >= -1e-9


def test_the_work_of_inputs_is_counted_through_impacts():
    """An effort presses a sliding block against its stop again and again: the balance closes to 1e-12 with its work,
    and the motion has the bits of one whose work nobody counts."""
    sims = []
    for counts in (True, False):
        b = rbt.RobotBuilder("press").body("ram", mass=2.0, inertia=(0.1, 0.1, 0.1))
        slide = dict(parent="world", child="ram", axis=(0, 0, 1), limits=(0, 1), stop_restitution=0.5)
        sim = rbt.Simulation(b.hinge("guide", "prismatic", **slide).build(), work_of_inputs=counts)
        sim.set_hinge("guide", 0.5)
        sim.set_effort("guide", -20.0)
        result = sim.run(until=0.7, every=0.1)
        sims.append((sim, result.samples[-1].conservation.energy))
    assert len(sims[0][0].events) > 1 and sims[0][0].digest() == sims[1][0].digest()
    assert abs(sims[0][1]) < 1e-12
