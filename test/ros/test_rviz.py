"""The .rviz files: each shows topics, types and frames that the node of its scenario really publishes."""

import re
import struct

import numpy as np
import pytest
from nav_msgs.msg import Odometry
from ruamel.yaml import YAML
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

import rbt_ros as rbt
from rbt_ros.errors import SetupError
from rbt_ros.markers import ADD, Markers, size_of
from rbt_ros.model.attitude import turn_all
from rbt_ros.paths import share
from rbt_ros.poinsot_markers import PoinsotMarkers
from rbt_ros.rviz import DISPLAYS, rviz_text

SCENARIOS = sorted(file.stem for file in share("config").glob("*.yaml"))
TYPES = {f"rviz_default_plugins/{kind}": name for name, (kind, _) in DISPLAYS.items()}


def manager(text: str) -> dict:
    return YAML(typ="safe").load(text)["Visualization Manager"]


def displayed(text: str) -> dict[str, tuple[str, str]]:
    """Topic -> (message type, durability) of every display that has a topic."""
    found = {}
    for display in manager(text)["Displays"]:
        topic = display.get("Topic") or display.get("Description Topic")
        if topic:
            found[topic["Value"]] = (TYPES[display["Class"]], topic["Durability Policy"])
    return found


def shipped(name: str) -> str:
    return share("rviz", f"{name}.rviz").read_text(encoding="utf-8")


# one scenario for each set of topics that there is: a node of its own takes seconds
DIFFERENT = {tuple(sorted(displayed(shipped(name)).items())): name for name in reversed(SCENARIOS)}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_shipped_file_is_the_one_that_is_made(name):
    """How: python -c "import rbt_ros as r; from rbt_ros.rviz import rviz_text; print(rviz_text(r.load('NAME')))"."""
    assert shipped(name) == rviz_text(rbt.load(name))


@pytest.mark.parametrize("name", sorted(DIFFERENT.values()))
def test_what_it_shows_is_published(ros, name):
    text = shipped(name)
    shown = displayed(text)
    assert {"robot_description", "markers"} <= set(shown)
    child = ros.start(name, "--namespace", "sat", "--mode", "realtime", "--rate", "0.5")
    peer = ros.peer()
    tf = [peer.listen(TFMessage, "/tf"), peer.listen(TFMessage, "/tf_static", latched=True)]

    def offered():
        infos = {topic: peer.node.get_publishers_info_by_topic(f"/sat/{topic}") for topic in shown}
        return infos if all(infos.values()) else {}

    for topic, (info,) in peer.until(offered, "the topics that RViz shows", child).items():
        assert (info.topic_type, info.qos_profile.durability.name.replace("_", " ").title()) == shown[topic]
    peer.until(lambda: tf[0], "transforms", child)
    frames = {t.header.frame_id for messages in tf for m in messages for t in m.transforms}
    assert manager(text)["Global Options"]["Fixed Frame"] in frames


def test_what_is_drawn_comes_in_the_namespaces_that_can_be_switched(ros):
    """What RViz lists below the displays markers and poinsot, where each may be switched off."""
    scenario = rbt.load("cubesat")
    scenario.outputs["poinsot"] = 30.0
    assert {"markers", "poinsot"} <= set(displayed(rviz_text(scenario)))
    child = ros.start("cubesat", outputs__poinsot=30.0)
    peer = ros.peer()
    drawn = {topic: peer.listen(MarkerArray, topic) for topic in ("markers", "poinsot")}

    def namespaces(topic):
        return {m.ns for message in drawn[topic] for m in message.markers if m.action == Marker.ADD}

    peer.until(lambda: namespaces("markers") == {"shapes", "omega", "angular_momentum", "labels", "path"}, "all", child)
    construction = {f"{what}_ellipsoid" for what in ("energy", "momentum")} | {"polhode", "herpolhode"}
    construction |= {"invariable_plane", "body_cone", "space_cone"}
    peer.until(lambda: namespaces("poinsot") == construction, "the construction", child)
    for display in manager(rviz_text(scenario))["Displays"]:
        assert set(display.get("Namespaces", {})) <= namespaces("markers")
    texts = {m.text for m in drawn["markers"][-1].markers if m.ns == "labels"}
    assert "L 1 N m s" in texts and any(text.startswith("omega ") for text in texts)


