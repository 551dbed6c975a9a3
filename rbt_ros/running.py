"""A run from now to a time, with samples on the way: what `Simulation.run` does."""

import contextlib
import math
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.checks import LONGEST_S, one_number, time_ns
from rbt_ros.results import Result, Sample
from rbt_ros.sensing import Readings, SensorResult

if TYPE_CHECKING:
    from rbt_ros.sim import Simulation

ENERGY_ALARM = 1e-2  # relative drift of the energy at which a run warns


def run(
    sim: "Simulation",
    until: float,
    every: float | None,
    progress: Callable[[float], None] | None,
    controller: Callable[[Any], None] | None,
) -> Result:
    """See `Simulation.run`."""
    start, end = sim.tick, sim.ticks.nearest(time_ns(until, "until"))
    stride = 1 if every is None else _stride(sim, every)
    for what, given in (("progress", progress), ("controller", controller)):
        if given is not None and not callable(given):
            raise ScenarioError(f"{what} {given!r:.80} is not a function.")
    if end < start:
        raise ScenarioError(f"until {until} s lies before now, {sim.t_ns * 1e-9:g} s; reset() goes back to 0 s.")
    samples, alarmed = [sim.sample()], False
    with readings(sim) as read:
        while sim.tick < end:
            if controller is not None:
                controller(sim)
            try:
                sim.advance(min(stride, end - sim.tick))
            except SolveError:
                if not alarmed:
                    _alarm(sim.sample())
                raise
            samples.append(sim.sample())
            alarmed = alarmed or _alarm(samples[-1])
            if progress is not None:
                progress((sim.tick - start) / (end - start))
    start_ns, end_ns = samples[0].t_ns, samples[-1].t_ns
    changes = [change for change in sim.changes if start_ns <= change.t_ns <= end_ns]
    events = [event for event in sim.events if event.t >= samples[0].t]
    return Result(sim.robot, samples, changes, events, read())


@contextlib.contextmanager
def readings(sim: "Simulation") -> Iterator[Callable[[], dict[str, SensorResult]]]:
    """Let its sensors be read meanwhile, if there are any; what gives all that they have measured."""
    if not sim.sensors:
        yield dict
        return
    found = Readings(sim)
    sim.attach(found)
    try:
        yield found.results
    finally:
        sim.detach(found)


def _stride(sim: "Simulation", every: float) -> int:
    """The steps between samples; a warning where they are not what was asked for."""
    period = one_number(every, "every", ScenarioError)
    if not 0 < period <= LONGEST_S:
        raise ScenarioError(f"every {every} s must be a positive time; it is rounded to whole steps, at least one.")
    stride = sim.ticks.count(period * 1e9)
    if abs(stride * sim.h_ns - period * 1e9) > 1e-6 * period * 1e9:
        warnings.warn(
            f"every {every:g} s is no whole number of steps of {sim.h_ns * 1e-6:g} ms: the samples come every "
            f"{stride * sim.h_ns * 1e-9:g} s.",
            stacklevel=4,
        )
    return stride


def _alarm(sample: Sample) -> bool:
    """Warn of an energy that is lost or made by the integration, long before the state leaves the numbers."""
    drift = sample.conservation.energy if math.isfinite(sample.energy.total) else math.inf
    loud = abs(drift) > ENERGY_ALARM
    if loud:
        warnings.warn(
            f"t = {sample.t:g} s: the energy has drifted by {drift:.2g} of the kinetic energy since "
            f"{sample.conservation.energy_since_ns * 1e-9:g} s; a smaller step or a higher order (dop853) helps.",
            stacklevel=4,
        )
    return loud
