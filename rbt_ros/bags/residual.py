"""Residuals: a simulation with the inputs of a bag, against the joint states and poses that were recorded.

The way a laboratory validates its model: other parameters, measured joints that drive, a figure and a table.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.bags.arrays import Arrays
from rbt_ros.bags.bag import LATCHED, Bag
from rbt_ros.bags.rerun import Rerun
from rbt_ros.bags.table import JOINTS, ODOMETRY
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.model.attitude import without_flips
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.robot import Robot
from rbt_ros.model.signals import table
from rbt_ros.paths import writing
from rbt_ros.results import Sample, empty_figure
from rbt_ros.topics import joint_state_fields

MOST_SHIFT_S = 0.5  # that alignment looks for
ATTITUDE = "attitude"  # of a body: compared by the angle, as q and -q are one


class Residual(NamedTuple):
    """One quantity over time: simulated less recorded."""

    name: str
    unit: str
    t_ns: np.ndarray  # (N,) stamps of the recording
    recorded: np.ndarray  # (N,); of attitudes the angle since the first recorded one
    simulated: np.ndarray  # (N,) likewise
    between: np.ndarray | None = None  # (N,) of attitudes: the angle between simulated and recorded

    @property
    def error(self) -> np.ndarray:
        """Simulated less recorded; of attitudes the angle between them, which is not that difference."""
        return self.simulated - self.recorded if self.between is None else self.between

    @property
    def rms(self) -> float:
        """Root of the mean square."""
        return float(np.sqrt(np.mean(self.error**2)))


class Residuals(NamedTuple):
    """All quantities of a bag."""

    rows: tuple[Residual, ...]
    shift_s: float  # by which the simulation was put later to fit best; 0 where that was not asked for
    told: tuple[str, ...]  # what else there is to say

    def text(self) -> str:
        """A table for people."""
        head = f"{'quantity':<32}{'rms':>12}{'mean':>12}{'largest':>12}   at [s]"
        lines = [*self.told, head]
        for row in self.rows:
            k = int(np.argmax(np.abs(row.error)))
            numbers = f"{row.rms:12.4g}{np.mean(row.error):12.4g}{row.error[k]:12.4g}{row.t_ns[k] * 1e-9:9.3f}"
            lines.append(f"{row.name + f' [{row.unit}]':<32}{numbers}")
        return "\n".join([*lines, f"time shift {self.shift_s:.6g} s"] if self.shift_s else lines)

    def plot(self, file: Path | None = None) -> Any:
        """Recorded and simulated above, residuals below, a column of diagrams per unit, and for attitudes."""
        kinds = list(dict.fromkeys((row.unit, row.between is not None) for row in self.rows))
        figure = empty_figure(5 * len(kinds), 6)
        axes = figure.subplots(2, len(kinds), sharex=True, squeeze=False)
        for row in self.rows:
            column, t = axes[:, kinds.index((row.unit, row.between is not None))], row.t_ns * 1e-9
            (line,) = column[0].plot(t, row.recorded, label=row.name)
            column[0].plot(t, row.simulated, "--", color=line.get_color())
            column[1].plot(t, row.error, color=line.get_color())
        for k, (unit, turned) in enumerate(kinds):
            since = "angle since the first recorded,\n" if turned else ""
            axes[0, k].set_ylabel(f"{since}recorded, simulated (dashed) [{unit}]")
            axes[1, k].set_ylabel(f"{'angle between them' if turned else 'simulated - recorded'} [{unit}]")
            axes[1, k].set_xlabel("stamp [s]")
            axes[0, k].legend(fontsize=7)
            for ax in axes[:, k]:
                ax.grid(alpha=0.3)
        if file is not None:
            with writing(file):
                figure.savefig(file, dpi=150)
        return figure


def residuals(
    bag: Bag,
    scenario: str | None = None,
    changes: dict[str, str] | None = None,
    *,
    driven: Sequence[str] = (),
    align: bool = False,
) -> Residuals:
    """Simulate with the inputs of a bag and compare at the recorded stamps.

    driven: joints that follow what was measured of them. align: put the simulation later or earlier for the best fit.
    """
    again = Rerun(bag, scenario, changes, what_if=True)
    recorded = {**_joints(bag, again), **_bodies(bag, again)}
    if not recorded:
        raise ScenarioError(f"{bag.path} holds no joint states and no odometry to compare with.")
    for joint in driven:
        _drive(again, bag, joint, recorded)
    recorded = {name: row for name, row in recorded.items() if (row[0] >= again.stamp).any()}
    if not recorded:
        raise ScenarioError(f"{bag.path} has nothing recorded from the start of the scenario on.")
    stamps = np.unique(np.concatenate([t_ns for t_ns, _, _ in recorded.values()]))
    stamps = stamps[stamps >= again.stamp]
    recorded = {
        name: (t_ns[keep], unit, x[keep]) for name, (t_ns, unit, x) in recorded.items() for keep in [t_ns >= stamps[0]]
    }
    history = _history(again, stamps, recorded)
    shift = _best_shift(recorded, stamps, history) if align else 0.0
    return Residuals(tuple(_rows(recorded, stamps, history, shift)), shift, tuple(again.told))


Recorded = dict[str, tuple[np.ndarray, str, np.ndarray]]  # name -> stamps, unit, (N,) values or (N, 4) attitudes


def _rows(recorded: Recorded, stamps: np.ndarray, history: dict[str, np.ndarray], shift: float) -> list[Residual]:
    """What was recorded beside the simulation, which is put later by shift [s]."""
    rows = []
    for name, (t_ns, unit, values) in recorded.items():
        at = t_ns - shift * 1e9 if shift else t_ns
        simulated = _between(at, stamps, history[name])
        if values.ndim == 1:
            rows.append(Residual(name, unit, t_ns, values, simulated))
        else:
            turned = (_turn(values[:1], values), _turn(values[:1], simulated), _turn(values, simulated))
            rows.append(Residual(name, unit, t_ns, *turned))
    return rows


def _turn(q: np.ndarray, r: np.ndarray) -> np.ndarray:
    """(N,) the angle [rad] between attitudes q, (N, 4) or (1, 4), and r, by the chord to r or -r; of equal bits 0."""
    chord = np.minimum(np.linalg.norm(q - r, axis=1), np.linalg.norm(q + r, axis=1))
    return 4.0 * np.arcsin(np.minimum(0.5 * chord, 1.0))


def _between(at: np.ndarray, stamps: np.ndarray, values: np.ndarray) -> np.ndarray:
    """(len(at), ...) of values (N, ...) at stamps, straight from one to the next."""
    columns = [np.interp(at, stamps, column) for column in values.reshape(len(values), -1).T]
    return np.stack(columns, axis=-1).reshape(len(at), *values.shape[1:])


def _rising(bag: Bag, name: str, t_ns: np.ndarray) -> np.ndarray:
    if (back := np.flatnonzero(np.diff(t_ns) <= 0)).size:
        k = int(back[0])
        raise MessageError(
            f"the stamps of {name} in {bag.path} do not rise: message {k + 1} at {t_ns[k + 1] * 1e-9:.9g} s follows "
            f"{t_ns[k] * 1e-9:.9g} s. Does the bag hold several runs?"
        )
    return t_ns


def _joints(bag: Bag, again: Rerun) -> Recorded:
    own = f"{again.node.rpartition('/')[0]}/joint_states"
    try:
        topic = bag.topic(own if own in bag.topics else "joint_states", JOINTS)
    except MessageError:
        if any(name.endswith("/joint_states") and LATCHED not in name for name in (*bag.topics, *bag.skipped)):
            raise
        return {}
    if not topic.t_ns or not again.sim.robot.joint_names:
        return {}
    read, found = bag.arrays(topic.name), Recorded()
    t_ns = _rising(bag, topic.name, read.stamps["header.stamp"])
    for key, field, per in (("position", "position", ""), ("rate", "velocity", "/s")):
        for joint, (rows, values) in _by_joint(f"{topic.name} of {bag.path}", read, field).items():
            unit = "m" if joint in _sliding(again) else "rad"
            _add(again, found, f"{joint}.{key}", unit + per, t_ns[rows], values)
    return found


def _by_joint(where: str, read: Arrays, field: str) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Joint -> which messages tell of it, and what; their names may come in any order, some in each message."""
    paths, rows_of = [path for path in read.texts if path.startswith("name[")], dict[tuple[str, ...], list[int]]()
    listed = zip(*(read.texts[path] for path in sorted(paths, key=lambda path: int(path[5:-1]))), strict=True)
    for row, names in enumerate(listed):
        rows_of.setdefault(names, []).append(row)
    parts: dict[str, list[np.ndarray]] = {}
    for names, rows in rows_of.items():
        count = sum(map(bool, names))
        told = {row: numbers for row in rows if len(numbers := read.numbers[field][row])}
        for row, numbers in told.items():
            if len(numbers) != count:
                raise MessageError(f"{where}: message {row} has {count} names and {len(numbers)} numbers as {field}.")
        block = np.array(list(told.values()), float).reshape(len(told), count)
        for name, column in zip(names, block.T, strict=False):
            parts.setdefault(name, []).append(np.array([list(told), column]))
    found = {}
    for name, part in parts.items():
        both = np.hstack(part)
        rows_in_order, values = both[:, np.argsort(both[0])]
        if values.size:
            found[name] = rows_in_order.astype(int), values
    return found


