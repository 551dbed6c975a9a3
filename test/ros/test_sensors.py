"""Sensors, as a node publishes them."""

import pytest
from sensor_msgs.msg import Imu
from tf2_msgs.msg import TFMessage

import rbt_ros as rbt
from rbt_ros.ros.sensor_topics import SensorTopics

CRAFT = """\
rbt: 1
robot:
  bodies:
    hub: {mass: 10, inertia: [0.4, 0.5, 0.6]}
    imu: {mass: 10 g, inertia: [1e-7, 1e-7, 1e-7]}
  hinges:
    stand: {kind: fixed, parent: world, child: hub}
    mount: {kind: fixed, parent: hub, child: imu, at: [0, 0, 1], rotation: [0, 1, 0, 0]}
gravity: [0, 0, -9.81]
sensors:
  side: {kind: imu, body: hub, at: [0, 0, 0.5], rotation: [YXZ, 90 deg, 0, 0], rate: 50, force_noise: 1e-3}
"""


def test_a_sensor_upside_down_and_one_on_its_side_measure_what_holds_them(ros, tmp_path):
    path = tmp_path / "craft.yaml"
    path.write_text(CRAFT, encoding="utf-8")
    sim = rbt.load(str(path)).simulation()
    own = sim.run(until=0.1).sensor("side")  # compiles here, not in the node
    sim.reset()
    with rbt.Recorder(tmp_path / "own", sim):
        sim.advance(100)
    bag = tmp_path / "bag"
    child = ros.start(path, imu__body="imu", imu__rate=200.0, frame_prefix="a/", record=True, record_to=bag)
    peer = ros.peer()
    seen, side = peer.listen(Imu, "imu/data_raw"), peer.listen(Imu, "sensors/side/data_raw")
    frames = peer.listen(TFMessage, "/tf_static", latched=True)
    peer.until(lambda: len(seen) > 2 < len(side) and frames, "imu/data_raw", child)
    a, stamps = seen[-1].linear_acceleration, [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in seen]
    assert (a.x, a.y, a.z) == pytest.approx((0, 0, -9.81), abs=1e-12)
    assert seen[-1].header.frame_id == "a/imu" and seen[-1].orientation_covariance[0] == -1.0
    assert (stamps[-1] - stamps[0]) % 5_000_000 == 0
    assert side[-1].header.frame_id == "a/side" and side[-1].linear_acceleration_covariance[0] == 1e-6
    mounted = {f.child_frame_id: f for f in frames[-1].transforms}["a/side"]
    assert mounted.header.frame_id == "a/hub" and mounted.transform.translation.z == 0.5
    assert child.stop() == 0
    recorded = rbt.Bag(bag).arrays("imu/data_raw")
    assert recorded.numbers["linear_acceleration.z"] == pytest.approx(-9.81, abs=1e-12)
    assert set(stamps) <= set(recorded.stamps["header.stamp"].tolist())
    for folder in (bag, tmp_path / "own"):  # the same noise, wherever it is recorded
        found = rbt.Bag(folder).arrays("sensors/side/data_raw")
        first = found.numbers["linear_acceleration.x"][:3].tolist()
        assert first == own["specific_force"][:3, 0].tolist()
        assert found.stamps["header.stamp"][1] == 1_020_000_000
    assert first == pytest.approx([-9.81] * 3, abs=5e-3)


def test_a_body_that_is_not_there_is_refused(ros):
    child = ros.start("wheel", imu__body="hob")
    assert child.wait() != 0 and "imu.body: 'hob'" in child.stderr


def test_one_that_fails_has_no_message_and_stands_in_the_diagnostics():
    sim = rbt.load("wheel").simulation()
    broken = rbt.SensorKind(
        lambda *_: 1 / 0, (rbt.Quantity("x"),), (rbt.SensorMessage("x", "std_msgs/msg/Float64", dict),)
    )
    sim.add_sensor("broken", broken, body="hub", rate=10)
    told = []
    topics = SensorTopics(sim, {"frame_prefix": "", "imu.body": "hub", "imu.rate": 1e6}.get, told.append)
    assert not topics.reports()[0].level
    for _ in range(2):
        made = [extra.made_of(sim.sample(), 0) for extra in topics.extras()]
        assert made[0] is None and made[1]["header"]["frame_id"] == "hub"
    assert len(told) == 1 and "sensor 'broken' on 'hub' raised ZeroDivisionError" in told[0]
    (report,) = topics.reports()
    assert report.level and report.values == {"samples of broken that failed": 2} and "ZeroDivision" in report.summary
