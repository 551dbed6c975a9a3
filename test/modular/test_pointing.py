"""Modules that look at targets of their own: found, reached by the engine, or refused with the least misses."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.attitude import matrices
from rbt_ros.modular import pointing
from rbt_ros.modular.pointing import _fold
from rbt_ros.studies import solve

L_SHAPE = rbt.modular.l_shape()


def boresights(sim, names):
    """Normals of the panels in world axes."""
    return matrices(sim.sample().pose[[sim.robot.body_index(name) for name in names], :4])[:, :, 0]


@pytest.mark.parametrize(
    ("robot", "targets"),
    [
        (L_SHAPE, {"c": (1, 2, 3)}),
        (L_SHAPE, {"a": (1, 0, 0), "b": (0.5, 1, -1)}),
        (L_SHAPE, {"a": (1, 0, 0), "b": (1, 0, 0), "c": (-1, 0, 0.5)}),
        (rbt.modular.cubic_net(), {"a": (1, 0, 0), "b": (0, 0.6, 0.8), "f": (0, 0.8, -0.6)}),
    ],
)
def test_each_module_looks_at_its_target(robot, targets):
    """The engine's own poses: within 1e-6, and no panel in another."""
    found = pointing(robot, targets)
    sim = rbt.Simulation(robot)
    sim.set_body("a", quaternion=found.quaternion)
    for joint, angle in zip(robot.joint_names, found.shape, strict=True):
        sim.set_hinge(joint, angle)
    wanted = np.array(list(targets.values()), dtype=float)
    wanted /= np.linalg.norm(wanted, axis=1)[:, None]
    assert boresights(sim, targets) == pytest.approx(wanted, abs=1e-6)
    assert rbt.modular.Clearance(robot).of_pose(sim.sample().pose).distance > 0


def test_what_needs_no_folding_is_left_flat():
    """All panels of a flat array look the same way."""
    assert np.abs(pointing(L_SHAPE, {"a": (0, 0, 1), "c": (0, 0, 1)}).shape).max() < 1e-6


def test_the_command_line_makes_a_scenario_that_gets_there_in_full_dynamics(tmp_path, capsys):
    """Turns, then the fold, by locks and driven hinges: boresights within 1e-5 (0.1° are 2e-3), momentum zero."""
    targets = {"a": (0.96, 0.28, 0.0), "c": (0.6, 0.0, 0.8)}
    words = [f"{name}={','.join(map(str, target))}" for name, target in targets.items()]
    assert solve.main(["point", *words, "--out", str(tmp_path)]) == 0
    assert "  then psi1 " in capsys.readouterr().out
    scenario = rbt.load(str(tmp_path / "solution.yaml"))
    sim = scenario.simulation()
    sim.advance(scenario.duration_ns // scenario.h_ns)
    assert boresights(sim, targets) == pytest.approx(np.array(list(targets.values())), abs=1e-5)
    assert np.linalg.norm(sim.sample().angular_momentum_com) < 1e-12


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({}, "pointing: give the target of one module at least: {'a': (0, 0, 1)}."),
        ({"a": (0, 0, 0)}, "target of 'a': [0, 0, 0] must be a direction: three finite numbers."),
        ({"d": (0, 0, 1)}, "robot 'l_shape' has no body 'd'"),
        (
            {"a": (1, 0, 0), "b": (1, 1, 1), "c": (1, -1, 0)},
            "no shape of 'l_shape' has a, b, c look at their targets: the nearest shape misses: 'a' 22.",
        ),
    ],
)
def test_what_cannot_be_pointed(targets, message):
    with pytest.raises(rbt.RbtError) as err:
        pointing(L_SHAPE, targets)
    assert str(err.value).startswith(message)


def test_a_shape_in_which_panels_touch_is_refused():
    """Targets that only the two shapes psi1 = psi2 = ±2.2 rad have all three modules look at, with c through a."""
    sim = rbt.Simulation(L_SHAPE)
    sim.set_hinge("psi1", 2.2)
    sim.set_hinge("psi2", 2.2)
    targets = dict(zip("abc", boresights(sim, "abc").tolist(), strict=True))
    with pytest.raises(rbt.SolveError, match="no shape of 'l_shape' has a, b, c look .*: panels would touch."):
        pointing(L_SHAPE, targets)


def test_a_shape_behind_a_collision_is_not_reached():
    """Both hinges on their way to a shape in which a and c lie in each other."""
    with pytest.raises(rbt.SolveError, match=r"the shape \[180.0, 180.0\]° cannot be reached from the flat one by one"):
        _fold(rbt.modular.Planner(L_SHAPE, grid=5), np.array([np.pi, np.pi]))
