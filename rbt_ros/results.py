"""Sample: everything there is to know at one instant. Result: samples in a row, as arrays with names and units."""

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from rbt_ros.core.poinsot import Poinsot, poinsot
from rbt_ros.core.types import KIND, NQ, NV, JointKind, Q, V
from rbt_ros.errors import ModelError, ScenarioError, SetupError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import turn_all
from rbt_ros.model.constraints import ConstraintForce, Coupling
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.modes import ModeChange
from rbt_ros.model.reactions import HingeForce, Reactions
from rbt_ros.model.robot import Body, Robot
from rbt_ros.model.unilateral import ContactEvent, RopeForce, StopForce
from rbt_ros.paths import as_path, writing

if TYPE_CHECKING:
    from rbt_ros.sensing import SensorResult

WRENCH = (("moment", "N m"), ("force", "N"))
ROUND_OFF = 1e-12  # of what is summed: no diagram enlarges less
INERTIA = ".inertia [kg m2]"  # behind a body's name, in files of arrays


class Energy(NamedTuple):
    """Energies [J]; each a number in a Sample, an array over time in a Result."""

    kinetic: Any
    potential: Any  # zero at the world's origin

    @property
    def total(self) -> Any:
        """Kinetic and potential."""
        return self.kinetic + self.potential


class Work(NamedTuple):
    """Since t = 0 [J]; each a number in a Sample, an array over time in a Result."""

    inputs: Any  # of efforts and wrenches on the robot
    dissipated: Any  # what dampers, friction and impacts have taken


class Conservation(NamedTuple):
    """What should be zero: changes since the last input. NaN where the system does not keep that quantity; 0 where the
    rounding of the parts that are summed (gravity, springs, each body's motion) explains the change.

    With `work_of_inputs` the energy counts from the start, less the work of the inputs, plus what was dissipated.
    """

    energy: float  # change of the total over the largest kinetic energy since then
    momentum: float  # |ΔP| beyond gravity's impulse [kg·m/s]
    angular_momentum: float  # |ΔL| about the CoM over the largest Σ |I ω| + m |r × v| since then
    quaternion: float  # largest | |q| - 1 |
    since_ns: int  # scenario time from which the momenta are counted
    energy_since_ns: int  # and the energy: the same but with `work_of_inputs`


class Sample(NamedTuple):
    """One instant. Poses and twists are of the bodies' own frames (URDF links), whatever the engine uses inside."""

    t_ns: int  # scenario time
    tick: int  # steps since t = 0
    q: np.ndarray  # (nq,) engine coordinates
    v: np.ndarray  # (nv,) engine velocities
    tau: np.ndarray  # (nv,) efforts on the freedoms from this instant on [N·m, N]
    load: np.ndarray  # (k, LOAD_COLUMNS) wrenches that act from this instant on
    pose: np.ndarray  # (n, 7) [q_WB, p_WB]
    twist: np.ndarray  # (n, 6) [w_WB, v_WB] world axes
    energy: Energy
    momentum: tuple[float, float, float]  # P [kg·m/s] world axes
    angular_momentum: tuple[float, float, float]  # about the world's origin [N·m·s], world axes
    angular_momentum_com: tuple[float, float, float]  # about the system's CoM
    com: tuple[float, float, float]  # p_WC of the system [m]
    conservation: Conservation
    constraints: dict[str, ConstraintForce]  # what each constraint does, by name
    work: Work | None = None  # where `work_of_inputs` was asked for
    locked: tuple[str, ...] = ()  # hinges that are locked from this instant on
    docked: tuple[str, ...] = ()  # docks that hold from this instant on
    ropes: Mapping[str, RopeForce] = MappingProxyType({})  # what each rope does, by name
    stops: Mapping[str, StopForce] = MappingProxyType({})  # what the stops of each joint do, by name of the joint
    impact_loss: float = 0.0  # energy lost in impacts of ropes and stops since t = 0 [J]
    reactions: Mapping[str, HingeForce] = MappingProxyType({})  # what each hinge transmits; computed when it is read

    @property
    def t(self) -> float:
        """Scenario time [s]."""
        return self.t_ns * 1e-9

    @property
    def accelerations(self) -> np.ndarray:
        """(n, 6) [ẇ_WB, a_WB] of the bodies' frames, world axes, under what acts; computed when it is read."""
        if not isinstance(self.reactions, Reactions):
            raise ScenarioError("accelerations: this sample was not taken of a simulation, which knows what acts.")
        return self.reactions.accelerations

    def gravity(self, position: np.ndarray) -> np.ndarray:
        """What any mass falls with at a place, by uniform gravity and attraction [m/s²], world axes."""
        if not isinstance(self.reactions, Reactions):
            raise ScenarioError("gravity: this sample was not taken of a simulation, which knows the world.")
        return self.reactions.gravity(position)

    def digest(self) -> str:
        """16 hex digits of time and state: equal if and only if every bit is."""
        return state_digest(self.t_ns, self.q.tobytes() + self.v.tobytes())


