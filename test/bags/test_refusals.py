"""What is wrong in a bag is told in words: records, definitions, stamps, robots, what runs, what is to be compared."""

import json
import shutil
import struct

import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Writer1

import rbt_ros as rbt
from rbt_ros.bags.cdr import encode, layout
from rbt_ros.bags.convert import convert
from rbt_ros.bags.files import BagWriter
from rbt_ros.bags.info import described
from rbt_ros.bags.mcap_write import CHANNEL, CHUNK, DATA_END, HEADER, MAGIC, MESSAGE, MESSAGE_HEAD, SCHEMA, record, text
from rbt_ros.bags.poses import world_poses
from rbt_ros.bags.rerun import Rerun
from rbt_ros.bags.residual import residuals
from rbt_ros.bags.table import table_of
from rbt_ros.bags.types import Types
from rbt_ros.bags.verify import verify
from rbt_ros.fields import header
from rbt_ros.model.hinge_commands import HingeCommand

JOINTS, TF, STRING = "sensor_msgs/msg/JointState", "tf2_msgs/msg/TFMessage", "std_msgs/msg/String"
NODE = "/rbt_simulator"


def bag_of(folder, rows, **options):
    """A bag of (topic, type, time, fields or bytes)."""
    writer, channels = BagWriter(folder, **options), {}
    for topic, kind, time, fields in rows:
        if topic not in channels:
            channels[topic] = writer.add_channel(topic, kind)
        data = fields if isinstance(fields, bytes) else bytes(encode(writer.types, kind, fields))
        writer.write(channels[topic], time, data)
    writer.close()
    return rbt.Bag(folder)


def rows_of(bag, change=lambda name, k, data: data, without=()):
    """The rows of a bag, with other bytes here and there."""
    count = dict.fromkeys(bag.topics, -1)
    for time, topic, data in bag.rows():
        count[topic.name] += 1
        if topic.name not in without:
            yield topic.name, topic.type, time, bytes(change(topic.name, count[topic.name], data))


# ------------------------------------------------------------------------------------------------------------ records
def message(channel=1, time=5, data=b"\0\1\0\0abcdefgh"):
    return MESSAGE_HEAD.pack(MESSAGE, 22 + len(data), channel, 0, time, time) + data


def chunk(raw, how="", size=None):
    head = struct.pack("<QQQI", 0, 0, len(raw) if size is None else size, 0) + text(how)
    return record(CHUNK, head + struct.pack("<Q", len(raw)) + raw)


DAMAGED = {
    "a chunk is compressed by 'gzip'": chunk(message(), "gzip"),
    "a chunk claims 1099511627776 bytes": chunk(b"abc", "zstd", 1 << 40),
    "a chunk cannot be decompressed (": chunk(b"abcdefgh", "zstd"),
    "a chunk is not what its checksum says": chunk(message(), size=5),
    "a chunk ends within a record": chunk(message()[:-1]),
    "a chunk ends within   a record": chunk(record(SCHEMA, b"abc")[:-1]),
    "a message record ends too early": chunk(record(MESSAGE, b"x" * 8) + bytes(30)),
    "it breaks off in the record at  byte": record(MESSAGE, b"x" * 8) + message(),
    "a message is of 9223372036854775808 ns, after the year 2262": chunk(message(time=1 << 63)),
    "1 messages belong to no topic": chunk(message(channel=7)) + record(DATA_END, bytes(4)),
    "it breaks off in  the record at byte": record(CHANNEL, b"a"),
    "it breaks off in the record at byte": b"\x99" + bytes(20),
}


