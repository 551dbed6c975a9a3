"""Modes and what came of them as lists and numbers, for checkpoints, and back."""

from typing import Any

from rbt_ros.core.signals import Signal
from rbt_ros.model.constraints import PRESCRIBE, Coupling
from rbt_ros.model.measured import Followed, Knot, Measured
from rbt_ros.model.modes import Docked, ModeChange, Modes


def modes_memory(modes: Modes) -> dict[str, Any]:
    """All of it as lists and numbers."""
    return {
        "locked": list(modes.locked),
        "docked": [list(dock) for dock in modes.docked],
        "prescribed": [_coupling_memory(coupling) for coupling in modes.prescribed],
        "released": list(modes.released),
    }


def modes_of(memory: dict[str, Any]) -> Modes:
    """What `modes_memory` told."""
    docked = (_docked(*dock) for dock in memory["docked"])
    prescribed = (_coupling(*entry) for entry in memory["prescribed"])
    return Modes(tuple(memory["locked"]), tuple(docked), tuple(prescribed), tuple(memory["released"]))


def changes_memory(changes: tuple[ModeChange, ...]) -> list[list[Any]]:
    """What has happened."""
    return [list(change) for change in changes]


def changes_of(memory: list[list[Any]]) -> tuple[ModeChange, ...]:
    """What `changes_memory` told."""
    rows = (ModeChange(*change) for change in memory)
    return tuple(change._replace(names=tuple(change.names), unchanged=tuple(change.unchanged)) for change in rows)


def _docked(name: str, kind: str, body_a: str, body_b: str, *places: Any) -> Docked:
    return Docked(name, kind, body_a, body_b, *(tuple(place) for place in places))


def _coupling_memory(coupling: Coupling) -> list[Any]:
    followed = coupling.followed
    signal = list(coupling.signal) if coupling.signal and not followed else None
    told = [list(followed.how), [list(knot) for knot in followed.knots], *followed[2:]] if followed else None
    return [coupling.name, coupling.offset, signal, coupling.origin_ns, told]


def _coupling(name: str, offset: float, signal: list[Any] | None, origin_ns: int, told: list[Any] | None) -> Coupling:
    factors = ((name, 1.0),)
    if told is None:
        return Coupling(name, PRESCRIBE, factors, offset, Signal(*signal) if signal else None, origin_ns)
    how, knots, heard_ns, last, lost = told
    measured = None if last is None else (last[0], last[1])
    followed = Followed(Measured(*how), tuple(Knot(*knot) for knot in knots), heard_ns, measured, lost)
    return Coupling(name, PRESCRIBE, factors, offset, followed.signal(), origin_ns, followed)