def state_digest(t_ns: int, motion: bytes) -> str:
    """16 hex digits of a time and the bytes of [q, v]."""
    return hashlib.sha256(t_ns.to_bytes(8, "little") + motion).hexdigest()[:16]


class BodyResult(NamedTuple):
    """One body over time: (N, ...) arrays."""

    position: np.ndarray  # p_WB of the frame's origin [m], world axes
    com: np.ndarray  # p_WBcm [m], world axes
    quaternion: np.ndarray  # q_WB, w x y z
    velocity: np.ndarray  # v_WB of the origin [m/s], world axes
    omega_body: np.ndarray  # w_WB [rad/s], body axes
    omega_world: np.ndarray  # w_WB [rad/s], world axes


class HingeResult(NamedTuple):
    """One hinge over time."""

    position: np.ndarray  # [rad, m]: (N,), or (N, freedoms) where there are several; spherical: q_JB (N, 4)
    rate: np.ndarray  # [rad/s, m/s]: likewise; spherical: w_PB_B (N, 3)

    @property
    def angle(self) -> np.ndarray:
        """The position of a turning hinge [rad]."""
        return self.position

    @property
    def quaternion(self) -> np.ndarray:
        """The attitude of a spherical hinge, w x y z."""
        return self.position

    @property
    def omega(self) -> np.ndarray:
        """The relative angular velocity of a spherical hinge in the child's axes [rad/s]."""
        return self.rate