@pytest.mark.parametrize("why", DAMAGED)
def test_records_that_are_wrong_are_told_and_what_is_before_is_read(tmp_path, why):
    schema = record(SCHEMA, struct.pack("<H", 1) + text("rosgraph_msgs/msg/Clock") + text("ros2msg") + text(""))
    channel = record(CHANNEL, struct.pack("<HH", 1, 1) + text("/clock") + text("cdr") + text(""))
    start = MAGIC + record(HEADER, text("ros2") + text("")) + schema + channel + chunk(message(time=3))
    (tmp_path / "b.mcap").write_bytes(start + DAMAGED[why])
    bag = rbt.Bag(tmp_path)
    assert len(bag.damage) == 1 and " ".join(why.split()) in bag.damage[0]
    assert bag.topics["/clock"].t_ns.tolist() == [3] and bag.topics["/clock"].data == [b"\0\1\0\0abcdefgh"]


def test_messages_before_the_break_in_a_chunk_without_checksum_are_read(tmp_path):
    schema = record(SCHEMA, struct.pack("<H", 1) + text("rosgraph_msgs/msg/Clock") + text("ros2msg") + text(""))
    channel = record(CHANNEL, struct.pack("<HH", 1, 1) + text("/clock") + text("cdr") + text(""))
    chunks = chunk(message(time=5) + b"\5") + chunk(message(time=7))
    (tmp_path / "b.mcap").write_bytes(MAGIC + schema + channel + chunks + record(DATA_END, bytes(4)))
    bag = rbt.Bag(tmp_path)
    assert "a chunk ends within a record" in bag.damage[0] and bag.topics["/clock"].t_ns.tolist() == [5, 7]
    assert bag.gaps == [(5, 7)]


def test_files_that_are_none_are_told(tmp_path):
    (tmp_path / "b.mcap").write_text("no bag at all")
    assert rbt.Bag(tmp_path).damage == ["b.mcap: it does not begin as MCAP does; what was written before that is read"]
    (tmp_path / "c.mcap").mkdir()
    with pytest.raises(rbt.ScenarioError, match=r"c.mcap is no file but a folder; give the path of a bag"):
        rbt.Bag(tmp_path)


def test_a_topic_of_two_types_is_told(tmp_path):
    bag_of(tmp_path / "a", [("/t", STRING, 1, {"data": "x"})])
    bag_of(tmp_path / "b", [("/t", "rosgraph_msgs/msg/Clock", 2, {})])
    shutil.move(tmp_path / "b" / "b_0.mcap", tmp_path / "a" / "a_1.mcap")
    bag = rbt.Bag(tmp_path / "a")
    assert bag.damage == ["a_1.mcap: topic /t is rosgraph_msgs/msg/Clock here and std_msgs/msg/String elsewhere"]
    assert bag.texts("t") == [(1, "x")]


def test_a_message_that_is_none_of_its_type_is_told(tmp_path):
    bag = bag_of(tmp_path / "b", [("/joint_states", JOINTS, 1, b"\0\1\0\0" + b"\xff" * 8)])
    with pytest.raises(rbt.MessageError, match="topic /joint_states of .* has a message that is no sensor_msgs/msg/Jo"):
        list(bag.read("joint_states"))


def test_messages_of_no_bytes_are_told(tmp_path):
    bag = bag_of(tmp_path / "b", [("/joint_states", JOINTS, k, b"") for k in range(2)])
    with pytest.raises(rbt.MessageError, match="message 0 is no sensor_msgs/msg/JointState: encapsulation missing is"):
        bag.arrays("joint_states")


def test_topics_of_others_called_run_are_no_runs(tmp_path):
    bag = bag_of(tmp_path / "b", [("/a/run", STRING, 1, {"data": "wild"}), ("/b/run", STRING, 1, {"data": "[]"})])
    assert bag.runs() == [] and "from" not in "\n".join(described(bag)[1:])


# -------------------------------------------------------------------------------------------------------- definitions
IDL = "module odd_msgs { module msg { struct Odd { double value; odd_msgs::msg::Part part; }; }; };"
PART = "module odd_msgs { module msg { struct Part { long count; }; }; };"
RULE = "=" * 80 + "\n"
ALONE = "module odd_msgs { module msg { struct Odd { double value; long count; }; }; };"


