"""Eight simulations side by side: one step of all of them for little more than that of one, each with its own bits.

Every number of the model, the state and the inputs becomes the eight numbers of the eight simulations (`lanes.py`), and
the kernels that take one simulation further take all eight. They share what branches depend on: `outline`. All else may
differ: state, masses, hinge points, springs, efforts, loads, the numbers of signals.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from rbt_ros.core.dynamics import derivative
from rbt_ros.core.integrate import Method, all_finite, stage_state, step_along, tableau
from rbt_ros.core.jit import routine
from rbt_ros.core.lanes import LANES, lanes, zeros_in_lanes
from rbt_ros.core.laws import ENTRIES
from rbt_ros.core.types import (
    COULOMB,
    COUNT,
    CUBIC,
    DATA,
    HOLD,
    LAW,
    LINEAR,
    LOAD_BODY,
    LOAD_DATA,
    LOAD_FRAME,
    LOAD_LAW,
    LOAD_OTHER,
    LOAD_SIDE,
    LOAD_SIGNAL,
    STAGES,
    TURN,
    Input,
    Model,
)
from rbt_ros.core.work import CARRY_ROW, FREEDOM_WORK, STAGE_ROW, STAGE_ROWS, Work


class Run(NamedTuple):
    """A simulation that is integrated by the plain Runge-Kutta methods of `integrate.py`."""

    model: Model
    y: np.ndarray
    input: Input
    h_ns: int
    method: Method
    work: Work
    t_ns: int


class SharedWork(NamedTuple):
    """`Work` of eight simulations: arrays of lanes."""

    bodies: np.ndarray  # (n + 1, BODY_WORK): the last row is row -1, the world's
    freedoms: np.ndarray  # (nv, FREEDOM_WORK)
    stage: np.ndarray  # (STAGE_ROWS, nq + nv [+ 2])


@routine
def run_eight(
    tree, body, freedom, world, y, tau, load, signal, data, bodies, freedoms, stage, h_ns, table, count, rule,
    t_ns, ticks,
):  # fmt: skip
    """Whether all went well: `integrate.run_arrays` of eight. If not, y is of no use. Not for SEMI_IMPLICIT.

    tree, world and signal are those of each; the other arrays have the eight numbers in their last place.
    """
    model = Model(tree, lanes(body), lanes(freedom), world)
    input = Input(lanes(tau), lanes(load), signal, lanes(data))
    state, work = lanes(y), SharedWork(lanes(bodies), lanes(freedoms), lanes(stage))
    A, B, C, _ = tableau(Method(table, count, rule))
    h, s = h_ns / 1e9, work.stage[STAGE_ROW]
    for tick in range(ticks):
        for i in range(count):
            stage_state(state, h, work, A, i, s)
            derivative(model, s, input, t_ns + tick * h_ns, C[i] * h, work, work.stage[i])
        step_along(model, state, h, work, B, count)
        if not all_finite(state):
            return False
    return True


def outline(run: Run) -> tuple:
    """What simulations must have in common to go side by side: all that a branch depends on."""
    model, input = run.model, run.input
    knots = [
        input.data[row[DATA] : row[DATA] + row[COUNT] + (row[LAW] == STAGES)].tobytes()
        for row in input.signal
        if row[LAW] in (HOLD, LINEAR, CUBIC, STAGES)
    ]
    return (
        run.h_ns,
        run.method.table.tobytes(),
        *run.method[1:],
        run.t_ns if len(input.signal) else None,
        len(run.y),
        model.tree.tobytes(),
        model.world.tobytes(),
        (model.body[:, TURN] == 1.0).tobytes(),
        (model.freedom[:, COULOMB] != 0.0).tobytes(),
        input.load[:, [LOAD_BODY, LOAD_FRAME, LOAD_SIGNAL, LOAD_LAW, LOAD_DATA, LOAD_SIDE, LOAD_OTHER]].tobytes(),
        input.signal.tobytes(),
        len(input.data),
        *knots,
    )


class Eight:
    """One to eight runs of one outline, taken further together; the last of them fills the lanes that are left."""

    def __init__(self, runs: Sequence[Run]):
        first, models, inputs = runs[0], [run.model for run in runs], [run.input for run in runs]
        self._runs, self._t_ns = runs, first.t_ns
        self._y = side_by_side([run.y for run in runs])
        self._stage = zeros_in_lanes((STAGE_ROWS, len(first.y)))
        self._stage[CARRY_ROW] = side_by_side([run.work.stage[CARRY_ROW] for run in runs])
        model = first.model._replace(
            body=side_by_side([model.body for model in models]),
            freedom=side_by_side([model.freedom for model in models]),
        )
        input = first.input._replace(
            tau=side_by_side([input.tau for input in inputs]),
            load=side_by_side([in_lanes(input.load) for input in inputs]),
            data=side_by_side([input.data for input in inputs]),
        )
        bodies = side_by_side([rows_and_world(run.work, len(first.model.tree)) for run in runs])
        freedoms = zeros_in_lanes((len(first.input.tau), FREEDOM_WORK))
        self._arrays = (*model, self._y, *input, bodies, freedoms, self._stage)

    def advance(self, ticks: int) -> bool:
        """Whether all have gone so many steps further; if not, none has."""
        first, y, carry = self._runs[0], self._y.copy(), self._stage[CARRY_ROW].copy()
        if run_eight(*self._arrays, first.h_ns, *first.method, self._t_ns, ticks):
            self._t_ns += ticks * first.h_ns
            return True
        self._y[:], self._stage[CARRY_ROW] = y, carry
        return False

    def write_back(self) -> None:
        """Let the runs know how far they are."""
        for lane, run in enumerate(self._runs):
            run.y[:], run.work.stage[CARRY_ROW] = self._y[:, lane], self._stage[CARRY_ROW, :, lane]


def side_by_side(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Arrays of one shape, (*shape, LANES): each in a lane, the last one in all that are left."""
    together = zeros_in_lanes(arrays[0].shape)
    return np.stack([*arrays, *[arrays[-1]] * (LANES - len(arrays))], axis=-1, out=together)


def in_lanes(load: np.ndarray) -> np.ndarray:
    """Input.load with the addresses of laws that compute eight at once."""
    if not load[:, LOAD_LAW].any():
        return load
    load = load.copy()
    load[:, LOAD_LAW] = [ENTRIES[at].address(in_lanes=True) if at else 0.0 for at in load[:, LOAD_LAW]]
    return load


def rows_and_world(work: Work, n: int) -> np.ndarray:
    """(n + 1, BODY_WORK): the rows of n bodies, and row -1."""
    return np.vstack([work.bodies.table[:n], work.body_memory[0, :, -1]])
