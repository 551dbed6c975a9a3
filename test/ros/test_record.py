"""Recording from the node: what it publishes is in the bag, and the bag run again has the same bits."""

import os
import re
import signal
import time
from pathlib import Path

import pytest
from geometry_msgs.msg import WrenchStamped
from lifecycle_msgs.msg import Transition
from lifecycle_msgs.srv import ChangeState
from nav_msgs.msg import Odometry
from rcl_interfaces.srv import SetParametersAtomically
from rosgraph_msgs.msg import Clock
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


def ended(peer, child, bag) -> str:
    """End the bag: what the log says of it at last."""
    asked = record(peer, False)
    assert asked.success and asked.message.startswith((f"ending {bag}: ", f"wrote {bag}: ")), asked.message
    return peer.until(lambda: re.search(f"wrote {bag}: .*", child.stderr), "the end of the bag", child).group()


def writer(child) -> int:
    """The process that writes the bag."""
    tasks = Path(f"/proc/{child.pid}/task")
    pids = [pid for task in tasks.iterdir() for pid in (task / "children").read_text().split()]
    return next(int(pid) for pid in pids if b"rbt_ros.bags.apart" in Path(f"/proc/{pid}/cmdline").read_bytes())


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
    assert "lost" not in ended(peer, child, bag)
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
    ended(peer, child, tmp_path / "one")
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
    assert ended(peer, child, tmp_path / "one").startswith(f"wrote {tmp_path / 'one'}: 0 messages")
    assert record(peer, False).message == "nothing is being recorded"
    assert peer.set_parameter("record_to", str(tmp_path / "two")).successful
    assert record(peer, True).message == f"recording {tmp_path / 'two'}"
    odom = peer.listen(Odometry, "odom")
    change(Transition.TRANSITION_ACTIVATE)
    peer.until(lambda: len(odom) > 10, "steps", child)
    assert child.stop() == 0
    assert verify(rbt.Bag(tmp_path / "two")).same
    assert (tmp_path / "one" / "metadata.yaml").is_file() and not rbt.Bag(tmp_path / "one").damage


def test_nobody_waits_for_a_writer_that_stands_still_and_what_it_was_given_is_written_when_it_goes_on(ros, tmp_path):
    """Stopped as by a disk that hangs: a run that may lose nothing pauses; services answer; the end is bounded."""
    bag, second = tmp_path / "one", tmp_path / "two"
    kilobytes = dict(outputs__hinge_wrenches=1000.0)  # each sample: they fill the ring soon
    child = ros.start("wheel", mode="fast", record=True, record_to=bag, **kilobytes)
    peer = ros.peer()
    clock, diagnostics = peer.listen(Clock, "/clock", depth=1), peer.diagnostics()
    peer.until(lambda: clock, "clock", child)
    stopped = writer(child)
    os.kill(stopped, signal.SIGSTOP)
    diagnostics.until(lambda m: "falls behind" in diagnostics.status(m, "recording").message, "the report", child)
    begin = time.monotonic()
    ask(peer, "pause")
    assert peer.set_parameter("record_to", str(second)).successful
    assert record(peer, False).message.startswith(f"ending {bag}: ")  # though it is stopped
    ask(peer, "resume")
    seen = len(clock)
    peer.until(lambda: len(clock) > seen + 10, "further steps", child)
    assert record(peer, True).message == f"recording {second}"
    assert time.monotonic() - begin < 5.0, "four services and some steps; each waited for the writer before"
    begin = time.monotonic()
    assert child.stop() == 0  # with a second bag, whose end is quick
    assert time.monotonic() - begin < 5.0 + 10.0, "and what else there is to end"
    assert f"the bag {bag} is not whole yet" in child.stderr
    os.kill(stopped, signal.SIGCONT)
    peer.until(
        lambda: (bag / "metadata.yaml").is_file() and not Path(f"/proc/{stopped}").exists(), "the end of the bag"
    )
    whole = rbt.Bag(bag)
    assert not whole.damage and whole.metadata["rbt_ros"]["rbt_lost_samples"] == "0"
    verdict = verify(rbt.Bag(second))
    assert verdict.same and verdict.messages > 0, verdict.text()


def test_a_recording_that_fails_midway_is_told_at_once(ros, tmp_path):
    """Its writer is killed: the log and /diagnostics say it within a second of steps, and the next bag is whole."""
    child = ros.start("wheel", record=True, record_to=tmp_path / "one")
    peer = ros.peer()
    diagnostics = peer.diagnostics()
    diagnostics.next(child)
    os.kill(writer(child), signal.SIGKILL)
    peer.until(lambda: f"nothing is recorded in {tmp_path / 'one'} any more" in child.stderr, "the fault", child)
    diagnostics.until(lambda m: diagnostics.status(m, "recording").level == b"\x02", "an error", child)
    refused = record(peer, False)
    assert not refused.success and "could not be written to its end (its process has ended: -9)" in refused.message
    assert peer.set_parameter("record_to", str(tmp_path / "two")).successful
    assert record(peer, True).success
    diagnostics.next(child)
    ended(peer, child, tmp_path / "two")
    assert verify(rbt.Bag(tmp_path / "two")).same


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
    said = ended(peer, child, tmp_path / "long")
    print(said)
    assert child.stop() == 0 and "lost" not in said
    bag = rbt.Bag(tmp_path / "long")
    assert len(bag.topic("joint_states").t_ns) > 1000 * SOAK_S and verify(bag).same
