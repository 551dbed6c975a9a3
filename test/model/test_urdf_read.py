"""Reading what others wrote: a robot checked by hand, each rule, and each wrong document refused with file and line."""

import builtins
import math

import numpy as np
import pytest

from rbt_ros.core import types as t
from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError, SetupError
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.model.urdf_read import load_urdf, robot_from_urdf
from rbt_ros.plug.shapes import Shape
from rbt_ros.sim import Simulation

EPS = np.finfo(float).eps
HALF = math.sqrt(0.5)

ARM = """\
<?xml version="1.0"?>
<robot name="arm">
  <material name="red"><color rgba="1 0 0 1"/></material>
  <link name="world"/>
  <link name="upper">
    <inertial>
      <origin xyz="0.5 0 0" rpy="0 0 1.5707963267948966"/>
      <mass value="2"/>
      <inertia ixx="0.1" ixy="0.02" ixz="0.01" iyy="0.4" iyz="0.03" izz="0.45"/>
    </inertial>
    <visual>
      <origin xyz="0.5 0 0" rpy="0 1.5707963267948966 0"/>
      <geometry><cylinder radius="0.05" length="1"/></geometry>
      <material name="red"/>
    </visual>
    <collision><geometry><cylinder radius="0.05" length="1"/></geometry></collision>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="world"/>
    <child link="upper"/>
    <origin xyz="0 0 1" rpy="0 0 1.5707963267948966"/>
    <axis xyz="0 2 0"/>
    <limit lower="-1" upper="2" effort="10" velocity="3"/>
    <dynamics damping="0.1" friction="0.05"/>
  </joint>
  <link name="fore">
    <inertial>
      <origin xyz="0.3 0 0"/>
      <mass value="1"/>
      <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.05" iyz="0" izz="0.05"/>
    </inertial>
  </link>
  <joint name="elbow" type="continuous">
    <origin xyz="1 0 0" rpy="1.5707963267948966 0 0"/>
    <parent link="upper"/>
    <child link="fore"/>
  </joint>
  <link name="tool">
    <visual>
      <origin xyz="0.1 0 0"/>
      <geometry><mesh filename="package://arm/tool.stl" scale="1e-3 1e-3 1e-3"/></geometry>
    </visual>
  </link>
  <joint name="mount" type="fixed">
    <origin xyz="0.6 0 0" rpy="0 0 1.5707963267948966"/>
    <parent link="fore"/>
    <child link="tool"/>
    <axis xyz="0 0 0"/>
  </joint>
  <link name="tip">
    <inertial>
      <mass value="0.2"/>
      <inertia ixx="0.001" ixy="0" ixz="0" iyy="0.001" iyz="0" izz="0.001"/>
    </inertial>
  </link>
  <joint name="slide" type="prismatic">
    <origin xyz="0.01 0 0.05"/>
    <parent link="tool"/>
    <child link="tip"/>
    <axis xyz="0 0 1"/>
    <limit lower="0" upper="0.3" effort="1" velocity="1"/>
  </joint>
  <transmission name="t"><joint name="elbow"/></transmission>
  <gazebo reference="tip"><material>Gazebo/Red</material></gazebo>
</robot>
"""
# the same arm with every number as it must come out, tool merged into fore
ARM_YAML = f"""\
rbt: 1
robot:
  name: arm
  bodies:
    upper: {{mass: 2, com: [0.5, 0, 0], inertia: [[0.4, -0.02, -0.03], [-0.02, 0.1, 0.01], [-0.03, 0.01, 0.45]]}}
    fore: {{mass: 1, com: [0.3, 0, 0], inertia: [0.01, 0.05, 0.05]}}
    tip: {{mass: 0.2, inertia: [0.001, 0.001, 0.001]}}
  hinges:
    shoulder:
      {{kind: revolute, parent: world, child: upper, at: [0, 0, 1], rotation: [{HALF}, 0, 0, {HALF}],
       axis: [0, 1, 0], damping: 0.1, friction: 0.05}}
    elbow:
      {{kind: revolute, parent: upper, child: fore, at: [1, 0, 0], rotation: [{HALF}, {HALF}, 0, 0], axis: [1, 0, 0]}}
    slide: {{kind: prismatic, parent: fore, child: tip, at: [0.6, 0.01, 0.05], rotation: [{HALF}, 0, 0, {HALF}]}}
gravity: [0, 0, -9.81]
"""


