"""ode23tb: TR-BDF2, the trapezoidal rule to t + γ h, then the backward differentiation formula of order 2 to t + h.

Second order, L-stable: R(z) = (1 + (√2 - 1) z) / (1 - (1 - 1/√2) z)². With γ = 2 - √2 both stages have one matrix,
I - d h J.

Bank et al. (1985); Hosea and Shampine, Analysis and implementation of TR-BDF2, Applied Numerical Mathematics 20 (1996):
as a singly diagonally implicit Runge-Kutta method, with a companion of order 3 for the error, filtered by the matrix.
"""

import math
from collections.abc import Callable

import numpy as np
from scipy.integrate import DenseOutput

from rbt_ros.solvers.newton import Implicit
from rbt_ros.solvers.stepper import Options, Pieces, Polynomial, Trial, cubic

GAMMA = 2.0 - math.sqrt(2.0)
D = GAMMA / 2.0
W = math.sqrt(2.0) / 4.0
# weights of order 2 less those of order 3: w, w, d and (1 - w)/3, (3w + 1)/3, d/3
ERROR = (W - (1.0 - W) / 3.0, W - (3.0 * W + 1.0) / 3.0, D - D / 3.0)


class ODE23TB(Implicit):
    """Stages at t, t + γ h and t + h; the last one is the end of the step."""

    order, estimate_order = 2, 3

    def __init__(self, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        super().__init__(f, t0, y0, t_end, options)
        self.within = self.ends = (self.y, self.f0)  # y and y' at t + γ h, and at t + h

    def implicit_step(self, t_new: float, h: float) -> Trial | None:
        """Both stages; derivatives are those that the stages' equations say."""
        y0, f0, c = self.y, self.f0, D * h
        psi = y0 + c * f0
        y1 = self.stage(self.t + GAMMA * h, y0 + GAMMA * h * f0, psi, c)
        if y1 is None:
            return None
        f1 = (y1 - psi) / c
        psi = y0 + W * h * (f0 + f1)
        y2 = self.stage(t_new, y1 + (1.0 - GAMMA) * h * f1, psi, c)
        if y2 is None:
            return None
        f2 = (y2 - psi) / c
        self.within, self.ends = (y1, f1), (y2, f2)
        return Trial(y2, self.filtered(h * (ERROR[0] * f0 + ERROR[1] * f1 + ERROR[2] * f2), c))

    def accept(self, t_new: float, h: float, trial: Trial) -> None:
        """The derivative at the end."""
        self.remember()
        self.f0 = self.ends[1]

    def _dense_output_impl(self) -> DenseOutput:
        """Two cubics, which meet at t + γ h."""
        (t, y, f), (y1, f1) = self.before, self.within
        h = self.t - t
        t1 = t + GAMMA * h
        first = Polynomial(t, t1, cubic(t1 - t, y, f, y1, f1))
        return Pieces(first, Polynomial(t1, self.t, cubic(self.t - t1, y1, f1, self.y, self.f0)))
