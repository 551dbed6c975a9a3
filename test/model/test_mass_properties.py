"""Mass properties: primitives against integration, parallel axes, frames, principal axes, what is refused."""

import math

import numpy as np
import pytest
from mass_checks import EPS, assert_alike

import rbt_ros as rbt
from rbt_ros.errors import ModelError

TURN = ("ZYX", 0.3, -1.1, 2.0)


def points_tensor(points, masses):
    """(mass, CoM, tensor about it) of point masses, from the definition."""
    com = masses @ points / masses.sum()
    r = points - com
    second = np.einsum("n,ni,nj->ij", masses, r, r)
    return masses.sum(), com, np.trace(second) * np.eye(3) - second


def gauss(lower, upper, count=6):
    """Points and weights on [lower, upper], exact to degree 11."""
    x, w = np.polynomial.legendre.leggauss(count)
    return (upper + lower) / 2 + (upper - lower) / 2 * x, (upper - lower) / 2 * w


def grid(*axes):
    """All combinations of points (n, 3), and the products of their weights."""
    points = np.stack(np.meshgrid(*(a[0] for a in axes), indexing="ij"), axis=-1).reshape(-1, 3)
    return points, np.prod(np.stack(np.meshgrid(*(a[1] for a in axes), indexing="ij"), axis=-1).reshape(-1, 3), axis=1)


CIRCLE = (np.arange(8) * math.tau / 8, np.full(8, math.tau / 8))  # exact for trigonometric polynomials to degree 7


def block(a, b, c):
    return grid(gauss(-a / 2, a / 2), gauss(-b / 2, b / 2), gauss(-c / 2, c / 2))


def tube(inner, outer, length):
    (r, about, z), w = (lambda p, w: (p.T, w))(*grid(gauss(inner, outer), CIRCLE, gauss(-length / 2, length / 2)))
    return np.column_stack([r * np.cos(about), r * np.sin(about), z]), w * r


def ball(inner, outer):
    (r, about, u), w = (lambda p, w: (p.T, w))(*grid(gauss(inner, outer), CIRCLE, gauss(-1, 1)))  # u = cos of latitude
    s = r * np.sqrt(1 - u * u)
    return np.column_stack([s * np.cos(about), s * np.sin(about), r * u]), w * r * r


@pytest.mark.parametrize(
    ("props", "points"),
    [
        (rbt.mass.box((0.1, 0.2, 0.3), density=800), block(0.1, 0.2, 0.3)),
        (rbt.mass.cylinder(0.3, 0.5, density=800), tube(0, 0.3, 0.5)),
        (rbt.mass.cylinder(0.3, 0.5, inner=0.2, density=800), tube(0.2, 0.3, 0.5)),
        (rbt.mass.sphere(0.3, density=800), ball(0, 0.3)),
        (rbt.mass.sphere(0.3, inner=0.29, density=800), ball(0.29, 0.3)),
    ],
    ids=["box", "cylinder", "tube", "ball", "hollow ball"],
)
def test_primitives_are_the_integrals(props, points):
    """∫ over Gauss points, exact for these polynomials: round-off of 300 terms, 1e-14 (measured 9e-16)."""
    assert_alike(props, rbt.MassProperties(*points_tensor(points[0], 800 * points[1])), rtol=1e-14)


def test_thin_ones_are_limits():
    """A rod, a plate and thin walls: the solid ones of vanishing width, error of second order in it."""
    thin = 1e-9
    assert_alike(rbt.mass.rod(0.7, mass=2.0), rbt.mass.cylinder(thin, 0.7, mass=2.0), 1e-15)
    assert_alike(rbt.mass.plate(0.7, 0.3, mass=2.0), rbt.mass.box((0.7, 0.3, thin), mass=2.0), 1e-15)
    R = 0.4
    assert rbt.mass.sphere(R, inner=R, mass=3.0).inertia == pytest.approx(2 / 3 * 3 * R * R * np.eye(3), rel=4 * EPS)
    assert rbt.mass.cylinder(R, 1e-9, inner=R, mass=3.0).inertia[2, 2] == pytest.approx(3 * R * R, rel=4 * EPS)


