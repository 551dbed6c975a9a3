"""Locks, docks and prescribed joints that come and go while a simulation runs: momenta, energies, names, bad input."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.types import NV, JointKind, V
from rbt_ros.core.work import workspace
from rbt_ros.model.attitude import matrices
from rbt_ros.model.links import relative_pose
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.topics import joint_state_fields

KINDS = ("revolute", "prismatic", "cylindrical", "universal", "spherical", "planar", "screw")
REVERSIBLE = ("revolute", "prismatic", "cylindrical", "universal", "screw")


def grow(b, rng, prefix, n, kinds=KINDS, chain=False, **acts):
    """n bodies, the first afloat, on hinges of random kinds, places and axes."""
    for i in range(n):
        moments = rng.uniform(0.2, 0.3, 3)
        b.body(f"{prefix}{i}", mass=rng.uniform(0.5, 2), inertia=moments, com=rng.uniform(-0.5, 0.5, 3))
        if i == 0:
            continue
        axis, kind = rng.normal(size=3), kinds[rng.integers(len(kinds))]
        b.hinge(
            f"h{prefix}{i}",
            kind,
            parent=f"{prefix}{i - 1 if chain else rng.integers(i)}",
            child=f"{prefix}{i}",
            at=rng.uniform(-0.7, 0.7, 3),
            axis=axis,
            axis2=np.cross(axis, rng.normal(size=3)),
            rotation=("ZYX", *rng.uniform(-1, 1, 3)),
            pitch=0.7 if kind == "screw" else 0.0,
            **acts,
        )
    return b


def set_going(sim, rng, speed=1.0):
    """Any start."""
    for hinge in sim.robot.hinges:
        turn = ("ZYX", *rng.uniform(-1, 1, 3))
        if hinge.kind == JointKind.FREE:
            p, v, w = rng.uniform(-1, 1, (3, 3))
            sim.set_body(hinge.child, position=p, euler=turn, velocity=speed * v, omega_body=speed * w)
        elif hinge.kind == JointKind.SPHERICAL:
            sim.set_hinge(hinge.name, euler=turn, omega=speed * rng.uniform(-1, 1, 3))
        elif hinge.kind != JointKind.FIXED:
            n = NV[hinge.kind]
            sim.set_hinge(hinge.name, rng.uniform(-0.7, 0.7, n), rate=speed * rng.uniform(-1, 1, n))
    return sim


def tree(seed, n, **given):
    """A floating tree under way."""
    rng = np.random.default_rng(seed)
    robot = grow(rbt.RobotBuilder("tree"), rng, "a", n).build()
    return set_going(rbt.Simulation(robot, **{"integrator": "dop853", **given}), rng)


def two_trees(seed, n=4, kinds=REVERSIBLE, **given):
    """Two floating chains under way."""
    rng = np.random.default_rng(seed)
    b = grow(rbt.RobotBuilder("two"), rng, "a", n, kinds, chain=True, stiffness=0.5, damping=0.1)
    robot = grow(b, rng, "b", n, kinds, chain=True, stiffness=0.5, damping=0.1).build()
    return set_going(rbt.Simulation(robot, **{"integrator": "dop853", **given}), rng)


def freedoms(robot, hinge):
    i = robot.hinge_index(hinge)
    v = int(robot.model.tree[i, V])
    return range(v, v + NV[robot.hinges[i].kind])


def momenta(sim):
    s = sim.sample()
    return np.array([s.momentum, s.angular_momentum])


# ------------------------------------------------------------------------------------------------------- locking
@pytest.mark.parametrize("seed", range(6))
def test_a_lock_changes_velocities_least_in_the_measure_of_mass(seed):
    """Against the dense formula v - M⁻¹Gᵀ (G M⁻¹ Gᵀ)⁻¹ G v, G: the locked freedoms. Positions keep their bits; Carnot's
    loss, ½ Δv·M Δv, is the kinetic energy lost to 1e-12 of it, and momenta stay to 1e-14 of their size (eps · 13
    bodies)."""
    rng, sim = np.random.default_rng(seed), tree(seed, 7)
    names = [h.name for h in sim.robot.hinges if h.kind != JointKind.FREE]
    chosen = [str(name) for name in rng.choice(names, 3, replace=False)]
    before, p = sim.sample(), momenta(sim)
    M = np.zeros((sim.robot.freedoms,) * 2)
    mass_matrix(sim.robot.model, before.q, workspace(sim.robot.model), M)
    G = np.eye(sim.robot.freedoms)[[j for name in chosen for j in freedoms(sim.robot, name)]]
    Y = np.linalg.solve(M, G.T)
    right = before.v - Y @ np.linalg.solve(G @ Y, G @ before.v)
    change = sim.lock(*chosen)
    after = sim.sample()
    assert (change.what, set(change.names), change.unchanged) == ("lock", set(chosen), ())
    assert np.array_equal(after.q, before.q)
    assert after.v == pytest.approx(right, abs=1e-13 * np.linalg.cond(M) ** 0.5)
    assert not (G @ after.v).any()
    assert after.energy.kinetic == pytest.approx(before.energy.kinetic - change.energy_lost, rel=1e-14)
    dv = right - before.v
    assert change.energy_lost == pytest.approx(0.5 * dv @ M @ dv, rel=1e-12)
    assert momenta(sim) == pytest.approx(p, abs=1e-14 * np.abs(p).max())


def test_locking_at_once_is_locking_one_after_the_other():
    """Each lock projects the velocities, and what is projected on a part of a space may go by the whole space first; by
    Pythagoras the losses add up."""
    at_once, by_turns = tree(3, 6), tree(3, 6)
    lost = at_once.lock("ha1", "ha4", "ha5").energy_lost
    losses = [by_turns.lock(name).energy_lost for name in ("ha5", "ha1", "ha4")]
    assert by_turns.state.v == pytest.approx(at_once.state.v, abs=1e-13)
    assert sum(losses) == pytest.approx(lost, rel=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_thousand_locks_keep_angular_momentum(seed):
    """Trees of 12 hinges of all kinds, afloat, work counted; 1000 times a random hinge is locked or unlocked, at a
    random instant. Momenta and the energy balance stay to 1e-12 (measured: 8e-15)."""
    sim, rng = tree(10 + seed, 13, work_of_inputs=True, step=5e-3), np.random.default_rng(seed)
    names = [h.name for h in sim.robot.hinges if h.kind != JointKind.FREE]
    sim.sample()
    for _ in range(1000):
        sim.advance(int(rng.integers(1, 4)))
        hinge = names[rng.integers(len(names))]
        sim.unlock(hinge) if hinge in sim.locked else sim.lock(hinge)
    kept = sim.sample().conservation
    assert len(sim.changes) == 1000
    assert kept.angular_momentum < 1e-12 and kept.momentum < 1e-12 * np.abs(momenta(sim)[0]).max()
    assert abs(kept.energy) < 1e-12
    assert kept.since_ns == 0  # counted from the start: no event hides what it loses


def test_a_locked_tree_moves_as_one_built_with_a_fixed_hinge():
    """The same bodies with fixed hinges where the locks are, from the same velocities: the same poses to round-off."""

    def robot(kind, turn=0.0):
        b = rbt.RobotBuilder("arm")
        for name in ("base", "upper", "lower"):
            b.body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0, -0.5))
        b.hinge(
            "shoulder", kind, parent="base", child="upper", at=(0, 0, -1), axis=(0, 1, 0), rotation=("YXZ", turn, 0, 0)
        )
        b.hinge("elbow", "revolute", parent="upper", child="lower", at=(0, 0, -1), axis=(1, 0, 0))
        return b.build()

    sims = []
    for kind in ("revolute", "fixed"):
        sim = rbt.Simulation(robot(kind, 0.6 if kind == "fixed" else 0.0), gravity=(0, 0, -9.81))
        if kind == "revolute":
            sim.set_hinge("shoulder", 0.6)
        sim.set_body("base", omega_body=(0.3, 0.2, 0.1))
        sim.set_hinge("elbow", 0.4, rate=2.0)
        sims.append(sim)
    assert sims[0].lock("shoulder").energy_lost < 1e-30  # it is at rest
    for sim in sims:
        sim.advance(1000)
    assert sims[0].sample().pose == pytest.approx(sims[1].sample().pose, abs=1e-13)


def test_names_samples_and_results_keep_their_full_list():
    """Locked: the position stays, the rate is zero; sizes of everything, and joint_states, stay as they were."""
    sim = tree(1, 6)
    names, first = sim.robot.joint_names, sim.sample()
    sim.add_input(rbt.Lock(("ha2", "ha4")), start=0.02)
    sim.add_input(rbt.Unlock("ha2"), start=0.04)
    result = sim.run(until=0.06, every=0.01)
    places = [j for name in ("ha2", "ha4") for j in freedoms(sim.robot, name)]
    for sample in result.samples:
        assert (sample.q.shape, sample.v.shape, sample.pose.shape) == (first.q.shape, first.v.shape, first.pose.shape)
        fields = joint_state_fields(sim.robot, sample, 0)
        assert fields["name"] == list(names) and len(fields["velocity"]) == len(names)
    locked = result.samples[2:4]
    assert [s.locked for s in result.samples] == [()] * 2 + [("ha2", "ha4")] * 2 + [("ha4",)] * 3
    assert not np.array([s.v[places] for s in locked]).any()
    assert np.array_equal(result.hinge("ha4").position[2:], [result.hinge("ha4").position[2]] * 5)
    assert [(c.t, c.what, c.names) for c in result.changes] == [
        (0.02, "lock", ("ha2", "ha4")),
        (0.04, "unlock", ("ha2",)),
    ]
    assert result.hinge("ha2").rate[5:].any()


def test_planned_changes_are_exact_at_ticks_however_the_run_is_cut():
    """The same bits in one call, in single steps, with looks in between, in threads, and after a reset."""

    def make():
        sim = tree(2, 5)
        sim.lock("ha1")  # part of the start
        for change, start in ((rbt.Lock("ha3"), 0.010), (rbt.Unlock(("ha1", "ha3")), 0.017), (rbt.Lock("ha2"), 0.017)):
            sim.add_input(change, start=start)
        return sim

    digests, sims = [], [make() for _ in range(4)]
    sims[0].advance(30)
    for _ in range(30):
        sims[1].advance()
        sims[1].sample()
    for _ in range(30):
        sims[2].advance()
        digests.append(sims[2].digest())
    assert rbt.advance_many(sims[3:], 30) == [None]
    assert len({sim.digest() for sim in sims}) == 1
    assert sims[0].locked == ("ha2",)
    sims[0].reset()
    assert sims[0].locked == ("ha1",) and [c.t_ns for c in sims[0].changes] == [0]
    again = []
    for _ in range(30):
        sims[0].advance()
        again.append(sims[0].digest())
    assert again == digests
    assert [c.t_ns for c in sims[0].changes] == [c.t_ns for c in sims[1].changes] == [0, 10**7, 17 * 10**6, 17 * 10**6]


def test_warming_up_for_changes_moves_nothing():
    """Kernels run, on copies: the next steps have the same bits."""
    warm, cold = tree(2, 5), tree(2, 5)
    warm.warm_up(changes=True)
    for sim in (warm, cold):
        sim.advance(5)
    assert warm.digest() == cold.digest() and warm.changes == ()


def test_an_effort_on_a_locked_hinge_is_taken_by_the_lock():
    """Constant or driven by a signal, it changes no bit; unlocked, it acts again."""
    pushed, left = tree(4, 5), tree(4, 5)
    hinge, n = "ha2", len(freedoms(pushed.robot, "ha2"))
    pushed.set_effort(hinge, [0.7] * n)
    pushed.add_input(rbt.Effort(hinge, (0.3,) * n), signal=rbt.sines([(1.0, 6.0, 0.0)]))
    for sim in (pushed, left):
        sim.add_input(rbt.Wrench("a3", force=(0, 0, 0.3), frame="world"), signal=rbt.polynomial([1, 1]))
        sim.lock(hinge)
        sim.advance(20)
    assert pushed.digest() == left.digest()
    for sim in (pushed, left):
        sim.unlock(hinge)
        sim.advance(20)
    assert np.abs(pushed.state.v - left.state.v).max() > 1e-4


def test_the_spring_of_a_locked_hinge_keeps_its_energy():
    """Locked at rest, nothing is lost; the spring's energy counts on, and comes back when it is unlocked."""
    b = rbt.RobotBuilder("spring")
    for name in ("hub", "arm"):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0.3, 0, 0))
    b.hinge("h", "revolute", parent="hub", child="arm", stiffness=2.0, rest=0.1)
    sim = rbt.Simulation(b.build())
    sim.set_hinge("h", 1.1)
    energy = sim.sample().energy
    assert energy == (0.0, 1.0)
    sim.lock("h")
    sim.advance(100)
    assert sim.sample().energy == energy
    sim.unlock("h")
    sim.advance(300)
    later = sim.sample()
    assert later.energy.kinetic > 0.1
    assert later.energy.total == pytest.approx(1.0, abs=1e-11)  # RK4 at 1 ms; measured 2e-13


