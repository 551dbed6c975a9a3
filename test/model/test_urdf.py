"""Robot -> URDF -> Robot: nothing is lost, whatever the kinds of hinges."""

from xml.etree import ElementTree as ET

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from robots import KINDS, random_robot

import rbt_ros as rbt
from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.scenario import read_scenario, scenario_from_text
from rbt_ros.model.urdf import urdf_text
from rbt_ros.model.urdf_read import load_urdf, robot_from_urdf
from rbt_ros.paths import share
from rbt_ros.sim import Simulation

EPS = np.finfo(float).eps


def same_bits(a, b):
    """Whether two models have the same arrays, to the last bit."""
    return all(
        x.dtype == y.dtype and x.shape == y.shape and x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True)
    )


def test_the_cubesat_as_urdf():
    robot = read_scenario("cubesat").robot
    root = ET.fromstring(urdf_text(robot))
    assert [link.get("name") for link in root.iter("link")] == ["world", "cubesat"]
    joint = root.find("joint")
    assert joint.get("type") == "floating"
    assert joint.find("parent").get("link") == "world" and joint.find("child").get("link") == "cubesat"
    inertia = root.find("link[@name='cubesat']/inertial/inertia")
    assert float(inertia.get("ixx")) == 0.0361172235 and float(inertia.get("ixy")) == 0
    assert float(root.find(".//mass").get("value")) == 3.264
    assert [box.get("size") for box in root.iter("box")][1] == "0.0016 0.0825 0.329"


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 12))
def test_random_robots_come_back_bit_for_bit(seed, n):
    """Model, names, frames, axes; of the looks everything, their attitude included."""
    robot = random_robot(np.random.default_rng(seed), n)
    text = urdf_text(robot)
    again = robot_from_urdf(text)
    assert same_bits(robot.model, again.model)
    assert urdf_text(again) == text
    for a, b in zip(robot.hinges, again.hinges, strict=True):
        assert vars(a) == vars(b)
    for a, b in zip(robot.bodies, again.bodies, strict=True):
        assert (a.name, a.mass, a.com, a.shapes) == (b.name, b.mass, b.com, b.shapes)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_alone_comes_back(kind):
    rng = np.random.default_rng(7)
    robot = random_robot(rng, 3, (kind,))
    again = robot_from_urdf(urdf_text(robot))
    assert {h.kind.name.lower() for h in again.hinges} == {kind}
    assert same_bits(robot.model, again.model) and robot.joint_names == again.joint_names


SCENARIOS = sorted(file.stem for file in share("config").glob("*.yaml"))


def written_tensors(text):
    """Mass moments as RViz gets them: (ixx, iyy, izz), largest product of inertia, for every link that has mass."""
    for element in ET.fromstring(text).iter("inertia"):
        moments = [float(element.get(key)) for key in ("ixx", "iyy", "izz")]
        yield moments, max(abs(float(element.get(key))) for key in ("ixy", "ixz", "iyz"))


def obey_in_doubles(moments) -> bool:
    """Each moment against the sum of the others, summed in double precision: RViz takes roots of the differences."""
    return all(moments[i - 2] + moments[i - 1] - moments[i] >= 0.0 for i in range(3))


@pytest.mark.parametrize("name", SCENARIOS)
def test_written_inertias_obey_the_triangle_inequality_in_doubles(name):
    text = urdf_text(read_scenario(name).robot)
    assert all(obey_in_doubles(moments) for moments, _ in written_tensors(text))
    assert same_bits(robot_from_urdf(text).model, read_scenario(name).robot.model)


@pytest.mark.parametrize("turned", [False, True])
def test_flat_bodies_too_and_they_come_back_bit_for_bit(turned):
    """Plates and rods: Ix + Iy = Iz but for round-off, to either side. About turned axes readers would have to compute
    principal moments, for which RViz's formula is good to 1.5e-8: they are written about their own."""
    rng, flat = np.random.default_rng(5), 0
    for _ in range(300):
        a, b = 10.0 ** rng.uniform(-6, 3, 2)
        inertia = np.diag(rng.permutation([a, b, (a + b) * (1 + rng.integers(-3, 4) * EPS)]))
        if turned:
            Q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
            inertia = Q @ inertia @ Q.T
            inertia = (inertia + inertia.T) / 2
        robot = RobotBuilder("plate").body("plate", mass=1, inertia=inertia).build()
        text = urdf_text(robot)
        ((moments, product),) = written_tensors(text)
        assert product == 0.0 and obey_in_doubles(moments)
        again = robot_from_urdf(text)
        assert same_bits(again.model, robot.model) and urdf_text(again) == text
        exact = robot.bodies[0].inertia
        untouched = not turned and obey_in_doubles(np.diag(exact).tolist())
        assert ("<rbt inertia" in text) != untouched
        flat += not untouched
    assert flat > 50


