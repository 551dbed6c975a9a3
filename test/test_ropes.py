"""Ropes: the seed's example against its reference, momentum and energy of what floats, many at once, bad input."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.scenario import scenario_from_text

REFERENCE = json.loads((Path(__file__).parent / "reference" / "r6_rope.json").read_text())
CASES = REFERENCE["cases"]


def seed_example(parameters, **options):
    """A mass on a rope in the vertical plane, with friction -f V: r6's x is our x, its y our z."""
    p = parameters
    b = rbt.RobotBuilder("seed")
    b.body("mass", mass=p["m"], inertia=(0.1, 0.1, 0.1))
    plane = dict(parent="world", child="mass", axis=(0, -1, 0), axis2=(1, 0, 0), damping=p["f"])
    b.hinge("plane", "planar", **plane)
    impact = "radial" if p["impact"] == "project" else "stop"
    b.rope("tether", "world", "mass", at_a=(p["XR"][0], 0, p["XR"][1]), length=p["l"], impact=impact)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -p["g"]), **options)
    sim.set_hinge("plane", (*p["X0"], 0), rate=(*p["V0"], 0))
    return sim


@pytest.mark.parametrize("integrator", ["dop853", "dop853_adaptive"])
@pytest.mark.parametrize("name", CASES)
def test_rope_of_the_seed_is_that_of_the_reference(name, integrator):
    """Both impact rules: taut and slack at 1e-10 s (1e-14 measured), states 1e-9 (6e-13), tension 1e-8 N (2e-12)."""
    case = CASES[name]
    sim = seed_example(case["parameters"], integrator=integrator, step=1e-2, rtol=1e-12, atol=1e-14)
    result = sim.run(until=case["parameters"]["tend"])
    expected = [e for e in case["events"] if e["type"] in ("taut", "slack")]
    assert [e.what for e in result.events] == [e["type"] for e in expected]
    for found, e in zip(result.events, expected, strict=True):
        assert found.t == pytest.approx(e["t"], abs=1e-10)
        assert found.energy_lost == pytest.approx(e.get("energy lost", 0.0), abs=1e-9)
        assert found.speed == pytest.approx(e.get("radial velocity lost", 0.0), abs=1e-9)
    tether = result.rope("tether")
    for sample in case["samples"]:
        k = round(sample["t"] / 1e-2)
        assert result.hinge("plane").position[k, :2] == pytest.approx(np.array(sample["X"]), abs=1e-9)
        assert result.hinge("plane").rate[k, :2] == pytest.approx(np.array(sample["V"]), abs=1e-9)
        assert tether.tension[k] == pytest.approx(sample["tension"], abs=1e-8)
        assert tether.taut[k] == (sample["mode"] == "taut")


def test_the_shipped_scenario_is_the_example_with_friction():
    """Tension and place of the reference at its samples, by the steps of the file; the fall against the closed form of
    drag, z'' = -g - f/m z' and so z = (m/f)(g m/f (1 - exp(-f t/m)) - g t): round-off of 212 steps."""
    result, case = rbt.load("rope").simulation().run(until=10.0, every=0.01), CASES["seed_project"]
    assert [e.t for e in result.events] == pytest.approx(
        [e["t"] for e in case["events"] if e["type"] == "taut"], abs=1e-12
    )
    for sample in case["samples"]:
        k = round(sample["t"] / 0.01)
        assert result.hinge("plane").position[k, :2] == pytest.approx(np.array(sample["X"]), abs=1e-9)
        assert result.rope("tether").tension[k] == pytest.approx(sample["tension"], abs=1e-8)
    t, g, f = result.t[:42], 9.81, 0.1
    fall = (g / f * -np.expm1(-f * t) - g * t) / f
    assert np.abs(result.hinge("plane").position[:42, 1] - fall).max() < 1e-13


