"""RobotBuilder: the arrays it makes, and every robot that cannot exist refused by name."""

import math

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core import types as t
from rbt_ros.errors import ModelError
from rbt_ros.model.build import RobotBuilder


def builder(**changes):
    """A builder with one sound body, of which some numbers are changed."""
    numbers = {"mass": 3.0, "inertia": (4.0, 4.0, 3.6), **changes}
    return RobotBuilder("arm").body("upper", **numbers)


def test_what_hangs_on_nothing_floats():
    robot = builder().build()
    assert [h.kind for h in robot.hinges] == [t.JointKind.FREE] and robot.free_bodies == (0,)


def test_parents_come_first_and_coordinates_follow():
    b = builder(com=(0, 0, -1)).body("tip", mass=1, inertia=(1, 1, 1)).body("mid", mass=1, inertia=(1, 1, 1))
    b.hinge("wrist", "revolute", parent="mid", child="tip", axis=(0, 0, 2))
    b.hinge("elbow", "spherical", parent="upper", child="mid", at=(0, 0, -2))
    robot = b.build()
    assert [body.name for body in robot.bodies] == ["upper", "mid", "tip"]
    assert robot.model.tree.tolist() == [[-1, 7, 0, 0], [0, 5, 7, 6], [1, 1, 11, 9]]
    # a floating body's origin is its CoM inside the engine, so what hangs on it moves by -com
    assert robot.model.body[0, t.COM : t.COM + 3].tolist() == [0, 0, 0]
    assert robot.model.body[1, t.POINT : t.POINT + 3].tolist() == [0, 0, -1]
    assert robot.hinges[2].axis == (0, 0, 1) and robot.joint_names == ("wrist",)
    assert robot.bodies[0].com == (0, 0, -1)


def test_names_of_freedoms():
    b = builder()
    for kind in ("cylindrical", "universal", "planar", "prismatic", "fixed", "spherical"):
        b.body(kind, mass=1, inertia=(1, 1, 1)).hinge(f"{kind}_hinge", kind, parent="upper", child=kind)
    names = [name.replace("_hinge", "") for name in b.build().joint_names]
    assert names == [
        *("cylindrical_turn", "cylindrical_slide", "universal_1", "universal_2"),
        *("planar_x", "planar_y", "planar_turn", "prismatic"),
    ]


def test_arrays_are_read_only():
    model = builder().build().model
    for array in model:
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mass": -3}, "body 'upper': mass -3 kg is negative"),
        ({"mass": 0}, r"body 'upper' on hinge 'upper': a shift along .* moves no mass \(mass 0 kg"),
        ({"mass": math.nan}, "mass of body 'upper': nan is not finite"),
        ({"mass": "heavy"}, "mass of body 'upper': 'heavy' is not a number"),
        (
            {"inertia": (1, 1, -1)},
            r"body 'upper': inertia with principal moments -1, 1, 1 kg·m² is not positive definite",
        ),
        ({"inertia": (1, 1, 3)}, r"1, 1, 3 kg·m² break Ix \+ Iy >= Iz. Is the tensor about the centre of mass"),
        ({"inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "is not symmetric"),
        ({"inertia": (1, 2)}, "is not 3 principal moments or a finite 3x3 tensor"),
        ({"inertia": (1, math.inf, 1)}, "is not 3 principal moments or a finite 3x3 tensor"),
        (
            {"inertia": (1, 1, 0)},
            r"'upper': a turn about \(0, 0, -?1\) in its axes moves no mass .* so no force determines",
        ),
        ({"com": (0, math.nan, 0)}, "com of body 'upper': nan is not finite"),
        ({"com": (0, 0)}, r"com of body 'upper': \(0, 0\) is not three numbers"),
        ({"shapes": [{"kind": "cone", "size": 1}]}, "shape of body 'upper': 'cone' is no shape; there are box, "),
        (
            {"shapes": [{"kind": "box", "size": (1, 0, 1)}]},
            r"size of a box is \(x, y, z\), in SI and each above zero; not",
        ),
    ],
)
def test_bodies_that_cannot_exist(changes, message):
    with pytest.raises(ModelError, match=message):
        builder(**changes).build()