def test_the_arm_by_hand():
    """The inertial frame is turned by 90 deg about z: x_I = y_B, y_I = -x_B, so ixx -> iyy, ixy -> -ixy, ixz -> iyz."""
    robot = robot_from_urdf(ARM)
    assert [b.name for b in robot.bodies] == ["upper", "fore", "tip"]
    upper = robot.bodies[0]
    assert (upper.mass, upper.com) == (2.0, (0.5, 0, 0))
    expected = np.array([[0.4, -0.02, -0.03], [-0.02, 0.1, 0.01], [-0.03, 0.01, 0.45]])
    assert np.abs(upper.inertia - expected).max() < 4 * EPS
    shoulder, elbow, slide = robot.hinges
    assert shoulder.axis == (0, 1, 0) and elbow.axis == (1, 0, 0)  # normalised; URDF's default is x
    assert shoulder.quaternion == pytest.approx((HALF, 0, 0, HALF), abs=EPS)
    freedom = robot.model.freedom
    assert freedom[0, [t.DAMPING, t.COULOMB, t.LOWER, t.UPPER]].tolist() == [0.1, 0.05, -1, 2]
    assert freedom[1, [t.LOWER, t.UPPER]].tolist() == [-math.inf, math.inf]
    assert freedom[2, [t.LOWER, t.UPPER]].tolist() == [0, 0.3]
    # tool has no mass and became a part of fore
    assert slide.parent == "fore" and slide.at == pytest.approx((0.6, 0.01, 0.05), abs=EPS)
    assert slide.quaternion == pytest.approx((HALF, 0, 0, HALF), abs=EPS)


def test_the_arm_looks_like_it():
    upper, fore, _ = robot_from_urdf(ARM).bodies
    assert upper.shapes[0].rgba == (1, 0, 0, 1) and upper.shapes[0].size == (0.05, 1)
    mesh = fore.shapes[0]
    assert isinstance(mesh, Shape) and mesh.file == "package://arm/tool.stl" and mesh.size == (1e-3, 1e-3, 1e-3)
    assert mesh.at == pytest.approx((0.6, 0.1, 0), abs=EPS)


def test_the_arm_stands_where_it_must():
    """Shoulder at 90 deg: x_upper points down, so the elbow is at the world's origin; elbow 0: z_fore = -y_upper."""
    sim = Simulation(robot_from_urdf(ARM))
    sim.set_hinge("shoulder", math.pi / 2)
    sim.set_hinge("slide", 0.1)
    pose = sim.sample().pose
    assert pose[1, 4:] == pytest.approx((0, 0, 0), abs=4 * EPS)
    # y_upper = y_J = -x_W, so z_fore = R (0, 0, 1) = -y_upper = x_W, y_fore = z_upper = x_J = y_W
    assert pose[2, 4:] == pytest.approx((0.05 + 0.1, 0.01, -0.6), abs=4 * EPS)


def test_the_arm_moves_as_the_same_arm_in_yaml():
    """Round-off apart: the turned inertia differs in the last bits, and 300 steps let that grow little."""
    a = Simulation(robot_from_urdf(ARM), gravity=(0, 0, -9.81))
    b = Simulation.of(scenario_from_text(ARM_YAML))
    for sim in (a, b):
        sim.set_hinge("elbow", 0.3, rate=-1)
        sim.advance(300)
    assert a.state.q == pytest.approx(b.state.q, abs=20 * EPS)  # measured: 2 eps
    assert np.abs(a.state.q).max() > 0.1


BASE = ARM.replace('<link name="world"/>', "").replace(
    ARM[ARM.index('  <joint name="shoulder"') : ARM.index('  <link name="fore"')], ""
)


