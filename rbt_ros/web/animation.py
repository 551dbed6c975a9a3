"""Animation: bodies that move by time series of their own, played in the browser or saved as a film.

What is simulated (`Result`, `LabResult`), measured or made up: positions, attitudes and the times they belong to. The
animation module of the Rigid Body Toolbox, whose bodies, transforms, shapes and time scaling are here by their names.
"""

import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation, Slerp

from rbt_ros.errors import ModelError, ScenarioError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import as_quaternion, from_euler
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.checks import number, numbers, one_number
from rbt_ros.model.mass.mesh_file import read_mesh
from rbt_ros.model.robot import Robot
from rbt_ros.model.shapes import checked_shape
from rbt_ros.plug.shapes import GREY
from rbt_ros.results import Result
from rbt_ros.stream.process import served
from rbt_ros.stream.scene import COLOURS, described, page_shape
from rbt_ros.toolbox.result import LabResult
from rbt_ros.web import export
from rbt_ros.web.recording import Frame, Recording, record, temporary_folder

Shape = dict[str, Any]  # as the page takes it: kind, size, at, quaternion, rgba
Transform = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
Camera = Sequence[Sequence[float]] | Callable[[float], tuple[Sequence[float], Sequence[float]]]
CAMERA_ROWS = 1000  # of a camera that is a function
DRAWN = {name: name for name in ("bodies", "trails", "grid", "labels", "omega", "L")} | {
    "world_axes": "worldAxes",  # their names in the page
    "body_axes": "bodyAxes",
}


class Series(NamedTuple):
    """Where a body is at its own times."""

    t: np.ndarray  # (N,) [s], rising
    position: np.ndarray  # (N, 3) p_WB [m]
    quaternion: np.ndarray  # (N, 4) q_WB, w x y z


class Actor(NamedTuple):
    """A body of an animation."""

    name: str
    series: Series
    shapes: tuple[Shape, ...]
    start: float  # [s] it is there from then on
    stop: float


