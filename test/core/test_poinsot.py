"""Poinsot's construction against the laws that define it, along exact free motions."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.freetop import free_rotation
from rbt_ros.core.poinsot import plane_axes
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import turn_all

EPS = np.finfo(float).eps
START = (0.8, 0.36, -0.48, 0.0)
TURNED = np.array([[0.36, 0.48, -0.8], [-0.8, 0.6, 0.0], [0.48, 0.64, 0.6]])
BODIES = {
    "around the largest": ((0.2, 0.35, 0.5), (1.0, 0.3, 2.0)),
    "around the smallest, axes in another order": ((0.5, 0.2, 0.35), (0.4, -3.0, 0.5)),
    "a full tensor": (TURNED @ np.diag([0.2, 0.35, 0.5]) @ TURNED.T, (1.0, -0.7, 2.0)),
    "oblate": ((0.3, 0.3, 0.5), (0.5, 0.2, 1.0)),
    "prolate": ((0.4, 0.1, 0.4), (0.5, 1.0, -0.3)),
}


def free(name, times):
    """(inertia, q, w, construction) of an exact motion."""
    inertia, w0 = BODIES[name]
    q, w = free_rotation(inertia, START, w0, times)
    return inertia, q, w, rbt.poinsot(inertia, q, w)


@pytest.mark.parametrize("name", BODIES)
def test_the_polhode_lies_on_both_ellipsoids_and_the_herpolhode_in_the_plane(name):
    _, q, w, p = free(name, np.linspace(0.0, 30.0, 200))
    w_P, L_P = w @ p.R_BP, (w @ p.R_BP) * p.moments
    for point, semi_axes in ((w_P, p.energy_ellipsoid), (w_P, p.momentum_ellipsoid), (L_P, p.energy_ellipsoid_L)):
        on = np.sum((point / semi_axes) ** 2, axis=1)
        assert on == pytest.approx(np.ones(len(w)), abs=16 * EPS)
        assert semi_axes == pytest.approx(np.tile(semi_axes[0], (len(w), 1)), rel=64 * EPS)  # and these do not change
    assert np.linalg.norm(L_P, axis=1) == pytest.approx(p.momentum_sphere, rel=8 * EPS)
    assert p.polhode == pytest.approx(w) and p.herpolhode == pytest.approx(turn_all(q, w), rel=1e-14, abs=1e-14)
    # the plane: one for all times, square to L, which ω meets at its distance
    assert p.plane_normal == pytest.approx(np.tile(p.plane_normal[0], (len(w), 1)), abs=64 * EPS)
    assert p.plane_distance == pytest.approx(2 * p.energy / p.momentum_sphere)
    assert np.sum(p.herpolhode * p.plane_normal, axis=1) == pytest.approx(p.plane_distance, rel=16 * EPS)
    again = p.plane_distance[:, None] * p.plane_normal + np.einsum("nk,nki->ni", p.herpolhode_in_plane, p.plane_axes)
    assert again == pytest.approx(p.herpolhode, abs=32 * EPS)


@pytest.mark.parametrize("name", BODIES)
def test_the_energy_ellipsoid_touches_the_plane_at_omega(name):
    """Its normal there, I ω, is that of the plane: the farthest that it reaches along it is the plane's distance."""
    inertia, q, w, p = free(name, np.linspace(0.0, 10.0, 50))
    normal_P = turn_all(q * [1, -1, -1, -1], p.plane_normal) @ p.R_BP
    reach = np.linalg.norm(normal_P * p.energy_ellipsoid, axis=1)
    assert reach == pytest.approx(p.plane_distance, rel=32 * EPS)


@pytest.mark.parametrize("name", BODIES)
def test_the_cones_roll_on_each_other(name):
    """They share the ray, and its tip runs equally fast along both, for ω × ω = 0. Central differences: h²."""
    errors = []
    for h in (2e-3, 1e-3):
        t = 5.0 + np.array([-h, 0.0, h])
        _, q, w, p = free(name, t)
        assert turn_all(q, p.body_cone) == pytest.approx(p.space_cone, abs=16 * EPS)
        in_body, in_space = (p.polhode[2] - p.polhode[0]) / (2 * h), (p.herpolhode[2] - p.herpolhode[0]) / (2 * h)
        errors.append(np.linalg.norm(turn_all(q[1:2], in_body[None])[0] - in_space) / np.linalg.norm(in_space))
    assert errors[0] < 1e-4 and errors[0] / errors[1] == pytest.approx(4, abs=0.05)