def test_locking_what_is_locked_changes_nothing_and_says_so():
    sim = tree(5, 4)
    sim.lock("ha1")
    digest = sim.digest()
    with pytest.warns(UserWarning, match="t = 0 s: lock 'ha1' changes nothing; it is so already"):
        change = sim.lock("ha1")
    assert (change.names, change.unchanged, change.energy_lost) == ((), ("ha1",), 0.0)
    assert sim.digest() == digest
    with pytest.warns(UserWarning, match="unlock 'ha2' changes nothing"):
        assert sim.unlock("ha2", "ha1") == rbt.ModeChange(0, "unlock", ("ha1",), pytest.approx(0, abs=1e-25), ("ha2",))


def test_the_name_of_a_dock_is_of_two_bodies():
    """Docking the same two again changes nothing; other two by the same name would stay apart unsaid: refused."""
    sim = tree(5, 4)
    sim.dock("a0", "world", name="grip")
    with pytest.warns(UserWarning, match="dock 'grip' changes nothing; it is so already"):
        assert sim.dock("world", "a0", name="grip").unchanged == ("grip",)
    digest = sim.digest()
    with pytest.raises(rbt.ModelError, match="dock 'grip': 'a0' and 'world' are docked by this name .* give another"):
        sim.dock("a1", "world", name="grip")
    assert (len(sim.docked), sim.digest()) == (1, digest)


