"""Message -> fields -> message, exact to the bit, for every type that goes out or comes in."""

import math

import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState, MultiDOFJointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import Marker, MarkerArray

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.errors import MessageError
from rbt_ros.ros.convert import fields_of, fill, message_class, shortened, stamp_of, wrench_command
from rbt_ros.topics import Quaternion, Report, Vector3

STAMP = 12_345_678_901
TYPES = (
    *(Odometry, TFMessage, JointState, MultiDOFJointState, WrenchStamped, DiagnosticArray, MarkerArray, Clock, String),
)


def stamped(message, sec: int = 12, nanosec: int = 345_678_901, frame: str = "world"):
    message.header.stamp.sec, message.header.stamp.nanosec, message.header.frame_id = sec, nanosec, frame
    return message


def odometry() -> Odometry:
    message = stamped(Odometry())
    message.child_frame_id = "a/hub"
    p, q = message.pose.pose.position, message.pose.pose.orientation
    p.x, p.y, p.z = 0.1, -2e300, 5e-324
    q.x, q.y, q.z, q.w = 0.1, 0.2, -0.3, 0.9273618495495704
    message.pose.covariance = [0.1 * i for i in range(36)]
    v, w = message.twist.twist.linear, message.twist.twist.angular
    v.x, v.y, v.z, w.x, w.y, w.z = 1.0, 2.0, 3.0, -4.0, -5.0, -0.0
    message.twist.covariance = [-1e-7 * i for i in range(36)]
    return message


def tf() -> TFMessage:
    message = TFMessage()
    for number in range(3):
        transform = stamped(message_class("geometry_msgs/TransformStamped")(), sec=number)
        transform.child_frame_id = f"link_{number}"
        transform.transform.rotation.x, transform.transform.rotation.w = 0.6, 0.8
        transform.transform.translation.y = 1.0 / (number + 3)
        message.transforms.append(transform)
    return message


def joint_states() -> JointState:
    message = stamped(JointState())
    message.name, message.position, message.velocity = ["a", "b"], [0.1, -1e-300], [math.pi, 2.0]
    return message


def multi_dof_joint_states() -> MultiDOFJointState:
    message = stamped(MultiDOFJointState())
    message.joint_names = ["shoulder"]
    pose = message_class("geometry_msgs/Transform")()
    pose.rotation.x, pose.rotation.w, pose.translation.z = 0.6, 0.8, -1e-3
    twist = message_class("geometry_msgs/Twist")()
    twist.angular.y, twist.linear.x = 1.0 / 3, -0.0
    message.transforms, message.twist = [pose], [twist]
    return message


def markers() -> MarkerArray:
    marker = stamped(Marker(), frame="hub")
    marker.ns, marker.id, marker.type = "shapes", 3, Marker.CYLINDER
    marker.pose.orientation.w, marker.pose.position.y = 1.0, 0.1
    marker.scale.x, marker.color.a = 0.2, 0.5
    marker.points = [message_class("geometry_msgs/Point")(x=0.1, y=0.2, z=0.3)]
    return MarkerArray(markers=[marker])


def wrench(frame: str = "world") -> WrenchStamped:
    message = stamped(WrenchStamped(), frame=frame)
    f, n = message.wrench.force, message.wrench.torque
    f.x, f.y, f.z, n.x, n.y, n.z = 1.0, 0.1, -1e-9, 4.0, 5.0, 6.0
    return message


def diagnostics() -> DiagnosticArray:
    message = stamped(DiagnosticArray())
    for level in (b"\x00", b"\x02"):
        status = message_class("diagnostic_msgs/DiagnosticStatus")(level=level, name="n: loop", message="ω kept")
        status.values = [message_class("diagnostic_msgs/KeyValue")(key="energy [J]", value="0.1")]
        message.status.append(status)
    return message


def clock() -> Clock:
    message = Clock()
    message.clock.sec, message.clock.nanosec = 2_000_000_000, 999_999_999
    return message


def text() -> String:
    return String(data='<?xml version="1.0"?>\n<robot name="ä"/>')


MADE = [odometry, tf, joint_states, multi_dof_joint_states, markers, wrench, diagnostics, clock, text]


@pytest.mark.parametrize("made", MADE)
def test_message_to_fields_to_message_is_exact(made):
    message = made()
    again = fill(type(message)(), fields_of(message))
    assert again == message
    assert repr(again) == repr(message)  # -0.0 and 0.0 are equal, their texts are not


@pytest.mark.parametrize("made", MADE)
def test_a_message_that_is_used_again_keeps_nothing_of_the_last_time(made):
    message = made()
    used = fill(made(), fields_of(type(message)()))
    assert used == type(message)()
    assert fill(used, fields_of(message)) == message


def test_every_published_type_is_tested_here():
    robot = rbt.load("cubesat").robot
    assert {message_class(topic.type) for topic in topics.published(robot)} <= set(TYPES)


@pytest.mark.parametrize("key", ["orientation", "rotation"])
def test_quaternions_change_their_order_by_name(key):
    """Asymmetrical: any exchange of two components would show."""
    q, kind = Quaternion(w=0.1, x=0.2, y=-0.3, z=0.9), "geometry_msgs/Pose"
    if key == "rotation":
        kind = "geometry_msgs/Transform"
    message = getattr(fill(message_class(kind)(), {key: q}), key)
    assert (message.w, message.x, message.y, message.z) == (0.1, 0.2, -0.3, 0.9)


