"""The shared folder: rows are the samples to float32, readers see whole rows, nobody who looks on changes a bit."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

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


def test_a_line_without_end_does_not_grow_and_deep_ones_are_no_commands(share):
    """Who writes into the pipe past the server is passed over, too."""
    stream, reader = share(rbt.load("cubesat").simulation())
    for text in ("[" * 4000, '{"key": ' + "[" * 900 + "]" * 900 + "}", '{"value": {"a": 1}}', "9" * 5000):
        os.write(reader._pipe, text.encode() + b"\n")
        assert list(stream.commands()) == []
    for _ in range(40):
        os.write(reader._pipe, b"x" * 4096)
        assert list(stream.commands()) == []
    assert len(stream._rest) <= 4096
    os.write(reader._pipe, b"\n")
    assert reader.send({"key": "a", "value": [1, "b", None, True]}) == ""
    assert list(stream.commands()) == [{"key": "a", "value": [1, "b", None, True]}]


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


BESIDE = """
import sys, time
import rbt_ros as rbt
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.memory import Stream
from rbt_ros.stream.scene import described

sim = rbt.load("cubesat").simulation()
stream = Stream(Layout(sim.robot), described(sim.robot))
print(stream.folder, flush=True)
sys.stdin.read()
stream.close()
"""
NAMESPACE = ("unshare", "--pid", "--fork", "--mount-proc", "--kill-child")


@pytest.fixture
def beside():
    """beside(*how) -> a process that shows a run and the folder of it; killed at the end, as is what it has left."""
    started = []

    def beside(*how):
        command = [*how, sys.executable, "-c", BESIDE]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        folder = Path(process.stdout.readline().strip())
        started.append((process, folder))
        return process, folder

    yield beside
    for process, folder in started:
        process.kill()
        process.wait()
        process.stdin.close()
        process.stdout.close()
        shutil.rmtree(folder, ignore_errors=True)


def test_what_killed_runs_left_behind_goes_and_what_living_ones_use_stays(share, beside):
    killed, left = beside()
    _, used = beside()
    killed.kill()
    killed.wait()
    assert left.exists()
    stream, _ = share(rbt.load("cubesat").simulation())
    assert not left.exists() and used.exists() and stream.folder.exists()


def test_a_run_in_another_pid_namespace_keeps_its_folder(share, beside):
    """As in a container with --ipc=host: /dev/shm is the same, and its process number stands for nothing here."""
    if subprocess.run([*NAMESPACE, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets us make no PID namespace: unshare --pid wants root, or user namespaces")
    first, _ = share(rbt.load("cubesat").simulation())
    process, folder = beside(*NAMESPACE)  # there is none of our numbers there
    assert first.folder.exists()
    second, _ = share(rbt.load("cubesat").simulation())
    reader = Reader(folder)  # it is whole, and is still listened to
    assert reader.send({"key": "pause"}) == ""
    reader.close()
    process.communicate("")
    assert process.returncode == 0 and not folder.exists() and second.folder.exists()


def test_what_bears_our_name_and_is_no_folder_of_ours_stays(share, tmp_path):
    """/dev/shm is everybody's: a link there leads nowhere, a file is not opened."""
    (tmp_path / "kept").touch()
    link, file = memory.SHM / f"{memory.NAME}link", memory.SHM / f"{memory.NAME}file"
    link.symlink_to(tmp_path)
    file.touch()
    try:
        share(rbt.load("cubesat").simulation())
        assert link.is_symlink() and file.exists() and (tmp_path / "kept").exists()
    finally:
        link.unlink()
        file.unlink()


def test_a_folder_that_is_removed_before_it_is_locked_is_made_again(share, monkeypatch):
    """Another run that starts at the same time takes it for one that was left."""
    made, lock = [], memory.lock_of

    def robbed(folder, *how):
        made.append(folder)
        if len(made) == 1:
            shutil.rmtree(folder)
        return lock(folder, *how)

    monkeypatch.setattr(memory, "forget_the_dead", lambda: None)
    monkeypatch.setattr(memory, "lock_of", robbed)
    stream, _ = share(rbt.load("cubesat").simulation())
    assert len(set(made)) == 2 and stream.folder == made[1]


FULL = """
import sys, warnings
from pathlib import Path
import rbt_ros as rbt
from rbt_ros.errors import SetupError
from rbt_ros.stream import memory
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.scene import described

memory.SHM, rest = Path(sys.argv[1]), Path(sys.argv[1], "rest")

def fill():
    with rest.open("ab", buffering=0) as file:
        try:
            while True:
                file.write(bytes(4096))
        except OSError:
            pass

sim = rbt.load("cubesat").simulation()
fill()
try:
    memory.Stream(Layout(sim.robot), described(sim.robot))
except SetupError as err:
    print(err)
print([path.name for path in memory.SHM.iterdir()])
rest.unlink()
stream = memory.Stream(Layout(sim.robot), described(sim.robot))
fill()
with warnings.catch_warnings(record=True) as told:
    stream.set_settings({"controls": ["x" * 10000]})
print(told[0].message)
sim.advance(3)
stream.publish(sim.sample())
reader = memory.Reader(stream.folder)
print(reader.read().tick, reader.settings())
"""


def test_a_full_memory_refuses_the_view_and_never_ends_the_run(tmp_path):
    """A write into a map without a page behind it would be SIGBUS."""
    mount = 'mount -t tmpfs -o size=256k none "$0" && exec "$@"'
    inside = ["unshare", "--mount", "sh", "-c", mount, str(tmp_path)]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this system lets us mount no small memory: unshare --mount wants root")
    done = subprocess.run(
        [*inside, sys.executable, "-c", FULL, str(tmp_path)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    refused, left, told, shown = done.stdout.splitlines()
    assert refused == f"the view has no room in {tmp_path}: No space left on device; free some, or leave the view out."
    assert left == "['rest']"
    assert "viewers are not told what changed" in told and "No space left on device" in told
    assert shown == "3 {}"
