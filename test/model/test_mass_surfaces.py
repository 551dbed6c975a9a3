"""Closed meshes and shells: exact for polyhedra and plates, second order for the ball; every bad surface refused."""

import itertools
import math

import numpy as np
import pytest
from mass_checks import EPS, assert_alike
from scipy.spatial import ConvexHull

import rbt_ros as rbt
from rbt_ros.errors import ModelError

TURN = ("ZYX", 0.3, -1.1, 2.0)
# corners of a unit cube by their bits x y z, and its sides, counter-clockwise seen from outside
CORNERS = np.array(list(itertools.product((0.0, 1.0), repeat=3)))
SIDES = np.array([(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)])
TRIANGLES = np.concatenate([SIDES[:, [0, 1, 2]], SIDES[:, [0, 2, 3]]])


def icosphere(cuts):
    """A ball of triangles: the icosahedron, each triangle cut into four `cuts` times, corners pushed to radius 1."""
    golden = (1 + math.sqrt(5)) / 2
    points = np.array([np.roll((0, a, b * golden), k) for k in range(3) for a in (1, -1) for b in (1, -1)])
    points /= np.linalg.norm(points, axis=1)[:, None]
    corners = points[ConvexHull(points).simplices]
    inward = np.linalg.det(corners) < 0
    corners[inward] = corners[inward][:, ::-1]
    for _ in range(cuts):
        a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
        ab, bc, ca = (m / np.linalg.norm(m, axis=1)[:, None] for m in (a + b, b + c, c + a))
        corners = (
            np.stack([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]).transpose(0, 2, 1, 3).reshape(-1, 3, 3)
        )
    vertices, number = np.unique(corners.reshape(-1, 3).round(14), axis=0, return_inverse=True)
    return vertices, number.reshape(-1, 3)


def orders(errors):
    """By which power errors fall, at half the edge each."""
    return -np.diff(np.log2(np.abs(errors)))


def test_ball_of_triangles_converges_at_second_order():
    ball, errors = rbt.mass.sphere(1.0, density=1), []
    for cuts in (3, 4, 5):
        made = rbt.mass.solid(*icosphere(cuts), density=1)
        errors.append((made.mass / ball.mass - 1, made.inertia[0, 0] / ball.inertia[0, 0] - 1))
    assert orders(np.array(errors).T[0]) == pytest.approx([2, 2], abs=0.03)
    assert orders(np.array(errors).T[1]) == pytest.approx([2, 2], abs=0.03)


def test_thin_ball_of_triangles_converges_at_second_order():
    """To the spherical shell 2/3 m r², m = 4 π r² ρ t, with t so thin that its own share is t²."""
    errors = []
    for cuts in (3, 4, 5):
        made = rbt.mass.shell(*icosphere(cuts), thickness=1e-9, density=1e9)
        errors.append((made.mass / (4 * math.pi) - 1, made.inertia[0, 0] / (8 / 3 * math.pi) - 1))
    assert orders(np.array(errors).T[0]) == pytest.approx([2, 2], abs=0.05)
    assert orders(np.array(errors).T[1]) == pytest.approx([2, 2], abs=0.05)


@pytest.mark.parametrize(
    "facets", [SIDES, TRIANGLES, SIDES.tolist(), [*SIDES[:3].tolist(), *TRIANGLES[[3, 4, 5, 9, 10, 11]].tolist()]]
)
def test_a_box_is_exact_however_it_is_cut(facets):
    size = np.array([0.1, 0.2, 0.3])
    made = rbt.mass.solid(CORNERS * size, facets, density=2700)
    assert_alike(made, rbt.mass.box(size, density=2700).placed(at=size / 2))


