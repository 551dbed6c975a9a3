"""ode23s: the modified Rosenbrock pair of orders 2 and 3: one Jacobian per step, three linear systems, no iteration.

Second order whatever the matrix J is (a W-method), L-stable: R(z) = (1 + (1 - 2d) z) / (1 - d z)², d = 1 / (2 + √2).

Shampine and Reichelt, The MATLAB ODE suite, SIAM Journal on Scientific Computing 18 (1997), section 2.1.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import DenseOutput
from scipy.linalg import lu_factor, lu_solve

from rbt_ros.solvers.newton import ROOT_EPS, slope_by_y
from rbt_ros.solvers.stepper import OneStep, Options, Polynomial, Trial

D = 1.0 / (2.0 + math.sqrt(2.0))
E32 = 6.0 + math.sqrt(2.0)


class ODE23S(OneStep):
    """W k = right-hand side with W = I - h d J, three times."""

    order, estimate_order = 2, 3

    def __init__(self, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        super().__init__(f, t0, y0, t_end, options)
        self.slope: tuple[np.ndarray, np.ndarray] | None = None  # ∂f/∂y and ∂f/∂t at the start of the step
        self.before = (self.t, self.y)
        self.slopes = (self.f0, self.f0, self.f0)  # k1, k2 and f at the end

    def attempt(self, t_new: float, h: float) -> Trial | None:
        """The pair: the result is of order 2, its companion of order 3."""
        if self.slope is None:
            self.slope = self._differentiate(h)
        J, T = self.slope
        W = np.eye(self.n) - h * D * J
        if not np.isfinite(W).all():
            return None
        lu = lu_factor(W, check_finite=False)
        self.nlu += 1
        f0, hdT = self.f0, h * D * T
        k1 = lu_solve(lu, f0 + hdT, check_finite=False)
        f1 = self.fun(self.t + 0.5 * h, self.y + 0.5 * h * k1)
        k2 = lu_solve(lu, f1 - k1, check_finite=False) + k1
        y = self.y + h * k2
        f2 = self.fun(t_new, y)
        k3 = lu_solve(lu, f2 - E32 * (k2 - f1) - 2.0 * (k1 - f0) + hdT, check_finite=False)
        self.slopes = (k1, k2, f2)
        return Trial(y, h / 6.0 * (k1 - 2.0 * k2 + k3))

    def _differentiate(self, h: float) -> tuple[np.ndarray, np.ndarray]:
        """∂f/∂y and ∂f/∂t at self.t, self.y."""
        t, y, f0 = self.t, self.y, self.f0
        J = slope_by_y(self.fun, t, y, h, self.options, f0)
        self.njev += 1
        later = t + math.copysign(min(ROOT_EPS * max(abs(t), abs(t + h)), abs(h)), h)
        return J, (self.fun(later, y) - f0) / (later - t)

    def accept(self, t_new: float, h: float, trial: Trial) -> None:
        """f at the end is f0 of the next step, which has a new Jacobian."""
        self.before, self.f0, self.slope = (self.t, self.y), self.slopes[2], None

    def _dense_output_impl(self) -> DenseOutput:
        """y + h (x (1 - x) k1 + x (x - 2d) k2) / (1 - 2d)."""
        (t, y), (k1, k2, _) = self.before, self.slopes
        c = (self.t - t) / (1.0 - 2.0 * D)
        return Polynomial(t, self.t, np.array([y, c * (k1 - 2.0 * D * k2), c * (k2 - k1)]))
