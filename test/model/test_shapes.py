"""Kinds of shapes: the capsule in closed form, a shape of another package, and all that asks either of them."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from stranger import install

import rbt_ros as rbt
from rbt_ros.markers import shape_marker, shape_markers
from rbt_ros.model.attitude import matrices
from rbt_ros.model.scenario import scenario_from_text
from rbt_ros.model.urdf_read import robot_from_urdf
from rbt_ros.plug.shapes import CYLINDER, SHAPES, SPHERE, TRIANGLES, Shape, ShapeKind, corners, kind_of, turned
from rbt_ros.ros import bounds
from rbt_ros.stream.scene import described

R, L = 0.3, 0.7
CAPSULE = Shape("capsule", (R, L), (0.1, -0.2, 0.3), (0.1, 0.7, -0.1, 0.7))
LOOKS = "shapes: [{kind: %s, size: [30 cm, 0.7], at: [0.1, -20 cm, 0.3], rotation: [0.1, 0.7, -0.1, 0.7]}]"


def sat(*shapes):
    return rbt.RobotBuilder("sat").body("hub", mass=1.0, inertia=(1, 1, 1), shapes=shapes).build()


def test_the_capsule_has_the_inertia_of_its_discs():
    """Gauss-Legendre with 5 points a third: exact for the discs' polynomials of degree 4; measured 2 eps."""
    points, weights = np.polynomial.legendre.leggauss(5)
    volume, across, along = 0.0, 0.0, 0.0
    for low, high in ((-L / 2 - R, -L / 2), (-L / 2, L / 2), (L / 2, L / 2 + R)):
        z, w = (low + high) / 2 + (high - low) / 2 * points, (high - low) / 2 * weights
        square = R * R - np.maximum(np.abs(z) - L / 2, 0.0) ** 2  # of the disc's radius
        volume += w @ (np.pi * square)
        across += w @ (np.pi * square * (square / 4 + z * z))
        along += w @ (np.pi * square * square / 2)
    props = rbt.mass.of_shape(Shape("capsule", (R, L)), density=3.0)
    assert props.mass == pytest.approx(3.0 * volume, rel=1e-15)
    assert np.diag(props.inertia) == pytest.approx(3.0 * np.array([across, across, along]), rel=2e-15)
    assert props.com.tolist() == [0, 0, 0]


def test_triangles_come_to_the_exact_shape():
    """A closed surface, wound outward, on the capsule; volume, inertia and support are short by the order of 1/n²."""
    corner = corners(CAPSULE).reshape(-1, 3)
    axis = np.clip(corner[:, 2], -L / 2, L / 2)
    assert np.hypot(np.hypot(corner[:, 0], corner[:, 1]), corner[:, 2] - axis) == pytest.approx(R, rel=1e-15)
    surface, kind, plain = kind_of(CAPSULE).triangles(CAPSULE), kind_of(CAPSULE), ShapeKind()
    exact = rbt.mass.of_shape(Shape("capsule", (R, L)), density=1.0)
    flat = rbt.mass.solid(*surface, density=1.0)
    assert 0.98 < flat.mass / exact.mass < 1.0 and flat.inertia == pytest.approx(exact.inertia, rel=0.04, abs=1e-15)
    plain.triangles = lambda shape: surface  # the defaults of a kind that says nothing else
    n = np.random.default_rng(1).normal(size=(20, 3))
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    assert plain.support(CAPSULE, n) == pytest.approx(kind.support(CAPSULE, n), rel=0.01)
    assert plain.radius(CAPSULE) == pytest.approx(kind.radius(CAPSULE), rel=1e-15)
    errors = [1.0 - rbt.mass.solid(*turned(sphere(n), 2 * n), density=0.75 / np.pi).mass for n in (10, 20, 40)]
    assert np.diff(np.log2(errors)) == pytest.approx([-2, -2], abs=0.05)


def sphere(n):
    angles = np.linspace(-np.pi / 2, np.pi / 2, n + 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])


