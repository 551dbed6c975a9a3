"""Recording: what is in the bag, read by implementations of others; and the run that it does not disturb."""

import json
import sqlite3
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.decoder import DecoderFactory
from rosbags.rosbag2 import Reader

import rbt_ros as rbt
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.plan import Trail
from rbt_ros.bags.recording import Recording
from rbt_ros.model.hinge_commands import HingeCommand
from rbt_ros.model.inputs import Effort


def recorded(folder, name="five_body", ticks=300, **options):
    """A run with commands, recorded; the simulation as it is then."""
    sim = rbt.load(name).simulation()
    with rbt.Recorder(folder, sim, **options):
        sim.advance(ticks // 3)
        sim.command(rbt.WrenchCommand(rbt.Wrench(sim.robot.bodies[0].name, (1.0, 0.0, 2.0)), 50_000_000))
        if sim.robot.joint_names:
            sim.command(HingeCommand((sim.robot.joint_names[0],), effort=(0.5,)))
        sim.advance(ticks - ticks // 3)
    return sim


def decoded(folder):
    """Topic -> messages, by mcap-ros2-support with all checksums."""
    found: dict[str, list] = {}
    for file in sorted(folder.glob("*.mcap")):
        with file.open("rb") as opened:
            reader = make_reader(opened, validate_crcs=True, decoder_factories=[DecoderFactory()])
            for _, channel, message, content in reader.iter_decoded_messages():
                found.setdefault(channel.topic, []).append((message.log_time, content))
    return found


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags") / "swing"
    return folder, recorded(folder)


def test_another_reader_decodes_every_message(bag):
    """300 ticks of 1 ms; the first instant is recorded too."""
    folder, _ = bag
    counts = Counter({topic: len(messages) for topic, messages in decoded(folder).items()})
    assert counts == {
        "/clock": 301,
        "/joint_states": 301,
        "/tf": 31,
        "/multi_dof_joint_states": 31,
        "/markers": 10,
        "/rbt_simulator/digest": 4,
        "/tf_static": 1,
        "/robot_description": 1,
        "/rbt_simulator/run": 1,
        "/rbt_simulator/latched/wrench/upper": 1,
        "/rbt_simulator/latched/hinge_commands": 1,
        "/rbt_simulator/latched/parameters": 1,  # at: com, hold: 50 ms
    }


def test_a_command_is_found_by_its_own_name_and_what_was_sent_comes_before_what_was_taken(bag, tmp_path):
    """As docs/bags.md says: by the end of a name, where that is unique."""
    log = rbt.Bag(bag[0])
    assert log.arrays("hinge_commands").numbers["effort"].ravel().tolist() == [0.5]
    assert log.topic("hinge_commands").name == "/rbt_simulator/latched/hinge_commands"
    writer = BagWriter(tmp_path / "both")
    for topic in ("/latched/go", "/go"):
        writer.write(writer.add_channel(topic, "std_msgs/msg/String"), 1, b"\x00\x01\x00\x00\x02\x00\x00\x00a\x00")
    writer.close()
    assert rbt.Bag(tmp_path / "both").topic("go").name == "/go"


def test_round_trip_is_exact(bag, tmp_path):
    """run -> bag -> arrays gives the bits that the simulation had."""
    folder, _ = bag
    sim = rbt.load("five_body").simulation()
    rows = []
    with rbt.Recorder(tmp_path / "again", sim):
        for _ in range(101):
            rows.append((sim.t_ns, sim.state.q[8:].copy(), sim.state.v[6:].copy()))
            sim.advance(1)
    read = rbt.Bag(folder).arrays("joint_states")
    t_ns, q, v = (np.array(column) for column in zip(*rows, strict=True))
    assert (read.stamps["header.stamp"][:101] - 10**9 == t_ns).all() and (read.t_ns[:101] - 10**9 == t_ns).all()
    assert (read.numbers["position"][:101] == q).all() and (read.numbers["velocity"][:101] == v).all()


def test_recording_keeps_the_bits_of_the_motion(bag):
    _, watched = bag
    sim = rbt.load("five_body").simulation()
    sim.advance(100)
    sim.command(rbt.WrenchCommand(rbt.Wrench("upper", (1.0, 0.0, 2.0)), 50_000_000))
    sim.command(HingeCommand(("wrist",), effort=(0.5,)))
    sim.advance(200)
    assert watched.digest() == sim.digest()


def test_the_same_run_gives_the_same_messages(bag, tmp_path):
    folder, _ = bag
    recorded(tmp_path / "again")
    first, again = rbt.Bag(folder), rbt.Bag(tmp_path / "again")
    for name, topic in first.topics.items():
        assert (topic.t_ns, topic.data) == (again.topics[name].t_ns, again.topics[name].data), name


def test_latched_topics_say_so(bag):
    """As `ros2 bag play` needs it to offer /tf_static and robot_description to who comes late."""
    folder, _ = bag
    with Reader(folder) as reader:
        durable = {c.topic: c.ext.offered_qos_profiles[0].durability.name for c in reader.connections}
        assert reader.message_count == rbt.Bag(folder).messages
    assert {topic for topic, word in durable.items() if word == "TRANSIENT_LOCAL"} == {
        "/tf_static",
        "/robot_description",
        "/rbt_simulator/run",
    }


def test_metadata_tell_what_ran_and_its_digests(bag):
    """In the file and in metadata.yaml, for whoever reads no topic: all that the topics say, too."""
    folder, sim = bag[:2]
    found = rbt.Bag(folder)
    said, (run,) = found.metadata["rbt_ros"], found.runs()
    assert said == found.metadata["custom_data"]
    assert said["rbt_scenario"] == sim.scenario.text and said["rbt_seed"] == str(sim.seed)
    assert json.loads(said["rbt_versions"]) == run["versions"]
    assert said["rbt_digests"].splitlines() == [f"{time} {text}" for time, text in found.texts("/rbt_simulator/digest")]


@pytest.mark.parametrize("count", [1, 7, 8, 9, 40, 1000])
def test_a_trail_of_any_length_stays_short_and_even(count):
    trail = Trail(8)
    for k in range(count):
        trail.add(str(k))
    kept = [int(line) for line in trail.lines]
    assert kept[0] == 0 and len(set(np.diff(kept).tolist())) <= 1
    assert min(count, 4) <= len(kept) <= 8 and count - kept[-1] <= count / 4 + 1


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_compressions(tmp_path, compression):
    recorded(tmp_path / "b", ticks=30, compression=compression)
    assert len(decoded(tmp_path / "b")["/joint_states"]) == len(rbt.Bag(tmp_path / "b").arrays("joint_states").t_ns)


@pytest.mark.parametrize("split", [{"split_s": 0.1}, {"split_bytes": 20_000, "compression": "none"}])
def test_split(tmp_path, split):
    """Several files, one bag: nothing is lost or twice, by whoever reads it."""
    recorded(tmp_path / "b", ticks=300, **split)
    assert len(list((tmp_path / "b").glob("b_*.mcap"))) >= 3
    assert [time for time, _ in decoded(tmp_path / "b")["/clock"]] == list(range(10**9, 1_301_000_000, 10**6))
    assert rbt.Bag(tmp_path / "b").topic("clock").t_ns.tolist() == list(range(10**9, 1_301_000_000, 10**6))
    with Reader(tmp_path / "b") as reader:
        assert sum(1 for _ in reader.messages()) == rbt.Bag(tmp_path / "b").messages


def test_rosbags_converts_it_to_sqlite3_with_the_schema_of_rosbag2(bag, tmp_path):
    """Tables and columns of rosbag2_storage_sqlite3, schema version 4."""
    folder, _ = bag
    convert = [str(Path(sys.executable).with_name("rosbags-convert")), "--src", str(folder)]
    subprocess.run([*convert, "--dst", str(tmp_path / "db"), "--dst-storage", "sqlite3"], check=True, timeout=170)
    with sqlite3.connect(next((tmp_path / "db").glob("*.db3"))) as db:
        columns = {
            table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")] for table in ("topics", "messages")
        }
    assert columns["topics"][:5] == ["id", "name", "type", "serialization_format", "offered_qos_profiles"]
    assert columns["messages"] == ["id", "topic_id", "timestamp", "data"]
    ours, theirs = rbt.Bag(folder), rbt.Bag(tmp_path / "db")
    for name, topic in ours.topics.items():
        if topic.t_ns:
            assert (topic.t_ns, topic.data) == (theirs.topics[name].t_ns, theirs.topics[name].data), name
    assert ours.runs() == theirs.runs()


# ------------------------------------------------------------------------------------------------------------- faults
class Stuck(BagWriter):
    """A disk that takes nothing before it is let go."""

    free = False

    def write(self, channel, time_ns, data):
        while not type(self).free:
            pass
        super().write(channel, time_ns, data)


def test_what_finds_no_place_is_counted_and_told(tmp_path):
    """A queue of 10, and a disk that stands still; commands are never lost."""
    sim = rbt.load("five_body").simulation()
    Stuck.free = False
    recording = Recording(
        tmp_path / "b", sim.robot, h_ns=sim.h_ns, outputs={"joint_states": 1000.0}, most_waiting=10, writer=Stuck
    )
    sample = sim.sample()
    recording.runs(10**9, {"wrench_at": "com", "wrench_hold": 0.1, "step_ns": sim.h_ns})
    for k in range(50):
        recording.take(sample, 10**9 + k * 10**6)
        recording.note_effort(Effort("wrist", (float(k),)), 10**9 + k * 10**6)
    assert recording.lost >= 39
    Stuck.free = True
    with pytest.warns(UserWarning, match=f"lacks {recording.lost} samples that came faster than they could be written"):
        report = recording.close()
    bag = rbt.Bag(tmp_path / "b")
    assert report.lost == 50 - len(bag.topic("joint_states").t_ns)
    assert bag.metadata["rbt_ros"]["rbt_lost_samples"] == str(report.lost)
    assert bag.arrays("/rbt_simulator/latched/efforts").numbers["effort"][:, 0].tolist() == list(range(50))


class Full(BagWriter):
    """A disk that is full."""

    def flush(self):
        raise OSError(28, "No space left on device")


def test_a_full_disk_is_told_and_the_run_goes_on(tmp_path, monkeypatch):
    sim = rbt.load("five_body").simulation()
    recording = Recording(tmp_path / "b", sim.robot, h_ns=sim.h_ns, outputs={}, writer=Full)
    recording._hand._thread.join(timeout=60)
    assert "No space left on device" in recording.failure
    recording.take(sim.sample(), 10**9, wait=True)
    recording.note_parameters({"wrench_at": "com"}, 10**9)
    assert (recording.lost, recording.waiting) == (1, 0)
    with pytest.raises(rbt.ScenarioError, match=r"could not be written to its end \(OSError: .*No space.*rbt repair"):
        recording.close()


def test_wrong_requests_are_refused(tmp_path):
    sim = rbt.load("cubesat").simulation()
    with pytest.raises(rbt.ScenarioError, match="is there already; give another name, or remove it"):
        rbt.Recorder(tmp_path, sim)
    with pytest.raises(rbt.ScenarioError, match="compression 'gzip' is not one of none, lz4, zstd"):
        rbt.Recorder(tmp_path / "a", sim, compression="gzip")
    with pytest.raises(rbt.ScenarioError, match="output 'tff' is not one of tf, joint_states"):
        rbt.Recorder(tmp_path / "b", sim, outputs={"tff": 1.0})
    with pytest.raises(rbt.ScenarioError, match="rate -1 of output 'tf' must be a number of Hz, 0 or more"):
        rbt.Recorder(tmp_path / "c", sim, outputs={"tf": -1})
    for split in ({"split_s": -1.0}, {"split_s": float("nan")}, {"split_bytes": -5}):
        with pytest.raises(rbt.ScenarioError, match="split_.* must be a number, 0 or more; 0: one file"):
            rbt.Recorder(tmp_path / "s", sim, **split)
    assert not (tmp_path / "s").exists()
    (tmp_path / "file").touch()
    with pytest.raises(rbt.ScenarioError, match=r"the bag .* cannot be made \(Not a directory\)"):
        rbt.Recorder(tmp_path / "file" / "d", sim)
    with pytest.raises(rbt.ScenarioError, match="there is no bag nowhere"):
        rbt.Bag("nowhere")
