"""Mechanisms with constraints through the public face: closed forms, trees in other coordinates, starts, bad input."""

import math

import numpy as np
import pytest
from linkages import INERTIA, four_bar, four_bar_angles, off, slider_crank, slider_position
from trees import EPS

import rbt_ros as rbt
from rbt_ros.core.vec import rotation
from rbt_ros.model.attitude import as_quaternion
from rbt_ros.model.scenario import scenario_from_text


def test_four_bar_follows_its_closed_form_for_a_hundred_turns():
    """The crank prescribed at 20 rad/s: positions within 1e-11 rad of the triangles, rates of 20 rad/s within 1e-10;
    what the crank needs is zero on average over a turn, as energy comes back: without gravity, 1e-9 of its peak."""
    omega = 20.0
    sim = rbt.Simulation(four_bar(speed=omega).build(), integrator="rk4")
    sim.set_hinge("b", 0.0)  # not where it belongs: the closure finds its place ...
    sim.set_hinge("d", 2.0)
    with pytest.raises(rbt.ScenarioError, match="start: closure 'loop' does not hold, by"):
        sim.sample()
    sim = rbt.Simulation(four_bar(speed=omega).build(), integrator="rk4")
    phi, gamma, *_ = four_bar_angles(1.2, omega)
    sim.set_hinge("b", phi - 1.2 + 1e-6)  # ... if it is not given to more digits than it has
    with pytest.warns(UserWarning, match="1 of 3 conditions of closure 'loop' follow from the hinges and the"):
        result = sim.run(until=100 * 2 * math.pi / omega, every=0.013)
    theta = 1.2 + omega * result.t
    phi, gamma, phi_dot, gamma_dot = four_bar_angles(theta, omega)
    assert off(result.hinge("a").angle, theta) < 1e-11
    assert off(result.hinge("b").angle, phi - theta) < 1e-11
    assert off(result.hinge("d").angle, gamma) < 1e-11
    assert result.hinge("b").rate == pytest.approx(phi_dot - omega, abs=1e-10)
    assert result.hinge("d").rate == pytest.approx(gamma_dot, abs=1e-10)
    assert result.constraint("loop").residual.max() < 1e-12


def test_effort_of_a_prescribed_crank_returns_its_work():
    """Without gravity the energy is periodic, so the mean effort over a turn of N equal steps is zero (a trapezoid is
    spectrally exact there), and it is dE/dt / ω at each instant: central differences, O(h²)."""
    omega, N = 2.0, 1000
    sim = rbt.Simulation(four_bar(speed=omega).build(), step=0.003, integrator="dop853")
    with pytest.warns(UserWarning, match="closure 'loop'"):
        samples = [sim.sample()]
    for _ in range(4):
        sim.advance(1)
        samples.append(sim.sample())
    E = np.array([s.energy.total for s in samples])
    effort = np.array([s.constraints["a"].effort for s in samples])
    fourth_order = (E[0] - 8 * E[1] + 8 * E[3] - E[4]) / (12 * 0.003)
    assert effort[2] * omega == pytest.approx(fourth_order, rel=1e-7)
    h_ns = round(2 * math.pi / omega / N * 1e9)
    sim = rbt.Simulation(four_bar(speed=2 * math.pi / (N * h_ns * 1e-9)).build(), step=h_ns * 1e-9)
    with pytest.warns(UserWarning, match="closure 'loop'"):
        effort = sim.run(until=N * h_ns * 1e-9).constraint("a").effort
    assert effort[:-1].mean() == pytest.approx(0, abs=1e-9 * np.abs(effort).max())


@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
def test_work_of_a_prescribed_crank_is_booked():
    """With work_of_inputs the energy balance closes though the crank drives: within 1e-10 of the kinetic energy."""
    sim = rbt.Simulation(four_bar(speed=5.0).build(), integrator="dop853", gravity=(0, 0, -9.81), work_of_inputs=True)
    result = sim.run(until=1.0, every=0.1)
    assert np.ptp(result.energy.kinetic) > 1.0
    assert max(abs(s.conservation.energy) for s in result.samples) < 1e-10


