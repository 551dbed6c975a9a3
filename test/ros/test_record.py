"""Recording from the node: what it publishes is in the bag, and the bag run again has the same bits."""

import pytest
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParametersAtomically
from sensor_msgs.msg import JointState
from std_srvs.srv import SetBool, Trigger

import rbt_ros as rbt
from rbt_ros.bags.verify import verify
from rbt_ros.ros.convert import stamp_of

NODE = "/rbt_simulator"
SOAK_S = 600.0


def ask(peer, service):
    response = peer.call(Trigger, f"{NODE}/{service}", Trigger.Request())
    assert response.success, response.message


def record(peer, on):
    return peer.call(SetBool, f"{NODE}/record", SetBool.Request(data=on))


def test_a_recorded_node_runs_again_with_the_same_bits(ros, tmp_path):
    """Wrenches at two places, a joint by its own gains, a reset, a checkpoint: all in one bag."""
    bag, how = tmp_path / "flight", {"mode": "realtime", "realtime_factor": 0.3, "frame_prefix": "a/"}
    state = str(tmp_path / "state.json")
    child = ros.start("five_body", record=True, record_to=bag, state_file=state, **how)
    peer = ros.peer()
    joints = peer.listen(JointState, "joint_states")
    peer.until(lambda: joints, "joint_states", child)
    push, log = peer.commander("wrench/left", f"{NODE}/latched/wrench/left", child)

    def command(z):
        count, message = len(log), WrenchStamped()
        message.wrench.force.z = z
        push.publish(message)
        peer.until(lambda: len(log) > count, "wrench in the log", child)

    command(2.0)
    assert peer.set_parameter("wrench_at", "com").successful
    command(-3.0)
    gains = {"mode": "position", "kp": 80.0, "kd": 8.0, "position": 0.4}
    parameters = [peer.parameter(f"hinges.wrist.{key}", value) for key, value in gains.items()]
    request = SetParametersAtomically.Request(parameters=parameters)
    assert peer.call(SetParametersAtomically, f"{NODE}/set_parameters_atomically", request).result.successful
    ask(peer, "save_state")
    ask(peer, "reset")
    command(1.0)
    ask(peer, "load_state")
    seen = len(joints)
    peer.until(lambda: len(joints) > seen + 100, "steps", child)
    said = record(peer, False)
    assert said.success and f"wrote {bag}: " in said.message and "lost" not in said.message
    assert child.stop() == 0

    found = rbt.Bag(bag)
    verdict = verify(found)
    assert verdict.same and verdict.messages > 100 and not verdict.told, verdict.text()
    assert len({run["stamp"] for run in found.runs()}) >= 3  # the start, the reset, the checkpoint
    recorded = dict(found.read("joint_states"))
    published = [message for message in joints if stamp_of(message) in recorded]
    assert len(published) > 100
    for message in published:
        there = recorded[stamp_of(message)]
        assert (there.position.tolist(), there.velocity.tolist()) == (list(message.position), list(message.velocity))


def test_bags_begin_and_end_by_a_service(ros, tmp_path):
    """Twice in one run, in several files; a folder that is there is refused; what is said of itself is in the bag."""
    child = ros.start(record_to=tmp_path / "one", record_compression="lz4", record_split_s=0.05)
    peer = ros.peer()
    assert record(peer, False).message == "nothing is being recorded"
    diagnostics = peer.diagnostics()
    assert record(peer, True).message == f"recording {tmp_path / 'one'}"
    assert "is being recorded already" in record(peer, True).message
    told = diagnostics.until(lambda m: any(s.name.endswith(": recording") for s in m.status), "the report", child)
    assert diagnostics.values(told, "recording")["samples lost"] == "0"
    diagnostics.next(child)  # a second later: files enough
    assert record(peer, False).success
    refused = record(peer, True)
    assert not refused.success and "is there already; give another name, or remove it" in refused.message
    assert peer.set_parameter("record_to", str(tmp_path / "two")).successful
    assert record(peer, True).success
    second = str(tmp_path / "two")
    diagnostics.until(lambda m: any(second in s.message for s in m.status), "its report", child)
    diagnostics.next(child)
    assert child.stop() == 0  # which ends the second one
    for name in ("one", "two"):
        files = list((tmp_path / name).glob("*.mcap"))
        assert len(files) > 1 and all(b"lz4" in file.read_bytes() for file in files)
        bag = rbt.Bag(tmp_path / name)
        assert not bag.damage and verify(bag).same, verify(bag).text()
        assert len(bag.topic("/diagnostics").t_ns) >= 1


def test_a_bag_that_ends_before_the_first_step_leaves_no_process_and_the_next_one_is_whole(ros, tmp_path):
    """Of a node that is configured and not active: the first one is begun by a parameter, and ended by the service."""
    child = ros.start(autostart=False, record=True, record_to=tmp_path / "one")
    peer = ros.peer()

    def change(transition):
        request = ChangeState.Request(transition=Transition(id=transition))
        assert peer.call(ChangeState, f"{NODE}/change_state", request).success, child.stderr

    change(Transition.TRANSITION_CONFIGURE)
    assert "is being recorded already" in record(peer, True).message
    assert record(peer, False).message.startswith(f"wrote {tmp_path / 'one'}: 0 messages")
    assert record(peer, False).message == "nothing is being recorded"
    assert peer.set_parameter("record_to", str(tmp_path / "two")).successful
    assert record(peer, True).message == f"recording {tmp_path / 'two'}"
    odom = peer.listen(Odometry, "odom")
    change(Transition.TRANSITION_ACTIVATE)
    peer.until(lambda: len(odom) > 10, "steps", child)
    assert child.stop() == 0
    assert verify(rbt.Bag(tmp_path / "two")).same
    assert (tmp_path / "one" / "metadata.yaml").is_file() and not rbt.Bag(tmp_path / "one").damage


@pytest.mark.soak
@pytest.mark.timeout(2400)
def test_a_long_run_at_1_khz_loses_nothing(ros, tmp_path):
    """Ten minutes of the chain in real time: no sample is lost, and the bag runs again with the same bits."""
    ros.limit = 1200
    child = ros.start("five_body", mode="realtime", record=True, record_to=tmp_path / "long")
    peer = ros.peer()
    diagnostics = peer.diagnostics()
    told = diagnostics.until(
        lambda m: float(diagnostics.values(m, "conservation")["scenario time [s]"]) > SOAK_S, "its end", child
    )
    assert diagnostics.values(told, "recording")["samples lost"] == "0"
    said = record(peer, False).message
    print(said)
    assert child.stop() == 0 and "lost" not in said
    bag = rbt.Bag(tmp_path / "long")
    assert len(bag.topic("joint_states").t_ns) > 1000 * SOAK_S and verify(bag).same
