"""What stands in robot_description."""

from xml.etree import ElementTree as ET

from rbt_ros.model.scenario import read_scenario
from rbt_ros.model.urdf import urdf_text


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
