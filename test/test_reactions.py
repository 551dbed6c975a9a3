"""What hinges transmit: closed forms, Newton and Euler's balance of every body, locks, docks, prescribed joints."""

import json
from pathlib import Path

import numpy as np
import pytest
from test_modes import KINDS, grow, set_going, two_trees
from trees import EPS

import rbt_ros as rbt
from rbt_ros.core.types import NV, JointKind
from rbt_ros.model.attitude import matrices, turn_all
from rbt_ros.model.unilateral import RopeForce
from rbt_ros.studies.plots import reaction_figure

R8 = json.loads((Path(__file__).parent / "reference" / "r8_closed_forms.json").read_text())
G = 9.81


# ------------------------------------------------------------------------------------------------- closed forms
def test_heavy_top_in_steady_precession():
    """r8: its CoM goes round a circle of radius l sin θ at W, held by m g up and m W² l sin θ towards the axis; a ball
    passes no moment. Both rates, 20 eps of what acts (worst seen: 3)."""
    case = R8["heavy_top"]
    p = case["parameters"]
    b = rbt.RobotBuilder("top")
    inertia = (p["I1"] - p["m"] * p["l"] ** 2, p["I1"] - p["m"] * p["l"] ** 2, p["I3"])
    b.body("top", mass=p["m"], inertia=inertia, com=(0, 0, p["l"]))
    b.hinge("tip", "spherical", parent="world", child="top")
    for W, omega in zip(
        case["precession rates slow, fast [rad/s]"],
        case["initial omega_body with body x on the line of nodes"],
        strict=True,
    ):
        sim = rbt.Simulation(b.build(), gravity=(0, 0, -p["g"]))
        sim.set_hinge("tip", quaternion=case["initial q"], omega=omega)
        passed = sim.sample().reactions["tip"]
        lean = sim.sample().com * np.array([1, 1, 0])
        scale = p["m"] * (p["g"] + W * p["omega3"] * p["l"])
        expected = -p["m"] * W**2 * lean + [0, 0, p["m"] * p["g"]]
        assert np.abs(passed.force - expected).max() < 20 * EPS * scale
        assert not passed.moment.any()


def test_pendulum_of_a_rod():
    """About its pivot I θ̈ = -m g c sin θ; the pull is m (g cos θ + c θ̇²) along the rod, m c θ̈ + m g sin θ across."""
    m, c, I = 2.0, 0.5, 0.1 + 2.0 * 0.25
    b = rbt.RobotBuilder("pendulum")
    b.body("rod", mass=m, inertia=(0.1, 0.1, 0.01), com=(0, 0, -c))
    b.hinge("pivot", "revolute", parent="world", child="rod", at=(0, 0, 1), axis=(0, -1, 0))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -G), integrator="dop853")
    sim.set_hinge("pivot", 1.0, rate=0.7)
    result = sim.run(until=0.5, every=0.05)
    theta, rate, passed = result.hinge("pivot").angle, result.hinge("pivot").rate, result.reaction("pivot")
    along = np.array([-np.sin(theta), 0 * theta, np.cos(theta)]).T  # from the CoM to the pivot
    across = np.array([np.cos(theta), 0 * theta, np.sin(theta)]).T  # where θ grows to
    swing = -m * G * c * np.sin(theta) / I
    pull, push = m * (G * np.cos(theta) + c * rate**2), m * (c * swing + G * np.sin(theta))
    assert passed.force == pytest.approx(pull[:, None] * along + push[:, None] * across, abs=30 * EPS * m * G)
    assert np.abs(passed.moment).max() < 30 * EPS * m * G * c  # free to turn, and in its own plane