def test_changes_that_are_none_are_refused():
    sim = tree(5, 4)
    with pytest.raises(rbt.ModelError, match="'lock' is no change of modes; use one of rbt.Lock, Unlock, Dock"):
        sim.change("lock")
    with pytest.raises(rbt.ModelError, match="nothing is docked by the name of None; docks that hold: none"):
        sim.undock(None)
    with pytest.raises(rbt.ModelError, match="has no hinge None; it has"):
        sim.lock(None)


@pytest.mark.parametrize("method", ["projection", "gradient"])
def test_stabilisation_goes_on_with_what_is_left(method):
    """After a lock the angular momentum and the energy that are left are kept: RK4 at 20 ms alone drifts 1e-6, the
    correction holds the momentum to 1e-13 and the energy to what it does without locks."""
    rng = np.random.default_rng(7)
    robot = grow(rbt.RobotBuilder("tree"), rng, "a", 4, ("revolute",)).build()
    drift = {}
    for how in ("none", method):
        sim = set_going(rbt.Simulation(robot, step=0.02, stabilise=how), np.random.default_rng(8))
        sim.advance(10)
        sim.lock("ha2")
        first = sim.sample()
        sim.advance(500)
        last = sim.sample()
        L = np.subtract(last.angular_momentum_com, first.angular_momentum_com)
        drift[how] = np.linalg.norm(L), abs(last.energy.total - first.energy.total)
    assert drift[method][0] < 1e-12 < 1e-9 < drift["none"][0]
    assert drift[method][1] < drift["none"][1] / 10