def test_an_inertia_that_was_edited_by_hand_counts():
    robot = read_scenario("five_body").robot
    text = urdf_text(robot)
    assert text.count("<rbt inertia") == 1 and robot_from_urdf(text).bodies[2].inertia.tolist()[1][1] == 5 / 12
    edited = text.replace('iyy="0.41666666666666663"', 'iyy="0.4"')
    assert edited != text and robot_from_urdf(edited).bodies[2].inertia.tolist()[1][1] == 0.4


def test_what_other_tools_see():
    """Types and names: single axes with massless links between; a hinge that moves by no JointState floats."""
    b = RobotBuilder("zoo")
    for kind in KINDS:
        winds = {"pitch": 0.1} if kind == "screw" else {}
        b.body(f"{kind}_body", mass=1, inertia=(1, 1, 1))
        b.hinge(kind, kind, parent="world", child=f"{kind}_body", **winds)
    b.body("stopped", mass=1, inertia=(1, 1, 1))
    b.hinge("stop", "revolute", parent="world", child="stopped", limits=(-1, 2))
    root = ET.fromstring(urdf_text(b.build()))
    ends = [
        (j.get("name"), j.get("type"), j.find("parent").get("link"), j.find("child").get("link"))
        for j in root.iter("joint")
    ]
    assert ends == [
        ("fixed", "fixed", "world", "fixed_body"),
        ("revolute", "continuous", "world", "revolute_body"),
        ("prismatic", "prismatic", "world", "prismatic_body"),
        ("cylindrical_turn", "continuous", "world", "cylindrical_turn"),
        ("cylindrical_slide", "prismatic", "cylindrical_turn", "cylindrical_body"),
        ("universal_1", "continuous", "world", "universal_1"),
        ("universal_2", "continuous", "universal_1", "universal_body"),
        ("spherical", "floating", "world", "spherical_body"),
        ("planar_x", "prismatic", "world", "planar_x"),
        ("planar_y", "prismatic", "planar_x", "planar_y"),
        ("planar_turn", "continuous", "planar_y", "planar_body"),
        ("free", "floating", "world", "free_body"),
        ("screw_slide", "prismatic", "world", "screw_slide"),
        ("screw", "continuous", "screw_slide", "screw_body"),
        ("stop", "revolute", "world", "stopped"),
    ]
    bare = [link.get("name") for link in root.iter("link") if link.find("inertial") is None]
    assert bare == ["world", "cylindrical_turn", "universal_1", "planar_x", "planar_y", "screw_slide"]
    limit = root.find("joint[@name='stop']/limit")
    assert (float(limit.get("lower")), float(limit.get("upper"))) == (-1, 2)
    assert float(root.find("joint[@name='prismatic']/limit").get("upper")) == 1e9


def test_an_attitude_that_was_edited_by_hand_counts():
    """The extension's quaternion is taken where it agrees with rpy; who edits rpy is obeyed."""
    b = RobotBuilder("arm").body("rod", mass=1, inertia=(1, 1, 1))
    robot = b.hinge("pin", "revolute", parent="world", child="rod", rotation=(0.1, 0.5, -0.5, 0.7)).build()
    text = urdf_text(robot)
    assert "<rbt quaternion=" in text
    assert robot_from_urdf(text).hinges[0].quaternion == robot.hinges[0].quaternion
    rpy = text.split('rpy="')[1].split('"')[0]
    assert robot_from_urdf(text.replace(rpy, "0 0 0")).hinges[0].quaternion == (1, 0, 0, 0)