def test_unbalanced_rotor_shakes_its_bearings():
    """A rotor about z with products of inertia: its bearing carries I ẇ + ω × I ω, across the axis w² of the products
    and along it the motor's effort."""
    I = np.array([[0.3, 0.0, 0.05], [0.0, 0.3, 0.02], [0.05, 0.02, 0.2]])
    b = rbt.RobotBuilder("rotor")
    b.body("rotor", mass=1.0, inertia=I)
    b.hinge("shaft", "revolute", parent="world", child="rotor", at=(1, 2, 3))
    sim = rbt.Simulation(b.build())
    sim.set_hinge("shaft", 0.8, rate=20.0)
    sim.set_effort("shaft", 0.6)
    R, w, wdot = matrices(sim.sample().pose[:, :4])[0], np.array([0, 0, 20.0]), np.array([0, 0, 0.6 / 0.2])
    I_W = R @ I @ R.T
    passed = sim.sample().reactions["shaft"]
    assert passed.moment == pytest.approx(I_W @ wdot + np.cross(w, I_W @ w), abs=20 * EPS * 400 * 0.3)
    assert passed.moment[2] == pytest.approx(0.6, abs=20 * EPS * 400 * 0.3)
    assert not passed.force.any()


def test_bodies_that_float_are_held_by_nothing():
    """Free hinges: exactly zero, or what drags. A fixed hinge in a rigid piece passes what its child needs."""
    b = rbt.RobotBuilder("probe")
    b.body("hub", mass=2.0, inertia=(0.1, 0.2, 0.15), com=(0.2, 0, 0))
    b.body("mast", mass=1.0, inertia=(0.1, 0.1, 0.1), com=(0, 0, 1))
    b.hinge("hub", "free", parent="world", child="hub", damping=0.3)
    b.hinge("root", "fixed", parent="hub", child="mast", at=(0, 1, 0))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -G))
    sim.set_body("hub", omega_body=(1, 2, 3), euler=("ZYX", 1, 2, 3))
    q, passed = sim.sample().pose[:1, :4], sim.sample().reactions
    drag = turn_all(q, np.array([[-0.3, -0.6, -0.9]]))[0]
    assert passed["hub"].moment == pytest.approx(drag, abs=4 * EPS) and not passed["hub"].force.any()
    assert np.abs(passed["root"].force).max() > 1.0  # the centripetal force on the mast


# ----------------------------------------------------------------------------------- the balance of every body
H = 1e-3  # [s]


