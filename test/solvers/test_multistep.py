"""Adams, numerical differentiation, backward differentiation: formulas, orders, errors that follow the tolerance."""

import numpy as np
import pytest

from rbt_ros.errors import SolveError
from rbt_ros.solvers import METHODS, Event, solve, solve_implicit
from rbt_ros.solvers.adams import integrals, moulton_coefficients
from rbt_ros.solvers.bdf import extrapolation_weights, slope_weights

CONTROLLED = [name for name, method in METHODS.items() if method.controlled is not None]
STIFF = [name for name in CONTROLLED if METHODS[name].stiff]


def oscillator(t, y):
    """x = cos 2t."""
    return np.array([y[1], -4.0 * y[0]])


def test_adams_coefficients_are_those_of_the_textbooks():
    """Steps of one length: Hairer, Norsett, Wanner I, table III.1.1 (Bashforth) and III.1.2 (Moulton)."""
    bashforth = [1, 1 / 2, 5 / 12, 3 / 8, 251 / 720, 95 / 288, 19087 / 60480]
    moulton = [1, -1 / 2, -1 / 12, -1 / 24, -19 / 720, -3 / 160, -863 / 60480]
    assert integrals(1.0 / np.arange(1, 7)) == pytest.approx(bashforth, rel=1e-14)
    assert moulton_coefficients(7) == pytest.approx(moulton, rel=1e-14)


def test_backward_differentiation_formulas_are_those_of_the_textbooks():
    """Steps of 1: Σ (1/j) ∇^j y = y'."""
    alpha, a = slope_weights(0.0, np.array([-1.0, -2.0, -3.0]))
    assert (alpha, *a) == pytest.approx((11 / 6, -3, 3 / 2, -1 / 3))
    assert extrapolation_weights(0.0, np.array([-1.0, -2.0, -3.0])) == pytest.approx([3, -3, 1])
    times = np.array([-0.3, -0.7, -1.9, -2.0])  # any steps: exact for polynomials
    alpha, a = slope_weights(0.5, times)
    assert alpha * 0.5**4 + a @ times**4 == pytest.approx(4 * 0.5**3, rel=1e-13)


def first_steps(method, z, h):
    """y after the first step of length h on y' = z y, the tolerance so wide that it is taken."""
    found = solve(lambda t, y: z * y, (0, 1), [1.0 + 0j], method, rtol=0.5, atol=100, first_step=h, max_step=h)
    assert found.t[1] == h
    return found.y[1, 0]


@pytest.mark.parametrize("z", [-3.0, 2.0j, -30.0 + 10.0j])
def test_ode15s_starts_with_the_numerical_differentiation_formula(z):
    """Order 1 with κ = -0.1850 (Shampine and Reichelt 1997, table 1): (1 - κ - z) R = 1 - κ - κ z, not κ = 0 of BDF."""
    kappa, x = -0.1850, z * 0.1
    assert first_steps("ode15s", z, 0.1) == pytest.approx((1 - kappa - kappa * x) / (1 - kappa - x), rel=1e-6)


@pytest.mark.parametrize("z", [-3.0, 2.0j, -30.0 + 10.0j])
def test_ode15i_starts_with_backward_euler(z):
    assert first_steps("ode15i", z, 0.1) == pytest.approx(1 / (1 - 0.1 * z), rel=1e-6)


@pytest.mark.parametrize("method", CONTROLLED)
def test_error_follows_the_tolerance(method):
    """cos 2t over 10: the error per tolerance stays within a thousand, 0.3 to 500 measured, and falls with it. Of
    order 2 it falls as rtol^(2/3): 1e-2 for 1e-3 (their error is controlled as h³ and sums up as h²)."""
    errors, tolerances = [], (1e-4, 1e-7) if METHODS[method].order == "2" else (1e-4, 1e-7, 1e-10)
    for rtol in tolerances:
        found = solve(oscillator, (0, 10), [1.0, 0.0], method, rtol=rtol, atol=1e-2 * rtol, dense=True)
        t = np.linspace(0, 10, 333)
        errors.append(np.abs(found(t)[:, 0] - np.cos(2 * t)).max())
    fall = 0.02 if METHODS[method].order == "2" else 0.01
    assert all(b < fall * a for a, b in zip(errors, errors[1:], strict=False))
    if METHODS[method].order != "2":
        assert all(error < 1000 * rtol for error, rtol in zip(errors, tolerances, strict=True))


@pytest.mark.parametrize(("method", "highest"), [("ode113", 11), ("ode15s", 5), ("ode15i", 5)])
def test_order_goes_up_where_the_solution_is_smooth(method, highest):
    """From 1 up, one at a time, for a tight tolerance; not so far for a wide one. Adams: 11 of 12 here."""
    tight = solve(oscillator, (0, 10), [1.0, 0.0], method, rtol=1e-11, atol=1e-13).orders
    assert tight[0] == 1 and max(tight) == highest and max(np.diff(tight)) == 1
    wide = solve(oscillator, (0, 10), [1.0, 0.0], method, rtol=1e-2, atol=1e-2).orders
    assert np.mean(wide) < np.mean(tight)


