"""A recording as the view plays it: times and rows in files that are mapped, so that hours need no memory.

recording.json   the scene, and how many rows there are
t                float64 [s], rising
rows             float32, one row of `stream.layout` per time
"""

import contextlib
import json
import shutil
import struct
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import RbtError, ScenarioError
from rbt_ros.model.attitude import turn_all
from rbt_ros.model.robot import Robot
from rbt_ros.results import Result
from rbt_ros.stream.layout import POSE, SCALARS, Layout
from rbt_ros.stream.scene import described

COUNT = struct.Struct("<II")  # rows, numbers per row: before the times and the rows of an answer


class Recording:
    """Times (N,) [s] and rows (N, size), with their scene."""

    def __init__(self, scene: dict[str, Any], t: np.ndarray, rows: np.ndarray):
        self.scene, self.t, self.rows = scene, t, rows

    @classmethod
    def of(cls, result: Result, name: str = "") -> "Recording":
        """A Result as a recording, in memory."""
        return cls(described(result.robot, name), result.t, Layout(result.robot).rows(result))

    @classmethod
    def open(cls, folder: str | Path) -> "Recording":
        """One that `write` has left: mapped, not read."""
        folder = Path(folder)
        told = json.loads((folder / "recording.json").read_text(encoding="utf-8"))
        size, count = told["scene"]["layout"]["size"], told["count"]
        t = np.memmap(folder / "t", dtype=np.float64, mode="r", shape=(count,))
        rows = np.memmap(folder / "rows", dtype=np.float32, mode="r", shape=(count, size))
        return cls(told["scene"] | {"recorded": [float(t[0]), float(t[-1]), count]}, t, rows)

    def packed(self, first: float, last: float, most: int) -> bytes:
        """At most `most` of the rows from `first` to `last` [s], ends included: counts, times, rows."""
        a = max(0, int(np.searchsorted(self.t, first, "right")) - 1)
        b = min(len(self.t) - 1, int(np.searchsorted(self.t, last, "left")))
        picked = np.unique(np.linspace(a, max(a, b), min(most, max(1, b - a + 1))).round().astype(int))
        rows = np.ascontiguousarray(self.rows[picked], dtype="<f4")
        times = np.ascontiguousarray(self.t[picked], dtype="<f8")
        return COUNT.pack(len(picked), self.rows.shape[1]) + times.tobytes() + rows.tobytes()

    def write(self, folder: str | Path) -> None:
        """Into files that `open` takes."""
        folder = Path(folder)
        np.asarray(self.t, dtype=np.float64).tofile(folder / "t")
        np.asarray(self.rows, dtype=np.float32).tofile(folder / "rows")
        describe(folder, self.scene, len(self.t))


def describe(folder: Path, scene: dict[str, Any], count: int) -> None:
    """The file that makes a folder a recording."""
    (folder / "recording.json").write_text(json.dumps({"scene": scene, "count": count}), encoding="utf-8")


class Extra(NamedTuple):
    """What a source may know beside poses, by parts of the row (`stream.layout`)."""

    scalars: dict[str, float]
    parts: dict[str, np.ndarray]
    w_WB_B: np.ndarray  # (n, 3) [rad/s]


Frame = tuple[float, np.ndarray, Extra | None]  # t [s], poses (n, 7) as q_WB, p_WB, and what else is known


def record(frames: Iterable[Frame], robot: Robot, folder: Path, scene: dict[str, Any]) -> str:
    """Write frames as they come, one by one; what ended them early, or nothing.

    Angular rates are the differences of attitudes, where nothing else is known: of a bag, or a table of poses.
    """
    layout, known, last = Layout(robot), True, -np.inf
    row, count, broken, why = _Row(layout), 0, "", "the recording has no frames."
    with open(folder / "t", "wb") as times, open(folder / "rows", "wb") as rows:
        try:
            for t, pose, extra in frames:
                if not (np.isfinite(t) and np.isfinite(pose).all()):
                    raise ScenarioError(f"a frame after t = {max(last, 0.0):g} s has numbers that are not finite.")
                if t <= last:
                    raise ScenarioError(f"time goes back from {last:g} s to {t:g} s.")
                row.put(pose, t - last, extra)
                known, last, count = known and extra is not None, t, count + 1
                times.write(np.float64(t).tobytes())
                rows.write(row.numbers.tobytes())
        except (RbtError, ValueError) as err:
            why, broken = str(err), f"the recording is whole up to t = {max(last, 0.0):g} s only: {err}"
    if count == 0:
        raise ScenarioError(why)
    if not known and count > 1:
        _copy_turning(folder / "rows", layout)
    told = {"warnings": [*scene["warnings"], broken] if broken else scene["warnings"]}
    describe(folder, scene | told | ({} if known else {"known": ["pose"]}), count)
    return broken


def _copy_turning(rows: Path, layout: Layout) -> None:
    """The first frame has none before it: it turns as the second does."""
    both = np.memmap(rows, dtype=np.float32, mode="r+", shape=(2, layout.size))
    first, second = layout.part(both, "pose").reshape(2, -1, POSE)
    first[:, 7:] = second[:, 7:]
    both.flush()


