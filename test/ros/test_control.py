"""Pause, step, reset, checkpoints and modes, asked for through services and parameters of a real node."""

import signal
import time

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from observed import Motion, wrench
from rosgraph_msgs.msg import Clock
from std_srvs.srv import Trigger

import rbt_ros as rbt
from rbt_ros.checkpoint import load_state
from rbt_ros.ros.convert import stamp_of

H = 1_000_000  # [ns]
CLOCK_START = 1_000_000_000
NODE = "/rbt_simulator"


def ask(peer, service: str) -> Trigger.Response:
    return peer.call(Trigger, f"{NODE}/{service}", Trigger.Request())


def done(peer, service: str) -> str:
    """Ask for a service that must succeed; what it says."""
    response = ask(peer, service)
    assert response.success, response.message
    return response.message


def clock_ns(message: Clock) -> int:
    return message.clock.sec * 1_000_000_000 + message.clock.nanosec


class Paused:
    """A node that stands still, with every /clock and odom from then on."""

    def __init__(self, ros, **options):
        self.child = ros.start(start_paused=True, outputs__odom=1000.0, **options)
        self.peer = ros.peer()
        self._listen()

    def _listen(self):
        self.clock = self.peer.listen(Clock, "/clock")
        self.odom = self.peer.listen(Odometry, "odom")
        self.peer.until(lambda: self.clock, "clock of a node that stands still", self.child)
        self.open()

    def open(self):
        """Odom is volatile: it is open once a step was seen on it."""
        while not self.odom:
            self.step(1)

    def step(self, count: int) -> Motion:
        """Take steps; the motion at their end."""
        now = done(self.peer, "pause").split()[2]  # it stands; of the topics the last may still be under way
        end = round(float(now) * 1e9) + count * H
        if count != 1:
            assert self.peer.set_parameter("step_ticks", count).successful
        done(self.peer, "step")
        self.peer.until(lambda: clock_ns(self.clock[-1]) >= end, "the steps", self.child)
        assert clock_ns(self.clock[-1]) == end
        if count != 1:
            assert self.peer.set_parameter("step_ticks", 1).successful
            self.peer.until(lambda: stamp_of(self.odom[-1]) == end, "odom of the last step", self.child)
            return Motion(self.odom[-1])


def bits(motion: Motion) -> bytes:
    return np.concatenate([motion.q, motion.p, motion.w_B, motion.v_B]).tobytes()


def of_sample(sample) -> bytes:
    """The same of a Sample: odom of body 0 as the table of topics makes it."""
    from rbt_ros import topics
    from rbt_ros.ros.convert import fill

    robot = rbt.load("cubesat").robot
    return bits(Motion(fill(Odometry(), topics.odometry_fields(robot, "", 0, sample, 0))))