class Animation:
    """Bodies with their motions. `play` shows them in the browser, `save` writes a file."""

    def __init__(
        self, name: str = "animation", *, time_scaling: float = 1.0, fps: float = 30.0, backward: bool = False
    ):
        """time_scaling: seconds of motion per second of the show (0.05: slowed 20 times); fps: frames per second."""
        self.name = name
        self.time_scaling, self.fps, self.backward = number(time_scaling, "time_scaling"), number(fps, "fps"), backward
        if not 1e-3 <= self.time_scaling <= 1e3:
            raise ScenarioError(f"time_scaling {self.time_scaling:g} must lie between 0.001 and 1000.")
        if not 0.1 <= self.fps <= 1000:
            raise ScenarioError(f"fps {self.fps:g} must lie between 0.1 and 1000.")
        self.camera: Camera = ()  # rows of t, eye (3), what it looks at (3), or f(t) -> both; none: as one turns it
        self.draw: dict[str, bool] = {}  # what of DRAWN is drawn; all but gravity, where nothing is said
        self._actors: dict[str, Actor] = {}

    @in_words(ModelError)
    def add(
        self,
        name: str,
        motion: Any = None,
        shapes: Sequence[Shape] = (),
        *,
        body: str | None = None,
        inverse: bool = False,
        transform: Transform | None = None,
        start: float = -math.inf,
        stop: float = math.inf,
    ) -> "Animation":
        """Add a body. motion: a Result (with `body=`, if it has several), a LabResult, `given(...)`, or a function.

        A function is called without arguments and gives a Series; None: it stands still. inverse: the attitudes turn
        the world into the body. transform(t, position, quaternion) -> both, as they shall be shown. start, stop [s]:
        when it is there.
        """
        if name in self._actors:
            raise ModelError(f"animation '{self.name}': body '{name}' is there already; remove it first.")
        series = _series(motion, body)
        if inverse:
            series = series._replace(quaternion=series.quaternion * [1, -1, -1, -1])
        if transform is not None:
            moved = transform(*series)
            if not isinstance(moved, tuple | list) or len(moved) != 2:
                raise ModelError(f"transform of body '{name}' must give (position, quaternion), not {moved!r:.60}.")
            series = _checked(series.t, *moved, f"transform of body '{name}'")
        looks = tuple(shapes) or (ellipsoid((0.1, 0.1, 0.1)),)
        if isinstance(shapes, dict) or not all(isinstance(shape, dict) and "kind" in shape for shape in looks):
            raise ModelError(f"shapes of body '{name}' must be a list of box(...), ellipsoid(...) and so on.")
        self._actors[name] = Actor(name, series, looks, _time(start, "start"), _time(stop, "stop"))
        return self

    @in_words(ModelError)
    def remove(self, name: str, at: float | None = None) -> "Animation":
        """Take a body away, from `at` [s] on or altogether."""
        if name not in self._actors:
            raise ModelError(
                f"animation '{self.name}' has no body '{name}'; it has {', '.join(self._actors) or 'none'}."
            )
        if at is None:
            del self._actors[name]
        else:
            self._actors[name] = self._actors[name]._replace(stop=_time(at, "at"))
        return self

    @property
    def span(self) -> tuple[float, float]:
        """The first and last time of all series [s]."""
        moving = [actor.series.t for actor in self._actors.values() if len(actor.series.t) > 1]
        if not moving:
            raise ModelError(f"animation '{self.name}' has nothing that moves; add a body with a motion.")
        return min(float(t[0]) for t in moving), max(float(t[-1]) for t in moving)

    def recording(self, folder: Path) -> Recording:
        """All bodies at all times of any of them, in files of that folder."""
        first, last = self.span
        every = [actor.series.t for actor in self._actors.values()]
        t = np.unique(np.concatenate([[first, last], *every]))
        t = t[(t >= first) & (t <= last)]
        robot = self._robot()
        scene = described(robot, self.name) | {
            "known": ["pose"],
            "play": {"rate": self.time_scaling, "fps": self.fps, "backward": self.backward, "show": self._drawn()},
        }
        for told, actor in zip(scene["bodies"], self._actors.values(), strict=True):
            told["name"], told["reach"] = actor.name, max(map(_reach, actor.shapes))
            told["shapes"] = [{"warning": "", **shape} for shape in actor.shapes]
            told |= {key: x for key, x in (("from", actor.start), ("until", actor.stop)) if math.isfinite(x)}
        scene["size"] = max(told["reach"] for told in scene["bodies"])
        if rows := self._camera_rows():
            scene["camera"] = rows
        record(self._frames(t), robot, folder, scene)
        return Recording.open(folder)

    def play(self, *, port: int | None = None, browser: bool = True, until: threading.Event | None = None) -> None:
        """Show it in the browser until Ctrl-C, or until an event is set."""
        with temporary_folder() as folder:
            self.recording(folder)
            with served(folder, port, browser):
                try:
                    (until or threading.Event()).wait()
                except KeyboardInterrupt:
                    return

    @in_words(ModelError)
    def save(
        self,
        path: str | Path,
        *,
        size: tuple[int, int] = (1280, 720),
        prepare: Sequence[str] = (),
        progress: Callable[[float], None] | None = None,
    ) -> None:
        """Write *.html, *.mp4, *.gif, or *.png (pictures side by side). Frame k shows time k · time_scaling / fps."""
        path = Path(path)
        with temporary_folder() as folder:
            recording = self.recording(folder)
            if path.suffix == ".html":
                export.write_html(recording, path)
            elif path.suffix == ".png":
                first, last = self.span
                export.write_strip(recording, path, np.linspace(first, last, export.STRIP).tolist(), size, prepare)
            else:
                export.write_film(
                    recording,
                    path,
                    times=self.times().tolist(),
                    fps=self.fps,
                    size=size,
                    prepare=prepare,
                    progress=progress,
                )

    def frames(self, size: tuple[int, int] = (640, 360), prepare: Sequence[str] = ()) -> np.ndarray:
        """(N, height, width, 3) the pictures of `times()`, red, green and blue from 0 to 255."""
        with temporary_folder() as folder:
            drawn = export.pictures(self.recording(folder), self.times().tolist(), size, prepare)
        return np.stack([np.asarray(picture) for picture in drawn])

    def times(self) -> np.ndarray:
        """What each frame of a film shows [s]."""
        first, last = self.span
        count = int((last - first) * self.fps / self.time_scaling + 1e-9) + 1
        times = first + np.arange(count) * (self.time_scaling / self.fps)
        return times[::-1] if self.backward else times

    def _camera_rows(self) -> list[list[float]]:
        what = f"animation '{self.name}': camera"
        try:
            if callable(self.camera):
                times = np.linspace(*self.span, CAMERA_ROWS)
                rows = [[t, *eye, *target] for t, (eye, target) in ((t, self.camera(t)) for t in times.tolist())]
            else:
                rows = [list(row) for row in self.camera]
        except (TypeError, ValueError):
            rows = [[]]
        if any(len(row) != 7 for row in rows):
            raise ScenarioError(
                f"{what} must be rows of 7 numbers: t, eye x y z, what it looks at x y z; or f(t) that gives both."
            )
        if not rows:
            return rows
        table = numbers(rows, what)
        if not np.isfinite(table).all() or (np.diff(table[:, 0]) <= 0).any():
            raise ScenarioError(f"{what}: numbers must be finite, and times must rise.")
        return table.tolist()

    def _drawn(self) -> dict[str, bool]:
        for name in self.draw:
            if name not in DRAWN:
                raise ScenarioError(f"animation '{self.name}': draw has no '{name:.40}'; it has {', '.join(DRAWN)}.")
        return {DRAWN[name]: bool(wanted) for name, wanted in self.draw.items()}

    def _robot(self) -> Robot:
        builder = RobotBuilder("animation")
        for k in range(len(self._actors)):  # any name will do for a body here, "world" too
            builder.body(f"body{k}", mass=1.0, inertia=(1.0, 1.0, 1.0))
        return builder.build()

    def _frames(self, t: np.ndarray):
        poses = np.stack([_at(actor.series, t) for actor in self._actors.values()], axis=1)
        for k, time in enumerate(t):
            frame: Frame = (float(time), poses[k], None)
            yield frame