class _Row:
    """One row, filled from frames in a row."""

    def __init__(self, layout: Layout):
        self.numbers = np.zeros(layout.size, dtype=np.float32)
        self._layout = layout
        self._poses = layout.part(self.numbers, "pose").reshape(len(layout.robot.bodies), -1)
        self._scalars = layout.part(self.numbers, "scalars")
        self._names = [name for name, _ in SCALARS]
        self._mass = np.array([body.mass for body in layout.robot.bodies])
        self._com_B = np.array([body.com for body in layout.robot.bodies])
        self._last: np.ndarray | None = None

    def put(self, pose: np.ndarray, elapsed: float, extra: Extra | None) -> None:
        q, p = pose[:, :4], pose[:, 4:]
        self._poses[:, :3], self._poses[:, 3:7] = p, q
        if self._last is not None:
            self._poses[:, 7:] = turning(self._last, q) / elapsed
        self._last = q.copy()
        self._scalars[:3] = self._mass @ (p + turn_all(q, self._com_B)) / self._mass.sum()
        if extra is not None:
            for name, value in extra.scalars.items():
                self._scalars[self._names.index(name)] = value
            for name, values in extra.parts.items():
                self._layout.part(self.numbers, name)[:] = values
            self._poses[:, 7:] = turn_all(q, extra.w_WB_B)


def turning(q_before: np.ndarray, q_now: np.ndarray) -> np.ndarray:
    """(n, 3) rotation vectors [rad], world axes, that turn each attitude (n, 4) into the next."""
    w0, v0, w1, v1 = q_before[:, :1], -q_before[:, 1:], q_now[:, :1], q_now[:, 1:]
    w, v = w1 * w0 - np.sum(v1 * v0, axis=1, keepdims=True), w1 * v0 + w0 * v1 + np.cross(v1, v0)
    v = np.where(w < 0, -v, v)
    size = np.linalg.norm(v, axis=1, keepdims=True)
    angle = 2.0 * np.arctan2(size, np.abs(w))
    return np.where(size > 1e-12, v / np.maximum(size, 1e-300) * angle, 2.0 * v)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder on disk, not in memory, that goes at the end."""
    folder = Path(tempfile.mkdtemp(prefix="rbt_recording-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def read_table(file: str | Path, robot: Robot) -> Iterator[Frame]:
    """The frames in a CSV file of `rbt run`, line by line; ScenarioError names the line that is none."""
    path = Path(file)
    try:
        lines = path.open(encoding="utf-8", newline="")
    except OSError as err:
        raise ScenarioError(f"{path} cannot be read: {err.strerror}.") from err
    with lines:
        table = _Table(path.name, next(lines, "").rstrip("\r\n").split(","), robot)
        for number, line in enumerate(lines, start=2):
            try:
                values = np.array([float(cell) for cell in line.split(",")])
            except ValueError as err:
                raise ScenarioError(f"{path.name}, line {number}: {line[:40]!r} is no row of numbers.") from err
            if len(values) != table.width or not line.endswith("\n"):
                raise ScenarioError(f"{path.name}, line {number}: it is cut after {len(values)} numbers.")
            yield table.frame(values)


def read_arrays(file: str | Path, robot: Robot) -> Iterator[Frame]:
    """The frames in a file of `Result.to_npz`."""
    path = Path(file)
    try:
        with np.load(path, allow_pickle=False) as arrays:
            columns = {name: arrays[name] for name in arrays.files if arrays[name].ndim == 1}
    except Exception as err:  # whatever a damaged archive makes of numpy and zipfile
        raise ScenarioError(f"{path} cannot be read as *.npz: {err}.") from err
    table = _Table(path.name, list(columns), robot)
    for values in zip(*columns.values(), strict=True):
        yield table.frame(np.array(values))


class _Table:
    """Which column of a table is what."""

    def __init__(self, name: str, header: Sequence[str], robot: Robot):
        bare = [column.partition(" [")[0] for column in header]
        self.width, self._bodies = len(bare), len(robot.bodies)

        def columns(keys: Sequence[str]) -> list[int]:
            for key in keys:
                if key not in bare:
                    raise ScenarioError(f"{name} has no column {key}: is it of `rbt run` with robot '{robot.name}'?")
            return [bare.index(key) for key in keys]

        def of_bodies(what: str, axes: str) -> list[int]:
            return columns([f"{body.name}.{what}_{axis}" for body in robot.bodies for axis in axes])

        self._t = columns(["t"])[0]
        self._q, self._p = of_bodies("quaternion", "wxyz"), of_bodies("position", "xyz")
        self._w = of_bodies("omega_body", "xyz")
        self._parts = {
            "velocity": of_bodies("velocity", "xyz"),
            "position": columns([f"{joint}.position" for joint in robot.joint_names]),
            "rate": columns([f"{joint}.rate" for joint in robot.joint_names]),
            "tension": columns([f"{rope.name}.tension" for rope in robot.ropes]),
        }
        keys = {f"L.{axis}": f"angular_momentum_com_{axis}" for axis in "xyz"}
        keys |= {f"P.{axis}": f"momentum_{axis}" for axis in "xyz"}
        keys |= {key: key for key in ("energy.kinetic", "energy.potential")}
        self._scalars = dict(zip(keys, columns(list(keys.values())), strict=True))

    def frame(self, values: np.ndarray) -> Frame:
        """Of one line."""
        n = self._bodies
        pose = np.hstack([values[self._q].reshape(n, 4), values[self._p].reshape(n, 3)])
        parts = {name: values[at] for name, at in self._parts.items()}
        scalars = {name: float(values[at]) for name, at in self._scalars.items()}
        return float(values[self._t]), pose, Extra(scalars, parts, values[self._w].reshape(n, 3))
