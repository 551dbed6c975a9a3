"""What simulation_interfaces asks of bodies, without ROS: both shapes, whichever of them has types here."""

from types import SimpleNamespace as Message

import numpy as np
import pytest
from observed import rotation

import rbt_ros as rbt
from rbt_ros.core.types import JointKind
from rbt_ros.ros import bounds, entities
from rbt_ros.ros.result_codes import FAILED, NAME_INVALID, NAME_NOT_UNIQUE, NOT_FOUND, UNSUPPORTED, Refusal


@pytest.fixture(scope="module")
def moving():
    """A CubeSat that flies and tumbles: (simulation, sample)."""
    sim = rbt.load("cubesat").simulation()
    sim.set_body("cubesat", position=(1, 2, 3), euler=("ZYX", 0.3, 0.2, 0.1), velocity=(4, 5, 6), omega_body=(1, 2, 3))
    return sim, sim.sample()


def xyz(x, y, z):
    return Message(x=float(x), y=float(y), z=float(z))


def request(q=(1.0, 0.0, 0.0, 0.0), p=(0, 0, 0), v=(0, 0, 0), w=(0, 0, 0), **shape_2):
    """A SetEntityState."""
    orientation = Message(w=q[0], x=q[1], y=q[2], z=q[3])
    pose = Message(position=xyz(*p), orientation=orientation)
    state = Message(header=Message(frame_id=""), pose=pose, twist=Message(linear=xyz(*v), angular=xyz(*w)))
    return Message(entity="cubesat", state=state, **shape_2)


def put(moving, asked):
    sim, sample = moving
    name, start = entities.placement(sim.robot, asked, sample, "")
    other = rbt.load("cubesat").simulation()
    other.set_body(name, position=sample.pose[0, 4:], quaternion=sample.pose[0, :4], velocity=(0, 0, 0))
    other.set_body(
        name,
        position=start.position,
        quaternion=start.quaternion,
        velocity=start.velocity,
        omega_body=start.omega_body,
    )
    return other.sample()


def test_shape_2_sets_the_twist_alone(moving):
    after = put(moving, request(v=(7, 8, 9), w=(0.1, 0.2, 0.3), set_pose=False, set_twist=True))
    assert after.pose[0] == pytest.approx(moving[1].pose[0], abs=4e-16)
    assert after.twist[0] == pytest.approx([0.1, 0.2, 0.3, 7, 8, 9], rel=2e-15)


def test_shape_2_sets_the_pose_alone_and_the_world_sees_the_same_velocities(moving):
    q = np.array([0.5, 0.5, -0.5, 0.5])
    after = put(moving, request(q, p=(-1, -2, -3), set_pose=True, set_twist=False))
    assert after.pose[0] == pytest.approx([*q, -1, -2, -3], abs=4e-16)
    assert after.twist[0] == pytest.approx(moving[1].twist[0], rel=4e-15)


def test_an_acceleration_is_refused(moving):
    with pytest.raises(Refusal, match="the acceleration of 'cubesat' follows from the forces on it") as refused:
        put(moving, request(set_pose=True, set_twist=True, set_acceleration=True))
    assert refused.value.code == FAILED


def test_angular_velocities_come_in_world_axes(moving):
    sim, sample = moving
    q, w_W = np.array([0.8, 0.0, 0.6, 0.0]), np.array([0.3, -0.2, 0.1])
    _, start = entities.placement(sim.robot, request(q, w=w_W), sample, "")
    assert start.omega_body == pytest.approx(rotation(q).T @ w_W, abs=1e-16)


def test_a_body_that_floats_alone_is_an_object_and_others_belong_to_robots(moving):
    assert entities.category(moving[0].robot, 0) == entities.DYNAMIC_OBJECT
    wheel = rbt.load("wheel").robot
    assert [entities.category(wheel, i) for i in (0, 1)] == [entities.ROBOT, entities.ROBOT]
    assert wheel.hinges[0].kind == JointKind.FREE