# ------------------------------------------------------------------------------------------------------- docking
@pytest.mark.parametrize("kind", ["weld", "revolute", "point"])
@pytest.mark.parametrize("seed", range(3))
def test_docking_keeps_momentum_and_undocking_everything(kind, seed):
    """Two chains joined far from their roots, so that one is turned round: momenta to 1e-14 of their size; the docked
    points stay together; when they part, no pose and no twist jumps."""
    sim = two_trees(seed, work_of_inputs=True)
    sim.advance(20)
    p, before, at = momenta(sim), sim.sample(), (0.1, 0.2, 0.3)
    change = sim.dock("a2", "b3", kind, at=at, axis=(1, 2, 3), name="arm")
    docked = sim.sample()
    assert docked.docked == ("arm",) and not docked.constraints  # of the tree: no constraint
    assert docked.pose == pytest.approx(before.pose, abs=1e-14)
    assert docked.q == pytest.approx(before.q, abs=1e-14)
    assert before.energy.total - docked.energy.total == pytest.approx(change.energy_lost, rel=1e-12)
    assert momenta(sim) == pytest.approx(p, abs=1e-14 * np.abs(p).max())
    gap = [relative(sim, at)]
    for _ in range(5):
        sim.advance(20)
        gap.append(relative(sim, at))
    assert np.ptp([g[0] for g in gap], axis=0) == pytest.approx(np.zeros(3), abs=1e-13)
    if kind == "weld":
        assert np.ptp([g[1] for g in gap], axis=0) == pytest.approx(np.zeros((3, 3)), abs=1e-13)
    before = sim.sample()
    sim.undock("arm")
    after = sim.sample()
    assert after.pose == pytest.approx(before.pose, abs=1e-14) and after.twist == pytest.approx(before.twist, abs=1e-13)
    sim.advance(20)
    assert np.abs(relative(sim, at)[0] - gap[0][0]).max() > 1e-6  # they part
    kept = sim.sample().conservation
    assert max(kept.angular_momentum, abs(kept.energy)) < 1e-13


def relative(sim, at):
    """Where the point `at` of a2 is in b3's frame, and the attitude of a2 in b3."""
    a, b = (sim.sample().pose[sim.robot.body_index(name)] for name in ("a2", "b3"))
    R_WA, R_WB = matrices(a[:4]), matrices(b[:4])
    return R_WB.T @ (a[4:] + R_WA @ at - b[4:]), R_WB.T @ R_WA


