"""ros2_control over topics: its plugin joint_state_topic_hardware_interface, re-enacted in rclpy, drives our hinges.

What the plugin does was read from its public source (1.1.0): commands reliable of depth 1, states as sensor data; every
joint is named, an array is filled by the joints that declare its interface; nothing is sent while commands and states
differ by no more than a threshold in all; and NaN goes out as long as no controller has set a command.
"""

import math
import xml.etree.ElementTree as ET
from typing import NamedTuple

import numpy as np
import pytest
from rclpy.qos import QoSProfile, qos_profile_sensor_data
from ruamel.yaml import YAML
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

import rbt_ros as rbt
from rbt_ros.paths import share
from rbt_ros.ros.convert import stamp_of

JOINT = "wheel_axis"
LOG = "/rbt_simulator/latched/hinge_commands"
HUB_I, WHEEL_I = 0.15, 0.0007  # [kg m²] about the common axis
OMEGA = 10.0  # [rad/s] of the loop, critically damped
REDUCED = HUB_I * WHEEL_I / (HUB_I + WHEEL_I)
GAINS = {
    f"hinges__{JOINT}__mode": "position",
    f"hinges__{JOINT}__kp": REDUCED * OMEGA**2,
    f"hinges__{JOINT}__kd": 2 * REDUCED * OMEGA,
}


class Joint(NamedTuple):
    """A <joint> of the <ros2_control> tag."""

    name: str
    command_interfaces: tuple[str, ...]


class Plugin:
    """JointStateTopicSystem: `read` and `write` once per cycle of the controller manager."""

    def __init__(self, peer, joints, commands="hinge_commands", states="joint_states", threshold=1e-5):
        self.joints, self.threshold = joints, threshold
        self.state: dict[str, float] = {}
        self.command = {f"{joint.name}/{kind}": math.nan for joint in joints for kind in joint.command_interfaces}
        self.latest: JointState | None = None
        self.sent = 0
        self._clock = peer.node.get_clock()
        self._publisher = peer.node.create_publisher(JointState, commands, QoSProfile(depth=1))
        peer.node.create_subscription(JointState, states, self._keep, qos_profile_sensor_data)

    def _keep(self, message: JointState) -> None:
        self.latest = message

    def read(self) -> None:
        for kind, values in (("position", self.latest.position), ("velocity", self.latest.velocity)):
            for name, value in zip(self.latest.name, values, strict=bool(values)):
                if math.isfinite(value):
                    self.state[f"{name}/{kind}"] = value

    def write(self) -> None:
        difference = sum(abs(self.state.get(key, 0.0) - value) for key, value in self.command.items())
        if difference <= self.threshold:
            return
        message = JointState()
        for joint in self.joints:
            message.name.append(joint.name)
            message.header.stamp = self._clock.now().to_msg()
            for kind in joint.command_interfaces:
                getattr(message, kind).append(self.command[f"{joint.name}/{kind}"])
        self._publisher.publish(message)
        self.sent += 1


def cycle(peer, child, plugin, condition, what: str) -> None:
    """Cycles of the controller manager, one per state that arrives, until condition()."""

    def one() -> bool:
        if plugin.latest is not None:
            plugin.read()
            plugin.write()
            plugin.latest = None
        return condition()

    peer.until(one, what, child)


def press(peer, child, plugin, condition, what: str) -> None:
    """Write to a node that stands, of which no states come, until condition(): all of it acts from the tick of now."""

    def one() -> bool:
        plugin.write()
        return condition()

    peer.until(one, what, child)


FILE = share("urdf", "wheel.ros2_control.urdf")


@pytest.fixture(scope="module")
def shipped():
    """The shipped <ros2_control> tag."""
    return ET.parse(FILE).getroot().find("ros2_control")


def test_a_position_controller_moves_the_wheel_as_the_closed_form_says(ros, shipped):
    """Two rotors with a critically damped PD between them: q = r (1 - (1 + ω t) exp(-ω t)) from the first command on.

    RK4 at 1 ms: local error (ω h)^5 / 120 per step, below 1e-12 of r.
    """
    params = {param.get("name"): param.text for param in shipped.iter("param")}
    joints = [
        Joint(j.get("name"), tuple(c.get("name") for c in j.iter("command_interface"))) for j in shipped.iter("joint")
    ]
    child = ros.start("wheel", start_paused=True, realtime_factor=0.3, **GAINS)
    peer = ros.peer()
    log, states = peer.listen(JointState, LOG), peer.listen(JointState, "joint_states")
    plugin = Plugin(
        peer,
        joints,
        params["joint_commands_topic"],
        params["joint_states_topic"],
        float(params["trigger_joint_command_threshold"]),
    )
    plugin.command[f"{JOINT}/position"] = 0.5
    press(peer, child, plugin, lambda: log, "the command in the log")
    begin = stamp_of(log[0])
    assert peer.call(Trigger, "/rbt_simulator/resume", Trigger.Request()).success
    cycle(peer, child, plugin, lambda: states and stamp_of(states[-1]) > begin + 1_200_000_000, "1.2 s of motion")
    for message in states:
        t = (stamp_of(message) - begin) * 1e-9
        wanted = 0.5 * (1.0 - (1.0 + OMEGA * t) * math.exp(-OMEGA * t)) if t > 0 else 0.0
        assert message.position[0] == pytest.approx(wanted, abs=1e-9)
    sent = plugin.sent
    cycle(peer, child, plugin, lambda: plugin.sent > sent + 20, "commands also where it is there: threshold -1")


