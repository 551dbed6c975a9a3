"""Bytes of messages: the same as those that `rosbags`, written by others, makes; and found again."""

import math

import numpy as np
import pytest
from robots import random_robot

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.bags.arrays import arrays_of
from rbt_ros.bags.cdr import encode, layout
from rbt_ros.bags.templates import encoder
from rbt_ros.bags.types import Types, known_types
from rbt_ros.core.types import JointKind
from rbt_ros.errors import MessageError

TYPES = Types()
STAMP = 3_000_000_017


def again(kind, data):
    """What rosbags makes of the bytes, as bytes."""
    store = TYPES.store
    return bytes(store.serialize_cdr(store.deserialize_cdr(bytes(data), kind), kind))


@pytest.mark.parametrize("kind", sorted(known_types().fielddefs))
def test_empty_messages_of_all_types_are_those_of_rosbags(kind):
    data = encode(TYPES, kind, {})
    assert again(kind, data) == data
    assert layout(TYPES, kind, data).size == len(data)


@pytest.mark.parametrize("name", ["five_body", "cubesat"])
def test_all_topics_are_those_of_rosbags(name):
    sim = rbt.load(name).simulation()
    sim.command(rbt.WrenchCommand(rbt.Wrench(sim.robot.bodies[0].name, (1, 2, 3)), 10**9))
    for topic in topics.published(sim.robot, "a/"):
        data = encode(TYPES, topic.type, topic.fields(sim.sample(), STAMP))
        assert again(topic.type, data) == data, topic.name


@pytest.mark.parametrize("seed", range(12))
def test_templates_are_what_the_table_of_topics_says(seed):
    """Robots of all kinds of hinges; each template used again and again, at random states."""
    rng = np.random.default_rng(seed)
    robot = random_robot(rng, 4)
    sim = rbt.Simulation(robot)
    made = [(topic, encoder(TYPES, topic, robot, "p/")) for topic in topics.published(robot, "p/")]
    for _ in range(3):
        for hinge in robot.hinges:
            if hinge.kind not in (JointKind.FIXED, JointKind.FREE, JointKind.SPHERICAL):
                sim.set_hinge(hinge.name, rng.uniform(-1, 1, len(hinge.joint_names)))
        stamp = int(rng.integers(10**18))
        for topic, encoded in made:
            if topic.key != "markers":  # they remember where things were
                want = encode(TYPES, topic.type, topic.fields(sim.sample(), stamp))
                assert encoded(sim.sample(), stamp) == want, topic.name


@pytest.mark.parametrize("order", ["little", "big"])
def test_numbers_are_found_where_they_lie(order):
    store = TYPES.store
    kind = "sensor_msgs/msg/JointState"
    values = np.array([1.0, -2.5, math.pi])
    data = encode(TYPES, kind, {"header": {"frame_id": "ab"}, "name": ["x", "yy", "zzz"], "position": values})
    data = bytes(store.serialize_cdr(store.deserialize_cdr(bytes(data), kind), kind, little_endian=order == "little"))
    found = arrays_of(TYPES, kind, [1, 2], [data, data])
    assert (found.numbers["position"] == values).all() and found.numbers["position"].shape == (2, 3)
    assert found.numbers["velocity"].shape == (2, 0)
    assert found.texts["name[2]"] == ["zzz", "zzz"] and found.texts["header.frame_id"] == ["ab", "ab"]


def test_messages_of_several_lengths_stay_in_order():
    kind, rng = "sensor_msgs/msg/JointState", np.random.default_rng(3)
    sizes = rng.integers(0, 4, 40)
    messages = [encode(TYPES, kind, {"name": ["n" * k] * k, "position": [float(i)] * k}) for i, k in enumerate(sizes)]
    found = arrays_of(TYPES, kind, range(40), messages)
    assert [row.tolist() for row in found.numbers["position"]] == [[float(i)] * k for i, k in enumerate(sizes)]
    assert found.texts["name[0]"] == ["n" * k for k in sizes]
    equal = [encode(TYPES, kind, {"name": ["n" * (i % 3)], "position": [float(i)]}) for i in range(9)]
    found = arrays_of(TYPES, kind, range(9), equal)
    assert found.numbers["position"][:, 0].tolist() == list(range(9))


def test_bytes_that_are_no_message_are_told():
    kind = "sensor_msgs/msg/JointState"
    data = bytes(encode(TYPES, kind, {"name": ["elbow"], "position": [1.0], "velocity": [2.0]}))
    for size in range(len(data) - 4):
        with pytest.raises(MessageError, match="ends after|not classic CDR"):
            layout(TYPES, kind, data[:size])
    with pytest.raises(MessageError, match="too many for sensor_msgs/msg/JointState"):
        layout(TYPES, kind, data + bytes(4))
    with pytest.raises(MessageError, match=r"encapsulation 0003 is not classic CDR"):
        layout(TYPES, kind, b"\0\3" + data[2:])
    with pytest.raises(MessageError, match=r"message 1 is no sensor_msgs/msg/JointState: "):
        arrays_of(TYPES, kind, [0, 1], [data, data[:20]])