@pytest.mark.parametrize("name", ["five_body", "cubesat"])
def test_shipped_urdf_files_are_what_the_writer_makes(name):
    """Else: rbt convert NAME urdf/NAME.urdf."""
    assert share("urdf", f"{name}.urdf").read_text(encoding="utf-8") == urdf_text(read_scenario(name).robot)


def test_the_same_motion_from_yaml_and_urdf():
    scenario = read_scenario("five_body")
    head, tail = scenario.text.split("robot:\n")[0], scenario.text[scenario.text.index("gravity:") :]
    from_urdf = scenario_from_text(f"{head}robot: {{urdf: five_body.urdf}}\n{tail}")
    digests = []
    for s in (scenario, from_urdf):
        sim = Simulation.of(s)
        sim.advance(200)
        digests.append(sim.digest())
    assert digests[0] == digests[1]


def test_where_a_scenario_looks_for_its_urdf(tmp_path):
    """Beside itself, then in the package, then as given."""
    own = RobotBuilder("own").body("hub", mass=2, inertia=(1, 1, 1)).build()
    (tmp_path / "cubesat.urdf").write_text(urdf_text(own), encoding="utf-8")
    scenario = tmp_path / "sat.yaml"
    scenario.write_text("rbt: 1\nrobot: {urdf: cubesat.urdf}\n", encoding="utf-8")
    assert read_scenario(str(scenario)).robot.name == "own"
    (tmp_path / "cubesat.urdf").unlink()
    assert read_scenario(str(scenario)).robot.name == "cubesat"
    scenario.write_text("rbt: 1\nrobot: {urdf: sputnik.urdf}\n", encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"sat.yaml:2: robot.urdf: there is no file .*sputnik.urdf; give the path"):
        read_scenario(str(scenario))


def test_errors_of_a_urdf_in_a_scenario_have_both_places(tmp_path):
    (tmp_path / "bad.urdf").write_text('<robot name="a">\n<link>\n</robot>', encoding="utf-8")
    with pytest.raises(ScenarioError, match=r"s.yaml:2: robot.urdf: .*bad.urdf:3: not well-formed XML: mismatched tag"):
        scenario_from_text("rbt: 1\nrobot: {urdf: bad.urdf}\n", str(tmp_path / "s.yaml"))


@pytest.mark.parametrize(
    ("robot", "message"),
    [
        ("{urdf: cubesat.urdf, bodies: {}}", "unknown key 'bodies'; the keys here are urdf, base"),
        ("{urdf: cubesat.urdf, base: sunk}", "'sunk' is not one of floating, fixed"),
        ("{bodies: {a: {mass: 1, inertia: [1, 1, 1]}}, base: fixed}", "robot.base: goes with a urdf only"),
    ],
)
def test_robot_keys(robot, message):
    with pytest.raises(ScenarioError, match=message):
        scenario_from_text(f"rbt: 1\nrobot: {robot}\n", "s.yaml")


def test_the_public_names():
    assert rbt.load_urdf is load_urdf and rbt.urdf_text is urdf_text


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ((2, 1), "limits 2 to 1: the lower must be below the upper"),
        ((1, float("nan")), "the lower must be below the upper"),
        ([(0, 1), (0, 1)], r"must be \(lower, upper\)"),
    ],
)
def test_limits_of_the_builder(limits, message):
    b = RobotBuilder("arm").body("rod", mass=1, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match=message):
        b.hinge("pin", "revolute", parent="world", child="rod", limits=limits)


def test_names_of_single_axes_must_be_free():
    def two(**second):
        b = RobotBuilder("arm").body("a", mass=1, inertia=(1, 1, 1)).body(second["child"], mass=1, inertia=(1, 1, 1))
        return b.hinge("h", "universal", parent="world", child="a").hinge(**second, kind="revolute", parent="a").build()

    with pytest.raises(ModelError, match="hinge 'h_1': its joint 'h_1' has the name of one of hinge 'h'"):
        two(name="h_1", child="b")
    with pytest.raises(ModelError, match="hinge 'h': its frame 'h_1' has the name of body 'h_1'"):
        two(name="g", child="h_1")


def test_a_free_hinge_has_no_place():
    b = RobotBuilder("arm").body("a", mass=1, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match="a free hinge has no at or rotation; place body 'a' at the start instead"):
        b.hinge("h", "free", parent="world", child="a", at=(0, 0, 1))