@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
def test_ensembles_with_constraints_have_the_bits_of_one():
    many = [rbt.Simulation(four_bar().build(), gravity=(0, 0, -9.81)) for _ in range(3)]
    for sim in many:
        sim.set_hinge("a", 1.2, rate=1.0)
    assert rbt.advance_many(many[:2], 300, threads=2) == [None, None]
    many[2].advance(300)
    assert len({sim.digest() for sim in many}) == 1


@pytest.mark.filterwarnings("ignore:robot 'engine'")
@pytest.mark.parametrize("kind", ["distance", "point", "pin", "revolute"])
def test_slider_crank_follows_its_closed_form(kind):
    """x = r cos θ + √(l² - r² sin² θ), θ = 0.4 + 3 sin 2t: within 1e-11 m, whatever closes it."""
    sim = rbt.Simulation(slider_crank(kind), gravity=(0, 0, -9.81))
    sim.set_hinge("bore", 2.4)  # near where it belongs: the shorter way round is another assembly
    with pytest.raises(rbt.ScenarioError, match="the nearest that do: .*bore 2.4"):
        sim.sample()
    sim = rbt.Simulation(slider_crank(kind), gravity=(0, 0, -9.81))
    theta = 0.4
    sim.set_hinge("bore", slider_position(theta))
    result = sim.run(until=5.0, every=0.01)
    theta = 0.4 + 3 * np.sin(2 * result.t)
    assert result.hinge("bore").position == pytest.approx(slider_position(theta), abs=1e-11)
    assert result.constraint("rod").residual.max() < 1e-12


@pytest.mark.parametrize("kind", ["distance", "pin"])
def test_slider_crank_follows_its_closed_form_for_a_hundred_turns(kind):
    """The crank at 20 rad/s: the slider within 1e-11 m of the formula, the residual below 1e-12, all the way."""
    sim = rbt.Simulation(slider_crank(kind, rbt.polynomial([0.4, 20.0])), gravity=(0, 0, -9.81), integrator="rk4")
    sim.set_hinge("bore", slider_position(0.4))
    result = sim.run(until=100 * 2 * math.pi / 20.0, every=0.013)
    assert np.abs(result.hinge("bore").position - slider_position(0.4 + 20 * result.t)).max() < 1e-11
    assert result.constraint("rod").residual.max() < 1e-12


# ------------------------------------------------------------------------------------------- the same, as a tree
TREES = {"point": "spherical", "revolute": "revolute", "weld": "fixed"}


def arm_and_club(kind=None, hinge=None):
    """An arm on the world and a club at its end: on a hinge, or afloat and closed to it."""
    b = rbt.RobotBuilder("arm")
    b.body("arm", mass=1.0, inertia=INERTIA, com=(0.3, 0.1, 0))
    b.body("club", mass=2.0, inertia=(0.05, 0.06, 0.02), com=(0.1, 0.2, 0.3))
    b.hinge("root", "universal", parent="world", child="arm", axis=(0, 0.6, 0.8), axis2=(1, 0, 0))
    place = {"axis": (0.6, 0, 0.8), "rotation": ("ZYX", 0.3, -0.5, 1.0)}
    if hinge:
        b.hinge("tip", hinge, parent="arm", child="club", at=(0.6, 0, 0.1), **place)
    else:
        # a hinge's axis is given in its own frame, a closure's in body_a: R (0.6, 0, 0.8)
        axis = np.array(rotation(as_quaternion(place["rotation"], ""))) @ place["axis"]
        b.closure("tip", kind, "arm", "club", at_a=(0.6, 0, 0.1), axis=axis, rotation=place["rotation"])
    return b.build()