@pytest.mark.parametrize("name", ["", "9lives", "a b", "a/b", "x" * 65, "ä", 3, None])
def test_names_that_ros_cannot_carry(name):
    with pytest.raises(ModelError, match="use a letter, then letters, digits or _"):
        RobotBuilder("arm").body(name, mass=1, inertia=(1, 1, 1))


@pytest.mark.parametrize(
    ("hinges", "message"),
    [
        (
            [dict(kind="ball", parent="world", child="upper")],
            "'ball' is not a kind of hinge; use one of fixed, revolute",
        ),
        ([dict(kind="free", parent="lower", child="upper")], "a free hinge hangs on the world, not on 'lower'"),
        (
            [dict(kind="revolute", parent="moon", child="upper")],
            "its parent 'moon' is not a body; there are upper, lower, world",
        ),
        (
            [dict(kind="revolute", parent="world", child="moon")],
            "its child 'moon' is not a body; there are upper, lower",
        ),
        ([dict(kind="revolute", parent="world", child="world")], "its child 'world' is not a body"),
        ([dict(kind="revolute", parent="upper", child="upper")], "close a cycle"),
        (
            [
                dict(kind="revolute", parent="upper", child="lower"),
                dict(kind="revolute", parent="lower", child="upper"),
            ],
            "the hinges close a cycle .*'upper' on 'lower'.*Close loops with a constraint",
        ),
        (
            [
                dict(kind="revolute", parent="world", child="lower"),
                dict(kind="revolute", parent="upper", child="lower"),
            ],
            "body 'lower' hangs on hinge 'h0' already",
        ),
        (
            [dict(kind="revolute", parent="world", child="upper", axis=(0, 0, 0))],
            "has length zero and gives no direction",
        ),
        ([dict(kind="revolute", parent="world", child="upper", damping=-1)], "damping -1 is negative"),
        ([dict(kind="spherical", parent="world", child="upper", rest=1)], "at rest at no turn; rest 1 has no axis"),
        ([dict(kind="revolute", parent="world", child="upper", rotation=(0, 0, 0, 0))], "is zero and has no direction"),
    ],
)
def test_trees_that_cannot_be_built(hinges, message):
    with pytest.raises(ModelError, match=message):
        b = builder().body("lower", mass=1, inertia=(1, 1, 1))
        for i, hinge in enumerate(hinges):
            b.hinge(f"h{i}", **hinge)
        b.build()


def test_only_what_closes_a_cycle_is_told():
    """A body that hangs on a cycle is none of it."""
    b = builder().body("lower", mass=1, inertia=(1, 1, 1)).body("tail", mass=1, inertia=(1, 1, 1))
    for i, (parent, child) in enumerate([("upper", "tail"), ("lower", "upper"), ("upper", "lower")]):
        b.hinge(f"h{i}", "revolute", parent=parent, child=child)
    with pytest.raises(ModelError, match=r"close a cycle \('upper' on 'lower', 'lower' on 'upper'\)") as told:
        b.build()
    assert told.value.about == ("hinges", "h1")


def test_double_names_and_empty_robots():
    with pytest.raises(ModelError, match="body 'upper' exists twice"):
        builder().body("upper", mass=1, inertia=(1, 1, 1))
    with pytest.raises(ModelError, match="hinge 'h' exists twice"):
        b = builder().hinge("h", "revolute", parent="world", child="upper")
        b.hinge("h", "revolute", parent="world", child="upper")
    with pytest.raises(ModelError, match="has no body"):
        RobotBuilder("arm").build()


def test_unknown_names_are_answered_with_the_known_ones():
    robot = builder().build()
    with pytest.raises(ModelError, match="robot 'arm' has no body 'lower'; it has upper"):
        robot.body_index("lower")


