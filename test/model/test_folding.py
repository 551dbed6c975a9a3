"""Arrays that fold: what they weigh, how they hang together, and that all is one engine."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.folding import ARRAYS, array
from rbt_ros.model.scenario import scenario_from_text


def test_l_shape_is_that_of_the_thesis():
    """Hinges on the edges +Z and +Y of b; thin plates, or three equal moments as Eq. 3.2 prints."""
    robot = rbt.modular.l_shape()
    sim = rbt.Simulation(robot)
    assert sim.sample().pose[:, 4:].tolist() == [[0, 0, 0], [0, 0, -0.5], [0, 0.5, -1]]
    assert robot.bodies[0].inertia.diagonal() == pytest.approx([1 / 6, 1.0001 / 12, 1.0001 / 12])
    assert rbt.modular.l_shape(inertia="equal").bodies[0].inertia.diagonal() == pytest.approx([1.0001 / 12] * 3)


def test_size_and_mass_scale_the_inertia():
    """Twice the size, three times the mass: twelve times the moments of thin plates."""
    one, other = rbt.modular.l_shape(thickness=1e-9), rbt.modular.l_shape(size=2.0, mass=3.0, thickness=1e-9)
    assert other.bodies[1].inertia == pytest.approx(12 * one.bodies[1].inertia, rel=1e-14)


def test_net_folds_to_a_cube():
    """All hinges at 90°, outward normals: six faces, 1 apart in pairs."""
    robot = rbt.modular.cubic_net()
    sim = rbt.Simulation(robot)
    for hinge, angle in zip(("psi1", "psi2", "psi3", "psi4", "psi5"), (1, -1, -1, 1, -1), strict=True):
        sim.set_hinge(hinge, angle * np.pi / 2)
    sample = sim.sample()
    middles = []
    for body, pose in zip(robot.bodies, sample.pose, strict=True):
        w, u, com = pose[0], pose[1:4], np.array(body.com)
        middles.append(pose[4:] + com + 2 * np.cross(u, np.cross(u, com) + w * com))
    centre = np.mean(middles, axis=0)
    faces = sorted(np.round(np.array(middles) - centre, 12).tolist())
    expected = sorted((0.5 * sign * np.eye(3)[k]).tolist() for k in range(3) for sign in (-1, 1))
    assert np.allclose(faces, expected, atol=1e-12)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_pendulums_keep_their_energy(count):
    """The thesis' validation: constant total energy under gravity (Figures 3.4, 3.5); 2e-13 here, not 1e-5."""
    sim = rbt.Simulation(rbt.modular.pendulum(count), gravity=(0, 0, -9.81), step=2e-3, integrator="dop853")
    sim.set_hinge("ball", euler=("XYZ", 0.9, 0.4, 0.2))
    energy = sim.run(until=3.0, every=0.5).energy
    assert np.ptp(energy.total) < 1e-12 * np.ptp(energy.kinetic)


def test_arrays_that_turn_alike_turn_the_hub_and_unlike_do_not():
    """Figures 3.6 to 3.8: both by 90° the same way: back by I_arrays/I_total; opposite ways: not at all."""
    robot = rbt.modular.two_arrays()
    path = rbt.modular.polygon([(0, 0), (np.pi / 2, np.pi / 2)], ("left", "right"))
    hub, wing = robot.bodies[0].inertia[1, 1], robot.bodies[1].inertia[1, 1]
    q = rbt.modular.along(robot, path)[-1]
    assert 2 * np.arctan2(q[2], q[0]) == pytest.approx(-np.pi / 2 * 2 * wing / (hub + 2 * wing), abs=1e-12)
    still = rbt.modular.along(robot, path._replace(pieces=(rbt.modular.polygon([(0, 0), (1.5, -1.5)]).pieces[0],)))[-1]
    assert np.abs(still - (1, 0, 0, 0)).max() < 1e-15


def test_centres_off_the_plane_turn_a_chain_out_of_it():
    """The thesis' first recommendation: what is planar stays planar, unless the centres leave the plane."""
    path = rbt.modular.rectangle(1.0, 1.5)
    flat = rbt.modular.net_turn(rbt.modular.chain(3), path)
    assert np.abs(np.cross(flat.axis, (0, 1, 0))).max() < 1e-12
    bent = rbt.modular.chain(3, offset={"b": (0.1, 0.2, 0.0), "c": (0.0, -0.2, 0.1)})
    assert np.abs(np.cross(rbt.modular.net_turn(bent, path).axis, (0, 1, 0))).max() > 0.1


