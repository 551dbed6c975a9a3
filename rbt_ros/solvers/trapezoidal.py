"""ode23t: the trapezoidal rule, with the free interpolant.

Second order, A-stable, no damping at infinity: R(z) = (1 + z/2) / (1 - z/2).

Hosea and Shampine, Analysis and implementation of TR-BDF2, Applied Numerical Mathematics 20 (1996): the derivative at
the end of a step is what the rule itself says it is, and costs nothing; with it and the one at the start there is a
cubic between the steps. Local error -h³ y'''/12: y''' from the derivatives at three times, the last one of the step
before, or, where there is none, one in the middle.
"""

from collections.abc import Callable

import numpy as np
from scipy.integrate import DenseOutput

from rbt_ros.solvers.newton import Implicit
from rbt_ros.solvers.stepper import Options, Polynomial, Trial, cubic


class ODE23T(Implicit):
    """y1 = y0 + h/2 (f0 + f1)."""

    order, estimate_order = 2, 3

    def __init__(self, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        super().__init__(f, t0, y0, t_end, options)
        self.past: tuple[float, np.ndarray] | None = None  # time and derivative at the start of the step before

    def implicit_step(self, t_new: float, h: float) -> Trial | None:
        """The rule, and its error h³/12 y''' with y''' = 2 f[t0, t1, past]."""
        y0, f0, c = self.y, self.f0, 0.5 * h
        y1 = self.stage(t_new, y0 + h * f0, y0 + c * f0, c)
        if y1 is None:
            return None
        t_past, f_past = self.past or self._middle(h, y1)
        f1 = self._end_slope(h, y1)
        bend = ((f1 - f0) / h - (f0 - f_past) / (self.t - t_past)) / (t_new - t_past)
        return Trial(y1, self.filtered(h**3 / 6.0 * bend, c))

    def _end_slope(self, h: float, y1: np.ndarray) -> np.ndarray:
        return 2.0 * (y1 - self.y) / h - self.f0

    def _middle(self, h: float, y1: np.ndarray) -> tuple[float, np.ndarray]:
        """Time and derivative halfway, on the cubic."""
        y = cubic(h, self.y, self.f0, y1, self._end_slope(h, y1)).T @ [1.0, 0.5, 0.25, 0.125]
        return self.t + 0.5 * h, self.fun(self.t + 0.5 * h, y)

    def accept(self, t_new: float, h: float, trial: Trial) -> None:
        """The derivative at the end, as the rule has it."""
        self.remember()
        self.past = (self.t, self.f0)
        self.f0 = self._end_slope(h, trial.y)

    def _dense_output_impl(self) -> DenseOutput:
        t, y, f = self.before
        return Polynomial(t, self.t, cubic(self.t - t, y, f, self.y, self.f0))
