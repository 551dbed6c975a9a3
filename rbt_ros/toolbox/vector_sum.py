"""VectorSum: adds constants, functions and sampled series at a time; joins the output of successive runs."""

from typing import Any

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import numbers
from rbt_ros.toolbox.vectors import Constant, OfState, OfTime, Series, arguments, sampled, source


class VectorSum:
    """A sum of vectors over time, and a time series that grows.

    On the input side of a simulation: give it as `force` or `torque`. On the output side: `join` the results of
    successive runs; what was joined is a term like any other.
    """

    def __init__(self, *terms: Any, between: str = "linear"):
        """terms: see `add`. between: the samples of series, "linear", "hold" or "cubic"."""
        self._between = between
        self._terms: list[Constant | OfTime | Series] = []
        self._joined: list[np.ndarray] = []  # rows t x y z
        for term in terms:
            self.add(term)

    def add(self, term: Any) -> "VectorSum":
        """Add a constant (x, y, z), a function of t, a series (times, values) or (N, 4), or another VectorSum.

        A series counts from its first to its last time and is zero outside.
        """
        if isinstance(term, VectorSum):
            self._terms += term.terms
            return self
        where = f"VectorSum, term {len(self._terms) + 1}"
        if callable(term) and arguments(term) != 1:
            raise ScenarioError(f"{where}: a function takes t alone; give one of (t, state) to rbt.Force directly.")
        made = source(term, where, between=self._between)
        assert not isinstance(made, OfState)  # a function of one argument is of time
        self._terms.append(made)
        return self

    def join(self, times: Any, values: Any) -> "VectorSum":
        """Put samples at times (N,) [s] with values (N, 3) behind those that were joined before.

        Where a run starts at the very time at which the last one ended, its first sample replaces the last one.
        """
        new = Series(times, values, self._between, "VectorSum.join")
        rows = np.column_stack([new.times, new.values])
        if self._joined:
            end, round_off = self._joined[-1][-1, 0], 1e-6 * (rows[1, 0] - rows[0, 0])
            if rows[0, 0] < end - round_off:
                raise ScenarioError(
                    f"VectorSum.join: the samples start at {rows[0, 0]:g} s, before the end of the last ones at "
                    f"{end:g} s; join runs in the order of time."
                )
            if rows[0, 0] <= end + round_off:
                self._joined[-1] = self._joined[-1][:-1]
        self._joined.append(rows)
        return self

    @property
    def joined(self) -> np.ndarray:
        """(N, 4) t x y z of all that was joined."""
        return np.concatenate(self._joined) if self._joined else np.zeros((0, 4))

    @property
    def times(self) -> np.ndarray:
        """(N,) [s] times of all that was joined."""
        return self.joined[:, 0]

    @property
    def values(self) -> np.ndarray:
        """(N, 3) of all that was joined."""
        return self.joined[:, 1:]

    @property
    def terms(self) -> list[Constant | OfTime | Series]:
        """All that is added up."""
        if not self._joined:
            return list(self._terms)
        return [*self._terms, Series(self.times, self.values, self._between, "VectorSum.join")]

    def at(self, t: Any) -> np.ndarray:
        """The sum (3,) at a time t [s], or (N, 3) at times (N,)."""
        times = np.atleast_1d(numbers(t, "VectorSum.at: t", ScenarioError))
        total = sum((sampled(term, times) for term in self.terms), np.zeros((len(times), 3)))
        return total if np.ndim(t) else total[0]

    def __call__(self, t: float) -> np.ndarray:
        """The sum (3,) at a time t [s]."""
        return self.at(t)
