"""What a node must survive: nonsense on every input, readers that do not read, a neighbour; in real processes."""

import os
import time
from pathlib import Path

import numpy as np
import pytest
from fuzz import Fuzz
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from observed import Motion, wrench
from rerun import Log
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from tf2_msgs.msg import TFMessage

import rbt_ros as rbt
from rbt_ros.bags.verify import verify
from rbt_ros.ros.convert import stamp_of

H = 1_000_000
SOAK = [pytest.mark.soak, pytest.mark.timeout(1200)]
MODES = {
    "hinges__wrist__mode": "position",
    "hinges__wrist__kp": 20.0,
    "hinges__wrist__kd": 4.0,
    "hinges__left_pivot__mode": "velocity",
    "hinges__left_pivot__kd": 2.0,
}


@pytest.mark.parametrize(("count", "factor"), [(800, 0.1), pytest.param(120_000, 0.4, marks=SOAK)])
def test_nonsense_on_every_input_is_survived_and_the_log_gives_the_same_bits(ros, count, factor):
    """Half of the messages are good. Nothing that is no number comes out, and a run fed from the log is the same.

    Five messages for each step: in the long form 2 kHz for 60 s, where the machine is idle.
    """
    ros.limit = max(ros.limit, count / 100)
    child = ros.start("five_body", start_paused=True, mode="realtime", realtime_factor=factor, **MODES)
    peer = ros.peer()
    joints, diagnostics = peer.listen(JointState, "joint_states"), peer.diagnostics()
    log = Log(peer, "five_body")
    log.open(child, steered="wrist")

    def total(message) -> int:
        values = diagnostics.values(message, "commands")
        return sum(int(values[key]) for key in ("accepted", "rejected", "stale"))

    def settled():
        """A report that says no more than the one before: nothing is under way any more."""
        totals = [-1]

        def says_nothing_new(message) -> bool:
            totals.append(total(message))
            return totals[-1] == totals[-2]

        return diagnostics.until(says_nothing_new, "the end of the queue", child)

    def broken() -> bool:
        return diagnostics.status(diagnostics.messages[-1], "loop").level == b"\x02"

    opened = settled()  # what has opened the log may come more than once
    opening = len(joints)
    assert peer.call(Trigger, "/rbt_simulator/step", Trigger.Request()).success
    peer.until(lambda: len(joints) > opening, "a step between the opening and what counts", child)
    del joints[:]
    fuzz = Fuzz(peer, rbt.load("five_body").robot)
    assert peer.call(Trigger, "/rbt_simulator/resume", Trigger.Request()).success
    while fuzz.sent < count:
        fuzz.send(5)
        seen = len(joints)
        peer.until(lambda n=seen: len(joints) > n or broken(), "further steps", child)
        while broken():  # a motion that nonsense has made too fast breaks of itself, at once maybe; the way out is this
            assert peer.call(Trigger, "/rbt_simulator/reset", Trigger.Request()).success
            diagnostics.next(child)

    before = total(opened), int(diagnostics.values(opened, "commands")["accepted"])
    report = settled()
    values = diagnostics.values(report, "commands")
    accepted = int(values["accepted"]) - before[1]
    assert 0.5 * fuzz.sent < total(report) - before[0] <= fuzz.sent  # a queue of ten may lose some
    assert accepted > count / 5 and int(values["rejected"]) > count / 5
    assert int(values["cancelled"]) > 0, "finite numbers of 1e308 were among them"
    since = stamp_of(opened)
    peer.until(lambda: sum(stamp > since for stamp, _ in log.entries) == accepted, "the whole log", child)
    assert all(np.isfinite(m.position).all() and np.isfinite(m.velocity).all() for m in joints)
    assert log.digests_match(joints) >= count / 5