def push(sim):
    """Wrenches on bodies and efforts on hinges of both chains, constant and not."""
    sim.add_input(
        rbt.Wrench("b1", force=(0.3, 0.2, 0.1), moment=(0.1, 0, 0), at="origin"), signal=rbt.sines([(1, 9, 0)])
    )
    sim.command(rbt.WrenchCommand(rbt.Wrench("a3", force=(0, 0, 1), frame="world"), hold_ns=10**8))
    sim.command(rbt.WrenchCommand(rbt.Wrench("b0", force=(0, 1, 0), at="origin"), hold_ns=2 * 10**8))
    for name in ("ha1", "hb1", "hb2"):
        efforts = 0.1 * np.arange(1, 1 + len(freedoms(sim.robot, name)))
        sim.add_input(rbt.Effort(name, tuple(efforts)), signal=rbt.sines([(1, 7, 1)]))
        sim.set_effort(name, -efforts)


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_turned_round_moves_as_one_held_by_a_weld_closure(seed):
    """Two formulations: the dock as a hinge of a re-rooted tree with springs and dampers, and as multipliers on the two
    trees as they were built: the same velocities after the impact, the same motion (measured 1e-12)."""
    tree_like, rng = two_trees(seed), np.random.default_rng(seed)
    before = tree_like.sample()
    frames = {name: before.pose[tree_like.robot.body_index(name)] for name in ("a2", "b3")}
    q_AB, p_AB = relative_pose(frames, "a2", "b3")
    b_again = grow(rbt.RobotBuilder("two"), rng, "a", 4, REVERSIBLE, chain=True, stiffness=0.5, damping=0.1)
    grow(b_again, rng, "b", 4, REVERSIBLE, chain=True, stiffness=0.5, damping=0.1)
    tree_like.dock("a2", "b3")
    b_again.closure("arm", "weld", "a2", "b3", at_a=p_AB, rotation=q_AB)
    start = tree_like.sample()
    closed = rbt.Simulation(b_again.build(), integrator="dop853")
    closed._mech.motion[:] = (*start.q, *start.v)
    assert closed.sample().v == pytest.approx(start.v, abs=1e-12)  # they keep the closure as they are
    for sim in (tree_like, closed):  # forces find their bodies and freedoms, whatever their order is now
        push(sim)
        sim.advance(300)
    assert closed.sample().pose == pytest.approx(tree_like.sample().pose, abs=1e-11)


def three_trees(seed):
    """Three floating chains under way, with springs."""
    rng = np.random.default_rng(seed)
    b = rbt.RobotBuilder("three")
    for prefix in "abc":
        grow(b, rng, prefix, 4, REVERSIBLE, chain=True, stiffness=0.5)
    return set_going(rbt.Simulation(b.build(), integrator="dop853", work_of_inputs=True, step=2e-3), rng)


@pytest.mark.parametrize("seed", range(4))
def test_a_tree_may_be_turned_round_twice(seed):
    """b hangs on a by its far end, then both on c by b's root: no coordinate jumps, only what is told is lost."""
    sim = three_trees(seed)
    p = momenta(sim)
    for a, b in (("a2", "b3"), ("c1", "b0")):
        before = sim.sample()
        sim.dock(a, b)
        after = sim.sample()
        assert after.q == pytest.approx(before.q, abs=1e-14) and after.pose == pytest.approx(before.pose, abs=1e-14)
        sim.advance(50)
    assert len(sim._mech.now.robot.free_bodies) == 1 and not sim.sample().constraints
    assert momenta(sim) == pytest.approx(p, abs=1e-13 * np.abs(p).max())
    assert abs(sim.sample().conservation.energy) < 1e-13


@pytest.mark.filterwarnings("ignore:.*changes nothing")
@pytest.mark.parametrize("seed", range(3))
def test_locks_and_docks_in_any_order_keep_momentum(seed):
    """150 random locks, unlocks, docks and undocks of three chains, loops included: momenta and the energy balance to
    1e-12 (measured 4e-13: loops are put back after each step), poses go on."""
    sim, rng = three_trees(seed), np.random.default_rng(seed)
    hinges = [h.name for h in sim.robot.hinges if h.kind != JointKind.FREE]
    bodies, refused = [body.name for body in sim.robot.bodies], 0
    for _ in range(150):
        sim.advance(int(rng.integers(1, 4)))
        before, what, hinge = sim.sample(), rng.integers(4), hinges[rng.integers(len(hinges))]
        if what < 2:
            sim.unlock(hinge) if hinge in sim.locked else sim.lock(hinge)
        elif sim.docked and (what == 2 or len(sim.docked) > 2):
            sim.undock(sim.docked[rng.integers(len(sim.docked))])
        else:
            a, b = rng.choice(bodies, 2, replace=False)
            try:
                sim.dock(str(a), str(b), ("weld", "revolute", "point")[rng.integers(3)], at=rng.uniform(-1, 1, 3))
            except rbt.ModelError as err:
                assert "one rigid piece" in str(err)
                refused += 1
        assert sim.sample().pose == pytest.approx(before.pose, abs=1e-9)  # loops are held to 1e-12
    kept = sim.sample().conservation
    assert max(kept.angular_momentum, kept.momentum, abs(kept.energy)) < 1e-12
    assert refused < 30 < len(sim.changes)