@pytest.mark.parametrize("kind", TREES)
def test_a_closure_moves_like_the_hinge_it_stands_for(kind):
    """1 s under gravity, DOP853: poses and twists of both bodies agree within 1e-10, of energies of 10 J."""
    tree = rbt.Simulation(arm_and_club(hinge=TREES[kind]), gravity=(0, 0, -9.81), integrator="dop853")
    tree.set_hinge("root", (0.4, -0.3), rate=(1.0, 2.0))
    if kind == "point":
        tree.set_hinge("tip", euler=("ZYX", 0.1, 0.2, 0.3), omega=(1, 2, -1))
    elif kind == "revolute":
        tree.set_hinge("tip", 0.7, rate=3.0)
    start = tree.sample()
    loop = rbt.Simulation(arm_and_club(kind=kind), gravity=(0, 0, -9.81), integrator="dop853")
    loop.set_hinge("root", (0.4, -0.3), rate=(1.0, 2.0))
    i = loop.robot.body_index("club")
    pose, twist = start.pose[tree.robot.body_index("club")], start.twist[tree.robot.body_index("club")]
    R = np.array(rotation(pose[:4]))
    loop.set_body("club", quaternion=pose[:4], position=pose[4:], velocity=twist[3:], omega_body=R.T @ twist[:3])
    tree.advance(1000)
    loop.advance(1000)
    a, b = tree.sample(), loop.sample()
    sign = np.sign(np.dot(a.pose[1, :4], b.pose[i, :4]))
    assert sign * b.pose[i, :4] == pytest.approx(a.pose[1, :4], abs=1e-10)
    assert b.pose[i, 4:] == pytest.approx(a.pose[1, 4:], abs=1e-10)
    assert b.twist[i] == pytest.approx(a.twist[1], abs=1e-9)
    assert b.energy.total == pytest.approx(start.energy.total, abs=1e-10)


def floating_ring():
    """A hub in space with two jointed arms that hold hands."""
    b = rbt.RobotBuilder("ring")
    b.body("hub", mass=5.0, inertia=(0.4, 0.5, 0.6), com=(0.1, 0, 0.2))
    for side, x in (("left", -1.0), ("right", 1.0)):
        b.body(f"{side}_upper", mass=1.0, inertia=INERTIA, com=(0, 0.4, 0))
        b.body(f"{side}_fore", mass=1.0, inertia=INERTIA, com=(0, 0.4, 0.1))
        b.hinge(f"{side}_shoulder", "spherical", parent="hub", child=f"{side}_upper", at=(x, 0, 0), damping=0.0)
        b.hinge(
            f"{side}_elbow", "universal", parent=f"{side}_upper", child=f"{side}_fore", at=(0, 1, 0), axis=(0, 0, 1)
        )
    b.closure("hands", "point", "left_fore", "right_fore", at_a=(0, 1.0, 0), at_b=(0, 1.0, 0))
    return b.build()


def test_a_floating_loop_keeps_energy_and_momentum():
    """5 s of tumbling, DOP853 1 ms: energy within 1e-11 of the kinetic, momenta within 1e-12 of |P| and of |L|."""
    sim = rbt.Simulation(floating_ring(), integrator="dop853")
    sim.set_body("hub", position=(0, 0, 1), velocity=(0.3, 0.2, -0.1), omega_body=(1.0, 0.5, -0.7))
    result = sim.run(until=5.0, every=0.1)
    assert result.body("hub").velocity[0] == pytest.approx((0.3, 0.2, -0.1), abs=4 * EPS)  # what was given stayed
    E, P, L = result.energy.total, result.momentum, result.angular_momentum
    assert np.ptp(E) < 1e-11 * E[0]
    assert np.ptp(P, axis=0).max() < 1e-12 * np.linalg.norm(P[0])
    assert np.ptp(L, axis=0).max() < 1e-12 * np.linalg.norm(L[0])
    assert result.constraint("hands").residual.max() < 1e-12
    assert abs(result.samples[-1].conservation.angular_momentum) < 1e-12


def test_pushing_the_world_keeps_no_momentum():
    b = rbt.RobotBuilder("kite").body("kite", mass=1.0, inertia=INERTIA)
    sim = rbt.Simulation(b.closure("line", "distance", "world", "kite", at_b=(0.1, 0, 0), length=2.0).build())
    sim.set_body("kite", position=(1.9, 0, 0))
    assert math.isnan(sim.sample().conservation.momentum) and sim.sample().conservation.energy == 0.0