@pytest.mark.parametrize("text", [ALONE, f"{RULE}IDL: odd_msgs/msg/Odd\n{IDL}\n{RULE}IDL: odd_msgs/msg/Part\n{PART}\n"])
def test_definitions_in_idl(tmp_path, text):
    """In one piece, or each in its own as rosbag2 writes them; a second definition of a type is passed over."""
    writer = BagWriter(tmp_path / "b")
    for topic, definition in (("/odd", text), ("/again", ALONE + " ")):
        channel = writer.add_channel(topic, "odd_msgs/msg/Odd", known=(definition, "ros2idl", ""))
        writer.write(channel, 1, b"\0\1\0\0" + struct.pack("<di", 0.25, 7))
    writer.close()
    bag = rbt.Bag(tmp_path / "b")
    for name in ("odd", "again"):
        read = bag.arrays(name)
        assert [column.tolist() for column in read.numbers.values()] == [[0.25], [7]]


def test_definitions_that_cannot_be_read_are_told(tmp_path):
    writer = BagWriter(tmp_path / "b")
    writer.write(writer.add_channel("/odd", "odd_msgs/msg/Odd", known=("float 64 x y", "ros2msg", "")), 1, b"")
    writer.close()
    bag = rbt.Bag(tmp_path / "b")
    assert bag.skipped["/odd"].messages == 1
    assert bag.skipped["/odd"].reason.startswith("its definition cannot be read (")


def test_ros_1_definitions_that_cannot_be_read_are_told(tmp_path):
    with Writer1(tmp_path / "old.bag") as writer:
        connection = writer.add_connection("/odd", "odd_msgs/msg/Odd", msgdef="float 64 x y", md5sum="0" * 32)
        writer.write(connection, 3, b"abc")
    bag = rbt.Bag(tmp_path / "old.bag")
    assert bag.skipped["/odd"].messages == 1 and not bag.topics


def test_a_database_without_metadata(tmp_path):
    """A folder of one .db3 is a bag, too."""
    bag = bag_of(tmp_path / "b", [("/t", STRING, k, {"data": str(k)}) for k in range(5)])
    convert(str(bag.path), str(tmp_path / "db"))
    (tmp_path / "db" / "metadata.yaml").unlink()
    assert rbt.Bag(tmp_path / "db").texts("t") == [(k, str(k)) for k in range(5)]


# ------------------------------------------------------------------------------------------------------------- tables
def transforms(*pairs, stamp=1):
    """(child, parent) where they are."""
    pose = {"translation": {"x": 1.0}, "rotation": {"w": 1.0}}
    return {"transforms": [{"header": header(stamp, p), "child_frame_id": c, "transform": pose} for c, p in pairs]}


def joints(*names, position=None, stamp=1):
    return {"header": header(stamp), "name": list(names), "position": position or [0.5] * len(names)}


def test_what_has_no_table_is_refused(tmp_path):
    cases = {
        "holds no joint states, transforms or odometry to make a table of": [("/t", STRING, 1, {})],
        "/more brings a.position [rad] again; name one topic in one bag": [
            ("/joint_states", JOINTS, 1, joints("a")),
            ("/more", JOINTS, 1, joints("a")),
        ],
        "name[0] changes; it has no columns": [("/j", JOINTS, 1, joints("a")), ("/j", JOINTS, 2, joints("b"))],
        "the length of position changes; it has no columns": [
            ("/j", JOINTS, 1, joints("a")),
            ("/j", JOINTS, 2, joints("a", position=[0.5, 1.0])),
        ],
    }
    for number, (why, rows) in enumerate(cases.items()):
        bag = bag_of(tmp_path / str(number), rows)
        with pytest.raises(rbt.MessageError) as err:
            convert(str(bag.path), str(tmp_path / "t.csv"))
        assert why in str(err.value) and not (tmp_path / "t.csv").exists()