def test_a_root_link_floats_or_is_fixed():
    floating = robot_from_urdf(BASE)
    assert floating.hinges[0].kind == JointKind.FREE and floating.hinges[0].name == "upper"
    fixed = robot_from_urdf(BASE, base="fixed")
    assert fixed.hinges[0].kind == JointKind.FIXED and fixed.freedoms == floating.freedoms - 6
    with pytest.raises(ModelError, match="base 'sunk' is not one of floating, fixed"):
        robot_from_urdf(BASE, base="sunk")


FOOTPRINT = """\
<robot name="car">
  <link name="footprint"/>
  <link name="hull"><inertial><mass value="5"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="mast"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="up" type="fixed"><parent link="footprint"/><child link="hull"/>
    <origin xyz="0 0 0.5" rpy="0 0 1.5707963267948966"/></joint>
  <joint name="turn" type="continuous"><parent link="footprint"/><child link="mast"/>
    <origin xyz="1 0 0"/><axis xyz="0 0 1"/></joint>
</robot>
"""


def test_a_floating_root_without_mass_becomes_a_part_of_the_link_fixed_to_it():
    """hull is 0.5 m above footprint and turned left: mast, 1 m ahead of footprint, is right of hull, 0.5 m lower."""
    robot = robot_from_urdf(FOOTPRINT)
    assert [(b.name, h.kind.name) for b, h in zip(robot.bodies, robot.hinges, strict=True)] == [
        ("hull", "FREE"),
        ("mast", "REVOLUTE"),
    ]
    assert robot.hinges[1].parent == "hull" and robot.hinges[1].at == pytest.approx((0, -1, -0.5), abs=2 * EPS)
    assert robot.hinges[1].quaternion == pytest.approx((HALF, 0, 0, -HALF), abs=EPS)


def test_a_fixed_root_without_mass_is_the_world():
    robot = robot_from_urdf(FOOTPRINT, base="fixed")
    assert [(h.name, h.kind.name, h.parent) for h in robot.hinges] == [
        ("up", "FIXED", "world"),
        ("turn", "REVOLUTE", "world"),
    ]


def test_planar_is_a_planar_hinge():
    text = FOOTPRINT.replace('type="continuous"', 'type="planar"').replace('type="fixed"', 'type="revolute"')
    text = text.replace('<link name="footprint"/>', '<link name="world"/>').replace("footprint", "world")
    text = text.replace('rpy="0 0 1.5707963267948966"/>', '/><limit lower="0" upper="1e9"/>')
    robot = robot_from_urdf(text)
    assert robot.joint_names == ("up", "turn_x", "turn_y", "turn_turn")
    assert robot.model.freedom[0, [t.LOWER, t.UPPER]].tolist() == [0, math.inf]


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ('<axis xyz="0 0 1"/>\n', '<axis xyz="0 0 1"/><mimic joint="elbow" multiplier="0" offset="0.1"/>\n', "slide"),
        ('<child link="fore"/>', '<child link="fore"/><mimic joint="slide" multiplier="0" offset="0.2"/>', "elbow"),
    ],
)
def test_what_mimics_nothing_is_fixed_at_its_offset(old, new, place):
    assert old in ARM
    held = Simulation(robot_from_urdf(ARM.replace(old, new)))
    moved = Simulation(robot_from_urdf(ARM))
    assert held.robot.hinges[held.robot.hinge_index(place)].kind == JointKind.FIXED
    moved.set_hinge(place, 0.1 if place == "slide" else 0.2)
    assert held.sample().pose == pytest.approx(moved.sample().pose, abs=4 * EPS)


def test_degrees_are_suspected():
    with pytest.warns(UserWarning, match=r"x.urdf:23: <limit> of joint 'shoulder': -180 to 180 rad: .* in degrees"):
        robot_from_urdf(ARM.replace('lower="-1" upper="2"', 'lower="-180" upper="180"'), "x.urdf")