def test_order_goes_down_where_f_jumps():
    """A force that changes its sign at t = 1, 2, ...: ode113 falls back to low orders at each."""
    found = solve(lambda t, y: [(-1.0) ** int(t)], (0.0, 4.0), [0.0], "ode113", rtol=1e-8, atol=1e-10)
    after = [found.orders[np.searchsorted(found.t, k)] for k in (1, 2, 3)]
    assert max(after) <= 3
    assert found.y[-1, 0] == pytest.approx(0.0, abs=1e-7)


def test_adams_pays_two_evaluations_for_a_step():
    """Predict, evaluate, correct, evaluate; a step that fails has cost one; two choose the first. At rtol 1e-10 that is
    a quarter of what ode45 pays."""
    found = solve(oscillator, (0, 10), [1.0, 0.0], "ode113", rtol=1e-10, atol=1e-12)
    assert found.evaluations == 2 + 2 * found.steps + found.rejected
    assert 4 * found.evaluations < solve(oscillator, (0, 10), [1.0, 0.0], "ode45", rtol=1e-10, atol=1e-12).evaluations


def test_adams_is_exact_for_polynomials():
    """y' = t⁶: exact to round-off once the order has reached 7, whatever the steps do."""
    found = solve(lambda t, y: [7.0 * t**6], (0, 3), [0.0], "ode113", rtol=1e-12, atol=1e-12)
    assert found.y[:, 0] == pytest.approx(found.t**7, rel=1e-12, abs=1e-12)


def van_der_pol(t, y):
    return np.array([y[1], 1000.0 * (1.0 - y[0] ** 2) * y[1] - y[0]])


@pytest.mark.parametrize("method", STIFF)
def test_van_der_pol(method):
    """μ = 1000: y falls through zero at 807.084741, rises at 1614.285304 (radau at rtol 1e-9). Within 0.1 % at rtol
    1e-4, in at most 2000 steps, where an explicit method needs half a million."""
    crossing = Event(lambda t, y: y[0])
    found = solve(van_der_pol, (0, 1700), [2.0, 0.0], method, rtol=1e-4, atol=1e-7, events=crossing)
    assert [hit.t for hit in found.hits] == pytest.approx([807.084741, 1614.285304], rel=3e-3)
    assert found.steps < 2000


def robertson(t, y):
    slow, fast, square = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return np.array([-slow + fast, slow - fast - square, square])


@pytest.mark.parametrize("method", STIFF)
def test_robertson(method):
    """Chemical kinetics over 1e5 s: y = 1.78659211e-2, 7.27475e-8, 9.82134006e-1 (radau at rtol 1e-10). The sum stays
    1, a linear invariant, which all these methods keep to what Newton's method leaves."""
    found = solve(robertson, (0, 1e5), [1.0, 0.0, 0.0], method, rtol=1e-5, atol=1e-10)
    assert found.y[-1] == pytest.approx([1.78659211e-2, 7.27475147e-8, 9.82134006e-1], rel=1e-3)
    assert found.y[-1].sum() == pytest.approx(1.0, abs=1e-6)
    assert found.steps < 600


def test_implicit_equations_with_a_constraint():
    """Robertson's sum as an algebraic equation (index 1): ode15i meets the same state; with Jacobians too."""

    def F(t, y, yp):
        rate = robertson(t, y)
        return np.array([yp[0] - rate[0], yp[1] - rate[1], y.sum() - 1.0])

    def jac(t, y, yp):
        by_y = -np.array(
            [
                [-0.04, 1e4 * y[2], 1e4 * y[1]],
                [0.04, -1e4 * y[2] - 6e7 * y[1], -1e4 * y[1]],
                [-1.0, -1.0, -1.0],
            ]
        )
        return by_y, np.diag([1.0, 1.0, 0.0])

    for how in (None, jac):
        found = solve_implicit(F, (0, 1e5), [1.0, 0, 0], [-0.04, 0.04, 0.0], rtol=1e-5, atol=1e-10, jac=how)
        assert found.y[-1] == pytest.approx([1.78659211e-2, 7.27475147e-8, 9.82134006e-1], rel=1e-3)
        assert found.y.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    with pytest.raises(SolveError, match=r"F\(t, y0, yp0\) at t = 0 is 0.04, not zero"):
        solve_implicit(F, (0, 1), [1.0, 0, 0], [0.0, 0.0, 0.0])
    with pytest.raises(SolveError, match="yp0 has 2 elements, y0 3"):
        solve_implicit(F, (0, 1), [1.0, 0, 0], [0.0, 0.0])
