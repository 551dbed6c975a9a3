"""ode113: Adams-Bashforth-Moulton in PECE mode, variable step, order 1 to 12, result extrapolated to one order more.

In the letters of Shampine and Gordon, Computer Solution of Ordinary Differential Equations (1975), chapters 5 to 7:
h_i = x_i - x_(i-1), ψ_i(n+1) = x_(n+1) - x_(n+1-i), α_i = h / ψ_i, and φ_i the modified divided differences of f, which
for a constant step are backward differences. Rows here count from 0, their letters from 1.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import DenseOutput

from rbt_ros.solvers.stepper import (
    TOO_SMALL,
    Options,
    Polynomial,
    Stepper,
    first_step,
    rms,
    tolerance,
)

MAX_ORDER = 12


def moulton_coefficients(count: int) -> np.ndarray:
    """γ*_0 to γ*_(count-1): 1, -1/2, -1/12, -1/24, ... of the corrector in backward differences."""
    gamma = np.ones(count)
    for m in range(1, count):
        gamma[m] = -sum(gamma[j] / (m + 1 - j) for j in range(m))
    return gamma


SIZE = np.abs(moulton_coefficients(MAX_ORDER + 2))  # |γ*_k|: of the local error at order k


class ODE113(Stepper):
    """Predict, evaluate, correct, evaluate."""

    def __init__(self, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        super().__init__(f, t0, y0, t_end, options)
        f0 = self.fun(t0, self.y)
        self.times = np.array([t0])  # x_n, x_(n-1), ...: as many as there are, at most MAX_ORDER + 1
        self.phi = np.zeros((MAX_ORDER + 2, self.n), self.y.dtype)
        self.phi[0] = f0
        self.order = 1
        self.h = first_step(self.fun, t0, self.y, f0, t_end - t0, 1, options)
        self.uniform = 0  # steps of this length so far
        self.starting = True  # order and step go up with every step
        self.done = (1, np.ones(1))  # order and ψ of the last step: its dense output

    def _step_impl(self) -> tuple[bool, str | None]:
        failures, self.h = 0, min(self.h, self.options.max_step)
        while (t_new := self.next_time(self.h)) is not None:
            if t_new == self.t_bound:
                self._stretch(abs(t_new - self.t) / self.h)
            if self._attempt(t_new, failures):
                return True, None
            failures += 1
            self.rejected += 1
        return False, TOO_SMALL

    def _attempt(self, t_new: float, failures: int) -> bool:
        """One step of order k; whether its error is within the tolerance. Sets order and step of the next one."""
        k, h = self.order, t_new - self.t
        psi = t_new - self.times[:k]
        alpha = h / psi
        beta = np.cumprod([1.0, *(psi[:-1] / (self.times[0] - self.times[1:k]))])
        sigma = np.cumprod([1.0, *(np.arange(1, k + 1) * alpha)])
        g = integrals(alpha)
        star = beta[:, None] * self.phi[:k]
        expected = np.cumsum(star[::-1], axis=0)[::-1]  # φᵉ: the differences if f went on as the polynomial

        predicted = self.y + h * (g[:k] @ star)
        surprise = self.fun(t_new, predicted) - expected[0]  # φᵖ_(k+1)
        corrected = predicted + h * g[k] * surprise

        scale = tolerance(self.options, self.y, corrected)
        size = abs(h) * rms(surprise / scale)
        error, at_k = size * abs(g[k - 1] - g[k]), size * sigma[k] * SIZE[k]
        below = abs(h) * sigma[k - 1] * SIZE[k - 1] * rms((expected[k - 1] + surprise) / scale) if k > 1 else math.inf
        lower = abs(h) * sigma[k - 2] * SIZE[k - 2] * rms((expected[k - 2] + surprise) / scale) if k > 2 else -math.inf
        fall = max(below, lower) <= at_k if k > 2 else below <= 0.5 * at_k
        if not error <= 1.0:  # NaN too
            self._fall_back(at_k, fall, failures)
            return False

        change = self.fun(t_new, corrected) - expected[0]
        self.phi[k + 1] = change - self.phi[k]
        self.phi[k] = change
        self.phi[:k] = expected + change
        self.times = np.concatenate([[t_new], self.times[:MAX_ORDER]])
        self.t, self.y, self.done = t_new, corrected, (k, psi)
        self.uniform += 1
        self._choose(at_k, below, fall, abs(h) * SIZE[k + 1] * rms(self.phi[k + 1] / scale))
        return True

    def _fall_back(self, at_k: float, fall: bool, failures: int) -> None:
        """After a failure: half the step; after three the step that order 1 wants."""
        self.starting, self.uniform = False, 0
        self.order -= 1 if fall else 0
        factor = 0.5
        if failures >= 2:
            self.order = 1
            factor = min(0.5, math.sqrt(0.5 / at_k)) if 0.0 < at_k < math.inf else 0.1
        self.h *= factor

    def _choose(self, at_k: float, below: float, fall: bool, above: float) -> None:
        """Order and length of the next step, from the errors that orders k - 1, k and k + 1 would have had."""
        k, estimate = self.order, at_k
        self.starting = self.starting and not fall and k < MAX_ORDER
        if self.starting:
            self.order += 1
            self._stretch(2.0)
            return
        known = self.uniform > k and k < MAX_ORDER  # the difference k + 2 needs steps of one length
        if fall or (known and k > 1 and below <= min(at_k, above)):
            self.order, estimate = k - 1, below
        elif known and (above < 0.5 * at_k if k == 1 else above < at_k):
            self.order, estimate = k + 1, above
        ratio = 0.5 / estimate if estimate > 0.0 else math.inf
        if ratio >= 2.0 ** (self.order + 1):
            self._stretch(2.0)
        elif ratio < 1.0:
            self._stretch(max(0.5, min(0.9, ratio ** (1.0 / (self.order + 1)))))

    def _stretch(self, factor: float) -> None:
        """Change the length of the next step, within what is allowed."""
        h = min(factor * self.h, self.options.max_step)
        self.uniform = self.uniform if h == self.h else 0
        self.h = h

    def _dense_output_impl(self) -> DenseOutput:
        """The integral, back from the end, of the polynomial through the derivatives at the last k + 1 times."""
        k, psi = self.done
        h = self.t - self.t_old
        basis, coefficients = np.ones(1), np.zeros((k + 2, self.n), self.y.dtype)
        coefficients[0] = self.y
        for i in range(k + 1):
            integral = np.polynomial.polynomial.polyint(basis)
            coefficients[: len(integral)] += h * np.outer(integral, self.phi[i])
            if i < k:
                shift = psi[i - 1] if i > 0 else 0.0  # (x - x_(n+1-i)) / ψ_(i+1), x = x_(n+1) + s h
                basis = np.convolve(basis, [shift / psi[i], h / psi[i]])
        return Polynomial(self.t_old, self.t, coefficients, origin=self.t)


def integrals(alpha: np.ndarray) -> np.ndarray:
    """g_1 to g_(k+1): over one step, of the products that the differences multiply."""
    k = len(alpha)
    q = np.arange(1.0, k + 3)
    row = 1.0 / q[: k + 1]
    g = [row[0]]
    if k >= 1:
        row = 1.0 / (q[:k] * q[1 : k + 1])
        g.append(row[0])
    for i in range(1, k):
        row = row[:-1] - alpha[i] * row[1:]
        g.append(row[0])
    return np.array(g)
