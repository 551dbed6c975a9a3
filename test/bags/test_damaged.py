"""Bags that are damaged, foreign or wrong: a clear error, or what is there and a report. Never a traceback."""

import functools
import resource
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap_ros2.writer import Writer as McapRos2Writer
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import Reader, StoragePlugin, Writer
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

import rbt_ros as rbt
from rbt_ros.bags import mcap_read
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.info import described
from rbt_ros.bags.repair import repair
from rbt_ros.model.hinge_commands import HingeCommand


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A small bag of two chunks, as MCAP and as sqlite3."""
    folder = tmp_path_factory.mktemp("whole") / "b"
    sim = rbt.load("five_body").simulation()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rbt_ros.bags.plan.FLUSH_S", float("inf"))  # the same chunks on any machine
        with rbt.Recorder(folder, sim, outputs={"markers": 0}) as recorder:
            sim.advance(20)
            hand = recorder.recording._hand
            hand._queue.append((hand._scribe._bag.flush, ()))
            sim.command(HingeCommand(("wrist",), effort=(0.5,)))
            sim.advance(20)
    convert = [str(Path(sys.executable).with_name("rosbags-convert")), "--src", str(folder)]
    subprocess.run([*convert, "--dst", str(folder.parent / "db"), "--dst-storage", "sqlite3"], check=True, timeout=170)
    return folder


@pytest.fixture(scope="module")
def chunked(tmp_path_factory):
    """A bag of nine chunks, and where its chunk records are."""
    folder = tmp_path_factory.mktemp("chunked") / "b"
    sim = rbt.load("five_body").simulation()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rbt_ros.bags.plan.FLUSH_S", float("inf"))
        with rbt.Recorder(folder, sim, outputs={"markers": 0}) as recorder:
            hand = recorder.recording._hand
            for _ in range(8):
                sim.advance(10)
                hand._queue.append((hand._scribe._bag.flush, ()))
    data = (folder / "b_0.mcap").read_bytes()
    records = mcap_read.records(data)
    return folder, [(begin - 9, end) for kind, begin, end in records if kind == mcap_read.CHUNK]


def rows(bag):
    """All messages of a bag."""
    return {(time, topic.name, bytes(data)) for time, topic, data in bag.rows()}


def damaged(folder, target, change):
    """A copy of the bag with what `change` makes of its file."""
    shutil.copytree(folder, target)
    file = target / f"{folder.name}_0.mcap"
    file.write_bytes(change(bytearray(file.read_bytes())))
    return target


def turned(at, bit):
    def change(data):
        data[at] ^= 1 << bit
        return data

    return change


def read_by_others(folder):
    """How many messages mcap's own reader and rosbags find, with all checksums."""
    with Reader(folder) as reader, open(folder / "b_0.mcap", "rb") as file:
        return {
            sum(1 for _ in reader.messages()),
            sum(1 for _ in make_reader(file, validate_crcs=True).iter_messages()),
        }


@pytest.mark.parametrize("where", ["anywhere", "in a chunk", "in its head", "near the end"])
def test_a_bit_that_is_turned_costs_its_chunk_alone(chunked, tmp_path, where):
    """It is told; what is lost lies in one chunk, and in the gap that is told; after a repair, for others too."""
    folder, chunks = chunked
    before, size = rows(rbt.Bag(folder)), (folder / "b_0.mcap").stat().st_size
    rng = np.random.default_rng(len(where))
    for k in range(16):
        hit = int(rng.integers(len(chunks)))
        begin, end = {
            "anywhere": (0, size),
            "in a chunk": chunks[hit],
            "in its head": (chunks[hit][0], chunks[hit][0] + 53),
            "near the end": (size - 2000, size),
        }[where]
        at = int(rng.integers(begin, end))
        copy = damaged(folder, tmp_path / str(k), turned(at, rng.integers(8)))
        bag = rbt.Bag(copy / "b_0.mcap" if k % 2 else copy)
        found = rows(bag)
        lost = sorted(time for time, _, _ in before - found)
        assert bag.damage and described(bag) and found <= before and bool(bag.gaps) == bool(lost), (at, bag.damage)
        if lost:
            (gap,) = bag.gaps
            assert gap.first_ns <= lost[0] and lost[-1] <= gap.last_ns < gap.first_ns + 12_000_000, at
            assert any(begin <= at < end for begin, end in chunks) and len(lost) < len(before) / 4
        if k < 4:
            repair(copy)
            again = rbt.Bag(copy)
            assert (rows(again), again.damage, again.gaps) == (found, [], bag.gaps), at
            assert read_by_others(copy) == {len(found)}


