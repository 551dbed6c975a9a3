"""A bag turned round: the last comes first, under times that rise, and rates are still derivatives."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags.arrays import arrays_of
from rbt_ros.bags.cdr import encode
from rbt_ros.bags.reverse import RATES, Mirror, obstacle
from rbt_ros.bags.sources import Topic
from rbt_ros.bags.types import Types

SATELLITE = """
rbt: 1
robot:
  bodies: {hub: {mass: 5, inertia: [1, 2, 2.5]}, arm: {mass: 1, inertia: [1, 1, 1], com: [0, 0, -1]}}
  hinges: {elbow: {kind: revolute, parent: hub, child: arm, axis: [0, 1, 0]}}
start:
  hinges: {elbow: {angle: 1, rate: 2}}
  bodies: {hub: {position: [1, 2, 3], velocity: [1, 0, 5], omega_body: [1, 2, 3]}}
outputs: {joint_states: 1000, tf: 1000, odom: 1000, multi_dof_joint_states: 1000}
"""


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bags")
    (folder / "satellite.yaml").write_text(SATELLITE)
    sim = rbt.load(str(folder / "satellite.yaml")).simulation()
    with rbt.Recorder(folder / "b", sim):
        sim.advance(200)
    return rbt.Bag(folder / "b")


def turned(bag, name, later_ns=0):
    """Arrays of a topic as it would be replayed; later_ns: by how much it was recorded behind its stamps."""
    topic, (first, last) = bag.topic(name), bag.span
    mirror = Mirror(bag.types(), first + later_ns, last + later_ns)
    rows = [(t + later_ns, data) for t, _, data in bag.rows([topic], backwards=True)]
    times, messages = zip(*((mirror.time(t), mirror.message(topic, data, t)) for t, data in rows), strict=True)
    return arrays_of(bag.types(), topic.type, times, messages)


@pytest.mark.parametrize("name", ["tf", "joint_states", "odom", "multi_dof_joint_states"])
def test_what_came_last_comes_first_with_other_rates(bag, name):
    forth, back = bag.arrays(name), turned(bag, name)
    assert (back.t_ns == forth.t_ns).all() and back.texts == forth.texts  # the ticks of the bag are equally far apart
    for path, stamps in forth.stamps.items():
        assert (back.stamps[path] == stamps).all()
    rates = RATES[bag.topic(name).type] or ("none",)
    for path, column in forth.numbers.items():
        sign = -1 if path.startswith(rates) else 1
        assert (back.numbers[path] == sign * column[::-1]).all(), path
    assert sum(path.startswith(rates) for path in forth.numbers) == {"tf": 0, "joint_states": 1}.get(name, 6)


def test_rates_are_the_derivatives_backwards(bag):
    """Central differences, h = 1 ms: off by h²/6 |q'''|, q''' < 30 rad/s³ in 0.2 s of this motion."""
    back = turned(bag, "joint_states")
    q, v = back.numbers["position"][:, 0], back.numbers["velocity"][:, 0]
    assert np.abs((q[2:] - q[:-2]) / 2e-3 - v[1:-1]).max() < 1e-6 / 6 * 30
    assert np.abs(v).min() > 0.5


def test_stamps_of_another_clock_keep_their_distance_to_it(bag):
    """A bag of others is recorded by the clock on the wall."""
    back = turned(bag, "joint_states", later_ns=10**18)
    assert (np.diff(back.stamps["header.stamp"]) == 10**6).all()
    assert (back.t_ns - back.stamps["header.stamp"] == 10**18).all()


def test_messages_of_other_lengths_and_orders_are_turned_too():
    """Names of several lengths, and bytes of a big-endian sender."""
    types, kind = Types(), "sensor_msgs/msg/JointState"
    topic, mirror = Topic("/j", kind, "", "", "", [], []), Mirror(types, 0, 2 * 10**9)
    for k in (1, 2, 1):
        stamp = {"header": {"stamp": {"sec": 1, "nanosec": 250_000_000}, "frame_id": ""}}
        data = bytes(encode(types, kind, {**stamp, "name": ["n" * k] * k, "velocity": [0.5] * k}))
        for little in (True, False):
            sent = bytes(types.store.serialize_cdr(types.store.deserialize_cdr(data, kind), kind, little_endian=little))
            found = types.store.deserialize_cdr(mirror.message(topic, sent, 1_250_000_000), kind)
            assert (found.header.stamp.sec, found.header.stamp.nanosec) == (0, 750_000_000)
            assert found.velocity.tolist() == [-0.5] * k and found.name == ["n" * k] * k


def test_what_means_nothing_backwards_is_named(bag):
    told = {name: obstacle(topic) for name, topic in bag.topics.items()}
    assert not any(told[name] for name in ("/tf", "/joint_states", "/odom"))
    assert told["/markers"] == "visualization_msgs/msg/MarkerArray means nothing backwards"
    assert told["/rbt_simulator/latched/wrench/hub"] == "commands act, and runs go, forwards only"
    assert obstacle(bag.topic("/robot_description"), latched=True) == ""
    assert obstacle(bag.topic("/rbt_simulator/run"), latched=True) == told["/rbt_simulator/latched/efforts"]