def test_what_is_hollow_and_its_core_make_the_whole():
    for hollow, core, whole in (
        (rbt.mass.sphere(0.3, inner=0.1, density=5), rbt.mass.sphere(0.1, density=5), rbt.mass.sphere(0.3, density=5)),
        (
            rbt.mass.cylinder(0.3, 2, inner=0.1, density=5),
            rbt.mass.cylinder(0.1, 2, density=5),
            rbt.mass.cylinder(0.3, 2, density=5),
        ),
    ):
        assert_alike(hollow + core, whole)


@pytest.mark.parametrize("away", [0.0, 2.0**20])
def test_parallel_axes_put_a_cut_box_together(away):
    """27 blocks of an uneven cut, anywhere: positions are sums of powers of two, so that moving them rounds nothing."""
    cuts = [-1.0, -0.25, 0.5, 1.0]
    spans = [(b - a, (a + b) / 2) for a, b in zip(cuts, cuts[1:], strict=False)]
    parts = [
        rbt.mass.box((x[0], 2 * y[0], z[0]), density=3).placed(at=np.array([x[1], 2 * y[1], z[1]]) + away)
        for x in spans
        for y in spans
        for z in spans
    ]
    whole = rbt.mass.combine(parts)
    assert_alike(whole.in_frame(at=[away] * 3), rbt.mass.box((2, 4, 2), density=3), 8 * EPS)


def test_about_another_point():
    """The tensor about any point is that of all point masses about it."""
    rng = np.random.default_rng(1)
    points, masses = rng.normal(size=(50, 3)), rng.uniform(1, 2, size=50)
    whole = rbt.mass.combine(rbt.mass.point(m, p) for m, p in zip(masses, points, strict=True))
    assert_alike(whole, rbt.MassProperties(*points_tensor(points, masses)), 1e-14)
    r = points - [3.0, -2.0, 1.0]
    expected = np.einsum("n,nk,nk->", masses, r, r) * np.eye(3) - np.einsum("n,ni,nj->ij", masses, r, r)
    np.testing.assert_allclose(whole.about((3.0, -2.0, 1.0)), expected, rtol=0, atol=1e-14 * np.abs(expected).max())


def test_frames_turn_there_and_back():
    box = rbt.mass.box((0.1, 0.2, 0.3), mass=2).placed(at=(1, 2, 3))
    there = box.placed(at=(0.3, -0.2, 5), rotation=TURN)
    assert_alike(there.in_frame(at=(0.3, -0.2, 5), rotation=TURN), box)
    assert np.linalg.eigvalsh(there.inertia) == pytest.approx(np.linalg.eigvalsh(box.inertia), rel=1e-14)
    assert np.array_equal(there.inertia, there.inertia.T)
    quarter = box.placed(rotation=[[0, -1, 0], [1, 0, 0], [0, 0, 1]])  # x goes to y
    assert quarter.inertia.diagonal() == pytest.approx(box.inertia.diagonal()[[1, 0, 2]], rel=4 * EPS)
    assert quarter.com == pytest.approx([-2, 1, 3], rel=4 * EPS)


def test_principal_axes_make_the_tensor_and_follow_it():
    turned = rbt.mass.box((0.1, 0.2, 0.3), mass=2).placed(rotation=TURN)
    moments, axes = turned.principal()
    assert moments == pytest.approx(2 / 12 * np.array([0.05, 0.10, 0.13]), rel=1e-14)
    np.testing.assert_allclose(axes @ np.diag(moments) @ axes.T, turned.inertia, rtol=0, atol=4 * EPS * moments[2])
    np.testing.assert_allclose(axes.T @ axes, np.eye(3), atol=4 * EPS)
    assert np.linalg.det(axes) == pytest.approx(1, rel=8 * EPS)
    assert all(axes[np.argmax(np.abs(axes[:, i])), i] > 0 for i in (0, 1))