@pytest.fixture
def cone(tmp_path, monkeypatch):
    """The shape of docs/extending.md, in the package of the page, as pip would have installed it."""
    install(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "my_package"]:
        del sys.modules[name]
    SHAPES._found.pop("cone", None)


@pytest.mark.parametrize("kind", ["capsule", "cone"])
@pytest.mark.usefixtures("cone")
def test_ours_and_a_strangers_work_everywhere(kind):
    """YAML with units, Python, URDF and back to the bit, bounds, browser, RViz, mass from the polyhedron."""
    shape = replace(CAPSULE, kind=kind)
    looks = dict(kind=kind, size=(R, L), at=shape.at, rotation=shape.quaternion)
    robot = sat(dict(kind="box", size=(1, 1, 1)), looks, dict(kind="sphere", size=1))
    text = LOOKS % kind
    scenario = scenario_from_text(f"rbt: 1\nrobot: {{bodies: {{hub: {{mass: 1, inertia: [1, 1, 1], {text}}}}}}}")
    assert robot.bodies[0].shapes[1] == shape == scenario.robot.bodies[0].shapes[0]
    assert robot_from_urdf(rbt.urdf_text(robot), "sat.urdf").bodies[0].shapes == robot.bodies[0].shapes
    low, high = bounds.box(sat(looks), 0)
    placed = corners(shape).reshape(-1, 3) @ matrices(np.array(shape.quaternion)).T + shape.at
    assert (placed >= low - 1e-15).all() and (placed <= high + 1e-15).all()
    assert (placed.min(axis=0) - low).max() < 0.01 * R and (high - placed.max(axis=0)).max() < 0.01 * R
    (told,) = described(sat(looks))["bodies"][0]["shapes"]
    assert (told["kind"], told["size"]) == (kind, [R, L])
    np.testing.assert_array_equal(np.array(told["vertices"])[told["facets"]], corners(shape))
    drawn = shape_marker("hub", shape)
    assert drawn["type"] == TRIANGLES and drawn["scale"] == (1, 1, 1) and len(drawn["points"]) % 3 == 0
    assert [[p[x] for x in "xyz"] for p in drawn["points"]] == corners(shape).reshape(-1, 3).tolist()
    exact = rbt.mass.of_shape(looks, density=5.0)
    surface = rbt.mass.solid(*kind_of(shape).triangles(shape), density=5.0).placed(shape.at, shape.quaternion)
    assert surface.mass == pytest.approx(exact.mass, rel=0.02)
    assert surface.com == pytest.approx(exact.com, abs=1e-3 * L)
    assert surface.inertia == pytest.approx(exact.inertia, abs=0.03 * np.linalg.norm(exact.inertia))


def test_rviz_draws_a_capsule_as_a_cylinder_and_two_spheres():
    found = shape_markers("hub", CAPSULE)
    assert [m["type"] for m in found] == [CYLINDER, SPHERE, SPHERE]
    assert [m["scale"] for m in found] == [(2 * R, 2 * R, L), (2 * R,) * 3, (2 * R,) * 3]
    ends = [np.array(m["pose"]["position"]) for m in found]
    z = matrices(np.array(CAPSULE.quaternion))[:, 2]
    assert ends[0] == pytest.approx(CAPSULE.at) and ends[1] - ends[0] == pytest.approx(L / 2 * z)
    assert ends[0] - ends[2] == pytest.approx(L / 2 * z)