def test_a_tetrahedron_is_exact():
    """I = tr C 1 - C with C = m/20 Σ (x_k - c)(x_k - c)ᵀ, whatever its corners."""
    x = np.random.default_rng(3).normal(size=(4, 3))
    r = x - x.mean(axis=0)
    C = np.einsum("ki,kj->ij", r, r) / 20
    faces = np.array([(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)])
    outward = faces if np.linalg.det(x[1:] - x[0]) > 0 else faces[:, ::-1]
    made = rbt.mass.solid(x, outward, mass=3.0)
    expected = rbt.MassProperties(3.0, x.mean(axis=0), 3 * (np.trace(C) * np.eye(3) - C))
    assert_alike(made, expected, 16 * EPS)


def test_far_from_the_origin_nothing_is_lost():
    """A cube of 1 m, 2**40 m away, where coordinates are still exact: sums about the origin would lose 24 digits."""
    away = np.array([2.0**40, -(2.0**40), 2.0**39])
    for made in (
        rbt.mass.solid(CORNERS + away, SIDES, density=1),
        rbt.mass.shell(CORNERS + away, SIDES, thickness=0.5, density=1),
    ):
        near = rbt.mass.solid(CORNERS, SIDES, mass=1)
        assert np.array_equal(made.com, away + 0.5)
        assert made.inertia[0, 0] == pytest.approx(made.inertia[1, 1], rel=EPS)
        assert made.mass != 1 or made.inertia == pytest.approx(near.inertia, rel=4 * EPS, abs=EPS)


def test_turning_the_mesh_turns_the_tensor():
    vertices, facets = icosphere(2)
    vertices = vertices * [1, 2, 3] + [0.1, 0.2, 0.3]
    turned = np.array([rbt.mass.point(1, v).placed(at=(1, 2, 3), rotation=TURN).com for v in vertices])
    for make in (
        lambda v: rbt.mass.solid(v, facets, density=1),
        lambda v: rbt.mass.shell(v, facets, thickness=0.1, density=1),
    ):
        assert_alike(make(turned), make(vertices).placed(at=(1, 2, 3), rotation=TURN), 1e-14)


def test_cavities_and_bodies_beside_each_other():
    """A surface inside, wound the other way, is a hole; one outside adds."""
    inner = 0.25 + CORNERS / 2
    hollow = rbt.mass.solid(np.concatenate([CORNERS, inner]), np.concatenate([SIDES, SIDES[:, ::-1] + 8]), density=8)
    core = rbt.mass.box((0.5, 0.5, 0.5), density=8).placed(at=(0.5, 0.5, 0.5))
    whole = rbt.mass.box((1, 1, 1), density=8).placed(at=(0.5, 0.5, 0.5))
    assert_alike(hollow + core, whole)
    two = rbt.mass.solid(np.concatenate([CORNERS, CORNERS + [0, 0, 3]]), np.concatenate([SIDES, SIDES + 8]), density=8)
    assert_alike(two, whole + whole.placed(at=(0, 0, 3)))


def test_a_mesh_that_faces_inward_is_turned_and_says_so():
    with pytest.warns(UserWarning, match=r"hub: its facets face inward \(volume -1 m³\); they were turned"):
        made = rbt.mass.solid(CORNERS, SIDES[:, ::-1], "hub", density=2)
    assert_alike(made, rbt.mass.solid(CORNERS, SIDES, density=2))


def test_a_hollow_mesh_that_faces_inward_is_turned_with_its_cavity():
    vertices, facets = np.concatenate([CORNERS, 0.25 + CORNERS / 2]), np.concatenate([SIDES, SIDES[:, ::-1] + 8])
    with pytest.warns(UserWarning, match=r"volume -0.875 m³"):
        made = rbt.mass.solid(vertices, facets[:, ::-1], density=2)
    assert_alike(made, rbt.mass.solid(vertices, facets, density=2))


def test_bodies_that_share_a_wall_are_two():
    """Its facets are there twice, once each way round."""
    beside = np.concatenate([CORNERS, CORNERS + [1, 0, 0]])
    places, number = np.unique(beside, axis=0, return_inverse=True)
    made = rbt.mass.solid(places, number.reshape(-1)[np.concatenate([TRIANGLES, TRIANGLES + 8])], density=2)
    assert_alike(made, rbt.mass.box((2, 1, 1), density=2).placed(at=(1, 0.5, 0.5)))


