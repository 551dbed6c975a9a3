"""Modes that change while ropes are taut and stops are touched: momenta, one balance of all losses, names, history."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.work import workspace

HINGES = ("ah1", "ah2", "bh1", "bh2")


def arm(b, prefix, n, rng, **hinge):
    """n bodies, the first afloat, on hinges of one axis."""
    for i in range(n):
        b.body(
            f"{prefix}{i}", mass=rng.uniform(0.5, 2), inertia=rng.uniform(0.2, 0.3, 3), com=rng.uniform(-0.3, 0.3, 3)
        )
        if i:
            place = dict(parent=f"{prefix}{i - 1}", child=f"{prefix}{i}", at=rng.uniform(-0.5, 0.5, 3))
            b.hinge(f"{prefix}h{i}", "revolute", axis=rng.normal(size=3), **place, **hinge)


def tied_arms(seed, restitution=0.5, impact="radial", **options):
    """Two floating arms of three bodies between stops, two ropes from one to the other, all of it under way.

    impact: the rule of the short rope.
    """
    rng = np.random.default_rng(seed)
    b = rbt.RobotBuilder("tied")
    for prefix in "ab":
        arm(b, prefix, 3, rng, limits=(-0.6, 0.8), stop_restitution=restitution)
    b.rope("long", "a2", "b2", at_a=(0.2, 0, 0), at_b=(0, 0.3, 0), length=2.0, restitution=restitution)
    b.rope("short", "a0", "b1", at_a=(0, 0.1, 0), length=1.6, impact=impact)
    sim = rbt.Simulation(b.build(), **{"integrator": "dop853", "step": 1e-2, "work_of_inputs": True, **options})
    sim.set_body("a0", velocity=rng.uniform(-3, 3, 3), omega_body=rng.uniform(-2, 2, 3))
    sim.set_body("b0", position=(0.5, 0.2, 0.1), velocity=rng.uniform(-3, 3, 3), omega_body=rng.uniform(-2, 2, 3))
    for name in HINGES:
        sim.set_hinge(name, rng.uniform(-0.3, 0.3), rate=rng.uniform(-2, 2))
    return sim


def momenta(sim):
    s = sim.sample()
    return np.array([s.momentum, s.angular_momentum])


def change_at_random(sim, rng, events):
    """Hinges are locked, unlocked, driven, released and pushed, arms docked and parted, at random instants."""
    driven = ""
    for _ in range(events):
        sim.advance(int(rng.integers(1, 10)))
        name, what = str(rng.choice(HINGES)), rng.integers(12)
        _, q, v = sim.robot.joint_place(name)
        at, rate = sim.state.q[q], sim.state.v[v]
        for joint in HINGES:
            sim.set_effort(joint, rng.uniform(-1, 1))
        if sim.docked or what == 0:
            sim.undock("grip") if sim.docked else sim.dock("a1", "b1", name="grip")
        elif driven:
            sim.release(driven)
            driven = ""
        elif what < 4 and not sim.locked and -0.3 < at < 0.4:
            sim.prescribe(name, rbt.polynomial([at, rate, -rate / 0.2]))
            driven = name
        else:
            sim.unlock(name) if name in sim.locked else sim.lock(name)


@pytest.mark.parametrize(("seed", "impact"), [(0, "stop"), (1, "radial"), (2, "radial"), (3, "stop")])
def test_locks_docks_ropes_and_stops_share_one_balance(seed, impact):
    """Whatever jerks, bounces, locks and docks: momenta and energy balance stay to 1e-12 (measured: 4e-14), all losses
    add up, and what has happened is in order. A rope that stops its ends dead keeps the linear momentum only."""
    sim, rng = tied_arms(seed, impact=impact), np.random.default_rng(100 + seed)
    before, kept = momenta(sim), 1 if impact == "stop" else 2
    change_at_random(sim, rng, 150)
    after = sim.sample()
    assert {e.what for e in sim.events} >= {"taut", "bounce"} and len(sim.changes) > 100
    assert momenta(sim)[:kept] == pytest.approx(before[:kept], abs=1e-12 * np.abs(before).max())
    assert abs(after.conservation.energy) < 1e-12 and after.conservation.energy_since_ns == 0
    assert after.work.dissipated == pytest.approx(
        after.impact_loss + sum(change.energy_lost for change in sim.changes), rel=1e-12
    )
    assert after.impact_loss == pytest.approx(sum(event.energy_lost for event in sim.events), rel=1e-9)
    assert list(sim.events) == sorted(sim.events, key=lambda event: event.t)


@pytest.mark.parametrize("seed", range(4))
def test_a_lock_that_jerks_at_taut_ropes_is_one_projection(seed):
    """Locked while a rope is taut: of all velocities that keep the lock and do not stretch the rope, the nearest to
    those before in the measure of mass; by minimising over both cases of the rope with the dense matrix."""
    sim = tied_arms(seed, restitution=0.0)
    for _ in range(2000):
        if sim.sample().ropes["long"].taut and not any(s.touching for s in sim.sample().stops.values()):
            break
        sim.advance()
    before, nv = sim.sample(), sim.robot.freedoms
    assert before.ropes["long"].taut and not before.ropes["short"].taut
    M = np.zeros((nv, nv))
    mass_matrix(sim.robot.model, before.q, workspace(sim.robot.model), M)
    rope = stretch_row(sim)
    lock = np.eye(nv)[[sim.robot.joint_place("ah2")[2]]]
    nearest = []
    for G in (lock, np.vstack([lock, rope])):
        Y = np.linalg.solve(M, G.T)
        v = before.v - Y @ np.linalg.solve(G @ Y, G @ before.v)
        if (rope @ v).max() < 1e-11:
            nearest.append(v)
    right = min(nearest, key=lambda v: (v - before.v) @ M @ (v - before.v))
    lost = sim.lock("ah2").energy_lost + sim.sample().impact_loss - before.impact_loss
    dv = sim.state.v - before.v
    assert sim.state.v == pytest.approx(right, abs=1e-11)
    assert lost == pytest.approx(0.5 * dv @ M @ dv, rel=1e-10)


def stretch_row(sim):
    """How fast the rope "long" gets longer by each velocity: differences of its ends' velocities, which are linear."""
    base, rows = sim.sample(), []
    spare = rbt.Simulation(rbt.Robot(**{**vars_of(sim.robot), "ropes": (), "stops": ()}))
    for j in range(sim.robot.freedoms):
        v = np.zeros(sim.robot.freedoms)
        v[j] = 1.0
        spare._mech.motion[:] = np.concatenate([base.q, v])
        s, ends = spare.sample(), []
        for body, point in (("a2", (0.2, 0, 0)), ("b2", (0, 0.3, 0))):
            i = sim.robot.body_index(body)
            w, x = s.pose[i, 0], s.pose[i, 1:4]
            p = np.array(point) + 2 * np.cross(x, np.cross(x, point) + w * np.array(point))
            ends.append((s.pose[i, 4:] + p, s.twist[i, 3:] + np.cross(s.twist[i, :3], p)))
        d = ends[1][0] - ends[0][0]
        rows.append(d @ (ends[1][1] - ends[0][1]) / np.linalg.norm(d))
    return np.array([rows])


