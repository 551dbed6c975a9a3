"""Three rods in closed form: against the reference, the engine, the area rule, and segments that intersect."""

import json
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.modular import paths, planar, turns

PLANAR = json.loads((Path(__file__).parents[1] / "reference" / "r4_planar.json").read_text(encoding="utf-8"))
RODS = planar.of_rods(rbt.modular.rods())


def test_closed_form_and_area_rule():
    """All rectangles of r4: closed form and integral of the curl, 1e-12."""
    table = {k: v[0] for k, v in PLANAR['rectangular manoeuvre map key "psi1_deg,psi2_deg" -> [rad, deg]'].items()}
    for key, angle in (table | {k: v["dtheta_rad"] for k, v in PLANAR["special"].items()}).items():
        p, q = np.radians([float(degrees) for degrees in key.split(",")])
        assert planar.rectangle_turn(RODS, p, q) == pytest.approx(angle, abs=1e-12), key
        assert planar.area_turn(RODS, p, q) == pytest.approx(angle, abs=1e-12), key


def test_unequal_rods_turn_as_in_the_engine():
    """Any lengths and masses: H from geometry, the turn by the engine's mass matrix."""
    robot = rbt.modular.rods((1.0, 2.5, 0.7), (2.0, 0.5, 1.5))
    for path in (paths.rectangle(2.0, -1.3), paths.ellipse((1.0, 0.6), tilt=0.5)):
        engine = turns.net_turn(robot, path)
        points = path.at(np.linspace(0, len(path.pieces), 4 * 400 + 1))[0]
        turn = planar.path_turn(planar.of_rods(robot), points)
        assert engine.angle * engine.axis[2] == pytest.approx(turn, abs=1e-5 if path.smooth else 1e-11)


def test_a_leg_may_go_round():
    """Over several turns the arc tangent is counted on: a full turn four times is four full turns."""
    once = planar.leg(RODS, 1, 0.3, 0.3 + 2 * np.pi, 0.7)
    assert planar.leg(RODS, 1, 0.3, 0.3 + 8 * np.pi, 0.7) == pytest.approx(4 * once, abs=1e-12)


def test_forced_response():
    """Torques on both hinges of the three rods: r4 within 1e-9."""
    data = PLANAR["dynamics"]
    theta, psi1, psi2, *rates = data["initial [theta_a,psi1,psi2,rates]"]
    sim = rbt.Simulation(rbt.modular.rods(), step=0.02, integrator="dop853")
    sim.set_body("a", euler=("ZYX", theta, 0, 0), omega_body=(0, 0, rates[0]))
    sim.set_hinge("psi1", psi1, rate=rates[1])
    sim.set_hinge("psi2", psi2, rate=rates[2])
    sim.add_input(rbt.Effort("psi1", (1.0,)), signal=rbt.sines([(0.3, 1.1, 0.0)]))
    sim.add_input(rbt.Effort("psi2", (1.0,)), signal=rbt.sines([(-0.2, 0.7, np.pi / 2)]))
    for state in data["states"]:
        sim.advance(round(state["t"] / 0.02) - sim.tick)
        assert sim.state.q[7:] == pytest.approx(np.array(state["theta_a,psi1,psi2"][1:]), abs=1e-9)


@pytest.mark.parametrize("locked", ["0", "60", "90", "120", "150", "180"])
def test_fit_is_near_but_no_law(locked):
    """Eq. 4.4: the values of the exact curve are r4's; no b1 to b5 come nearer than some tenths of a degree."""
    data = PLANAR["Eq 4.4 is a fit, not a law: f_h with psi2 locked (deg)"][locked]
    at = np.radians([-180, -90, 90, 180])
    exact = planar.leg(RODS, 1, np.zeros(4), at, np.full(4, np.radians(float(locked))))
    assert np.degrees(exact) == pytest.approx(data["theta_a(psi1) deg at psi1=-180,-90,90,180"], abs=1e-10)
    error = np.degrees(planar.fit(RODS, np.radians(float(locked))).error)
    assert 0.1 < error < 1.1 * data["max fit error deg"]


DOMAINS = PLANAR["collision domain (rods a and c), lengths La:Lb:Lc"]


