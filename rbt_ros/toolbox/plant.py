"""Plant: the body under its loads, as the engine sees it. The only place from which accelerations come."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.record import fill_derivatives
from rbt_ros.core.types import NO_DATA, NO_SIGNAL, Model
from rbt_ros.core.work import Work, workspace
from rbt_ros.model.arrays import frozen
from rbt_ros.toolbox.body import RigidBody
from rbt_ros.toolbox.forces import Load, load_rows, vectors
from rbt_ros.toolbox.state import STATES, LabState
from rbt_ros.toolbox.vectors import OfState, finite_vector


class Plant:
    """ẏ = [q̇, v, ω̇, v̇] of a body under loads that are given with t [s] and y, at one instant or many."""

    def __init__(self, body: RigidBody, gravity: Sequence[float], loads: Sequence[Load]):
        g = finite_vector(gravity, "gravity", "m/s²")
        world = np.zeros(t.WORLD_COLUMNS)
        world[t.GRAVITY : t.GRAVITY + 3] = g
        self.body, self.gravity, self.loads = body, g, tuple(loads)
        self.model: Model = body.robot.model._replace(world=frozen(world))  # as scenarios have it: the same kernels
        self.held = [
            i for i, load in enumerate(loads) if isinstance(load.source, OfState) and load.source.per == "step"
        ]
        self._rows, self._columns = load_rows(loads)
        self._free = [load for i, load in enumerate(loads) if i not in self.held]
        self.step: tuple[float, float] | None = None  # [s] the fixed step that is being computed, if one is
        self._vectors = np.zeros(3 * len(self.loads))
        self._asked = [3 * i + k for i in range(len(loads)) if i not in self.held for k in range(3)]

    @cached_property
    def work(self) -> Work:
        """The engine's scratch arrays."""
        return workspace(self.model)

    def rates(self, values: np.ndarray, y: np.ndarray) -> np.ndarray:
        """ẏ (N, 13) at states y (N, 13) under the values (N, m, 3) of the loads."""
        flat = np.ascontiguousarray(values, dtype=float).reshape(len(y), 3 * len(self.loads))
        out = np.empty((len(y), STATES))
        fill_derivatives(
            *self.model, np.zeros(6), self._rows, NO_SIGNAL, NO_DATA, *self.work, self._columns, flat, y, out
        )
        return out

    def rate(self, time: float, y: np.ndarray) -> np.ndarray:
        """ẏ (13,) at t [s] and y (13,): loads of time and state are asked, held ones stay."""
        if self._free:
            self._vectors[self._asked] = vectors(self._free, time, LabState.of(y), self.step)
        return self.rates(self._vectors[None], y[None])[0]

    def hold(self, time: float, y: np.ndarray) -> np.ndarray:
        """Ask the loads that are held over a step, at its start: (number of them, 3)."""
        state = LabState.of(y)
        found = np.array([self.loads[i].source.at(time, state) for i in self.held]).reshape(len(self.held), 3)
        for i, value in zip(self.held, found, strict=True):
            self._vectors[3 * i : 3 * i + 3] = value
        return found
