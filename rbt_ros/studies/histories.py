"""A History: what is known of a run over time, by the columns of `rbt run`, wherever it was kept.

A Result, a table *.csv, a file *.npz of a Result or a LabResult, or a bag: each column has the times at which it was
recorded, and nothing is made up between them.
"""

import math
import os
import re
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.bags.bag import Bag
from rbt_ros.bags.table import STAMP, table_of
from rbt_ros.core.types import JointKind
from rbt_ros.core.vec import qconj, qmul
from rbt_ros.errors import ScenarioError
from rbt_ros.model.attitude import turn_all, zxz_angles
from rbt_ros.model.robot import WORLD, Body, Hinge, Robot
from rbt_ros.model.scenario import read_scenario, scenario_from_text
from rbt_ros.paths import as_path, looks_like_bag
from rbt_ros.results import INERTIA, Result, sums_of_momenta

TIME = "t [s]"
VECTOR = re.compile(r"(?P<body>.+)\.(?P<what>position|quaternion|velocity|omega_body)_[wxyz]( \[[^]]*\])?")
JOINT = re.compile(r"(?P<joint>.+)\.(?P<what>position|rate) \[(?P<unit>[^]]+)\]")
FORCE = re.compile(r"(?P<name>.+)\.(?P<what>effort|tension|stop_effort|(reaction_)?force_x) \[(?P<unit>[^]]+)\]")
LAB = {  # columns of a LabResult -> ours
    "omega_b": "omega_body",
    "position": "position",
    "velocity_e": "velocity",
    "quaternion": "quaternion",
}
LAB_BODY = "body"  # a LabResult has one, which its file does not name
UNITS = {"position": " [m]", "velocity": " [m/s]", "omega_body": " [rad/s]", "quaternion": ""}


class Series(NamedTuple):
    """Numbers at times."""

    t: np.ndarray  # (N,) [s]
    values: np.ndarray  # (N,), or (N, k)


class Attitude(NamedTuple):
    """How one body turns."""

    t: np.ndarray  # (N,) [s]
    quaternion: np.ndarray  # (N, 4) q_WB
    omega_body: np.ndarray  # (N, 3) w_WB_B [rad/s]


class Force(NamedTuple):
    """What a constraint, rope, stop or hinge does: labels and numbers; None: it has none."""

    force: tuple[str, Series]  # (N,) an effort or tension, or (N, 3) world axes
    moment: tuple[str, Series] | None  # (N, 3) world axes


class Ball(NamedTuple):
    """The motion of a ball hinge."""

    angles: Series  # (N, 3) ψ θ φ: turns about z, x, z [rad]
    omega: Series | None  # (N, 3) w_PC_C [rad/s]