def _add(again: Rerun, found: Recorded, name: str, unit: str, t_ns: np.ndarray, values: np.ndarray) -> None:
    """Note a quantity; what is no number, or no attitude, is left out, and told."""
    good, what = np.isfinite(values), "finite numbers"
    if values.ndim == 2:
        good, what = good.all(axis=1) & values.any(axis=1), "attitudes"
    if not good.all():
        again.told.append(f"{name}: {np.count_nonzero(~good)} of {len(values)} recorded values are no {what}.")
    if good.any():
        found[name] = t_ns[good], unit, values[good]


def _sliding(again: Rerun) -> set[str]:
    pairs = [
        pair
        for hinge in again.sim.robot.hinges
        for pair in zip(hinge.joint_names, freedom_dimensions(hinge.kind), strict=False)
    ]
    return {joint for joint, dimension in pairs if dimension != "angle"}


def _bodies(bag: Bag, again: Rerun) -> Recorded:
    found = Recorded()
    for topic in bag.topics.values():
        if topic.type != ODOMETRY or not topic.t_ns:
            continue
        read = bag.arrays(topic.name)
        body = read.texts["child_frame_id"][0].removeprefix(again.prefix)
        if body not in [b.name for b in again.sim.robot.bodies]:
            raise MessageError(f"{topic.name} of {bag.path} is of '{body}', which the robot does not have.")
        t_ns = _rising(bag, topic.name, read.stamps["header.stamp"])
        for c in "xyz":
            _add(again, found, f"{body}.position_{c}", "m", t_ns, read.numbers[f"pose.pose.position.{c}"])
        q = np.stack([read.numbers[f"pose.pose.orientation.{c}"] for c in "wxyz"], axis=1)
        _add(again, found, f"{body}.{ATTITUDE}", "rad", t_ns, q)
    return found


