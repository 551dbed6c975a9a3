"""Turns by folding: the tables of the reference, the laws of the connection, full dynamics with locks."""

import json
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.connection import NODES
from rbt_ros.model.attitude import turn_all
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings
from rbt_ros.modular import flights, maps, paths, turns

REFERENCE = Path(__file__).parents[1] / "reference"
PLANAR = json.loads((REFERENCE / "r4_planar.json").read_text(encoding="utf-8"))
PANELS = json.loads((REFERENCE / "r5_lshape.json").read_text(encoding="utf-8"))
TABLE = PLANAR['rectangular manoeuvre map key "psi1_deg,psi2_deg" -> [rad, deg]']
INERTIA = {"thin_panel": "thin", "eq3_2": "equal"}


def corners(key):
    """psi1, psi2 [rad] from "30,60" [deg]."""
    return np.radians([float(degrees) for degrees in key.split(",")])


def apart(a, b):
    """Largest component of the difference of two attitudes."""
    return np.abs(a * np.sign(a @ b) - b).max()


def test_planar_map():
    """36 rectangles of three rods within 1e-9 rad of the closed form (measured 3e-12)."""
    grid = np.radians([30, 60, 90, 120, 150, 180])
    found = maps.turn_map(rbt.modular.rods(), grid, grid).about_z
    for key, (angle, _) in TABLE.items():
        i, j = (round(degrees) // 30 - 1 for degrees in np.degrees(corners(key)))
        assert found[i, j] == pytest.approx(angle, abs=1e-9), key


@pytest.mark.parametrize("variant", INERTIA)
def test_map_of_the_l_shape(variant):
    """64 rectangles: angle 1e-8 rad, axis 1e-7 of the reference; efficiency (measured 3e-12, 1e-11)."""
    grid = np.radians([-180, -135, -90, -45, 45, 90, 135, 180])
    found = maps.turn_map(rbt.modular.l_shape(inertia=INERTIA[variant]), grid, grid)
    for key, right in PANELS[variant]['map "psi1_deg,psi2_deg"'].items():
        i, j = (int(np.argmin(np.abs(grid - angle))) for angle in corners(key))
        assert found.angle[i, j] == pytest.approx(np.radians(right["angle_deg"]), abs=1e-8), key
        assert found.axis[i, j] == pytest.approx(np.array(right["axis"]), abs=1e-7), key
        assert found.efficiency[i, j] == pytest.approx(right["eff"], abs=1e-8), key


def test_steps_are_of_order_six():
    """Half the step: 64 times less error, until round-off."""
    path = paths.rectangle(2.0, 2.5)
    robot = rbt.modular.l_shape()
    exact = turns.along(robot, path, 128)[-1]
    errors = [apart(turns.along(robot, path, steps)[-1], exact) for steps in (6, 12, 24)]
    assert np.diff(np.log2(errors)) == pytest.approx([-6, -6], abs=0.35)


def test_map_and_path_and_the_way_back():
    """A cell of the map is its rectangle; the other way round is the inverse; the start may be anywhere."""
    robot, (p, q) = rbt.modular.l_shape(), (1.2, -2.1)
    for start in ((0.0, 0.0), (0.3, -0.4)):
        one = turns.net_turn(robot, paths.rectangle(p, q, start=start))
        cell = maps.turn_map(robot, [p, -1.0, 3.0], [2.0, q], start=start)
        assert apart(one.quaternion, cell.quaternion[0, 1]) < 1e-11
        assert one.efficiency == pytest.approx(cell.efficiency[0, 1], abs=1e-11)
        back = turns.net_turn(robot, paths.rectangle(p, q, start=start, first=2))
        other = maps.turn_map(robot, [p], [q], start=start, first=2)
        assert apart(back.quaternion, turns.conjugates(one.quaternion)) < 1e-11
        assert apart(other.quaternion[0, 0], back.quaternion) < 1e-11


def test_groups_of_panels_have_maps_of_their_own():
    """N > 3: with the others locked at zero, rectangles of two hinges of a net are paths of the whole."""
    robot = rbt.modular.cubic_net()
    cell = maps.turn_map(robot, [1.1], [0.7], joints=("psi3", "psi5"), held={"psi1": 0.4})
    path = paths.polygon(
        [(0.4, *c) for c in ((0, 0), (1.1, 0), (1.1, 0.7), (0, 0.7), (0, 0))], ("psi1", "psi3", "psi5")
    )
    assert apart(turns.net_turn(robot, path).quaternion, cell.quaternion[0, 0]) < 1e-11


def test_symmetry_of_the_l_shape():
    """(psi1, psi2) -> (-psi1, -psi2): rotation vector (x, y, z) -> (x, -y, -z)."""
    robot = rbt.modular.l_shape()
    one, other = (turns.net_turn(robot, paths.rectangle(sign, sign * 0.6)) for sign in (1.0, -1.0))
    assert one.angle * one.axis * (1, -1, -1) == pytest.approx(other.angle * other.axis, abs=1e-12)


def test_smooth_paths_need_no_corners():
    """A spline through points of an ellipse turns nearly as the ellipse, which depends on its sense."""
    robot = rbt.modular.rods()
    s = np.linspace(0, 1, 60, endpoint=False)
    round_ = paths.ellipse((1.0, 0.5), tilt=0.3)
    near = turns.net_turn(robot, paths.spline(round_.at(s)[0]))
    turn = turns.net_turn(robot, round_)
    assert near.angle == pytest.approx(turn.angle, rel=1e-5) and apart(near.quaternion, turn.quaternion) < 1e-6
    back = turns.net_turn(robot, paths.ellipse((1.0, 0.5), tilt=0.3, clockwise=False))
    # the other sense leaves the start to the other side: the mirrored ellipse, gone forward
    assert back.angle == pytest.approx(turn.angle, rel=0.5) and back.axis[2] == -turn.axis[2]


def test_a_curve_in_one_piece_is_as_exact_as_its_quarters():
    """Steps of an angle, not of a piece: 1e-10 (measured 2e-11); 32 on the whole ellipse would miss by 4e-9."""
    robot, path = rbt.modular.l_shape(), paths.ellipse((1.2, 0.8), tilt=0.3)
    assert apart(turns.net_turn(robot, path).quaternion, turns.along(robot, path, 512)[-1]) < 1e-10


@pytest.mark.parametrize("kind", paths.PROFILES)
def test_profiles_go_from_rest_to_rest(kind):
    """s from 0 to 1, its derivative that of s, zero at both ends."""
    x = np.linspace(0, 1, 2001)
    s, speed = paths.profile(kind, x)
    assert s[[0, -1]] == pytest.approx([0, 1], abs=1e-15) and speed[[0, -1]] == pytest.approx([0, 0], abs=1e-15)
    slope = np.gradient(s, x)
    assert slope[1:-1] == pytest.approx(speed[1:-1], abs=2e-3)  # half a step of a kink of 4.5 per unit


@pytest.mark.parametrize("robot", [rbt.modular.rods(), rbt.modular.l_shape()], ids=["rods", "l_shape"])
@pytest.mark.parametrize("profile", [None, "minimum_jerk", "trapezoid"])
def test_dynamics_turn_as_the_kinematics_of_the_angles_locked(robot, profile):
    """PD controllers and real locks: within 1e-7 of the path through the corners where it locked (measured 7e-9)."""
    path = paths.rectangle(np.pi, 0.75 * np.pi)
    flight = flights.fly(robot, path, leg=8.0, profile=profile)
    locked = turns.along(robot, paths.polygon(flight.corners, robot.joint_names), 64)[-1]
    assert apart(flight.quaternion, locked) < 1e-7
    assert np.abs(flight.corners - path.corners).max() < 0.05  # PD without integral: a slow pole is left (r5)
    assert flight.momentum < 1e-8


def test_many_fly_as_each_alone():
    """Threads change no bit."""
    robot = rbt.modular.l_shape()
    ways = [paths.rectangle(a, 1.0) for a in (0.5, -1.0, 2.0)]
    alone = [flights.fly(robot, way, leg=3.0).simulation.digest() for way in ways]
    for threads in (1, 3):
        assert [f.simulation.digest() for f in flights.fly_many(robot, ways, leg=3.0, threads=threads)] == alone


def test_pd_step_of_the_thesis():
    """Eq. 3.5, kp = kd = 5, alpha_ba from 0 to 90°, no lock: states of r5 within 1e-8."""
    data = PANELS["PD step of Eq 3.5 kp=kd=5, alpha_ba*: 0->90 deg (thin_panel)"]
    sim = rbt.Simulation(rbt.modular.l_shape(), step=0.005, integrator="dop853")
    sim.command(HingeSettings(tuple(HingeSetting(joint, "position", 5.0, 5.0) for joint in ("psi1", "psi2"))))
    sim.command(HingeCommand(("psi1", "psi2"), (np.pi / 2, 0.0)))
    for state in data["states"]:
        sim.advance(round(state["t"] / 0.005) - sim.tick)
        assert sim.state.q[7:] == pytest.approx(np.array(state["alpha_ba,alpha_cb"]), abs=1e-9)
        assert apart(sim.sample().pose[0, :4], np.array(state["q_a"])) < 1e-9


def test_forced_response_of_the_l_shape():
    """Torques on both hinges, tumbling: r5 within 1e-9."""
    data = PANELS["forced response (thin_panel)"]
    start = data["initial"]
    sim = rbt.Simulation(rbt.modular.l_shape(), step=0.01, integrator="dop853")
    for hinge, angle, rate in zip(("psi1", "psi2"), start["alpha"], start["alpha_rates"], strict=True):
        sim.set_hinge(hinge, angle, rate=rate)
    sim.set_body("a", omega_body=start["omega_a_body"])
    p = sim.sample().momentum  # of a base that does not slide: taken away, as the centre of mass is at rest
    sim.set_body("a", velocity=np.negative(p) / 3.0)
    sim.add_input(rbt.Effort("psi1", (1.0,)), signal=rbt.sines([(0.05, 0.8, 0.0)]))
    sim.add_input(rbt.Effort("psi2", (1.0,)), signal=rbt.sines([(-0.04, 0.5, np.pi / 2)]))
    for state in data["states"]:
        sim.advance(round(state["t"] / 0.01) - sim.tick)
        assert sim.state.q[7:] == pytest.approx(np.array(state["alpha_ba,alpha_cb"]), abs=1e-9)
        assert apart(sim.sample().pose[0, :4], np.array(state["q_a"])) < 1e-9


def test_embedding_agrees_with_the_tree():
    """Three free panels with hinges as constraints (the thesis' formulation, KKT) fold as the tree does."""
    tree = rbt.modular.l_shape()
    b = rbt.RobotBuilder("embedded")
    for body in tree.bodies:
        b.body(body.name, mass=body.mass, inertia=body.inertia, com=body.com)
    for hinge in tree.hinges[1:]:
        b.closure(hinge.name, "revolute", hinge.parent, hinge.child, at_a=hinge.at, axis=hinge.axis)
    sims = [rbt.Simulation(robot, step=0.01, integrator="dop853") for robot in (tree, b.build())]
    sims[0].set_hinge("psi1", 0.4, rate=0.7)
    sims[0].set_hinge("psi2", -0.3, rate=-0.5)
    sims[0].set_body("a", omega_body=(0.3, -0.2, 0.1))
    sample = sims[0].sample()
    for body, pose, twist in zip(tree.bodies, sample.pose, sample.twist, strict=True):
        w_body = turn_all(turns.conjugates(pose[None, :4]), twist[None, :3])[0]
        sims[1].set_body(body.name, position=pose[4:], quaternion=pose[:4], velocity=twist[3:], omega_body=w_body)
    for sim in sims:
        sim.advance(100)
    assert sims[1].sample().pose == pytest.approx(sims[0].sample().pose, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: paths.polygon([(0, 0)]),
            "polygon: corners of shape (1, 2) must be two or more rows of 2 finite angles",
        ),
        (
            lambda: turns.net_turn(None, paths.rectangle(1, 1)),
            "net_turn takes a Robot (RobotBuilder.build, load_urdf, load(...).robot), not None.",
        ),
        (
            lambda: turns.net_turn(rbt.modular.rods(), paths.rectangle(1, 1), steps=0),
            "net_turn: steps 0 must be a whole number of each piece, 1 to 1000000.",
        ),
        (lambda: paths.rectangle(1, 1, first=3), "rectangle: first 3 must be 1 (the thesis' clockwise) or 2."),
        (lambda: paths.profile("bang", np.zeros(1)), "time profile 'bang' is not one of minimum_jerk, trapezoid."),
        (
            lambda: turns.net_turn(rbt.modular.rods(), paths.polygon([(0, 0), (1, 0)])),
            "the path of psi1, psi2 ends at [1.0, 0.0] and starts at [0.0, 0.0]; only a closed one has a net turn.",
        ),
        (
            lambda: maps.turn_map(rbt.modular.rods(), [0.0, np.nan], [1.0]),
            "turn_map: psi1 must be a row of finite angles.",
        ),
        (
            lambda: turns.Folding(rbt.modular.pendulum(2)),
            "robot 'pendulum': one tree that floats is needed, its base a body on no hinge.",
        ),
        (
            lambda: flights.fly(rbt.modular.rods(), paths.rectangle(1, 1), leg=0.001),
            "a leg of 0.001 s must be finite and no shorter than a step of 0.01 s.",
        ),
        (
            lambda: flights.fly(rbt.modular.rods(), paths.rectangle(1, 1), leg=np.nan),
            "a leg of nan s must be finite and no shorter than a step of 0.01 s.",
        ),
        (
            lambda: flights.fly(rbt.modular.rods(), paths.ellipse((1, 1))),
            "a curve is flown by set-points along it, not by its corners alone: give profile='minimum_jerk'",
        ),
        (
            lambda: turns.net_turn(rbt.modular.l_shape(), paths.rectangle(4.0, 1.0)),
            "corner 1 of the path cannot be reached: joint 'psi1' at 4 is beyond its limits -3.14159 and 3.14159.",
        ),
        (
            lambda: turns.net_turn(rbt.modular.l_shape(), paths.ellipse((2.0, 1.0))),
            "the curve cannot be reached: joint 'psi1' at -",
        ),
        (lambda: paths.ellipse((1,)), "axes of an ellipse: [1.0] must be two finite numbers, one for each joint."),
        (lambda: paths.ellipse((1, 1), joints=("psi1",)), "ellipse: joints ('psi1',) must be two: ('psi1', 'psi2')."),
        (lambda: paths.rectangle(1, 1, start=(1,)), "start of a rectangle: [1.0] must be two finite numbers"),
        (
            lambda: paths.trajectory(paths.rectangle(1, 1), 4.0, points=0),
            "trajectory: 0 points on a piece; 1 to 1000000.",
        ),
        (
            lambda: maps.turn_map(rbt.modular.rods(), [1.0], [1.0], joints=("psi1",)),
            "turn_map: joints ('psi1',) must be two, and others than those held.",
        ),
        (
            lambda: maps.turn_map(rbt.modular.rods(), [1.0], [1.0], held={"psi2": 0.5}),
            "turn_map: joints ('psi1', 'psi2') must be two, and others than those held.",
        ),
        (lambda: rbt.modular.rods(5), "lengths: 5 must be a row of two or more numbers."),
        (lambda: rbt.modular.two_arrays(hub=(1, 1)), "hub: (1, 1) must be a row of 3 numbers."),
        (
            lambda: rbt.modular.l_shape(offset=(1, 2)),
            "panels: offset of 'a' [1.0, 2.0] must be three finite numbers [m].",
        ),
        (
            lambda: rbt.modular.l_shape(hinge={"z": "slide"}),
            "panels: hinge names 'z', no panel that has one; such are b, c.",
        ),
        (
            lambda: flights.fly(rbt.modular.l_shape(), paths.rectangle(1.0, -3.5)),
            "corner 2 of the path cannot be reached: joint 'psi2' at -3.5 is beyond its limits -3.14159 and 3.14159.",
        ),
        (
            lambda: flights.fly(rbt.modular.l_shape(hinge="slide"), paths.rectangle(1.5, 0.5)),
            "corner 1 of the path cannot be reached: joint 'psi1' at 1.5 is beyond its limits -1 and 1.",
        ),
        (
            lambda: turns.along(rbt.modular.rods(), paths.rectangle(1, 1, joints=("psi1", "psi7"))),
            "robot 'rods' has no joint 'psi7' of one axis; it has psi1, psi2.",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises(rbt.RbtError) as err:
        call()
    assert str(err.value).startswith(message)


def test_nodes_are_those_of_gauss():
    """Exact for polynomials up to degree five."""
    x, _ = np.polynomial.legendre.leggauss(3)
    assert np.array(NODES) == pytest.approx(0.5 * (x + 1), abs=1e-16)


ODD = (None, -1, "x", [], {}, np.nan, 1e300, 10**400, np.zeros(3), object())
PLAN = rbt.modular.Plan((), np.array([1.0, 0.0, 0.0, 0.0]), np.nan)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: turns.net_turn(x, paths.rectangle(1, 1)),
        lambda x: turns.net_turn(rbt.modular.rods(), x),
        lambda x: turns.net_turn(rbt.modular.rods(), paths.rectangle(1, 1), steps=[x]),
        lambda x: paths.rectangle(1, 1, first=[x]),
        lambda x: paths.rectangle(1, 1, joints=x),
        lambda x: paths.polygon([(0, 0), (1, 1)], joints=[x, x]),
        lambda x: paths.ellipse((1, 1), tilt=[x]),
        lambda x: paths.ellipse((1, 1), clockwise=x),
        lambda x: rbt.modular.l_shape(size=[x]),
        lambda x: rbt.modular.l_shape(inertia=x),
        lambda x: rbt.modular.guard(x),
        lambda x: rbt.modular.Planner(x),
        lambda x: rbt.modular.Planner(rbt.modular.l_shape(), grid=x),
        lambda x: rbt.modular.plan_in_plane(x, 1.0),
        lambda x: rbt.modular.fly_plan(x, PLAN),
        lambda x: rbt.modular.fly_plan(rbt.modular.l_shape(), x),
        lambda x: rbt.modular.fly_plan(rbt.modular.l_shape(), PLAN, kp=[x]),
    ],
)
def test_odd_arguments_are_refused_in_words(call):
    for odd in ODD:
        with pytest.raises(rbt.RbtError):
            call(odd)
