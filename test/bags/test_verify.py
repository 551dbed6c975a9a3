"""Runs again from their bags: the same bits at every checkpoint, and where a difference starts."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.cdr import encode
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.rerun import Rerun
from rbt_ros.bags.types import Types
from rbt_ros.bags.verify import verify
from rbt_ros.command_log import set_engine
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings, HingeTorque, HingeTrajectory

POSITION = HingeSettings((HingeSetting("wrist", mode="position", kp=50.0, kd=5.0),))
ROPE = """
rbt: 1
robot:
  bodies: {ball: {mass: 1, inertia: [0.1, 0.1, 0.1]}}
  ropes: {tether: {bodies: [world, ball], length: 1 m}}
gravity: [0, 0, -9.81]
step: 5 ms
"""


def rewritten(bag, folder, change=lambda topic, k, data: data, without=(), later_ns=0):
    """The bag again, with other bytes here and there, recorded later."""
    writer, rows = BagWriter(folder), []
    for topic in bag.topics.values():
        if topic.name not in without:
            channel = writer.add_channel(topic.name, topic.type)
            rows += [
                (time + later_ns, channel, change(topic.name, k, data))
                for k, (time, data) in enumerate(zip(topic.t_ns, topic.data, strict=True))
            ]
    for time, channel, data in sorted(rows):
        writer.write(channel, time, bytes(data))
    writer.close()
    return rbt.Bag(folder)


def all_commands(sim):
    """All kinds of commands and settings, several in one tick, some in an order that the node would not let pass."""
    sim.advance(13)
    for k, hold in enumerate((20_000_000, 50_000_000)):
        sim.command(
            rbt.WrenchCommand(rbt.Wrench("left", (0, 0, 1.0 + k), frame="world", at=("com", "origin")[k]), hold)
        )
    sim.command(HingeTorque("elbow", (0.1, -0.2, 0.3)))
    sim.advance(7)
    sim.command(HingeCommand(("right_pivot", "left_pivot"), effort=(0.5, -0.5)))
    sim.command(POSITION)
    sim.command(HingeCommand(("wrist",), position=(3.0,)))
    sim.advance(11)
    sim.command(HingeTrajectory(("wrist",), (10_000_000, 90_000_000), ((3.1,), (2.5,)), ((0.0,), (0.0,))))
    sim.advance(40)
    sim.set_effort("shoulder", (0.3, 0.2, 0.1))
    sim.command(HingeCommand(("left_pivot",)))
    sim.advance(50)


def reset_and_set(sim):
    sim.advance(30)
    sim.command(HingeCommand(("wrist",), effort=(0.5,)))
    sim.advance(30)
    sim.set_hinge("wrist", 1.0, rate=2.0)
    sim.advance(30)
    sim.reset()
    sim.advance(30)


def other_steps(sim):
    sim.advance(25)
    sim.set_step(5e-4)
    sim.advance(41)
    sim.set_integrator("rk4")
    sim.command(HingeCommand(("wrist",), effort=(0.5,)))
    sim.advance(60)


def controlled(sim):
    """A controller in the same process that sets an effort every other step."""
    sim.run(0.1, every=2e-3, controller=lambda s: s.set_effort("wrist", -0.5 * s.state.v[6]))


def measured(sim):
    """A joint follows samples that come late, are lost and come back, between other commands."""
    sim.prescribe("wrist", rbt.Measured(delay=0.01, timeout=0.02))
    for k in range(40):
        if not 15 <= k < 30:
            q, v = 3.14159 + 0.2 * math.sin(0.1 * k), 4.0 * math.cos(0.1 * k)
            sim.command(rbt.Measurement(("wrist",), (q,), (v,) if k % 3 else (), age_ns=1_000_000 * (k % 4)))
        sim.command(rbt.WrenchCommand(rbt.Wrench("left", (0, 0, 1.0)), 3_000_000))
        sim.advance(5)
    assert [change.what for change in sim.changes] == ["prescribe", "lose", "find"]


@pytest.mark.parametrize("story", [all_commands, reset_and_set, other_steps, controlled, measured])
def test_a_run_from_its_inputs_has_the_same_bits(tmp_path, story):
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(tmp_path / "b", sim, outputs={"markers": 0}):
        story(sim)
    bag = rbt.Bag(tmp_path / "b")
    verdict = verify(bag)
    assert verdict.same, verdict.text()
    assert verdict.messages > 90 and verdict.digests >= 1
    again = Rerun(bag)
    again.go(bag.span[1])
    again.go(again.zero_ns + sim.t_ns)
    assert again.sim.digest() == sim.digest()


def test_a_recording_that_begins_late_and_a_start_that_was_set(tmp_path):
    """What the future depended on is in the bag: pending commands, and more than the scenario knows."""
    sim = rbt.load("cubesat").simulation()
    sim.set_stabilise("projection")
    sim.set_body("cubesat", omega_body=(1.0, 2.0, 3.0))
    sim.advance(37)
    sim.command(rbt.WrenchCommand(rbt.Wrench("cubesat", moment=(0.01, 0, 0)), 50_000_000))
    sim.advance(10)
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(100)
    assert verify(rbt.Bag(tmp_path / "b")).same


def test_a_bag_that_others_converted(tmp_path):
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(tmp_path / "b", sim):
        all_commands(sim)
    convert = [str(Path(sys.executable).with_name("rosbags-convert")), "--src", str(tmp_path / "b")]
    subprocess.run([*convert, "--dst", str(tmp_path / "db"), "--dst-storage", "sqlite3"], check=True, timeout=60)
    verdict = verify(rbt.Bag(tmp_path / "db"))
    assert verdict.same, verdict.text()


def test_a_bag_of_others_with_the_command_log_of_the_node(tmp_path):
    """No /run, no digest, as `ros2 bag record` makes it: the scenario is given; stamps and kinds give the order."""
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(20)
        sim.command(POSITION)
        sim.command(HingeCommand(("wrist",), position=(2.0,)))
        sim.advance(100)
    bag = rewritten(rbt.Bag(tmp_path / "b"), tmp_path / "c", without=("/rbt_simulator/run", "/rbt_simulator/digest"))
    with pytest.raises(rbt.ScenarioError, match="was not recorded by rbt and holds no scenario; give it: --scenario"):
        verify(bag)
    verdict = verify(bag, "five_body")
    assert verdict.same and verdict.messages == 121 + 13 * 2


def test_a_bag_of_others_in_which_step_and_integrator_change(tmp_path):
    """Nothing but the command log tells of it, as where a node's parameters were set."""
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(tmp_path / "b", sim) as recorder:
        sim.advance(20)
        for values in ({"step": 0.0005, "integrator": "dop853"}, {"step": 0.003}):
            set_engine(sim, values)
            recorder.note_parameters(values)
            sim.advance(40)
    bag = rewritten(rbt.Bag(tmp_path / "b"), tmp_path / "c", without=("/rbt_simulator/run", "/rbt_simulator/digest"))
    assert verify(rbt.Bag(tmp_path / "b")).same
    verdict = verify(bag, "five_body")
    assert verdict.same and verdict.messages > 80, verdict.text()
    assert verdict.until_ns == 10**9 + sim.t_ns