class Balance:
    """Newton and Euler for every body: what all hinges, docks, closures, ropes, gravity and wrenches exert, against the
    rates of its momentum and spin, by differences of order 4 of the motion around the middle of five samples."""

    def __init__(self, sim, wrenches=()):
        sim.warm_up()
        self.samples = [sim.sample()]
        for _ in range(4):
            sim.advance(round(H / (sim.h_ns * 1e-9)))
            self.samples.append(sim.sample())
        self.result = rbt.Result(sim.robot, self.samples)
        self.robot, self.middle = sim.robot, self.samples[2]
        self.g = np.array(sim._mech.model.world[:3])
        self.docks = {dock.name: dock for dock in sim._mech.modes.docked}
        self.wrenches = wrenches  # (body, force [N] and moment [N·m] about the CoM, world axes) on bodies

    def worst(self):
        """The largest difference over the largest term."""
        force, moment = self._exerted()
        worst, scale = 0.0, 0.0
        for i, body in enumerate(self.robot.bodies):
            motion = self.result.body(body.name)
            R = matrices(motion.quaternion)
            velocity = motion.velocity + np.cross(motion.omega_world, R @ body.com)
            P, L = body.mass * velocity, np.einsum("nij,nj->ni", R @ body.inertia, motion.omega_body)
            worst = max(worst, np.abs(_rate(P) - force[i]).max(), np.abs(_rate(L) - moment[i]).max())
            scale = max(scale, np.abs(force[i]).max(), np.abs(moment[i]).max(), body.mass * np.abs(self.g).max())
        return worst / scale

    def accelerations(self):
        """The largest difference of what a sample tells of accelerations, over the largest of them."""
        told, twists = self.middle.accelerations, np.array([sample.twist for sample in self.samples])
        return np.abs(_rate(twists) - told).max() / np.abs(told).max()

    def _exerted(self):
        """Force (n, 3), and moment about the CoM (n, 3), on all bodies."""
        n, now, robot = len(self.robot.bodies), self.middle, self.robot
        self.force = np.array([body.mass * self.g for body in robot.bodies])
        self.moment = np.zeros((n, 3))
        self.com = np.array([self.result.body(b.name).com[2] for b in robot.bodies])
        for hinge in robot.hinges:
            passed = now.reactions[hinge.name]
            self._pair(hinge.parent, hinge.child, (0, 0, 0), passed.moment, passed.force)
        for name, dock in self.docks.items():
            if name in now.reactions:
                at = (0, 0, 0) if dock.kind == "weld" else dock.at_b
                self._pair(dock.body_a, dock.body_b, at, *now.reactions[name])
        for joint in (*robot.constraints, *robot.ropes):
            told = now.ropes.get(joint.name) or now.constraints[joint.name]
            if isinstance(told, RopeForce) or hasattr(joint, "at_b"):
                self._pair(joint.body_a, joint.body_b, joint.at_b, told.wrench[:3], told.wrench[3:])
        for body, force, moment in self.wrenches:
            self.force[robot.body_index(body)] += force
            self.moment[robot.body_index(body)] += moment
        return self.force, self.moment

    def _pair(self, body_a, body_b, at_b, moment, force):
        """A wrench on body_b at a point of its frame, and the opposite on body_a in the same place."""
        b = self.robot.body_index(body_b)
        q, p = self.middle.pose[b, :4], self.middle.pose[b, 4:]
        point = p + turn_all(q[None], np.array([at_b], dtype=float))[0]
        for body, sign in ((body_b, 1.0), (body_a, -1.0)):
            if body != "world":
                i = self.robot.body_index(body)
                self.force[i] += sign * force
                self.moment[i] += sign * (moment + np.cross(point - self.com[i], force))


def _rate(x):
    return (x[0] - 8 * x[1] + 8 * x[3] - x[4]) / (12 * H)


BALANCED = 3e-9  # h⁴/30 of the fifth derivative, at rates of some rad/s (worst seen: 4e-10)


def tied_tree(seed, **ties):
    """A floating tree and a base that stands, of hinges of all kinds, placed; ties: what closes it, see below."""
    rng = np.random.default_rng(seed)
    b = grow(
        rbt.RobotBuilder("tree"), rng, "a", 7, (*KINDS, "fixed"), stiffness=0.5, damping=0.1, friction=0.05, creep=0.5
    )
    b.body("base", mass=1.0, inertia=(0.2, 0.2, 0.3), com=(0.1, 0, 0))
    b.hinge("stand", "universal", parent="world", child="base", at=(0, 0, 2), axis=(1, 0, 0), axis2=(0, 1, 0))
    if ties:
        b.closure("strut", "distance", "a3", "a6", at_a=(0.1, 0, 0), at_b=(0, 0.2, 0), length=ties["strut"])
        b.rope("tether", "base", "a1", at_b=(0.1, 0, 0), length=ties["tether"] + 0.01)
    sim = rbt.Simulation(b.build(), gravity=(1.0, 0, -9.0), integrator="dop853")
    for hinge in sim.robot.hinges:
        if hinge.kind == JointKind.SPHERICAL:
            sim.set_hinge(hinge.name, euler=("ZYX", *rng.uniform(-1, 1, 3)))
        elif hinge.kind == JointKind.FREE:
            sim.set_body(hinge.child, velocity=(0, 0, -1), omega_body=rng.uniform(-1, 1, 3))
        elif hinge.joint_names:
            sim.set_hinge(hinge.name, rng.uniform(-0.7, 0.7, len(hinge.joint_names)))
            sim.set_effort(hinge.name, rng.uniform(-1, 1, len(hinge.joint_names)))
    return sim