def test_at_the_default_threshold_a_set_point_that_is_reached_is_not_sent(ros):
    """The trap: an at-rest joint at its set-point looks like a dead controller; so the shipped tag says -1."""
    child = ros.start("wheel", **GAINS)
    peer = ros.peer()
    plugin = Plugin(peer, [Joint(JOINT, ("position",))])
    plugin.command[f"{JOINT}/position"] = 0.0
    seen = peer.listen(JointState, "joint_states")
    cycle(peer, child, plugin, lambda: len(seen) > 50, "50 states")
    assert plugin.sent == 0


def test_efforts_are_taken_and_what_no_controller_has_set_is_refused(ros):
    """NaN first, as the plugin sends before a controller is active; then 1 mN·m between two rotors that turn freely.

    The tag has two command interfaces, as most have: the one that no controller uses stays NaN.
    """
    child = ros.start("wheel", start_paused=True, realtime_factor=0.3)
    peer = ros.peer()
    diagnostics, log, states = peer.diagnostics(), peer.listen(JointState, LOG), peer.listen(JointState, "joint_states")
    plugin = Plugin(peer, [Joint(JOINT, ("position", "effort"))], threshold=-1.0)
    press(peer, child, plugin, lambda: plugin.sent > 20 and diagnostics.messages, "NaN to be sent")
    message = diagnostics.until(
        lambda m: int(diagnostics.values(m, "commands")["rejected"]) > 0, "the refusal in the diagnostics", child
    )
    assert f"position of joint '{JOINT}' is nan" in diagnostics.values(message, "commands")["last fault"]
    plugin.command[f"{JOINT}/effort"] = 1e-3
    press(peer, child, plugin, lambda: log, "the effort in the log")
    begin = stamp_of(log[0])
    assert peer.call(Trigger, "/rbt_simulator/resume", Trigger.Request()).success
    cycle(peer, child, plugin, lambda: states and stamp_of(states[-1]) > begin + 200_000_000, "0.2 s of motion")
    for state in states:
        t = max(0.0, (stamp_of(state) - begin) * 1e-9)
        assert state.velocity[0] == pytest.approx(1e-3 / REDUCED * t, abs=1e-9)


def test_joints_of_different_interfaces_are_refused_as_a_whole(ros):
    """Two names, one position, one effort: nobody can tell whose. The sentence says so, and nothing moves."""
    child = ros.start("five_body", mode="realtime", outputs__joint_states=100.0)
    peer = ros.peer()
    diagnostics, log = peer.diagnostics(), peer.listen(JointState, LOG)
    plugin = Plugin(peer, [Joint("wrist", ("position",)), Joint("left_pivot", ("effort",))], threshold=-1.0)
    plugin.command = dict.fromkeys(plugin.command, 0.1)
    cycle(peer, child, plugin, lambda: plugin.sent > 5 and diagnostics.messages, "commands")
    message = diagnostics.until(
        lambda m: int(diagnostics.values(m, "commands")["rejected"]) > 0, "the refusal in the diagnostics", child
    )
    wanted = "hinge command: 1 numbers as position for 2 joints; as many or none."
    assert diagnostics.values(message, "commands")["last fault"] == wanted
    assert not log


def test_the_shipped_files_fit_the_scenario_and_each_other(shipped):
    robot = rbt.load("wheel").robot
    assert tuple(joint.get("name") for joint in shipped.iter("joint")) == robot.joint_names
    config = YAML(typ="safe").load(share("config", "ros2_control", "wheel.yaml").read_text(encoding="utf-8"))
    ours = "/rbt_simulator"
    assert [name for name in config if not config[name]["ros__parameters"].get("use_sim_time")] == [ours]
    assert f"/control/{shipped.get('name')}" in config  # the plugin, which stamps the commands, is a node of its own
    controllers = config["/control/controller_manager"]["ros__parameters"]
    for name in [key for key, value in controllers.items() if isinstance(value, dict)]:
        assert config[f"/control/{name}"]["ros__parameters"]["joints"] == list(robot.joint_names)
    node = config[ours]["ros__parameters"]
    assert node[f"hinges.{JOINT}.mode"] == "position"
    assert node["lockstep.every"] * rbt.load("wheel").h_ns * controllers["update_rate"] == 10**9
    assert (node["lockstep.wait_for"], node["lockstep.stamps"]) == ("hinge_commands", "period")
    assert np.sqrt(node[f"hinges.{JOINT}.kp"] * REDUCED) * 2 == pytest.approx(node[f"hinges.{JOINT}.kd"], rel=0.01)


def test_the_robot_of_the_tag_is_that_of_the_scenario_and_state_publishers_take_it():
    """YAML has to read the file as one string; KDL takes no mass at the root of a tree, and knows these joints only."""
    text = FILE.read_text(encoding="utf-8")
    assert ET.canonicalize(YAML(typ="safe").load(text), strip_text=True) == ET.canonicalize(text, strip_text=True)
    urdf, robot, wanted = ET.parse(FILE).getroot(), rbt.load_urdf(FILE), rbt.load("wheel").robot
    children = {child.get("link") for child in urdf.iter("child")}
    (root,) = [link for link in urdf.iter("link") if link.get("name") not in children]
    assert root.find("inertial") is None
    assert {joint.get("type") for joint in urdf.findall("joint")} <= {"fixed", "revolute", "continuous", "prismatic"}
    assert [hinge.kind for hinge in robot.hinges] == [hinge.kind for hinge in wanted.hinges]
    for body, same in zip(robot.bodies, wanted.bodies, strict=True):
        assert (body.name, body.mass, body.shapes[0].size) == (same.name, same.mass, same.shapes[0].size)
        np.testing.assert_array_equal(body.inertia, same.inertia)
