"""Force and Torque on the body, and what the engine makes of them: rows of its loads, with signals or with vectors."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.signals import FOR_EVER, Signal, signal_arrays, stage_samples
from rbt_ros.core.types import Input
from rbt_ros.errors import ScenarioError
from rbt_ros.model.signals import table
from rbt_ros.toolbox.state import LabState, to_body, to_inertial
from rbt_ros.toolbox.vector_sum import VectorSum
from rbt_ros.toolbox.vectors import Constant, OfState, OfTime, Series, Source, finite_vector, sampled, source

FRAMES = {"body": t.BODY_AXES, "inertial": t.WORLD_AXES, "world": t.WORLD_AXES}


class Force(NamedTuple):
    """A force [N]: its components' axes, and the point of the body on which it acts."""

    value: Any  # (x, y, z), f(t), f(t, state), (times, values), an (N, 4) array t x y z, or a VectorSum
    frame: str = "body"  # axes of the value: "body" or "inertial"
    at: Sequence[float] = (0.0, 0.0, 0.0)  # the point, from the centre of mass, in body axes [m]
    per: str | None = None  # of f(t, state): "step" (held over each step) or "stage" (of the solver)
    between: str = "linear"  # the samples of a series: "linear", "hold" or "cubic"


class Torque(NamedTuple):
    """A torque [N·m]."""

    value: Any  # as of a Force
    frame: str = "body"
    per: str | None = None
    between: str = "linear"


class Load(NamedTuple):
    """One checked term of a force or torque."""

    source: Source
    column: int  # LOAD_FORCE or LOAD_MOMENT
    axes: float  # BODY_AXES or WORLD_AXES
    point: tuple[float, ...]  # p_BQ_B [m]

    @property
    def name(self) -> str:
        """What stands in errors."""
        return "force" if self.column == t.LOAD_FORCE else "torque"

    def row(self, vector: Sequence[float] = (0.0, 0.0, 0.0), signal: int = 0) -> list[float]:
        """A row of Input.load."""
        row = [0.0] * t.LOAD_COLUMNS
        row[t.LOAD_FRAME], row[t.LOAD_SIGNAL], row[t.LOAD_POINT : t.LOAD_POINT + 3] = (
            self.axes,
            float(signal),
            self.point,
        )
        row[self.column : self.column + 3] = vector
        return row


def loads(force: Any, torque: Any) -> list[Load]:
    """All terms of `force` and `torque`: values, Force and Torque objects, or lists of these."""
    found: list[Load] = []
    for kind, given in ((Force, force), (Torque, torque)):
        listed = isinstance(given, list) and any(isinstance(item, Force | Torque) or callable(item) for item in given)
        for item in given if listed else [given]:
            if item is not None:
                found += _terms(item, kind)
    return found


def _terms(item: Any, kind: type[Force] | type[Torque]) -> list[Load]:
    name = kind.__name__.lower()
    if isinstance(item, Force | Torque) and not isinstance(item, kind):
        raise ScenarioError(f"{name}: a {type(item).__name__} was given; it belongs to {type(item).__name__.lower()}=.")
    given = item if isinstance(item, kind) else kind(item)
    if not isinstance(given.frame, str) or given.frame not in FRAMES:
        raise ScenarioError(f"{name}: frame '{given.frame}' is not one of body, inertial.")
    point = finite_vector(getattr(given, "at", (0.0, 0.0, 0.0)), f"{name}: at", "m, from the centre of mass")
    if isinstance(given.value, VectorSum):
        sources: list[Source] = [*given.value.terms]
    else:
        sources = [source(given.value, name, given.per, given.between)]
    column = t.LOAD_FORCE if kind is Force else t.LOAD_MOMENT
    return [Load(s, column, FRAMES[given.frame], tuple(point.tolist())) for s in sources]


# ----------------------------------------------------------------------------------- for the engine's integrators
class Grid(NamedTuple):
    """The stages at which a fixed-step integrator wants inputs: steps of h_ns [ns], at `nodes` [steps] in each."""

    h_ns: int
    nodes: Sequence[float]
    steps: int