class Result:
    """Samples in a row, in SI."""

    def __init__(
        self,
        robot: Robot,
        samples: Sequence[Sample],
        changes: Sequence[ModeChange] = (),
        events: Sequence[ContactEvent] = (),
        sensors: "Mapping[str, SensorResult] | None" = None,
    ):
        self.robot = robot
        self.changes = tuple(changes)  # of modes, from the first sample to the last
        self.events = tuple(events)  # of ropes and stops
        self.samples = tuple(samples)
        self._sensors = sensors or {}
        self.t_ns = np.array([s.t_ns for s in samples], dtype=np.int64)
        self.t = self.t_ns * 1e-9  # [s]
        self.energy = Energy(
            np.array([s.energy.kinetic for s in samples]), np.array([s.energy.potential for s in samples])
        )
        work = [s.work for s in samples if s.work is not None]  # of all samples, or of none
        self.work = Work(*np.array(work).T) if work else None
        self.momentum = np.array([s.momentum for s in samples])  # (N, 3) [kg·m/s]
        self.angular_momentum = np.array([s.angular_momentum for s in samples])  # (N, 3) about the origin
        self.angular_momentum_com = np.array([s.angular_momentum_com for s in samples])
        self._q = np.array([s.q for s in samples])  # (N, nq)
        self._v = np.array([s.v for s in samples])  # (N, nv)
        self._pose = np.array([s.pose for s in samples])  # (N, n, 7)
        self._twist = np.array([s.twist for s in samples])  # (N, n, 6)

    def body(self, name: str) -> BodyResult:
        """The motion of one body."""
        i = self.robot.body_index(name)
        q, p = self._pose[:, i, :4], self._pose[:, i, 4:]
        w, v = self._twist[:, i, :3], self._twist[:, i, 3:]
        com = p + turn_all(q, np.broadcast_to(self.robot.bodies[i].com, p.shape))
        if self.robot.hinges[i].kind == JointKind.FREE:  # its own velocity, with all its digits
            first = self.robot.model.tree[i, V]
            omega_body = self._v[:, first : first + 3]
        else:
            omega_body = turn_all(q * [1, -1, -1, -1], w)
        return BodyResult(p, com, q, v, omega_body, w)

    def poinsot(self, name: str) -> Poinsot:
        """Poinsot's construction of one body's turning about its centre of mass, at every sample."""
        body, motion = self.robot.bodies[self.robot.body_index(name)], self.body(name)
        return poinsot(body.inertia, motion.quaternion, motion.omega_body)

    def sums_of_momenta(self) -> tuple[np.ndarray, np.ndarray]:
        """(N,) Σ|L_k|, Σ|P_k| over the bodies: next to them momenta that cancel are round-off."""
        motions = [self.body(body.name) for body in self.robot.bodies]
        return sums_of_momenta(
            self.robot.bodies, [(m.quaternion, m.position, m.velocity, m.omega_body) for m in motions]
        )

    def hinge(self, name: str) -> HingeResult:
        """The motion of one hinge."""
        i = self.robot.hinge_index(name)
        kind, q, v = self.robot.model.tree[i, [KIND, Q, V]]
        position, rate = self._q[:, q : q + NQ[kind]], self._v[:, v : v + NV[kind]]
        one = NV[kind] == 1
        return HingeResult(position[:, 0], rate[:, 0]) if one else HingeResult(position, rate)

    def sensor(self, name: str) -> "SensorResult":
        """What one sensor measured, at its own rate: `.t` [s], and arrays by name."""
        if not isinstance(name, str) or name not in self._sensors:
            raise ModelError(f"there is no sensor {name!r:.80}; there are {', '.join(self._sensors) or 'none'}.")
        return self._sensors[name]

    def constraint(self, name: str) -> ConstraintForce:
        """What one constraint does over time: efforts (N,), wrenches (N, 6), residuals (N,)."""
        known = dict.fromkeys(known for s in self.samples for known in s.constraints)
        if not isinstance(name, str) or name not in known:
            names = ", ".join(known) or "none"
            raise ModelError(f"robot '{self.robot.name}' has no constraint {name!r:.80}; it has {names}.")
        none = ConstraintForce(np.nan, np.full(6, np.nan), np.nan)  # a dock, while it does not hold
        rows = [s.constraints.get(name, none) for s in self.samples]
        return ConstraintForce(*(np.array(column) for column in zip(*rows, strict=True)))

    @in_words(ModelError)
    def rope(self, name: str) -> RopeForce:
        """What one rope does over time: tension (N,), taut (N,), wrench (N, 6)."""
        if name not in self.samples[0].ropes:
            known = ", ".join(self.samples[0].ropes) or "none"
            raise ModelError(f"robot '{self.robot.name}' has no rope '{name[:80]}'; it has {known}.")
        return RopeForce(*(np.array(column) for column in zip(*(s.ropes[name] for s in self.samples), strict=True)))

    @in_words(ModelError)
    def stop(self, joint: str) -> StopForce:
        """What the stops of one joint do over time: effort (N,), touching (N,)."""
        if joint not in self.samples[0].stops:
            known = ", ".join(self.samples[0].stops) or "none"
            raise ModelError(
                f"no stops of joint '{joint[:80]}' in robot '{self.robot.name}'; joints with stops: {known}."
            )
        return StopForce(*(np.array(column) for column in zip(*(s.stops[joint] for s in self.samples), strict=True)))

    def reaction(self, name: str) -> HingeForce:
        """What one hinge transmits over time: moment (N, 3), force (N, 3). Computed here and now."""
        known = dict.fromkeys(known for s in self.samples for known in s.reactions)
        if not isinstance(name, str) or name not in known:
            raise ModelError(f"robot '{self.robot.name}' has no hinge {name!r:.80}; it has {', '.join(known)}.")
        none = HingeForce(np.full(3, np.nan), np.full(3, np.nan))  # a dock, while it does not hold
        rows = [s.reactions.get(name, none) for s in self.samples]
        return HingeForce(*(np.array(column) for column in zip(*rows, strict=True)))

    @in_words(ModelError)
    def columns(self, reactions: bool = False) -> dict[str, np.ndarray]:
        """Everything as named columns, unit in the name: `hub.omega_body_x [rad/s]`.

        reactions: what the hinges transmit too, which takes some time to compute.
        """
        table = {"t [s]": self.t}
        for body in self.robot.bodies:
            motion = self.body(body.name)
            for key, unit in (("position", "m"), ("quaternion", ""), ("velocity", "m/s"), ("omega_body", "rad/s")):
                values = getattr(motion, key)
                for axis, column in zip("wxyz"[4 - values.shape[1] :], values.T, strict=True):
                    table[f"{body.name}.{key}_{axis}" + (f" [{unit}]" if unit else "")] = column
        for hinge, i in zip(self.robot.hinges, range(len(self.robot.hinges)), strict=True):
            q, v = self.robot.model.tree[i, [Q, V]]
            for k, (joint, dimension) in enumerate(zip(hinge.joint_names, freedom_dimensions(hinge.kind), strict=True)):
                unit = "rad" if dimension == "angle" else "m"
                table[f"{joint}.position [{unit}]"] = self._q[:, q + k]
                table[f"{joint}.rate [{unit}/s]"] = self._v[:, v + k]
        for constraint in self.robot.constraints:
            force = self.constraint(constraint.name)
            if isinstance(constraint, Coupling):
                table[f"{constraint.name}.effort [N m or N]"] = force.effort
            else:
                for k, key in enumerate(f"{what}_{axis} [{unit}]" for what, unit in WRENCH for axis in "xyz"):
                    table[f"{constraint.name}.{key}"] = force.wrench[:, k]
        for rope in self.robot.ropes:
            pull = self.rope(rope.name)
            table[f"{rope.name}.tension [N]"], table[f"{rope.name}.taut"] = pull.tension, pull.taut
        for stop in self.robot.stops:
            push = self.stop(stop.joint)
            table[f"{stop.joint}.stop_effort [N m or N]"], table[f"{stop.joint}.at_stop"] = push
        if self.robot.ropes or self.robot.stops:
            table["impact_loss [J]"] = np.array([s.impact_loss for s in self.samples])
        for hinge in self.robot.hinges if reactions else ():
            if hinge.kind != JointKind.FREE:
                passed = np.hstack(self.reaction(hinge.name))
                for k, key in enumerate(f"{what}_{axis} [{unit}]" for what, unit in WRENCH for axis in "xyz"):
                    table[f"{hinge.name}.reaction_{key}"] = passed[:, k]
        table["energy.kinetic [J]"] = self.energy.kinetic
        table["energy.potential [J]"] = self.energy.potential
        if self.work is not None:
            table["work.inputs [J]"], table["work.dissipated [J]"] = self.work
        for axis, p, h in zip("xyz", self.momentum.T, self.angular_momentum_com.T, strict=True):
            table[f"momentum_{axis} [kg m/s]"] = p
            table[f"angular_momentum_com_{axis} [N m s]"] = h
        return table

    @in_words(ModelError)
    def to_csv(self, path: str | Path, reactions: bool = False) -> None:
        """Write `columns()`, 17 digits: what is read back has the same bits."""
        write_columns(self.columns(reactions), path)

    @in_words(ModelError)
    def to_npz(self, path: str | Path, reactions: bool = False) -> None:
        """Write `columns()` as arrays of these names, for `numpy.load` and `rbt plot`; and each body's inertia."""
        inertias = {body.name + INERTIA: body.inertia for body in self.robot.bodies}
        with writing(path), open(as_path(path, "arrays"), "wb") as file:
            np.savez_compressed(file, **self.columns(reactions), **inertias)

    def plot(self, path: str | Path | None = None) -> Any:
        """A figure of rates, attitude, energy and momentum errors of every free body; saved when `path` is given."""
        figure = empty_figure(9, 9)
        axes = figure.subplots(4, 1, sharex=True)
        for body in self.robot.bodies:
            motion = self.body(body.name)
            for axis, w in zip("xyz", motion.omega_body.T, strict=True):
                axes[0].plot(self.t, w, label=f"{body.name} ω{axis}")
            for axis, q in zip("wxyz", motion.quaternion.T, strict=True):
                axes[1].plot(self.t, q, label=f"{body.name} q{axis}")
        total, h = self.energy.total, np.linalg.norm(self.angular_momentum_com, axis=1)
        axes[2].plot(self.t, total - total[0])
        axes[3].plot(self.t, h - h[0])
        energies = np.abs(self.energy.kinetic) + np.abs(self.energy.potential)
        for ax, label in zip(
            axes, ("ω, body axes [rad/s]", "q [-]", "E - E(0) [J]", "|L| - |L|(0) [N·m·s]"), strict=True
        ):
            ax.set_ylabel(label)
            ax.grid(alpha=0.3)
        not_enlarged(axes[2], total - total[0], energies.max(), "|T| + |V|")
        not_enlarged(axes[3], h - h[0], self.sums_of_momenta()[0].max(), "Σ|L| of bodies")
        axes[0].legend(ncols=3, fontsize=8)
        axes[1].legend(ncols=4, fontsize=8)
        axes[3].set_xlabel("time t [s]")
        figure.suptitle(self.robot.name)
        if path is not None:
            with writing(path):
                figure.savefig(as_path(path, "figure"), dpi=150)
        return figure