def test_stamps_that_come_twice_are_told(tmp_path):
    rows = [("/j", JOINTS, k, joints("a", position=[float(k)], stamp=(5, 6, 6)[k])) for k in range(3)]
    told = convert(str(bag_of(tmp_path / "b", rows).path), str(tmp_path / "t.csv"))
    assert "left out: a.position [rad]: 1 values at stamps that come twice" in told
    lines = (tmp_path / "t.csv").read_text().splitlines()[1:]
    assert [line.split(",")[::2] for line in lines] == [["5", "0.0"], ["6", "2.0"]]


def test_parts_that_differ_have_no_columns(tmp_path, monkeypatch):
    """A name that changes only in a later part of a long bag; a joint that is only there."""
    monkeypatch.setattr(rbt.Bag.parts, "__defaults__", ("", 2))
    same = [("/j", JOINTS, k, joints("a", stamp=k)) for k in range(4)]
    assert len(table_of(bag_of(tmp_path / "a", same)).columns["a.position [rad]"][0]) == 4
    for number, other in enumerate((joints("b"), joints("a", "b"), {"header": header(9), "name": ["a"]})):
        with pytest.raises(rbt.MessageError, match="changes; it has no columns"):
            table_of(bag_of(tmp_path / f"b{number}", [*same, ("/j", JOINTS, 9, other)]))


def test_poses_that_hang_on_nothing_are_refused(tmp_path):
    cases = {
        "holds no transforms on /tf": [{}],
        "the transforms go in a circle: a in b in a": [transforms(("a", "b"), ("b", "a"))],
    }
    for number, (why, messages) in enumerate(cases.items()):
        with pytest.raises(rbt.MessageError, match=why):
            world_poses(bag_of(tmp_path / str(number), [("/tf", TF, k, m) for k, m in enumerate(messages)]))
    moving = [("/tf", TF, k, transforms(("a", "world"), stamp=k)) for k in range(3)]
    static = [("/tf_static", TF, k, transforms(("b", "a"), stamp=k)) for k in range(2)]
    with pytest.raises(rbt.MessageError, match="frame b is not in every message of /tf"):
        world_poses(bag_of(tmp_path / "c", [*moving, *static]))
    back = bag_of(tmp_path / "d", [("/tf", TF, k, transforms(("a", "world"), stamp=9 - k)) for k in range(3)])
    with pytest.raises(rbt.MessageError, match="the stamps of /tf do not rise; split the bag before it is animated"):
        convert(str(back.path), str(tmp_path / "a.csv"), layout="blender")


# ------------------------------------------------------------------------------------------------- running again
@pytest.fixture(scope="module")
def swing(tmp_path_factory):
    """50 ticks of the chain with a command at tick 20."""
    folder = tmp_path_factory.mktemp("swing") / "b"
    sim = rbt.load("five_body").simulation()
    with rbt.Recorder(folder, sim, outputs={"markers": 0}):
        sim.advance(20)
        sim.command(HingeCommand(("wrist",), effort=(0.5,)))
        sim.advance(30)
    return rbt.Bag(folder)


def with_run(bag, folder, **changes):
    """The bag with something else that ran."""

    def change(name, k, data):
        if name != f"{NODE}/run":
            return data
        return encode(Types(), STRING, {"data": json.dumps({**json.loads(bag.texts(name)[k][1]), **changes})})

    return bag_of(folder, rows_of(bag, change))


def command(*names, effort, stamp=20_000_000):
    fields = {"header": header(10**9 + stamp), "name": list(names), "effort": list(effort)}
    return bytes(encode(Types(), JOINTS, fields))


LOG = f"{NODE}/latched/hinge_commands"


def with_command(bag, folder, data):
    """The bag with another command."""
    return bag_of(folder, rows_of(bag, lambda name, k, old: data if name == LOG else old))