# ------------------------------------------------------------------------------------------------------- couplings
def gears():
    """Two flywheels; the second turns twice as fast, backwards."""
    b = rbt.RobotBuilder("gears")
    for name, I in (("slow", 3.0), ("fast", 0.5)):
        b.body(name, mass=1.0, inertia=(I, I, I))
        b.hinge(name, "revolute", parent="world", child=name)
    return b.mimic("fast", "slow", ratio=-2.0, offset=0.3).build()


@pytest.mark.parametrize("integrator", ["semi_implicit", "rk4", "dop853"])
def test_gears_turn_as_one_inertia(integrator):
    """α = τ / (I1 + n² I2) for the slow one; the effort in the mesh, on the fast one, is I2 n α."""
    sim = rbt.Simulation(gears(), integrator=integrator)
    sim.set_hinge("slow", 1.0, rate=0.5)
    assert sim.state.q.tolist() == [1.0, 0.3 - 2.0] and sim.state.v.tolist() == [0.5, -1.0]
    sim.set_effort("slow", 10.0)
    result = sim.run(until=1.0, every=0.1)
    alpha = 10.0 / (3.0 + 4 * 0.5)
    late = 0.5 * alpha * 1e-3 * result.t if integrator == "semi_implicit" else 0.0  # its order is one
    assert result.hinge("slow").angle == pytest.approx(1 + 0.5 * result.t + 0.5 * alpha * result.t**2 + late, abs=1e-13)
    assert result.hinge("fast").angle == pytest.approx(0.3 - 2 * result.hinge("slow").angle, abs=1e-14)
    assert result.hinge("fast").rate == pytest.approx(-2 * result.hinge("slow").rate, abs=1e-14)
    assert result.constraint("fast").effort == pytest.approx(0.5 * -2 * alpha, abs=1e-13)


def test_a_differential_shares_its_torque():
    """left + right = 2 ring: equal efforts on both sides, whatever turns, and minus twice that on the ring."""
    b = rbt.RobotBuilder("axle")
    for name, I in (("left", 1.0), ("right", 2.0), ("ring", 0.5)):
        b.body(name, mass=1.0, inertia=(I, I, I))
        b.hinge(name, "revolute", parent="world", child=name)
    sim = rbt.Simulation(b.couple("differential", {"left": 1, "right": 1, "ring": -2}).build())
    sim.set_effort("ring", 5.0)
    sim.advance(1000)
    left, right, ring = sim.state.v
    assert left + right == pytest.approx(2 * ring, abs=1e-14)
    assert left * 1.0 == pytest.approx(right * 2.0, abs=1e-13)  # I α = λ on both sides
    assert sim.sample().constraints["differential"].effort == pytest.approx(left * 1.0, abs=1e-13)  # after 1 s


URDF = """<robot name="gripper">
  <link name="world"/>
  <link name="left">INERTIAL</link>
  <link name="right">INERTIAL</link>
  <joint name="l" type="prismatic">
    <parent link="world"/><child link="left"/><limit lower="0" upper="1"/>
    <mimic joint="r" multiplier="-0.5" offset="0.1"/>
  </joint>
  <joint name="r" type="continuous"><parent link="world"/><child link="right"/></joint>
</robot>""".replace(
    "INERTIAL",
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>',
)


def test_mimic_of_urdf_is_read_and_written(tmp_path):
    file = tmp_path / "gripper.urdf"
    file.write_text(URDF)
    robot = rbt.load_urdf(file)
    assert '<mimic joint="r" multiplier="-0.5" offset="0.1" />' in rbt.urdf_text(robot)
    file.write_text(rbt.urdf_text(robot))
    ends = []
    for made in (robot, rbt.load_urdf(file)):
        sim = rbt.Simulation(made)
        sim.set_hinge("r", 0.4, rate=1.0)
        sim.set_effort("l", 3.0)
        sim.advance(100)
        ends.append(sim.digest())
        l, r = sim.state.q
        assert l == pytest.approx(-0.5 * r + 0.1, abs=EPS) and r < 0.5
    assert ends[0] == ends[1]


