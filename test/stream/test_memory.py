"""The shared folder: rows are the samples to float32, readers see whole rows, nobody who looks on changes a bit."""

import os
import subprocess
import sys

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.vec import qturn
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.stream import memory
from rbt_ros.stream.layout import LOAD, POSE, SCALARS, Layout
from rbt_ros.stream.memory import Reader, Stream
from rbt_ros.stream.scene import described


@pytest.fixture
def share():
    """share(sim) -> a stream and a reader of it; both are closed at the end."""
    opened = []

    def share(sim):
        stream = Stream(Layout(sim.robot), described(sim.robot))
        opened.append(stream)
        reader = Reader(stream.folder)
        opened.append(reader)
        return stream, reader

    yield share
    for each in reversed(opened):
        each.close()


def scalars(row, layout):
    return dict(zip((name for name, _ in SCALARS), layout.part(row, "scalars").tolist(), strict=True))


def test_a_row_is_the_sample_to_float32(share):
    sim = rbt.load("five_body").simulation()
    sim.advance(7)
    stream, reader = share(sim)
    assert reader.read() is None  # nothing was published
    sample, layout = sim.sample(), Layout(sim.robot)
    stream.publish(sample)
    frame = reader.read()
    assert (frame.t_ns, frame.tick, frame.counter) == (sim.t_ns, 7, 2)
    poses = layout.part(frame.row, "pose").reshape(-1, POSE)
    np.testing.assert_array_equal(poses[:, :3], sample.pose[:, 4:].astype("f4"))
    np.testing.assert_array_equal(poses[:, 3:7], sample.pose[:, :4].astype("f4"))
    np.testing.assert_array_equal(poses[:, 7:], sample.twist[:, :3].astype("f4"))
    np.testing.assert_array_equal(layout.part(frame.row, "velocity"), sample.twist[:, 3:].astype("f4").ravel())
    told = scalars(frame.row, layout)
    assert told["energy.kinetic"] == np.float32(sample.energy.kinetic)
    assert (told["L.x"], told["L.y"], told["L.z"]) == tuple(np.float32(sample.angular_momentum_com))
    _, q, v = sim.robot.joint_place("wrist")
    assert layout.joints[0] == "wrist"
    assert layout.part(frame.row, "position")[0] == np.float32(sample.q[q])
    assert layout.part(frame.row, "rate")[0] == np.float32(sample.v[v])


@pytest.mark.parametrize("frame", ["body", "world"])
def test_a_push_is_told_in_world_axes_where_it_acts_and_is_gone_when_it_ends(share, frame):
    sim = rbt.load("cubesat").simulation()
    sim.advance(100)  # so that body axes are not those of the world
    stream, reader = share(sim)
    force, moment, at = (1.0, 2.0, 3.0), (0.3, 0.2, 0.1), (0.05, 0.02, -0.1)
    sim.command(WrenchCommand(Wrench("cubesat", force, moment, frame, at), 2_000_000))
    sample, layout = sim.sample(), Layout(sim.robot)
    stream.publish(sample)
    load = layout.part(reader.read().row, "load").reshape(-1, LOAD)[0]
    q, p = tuple(sample.pose[0, :4]), sample.pose[0, 4:]
    expected = (force, moment) if frame == "world" else (qturn(q, force), qturn(q, moment))
    np.testing.assert_allclose(load, np.float32([*expected[0], *expected[1], *(p + qturn(q, at))]), rtol=1e-6)
    sim.advance(2)
    stream.publish(sim.sample())
    assert not layout.part(reader.read().row, "load").any()


def test_readers_wait_for_whole_rows(share, monkeypatch):
    """While the counter is odd, the row is being written."""
    monkeypatch.setattr(memory, "TRIES", 3)
    sim = rbt.load("cubesat").simulation()
    stream, reader = share(sim)
    stream.publish(sim.sample())
    stream._head[memory.COUNTER] += 1
    assert reader.read() is None
    stream._head[memory.COUNTER] += 1
    assert reader.read().counter == 4


def test_scene_and_settings_are_replaced_as_a_whole(share):
    sim = rbt.load("cubesat").simulation()
    stream, reader = share(sim)
    before = reader.revisions()
    stream.set_settings({"controls": [1, 2]})
    stream.set_scene(described(sim.robot, "other"))
    assert reader.revisions() == (before[0] + 1, before[1] + 1)
    assert reader.settings() == {"controls": [1, 2]} and reader.scene()["name"] == "other"
    assert not list(stream.folder.glob("*.part"))


def test_commands_come_in_order_and_rubbish_is_passed_over(share):
    stream, reader = share(rbt.load("cubesat").simulation())
    assert list(stream.commands()) == []
    assert reader.send({"key": "a"}) == "" and reader.send({"key": "b"}) == ""
    pipe = os.open(stream.folder / "commands", os.O_WRONLY | os.O_NONBLOCK)
    os.write(pipe, b'rubbish\n[1]\n{"key": "c"}\n{"key":')
    assert [each["key"] for each in stream.commands()] == ["a", "b", "c"]
    os.write(pipe, b' "d"}\n')
    os.close(pipe)
    assert [each["key"] for each in stream.commands()] == ["d"]


def test_what_cannot_be_sent_is_told(share):
    stream, reader = share(rbt.load("cubesat").simulation())
    assert "is longer than the 4096" in reader.send({"key": "x" * 5000})
    answers = [reader.send({"key": "y" * 4000}) for _ in range(100)]  # a pipe holds 64 KiB
    assert answers[-1] == "the simulation does not take commands now"


def test_a_viewer_that_is_killed_leaves_the_motion_to_the_bit(share):
    """One run alone; one published, polled, read by another process, which is killed amid it."""
    alone = rbt.load("cubesat").simulation()
    alone.advance(400)
    sim = rbt.load("cubesat").simulation()
    stream, _ = share(sim)
    stream.publish(sim.sample())
    code = (
        "import sys; from rbt_ros.stream.memory import Reader; reader = Reader(sys.argv[1])\n"
        "while True:\n    if frame := reader.read():\n        print(frame.tick, flush=True)\n"
        "    reader.send({'key': 'nothing'})"
    )
    viewer = subprocess.Popen([sys.executable, "-c", code, stream.folder], stdout=subprocess.PIPE)
    for tick in range(10, 401, 10):
        sim.advance(10)
        stream.publish(sim.sample())
        list(stream.commands())
        assert viewer.stdout.readline() or tick > 200
        if tick == 200:
            viewer.kill()
    viewer.wait()
    viewer.stdout.close()
    assert sim.digest() == alone.digest()


def test_what_killed_runs_left_behind_goes(share):
    dead = memory.SHM / f"{memory.NAME}999999999-x"  # no process has that number
    dead.mkdir()
    stream, _ = share(rbt.load("cubesat").simulation())
    assert not dead.exists() and stream.folder.exists()
