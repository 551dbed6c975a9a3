"""ode15i: backward differentiation of order 1 to 5 with variable steps, for F(t, y, y') = 0.

y' at the new time is that of the polynomial through y there and at the last k times, so that F(t, y, α₀ y + β) = 0 is
to be solved; the polynomial through the last k + 1 times predicts y, and the difference of the two gives the error.

Brenan, Campbell, Petzold, Numerical Solution of Initial-Value Problems in Differential-Algebraic Equations (1996),
chapter 5, with variable coefficients.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import DenseOutput
from scipy.linalg import lu_factor

from rbt_ros.solvers.newton import CONTROLLED, newton
from rbt_ros.solvers.stepper import SAFETY, TOO_SMALL, Options, Polynomial, Stepper, length_factor, rms, tolerance

MAX_ORDER = 5
STEADY = 1.2  # a step that could grow by less than this stays

Jacobians = Callable[[float, np.ndarray, np.ndarray, float], tuple[np.ndarray, np.ndarray]]


def extrapolation_weights(t: float, times: np.ndarray) -> np.ndarray:
    """Of the values at `times`, for the value at t of the polynomial through them (Lagrange)."""
    gaps = times[:, None] - times[None, :] + np.eye(len(times))
    ratios = (t - times)[None, :] / gaps
    np.fill_diagonal(ratios, 1.0)
    return np.prod(ratios, axis=1)


def slope_weights(t: float, times: np.ndarray) -> tuple[float, np.ndarray]:
    """α₀ and a with y'(t) = α₀ y(t) + Σ a_i y(times_i), exact for polynomials of degree len(times)."""
    a = extrapolation_weights(t, times) / (times - t)
    return -float(a.sum()), a


class ODE15I(Stepper):
    """Backward differentiation in Lagrange's form: past times and values are all it remembers."""

    def __init__(
        self, F: Callable, jacobians: Jacobians, t0: float, y0: np.ndarray, yp0: np.ndarray, t_end: float,
        options: Options,
    ):  # fmt: skip
        """F(t, y, y') and its derivatives by y and y' as a function of (t, y, y', h)."""
        super().__init__(lambda t, y: y, t0, y0, t_end, options)
        self.F, self.jacobians = F, jacobians
        self.h, self.order, self.steps_at_order = self._first_step(t_end - t0, yp0), 1, 0
        self.slope, self.started = np.array(yp0, self.y.dtype), False
        self._straight_past(self.h)

    def _first_step(self, span: float, yp0: np.ndarray) -> float:
        """What changes y by half a tolerance, but not so short that round-off counts: the error control corrects it."""
        if self.options.first_step is not None:
            return self.options.first_step
        speed, longest = rms(yp0 / tolerance(self.options, self.y)), min(1e-3 * abs(span), self.options.max_step)
        return min(longest, max(0.5 / speed, 1e-6 * abs(span))) if speed > 0.0 else longest

    def _straight_past(self, h: float) -> None:
        """Before the first step: a line through the start is the history."""
        self.times = np.array([self.t, self.t - self.direction * h])
        self.values = np.array([self.y, self.y - self.direction * h * self.slope])

    def _step_impl(self) -> tuple[bool, str | None]:
        failures, h = 0, min(self.h, self.options.max_step)
        while (t_new := self.next_time(h)) is not None:
            h = abs(t_new - self.t)
            if not self.started:
                self._straight_past(h)
            y, slope = self._solve(t_new)
            error = math.inf if y is None else self._error(self.order, t_new, y)
            if y is not None and error <= 1.0:
                self._choose(t_new, y, h, failures)
                kept = MAX_ORDER + 1
                self.times = np.concatenate([[t_new], self.times[:kept]])
                self.values = np.concatenate([y[None], self.values[:kept]])
                self.t, self.y, self.slope, self.started = t_new, y, slope, True
                return True, None
            self.rejected += 1
            failures += 1
            h *= length_factor(error, self.order + 1)
            if failures > 1 and self.order > 1:
                self.order, self.steps_at_order = self.order - 1, 0
        return False, TOO_SMALL

    def _solve(self, t: float) -> tuple[np.ndarray | None, np.ndarray]:
        """y at t by Newton's method from the predictor, None if it does not converge; and y'."""
        k = self.order
        alpha, a = slope_weights(t, self.times[:k])
        beta = a @ self.values[:k]
        predicted = extrapolation_weights(t, self.times[: k + 1]) @ self.values[: k + 1]
        by_y, by_slope = self.jacobians(t, predicted, alpha * predicted + beta, t - self.t)
        self.njev += 1
        matrix = by_y + alpha * by_slope
        if not np.isfinite(matrix).all():
            return None, self.slope
        lu = lu_factor(matrix, check_finite=False)
        self.nlu += 1
        scale = tolerance(self.options, self.y, predicted)
        y = newton(lambda y: self.F(t, y, alpha * y + beta), lu, predicted, scale, CONTROLLED)
        return y, self.slope if y is None else alpha * y + beta

    def _error(self, k: int, t: float, y: np.ndarray) -> float:
        """The local error of order k over the tolerance: of y less predictor the share 1 / (α₀ (t - t_k))."""
        alpha, _ = slope_weights(t, self.times[:k])
        predicted = extrapolation_weights(t, self.times[: k + 1]) @ self.values[: k + 1]
        error = (y - predicted) / (alpha * (t - self.times[k]))
        return rms(error / tolerance(self.options, self.y, y))

    def _choose(self, t: float, y: np.ndarray, h: float, failures: int) -> None:
        """Order and step of the next step: what goes farthest, among k - 1, k, k + 1."""
        k = self.order
        self.steps_at_order += 1
        orders = [k]
        if self.steps_at_order > k and failures == 0:
            orders += [q for q in (k - 1, k + 1) if 1 <= q <= MAX_ORDER and q < len(self.times)]
        factors = {q: SAFETY * max(self._error(q, t, y), 1e-10) ** (-1.0 / (q + 1)) for q in orders}
        best = max(orders, key=lambda q: factors[q])
        if best != k:
            self.order, self.steps_at_order = best, 0
        factor = min(2.0, factors[best], 1.0 if failures else 2.0)
        self.h = h if 1.0 <= factor < STEADY else h * factor

    def _dense_output_impl(self) -> DenseOutput:
        """The polynomial through the values at the last times."""
        h = self.t - self.t_old
        count = min(self.order + 1, len(self.times))
        x = (self.times[:count] - self.t) / h
        powers = x[:, None] ** np.arange(count)
        coefficients = np.linalg.solve(powers, self.values[:count])
        return Polynomial(self.t_old, self.t, coefficients, origin=self.t)