@pytest.mark.parametrize(("count", "factor"), [(600, 0.1), pytest.param(120_000, 0.4, marks=SOAK)])
def test_nonsense_from_hardware_is_survived_and_the_bag_runs_again_with_the_same_bits(ros, tmp_path, count, factor):
    """Encoder and camera of a craft that floats, beside its other inputs: half of the messages are good."""
    ros.limit = max(ros.limit, count / 100)
    measured = dict(measured__joints="wheel_axis", measured__body="hub", wrench_at="com")
    bag = tmp_path / "flight"
    child = ros.start("wheel", realtime_factor=factor, record=True, record_to=bag, outputs__odom=1000.0, **measured)
    peer = ros.peer()
    joints, odom, diagnostics = (
        peer.listen(JointState, "joint_states"),
        peer.listen(Odometry, "odom"),
        peer.diagnostics(),
    )
    diagnostics.next(child)
    fuzz = Fuzz(peer, rbt.load("wheel").robot, measured=("wheel_axis",))

    def taken(part: str) -> int:
        return int(diagnostics.values(diagnostics.messages[-1], f"measured/{part}")["samples taken"])

    def broken() -> bool:
        return diagnostics.status(diagnostics.messages[-1], "loop").level == b"\x02"

    while fuzz.sent < count or not (taken("joint_states") > 10 and taken("pose") > 10):
        fuzz.send(5)
        seen = len(odom)
        peer.until(lambda n=seen: len(odom) > n or broken(), "further steps", child)
        while broken():
            assert peer.call(Trigger, "/rbt_simulator/reset", Trigger.Request()).success
            diagnostics.next(child)
    assert all(np.isfinite([*m.position, *m.velocity]).all() for m in joints)
    assert all(np.isfinite([*Motion(m).q, *Motion(m).p, *Motion(m).w_B, *Motion(m).v_B]).all() for m in odom)
    assert child.stop() == 0
    verdict, efforts = verify(rbt.Bag(bag)), rbt.Bag(bag).arrays("measured/efforts")
    assert len(efforts.t_ns) > count / 10 and np.isfinite(efforts.numbers["effort"]).all()
    assert verdict.same and verdict.messages > count / 10 and not verdict.told, verdict.text()


def test_a_reader_that_does_not_read_does_not_slow_the_loop(ros):
    child = ros.start(outputs__tf=1000.0, outputs__odom=1000.0, realtime_factor=0.2)
    sleeper, watcher = ros.peer("sleeper"), ros.peer("watcher")
    for kind, topic in ((TFMessage, "/tf"), (Odometry, "odom"), (JointState, "joint_states"), (Clock, "/clock")):
        sleeper.listen(kind, topic)
    diagnostics = watcher.diagnostics()

    def in_time(message) -> bool:
        return float(diagnostics.values(message, "loop")["real-time factor"]) > 0.99 * 0.2

    watcher.until(lambda: watcher.node.count_subscribers("odom") == 1, "the sleeper", child)
    for _ in range(2):  # seconds, once it is there
        diagnostics.next(child)
    diagnostics.until(in_time, "a second in real time beside it", child)  # a writer that waited for it would have none


def test_two_simulators_do_not_touch(ros):
    """A push on one leaves the other where it is; one of them has no clock."""
    one = ros.start(remap=["__ns:=/one"], frame_prefix="one/")
    two = ros.start(remap=["__ns:=/two"], frame_prefix="two/", publish_clock=False)
    peer = ros.peer()
    odom = {name: peer.listen(Odometry, f"/{name}/odom") for name in ("one", "two")}
    tf = peer.listen(TFMessage, "/tf")
    push, log = peer.commander("/one/wrench", "/one/rbt_simulator/latched/wrench/cubesat", one)
    push.publish(wrench("one/world", (5.0, 0.0, 0.0)))
    peer.until(lambda: log and odom["one"] and Motion(odom["one"][-1]).p[0] > 0.05, "the flight of the one", one)
    seen = len(odom["two"])
    peer.until(lambda: len(odom["two"]) > seen + 5, "odom of the other", two)
    assert not any(Motion(m).p.any() for m in odom["two"])
    frames, both = set(), {"one/cubesat", "two/cubesat"}

    def are_there() -> bool:
        frames.update(t.child_frame_id for m in tf for t in m.transforms)
        return frames >= both

    peer.until(are_there, "transforms of both", two)
    assert frames == both
    assert peer.node.count_publishers("/clock") == 1
    names = {name for name, _ in peer.node.get_topic_names_and_types()}
    ours = {name for name in names if name.startswith(("/one/", "/two/"))}
    shared = {"/clock", "/tf", "/tf_static", "/diagnostics", "/rosout", "/parameter_events"}
    assert names - ours <= shared


