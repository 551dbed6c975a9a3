"""The corrections alone: the nearest point on a polhode, the gain, the turns."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rbt_ros.core import stabilise as s
from rbt_ros.core.vec import qconj, qturn, rotation_vector_quat

R7 = json.loads((Path(__file__).parents[1] / "reference" / "r7_stabilisation.json").read_text(encoding="utf-8"))
EPS = np.finfo(float).eps
A = (5.0, 1 / 0.35, 2.0)  # inverse moments of the reference's body


def unit(l):
    l = np.asarray(l, dtype=float)
    return tuple((l / np.linalg.norm(l)).tolist())


def angle(a, b):
    return np.arctan2(np.linalg.norm(np.cross(a, b)), np.dot(a, b))


def polhode(a, c, n=200_001):
    """Points of Σ a u² = c on the unit sphere, by the longitude about the axis that they circle (a sorted: falling)."""
    a = np.array(a)
    about = 0 if c > a[1] else 2
    i, k = (about + 1) % 3, (about + 2) % 3
    phi = np.linspace(0, 2 * np.pi, n)
    across = (a[about] - c) / (a[about] - a[i] * np.cos(phi) ** 2 - a[k] * np.sin(phi) ** 2)  # u_i² + u_k²
    u = np.zeros((n, 3))
    u[:, i], u[:, k] = np.sqrt(across) * np.cos(phi), np.sqrt(across) * np.sin(phi)
    u[:, about] = np.sqrt(1 - across)
    return np.concatenate([u, u * np.where(np.arange(3) == about, -1, 1)])


@pytest.mark.parametrize("case", R7["projection cases"]["cases"])
def test_the_reference_projections(case):
    """The file's points are given to 16 digits: a few ulp; its brute-force angle to 1e-8."""
    L = np.sqrt(R7["projection cases"]["L^2"])
    a = tuple(1 / np.array(R7["projection cases"]["I"]))
    u = s.nearest_on_level(unit(case["L_err"]), a, 2 * R7["projection cases"]["E0"] / L**2)
    assert np.abs(L * np.array(u) - case["L_corrected"]).max() < 4 * EPS
    assert angle(u, unit(case["L_err"])) == pytest.approx(case["beta"], abs=4 * EPS)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_no_point_of_the_polhode_is_nearer(seed):
    """Against 4e5 points of the curve: the nearest of them is at most half a spacing off, second order in it."""
    rng = np.random.default_rng(seed)
    a = tuple(sorted(rng.uniform(1, 3, 3).tolist(), reverse=True))
    c = rng.uniform(a[2], a[0])
    l = unit(rng.normal(size=3))
    u = s.nearest_on_level(l, a, c)
    best = (polhode(a, c) @ np.array(l)).max()
    assert np.dot(u, l) > best - 4 * EPS
    assert np.dot(u, l) < best + 1e-7


@settings(max_examples=400, deadline=None)
@given(
    seed=st.integers(0, 2**32 - 1),
    sizes=st.tuples(*[st.sampled_from([1.0, 1e-3, 1e-9, 1e-20, 1e-200, 0.0])] * 3).filter(lambda x: max(x) == 1.0),
    alike=st.sampled_from([None, 0.0, 1e-15, 1e-10, 1e-6]),
    near=st.sampled_from([None, 0.0, 1e-15, 1e-8, -1e-15, -0.1]),
    slender=st.sampled_from([1.0, 1e-3, 1e-6, 1e-10]),
)
def test_every_level_is_reached_to_round_off(seed, sizes, alike, near, slender):
    """Near the poles, in planes of symmetry, of symmetric and slender bodies; at the pole where there is no such level.

    |Σ a u² - c| <= 8 eps c (largest found: 5.3), and what moments differ that count as one; |u| = 1 to 2 eps.
    """
    rng = np.random.default_rng(seed)
    moments = rng.uniform(0.1, 1.0, 3)
    if alike is not None:
        moments[1] = moments[0] * (1 + alike)
    moments[2] *= slender
    a = 1 / moments
    l = rng.normal(size=3) * sizes
    fraction = rng.random() if near is None else near
    pole, far = (a.min(), a.max()) if rng.random() < 0.5 else (a.max(), a.min())
    c = pole + (far - pole) * fraction
    u = np.array(s.nearest_on_level(unit(l), tuple(a.tolist()), float(c)))
    assert abs(np.linalg.norm(u) - 1) <= 2 * EPS
    reachable = min(max(c, a.min()), a.max())
    as_one = alike if alike is not None and alike < s.ALIKE else 0.0
    assert abs((a * u) @ u - reachable) <= (8 * EPS + as_one) * reachable


def test_what_fits_stays_to_the_bit():
    l = unit((0.2, 0.3, 0.9))
    assert s.nearest_on_level(l, A, s.level(l, A)) == l
    assert s.nearest_on_level(l, (2.0, 2.0, 2.0), 2.5) == l  # a sphere has one level only


def test_beyond_the_poles_it_is_the_nearest_pole():
    l = unit((-0.5, 0.3, 0.8))
    assert s.nearest_on_level(l, A, 6.0) == (-1.0, 0.0, 0.0)
    assert s.nearest_on_level(l, A, 1.0) == (0.0, 0.0, 1.0)
    circle = s.nearest_on_level(l, (5.0, 5.0, 2.0), 6.0)
    assert circle == pytest.approx(unit((-0.5, 0.3, 0.0)), abs=EPS)
    assert abs(np.dot(s.nearest_on_level((0.0, 1.0, 0.0), A, 6.0), (1, 0, 0))) == 1.0  # square to both poles of it


def test_the_turn_along_the_gradient_takes_the_error_off_to_first_order():
    """Halving the error quarters what is left."""
    L = np.array((0.2, 0.105, 1.0))
    left = []
    for error in (1e-2, 5e-3, 2.5e-3):
        w = tuple((A * L).tolist())
        x = s.energy_turn(w, tuple(L.tolist()), error)
        turned = np.array(qturn(qconj(rotation_vector_quat(x)), tuple(L.tolist())))
        assert np.linalg.norm(turned) == pytest.approx(np.linalg.norm(L), rel=4 * EPS)
        left.append(0.5 * (A * turned) @ turned - (0.5 * (A * L) @ L - error))
    assert np.diff(np.log2(np.abs(left))) == pytest.approx([-2, -2], abs=0.05)


def test_at_a_pole_there_is_no_gradient():
    assert s.energy_turn((0.0, 0.0, 2.0), (0.0, 0.0, 1.0), 0.1) == (0.0, 0.0, 0.0)
    assert s.energy_turn((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), 0.1) == (0.0, 0.0, 0.0)


def test_the_gain_grows_and_falls_between_its_bounds():
    kept = np.zeros(s.KEPT_SIZE)
    kept[[s.TOLERANCE, s.LESSEN, s.AMPLIFY, s.LEAST_GAIN, s.GAIN]] = 1e-6, 0.5, 1.5, 0.01, 0.01
    grown = [s.next_gain(kept, -2e-6) for _ in range(13)]
    assert grown[:3] == pytest.approx([0.015, 0.0225, 0.03375]) and grown[-1] == 1.0
    fallen = [s.next_gain(kept, 5e-7) for _ in range(8)]
    assert fallen[:2] == [0.5, 0.25] and fallen[-1] == 0.01