def test_verify_tells_what_it_could_not_compare(run_rbt, chunked, tmp_path):
    """Ten ticks of a chunk: by name and exit code, before a repair and after it."""
    folder, chunks = chunked
    damaged(folder, tmp_path / "c", turned(chunks[4][0] + 1000, 3))
    for _ in range(2):
        done = run_rbt("verify", "c")
        assert done.code == 2 and "not compared, as messages are lost: from 1.031 s to 1.04 s" in done.out, done.out
        assert "what is left is the same: " in done.out and "to 1.08 s" in done.out
        for verb in ("info", "check"):
            assert "lost: what was recorded from 1.031 s to 1.04 s" in run_rbt(verb, "c").out
        assert run_rbt("repair", "c").code == 0


def test_a_damaged_index_is_told_and_made_again(run_rbt, chunked, tmp_path):
    """Two thousand bytes of nothing near the end: no message is lost, and others cannot open it any more."""
    folder, _ = chunked

    def zeroed(data):
        data[-2400:-400] = bytes(2000)
        return data

    copy = damaged(folder, tmp_path / "b", zeroed)
    with pytest.raises(Exception), Reader(copy):  # noqa: B017 whatever rosbags makes of it
        pass
    for verb in ("info", "check"):
        assert "damaged: b_0.mcap: its index is damaged: it is not what its checksum says" in run_rbt(verb, "b").out
    assert run_rbt("verify", "b").code == 0 and run_rbt("repair", "b").code == 0
    assert rows(rbt.Bag(copy)) == rows(rbt.Bag(folder)) and read_by_others(copy) == {len(rows(rbt.Bag(folder)))}
    assert run_rbt("check", "--strict", "b").code == 0


def test_repair_without_room_is_refused_and_leaves_the_bag(run_rbt, chunked, tmp_path):
    """A file may not grow beyond what a full disk leaves."""
    folder, chunks = chunked
    copy = damaged(folder, tmp_path / "b", turned(chunks[4][0] + 1000, 3))
    before = {file.name: file.read_bytes() for file in copy.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
    try:
        done = run_rbt("repair", "b")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert done.code == 1 and "b cannot be repaired (File too large): beside its files room for as much" in done.err
    assert {file.name: file.read_bytes() for file in copy.iterdir()} == before
    assert run_rbt("repair", "b").code == 0


def contents(bag):
    return {name: (topic.type, topic.t_ns, topic.data) for name, topic in bag.topics.items()}


def spoiled(data, rng):
    """Bytes with a few bits turned, a part cut off, zeroed, doubled or in another place."""
    data = bytearray(data)
    a, b = sorted(rng.integers(0, len(data), 2))
    how = rng.integers(6)
    if how <= 1:
        for at in rng.integers(0, len(data), rng.integers(1, 5)):
            data[at] ^= 1 << rng.integers(8)
    elif how == 2:
        del data[a:]
    elif how == 3:
        data[a:b] = bytes(b - a)
    elif how == 4:
        data[a:a] = data[a:b]
    else:
        del data[a:b]
    return bytes(data)


def seeds(some: int, all_of_them: int) -> list:
    """The first ones, and the others in soaks."""
    return [*range(some), *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(some, all_of_them))]


@pytest.mark.parametrize("seed", seeds(4, 10))
def test_forty_damaged_mcap_bags(whole, tmp_path, seed):
    """Either all is as it was, or what differs is told; nothing is there that was not recorded."""
    rng, data = np.random.default_rng(seed), (whole / "b_0.mcap").read_bytes()
    before, file = contents(rbt.Bag(whole)), tmp_path / "b_0.mcap"
    for _ in range(40):
        file.write_bytes(spoiled(data, rng))
        bag = rbt.Bag(tmp_path)
        if contents(bag) != before:
            assert bag.damage or bag.skipped
        assert described(bag)
        for look in (bag.runs, *(functools.partial(bag.arrays, name) for name in bag.topics)):
            try:
                look()
            except rbt.RbtError as err:
                assert str(tmp_path) in str(err)


@pytest.mark.parametrize("seed", seeds(2, 5))
def test_ten_damaged_sqlite3_bags_and_ten_damaged_metadata(whole, tmp_path, seed):
    rng, source = np.random.default_rng(100 + seed), whole.parent / "db"
    for name in ("db.db3", "metadata.yaml"):
        data = (source / name).read_bytes()
        for k in range(10):
            folder = tmp_path / f"{name}{k}"
            shutil.copytree(source, folder)
            (folder / name).write_bytes(spoiled(data, rng))
            try:
                bag = rbt.Bag(folder)
                for topic in bag.topics:
                    bag.arrays(topic)
            except rbt.RbtError as err:
                assert str(folder) in str(err)


