"""imu/data_raw, as a node publishes it."""

import pytest
from sensor_msgs.msg import Imu

import rbt_ros as rbt

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
"""


def test_a_sensor_that_is_mounted_upside_down_tells_what_holds_it(ros, tmp_path):
    path = tmp_path / "craft.yaml"
    path.write_text(CRAFT, encoding="utf-8")
    _ = rbt.load(str(path)).simulation().sample().reactions["mount"]  # compiles here, not in the node
    bag = tmp_path / "bag"
    child = ros.start(path, imu__body="imu", imu__rate=200.0, frame_prefix="a/", record=True, record_to=bag)
    peer = ros.peer()
    seen = peer.listen(Imu, "imu/data_raw")
    peer.until(lambda: len(seen) > 2, "imu/data_raw", child)
    a, stamps = seen[-1].linear_acceleration, [m.header.stamp.sec * 10**9 + m.header.stamp.nanosec for m in seen]
    assert (a.x, a.y, a.z) == pytest.approx((0, 0, -9.81), abs=1e-12)
    assert seen[-1].header.frame_id == "a/imu" and seen[-1].orientation_covariance[0] == -1.0
    assert (stamps[-1] - stamps[0]) % 5_000_000 == 0
    assert child.stop() == 0
    recorded = rbt.Bag(bag).arrays("imu/data_raw")
    assert recorded.numbers["linear_acceleration.z"] == pytest.approx(-9.81, abs=1e-12)
    assert set(stamps) <= set(recorded.stamps["header.stamp"].tolist())


def test_what_is_no_sensor_is_refused(ros):
    child = ros.start("wheel", imu__body="hub")
    assert child.wait() != 0 and "imu.body: 'hub': there is none here; leave it empty" in child.stderr
