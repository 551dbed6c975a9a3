"""Recordings: tables are shown as they were; broken ones play to the last whole frame; long ones need no memory."""

import http.client
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.bag import Bag
from rbt_ros.bags.recorder import Recorder
from rbt_ros.errors import ScenarioError
from rbt_ros.stream.layout import SCALARS, Layout
from rbt_ros.stream.process import Server
from rbt_ros.stream.scene import described
from rbt_ros.web import bag_frames
from rbt_ros.web.recording import COUNT, Recording, describe, read_arrays, read_table, record, turning


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """The five bodies for 0.5 s: (result, its table)."""
    result = rbt.load("five_body").simulation().run(until=0.5, every=0.01)
    path = tmp_path_factory.mktemp("table") / "five_body.csv"
    result.to_csv(path)
    return result, path


def unpacked(answer):
    count, size = COUNT.unpack_from(answer)
    t = np.frombuffer(answer, "<f8", count, COUNT.size)
    return t, np.frombuffer(answer, "<f4", count * size, COUNT.size + 8 * count).reshape(count, size)


def test_a_table_holds_the_rows_of_its_run(table, tmp_path):
    """To float32, with all that a live run shows but drifts."""
    result, path = table
    assert record(read_table(path, result.robot), result.robot, tmp_path, described(result.robot)) == ""
    again, direct, layout = Recording.open(tmp_path), Recording.of(result), Layout(result.robot)
    np.testing.assert_array_equal(again.t, result.t)
    for part in ("pose", "velocity", "position", "rate"):
        np.testing.assert_allclose(layout.part(again.rows, part), layout.part(direct.rows, part), rtol=2e-6, atol=2e-6)
    keep = [k for k, (name, _) in enumerate(SCALARS) if not name.startswith("drift")]
    scalars = [layout.part(each.rows, "scalars")[:, keep] for each in (again, direct)]
    np.testing.assert_allclose(*scalars, rtol=2e-6, atol=1e-5)
    assert again.scene["recorded"] == [0.0, 0.5, 51] and "known" not in again.scene


def test_a_file_of_a_result_holds_the_frames_of_its_table(table, tmp_path):
    result, path = table
    result.to_npz(tmp_path / "five_body.npz")
    of_file, of_table = read_arrays(tmp_path / "five_body.npz", result.robot), read_table(path, result.robot)
    for (t, pose, extra), (t_table, pose_table, _) in zip(of_file, of_table, strict=True):
        assert t == t_table and extra is not None
        np.testing.assert_allclose(pose, pose_table, rtol=0, atol=1e-15)
    (tmp_path / "cut.npz").write_bytes((tmp_path / "five_body.npz").read_bytes()[:3000])
    with pytest.raises(ScenarioError, match=r"cut.npz cannot be read as \*.npz"):
        next(read_arrays(tmp_path / "cut.npz", result.robot))


def test_poses_alone_give_rates_by_differences(tmp_path):
    """A turn at 2 rad/s about a fixed axis: the rotation between two frames is exact."""
    robot = rbt.RobotBuilder("one").body("b", mass=1.0, inertia=(1, 1, 1), com=(0, 0, 1)).build()
    axis, t = np.array([0.6, 0.0, 0.8]), np.linspace(0, 4, 21)
    poses = [np.array([[np.cos(x), *(np.sin(x) * axis), x, 0, 0]]) for x in t]  # half angles
    record([(x, pose, None) for x, pose in zip(t, poses, strict=True)], robot, tmp_path, described(robot))
    recording, layout = Recording.open(tmp_path), Layout(robot)
    w = layout.part(recording.rows, "pose")[:, 7:]  # the first as the second
    np.testing.assert_allclose(w, np.tile(2.0 * axis, (21, 1)), atol=1e-6)
    assert recording.scene["known"] == ["pose"]
    np.testing.assert_allclose(layout.part(recording.rows, "scalars")[0, :3], (0, 0, 1), atol=1e-7)


def test_a_turn_is_the_short_one_and_none_is_zero():
    q = np.array([[1.0, 0, 0, 0]])
    np.testing.assert_array_equal(turning(q, q), [[0, 0, 0]])
    small = np.array([[-np.cos(0.1), 0, 0, -np.sin(0.1)]])  # the same attitude as its negative
    np.testing.assert_allclose(turning(q, small), [[0, 0, 0.2]], atol=1e-15)


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda lines: [*lines[:20], lines[20][:50]], "line 21: it is cut after"),
        (lambda lines: [*lines[:20], "rubbish\n"], "line 21: 'rubbish"),
        (lambda lines: [*lines[:20], lines[5], *lines[20:]], "time goes back from 0.18 s to 0.04 s"),
        (lambda lines: [*lines[:20], "nan" + lines[20][4:], *lines[21:]], "a frame after t = 0.18 s has numbers that"),
    ],
)
def test_a_broken_recording_plays_to_its_last_whole_frame_and_says_so(table, tmp_path, spoil, words):
    result, path = table
    broken = tmp_path / "broken.csv"
    broken.write_text("".join(spoil(path.read_text().splitlines(keepends=True))))
    text = record(read_table(broken, result.robot), result.robot, tmp_path, described(result.robot))
    assert words in text and text.startswith("the recording is whole up to t = 0.18 s only: ")
    recording = Recording.open(tmp_path)
    assert recording.t[-1] == pytest.approx(0.18) and recording.scene["warnings"] == [text]


