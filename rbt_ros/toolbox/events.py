"""Zeros of functions of time and state along a run."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.optimize import brentq

from rbt_ros.errors import ScenarioError
from rbt_ros.toolbox.result import Event, EventHit
from rbt_ros.toolbox.state import LabState
from rbt_ros.toolbox.track import Track
from rbt_ros.toolbox.vectors import arguments


def checked_events(given: Any) -> list[Event]:
    """Events from one or a list of functions of (t, state) or `Event`s."""
    items = given if isinstance(given, Sequence) and not isinstance(given, Event) else [given]
    found = [item if isinstance(item, Event) else Event(item) for item in items]
    for k, event in enumerate(found):
        if not callable(event.function) or arguments(event.function) != 2:
            raise ScenarioError(f"event {k}: a function of (t, state) is needed, not {event.function!r}.")
    return found


def find_hits(track: Track, events: Sequence[Event]) -> list[EventHit]:
    """All zeros between consecutive knots of the run with a change of sign, up to the first terminal one."""
    hits = []
    for k, event in enumerate(events):
        rows = zip(track.t.tolist(), track.y, strict=True)
        values = np.array([float(event.function(t, LabState.of(y))) for t, y in rows])
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            raise ScenarioError(f"event {k}: the function at t = {track.t[bad[0]]:.9g} s is not finite.")
        rises, falls = (values[:-1] < 0) & (values[1:] >= 0), (values[:-1] > 0) & (values[1:] <= 0)
        wanted = rises & (event.direction >= 0) | falls & (event.direction <= 0)
        hits += [_hit(track, k, event, int(i)) for i in np.flatnonzero(wanted)]
    hits.sort(key=lambda hit: hit.t)
    ends = [i for i, hit in enumerate(hits) if events[hit.event].terminal]
    return hits[: ends[0] + 1] if ends else hits


def _hit(track: Track, k: int, event: Event, i: int) -> EventHit:
    """The zero between knots i and i + 1."""

    def state(t: float) -> LabState:
        return LabState.of(track.states(np.array([t]))[0])

    t = float(brentq(lambda t: event.function(t, state(t)), track.t[i], track.t[i + 1], xtol=1e-14))
    return EventHit(k, t, state(t))