def test_it_stands_still_steps_as_told_and_goes_on_without_a_jump(ros):
    node = Paused(ros, realtime_factor=0.02)
    motion = node.step(5)
    sim = rbt.load("cubesat").simulation()
    sim.advance((motion.stamp - CLOCK_START) // H)
    assert bits(motion) == of_sample(sim.sample())

    seen = len(node.clock)
    done(node.peer, "resume")
    node.peer.until(lambda: len(node.clock) > seen + 10, "10 steps", node.child)
    assert not ask(node.peer, "step").success, "it runs"
    stamp = float(done(node.peer, "pause").split()[2])
    report = node.peer.diagnostics()
    message = report.next(node.child)
    assert report.values(message, "loop")["state"] == "paused"
    stood = stamp_of(message)
    assert stood == round(stamp * 1e9)
    node.peer.until(lambda: clock_ns(node.clock[-1]) == stood, "the clock where it paused", node.child)
    repeated = len(node.clock)
    node.peer.until(lambda: len(node.clock) > repeated, "the clock repeated for who comes late", node.child)
    assert clock_ns(node.clock[-1]) == stood
    resumed = time.monotonic()
    done(node.peer, "resume")
    node.peer.until(lambda: clock_ns(node.clock[-1]) > stood + 5 * H, "further steps", node.child)
    passed = clock_ns(node.clock[-1]) - stood
    assert passed <= 0.02e9 * (time.monotonic() - resumed) + 2 * H, "the pause is not caught up"
    motion = node.step(5)
    sim.advance((motion.stamp - CLOCK_START) // H - sim.tick)
    assert bits(motion) == of_sample(sim.sample()), "the clock and the motion count the same steps"


def test_reset_goes_back_to_the_start_and_the_clock_does_not(ros):
    node = Paused(ros)
    before = node.step(20)
    done(node.peer, "reset")
    node.peer.until(lambda: stamp_of(node.odom[-1]) > before.stamp, "odom of the start", node.child)
    start = Motion(node.odom[-1])
    assert start.stamp == before.stamp + H
    sim = rbt.load("cubesat").simulation()
    assert bits(start) == of_sample(sim.sample())
    again = node.step(20)
    sim.advance(20)
    assert again.stamp == start.stamp + 20 * H
    assert bits(again) == of_sample(sim.sample())


def test_a_scenario_that_breaks_is_an_error_in_diagnostics_and_reset_revives_it(ros, tmp_path):
    """It stands where it was good last, answers, and lives the same life again after a reset; no crash."""
    path = tmp_path / "wild.yaml"
    path.write_text(
        "rbt: 1\nrobot: {bodies: {brick: {mass: 1, inertia: [1e-6, 1e-6, 1e-6]}}}\n"
        "inputs: [{wrench: brick, moment: [1e308, 0, 0], from: 20 ms}]\n",
        encoding="utf-8",
    )
    child = ros.start(path)
    peer = ros.peer()
    diagnostics, clock = peer.diagnostics(), peer.listen(Clock, "/clock")
    message = diagnostics.until(lambda m: diagnostics.status(m, "loop").level == b"\x02", "the failure", child)
    assert "non-finite state at hinge 'brick'" in diagnostics.status(message, "loop").message
    assert float(diagnostics.values(message, "conservation")["scenario time [s]"]) == 0.02
    broken = stamp_of(message)
    done(peer, "pause")
    for service in ("resume", "step"):
        response = peer.call(Trigger, f"/rbt_simulator/{service}", Trigger.Request())
        assert not response.success and response.message.startswith("the simulation stands still, reset it: tick 21")
    done(peer, "reset")
    done(peer, "resume")
    peer.until(lambda: clock and clock_ns(clock[-1]) == broken + 21 * H, "20 ms of a new life", child)

    def breaks_again(message) -> bool:
        return stamp_of(message) == broken + 21 * H and diagnostics.status(message, "loop").level == b"\x02"

    diagnostics.until(breaks_again, "the second failure", child)
    assert child.stop() == 0


def test_a_checkpoint_goes_on_bit_by_bit_in_the_same_node_and_in_a_new_one(ros, tmp_path):
    """Saved with a wrench that still acts. The node is killed, and another one, started anew, goes on from the file."""
    file = tmp_path / "flight.json"
    options = dict(state_file=str(file), wrench_hold=0.05, environ=ros.without_shared_memory())
    node = Paused(ros, **options)
    push, log = node.peer.commander("wrench", f"{NODE}/latched/wrench/cubesat", node.child)
    push.publish(wrench("world", (1.0, 2.0, 3.0), (0.01, 0.0, 0.0)))
    node.peer.until(lambda: log, "the command in the log", node.child)
    saved = node.step(20)
    done(node.peer, "save_state")
    expected = node.step(100)
    assert bits(expected) != bits(saved)

    done(node.peer, "load_state")
    node.peer.until(lambda: stamp_of(node.odom[-1]) == expected.stamp + H, "odom of the checkpoint", node.child)
    assert bits(Motion(node.odom[-1])) == bits(saved)
    assert bits(node.step(100)) == bits(expected)

    node.child.stop(signal.SIGKILL)
    node.peer.forget()
    other = Paused(ros, **options)
    done(other.peer, "load_state")
    other.peer.until(lambda: clock_ns(other.clock[-1]) >= saved.stamp, "the clock of the checkpoint", other.child)
    assert bits(other.step(100)) == bits(expected)

    offline = rbt.load("cubesat").simulation()
    load_state(offline, file)
    offline.advance(100)
    assert of_sample(offline.sample()) == bits(expected)


def test_what_cannot_be_loaded_or_saved_is_said(ros, tmp_path):
    child = ros.start(state_file=str(tmp_path / "missing" / "x.json"), start_paused=True)
    peer = ros.peer()
    refused = ask(peer, "load_state")
    assert not refused.success and "cannot be read: No such file or directory" in refused.message
    refused = ask(peer, "save_state")
    assert not refused.success and "cannot be written: No such file or directory" in refused.message
    other = tmp_path / "other.json"
    from rbt_ros.checkpoint import save_state

    save_state(rbt.load("five_body").simulation(), other)
    assert peer.set_parameter("state_file", str(other)).successful
    refused = ask(peer, "load_state")
    assert not refused.success and "is of another scenario" in refused.message
    assert child.running


def test_the_mode_changes_while_it_runs(ros):
    """From realtime to fast to lockstep without a controller, which stops at its deadline, to realtime.

    Real time is slowed down, so that unpaced steps are faster on any machine.
    """
    child = ros.start(lockstep__fallback="stop", lockstep__deadline=0.05, realtime_factor=0.02)
    peer = ros.peer()
    diagnostics = peer.diagnostics()

    def factor(message):
        return float(diagnostics.values(message, "loop")["real-time factor"])

    def state(message):
        return diagnostics.values(message, "loop")["state"]

    diagnostics.next(child)
    assert peer.set_parameter("mode", "fast").successful
    diagnostics.until(lambda m: state(m) == "fast" and factor(m) > 0.06, "a fast second", child)
    assert peer.set_parameter("mode", "lockstep").successful
    message = diagnostics.until(lambda m: state(m) == "paused", "the stop of lockstep", child)
    assert "no command stamped" in diagnostics.values(message, "commands")["last fault"]
    assert peer.set_parameter("mode", "realtime").successful
    done(peer, "resume")
    diagnostics.until(lambda m: state(m) == "realtime" and 0.01 < factor(m) < 0.03, "a second in real time", child)


@pytest.mark.parametrize("fallback", ["hold", "zero"])
def test_lockstep_goes_on_without_its_controller_as_declared(ros, fallback):
    """1 N answers the first tick, which waits for it; then nobody answers, and each wait ends at its deadline."""
    child = ros.start(
        mode="lockstep",
        lockstep__deadline=3600.0,
        lockstep__fallback=fallback,
        lockstep__wait_for="wrench",
        wrench_hold=3600.0,
        outputs__odom=1000.0,
    )
    peer = ros.peer()
    odom, push = peer.listen(Odometry, "odom"), peer.publisher(WrenchStamped, "wrench")
    message = wrench("world", (0.0, 0.0, 1.0))
    message.header.stamp.sec, message.header.stamp.nanosec = divmod(CLOCK_START, 1_000_000_000)

    def is_answered() -> bool:
        push.publish(message)  # again and again: what comes twice is passed over
        return bool(odom) and stamp_of(odom[-1]) > CLOCK_START

    peer.until(is_answered, "the step after the answer", child)
    assert peer.set_parameter("lockstep.deadline", 0.03).successful
    peer.until(lambda: stamp_of(odom[-1]) >= CLOCK_START + 10 * H, "ten steps", child)
    motion = Motion(odom[-1])
    ticks = (motion.stamp - CLOCK_START) // H
    speed = motion.momentum(rbt.load("cubesat").robot.bodies[0])[2]
    assert speed == pytest.approx(1e-3 * (ticks if fallback == "hold" else 1), rel=1e-12)