def ends_of(markers: dict) -> np.ndarray:
    """Where arrows begin and end, labels stand and paths go [m]."""
    found = []
    for marker in markers["markers"]:
        if marker["action"] == ADD and marker["ns"] != "shapes":
            found += [tuple(p.values()) for p in marker.get("points", [])] or [marker["pose"]["position"]]
    return np.array(found)


def tips_of(construction: dict, pose: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Corners of the invariable plane and ends of the energy ellipsoid's axes; and those of the momentum ellipsoid."""
    found = {m["ns"]: m for m in construction["markers"]}
    rows = {}
    for name in ("energy_ellipsoid", "momentum_ellipsoid", "invariable_plane"):
        at, q, half = *found[name]["pose"].values(), np.diag(found[name]["scale"]) / 2.0
        if name == "invariable_plane":
            half = np.array([half[0] + half[1], half[0] - half[1]])
        ends = turn_all(np.tile(q, (2 * len(half), 1)), np.concatenate([half, -half])) + at
        if name != "invariable_plane":  # in the body's frame
            ends = turn_all(np.tile(pose[:4], (len(ends), 1)), ends) + pose[4:]
        rows[name] = ends
    return np.concatenate([rows["energy_ellipsoid"], rows["invariable_plane"]]), rows["momentum_ellipsoid"]


@pytest.mark.parametrize("name", [*SCENARIOS, "poinsot"])
def test_nothing_leaves_the_home_view(name):
    """A cone of RViz's 45 degrees about the line of sight holds all arrows, labels, paths and bodies, for 5 s.

    And all of Poinsot's construction but the momentum ellipsoid, outside of which the eye is.
    """
    scenario = rbt.load("cubesat" if name == "poinsot" else name)
    if name == "poinsot":
        scenario.outputs["poinsot"] = 10.0
    view = manager(rviz_text(scenario))["Views"]["Current"]
    pitch, yaw = view["Pitch"], view["Yaw"]
    sight = -np.array([np.cos(pitch) * np.cos(yaw), np.cos(pitch) * np.sin(yaw), np.sin(pitch)])
    eye = np.array([view["Focal Point"][axis] for axis in "XYZ"]) - view["Distance"] * sight
    sim, markers, nearest, widest = scenario.simulation(), Markers(scenario.robot, ""), np.inf, 0.0
    for _ in range(20):
        sample = sim.sample()
        seen = np.concatenate([ends_of(markers(sample, 0)), sample.pose[:, 4:]]) - eye
        if name == "poinsot":
            tips, far = tips_of(PoinsotMarkers(scenario.robot, "")(sample, 0), sample.pose[0])
            seen = np.concatenate([seen, tips - eye])
            assert np.linalg.norm(eye - sample.com) > np.linalg.norm(far - sample.com, axis=1).max()
        along = seen @ sight
        nearest = min(nearest, along.min())
        widest = max(widest, np.arctan2(np.linalg.norm(seen - along[:, None] * sight, axis=1), along).max())
        sim.advance(max(1, 250_000_000 // scenario.h_ns))
    assert nearest > size_of(scenario.robot), "the eye is not inside of what it looks at"
    assert widest < np.pi / 8
    assert widest > np.pi / 8 / 5, "nor far away"


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_rviz_draws_is_as_large_as_the_robot_not_as_a_car(name):
    size = size_of(rbt.load(name).robot)
    shown = {display["Class"].split("/")[1]: display for display in manager(shipped(name))["Displays"]}
    assert shown["TF"]["Enabled"] and 0.2 * size < 0.2 * shown["TF"]["Marker Scale"] < size  # axes [m]
    assert 0.1 * size < shown["Grid"]["Cell Size"] <= size * 1.001
    for key, value in shown.get("Odometry", {"Shape": {}})["Shape"].items():
        assert key == "Value" or value <= size
    # RobotModel gives all shapes of a link the colour of the first one
    assert shown["MarkerArray"]["Enabled"] and not shown["RobotModel"]["Enabled"]


def test_without_markers_the_robot_model_shows_the_bodies():
    scenario = rbt.load("cubesat")
    scenario.outputs["markers"] = 0.0
    (robot,) = [d for d in manager(rviz_text(scenario))["Displays"] if d["Class"].endswith("RobotModel")]
    assert robot["Enabled"]


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_window_fits_a_laptop_and_is_mostly_picture(name):
    """Without geometry the Time panel fills the left dock, and the 3D view is 0 px wide.

    QMainWindow.saveState(): marker, version, then the dock areas: of each its side (0 left, 3 bottom), width, height.
    """
    document = YAML(typ="safe").load(shipped(name))
    panels = [panel["Name"] for panel in document["Panels"]]
    window = document["Window Geometry"]
    assert panels == ["Displays", "Views", "Time"] and all(not window[panel]["collapsed"] for panel in panels)
    assert window["X"] + window["Width"] <= 1280 and window["Y"] + window["Height"] <= 760  # bars of the desktop
    state = bytes.fromhex(window["QMainWindow State"])
    marker, _, areas, count, side, width, _ = struct.unpack(">IIBIIII", state[:25])
    assert (marker, areas, count, side) == (0xFF, 0xFD, 2, 0)
    assert width < 0.3 * window["Width"]
    places = [state.index(panel.encode("utf-16-be")) for panel in panels]
    bottom = state.index(struct.pack(">II", 3, window["Width"]))
    assert places[0] < places[1] < bottom < places[2]


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_saved_views_are_those_of_the_browser(name):
    """Home, top, side, front and follow; in the frames that there are."""
    robot = rbt.load(name).robot
    views = manager(rviz_text(rbt.load(name)))["Views"]
    assert [view["Name"] for view in views["Saved"]] == ["Home", "Top", "Side", "Front", "Follow"]
    assert {view["Target Frame"] for view in views["Saved"]} == {"world", robot.bodies[0].name}
    assert all(view["Distance"] == views["Current"]["Distance"] for view in views["Saved"])


def test_the_frame_prefix_is_in_the_file_and_in_the_messages(ros):
    text = rviz_text(rbt.load("cubesat"), "a/")
    assert manager(text)["Global Options"]["Fixed Frame"] == "a/world"
    assert re.findall(r"Frame: (?!a/)\S+", text) == []
    (robot,) = [d for d in manager(text)["Displays"] if d["Class"].endswith("RobotModel")]
    assert robot["TF Prefix"] == "a"  # RViz puts a slash behind it
    child = ros.start("cubesat", "--frame-prefix", "a/")
    peer = ros.peer()
    odom = peer.listen(Odometry, "odom")
    peer.until(lambda: odom, "odom", child)
    assert odom[0].header.frame_id == "a/world"


def test_an_output_that_is_off_is_not_shown():
    scenario = rbt.load("cubesat")
    scenario.outputs["odom"] = 0.0
    assert set(displayed(rviz_text(scenario))) == {"robot_description", "markers"}


def test_without_rviz_the_way_to_it_is_told(monkeypatch):
    from rbt_ros.ros.launching import rviz_beside

    monkeypatch.setenv("PATH", "")
    with (
        pytest.raises(SetupError, match="rviz2 is not on PATH: source your ROS"),
        rviz_beside(rbt.load("cubesat"), "/", ""),
    ):
        pass


def test_rviz_runs_beside_the_node_and_ends_with_it(ros, tmp_path):
    """A stand-in for rviz2 that keeps what it was asked to show, until it is ended."""
    program = tmp_path / "bin" / "rviz2"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\ncat "$2" > {tmp_path}/shown\necho "$@" > {tmp_path}/words\nexec sleep 60\n')
    program.chmod(0o755)
    import os

    path = {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    child = ros.start("wheel", "--rviz", "--namespace", "b", frame_prefix="b/", environ=path)
    peer = ros.peer()
    odom = peer.listen(Odometry, "/b/odom")
    words, told = tmp_path / "words", "use_sim_time:=true -r __ns:=/b"
    peer.until(lambda: odom and words.exists() and told in words.read_text(), "the node and RViz", child)
    assert (tmp_path / "shown").read_text(encoding="utf-8") == rviz_text(rbt.load("wheel"), "b/")
    assert child.stop() == 0