def test_who_comes_late_gets_what_is_latched(ros):
    child = ros.start("five_body")
    first = ros.peer("first")
    clock = first.listen(Clock, "/clock", depth=1)
    first.until(lambda: clock and clock[-1].clock.sec >= 3, "two seconds of running", child)
    late = ros.peer("late")
    description = late.listen(String, "robot_description", latched=True)
    fixed = late.listen(TFMessage, "/tf_static", latched=True)
    late.until(lambda: description and fixed, "robot_description and /tf_static", child)
    assert len(description) == len(fixed) == 1 and '<robot name="five_body"' in description[0].data


@pytest.mark.parametrize(
    ("factor", "seconds"), [(5.0, 10), pytest.param(1.0, 1800, marks=[pytest.mark.soak, pytest.mark.timeout(4000)])]
)
def test_memory_is_flat_under_commands(ros, factor, seconds):
    """A wrench for every odom, 1 kHz of simulated time; what is resident grows by less than 2 MB at last."""
    ros.limit = max(ros.limit, 60 + 2 * seconds)
    child = ros.start(realtime_factor=factor)
    peer = ros.peer()
    odom = peer.listen(Odometry, "odom")
    push = peer.publisher(WrenchStamped, "wrench")
    peer.until(lambda: odom, "odom", child)
    resident, start = [], stamp_of(odom[0])
    while stamp_of(odom[-1]) < start + seconds * 1_000_000_000 or len(resident) < 500:
        seen = len(odom)
        push.publish(wrench("world", (0.0, 0.0, 0.001)))
        peer.until(lambda n=seen: len(odom) > n, "odom", child)
        del odom[:-1]
        resident.append(resident_bytes(child.pid))
    half = resident[len(resident) // 2]
    assert resident[-1] - half < 2 * 2**20
    threads = len(os.listdir(f"/proc/{child.pid}/task"))
    files = len(os.listdir(f"/proc/{child.pid}/fd"))
    push.publish(wrench("world", (0.0, 0.0, 0.001)))
    seen = len(odom)
    peer.until(lambda: len(odom) > seen + 20, "more odom", child)
    assert len(os.listdir(f"/proc/{child.pid}/task")) <= threads
    assert len(os.listdir(f"/proc/{child.pid}/fd")) <= files


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.parametrize("cycles", [2, pytest.param(1000, marks=[pytest.mark.soak, pytest.mark.timeout(9000)])])
def test_starts_and_stops_leave_nothing(ros, cycles):
    """Each one is seen running and ends by SIGTERM; what is left of any, the check at the very end finds."""
    peer = ros.peer()
    for _ in range(cycles):
        child = ros.start()
        clock = peer.listen(Clock, "/clock", depth=1)
        peer.until(lambda seen=clock: seen, "clock", child)
        assert child.stop() == 0 and child.stderr == ""
        peer.forget()


@pytest.mark.parametrize("seconds", [1, pytest.param(60, marks=SOAK)])
def test_a_pause_of_any_length_leaves_no_lag(ros, seconds):
    """After it the clock goes on where it stood, at the pace it had: nothing is caught up, nothing given up."""
    ros.limit = max(ros.limit, 60 + 2 * seconds)
    child = ros.start(realtime_factor=0.1)
    peer = ros.peer()
    clock, diagnostics = peer.listen(Clock, "/clock"), peer.diagnostics()
    peer.until(lambda: clock, "clock", child)
    peer.call(Trigger, "/rbt_simulator/pause", Trigger.Request())
    for _ in range(seconds + 1):  # one report a second
        message = diagnostics.until(lambda m: diagnostics.values(m, "loop")["state"] == "paused", "a report", child)
    stood = stamp_of(message)
    peer.until(lambda: clock_ns(clock[-1]) >= stood, "the clock of the report", child)
    assert clock_ns(clock[-1]) == stood
    asked = time.monotonic()
    peer.call(Trigger, "/rbt_simulator/resume", Trigger.Request())
    peer.until(lambda: clock_ns(clock[-1]) > stood + 10 * H, "steps", child)
    assert clock_ns(clock[-1]) - stood <= 0.1e9 * (time.monotonic() - asked) + 2 * H
    assert float(diagnostics.values(diagnostics.next(child), "loop")["lag given up [s]"]) < seconds


def clock_ns(message: Clock) -> int:
    return message.clock.sec * 1_000_000_000 + message.clock.nanosec
