"""Many simulations at once: threads over compiled steps that hold no lock, the same bits as alone."""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from numbers import Integral
from threading import Event

import numpy as np

from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.checks import natural
from rbt_ros.sim import Simulation

CHUNK = 256  # ticks after which a thread looks whether it should stop
PROGRESS_EVERY = 0.1  # [s] of waiting


def advance_many(
    simulations: Iterable[Simulation],
    ticks: int,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[SolveError | None]:
    """Compute `ticks` steps of every simulation; of each None, or the SolveError that ended it, with its case named.

    The simulations may differ in everything. One that fails keeps its last good state and stops no other. Which thread
    computes a case, and how many there are (default: one per usable core), changes no bit. progress: called from here
    with the fraction of cases done. On Ctrl-C, or an error in `progress`, every simulation stops at a whole tick.
    """
    cases = _checked_cases(simulations)
    if not isinstance(ticks, Integral) or ticks < 0:
        raise ScenarioError(f"ticks {ticks!r:.80} must be a whole number of steps, 0 or more.")
    if threads is not None and not (isinstance(threads, Integral) and threads >= 1):
        raise ScenarioError(
            f"threads {threads!r:.80} must be a whole number, one or more; leave it out for one per usable core."
        )
    waiting, outcomes, stop = deque(enumerate(cases)), dict[int, SolveError | None](), Event()

    def work() -> None:
        while not stop.is_set():
            try:
                case, sim = waiting.popleft()
            except IndexError:  # nothing is left
                return
            outcomes[case] = _outcome(case, sim, ticks, stop)

    count = min(threads or len(os.sched_getaffinity(0)), max(1, len(cases)))
    with ThreadPoolExecutor(count) as pool:  # a thread of its own for one, too: Ctrl-C comes to this one
        try:
            workers = [pool.submit(work) for _ in range(count)]
            while wait(workers, PROGRESS_EVERY if progress else None).not_done and progress:
                progress(len(outcomes) / len(cases))
            for worker in workers:
                worker.result()
        finally:
            stop.set()
    if progress is not None:
        progress(1.0)
    return [outcomes[case] for case in range(len(cases))]


def case_rng(seed: int, case: int) -> np.random.Generator:
    """The random numbers of one case: they depend on the seed and the case's index only, not on how many there are."""
    return np.random.default_rng([natural(seed, "case_rng: seed"), natural(case, "case_rng: case")])


def _outcome(case: int, sim: Simulation, ticks: int, stop: Event) -> SolveError | None:
    end = sim.tick + ticks
    try:
        while sim.tick < end and not stop.is_set():
            sim.advance(min(CHUNK, end - sim.tick))
    except SolveError as err:
        return SolveError(f"case {case}: {err}")
    return None


def _checked_cases(simulations: Iterable[Simulation]) -> list[Simulation]:
    """Simulations, each there once."""
    cases = list(simulations) if isinstance(simulations, Iterable) else [simulations]
    first: dict[int, int] = {}
    for case, sim in enumerate(cases):
        if not isinstance(sim, Simulation):
            raise ScenarioError(f"case {case}: {sim!r:.80} is no Simulation; make one from a robot, or by rbt.load.")
        if first.setdefault(id(sim), case) != case:
            raise ScenarioError(f"cases {first[id(sim)]} and {case} are one simulation; make one for each case.")
    return cases