@pytest.mark.parametrize("name", CASES)
def test_swings_of_the_seed_turn_when_the_reference_says(name):
    """Bottoms and turning points at 1e-10 s: zeros of cubics through samples of 1 ms, whose error in the zero is
    h⁴/384 times the fourth derivative over the slope, 1e-12 s."""
    case, p, h = CASES[name], CASES[name]["parameters"], 1e-3
    result = seed_example(p, integrator="dop853", step=h).run(until=p["tend"])
    r = result.hinge("plane").position[:, :2] - np.array(p["XR"])
    V = result.hinge("plane").rate[:, :2]
    phi = np.arctan2(r[:, 0], -r[:, 1])
    omega = (r[:, 0] * V[:, 1] - r[:, 1] * V[:, 0]) / p["l"] ** 2
    omega_dot = -p["g"] / p["l"] * np.sin(phi) - p["f"] / p["m"] * omega
    for event in case["events"]:
        if event["type"] not in ("bottom", "turning"):
            continue
        k = math.floor(event["t"] / h)
        f, rate = (phi, omega) if event["type"] == "bottom" else (omega, omega_dot)
        a, b = h * rate[k], h * rate[k + 1]
        rise = f[k + 1] - f[k]
        roots = np.roots([a + b - 2 * rise, 3 * rise - 2 * a - b, a, f[k]])
        x = min((z.real for z in roots if abs(z.imag) < 1e-9), key=lambda z: abs(z - (event["t"] / h - k)))
        assert (k + x) * h == pytest.approx(event["t"], abs=1e-10)


def test_order_holds_across_events():
    """Thrown over, slack, taut again: the error at 3 s falls as h⁴ with rk4, h⁸ with dop853, once impacts are inside
    steps. By least squares over three halvings, as where events lie in their steps is chance: half an order."""
    case = CASES["throw_slack"]["parameters"]

    def end(integrator, step):
        sim = seed_example(case, integrator=integrator, step=step)
        sim.advance(round(3.0 / step))
        return np.concatenate([sim.state.q, sim.state.v])

    exact = end("dop853", 2e-3)
    for integrator, steps, order in (("rk4", (2e-2, 1e-2, 5e-3, 2.5e-3), 4), ("dop853", (1e-1, 5e-2, 2.5e-2), 8)):
        errors = [np.abs(end(integrator, step) - exact).max() for step in steps]
        slope = np.polyfit(np.log(steps), np.log(errors), 1)[0]
        assert slope > order - 0.5


def pair(impact="radial", restitution=0.0, **options):
    """Two bodies that float, tied by a rope off their centres of mass."""
    b = rbt.RobotBuilder("pair")
    b.body("a", mass=2.0, inertia=(0.1, 0.2, 0.25))
    b.body("c", mass=1.0, inertia=(0.05, 0.04, 0.06), com=(0.1, 0, 0))
    ends = dict(at_a=(0.2, 0.1, 0), at_b=(0, 0.1, 0.1))
    b.rope("tether", "a", "c", **ends, length=2.0, restitution=restitution, impact=impact)
    sim = rbt.Simulation(b.build(), **{"step": 5e-3, "integrator": "dop853", **options})
    sim.set_body("a", position=(0, 0, 0), velocity=(-0.3, 0.1, 0), omega_body=(1, 2, 3))
    sim.set_body("c", position=(1, 0.2, 0.3), velocity=(1, 0.5, -0.2), omega_body=(-1, 0.3, 2))
    return sim


def distance(result):
    """Between the ends of the tether [m]."""
    a, c = result.body("a"), result.body("c")
    return np.linalg.norm(
        a.position + turned(a.quaternion, (0.2, 0.1, 0)) - c.position - turned(c.quaternion, (0, 0.1, 0.1)), axis=1
    )


def turned(q, p):
    w, u, p = q[:, :1], q[:, 1:], np.broadcast_to(p, (len(q), 3))
    return p + 2 * np.cross(u, np.cross(u, p) + w * p)


@pytest.mark.parametrize(("impact", "restitution"), [("radial", 0.0), ("radial", 0.7), ("radial", 1.0), ("stop", 0.0)])
def test_floating_bodies_keep_their_momenta_through_a_minute_of_impacts(impact, restitution):
    """Taut and slack again and again: impulses are pairs along the rope, so P and L stay to round-off (2e-13 measured,
    of L about the world's origin, 12000 steps; P also where the ends stop dead); energy changes by what impacts book,
    never upwards; the rope holds."""
    sim = pair(impact, restitution)
    result = sim.run(until=60.0, every=0.05)
    assert len(result.events) > 10
    assert np.abs(result.momentum - result.momentum[0]).max() < 1e-12
    assert impact == "stop" or np.abs(result.angular_momentum - result.angular_momentum[0]).max() < 1e-11
    lost = np.array([s.impact_loss for s in result.samples])
    assert result.energy.total + lost == pytest.approx(result.energy.total[0], abs=1e-11)
    assert min(e.energy_lost for e in result.events) >= -1e-14
    assert sum(e.energy_lost for e in result.events) == pytest.approx(lost[-1], abs=1e-12)
    assert lost[-1] == pytest.approx(0.0, abs=1e-12) if restitution == 1.0 else lost[-1] > 0.5
    tether, d = result.rope("tether"), distance(result)
    assert d.max() <= 2.0 + 1e-11
    assert np.abs(d[tether.taut] - 2.0).max(initial=0.0) < 1e-11
    assert (tether.tension >= 0).all() and (tether.tension[~tether.taut] == 0).all()
    pull = np.linalg.norm(tether.wrench[:, 3:], axis=1)
    assert pull == pytest.approx(tether.tension, abs=1e-12) and not tether.wrench[:, :3].any()


