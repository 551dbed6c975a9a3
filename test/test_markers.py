"""What RViz shows: directions, places and colours from a sample, by hand; and hinges of several freedoms."""

import os
import struct

import numpy as np
import pytest
from transforms3d.quaternions import quat2mat

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.markers import ADD, BEYOND, DELETE, LINES, SPACE, TAIL, TRAIL, Markers, letters_of, size_of
from rbt_ros.paths import share

SCENARIOS = sorted(file.stem for file in share("config").glob("*.yaml"))


def brick():
    b = rbt.RobotBuilder("sat")
    b.body(
        "hub",
        mass=2.0,
        inertia=(1, 2, 2.5),
        com=(0.1, 0, 0),
        shapes=[{"kind": "box", "size": (0.2, 0.2, 0.2), "at": (0, 0, 0.5)}, {"kind": "cylinder", "size": (0.1, 0.4)}],
    )
    sim = rbt.Simulation(b.build())
    sim.set_body("hub", position=(1, 2, 3), euler=("ZYX", 0.5, 0.2, -0.3), omega_body=(0.1, 0.2, 0.3))
    return sim


def named(fields, name):
    return [m for m in fields["markers"] if m["ns"] == name]


def ends(marker) -> np.ndarray:
    return np.array([[p[axis] for axis in "xyz"] for p in marker["points"]])


def direction(marker) -> np.ndarray:
    start, tip = ends(marker)
    return (tip - start) / np.linalg.norm(tip - start)


def unit(v) -> np.ndarray:
    return np.asarray(v) / np.linalg.norm(v)


def test_arrows_start_where_they_act_and_point_along():
    sim = brick()
    sim.command(rbt.WrenchCommand(rbt.Wrench("hub", (0.0, 3.0, 4.0), (1.0, 0.0, 0.0), "body", "origin"), 10**9))
    sample = sim.sample()
    fields = Markers(sim.robot, "a/")(sample, 1_500_000_000)
    R, com = quat2mat(sample.pose[0, :4]), np.array(sample.com)
    (spin,), (momentum,) = named(fields, "omega"), named(fields, "angular_momentum")
    assert direction(spin) == pytest.approx(unit(R @ [0.1, 0.2, 0.3]), abs=1e-14)
    assert direction(momentum) == pytest.approx(unit(R @ [0.1, 0.4, 0.75]), abs=1e-14)
    assert ends(spin)[0] == pytest.approx(com, abs=1e-14) and ends(momentum)[0] == pytest.approx(com, abs=1e-14)
    (force,), (moment,) = named(fields, "force"), named(fields, "moment")
    assert direction(force) == pytest.approx(R @ [0, 0.6, 0.8], abs=1e-14)
    assert direction(moment) == pytest.approx(R @ [1, 0, 0], abs=1e-14)
    assert ends(force)[0] == pytest.approx([1, 2, 3], abs=1e-14)
    assert {m["header"]["frame_id"] for m in (spin, force)} == {"a/world"}
    assert spin["header"]["stamp"] == topics.Time(1, 500_000_000)


def test_a_wrench_in_world_axes_points_there_and_goes_away_when_it_ends():
    sim = brick()
    markers = Markers(sim.robot, "")
    sim.command(rbt.WrenchCommand(rbt.Wrench("hub", (0.0, 0.0, 2.0), frame="world", at="com"), 2_000_000))
    acting = markers(sim.sample(), 0)
    sim.advance(2)
    ended = markers(sim.sample(), 0)
    assert direction(named(acting, "force")[0]) == pytest.approx([0, 0, 1])
    assert [named(f, "force")[0]["action"] for f in (acting, ended)] == [ADD, DELETE]
    assert [m["id"] for m in acting["markers"]] == [m["id"] for m in ended["markers"]]


def test_shapes_are_in_their_bodies_with_sizes_as_rviz_takes_them():
    sim = brick()
    box, cylinder = named(Markers(sim.robot, "a/")(sim.sample(), 0), "shapes")
    assert box["header"]["frame_id"] == "a/hub" and box["scale"] == (0.2, 0.2, 0.2)
    assert box["pose"]["position"] == (0, 0, 0.5)
    assert cylinder["scale"] == (0.2, 0.2, 0.4), "diameters, length"


def test_the_path_grows_once_a_tick_up_to_its_length_and_starts_anew_after_a_reset():
    sim = brick()
    sim.set_body("hub", velocity=(1.0, 0, 0))
    markers = Markers(sim.robot, "")
    for _ in range(TRAIL + 5):
        markers(sim.sample(), 0)
        sim.advance(1)
    path = named(markers(sim.sample(), 0), "path")[0]
    assert len(path["points"]) == TRAIL
    assert named(markers(sim.sample(), 0), "path")[0]["points"] == path["points"]
    sim.reset()
    sample = sim.sample()
    assert ends(named(markers(sample, 0), "path")[0]).tolist() == [pytest.approx(sample.com, abs=1e-14)]