def test_attitudes_of_urdf_1_2():
    robot = robot_from_urdf(ARM.replace('rpy="1.5707963267948966 0 0"', f'quat_xyzw="{HALF} 0 0 {HALF}"'))
    assert robot.hinges[1].quaternion == pytest.approx((HALF, HALF, 0, 0), abs=EPS)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</robot>", "", r"arm.urdf:\d+: not well-formed XML: no element found"),
        ("<robot", "<!DOCTYPE a [<!ENTITY b 'c'>]><robot", r"arm.urdf:2: the entity 'b' is declared here"),
        ('<robot name="arm">', '<robot name="arm" name="b">', r"arm.urdf:2: not well-formed XML: duplicate attribute"),
        ('<robot name="arm">', "<robot>", r"arm.urdf:2: <robot>: the attribute name is missing"),
        ('<robot name="arm">', '<robot name="my-arm">', r"arm.urdf:2: robot 'my-arm': ROS cannot carry the names of"),
        (
            '"tip"',
            '"tip.1"',
            r"arm.urdf:50: link 'tip.1': ROS cannot carry the names of link 'tip.1' \(line 50\): use a",
        ),
        ('name="elbow" t', 'name="el bow" t', r"arm.urdf:33: joint 'el bow': ROS cannot .*digits or _ \(64 at most\)"),
        (
            '<link name="fore">',
            '<link name="upper">',
            r"arm.urdf:26: link 'upper': line 5 has a link of this name already",
        ),
        ('name="mount"', 'name="elbow"', r"arm.urdf:44: joint 'elbow': line 33 has a joint of this name already"),
        ('<material name="red">', "<xacro:if/><material>", r"arm.urdf:3: <xacro:if>: this is xacro; name the file"),
        (
            '<parent link="upper"/>',
            '<parent link="uper"/>',
            r"arm.urdf:33: joint 'elbow': its parent 'uper' is not a link",
        ),
        (
            '<child link="fore"/>',
            '<child link="for"/>',
            r"joint 'elbow': its child 'for' is not a link; there are world, u",
        ),
        ('<child link="fore"/>', "", r"arm.urdf:33: joint 'elbow': <child> is missing"),
        ('<child link="fore"/>', "<child/>", r"arm.urdf:36: <child> of joint 'elbow': the attribute link is missing"),
        (
            '<child link="tip"/>',
            '<child link="fore"/>',
            r"joint 'slide': link 'fore' hangs on joint 'elbow' already \(line",
        ),
        (
            '<link name="world"/>',
            '<link name="world"/>\n<link name="moon"/>',
            r"arm.urdf:5: link 'moon': the links 'world'"
            ", 'moon' hang on nothing, and a URDF robot is one tree; join them",
        ),
        (
            '<parent link="upper"/>',
            '<parent link="tip"/>',
            r"joint 'elbow': the joints close a cycle \('fore' on 'tip', "
            "'tip' on 'tool', 'tool' on 'fore'",
        ),
        (
            '<link name="world"/>',
            '<link name="world"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
            'ixz="0" iyz="0"/></inertial></link>',
            r"arm.urdf:4: link 'world': it has an <inertial>, but 'world' is the",
        ),
        (
            '<mass value="2"/>',
            "",
            r"arm.urdf:6: <inertial> of link 'upper': <mass> is missing; give it, or leave <inert",
        ),
        (
            '<mass value="2"/>',
            "<mass/>",
            r"arm.urdf:8: <mass> of <inertial> of link 'upper': the attribute value is missing",
        ),
        (
            '<mass value="2"/>',
            '<mass value="-2"/>',
            r"arm.urdf:5: link 'upper': body 'upper': mass -2 kg is negative",
        ),
        (
            '<mass value="2"/>',
            '<mass value="2"/>\n<mass value="2"/>',
            r"arm.urdf:9: .*there is one <mass> already, in line 8",
        ),
        (
            '<mass value="2"/>',
            '<mass value="nan"/>',
            r"arm.urdf:8: <mass> of <inertial> of link 'upper': value: nan is not f",
        ),
        ('<mass value="2"/>', '<mass value="2 kg"/>', r"arm.urdf:8: .*value: 'kg' is not a number"),
        ('<mass value="2"/>', '<mass value="1_0"/>', r"arm.urdf:8: .*value: '1_0' is not a number"),
        (' ixy="0.02"', "", r"arm.urdf:9: <inertia> of <inertial> of link 'upper': the attribute ixy is missing"),
        ('izz="0.45"', 'izz="4.5"', r"arm.urdf:5: link 'upper': body 'upper': inertia: .* break Ix \+ Iy >= Iz"),
        ('xyz="0.5 0 0" rpy="0 0 1', 'xyz="0.5 0" rpy="0 0 1', r'arm.urdf:7: .*xyz="0.5 0" must be 3 numbers, not 2'),
        ('xyz="1 0 0"', 'xyz="1 0 inf"', r"arm.urdf:34: <origin> of joint 'elbow': xyz: inf is not finite"),
        (
            'rpy="1.5707963267948966 0 0"',
            'rpy="0 0 0" quat_xyzw="0 0 0 1"',
            r"arm.urdf:34: .*rpy and quat_xyzw both give",
        ),
        ('rpy="1.5707963267948966 0 0"', 'quat_xyzw="0 0 0 0"', r"arm.urdf:34: .*is zero and has no direction"),
        (
            'xyz="0 2 0"',
            'xyz="0 0 0"',
            r"arm.urdf:22: <axis> of joint 'shoulder': xyz has length zero and gives no dir",
        ),
        (
            'type="continuous"',
            'type="hinge"',
            r"arm.urdf:33: joint 'elbow': 'hinge' is not a type of joint; use one of f",
        ),
        (' type="continuous"', "", r"arm.urdf:33: joint 'elbow': the attribute type is missing"),
        (
            'type="continuous"',
            'type="revolute"',
            r"arm.urdf:33: joint 'elbow': a revolute joint needs <limit lower= upper=",
        ),
        (
            'type="continuous"',
            'type="floating"',
            r"link 'fore' floats against 'upper'; only against 'world' can it. A ball",
        ),
        (
            'name="shoulder" type="revolute"',
            'name="shoulder" type="floating"',
            r"a floating joint has no <origin>; place li",
        ),
        (
            'lower="-1" upper="2"',
            'lower="2" upper="-1"',
            r"arm.urdf:23: <limit> of joint 'shoulder': lower 2 is not below u",
        ),
        (
            'lower="-1" upper="2" ',
            "",
            r"lower 0 is not below upper 0. A joint that cannot move has the type fixed, one wi",
        ),
        ('effort="10"', 'effort="-10"', r"arm.urdf:23: <limit> of joint 'shoulder': effort '-10' is not a number >= 0"),
        ('velocity="3"', 'velocity="fast"', r"velocity 'fast' is not a number >= 0"),
        (
            'damping="0.1"',
            'damping="-0.1"',
            r"arm.urdf:18: joint 'shoulder': hinge 'shoulder': damping -0.1 is negative and",
        ),
        (
            '<child link="fore"/>',
            '<child link="fore"/><mimic joint="nobody"/>',
            r"mimic of joint 'elbow': robot 'arm' has no joint 'nobody' of one axis; it has shoulder, elbow, slide",
        ),
        (
            '<child link="fore"/>',
            '<child link="fore"/><mimic joint="elbow"/>',
            r"arm.urdf:33: joint 'elbow': mimic of joint 'elbow': it mimics itself; name another joint as leader",
        ),
        (
            '<joint name="elbow" type="continuous">',
            '<joint name="elbow" type="planar"><mimic joint="slide"/>',
            r"<mimic> of joint 'elbow': joint 'elbow' is planar; only a joint of a single axis can mimic one",
        ),
        (
            'radius="0.05" length="1"/></geometry>\n      <m',
            'radius="0" length="1"/></geometry>\n      <m',
            r"arm.urdf:11: <visual> of link 'upper': shape of body 'upper': the size of a cylinder is \(radius, ",
        ),
        (
            '<mesh filename="package://arm/tool.stl"',
            "<cone",
            r"arm.urdf:39: .*its geometry is <cone>; give one <box>, <cy",
        ),
        ('scale="1e-3 1e-3 1e-3"', 'scale="0 1 1"', r"the size of a mesh is \(x, y, z\), .* none of them zero; not"),
        ('rgba="1 0 0 1"', 'rgba="1 0 0"', r"arm.urdf:3: <color> of material 'red': rgba=\"1 0 0\" must be 4 numbers"),
    ],
)
def test_wrong_documents_say_where_and_why(old, new, message):
    assert old in ARM
    with pytest.raises(ModelError, match=message):
        robot_from_urdf(ARM.replace(old, new), "arm.urdf")


