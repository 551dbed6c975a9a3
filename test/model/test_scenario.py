"""Scenario YAML: what it becomes, and each wrong one refused with file and line."""

import math

import pytest

from rbt_ros.core import types as t
from rbt_ros.errors import ScenarioError
from rbt_ros.model.scenario import OUTPUT_RATES, read_scenario, scenario_from_text

GOOD = """\
rbt: 1
robot:
  name: sat
  bodies:
    hub:
      mass: 3 kg
      inertia: [0.03, 0.03, 0.007]
      com: [0, 0, 10 mm]
      shapes: [{kind: box, size: [0.1, 0.1, 34 cm]}]
gravity: [0, 0, -9.81]
step: 1e-3
integrator: rk4
start:
  bodies:
    hub: {position: [1, 2, 3], euler: [ZYX, 90 deg, 0, 0], velocity: [0, 0, 7.5 km/s], omega_body: [0, 0, 200 rpm]}
inputs:
  - {wrench: hub, force: [0, 0, 1], frame: world, at: com, from: 1 s, to: 2 s}
  - {wrench: hub, moment: [0, 1 mN m, 0]}
stabilise: none
duration: 60 s
seed: 7
outputs: {tf: 50, odom: off_is_a_word}
mode: fast
"""
GOOD = GOOD.replace("odom: off_is_a_word", "odom: 0")


def changed(old, new):
    """GOOD with a piece replaced; the piece must be there."""
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_whole_scenario():
    s = scenario_from_text(GOOD, "sat.yaml")
    assert (s.name, s.h_ns, s.duration_ns, s.seed, s.mode) == ("sat", 10**6, 60 * 10**9, 7, "fast")
    assert s.gravity == (0, 0, -9.81)
    assert s.outputs == {**OUTPUT_RATES, "tf": 50, "odom": 0}
    start = s.start_bodies["hub"]
    assert start.omega_body[2] == pytest.approx(200 * math.tau / 60) and start.velocity[2] == 7500
    assert start.quaternion == pytest.approx((math.sqrt(0.5), 0, 0, math.sqrt(0.5)))
    assert (s.inputs[0].what.frame, s.inputs[0].from_ns, s.inputs[0].to_ns) == ("world", 10**9, 2 * 10**9)
    assert s.inputs[1].what.moment == (0, 1e-3, 0) and s.inputs[1].to_ns is None
    assert s.robot.bodies[0].com == (0, 0, 0.01) and s.text == GOOD