def _drive(again: Rerun, bag: Bag, joint: str, recorded: Recorded) -> None:
    """Let a joint follow its measured positions, from the first one on."""
    if f"{joint}.position" not in recorded:
        have = ", ".join(sorted(name.removesuffix(".position") for name in recorded if name.endswith(".position")))
        raise MessageError(
            f"{bag.path} has no positions of joint '{joint}' that could drive it; it has {have or 'none'}."
        )
    t_ns, _, values = recorded[f"{joint}.position"]
    keep = t_ns >= again.stamp
    if keep.sum() < 2:
        raise MessageError(f"{bag.path} has fewer than two positions of joint '{joint}' from the start on.")
    times, sim = (t_ns[keep] - again.stamp) * 1e-9, again.sim
    motion = table(times.tolist(), values[keep].tolist(), "cubic")
    rates = recorded.get(f"{joint}.rate")
    rate = np.interp(t_ns[keep][0], rates[0], rates[2]) if rates else np.gradient(values[keep], times)[0]
    if joint in [hinge.name for hinge in sim.robot.hinges]:
        sim.set_hinge(joint, float(values[keep][0]), rate=float(rate))
    sim.prescribe(joint, motion)


def _history(again: Rerun, stamps: np.ndarray, recorded: Recorded) -> dict[str, np.ndarray]:
    """name -> (N,), or (N, 4): the simulation at its ticks nearest to the stamps, moved to them by interpolation."""
    robot, zero, h_ns = again.sim.robot, again.zero_ns, again.sim.h_ns
    ticks = np.unique(np.concatenate([(stamps - zero) // h_ns, -(-(stamps - zero) // h_ns)]))
    values: dict[str, list[Any]] = {name: [] for name in recorded}
    for tick in ticks.tolist():
        again.go(zero + tick * h_ns)
        sample = again.sim.sample()
        fields = joint_values(robot, sample)
        for name, rows in values.items():
            owner, _, key = name.rpartition(".")
            if key in ("position", "rate"):
                rows.append(fields[owner][key == "rate"])
            else:
                pose = sample.pose[robot.body_index(owner)]
                rows.append(pose[:4].copy() if key == ATTITUDE else pose[4 + "xyz".index(key[-1])])
    at = zero + ticks * h_ns
    arrays = {name: np.array(rows) for name, rows in values.items()}
    even = {name: x if x.ndim == 1 else without_flips(x) for name, x in arrays.items()}
    return {name: _between(stamps, at, x) for name, x in even.items()}


def joint_values(robot: Robot, sample: Sample) -> dict[str, tuple[float, float]]:
    """Joint -> position, rate."""
    fields = joint_state_fields(robot, sample, 0)
    return dict(zip(fields["name"], zip(fields["position"], fields["velocity"], strict=True), strict=True))


def _best_shift(recorded: Recorded, stamps: np.ndarray, history: dict[str, np.ndarray]) -> float:
    """The time [s] by which the simulation comes too early, at the least sum of squares over their variances."""
    from scipy.optimize import minimize_scalar

    weights = [1.0 / (np.var(row.recorded) or 1.0) for row in _rows(recorded, stamps, history, 0.0)]

    def misfit(shift: float) -> float:
        rows = _rows(recorded, stamps, history, shift)
        return sum(weight * float(np.mean(row.error**2)) for row, weight in zip(rows, weights, strict=True))

    grid = np.linspace(-MOST_SHIFT_S, MOST_SHIFT_S, 201)
    best = grid[int(np.argmin([misfit(shift) for shift in grid]))]
    step = grid[1] - grid[0]
    bounds = max(best - step, -MOST_SHIFT_S), min(best + step, MOST_SHIFT_S)
    return float(minimize_scalar(misfit, bounds=bounds, method="bounded").x)