def test_a_table_is_followed_and_left_at_its_last_rate():
    """A prescribed slide through cubic knots: on them exactly, straight on behind them, its effort m a there."""
    b = rbt.RobotBuilder("lift").body("cabin", mass=2.0, inertia=INERTIA)
    b.hinge("rail", "prismatic", parent="world", child="cabin")
    b.prescribe("rail", rbt.table([0, 0.5, 1.0], [0.2, 1.0, 0.5], between="cubic"))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81))
    result = sim.run(until=2.0, every=0.5)
    slope = result.hinge("rail").rate[2]
    assert result.hinge("rail").position == pytest.approx([0.2, 1.0, 0.5, 0.5 + slope / 2, 0.5 + slope], abs=1e-14)
    assert result.constraint("rail").effort[-1] == pytest.approx(2.0 * 9.81, abs=1e-12)


# ----------------------------------------------------------------------------------------------------------- start
@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
def test_start_from_what_is_given():
    """The crank alone is given: it stays, the rest is found; reset returns there; a hinge set later is found again."""
    sim = rbt.Simulation(four_bar().build())
    sim.set_hinge("a", 1.2, rate=2.0)
    start = sim.state
    assert start.q[0] == 1.2 and start.v[0] == 2.0
    assert sim.sample().constraints["loop"].residual < 1e-14
    theta, phi, gamma = 1.2, start.q[0] + start.q[1], start.q[2]  # rates by the law of sines, whichever way it closed
    assert start.v[0] + start.v[1] == pytest.approx(2.0 / 3.0 * np.sin(gamma - theta) / np.sin(phi - gamma), abs=1e-14)
    assert start.v[2] == pytest.approx(2.0 / 2.5 * np.sin(theta - phi) / np.sin(gamma - phi), abs=1e-14)
    sim.advance(10)
    sim.reset()
    assert (sim.state.q == start.q).all() and (sim.state.v == start.v).all()
    sim.advance(10)
    sim.set_hinge("a", 1.5)
    assert sim.state.q[0] == 1.5
    sim.advance(10)
    assert sim.sample().constraints["loop"].residual < 1e-12


@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
def test_starts_that_cannot_be():
    sim = rbt.Simulation(four_bar().build())
    for name, angle in (("a", 1.2), ("b", 0.3), ("d", 2.0)):
        sim.set_hinge(name, angle)
    message = (
        r"start: closure 'loop' does not hold, by [\d.]+; the positions given do not allow it; the nearest that do: a "
    )
    with pytest.raises(rbt.ScenarioError, match=message):
        sim.advance()
    sim = rbt.Simulation(four_bar().build())
    sim.set_hinge("a", 1.2, rate=1.0)
    sim.set_hinge("d", rate=0.0)
    with pytest.raises(rbt.ScenarioError, match="the rates given do not allow it; the nearest that do: a "):
        sim.advance()
    short = four_bar().closure("far", "distance", "world", "crank", at_a=(0, 0, 9), at_b=(1, 0, 0), length=1.0).build()
    with pytest.raises(
        rbt.ScenarioError, match="closure 'far' does not hold, by 8.055; no start near it does: does it"
    ):
        rbt.Simulation(short).sample()


def test_the_nearest_start_tells_balls_and_floating_bodies():
    """A kite on a line of 2 m, set 2.5 m away, or with a velocity along it; two balls whose rods do not meet: what
    could be given instead is said in the words that set it, and is the nearest."""
    b = rbt.RobotBuilder("kite").body("kite", mass=1.0, inertia=INERTIA, com=(0.1, 0, 0))
    robot = b.closure("line", "distance", "world", "kite", length=2.0).build()
    sim = rbt.Simulation(robot)
    sim.set_body("kite", position=(2.5, 0, 0))
    near = r"line' does not hold, by 0.5; .* nearest that do: kite position=\(2, 0, 0\) quaternion=\(1, 0, 0, 0\)\."
    with pytest.raises(rbt.ScenarioError, match=near):
        sim.sample()
    sim.set_body("kite", position=(2.0, 0, 0), velocity=(1, 3, 0))
    near = r"by 1 of its rates; .* nearest that do: kite velocity=\(0, 3, 0\) omega_body=\(0, 0, 0\)\."
    with pytest.raises(rbt.ScenarioError, match=near):
        sim.sample()
    b = rbt.RobotBuilder("pair").body("a", mass=1.0, inertia=INERTIA).body("b", mass=1.0, inertia=INERTIA)
    b.hinge("s", "spherical", parent="world", child="a").hinge(
        "t", "universal", parent="world", child="b", at=(1, 0, 0)
    )
    b.closure("tips", "point", "a", "b", at_a=(0.5, 0.5, 0), at_b=(-0.5, 0.5, 0))
    sim = rbt.Simulation(b.build())
    sim.set_hinge("s", euler=("ZXZ", 0.3, 0.2, 0.1))
    sim.set_hinge("t", (0.0, 0.2))
    with pytest.raises(
        rbt.ScenarioError, match=r"do: s quaternion=\(0.9\d+, .*\), t_1 -?0.\d+, t_2 -?0.\d+\. \d of s, t"
    ):
        sim.sample()


