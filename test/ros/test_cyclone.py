"""A DDS implementation that nobody here wrote reads what we publish, and its wrench reaches us."""

import importlib.util
import json
import sys
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.ros.convert import stamp_of

# looked for, not imported: two vendors' libraries in one process are a risk
pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("cyclonedds") is None, reason="the wheel of Cyclone DDS is missing: pip install cyclonedds"
)

CLOCK_START = 1_000_000_000
H = 1_000_000


def test_a_cyclone_client_reads_tf_odom_and_joint_states_pushes_and_is_answered(ros):
    """In a process of its own: both vendors' libraries never meet. What it read is computed again here, to the bit.

    It asks a service, and is seen to hear only when that is done: the answer waits for it.
    """
    child = ros.start()
    peer = ros.peer()
    _, log = peer.commander("wrench/cubesat", "/rbt_simulator/latched/wrench/cubesat", child)
    client = ros.run(sys.executable, Path(__file__).with_name("cyclone_client.py"), ros.domain)
    peer.until(lambda: log, "the wrench of the Cyclone client", child)
    assert client.wait() == 0, client.stderr
    told = json.loads(client.stdout)

    stamp, names, positions = told["joint_states"]
    assert stamp > CLOCK_START and (names, positions) == ([], [])
    for topic in ("tf", "odom"):
        stamp, frame, body, q = told[topic]
        assert (frame, body) == ("world", "cubesat")
        sim = rbt.load("cubesat").simulation()
        sim.advance((stamp - CLOCK_START) // H)
        assert np.array_equal(q, sim.sample().pose[0, :4])
    (command,) = log
    assert (command.header.frame_id, command.wrench.force.y) == ("world", 3.0)
    assert stamp_of(command) < told["moved"]
    assert told["answer"].startswith("back at the start")
