"""What a viewer is told of a robot."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.model.attitude import matrices
from rbt_ros.model.looks import inertia_shapes
from rbt_ros.stream.scene import described, meshes


def one_body(**given):
    return rbt.RobotBuilder("one").body("hub", mass=2.0, **given).build()


def test_a_body_without_shapes_gets_the_box_of_its_inertia():
    """Turned and shifted: the homogeneous box of that mass has the tensor again, to round-off."""
    tensor = np.array([[0.3, 0.02, -0.01], [0.02, 0.25, 0.03], [-0.01, 0.03, 0.2]])
    robot = one_body(inertia=tensor, com=(0.1, 0.2, 0.3))
    (box,) = inertia_shapes(robot.bodies[0])
    a, b, c = np.square(box.size)
    R = matrices(np.array([box.quaternion]))[0]
    again = R @ np.diag([b + c, a + c, a + b]) @ R.T * 2.0 / 12.0
    np.testing.assert_allclose(again, tensor, atol=1e-15)
    assert box.at == (0.1, 0.2, 0.3)


def test_a_point_mass_is_a_ball():
    b = rbt.RobotBuilder("two").body("hub", mass=1.0, inertia=(1, 1, 1)).body("tip", mass=1.0, inertia=(0, 0, 0))
    robot = b.hinge("slide", "prismatic", parent="hub", child="tip").build()
    assert described(robot)["bodies"][1]["shapes"][0]["kind"] == "sphere"


@pytest.mark.parametrize(
    ("file", "words"),
    [("gone.stl", "there is no mesh gone.stl; a box stands for it"), ("hub.step", "mesh hub.step is none of .stl")],
)
def test_a_mesh_that_cannot_be_shown_is_named(tmp_path, file, words):
    robot = one_body(inertia=(1, 1, 1), shapes=[dict(kind="mesh", file=file)])
    scene = described(robot, folder=tmp_path)
    assert words in scene["warnings"][0] and "body 'hub'" in scene["warnings"][0]
    assert meshes(scene) == []


def test_meshes_are_numbers_to_the_page(tmp_path):
    (tmp_path / "hub.stl").write_bytes(b"solid\nendsolid\n")
    robot = one_body(inertia=(1, 1, 1), shapes=[dict(kind="mesh", file="hub.stl", size=(1, 2, 3))] * 2)
    scene = described(robot, folder=tmp_path)
    assert meshes(scene) == [str(tmp_path / "hub.stl")]
    assert [shape["mesh"] for shape in scene["bodies"][0]["shapes"]] == [0, 0]
    assert str(tmp_path) not in str(scene)


def test_the_scene_of_a_tree():
    scene = described(rbt.load("five_body").robot, "five", (0, 0, -9.81))
    assert [body["parent"] for body in scene["bodies"]] == [-1, 0, 1, 2, 2]
    assert scene["gravity"] == [0, 0, -9.81] and scene["warnings"] == []
    assert scene["layout"]["joints"] == ["wrist", "right_pivot", "left_pivot"]