@pytest.mark.parametrize("kind", ["revolute", "weld"])
def test_a_closure_does_not_close_the_wrong_way_round(kind):
    """All conditions of a closure hold half a turn away, too: refused, not taken for closed."""
    b = rbt.RobotBuilder("pair").body("a", mass=1.0, inertia=INERTIA).body("b", mass=1.0, inertia=INERTIA)
    sim = rbt.Simulation(b.closure("joint", kind, "a", "b").build())
    sim.set_body("b", euler=("XYZ", math.pi, 0, 0))
    with pytest.raises(
        rbt.ScenarioError, match="start: closure 'joint' would close with 'b' half a turn round; start n"
    ):
        sim.sample()
    sim.set_body("b", euler=("XYZ", 0, 0, 0))
    assert sim.sample().constraints["joint"].residual == 0.0


def test_redundant_conditions_are_named_and_shared():
    """Two equal rods beside each other: the second distance follows from the first; both pull alike."""
    b = rbt.RobotBuilder("swing").body("bob", mass=2.0, inertia=INERTIA)
    b.hinge("x", "planar", parent="world", child="bob", axis=(0, 1, 0), axis2=(1, 0, 0))
    for name in ("front", "back"):
        b.closure(name, "distance", "world", "bob", at_a=(0, 0, 1), length=1.0)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81))
    with pytest.warns(UserWarning, match="robot 'swing': 1 of 1 conditions of closure 'back' follow from the hinges"):
        forces = sim.sample().constraints
    assert forces["front"].effort == pytest.approx(-9.81, abs=1e-12)
    assert forces["back"].effort == pytest.approx(-9.81, abs=1e-12)
    assert forces["back"].wrench == pytest.approx([0, 0, 0, 0, 0, 9.81], abs=1e-12)


@pytest.mark.filterwarnings("ignore:robot 'arms'")
@pytest.mark.parametrize("integrator", ["rk4", "dop853_adaptive"])
def test_drives_that_come_to_contradict_each_other_are_told(integrator):
    """Two joints geared one to one, one driven by t, one by sin t: the gear follows from the drives, so it has no
    multiplier, and is off by t³/6. The run ends where that is 1e-6, and not with a gear that nobody keeps."""
    b = rbt.RobotBuilder("arms")
    for name in ("left", "right"):
        b.body(name, mass=1.0, inertia=INERTIA).hinge(name, "revolute", parent="world", child=name)
    b.prescribe("left", rbt.polynomial([0, 1])).prescribe("right", rbt.sines([(1.0, 1.0, 0.0)]))
    sim = rbt.Simulation(b.couple("gear", {"left": 1, "right": -1}).build(), integrator=integrator)
    with pytest.raises(
        rbt.SolveError, match="tick 19, t = 0.019 s: the constraints at hinge .* cannot be met any more"
    ):
        sim.run(until=1.0)
    assert sim.tick == 18 and sim.sample().constraints["gear"].residual < 1e-6


def test_forces_are_columns_of_a_table():
    """Efforts of couplings, wrenches of closures; and `rbt info` names both."""
    sim = rbt.Simulation(four_bar(speed=1.0).build())
    with pytest.warns(UserWarning, match="closure 'loop'"):
        result = sim.run(until=0.01)
    table = result.columns()
    assert (table["a.effort [N m or N]"] == result.constraint("a").effort).all()
    assert (table["loop.force_z [N]"] == result.constraint("loop").wrench[:, 5]).all()
    assert [f"{x.kind} {x.name}: {x.among}" for x in sim.robot.constraints] == [
        "point loop: coupler, rocker",
        "prescribe a: a",
    ]