def given(
    t: Sequence[float],
    position: Sequence[Sequence[float]] | None = None,
    *,
    quaternion: Sequence[Sequence[float]] | None = None,
    euler: tuple[str, Sequence[Sequence[float]]] | None = None,
) -> Series:
    """A motion of times [s], positions (N, 3) [m] and attitudes: w x y z (N, 4), or ("ZYX", angles (N, 3)) [rad]."""
    times = numbers(t, "times of a motion").ravel()
    if euler is not None:
        sequence, angles = euler
        rows = numbers(angles, "angles of a motion").reshape(-1, 3)
        quaternion = [from_euler(sequence, row.tolist(), "attitude of a motion") for row in rows]
    at_rest = np.zeros((len(times), 3)) if position is None else position
    level = np.tile([1.0, 0.0, 0.0, 0.0], (len(times), 1)) if quaternion is None else quaternion
    return _checked(times, at_rest, level, "motion")


def _time(t: Any, what: str) -> float:
    """[s], also without end."""
    time = one_number(t, what)
    if math.isnan(time):
        raise ModelError(f"{what}: nan is no time in seconds.")
    return time


def _checked(t: Any, position: Any, quaternion: Any, what: str) -> Series:
    t, p, q = (numbers(x, what) for x in (t, position, quaternion))
    if t.ndim != 1 or len(t) == 0 or p.shape != (len(t), 3) or q.shape != (len(t), 4):
        raise ModelError(
            f"{what}: times {t.shape}, positions {p.shape}, quaternions {q.shape} must be (N,), (N, 3), (N, 4)."
        )
    if not (np.isfinite(t).all() and np.isfinite(p).all() and np.isfinite(q).all()) or (np.diff(t) <= 0).any():
        raise ModelError(f"{what}: numbers must be finite, and times must rise.")
    size = np.linalg.norm(q, axis=1, keepdims=True)
    if (size < 1e-6).any():
        raise ModelError(f"{what}: a quaternion is zero; no rotation is 1, 0, 0, 0.")
    return Series(t, p, q / size)


def _series(motion: Any, body: str | None) -> Series:
    """Of anything that moves."""
    if motion is None:
        return given([0.0])
    if isinstance(motion, Series):
        return _checked(*motion, "motion")
    if isinstance(motion, Result):
        one = motion.body(body or motion.robot.bodies[0].name)
        return _checked(motion.t, one.com, one.quaternion, "motion of a result")
    if isinstance(motion, LabResult):
        return _checked(motion.time, motion.position, motion.quaternion, "motion of a result")
    if callable(motion):
        return _series(motion(), body)
    raise ModelError(f"motion {motion!r:.60} is no Result, LabResult, given(...) or function that gives one of them.")


def _at(series: Series, t: np.ndarray) -> np.ndarray:
    """(N, 7) q_WB, p_WB at other times: straight and along the shortest turn; before and after it stands still."""
    if len(series.t) == 1:
        return np.tile(np.concatenate([series.quaternion[0], series.position[0]]), (len(t), 1))
    inside = np.clip(t, series.t[0], series.t[-1])
    turns = Slerp(series.t, Rotation.from_quat(series.quaternion[:, [1, 2, 3, 0]]))(inside)
    p = np.column_stack([np.interp(inside, series.t, column) for column in series.position.T])
    return np.hstack([turns.as_quat()[:, [3, 0, 1, 2]], p])


# ---------------------------------------------------------------------------------------------------------- shapes


def _shape(kind: str, size: Sequence[float], at: Any, rotation: Any, rgba: Any, **more: Any) -> Shape:
    sizes = _vector(size, 2 if kind == "cone" else 3, f"size of a {kind}")
    if kind in ("ellipsoid", "cone") and min(sizes) <= 0.0:
        raise ModelError(f"size of a {kind}: {size!r:.60} must be above zero.")
    return {
        "kind": kind,
        "size": sizes,
        "at": _vector(at, 3, f"place of a {kind}"),
        "quaternion": list(as_quaternion(rotation, f"rotation of a {kind}")),
        "rgba": _vector(rgba, 4, f"colour of a {kind}"),
        **more,
    }