def test_the_shipped_one():
    assert read_scenario("cubesat").robot.mass == pytest.approx(3.264)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("seed: 7", "sede: 7", r"sat.yaml:21: sede: unknown key 'sede'; the keys here are rbt, robot, gravity"),
        ("mass: 3 kg", "mas: 3 kg", r"sat.yaml:6: robot.bodies.hub.mas: unknown key 'mas'"),
        ("      mass: 3 kg\n", "", r"sat.yaml:5: robot.bodies.hub: 'mass' is missing"),
        ("mass: 3 kg", "mass: -3 kg", r"sat.yaml:5: robot.bodies.hub: body 'hub': mass -3 kg is negative"),
        ("mass: 3 kg", "mass: 3 s", r"sat.yaml:6: robot.bodies.hub.mass: '3 s' has the unit 's', which is no mass"),
        ("0.03, 0.007]", "0.03, 0.7]", r"sat.yaml:5: .*break Ix \+ Iy >= Iz"),
        ("0.03, 0.007]", "0.03, -0.007]", r"sat.yaml:5: .*is not positive definite"),
        ("0.03, 0.007]", "0.03]", r"sat.yaml:5: .*is not 3 principal moments"),
        ("rbt: 1", "rbt: 2", r"sat.yaml:1: rbt: is 2; this version reads scenarios of format 1"),
        ("step: 1e-3", "step: 1 kg", r"sat.yaml:11: step: '1 kg' has the unit 'kg', which is no time"),
        ("step: 1e-3", "step: 0", r"sat.yaml:11: step: 0 must be longer than nothing"),
        ("step: 1e-3", "step: 0.1 ns", r"sat.yaml:11: step: 0.1 ns is no whole number of nanoseconds"),
        ("step: 1e-3", "step: .nan", r"sat.yaml:11: step: nan is not finite"),
        (
            "integrator: rk4",
            "integrator: rk5",
            r"sat.yaml:12: integrator: 'rk5' is no integrator; there are dop853, dop853_adaptive",
        ),
        ("euler: [ZYX, 90 deg, 0, 0]", "quaternion: [0, 0, 0, 0]", r"sat.yaml:15: .*is zero and has no direction"),
        ("euler: [ZYX, 90 deg, 0, 0]", "quaternion: [.nan, 0, 0, 1]", r"sat.yaml:15: .*nan is not finite"),
        ("euler: [ZYX, 90 deg, 0, 0]", "quaternion: [1, 0, 0]", r"sat.yaml:15: .*takes 4 numbers, not 3"),
        ("euler: [", "quaternion: [1, 0, 0, 0], euler: [", r"sat.yaml:15: .*both give the attitude"),
        ("    hub: {position", "    hob: {position", r"sat.yaml:15: .*has no body 'hob'; it has hub"),
        ("wrench: hub, force", "wrench: hob, force", r"sat.yaml:17: .*has no body 'hob'"),
        ("frame: world", "frame: moon", r"sat.yaml:17: .*'moon' is no frame for this wrench"),
        ("from: 1 s, to: 2 s", "from: 2 s, to: 1 s", r"sat.yaml:17: .*must start at 0 s or later and end after"),
        ("force: [0, 0, 1], ", "", r"sat.yaml:17: .*needs a force or a moment"),
        ("force: [0, 0, 1]", "force: [0, 0, .inf]", r"sat.yaml:17: .*inf is not finite"),
        ("stabilise: none", "stabilise: much", r"sat.yaml:19: stabilise: 'much' is not one of none"),
        ("seed: 7", "seed: 7.5", r"sat.yaml:21: seed: 7.5 is not a whole number"),
        ("tf: 50", "tf: -1", r"sat.yaml:22: outputs.tf: -1 Hz is negative"),
        ("mode: fast", "mode: slow", r"sat.yaml:23: mode: 'slow' is not one of realtime, lockstep, fast"),
        ("mode: fast", "mode: fast\nmode: fast", r"sat.yaml:24: not valid YAML: found duplicate key"),
        ("seed: 7", "seed: [", r"sat.yaml:23: not valid YAML"),
        ("robot:", "robot: 3\nx:", r"sat.yaml:3: x: unknown key"),
        ("kind: box", "kind: cone", r"sat.yaml:9: robot.bodies.hub.shapes.*'cone' is no shape; there are box"),
    ],
)
def test_wrong_ones_say_where_and_why(old, new, message):
    with pytest.raises(ScenarioError, match=message):
        scenario_from_text(changed(old, new), "sat.yaml")


@pytest.mark.parametrize(
    ("text", "message"), [("", "must be a mapping of .*, not empty"), ("[1]", "must be a mapping"), ("3", "mapping")]
)
def test_documents_of_another_kind(text, message):
    with pytest.raises(ScenarioError, match=message):
        scenario_from_text(text, "sat.yaml")


def test_off_is_a_word():
    """YAML 1.2: in 1.1 this would be False, and the message would speak of a boolean."""
    with pytest.raises(ScenarioError, match="'off' is not a number with a unit"):
        scenario_from_text(changed("tf: 50", "tf: off"), "sat.yaml")


def test_files_that_are_not_there(tmp_path):
    with pytest.raises(ScenarioError, match=r"there is no file nowhere.yaml; give the path of a scenario YAML"):
        read_scenario("nowhere.yaml")
    with pytest.raises(
        ScenarioError, match=r"'sputnik' is neither a YAML file nor a scenario of the package \(cubesat"
    ):
        read_scenario("sputnik")
    binary = tmp_path / "noise.yaml"
    binary.write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(ScenarioError, match=r"noise.yaml cannot be read as a text file"):
        read_scenario(str(binary))


