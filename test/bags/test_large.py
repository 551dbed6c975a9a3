"""Bags that stay in their files: any order of asking gives what was recorded, in memory that does not grow with it."""

import json
import subprocess
import sys

import numpy as np
import pytest
from mcap.writer import Writer as McapWriter

import rbt_ros as rbt
from rbt_ros.bags import stored
from rbt_ros.bags.cdr import encode, layout
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.types import Types
from rbt_ros.fields import header

JOINTS, CLOCK = "sensor_msgs/msg/JointState", "rosgraph_msgs/msg/Clock"
COUNT = 30_000  # joint states of 36 joints: 35 MB
NAMES = [f"joint_{k}" for k in range(36)]


def write_noise(folder, count, names):
    """Joint states that cannot be compressed, and a clock at each tenth."""
    rng, types = np.random.default_rng(0), Types()
    writer = BagWriter(folder)
    clock, joints = writer.add_channel("/clock", CLOCK), writer.add_channel("/joint_states", JOINTS)
    fields = {"header": header(0), "name": names, "position": [0.0] * len(names), "velocity": [0.0] * len(names)}
    data, size, positions = encode(types, JOINTS, fields), 8 * len(names), []
    places = [layout(types, JOINTS, data).numbers[key].offset for key in ("position", "velocity")]
    for k in range(count):
        if k % 10 == 0:
            writer.write(clock, k, bytes(encode(types, CLOCK, {"clock": {"sec": 0, "nanosec": k}})))
        numbers = rng.random((2, len(names)))
        for place, row in zip(places, numbers, strict=True):
            data[place : place + size] = row.tobytes()
        if k % 97 == 0:
            positions.append(numbers[0, 0])
        writer.write(joints, k, bytes(data))
    writer.close()
    return positions


@pytest.fixture
def cramped(monkeypatch):
    """Room for one chunk."""
    monkeypatch.setattr(stored, "KEPT_BYTES", 1)


def test_messages_come_in_any_order(cramped, tmp_path):
    """Forwards, backwards, one by one, in parts, all topics by time: always those that were written."""
    writer = BagWriter(tmp_path / "b", split_bytes=20_000)
    channels = [writer.add_channel(f"/clock_{k}", CLOCK) for k in range(3)]
    rng, wrote = np.random.default_rng(1), []
    for time in range(2000):
        k, data = int(rng.integers(3)), rng.bytes(12)
        writer.write(channels[k], time, data)
        wrote.append((time, f"/clock_{k}", data))
        if time % 100 == 99:
            writer.flush()
    writer.close()
    assert len(list((tmp_path / "b").glob("*.mcap"))) > 1
    bag = rbt.Bag(tmp_path / "b")
    named = [(time, topic.name, data) for time, topic, data in bag.rows()]
    assert named == wrote
    assert [(time, topic.name, data) for time, topic, data in bag.rows(backwards=True)] == wrote[::-1]
    for name, topic in bag.topics.items():
        mine = [data for _, other, data in wrote if other == name]
        assert list(topic.data) == mine and topic.data[-7:] == mine[-7:] and topic.data == mine
        assert [topic.data[k] for k in range(-len(mine), 0)] == mine
        with pytest.raises(IndexError):
            topic.data[len(mine)]
        assert topic.data != mine[:-1] and topic.data != mine[::-1] and topic.data != 1


def test_times_that_go_back_are_put_in_order(tmp_path):
    writer = BagWriter(tmp_path / "b")
    channel = writer.add_channel("/clock", CLOCK)
    for time in (3, 1, 2, 2, 0):
        writer.write(channel, time, bytes([time] * 12))
    writer.close()
    assert [(time, data[0]) for time, _, data in rbt.Bag(tmp_path / "b").rows()] == [(t, t) for t in (0, 1, 2, 2, 3)]


def test_parts_in_a_row_are_the_whole(tmp_path):
    """Also where a name comes only in one of them."""
    write_noise(tmp_path / "b", 1000, NAMES[:2])
    bag = rbt.Bag(tmp_path / "b")
    whole, parts = bag.arrays("joint_states"), list(bag.parts("joint_states", most=300))
    assert [len(part.t_ns) for part in parts] == [300, 300, 300, 100]
    assert (np.concatenate([part.numbers["velocity"] for part in parts]) == whole.numbers["velocity"]).all()