@pytest.mark.parametrize("seed", range(4))
def test_repair_of_damaged_bags_is_whole(whole, tmp_path, seed):
    """What was read before is read after, by others too, and there is nothing left to report."""
    rng, data = np.random.default_rng(200 + seed), (whole / "b_0.mcap").read_bytes()
    for k in range(5):
        folder = tmp_path / f"b{k}"
        folder.mkdir()
        (folder / "b_0.mcap").write_bytes(spoiled(data, rng))
        before = rbt.Bag(folder)
        assert repair(folder)
        if list(folder.glob("*.mcap")):
            after = rbt.Bag(folder)
            assert contents(after) == contents(before) and after.damage == []


def test_an_empty_file_and_no_bag_at_all(tmp_path):
    (tmp_path / "b_0.mcap").touch()
    bag = rbt.Bag(tmp_path)
    assert bag.damage == ["b_0.mcap: it is empty; what was written before that is read"] and bag.messages == 0
    assert "damaged: b_0.mcap: it is empty" in "\n".join(described(bag))
    assert repair(tmp_path) == ["b_0.mcap: it is empty; nothing can be read, it is kept as .damaged"]
    with pytest.raises(rbt.ScenarioError, match="it has no metadata.yaml, no .mcap file and not one .db3 file"):
        rbt.Bag(tmp_path)
    with pytest.raises(rbt.ScenarioError, match=r"holds no .mcap file; sqlite3 bags are repaired by"):
        repair(tmp_path)
    (tmp_path / "text.bag").write_text("no bag")
    with pytest.raises(rbt.ScenarioError, match=r"text.bag cannot be read \(ReaderError"):
        rbt.Bag(tmp_path / "text.bag")


def test_topics_of_another_type_or_name_are_told(whole):
    bag = rbt.Bag(whole)
    with pytest.raises(rbt.MessageError, match="topic /tf of .* is tf2_msgs/msg/TFMessage; nav_msgs/msg/Odom.* needed"):
        bag.topic("tf", "nav_msgs/msg/Odometry")
    with pytest.raises(rbt.MessageError, match="has no one topic odom: it has /tf, /tf_static, /joint_states"):
        bag.arrays("odom")


def test_times_that_go_back_are_told(tmp_path):
    writer = BagWriter(tmp_path / "b")
    channel = writer.add_channel("/clock", "rosgraph_msgs/msg/Clock", "clock")
    for time in (1, 2, 3, 2, 3, 1):
        writer.write(channel, time, b"\0\1\0\0" + bytes(8))
    writer.close()
    assert "  out of order: the times of /clock go back 2 times" in described(rbt.Bag(tmp_path / "b"))


# ------------------------------------------------------------------------------------------------------------ foreign
ODD = "float64 value\nstring[] words\nodd_msgs/Inner inner\n" + "=" * 80 + "\nMSG: odd_msgs/Inner\nint8[<=3] small\n"


@pytest.mark.parametrize("storage", [StoragePlugin.SQLITE3, StoragePlugin.MCAP])
def test_bags_of_other_writers_with_types_of_their_own(tmp_path, storage):
    """Read by the definition in the bag; a topic without one is skipped by name and count."""
    store = get_typestore(Stores.ROS2_JAZZY)
    store.register(get_types_from_msg(ODD, "odd_msgs/msg/Odd"))
    odd, inner = store.types["odd_msgs/msg/Odd"], store.types["odd_msgs/msg/Inner"]
    with Writer(tmp_path / "b", version=9, storage_plugin=storage) as writer:
        known = writer.add_connection("/odd", "odd_msgs/msg/Odd", typestore=store)
        unknown = writer.add_connection("/lost", "lost_msgs/msg/Lost", msgdef="", rihs01="RIHS01_00")
        for k in range(5):
            message = odd(value=k / 3, words=["a" * k], inner=inner(small=np.arange(k % 3, dtype=np.int8)))
            writer.write(known, k, store.serialize_cdr(message, "odd_msgs/msg/Odd"))
            writer.write(unknown, k, b"\0\1\0\0abcd")
    bag = rbt.Bag(tmp_path / "b")
    assert bag.arrays("odd").numbers["value"].tolist() == [k / 3 for k in range(5)]
    assert bag.arrays("odd").texts["words[0]"] == ["a" * k for k in range(5)]
    assert [message.inner.small.tolist() for _, message in bag.read("odd")] == [[], [0], [0, 1], [], [0]]
    assert bag.skipped["/lost"].messages == 5
    assert "skipped: /lost, 5 messages of lost_msgs/msg/Lost: the bag does not define it" in "\n".join(described(bag))
    with pytest.raises(
        rbt.MessageError, match="topic /lost of .* cannot be read: lost_msgs/msg/Lost: the bag does not"
    ):
        bag.arrays("/lost")


