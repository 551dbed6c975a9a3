"""Many cases at once: threads over compiled runs that hold no lock. One Status per case, the same bits as alone."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from rbt_ros.core.constrained import Constrained
from rbt_ros.core.constraints import Constraints
from rbt_ros.core.integrate import stepper
from rbt_ros.core.types import Input, Model, Status
from rbt_ros.core.work import model_size, workspace


def advance_many(
    models: Model | Sequence[Model],
    states: np.ndarray,
    inputs: Input | Sequence[Input],
    t_ns: int,
    h_ns: int,
    ticks: int,
    method: int,
    threads: int = 2,
    constraints: Constraints | None = None,
) -> list[Status]:
    """Take every row of states (cases, nq + nv) in place `ticks` steps further; one model and input, or one per case.

    constraints: what holds in all of them, and at their starts.

    A case that fails keeps its last good state and says so in its Status; the others go on. Which thread computes a
    case makes no difference.
    """
    cases = len(states)
    models = [models] * cases if isinstance(models, Model) else models
    inputs = [inputs] * cases if isinstance(inputs, Input) else inputs
    threads = max(1, min(threads, cases))
    make = stepper if constraints is None else Constrained(constraints).stepper

    def some(first):
        """Cases first, first + threads, ... with a workspace of their own."""
        work, made_for, done = None, None, []
        for k in range(first, cases, threads):
            if work is None or models[k].body is not made_for:
                made_for = models[k].body
                work = workspace(models[k], states.shape[1] - sum(model_size(models[k])))
            go_on = make(models[k], states[k], inputs[k], h_ns, method, work)
            done.append((k, Status(*go_on(t_ns, ticks))))
        return done

    if threads == 1:
        return [status for _, status in some(0)]
    with ThreadPoolExecutor(threads) as pool:
        done = [pair for part in pool.map(some, range(threads)) for pair in part]
    return [status for _, status in sorted(done, key=lambda pair: pair[0])]


def case_rng(seed: int, case: int) -> np.random.Generator:
    """The random numbers of one case: they depend on the seed and the case's index only, not on how many there are."""
    return np.random.default_rng([seed, case])
