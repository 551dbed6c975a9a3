"""Many simulations at once: threads over compiled steps that hold no lock, the same bits as alone."""

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, wait
from numbers import Integral
from threading import Event
from typing import NamedTuple

import numpy as np

from rbt_ros.core.jit import is_compiled
from rbt_ros.core.lanes import LANES
from rbt_ros.core.side_by_side import Eight, Run, outline, run_eight
from rbt_ros.errors import ScenarioError, SolveError
from rbt_ros.model.checks import natural
from rbt_ros.model.ticks import refuse_beyond
from rbt_ros.sim import Simulation

CHUNK = 256  # ticks after which a thread looks whether it should stop
LONG_ENOUGH = 100  # ticks from which on it pays to go side by side
WORTH_COMPILING = 5_000_000  # ticks times bodies, of all ensembles of this process: a second alone
PROGRESS_EVERY = 0.1  # [s] of waiting


class Member(NamedTuple):
    """A case, and how it goes on, if that may be with others."""

    case: int
    sim: Simulation
    run: Run | None


Company = list[Member]  # cases that go together
Outcomes = dict[int, SolveError | None]


def advance_many(
    simulations: Iterable[Simulation],
    ticks: int,
    threads: int | None = None,
    progress: Callable[[float], None] | None = None,
) -> list[SolveError | None]:
    """Compute `ticks` steps of every simulation; of each None, or the SolveError that ended it, with its case named.

    The simulations may differ in everything. One that fails keeps its last good state and stops no other. Which thread
    computes a case, and how many there are (default: one per usable core), changes no bit. progress: called from here
    with the fraction of all steps done. On Ctrl-C, or an error in `progress`, every simulation stops at a whole tick.
    """
    cases = _checked_cases(simulations)
    if not isinstance(ticks, Integral) or ticks < 0:
        raise ScenarioError(f"ticks {ticks!r:.80} must be a whole number of steps, 0 or more.")
    if threads is not None and not (isinstance(threads, Integral) and threads >= 1):
        raise ScenarioError(
            f"threads {threads!r:.80} must be a whole number, one or more; leave it out for one per usable core."
        )
    if progress is not None and not callable(progress):
        raise ScenarioError(f"progress {progress!r:.80} is not a function.")
    for sim in cases:
        refuse_beyond(sim.ticks, sim.tick + int(ticks))
    outcomes, stop, before = Outcomes(), Event(), sum(sim.tick for sim in cases)
    together = ticks >= LONG_ENOUGH and _pays(int(ticks) * sum(len(sim.robot.bodies) for sim in cases))
    waiting = deque(_companies(enumerate(cases), int(ticks) if together else 0, outcomes))

    def work() -> None:
        while not stop.is_set():
            try:
                company = waiting.popleft()
            except IndexError:  # nothing is left
                return
            _advance_company(company, int(ticks), outcomes, stop)

    count = min(threads or len(os.sched_getaffinity(0)), max(1, len(waiting)))
    with ThreadPoolExecutor(count) as pool:  # a thread of its own for one, too: Ctrl-C comes to this one
        try:
            workers = [pool.submit(work) for _ in range(count)]
            while wait(workers, PROGRESS_EVERY if progress else None).not_done and progress:
                progress((sum(sim.tick for sim in cases) - before) / max(1, ticks * len(cases)))
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


_work_so_far = 0


def _pays(work: int) -> bool:
    """Whether to have simulations go side by side, or not yet: the kernels for that take ten seconds to compile."""
    global _work_so_far
    _work_so_far += work
    return _work_so_far >= WORTH_COMPILING or is_compiled(run_eight)


def _companies(cases: Iterable[tuple[int, Simulation]], ticks: int, outcomes: Outcomes) -> list[Company]:
    """Who goes with whom: up to eight that may go side by side, the others alone; who cannot go on has his outcome."""
    alike: dict[tuple, Company] = {}
    for case, sim in cases:
        try:
            run = sim.plain_run() if ticks >= LONG_ENOUGH and not sim.is_watched else None
        except SolveError as err:  # of what begins at this tick
            outcomes[case] = SolveError(f"case {case}: {err}")
            continue
        alike.setdefault(outline(run) if run else (case,), []).append(Member(case, sim, run))
    return [together[i : i + LANES] for together in alike.values() for i in range(0, len(together), LANES)]


def _advance_company(company: Company, ticks: int, outcomes: Outcomes, stop: Event) -> None:
    """Take all of a company so far, together as long as they may; of each what came of it."""
    waiting = [(company, ticks)]
    while waiting:
        company, left = waiting.pop()
        if len(company) == 1 or stop.is_set():
            for case, sim, _ in company:
                outcomes[case] = _outcome(case, sim, left, stop)
            continue
        span = min(left, *(sim.ticks_alike for _, sim, _ in company))
        gone = _advance_together(company, span, stop) if span >= LONG_ENOUGH else 0
        if gone < span and not stop.is_set():  # too short to go together, or one of them fails in what comes next
            alone = min(left - gone, CHUNK if span >= LONG_ENOUGH else LONG_ENOUGH)
            failed = {case: _outcome(case, sim, alone, stop) for case, sim, _ in company}
            outcomes.update({case: error for case, error in failed.items() if error})
            company, gone = [member for member in company if not failed[member.case]], gone + alone
        left -= gone
        waiting += [(part, left) for part in _companies([(case, sim) for case, sim, _ in company], left, outcomes)]


def _advance_together(company: Company, ticks: int, stop: Event) -> int:
    """How many ticks all of them have gone."""
    eight, done = Eight([run for _, _, run in company if run]), 0
    while done < ticks and not stop.is_set():
        chunk = min(CHUNK, ticks - done)
        if not eight.advance(chunk):
            break
        done += chunk
        for _, sim, _ in company:
            sim.has_gone(chunk)
    eight.write_back()
    return done


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
