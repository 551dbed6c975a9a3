"""Parameters step and integrator: from the command line, while it runs, from a checkpoint; refused with the reason."""

import itertools
import sys

import pytest
from rcl_interfaces.srv import GetParameters
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

import rbt_ros as rbt
from rbt_ros.bags.verify import verify

MS = 1_000_000  # [ns]


def value_of(peer, name):
    request = GetParameters.Request(names=[name])
    value = peer.call(GetParameters, "/rbt_simulator/get_parameters", request).values[0]
    return value.string_value if value.type == 4 else value.double_value


def nanoseconds(messages):
    return [m.clock.sec * 10**9 + m.clock.nanosec for m in messages]


def test_step_and_integrator_are_parameters_that_a_checkpoint_brings_back(ros, tmp_path):
    """The clock never jumps, and the bag of all of it runs again with the same bits."""
    state, bag = str(tmp_path / "state.json"), tmp_path / "flight"
    how = {"mode": "realtime", "realtime_factor": 0.2, "step": 0.002, "integrator": "dop853"}
    child = ros.start("cubesat", record=True, record_to=bag, state_file=state, **how)
    peer = ros.peer()
    clock = peer.listen(Clock, "/clock")

    def ticks(count, h_ns):
        """Wait for so many ticks of that length, one after the other."""

        def passed():
            spans = [b - a for a, b in itertools.pairwise(nanoseconds(clock)[-count - 1 :])]
            return len(spans) == count and set(spans) == {h_ns}

        peer.until(passed, f"steps of {h_ns} ns", child)

    def ask(service):
        response = peer.call(Trigger, f"/rbt_simulator/{service}", Trigger.Request())
        assert response.success, response.message

    ticks(5, 2 * MS)
    assert value_of(peer, "integrator") == "dop853"
    ask("save_state")
    assert peer.set_parameter("step", 0.0005).successful and peer.set_parameter("integrator", "rk4").successful
    ticks(5, MS // 2)
    refused = peer.set_parameter("step", 0.0010000001)
    assert not refused.successful and "step" in refused.reason and "whole number of nanoseconds" in refused.reason
    refused = peer.set_parameter("integrator", "euler")
    assert not refused.successful and "'euler'" in refused.reason
    ask("load_state")
    ticks(5, 2 * MS)
    assert (value_of(peer, "step"), value_of(peer, "integrator")) == (0.002, "dop853")
    assert child.stop() == 0
    stamps = nanoseconds(clock)
    assert all(b >= a for a, b in itertools.pairwise(stamps))
    verdict = verify(rbt.Bag(bag))
    assert verdict.same and verdict.messages > 10 and not verdict.told, verdict.text()


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("integrator", "exact", "moves one floating body without torque"), ("step", 1e-10, "parameter step")],
)
def test_what_cannot_be_ends_the_start_with_the_reason(ros, name, value, words):
    child = ros.start("five_body", **{name: value})
    assert child.wait() == 1 and words in child.stderr, child.stderr


def test_a_node_has_the_kernels_of_locks_before_anybody_locks(ros):
    child = ros.run(sys.executable, "-c", ASK_FOR_KERNELS)
    assert child.wait() == 0, child.stderr
    assert child.stdout == "False\nTrue\n"


ASK_FOR_KERNELS = """
import rclpy
import rbt_ros as rbt
from rbt_ros.core.impact import keep_momenta
from rbt_ros.ros.node import SimulatorNode

rclpy.init()
for scenario in ("cubesat", "wheel"):  # a body that no joint holds; one that can be locked
    node = SimulatorNode(rbt.load(scenario))
    print(bool(keep_momenta.overloads))
    node.destroy_node()
rclpy.shutdown()
"""