def test_a_bag_knows_when_friction_was_set(tmp_path):
    """From Python, as from a viewer: it is in the log, whoever records."""
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(20)
        sim.set_friction("wrist", damping=0.5)
        sim.advance(50)
    assert verify(rbt.Bag(tmp_path / "b")).same


def test_a_bag_of_others_that_tells_what_runs(tmp_path):
    """As the node tells it on ~/run, recorded by the clock on the wall: stamps give the order, resets included."""
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(20)
        sim.command(HingeCommand(("wrist",), effort=(1.0,)))
        sim.advance(30)
        sim.reset()
        sim.command(HingeCommand(("wrist",), effort=(-1.0,)))
        sim.advance(50)

    def change(topic, k, data):
        if not topic.endswith("/run"):
            return data
        run = json.loads(rbt.Bag(tmp_path / "b").texts(topic)[k][1])
        return encode(Types(), "std_msgs/msg/String", {"data": json.dumps({**run, "by_stamp": True})})

    bag = rewritten(
        rbt.Bag(tmp_path / "b"), tmp_path / "c", change, without=("/rbt_simulator/digest",), later_ns=10**18
    )
    verdict = verify(bag)
    assert verdict.same and verdict.messages > 100, verdict.text()


@pytest.mark.parametrize("late", [0, 110])
def test_ropes(tmp_path, late):
    """It falls for 0.45 s, then the rope is taut: recorded from the start, and from when it is."""
    file = tmp_path / "rope.yaml"
    file.write_text(ROPE)
    sim = rbt.load(str(file)).simulation()
    sim.advance(late)
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(150)
    verdict = verify(rbt.Bag(tmp_path / "b"))
    assert verdict.same and verdict.messages > 150


def test_modes_by_the_log_and_by_call(tmp_path):
    """A joint that a command locks and frees, one that a call locks: the states of these modes are in the bag."""
    sim = rbt.load("five_body").simulation()
    sim.advance(20)
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(20)
        sim.command(HingeSettings((HingeSetting("wrist", mode="locked"),)))
        sim.advance(20)
        sim.lock("elbow")
        sim.advance(20)
        sim.command(HingeSettings((HingeSetting("wrist", mode="effort"),)))
        sim.advance(20)
    verdict = verify(rbt.Bag(tmp_path / "b"))
    assert verdict.same, verdict.text()


