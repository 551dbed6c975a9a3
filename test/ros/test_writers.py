"""What goes out as bytes is what this ROS makes of the messages that the table of topics describes."""

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from robots import random_robot

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.ros import writers
from rbt_ros.ros.convert import fill, message_class


def moved(name: str) -> rbt.Simulation:
    if name == "random":
        return rbt.Simulation(random_robot(np.random.default_rng(3), 12))
    return rbt.load(name).simulation()


@pytest.mark.parametrize("name", ["cubesat", "five_body", "random"])
def test_every_topic_is_written_as_the_table_says(name):
    """Twice, moved in between: nothing of the first message stays in the second."""
    sim = moved(name)
    local = "" if name == "five_body" else "near"  # it does not float
    table = topics.published(sim.robot, "a/", local)
    made = [writers.sample_writer(topic, sim.robot, "a/", local) for topic in table]
    for stamp in (1_500_000_007, 2_000_000_000):
        sim.advance(7)
        sample = sim.sample()
        for topic, write in zip(table, made, strict=True):
            if topic.key not in ("markers", "poinsot"):  # they remember where things were
                expected = fill(message_class(topic.type)(), topic.fields(sample, stamp))
                assert deserialize_message(write(sample, stamp), type(expected)) == expected, topic.name
    assert np.isfinite(sample.q).all()


def test_where_a_definition_differs_messages_are_filled(monkeypatch):
    """As in a ROS to come, where a message has one more field."""
    fields = message_class("std_msgs/msg/Header").get_fields_and_field_types()
    changed = {**fields, "seq": "uint32"}
    monkeypatch.setattr(message_class("std_msgs/msg/Header"), "get_fields_and_field_types", lambda: changed)
    writers.is_alike.cache_clear()
    try:
        sim = moved("cubesat")
        table = {topic.key: topic for topic in topics.published(sim.robot)}
        write = writers.sample_writer(table["odom"], sim.robot, "")
        message = write(sim.sample(), 3_000_000_001)
        assert message.child_frame_id == "cubesat" and message.header.stamp.nanosec == 1
        assert message == fill(message_class(table["odom"].type)(), table["odom"].fields(sim.sample(), 3_000_000_001))
    finally:
        monkeypatch.undo()
        writers.is_alike.cache_clear()
    assert isinstance(writers.sample_writer(table["odom"], sim.robot, "")(sim.sample(), 1), bytes)
