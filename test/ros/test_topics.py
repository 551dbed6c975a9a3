"""What is published where, when and with which quality of service, as other nodes find it."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.qos import DurabilityPolicy, ReliabilityPolicy
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import MarkerArray

import rbt_ros as rbt
from rbt_ros import topics
from rbt_ros.ros.convert import fill, stamp_of

CLOCK_START = 1_000_000_000
H = 1_000_000
PARTS = ("conservation", "loop", "commands", "connections", "callbacks")


@pytest.fixture(scope="module")
def node(module_ros):
    """The CubeSat at its defaults but for a prefix: the tests here only look on."""
    return module_ros.start(frame_prefix="sat/")


def clock_of(message: Clock) -> int:
    return message.clock.sec * 1_000_000_000 + message.clock.nanosec


def in_a_row(stamps: list[int], count: int, period_ns: int) -> bool:
    """Whether the last ones follow each other by that period: before, a slow reader may have missed some."""
    return len(stamps) >= count and set(np.diff(stamps[-count:])) == {period_ns}


def test_every_topic_has_its_type_and_quality_of_service(node, peer):
    reliable, latched = ReliabilityPolicy.RELIABLE, DurabilityPolicy.TRANSIENT_LOCAL
    expected = {
        "/clock": ("rosgraph_msgs/msg/Clock", False),
        "/tf": ("tf2_msgs/msg/TFMessage", False),
        "/tf_static": ("tf2_msgs/msg/TFMessage", True),
        "/joint_states": ("sensor_msgs/msg/JointState", False),
        "/odom": ("nav_msgs/msg/Odometry", False),
        "/robot_description": ("std_msgs/msg/String", True),
        "/diagnostics": ("diagnostic_msgs/msg/DiagnosticArray", False),
        "/rbt_simulator/latched/wrench/cubesat": ("geometry_msgs/msg/WrenchStamped", False),
        "/multi_dof_joint_states": ("sensor_msgs/msg/MultiDOFJointState", False),
        "/markers": ("visualization_msgs/msg/MarkerArray", False),
        "/rbt_simulator/latched/parameters": ("rcl_interfaces/msg/ParameterEvent", False),
        "/rbt_simulator/transition_event": ("lifecycle_msgs/msg/TransitionEvent", False),
        "/rbt_simulator/run": ("std_msgs/msg/String", True),
    }
    seen = peer.until(lambda: published(peer, len(expected)), "all topics", node)
    assert {
        topic: (info.topic_type, info.qos_profile.durability == latched) for topic, info in seen.items()
    } == expected
    assert all(info.qos_profile.reliability == reliable for info in seen.values())
    for name in ("/wrench", "/wrench/cubesat"):
        found = peer.until(lambda name=name: peer.node.get_subscriptions_info_by_topic(name), f"reader of {name}", node)
        assert {info.topic_type for info in found} == {"geometry_msgs/msg/WrenchStamped"}


def published(peer, count: int) -> dict:
    """Topic -> its one publisher, without what every ROS node has; empty until there are `count`."""
    found = {}
    for name, _ in peer.node.get_topic_names_and_types():
        publishers = [i for i in peer.node.get_publishers_info_by_topic(name) if i.node_name == "rbt_simulator"]
        if publishers and name not in ("/rosout", "/parameter_events") and "/_" not in name:  # hidden: actions
            (found[name],) = publishers
    return found if len(found) >= count else {}


def test_who_comes_late_gets_robot_description_and_static_transforms(node, peer):
    """Latched: once each, though both were published before we listened. Link names are frame names."""
    odom = peer.listen(Odometry, "odom")
    peer.until(lambda: odom, "odom", node)
    late_tf = peer.listen(TFMessage, "/tf")
    description = peer.listen(String, "robot_description", latched=True, depth=1)
    static = peer.listen(TFMessage, "/tf_static", latched=True)
    peer.until(lambda: description and static and late_tf, "the latched topics", node)
    root = ET.fromstring(description[0].data)
    assert root.tag == "robot" and root.get("name") == "cubesat"
    links = {link.get("name") for link in root.findall("link")}
    children = {joint.find("child").get("link") for joint in root.findall("joint")}
    (base,) = links - children
    transforms = [t for m in (*late_tf[:1], *static) for t in m.transforms]
    assert {f"sat/{name}" for name in links} == {t.child_frame_id for t in transforms} | {f"sat/{base}"}
    assert {t.header.frame_id for t in transforms} == {"sat/world"} and base == "world"
    inertia = root.find("link[@name='cubesat']/inertial/inertia")
    assert [float(inertia.get(key)) for key in ("ixx", "iyy", "izz")] == [0.0361172235, 0.03378135832, 0.00733597782]
    assert len(description) == len(static) == 1


def test_frames_bear_the_prefix(node, peer):
    odom = peer.listen(Odometry, "odom")
    peer.until(lambda: odom, "odom", node)
    assert (odom[0].header.frame_id, odom[0].child_frame_id) == ("sat/world", "sat/cubesat")


def test_joint_states_of_a_robot_without_joints_are_empty(node, peer):
    """A free body has no one-axis freedom: all arrays empty, still with a stamp."""
    states = peer.listen(JointState, "joint_states")
    peer.until(lambda: states, "joint_states", node)
    message = states[0]
    assert [len(a) for a in (message.name, message.position, message.velocity, message.effort)] == [0, 0, 0, 0]
    assert stamp_of(message) > CLOCK_START


def test_diagnostics_are_named_as_rep_107_says(node, peer):
    reports = peer.listen(DiagnosticArray, "/diagnostics")
    peer.until(lambda: reports, "diagnostics", node)
    assert [s.name for s in reports[0].status] == [f"rbt_simulator: {part}" for part in PARTS]
    assert {s.hardware_id for s in reports[0].status} == {"cubesat"}
    conservation, _, commands, *_ = reports[0].status
    assert (conservation.level, conservation.message) == (b"\x00", "kept")
    assert (commands.level, commands.message) == (b"\x00", "all commands were good")


def test_the_clock_ticks_every_step(ros):
    """Slowed down to 200 ticks a second, of which a reader misses few: each is h after the one before."""
    child = ros.start(realtime_factor=0.2)
    peer = ros.peer()
    clock = peer.listen(Clock, "/clock")
    peer.until(lambda: in_a_row([clock_of(m) for m in clock], 200, H), "200 ticks in a row", child)


def test_clock_readers_may_be_best_effort_of_depth_one(ros):
    """As rclpy's use_sim_time subscribes: simulated time arrives in a node that asks for it."""
    from rclpy.parameter import Parameter

    child = ros.start()
    peer = ros.peer()
    assert peer.node.set_parameters([Parameter("use_sim_time", value=True)])[0].successful
    peer.until(lambda: peer.node.get_clock().now().nanoseconds > CLOCK_START, "simulated time", child)
    then = peer.node.get_clock().now().nanoseconds
    peer.until(lambda: peer.node.get_clock().now().nanoseconds > then, "time going on", child)
    assert then < 100 * CLOCK_START


