"""LabResult: what `simulate` returns. Arrays over time in SI; what follows from states is computed when asked for."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import matrices
from rbt_ros.model.checks import numbers
from rbt_ros.paths import as_path, writing
from rbt_ros.results import empty_figure, write_columns
from rbt_ros.toolbox.forces import totals
from rbt_ros.toolbox.gimbal import GimbalLock
from rbt_ros.toolbox.state import LabState, W, to_body, to_inertial
from rbt_ros.toolbox.track import Track


class EventHit(NamedTuple):
    """Where an event happened."""

    event: int  # which of the events
    t: float  # [s]
    state: LabState


class LabResult:
    """One body's motion over time, N samples. `_e`: inertial axes, `_b`: body axes; the body's origin is its CoM."""

    def __init__(
        self,
        track: Track,
        solver: str,
        times: np.ndarray | None = None,
        locks: Sequence[GimbalLock] = (),
        hits: Sequence[EventHit] = (),
        sequence: str = "ZYX",
    ):
        """times: of the samples; default: those of the solver."""
        self.track, self.body, self.solver, self.sequence = track, track.plant.body, solver, sequence
        self.gimbal_locks = tuple(locks)  # where a run in Euler angles came near one
        self.events = tuple(hits)  # in order of time
        self.time = track.t if times is None else times  # (N,) [s]
        self.y = track.y if times is None else track.states(times)  # (N, 13) the engine's q, p, ω, v
        self.state = LabState.of(self.y)

    def __len__(self) -> int:
        return len(self.time)

    # motion

    @property
    def position(self) -> np.ndarray:
        """(N, 3) p_WB of the centre of mass [m], inertial axes."""
        return self.state.position

    @property
    def velocity_e(self) -> np.ndarray:
        """(N, 3) v_WB of the centre of mass [m/s], inertial axes."""
        return self.state.velocity_e

    @cached_property
    def velocity_b(self) -> np.ndarray:
        """(N, 3) v_WB [m/s], body axes."""
        return self.state.velocity_b

    @property
    def omega_b(self) -> np.ndarray:
        """(N, 3) w_WB [rad/s], body axes."""
        return self.state.omega_b

    @cached_property
    def omega_e(self) -> np.ndarray:
        """(N, 3) w_WB [rad/s], inertial axes."""
        return self.state.omega_e

    @cached_property
    def _rates(self) -> np.ndarray:
        return self.track.plant.rates(self._values, self.y)

    @property
    def acceleration_e(self) -> np.ndarray:
        """(N, 3) v̇_WB of the centre of mass [m/s²], inertial axes."""
        return self._rates[:, 10:13]

    @cached_property
    def acceleration_b(self) -> np.ndarray:
        """(N, 3) the same acceleration in body axes [m/s²]; not the rate of change of velocity_b."""
        return to_body(self.quaternion, self.acceleration_e)

    @property
    def angular_acceleration_b(self) -> np.ndarray:
        """(N, 3) ẇ_WB [rad/s²], body axes."""
        return self._rates[:, W]

    @cached_property
    def angular_acceleration_e(self) -> np.ndarray:
        """(N, 3) ẇ_WB [rad/s²], inertial axes."""
        return to_inertial(self.quaternion, self.angular_acceleration_b)

    # attitude

    @property
    def quaternion(self) -> np.ndarray:
        """(N, 4) q_WB, w x y z, body to inertial; as integrated, so of a length that may differ from 1."""
        return self.state.quaternion

    @cached_property
    def matrix(self) -> np.ndarray:
        """(N, 3, 3) R_WB: turns components in body axes into components in inertial axes."""
        return matrices(self.quaternion)

    def euler(self, sequence: str | None = None) -> np.ndarray:
        """(N, 3) angles [rad] of successive turns about the body's axes, principal values; default: "ZYX", or the
        sequence of the run in Euler angles."""
        return self.state.euler(self.sequence if sequence is None else sequence)

    def constraint_errors(self) -> np.ndarray:
        """At each of the solver's own samples: |q| - 1, or the largest element of RᵀR - 1; zero for Euler angles."""
        return self.track.constraint_errors()

    # what acts

    @cached_property
    def _values(self) -> np.ndarray:
        return self.track.values(self.time, self.y)

    @cached_property
    def _totals(self) -> tuple[np.ndarray, np.ndarray]:
        return totals(self.track.plant.loads, self._values, self.quaternion)

    @property
    def force_e(self) -> np.ndarray:
        """(N, 3) the sum of the forces [N], inertial axes, gravity not included."""
        return self._totals[0]

    @cached_property
    def force_b(self) -> np.ndarray:
        """(N, 3) the same in body axes [N]."""
        return to_body(self.quaternion, self.force_e)

    @property
    def torque_b(self) -> np.ndarray:
        """(N, 3) the sum of the torques about the centre of mass [N·m], body axes, those of the forces included."""
        return self._totals[1]

    @cached_property
    def torque_e(self) -> np.ndarray:
        """(N, 3) the same in inertial axes [N·m]."""
        return to_inertial(self.quaternion, self.torque_b)

    # what should be conserved

    @cached_property
    def translational_energy(self) -> np.ndarray:
        """(N,) ½ m v² [J]."""
        return 0.5 * self.body.mass * (self.velocity_e**2).sum(axis=1)

    @cached_property
    def rotational_energy(self) -> np.ndarray:
        """(N,) ½ ω·I ω [J]."""
        return 0.5 * (self.omega_b * self.angular_momentum_b).sum(axis=1)

    @property
    def kinetic_energy(self) -> np.ndarray:
        """(N,) of both [J]."""
        return self.translational_energy + self.rotational_energy

    @cached_property
    def potential_energy(self) -> np.ndarray:
        """(N,) -m g·p [J] of `gravity`; zero at the origin."""
        return -self.body.mass * (self.position @ self.track.plant.gravity)

    @property
    def energy(self) -> np.ndarray:
        """(N,) kinetic and potential [J]."""
        return self.kinetic_energy + self.potential_energy

    @cached_property
    def momentum(self) -> np.ndarray:
        """(N, 3) m v [kg·m/s], inertial axes."""
        return self.body.mass * self.velocity_e

    @cached_property
    def angular_momentum_b(self) -> np.ndarray:
        """(N, 3) I ω about the centre of mass [N·m·s], body axes."""
        return self.omega_b @ self.body.inertia

    @cached_property
    def angular_momentum_e(self) -> np.ndarray:
        """(N, 3) the same in inertial axes [N·m·s]."""
        return to_inertial(self.quaternion, self.angular_momentum_b)

    # between the samples

    def at(self, t: Any) -> LabState:
        """The state at t [s], or at times (n,): exact at the solver's own samples.

        Between them by the solver's interpolant where it has one, else by Hermite's polynomial of the solver's order
        through the states around t and their rates (order 4 where a load is held over each step).
        """
        y = self.track.states(np.atleast_1d(numbers(t, "at: t", ScenarioError)))
        return LabState.of(y if np.ndim(t) else y[0])

    # files and figures

    def columns(self) -> dict[str, np.ndarray]:
        """Everything as named columns, unit in the name: `omega_b_x [rad/s]`."""
        table = {"t [s]": self.time}
        for name, unit in COLUMNS.items():
            values = self.euler() if name == "euler" else getattr(self, name)
            label = f"euler_{self.sequence}" if name == "euler" else name
            if values.ndim == 1:
                table[f"{label} [{unit}]"] = values
                continue
            flat = values.reshape(len(values), -1)
            for k, column in zip(AXES[flat.shape[1]], flat.T, strict=True):
                table[f"{label}_{k}" + (f" [{unit}]" if unit else "")] = column
        return table

    @in_words(ModelError)
    def to_csv(self, path: str | Path) -> None:
        """Write `columns()`, 17 digits: what is read back has the same bits."""
        write_columns(self.columns(), path)

    @in_words(ModelError)
    def to_npz(self, path: str | Path) -> None:
        """Write arrays under the names that they have here, for `numpy.load`; `units` says theirs."""
        arrays = {name: self.euler() if name == "euler" else getattr(self, name) for name in COLUMNS}
        units = [f"{name} [{unit}]" for name, unit in {"time": "s", **COLUMNS}.items()]
        with writing(path):
            np.savez(path, time=self.time, units=np.array(units), inertia=self.body.inertia, **arrays)

    @in_words(ModelError)
    def plot(self, path: str | Path | None = None, title: str = "") -> Any:
        """A figure of position, velocity in both frames and omega_b over time; saved when `path` is given."""
        figure = empty_figure(9, 6)
        axes = figure.subplots(2, 2, sharex=True)
        curves = {
            "position [m]": self.position,
            "velocity, inertial axes [m/s]": self.velocity_e,
            "angular velocity, body axes [rad/s]": self.omega_b,
            "velocity, body axes [m/s]": self.velocity_b,
        }
        for ax, (label, values) in zip(axes.flat, curves.items(), strict=True):
            for axis, width, column in zip("xyz", (4.5, 2.4, 1.2), values.T, strict=True):
                ax.plot(self.time, column, linewidth=width, label=axis)  # equal curves stay visible
            ax.set_title(label, fontsize=10)
            ax.grid(alpha=0.3)
        axes[0, 0].legend(ncols=3, fontsize=8)
        for ax in axes[1]:
            ax.set_xlabel("time t [s]")
        figure.suptitle(title or f"{self.body.name}, {self.solver}")
        if path is not None:
            with writing(path):
                figure.savefig(as_path(path, "figure", ScenarioError), dpi=150)
        return figure


COLUMNS = {
    "position": "m",
    "velocity_e": "m/s",
    "velocity_b": "m/s",
    "omega_b": "rad/s",
    "omega_e": "rad/s",
    "acceleration_e": "m/s2",
    "acceleration_b": "m/s2",
    "angular_acceleration_b": "rad/s2",
    "angular_acceleration_e": "rad/s2",
    "quaternion": "",
    "euler": "rad",
    "matrix": "",
    "force_e": "N",
    "force_b": "N",
    "torque_b": "N m",
    "torque_e": "N m",
    "translational_energy": "J",
    "rotational_energy": "J",
    "potential_energy": "J",
    "momentum": "kg m/s",
    "angular_momentum_b": "N m s",
    "angular_momentum_e": "N m s",
}
AXES = {3: "xyz", 4: "wxyz", 9: ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")}