def test_what_cannot_be_run_again_is_told(swing, tmp_path):
    cases = {
        r"the run began with digest 00, and its scenario gives .*: was something set before": {"digest": "00"},
        r"cannot be run again from 1 s: it melts\.": {"memory": None, "tick": 3, "obstacle": "it melts"},
        r"cannot be run again from 1 s: its state is missing": {"memory": None, "tick": 3, "obstacle": ""},
        r"the scenario in .* cannot be read: .*: 'robot' is missing. Give it: --scenario FILE": {"scenario": "rbt: 1"},
    }
    for number, (why, changes) in enumerate(cases.items()):
        with pytest.raises(rbt.ScenarioError, match=why):
            verify(with_run(swing, tmp_path / str(number), **changes))
    late = with_run(swing, tmp_path / "late", memory=None, tick=3)
    with pytest.raises(rbt.ScenarioError, match="from 1 s: what if needs one that begins at t = 0"):
        Rerun(late, changes={"step": "2 ms"})
    with pytest.raises(rbt.ScenarioError, match="'step.size.in' names no value of the scenario; write its keys with"):
        Rerun(swing, changes={"step.size.in": "1"})


def test_logs_that_cannot_act_are_told(swing, tmp_path):
    """Entries of an unknown kind, of a type without definition, of another type, of two nodes."""
    entry = (f"{NODE}/latched/dance", "geometry_msgs/msg/WrenchStamped", 1_010_000_000, {})
    verdict = verify(bag_of(tmp_path / "a", [*rows_of(swing), entry]))
    assert "cannot go on: an entry of the command log, dance, is none that this version knows" in verdict.difference
    with pytest.raises(rbt.MessageError, match="/hinge_commands of .* is std_msgs/msg/String; sensor_msgs.* is needed"):
        verify(bag_of(tmp_path / "b", [*rows_of(swing, without=(LOG,)), (LOG, STRING, 1_010_000_000, {})]))
    writer = BagWriter(tmp_path / "c")
    for topic, kind in ((f"{NODE}/latched/odd", "odd_msgs/msg/Odd"), ("/rbt_simulator/run", STRING)):
        channel = writer.add_channel(topic, kind, known=("", "ros2msg", "") if "odd" in kind else None)
        data = {"data": swing.texts(topic)[0][1]} if kind == STRING else None
        writer.write(channel, 10**9, bytes(encode(writer.types, kind, data)) if data else b"abcd")
    writer.close()
    with pytest.raises(rbt.MessageError, match="1 entries of /rbt_simulator/latched/odd cannot be read .the bag does"):
        verify(rbt.Bag(tmp_path / "c"))
    other = ("/other/latched/hinge_commands", JOINTS, 1_010_000_000, command("wrist", effort=[1.0]))
    with pytest.raises(rbt.ScenarioError, match="holds command logs of several nodes: /other, /rbt_simulator"):
        verify(bag_of(tmp_path / "d", [*rows_of(swing, without=(f"{NODE}/run",)), other]), "five_body")


def test_a_command_that_is_refused_ends_verify_not_what_if(swing, tmp_path):
    """What if passes it over and says so."""
    bag = with_command(swing, tmp_path / "b", command("wrist", effort=[1.0, 2.0]))
    verdict = verify(bag)
    assert not verdict.same and "it cannot go on: " in verdict.difference
    again = Rerun(bag, what_if=True)
    again.go(bag.span[1])
    assert [told.partition(": ")[0] for told in again.told] == ["hinge_commands at 1.02 s is not taken"]


def test_commands_that_break_the_state_are_cancelled_as_the_node_does(swing, tmp_path):
    again = Rerun(with_command(swing, tmp_path / "b", command("wrist", effort=[1e300])))
    again.go(swing.span[1])
    assert len(again.told) == 1 and again.told[0].startswith("the commands that act were cancelled: tick 2")