CHAIN = """\
<robot name="chain">
  <link name="world"/>
  <link name="h_1"/>
  <link name="wheel"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="h_1" type="continuous"><parent link="world"/><child link="h_1"/><axis xyz="0 0 1"/>
    <rbt kind="universal" hinge="h"/></joint>
  <joint name="h_2" type="continuous"><parent link="h_1"/><child link="wheel"/><axis xyz="0 1 0"/>
    <rbt kind="universal" hinge="h"/></joint>
</robot>
"""


def test_a_chain_becomes_one_hinge():
    (hinge,) = robot_from_urdf(CHAIN).hinges
    assert (hinge.name, hinge.kind, hinge.axis, hinge.axis2) == ("h", JointKind.UNIVERSAL, (0, 0, 1), (0, 1, 0))


def test_the_links_between_need_no_mass():
    """Read as two hinges with a massless link between, the chain moves as the universal hinge does."""
    one = Simulation(robot_from_urdf(CHAIN.replace('ixx="1"', 'ixx="1.5"')))
    one.set_hinge("h", (0.1, 0.2), rate=(1, 2))
    two = Simulation(robot_from_urdf(CHAIN.replace('ixx="1"', 'ixx="1.5"').replace("<rbt", "<other")))
    assert [h.name for h in two.robot.hinges] == ["h_1", "h_2"] and two.robot.bodies[0].mass == 0
    two.set_hinge("h_1", 0.1, rate=1)
    two.set_hinge("h_2", 0.2, rate=2)
    for sim in (one, two):
        sim.advance(1000)
    assert one.state.v == pytest.approx(two.state.v, abs=100 * EPS)  # measured: 0
    assert abs(one.state.v[0] - 1) > 0.1