def test_what_is_no_table_of_this_robot_is_refused(table, tmp_path):
    robot = rbt.load("cubesat").robot
    with pytest.raises(
        ScenarioError, match="has no column cubesat.quaternion_w: is it of `rbt run` with robot 'cubesat'"
    ):
        record(read_table(table[1], robot), robot, tmp_path, described(robot))
    with pytest.raises(ScenarioError, match="cannot be read: No such file"):
        record(read_table(tmp_path / "no.csv", robot), robot, tmp_path, described(robot))
    (tmp_path / "empty.csv").write_text(table[1].read_text().splitlines(keepends=True)[0])
    with pytest.raises(ScenarioError, match="the recording has no frames"):
        record(read_table(tmp_path / "empty.csv", table[0].robot), table[0].robot, tmp_path, described(robot))


def test_an_answer_has_the_ends_and_at_most_what_is_asked(table):
    recording = Recording.of(table[0])
    t, rows = unpacked(recording.packed(0.1, 0.3, 1000))
    np.testing.assert_array_equal(t, recording.t[10:31])
    np.testing.assert_array_equal(rows, recording.rows[10:31])
    t, _ = unpacked(recording.packed(-1.0, 9.0, 6))
    assert (t[0], t[-1], len(t)) == (0.0, 0.5, 6)


def test_an_hour_at_a_kilohertz_needs_little_memory(built, tmp_path):
    """3.6 million frames of one body: the server maps them. Answers are a window at full rate or an overview."""
    robot = rbt.load("cubesat").robot
    layout, count = Layout(robot), 3_600_001
    (np.arange(count) * 1e-3).tofile(tmp_path / "t")
    with open(tmp_path / "rows", "wb") as rows:  # a hole: no disk is used, and reading gives zeros
        rows.truncate(4 * layout.size * count)
    describe(tmp_path, described(robot), count)
    server = Server(tmp_path, 0)
    try:
        for query in ("from=0&to=3600&most=4000", "from=1800&to=1801&most=4000"):
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=170)
            connection.request("GET", f"/frames?token={server.token}&{query}")
            t, _ = unpacked(connection.getresponse().read())
            connection.close()
            assert len(t) == (4000 if "3600" in query else 1001)
        peak = peak_mb(server.pid)
    finally:
        server.close()
    assert peak < 500


def peak_mb(pid):
    """The most memory that a process has used so far."""
    return int(Path(f"/proc/{pid}/status").read_text().partition("VmHWM:")[2].split()[0]) / 1024


def test_a_bag_holds_the_poses_of_its_run(tmp_path):
    """Links one after the other, from the world to each body, at the stamps of /tf: to the float32 of a row."""
    sim = rbt.load("five_body").simulation()
    with Recorder(tmp_path / "bag", sim):
        result = sim.run(until=0.2, every=0.01)
    bag = Bag(tmp_path / "bag")
    scenario = bag_frames.scenario_of(bag)
    assert record(bag_frames.frames(bag, scenario.robot), scenario.robot, tmp_path, described(scenario.robot)) == ""
    recording, layout = Recording.open(tmp_path), Layout(result.robot)
    at = [int(np.argmin(np.abs(result.t - t))) for t in recording.t]
    np.testing.assert_allclose(recording.t, result.t[at], atol=1e-12)
    assert len(at) == 21
    expected = layout.part(layout.rows(result)[at], "pose").reshape(21, -1, 10)
    found = layout.part(recording.rows, "pose").reshape(21, -1, 10)
    np.testing.assert_allclose(found[..., :3], expected[..., :3], atol=1e-6)
    same = np.abs(np.sum(found[..., 3:7] * expected[..., 3:7], axis=-1))  # q and -q are one attitude
    np.testing.assert_allclose(same, 1.0, atol=1e-6)


def test_a_bag_that_does_not_tell_its_scenario_asks_for_it(tmp_path):
    sim = rbt.RobotBuilder("one").body("b", mass=1.0, inertia=(1, 1, 1)).build()
    sim = rbt.Simulation(sim)
    with Recorder(tmp_path / "bag", sim):
        sim.advance(10)
    with pytest.raises(ScenarioError, match="does not tell which scenario ran; name it: --of SCENARIO"):
        bag_frames.scenario_of(Bag(tmp_path / "bag"))
    with pytest.raises(ScenarioError, match="moves none of upper, lower"):
        list(bag_frames.frames(Bag(tmp_path / "bag"), rbt.load("five_body").robot))