def apart(sample, robot, a, at_a, b, at_b):
    """The distance of two points."""
    rows = [robot.body_index(a), robot.body_index(b)]
    points = sample.pose[rows, 4:] + turn_all(sample.pose[rows, :4], np.array([at_a, at_b]))
    return np.linalg.norm(points[1] - points[0])


@pytest.mark.parametrize("seed", range(6))
def test_every_body_of_a_random_tree_is_in_balance(seed):
    """Hinges of all kinds with springs, dampers and friction, efforts, gravity, a wrench, a closure, a rope that has
    gone taut; in every second tree two hinges are locked then."""
    sim = tied_tree(seed)
    start, robot = sim.sample(), sim.robot
    strut = apart(start, robot, "a3", (0.1, 0, 0), "a6", (0, 0.2, 0))
    sim = tied_tree(seed, strut=strut, tether=apart(start, robot, "base", (0, 0, 0), "a1", (0.1, 0, 0)))
    force, moment = np.array([0.3, -0.5, 0.8]), np.array([0.2, 0.7, -0.4])
    sim.add_input(rbt.Wrench("a4", tuple(force), tuple(moment), "world", "com"))
    while not sim.sample().ropes["tether"].taut:
        sim.advance()
        assert sim.t_ns < 1_000_000_000
    if seed % 2:
        inner = [h for h in robot.hinges if h.kind != JointKind.FREE and h.name != "stand"]
        sim.lock("stand", max(inner, key=lambda h: NV[h.kind]).name)
    balance = Balance(sim, [("a4", force, moment)])
    assert (balance.middle.ropes["tether"].taut or seed % 2) and balance.middle.constraints["strut"].effort != 0.0
    assert balance.worst() < BALANCED and balance.accelerations() < BALANCED


# ------------------------------------------------------------------------------------- locks, docks, prescribed joints
@pytest.mark.parametrize("seed", range(4))
def test_locked_hinges_carry_what_their_child_needs(seed):
    """In flight, with springs, hinges of all kinds locked: the balance of every body holds by what locks are told to
    transmit, though they are not in the tree any more."""
    rng = np.random.default_rng(seed)
    b = grow(rbt.RobotBuilder("tree"), rng, "a", 7, stiffness=0.5, damping=0.1)
    sim = set_going(rbt.Simulation(b.build(), gravity=(0, 0, -3.0), integrator="dop853"), rng)
    hinges = [h.name for h in sim.robot.hinges if h.kind != JointKind.FREE]
    sim.lock(*rng.permutation(hinges)[:4])
    sim.advance(7)
    balance = Balance(sim)
    assert balance.worst() < BALANCED and balance.accelerations() < BALANCED
    assert np.abs(sim.sample().reactions[sim.locked[0]].force).max() > 0.01


@pytest.mark.parametrize("kind", ["weld", "revolute", "point"])
@pytest.mark.parametrize("seed", range(2))
def test_docks_carry_the_tree_that_they_turned_round(kind, seed):
    """Two chains docked end to end, the second one hangs the other way round now, a hinge on the way is locked: hinges
    transmit from the parent to the child that the user knows; the dock transmits from body_a to body_b."""
    rng = np.random.default_rng(seed)
    sim = two_trees(seed)
    sim.dock("a3", "b2", kind, at=(0.1, 0.2, 0.3), axis=(1, 2, 3), name="grip")
    sim.lock("hb1")
    assert len(sim._mech.now.carried) == 1
    sim.set_effort("hb2", rng.uniform(-1, 1, len(sim.robot.hinges[sim.robot.hinge_index("hb2")].joint_names)))
    sim.advance(3)
    balance = Balance(sim)
    assert balance.worst() < BALANCED and balance.accelerations() < BALANCED
    reactions = balance.middle.reactions
    assert set(reactions) == {h.name for h in sim.robot.hinges} | {"grip"}
    carried = sim.robot.hinges[sim.robot.free_bodies[1]].name
    assert not reactions[carried].force.any() and not reactions[carried].moment.any()