class History:
    """Columns of one run, and what is known of its bodies."""

    def __init__(self, name: str, columns: Mapping[str, Series], inertias: Mapping[str, np.ndarray]):
        """columns: by the names of `Result.columns`; inertias: (3, 3) about the CoM [kg·m²], by body."""
        self.name, self.columns, self.inertias = name, dict(columns), dict(inertias)
        self.balls: dict[str, Ball] = {}  # ball hinges, where the robot is known
        self.robot_bodies: tuple[Body, ...] = ()  # likewise
        if not self.columns or not any(len(series.t) for series in self.columns.values()):
            raise ScenarioError(f"{name} holds no rows; nothing to draw.")

    def bodies(self, what: str) -> list[str]:
        """The bodies of which position, quaternion, velocity or omega_body is there."""
        found = (VECTOR.fullmatch(column) for column in self.columns)
        return list(dict.fromkeys(m["body"] for m in found if m and m["what"] == what))

    def vector(self, body: str, what: str) -> Series:
        """(N, 3), or (N, 4) of a quaternion."""
        axes = "wxyz" if what == "quaternion" else "xyz"
        parts = [self.columns[f"{body}.{what}_{axis}{UNITS[what]}"] for axis in axes]
        return Series(parts[0].t, np.stack([part.values for part in parts], axis=1))

    def attitude(self, body: str) -> Attitude:
        """Attitude and rate of a body at the times at which both are there."""
        q, w = self.vector(body, "quaternion"), self.vector(body, "omega_body")
        t, of_q, of_w = np.intersect1d(q.t, w.t, return_indices=True)
        return Attitude(t, q.values[of_q], w.values[of_w])

    def joints(self) -> dict[str, dict[str, tuple[str, Series]]]:
        """position and rate of every joint, with its unit."""
        found: dict[str, dict[str, tuple[str, Series]]] = {}
        for column, series in self.columns.items():
            if match := JOINT.fullmatch(column):
                found.setdefault(match["joint"], {})[match["what"]] = (match["unit"], series)
        return found

    def forces(self) -> dict[str, Force]:
        """What constraints, ropes and stops do, and hinges transmit if the table says so, by what it is of."""
        found: dict[str, Force] = {}
        for column in self.columns:
            if not (match := FORCE.fullmatch(column)):
                continue
            name, what = match["name"], match["what"]
            if not what.endswith("force_x"):
                label = f"{what.replace('_', ' ')} [{match['unit'].replace('N m', 'N·m')}]"
                found[f"{name}, stop" if what == "stop_effort" else name] = Force((label, self.columns[column]), None)
                continue
            title, prefix = (f"{name}, hinge", "reaction_") if what.startswith("reaction_") else (name, "")
            force = self.one(*(f"{name}.{prefix}force_{axis} [N]" for axis in "xyz"))
            moment = self.one(*(f"{name}.{prefix}moment_{axis} [N m]" for axis in "xyz"))
            if force is not None:
                shown = None if moment is None or not moment.values.any() else ("moment [N·m]", moment)
                found[title] = Force(("force [N]", force), shown)
        return found

    def one(self, *columns: str) -> Series | None:
        """These columns side by side; None where one is not there."""
        if not all(column in self.columns for column in columns):
            return None
        parts = [self.columns[column] for column in columns]
        values = np.stack([part.values for part in parts], axis=1) if len(parts) > 1 else parts[0].values
        return Series(parts[0].t, values)

    def sums_of_momenta(self) -> tuple[float, float] | None:
        """The largest Σ|L_k| [N·m·s] and Σ|P_k| [kg·m/s] over the bodies; None where not all of that is there."""
        whats = ("quaternion", "position", "velocity", "omega_body")
        names = [body.name for body in self.robot_bodies]
        if not names or any(name not in self.bodies(what) for name in names for what in whats):
            return None
        motions = [[self.vector(name, what) for what in whats] for name in names]
        if any(len(series.t) != len(motions[0][0].t) for motion in motions for series in motion):
            return None  # of a bag, each at its own times
        L, P = sums_of_momenta(self.robot_bodies, [[series.values for series in motion] for motion in motions])
        return float(L.max(initial=0.0)), float(P.max(initial=0.0))

    def of(self, robot: Robot) -> "History":
        """With what its robot tells: inertias, and the motion of ball hinges."""
        found = History(self.name, self.columns, {b.name: b.inertia for b in robot.bodies} | self.inertias)
        found.balls = {h.name: ball for h in robot.hinges if (ball := self._ball(h)) is not None}
        found.robot_bodies = robot.bodies
        return found

    def between(self, first: float, last: float) -> "History":
        """From first to last [s], ends included."""

        def cut(series: Series) -> Series:
            inside = (series.t >= first) & (series.t <= last)
            return Series(series.t[inside], series.values[inside])

        if not any(len(cut(series).t) for series in self.columns.values()):
            low = min(series.t[0] for series in self.columns.values() if len(series.t))
            high = max(series.t[-1] for series in self.columns.values() if len(series.t))
            raise ScenarioError(
                f"{self.name} has nothing from {first:g} to {last:g} s; it goes from {low:g} to {high:g} s."
            )
        part = History(self.name, {name: cut(series) for name, series in self.columns.items()}, self.inertias)
        part.robot_bodies = self.robot_bodies
        part.balls = {name: Ball(cut(ball.angles), ball.omega and cut(ball.omega)) for name, ball in self.balls.items()}
        return part

    def _ball(self, hinge: Hinge) -> Ball | None:
        """From the attitudes of its bodies."""
        if hinge.kind != JointKind.SPHERICAL or not {hinge.child, hinge.parent} <= {*self.bodies("quaternion"), WORLD}:
            return None
        t, q_WC = self.vector(hinge.child, "quaternion")
        at_rest = np.tile([1.0, 0.0, 0.0, 0.0], (len(t), 1)), np.zeros((len(t), 3))
        q_WP = at_rest[0] if hinge.parent == WORLD else self.vector(hinge.parent, "quaternion").values
        q_JC = qmul(qconj(hinge.quaternion), qmul(qconj(tuple(q_WP.T)), tuple(q_WC.T)))
        angles = Series(t, zxz_angles(np.stack(q_JC, axis=1)))
        if not {hinge.child, hinge.parent} <= {*self.bodies("omega_body"), WORLD}:
            return Ball(angles, None)
        w_WP = at_rest[1] if hinge.parent == WORLD else turn_all(q_WP, self.vector(hinge.parent, "omega_body").values)
        w_WP_C = turn_all(q_WC * [1, -1, -1, -1], w_WP)
        return Ball(angles, Series(t, self.vector(hinge.child, "omega_body").values - w_WP_C))