@pytest.mark.parametrize("name", SCENARIOS)
def test_every_body_has_a_path_of_its_centre_of_mass(name):
    """Of several each is short: they would hide the bodies."""
    sim = rbt.load(name).simulation()
    markers = Markers(sim.robot, "")
    for _ in range(TAIL + 3):
        sample = sim.sample()
        fields = markers(sample, 0)
        sim.advance(5)
    paths = named(fields, "path")
    assert len(paths) == len(sim.robot.bodies)
    for pose, body, path in zip(sample.pose, sim.robot.bodies, paths, strict=True):
        assert len(ends(path)) == (TAIL + 3 if len(paths) == 1 else TAIL)
        assert ends(path)[-1] == pytest.approx(pose[4:] + quat2mat(pose[:4]) @ body.com, abs=1e-13)


@pytest.mark.parametrize("name", SCENARIOS)
def test_no_arrow_is_drawn_of_round_off_and_no_label_falls_apart(name):
    """L against the sum of what cancels in it, ω against the fastest body: below 1e-9 of it a direction is noise.

    The folding arrays have L = 0 but for round-off (6e-16 N m s), which RViz drew across the picture. It sets spaces of
    no width in a text whose scale.x is zero.
    """
    sim = rbt.load(name).simulation()
    markers = Markers(sim.robot, "")
    for _ in range(4):
        sample = sim.sample()
        fields = markers(sample, 0)
        coms = [p[4:] + quat2mat(p[:4]) @ b.com for p, b in zip(sample.pose, sim.robot.bodies, strict=True)]
        fastest = np.linalg.norm(sample.twist[:, :3], axis=1).max()
        farthest = max(np.linalg.norm(com - sample.com) for com in coms)
        parts = sum(
            (b.inertia.trace() + b.mass * farthest**2) * fastest + b.mass * farthest * np.linalg.norm(twist[3:])
            for b, twist in zip(sim.robot.bodies, sample.twist, strict=True)
        )
        sizes = {"omega": fastest, "angular_momentum": parts}
        vectors = {"omega": sample.twist[:, :3], "angular_momentum": np.array([sample.angular_momentum_com])}
        for kind, scale in sizes.items():
            drawn = [m for m in named(fields, kind) if m["action"] == ADD]
            lengths = np.linalg.norm(vectors[kind], axis=1)
            assert len(drawn) <= (lengths > 1e-12 * scale).sum()
        for label in named(fields, "labels"):
            assert label["action"] == DELETE or label["scale"].x == pytest.approx(SPACE * label["scale"].z)
        sim.advance(100)
    twist, L = 1e-16 * sample.twist, tuple(1e-16 * x for x in sample.angular_momentum_com)  # an array at its goal
    rest = sample._replace(twist=twist, momentum=(0.0, 0.0, 0.0), angular_momentum_com=L)
    assert not [m for kind in sizes for m in named(markers(rest, 0), kind) if m["action"] == ADD]


def test_a_body_that_hangs_on_the_world_shows_its_spin():
    sim = rbt.load("panel_pendulum").simulation()
    sim.advance(200)
    sample = sim.sample()
    (spin,) = named(Markers(sim.robot, "")(sample, 0), "omega")
    assert direction(spin) == pytest.approx(unit(sample.twist[0, :3]), abs=1e-13)


def test_labels_of_arrows_that_point_alike_stand_apart():
    """Spin about a principal axis: ω and L have one tip, and a force along them too."""
    sim = brick()
    sim.set_body("hub", omega_body=(0.0, 0.0, 2.0))
    along = quat2mat(sim.sample().pose[0, :4])[:, 2]
    sim.command(rbt.WrenchCommand(rbt.Wrench("hub", tuple(3 * along), frame="world", at="com"), 10**9))
    labels = [m for m in named(Markers(sim.robot, "")(sim.sample(), 0), "labels") if m["action"] == ADD]
    heights = sorted(label["pose"]["position"].z for label in labels)
    assert len(heights) == 3 and np.diff(heights).min() > labels[0]["scale"].z  # a capital and more


def test_a_body_without_shapes_is_the_box_of_its_inertia_and_so_is_a_mesh_that_is_not_there(tmp_path, monkeypatch):
    """A plank of 2 x 1 x 0.5 m: its half diagonal is 1.146 m. One that is there has its own size: 3, 4, 12 m."""
    plank, inertia = (2.0, 1.0, 0.5), np.array([1.25, 4.25, 5.0]) / 12.0
    bare = rbt.RobotBuilder("bare").body("plank", mass=1.0, inertia=inertia).build()
    (box,) = named(Markers(bare, "")(rbt.Simulation(bare).sample(), 0), "shapes")
    assert sorted(box["scale"]) == pytest.approx(sorted(plank)) and size_of(bare) == pytest.approx(1.14564392)
    mesh = {"kind": "mesh", "file": "package://x/plank.stl"}
    b = rbt.RobotBuilder("mesh").body("plank", mass=1.0, inertia=inertia, shapes=[mesh])
    assert size_of(b.build()) == pytest.approx(size_of(bare))
    file = tmp_path / "share" / "y" / "thorn.stl"
    file.parent.mkdir(parents=True)
    corners = np.array([[0, 0, 0], [3, 4, 0], [3, 4, 12]], "<f4")
    file.write_bytes(bytes(80) + struct.pack("<I3f", 1, 0, 0, 0) + corners.tobytes() + bytes(2))
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere{os.pathsep}{tmp_path}")
    for name in (str(file), f"file://{file}", "package://y/thorn.stl"):
        shapes = [{"kind": "mesh", "file": name, "size": (0.2, -0.2, 0.2), "at": (0, 1, 0)}]
        b = rbt.RobotBuilder("mesh").body("thorn", mass=1.0, inertia=inertia, shapes=shapes)
        assert size_of(b.build()) == pytest.approx(1.0 + 0.2 * 13.0)