# ------------------------------------------------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda b: b.mimic("a", "a"), "mimic of joint 'a': it mimics itself; name another joint as leader"),
        (
            lambda b: b.mimic("a", "b").mimic("b", "d").mimic("d", "a"),
            "the mimics go in a circle: 'a' mimics 'b', 'b' mimics 'd', 'd' mimics 'a'. One of them must lead; drop a",
        ),
        (
            lambda b: b.mimic("a", "x"),
            "mimic of joint 'a': robot 'four_bar' has no joint 'x' of one axis; it has a, b, d",
        ),
        (lambda b: b.mimic("a", "b", ratio=math.inf), "ratio of mimic of joint 'a': inf is not finite"),
        (
            lambda b: b.mimic("a", "b").mimic("a", "d"),
            r"constraint 'a' exists twice in robot 'four_bar'; .* one thing only",
        ),
        (lambda b: b.couple("c", {}), "coupling 'c': it couples nothing; give joints with factors"),
        (lambda b: b.couple("c", {"a": 1, "y": 2}), "coupling 'c': robot 'four_bar' has no joint 'y'"),
        (
            lambda b: b.prescribe("a", rbt.table([0, 1], [0, 1])),
            "prescribed joint 'a': its motion has jumps in position or",
        ),
        (
            lambda b: b.prescribe("a", rbt.table([0, 1], [0, 1], between="hold")),
            "has jumps .* give rbt.sines, rbt.poly",
        ),
        (lambda b: b.prescribe("z", 0.1), "prescribed joint 'z': robot 'four_bar' has no joint 'z'"),
        (
            lambda b: b.closure("c", "glue", "crank", "rocker"),
            "'glue' is not a kind of closure; use one of point, pin, revolute",
        ),
        (
            lambda b: b.closure("c", "point", "crank", "wheel"),
            "closure 'c': robot 'four_bar' has no body 'wheel'; it has",
        ),
        (lambda b: b.closure("c", "point", "crank", "crank"), "closure 'c': 'crank' and 'crank' are one rigid piece"),
        (
            lambda b: b.hinge("f", "fixed", parent="crank", child="c").closure("e", "weld", "c", "crank"),
            "closure 'e': 'c' and 'crank' are one rigid piece, joined by fixed hinges; nothing is there to close",
        ),
        (
            lambda b: b.closure("c", "distance", "crank", "rocker"),
            "length= goes with the kind distance, and only with it",
        ),
        (lambda b: b.closure("c", "point", "crank", "rocker", length=1), "length= goes with the kind distance"),
        (
            lambda b: b.closure("c", "distance", "crank", "rocker", length=0),
            "length 0 m must be positive; at no distance",
        ),
        (
            lambda b: b.closure("c", "revolute", "crank", "rocker", axis=(0, 0, 0)),
            "axis of closure 'c': .* length zero",
        ),
        (lambda b: b.closure("c d", "point", "crank", "rocker"), "closure name 'c d': use a letter"),
        (lambda b: b.closure("loop", "point", "crank", "rocker"), "constraint 'loop' exists twice in robot 'four_bar'"),
    ],
)
def test_wrong_constraints_say_why(spoil, message):
    b = four_bar().body("c", mass=1.0, inertia=INERTIA)
    with pytest.raises(rbt.ModelError, match=message):
        spoil(b).build()


@pytest.mark.parametrize("integrator", ["exact", "splitting", "lie_euler"])
def test_integrators_that_do_not_end_on_constraints(integrator):
    with pytest.raises(rbt.ScenarioError, match=f"'{integrator}' does not keep the constraints of robot 'four_bar'"):
        rbt.Simulation(four_bar().build(), integrator=integrator)


def test_unknown_constraints_of_a_result():
    result = rbt.Simulation(gears()).run(until=0.001)
    with pytest.raises(rbt.ModelError, match="robot 'gears' has no constraint 'belt'; it has fast"):
        result.constraint("belt")


