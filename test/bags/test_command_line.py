"""The verbs of bags by their command line: each option, each wrong input in one sentence, exit codes."""

import csv
import os
import shutil

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.files import BagWriter

PENDULUM = """
rbt: 1
robot:
  bodies: {arm: {mass: 1, inertia: [0.1, 0.1, 0.1], com: [0, 0, -1]}}
  hinges: {shoulder: {kind: revolute, parent: world, child: arm, axis: [0, 1, 0]}}
gravity: [0, 0, -9.81]
start: {hinges: {shoulder: {angle: 0.5}}}
"""


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    """A scenario, and a bag of it: 0.3 s in two chunks."""
    folder = tmp_path_factory.mktemp("shared")
    (folder / "pendulum.yaml").write_text(PENDULUM)
    sim = rbt.load(str(folder / "pendulum.yaml")).simulation()
    with rbt.Recorder(folder / "swing", sim, outputs={"markers": 10}) as recorder:
        sim.advance(200)
        hand = recorder.recording._hand
        hand._queue.append((hand._scribe._bag.flush, ()))
        sim.advance(100)
    return folder


@pytest.fixture
def swing(shared, tmp_path):
    """The bag, in a folder of one's own."""
    shutil.copytree(shared / "swing", tmp_path / "swing")
    shutil.copy(shared / "pendulum.yaml", tmp_path)
    return tmp_path / "swing"