@pytest.mark.parametrize("facets", [[(0, 4, 6, 2)], [(0, 4, 6), (0, 6, 2)], [(0, 4, 2), (2, 4, 6)]])
def test_a_plate_is_a_box(facets):
    """Of any thickness, from its middle surface, in any position."""
    size = np.array([0.1, 0.2, 0.03])
    made = rbt.mass.shell(CORNERS * size, facets, thickness=0.03, density=2700).placed(rotation=TURN)
    assert_alike(made, rbt.mass.box(size, density=2700).placed(at=(0.05, 0.1, 0)).placed(rotation=TURN))


def test_a_quadrilateral_of_any_shape_is_two_triangles():
    flat = np.array([(0, 0, 0), (2, 0.3, 0), (0.5, 0.4, 0), (0.2, 1.5, 0)])  # the third corner is re-entrant
    made = rbt.mass.shell(flat, [(0, 1, 2, 3)], thickness=0.01, density=7)
    assert_alike(made, rbt.mass.shell(flat, [(0, 1, 2), (0, 2, 3)], thickness=0.01, density=7), 8 * EPS)


def test_each_facet_has_its_own_thickness_and_density():
    """Six sides of a cube, then one by one: parallel axes by another way."""
    thickness, density = np.linspace(0.001, 0.002, 6), np.linspace(1000, 3000, 6)
    made = rbt.mass.shell(CORNERS, SIDES, thickness=thickness, density=density)
    parts = [
        rbt.mass.shell(CORNERS, [side], thickness=t, density=rho)
        for side, t, rho in zip(SIDES, thickness, density, strict=True)
    ]
    assert_alike(made, rbt.mass.combine(parts), 8 * EPS)
    mixed = [SIDES[0].tolist(), *TRIANGLES[[1, 7]].tolist(), *SIDES[2:].tolist()]
    as_mixed = [0, 1, 1, 2, 3, 4, 5]
    assert_alike(
        rbt.mass.shell(CORNERS, mixed, thickness=thickness[as_mixed], density=density[as_mixed]), made, 8 * EPS
    )


def test_a_thin_cube_of_plates_has_the_closed_form():
    """Six plates of edge a, mass m/6: I = m a² 5/18."""
    made = rbt.mass.shell(CORNERS, SIDES, thickness=1e-9, mass=6.0)
    assert made.inertia == pytest.approx(6.0 * 5 / 18 * np.eye(3), rel=1e-14, abs=1e-14)


def solid(vertices=CORNERS, facets=TRIANGLES, **given):
    return rbt.mass.solid(vertices, facets, "hub", **({"density": 1} | given))


def shell(vertices=CORNERS, facets=SIDES, **given):
    return rbt.mass.shell(vertices, facets, "hub", **({"thickness": 0.1, "density": 1} | given))


