"""Vectors as people give them - constant, function of time, function of time and state, series - behind one call."""

import inspect
from collections.abc import Callable, Sequence
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.signals import cubic_pieces
from rbt_ros.errors import ScenarioError
from rbt_ros.kinds import shown
from rbt_ros.model.checks import LONGEST_S, numbers
from rbt_ros.model.signals import BETWEEN
from rbt_ros.toolbox.state import LabState


class Constant(NamedTuple):
    """The same at any time."""

    vector: np.ndarray  # (3,)

    def at(self, t: float, state: LabState | None) -> np.ndarray:
        """The vector."""
        return self.vector


class OfTime(NamedTuple):
    """A function of t [s]."""

    function: Callable[[float], Any]
    where: str

    def at(self, t: float, state: LabState | None) -> np.ndarray:
        """Its value, checked."""
        return checked(called(self.function, self.where, t, t), self.where, t)

    def at_all(self, times: list[float]) -> np.ndarray:
        """Its values (n, 3) at times (n,), checked together."""
        values = [called(self.function, self.where, t, t) for t in times]
        try:
            rows = np.array(values, dtype=float)
        except (TypeError, ValueError):
            rows = np.zeros(0)
        if rows.shape == (len(times), 3) and np.isfinite(rows).all():
            return rows
        return np.array([checked(value, self.where, t) for value, t in zip(values, times, strict=True)])


class OfState(NamedTuple):
    """A function of t [s] and the state."""

    function: Callable[[float, LabState], Any]
    per: str  # "step": held over each step; "stage": evaluated at every stage
    where: str

    def at(self, t: float, state: LabState | None) -> np.ndarray:
        """Its value, checked."""
        assert state is not None
        return checked(called(self.function, self.where, t, t, state), self.where, t)


class Series:
    """Samples at rising times [s]; between them "linear", "hold" or "cubic"; zero outside of its time."""

    def __init__(self, times: Any, values: Any, between: str, where: str):
        self.times = numbers(times, f"{where}: times", ScenarioError)
        self.values = numbers(values, f"{where}: values", ScenarioError)
        self.between = between
        n = len(self.times) if self.times.ndim == 1 else -1
        if self.values.shape != (n, 3) or n < 2:
            raise ScenarioError(
                f"{where}: a series is (times (N,), values (N, 3)) or one (N, 4) array t x y z, N from 2 on; here "
                f"times have the shape {self.times.shape}, values {self.values.shape}."
            )
        _check_between(between, where)
        bad = np.flatnonzero(~(np.isfinite(self.times) & np.isfinite(self.values).all(axis=1)))
        if bad.size:
            raise ScenarioError(f"{where}: sample {bad[0]} at t = {self.times[bad[0]]:g} s is not finite.")
        falls = np.flatnonzero(np.diff(self.times) <= 0)
        if falls.size:
            before, after = self.times[falls[0] : falls[0] + 2]
            raise ScenarioError(f"{where}: the times must rise, and {after:g} s follows {before:g} s.")
        if np.abs(self.times).max() > LONGEST_S:
            raise ScenarioError(f"{where}: times must lie within ±{LONGEST_S:g} s, and one is {self.times[-1]:g} s.")
        self._pieces = [cubic_pieces(self.times, v) for v in self.values.T] if between == "cubic" else []

    def at(self, t: Any, state: LabState | None = None) -> np.ndarray:
        """The value at t (...) [s]: (..., 3)."""
        t = np.asarray(t, dtype=float)
        inside = (self.times[0] <= t) & (t <= self.times[-1])
        k = np.clip(np.searchsorted(self.times, t, side="right") - 1, 0, len(self.times) - 1)
        if self.between == "hold":
            value = self.values[k]
        elif self.between == "linear":
            value = np.stack([np.interp(t, self.times, v) for v in self.values.T], axis=-1)
        else:
            k = np.minimum(k, len(self.times) - 2)
            x = t - self.times[k]
            c = [pieces[k] for pieces in self._pieces]
            value = np.stack([a[..., 0] + x * (a[..., 1] + x * (a[..., 2] + x * a[..., 3])) for a in c], axis=-1)
        return np.where(inside[..., None], value, 0.0)


