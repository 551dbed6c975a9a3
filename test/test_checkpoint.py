"""A simulation that goes on from a checkpoint has the bits of one that never stopped."""

import json
import os

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.checkpoint import checksum, load_state, rehearse, restore, save_state
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


@pytest.mark.parametrize("method", ["none", "projection"])
@pytest.mark.parametrize("gravity", [(0.0, 0.0, 0.0), (0.1, 0.0, -1.0)])
def test_what_rounding_has_kept_back_is_kept(method, gravity, tmp_path):
    """Far out and fast: without it the position would differ in its last digits."""

    def probe():
        robot = rbt.RobotBuilder("probe").body("hub", mass=1.0, inertia=(1.0, 2.0, 2.5)).build()
        sim = rbt.Simulation(robot, gravity=gravity, stabilise=method)
        sim.set_body("hub", position=(7e6, 1.0, 2.0), velocity=(1234.5678, 7397.6543, 0.1), omega_body=(0.3, 2.0, 0.1))
        return sim

    assert len(set(continued(probe(), probe(), tmp_path / "x.json", before=138, after=300))) == 1


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


def signed(text: str) -> str:
    """Of one that was written like that."""
    content = json.loads(text)
    return json.dumps({**content, "sha256": checksum([content["clock_ns"], content["simulation"]])})


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda text: "{", "is no checkpoint: "),
        (lambda text: "[" * 200_000, "is no checkpoint: "),
        (lambda text: "[]", "is no checkpoint of format 4"),
        (lambda text: signed(text.replace('"tick": 5', '"tock": 5')), "is damaged: KeyError: 'tick'"),
        (
            lambda text: signed(text.replace('"planned": []', '"planned": [[0, 1, 0], [2, 3, 2]]')),
            "was made with 2 planned inputs",
        ),
        (lambda text: signed(text.replace('"scenario": "', '"scenario": "0')), "is of another scenario"),
        (lambda text: text.replace('"tick": 5', '"tick": 7'), "is damaged: its content is not what was written"),
        (
            lambda text: text.replace('"clock_ns": 0', '"clock_ns": 10'),
            "is damaged: its content is not what was written",
        ),
        (lambda text: text.replace('"simulation"', '"simulations"'), "is damaged: its content is not what was written"),
        (lambda text: text.replace('"clock_ns"', '"clock"'), "is damaged: clock_ns is None, not a time"),
        (lambda text: text.replace('"clock_ns": 0', '"clock_ns": 1e9'), "is damaged: clock_ns is 1000000000.0, not a"),
        (lambda text: text.replace('"clock_ns": 0', f'"clock_ns": {10**19}'), "a time .ns. that stamps can hold"),
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


