"""Explicit Runge-Kutta methods of fixed step, by their tableaux: the pairs without their error control, and RK4."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.integrate import DenseOutput

from rbt_ros.core import dop853, dormand_prince
from rbt_ros.core.integrate import RK4, tableau
from rbt_ros.solvers.stepper import OneStep, Options, Polynomial, Trial, cubic


class Tableau(NamedTuple):
    """Stage i is f(t + C_i h, y + h Σ A_ij k_j), the step y + h Σ B_i k_i; further stages and D: dense output."""

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray | None = None  # rows: weights of x²(1-x)² times 1, x, x(1-x), x²(1-x); None: the cubic will do


BOGACKI_SHAMPINE = Tableau(  # A 3(2) pair of Runge-Kutta formulas (1989)
    np.array([[0.0, 0.0, 0.0], [1 / 2, 0.0, 0.0], [0.0, 3 / 4, 0.0]]),
    np.array([2 / 9, 1 / 3, 4 / 9]),
    np.array([0.0, 1 / 2, 3 / 4]),
)
CLASSICAL = Tableau(*tableau(RK4)[:3])
DORMAND_PRINCE = Tableau(dormand_prince.A, dormand_prince.B[:6], dormand_prince.C, dormand_prince.D[None])
DOP853 = Tableau(dop853.A, dop853.B[:12], dop853.C, dop853.D)

# x²(1-x)² times 1, x, x(1-x), x²(1-x), by powers of x
BUBBLES = np.array(
    [
        [0, 0, 1, -2, 1, 0, 0, 0],
        [0, 0, 0, 1, -2, 1, 0, 0],
        [0, 0, 0, 1, -3, 3, -1, 0],
        [0, 0, 0, 0, 1, -3, 3, -1],
    ]
)


class FixedRungeKutta(OneStep):
    """Any explicit Runge-Kutta method, fixed step."""

    def __init__(self, tableau: Tableau, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        self.tableau = tableau
        super().__init__(f, t0, y0, t_end, options)
        self.before = (self.t, self.y)
        self.stages = np.zeros((len(tableau.C), self.n), self.y.dtype)

    def attempt(self, t_new: float, h: float) -> Trial:
        """The stages, and y at the end."""
        count = len(self.tableau.B)
        self.stages[0] = self.f0
        self._fill(self.t, self.y, h, 1, count)
        return Trial(self.y + h * (self.tableau.B @ self.stages[:count]), np.zeros(self.n))

    def _fill(self, t: float, y: np.ndarray, h: float, first: int, last: int) -> None:
        A, C, k = self.tableau.A, self.tableau.C, self.stages
        for i in range(first, last):
            k[i] = self.fun(t + C[i] * h, y + h * (A[i, :i] @ k[:i]))

    def accept(self, t_new: float, h: float, trial: Trial) -> None:
        """f at the end is the first stage of the next step."""
        self.before = (self.t, self.y)
        self.f0 = self.fun(t_new, trial.y)

    def _dense_output_impl(self) -> DenseOutput:
        (t, y), D, count = self.before, self.tableau.D, len(self.tableau.B)
        h = self.t - t
        coefficients = cubic(h, y, self.stages[0], self.y, self.f0)
        if D is not None:
            self.stages[count] = self.f0
            self._fill(t, y, h, count + 1, len(self.stages))
            weights = BUBBLES[: len(D), : 4 + len(D)].astype(float)
            coefficients = np.pad(coefficients, ((0, len(D)), (0, 0))) + h * (weights.T @ (D @ self.stages))
        return Polynomial(t, self.t, coefficients)
