"""Jacobians by differences, and Newton's method for the stages of implicit methods."""

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import lu_factor, lu_solve

from rbt_ros.solvers.stepper import OneStep, Options, Trial, rms, tolerance

EPS = float(np.finfo(float).eps)
ROOT_EPS = math.sqrt(EPS)
CONTROLLED = (6, 1e-3)  # iterations, error left over the tolerance of a step
OLDEST = 10  # steps that a Jacobian is used: errors of stiff components are weighed by it
FIXED = (20, 0.1)  # over 1e-13 |y|: what is left is round-off, so that a fixed step shows the method's own error


def jacobian(f: Callable[[np.ndarray], np.ndarray], y: np.ndarray, f0: np.ndarray, increment: np.ndarray) -> np.ndarray:
    """∂f/∂y by forward differences, n evaluations."""
    J = np.empty((f0.size, y.size), np.result_type(y, f0))
    for j in range(y.size):
        moved = y.copy()
        moved[j] += increment[j]
        J[:, j] = (f(moved) - f0) / (moved[j] - y[j])
    return J


def increments(y: np.ndarray, f0: np.ndarray, h: float, scale: np.ndarray) -> np.ndarray:
    """For `jacobian`: √eps |y|, but so large that round-off in f puts at most 1e-3 into h ∂f/∂y in units of scale.

    scale: atol + rtol |y|. Hindmarsh et al., SUNDIALS (2005), section 2.1, on dense difference quotients.
    """
    floor = 1000.0 * abs(h) * EPS * y.size * rms(f0 / scale)
    return np.maximum(ROOT_EPS * np.abs(y), (floor if 0.0 < floor < math.inf else 1.0) * scale)


def slope_by_y(f: Callable, t: float, y: np.ndarray, h: float, options: Options, f0: Any = None) -> np.ndarray:
    """∂f/∂y at t, y, for a step h: as the user gave it, a function or a matrix, else by differences from f0 = f(t, y).

    f0: computed if it is needed and not given.
    """
    jac = options.jac
    if jac is not None:
        return np.asarray(jac(t, y) if callable(jac) else jac, dtype=y.dtype)
    f0 = f(t, y) if f0 is None else f0
    return jacobian(lambda x: f(t, x), y, f0, increments(y, f0, h, tolerance(options, y)))


def newton(
    residual: Callable[[np.ndarray], np.ndarray], lu: Any, y: np.ndarray, scale: np.ndarray, effort: tuple[int, float]
) -> np.ndarray | None:
    """The y at which the residual is zero, by Newton's method with one matrix; None if it does not converge.

    It ends when the error left, as the rate of convergence lets it expect, is small against scale.
    """
    iterations, goal = effort
    before = 0.0
    for i in range(iterations):
        change = lu_solve(lu, residual(y), check_finite=False)
        size = rms(change / scale)
        if not math.isfinite(size):
            return None
        y = y - change
        rate = size / before if i > 0 else 0.0
        if size == 0.0 or (rate < 1.0 and i > 0 and rate / (1.0 - rate) * size < goal):
            return y
        if rate >= 1.0:
            return y if size < goal else None  # round-off does not go down any more
        before = size
    return None


class Implicit(OneStep):
    """Methods whose stages solve y = ψ + c f(t, y): one matrix I - c ∂f/∂y, kept for some steps."""

    def __init__(self, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        super().__init__(f, t0, y0, t_end, options)
        self.J = np.zeros((self.n, self.n), self.y.dtype)
        self.lu: Any = None
        self.lu_of = 0.0  # the c of lu
        self.age = OLDEST  # steps since J was computed
        self.before = (self.t, self.y, self.f0)

    def attempt(self, t_new: float, h: float) -> Trial | None:
        """The step with the Jacobian as it is; if that does not converge, with a new one."""
        if self.age < OLDEST:
            trial = self.implicit_step(t_new, h)
            if trial is not None or self.age == 0:
                return trial
        self.renew_jacobian(h)
        return self.implicit_step(t_new, h)

    @abstractmethod
    def implicit_step(self, t_new: float, h: float) -> Trial | None:
        """The step, None if a stage did not converge."""

    def renew_jacobian(self, h: float) -> None:
        """J at self.t, self.y."""
        self.J = slope_by_y(self.fun, self.t, self.y, h, self.options)  # self.f0 is what the stage's equation says
        self.njev += 1
        self.age, self.lu = 0, None

    def factored(self, c: float) -> Any:
        """I - c J in triangular factors."""
        if self.lu is None or c != self.lu_of:
            self.lu, self.lu_of = lu_factor(np.eye(self.n) - c * self.J, check_finite=False), c
            self.nlu += 1
        return self.lu

    def stage(self, t: float, guess: np.ndarray, psi: np.ndarray, c: float) -> np.ndarray | None:
        """y with y = ψ + c f(t, y)."""
        lu = self.factored(c)
        if self.options.step is None:
            scale, effort = tolerance(self.options, guess, self.y), CONTROLLED
        else:
            size = max(np.abs(self.y).max(), np.abs(guess).max(), 1e-300)
            scale, effort = np.full(self.n, 1e-13 * size), FIXED
        return newton(lambda y: y - psi - c * self.fun(t, y), lu, guess, scale, effort)

    def filtered(self, error: np.ndarray, c: float) -> np.ndarray:
        """(I - c J)⁻¹ error: of stiff components the estimate alone is far too large (Hosea and Shampine 1996)."""
        return lu_solve(self.factored(c), error, check_finite=False)

    def remember(self) -> None:
        """Keep the start of the accepted step for the dense output; J is of the past from now on."""
        self.before = (self.t, self.y, self.f0)
        self.age += 1