# --------------------------------------------------------------------------------------------------------- differences
@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags") / "b"
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(folder, sim, outputs={"markers": 0}):
        sim.advance(50)
        sim.command(HingeCommand(("wrist",), effort=(0.5,)))
        sim.advance(250)
    return rbt.Bag(folder)


def test_the_first_other_bit_is_found(bag, tmp_path):
    """The last bit of one velocity at tick 123."""

    def change(topic, k, data):
        data = bytearray(data)
        if topic == "/joint_states" and k == 123:
            data[-12] ^= 1  # the lowest byte of the last velocity; behind it lies the length of the efforts
        return data

    verdict = verify(rewritten(bag, tmp_path / "c", change))
    assert not verdict.same
    where = "in tick 123, at 1.123 s (all agreed to 1.122 s): /joint_states: velocity[2]: recorded "
    assert verdict.difference.startswith(where) and verdict.digests == 2


def test_a_command_that_is_missing_is_found_where_it_acts(bag, tmp_path):
    """The command acts from tick 50 on; the first other state is that of tick 51."""
    log = "/rbt_simulator/latched/hinge_commands"
    verdict = verify(rewritten(bag, tmp_path / "c", without=(log,)))
    assert verdict.difference.startswith("in tick 51, at 1.051 s (all agreed to 1.05 s): /joint_states: position[0]")


def test_a_wrong_digest_is_found(bag, tmp_path):
    def change(topic, k, data):
        return data[:-3] + b"zz\0" if topic.endswith("/digest") and k == 2 else data

    verdict = verify(rewritten(bag, tmp_path / "c", change))
    assert "in tick 200, at 1.2 s" in verdict.difference and "digest of the state: recorded '200 " in verdict.difference


def test_another_scenario_or_robot_is_refused(bag, tmp_path):
    text = rbt.load("five_body").text
    heavier = tmp_path / "heavier.yaml"
    heavier.write_text(text.replace("mass: 2 kg", "mass: 2.5 kg"))
    with pytest.raises(rbt.ScenarioError, match=r"cannot be run again from its scenario: the checkpoint is of another"):
        verify(bag, str(heavier))
    with pytest.raises(rbt.ScenarioError, match="joints .* of the bag are not those of robot 'cubesat'"):
        verify(bag, "cubesat")


def test_a_simulation_made_in_python_needs_a_scenario(tmp_path):
    robot = rbt.RobotBuilder("sat").body("hub", mass=1, inertia=(1, 1, 1)).build()
    sim = rbt.Simulation(robot)
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(5)
    with pytest.raises(rbt.ScenarioError, match="was recorded from a simulation made in Python and holds no scenario"):
        verify(rbt.Bag(tmp_path / "b"))


def test_damaged_statements_are_refused(bag, tmp_path):
    """What runs, with a word where its state should be."""
    run = json.loads(bag.texts("/rbt_simulator/run")[0][1])
    run["memory"]["mechanism"] = "nothing"
    spoilt = encode(Types(), "std_msgs/msg/String", {"data": json.dumps(run)})
    changed = rewritten(bag, tmp_path / "c", lambda topic, k, data: spoilt if topic.endswith("/run") else data)
    with pytest.raises(rbt.ScenarioError, match="cannot be run again .*: the memory is damaged: TypeError"):
        verify(changed)


def test_what_if(bag):
    """Half the weight of a body, from the start: the same commands, another motion, no complaint."""
    again = Rerun(bag, changes={"robot.bodies.right.mass": "0.75 kg", "step": "2 ms"})
    again.go(1_200_000_000)
    mass = [body.mass for body in again.sim.robot.bodies]
    assert mass == [3.0, 3.0, 2.0, 0.75, 1.5] and again.sim.h_ns == 2_000_000 and again.sim.t_ns == 200_000_000
    same = Rerun(bag)
    same.go(1_200_000_000)
    assert np.abs(same.sim.state.q - again.sim.state.q).max() > 1e-6
    with pytest.raises(rbt.ScenarioError, match="'step.size' names no value of the scenario; write its keys with dots"):
        Rerun(bag, changes={"step.size": "1"})


def test_the_command_line_tells_by_its_exit_code(run_rbt, bag, tmp_path):
    done = run_rbt("verify", bag.path)
    assert done.code == 0 and "the same: 4 digests and" in done.out
    rewritten(bag, tmp_path / "c", without=("/rbt_simulator/latched/hinge_commands",))
    done = run_rbt("verify", "c")
    assert done.code == 1 and done.out.startswith("differs in tick 51, at 1.051 s")
    done = run_rbt("verify", tmp_path)
    assert done.code == 2 and "is no bag" in done.err