def test_nothing_to_compare_is_told(swing, tmp_path):
    bag = bag_of(tmp_path / "b", [row for row in rows_of(swing) if row[0] in (f"{NODE}/run", "/clock")])
    with pytest.raises(rbt.ScenarioError, match="holds no digest and no message that could be compared"):
        verify(bag)


def test_differences_in_names_lengths_stamps_and_gaps(swing, tmp_path):
    """A letter of a frame's name, one velocity too few, a stamp between ticks, a byte between fields."""
    types = Types()

    def slower(data):
        found = types.store.deserialize_cdr(data, JOINTS)
        fields = {"header": header(1_030_000_000), "name": found.name, "position": found.position}
        return encode(types, JOINTS, {**fields, "velocity": found.velocity[:-1]})

    def gap(data):
        found = layout(types, JOINTS, data)
        at, count = found.strings["name[0]"]
        end = at + count + 1  # behind the closing zero
        assert end % 4  # so that the next length leaves a gap
        return data[:end] + b"x" + data[end + 1 :]

    cases = (
        ("/tf", 3, lambda data: data.replace(b"world\0", b"wurld\0", 1), ".frame_id = 'wurld', now transforms["),
        ("/joint_states", 30, slower, "/joint_states: velocity has another length"),
        ("/joint_states", 30, lambda data: data[:8] + struct.pack("<I", 30_000_001) + data[12:], "the step is 1 ms"),
        ("/joint_states", 30, gap, "/joint_states: in bytes that hold no value"),
    )
    for number, (topic, row, spoil, why) in enumerate(cases):

        def change(name, k, data, topic=topic, row=row, spoil=spoil):
            return spoil(data) if (name, k) == (topic, row) else data

        verdict = verify(bag_of(tmp_path / str(number), rows_of(swing, change)))
        assert not verdict.same and why in verdict.difference, verdict.difference


# ---------------------------------------------------------------------------------------------------------- residuals
def test_floating_bodies_are_compared(tmp_path):
    """Place and attitude of a satellite: nothing is left of the same model."""
    sim = rbt.load("cubesat").simulation()
    with rbt.Recorder(tmp_path / "b", sim):
        sim.advance(100)
    bag = rbt.Bag(tmp_path / "b")
    found = residuals(bag)
    places = ("position_x", "position_y", "position_z", "attitude")
    assert [row.name for row in found.rows] == [f"cubesat.{place}" for place in places]
    assert all(not row.error.any() and len(row.t_ns) == 11 for row in found.rows)
    named = bag_of(
        tmp_path / "c",
        [(n, k, t, d.replace(b"cubesat\0", b"cubesit\0") if n == "/odom" else d) for n, k, t, d in rows_of(bag)],
    )
    with pytest.raises(rbt.MessageError, match="/odom of .* is of 'cubesit', which the robot does not have"):
        residuals(named)


def test_residuals_of_nothing_are_refused(swing, tmp_path):
    only_run = bag_of(tmp_path / "a", [row for row in rows_of(swing) if row[0] == f"{NODE}/run"])
    with pytest.raises(rbt.ScenarioError, match="holds no joint states and no odometry to compare with"):
        residuals(only_run)
    later = with_run(swing, tmp_path / "b", stamp=2 * 10**9)
    with pytest.raises(rbt.ScenarioError, match="has nothing recorded from the start of the scenario on"):
        residuals(later)
    one = bag_of(tmp_path / "c", [row for row in rows_of(swing) if row[0] != "/joint_states" or row[2] == 10**9])
    with pytest.raises(rbt.MessageError, match="has fewer than two positions of joint 'wrist' from the start on"):
        residuals(one, driven=["wrist"])
    empty = bag_of(tmp_path / "d", [("/t", STRING, 1, {})])
    with pytest.raises(rbt.ScenarioError, match="holds no joint states and no odometry"):
        residuals(empty, "cubesat")
    assert np.isfinite(residuals(swing).rows[0].rms)