def engine_input(terms: Sequence[Load], t0: float, grid: Grid | None) -> Input:
    """What acts, for the engine, whose time is zero at t0 [s]: constants, and signals evaluated at every stage.

    Functions of time are sampled on the grid here. Those of time and state hold what stands in their row: write it
    there before each step.
    """
    rows: list[list[float]] = []
    signals: list[tuple[Signal, int, int, int, int]] = []
    for load in terms:
        if isinstance(load.source, Constant):
            rows.append(load.row(load.source.vector.tolist()))
        elif isinstance(load.source, OfState):
            rows.append(load.row())
        else:
            components, start, end = _signals(load.source, t0, grid)
            for axis, signal in enumerate(components):
                signals.append((signal, -1, max(start, 0), end, start))
                rows.append(load.row(np.eye(3)[axis].tolist(), len(signals)))
    return Input(np.zeros(6), np.array(rows).reshape(len(rows), t.LOAD_COLUMNS), *signal_arrays(signals))


def held_rows(terms: Sequence[Load]) -> list[int]:
    """The row in `engine_input` of each function of time and state, in their order."""
    counts = [1 if isinstance(load.source, Constant | OfState) else 3 for load in terms]
    return [sum(counts[:i]) for i, load in enumerate(terms) if isinstance(load.source, OfState)]


def _signals(of: OfTime | Series, t0: float, grid: Grid | None) -> tuple[list[Signal], int, int]:
    """Three signals, the time [ns] of their origin, and of their end."""
    if isinstance(of, Series):
        start = round((of.times[0] - t0) * 1e9)
        end = round((of.times[-1] - t0) * 1e9)
        return [table(of.times - of.times[0], v, of.between) for v in of.values.T], start, end
    assert grid is not None
    k, nodes = np.arange(grid.steps)[:, None], np.asarray(grid.nodes)
    times = t0 + (k + nodes) * (grid.h_ns / 1e9)
    values = sampled(of, times.ravel()).reshape(grid.steps, len(nodes), 3)
    return [stage_samples(grid.h_ns, grid.nodes, values[:, :, i]) for i in range(3)], 0, FOR_EVER


# ------------------------------------------------------------------------------------------- for any other solver
def vectors(terms: Sequence[Load], time: float, state: LabState, step: tuple[float, float] | None) -> np.ndarray:
    """(3 m,) what each term is at a time [s] and state, in its own axes: for `core.record.fill_derivatives`.

    A series that jumps at an end of the step (start, end) counts as it is within: stages at the ends cost no order.
    """
    inner = time
    if step is not None:
        inner = min(max(time, step[0] + 4 * math.ulp(step[0])), step[1] - 4 * math.ulp(step[1]))
    times = [inner if isinstance(load.source, Series) else time for load in terms]
    return np.concatenate([load.source.at(x, state) for load, x in zip(terms, times, strict=True)])


def load_rows(terms: Sequence[Load]) -> tuple[np.ndarray, np.ndarray]:
    """The rows of Input.load of all terms, and the column in each in which its vector belongs."""
    rows = np.array([load.row() for load in terms]).reshape(len(terms), t.LOAD_COLUMNS)
    return rows, np.array([load.column for load in terms], dtype=np.int64)


# -------------------------------------------------------------------------------------------------- over a run
def series(terms: Sequence[Load], times: np.ndarray, y: np.ndarray, skip: Sequence[int]) -> np.ndarray:
    """(N, m, 3) what each term was at times (N,) and states (N, 13), in its own axes; zeros for those in `skip`."""
    values = np.zeros((len(times), len(terms), 3))
    for i, load in enumerate(terms):
        if i in skip:
            continue
        if isinstance(load.source, OfState):
            states = (LabState.of(row) for row in y)
            values[:, i] = [load.source.at(x, state) for x, state in zip(times.tolist(), states, strict=True)]
        else:
            values[:, i] = sampled(load.source, times)
    return values


def totals(terms: Sequence[Load], values: np.ndarray, quaternions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Force [N], inertial axes, and torque [N·m] about the centre of mass, body axes, (N, 3) each, from `series`."""
    force_e, torque_b = np.zeros((len(values), 3)), np.zeros((len(values), 3))
    for i, load in enumerate(terms):
        in_body = load.axes == t.BODY_AXES
        body = values[:, i] if in_body else to_body(quaternions, values[:, i])
        if load.column == t.LOAD_FORCE:
            force_e += to_inertial(quaternions, values[:, i]) if in_body else values[:, i]
            torque_b += np.cross(load.point, body)
        else:
            torque_b += body
    return force_e, torque_b
