"""What the ways of integrating a run have in common: Stretch, what they return; and the steps in plain Python."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core.integrate import Method, tableau
from rbt_ros.core.vec import rotation_vector_quat
from rbt_ros.errors import SolveError
from rbt_ros.toolbox.formalisms import Chart, Coordinates, EulerAngles, Formalism, Matrices, Quaternions
from rbt_ros.toolbox.gimbal import Guard
from rbt_ros.toolbox.plant import Plant

Progress = Callable[[float], None]
Field = Callable[[float, np.ndarray], np.ndarray]
REPORTS = 100  # how often progress is reported, about


class Stretch(NamedTuple):
    """A part of a run in one form."""

    form: Formalism
    t: np.ndarray  # (N,) [s]
    y: np.ndarray  # (N, ...) in the coordinates of the form
    dense: Callable[[Any], Any] | None = None  # the solver's own interpolant y(t)


class Steps(NamedTuple):
    """Fixed steps: tick k is at t0 + k h."""

    t0: float  # [s]
    h_ns: int
    number: int

    @property
    def h(self) -> float:
        """[s]."""
        return self.h_ns / 1e9

    @property
    def times(self) -> np.ndarray:
        """(number + 1,) [s], each the double next to the decimal number."""
        return self.t0 + np.arange(self.number + 1) * self.h_ns / 1e9


def tell(progress: Progress | None, steps: Steps, tick: int) -> None:
    """Report progress after this tick, now and then, and at the end."""
    done = tick + 1
    if progress is not None and (done % max(1, steps.number // REPORTS) == 0 or done == steps.number):
        progress(done / steps.number)


def field(plant: Plant, form: Coordinates) -> Field:
    """f(t, y) of a form: the engine's accelerations, the form's kinematics."""

    def f(t: float, y: np.ndarray) -> np.ndarray:
        return form.rate(y, plant.rate(t, form.engine(y)))

    return f


def runge_kutta(f: Field, t: float, y: np.ndarray, h: float, method: Method) -> np.ndarray:
    """y one step of h [s] later."""
    A, B, C, count = tableau(method)
    k = np.empty((count, len(y)))
    for i in range(count):
        k[i] = f(t + C[i] * h, y + h * (A[i, :i] @ k[:i]))
    return y + h * (B[:count] @ k)


def manifold_step(plant: Plant, form: Quaternions | Matrices, t: float, y: np.ndarray, h: float, method: Method) -> Any:
    """y one step of h [s] later, the attitude by exponential coordinates: see `formalisms.Chart`."""
    chart, n = Chart(tuple(form.engine(y)[:4].tolist())), len(y) - 9
    new = runge_kutta(field(plant, chart), t, np.concatenate([np.zeros(3), y[n:]]), h, method)
    return np.concatenate([form.turned(y, rotation_vector_quat(tuple(new[:3].tolist()))), new[3:]])


def plain_steps(
    plant: Plant,
    form: Formalism,
    y13: np.ndarray,
    steps: Steps,
    method: Method,
    normalise: str | None,
    guard: Guard | None,
    progress: Progress | None,
) -> tuple[list[Stretch], np.ndarray]:
    """Fixed steps of a Runge-Kutta method in plain Python, in any form; and what was held, (N, held, 3).

    For what the compiled path does not do: other forms, and functions of time and state at every stage.
    """
    times, y = steps.times.tolist(), form.start(y13)
    done, rows, first, held = [], [y], 0, [plant.hold(times[0], y13)]
    f = field(plant, form)
    for k in range(steps.number):
        before, plant.step = y, (times[k], times[k + 1])
        if normalise == "manifold" and isinstance(form, Quaternions | Matrices):
            y = manifold_step(plant, form, times[k], y, steps.h, method)
        else:
            y = runge_kutta(f, times[k], y, steps.h, method)
        if not np.isfinite(y).all():
            raise SolveError(f"t = {times[k + 1]:.9g} s: the state is not finite; try a smaller step.")
        if normalise == "projection":
            y = form.project(y)
        rows.append(y)
        y13 = form.engine(y)
        held.append(plant.hold(times[k + 1], y13))
        if isinstance(form, EulerAngles) and guard is not None:
            on = guard.after(times[k + 1], form, before, y)
            if on is None:
                break
            if on != form:
                done.append(Stretch(form, steps.times[first : k + 2], np.array(rows)))
                form, y, first = on, on.start(y13), k + 1
                rows, f = [y], field(plant, form)
        tell(progress, steps, k)
    plant.step = None
    done.append(Stretch(form, steps.times[first : first + len(rows)], np.array(rows)))
    return done, np.array(held)