def test_messages_that_lie_in_no_chunk(cramped, tmp_path):
    """A file of another writer, without chunks; cut anywhere, what is whole before that is read."""
    file = tmp_path / "b.mcap"
    with file.open("wb") as opened:
        writer = McapWriter(opened, use_chunking=False, enable_data_crcs=True)
        writer.start(profile="ros2")
        schema = writer.register_schema(CLOCK, "ros2msg", b"builtin_interfaces/Time clock")
        for topic in ("/a", "/b"):
            channel = writer.register_channel(topic, "cdr", schema)
            for k in range(50):
                writer.add_message(channel, log_time=k, publish_time=k, data=bytes([0, 1, 0, 0, k, *bytes(7)]))
        writer.finish()
    data = file.read_bytes()
    bag = rbt.Bag(file)
    assert not bag.damage and [data[4] for _, _, data in bag.rows()] == [k for k in range(50) for _ in "ab"]
    for cut in range(0, len(data), 61):
        file.write_bytes(data[:cut])
        bag = rbt.Bag(file)
        count = [len(bag.topics[name].data) if name in bag.topics else 0 for name in ("/a", "/b")]
        assert sorted(count) == count[::-1] and (sum(count) == 100 or bag.damage)
        assert all(
            [message[4] for message in topic.data] == list(range(len(topic.t_ns))) for topic in bag.topics.values()
        )


def test_a_file_that_changes_under_a_bag_is_told(cramped, tmp_path):
    writer = BagWriter(tmp_path / "b")
    channel = writer.add_channel("/clock", CLOCK)
    for time in range(4):
        writer.write(channel, time, bytes(12))
        writer.flush()
    writer.close()
    bag = rbt.Bag(tmp_path / "b")
    (tmp_path / "b" / "b_0.mcap").write_bytes(b"")
    with pytest.raises(rbt.MessageError, match=r"b_0.mcap has changed since it was opened: a record ends too early"):
        list(bag.read("clock"))
    (tmp_path / "b" / "b_0.mcap").unlink()
    with pytest.raises(rbt.MessageError, match=r"b_0.mcap has changed since it was opened: .*No such file"):
        list(bag.rows())


MEASURED = """
import json, sys, tracemalloc
import rbt_ros as rbt
from rbt_ros.bags.convert import convert
from rbt_ros.bags.info import described

def peak(call):
    tracemalloc.reset_peak()
    return call(), tracemalloc.get_traced_memory()[1]

tracemalloc.start()
bag, opened = peak(lambda: rbt.Bag(sys.argv[1]))
told, telling = peak(lambda: described(bag))
size, read = peak(lambda: sum(len(data) for _, _, data in bag.rows()))
first, parts = peak(lambda: [part.numbers["position"][0, 0] for part in bag.parts("joint_states", most=97)])
del bag
_, converted = peak(lambda: convert(sys.argv[1], sys.argv[2], storage="mcap"))
print(json.dumps([size, first, [opened, telling, read, parts, converted]]))
"""


def test_a_bag_longer_than_memory_is_allowed_to_be(tmp_path):
    """Opened, told, read, in parts, converted: in memory are the chunks that are kept, the one that is read, packed, as
    it was and as messages with their places (8 MB, with what Python and the types need), and 8 bytes per message."""
    positions = write_noise(tmp_path / "b", COUNT, NAMES)
    command = [sys.executable, "-c", MEASURED, str(tmp_path / "b"), str(tmp_path / "c")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=150, check=True)
    size, first, peaks = json.loads(done.stdout)
    assert first == positions
    bound = stored.KEPT_BYTES + 8 * COUNT * 1.1 + 8e6
    assert max(peaks) < bound < 0.5 * size  # measured: 11 to 16 MB
    assert rbt.Bag(tmp_path / "c").messages == COUNT * 1.1