def history_of(result: Result, name: str = "", reactions: bool = False) -> History:
    """Of a Result. reactions: with what the hinges transmit."""
    columns = {key: Series(result.t, values) for key, values in result.columns(reactions).items() if key != TIME}
    return History(name or result.robot.name, columns, {}).of(result.robot)


def read_history(file: str, scenario: str | None = None) -> History:
    """Of a bag, a table *.csv, or a file *.npz. scenario: whose robot it is of; else the one that the file tells of."""
    path = as_path(file, "run", ScenarioError)
    if looks_like_bag(file):
        return _of_bag(Bag(path), scenario)
    if not os.path.isfile(path):
        raise ScenarioError(f"there is no {path}; give a bag, a *.csv or *.npz file, or a scenario.")
    columns, inertias = _csv(path) if path.suffix == ".csv" else _npz(path)
    found = History(path.stem, columns, inertias)
    try:
        return found.of(read_scenario(scenario or path.stem).robot)
    except ScenarioError:
        if scenario is not None:
            raise
        return found  # of which robot, nobody says: what hangs on it is left out, and told


def _of_bag(bag: Bag, scenario: str | None) -> History:
    for damage in bag.damage:
        warnings.warn(damage, stacklevel=4)
    table = table_of(bag).columns
    if not table:
        raise ScenarioError(f"{bag.path} holds no joint states, transforms or odometry; nothing to draw.")
    first = min(int(stamps[0]) for stamps, _ in table.values() if len(stamps))
    columns = _own_names({name: Series((stamps - first) * 1e-9, x) for name, (stamps, x) in table.items()})
    found, runs = History(bag.path.name, columns, {}), bag.runs()
    if scenario is not None:
        return found.of(read_scenario(scenario).robot)
    if not runs or not runs[0]["scenario"]:
        return found
    return found.of(scenario_from_text(runs[0]["scenario"], f"{runs[0]['folder']}/{runs[0]['name']}.yaml").robot)


def _own_names(columns: Mapping[str, Series]) -> dict[str, Series]:
    """Columns of a bag by the names of ours: `hub.odom.` and `hub.in.world.` are `hub.`; the odometry goes first."""
    odometry = {name.replace(".odom.", "."): series for name, series in columns.items() if ".odom." in name}
    transforms = {
        name.replace(f".in.{WORLD}.", ".").replace(".in.", " in "): series
        for name, series in columns.items()
        if ".odom." not in name
    }
    return transforms | odometry


