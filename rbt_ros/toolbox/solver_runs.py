"""Runs by the solvers that stand behind MATLAB's names: any formalism, any input, in plain Python."""

from typing import Any

import numpy as np

from rbt_ros.core.events import Event
from rbt_ros.solvers import METHODS, solve
from rbt_ros.toolbox.formalisms import EulerAngles, Formalism
from rbt_ros.toolbox.gimbal import FAR, Guard
from rbt_ros.toolbox.plant import Plant
from rbt_ros.toolbox.stretches import Progress, Stretch, field
from rbt_ros.toolbox.track import Track


def names() -> tuple[str, ...]:
    """What `solve` knows."""
    return tuple(METHODS)


def run(
    plant: Plant,
    form: Formalism,
    y13: np.ndarray,
    span: tuple[float, float],
    solver: str,
    normalise: str | None,
    guard: Guard | None,
    options: dict[str, Any],
    progress: Progress | None,
) -> Track:
    """One solution, or one per Euler sequence where the run switches. normalise="projection": of its samples."""
    stretches, (start, end) = [], span
    t, y = start, form.start(y13)

    def tell(fraction: float) -> None:
        if progress is not None:
            progress((t - start + fraction * (end - t)) / (end - start))

    while True:
        events = _events(form, guard)
        found = solve(field(plant, form), (t, end), y, solver, dense=True, events=events, progress=tell, **options)
        rows = np.array([form.project(row) for row in found.y]) if normalise == "projection" else found.y
        stretches.append(Stretch(form, found.t, rows, found.dense))
        if guard is None or not isinstance(form, EulerAngles) or not found.hits:
            return Track(plant, stretches)
        last = found.hits[-1]
        if not events[last.event].terminal:
            for hit in found.hits:
                guard.meet(hit.t, form, hit.y)
            return Track(plant, stretches)
        on = guard.after(last.t, form, last.y, last.y)
        if on is None or last.t >= end:
            return Track(plant, stretches)
        t, y, form = last.t, on.start(form.engine(last.y)), on


def _events(form: Formalism, guard: Guard | None) -> list[Event]:
    """Where Euler angles come near gimbal lock, jump over it, or may come back to their own sequence."""
    if guard is None or not isinstance(form, EulerAngles):
        return []
    home, ends = guard.home, guard.action != "continue"
    near = Event(lambda t, y: abs(form.margin(y)) - guard.near, ends, -1)
    if form == home:
        return [near, Event(lambda t, y: form.margin(y), ends)] if ends else [near]
    back = Event(lambda t, y: abs(home.margin(home.start(form.engine(y)))) - FAR, True, 1)
    return [near, back]
