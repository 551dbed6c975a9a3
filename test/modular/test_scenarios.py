"""Arrays as scenarios: those that ship, and the variants that the thesis recommends, each against a law it keeps."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.modular import turns

FLOATING = ("three_rods", "rod_chain", "l_shape", "cubic_net", "two_arrays")
PENDULUMS = ("panel_pendulum", "two_panel_pendulum", "three_panel_pendulum")
VARIANTS = {
    "centres of mass off the plane": "{array: chain, options: {offset: {b: [0.1, 0.2, 0], c: [0, -0.2, 0.1]}}}",
    "hinges normal to the panels": "{array: l_shape, options: {hinge: normal}}",
    "sliding panels": "{array: l_shape, options: {hinge: slide}}",
    "one of each": "{array: l_shape, options: {hinge: {b: slide, c: normal}, size: 2, mass: 0.5, inertia: equal}}",
    "an array of one's own": "{array: panels, options: {on: {b: [a, +y], c: [b, +y]}}}",
}


def run(scenario, controller=None):
    return rbt.Simulation.of(scenario).run(until=scenario.duration_ns * 1e-9, every=0.1, controller=controller)


@pytest.mark.parametrize("name", FLOATING)
def test_arrays_that_float_fold_free_of_collision_without_momentum(name):
    """Hinges push inside: momentum stays zero, and a guard that ends the run where panels touch has nothing to do."""
    scenario = rbt.load(name)
    result = run(scenario, rbt.modular.guard(scenario.robot))
    assert max(np.abs(result.angular_momentum_com).max(), np.abs(result.momentum).max()) < 1e-12
    assert np.abs(result.samples[-1].v).max() < 1e-9  # all of them come to rest


def test_the_l_shape_and_the_rods_turn_as_the_path_alone_says():
    """Locks and driven hinges of full dynamics, kinematics of the rectangle: 1e-10."""
    for name, (psi1, psi2) in {"three_rods": (120, 90), "l_shape": (90, -90)}.items():
        scenario = rbt.load(name)
        turn = turns.net_turn(scenario.robot, rbt.modular.rectangle(np.radians(psi1), np.radians(psi2)))
        found = run(scenario).body("a").quaternion[-1]
        assert found * np.sign(found[0]) == pytest.approx(turn.quaternion, abs=1e-10)


def test_arrays_that_turn_together_turn_the_hub_and_against_each_other_do_not():
    """Figures 3.7 and 3.8: the hub goes back by the ratio of the moments about the hinges' line, then stays."""
    result = run(rbt.load("two_arrays"))
    hub, arrays = (rbt.load("two_arrays").robot.bodies[i].inertia[1, 1] for i in (0, 1))
    angle = 2.0 * np.arctan2(result.body("hub").quaternion[:, 2], result.body("hub").quaternion[:, 0])
    assert angle[110] == pytest.approx(-np.pi / 2 * 2 * arrays / (hub + 2 * arrays), abs=1e-12)
    assert angle[-1] == pytest.approx(angle[110], abs=1e-12)


@pytest.mark.parametrize("name", PENDULUMS)
def test_pendulums_keep_their_energy(name):
    energy = run(rbt.load(name)).energy.total
    assert energy == pytest.approx(np.full(len(energy), energy[0]), abs=1e-10 * 30.0)  # of 30 J between top and bottom


@pytest.mark.parametrize("robot", VARIANTS.values(), ids=VARIANTS)
def test_variants_in_a_scenario_turn_as_their_paths_say(robot):
    """Once round a closed curve, driven at every stage; the connection integrated along the same curve: 1e-9."""
    text = f"rbt: 1\nrobot: {robot}\nstep: 10 ms\nintegrator: dop853\nduration: 2 s\ninputs:\n"
    one = "{sines: {offset: 0.3, terms: [[-0.3, 3.141592653589793, 90 deg]]}}"
    two = "{sines: {terms: [[0.4, 3.141592653589793, 0], [-0.2, 6.283185307179586, 0]]}}"
    text += f"  - {{prescribe: psi1, motion: {one}, at: 0 s}}\n  - {{prescribe: psi2, motion: {two}, at: 0 s}}\n"

    def piece(s):
        x = 2.0 * np.pi * s
        shape = np.stack([0.3 * (1.0 - np.cos(x)), 0.4 * np.sin(x) - 0.2 * np.sin(2.0 * x)], axis=1)
        slope = 2.0 * np.pi * np.stack([0.3 * np.sin(x), 0.4 * (np.cos(x) - np.cos(2.0 * x))], axis=1)
        return shape, slope

    scenario = scenario_from_text(text)
    exact = turns.along(scenario.robot, rbt.modular.ShapePath(("psi1", "psi2"), (piece,), smooth=True), 200)[-1]
    found = run(scenario).body("a").quaternion[-1]
    assert found == pytest.approx(exact, abs=1e-9) and turns.angles(exact) > 1e-4