def test_a_dock_that_closes_a_loop_is_a_constraint():
    """The second of two docks between the same trees; when the first parts, it becomes a hinge of the tree."""
    sim = two_trees(5, work_of_inputs=True)
    p = momenta(sim)
    sim.dock("a2", "b3", name="first")
    sim.dock("a0", "b0", name="second")
    sim.advance(50)
    force = sim.sample().constraints["second"]
    assert force.residual < 1e-12 and np.abs(force.wrench).max() > 1e-3
    assert momenta(sim) == pytest.approx(p, abs=1e-13 * np.abs(p).max())
    sim.undock("first")
    assert sim.docked == ("second",) and not sim.sample().constraints
    sim.advance(50)
    kept = sim.sample().conservation
    assert max(kept.angular_momentum, abs(kept.energy)) < 1e-12


def test_docking_to_the_world_holds_a_floating_tree():
    """It stays where it is, all its momentum lost, as the world can take any; parted, it floats on from rest."""
    sim = tree(6, 4)
    sim.lock("ha1", "ha2", "ha3")
    place, kinetic = sim.sample().pose, sim.sample().energy.kinetic
    change = sim.dock("world", "a2")
    assert change.energy_lost == pytest.approx(kinetic, rel=1e-13)
    sim.advance(10)
    held = sim.sample()
    assert np.array_equal(held.pose[2], sim.sample().pose[2]) and held.pose == pytest.approx(place, abs=1e-14)
    assert np.isnan(held.conservation.momentum) and not held.twist.any()
    with pytest.raises(rbt.ScenarioError, match="body 'a0' is carried by what it is docked to; undock it"):
        sim.set_body("a0", position=(0, 0, 0))
    sim.undock("world_a2")
    sim.set_body("a0", velocity=(1, 0, 0))
    sim.advance(1000)
    assert sim.sample().com[0] == pytest.approx(held.com[0] + 1.0, abs=1e-12)


def test_bodies_that_are_one_piece_do_not_dock():
    sim = tree(8, 3)
    first, second = (h for h in sim.robot.hinges if h.kind != JointKind.FREE)
    sim.lock(first.name)
    with pytest.raises(rbt.ModelError, match=f"'{first.parent}' and '{first.child}' are one rigid piece now .* Unlock"):
        sim.dock(first.parent, first.child)
    sim.dock(second.parent, second.child, name="stiff")  # a loop of one hinge: as good as a lock
    for i in freedoms(sim.robot, second.name):
        assert abs(sim.state.v[i]) < 1e-12


# --------------------------------------------------------------------------------- constraints and prescribed joints
def linkage():
    """A parallelogram on the world, closed by a ball, and a wheel that mimics its crank."""
    b = rbt.RobotBuilder("linkage")
    for name in ("crank", "coupler", "rocker", "wheel"):
        b.body(name, mass=1.0, inertia=(0.01, 0.1, 0.1), com=(0.5, 0, 0))
    b.hinge("a", "revolute", parent="world", child="crank", axis=(0, -1, 0))
    b.hinge("b", "revolute", parent="crank", child="coupler", at=(1, 0, 0), axis=(0, -1, 0))
    b.hinge("d", "revolute", parent="world", child="rocker", at=(1, 0, 0), axis=(0, -1, 0))
    b.hinge("w", "revolute", parent="world", child="wheel", at=(0, 1, 0))
    b.closure("loop", "point", "coupler", "rocker", at_a=(1, 0, 0), at_b=(1, 0, 0))
    return b.mimic("w", "a", ratio=-2.0).build()


@pytest.mark.filterwarnings("ignore:robot 'linkage'")
@pytest.mark.parametrize("hinge", ["a", "b", "d", "w"])
def test_a_lock_stops_a_linkage_of_one_freedom(hinge):
    """Whichever hinge is locked, all stop, and all of the kinetic energy is lost; unlocked, it falls again."""
    sim = rbt.Simulation(linkage(), gravity=(0, 0, -9.81))
    sim.set_hinge("a", 1.0, rate=2.0)
    sim.set_hinge("b", -1.0)
    sim.advance(10)
    before = sim.sample()
    change = sim.lock(hinge)
    stopped = sim.sample()
    assert change.energy_lost == pytest.approx(before.energy.kinetic, rel=1e-12)
    assert np.abs(stopped.v).max() < 1e-12
    sim.advance(10)
    assert sim.sample().pose == pytest.approx(before.pose, abs=1e-12)
    assert set(sim.sample().constraints) == {"loop", "w"}
    sim.unlock(hinge)
    sim.advance(100)
    fallen = sim.sample()
    assert fallen.energy.kinetic > 0.01 and fallen.constraints["loop"].residual < 1e-12
    assert fallen.energy.total == pytest.approx(stopped.energy.total, abs=1e-9)


