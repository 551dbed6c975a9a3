"""The messages written without detours are those of the table of topics."""

import numpy as np
import pytest
from robots import random_robot

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.ros.convert import fill, message_class
from rbt_ros.ros.writers import writer


@pytest.mark.parametrize("name", ["cubesat", "five_body", "random"])
def test_every_topic_is_written_as_the_table_says(name):
    """Twice, moved in between: nothing of the first message stays in the second."""
    sim = (
        rbt.Simulation(random_robot(np.random.default_rng(3), 12)) if name == "random" else rbt.load(name).simulation()
    )
    table = [topic for topic in topics.published(sim.robot, "a/") if topic.type.count("msg")]
    writers = [writer(topic, sim.robot, "a/") for topic in table]
    for stamp in (1_500_000_007, 2_000_000_000):
        sim.advance(7)
        sample = sim.sample()
        for topic, write in zip(table, writers, strict=True):
            expected = fill(message_class(topic.type)(), topic.fields(sample, stamp))
            assert write(sample, stamp) == expected, topic.name
    assert np.isfinite(sample.q).all()