def test_an_impact_is_the_least_change_measured_by_the_masses():
    """The first time the pair's rope goes taut: Carnot's ½ Δv' M Δv is what is lost, at e = 0; then 1 - e² of it."""
    first = [pair("radial", e) for e in (0.0, 0.7)]
    for sim in first:
        sim.advance(150)
    plastic, bounce = (sim.events[0] for sim in first)
    assert (plastic.what, bounce.what) == ("taut", "bounce")
    assert plastic.t == bounce.t and plastic.speed == bounce.speed
    assert plastic.energy_lost == pytest.approx(0.5 * plastic.impulse * plastic.speed, rel=1e-13)
    assert bounce.impulse == pytest.approx(1.7 * plastic.impulse, rel=1e-13)
    assert bounce.energy_lost == pytest.approx((1 - 0.49) * plastic.energy_lost, rel=1e-13)


def test_thrown_over_for_a_minute():
    """Without friction, a restitution of 0.9: slack and taut for 60 s; the rope is never longer, the energy that is
    missing is booked, and half the step gives the same first twenty events."""
    parameters = {**CASES["throw_slack"]["parameters"], "f": 0.0, "impact": "project"}
    result = seed_example(parameters, integrator="dop853", step=5e-3).run(until=60.0, every=0.05)
    finer = seed_example(parameters, integrator="dop853", step=2.5e-3).run(until=10.0, every=0.05)
    r = result.hinge("plane").position[:, :2] - np.array(parameters["XR"])
    assert np.linalg.norm(r, axis=1).max() <= 1.0 + 1e-11
    assert max(abs(s.conservation.energy) for s in result.samples) < 1e-11
    for found, exact in zip(result.events, finer.events, strict=False):
        assert found.what == exact.what and found.t == pytest.approx(exact.t, abs=1e-10)


@pytest.mark.filterwarnings("ignore:.*the energy has drifted by")  # at rest, of no kinetic energy
def test_a_lamp_on_three_ropes_and_one_that_is_cut_short():
    """A point mass hangs from three ropes at the corners of a triangle: each carries what equilibrium says; pulled to
    the side by more than they bear, one goes slack."""
    b = rbt.RobotBuilder("lamp")
    b.body("lamp", mass=3.0, inertia=(0.1, 0.1, 0.1))
    corners = [(math.cos(a), math.sin(a), 0.0) for a in (0.0, 2 * math.pi / 3, 4 * math.pi / 3)]
    for k, corner in enumerate(corners):
        b.rope(f"rope_{k}", "world", "lamp", at_a=corner, length=math.sqrt(2.0))
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=1e-2)
    sim.set_body("lamp", position=(0, 0, -1))
    sim.add_input(rbt.Wrench("lamp", force=(30.0, 0, 0), moment=(0, 0, 0)), start=1.0)
    hanging = sim.sample()
    for k in range(3):
        assert hanging.ropes[f"rope_{k}"].tension == pytest.approx(math.sqrt(2.0) * 9.81, rel=1e-13)
    result = sim.run(until=2.0, every=0.01)
    still = result.t < 1.0
    assert np.abs(result.body("lamp").position[still] - [0, 0, -1]).max() < 1e-13
    assert [(e.name, e.what) for e in result.events][:1] == [("rope_0", "slack")]
    assert result.events[0].t == pytest.approx(1.0, abs=1e-12)
    assert result.rope("rope_1").tension == pytest.approx(result.rope("rope_2").tension, rel=1e-9)