@pytest.mark.filterwarnings("ignore:robot 'linkage'")
def test_a_lock_against_a_drive_is_refused_and_changes_nothing():
    sim = rbt.Simulation(linkage())
    sim.set_hinge("a", 1.0)
    sim.set_hinge("b", -1.0)
    sim.sample()
    q = float(sim.state.q[0])
    with pytest.raises(rbt.ScenarioError, match="prescribe 'a' does not allow it: its positions would be off by 0.5"):
        sim.prescribe("a", q + 0.5)
    sim.prescribe("a", rbt.polynomial([q, 2.0]))  # starts with a jump of the rate: a collision with the drive
    sim.advance(10)
    digest = sim.digest()
    with pytest.raises(rbt.ScenarioError, match="does not allow it: its rates would be off by .* must start where"):
        sim.lock("d")
    assert sim.digest() == digest and sim.locked == ()
    sim.lock("a")  # the lock wins
    assert not sim.state.v.any() or np.abs(sim.state.v).max() < 1e-12
    assert sim.sample().constraints["loop"].residual < 1e-12
    with pytest.raises(rbt.ScenarioError, match="prescribe 'a' does not allow it"):
        sim.advance(10)
        sim.unlock("a")  # the drive has gone on meanwhile
    sim.release("a")
    sim.unlock("a")


def test_a_drive_that_starts_with_a_jump_does_the_work_it_must():
    """A wheel of 2 kg·m² taken to 3 rad/s at once: ½ J ω² stays as kinetic energy, as much is lost (Carnot), and the
    drive has done the work J ω². A constant effort τ does τ ω t on the way."""
    b = rbt.RobotBuilder("wheel")
    b.body("wheel", mass=1.0, inertia=(2, 2, 2))
    b.hinge("axle", "revolute", parent="world", child="wheel")
    sim = rbt.Simulation(b.build(), work_of_inputs=True)
    change = sim.prescribe("axle", rbt.polynomial([0, 3.0]))
    assert change.energy_lost == pytest.approx(9.0, rel=1e-14)
    sim.set_effort("axle", 0.5)
    sim.advance(1000)
    sample = sim.sample()
    assert sample.work.dissipated == pytest.approx(9.0) and sample.work.inputs == pytest.approx(18.0)  # drive: -1.5
    assert sample.constraints == {} or sample.constraints["axle"].effort == pytest.approx(-0.5)
    assert sample.conservation.energy == pytest.approx(0.0, abs=1e-13)
    sim.release("axle")
    sim.advance(1000)
    assert sim.state.v[0] == pytest.approx(3.0 + 0.5 / 2.0, rel=1e-12)
    with pytest.warns(UserWarning, match="release 'axle' changes nothing"):
        sim.release("axle")


# ------------------------------------------------------------------------------------------- scenarios and bad input
SCENARIO = """rbt: 1
robot:
  bodies:
    hub: {mass: 2, inertia: [0.2, 0.2, 0.2]}
    arm: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0.5, 0, 0]}
    target: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  hinges:
    elbow: {kind: revolute, parent: hub, child: arm, axis: [0, 1, 0]}
start: {hinges: {elbow: {rate: 1}}, bodies: {target: {position: [3, 0, 0], velocity: [-1, 0, 0]}}}
inputs:
  - {lock: elbow, at: 0.2 s}
  - {dock: [arm, target], kind: revolute, point: [1 m, 0, 0], axis: [0, 0, 1], name: grip, at: 300 ms}
  - {unlock: [elbow], at: 0.4 s}
  - {undock: grip, at: 0.5 s}
  - {prescribe: elbow, motion: {polynomial: [0, 0, 1]}, at: 0.6 s}
  - {release: elbow, at: 0.7 s}
"""


