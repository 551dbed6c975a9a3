"""A simulation that goes on from a checkpoint has the bits of one that never stopped."""

import json

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.checkpoint import load_state, save_state
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings, HingeTorque, HingeTrajectory

LONE = ("rk4", "dop853", "semi_implicit", "dop853_adaptive", "exact", "splitting", "lie_euler")


def top(integrator="rk4", stabilise="none", **options) -> rbt.Simulation:
    robot = rbt.RobotBuilder("top").body("brick", mass=2.0, inertia=(0.05, 0.07, 0.04), com=(0.03, 0, 0.01)).build()
    sim = rbt.Simulation(robot, gravity=(0.1, 0, -1.0), integrator=integrator, stabilise=stabilise, **options)
    sim.set_body("brick", omega_body=(3.0, -4.0, 5.0), velocity=(1.0, 0, 0))
    return sim


def commanded_chain() -> rbt.Simulation:
    """The five-body chain with something pending of every kind: wrench, torque, PD, trajectory, a planned input."""
    sim = rbt.load("five_body").simulation()
    sim.add_input(rbt.Effort("wrist", (0.5,)), start=0.01, stop=0.05, signal=rbt.sines([(1.0, 6.0, 0.0)]))
    position = [HingeSetting(joint, "position", 30.0, 2.0) for joint in ("right_pivot", "left_pivot")]
    sim.command(HingeSettings(tuple(position)))
    sim.command(HingeCommand(("right_pivot",), (0.4,), (), (0.1,)))
    sim.command(HingeTrajectory(("left_pivot",), (20_000_000, 40_000_000), ((0.1,), (0.3,)), ((1.0,), (0.0,))))
    sim.command(HingeTorque("shoulder", (0.1, -0.2, 0.3)))
    sim.command(rbt.WrenchCommand(rbt.Wrench("tee", (1.0, 0.0, 2.0), frame="world", at="origin"), 30_000_000))
    return sim


def continued(sim, fresh, file, before=13, after=40):
    """Digests `after` ticks later: of sim itself, of sim put back, of `fresh` put there."""
    sim.advance(before)
    save_state(sim, file)
    sim.advance(after)
    found = [sim.digest()]
    for other in (sim, fresh):
        load_state(other, file)
        assert other.tick == before
        other.advance(after)
        found.append(other.digest())
    return found


@pytest.mark.parametrize("integrator", LONE)
def test_every_integrator_goes_on_bit_by_bit(integrator, tmp_path):
    assert len(set(continued(top(integrator), top(integrator), tmp_path / "x.json"))) == 1


@pytest.mark.parametrize("method", ["gradient", "projection"])
def test_what_a_stabilised_run_keeps_is_kept(method, tmp_path):
    """The other simulation is not stabilised yet: the checkpoint says it."""
    assert len(set(continued(top("rk4", method), top("rk4"), tmp_path / "x.json"))) == 1


def test_pending_commands_go_on_bit_by_bit_with_the_work_of_inputs(tmp_path):
    fresh = rbt.load("five_body").simulation()
    fresh.add_input(rbt.Effort("wrist", (0.5,)), start=0.01, stop=0.05, signal=rbt.sines([(1.0, 6.0, 0.0)]))
    found = continued(commanded_chain(), fresh, tmp_path / "x.json")
    assert len(set(found)) == 1
    free = rbt.load("five_body").simulation()
    free.advance(53)
    assert free.digest() != found[0]


def test_reset_after_loading_goes_to_the_start_of_the_one_that_was_saved(tmp_path):
    sim, other = top(), top()
    sim.set_body("brick", omega_body=(1.0, 0.0, 0.0))
    sim.advance(5)
    save_state(sim, tmp_path / "x.json")
    load_state(other, tmp_path / "x.json")
    other.reset()
    sim.reset()
    assert other.digest() == sim.digest() and other.state.v[0] == 1.0


def test_work_of_inputs_is_in_the_checkpoint(tmp_path):
    sim, other = top(work_of_inputs=True), top(work_of_inputs=True)
    sim.command(rbt.WrenchCommand(rbt.Wrench("brick", (1.0, 0.0, 2.0)), 10_000_000))
    sim.advance(5)
    save_state(sim, tmp_path / "x.json")
    load_state(other, tmp_path / "x.json")
    assert other.sample().work == sim.sample().work and sim.sample().work.inputs != 0.0


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda text: "{", "is no checkpoint: "),
        (lambda text: "[]", "is no checkpoint of format 1"),
        (lambda text: text.replace('"tick": 5', '"tock": 5'), "is damaged: KeyError: 'tick'"),
        (lambda text: text.replace('"planned": 0', '"planned": 2'), "was made with 2 planned inputs"),
        (lambda text: text.replace('"scenario": "', '"scenario": "0'), "is of another scenario"),
    ],
)
def test_a_file_that_does_not_fit_changes_nothing(tmp_path, edit, words):
    sim, file = top(), tmp_path / "x.json"
    sim.advance(5)
    save_state(sim, file)
    file.write_text(edit(file.read_text(encoding="utf-8")), encoding="utf-8")
    sim.advance(5)
    before = sim.digest()
    with pytest.raises(rbt.ScenarioError, match=words):
        load_state(sim, file)
    assert sim.digest() == before
    sim.advance(5)
    assert np.isfinite(sim.state.v).all()


def test_numbers_keep_all_digits(tmp_path):
    sim = top()
    sim.advance(7)
    save_state(sim, tmp_path / "x.json")
    told = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert told["simulation"]["y"] == [*sim.state.q.tolist(), *sim.state.v.tolist()]
    assert not list(tmp_path.glob("*.part"))
