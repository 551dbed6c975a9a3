"""What our one-step methods share: trial steps under error control or of fixed length, and polynomials between them.

Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), section II.4.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import DenseOutput, OdeSolver

SAFETY, SHRINK, GROW = 0.9, 0.2, 5.0  # of the step size: margin; the least and the most it changes at once
TOO_SMALL = "the steps become too small for the tolerance"


class Options(NamedTuple):
    """What a method is told, checked by `run.solve`."""

    rtol: float = 1e-3
    atol: Any = 1e-6  # number, or one per element of y
    max_step: float = math.inf
    first_step: float | None = None  # None: chosen by the method
    step: float | None = None  # fixed; None: under error control
    jac: Any = None  # function of (t, y), matrix, or None: by differences


class Trial(NamedTuple):
    """A step that was tried."""

    y: np.ndarray
    error: np.ndarray  # estimate of the local error


class Polynomial(DenseOutput):
    """y = Σ c_i x^i between t_old and t, where x = (t - origin) / h."""

    def __init__(self, t_old: float, t: float, coefficients: np.ndarray, origin: float | None = None):
        """coefficients: (degree + 1, n). origin: t_old if not given."""
        super().__init__(t_old, t)
        self.h, self.origin, self.coefficients = t - t_old, t_old if origin is None else origin, coefficients

    def _call_impl(self, t: np.ndarray) -> np.ndarray:
        x = (t - self.origin) / self.h
        return (x[..., None] ** np.arange(len(self.coefficients)) @ self.coefficients).T


class Pieces(DenseOutput):
    """Two polynomials, one after the other."""

    def __init__(self, first: Polynomial, second: Polynomial):
        super().__init__(first.t_old, second.t)
        self.first, self.second = first, second

    def _call_impl(self, t: np.ndarray) -> np.ndarray:
        early = (t - self.first.t) * self.first.h < 0.0
        return np.where(early, self.first(t), self.second(t))


def cubic(h: float, y0: np.ndarray, f0: np.ndarray, y1: np.ndarray, f1: np.ndarray) -> np.ndarray:
    """Coefficients of the cubic with values y0, y1 and derivatives f0, f1 at the ends of a step (Hermite)."""
    rise = y1 - y0
    return np.array([y0, h * f0, 3.0 * rise - h * (2.0 * f0 + f1), h * (f0 + f1) - 2.0 * rise])


def rms(x: np.ndarray) -> float:
    """Root mean square."""
    return float(np.linalg.norm(x)) / math.sqrt(x.size)


def tolerance(options: Options, *ys: np.ndarray) -> np.ndarray:
    """atol + rtol |y| of the largest of the given y, element by element."""
    return options.atol + options.rtol * np.max(np.abs(ys), axis=0)


def first_step(
    f: Callable[[float, np.ndarray], np.ndarray], t: float, y: np.ndarray, f0: np.ndarray, span: float, order: int,
    options: Options,
) -> float:  # fmt: skip
    """A step > 0 whose error will be about the tolerance: from the size of y, its rate, and the rate's change.

    span: what lies ahead, negative if backward. order: of the method, whose local error falls as h^(order + 1).
    """
    if options.first_step is not None:
        return min(options.first_step, abs(span))
    scale = tolerance(options, y)
    d0, d1 = rms(y / scale), rms(f0 / scale)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, abs(span), options.max_step)
    signed = math.copysign(h, span)
    d2 = rms((f(t + signed, y + signed * f0) - f0) / scale) / h
    steepest = max(d1, d2)
    bold = (0.01 / steepest) ** (1.0 / (order + 1)) if steepest > 1e-15 else max(1e-6, 1e-3 * h)
    h = min(100.0 * h, bold, abs(span), options.max_step)
    return h if h > 0.0 else 1e-6 * abs(span)  # also of NaN: the first step then finds out


def length_factor(error: float, order: int) -> float:
    """What to multiply a step by, after an error (1: just tolerable, NaN: none) that goes as h^order."""
    if not math.isfinite(error):
        return SHRINK
    return min(GROW, max(SHRINK, SAFETY * error ** (-1.0 / order))) if error > 0.0 else GROW


class Stepper(OdeSolver):
    """A solver of our own."""

    t: float
    y: np.ndarray
    h: float  # > 0: the length of the next step to try

    def __init__(self, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        super().__init__(f, t0, y0, t_end, vectorized=False, support_complex=True)
        self.options, self.rejected = options, 0

    def next_time(self, h: float) -> float | None:
        """Where a step of length h > 0 ends: at most at the end of the span; None if h is lost in round-off."""
        left = abs(self.t_bound - self.t)
        if left <= min(1.01 * h, (1.0 + 1e-9) * self.options.max_step):
            return self.t_bound
        return self.t + self.direction * h if h > 10.0 * math.ulp(max(abs(self.t), abs(self.t_bound))) else None


class OneStep(Stepper, ABC):
    """A method that needs nothing but y: subclasses say what a step of length h is, and what lies within it."""

    order: int  # local error h^(order + 1)
    estimate_order: int  # the estimate of it falls as h^estimate_order

    def __init__(self, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options):
        super().__init__(f, t0, y0, t_end, options)
        self.start, self.count = t0, 0
        self.f0 = self.fun(t0, self.y)  # y' at the start of the step to come
        self.h = options.step or first_step(self.fun, t0, self.y, self.f0, t_end - t0, self.order, options)

    @abstractmethod
    def attempt(self, t_new: float, h: float) -> Trial | None:
        """The step of signed length h to t_new from self.t, self.y, self.f0; None if its equations have no solution."""

    @abstractmethod
    def accept(self, t_new: float, h: float, trial: Trial) -> None:
        """Go on to the end of the step: set what the next one and the dense output need, f0 among it."""

    def _step_impl(self) -> tuple[bool, str | None]:
        return self._controlled_step() if self.options.step is None else self._fixed_step()

    def _fixed_step(self) -> tuple[bool, str | None]:
        self.count += 1
        t_new = self.start + self.direction * self.count * self.h  # nothing accumulates
        if self.direction * (t_new - self.t_bound) > -1e-9 * self.h:
            t_new = self.t_bound
        trial = self.attempt(t_new, t_new - self.t)
        if trial is None:
            return False, "Newton's method does not converge; try a smaller step"
        self._go_on(t_new, trial)
        return True, None

    def _controlled_step(self) -> tuple[bool, str | None]:
        h, most = min(self.h, self.options.max_step), GROW
        while (t_new := self.next_time(h)) is not None:
            h = abs(t_new - self.t)
            trial = self.attempt(t_new, t_new - self.t)
            error = math.inf if trial is None else rms(trial.error / tolerance(self.options, self.y, trial.y))
            factor = length_factor(error, self.estimate_order)
            if trial is not None and error <= 1.0:
                self._go_on(t_new, trial)
                self.h = h * min(most, factor)
                return True, None
            self.rejected += 1
            h, most = h * factor, 1.0  # a step is not to grow right after a failure
        return False, TOO_SMALL

    def _go_on(self, t_new: float, trial: Trial) -> None:
        self.accept(t_new, t_new - self.t, trial)
        self.t, self.y = t_new, trial.y