@pytest.mark.parametrize("name", ["", ".", "/", "a\0b", "x" * 300, "folder", "no/folder/x.json"])
def test_what_is_no_name_of_a_file_is_refused(tmp_path, monkeypatch, name):
    """Nothing is written, and nothing that is no file replaced."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    with pytest.raises(rbt.ScenarioError, match="checkpoint .* cannot be written: ."):
        save_state(rbt.load("cubesat").simulation(), name)
    with pytest.raises(rbt.ScenarioError, match="checkpoint.*: ."):
        load_state(rbt.load("cubesat").simulation(), name)
    assert [path.name for path in tmp_path.iterdir()] == ["folder"]


@pytest.mark.parametrize("text", ["import rbt_ros\n", "{}", '{"other": 1, "rbt_checkpoint": 4}', " ", "\0"])
def test_a_file_that_is_no_checkpoint_is_not_replaced(tmp_path, text):
    """A parameter may name any file; a damaged checkpoint, and an empty file, are replaced."""
    file, sim = tmp_path / "x.json", rbt.load("cubesat").simulation()
    file.write_text(text)
    with pytest.raises(rbt.ScenarioError, match="a file of that name is there, and it is no checkpoint; give another"):
        save_state(sim, file)
    assert file.read_text() == text and list(tmp_path.iterdir()) == [file]
    for before in ("", '{\n "rbt_checkpoint": 3, "sim'):
        file.write_text(before)
        save_state(sim, file)
        load_state(sim, file)


def test_a_pipe_is_no_checkpoint(tmp_path):
    """Reading it would wait for who writes, for ever."""
    os.mkfifo(tmp_path / "x.json")
    with pytest.raises(rbt.ScenarioError, match="cannot be read: that is no file; name one"):
        load_state(rbt.load("cubesat").simulation(), tmp_path / "x.json")


def test_numbers_keep_all_digits(tmp_path):
    sim = top()
    sim.advance(7)
    save_state(sim, tmp_path / "x.json")
    told = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert told["simulation"]["mechanism"]["y"] == [*sim.state.q.tolist(), *sim.state.v.tolist()]
    assert not list(tmp_path.glob("*.part"))


def two_arms():
    """Two floating arms with a universal hinge each, ropes between them, stops that bounce."""
    rng, b = np.random.default_rng(3), rbt.RobotBuilder("arms")
    for arm in "ab":
        for i in range(3):
            b.body(f"{arm}{i}", mass=1 + i, inertia=(0.2, 0.25, 0.3), com=rng.uniform(-0.2, 0.2, 3))
        ends = dict(at=(0.4, 0.1, 0), axis=(0, 0, 1), axis2=(1, 0, 0))
        b.hinge(f"{arm}_wrist", "universal", parent=f"{arm}0", child=f"{arm}1", **ends)
        limits = dict(limits=(-0.5, 0.5), stop_restitution=0.6)
        b.hinge(f"{arm}_elbow", "revolute", parent=f"{arm}1", child=f"{arm}2", stiffness=1.0, **ends, **limits)
    b.rope("line", "a2", "b2", at_a=(0.1, 0, 0), length=1.5, restitution=0.3)
    b.rope("dead", "a0", "b0", length=1.4, impact="stop")
    sim = rbt.Simulation(b.build(), integrator="dop853", step=5e-3, work_of_inputs=True)
    sim.set_body("b0", position=(0.6, 0.3, 0.2), velocity=(1.5, -0.4, 0.2), omega_body=(0.3, 0.5, -0.9))
    sim.set_hinge("a_elbow", 0.1, rate=3.0)
    sim.set_hinge("b_wrist", (0.1, -0.2), rate=(1.0, 2.0))
    return sim


def locked(sim):
    sim.lock("a_wrist", "b_elbow")


def docked(sim):
    """A weld that turns a tree round, a ball that closes a loop, and one undone again."""
    sim.dock("a1", "b2", name="weld")
    sim.dock("a2", "b0", "point", name="loop")
    sim.dock("a0", "world", name="base")
    sim.advance(3)
    sim.undock("base")


def hinged(sim):
    sim.dock("a2", "b1", "revolute", axis=(1, 0, 0), name="pin")
    sim.advance(7)
    sim.lock("b_wrist")  # the pin is at zero again where it has turned to by now


def driven(sim):
    at = float(sim.state.q[sim.robot.joint_place("a_elbow")[1]])
    sim.prescribe("a_elbow", rbt.sines([(-0.05, 6.0, 0.0)], offset=at))
    sim.prescribe("b_wrist_1", rbt.Measured(delay=0.03, timeout=0.08, on_loss="zero"))
    sim.command(rbt.Measurement(("b_wrist_1",), (0.3,), (0.5,)))
    sim.advance(2)
    sim.command(rbt.Measurement(("b_wrist_1",), (0.32,), age_ns=3_000_000))


@pytest.mark.parametrize("change", [lambda sim: None, locked, docked, hinged, driven])
@pytest.mark.parametrize("before", [0, 160])
def test_modes_ropes_and_stops_go_on_bit_by_bit(tmp_path, change, before):
    """Saved among impacts, locks, docks, drives and measurements, and the start too: state, events, changes, books."""
    sims = [two_arms() for _ in range(2)]
    first = sims[0]
    first.advance(before)
    change(first)
    first.advance(9)
    save_state(first, tmp_path / "x.json")
    load_state(sims[1], tmp_path / "x.json")
    for sim in sims:
        sim.sample()
        sim.advance(25)
        if sim.locked:
            sim.unlock(sim.locked[0])
        sim.advance(25)
    assert sims[0].digest() == sims[1].digest()
    a, b = (sim.sample() for sim in sims)
    assert (a.energy, a.work, a.impact_loss, a.locked, a.docked) == (
        b.energy,
        b.work,
        b.impact_loss,
        b.locked,
        b.docked,
    )
    assert sims[0].events == sims[1].events and sims[0].changes == sims[1].changes
    assert bool(sims[0].events) or before == 0
    for sim in sims:
        sim.reset()
        sim.advance(20)
    assert sims[0].digest() == sims[1].digest() and sims[0].changes == sims[1].changes


def test_a_checkpoint_ends_the_modes_of_who_loads_it(tmp_path):
    """Locked and docked otherwise, it becomes what was saved; a file of other ropes is refused."""
    saved, other = two_arms(), two_arms()
    saved.advance(10)
    save_state(saved, tmp_path / "x.json")
    docked(other)
    load_state(other, tmp_path / "x.json")
    assert other.docked == () and other.digest() == saved.digest()
    b = rbt.RobotBuilder("arms").body("a", mass=1.0, inertia=(1, 1, 1)).body("b", mass=1.0, inertia=(1, 1, 1))
    b.rope("line", "a", "b", length=1.5)
    sim = rbt.Simulation(b.build())
    save_state(sim, tmp_path / "y.json")
    b.rope("more", "a", "b", length=1.5)
    with pytest.raises(rbt.ScenarioError, match="is of another scenario"):
        load_state(rbt.Simulation(b.build()), tmp_path / "y.json")


def places(value, path=()):
    """The paths to all that a memory holds."""
    if path:
        yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key))


@pytest.mark.parametrize("nonsense", [None, "x", -1, 10**30, float("nan"), [], {}, [1, 2, 3]], ids=repr)
def test_impossible_contents_with_the_right_sum_are_refused_or_run_and_nothing_is_changed_by_a_refusal(nonsense):
    """In each place of a memory in turn: what a simulation goes on from, it can go on from, and can be reset."""
    sim, counts = top(), [0, 0]
    sim.command(rbt.WrenchCommand(rbt.Wrench("brick", (1.0, 0.0, 2.0)), 30_000_000))
    sim.advance(3)
    digest, memory = sim.digest(), json.loads(json.dumps(sim.memory()))
    for path in places(memory):
        content = json.loads(json.dumps(memory))
        part = content
        for key in path[:-1]:
            part = part[key]
        part[path[-1]] = nonsense
        try:
            rehearse(top(), {"simulation": content}, "a.json")
        except rbt.ScenarioError as err:
            assert "a.json" in str(err)
            counts[0] += 1
        else:
            counts[1] += 1
        try:
            restore(sim, {"simulation": content}, "a.json")
        except rbt.ScenarioError:
            assert sim.digest() == digest
        else:
            restore(sim, {"simulation": memory}, "a.json")
            assert sim.digest() == digest
    assert min(counts) > 0, counts
