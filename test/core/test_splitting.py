"""The splitting step: order against the exact motion, invariants over millions of steps, symmetry, special bodies."""

import math

import numpy as np
import pytest

from rbt_ros.core.freetop import free_rotation
from rbt_ros.core.jit import routine
from rbt_ros.core.splitting import splitting_step, splitting_steps

EPS = np.finfo(float).eps
CUBESAT = (0.0361172235, 0.03378135832, 0.00733597782)
Q0 = (0.5, 0.5, -0.5, 0.5)


def run(I, q, w, h, n):
    return splitting_steps((*I, 0.0, 0.0, 0.0), q, w, h, n)


@routine
def energy_range(I, q, w, h, n):
    """The least and the largest T of n steps."""
    low, high = np.inf, 0.0
    for _ in range(n):
        q, w = splitting_step(I, q, w, h)
        T = 0.5 * (I[0] * w[0] * w[0] + I[1] * w[1] * w[1] + I[2] * w[2] * w[2])
        low, high = min(low, T), max(high, T)
    return low, high


def error(state, reference, size):
    (q, w), (r, v) = state, reference
    dq = min(np.abs(np.subtract(q, r)).max(), np.abs(np.add(q, r)).max())
    return max(dq, np.abs(np.subtract(w, v)).max() / size)


def momentum_W(I, q, w):
    h, r = np.multiply(I, w), np.array(q[1:])
    return h + 2 * np.cross(r, np.cross(r, h) + q[0] * h)


@pytest.mark.parametrize(("I", "w"), [
    (CUBESAT, (3.0, -5.0, -30.0)),
    (CUBESAT, (20.0, 3.0, 2.0)),
    ((3.0, 1.0, 2.0), (1.0, 2.0, 0.5)),
    ((1.0, 2.0, 3.0), (1.0, 2.0, 0.5)),
    ((2.0, 1.0, 3.0), (1.0, 2.0, 0.5)),
    ((2.0, 3.0, 1.0), (1.0, 2.0, 0.5)),
    ((1.0, 3.0, 2.0), (1.0, 2.0, 0.5)),
    ((3.0, 2.0, 1.0), (1.0, 2.0, 0.5)),
])  # fmt: skip
def test_order_six(I, w):
    """Halving h divides the error by 2^6, h |ω| = 1/2, 1/4, 1/8, every order of the axes. Measured: 5.9 to 6.2."""
    T, size = 8.0, np.linalg.norm(w)
    reference = free_rotation(I, Q0, w, T)
    n = int(16 * size)
    errors = [error(run(I, Q0, w, T / k, k), reference, size) for k in (n, 2 * n, 4 * n)]
    assert errors[-1] > 1e-13  # above round-off
    assert -np.diff(np.log2(errors)) == pytest.approx([6, 6], abs=0.25)


@pytest.mark.parametrize(("I", "w"), [
    ((2.0, 2.0, 3.0), (0.4, -0.9, 1.1)),
    ((1.0, 2.0, 2.0), (0.4, -0.9, 1.1)),
    ((2.0, 1.0, 2.0), (0.4, -0.9, 1.1)),
    ((2.0, 2.0, 2.0), (0.4, -0.9, 1.1)),
    ((1.0, 2.0, 3.0), (0.0, 0.0, -1.1)),
])  # fmt: skip
def test_symmetric_bodies_and_principal_axes_move_exactly(I, w):
    """One coefficient is zero: no error of truncation even with turns of 1 rad per step. Measured: 12 EPS."""
    state, reference = run(I, Q0, w, 0.7, 100), free_rotation(I, Q0, w, 70.0)
    assert error(state, reference, np.linalg.norm(w)) <= 64 * EPS


def test_rest_stays():
    assert splitting_step((1.0, 2.0, 3.0), Q0, (0.0, 0.0, 0.0), 0.1) == (Q0, (0.0, 0.0, 0.0))


def test_momentum_and_energy_do_a_random_walk():
    """One rounding per step: after n steps √n EPS. Measured: 0.6 √n EPS after 1e6, 9e6 steps; a bias would be n EPS."""
    n = 1_000_000
    for I, w, h in (
        (CUBESAT, (3.0, -5.0, -30.0), 1e-3),
        (CUBESAT, (0.0, 28.1, 42.6), 1e-3),
        ((1.0, 1.0, 3.0), (1.0, 2.0, 0.5), 0.01),
    ):
        q, v = run(I, Q0, w, h, n)
        L = momentum_W(I, Q0, w)
        assert np.abs(momentum_W(I, q, v) - L).max() <= 4 * math.sqrt(n) * EPS * np.linalg.norm(L)
        assert abs(math.sqrt(np.dot(q, q)) - 1) <= 2 * EPS


def test_energy_oscillates_and_does_not_drift():
    """h |ω| = 1: the error of truncation stays in its band for 1e6 steps. Measured: bands equal within 1 %."""
    I, w, h = (1.0, 2.0, 3.0), (1.0, 2.0, 0.5), 1.0 / math.sqrt(5.25)
    first = energy_range(I, Q0, w, h, 20_000)
    q, v = run(I, Q0, w, h, 1_000_000)
    last = energy_range(I, q, v, h, 20_000)
    band = first[1] - first[0]
    assert 1e-9 < band / first[0] < 1e-6
    assert last == pytest.approx(first, abs=0.05 * band)


def test_there_and_back():
    """Reversible: n steps of h, n of -h. Measured: 3 EPS √n."""
    n, w = 1000, (3.0, -5.0, -30.0)
    q, v = run(CUBESAT, Q0, w, 1e-3, n)
    assert error(run(CUBESAT, q, v, -1e-3, n), (Q0, w), 30.0) <= 30 * math.sqrt(n) * EPS


def test_any_tensor():
    """Full tensor, in principal axes inside: order 6 like the rest; a diagonal one is the same bits as single steps."""
    I, w, T = (2.0, 3.0, 4.0, 0.3, -0.5, 0.7), (1.0, 2.0, 0.5), 8.0
    rows = [[I[0], I[3], I[4]], [I[3], I[1], I[5]], [I[4], I[5], I[2]]]
    reference = free_rotation(rows, Q0, w, T)
    errors = [error(splitting_steps(I, Q0, w, T / n, n), reference, np.linalg.norm(w)) for n in (36, 72, 144)]
    assert -np.diff(np.log2(errors)) == pytest.approx([6, 6], abs=0.25)
    assert error(splitting_steps(I, Q0, w, 1e-9, 0), (np.array(Q0), w), 1.0) <= 2 * EPS
    q, v = Q0, w
    for _ in range(50):
        q, v = splitting_step(CUBESAT, q, v, 0.01)
    assert run(CUBESAT, Q0, w, 0.01, 50) == (q, v)
