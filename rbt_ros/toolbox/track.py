"""Track: a run as it was integrated, and the states between its samples."""

from collections.abc import Sequence

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.model.attitude import without_flips
from rbt_ros.toolbox.forces import series
from rbt_ros.toolbox.formalisms import Quaternions, engine_rows
from rbt_ros.toolbox.plant import Plant
from rbt_ros.toolbox.state import Q
from rbt_ros.toolbox.stretches import Stretch


class Track:
    """Knots: the samples that the solver made, in the coordinates in which it made them."""

    def __init__(self, plant: Plant, stretches: Sequence[Stretch], knots: int = 2, held: np.ndarray | None = None):
        """knots: how many a polynomial between two of them goes through.

        held: (N, h, 3) what the loads that are held over a step were from each knot on.
        """
        self.plant, self.stretches = plant, tuple(stretches)
        self.t, self.y = _joined(self.stretches)  # (N,) [s]; (N, 13) [q, p, ω, v]
        self.end = float(self.t[-1])  # [s] up to which it counts: an event may have ended it
        self._held = np.zeros((len(self.t), 0, 3)) if held is None else held
        self._around = 2 if plant.held else knots

    def values(self, t: np.ndarray, y: np.ndarray) -> np.ndarray:
        """(n, m, 3) what each load was at times t (n,) [s] and states y (n, 13), in its own axes."""
        values = series(self.plant.loads, t, y, skip=self.plant.held)
        values[:, self.plant.held] = self._held[np.searchsorted(self.t, t, side="right") - 1]
        return values

    def states(self, times: np.ndarray) -> np.ndarray:
        """(n, 13) at times (n,) [s]."""
        outside = times[~((self.t[0] <= times) & (times <= self.end))]
        if outside.size:
            raise ScenarioError(f"t = {outside[0]:.9g} s lies outside of the run, {self.t[0]:g} to {self.end:.9g} s.")
        k = np.searchsorted(self.t, times, side="right") - 1
        y = self.y[k]
        between = np.flatnonzero(self.t[k] != times)
        if between.size:
            y[between] = self._between(k[between], times[between])
        return y

    def _between(self, k: np.ndarray, t: np.ndarray) -> np.ndarray:
        """(n, 13) the states at t (n,), after knots k (n,)."""
        y, owner = np.empty((len(t), self.y.shape[1])), np.searchsorted([s.t[-1] for s in self.stretches], t)
        for i, stretch in enumerate(self.stretches):
            here = np.flatnonzero(owner == i)
            if here.size == 0:
                continue
            if stretch.dense is None:
                y[here] = self._hermite(k[here], t[here])
            else:
                y[here] = [stretch.form.engine(stretch.dense(x)) for x in t[here].tolist()]
        before = self.y[k, Q]
        sign = np.where((y[:, Q] * before).sum(axis=1) >= 0, 1.0, -1.0)
        y[:, Q] *= (sign * np.linalg.norm(before, axis=1) / np.linalg.norm(y[:, Q], axis=1))[:, None]
        return y

    def _hermite(self, k: np.ndarray, t: np.ndarray) -> np.ndarray:
        """(n, 13) by the polynomial through the knots around each t and their rates."""
        at = window(self.t, t, self._around)
        knots = at.ravel()
        values = self.values(self.t[knots], self.y[knots])
        values[:, self.plant.held] = np.repeat(self._held[k], at.shape[1], axis=0)  # until the next knot
        rates = self.plant.rates(values, self.y[knots]).reshape(*at.shape, -1)
        return hermite(self.t[at], self.y[at], rates, t)

    def constraint_errors(self) -> np.ndarray:
        """At each knot: |q| - 1, or the largest element of RᵀR - 1; zero for Euler angles."""
        found = []
        for stretch, after in zip(self.stretches, [*self.stretches[1:], None], strict=True):
            found.append(stretch.form.constraint_errors(stretch.y if after is None else stretch.y[:-1]))
        return np.concatenate(found)


def _joined(stretches: Sequence[Stretch]) -> tuple[np.ndarray, np.ndarray]:
    """Times and states in the engine's coordinates; where stretches meet, the later one's sample counts."""
    if len(stretches) == 1 and isinstance(stretches[0].form, Quaternions):
        return stretches[0].t, stretches[0].y
    t, y = [], []
    for stretch, after in zip(stretches, [*stretches[1:], None], strict=True):
        end = len(stretch.t) if after is None else len(stretch.t) - 1
        t.append(stretch.t[:end])
        y.append(engine_rows(stretch.form, stretch.y[:end]))
    states = np.concatenate(y)
    states[:, Q] = without_flips(states[:, Q])
    return np.concatenate(t), states


def window(times: np.ndarray, t: np.ndarray, nodes: int) -> np.ndarray:
    """(n, nodes) which samples are around each t (n,), evenly to both sides where there are as many."""
    count = min(nodes, len(times))
    first = np.searchsorted(times, t, side="right") - (count + 1) // 2
    return np.clip(first, 0, len(times) - count)[:, None] + np.arange(count)


def hermite(x: np.ndarray, y: np.ndarray, rate: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(n, m) polynomials of degree 2 k - 1 through y (n, k, m) with slopes `rate` at x (n, k), at t (n,): order 2 k.

    Newton's divided differences, every node twice: Stoer, Bulirsch, Introduction to Numerical Analysis, section 2.1.
    """
    z, c = np.repeat(x, 2, axis=1)[..., None], np.repeat(y, 2, axis=1)
    differences = np.empty_like(c[:, 1:])
    differences[:, 0::2], differences[:, 1::2] = rate, np.diff(y, axis=1) / np.diff(x, axis=1)[..., None]
    coefficients = [c[:, 0], differences[:, 0]]
    for k in range(2, z.shape[1]):
        differences = np.diff(differences, axis=1) / (z[:, k:] - z[:, :-k])
        coefficients.append(differences[:, 0])
    value = coefficients[-1]
    for k in range(z.shape[1] - 2, -1, -1):
        value = coefficients[k] + (t[:, None] - z[:, k]) * value
    return value
