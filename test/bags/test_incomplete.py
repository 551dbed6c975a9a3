"""Bags in which something is missing that only metadata.yaml, a table or a profile tells of: it is told."""

import shutil
import sqlite3

import pytest
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin, Writer

import rbt_ros as rbt
from rbt_ros.bags.cdr import encode
from rbt_ros.bags.convert import convert, write_bag
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.info import described
from rbt_ros.bags.repair import repair
from rbt_ros.bags.verify import verify

STRING = "std_msgs/msg/String"


def texts_bag(folder, texts=("a", "b", "c"), topic="/words", profiles="", **options):
    """A bag of texts, one each second."""
    writer = BagWriter(folder, **options)
    channel = writer.add_channel(topic, STRING, profiles=profiles)
    for k, text in enumerate(texts):
        writer.write(channel, k * 10**9, bytes(encode(writer.types, STRING, {"data": text})))
    writer.close({"rbt_lost_samples": "7"})
    return folder


def test_a_file_that_is_gone_is_told(tmp_path):
    """Of a bag in several; what is there is read, and after a repair that is all."""
    folder = texts_bag(tmp_path / "b", split_s=0.5)
    (folder / "b_1.mcap").unlink()
    told = "metadata.yaml names b_1.mcap, which the folder does not hold: its messages are missing"
    bag = rbt.Bag(folder)
    assert bag.damage == [told] and [text for _, text in bag.texts("words")] == ["a", "c"]
    assert f"damaged: {told}" in convert(str(folder), str(tmp_path / "t.npz"))
    repair(folder)
    assert not rbt.Bag(folder).damage


def test_messages_that_are_fewer_than_told(tmp_path):
    """A file of the same name from another bag."""
    folder, other = texts_bag(tmp_path / "b"), texts_bag(tmp_path / "c", ("a",))
    shutil.copy(other / "c_0.mcap", folder / "b_0.mcap")
    assert rbt.Bag(folder).damage == ["metadata.yaml counts 3 messages, and 1 are here"]


BOMB = "x0: &x0 [a]\n" + "".join(f"x{k}: &x{k} [{', '.join([f'*x{k - 1}'] * 9)}]\n" for k in range(1, 10))
BOMB += "rosbag2_bagfile_information: {custom_data: {a: *x9}}\n"  # 4e8 words


@pytest.mark.parametrize("text", ["a: [", "a: 1", "rosbag2_bagfile_information: 3", "\0", BOMB, "[" * 100_000])
def test_metadata_that_cannot_be_read_are_told_and_repaired(tmp_path, text):
    folder = texts_bag(tmp_path / "b")
    (folder / "metadata.yaml").write_text(text)
    (told,) = rbt.Bag(folder).damage
    assert told.startswith("metadata.yaml cannot be read (") and f"`rbt repair {folder}` makes it again" in told
    repair(folder)
    assert not rbt.Bag(folder).damage


def test_messages_that_are_packed_one_by_one_are_read(tmp_path):
    """`ros2 bag record --compression-mode message`: metadata.yaml alone tells of it."""
    folder, packed = texts_bag(tmp_path / "b"), Writer(tmp_path / "p", version=9, storage_plugin=StoragePlugin.MCAP)
    packed.set_compression(CompressionMode.MESSAGE, CompressionFormat.ZSTD)
    with Reader(folder) as reader, packed:
        (known,) = reader.connections
        connection = packed.add_connection("/words", STRING, msgdef=known.msgdef.data, rihs01=known.digest)
        for _, time, data in reader.messages():
            packed.write(connection, time, data)
    bag = rbt.Bag(tmp_path / "p")
    assert [text for _, text in bag.texts("words")] == ["a", "b", "c"] and not bag.damage


@pytest.mark.parametrize("profiles", ["- history: \x13", "[", "3"])
def test_profiles_that_cannot_be_read_are_left_out(tmp_path, profiles):
    folder = texts_bag(tmp_path / "b", profiles=profiles)
    assert write_bag(rbt.Bag(folder), tmp_path / "c", "sqlite3") == 3
    assert contents(tmp_path / "c") == contents(folder)


def contents(folder):
    return {name: (topic.type, topic.t_ns, list(topic.data)) for name, topic in rbt.Bag(folder).topics.items()}


@pytest.mark.parametrize("storage", ["mcap", "sqlite3"])
def test_what_was_lost_is_told_after_a_conversion_too(tmp_path, storage):
    write_bag(rbt.Bag(texts_bag(tmp_path / "b")), tmp_path / "c", storage)
    assert "  incomplete: 7 samples were lost while it was recorded" in described(rbt.Bag(tmp_path / "c"))


CASES = {  # what becomes of a database -> what is told
    "DELETE FROM messages WHERE id = 2": "3 messages are counted, and 2 are here",
    "UPDATE messages SET topic_id = topic_id + 9 WHERE id = 2": "3 messages are counted, and 2 are here",
    "UPDATE messages SET data = 16 WHERE id = 2": "TypeError: memoryview: a bytes-like object is required, not 'int'",
    "UPDATE messages SET timestamp = 'noon' WHERE id = 3": "TypeError",
}


@pytest.mark.parametrize("change", CASES)
def test_rows_that_are_gone_or_hold_something_else(tmp_path, change):
    """Numbers where messages should be would be so many zeros."""
    folder = tmp_path / "db"
    write_bag(rbt.Bag(texts_bag(tmp_path / "b")), folder, "sqlite3")
    with sqlite3.connect(folder / "db.db3") as database:
        database.execute(change)
    bag = rbt.Bag(folder)
    assert CASES[change] in "\n".join(bag.damage) and bag.messages < 3


def test_a_log_that_sqlite_did_not_take_in_is_told(tmp_path):
    folder = tmp_path / "db"
    write_bag(rbt.Bag(texts_bag(tmp_path / "b")), folder, "sqlite3")
    assert not rbt.Bag(folder).damage
    (folder / "db.db3-wal").write_bytes(b"rows")
    for bag in (rbt.Bag(folder), rbt.Bag(folder / "db.db3")):
        assert "db.db3-wal holds messages that never came into the bag: sqlite3 FILE.db3" in bag.damage[0]


@pytest.mark.parametrize("text", ['{"rbt_run": 1}', '{"rbt_run": 1, "name": 3, "versions": []}'])
def test_a_statement_of_what_runs_that_is_damaged(tmp_path, text):
    """info goes on, verify says why it cannot."""
    bag = rbt.Bag(texts_bag(tmp_path / "b", (text,), "/rbt_simulator/run"))
    lines = "\n".join(described(bag))
    assert (
        "what runs cannot be read: topic /rbt_simulator/run of " in lines and "what runs is damaged: name is" in lines
    )
    with pytest.raises(rbt.MessageError, match="what runs is damaged: name is"):
        verify(bag)