def crank():
    """A crank that is prescribed, with a spring, and a rod on it, under gravity."""
    b = rbt.RobotBuilder("crank")
    b.body("crank", mass=1.0, inertia=(0.01, 0.1, 0.1), com=(0.5, 0, 0))
    b.body("rod", mass=2.0, inertia=(0.02, 0.4, 0.4), com=(1.0, 0, 0))
    b.hinge("main", "revolute", parent="world", child="crank", axis=(0, -1, 0), stiffness=3.0, damping=0.2)
    b.hinge("pin", "revolute", parent="crank", child="rod", at=(1, 0, 0), axis=(0, -1, 0), damping=0.1)
    return b


def test_motor_of_a_prescribed_hinge_is_its_reaction_along_its_axis():
    """Less what spring and damper do, which act there too. And a rod that is locked bends its pin by what a prescribed
    one needs to stand still: two formulations, 1e-12."""
    b = crank()
    b.prescribe("main", rbt.sines([(0.7, 5.0, 0.3)]))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -G), integrator="dop853")
    sim.set_hinge("pin", 0.4)
    result = sim.run(until=0.5, every=0.05)
    motion, axis = result.hinge("main"), np.array([0, -1.0, 0])
    whole = result.constraint("main").effort - 3.0 * motion.angle - 0.2 * motion.rate
    scale = np.abs(result.reaction("main").moment).max()
    assert result.reaction("main").moment @ axis == pytest.approx(whole, abs=1e-13 * scale)
    assert result.reaction("pin").moment @ axis == pytest.approx(-0.1 * result.hinge("pin").rate, abs=1e-13 * scale)
    locked, driven = (rbt.Simulation(crank().build(), gravity=(0, 0, -G), integrator="dop853") for _ in range(2))
    locked.lock("pin")
    driven.prescribe("pin", 0.0)
    found = []
    for one in (locked, driven):
        one.advance(100)
        found.append(np.array([one.sample().reactions[name] for name in ("main", "pin")]))
    assert found[0] == pytest.approx(found[1], abs=1e-12 * np.abs(found[0]).max())
    effort = driven.sample().constraints["pin"].effort
    assert found[0][1, 0] @ axis == pytest.approx(effort, abs=1e-12 * np.abs(found[0]).max())


def test_what_has_no_freedom_left_stands_on_its_hinges():
    """All locked, under gravity: 3 kg with 4.5 kg·m of moment on the first hinge, 2 kg with 2 kg·m on the second."""
    sim = rbt.Simulation(crank().build(), gravity=(0, 0, -10.0))
    sim.lock("main", "pin")
    sim.advance(2)
    for name, mass, moment in (("main", 3.0, 4.5), ("pin", 2.0, 2.0)):
        passed = sim.sample().reactions[name]
        assert passed.force == pytest.approx([0, 0, 10 * mass], abs=1e-13)
        assert passed.moment == pytest.approx([0, -10 * moment, 0], abs=1e-13)


def test_a_stop_bears_on_its_hinge():
    """A rod that rests on its stop: the hinge passes the stop's effort, and its weight."""
    b = rbt.RobotBuilder("flap")
    b.body("flap", mass=2.0, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0))
    b.hinge("pin", "revolute", parent="world", child="flap", axis=(0, -1, 0), limits=(0, 1), stop_restitution=0)
    sample = rbt.Simulation(b.build(), gravity=(0, 0, -10.0)).sample()
    assert sample.stops["pin"].effort == pytest.approx(10.0, rel=1e-13)
    assert sample.reactions["pin"].moment == pytest.approx([0, -10.0, 0], abs=1e-13)
    assert sample.reactions["pin"].force == pytest.approx([0, 0, 20.0], abs=1e-13)


