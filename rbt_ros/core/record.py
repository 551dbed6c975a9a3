"""Runs that keep their states, and derivatives at many states: each one compiled call.

Routines of their own, on top of the engine's: they are compiled when a run is first recorded, not for a first step.
"""

from functools import partial

from rbt_ros.core.dynamics import derivative
from rbt_ros.core.integrate import Method, all_finite, copy, failure, step
from rbt_ros.core.jit import routine
from rbt_ros.core.types import OK, Input, Model
from rbt_ros.core.vec import put3, row3
from rbt_ros.core.work import GOOD_ROW, Work


@routine
def record_arrays(
    tree, body, freedom, world, y, tau, load, signal, data, rows, axes, stage, h_ns, table, count, rule, t_ns, every,
    states,
):  # fmt: skip
    """(code, tick, body): row k of states becomes y after (k + 1) `every` ticks of h_ns [ns]; y in place.

    On a failure in tick `tick` the rows from tick // every on are not written, and y is the last good state.
    """
    model, work, input = Model(tree, body, freedom, world), Work(rows, axes, stage), Input(tau, load, signal, data)
    method, h, good = Method(table, count, rule), h_ns / 1e9, work.stage[GOOD_ROW]
    for k in range(states.shape[0]):
        for tick in range(k * every, (k + 1) * every):
            copy(y, good)
            step(model, y, input, t_ns + tick * h_ns, h, method, work)
            if not all_finite(y):
                code, failed = failure(model, y, good)
                return code, tick, failed
        copy(y, states[k])
    return OK, states.shape[0] * every, -1


def recorder(model, y, input, h_ns, method, work):
    """`record_arrays` with only (t_ns, every, states) left to be given."""
    return partial(record_arrays, *model, y, *input, *work, h_ns, *method)


@routine
def fill_derivatives(
    tree, body, freedom, world, tau, load, signal, data, rows, axes, stage, column, vectors, states, rates
):
    """Row k of rates becomes [q̇, v̇] at row k of states, with row k of vectors as what the loads exert.

    vectors: (n, 3 m), three numbers for each of the m rows of `load`, to stand at its column `column` (LOAD_FORCE or
    LOAD_MOMENT).
    """
    model, input, work = Model(tree, body, freedom, world), Input(tau, load, signal, data), Work(rows, axes, stage)
    for k in range(states.shape[0]):
        for i in range(load.shape[0]):
            put3(load, i, column[i], row3(vectors, k, 3 * i))
        derivative(model, states[k], input, 0, 0.0, work, rates[k])