def test_merged_keys_are_read_and_errors_in_them_have_a_line():
    text = "rbt: 1\nrobot:\n  <<: {name: %s}\n  bodies: {a: {mass: 1, inertia: [1, 1, 1]}}\n"
    assert scenario_from_text(text % "merged").robot.name == "merged"
    with pytest.raises(ScenarioError, match=":2: robot.name: 3 is not a text"):
        scenario_from_text(text % "3")


TREE = """\
rbt: 1
robot:
  bodies:
    upper: {mass: 1, inertia: [1, 1, 1]}
    lower: {mass: 1, inertia: [1, 1, 0]}
  hinges:
    shoulder: {kind: revolute, parent: world, child: upper}
    elbow: {kind: revolute, parent: upper, child: lower, axis: [1, 0, 0]}
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("parent: upper", "parent: uper", r"arm.yaml:8: robot.hinges.elbow: .* parent 'uper' is not a body"),
        ("child: lower", "child: lover", r"arm.yaml:8: robot.hinges.elbow: .* child 'lover' is not a body"),
        (
            "parent: world",
            "parent: lower",
            r"arm.yaml:7: robot.hinges.shoulder: .*\('upper' on 'lower', 'lower' on 'upper'",
        ),
        ("[1, 0, 0]", "[0, 0, 1]", r"arm.yaml:5: robot.bodies.lower: .* freedom 'elbow' moves no mass"),
        ("robot:\n", "robot:\n  name: my arm\n", r"arm.yaml:3: robot.name: robot name 'my arm': use a letter"),
        (
            "[1, 0, 0]",
            "[1, 0, 0], limits: [-1 m, 1]",
            r"arm.yaml:8: robot.hinges.elbow.limits\[0\]: '-1 m' has the unit 'm'",
        ),
        (
            "[1, 0, 0]",
            "[1, 0, 0], limits: [-1, .nan]",
            r"arm.yaml:8: robot.hinges.elbow.limits\[1\]: nan is not finite",
        ),
        (
            "[1, 0, 0]",
            "[1, 0, 0], limits: [[0, 1], [2, 3]]",
            r"arm.yaml:8: robot.hinges.elbow: .* must be \(lower, upper\)",
        ),
    ],
)
def test_what_is_found_when_all_is_known_is_told_with_the_line_of_its_part(old, new, message):
    assert old in TREE
    with pytest.raises(ScenarioError, match=message):
        scenario_from_text(TREE.replace(old, new), "arm.yaml")


def test_a_file_whose_name_cannot_be_that_of_a_robot():
    with pytest.raises(
        ScenarioError, match=r"my-arm.yaml:2: robot: 'name' is missing, and ROS cannot carry .* 'my-arm'"
    ):
        scenario_from_text(TREE, "my-arm.yaml")


def test_numbers_of_hinges_carry_units():
    """As the freedoms they are of: one number of several that differ is plain."""
    text = TREE.replace(
        "[1, 0, 0]", "[1, 0, 0], limits: [-90 deg, .inf], stiffness: 1, rest: 30 deg, friction: 2 mN m, creep: 1 deg/s"
    )
    freedom = scenario_from_text(text, "arm.yaml").robot.model.freedom[1]
    degree = math.pi / 180
    expected = {t.LOWER: -90 * degree, t.UPPER: math.inf, t.REST: 30 * degree, t.COULOMB: 2e-3, t.CREEP: degree}
    assert {column: freedom[column] for column in expected} == pytest.approx(expected)
    text = text.replace("revolute, parent: upper", "cylindrical, parent: upper").replace("30 deg", "0.1")
    text = text.replace("[-90 deg, .inf]", "[[-1, 90 deg], [-5 cm, 2]]").replace("2 mN m", "0").replace("1 deg/s", "1")
    rows = scenario_from_text(text, "arm.yaml").robot.model.freedom[1:, [t.LOWER, t.UPPER]]
    assert rows.tolist() == [[-1, 90 * degree], [-0.05, 2]]