def test_four_ropes_share_the_weight_of_a_swinging_platform():
    """Parallel ropes at its corners: one follows from the others, all along; the least tensions are equal ones at the
    start, m (g + v²/l) / 4 each, and all stay taut."""
    b = rbt.RobotBuilder("swing").body("plate", mass=4.0, inertia=(1.0, 1.2, 2.0))
    for k, corner in enumerate(((-1, -0.7, 0), (-1, 0.7, 0), (1, -0.7, 0), (1, 0.7, 0))):
        b.rope(f"rope_{k}", "world", "plate", at_a=corner, at_b=corner, length=1.5)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=5e-3, integrator="dop853")
    sim.set_body("plate", position=(0, 0, -1.5), velocity=(0.8, 0.1, 0))
    result = sim.run(until=1.0, every=0.1)
    tension = np.array([result.rope(f"rope_{k}").tension for k in range(4)])
    assert tension[:, 0] == pytest.approx(9.81 + 0.65 / 1.5, rel=1e-12)
    assert not result.events and all(result.rope(f"rope_{k}").taut.all() for k in range(4))
    assert tension.sum(axis=0).min() > 30 and np.ptp(result.energy.total) < 1e-12


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_of_two_ropes_in_line_the_shorter_one_holds(integrator):
    """A weight below two anchors, both ropes just taut, struck to the side: the conditions are the same to first order;
    the circle of the shorter rope lies within that of the longer one, so it carries: a pendulum of 1 m."""
    b = rbt.RobotBuilder("bell").body("bell", mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.rope("long", "world", "bell", length=2.0)
    b.rope("short", "world", "bell", at_a=(0, 0, -1), length=1.0)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=5e-3, integrator=integrator)
    sim.set_body("bell", position=(0, 0, -2), velocity=(0.5, 0, 0))
    first = sim.sample()
    assert (first.ropes["long"].tension, first.ropes["long"].taut) == (0.0, False)
    assert first.ropes["short"].tension == pytest.approx(9.81 + 0.25, rel=1e-13)
    result = sim.run(until=0.4, every=0.01)
    short = result.body("bell").position + [0, 0, 1]
    assert np.linalg.norm(short, axis=1) == pytest.approx(1.0, abs=1e-12)
    assert not result.rope("long").tension.any() and np.ptp(result.energy.total) < 1e-9


def test_a_ladder_of_ropes_pulls_through():
    """Three bodies in a row on ropes that are just taut; the last one is struck away: one impact of all ropes, by which
    all three go on together with a third of its momentum."""
    b = rbt.RobotBuilder("train")
    for name in ("first", "second", "third"):
        b.body(name, mass=1.0, inertia=(0.1, 0.1, 0.1))
    b.rope("front", "first", "second", length=1.0)
    b.rope("rear", "second", "third", length=1.0)
    sim = rbt.Simulation(b.build(), step=1e-2)
    sim.set_body("second", position=(1, 0, 0))
    sim.set_body("third", position=(2, 0, 0), velocity=(3, 0, 0))
    result = sim.run(until=0.1)
    for name in ("first", "second", "third"):
        assert result.body(name).velocity[-1] == pytest.approx([1, 0, 0], abs=1e-14)
    lost = {e.name: e.energy_lost for e in result.events}
    assert sum(lost.values()) == pytest.approx(3.0, rel=1e-13)


YAML = """
rbt: 1
robot:
  name: swing
  bodies:
    seat: {mass: 2, inertia: [0.1, 0.1, 0.1]}
    door: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0.5, 0, 0]}
  hinges:
    jamb: {kind: revolute, parent: world, child: door, limits: [-0.5, 0.5], stop_restitution: 0.3}
  ropes:
    tether: {bodies: [world, seat], at_a: [0, 0, 2 m], length: 150 cm, restitution: 0.2}
    strap: {bodies: [door, seat], at_a: [1, 0, 0], length: 9, impact: stop}
gravity: [0, 0, -9.81]
start: {bodies: {seat: {position: [0.1, 0, 1]}}, hinges: {jamb: {rate: 3}}}
"""