def write_columns(table: Mapping[str, np.ndarray], path: str | Path) -> None:
    """A CSV file of named columns, 17 digits: what is read back has the same bits."""
    rows = np.column_stack(list(table.values()))
    with writing(path):
        np.savetxt(path, rows, fmt="%.17g", delimiter=",", header=",".join(table), comments="", encoding="utf-8")


def sums_of_momenta(bodies: Sequence[Body], motions: Sequence[Sequence[np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """(N,) Σ|L_k| [N·m·s] about the common centre of mass and Σ|P_k| [kg·m/s]: what the momenta of all are summed from.

    motions: of each body q_WB (N, 4), p_WB, v_WB, w_WB_B (N, 3). Momenta that are zero are round-off of these sums.
    """
    masses, places, momenta, spins = [], [], [], []
    for body, (q, p, v, w) in zip(bodies, motions, strict=True):
        com = np.broadcast_to(np.array(body.com), p.shape)
        masses.append(body.mass)
        places.append(p + turn_all(q, com))
        momenta.append(body.mass * (v + turn_all(q, np.cross(w, com))))
        spins.append(np.linalg.norm(w @ body.inertia, axis=1))
    sizes = np.linalg.norm(momenta, axis=-1)
    from_com = np.array(places) - np.average(places, axis=0, weights=masses if any(masses) else None)
    return (np.array(spins) + np.linalg.norm(from_com, axis=-1) * sizes).sum(axis=0), sizes.sum(axis=0)


def not_enlarged(ax: Any, values: np.ndarray, scale: float, what: str) -> bool:
    """Whether values are round-off of `scale`: then the axis ends at ROUND_OFF of that, and its label says so."""
    most, end = float(np.abs(values).max(initial=0.0)), ROUND_OFF * scale
    if not 0.0 < most < end:
        return False
    ax.set_ylim(-end, end)
    ax.set_ylabel(f"{ax.get_ylabel()}\naxis: {ROUND_OFF:g} of {what}")
    return True


def empty_figure(width: float, height: float) -> Any:
    """A figure [inches]; matplotlib is imported when the first one is drawn, SetupError where it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError as err:
        raise SetupError("figures need matplotlib: pip install 'rbt_ros[plot]'") from err
    return Figure(figsize=(width, height), layout="constrained")
