"""Commands to hinges over real topics: the log says what acts, and a run fed from the log has the same bits."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import ParameterEvent
from rcl_interfaces.srv import GetParameters, SetParametersAtomically
from rerun import Log, bits_of_joints
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.command_messages import hinge_settings
from rbt_ros.model.hinge_commands import HingeCommand
from rbt_ros.ros.convert import fill, stamp_of

H = 1_000_000
NODE = "/rbt_simulator"
GAINS = {"mode": "position", "kp": 80.0, "kd": 8.0}


class Chain:
    """The five-body chain, slowed down so that nothing is lost, and its log from the first command on."""

    def __init__(self, ros, **options):
        self.child = ros.start("five_body", start_paused=True, mode="realtime", realtime_factor=0.1, **options)
        self.peer = ros.peer()
        self.joints = self.peer.listen(JointState, "joint_states")
        self.log = Log(self.peer, "five_body")
        self.log.open(self.child)
        del self.joints[:]

    def set_hinge(self, joint: str, **values):
        parameters = [self.peer.parameter(f"hinges.{joint}.{key}", value) for key, value in values.items()]
        request, before = SetParametersAtomically.Request(parameters=parameters), len(self.log.entries)
        result = self.peer.call(SetParametersAtomically, f"{NODE}/set_parameters_atomically", request).result
        if result.successful:
            self.peer.until(lambda: len(self.log.entries) > before, "the parameters in the log", self.child)
        return result

    def ask(self, service: str) -> str:
        response = self.peer.call(Trigger, f"{NODE}/{service}", Trigger.Request())
        assert response.success, response.message
        return response.message

    def begin_anew(self, service: str) -> None:
        """Ask for it, and wait until the log says what runs from then on."""
        before = len(self.log.runs())
        self.ask(service)
        self.peer.until(lambda: len(self.log.runs()) > before, "what runs in the log", self.child)

    def sent(self, kind, topic: str, message):
        """Publish a message and wait until it is in the log; its entry."""
        push, before = self.peer.publisher(kind, topic), len(self.log.entries)
        push.publish(message)
        self.peer.until(lambda: len(self.log.entries) > before, f"{topic} in the log", self.child)
        return self.log.entries[-1]

    def go_on(self, ticks: int):
        """Run for some time, and pause."""
        first = round(float(self.ask("resume").split()[-2]) * 1e9)
        self.peer.until(lambda: self.joints and stamp_of(self.joints[-1]) > first + ticks * H, "steps", self.child)
        self.ask("pause")


def set_point(*names, **arrays) -> JointState:
    return JointState(name=list(names), **arrays)


def test_a_burst_of_commands_is_taken_whole(ros):
    """A hundred at once on one topic, faster than they are parsed: each is in the log, in their order."""
    chain = Chain(ros)
    push = chain.peer.node.create_publisher(JointState, "hinge_commands", 100)
    chain.peer.until(lambda: push.get_subscription_count() > 0, "somebody listens", chain.child)
    for k in range(100):
        push.publish(set_point("wrist", effort=[0.01 * k]))
    chain.peer.until(lambda: len(chain.log.entries) >= 100, "the last one in the log", chain.child)
    efforts = [command.effort[0] for _, command in chain.log.entries]
    assert efforts == [0.01 * k for k in range(100)]


def test_every_kind_of_command_acts_as_the_log_says(ros):
    """JointState, three arrays, trajectory, torque, wrench, gains: a Simulation fed from the log has the same bits."""
    chain = Chain(ros)
    chain.go_on(5)
    assert chain.set_hinge("wrist", **GAINS).successful
    assert chain.set_hinge("left_pivot", mode="velocity", kd=4.0).successful
    chain.sent(JointState, "hinge_commands", set_point("wrist", position=[0.4], effort=[0.5]))
    chain.go_on(20)
    chain.sent(Float64MultiArray, "hinge_effort_commands", Float64MultiArray(data=[0.7]))  # right_pivot alone
    chain.sent(Float64MultiArray, "hinge_velocity_commands", Float64MultiArray(data=[-0.5]))
    chain.go_on(20)
    torque = WrenchStamped()
    torque.wrench.torque.x, torque.wrench.torque.z = 3.0, -1.0
    chain.sent(WrenchStamped, "hinges/elbow/wrench_command", torque)
    chain.sent(WrenchStamped, "wrench/tee", torque)
    points = [JointTrajectoryPoint(positions=[p], velocities=[0.0]) for p in (0.9, 0.1)]
    points[0].time_from_start.nanosec, points[1].time_from_start.nanosec = 30_000_000, 70_000_000
    chain.sent(JointTrajectory, "hinge_trajectory", JointTrajectory(joint_names=["wrist"], points=points))
    chain.go_on(40)
    chain.sent(Float64MultiArray, "hinge_position_commands", Float64MultiArray(data=[-0.2]))
    chain.go_on(20)
    assert len(chain.log.entries) == 9
    assert chain.log.digests_match(chain.joints) > 30

    seen = bits_of_joints(chain.joints[-1])
    chain.ask("reset")
    chain.peer.until(lambda: bits_of_joints(chain.joints[-1]) != seen, "the start", chain.child)


def test_resets_and_checkpoints_are_in_the_log(ros, tmp_path):
    """Set-points, a saved state, a reset, other set-points, the state loaded again: a re-run has the same bits."""
    chain = Chain(ros, state_file=str(tmp_path / "chain.json"))
    assert chain.set_hinge("wrist", **GAINS).successful
    chain.sent(JointState, "hinge_commands", set_point("wrist", position=[0.4]))
    chain.go_on(20)
    chain.ask("save_state")
    chain.go_on(10)
    chain.begin_anew("reset")
    chain.sent(JointState, "hinge_commands", set_point("wrist", position=[-0.3]))
    chain.go_on(20)
    chain.begin_anew("load_state")
    chain.go_on(20)
    ticks = [run["tick"] for run in chain.log.runs()]
    assert ticks[:2] == [0, 0] and len(ticks) == 3 and ticks[2] >= 20
    assert chain.log.digests_match(chain.joints) > 50


def test_locks_and_prescribed_joints_act_as_the_log_says(ros):
    """Locked, unlocked, prescribed to set-points, let go, a ball and a joint in one impact, and again after a reset: a
    Simulation fed from the log has the same bits. The start is refused what it does not allow."""
    chain = Chain(ros, hinges__right_pivot__mode="locked")
    chain.go_on(5)
    assert chain.set_hinge("wrist", mode="locked").successful
    assert chain.set_hinge("left_pivot", mode="prescribed", delay=0.02).successful
    chain.go_on(10)
    chain.sent(JointState, "hinge_commands", set_point("left_pivot", position=[0.2], velocity=[0.5]))
    chain.go_on(30)
    assert chain.set_hinge("wrist", mode="effort").successful
    assert chain.set_hinge("elbow", mode="locked").successful
    chain.sent(JointState, "hinge_commands", set_point("left_pivot"))
    chain.go_on(30)
    assert chain.set_hinge("left_pivot", mode="effort").successful
    chain.go_on(10)
    last = rbt.load("five_body").robot.joint_names.index("right_pivot")
    assert chain.joints[-1].velocity[last] == 0.0 and chain.joints[-1].velocity[0] != 0.0
    assert chain.log.digests_match(chain.joints) > 20
    chain.ask("reset")
    assert chain.set_hinge("right_pivot", mode="free").successful


WRIST = {"hinges.wrist.mode": "position", "hinges.wrist.kp": 50.0, "hinges.wrist.kd": 5.0}


def test_set_points_are_parameters_too(ros):
    chain = Chain(ros, **{name.replace(".", "__"): value for name, value in WRIST.items()})
    assert chain.set_hinge("wrist", position=-0.3).successful
    chain.go_on(20)
    assert chain.log.digests_match(chain.joints) > 5


def test_settings_that_wait_in_a_checkpoint_are_shown(ros, tmp_path):
    """A mode that is set after a set-point of the same tick acts from the next one on, also when it was loaded."""
    chain = Chain(ros, hinges__wrist__kp=50.0, state_file=str(tmp_path / "chain.json"))
    chain.sent(JointState, "hinge_commands", set_point("left_pivot", effort=[0.1]))
    assert chain.peer.set_parameter("hinges.wrist.mode", "position").successful
    chain.ask("save_state")
    assert chain.peer.set_parameter("hinges.wrist.mode", "effort").successful
    chain.ask("load_state")
    request = GetParameters.Request(names=["hinges.wrist.mode"])
    assert chain.peer.call(GetParameters, f"{NODE}/get_parameters", request).values[0].string_value == "position"
    chain.go_on(5)
    chain.sent(JointState, "hinge_commands", set_point("wrist", position=[0.4]))


@pytest.mark.parametrize("position", [0.3, 0.0])
def test_settings_at_the_start_act_from_t_0(ros, position):
    start = {**WRIST, "hinges.wrist.position": position}
    options = {name.replace(".", "__"): value for name, value in start.items()}
    child = ros.start("five_body", mode="realtime", realtime_factor=0.1, **options)
    peer = ros.peer()
    joints = peer.listen(JointState, "joint_states")
    peer.until(lambda: len(joints) > 5, "joint_states", child)
    sim = rbt.load("five_body").simulation()
    sim.command(hinge_settings(start, sim.robot))
    for message in joints:
        sim.advance((stamp_of(message) - 1_000_000_000) // H - sim.tick)
        fields = topics.joint_state_fields(sim.robot, sim.sample(), stamp_of(message))
        assert bits_of_joints(message) == bits_of_joints(fill(JointState(), fields))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"mode": "position"}, "position needs a gain; set hinges.wrist.kp"),
        ({"mode": "locked", "position": 1.0}, "joint 'wrist' is locked and takes no command"),
        ({"mode": "prescribed", "delay": 0.0}, "range"),
        ({"mode": "position", "kp": 1.0, "velocity": 1.0}, "joint 'wrist' takes positions"),
        ({"kp": -1.0}, "range"),
    ],
)
def test_settings_that_make_no_sense_are_refused_together(chain_at_rest, values, words):
    result = chain_at_rest.set_hinge("wrist", **values)
    assert not result.successful and words in result.reason


@pytest.fixture(scope="module")
def chain_at_rest(module_ros):
    return Chain(module_ros)


REFUSED = {
    "unknown joint": (JointState, "hinge_commands", set_point("knee", effort=[1.0]), "has no joint 'knee'"),
    "wrong mode": (JointState, "hinge_commands", set_point("wrist", position=[1.0]), "takes effort, not position"),
    "too short": (
        Float64MultiArray,
        "hinge_effort_commands",
        Float64MultiArray(data=[1.0]),
        "1 numbers as effort; the",
    ),
    "nobody": (
        Float64MultiArray,
        "hinge_position_commands",
        Float64MultiArray(data=[1.0]),
        "no joint takes position now",
    ),
    "NaN": (Float64MultiArray, "hinge_effort_commands", Float64MultiArray(data=[0.0, np.nan, 0.0]), "is nan, which is"),
    "no points": (JointTrajectory, "hinge_trajectory", JointTrajectory(joint_names=["wrist"]), "without points"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_faulty_hinge_command_is_counted_and_named(chain_at_rest, case):
    kind, topic, message, words = REFUSED[case]
    chain, diagnostics = chain_at_rest, chain_at_rest.peer.diagnostics()
    before = diagnostics.values(diagnostics.next(chain.child), "commands")["rejected"]
    chain.peer.publisher(kind, topic).publish(message)
    report = diagnostics.until(
        lambda m: diagnostics.values(m, "commands")["rejected"] != before, "the count of the fault", chain.child
    )
    values = diagnostics.values(report, "commands")
    assert int(values["rejected"]) == int(before) + 1 and words in values["last fault"]
    assert not chain.log.entries


def test_the_watchdog_of_a_running_node_does_each_fallback(ros):
    """A set-point, then silence: the log shows what takes its place; it is counted, and the next one is taken."""
    options = {name.replace(".", "__"): value for name, value in WRIST.items()}
    chain = Chain(ros, watchdog__timeout=0.2, **options)
    diagnostics, command = chain.peer.diagnostics(), set_point("wrist", position=[0.4])
    for lost, fallback in enumerate(("zero", "hold_position", "hold")):
        assert chain.peer.set_parameter("watchdog.fallback", fallback).successful
        chain.sent(JointState, "hinge_commands", command)
        before = len(chain.log.entries)
        chain.ask("resume")  # a pause loses nobody
        report = diagnostics.until(
            lambda m, n=lost: int(diagnostics.values(m, "commands")["sources lost"]) == n + 1, "the loss", chain.child
        )
        assert (
            diagnostics.values(report, "commands")["last fault"] == f"nothing on hinge_commands for 0.2 s: {fallback}."
        )
        chain.ask("pause")
        if fallback != "hold":
            chain.peer.until(lambda n=before: len(chain.log.entries) > n, "what acts instead in the log", chain.child)
        instead = [entry for _, entry in chain.log.entries[before:]]
        assert len(instead) == (fallback != "hold")
        if fallback == "zero":
            assert instead == [HingeCommand(("wrist",))]
        elif fallback == "hold_position":
            assert instead[0].joints == ("wrist",) and len(instead[0].position) == 1
    assert chain.log.digests_match(chain.joints) > 20


def test_whoever_falls_silent_is_told_of(ros):
    """Two at once, and both when they are back: one report does not swallow the other."""
    chain = Chain(ros, watchdog__timeout=0.2)
    torque, effort = WrenchStamped(), set_point("wrist", effort=[0.1])
    torque.wrench.torque.x = 1.0

    def send():
        chain.sent(JointState, "hinge_commands", effort)
        chain.sent(WrenchStamped, "wrench/tee", torque)

    send()
    chain.ask("resume")
    for topic in ("hinge_commands", "wrench/tee"):
        text = f"nothing on {topic} for 0.2 s: zero."
        chain.peer.until(lambda t=text: t in chain.child.stderr, text, chain.child)
    send()
    for text in ("hinge_commands is back.", "wrench/tee is back."):
        chain.peer.until(lambda t=text: t in chain.child.stderr, text, chain.child)


def test_the_log_has_the_parameters_that_act(ros):
    child = ros.start()
    peer = ros.peer()
    seen = peer.listen(ParameterEvent, f"{NODE}/latched/parameters")
    peer.until(lambda: peer.node.count_publishers(f"{NODE}/latched/parameters"), "the log", child)
    value = iter(["com", "origin"] * 100)
    peer.until(lambda: seen or not peer.set_parameter("wrench_at", next(value)).successful, "its first message", child)
    assert seen[0].node == NODE and seen[0].changed_parameters[0].name == "wrench_at"