# ------------------------------------------------------------------------------------------------------------ YAML
SCENARIO = """\
rbt: 1
robot:
  name: four_bar
  bodies:
    crank: {mass: 1, inertia: [0.01, 0.1, 0.1], com: [0.5, 0, 0]}
    coupler: {mass: 1, inertia: [0.01, 0.75, 0.75], com: [1.5, 0, 0]}
    rocker: {mass: 1, inertia: [0.01, 0.5, 0.5], com: [1.25, 0, 0]}
    wheel: {mass: 1, inertia: [0.1, 0.1, 0.1]}
    rack: {mass: 1, inertia: [0.1, 0.1, 0.1]}
  hinges:
    a: {kind: revolute, parent: world, child: crank, axis: [0, -1, 0]}
    b: {kind: revolute, parent: crank, child: coupler, at: [1, 0, 0], axis: [0, -1, 0]}
    d: {kind: revolute, parent: world, child: rocker, at: [3, 0, 0], axis: [0, -1, 0]}
    w: {kind: revolute, parent: world, child: wheel}
    r: {kind: prismatic, parent: world, child: rack}
  constraints:
    loop: {closure: revolute, bodies: [coupler, rocker], at_a: [3, 0, 0], at_b: [2500 mm, 0, 0], axis: [0, -1, 0]}
    a: {prescribe: {polynomial: [1.2, 2]}}
    w: {mimic: a, ratio: 2, offset: 90 deg}
    pinion: {couple: {r: 1, w: -0.05}, offset: 0.01}
"""


@pytest.mark.filterwarnings("ignore:robot 'four_bar'")
def test_constraints_of_a_scenario():
    """The same mechanism from YAML: every constraint holds after 0.1 s."""
    robot = scenario_from_text(SCENARIO).robot
    sim = rbt.Simulation(robot)
    sim.advance(100)
    a, b, d, w, r = sim.state.q
    assert a == pytest.approx(1.4, abs=1e-14) and w == pytest.approx(2.8 + math.pi / 2, abs=1e-14)
    assert r == pytest.approx(0.01 + 0.05 * w, abs=1e-14)
    assert [*sim.sample().constraints] == ["loop", "a", "w", "pinion"]
    assert sim.sample().constraints["loop"].residual < 1e-14


def test_a_scenario_closes_loops_of_a_urdf():
    """The shipped five-body system, half of it tied up: hanging straight it must first be shaken; then it holds."""
    ends = "{closure: distance, bodies: [world, tee], length: 3 m}"
    robot = scenario_from_text(f"rbt: 1\nrobot: {{urdf: five_body.urdf, constraints: {{tie: {ends}}}}}").robot
    assert [x.name for x in robot.constraints] == ["tie"]
    sim = rbt.Simulation(robot, gravity=(0, 0, -9.81))
    sim.advance(10)
    assert sim.sample().constraints["tie"].residual < 1e-14


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "bodies: [coupler, rocker]",
            "bodies: [coupler]",
            r":17: .*loop.bodies: names the two bodies .* not 1: \[coupler",
        ),
        ("closure: revolute", "closure: ball", "closure 'loop': 'ball' is not a kind of closure; use one of point"),
        (
            "{mimic: a, ratio: 2, ",
            "{mimic: a, couple: {a: 1}, ",
            ":19: .*constraints.w: give one of mimic, couple, pres",
        ),
        ("{mimic: a, ", "{mimic: w, ", ":19: .*constraints.w: mimic of joint 'w': it mimics itself"),
        ("offset: 90 deg", "offset: 90 mm", "'90 mm' has the unit 'mm', which is no angle"),
        ("r: 1, w: -0.05", "r: 1, x: -0.05", "coupling 'pinion': robot 'four_bar' has no joint 'x'"),
        ("ratio: 2, ", "speed: 2, ", "unknown key 'speed'; the keys here are mimic, ratio, offset"),
    ],
)
def test_wrong_constraints_of_a_scenario(old, new, message):
    assert old in SCENARIO
    with pytest.raises(rbt.ScenarioError, match=message):
        scenario_from_text(SCENARIO.replace(old, new))