def test_a_scenario_locks_and_docks():
    text = SCENARIO.replace("  - {prescribe: elbow, motion: {polynomial: [0, 0, 1]}, at: 0.6 s}\n", "")
    text = text.replace("  - {release: elbow, at: 0.7 s}\n", "")
    sim = rbt.Simulation.of(scenario_from_text(text))
    sim.advance(600)
    assert [(c.t_ns // 10**6, c.what, c.names) for c in sim.changes] == [
        (200, "lock", ("elbow",)),
        (300, "dock", ("grip",)),
        (400, "unlock", ("elbow",)),
        (500, "undock", ("grip",)),
    ]
    assert sim.sample().conservation.angular_momentum < 1e-13


def test_a_planned_change_that_fails_says_when_and_the_run_can_go_on():
    sim = rbt.Simulation.of(scenario_from_text(SCENARIO))
    with pytest.raises(rbt.SolveError, match="t = 0.6 s: planned Prescribe.*'elbow' does not allow it: its positions"):
        sim.advance(1000)
    assert sim.tick == 600
    with pytest.warns(UserWarning, match="release 'elbow' changes nothing"):
        sim.advance(400)
    assert sim.tick == 1000


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{lock: knee, at: 1 s}", "scenario:11: .*has no hinge 'knee'; it has hub, elbow, target"),
        ("{lock: elbow}", "scenario:11: .*'at' is missing"),
        ("{lock: hub, at: 0 s}", "hinge 'hub' is free: body 'hub' floats. Dock it to the world to hold it"),
        ("{lock: elbow, at: -1 s}", "scenario:11: .*lies before the start"),
        ("{dock: [arm], at: 1 s}", "names the two bodies that are joined, not 1"),
        ("{dock: [arm, arm], at: 1 s}", "it joins 'arm' with itself; name two bodies"),
        ("{dock: [arm, moon], at: 1 s}", "has no body 'moon'"),
        ("{dock: [arm, hub], kind: glue, at: 1 s}", "scenario:11: .*glue.*weld, revolute, point"),
        ("{dock: [arm, hub], name: elbow, at: 1 s}", "a hinge or constraint of robot 'scenario' has that name"),
        ("{prescribe: hub, motion: 1, at: 1 s}", "has no joint 'hub' of one axis; it has elbow"),
        ("{prescribe: elbow, motion: {table: {times: [0, 1], values: [0, 1]}}, at: 1 s}", "its motion has jumps"),
        ("{release: hub, at: 1 s}", "has no joint 'hub' of one axis"),
        ("{at: com}", "or says what changes: lock, unlock, dock, undock, prescribe, release"),
    ],
)
def test_wrong_changes_are_refused_with_their_line(line, text):
    scenario = SCENARIO.replace("{lock: elbow, at: 0.2 s}", line)
    with pytest.raises(rbt.ScenarioError, match=text):
        scenario_from_text(scenario)


def test_what_cannot_be_is_refused_by_name():
    sim = tree(9, 3)
    hinge = next(h.name for h in sim.robot.hinges if h.kind != JointKind.FREE)
    for call, text in (
        (lambda: sim.lock(), "lock: name at least one hinge"),
        (lambda: sim.lock("nowhere"), "has no hinge 'nowhere'"),
        (lambda: sim.undock("nothing"), "nothing is docked by the name of 'nothing'; docks that hold: none"),
        (lambda: sim.dock("a0", "a1", "glue"), "'glue' is not a kind of dock; use one of weld, revolute, point"),
        (lambda: sim.add_input(rbt.Lock(hinge), start=1.0, stop=2.0), "Lock happens at start=; it takes no stop"),
        (lambda: sim.lock(hinge) and sim.set_hinge(hinge), f"hinge '{hinge}' is locked; unlock it before it is set"),
        (lambda: sim.advance(5) or sim.add_input(rbt.Unlock(hinge), start=1e-3), "at 0.001 s: it is 0.005 s already"),
    ):
        with pytest.raises(rbt.RbtError, match=text):
            call()


def test_a_body_with_friction_of_its_own_does_not_dock():
    b = rbt.RobotBuilder("rubbed")
    for name in ("one", "two"):
        b.body(name, mass=1.0, inertia=(1, 1, 1))
    b.hinge("float", "free", parent="world", child="one", damping=0.1)
    b.hinge("drift", "free", parent="world", child="two", damping=0.1)
    sim = rbt.Simulation(b.build())
    with pytest.raises(rbt.ModelError, match="has friction on its free hinge.* cannot be docked"):
        sim.dock("one", "two")


def test_integrators_that_cannot_go_on_refuse_the_change():
    """lie_euler moves one floating body: docked to the world it would hang on it. Refused, and nothing has changed."""
    robot = rbt.RobotBuilder("top").body("top", mass=1.0, inertia=(1, 2, 3)).build()
    sim = rbt.Simulation(robot, integrator="lie_euler")
    with pytest.raises(rbt.ScenarioError, match="'lie_euler' moves one floating body"):
        sim.dock("top", "world")
    assert sim.docked == () and sim.changes == ()


@pytest.mark.parametrize("integrator", ["dop853_adaptive", "dormand_prince"])
def test_modes_change_under_error_control(integrator):
    """Locked, prescribed, released in ticks of 50 ms: a prescribed joint is where it must be, momentum is that of the
    start within 1e-9, for rtol 1e-11."""
    sim = tree(1, 4, integrator=integrator, step=0.05, rtol=1e-11, atol=1e-13)
    joint, before = sim.robot.joint_names[0], momenta(sim)
    at = float(sim.state.q[sim.robot.joint_place(joint)[1]])
    sim.add_input(rbt.Prescribe(joint, rbt.polynomial([at, 0.3])), start=0.0)
    sim.add_input(rbt.Lock("ha1" if not joint.startswith("ha1") else "ha2"), start=0.2)
    sim.add_input(rbt.Release(joint), start=0.4)
    result = sim.run(until=0.6)
    place = sim.robot.joint_place(joint)[1]
    followed = np.array([s.q[place] for s in result.samples[:9]])
    assert followed == pytest.approx(at + 0.3 * result.t[:9], abs=1e-13)
    assert momenta(sim) == pytest.approx(before, abs=1e-9)