def test_a_link_without_mass_that_nothing_holds_is_refused():
    text = CHAIN.replace("<rbt", "<other").replace('<mass value="1"/>', '<mass value="0"/>').replace('="1"', '="0"')
    with pytest.raises(ModelError, match="x:3: link 'h_1': body 'h_1' .* moves no mass .* so no force determines it"):
        robot_from_urdf(text, "x")


def test_a_frame_that_says_it_has_no_mass_is_kept():
    bare = '<inertial><mass value="0"/><inertia ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"/></inertial>'
    robot = robot_from_urdf(ARM.replace('<link name="tool">', f'<link name="tool">{bare}'))
    assert [b.name for b in robot.bodies] == ["upper", "fore", "tool", "tip"]
    assert robot.hinges[2].kind == JointKind.FIXED and robot.bodies[2].shapes[0].at == (0.1, 0, 0)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'name="h_2"',
            'name="h_3"',
            r"x:8: joint 'h_3': hinge 'h' is universal: joints h_1 \(revolute\), h_2 \(revolute\), "
            r"not h_3 \(revolute\), h_1 \(revolute\). To read them as hinges of their own, remove kind and hinge",
        ),
        (
            "universal",
            "cylindrical",
            r"hinge 'h' is cylindrical: joints h_turn \(revolute\), h_slide \(prismatic\), not",
        ),
        (
            '<child link="wheel"/>',
            '<child link="wheel"/><origin xyz="1 0 0"/>',
            r"x:8: joint 'h_2': hinge 'h' is universa"
            "l: joint 'h_2' must hang alone, without <origin>, on the bare link that joint 'h_1' moves",
        ),
        ('<axis xyz="0 1 0"/>', '<axis xyz="0 1 0"/><dynamics damping="1"/>', "joints 'h_1' and 'h_2' differ in them"),
        ('"0 1 0"', '"0 0 2"', "axis2 .* is parallel to the axis; a universal hinge needs two directions"),
        ('hinge="h"', "", r"x:7: <rbt> of joint 'h_1': the attribute hinge is missing"),
        (
            'kind="universal"',
            'kind="spherical"',
            "kind 'spherical' does not go with a continuous joint: spherical goes w",
        ),
        (
            'kind="universal"',
            'kin="universal"',
            "unknown attribute 'kin'; the attributes here are kind, hinge, quaternion",
        ),
    ],
)
def test_broken_chains_say_where_and_why(old, new, message):
    assert old in CHAIN
    with pytest.raises(ModelError, match=message):
        robot_from_urdf(CHAIN.replace(old, new), "x")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "x:1: not well-formed XML: no element found"),
        ("<sdf/>", "x:1: <sdf>: a URDF document is one <robot>"),
        ('<robot name="a"/>', "x:1: robot 'a': there is no link in it"),
        (
            '<robot name="a"><link name="a"/><joint name="b" type="fixed"><parent link="a"/><child link="a"/>'
            "</joint></robot>",
            r"the joints close a cycle \('a' on 'a'\)",
        ),
        ('<robot name="a"><link name="world"/></robot>', "x:1: robot 'a': robot 'a' has no body"),
        (b"\xff\xfe\x00", "x:1: not well-formed XML"),
    ],
)
def test_documents_of_another_kind(text, message):
    with pytest.raises(ModelError, match=message):
        robot_from_urdf(text, "x")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ModelError, match="there is no file nowhere.urdf; give the path of a URDF file"):
        load_urdf("nowhere.urdf")
    with pytest.raises(ModelError, match="is no file but a folder; give the path of a URDF file"):
        load_urdf(tmp_path)


