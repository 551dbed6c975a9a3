"""Integrators: one record each, by name. Every list of them, in files, nodes, checks, views, is asked from here."""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.integrate import KICK_AND_DRIFT, LIE, PAIR_5_4, PAIR_8_5_3, Method, runge_kutta, stage_nodes, tableau
from rbt_ros.core.work import STAGE_ROW
from rbt_ros.errors import ModelError
from rbt_ros.plug.registry import Registry

CLOSE = 1e-10  # of a sum of coefficients, relative to the sum of their sizes
BALANCED = 4  # up to this order momenta visibly balance to the order of the step only
INNER = "rbt_ros.plug.inner_integrators"


class Integrator(NamedTuple):
    """What there is to know of one: the coefficients of a method, or a rotation by other means."""

    order: float  # half the step leaves 2^-order of the error
    method: Method | None = None
    rotation: Callable[..., Any] | None = None  # of `torque_free.py`: one floating body on which nothing acts
    adaptive: bool = False  # steps as long as the tolerance allows, else of fixed length

    @property
    def one_body(self) -> bool:
        """Whether it moves a lone floating body only."""
        return self.method is None or self.method.rule == LIE

    @property
    def torque_free(self) -> bool:
        """Whether nothing but uniform gravity may act."""
        return self.rotation is not None

    @property
    def stage_times(self) -> list[float]:
        """When the stages of a step of fixed length ask for the inputs, in steps; none where there are no such."""
        return [] if self.method is None or self.adaptive else stage_nodes(self.method)

    @property
    def plain(self) -> bool:
        """Whether a step is the weighted sum of its stages, in whatever coordinates."""
        return self.method is not None and self.method.rule not in (KICK_AND_DRIFT, LIE)

    @property
    def rough(self) -> bool:
        """Whether the momentum balance closes to its order only, not to rounding."""
        return self.order <= BALANCED

    @property
    def knots(self) -> int:
        """How many samples a polynomial between samples should go through to be as good as they are."""
        return int(max(2, min(4, (self.order + 1) // 2)))


def explicit(
    order: int, A: Sequence[Sequence[float]], B: Sequence[float], C: Sequence[float] | None = None
) -> Integrator:
    """A Runge-Kutta method of fixed step: stage i is f(t + C_i h, y + h Σ A_ij k_j), and the step y + h Σ B_j k_j.

    C: the sums of the rows of A, if not given.
    """
    try:
        a, b = np.array(A, float), np.array(B, float)
        c = a.sum(axis=-1) if C is None else np.array(C, float)
    except (TypeError, ValueError) as err:
        raise ModelError(f"A, B, C of a tableau must be numbers in n rows of n, n and n: {err}.") from err
    n = b.size
    if a.shape != (n, n) or b.shape != (n,) or c.shape != (n,) or not 1 <= n <= STAGE_ROW:
        raise ModelError(
            f"a tableau has A of n rows of n, B and C of n, for n stages, 1 to {STAGE_ROW}; not shapes {a.shape}, "
            f"{b.shape}, {c.shape}. Fill A with zeros on its diagonal and above."
        )
    return Integrator(order, runge_kutta(a, b, c, n))


def check(name: str, integrator: Integrator) -> None:
    """ModelError where a method is not explicit, is inconsistent, or has not the order that it claims (up to 4)."""
    if (integrator.method is None) == (integrator.rotation is None):
        raise ModelError(f"integrator '{name}': it must have a method or a rotation; explicit(...) makes one.")
    if integrator.method is None:
        return
    if integrator.adaptive and integrator.method.rule not in (PAIR_5_4, PAIR_8_5_3):
        raise ModelError(
            f"integrator '{name}': error control needs a pair of methods; those of dop853 and dormand_prince are "
            "compiled. Leave adaptive out."
        )
    table, count = integrator.method.table, integrator.method.count
    if not np.isfinite(table).all():
        raise ModelError(f"integrator '{name}': a coefficient is {table[~np.isfinite(table)][0]}; all must be finite.")
    a, b, c, _ = tableau(integrator.method)
    if (upper := np.argwhere(np.triu(a))).size:
        i, j = upper[0]
        raise ModelError(
            f"integrator '{name}': A[{i}][{j}] = {a[i, j]:g}, so stage {i} would need stage {j}: the method is "
            "implicit. Only explicit ones are compiled; the solvers of docs/solvers.md are implicit."
        )
    for i in range(len(c)):
        if not _close(a[i].sum(), c[i], a[i]):
            raise ModelError(
                f"integrator '{name}': row {i} of A sums to {a[i].sum():.9g}, but C[{i}] is {c[i]:.9g}. Each stage "
                "time is the sum of its row; leave C out, and it is computed."
            )
    if integrator.order not in range(1, 100):
        raise ModelError(f"integrator '{name}': order {integrator.order} must be a whole number from 1 on.")
    for order, words, found, wanted in _conditions(a[:count, :count], b[:count], c[:count]):
        if order <= integrator.order and not _close(found, wanted, b):
            raise ModelError(
                f"integrator '{name}': {words} is {found:.9g}; order {order} needs {wanted:.9g}. "
                + ("Scale or correct B." if order == 1 else f"Correct the tableau, or say order={order - 1}.")
            )


def _conditions(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> list[tuple[int, str, float, float]]:
    """(order, words, what is, what must be): Butcher's conditions. Hairer, Norsett, Wanner, I (1993), table II.2.1."""
    ac = a @ c
    return [
        (1, "the sum of the weights B", b.sum(), 1.0),
        (2, "Σ B C", b @ c, 1 / 2),
        (3, "Σ B C²", b @ c**2, 1 / 3),
        (3, "Σ B A C", b @ ac, 1 / 6),
        (4, "Σ B C³", b @ c**3, 1 / 4),
        (4, "Σ B C A C", b @ (c * ac), 1 / 8),
        (4, "Σ B A C²", b @ (a @ c**2), 1 / 12),
        (4, "Σ B A A C", b @ (a @ ac), 1 / 24),
    ]


def _close(found: float, wanted: float, summed: np.ndarray) -> bool:
    return bool(math.fabs(found - wanted) <= CLOSE * (1.0 + np.abs(summed).sum()))


INTEGRATORS = Registry(
    "integrator",
    Integrator,
    {
        "semi_implicit": f"{INNER}:SEMI_IMPLICIT",
        "rk4": f"{INNER}:RK4",
        "dop853": f"{INNER}:DOP853",
        "dop853_adaptive": f"{INNER}:DOP853_ADAPTIVE",
        "dormand_prince": f"{INNER}:DORMAND_PRINCE",
        "exact": f"{INNER}:EXACT",
        "splitting": f"{INNER}:SPLITTING",
        "lie_euler": f"{INNER}:LIE_EULER",
        "explicit_euler": "rbt_ros.plug.low_orders:EXPLICIT_EULER",
        "midpoint": "rbt_ros.plug.low_orders:MIDPOINT",
        "heun": "rbt_ros.plug.low_orders:HEUN",
    },
    check,
)