def _csv(path: Path) -> tuple[dict[str, Series], dict[str, np.ndarray]]:
    """Columns of a table, up to the first line that is broken; empty cells are left out."""
    rows: list[list[float]] = []
    try:
        with path.open(encoding="utf-8", newline="") as lines:
            names = next(lines, "").rstrip("\r\n").split(",")
            for number, line in enumerate(lines, start=2):
                row = _row(line)
                if row is None or len(row) != len(names):
                    warnings.warn(
                        f"{path.name}, line {number}: no row of {len(names)} numbers; what is before it is drawn.",
                        stacklevel=4,
                    )
                    break
                rows.append(row)
    except (OSError, UnicodeDecodeError) as err:
        raise ScenarioError(f"{path} cannot be read: {err}.") from err
    if TIME not in names:
        raise ScenarioError(f"{path.name} has no column '{TIME}': is it a table of `rbt run` or `rbt convert`?")
    table = np.array(rows).reshape(-1, len(names)).T
    t = table[names.index(TIME)]
    if STAMP in names and len(t):  # of a bag, which counts from its first stamp
        t = t - t[0]
    columns = {
        name: Series(t[there], x[there]) for name, x in zip(names, table, strict=True) for there in [~np.isnan(x)]
    }
    for name in (TIME, STAMP):
        columns.pop(name, None)
    if any(name.startswith("omega_b_") for name in names):
        return _of_lab(columns), {}
    return _own_names(columns), {}


def _row(line: str) -> list[float] | None:
    try:
        return [float(cell) if cell else math.nan for cell in line.rstrip("\r\n").split(",")]
    except ValueError:
        return None


def _npz(path: Path) -> tuple[dict[str, Series], dict[str, np.ndarray]]:
    arrays = read_npz(path)
    if "units" in arrays and "time" in arrays:
        flat: dict[str, Series] = {}
        for name in (key for key in arrays if key in LAB or key.endswith("_energy") or "momentum" in key):
            values = arrays[name].reshape(len(arrays["time"]), -1).T
            axes = {1: ("",), 3: ("_x", "_y", "_z"), 4: ("_w", "_x", "_y", "_z")}[len(values)]
            flat |= {name + axis: Series(arrays["time"], column) for axis, column in zip(axes, values, strict=True)}
        return _of_lab(flat), {LAB_BODY: arrays["inertia"]} if "inertia" in arrays else {}
    if TIME not in arrays:
        raise ScenarioError(
            f"{path.name} is no run: it has {', '.join(list(arrays)[:4])}, ...; give a file of Result.to_npz, "
            "LabResult.to_npz or rbt map; of a bag, the bag itself."
        )
    t = arrays.pop(TIME)
    inertias = {key.removesuffix(INERTIA): arrays.pop(key) for key in list(arrays) if key.endswith(INERTIA)}
    return {name: Series(t, values) for name, values in arrays.items()}, inertias


def read_npz(path: Path) -> dict[str, Any]:
    """All arrays of a file."""
    try:
        with np.load(path, allow_pickle=False) as file:
            return dict(file)
    except Exception as err:  # whatever a damaged archive makes of numpy and zipfile
        raise ScenarioError(f"{path} cannot be read as *.npz: {err}.") from err


def _of_lab(columns: Mapping[str, Series]) -> dict[str, Series]:
    """Columns of a LabResult by our names: one body, its energies added up."""
    plain = {name.partition(" [")[0]: series for name, series in columns.items()}
    found: dict[str, Series] = {}
    for theirs, ours in LAB.items():
        for axis in "wxyz":
            if f"{theirs}_{axis}" in plain:
                found[f"{LAB_BODY}.{ours}_{axis}{UNITS[ours]}"] = plain[f"{theirs}_{axis}"]
    for axis in "xyz":
        found[f"momentum_{axis} [kg m/s]"] = plain[f"momentum_{axis}"]
        found[f"angular_momentum_com_{axis} [N m s]"] = plain[f"angular_momentum_e_{axis}"]
    turning, flying = plain["rotational_energy"], plain["translational_energy"]
    found["energy.kinetic [J]"] = Series(turning.t, turning.values + flying.values)
    found["energy.potential [J]"] = plain["potential_energy"]
    return found