# ----------------------------------------------------------------------------------------------- samples and results
def test_reactions_are_those_of_the_sample_whenever_they_are_read():
    """Read at once, or when time, inputs and modes have long changed: the same bits; and reading changes none."""
    now, later = two_trees(3), two_trees(3)
    samples, read = [], []
    for k in range(6):
        for sim in (now, later):
            sim.set_effort("ha1", np.full(len(sim.robot.hinges[1].joint_names), 0.1 * k))
            if k == 2:
                sim.lock("hb1", "ha2")
            if k == 4:
                sim.dock("a3", "b3", name="grip")
                sim.unlock("hb1")
            sim.advance(5)
        read.append({name: np.array(force) for name, force in now.sample().reactions.items()})
        samples.append(later.sample())
    for sample, found in zip(samples, read, strict=True):
        assert list(sample.reactions) == list(found)
        assert all((np.array(sample.reactions[name]) == force).all() for name, force in found.items())
    assert now.digest() == later.digest()
    result = rbt.Result(later.robot, samples)
    assert np.isnan(result.reaction("grip").force).all(axis=1).tolist() == [True] * 4 + [False] * 2


def test_reactions_of_what_followed_measurements_stay_those_of_their_time():
    """Measurements write the motion of their joint anew; a sample of before keeps the one it was taken with."""
    read, samples = [], []
    for _ in range(2):
        sim = rbt.Simulation(crank().build(), gravity=(0, 0, -G))
        sim.prescribe("main", rbt.Measured(delay=0.01))
        for k in range(8):
            sim.command(rbt.Measurement(("main",), (0.002 * k * k,)))
            sim.advance(5)
            samples.append(sim.sample())
            read += [samples[-1].reactions["main"].moment.copy()] if len(samples) <= 8 else []
    assert all((s.reactions["main"].moment == moment).all() for s, moment in zip(samples[8:], read, strict=True))
    assert np.ptp([moment[1] for moment in read]) > 0.1


def test_results_tell_reactions_by_name_and_in_columns(tmp_path):
    sim = rbt.Simulation(crank().build(), gravity=(0, 0, -G))
    result = sim.run(until=0.02, every=0.01)
    passed = result.reaction("pin")
    assert passed.moment.shape == passed.force.shape == (3, 3)
    table = result.columns(reactions=True)
    assert (table["pin.reaction_force_z [N]"] == passed.force[:, 2]).all()
    assert (table["main.reaction_moment_y [N m]"] == result.reaction("main").moment[:, 1]).all()
    assert not any("reaction" in name for name in result.columns())
    result.to_csv(tmp_path / "crank.csv", reactions=True)
    head = (tmp_path / "crank.csv").read_text().splitlines()[0].split(",")
    assert head == list(table)
    figure = reaction_figure(result, tmp_path / "crank.png")
    assert (tmp_path / "crank.png").stat().st_size > 10_000
    assert [ax.get_ylabel() for ax in figure.axes] == ["main [N]", "main [N·m]", "pin [N]", "pin [N·m]"]
    assert (figure.axes[2].lines[2].get_ydata() == passed.force[:, 2]).all()


def test_a_sample_without_a_simulation_knows_no_accelerations():
    sample = rbt.Simulation(crank().build()).sample()._replace(reactions={})
    with pytest.raises(rbt.ScenarioError, match="accelerations: this sample was not taken of a simulation"):
        sample.accelerations  # noqa: B018


def test_unknown_hinges_are_refused_by_name():
    result = rbt.Simulation(crank().build()).run(until=0.001)
    with pytest.raises(rbt.ModelError, match="robot 'crank' has no hinge 'pim'; it has main, pin"):
        result.reaction("pim")
    with pytest.raises(rbt.ModelError, match="has no hinge 'pim'; it has main, pin"):
        reaction_figure(result, hinges=["pim"])
    alone = rbt.load("cubesat").simulation().run(until=0.001)
    with pytest.raises(rbt.ModelError, match="robot 'cubesat' has free hinges only, which transmit nothing"):
        reaction_figure(alone)