def test_a_name_in_use_is_answered_before_what_is_not_offered(moving):
    robot = moving[0].robot
    for name, allow_renaming, code, sentence in (
        ("cubesat", False, NAME_NOT_UNIQUE, "there is an entity 'cubesat' already; choose another name, or allow"),
        ("cubesat", True, UNSUPPORTED, "bodies are neither added nor removed"),
        ("", False, NAME_INVALID, "an entity without a name; give it one, or allow renaming."),
        ("debris", False, UNSUPPORTED, "bodies are neither added nor removed"),
    ):
        with pytest.raises(Refusal, match=sentence) as refused:
            entities.refuse_to_spawn(robot, Message(name=name, allow_renaming=allow_renaming))
        assert refused.value.code == code
    for entity, code in (("cubesat", UNSUPPORTED), ("debris", NOT_FOUND)):
        with pytest.raises(Refusal) as refused:
            entities.refuse_to_delete(robot, Message(entity=entity))
        assert refused.value.code == code


def test_a_state_tells_the_acceleration_of_the_frame():
    """A disc that spins up: ẇ = n / I, and a point at r from its axis has ẇ × r - w² r."""
    b = rbt.RobotBuilder("disc").body("disc", mass=2.0, inertia=(0.1, 0.1, 0.2), com=(-0.5, 0, 0))
    sim = rbt.Simulation(b.build())
    sim.set_body("disc", velocity=(0, 1.5, 0), omega_body=(0, 0, 3.0))  # its centre of mass stands still
    sim.add_input(rbt.Wrench("disc", moment=(0, 0, 0.4), at="com"))
    told = entities.state_fields(sim.robot, 0, sim.sample(), 0, "")["acceleration"]
    assert (told["angular"], told["linear"]) == (pytest.approx((0, 0, 2.0)), pytest.approx((-4.5, 1.0, 0)))


# ----------------------------------------------------------------------------------------------------------- bounds


@pytest.fixture(scope="module")
def scene():
    """A box turned by 45 degrees about z, a sphere, and a point that shows nothing."""
    b = rbt.RobotBuilder("scene")
    b.body("box", mass=1.0, inertia=(1, 1, 1), shapes=[{"kind": "box", "size": (2, 2, 6)}])
    b.body("ball", mass=1.0, inertia=(1, 1, 1), shapes=[{"kind": "sphere", "size": 0.5, "at": (0, 0, 1)}])
    b.body("point", mass=1.0, inertia=(1, 1, 1), com=(0, 0, 2))
    sim = rbt.Simulation(b.build())
    sim.set_body("box", euler=("ZYX", np.pi / 4, 0, 0))
    sim.set_body("ball", position=(10, 0, 0))
    sim.set_body("point", position=(0, 10, 0))
    return sim


def near(scene, kind, *points):
    return entities.selected(scene.robot, filters(kind, *points), scene.sample())


def filters(kind, *points):
    shape = Message(type=kind, points=[xyz(*p) for p in points])
    return Message(filter="", categories=[], tags=Message(tags=[], filter_mode=0), bounds=shape)


def test_boxes_hold_shapes_however_they_are_turned():
    """A cylinder across: r sqrt(1 - e²) + h e along each axis; a mesh counts as its place."""
    turned = ("ZYX", 0.0, np.pi / 3, 0.0)
    shapes = [
        {"kind": "cylinder", "size": (0.1, 2.0), "at": (1, 0, 0), "rotation": turned},
        {"kind": "mesh", "file": "wing.stl", "at": (0, -3, 0)},
    ]
    robot = rbt.RobotBuilder("b").body("b", mass=1, inertia=(1, 1, 1), shapes=shapes).build()
    low, high = bounds.box(robot, 0)
    reach = 0.1 * np.cos(np.pi / 3) + np.sin(np.pi / 3), 0.1 * np.sin(np.pi / 3) + np.cos(np.pi / 3)
    assert low == pytest.approx([0.0, -3, -reach[1]]) and high == pytest.approx([1 + reach[0], 0.1, reach[1]])
    told = bounds.bounds_fields(robot, 0)
    assert told["type"] == bounds.BOX and told["points"][0]["x"] == high[0] and told["points"][1]["y"] == -3.0