@pytest.mark.parametrize(
    ("old", "new", "kinds"),
    [
        ('<sphere radius="0.3"', '<sphere  radius="0.3"', ["capsule"]),
        ('<sphere radius="0.3"', '<sphere radius="0.31"', ["cylinder", "sphere", "sphere"]),
        (' shape="capsule" size="0.3 0.7"', "", ["cylinder", "sphere", "sphere"]),
        ('size="0.3 0.7"', 'size="0.3 0.8"', ["cylinder", "sphere", "sphere"]),
        ("hub_0_part2", "any", ["capsule"]),
    ],
)
def test_parts_that_were_changed_count_as_they_stand(old, new, kinds):
    text = rbt.urdf_text(sat(CAPSULE))
    assert old in text
    assert [shape.kind for shape in robot_from_urdf(text.replace(old, new, 1), "a").bodies[0].shapes] == kinds


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (dict(kind="capsule", size=(1,)), r"the size of a capsule is \(radius, length\), .* not \(1,\)"),
        (dict(kind="capsule", size=(1, -2)), r"\(radius, length\), in SI and each above zero; not \(1, -2\)"),
        (dict(kind="capsule", size=(1, np.nan)), r"each above zero; not \(1, nan\)"),
        (dict(kind="capsule"), "each above zero; not None"),
        (dict(kind="capsule", size=(1, 2), file="a.stl"), "a capsule has no file: leave it out, not 'a.stl'"),
        (
            dict(kind="capsul", size=(1, 2)),
            "'capsul' is no shape; there are box, capsule, .*entry points .* rbt_",
        ),
    ],
)
def test_a_capsule_that_cannot_be_is_refused(given, message):
    with pytest.raises(rbt.ModelError, match=f"^shape of body 'hub': .*{message}"):
        sat(given)
    with pytest.raises(rbt.ModelError, match=f"^mass.of_shape: .*{message}"):
        rbt.mass.of_shape(given, mass=1.0)


def test_a_dimension_that_units_do_not_have_is_told(monkeypatch):
    odd = ShapeKind()
    vars(odd).update({"numbers": {"radius": "lenght", "length": "length"}, "triangles": lambda _: turned(sphere(4))})
    monkeypatch.setitem(SHAPES._found, "odd", odd)
    with pytest.raises(rbt.ScenarioError, match="shapes.*kind: its radius has the dimension 'lenght'; there are time,"):
        scenario_from_text(f"rbt: 1\nrobot: {{bodies: {{hub: {{mass: 1, inertia: [1, 1, 1], {LOOKS % 'odd'}}}}}}}")


def test_an_unknown_shape_of_a_urdf_says_what_counts_without_it():
    text = rbt.urdf_text(sat(CAPSULE)).replace('shape="capsule"', 'shape="pill"')
    with pytest.raises(rbt.ModelError, match=r"a.urdf:\d+: .*counts without this <rbt>.*'pill' is no shape; there are"):
        robot_from_urdf(text, "a.urdf")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"triangles": ShapeKind().triangles}, r"its support fails: it has no triangles\(\)\. .* mend it"),
        ({"fits": lambda _: 1 / 0}, "its fits fails: division by zero"),
        ({"radius": lambda _: np.nan}, "its radius gives numbers that are not finite"),
        ({"triangles": lambda _: ([[0, 0, 0]], [[0, 1, 2]])}, "its triangles fails: index 1 is out of bounds"),
        ({"volume": lambda _: 1.0}, r"its volume, com or inertia fails: it has a volume\(\), but no inertia\(\)"),
        ({"parts": lambda _: [Shape("capsule", (1.0, 1.0))]}, "its parts has a capsule of size .* which URDF does not"),
        ({"parts": lambda _: [Shape("box", (1.0, 1.0, 0.0))]}, r"its parts has a box of size \(1.0, 1.0, 0.0\)"),
    ],
)
def test_a_kind_that_is_broken_is_told_by_its_name(monkeypatch, changes, message):
    odd = ShapeKind()
    vars(odd).update({"numbers": {"radius": "length"}, "triangles": lambda _: turned(sphere(4))} | changes)
    monkeypatch.setitem(SHAPES._found, "odd", odd)
    with pytest.raises(rbt.ModelError, match=rf"^shape of body 'hub': shape 'odd' of size \(1.0,\): {message}"):
        sat(dict(kind="odd", size=1))
