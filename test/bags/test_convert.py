"""Bags as tables, arrays and other bags, and back: the same bits."""

import csv
import sqlite3

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.convert import convert
from rbt_ros.bags.table import table_of

SLIDE = """
rbt: 1
robot:
  bodies:
    cart: {mass: 1, inertia: [1, 1, 1]}
    rod: {mass: 1, inertia: [1, 1, 1], com: [0, 0, -1]}
    bird: {mass: 1, inertia: [1, 2, 2.5]}
  hinges:
    rail: {kind: prismatic, parent: world, child: cart, axis: [1, 0, 0]}
    pivot: {kind: revolute, parent: cart, child: rod, axis: [0, 1, 0]}
gravity: [0, 0, -9.81]
start:
  hinges: {pivot: {angle: 1}}
  bodies: {bird: {position: [1, 2, 3], velocity: [1, 0, 5], omega_body: [1, 2, 3]}}
outputs: {joint_states: 1000, tf: 500, odom: 100}
"""


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags")
    (folder / "slide.yaml").write_text(SLIDE)
    sim = rbt.load(str(folder / "slide.yaml")).simulation()
    with rbt.Recorder(folder / "b", sim):
        sim.advance(200)
    return rbt.Bag(folder / "b")


def test_a_table_and_back_has_the_same_bits(bag, tmp_path):
    """Numbers, stamps, units, and cells that are empty between two messages of a slower topic."""
    told = convert(str(bag.path), str(tmp_path / "t.csv"))
    assert told[0].startswith(f"wrote {tmp_path / 't.csv'}: 38 columns")
    assert any(line.startswith("left out: /markers: 7 messages of visualization_msgs") for line in told)
    with (tmp_path / "t.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 201 and rows[0]["stamp [ns]"] == "1000000000" and rows[1]["bird.odom.position_x [m]"] == ""
    assert {"rail.position [m]", "rail.rate [m/s]", "pivot.position [rad]", "rod.in.cart.quaternion_w"} <= rows[
        0
    ].keys()
    assert convert(str(tmp_path / "t.csv"), str(tmp_path / "again")) == [f"wrote {tmp_path / 'again'}: 323 messages"]
    before, after = table_of(bag).columns, table_of(rbt.Bag(tmp_path / "again")).columns
    named = {name.replace("[m/s]", "").replace("[rad/s]", "").split(" ")[0]: data for name, data in after.items()}
    assert len(named) == len(before)
    for name, (t_ns, values) in before.items():
        found_t, found = named[name.split(" ")[0]]
        assert (found_t == t_ns).all() and (found == values).all(), name


def test_arrays_for_numpy_have_the_same_bits(bag, tmp_path):
    convert(str(bag.path), str(tmp_path / "b.npz"))
    with np.load(tmp_path / "b.npz") as found:
        read = bag.arrays("joint_states")
        assert (found["joint_states:position"] == read.numbers["position"]).all()
        assert (found["joint_states:header.stamp"] == read.stamps["header.stamp"]).all()
        assert found["joint_states:name[1]"].tolist() == ["pivot"]
        sizes = found["markers:markers[4].points"] if "markers:markers[4].points" in found else []
        assert len(sizes) == 0 and found["odom:t_ns"].shape == (21,)


def test_an_animation_shows_the_poses_of_the_run(bag, tmp_path):
    """Frames 50 to the second fall on ticks: the poses of the simulation then, to the round-off of a chain."""
    assert convert(str(bag.path), str(tmp_path / "a.csv"), layout="blender", frame_rate=50) == [
        f"wrote {tmp_path / 'a.csv'}: 11 frames"
    ]
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    sim = rbt.load(str(bag.path.parent / "slide.yaml")).simulation()
    for row in rows:
        sim.advance(round(float(row["t [s]"]) * 1e3) - sim.tick)
        for body, pose in zip(sim.robot.bodies, sim.sample().pose, strict=True):
            p = [float(row[f"{body.name}.{c} [m]"]) for c in "xyz"]
            q = np.array([float(row[f"{body.name}.q{c}"]) for c in "wxyz"])
            assert np.abs(p - pose[4:]).max() < 4e-16 * 5  # |p| < 4 m, a chain of two
            assert min(np.abs(q - pose[:4]).max(), np.abs(q + pose[:4]).max()) < 1e-15
    assert [row["frame"] for row in rows] == [str(k) for k in range(1, 12)]


@pytest.mark.parametrize("storage", ["sqlite3", "mcap"])
def test_other_storages_hold_the_same_messages(bag, tmp_path, storage):
    """sqlite3: the tables of rosbag2's storage plugin, schema version 4, and its index."""
    assert convert(str(bag.path), str(tmp_path / "b"), storage=storage)[0].endswith(f" messages, {storage}")
    again = rbt.Bag(tmp_path / "b")
    for name, topic in bag.topics.items():
        assert (again.topics[name].t_ns, again.topics[name].data) == (topic.t_ns, topic.data), name
    if storage == "sqlite3":
        with sqlite3.connect(tmp_path / "b" / "b.db3") as db:
            tables = {row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            columns = [row[1:3] for row in db.execute("PRAGMA table_info(messages)")]
            version = db.execute("SELECT schema_version FROM schema").fetchall()
        assert {"schema", "metadata", "topics", "messages", "message_definitions"} <= tables
        assert columns == [("id", "INTEGER"), ("topic_id", "INTEGER"), ("timestamp", "INTEGER"), ("data", "BLOB")]
        assert version == [(4,)]


def test_the_table_of_a_run_becomes_a_bag(tmp_path):
    """What `rbt run` writes: joints and poses in the world; what a bag has no place for is named."""
    sim = rbt.load("five_body").simulation()
    result = sim.run(0.05, every=0.01)
    result.to_csv(tmp_path / "run.csv")
    told = convert(str(tmp_path / "run.csv"), str(tmp_path / "b"))
    assert "column 'energy.kinetic [J]' is not understood" in told
    read = rbt.Bag(tmp_path / "b").arrays("joint_states")
    assert (read.numbers["position"][:, 0] == result.hinge("wrist").angle).all()
    assert read.t_ns.tolist() == [k * 10_000_000 for k in range(6)]


BAD = {
    "t [s],elbow.position [rad]\n0,x\n": "line 2: 'x' under 'elbow.position [rad]' is no number",
    "t [s],elbow.position [rad]\n0\n": "line 2: 1 cells under 2 names",
    "t [s],elbow.position [rad]\n-1,0\n": "line 2: -1.0 under 't [s]' is no time from 0 to 9e9 s",
    "t [s],elbow.position [rad]\nnan,0\n": "line 2: nan under 't [s]' is no time",
    "stamp [ns],elbow.position [rad]\n1.5,0\n": "line 2: '1.5' under 'stamp [ns]' is no whole number",
    "elbow.position [rad]\n0\n": "has no column 'stamp [ns]' or 't [s]'; it is no table of a motion",
    "t [s],colour\n0,1\n": "has no columns of joints, transforms or odometry, as docs/bags.md names them",
    "": "has no column 'stamp [ns]'",
}


@pytest.mark.parametrize("text", BAD)
def test_tables_that_are_none_are_refused(tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(rbt.MessageError) as err:
        convert(str(tmp_path / "t.csv"), str(tmp_path / "b"))
    assert BAD[text] in str(err.value) and not (tmp_path / "b").exists()


def test_wrong_requests_are_refused(bag, tmp_path):
    for target, options, words in (
        ("b.xlsx", {}, "is neither .csv nor .npz, nor a folder for a bag"),
        ("no/where.csv", {}, "cannot be written"),
        ("a.csv", {"layout": "blender", "frame_rate": 0.0}, "frame rate 0.0 must lie between 0 and 1e4"),
    ):
        with pytest.raises(rbt.RbtError, match=words):
            convert(str(bag.path), str(tmp_path / target), **options)
    with pytest.raises(rbt.ScenarioError, match="is there already; give another name"):
        convert(str(bag.path), str(tmp_path))
    with pytest.raises(rbt.MessageError, match="there is no file .*none.csv; give the path of a table"):
        convert(str(tmp_path / "none.csv"), str(tmp_path / "b"))
