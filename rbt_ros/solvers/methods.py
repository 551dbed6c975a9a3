"""The table of methods: what each name means, and who computes it."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.integrate import BDF, DOP853, LSODA, RK23, RK45, OdeSolver, Radau

from rbt_ros.solvers import explicit
from rbt_ros.solvers.adams import ODE113
from rbt_ros.solvers.bdf import ODE15I
from rbt_ros.solvers.newton import slope_by_y
from rbt_ros.solvers.rosenbrock import ODE23S
from rbt_ros.solvers.stepper import Options
from rbt_ros.solvers.tr_bdf2 import ODE23TB
from rbt_ros.solvers.trapezoidal import ODE23T

Make = Callable[[Callable, float, np.ndarray, float, Options], OdeSolver]


class Method(NamedTuple):
    """A way to solve y' = f(t, y)."""

    title: str
    order: str
    stiff: bool
    controlled: Make | None  # under error control; None: fixed steps only
    fixed: Make | None  # of fixed steps; None: under error control only
    stages: int | None = None  # evaluations per step tried, of scipy's explicit methods, which do not count rejections


def _scipy(solver: Callable, f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options) -> OdeSolver:
    keywords: dict[str, Any] = options._asdict()
    del keywords["step"]
    jac = keywords.pop("jac")
    if solver in (BDF, Radau, LSODA):
        keywords["jac"] = jac
    if solver is LSODA and jac is not None and not callable(jac):
        keywords["jac"] = lambda t, y: jac
    return solver(f, t0, y0, t_end, **keywords)


def _implicit_form(f: Callable, t0: float, y0: np.ndarray, t_end: float, options: Options) -> OdeSolver:
    """y' - f(t, y) = 0."""

    def jacobians(t: float, y: np.ndarray, yp: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        return -slope_by_y(f, t, y, h, options), np.eye(len(y))

    return ODE15I(lambda t, y, yp: yp - f(t, y), jacobians, t0, y0, f(t0, y0), t_end, options)


def _one_step(title: str, order: str, solver: Make) -> Method:
    """One of our implicit one-step methods: it does both."""
    return Method(title, order, True, solver, solver)


def _pair(title: str, order: str, solver: Any, tableau: explicit.Tableau) -> Method:
    """An explicit pair: scipy's under error control, ours for fixed steps."""
    fixed = partial(explicit.FixedRungeKutta, tableau)
    return Method(title, order, False, partial(_scipy, solver), fixed, solver.n_stages)


METHODS: dict[str, Method] = {
    "ode45": _pair("Dormand and Prince 5(4)", "5", RK45, explicit.DORMAND_PRINCE),
    "ode23": _pair("Bogacki and Shampine 3(2)", "3", RK23, explicit.BOGACKI_SHAMPINE),
    "ode113": Method("Adams-Bashforth-Moulton, PECE", "1 to 13", False, ODE113, None),
    "ode15s": Method("numerical differentiation formulas", "1 to 5", True, partial(_scipy, BDF), None),
    "ode23s": _one_step("modified Rosenbrock 2(3)", "2", ODE23S),
    "ode23t": _one_step("trapezoidal rule, free interpolant", "2", ODE23T),
    "ode23tb": _one_step("TR-BDF2", "2", ODE23TB),
    "ode15i": Method("backward differentiation, F(t, y, y') = 0", "1 to 5", True, _implicit_form, None),
    "rk4": Method("classical Runge-Kutta", "4", False, None, partial(explicit.FixedRungeKutta, explicit.CLASSICAL)),
    "dop853": _pair("Dormand and Prince 8(5,3)", "8", DOP853, explicit.DOP853),
    "radau": Method("Radau IIA", "5", True, partial(_scipy, Radau), None),
    "lsoda": Method("Adams and backward differentiation, switching", "1 to 12", True, partial(_scipy, LSODA), None),
}