def test_products_of_inertia_keep_their_sign():
    """Tensor elements as in URDF: what goes in as ixy stands in the array as ixy."""
    tensor = np.array([[2.0, 0.1, 0.2], [0.1, 3.0, 0.3], [0.2, 0.3, 4.0]])
    model = builder(inertia=tensor).build().model
    assert model.body[0, t.INERTIA : t.INERTIA + 6].tolist() == [2.0, 3.0, 4.0, 0.1, 0.2, 0.3]


def test_masses_that_nothing_can_turn_need_no_inertia():
    """Point mass on a pin off its axis, thin rod on a pin across it, massless link between two pins."""
    b = RobotBuilder("mobile").body("bob", mass=1, inertia=(0, 0, 0), com=(0, 0, -1))
    b.hinge("pin", "revolute", parent="world", child="bob", axis=(0, 1, 0))
    b.body("link", mass=0, inertia=(0, 0, 0)).hinge("first", "revolute", parent="bob", child="link", axis=(1, 0, 0))
    b.body("rod", mass=1, inertia=(1, 1, 0)).hinge("second", "revolute", parent="link", child="rod", axis=(0, 1, 0))
    assert len(b.build().bodies) == 3


@pytest.mark.parametrize(
    ("numbers", "axis", "message"),
    [
        (dict(mass=1, inertia=(1, 1, 0)), (0, 0, 1), "body 'rod' on hinge 'pin': freedom 'pin' moves no mass"),
        (dict(mass=1, inertia=(0, 0, 0)), (0, 1, 0), "freedom 'pin' moves no mass"),
        (dict(mass=0, inertia=(0, 0, 0)), (0, 1, 0), "freedom 'pin' moves no mass"),
    ],
)
def test_motions_without_mass_are_refused_by_name(numbers, axis, message):
    b = RobotBuilder("mobile").body("rod", **numbers).hinge("pin", "revolute", parent="world", child="rod", axis=axis)
    with pytest.raises(ModelError, match=message):
        b.build()


def one_body(**given):
    return RobotBuilder("r").body("a", **{"mass": 1, "inertia": (1, 1, 1), **given})


def looks(**given):
    return one_body(shapes=[given])


def hung(**given):
    return one_body().hinge("h", **{"kind": "revolute", "parent": "world", "child": "a", **given})


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: one_body(mass=10**400), "mass of body 'a': 1000*"),
        (lambda: one_body(mass=1j), "mass of body 'a': 1j is complex; give a real number"),
        (lambda: one_body(mass=True), "mass of body 'a': True is not a number but yes or no"),
        (lambda: one_body(inertia="x"), "body 'a': inertia: 'x' is neither a number nor a regular array of numbers"),
        (
            lambda: one_body(inertia=[[1, 2], [3]]),
            r"inertia: \[\[1, 2\], \[3\]\] is neither a number nor a regular array",
        ),
        (lambda: one_body(com=[[1, 2], [3]]), r"com of body 'a': \[\[1, 2\], \[3\]\] is neither"),
        (lambda: one_body(com=np.array([1j, 0, 0])), "com of body 'a': .* is neither a number nor a regular array"),
        (lambda: one_body(shapes=3), "body 'a': shapes must be a list, not 3"),
        (lambda: one_body(shapes=dict(kind="box", size=(1, 1, 1))), "body 'a': shapes must be a list, not {'kind'"),
        (
            lambda: looks(kind="sphere", radius=1),
            r"shape of body 'a': .*'radius': 1.* one of box, .* may have size, at, ",
        ),
        (lambda: looks(size=1), "shape of body 'a': {'size': 1} must have a kind"),
        (lambda: looks(kind=["box"]), r"shape of body 'a': the kind \['box'\] is no name; use one of box"),
        (lambda: looks(kind="sphere", size="big"), "shape of body 'a': 'big' is neither a number nor"),
        (lambda: looks(kind="sphere", size=1, at=(1, 2)), r"at of shape of body 'a': \(1, 2\) is not three numbers"),
        (lambda: looks(kind="sphere", size=1, at=(np.nan, 0, 0)), "at of shape of body 'a': nan is not finite"),
        (lambda: looks(kind="sphere", size=1, rgba=(1, 0)), r"rgba \(1, 0\) is not four numbers from 0 to 1"),
        (
            lambda: looks(kind="sphere", size=1, rgba=(255, 0, 0, 1)),
            r"rgba \(255, 0, 0, 1\) is not four numbers from 0",
        ),
        (lambda: looks(kind="mesh", file=3), "a mesh must name its file, a path or URI, not 3"),
        (lambda: hung(kind=None), "hinge 'h': 'None' is not a kind of hinge"),
        (lambda: hung(parent=["a"]), r"hinge 'h': parent name \"\['a'\]\": use a letter"),
        (lambda: hung(child=None), "hinge 'h': child name 'None': use a letter"),
        (lambda: hung(limits="x"), "limits of hinge 'h': 'x' is neither a number nor a regular array of numbers"),
        (lambda: hung(rotation=1), r"hinge 'h': 1 is no attitude; give w x y z, a 3x3 matrix, or \(\"ZYX\", a, b, c\)"),
        (lambda: hung(rotation=("ZYX", 0, 0)), r"hinge 'h': \('ZYX', 0, 0\) is not a sequence and three angles in rad"),
        (lambda: hung(rotation=("ZYX", 0, None, 0)), "hinge 'h': three finite angles in rad are needed"),
        (lambda: hung(rotation=("ZYX", 0, "a", 0)), r"hinge 'h': \(0, 'a', 0\) is neither a number nor"),
    ],
)
def test_what_is_no_number_and_no_name_is_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_names_that_are_no_words_are_told_what_there_is():
    robot = hung().build()
    for name in (None, 3, ["h"], np.array(["h"])):
        with pytest.raises(ModelError, match="robot 'r' has no hinge .*; it has h"):
            robot.hinge_index(name)
        with pytest.raises(ModelError, match="robot 'r' has no joint .* of one axis; it has h"):
            robot.joint_place(name)