def cut(folder):
    """As a process that was killed leaves it: the last third is missing."""
    (file,) = folder.glob("*.mcap")
    data = file.read_bytes()
    file.write_bytes(data[: len(data) * 2 // 3])
    (folder / "metadata.yaml").unlink()


def test_a_run_is_recorded_told_and_verified(run_rbt, swing, tmp_path):
    done = run_rbt("run", "pendulum.yaml", "--until", "0.1", "--record", "flight", "--out", "files")
    assert done.code == 0 and "wrote flight: 2" in done.out and (tmp_path / "files" / "pendulum.csv").exists()
    done = run_rbt("info", "flight")
    assert done.code == 0 and "  /joint_states: sensor_msgs/msg/JointState, 101, 1000 Hz" in done.out
    assert "from 1 s runs 'pendulum', tick 0: " in done.out
    done = run_rbt("verify", "flight")
    assert (done.code, done.err) == (0, "") and done.out.startswith("the same: 2 digests and ")
    assert run_rbt("verify", "flight", "--scenario", "pendulum.yaml").code == 0
    done = run_rbt("run", "pendulum.yaml", "--until", "0.1", "--record", "flight")
    assert done.code == 1 and done.err == "rbt: the bag flight is there already; give another name, or remove it.\n"


def test_a_run_is_recorded_in_other_ways(run_rbt, swing, tmp_path):
    """As sqlite3, of which no MCAP is left; in files of 40 ms, by lz4."""
    run = ("run", "pendulum.yaml", "--until", "0.1", "--record")
    assert "wrote three: 2" in run_rbt(*run, "three", "--storage", "sqlite3").out
    assert sorted(file.name for file in (tmp_path / "three").iterdir()) == ["metadata.yaml", "three.db3"]
    assert not (tmp_path / "three_mcap").exists()
    assert run_rbt(*run, "four", "--split-s", "0.04", "--split-mb", "5", "--compression", "lz4").code == 0
    files = sorted((tmp_path / "four").glob("*.mcap"))
    assert len(files) == 3 and all(b"lz4" in file.read_bytes() for file in files)
    for name in ("three", "four"):
        assert run_rbt("verify", name).out.startswith("the same: 2 digests and ")


def test_conversions(run_rbt, swing, tmp_path):
    done = run_rbt("convert", "swing", "t.csv")
    assert done.code == 0 and "wrote t.csv: 9 columns" in done.out
    assert run_rbt("convert", "swing", "a.csv", "--layout", "blender", "--frame-rate", "100").out.endswith(
        "31 frames\n"
    )
    with (tmp_path / "a.csv").open(newline="") as file:
        assert [float(row["t [s]"]) for row in csv.DictReader(file)] == pytest.approx([k / 100 for k in range(31)])
    assert (
        "arrays" in run_rbt("convert", "swing", "b.npz").out and len(np.load(tmp_path / "b.npz")["clock:t_ns"]) == 301
    )
    for words, storage in (((), "sqlite3"), (("--storage", "mcap"), "mcap")):
        done = run_rbt("convert", "swing", storage, *words)
        assert done.out == f"wrote {storage}: {rbt.Bag(swing).messages} messages, {storage}\n"
    assert run_rbt("convert", "t.csv", "again").out == "wrote again: 332 messages\n"
    assert run_rbt("convert", "pendulum.yaml", "p.urdf").code == 0


def test_inputs_drive_a_simulation(run_rbt, swing, tmp_path):
    done = run_rbt("replay", "swing", "--as", "inputs")
    assert done.code == 0 and "shoulder.position [rad]" in done.out and "wrote out/swing_residuals.png" in done.out
    options = ["--scenario", "pendulum.yaml", "--set", "robot.bodies.arm.mass=2 kg", "--drive", "shoulder", "--align"]
    done = run_rbt("replay", "swing", "--as", "inputs", *options, "--out", "figures")
    assert done.code == 0 and (tmp_path / "figures" / "swing_residuals.png").stat().st_size > 10_000


def test_a_killed_recording_is_repaired(run_rbt, swing):
    """info tells, verify and convert take what is there, repair makes it whole, twice changes nothing."""
    cut(swing)
    done = run_rbt("info", "swing")
    assert done.code == 0 and "  damaged: swing_0.mcap: it breaks off in the record at byte " in done.out
    assert "metadata.yaml is missing: was the recording killed? `rbt repair swing` makes it" in done.out
    done = run_rbt("verify", "swing")
    assert done.code == 2 and done.out.startswith("damaged: swing_0.mcap: ") and "left is the same: " in done.out
    assert "not compared, as messages are lost: from 1.3 s on\n" in done.out
    assert run_rbt("convert", "swing", "t.csv").out.startswith("damaged: swing_0.mcap: ")
    assert run_rbt("replay", "swing", "--as", "inputs").out.startswith("damaged: swing_0.mcap: ")
    count = rbt.Bag(swing).messages
    assert count > 200
    done = run_rbt("repair", "swing")
    assert done.code == 0 and f"{count} messages are whole, the file as it was is kept as .damaged" in done.out
    done = run_rbt("repair", "swing")
    assert (done.code, done.out) == (0, f"metadata.yaml: {count} messages in 1 files\n")
    assert "damaged" not in run_rbt("info", "swing").out and run_rbt("verify", "swing").code == 0


def test_repair_keeps_what_the_recorder_says(run_rbt, tmp_path):
    """How many samples were lost stays in metadata.yaml."""
    writer = BagWriter(tmp_path / "b")
    writer.add_channel("/clock", "rosgraph_msgs/msg/Clock", "clock")
    writer.add_metadata("rbt_ros", {"rbt_lost_samples": "7"})
    writer.close({"rbt_lost_samples": "7"})
    before = (tmp_path / "b" / "metadata.yaml").read_text()
    assert run_rbt("repair", "b").code == 0
    assert "rbt_lost_samples: '7'" in before and (tmp_path / "b" / "metadata.yaml").read_text() == before
    assert "incomplete: 7 samples were lost while it was recorded" in run_rbt("info", "b").out


def test_a_difference_has_an_exit_code_of_its_own(run_rbt, swing, tmp_path):
    (tmp_path / "heavy.yaml").write_text(PENDULUM.replace("angle: 0.5", "angle: 0.6"))
    bag, writer = rbt.Bag(swing), BagWriter(tmp_path / "log")
    channel = writer.add_channel("/joint_states", "sensor_msgs/msg/JointState")
    for t, data in zip(bag.topic("joint_states").t_ns, bag.topic("joint_states").data, strict=True):
        writer.write(channel, t, data)
    writer.close()
    done = run_rbt("verify", "log", "--scenario", "heavy.yaml")
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith(
        "differs in tick 0, at 1 s (all agreed to 1 s): /joint_states: position[0]: recorded 0.5, "
    )


WRONG = {  # the words of a command: exit code, what is said
    "run pendulum.yaml --until 1 --compression lz4 --split-s 1": (
        1,
        "rbt: --compression, --split-s: of a bag, and none is recorded; say where: --record BAG",
    ),
    "run pendulum.yaml --until 1 --record x --storage sqlite3 --split-mb 1": (
        1,
        "rbt: --split-mb: for --storage mcap only; sqlite3 is one file, as it is.",
    ),
    "run pendulum.yaml --until 1 --record swing --storage sqlite3": (1, "rbt: the bag swing is there already; give an"),
    "run pendulum.yaml --until 1 --record x --split-s 0": (2, "'0' is not a positive number of seconds"),
    "run pendulum.yaml --until 1 --record x --compression bz2": (2, "invalid choice: 'bz2'"),
    "replay swing --as inputs --set step=[1,": (1, "rbt: step=[1,: the value is no YAML; quote what holds brackets"),
    "info nowhere": (
        1,
        "rbt: there is no bag nowhere, and 'nowhere' is neither a YAML file nor a scenario of the pack",
    ),
    "info nowhere.mcap": (1, "rbt: there is no bag nowhere.mcap."),
    "info empty": (1, "rbt: empty is no bag: it has no metadata.yaml, no .mcap file and not one .db3 file."),
    "info text.db3": (1, "rbt: the bag text.db3 cannot be read ("),
    "verify nowhere": (2, "rbt: there is no bag nowhere."),
    "verify text.txt": (2, "rbt: the bag text.txt cannot be read (ReaderError: Unrecognized storage format '.txt')."),
    "verify zero": (2, "damaged: zero.mcap: it is empty; what was written before that is read\nrbt: zero was not rec"),
    "verify swing --scenario nowhere": (2, "rbt: 'nowhere' is neither a YAML file nor a scenario"),
    "verify swing --scenario cubesat": (
        2,
        "rbt: joints shoulder of the bag are not those of robot 'cubesat'; it is the",
    ),
    "repair nowhere": (1, "rbt: there is no bag nowhere."),
    "repair empty": (1, "rbt: empty holds no .mcap file; sqlite3 bags are repaired by"),
    "convert nowhere t.csv": (1, "rbt: 'nowhere' is neither a bag nor a table, and 't.csv' does not end in .urdf"),
    "convert pendulum.yaml t.csv": (1, "rbt: 'pendulum.yaml' is a robot, and 't.csv' does not end in .urdf, the one"),
    "convert none.csv b": (1, "rbt: there is no file none.csv; give the path of a table."),
    "convert swing swing": (1, "rbt: the bag swing is there already; give another name, or remove it."),
    "convert swing no/t.csv": (
        1,
        "rbt: no/t.csv cannot be written (No such file or directory); give a file in a folder",
    ),
    "convert swing no/t.npz": (
        1,
        "rbt: no/t.npz cannot be written (No such file or directory); give a file in a folder",
    ),
    "convert swing pipe.csv": (1, "rbt: pipe.csv cannot be written: it is a pipe, no regular file; name another one."),
    "convert swing zero.npz": (1, "rbt: zero.npz cannot be written: it is a device, no regular file; name another"),
    "convert pendulum.yaml pipe.urdf": (1, "rbt: pipe.urdf cannot be written: it is a pipe, no regular file; name"),
    "convert swing text.txt/b": (1, "rbt: the bag text.txt/b cannot be written (Not a directory)."),
    "convert swing t.xlsx": (1, "rbt: 't.xlsx' is neither .csv nor .npz, nor a folder for a bag."),
    "convert swing t.npz --layout blender": (1, "rbt: layout 'blender' is of a .csv file, which 't.npz' is not."),
    "convert swing t.csv --frame-rate 0": (2, "argument --frame-rate: '0' is not a number above 0"),
    "convert swing t.csv --layout round": (2, "argument --layout: invalid choice: 'round'"),
    "convert swing b --storage gzip": (2, "argument --storage: invalid choice: 'gzip'"),
    "replay nowhere": (1, "rbt: there is no bag nowhere."),
    "replay swing --rate inf": (2, "argument --rate: 'inf' is not a number above 0"),
    "replay swing --start -5": (2, "argument --start: '-5' is not a number of seconds from 0 to 9e9"),
    "replay swing --start soon": (2, "argument --start: 'soon' is not a number of seconds from 0 to 9e9"),
    "replay swing --wait 0": (2, "argument --wait: '0' is not a positive number of seconds below 9e9"),
    "replay swing --as film": (2, "argument --as: invalid choice: 'film'"),
    "replay swing --set step=1 --align": (1, "rbt: --set, --align: for --as inputs only, and this is --as topics."),
    "replay swing --as inputs --loop --reverse": (
        1,
        "rbt: --loop, --reverse: for --as topics only, and this is --as in",
    ),
    "replay swing --as inputs --set step": (1, "rbt: --set 'step' is not of the form KEY=VALUE."),
    "replay swing --as inputs --set step=soon": (1, "'soon' is not a number with a unit; write a number in SI"),
    "replay swing --as inputs --drive knee": (1, "rbt: swing has no positions of joint 'knee' that could drive it; it"),
    "replay swing --as inputs --scenario cubesat": (
        1,
        "rbt: joints shoulder of the bag are not those of robot 'cubesat'",
    ),
    "replay swing --as inputs --out text.txt": (
        1,
        "rbt: the folder text.txt cannot be made (File exists); give another",
    ),
    "run cubesat --until 1 --record text.txt": (
        1,
        "rbt: the bag text.txt is there already; give another name, or remo",
    ),
    "run cubesat --until 1 --record text.txt/b": (
        1,
        "rbt: the bag text.txt/b cannot be made (Not a directory); give a folder of yours.",
    ),
}


@pytest.mark.parametrize("words", WRONG)
def test_wrong_inputs_are_told(run_rbt, swing, tmp_path, words):
    (tmp_path / "empty").mkdir()
    (tmp_path / "zero").mkdir()
    (tmp_path / "zero" / "zero.mcap").touch()
    (tmp_path / "text.txt").write_text("no bag")
    (tmp_path / "text.db3").write_text("no bag")
    (tmp_path / "zero.npz").symlink_to("/dev/zero")
    for pipe in ("pipe.csv", "pipe.urdf"):
        os.mkfifo(tmp_path / pipe)
    done = run_rbt(*words.split())
    code, said = WRONG[words]
    assert done.code == code and said in done.err and not done.out, done


def test_a_bag_of_which_nothing_can_be_read(run_rbt, tmp_path):
    (tmp_path / "zero.mcap").write_bytes(b"\x89MCAP0\r\n")
    (tmp_path / "b").mkdir()
    shutil.move(tmp_path / "zero.mcap", tmp_path / "b")
    done = run_rbt("repair", "b")
    assert (done.code, done.out) == (
        1,
        "zero.mcap: it breaks off at byte 8; nothing can be read, it is kept as .damaged\n",
    )


STRANGE = (
    "x" * 300,
    f"{'x' * 300}.yaml",
    f"{'x' * 300}.mcap",
    "loop.yaml",
    "loop",
    "pipe.mcap",
    "pipe.db3",
    "pipe.yaml",
)
STRANGE += ("~nobody at all/x.yaml", "loop/x.mcap", "pipes")


@pytest.mark.parametrize(
    "verb", ["run --until 0.01", "info", "check", "verify", "repair", "view --no-browser", "convert"]
)
def test_paths_that_cannot_be_used_are_refused_in_one_line(run_rbt, tmp_path, verb):
    """Names that are too long, links that go round, pipes that nobody writes to."""
    (tmp_path / "pipes").mkdir()
    for name in ("pipe.mcap", "pipe.db3", "pipe.yaml", "pipes/a.mcap", "pipes/metadata.yaml"):
        os.mkfifo(tmp_path / name)
    for name in ("loop.yaml", "loop"):
        (tmp_path / name).symlink_to(name)
    for path in STRANGE:
        done = run_rbt(*verb.split(), path, *(["out.npz"] if verb == "convert" else []))
        said = (done.err or done.out).strip().splitlines()
        assert done.code in (1, 2) and len(said) == 1 and path[:9] in said[0], (path, done)


def test_a_bag_cannot_be_recorded_to_such_a_path(run_rbt, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    for path in ("x" * 300, "loop/bag", "~nobody at all/bag"):
        done = run_rbt("run", "cubesat", "--until", "0.01", "--record", path)
        assert done.code == 1 and len(done.err.strip().splitlines()) == 1, (path, done)