def vars_of(robot):
    return {name: getattr(robot, name) for name in robot.__dataclass_fields__}


def swing(kind="revolute", limits=None, restitution=0.0):
    """A pendulum of two rods whose tip hangs on a rope."""
    b = rbt.RobotBuilder("swing")
    for name in ("upper", "lower"):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.02), com=(0, 0, -0.5))
    b.hinge("shoulder", "revolute", parent="world", child="upper", axis=(0, 1, 0))
    stops = {"limits": limits, "stop_restitution": 0.3} if limits else {}
    b.hinge("elbow", kind, parent="upper", child="lower", at=(0, 0, -1), axis=(0, 1, 0), **stops)
    b.rope("line", "world", "lower", at_a=(1.5, 0, 0), at_b=(0, 0, -1), length=2.3, restitution=restitution)
    return b.build()


def test_a_locked_robot_on_a_rope_moves_as_one_built_with_a_fixed_hinge():
    """The same swings into the rope, the same impacts: events within 1e-12 s, the end within 1e-11."""
    ends = []
    for kind in ("revolute", "fixed"):
        sim = rbt.Simulation(swing(kind, restitution=0.5), gravity=(0, 0, -9.81), step=5e-3, integrator="dop853")
        sim.set_hinge("shoulder", -0.8)  # below the anchor, and away from it
        if kind == "revolute":
            sim.lock("elbow")
        sim.advance(400)
        ends.append((sim.state.q[0], sim.state.v[0], sim.events))
    assert [e.what for e in ends[0][2]] == [e.what for e in ends[1][2]] == ["bounce"] * 2
    assert [e.t for e in ends[0][2]] == pytest.approx([e.t for e in ends[1][2]], abs=1e-12)
    assert ends[0][:2] == pytest.approx(ends[1][:2], abs=1e-11)