def test_rates_are_whole_dividers_of_the_step_and_zero_is_off(ros):
    """300 Hz at 1 ms: every third tick. Stamps lie on the grid of the divider, in simulated time, at any pace."""
    child = ros.start(outputs__tf=300.0, outputs__odom=50.0, outputs__joint_states=0.0, realtime_factor=0.1)
    peer = ros.peer()
    tf, odom = peer.listen(TFMessage, "/tf"), peer.listen(Odometry, "odom")
    stamps = {"tf": lambda: [stamp_of(m.transforms[0]) for m in tf], "odom": lambda: [stamp_of(m) for m in odom]}
    for topic, count, period in (("tf", 40, 3 * H), ("odom", 10, 20 * H)):
        peer.until(lambda t=topic, n=count, p=period: in_a_row(stamps[t](), n, p), f"{topic} in a row", child)
        assert (stamps[topic]()[-1] - CLOCK_START) % period == 0
    assert peer.node.count_publishers("joint_states") == 0


def test_a_namespace_holds_everything_but_clock_tf_and_diagnostics(ros):
    child = ros.start(remap=["__ns:=/fleet/a", "__node:=sat"])
    peer = ros.peer()
    diagnostics, odom = peer.diagnostics(), peer.listen(Odometry, "/fleet/a/odom")
    push, log = peer.commander("/fleet/a/wrench", "/fleet/a/sat/latched/wrench/cubesat", child)
    report = diagnostics.next(child)
    assert [s.name for s in report.status] == [f"fleet/a/sat: {part}" for part in PARTS]
    message = WrenchStamped()
    message.wrench.force.x = 1.0
    push.publish(message)
    peer.until(lambda: odom and log, "odom and log in the namespace", child)
    names = {name for name, _ in peer.node.get_topic_names_and_types()}
    assert {"/clock", "/tf", "/tf_static", "/fleet/a/joint_states", "/fleet/a/robot_description"} <= names
    assert not names & {"/odom", "/joint_states", "/robot_description", "/wrench"}