def test_a_sample_becomes_the_messages_of_its_numbers(tumbler):
    """Every component of pose and twist at its place, frames and stamps as told, all through the real messages."""
    sim = rbt.load(str(tumbler)).simulation()
    sim.advance(7)
    sample = sim.sample()
    made = {
        topic.name: fill(message_class(topic.type)(), topic.fields(sample, STAMP))
        for topic in topics.published(sim.robot, "a/")
    }
    several = {"multi_dof_joint_states", "markers", "poinsot"}
    assert set(made) == {"/clock", "/tf", "/tf_static", "joint_states", "odom", "robot_description", *several}
    assert (made["/clock"].clock.sec, made["/clock"].clock.nanosec) == (12, 345_678_901)
    (transform,) = made["/tf"].transforms
    odom = made["odom"]
    for message in (transform, odom):
        assert stamp_of(message) == STAMP
        assert (message.header.frame_id, message.child_frame_id) == ("a/world", "a/brick")
    w, x, y, z, px, py, pz = sample.pose[0]
    for q in (transform.transform.rotation, odom.pose.pose.orientation):
        assert (q.w, q.x, q.y, q.z) == (w, x, y, z)
    for p in (transform.transform.translation, odom.pose.pose.position):
        assert (p.x, p.y, p.z) == (px, py, pz)
    omega = odom.twist.twist.angular
    assert (omega.x, omega.y, omega.z) == pytest.approx(
        tuple(sample.v[:3]), rel=1e-14
    )  # body axes: turned there and back
    assert made["/tf_static"].transforms == []
    assert (
        len(made["joint_states"].name) == len(made["joint_states"].position) == len(made["joint_states"].velocity) == 0
    )


@pytest.mark.parametrize(
    ("frame", "axes"), [("", "body"), ("cubesat", "body"), ("world", "world"), ("a/cubesat", None), ("World", None)]
)
def test_the_frame_of_a_wrench_is_the_body_or_the_world_or_refused(frame, axes):
    robot = rbt.load("cubesat").robot
    if axes is None:
        with pytest.raises(MessageError, match="is not usable here; use 'world', 'cubesat' or empty"):
            wrench_command(wrench(frame), robot, "cubesat", prefix="", at="com", hold_ns=5)
        return
    command = wrench_command(wrench(frame), robot, "cubesat", prefix="", at="com", hold_ns=5)
    assert command == (("cubesat", (1.0, 0.1, -1e-9), (4.0, 5.0, 6.0), axes, "com"), 5)


def test_the_frames_of_a_wrench_bear_the_prefix():
    robot = rbt.load("cubesat").robot
    for frame, axes in (("a/world", "world"), ("a/cubesat", "body"), ("", "body")):
        assert wrench_command(wrench(frame), robot, "cubesat", prefix="a/", at="com", hold_ns=5).wrench.frame == axes
    with pytest.raises(MessageError, match="use 'a/world', 'a/cubesat' or empty"):
        wrench_command(wrench("world"), robot, "cubesat", prefix="a/", at="com", hold_ns=5)


def test_a_wrench_goes_to_the_log_and_back_unchanged():
    robot = rbt.load("cubesat").robot
    for frame in ("world", "cubesat"):
        command = wrench_command(wrench(frame), robot, "cubesat", prefix="", at="com", hold_ns=5)
        force, moment = command.wrench.force, command.wrench.moment
        logged = fill(WrenchStamped(), topics.wrench_fields(STAMP, frame, force, moment))
        assert logged == wrench(frame)
        assert wrench_command(logged, robot, "cubesat", prefix="", at="com", hold_ns=5) == command


def test_diagnostics_carry_all_digits():
    reports = [Report("loop", topics.WARN, "late", {"x [s]": 0.1 + 0.2, "n": 3})]
    message = fill(DiagnosticArray(), topics.diagnostic_fields(STAMP, "node", "robot", reports))
    (status,) = message.status
    assert (status.level, status.name, status.message, status.hardware_id) == (b"\x01", "node: loop", "late", "robot")
    assert {pair.key: pair.value for pair in status.values} == {"x [s]": "0.30000000000000004", "n": "3"}
    assert float(status.values[0].value) == 0.1 + 0.2


def test_long_and_unprintable_names_are_shortened_for_the_log():
    assert shortened("hub") == "hub"
    assert shortened("a\x1b[2J\nb") == "a?[2J?b"
    assert shortened("x" * 1_000_000) == "x" * 60 + "... (1000000 characters)"


def test_a_vector_of_another_type_does_not_pass_as_a_quaternion():
    with pytest.raises(AttributeError):
        fill(message_class("geometry_msgs/Vector3")(), {"x": 1.0, "w": 2.0})
    with pytest.raises(AttributeError):
        fill(message_class("geometry_msgs/Pose")(), {"position": Quaternion(1.0, 0.0, 0.0, 0.0)})
    assert fill(message_class("geometry_msgs/Pose")(), {"position": Vector3(1.0, 2.0, 3.0)}).position.z == 3.0