@pytest.mark.parametrize(("length", "size"), [(0.1, 0.1), (1.0, 0.3), (1000.0, 0.5)])
def test_what_is_drawn_of_a_small_body_grows_with_its_rope_up_to_five_times(length, size):
    ball = [{"kind": "sphere", "size": 0.1}]
    b = rbt.RobotBuilder("stone").body("stone", mass=1.0, inertia=(1, 1, 1), shapes=ball)
    b.rope("line", "world", "stone", at_a=(0, 0, 1), at_b=(0, 0, 0), length=length)
    assert size_of(b.build()) == pytest.approx(size)


def test_multi_dof_joint_states_have_the_child_in_the_parents_hinge_frame():
    sim = rbt.load("five_body").simulation()
    sim.set_hinge("elbow", euler=("ZYX", 0.3, 0.2, 0.1), omega=(1.0, 2.0, 3.0))
    table = {topic.key: topic for topic in topics.published(sim.robot, "a/")}
    fields = table["multi_dof_joint_states"].fields(sim.sample(), 7)
    assert fields["joint_names"] == ["shoulder", "elbow"]
    assert fields["twist"][1] == {"linear": (0, 0, 0), "angular": (1.0, 2.0, 3.0)}
    pose = sim.sample().pose
    R_PB = quat2mat(pose[0, :4]).T @ quat2mat(pose[1, :4])
    assert quat2mat(fields["transforms"][1]["rotation"]) == pytest.approx(R_PB, abs=1e-14)


def test_multi_dof_joint_states_of_a_floating_body_are_its_odometry():
    sim = brick()
    sample = sim.sample()
    fields = topics.multi_dof_fields(sim.robot, "", sample, 7)
    odom = topics.odometry_fields(sim.robot, "", 0, sample, 7)
    assert fields["joint_names"] == ["hub"]
    assert fields["transforms"] == [
        {"translation": odom["pose"]["pose"]["position"], "rotation": odom["pose"]["pose"]["orientation"]}
    ]
    assert fields["twist"] == [odom["twist"]["twist"]]


def test_labels_tell_how_much_at_the_tips_of_arrows_and_go_with_them():
    sim = brick()
    sim.command(rbt.WrenchCommand(rbt.Wrench("hub", (0.0, 3.0, 4.0), frame="world", at="com"), 1_000_000))
    markers = Markers(sim.robot, "")
    acting = markers(sim.sample(), 0)
    texts = {label["text"]: label["pose"]["position"] for label in named(acting, "labels") if label["action"] == ADD}
    L = np.linalg.norm([0.1, 0.4, 0.75])  # I ω
    assert list(texts) == ["omega 0.3742 rad/s", f"L {L:.4g} N m s", "F 5 N"]
    for name, text in (("force", "F 5 N"), ("omega", "omega 0.3742 rad/s")):
        (arrow,) = named(acting, name)
        away = letters_of(sim.robot) * (BEYOND * direction(arrow) + [0, 0, LINES[name]])
        assert texts[text] == pytest.approx(ends(arrow)[1] + away, abs=1e-14)
    sim.advance(1)
    ended = markers(sim.sample(), 0)
    assert [label["action"] for label in named(ended, "labels")] == [ADD, ADD, DELETE, DELETE]


def test_ropes_go_from_end_to_end_and_show_whether_they_are_slack():
    b = rbt.RobotBuilder("swing").body("seat", mass=1.0, inertia=(1, 1, 1))
    b.rope("line", "world", "seat", at_a=(0, 0, 1), at_b=(0, 0.1, 0), length=2.0)
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81))
    sim.set_body("seat", position=(0, 0, -0.5))
    colors = []
    for z in (-0.5, -1.0):  # hanging loose, hanging
        sim.set_body("seat", position=(0.0, -0.1, z))
        (rope,) = named(Markers(sim.robot, "a/")(sim.sample(), 0), "ropes")
        assert ends(rope) == pytest.approx(np.array([[0, 0, 1], [0, 0, z]]), abs=1e-14)
        assert rope["header"]["frame_id"] == "a/world"
        colors.append(rope["color"])
    assert colors[0] != colors[1]