@pytest.mark.parametrize("gap", [1e-6, -1e-6])
def test_what_touches_is_found_and_what_does_not_is_not(scene, gap):
    """The edge of the box is at x = sqrt 2; its face 1 from the middle, where a corner comes along its normal."""
    touches, edge = gap < 0, np.sqrt(2.0) + gap
    assert near(scene, bounds.SPHERE, (edge + 1, 0, 2.9), (1, 0, 0)) == ["box"] * touches
    assert near(scene, bounds.BOX, (edge, -1, -1), (edge + 1, 1, 1)) == ["box"] * touches
    assert near(scene, bounds.HULL, (edge, 0, 0), (edge + 1, 5, 0), (edge + 1, -5, 0)) == ["box"] * touches
    corner = (1 + 0.5 * gap) / np.sqrt(2.0)  # of a square, on the face's normal
    assert near(scene, bounds.BOX, (corner, corner, 0), (5, 5, 1)) == ["box"] * touches
    assert near(scene, bounds.SPHERE, (0, 10, 3), (1 - gap, 0, 0)) == ["point"] * touches
    assert near(scene, bounds.BOX, (8, -1, 0), (9.5 - gap, 1, 1)) == ["ball"] * touches


def test_bounds_apply_together_with_other_filters(scene):
    everything = filters(bounds.SPHERE, (0, 0, 0), (100, 0, 0))
    assert entities.selected(scene.robot, everything, scene.sample()) == ["box", "ball", "point"]
    everything.filter = "^b"
    assert entities.selected(scene.robot, everything, scene.sample()) == ["box", "ball"]
    assert near(scene, bounds.EMPTY) == ["box", "ball", "point"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("^[[:alpha:]]{3}$", ["box"]),
        ("[^[:upper:][:digit:]l]{5}", ["point"]),
        ("b(ox|all)", ["box", "ball"]),
        ("[[:punct:]]|x$", ["box"]),
        ("[[:space:][:blank:][:alnum:]]{5}", ["point"]),
    ],
)
def test_names_are_found_by_expressions_of_posix(scene, text, found):
    """As the standard has it: extended regular expressions, with their classes."""
    wanted = filters(bounds.EMPTY)
    wanted.filter = text
    assert entities.selected(scene.robot, wanted, scene.sample()) == found


def test_a_class_that_is_none_is_refused(scene):
    wanted = filters(bounds.EMPTY)
    wanted.filter = "[[:greek:]]"
    with pytest.raises(Refusal, match=r"there is no class \[:greek:\]; there are alnum, alpha") as refused:
        entities.selected(scene.robot, wanted, scene.sample())
    assert refused.value.code == FAILED


@pytest.mark.parametrize(
    ("kind", "points", "code", "sentence"),
    [
        (7, [], UNSUPPORTED, "bounds of type 7; use 0 empty, 1 box, 2 convex hull, or 3 sphere."),
        (bounds.BOX, [(0, 0, 0)], FAILED, "bounds of 1 points; a box has two, its corners."),
        (bounds.SPHERE, [(0, 0, 0)], FAILED, "a sphere has two, its centre and its radius"),
        (bounds.SPHERE, [(0, 0, 0), (-1, 0, 0)], FAILED, "a sphere of radius -1 m; it is not negative."),
        (bounds.HULL, [(0, 0, 0), (1, 0, 0)], FAILED, "a convex hull of 2 points; it has three at least."),
        (bounds.HULL, [(0, 0, np.nan)] * 3, FAILED, "all numbers must be finite."),
        (bounds.HULL, [(0, 0, 0)] * 1001, FAILED, "bounds of 1001 points; at most 1000 are taken."),
    ],
)
def test_bounds_that_are_none_are_refused(scene, kind, points, code, sentence):
    with pytest.raises(Refusal) as refused:
        near(scene, kind, *points)
    assert refused.value.code == code and sentence in str(refused.value)