Source = Constant | OfTime | OfState | Series


def source(value: Any, where: str, per: str | None = None, between: str = "linear") -> Source:
    """What `value` means; `where` stands in errors."""
    _check_between(between, where)
    if per is not None and not (callable(value) and arguments(value) == 2):
        raise ScenarioError(f"{where}: per='{per}' is for functions of (t, state); leave it out.")
    if callable(value):
        if arguments(value) == 1:
            return OfTime(value, where)
        if arguments(value) != 2:
            raise ScenarioError(f"{where}: a function takes (t) or (t, state), not {arguments(value)} arguments.")
        if per not in ("step", "stage"):
            raise ScenarioError(
                f'{where}: a function of (t, state) needs per="step" (called once a step, held over it: fast) or '
                f'per="stage" (called at every stage of the solver: exact, slow), not {per!r}.'
            )
        return OfState(value, per, where)
    if isinstance(value, np.ndarray) and value.ndim == 2 and value.shape[1] == 4:
        return Series(value[:, 0], value[:, 1:], between, where)
    if isinstance(value, tuple) and len(value) == 2 and not isinstance(value[0], Real):
        return Series(value[0], value[1], between, where)
    return Constant(checked(value, where))


def _check_between(between: Any, where: str) -> None:
    if not isinstance(between, str) or between not in BETWEEN:
        raise ScenarioError(f"{where}: between={between!r:.80} is not one of {', '.join(BETWEEN)}.")


def arguments(function: Callable[..., Any]) -> int:
    """How many arguments a function needs; 1 where it does not tell (a ufunc)."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except ValueError:
        return 1
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return sum(p.kind in positional and p.default is inspect.Parameter.empty for p in parameters)


def called(function: Callable[..., Any], where: str, t: float, *given: Any) -> Any:
    """What a function returns; ScenarioError where it has no value at t [s]. Its other errors are its own."""
    try:
        return function(*given)
    except ArithmeticError as err:
        raise ScenarioError(
            f"{where}: the function at t = {t:.9g} s has no value ({type(err).__name__}: {err}); start the span later, "
            "or let it return one there."
        ) from err


def checked(value: Any, where: str, t: float | None = None) -> np.ndarray:
    """Three finite numbers; t [s]: when a function returned them."""
    what = f"{where}:" if t is None else f"{where}: the function at t = {t:.9g} s returned"
    try:
        vector = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise ScenarioError(f"{what} {shown(value)}; three numbers x y z are needed.") from None
    if vector.shape != (3,):
        numbers = "one number" if vector.shape == () else f"an array of shape {vector.shape}"
        raise ScenarioError(f"{what} {numbers}; three numbers x y z are needed.")
    if not np.isfinite(vector).all():
        raise ScenarioError(f"{what} {vector.tolist()}, which is not finite.")
    return vector


def finite_vector(value: Any, what: str, unit: str) -> np.ndarray:
    """Three finite numbers, as a start, a point or gravity is given; `what` and `unit` stand in the error."""
    vector = numbers(value, what, ScenarioError)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ScenarioError(f"{what} {value} must be three finite numbers in {unit}.")
    return vector


def sampled(of: Constant | OfTime | Series, times: Sequence[float] | np.ndarray) -> np.ndarray:
    """(N, 3) values at times (N,) [s]; of what does not depend on the state."""
    if isinstance(of, Constant):
        return np.broadcast_to(of.vector, (len(times), 3))
    if isinstance(of, Series):
        return of.at(np.asarray(times))
    different, back = np.unique(np.asarray(times, dtype=float), return_inverse=True)
    return of.at_all(different.tolist())[back]
