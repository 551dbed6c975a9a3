"""Runs that are compiled from end to end: the engine's integrators with inputs as constants and signals."""

from typing import Any

import numpy as np

from rbt_ros.core import adaptive as core_adaptive
from rbt_ros.core import torque_free as core_torque_free
from rbt_ros.core.integrate import Method
from rbt_ros.core.kept import Kept
from rbt_ros.core.record import recorder
from rbt_ros.core.stabilise import ACCOUNT
from rbt_ros.core.types import LOAD_COLUMNS, OK, Input
from rbt_ros.core.work import Work, workspace
from rbt_ros.errors import SolveError
from rbt_ros.model.failures import FAILURES
from rbt_ros.model.stabilise import METHODS as STABILISERS
from rbt_ros.model.stabilise import Stabilise
from rbt_ros.plug.integrators import Integrator
from rbt_ros.toolbox.forces import Grid, engine_input, held_rows
from rbt_ros.toolbox.formalisms import Quaternions
from rbt_ros.toolbox.plant import Plant
from rbt_ros.toolbox.state import STATES
from rbt_ros.toolbox.stretches import REPORTS, Progress, Steps, Stretch, tell
from rbt_ros.toolbox.track import Track


def fixed(plant: Plant, y13: np.ndarray, steps: Steps, how: Integrator, progress: Progress | None) -> Track:
    """Fixed steps: one compiled call, or a hundred where progress is reported.

    A call per step where loads are held: they are asked before each, and stand in their rows over it.
    """
    input = engine_input(plant.loads, steps.t0, Grid(steps.h_ns, how.stage_times, steps.number))
    y, states, held = y13.copy(), np.empty((steps.number + 1, STATES)), None
    states[0] = y
    record = recorder(plant.model, y, input, steps.h_ns, how.method, plant.work)
    if plant.held:
        held = np.empty((steps.number + 1, len(plant.held), 3))
        times = steps.times.tolist()
        for k in range(steps.number):
            held[k] = _hold(plant, input, times[k], states[k])
            _check(record(k * steps.h_ns, 1, states[k + 1 : k + 2])[0], plant, steps, k)
            tell(progress, steps, k)
        held[-1] = plant.hold(times[-1], states[-1])
    else:
        for first, last in _parts(steps.number, progress):
            code, tick, _ = record(first * steps.h_ns, 1, states[first + 1 : last + 1])
            _check(code, plant, steps, first + tick)
            tell(progress, steps, last - 1)
    return _track(plant, how.knots, steps.times, states, held=held)


def torque_free(
    plant: Plant, y13: np.ndarray, steps: Steps, how: Integrator, keep: Stabilise, progress: Progress | None
) -> Track:
    """exact, splitting: a body without torque, in free fall."""
    y, work, kept = _kept(plant, y13, keep)
    flight = core_torque_free.Flight(how.rotation, kept.corrected_flight if keep.method != "none" else None)
    nothing = Input(np.zeros(6), np.zeros((0, LOAD_COLUMNS)))
    go_on = flight.stepper(plant.model, y, nothing, steps.h_ns, how.method, work)
    return _by_ticks(plant, y, nothing, go_on, steps, how, progress)


def stabilised(
    plant: Plant, y13: np.ndarray, steps: Steps, how: Integrator, keep: Stabilise, progress: Progress | None
) -> Track:
    """Fixed steps with angular momentum and energy kept."""
    y, work, kept = _kept(plant, y13, keep)
    input = engine_input(plant.loads, steps.t0, Grid(steps.h_ns, how.stage_times, steps.number))
    go_on = kept.stepper(plant.model, y, input, steps.h_ns, how.method, work)
    return _by_ticks(plant, y, input, go_on, steps, how, progress)


def _kept(plant: Plant, y13: np.ndarray, how: Stabilise) -> tuple[np.ndarray, Work, Kept]:
    """(y with its account, its scratch arrays, what is kept of it)."""
    y, work = np.append(y13, np.zeros(ACCOUNT)), workspace(plant.model, ACCOUNT)
    kept = Kept(plant.model, None, STABILISERS[how.method], how.order == "seed", *how[2:])
    kept.start(plant.model, y, work)
    return y, work, kept


def _by_ticks(
    plant: Plant, y: np.ndarray, input: Input, go_on: Any, steps: Steps, how: Integrator, progress: Progress | None
) -> Track:
    """A call per step; held loads are asked before each, and stand in their rows over it."""
    states = np.empty((steps.number + 1, STATES))
    held = np.empty((steps.number + 1, len(plant.held), 3)) if plant.held else None
    states[0], times = y[:STATES], steps.times.tolist()
    for k in range(steps.number):
        if held is not None:
            held[k] = _hold(plant, input, times[k], states[k])
        _check(go_on(k * steps.h_ns, 1)[0], plant, steps, k)
        states[k + 1] = y[:STATES]
        tell(progress, steps, k)
    if held is not None:
        held[-1] = plant.hold(times[-1], states[-1])
    return _track(plant, how.knots, steps.times, states, held=held)


def _hold(plant: Plant, input: Input, time: float, y: np.ndarray) -> np.ndarray:
    """What the held loads exert over the step that starts at y; it stands in their rows of the input from now on."""
    found = plant.hold(time, y)
    columns = [plant.loads[i].column for i in plant.held]
    for row, column, value in zip(held_rows(plant.loads), columns, found, strict=True):
        input.load[row, column : column + 3] = value
    return found


def adaptive(
    plant: Plant,
    y13: np.ndarray,
    span: tuple[float, float],
    method: Method,
    tolerances: tuple[float, float],
    options: dict[str, float],
) -> Track:
    """Under error control, with dense output; max_step: a tenth of the span unless said otherwise."""
    (rtol, atol), length = tolerances, span[1] - span[0]
    found = core_adaptive.solve(
        plant.model,
        y13,
        engine_input(plant.loads, span[0], None),
        round(length * 1e9),
        rtol=options.get("rtol", rtol),
        atol=options.get("atol", atol),
        h_max=options.get("max_step", length / 10),
        method=method,
    )
    if found.code != OK:
        raise SolveError(f"t = {span[0] + found.t[-1]:.9g} s: {FAILURES[found.code].format(plant.body.name)}")
    times = span[0] + found.t

    def dense(t: float) -> np.ndarray:
        return found(min(max(t - span[0], 0.0), float(found.t[-1])))

    return _track(plant, 2, times, found.y, dense)


def _parts(count: int, progress: Progress | None) -> list[tuple[int, int]]:
    """(first, last) ticks of the compiled calls."""
    edges = np.linspace(0, count, 2 if progress is None else min(count, REPORTS) + 1).round().astype(int).tolist()
    return list(zip(edges, edges[1:], strict=False))


def _check(code: int, plant: Plant, steps: Steps, tick: int) -> None:
    if code != OK:
        raise SolveError(f"t = {steps.times[tick + 1]:.9g} s: {FAILURES[code].format(plant.body.name)}")


def _track(plant: Plant, knots: int, times: np.ndarray, y: np.ndarray, dense: Any = None, held: Any = None) -> Track:
    return Track(plant, [Stretch(Quaternions(), times, y, dense)], knots, held)