@pytest.mark.parametrize("ratio", DOMAINS)
def test_collision_domain(ratio):
    """The reference's grid exactly, edges included; its area within a cell of the outline."""
    lengths = [float(l) for l in ratio.split(":")]
    grid = np.arange(0, 181, 15)
    hit = planar.collide(lengths, np.radians(grid)[:, None], np.radians(grid)[None, :])
    listed = next(v for k, v in DOMAINS[ratio].items() if k.startswith("colliding"))
    assert np.argwhere(hit).tolist() == [[p // 15, q // 15] for p, q in listed]
    fine = np.radians(np.arange(-179.75, 180, 0.5))
    area = 0.25 * planar.collide(lengths, fine[:, None], fine[None, :]).sum()
    assert area == pytest.approx(DOMAINS[ratio]["area_deg2_both_signs"], abs=30.0)


@pytest.mark.parametrize("ratio", DOMAINS)
def test_collision_is_that_two_segments_intersect(ratio):
    """4000 random shapes: the closed form and the test of orientations (Cormen, ch. 33) never differ."""
    lengths = np.array([float(l) for l in ratio.split(":")])
    psi = np.random.default_rng(7).uniform(-np.pi, np.pi, (4000, 2))

    def direction(angle):
        return np.stack([np.sin(angle), -np.cos(angle)], axis=-1)

    def side(p, q, r):
        d, e = q - p, r - p
        return np.sign(d[:, 0] * e[:, 1] - d[:, 1] * e[:, 0])

    zero = np.zeros(4000)
    b_start = np.zeros((4000, 2))
    a_end = b_start - lengths[0] * direction(zero)
    b_end = lengths[1] * direction(psi[:, 0])
    c_end = b_end + lengths[2] * direction(psi[:, 0] + psi[:, 1])
    crossing = (side(a_end, b_start, b_end) != side(a_end, b_start, c_end)) & (
        side(b_end, c_end, a_end) != side(b_end, c_end, b_start)
    )
    assert np.array_equal(planar.collide(lengths, psi[:, 0], psi[:, 1]), crossing)


def three(second=(0.0, -2.0, 0.0), axis=(0.0, 0.0, 1.0), com=(0.0, -1.0, 0.0), parent="b", products=0.0):
    """Rods of 2 m, as `rods` makes them but for what is given."""
    b = rbt.RobotBuilder("three")
    for name, middle in (("a", (0.0, 0.0, 0.0)), ("b", (0.0, -1.0, 0.0)), ("c", com)):
        tensor = [[0.4, 0.0, products], [0.0, 0.3, 0.0], [products, 0.0, 0.4]]
        b.body(name, mass=1.0, inertia=tensor, com=middle)
    b.hinge("psi1", "revolute", parent="a", child="b", at=(0.0, -1.0, 0.0))
    b.hinge("psi2", "revolute", parent=parent, child="c", at=second, axis=axis)
    return b.build()


PANELS = {"b": ("a", "+y"), "c": ("b", "+y")}


@pytest.mark.parametrize("robot", [three(), rbt.modular.panels(PANELS)], ids=["rods", "panels"])
def test_closed_forms_are_those_of_the_kinematics(robot):
    """What is accepted turns as in the engine, to 1e-11: panels in a row, too, edge to edge along +y."""
    turn = turns.net_turn(robot, paths.rectangle(1.5, 1.2))
    exact = planar.rectangle_turn(planar.of_rods(robot), 1.5, 1.2)
    assert turn.angle * turn.axis[2] == pytest.approx(exact, abs=1e-11)


@pytest.mark.parametrize(
    ("robot", "rule"),
    [
        (rbt.modular.rods((1, 1)), "three rods, hinges psi1 and psi2"),
        (rbt.modular.l_shape(), "hinges about z, "),
        (three(axis=(0.0, 0.0, -1.0)), r"hinges about z, .*'psi2' is revolute on \(0.0, 0.0, -1.0\)"),
        (three(second=(0.3, -2.0, 0.0)), r"rods along y .*; hinge 'psi2' is at \(0.3, -2.0, 0.0\) m"),
        (three(second=(0.0, 2.0, 0.0)), "rods along y .*; the centre of mass of 'b' is at"),
        (three(com=(0.0, 1.0, 0.0)), "rods that go on along y"),
        (three(parent="a"), "rods in a row, each on the one before"),
        (three(products=0.01), "rods with z a principal axis; 'a' has products"),
        (rbt.modular.panels(PANELS, offset=(0.1, 0.0, 0.0)), "rods along y .*; the centre of mass of 'a' is at"),
        (rbt.modular.panels(PANELS, offset={"b": (0.0, 0.2, 0.0)}), "rods along y .*; the centre of mass of 'b' is at"),
        (rbt.modular.panels({"b": ("a", "+y"), "c": ("a", "-y")}), "rods in a row"),
    ],
)
def test_closed_forms_are_for_three_rods(robot, rule):
    with pytest.raises(rbt.ModelError, match=rf"robot '.*': the closed forms are for {rule}.*The kinematics take any"):
        planar.of_rods(robot)