def test_scenarios_have_ropes_and_stops(tmp_path):
    """The same bits as from the builder, and columns of their own in the table."""
    b = rbt.RobotBuilder("swing")
    b.body("seat", mass=2, inertia=(0.1, 0.1, 0.1))
    b.body("door", mass=1, inertia=(0.1, 0.1, 0.1), com=(0.5, 0, 0))
    jamb = dict(parent="world", child="door", limits=(-0.5, 0.5))
    b.hinge("jamb", "revolute", **jamb, stop_restitution=0.3)
    b.rope("tether", "world", "seat", at_a=(0, 0, 2), length=1.5, restitution=0.2)
    b.rope("strap", "door", "seat", at_a=(1, 0, 0), length=9, impact="stop")
    built = rbt.Simulation(b.build(), gravity=(0, 0, -9.81))
    built.set_body("seat", position=(0.1, 0, 1))
    built.set_hinge("jamb", rate=3)
    sim = rbt.Simulation.of(scenario_from_text(YAML))
    result = sim.run(until=1.0, every=0.1)
    built.advance(1000)
    assert sim.digest() == built.digest() and sim.events == built.events
    assert {e.name for e in result.events} == {"tether", "jamb"}
    table = result.columns()
    assert (table["tether.tension [N]"] == result.rope("tether").tension).all()
    assert (table["tether.taut"] == result.rope("tether").taut).all()
    assert (table["jamb.stop_effort [N m or N]"] == result.stop("jamb").effort).all()
    assert table["impact_loss [J]"][-1] == sum(e.energy_lost for e in result.events) > 0
    result.to_csv(tmp_path / "swing.csv")
    assert "tether.taut" in (tmp_path / "swing.csv").read_text().splitlines()[0]


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("[world, seat], at_a: [0, 0, 2 m]", "[world]", "names the two bodies that are tied, not 1: .world, pendulum"),
        ("restitution: 0.2", "restitution: 2", "rope 'tether': restitution 2 must lie between 0"),
        ("impact: stop", "impact: snag", "rope 'strap': impact 'snag' is not one of radial, stop"),
        ("150 cm", "-1", "rope 'tether': length -1 m must be positive"),
        ("[door, seat]", "[hall, seat]", "rope 'strap': robot 'swing' has no body 'hall'"),
        ("[door, seat]", "[door, door]", "rope 'strap': 'door' and 'door' are one rigid piece"),
        ("length: 9", "lenght: 9", "unknown key 'lenght'"),
        ("  ropes:", "  stops: {jamb: 0.1}\n  ropes:", "give stop_restitution of the hinge instead"),
    ],
)
def test_wrong_ropes_are_refused_with_their_place(old, new, text):
    assert old in YAML
    with pytest.raises(rbt.ScenarioError, match=text):
        scenario_from_text(YAML.replace(old, new))


URDF = """<robot name="gate">
  <link name="post">INERTIAL</link>
  <link name="leaf">INERTIAL</link>
  <joint name="pin" type="revolute"><parent link="post"/><child link="leaf"/><limit lower="-1" upper="1" effort="1"
   velocity="1"/></joint>
</robot>""".replace(
    "INERTIAL",
    '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>',
)
GATE = """
rbt: 1
robot: {urdf: FILE, base: fixed, stops: {pin: 0.5}, ropes: {strap: {bodies: [post, leaf], at_a: [9, 0, 0], length: 10}}}
start: {hinges: {pin: {rate: 4}}}
"""


def test_urdf_robots_have_ropes_and_stops(tmp_path):
    (tmp_path / "gate.urdf").write_text(URDF)
    text = GATE.replace("FILE", str(tmp_path / "gate.urdf"))
    sim = rbt.Simulation.of(scenario_from_text(text))
    assert [rope.name for rope in sim.robot.ropes] == ["strap"]
    result = sim.run(until=0.5, every=0.1)
    assert [(e.name, e.what) for e in result.events] == [("pin", "bounce")]
    assert result.hinge("pin").rate[-1] == pytest.approx(-2.0, rel=1e-13)
    with pytest.raises(rbt.ScenarioError, match="has no hinge 'nothing'"):
        scenario_from_text(text.replace("pin: 0.5", "nothing: 0.5"))


def test_wrong_ropes_are_refused():
    b = rbt.RobotBuilder("pair")
    b.body("a", mass=1.0, inertia=(1, 1, 1))
    b.body("c", mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(
        rbt.ModelError, match="rope 't': impact 'stop' ends all motion of its ends; restitution 0.5 must"
    ):
        b.rope("t", "a", "c", length=1.0, restitution=0.5, impact="stop")
    b.rope("t", "a", "c", length=1.0).rope("t", "a", "c", length=2.0)
    with pytest.raises(rbt.ModelError, match="rope 't' exists twice in robot 'pair'; names must differ"):
        b.build()
    sim = pair()
    sim.set_body("c", position=(3, 0, 0))
    with pytest.raises(
        rbt.ScenarioError, match="start: rope 'tether' is 2 m long, but its ends are 2.8.* m apart; move"
    ):
        sim.sample()
    with pytest.raises(rbt.ModelError, match="robot 'pair' has no rope 'cable'; it has tether"):
        pair().run(until=0.01).rope("cable")
    b = rbt.RobotBuilder("arm")
    b.body("hub", mass=1.0, inertia=(1, 1, 1)).body("arm", mass=1.0, inertia=(1, 1, 1))
    b.hinge("elbow", "revolute", parent="hub", child="arm", limits=(-1, 1), stop_restitution=0)
    with pytest.raises(rbt.ScenarioError, match="ropes or stops of robot 'arm' take energy in impacts"):
        rbt.Simulation(b.build(), stabilise="projection")