def _vector(given: Any, count: int, what: str) -> list[float]:
    values = numbers(given, what)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise ModelError(f"{what}: {given!r:.60} must be {count} finite numbers.")
    return values.tolist()


LEVEL = (1.0, 0.0, 0.0, 0.0)


def shape(kind, size, at=(0, 0, 0), rotation=LEVEL, rgba=GREY) -> Shape:
    """What a body of a robot can look like, and its size [m]: cylinder, capsule, your own (docs/extending.md)."""
    return page_shape(checked_shape("shape", dict(kind=kind, size=size, at=at, rotation=rotation, rgba=rgba)))


def box(size, at=(0, 0, 0), rotation=LEVEL, rgba=GREY) -> Shape:
    """Edges x, y, z [m]."""
    return shape("box", size, at, rotation, rgba)


def ellipsoid(semi_axes, at=(0, 0, 0), rotation=LEVEL, rgba=GREY) -> Shape:
    """Semi-axes x, y, z [m]; three equal ones: a ball."""
    return _shape("ellipsoid", semi_axes, at, rotation, rgba)


def cone(radius, height, at=(0, 0, 0), rotation=LEVEL, rgba=GREY) -> Shape:
    """Its tip at `at`, open along z [m]: the cone that ω sweeps."""
    return _shape("cone", (radius, height), at, rotation, rgba)


def arrow(vector, at=(0, 0, 0), rgba=(1.0, 0.6, 0.2, 1.0), radius=None) -> Shape:
    """From `at` along a vector [m]."""
    thick = 0.02 * float(np.linalg.norm(_vector(vector, 3, "vector of an arrow"))) if radius is None else radius
    return _shape("arrow", vector, at, LEVEL, rgba, radius=thick)


def arrows(length=1.0, at=(0, 0, 0)) -> list[Shape]:
    """The axes x, y, z in red, green, blue."""
    colours = ((1.0, 0.35, 0.35, 1.0), (0.3, 0.8, 0.4, 1.0), (0.35, 0.6, 1.0, 1.0))
    size = number(length, "length of arrows")
    return [arrow(size * axis, at, rgba) for axis, rgba in zip(np.eye(3), colours, strict=True)]


def cubesat_3u(rgba=(0.75, 0.75, 0.8, 1.0)) -> list[Shape]:
    """A CubeSat of three units, 10 x 10 x 34 cm, long in z, with two deployed panels."""
    panel = ((0.0016, 0.0825, 0.329), (0.1, 0.15, 0.5, 1.0))
    return [box((0.1, 0.1, 0.34), rgba=rgba), *(box(panel[0], (0, side * 0.091, 0), rgba=panel[1]) for side in (1, -1))]


def facets(vertices, faces, at=(0, 0, 0), rotation=LEVEL, rgba=GREY) -> Shape:
    """Triangles: vertices (N, 3) [m] and faces (M, 3) of their numbers."""
    points = numbers(vertices, "vertices")
    if points.ndim != 2 or points.shape[1] != 3:
        raise ModelError(f"vertices of shape {points.shape} must be (N, 3) [m].")
    rows = numbers(faces, "faces")
    rows = rows.astype(int) if np.array_equal(rows, np.floor(rows)) else rows
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu" or rows.size == 0:
        raise ModelError(f"faces {np.shape(faces)} must be (M, 3) whole numbers of vertices.")
    if rows.min() < 0 or rows.max() >= len(points):
        raise ModelError(f"faces name vertices {rows.min()} to {rows.max()}, and there are {len(points)}.")
    size = np.abs(points).max(axis=0).tolist()
    return _shape("facets", size, at, rotation, rgba, vertices=points.tolist(), facets=rows.tolist())


def mesh(file, unit, at=(0, 0, 0), rotation=LEVEL, rgba=GREY) -> Shape:
    """A mesh file (STL, OBJ, PLY, GLB); the unit of its lengths: "m", "mm"."""
    read = read_mesh(file, unit)
    return facets(read.vertices, np.asarray(read.facets, dtype=int), at, rotation, rgba)


def _reach(shape: Shape) -> float:
    """How far it goes from the body's origin [m], about."""
    return float(np.linalg.norm(shape["at"]) + max(map(abs, shape["size"])))


def colour(k: int) -> tuple[float, float, float, float]:
    """The k-th of the colours that are told apart."""
    text = COLOURS[k % len(COLOURS)]
    red, green, blue = (int(text[i : i + 2], 16) / 255 for i in (1, 3, 5))
    return red, green, blue, 1.0