def with_vertex(number, place):
    vertices = CORNERS.copy()
    vertices[number] = place
    return vertices


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: solid(facets=TRIANGLES[1:]),
            r"hub: not a closed surface: 3 open edges around 1 hole, one from \(0, 0, 0\)",
        ),
        (
            lambda: solid(facets=SIDES[2:]),
            r"8 open edges around 2 holes, .* Close it .* or take it as a shell: .* \(--shell --thickness '1 mm'\)",
        ),
        (
            lambda: solid(facets=np.concatenate([TRIANGLES[:1, ::-1], TRIANGLES[1:]])),
            r"hub: neighbours are wound against each other along 3 edges, one from \(0, 0, 0\) m to",
        ),
        (
            lambda: solid(np.concatenate([CORNERS, CORNERS + 2]), np.concatenate([TRIANGLES, TRIANGLES[:, ::-1] + 8])),
            "hub: its parts face different ways: one, of 1 m³, faces against the rest and is no cavity",
        ),
        (
            lambda: solid(CORNERS * [1, 1, 0]),
            r"hub: facet \d+ \(and 7 more\) is degenerate: its corners coincide or lie on",
        ),
        (lambda: solid(CORNERS * [1, 1, 0], allow_degenerate=True), "hub: it encloses a volume of 0 m³"),
        (
            lambda: solid(facets=np.concatenate([TRIANGLES, TRIANGLES[:, [1, 2, 0]]])),
            "hub: 12 facets are there more than once and would count again; remove the copies",
        ),
        (lambda: solid(with_vertex(3, (0, math.inf, 0))), r"hub: vertex 3 at \[0.0, inf, 0.0\] is not finite"),
        (lambda: solid(CORNERS[:, :2]), r"hub: vertices have the shape \(8, 2\); give one row x, y, z"),
        (lambda: solid([[0, 0, "a"]]), "vertices of hub: .* is neither a number nor a regular array of numbers"),
        (lambda: solid(facets=TRIANGLES + 1), r"hub: facet \d+ names the vertices .*, and there are 0 to 7. .*MATLAB"),
        (lambda: solid(facets=TRIANGLES - 1), "hub: facet 0 names the vertices"),
        (lambda: solid(facets=TRIANGLES * 1.0), "hub: facets are numbers of vertices, whole ones from 0, not float64"),
        (lambda: solid(facets=[]), "hub: there is no facet"),
        (lambda: solid(facets=[(0, 1, 2), (0, 1, 2, 3, 4)]), "hub: facet 1 has 5 corners; split it"),
        (lambda: solid(facets=np.arange(3)), "hub: facet 0 has no list of corners"),
        (lambda: solid(density=0), "density of hub: 0 kg/m³ must be positive and finite"),
        (lambda: solid(density=None, mass=-1), "mass of hub: -1 kg must be positive"),
        (lambda: solid(mass=1), "hub: give either a density"),
        (lambda: shell(thickness=0), "thickness of hub: 0 m must be positive"),
        (lambda: shell(thickness=[1, 1, 1, -1, 1, 1]), "thickness of hub: -1 m of facet 3 must be positive"),
        (lambda: shell(thickness=[1, 1]), r"thickness of hub: \(2,\) numbers for 6 facets; give one for all"),
        (lambda: shell(thickness="thin"), r"thickness of hub \[m\]: 'thin' is neither a number nor"),
        (lambda: shell(density=[1, 1, 1, 1, 1, 0]), "density of hub: 0 kg/m³ of facet 5 must be positive"),
        (lambda: shell(mass=1), "hub: give either a density"),
        (lambda: shell(with_vertex(1, (0, 0, 0))[[0, 1, 3, 2]], [(0, 1, 2)]), "hub: facet 0 is degenerate"),
        (lambda: shell([(0, 0, 0), (2, 0, 0), (0, 1, 0), (3, 3, 0)], [(0, 1, 2, 3)]), "hub: facet 0 crosses itself"),
        (
            lambda: shell(CORNERS * [1, 0, 0], [(0, 1, 2)], allow_degenerate=True),
            "hub: no facet has any area, so there is no mass",
        ),
    ],
)
def test_bad_surfaces_are_refused(make, message):
    with pytest.raises(ModelError, match=message):
        make()


def test_degenerate_facets_may_be_allowed():
    """Slivers of no area in a closed surface and in a shell add nothing."""
    plain = solid()
    with_sliver = np.concatenate([TRIANGLES, [(0, 1, 1), (0, 1, 0)]])
    with pytest.raises(ModelError, match=r"hub: facet 12 \(and 1 more\) is degenerate"):
        solid(facets=with_sliver)
    assert_alike(solid(facets=with_sliver, allow_degenerate=True), plain)
    more = [*SIDES.tolist(), (0, 0, 1)]
    assert_alike(shell(facets=more, allow_degenerate=True), shell())