def test_bags_of_mcap_ros2_support(tmp_path):
    """Its writer has its own layout of chunks, and schema records of its own."""
    with (tmp_path / "b.mcap").open("wb") as file:
        writer = McapRos2Writer(file)
        schema = writer.register_msgdef("geometry_msgs/msg/Vector3", "float64 x\nfloat64 y\nfloat64 z")
        for k in range(9):
            message = {"x": k / 3, "y": -1.0, "z": 0.0}
            writer.write_message(topic="/force", schema=schema, message=message, log_time=k, publish_time=k)
        writer.finish()
    bag = rbt.Bag(tmp_path / "b.mcap")
    assert bag.arrays("force").numbers["x"].tolist() == [k / 3 for k in range(9)] and bag.damage == []


def test_a_text_by_another_name_is_no_run(tmp_path):
    with (tmp_path / "b.mcap").open("wb") as file:
        writer = McapRos2Writer(file)
        schema = writer.register_msgdef("std_msgs/msg/String", "string date")
        writer.write_message(topic="/node/run", schema=schema, message={"date": "{}"}, log_time=1, publish_time=1)
        writer.finish()
    bag = rbt.Bag(tmp_path / "b.mcap")
    with pytest.raises(rbt.MessageError, match="topic /node/run of .*: its definition has no text 'data'"):
        bag.runs()
    assert any("what runs cannot be read" in line for line in described(bag))


def test_a_topic_without_messages_has_no_texts(tmp_path):
    store = get_typestore(Stores.ROS2_JAZZY)
    with Writer(tmp_path / "b", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        writer.add_connection("/words", "std_msgs/msg/String", typestore=store)
        note = writer.add_connection("/notes", "std_msgs/msg/String", typestore=store)
        text = store.types["std_msgs/msg/String"]("yes")
        writer.write(note, 1, store.serialize_cdr(text, "std_msgs/msg/String"))
    bag = rbt.Bag(tmp_path / "b")
    assert bag.texts("/words") == [] and bag.texts("/notes") == [(1, "yes")]


@pytest.mark.parametrize("kind", [0x02, 0x0F])  # footer, end of the data
def test_an_end_amid_the_data_is_damage(whole, tmp_path, kind):
    data = bytearray((whole / "b_0.mcap").read_bytes())
    chunk = next(begin for found, begin, _ in mcap_read.records(bytes(data)) if found == 0x06)
    data[chunk - mcap_read.RECORD.size] = kind
    (tmp_path / "b_0.mcap").write_bytes(data)
    assert rbt.Bag(tmp_path).damage


def test_bags_of_ros_1(tmp_path):
    store = get_typestore(Stores.ROS1_NOETIC)
    joints, header, time = (
        store.types[name]
        for name in ("sensor_msgs/msg/JointState", "std_msgs/msg/Header", "builtin_interfaces/msg/Time")
    )
    none = np.zeros(0)
    with Writer1(tmp_path / "old.bag") as writer:
        connection = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        for k in range(4):
            stamp = header(seq=k, stamp=time(sec=7, nanosec=k), frame_id="")
            message = joints(header=stamp, name=["elbow"], position=np.array([k / 7]), velocity=none, effort=none)
            writer.write(connection, 100 + k, store.serialize_ros1(message, "sensor_msgs/msg/JointState"))
    bag = rbt.Bag(tmp_path / "old.bag")
    found = bag.arrays("joint_states", "sensor_msgs/msg/JointState")
    assert found.numbers["position"][:, 0].tolist() == [k / 7 for k in range(4)]
    assert found.stamps["header.stamp"].tolist() == [7_000_000_000 + k for k in range(4)]
    assert bag.format == "rosbag1" and found.texts["name[0]"] == ["elbow"] * 4


def test_old_sqlite3_bags_without_definitions(whole, tmp_path):
    """Before Iron there were none: the types of Jazzy are taken."""
    shutil.copytree(whole.parent / "db", tmp_path / "db")
    with sqlite3.connect(tmp_path / "db" / "db.db3") as db:
        db.execute("DELETE FROM message_definitions")
    bag = rbt.Bag(tmp_path / "db")
    assert contents(bag)["/tf"][1:] == contents(rbt.Bag(whole))["/tf"][1:] and not bag.skipped
    assert len(bag.arrays("joint_states").t_ns) == 41
