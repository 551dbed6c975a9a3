"""One controller, three places: in lockstep its process gives the bits of in-process; in real time it steers."""

import itertools
import os
import signal
import sys

import pytest
from controllers import FOLDER, load
from fuzz import mistimed, refused
from nav_msgs.msg import Odometry
from observed import Motion
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.control import in_process
from rbt_ros.ros.convert import fill, stamp_of

H = 1_000_000
CLOCK_START = 1_000_000_000
SOAK = [pytest.mark.soak, pytest.mark.timeout(3600)]
LOCKSTEP = dict(mode="lockstep", lockstep__deadline=30.0)
CASES = {
    "attitude_pd": ("cubesat", dict(lockstep__wait_for="wrench/cubesat", outputs__odom=1000.0)),
    "hinge_pd": ("five_body", {}),
    "reaction_wheel": ("wheel", {}),
}


def in_process_at(name: str, scenario: str, tick: int):
    """The Sample at `tick` of a run with the controller in-process."""
    sim = rbt.load(scenario).simulation()
    return sim.run(until=tick * 1e-3, every=1e-3, controller=in_process(load(name)())).samples[-1]


@pytest.mark.parametrize(
    ("name", "ticks"),
    [*((name, 300) for name in CASES), *(pytest.param(name, 30_000, marks=SOAK) for name in CASES)],
)
def test_its_process_in_lockstep_has_the_bits_of_in_process(ros, name, ticks):
    """Bit by bit, though somebody sends nonsense on every input, which is refused, and answers of other times."""
    scenario, options = CASES[name]
    ros.limit = max(ros.limit, ticks / 20)
    child = ros.start(scenario, **LOCKSTEP, **options)
    controller = ros.run(sys.executable, FOLDER / f"{name}.py")
    peer = ros.peer()
    joints, odom = peer.listen(JointState, "joint_states"), peer.listen(Odometry, "odom")
    seen = odom if rbt.load(scenario).robot.free_bodies else joints
    robot = rbt.load(scenario).robot
    diagnostics, nonsense = peer.diagnostics(), refused(robot)
    count, topic = len(nonsense), options.get("lockstep__wait_for", "hinge_commands")
    nonsense += mistimed(robot, topic)
    senders = [(peer.node.create_publisher(kind, topic, 10), message) for kind, topic, message in nonsense]
    turn = itertools.cycle(senders)

    def is_far_enough(goal: int) -> bool:
        for publisher, message in itertools.islice(turn, 5):  # a queue of ten must not lose the answer behind them
            publisher.publish(message)
        passed = stamp_of(seen[-1]) - CLOCK_START if seen else 0
        del joints[:-1000], odom[:-1000]
        return passed > goal * H and told("rejected") >= count and told("late") >= len(senders) - count

    def told(what: str) -> int:
        return int(diagnostics.values(diagnostics.messages[-1], "commands")[what]) if diagnostics.messages else 0

    for goal in range(min(ticks, 1000), ticks + 1, 1000):  # each within the deadline of a wait
        peer.until(lambda goal=goal: is_far_enough(goal), f"{goal} steps in lockstep beside refusals", child)
    assert controller.running and child.running
    stamp = stamp_of(seen[-1])
    sample = in_process_at(name, scenario, (stamp - CLOCK_START) // H)
    for kind, messages, fields in (
        (JointState, joints, topics.joint_state_fields(robot, sample, stamp)),
        (Odometry, odom, topics.odometry_fields(robot, "", 0, sample, stamp)),
    ):
        of_that_stamp = [m for m in messages if stamp_of(m) == stamp]  # a slow reader may lose some
        assert all(m == fill(kind(), fields) for m in of_that_stamp)
        assert of_that_stamp or messages is not seen


def test_scenario_time_is_that_of_the_run(ros, tmp_path):
    """A hinge follows a sine of it: the bits are those of in-process where the clock starts elsewhere, and once more
    after a reset."""
    scenario = tmp_path / "later.yaml"
    scenario.write_text(f"{rbt.load('five_body').text}\nclock_start: 5 s\n", encoding="utf-8")
    child, peer = ros.start(scenario, **LOCKSTEP), ros.peer()
    joints = peer.listen(JointState, "joint_states")
    ros.run(sys.executable, FOLDER / "hinge_pd.py")
    robot = rbt.load("five_body").robot

    def check_100_steps(zero: int):
        peer.until(lambda: joints and stamp_of(joints[-1]) > zero + 100 * H, "100 steps", child)
        stamp = stamp_of(joints[-1])
        sample = in_process_at("hinge_pd", "five_body", (stamp - zero) // H)
        assert joints[-1] == fill(JointState(), topics.joint_state_fields(robot, sample, stamp))

    check_100_steps(5 * CLOCK_START)
    said = peer.call(Trigger, "/rbt_simulator/reset", Trigger.Request()).message
    check_100_steps(round(float(said.split()[-2]) * 1e9))


REMEMBERS = """\
from rbt_ros.model.hinge_commands import HingeCommand

class Remembers:
    joints, bodies = True, ()

    def __init__(self):
        self.calls = 0

    def __call__(self, seen):
        self.calls += 1
        return [HingeCommand(("wrist",), effort=(1e-3 * self.calls,))]

if __name__ == "__main__":
    from rbt_ros.ros.controller import spin
    spin(Remembers())
"""


def test_a_sample_that_is_repeated_counts_once_for_a_controller_that_remembers(ros, tmp_path):
    """Stopped amid a run, it finds some samples several times; the bits are those of in-process all the same."""
    file = tmp_path / "remembers.py"
    file.write_text(REMEMBERS, encoding="utf-8")
    patient = LOCKSTEP | {"lockstep__deadline": 600.0}
    child, controller, peer = ros.start("five_body", **patient), ros.run(sys.executable, file), ros.peer()
    joints, diagnostics = peer.listen(JointState, "joint_states"), peer.diagnostics()

    def repeated(message) -> int:
        return int(diagnostics.values(message, "commands")["steps that needed a repeat"])

    def steps(count: int) -> None:
        goal = stamp_of(joints[-1]) + count * H
        peer.until(lambda: stamp_of(joints[-1]) > goal, f"{count} steps", child)

    peer.until(lambda: joints, "joint_states", child)
    for k in range(3):
        steps(20)
        os.kill(controller.pid, signal.SIGSTOP)
        diagnostics.until(lambda message, k=k: repeated(message) > k, "a step that is repeated", child)
        os.kill(controller.pid, signal.SIGCONT)
    steps(20)
    stamp = stamp_of(joints[-1])
    space: dict = {"__name__": "remembers"}
    exec(REMEMBERS, space)
    sim = rbt.load("five_body").simulation()
    until = (stamp - CLOCK_START) // H * 1e-3
    sample = sim.run(until=until, every=1e-3, controller=in_process(space["Remembers"]())).samples[-1]
    assert joints[-1] == fill(JointState(), topics.joint_state_fields(sim.robot, sample, stamp))


def test_killed_in_lockstep_its_successor_goes_on_bit_by_bit(ros):
    """SIGKILL in the middle of a run: the node waits, and repeats what the new one has to answer."""
    quiet, (scenario, options) = ros.without_shared_memory(), CASES["attitude_pd"]
    child = ros.start(scenario, **LOCKSTEP, **options, environ=quiet)
    command, peer = (sys.executable, FOLDER / "attitude_pd.py"), ros.peer()
    odom = peer.listen(Odometry, "odom")
    controller = ros.run(*command, environ=quiet)
    peer.until(lambda: odom and stamp_of(odom[-1]) > CLOCK_START + 50 * H, "50 steps", child)
    controller.stop(signal.SIGKILL)
    behind = stamp_of(odom[-1])
    again = ros.run(*command, environ=quiet)
    peer.until(lambda: stamp_of(odom[-1]) > behind + 200 * H, "200 steps with its successor", child)
    assert again.running
    stamp = stamp_of(odom[-1])
    sample = in_process_at("attitude_pd", scenario, (stamp - CLOCK_START) // H)
    robot = rbt.load(scenario).robot
    assert odom[-1] == fill(Odometry(), topics.odometry_fields(robot, "", 0, sample, stamp))


def test_in_real_time_the_same_file_steers(ros):
    """The wheel brings the hub to rest; the controller is killed, and one started anew goes on."""
    quiet = ros.without_shared_memory()
    calm = {"realtime_factor": 4.0, "outputs__odom": 50.0, "outputs__joint_states": 50.0}
    child = ros.start("wheel", **calm, environ=quiet)
    peer = ros.peer()
    odom, latched = peer.listen(Odometry, "odom"), peer.listen(JointState, "/rbt_simulator/latched/hinge_commands")
    peer.until(lambda: odom, "the node", child)
    alone = Motion(odom[-1]).w_B[2]
    command = (sys.executable, FOLDER / "reaction_wheel.py")
    controller = ros.run(*command, environ=quiet)
    peer.until(lambda: abs(Motion(odom[-1]).w_B[2] - alone) > 0.02, "the wheel at work", child)
    controller.stop(signal.SIGKILL)
    again, seen = ros.run(*command, environ=quiet), len(latched)
    peer.until(lambda: len(latched) > seen + 500, "more commands than may have been under way", child)
    peer.until(
        lambda: abs(Motion(odom[-1]).w_B[2]) < 1e-3 and abs(Motion(odom[-1]).q[3]) < 1e-2, "rest of the hub", child
    )
    assert again.running and child.running
    assert again.stop(signal.SIGINT) == 0 and "Traceback" not in again.stderr