@pytest.mark.parametrize(
    ("moments", "axes"),
    [
        ((2, 2, 2), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ((2, 2, 3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
        ((3, 3, 2), [[0, 1, 0], [0, 0, 1], [1, 0, 0]]),  # z first
        ((2, 3, 3), [[1, 0, 0], [0, 1, 0], [0, 0, 1]]),
    ],
)
def test_principal_axes_that_are_free_are_those_nearest_to_x_y_z(moments, axes):
    """And stay there when the tensor carries round-off, which alone would turn them anywhere."""
    rng = np.random.default_rng(2)
    for _ in range(20):
        noise = rng.normal(size=(3, 3)) * EPS
        props = rbt.MassProperties(1.0, np.zeros(3), np.diag(moments) + noise + noise.T)
        np.testing.assert_allclose(props.principal().axes, axes, atol=1e-14)


def test_a_body_takes_them():
    props = rbt.mass.box((0.1, 0.2, 0.3), mass=2).placed(at=(0, 0, 0.5), rotation=TURN)
    body = rbt.RobotBuilder("sat").body("hub", **props.as_body()).build().bodies[0]
    assert (body.mass, body.com) == (2.0, (0, 0, 0.5)) and np.array_equal(body.inertia, props.inertia)


def test_what_a_data_sheet_says_is_checked():
    assert_alike(
        rbt.mass.given(2.0, (1, 1, 1.5), com=(0, 0, 1)), rbt.MassProperties(2.0, [0, 0, 1], np.diag([1, 1, 1.5]))
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: rbt.mass.given(1, (1, 1, 3)), r"'part': inertia: principal moments .* break Ix \+ Iy >= Iz"),
        (lambda: rbt.mass.given(1, (1, 1, -1), name="hub"), "'hub': inertia .* is not positive definite"),
        (lambda: rbt.mass.given(0, (1, 1, 1)), "mass of 'part': 0 kg must be positive and finite"),
        (lambda: rbt.mass.given(1, (1, 1, 1), com=(0, math.nan, 0)), "com of 'part': .* is not three finite numbers"),
        (lambda: rbt.mass.given("heavy", (1, 1, 1)), "mass of 'part': 'heavy' is not a number in kg"),
        (lambda: rbt.mass.box((1, 2), mass=1), r"size of the box: \(1, 2\) is not three finite numbers"),
        (lambda: rbt.mass.box("big", mass=1), "size of the box: 'big' is neither a number nor"),
        (lambda: rbt.mass.box((1, 2, 0), mass=1), "size along z of the box: 0 m must be positive"),
        (lambda: rbt.mass.box((1, 2, 3)), "box: give either a density .* or a mass .*, and not both"),
        (lambda: rbt.mass.box((1, 2, 3), mass=1, density=1), "box: give either a density"),
        (lambda: rbt.mass.box((1, 2, 3), density=-2700), "density of box: -2700 kg/m³ must be positive"),
        (lambda: rbt.mass.sphere(1, inner=2, mass=1), "sphere: inner radius 2 m must lie between 0 and the radius 1 m"),
        (lambda: rbt.mass.cylinder(1, 1, inner=1, density=1), "inner radius 1 m leaves no wall; give its mass"),
        (lambda: rbt.mass.rod(-1, mass=1), "length of the rod: -1 m must be positive"),
        (lambda: rbt.mass.point(1, at=(0, 0)), r"at: \(0, 0\) is not three finite numbers"),
        (lambda: rbt.mass.combine([]), "combine: there is no part"),
    ],
)
def test_wrong_ones_say_why(make, message):
    with pytest.raises(ModelError, match=message):
        make()
