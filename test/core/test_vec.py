"""Vectors, quaternions, our own sine and cosine."""

import mpmath
import numpy as np
import pytest
from trees import EPS, unit

from rbt_ros.core.vec import (
    cross,
    gyroscopic,
    qmul,
    qturn,
    rotation,
    rotation_vector_quat,
    sincos,
    sym_factors,
    sym_mul,
    sym_solve,
    sym_turn,
    turn,
    turn_back,
    turn_quat,
)


def ulps(value, exact):
    return abs(mpmath.mpf(value) - exact) / mpmath.mpf(float(np.spacing(abs(float(exact)))))


def test_sincos_is_within_one_ulp_to_1e6():
    """Random angles, multiples of pi/4, and the doubles nearest to n pi/2, where the reduction cancels most."""
    rng = np.random.default_rng(1)
    with mpmath.workprec(160):
        near = [float(n * mpmath.pi / 2) for n in rng.integers(-600_000, 600_000, 500)]
        angles = [*np.arange(-40, 41) * np.pi / 4, *rng.uniform(-7, 7, 500), *rng.uniform(-1e6, 1e6, 500), *near]
        for x in angles:
            s, c = sincos(x)
            assert ulps(s, mpmath.sin(mpmath.mpf(x))) < 0.8  # measured: 0.76
            assert ulps(c, mpmath.cos(mpmath.mpf(x))) < 0.8


def test_sincos_far_out_stays_on_the_circle_and_passes_nan_on():
    for x in (1e8, -3e10, 1e12):
        s, c = sincos(x)
        assert abs(s * s + c * c - 1) < 1e-9 * abs(x) * 1e-8 + 4 * EPS
    assert all(np.isnan(sincos(np.nan)))
    assert sincos(0.0) == (0.0, 1.0)


def test_quaternions_and_matrices_turn_alike():
    rng = np.random.default_rng(2)
    for _ in range(50):
        p, q, a = tuple(unit(rng, 4)), tuple(unit(rng, 4)), tuple(rng.normal(size=3))
        assert qturn(q, a) == pytest.approx(turn(rotation(q), a), abs=8 * EPS * 3)
        assert turn_back(rotation(q), turn(rotation(q), a)) == pytest.approx(a, abs=8 * EPS * 3)
        both = np.array(rotation(qmul(p, q)))
        assert both == pytest.approx(np.array(rotation(p)) @ np.array(rotation(q)), abs=8 * EPS)
        assert np.array(rotation(tuple(3.0 * c for c in q))) == pytest.approx(np.array(rotation(q)), abs=4 * EPS)


def test_rotation_vector_and_axis_angle_agree():
    rng = np.random.default_rng(3)
    for angle in (0.0, 1e-9, 9.9e-5, 1.01e-4, 0.3, 3.0, 50.0):
        e = tuple(unit(rng))
        expected = turn_quat(e, angle)
        assert rotation_vector_quat(tuple(angle * c for c in e)) == pytest.approx(expected, abs=4 * EPS * (1 + angle))


def test_symmetric_matrices():
    rng = np.random.default_rng(4)
    A = rng.normal(size=(3, 3))
    S = A @ A.T + np.eye(3)
    six = tuple(S[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
    R = rotation(tuple(unit(rng, 4)))
    turned = np.array(R) @ S @ np.array(R).T
    assert sym_turn(R, six) == pytest.approx(turned[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]], rel=20 * EPS, abs=20 * EPS)
    w = tuple(rng.normal(size=3))
    assert gyroscopic(six, w) == pytest.approx(cross(w, sym_mul(six, w)), abs=40 * EPS * np.abs(S).max())
    D_inv, (l10, l20, l21) = sym_factors(six)
    L = np.array([[1, 0, 0], [l10, 1, 0], [l20, l21, 1]])
    assert L @ np.diag(1 / np.array(D_inv)) @ L.T == pytest.approx(S, abs=8 * EPS * np.abs(S).max())
    b = tuple(rng.normal(size=3))
    assert sym_mul(six, sym_solve(six, b)) == pytest.approx(b, abs=20 * EPS * np.linalg.cond(S))


@pytest.mark.parametrize("thin", [1e-2, 1e-5, 1e-8])
def test_a_small_principal_moment_costs_the_others_no_digits(thin):
    """S = R diag(1, 1, thin) Rᵀ and b across the thin axis u: x = S⁻¹ b is b, but for round-off along u.

    Backward stable: (S + E) x = b with |E| ~ eps, so that across u the error is eps, along it eps / thin.
    """
    rng = np.random.default_rng(5)
    across, along = 0.0, 0.0
    for _ in range(200):
        R = np.array(rotation(tuple(unit(rng, 4))))
        u, b = R[:, 2], R[:, :2] @ unit(rng, 2)
        S = R @ np.diag([1, 1, thin]) @ R.T
        error = np.array(sym_solve(tuple(S[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]]), tuple(b))) - b
        along = max(along, abs(error @ u))
        across = max(across, np.linalg.norm(error - u * (error @ u)))
    print(f"{thin}: {across / EPS:.2g} eps, {along * thin / EPS:.2g} eps / thin")
    assert across < 30 * EPS and along < 8 * EPS / thin