XACRO = """\
<robot name="two" xmlns:xacro="http://www.ros.org/wiki/xacro">
  <xacro:macro name="ball" params="name mass">
    <link name="${name}"><inertial><mass value="${mass}"/>
      <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  </xacro:macro>
  <xacro:ball name="a" mass="${2 * 3}"/>
</robot>
"""


def test_xacro_is_expanded(tmp_path):
    pytest.importorskip("xacro", reason="this system lacks xacro: pip install 'rbt_ros[xacro]'")
    file = tmp_path / "two.urdf.xacro"
    file.write_text(XACRO, encoding="utf-8")
    assert load_urdf(file).mass == 6
    file.write_text(XACRO.replace("2 * 3", "-1"), encoding="utf-8")
    with pytest.raises(
        ModelError, match=r"two.urdf.xacro \(expanded\):\d+: link 'a': body 'a': mass -1 kg is negative"
    ):
        load_urdf(file)
    file.write_text(XACRO.replace("2 * 3", "two"), encoding="utf-8")
    with pytest.raises(
        ModelError, match="two.urdf.xacro: xacro cannot expand it: name 'two' is not defined when evaluating expression"
    ):
        load_urdf(file)


def test_xacro_that_is_not_installed(tmp_path, monkeypatch):
    file = tmp_path / "two.urdf.xacro"
    file.write_text(XACRO, encoding="utf-8")
    real = builtins.__import__

    def without(name, *rest):
        if name == "xacro":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SetupError, match=r"pip install 'rbt_ros\[xacro\]'.* xacro two.urdf.xacro > two.urdf"):
        load_urdf(file)


def test_an_encoding_that_does_not_exist_is_refused(tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text('<?xml version="1.0" encoding="klingon"?><robot name="arm"/>', encoding="utf-8")
    with pytest.raises(ModelError, match="arm.urdf: unknown encoding: klingon; save the file as UTF-8"):
        load_urdf(file)
