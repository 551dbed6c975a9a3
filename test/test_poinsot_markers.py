"""Poinsot's construction as RViz gets it, and what far from the world's origin is told in a frame near the craft."""

import numpy as np
import pytest
from transforms3d.quaternions import quat2mat

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.core.freetop import free_rotation
from rbt_ros.markers import ADD, ARROW_LENGTH, DELETE, TRAIL, Markers
from rbt_ros.model.attitude import matrices
from rbt_ros.poinsot_markers import TURN, PoinsotMarkers

FAR = np.array([6.9e6, -3.1e6, 1.2e6])  # [m] where single precision has a raster of half a metre


def top(place=(1.0, 2.0, 3.0), omega=(0.1, 3.0, 0.2)):
    b = rbt.RobotBuilder("sat")
    b.body("hub", mass=2.0, inertia=(1, 2, 2.5), com=(0.1, 0, 0.2), shapes=[{"kind": "sphere", "size": 0.5}])
    sim = rbt.Simulation(b.build(), integrator="dop853")
    sim.set_body("hub", position=place, euler=("ZYX", 0.5, 0.2, -0.3), omega_body=omega)
    return sim


def by_name(fields) -> dict:
    return {m["ns"]: m for m in fields["markers"]}


def rows(marker) -> np.ndarray:
    """Its points in its frame."""
    return np.array(marker["pose"]["position"]) + [[p[axis] for axis in "xyz"] for p in marker["points"]]


def test_omega_is_on_polhode_herpolhode_and_plane_and_where_its_arrow_ends():
    sim = top()
    sim.advance(300)
    sample = sim.sample()
    found = by_name(PoinsotMarkers(sim.robot, "a/")(sample, 1_500_000_000))
    assert {m["header"]["frame_id"] for n, m in found.items() if "ellipsoid" in n or n == "polhode"} == {"a/hub"}
    assert {found[n]["header"]["frame_id"] for n in ("herpolhode", "invariable_plane")} == {"a/world"}
    tip = rows(by_name(Markers(sim.robot, "")(sample, 0))["omega"])[-1]
    assert rows(found["herpolhode"])[-1] == pytest.approx(tip, abs=1e-13)
    plane = found["invariable_plane"]["pose"]
    normal = quat2mat(plane["orientation"])[:, 2]
    assert normal == pytest.approx(np.array(sample.angular_momentum_com) / np.linalg.norm(sample.angular_momentum_com))
    assert normal @ (tip - plane["position"]) == pytest.approx(0.0, abs=1e-13)


def test_the_polhode_is_where_the_ellipsoids_meet():
    """All its points are on both: their semi-axes are half of the scales, turned as the markers are."""
    sim = top()
    found = by_name(PoinsotMarkers(sim.robot, "")(sim.sample(), 0))
    for name in ("energy_ellipsoid", "momentum_ellipsoid"):
        pose, scale = found[name]["pose"], np.array(found[name]["scale"])
        along = (rows(found["polhode"]) - pose["position"]) @ quat2mat(pose["orientation"])
        assert ((2.0 * along / scale) ** 2).sum(axis=1) == pytest.approx(1.0, abs=1e-13)
    speed = np.linalg.norm([0.1, 3.0, 0.2])
    w_now = np.array([0.1, 3.0, 0.2]) * ARROW_LENGTH * 0.5 / speed
    nearest = np.linalg.norm(rows(found["polhode"]) - [0.1, 0, 0.2] - w_now, axis=1).min()
    assert nearest < 2 * np.pi * ARROW_LENGTH * 0.5 / 180  # between two points of the curve


def test_the_herpolhode_of_a_free_top_stays_in_its_plane():
    sim = top()
    markers = PoinsotMarkers(sim.robot, "")
    for _ in range(50):
        fields = markers(sim.sample(), 0)
        sim.advance(50)
    found = by_name(fields)
    pose = found["invariable_plane"]["pose"]
    off = (rows(found["herpolhode"]) - pose["position"]) @ quat2mat(pose["orientation"])[:, 2]
    # the integrator keeps E and L to 1e-12 over 2.5 s
    assert len(off) >= 50 and np.abs(off).max() < 1e-10