@pytest.mark.parametrize("hinge", ["normal", "slide"])
def test_other_hinges_make_other_turns(hinge):
    """Hinges normal to the panels, or sliding panels: the array still turns, about x, as it stays in its plane."""
    turn = rbt.modular.net_turn(rbt.modular.l_shape(hinge=hinge), rbt.modular.rectangle(0.8, 0.8))
    assert turn.angle > 0.01 and np.abs(np.abs(turn.axis) - (1, 0, 0)).max() < 1e-12


def test_scenarios_name_arrays():
    text = "rbt: 1\nrobot: {array: l_shape, options: {size: 2, inertia: equal}}\n"
    assert scenario_from_text(text).robot.bodies[2].com == (0, 1, 0)
    with pytest.raises(rbt.ScenarioError, match=r"2: robot\.array: array 'l_shape' has no option 'sise'; it has size"):
        scenario_from_text("rbt: 1\nrobot: {array: l_shape, options: {sise: 2}}\n")


@pytest.mark.parametrize(
    ("kind", "options", "message"),
    [
        ("ring", {}, f"array 'ring' is not one of {', '.join(ARRAYS)}."),
        ("rods", {"lengths": [1, -1, 1]}, "lengths: [1.0, -1.0, 1.0] must be positive and finite."),
        ("rods", {"masses": [1, 1]}, "rods: 3 lengths and 2 masses; as many, for 2 to 26 rods."),
        ("chain", {"count": 1}, "chain: count 1 must be a whole number from 2 to 26."),
        ("l_shape", {"inertia": "thick"}, "panels: inertia 'thick' is not one of thin, equal."),
        ("l_shape", {"hinge": "glue"}, "panels: hinge 'glue' of 'b' is not one of edge, normal, slide."),
        ("panels", {"on": {"b": ("a", "+x")}}, "panels: 'b' hangs on ('a', '+x'); give a panel and one of its edges"),
        (
            "panels",
            {"on": {"b": ("a", "+y"), "c": ("b", "-y")}},
            "panels: 'c' lies on the edge of 'b' by which that one hangs; take another.",
        ),
        ("pendulum", {"count": 4}, "pendulum: count 4 must be 1, 2 or 3 panels."),
        ("pendulum", {"count": True}, "pendulum: count True must be 1, 2 or 3 panels."),
        ("l_shape", {"hinge": {"a": "slide"}}, "panels: hinge names 'a', no panel that has one; such are b, c."),
        ("l_shape", {"offset": {"z": [0, 0, 0]}}, "panels: offset names 'z', no panel that has one; such are a, b, c."),
        (
            "panels",
            {"on": {"b": ["a", "+y"], "c": ["a", "+y"]}},
            "panels: 'b' and 'c' hang on the same edge +y of 'a'; one may.",
        ),
        (
            "panels",
            {},
            "array 'panels' needs its option 'on', each child on an edge: in YAML {b: [a, +y], c: [b, +y]}, ",
        ),
        (
            "panels",
            {"on": 5},
            "panels: on is 5 and should be {child: (panel, edge)}; in YAML {b: [a, +y], c: [b, +y]}, ",
        ),
        ("panels", {"on": None}, "panels: on is None and should be"),
        ("panels", {"on": ["a", "b"]}, "panels: on is ['a', 'b'] and should be"),
        ("panels", {"on": "{b:[a,+y]}"}, "panels: on is '{b:[a,+y]}' and should be"),
        ("panels", {"on": {"b": 3}}, "panels: 'b' hangs on 3; give a panel and one of its edges +y, -y, +z, -z."),
        ("panels", {"on": {"b": ["a"]}}, "panels: 'b' hangs on ['a']; give a panel"),
        ("panels", {"on": {"b": [["a"], "+y"]}}, "panels: 'b' hangs on [['a'], '+y']; give a panel"),
        ("panels", {"on": {"b": ["a", ["+y"]]}}, "panels: 'b' hangs on ['a', ['+y']]; give a panel"),
    ],
)
def test_what_is_refused(kind, options, message):
    with pytest.raises(rbt.ModelError) as err:
        array(kind, **options)
    assert str(err.value).startswith(message)