def test_what_locks_keep_is_told_as_idle_and_comes_back():
    """Both hinges locked: the rope has nothing to do, and the steps are those of a tree; its events are remembered; a
    reset goes back to before all of it, with the same bits."""
    sim = rbt.Simulation(swing(limits=(-0.1, 2.0)), gravity=(0, 0, -9.81), step=5e-3)
    sim.set_hinge("shoulder", -0.8)
    digests = [sim.digest() for _ in range(300) if sim.advance() is None]
    events = sim.events
    assert {e.name for e in events} == {"line", "elbow"}
    sim.lock("shoulder", "elbow")
    sample = sim.sample()
    assert sample.ropes["line"].tension == 0.0 and not sample.ropes["line"].taut
    assert sample.stops["elbow"] == (0.0, False)
    sim.advance(10)
    assert not sim.sample().v.any() and sim.events == events
    sim.unlock("shoulder", "elbow")
    sim.advance(100)
    assert len(sim.events) > len(events) and sim.events[: len(events)] == events
    sim.reset()
    assert sim.events == () and sim.sample().impact_loss == 0.0
    assert [sim.digest() for _ in range(300) if sim.advance() is None] == digests


def test_a_drive_that_runs_into_a_rope_pays_for_the_jerk():
    """The shoulder turns at a given rate, the lower rod is caught by the rope: what the drive adds in the impact is
    among the work of inputs. Without it the balance would be off by the impulse times the rate, 1e-2 of the energy."""
    sim = rbt.Simulation(swing(), gravity=(0, 0, -9.81), step=5e-3, integrator="dop853", work_of_inputs=True)
    sim.set_hinge("shoulder", -0.8, rate=2.0)
    sim.prescribe("shoulder", rbt.polynomial([-0.8, 2.0]))
    sim.sample()
    result = sim.run(until=1.0, every=0.05)
    assert any(e.what == "taut" and e.speed > 0.1 for e in result.events)
    assert max(abs(s.conservation.energy) for s in result.samples) < 1e-10


def test_the_joints_of_a_universal_hinge_seen_from_its_child_keep_their_names():
    """A dock turns the tree round: what is prescribed, or stops, is still the joint of that name."""
    b = rbt.RobotBuilder("pair")
    for name in ("hub", "tool", "station"):
        b.body(name, mass=1.0, inertia=(0.1, 0.11, 0.12), com=(0.1, 0.05, 0.2))
    limits = dict(limits=[(-1, 0.15), (-1, 1)], stop_restitution=0.0)
    b.hinge("h", "universal", parent="hub", child="tool", at=(0, 0, 1), axis=(1, 0, 0), axis2=(0, 1, 0), **limits)
    sim = rbt.Simulation(b.build(), integrator="dop853")
    sim.set_body("station", position=(0, 0, 2.0))
    sim.set_hinge("h", (0.1, 0.4))
    sim.dock("station", "tool")
    assert sim._mech.now.robot.hinges[2].swapped
    sim.set_effort("h", (1.0, 0.0))
    sim.run(until=0.5)
    assert [(e.name, e.side, e.what) for e in sim.events[:1]] == [("h_1", "upper", "stop")]
    sim.set_effort("h", (0.0, 0.0))
    at = float(sim.state.q[sim.robot.joint_place("h_2")[1]])
    sim.prescribe("h_2", rbt.polynomial([at, 0, 0.3]))
    sim.advance(100)
    assert sim.state.q[sim.robot.joint_place("h_2")[1]] == pytest.approx(at + 0.003, abs=1e-14)


def test_a_joint_that_follows_measurements_is_caught_by_a_rope_too():
    """The shoulder follows an encoder of 100 Hz, the lower rod jerks at its rope: it stays on its way, the balance
    closes with the work of the drive, in the impacts too."""
    options = dict(gravity=(0, 0, -9.81), step=5e-3, integrator="dop853", work_of_inputs=True)
    sim = rbt.Simulation(swing(restitution=0.4), **options)
    sim.set_hinge("shoulder", -0.8)
    sim.prescribe("shoulder", rbt.Measured(delay=0.01))
    for k in range(100):
        t = 0.01 * k
        sim.command(rbt.Measurement(("shoulder",), (-0.8 + np.sin(2 * t) ** 2,), (2 * np.sin(4 * t),)))
        sim.advance(2)
    sample = sim.sample()
    assert any(event.speed > 0.1 for event in sim.events)
    assert sample.q[0] == pytest.approx(-0.8 + np.sin(2 * 0.99) ** 2, abs=1e-12)
    assert abs(sample.conservation.energy) < 1e-9
