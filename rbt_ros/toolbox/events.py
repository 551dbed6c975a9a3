"""Zeros of functions of time and state along a run."""

from collections.abc import Sequence
from numbers import Real
from typing import Any

import numpy as np

from rbt_ros.core.events import Event, zero
from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import numbers
from rbt_ros.toolbox.result import EventHit
from rbt_ros.toolbox.state import LabState
from rbt_ros.toolbox.track import Track
from rbt_ros.toolbox.vectors import arguments, called


def checked_events(given: Any) -> list[Event]:
    """Events from one or a list of functions of (t, state) or `Event`s."""
    items = given if isinstance(given, Sequence) and not isinstance(given, Event) else [given]
    found = [item if isinstance(item, Event) else Event(item) for item in items]
    for k, event in enumerate(found):
        if not callable(event.function) or arguments(event.function) != 2:
            raise ScenarioError(f"event {k}: a function of (t, state) is needed, not {event.function!r}.")
        if not isinstance(event.direction, Real):
            raise ScenarioError(f"event {k}: direction {event.direction!r:.80} is not one of -1, 0, 1.")
    return found


def find_hits(track: Track, events: Sequence[Event]) -> list[EventHit]:
    """All zeros between consecutive knots of the run with a change of sign, up to the first terminal one."""
    hits = []
    for k, event in enumerate(events):
        rows = zip(track.t.tolist(), track.y, strict=True)
        values = np.array([_value(k, event, t, LabState.of(y)) for t, y in rows])
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise ScenarioError(f"event {k}: the function at t = {track.t[bad[0]]:.9g} s is not finite.")
        rises, falls = (values[:-1] < 0) & (values[1:] >= 0), (values[:-1] > 0) & (values[1:] <= 0)
        wanted = rises & (event.direction >= 0) | falls & (event.direction <= 0)
        hits += [_hit(track, k, event, i, values[i : i + 2]) for i in np.flatnonzero(wanted).tolist()]
    hits.sort(key=lambda hit: hit.t)
    ends = [i for i, hit in enumerate(hits) if events[hit.event].terminal]
    return hits[: ends[0] + 1] if ends else hits


def _value(k: int, event: Event, t: float, state: LabState) -> float:
    """What the function of event `k` returns, as one number."""
    value = numbers(
        called(event.function, f"event {k}", t, t, state),
        f"event {k}: the function at t = {t:.9g} s returned",
        ScenarioError,
    )
    if value.size != 1:
        raise ScenarioError(f"event {k}: the function at t = {t:.9g} s returned {value.size} numbers, not one.")
    return float(value.item())


def _hit(track: Track, k: int, event: Event, i: int, values: np.ndarray) -> EventHit:
    """The zero between knots i and i + 1, where the function has opposite signs."""
    start, length = float(track.t[i]), float(track.t[i + 1] - track.t[i])

    def state(x: float) -> LabState:
        return LabState.of(track.states(np.array([start + x * length]))[0])

    x = zero(lambda x: _value(k, event, start + x * length, state(x)), *values.tolist())
    return EventHit(k, start + x * length, state(x))