def test_the_direction_of_an_axis_does_not_depend_on_its_length():
    """Squares of 1e160 and of 1e-170 are no numbers."""
    for length in (1e-11, 1e160, 1e300):
        b = rbt.RobotBuilder("r")
        b.body("a", mass=1, inertia=(1, 1, 1))
        b.hinge("h", "revolute", parent="world", child="a", axis=(3 * length, 0, 4 * length))
        assert b.build().hinges[0].axis == pytest.approx((0.6, 0.0, 0.8), rel=1e-15)


@pytest.mark.parametrize("kind", ["fixed", "revolute", "prismatic", "cylindrical", "universal", "spherical", "planar"])
def test_a_frame_may_be_turned_by_as_little_as_one_likes(kind):
    """At 1e-9 rad the w of its quaternion is 1: the body is turned all the same, and so are the axes of its slides."""
    b = rbt.RobotBuilder("r")
    b.body("a", mass=1, inertia=(1, 1, 1))
    axes = {} if kind in ("fixed", "spherical") else {"axis": (0, 0, 1)}
    b.hinge("h", kind, parent="world", child="a", rotation=("XYZ", 1e-9, 0, 0), **axes)
    sim = rbt.Simulation(b.build())
    assert sim.sample().pose[0, 1] == pytest.approx(0.5e-9, rel=1e-12)
    if kind in ("prismatic", "cylindrical"):
        sim.set_hinge("h", 1.0 if kind == "prismatic" else (0.0, 1.0))
        assert sim.sample().pose[0, 5] == pytest.approx(-1e-9, rel=1e-12)


def test_large_numbers_do_not_overflow():
    """A quaternion's norm and the symmetric part of a tensor exist where squares and sums leave the range of floats."""
    with pytest.warns(UserWarning, match="has norm 1e\\+300 and was normalised"):
        turned = hung(rotation=(1e300, 0, 0, 0)).build()
    assert turned.hinges[0].quaternion == (1.0, 0.0, 0.0, 0.0)
    tensor = one_body(inertia=(1.5e308, 1.5e308, 1.5e308)).build().bodies[0].inertia
    assert (tensor == np.diag([1.5e308] * 3)).all()