def test_a_symmetric_body_in_closed_form():
    """I = (A, A, C): circles in body and plane; tan of the cones' half angles; ω goes round L at |L|/A."""
    A, C, across, along = 0.3, 0.5, 0.6, 1.1
    times = np.linspace(0.0, 4.0, 401)
    q, w = free_rotation((A, A, C), START, (across, 0.0, along), times)
    p = rbt.poinsot((A, A, C), q, w)
    L, size = np.hypot(A * across, C * along), np.hypot(across, along)
    sine = (C - A) * across * along / (L * size)  # of the angle between ω and L: |ω × I ω|
    assert np.hypot(*p.polhode[:, :2].T) == pytest.approx(np.full(401, across))
    assert np.linalg.norm(p.herpolhode_in_plane, axis=1) == pytest.approx(np.full(401, size * sine))
    assert p.body_cone[:, 2] == pytest.approx(np.full(401, along / size))
    assert np.sum(p.space_cone * p.plane_normal, axis=1) == pytest.approx(np.full(401, np.sqrt(1 - sine**2)))
    angle = np.unwrap(np.arctan2(*p.herpolhode_in_plane.T[::-1]))
    assert np.diff(angle) == pytest.approx(np.full(400, L / A * 0.01), rel=1e-9)
    assert p.polhode_curve()[:, 2] == pytest.approx(np.full(361, along))


@pytest.mark.parametrize("name", BODIES)
def test_the_curve_of_the_polhode_is_that_of_the_motion(name):
    """On both ellipsoids, closed, and passing by every ω of the motion within the sagitta of its 1/3600 turns."""
    inertia, _, w, p = free(name, np.linspace(0.0, 30.0, 300))
    curve = p.polhode_curve(points=3601)
    curve_P = curve @ p.R_BP
    assert np.sum((curve_P / p.energy_ellipsoid[0]) ** 2, axis=1) == pytest.approx(np.ones(3601), abs=64 * EPS)
    assert np.sum((curve_P / p.momentum_ellipsoid[0]) ** 2, axis=1) == pytest.approx(np.ones(3601), abs=64 * EPS)
    assert (curve[0] == curve[-1]).all()
    far = [np.linalg.norm(curve - point, axis=1).min() for point in w]
    assert max(far) < np.linalg.norm(np.diff(curve, axis=0), axis=1).max()


def test_special_motions():
    """Rest, a sphere, a turn about a principal axis, and the middle axis."""
    rest = rbt.poinsot((1.0, 2.0, 3.0), START, (0.0, 0.0, 0.0))
    assert not np.isnan(np.concatenate([np.ravel(values) for values in rest])).any()
    assert rest.plane_distance[0] == 0.0 and not rest.space_cone.any() and not rest.polhode_curve().any()
    sphere = rbt.poinsot((2.0, 2.0, 2.0), START, (0.1, 0.2, 0.3))
    assert sphere.polhode_curve(points=3) == pytest.approx(np.tile([0.1, 0.2, 0.3], (3, 1)))
    spin = rbt.poinsot((1.0, 2.0, 3.0), START, (0.0, 0.0, -2.0))
    assert spin.polhode_curve() == pytest.approx(np.tile([0.0, 0.0, -2.0], (361, 1)), abs=1e-7)  # √eps: a pole
    assert spin.plane_distance[0] == pytest.approx(2.0) and spin.herpolhode_in_plane == pytest.approx(np.zeros((1, 2)))
    middle = rbt.poinsot((1.0, 2.0, 3.0), START, (0.0, 2.0, 0.0)).polhode_curve()
    assert np.abs(middle - [0.0, 2.0, 0.0]).min(axis=0) == pytest.approx([0, 0, 0], abs=1e-7)
    assert np.abs(middle[:, 2]).min() == pytest.approx(0.0, abs=1e-7)  # the separatrix: once around through ±2


def test_the_axes_of_the_plane_follow_a_turning_normal():
    """Half a turn over, and a little more: a right-handed frame at each instant, as near to the last as the normals."""
    angle = np.linspace(0.0, 3.3, 600)
    normal = np.column_stack([np.sin(angle), 0 * angle, np.cos(angle)])
    axes = plane_axes(normal)
    assert np.cross(axes[:, 0], axes[:, 1]) == pytest.approx(normal, abs=8 * EPS)
    assert np.einsum("nik,njk->nij", axes, axes) == pytest.approx(np.tile(np.eye(2), (600, 1, 1)), abs=8 * EPS)
    assert plane_axes(np.array([[0.0, 0, 1], [0, 0, -1]]))[1, 0] == pytest.approx(plane_axes(normal[:1])[0, 0])


def test_of_a_result():
    """The body's own, about its centre of mass, at all samples."""
    result = rbt.load("cubesat").simulation().run(0.1, every=0.01)
    p = result.poinsot("cubesat")
    assert p.energy == pytest.approx(result.energy.kinetic) and len(p.polhode) == len(result.t)
    assert p.momentum == pytest.approx(result.angular_momentum_com, abs=1e-14)


@pytest.mark.parametrize(
    ("inertia", "q", "w", "text"),
    [
        ((1, 2), START, (0, 0, 1), "must be three principal moments or a 3x3 tensor"),
        ((1, 2, 0), START, (0, 0, 1), "principal moments 0, 1, 2 kg·m² must be positive"),
        ((1, 2, 3), START, [(0, 0, 1)] * 2, r"attitudes \(4,\) and rates \(2, 3\) must be \(N, 4\) and \(N, 3\)"),
    ],
)
def test_refused(inertia, q, w, text):
    with pytest.raises(ModelError, match=text):
        rbt.poinsot(inertia, q, w)