@pytest.mark.parametrize("hz", [10, 30, 100])
def test_the_herpolhode_is_a_curve_at_any_rate_of_messages(hz):
    """At 51 rad/s a body turns by 5 rad from message to message at 10 Hz: points of the true curve are filled in.

    Chords span at most TURN = 0.2 rad; the curve is that of the closed form, but for Runge-Kutta's error, whose step of
    0.2 rad makes 0.2⁵/120 = 3e-6 of ω; over a message of 5 rad, 26 steps: below 1e-4.
    """
    scenario = rbt.load("cubesat")
    sim = scenario.simulation()
    markers, start = PoinsotMarkers(sim.robot, ""), sim.sample()
    for _ in range(6):
        found = by_name(markers(sim.sample(), 0))
        sim.advance(1000 // hz)
    drawn = rows(found["herpolhode"])
    last = np.linalg.norm(drawn[-1])
    step = np.linalg.norm(np.diff(drawn, axis=0), axis=1).max()
    assert step < 1.05 * TURN * last  # the curve's own bending is slower than the turn of the body
    fine = np.linspace(0.0, 5.0 / hz, 20 * len(drawn))
    q, w = free_rotation(sim.robot.bodies[0].inertia, start.pose[0, :4], sim_omega(start), fine)
    exact = np.einsum("nij,nj->ni", matrices(q), w)
    exact *= last / np.linalg.norm(exact[-1])  # as long as the arrow of now
    off = [np.linalg.norm(exact - p, axis=1).min() for p in drawn]
    between = np.linalg.norm(np.diff(exact, axis=0), axis=1).max()
    assert max(off) < between + 1e-4 * last


def sim_omega(sample) -> np.ndarray:
    """w_WB_B of body 0 [rad/s]."""
    return matrices(sample.pose[0, :4]).T @ sample.twist[0, :3]


def test_it_starts_anew_after_a_reset_and_goes_away_at_rest():
    sim = top()
    markers = PoinsotMarkers(sim.robot, "")
    for _ in range(3):
        fields = markers(sim.sample(), 0)
        sim.advance(10)
    assert 3 <= len(by_name(fields)["herpolhode"]["points"]) <= TRAIL
    assert {m["action"] for m in fields["markers"]} == {ADD}
    sim.reset()
    assert len(by_name(markers(sim.sample(), 0))["herpolhode"]["points"]) == 1
    still = top(omega=(0.0, 0.0, 0.0))
    gone = PoinsotMarkers(still.robot, "")(still.sample(), 0)["markers"]
    assert {m["action"] for m in gone} == {DELETE}
    assert [(m["ns"], m["id"]) for m in gone] == [(m["ns"], m["id"]) for m in fields["markers"]]


def test_only_lone_floating_bodies_have_it():
    assert "poinsot" in [topic.key for topic in topics.published(top().robot)]
    for name in ("five_body", "wheel"):
        assert "poinsot" not in [topic.key for topic in topics.published(rbt.load(name).robot)]


def test_from_the_local_frame_all_is_near_wherever_the_craft_is():
    """Two crafts that fly alike, one at the origin: what RViz gets of both in single precision is the same."""
    drawn = []
    for place in (np.zeros(3), FAR):
        sim = top(place)
        sim.set_body("hub", velocity=(1.0, -2.0, 0.5))
        makers = [make(sim.robot, "a/", "near") for make in (Markers, PoinsotMarkers)]
        for _ in range(5):
            markers = [m for make in makers for m in make(sim.sample(), 0)["markers"]]
            sim.advance(20)
        assert {m["header"]["frame_id"] for m in markers} == {"a/near", "a/hub"}
        drawn.append(np.concatenate([rows(m) for m in markers if m.get("points")]).astype(np.float32))
    # what is left of the position in double precision: 1e-9 of 7e6 m, beside single precision of a metre
    assert np.abs(drawn[0] - drawn[1]).max() < 1e-6
    assert np.abs(drawn[1]).max() < 10.0


def test_the_local_frame_goes_with_the_craft_and_does_not_turn():
    sim = top(FAR)
    tf = {topic.key: topic for topic in topics.published(sim.robot, "a/", "near")}["tf"]
    *_, near = tf.fields(sim.sample(), 7)["transforms"]
    assert (near["header"]["frame_id"], near["child_frame_id"]) == ("a/world", "a/near")
    assert near["transform"]["translation"] == tuple(FAR) and near["transform"]["rotation"] == (1, 0, 0, 0)


@pytest.mark.parametrize(
    ("robot", "local", "words"),
    [
        ("five_body", "near", "local_frame 'near': robot 'five_body' has no floating body"),
        ("cubesat", "cubesat", "local_frame 'cubesat' is a frame of robot 'cubesat' already"),
        ("cubesat", "world", "local_frame 'world' is a frame of robot 'cubesat' already"),
    ],
)
def test_a_local_frame_that_cannot_be_is_refused(robot, local, words):
    with pytest.raises(rbt.ScenarioError, match=words):
        topics.published(rbt.load(robot).robot, "", local)


def test_the_cones_are_the_rays_of_omega_in_the_body_and_in_space():
    """Fans over polhode and herpolhode: each triangle begins at the CoM, and its rim is two points of the curve."""
    sim = top()
    markers = PoinsotMarkers(sim.robot, "")
    for _ in range(20):
        fields = markers(sim.sample(), 0)
        sim.advance(20)
    found = by_name(fields)
    for cone, curve in (("body_cone", "polhode"), ("space_cone", "herpolhode")):
        fan, rim = rows(found[cone]).reshape(-1, 3, 3), rows(found[curve])
        assert found[cone]["header"] == found[curve]["header"]
        assert (fan[:, 0] == found[cone]["pose"]["position"]).all()
        np.testing.assert_array_equal(fan[:, 1], rim[:-1])
        np.testing.assert_array_equal(fan[:, 2], rim[1:])