def test_quality_of_service_can_be_overridden(ros):
    """As every ROS 2 node allows by `qos_overrides`: a depth of 1, best effort, for a reader that wants the newest."""
    settings = {"qos_overrides./odom.publisher.reliability": "best_effort", "qos_overrides./odom.publisher.depth": 1}
    child = ros.start(**settings)
    peer = ros.peer()
    names = ("odom", "joint_states", "tf")  # those that are made after it, too
    infos = [peer.until(lambda n=n: peer.node.get_publishers_info_by_topic(n), n, child)[0] for n in names]
    reliable = [info.qos_profile.reliability == ReliabilityPolicy.RELIABLE for info in infos]
    assert reliable == [False, True, True]


def test_hinge_wrenches_come_on_request_with_the_bits_of_python(ros):
    """Off until outputs.hinge_wrenches says how often; then each of the chain's hinges tells what it transmits, the
    same numbers as in Python at the tick of the stamp."""
    node, peer = ros.start("five_body", outputs__hinge_wrenches=50.0, realtime_factor=0.1), ros.peer()
    heard = {hinge: peer.listen(WrenchStamped, f"hinges/{hinge}/wrench") for hinge in ("shoulder", "wrist")}
    peer.until(lambda: all(len(messages) > 3 for messages in heard.values()), "wrenches of hinges", node)
    sim = rbt.load("five_body").simulation()
    fields = {
        name: next(t.fields for t in topics.published(sim.robot) if t.name == f"hinges/{name}/wrench") for name in heard
    }
    for hinge, messages in heard.items():
        assert messages[0].header.frame_id == sim.robot.hinges[sim.robot.hinge_index(hinge)].child
        for message in messages[:3]:
            ticks, rest = divmod(stamp_of(message) - CLOCK_START, H)
            assert rest == 0 and ticks % 20 == 0
            sim.reset()
            sim.advance(ticks)
            told = fill(WrenchStamped(), fields[hinge](sim.sample(), stamp_of(message)))
            assert message == told and message.wrench.force.z != 0.0
    quiet = ros.start("five_body", remap=("__ns:=/quiet",), publish_clock=False)
    joints = peer.listen(JointState, "/quiet/joint_states")
    peer.until(lambda: joints, "joint_states", quiet)
    names = [name for name, _ in peer.node.get_topic_names_and_types()]
    assert "/hinges/wrist/wrench" in names and not any(
        "/quiet/hinges" in name and name.endswith("/wrench") for name in names
    )


def test_poinsot_and_the_local_frame_are_there_when_asked_for(ros):
    child = ros.start(frame_prefix="sat/", local_frame="near", outputs__poinsot=20.0)
    peer = ros.peer()
    tf, poinsot = peer.listen(TFMessage, "/tf"), peer.listen(MarkerArray, "poinsot")
    peer.until(lambda: tf and poinsot, "tf and poinsot", child)
    assert {t.child_frame_id for t in tf[0].transforms} == {"sat/cubesat", "sat/near"}
    names = [m.ns for m in poinsot[0].markers]
    curves = ["energy_ellipsoid", "momentum_ellipsoid", "polhode", "invariable_plane", "herpolhode"]
    assert names == [*curves, "body_cone", "space_cone"]
    assert poinsot[0].markers[-1].header.frame_id == "sat/near"
