"""Commands to hinges <-> messages: what is written is read back, exactly; what cannot be read says why."""

import pytest
from geometry_msgs.msg import WrenchStamped
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rcl_interfaces.msg import ParameterEvent
from sensor_msgs.msg import JointState
from std_msgs.msg import Float64MultiArray
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

import rbt_ros as rbt
from rbt_ros import command_messages as c
from rbt_ros import topics
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings, HingeTorque, HingeTrajectory
from rbt_ros.ros.convert import fill, stamp_of

ROBOT = rbt.load("five_body").robot
NUMBERS = st.floats(allow_nan=False, allow_infinity=False)
STAMPS = st.integers(0, 2**31 * 10**9 - 1)
NAMES = st.lists(st.sampled_from(ROBOT.joint_names), min_size=1, max_size=3, unique=True).map(tuple)
relaxed = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def rows(count: int):
    return st.lists(NUMBERS, min_size=count, max_size=count).map(tuple)


@st.composite
def points(draw):
    joints = draw(NAMES)
    arrays = [draw(st.one_of(st.just(()), rows(len(joints)))) for _ in range(3)]
    return HingeCommand(joints, *arrays)


@st.composite
def trajectories(draw):
    joints = draw(NAMES)
    times = tuple(sorted(draw(st.sets(st.integers(0, 2**31 * 10**9 - 1), min_size=1, max_size=4))))
    positions = tuple(draw(rows(len(joints))) for _ in times)
    velocities = tuple(draw(rows(len(joints))) for _ in times) if draw(st.booleans()) else ()
    return HingeTrajectory(joints, times, positions, velocities)


@relaxed
@given(points(), STAMPS)
def test_joint_state_and_back(command, stamp):
    message = fill(JointState(), c.hinge_command_fields(command, stamp))
    assert c.hinge_command(message) == command
    assert stamp_of(message) == stamp


@relaxed
@given(trajectories(), STAMPS)
def test_trajectory_and_back(command, stamp):
    message = fill(JointTrajectory(), c.trajectory_fields(command, stamp))
    assert c.trajectory(message) == command
    assert stamp_of(message) == stamp


@relaxed
@given(rows(3), st.sampled_from(["position", "velocity", "effort"]))
def test_array_and_back(values, what):
    command = HingeCommand(ROBOT.joint_names)._replace(**{what: values})
    message = fill(Float64MultiArray(), c.array_command_fields(command, what))
    assert c.array_command(message, what, ROBOT.joint_names) == command


@relaxed
@given(rows(3), st.sampled_from(["", "a/"]))
def test_torque_and_back(torque, prefix):
    command = HingeTorque("elbow", torque)
    frame = c.torque_frame(command, ROBOT, prefix)
    message = fill(WrenchStamped(), topics.wrench_fields(5, frame, (0.0, 0.0, 0.0), torque))
    assert frame == prefix + "lower"
    assert c.torque_command(message, ROBOT, "elbow", prefix) == command


SETTINGS = st.builds(
    HingeSetting,
    st.just("wrist"),
    st.sampled_from(["free", "effort", "position"]),
    *[st.one_of(st.none(), NUMBERS) for _ in range(5)],
)


@relaxed
@given(SETTINGS, STAMPS)
def test_settings_and_back(setting, stamp):
    command = HingeSettings((setting, HingeSetting("shoulder", "free")))
    fields = c.parameter_fields(c.parameter_values(command), "/sim", stamp)
    message = fill(ParameterEvent(), fields)
    found = c.hinge_settings(c.changed_parameters(message), ROBOT)
    assert set(found.settings) == set(command.settings)
    assert message.node == "/sim"


@pytest.mark.parametrize("value", [True, 3, 2.5, "text"])
def test_parameters_of_all_types_and_back_though_the_message_is_reused(value):
    message = fill(ParameterEvent(), c.parameter_fields({"a": "before"}, "n", 0))
    fill(message, c.parameter_fields({"a": value}, "n", 0))
    assert c.changed_parameters(message) == {"a": value}
    assert message.changed_parameters[0].value.string_value == (value if isinstance(value, str) else "")


def pushed(**force) -> WrenchStamped:
    message = WrenchStamped()
    for axis, value in force.items():
        setattr(message.wrench.force, axis, value)
    return message


def framed(frame: str) -> WrenchStamped:
    message = WrenchStamped()
    message.header.frame_id = frame
    return message


HUGE = JointTrajectory(joint_names=["wrist"] * 11, points=[JointTrajectoryPoint()] * 10_000)


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (
            lambda: c.array_command(Float64MultiArray(data=[1.0]), "effort", ("a", "b")),
            "1 numbers as effort; the joints",
        ),
        (lambda: c.torque_command(framed("world"), ROBOT, "elbow", ""), "'world' is not usable here; use 'lower'"),
        (lambda: c.torque_command(pushed(x=1.0), ROBOT, "elbow", ""), "a spherical hinge takes no force"),
        (
            lambda: c.hinge_command(JointState(name=["elbow"] * 10_001)),
            "of 10001 joints; at most 10000 are taken in one",
        ),
        (lambda: c.trajectory(HUGE), "trajectory of 10000 points; at most 100000 numbers"),
        (
            lambda: c.trajectory(JointTrajectory(points=[JointTrajectoryPoint(effort=[1.0])])),
            "trajectory with efforts; positions and velocities are taken",
        ),
    ],
)
def test_what_cannot_be_read_says_why(read, words):
    with pytest.raises(rbt.MessageError) as refused:
        read()
    assert words in str(refused.value)
