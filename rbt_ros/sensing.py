"""What sensors measure of a Simulation: one reading, and all readings of a run."""

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np

from rbt_ros.core.types import NQ, NV, Q, V
from rbt_ros.core.vec import add, cross, qconj, qmul, qturn
from rbt_ros.errors import ModelError, ScenarioError, SolveError
from rbt_ros.fields import Fields, header
from rbt_ros.kinds import in_words
from rbt_ros.model.body_forces import Vector
from rbt_ros.model.robot import Robot
from rbt_ros.model.sensors import Sensor, checked_sensor
from rbt_ros.model.ticks import Ticks
from rbt_ros.plug.noise import Noise
from rbt_ros.plug.sensor import SensorKind, SensorMessage, Values
from rbt_ros.results import Sample


class Seen:
    """What is there for a sensor at one instant, computed when it is asked for. Vectors are in world axes.

    On a body: its place there as `position`, `quaternion` (its axes in the world, w x y z), `velocity`, `omega`,
    `acceleration`, `gravity`. In a hinge: `hinge`, what it is called. `sample` knows everything.
    """

    def __init__(self, robot: Robot, sensor: Sensor, sample: Sample):
        self.robot, self.sample, self.t = robot, sample, sample.t
        self.hinge = sensor.on if sensor.kind.mount == "hinge" else ""
        self._sensor, self._i = sensor, robot.hinge_index(sensor.on) if self.hinge else robot.body_index(sensor.on)

    @cached_property
    def _pose(self) -> tuple[Sequence[float], Sequence[float], Vector]:
        """q_WB, p_WB, and the arm p_BS in world axes."""
        row = self.sample.pose[self._i].tolist()
        return row[:4], row[4:], qturn(row[:4], self._sensor.at)

    @property
    def position(self) -> Vector:
        """[m]"""
        _, p, arm = self._pose
        return add(p, arm)

    @cached_property
    def quaternion(self) -> tuple[float, float, float, float]:
        """q_WS."""
        return qmul(self._pose[0], self._sensor.quaternion)

    @cached_property
    def omega(self) -> Vector:
        """[rad/s]"""
        x, y, z = self.sample.twist[self._i, :3].tolist()
        return (x, y, z)

    @property
    def velocity(self) -> Vector:
        """[m/s]"""
        return add(self.sample.twist[self._i, 3:].tolist(), cross(self.omega, self._pose[2]))

    @property
    def acceleration(self) -> Vector:
        """[m/s²] under what acts from this instant on."""
        row, arm, w = self.sample.accelerations[self._i].tolist(), self._pose[2], self.omega
        return add(row[3:], add(cross(row[:3], arm), cross(w, cross(w, arm))))

    @property
    def gravity(self) -> Vector:
        """What any mass falls with here [m/s²]: uniform gravity and attraction."""
        x, y, z = self.sample.gravity(np.array(self.position)).tolist()
        return (x, y, z)

    def in_axes(self, vector: Sequence[float]) -> Vector:
        """A vector of the world's axes in those of the sensor."""
        return qturn(qconj(self.quaternion), vector)

    @property
    def hinge_position(self) -> np.ndarray:
        """[rad, m], one number for each freedom; of a spherical hinge a quaternion."""
        kind, q = self.robot.hinges[self._i].kind, self.robot.model.tree[self._i, Q]
        return self.sample.q[q : q + NQ[kind]]

    @property
    def hinge_rate(self) -> np.ndarray:
        """[rad/s, m/s]"""
        kind, v = self.robot.hinges[self._i].kind, self.robot.model.tree[self._i, V]
        return self.sample.v[v : v + NV[kind]]


def reading(robot: Robot, sensor: Sensor, sample: Sample, ticks: Ticks, seed: int) -> Values | None:
    """What it measures of that sample; SolveError where it fails, or gives what it should not."""
    index = sample.t_ns // (ticks.count(sensor.period_ns) * ticks.h_ns)
    at = f"t = {sample.t:.9g} s: {sensor}"
    try:
        found = sensor.kind.read(sensor.values, Seen(robot, sensor, sample), Noise(seed, sensor.name, index))
        return None if found is None else _checked(sensor, found, at)
    except SolveError:
        raise
    except Exception as err:  # it is another's function
        raise SolveError(f"{at} raised {type(err).__name__}: {err}") from err


def _checked(sensor: Sensor, found: Any, at: str) -> Values:
    gives = sensor.kind.gives
    names = ", ".join(quantity.name for quantity in gives)
    if not isinstance(found, Mapping) or set(found) != {quantity.name for quantity in gives}:
        raise SolveError(f"{at} gave {found!r:.80}; a dict with {names} is wanted.")
    values = {}
    for name, unit, size in gives:
        array = np.asarray(found[name], dtype=float)
        if array.shape != ((size,) if size > 1 else ()) or not np.isfinite(array).all():
            wanted = f"{size} finite numbers" if size > 1 else "one finite number"
            raise SolveError(f"{at} gave {name} {found[name]!r:.80}; {wanted}{unit and ' in ' + unit} is wanted.")
        values[name] = array.tolist()
    return values


class HasSensors(ABC):
    """What a simulation offers for its sensors."""

    robot: Robot
    seed: int
    tick: int
    ticks: Ticks
    _sensors: Mapping[str, Sensor] = MappingProxyType({})

    @abstractmethod
    def sample(self) -> Sample:
        """Everything there is to know now."""

    @property
    def sensors(self) -> Mapping[str, Sensor]:
        """By name, as they were added."""
        return MappingProxyType(dict(self._sensors))

    @in_words(ScenarioError)
    def add_sensor(
        self,
        name: str,
        kind: str | SensorKind,
        *,
        rate: float,
        body: str | None = None,
        hinge: str | None = None,
        at: Any = None,
        rotation: Any = None,
        **parameters: Any,
    ) -> None:
        """Mount a sensor, as `sensors:` of a scenario does; the motion keeps its bits.

        kind: a name (`rbt.SENSORS.names()`) or a `rbt.SensorKind`; rate [Hz] of simulated time, rounded to whole steps;
        at: "origin" (default), "com" or a point in the body's frame [m]; rotation: of its axes against the body's, a
        quaternion, a matrix, or ("ZYX", a, b, c) in rad. A `Recorder` knows the sensors that are there when it begins.
        """
        place = dict(body=body, hinge=hinge, at=at, rotation=rotation, parameters=parameters, taken=self._sensors)
        self._mount([checked_sensor(self.robot, name, kind, rate=rate, h_ns=self.ticks.h_ns, **place)])

    def _mount(self, sensors: Iterable[Sensor]) -> None:
        self._sensors = {**self._sensors, **{sensor.name: sensor for sensor in sensors}}

    def read(self, name: str) -> Values | None:
        """What a sensor measures now, by name; None: nothing now. The same instant has the same noise."""
        if not isinstance(name, str) or name not in self._sensors:
            raise ModelError(f"there is no sensor {name!r:.80}; there are {', '.join(self._sensors) or 'none'}.")
        return reading(self.robot, self._sensors[name], self.sample(), self.ticks, self.seed)


class SensorResult(Mapping[str, np.ndarray]):
    """What one sensor measured over time: `result.sensor("imu")["specific_force"]`, (N,) or (N, size)."""

    def __init__(self, sensor: Sensor, rows: list[tuple[int, Values]]):
        self.t_ns = np.array([t_ns for t_ns, _ in rows], dtype=np.int64)
        self.t = self.t_ns * 1e-9  # [s] at which it took a sample
        self._values = {
            name: np.array([values[name] for _, values in rows]).reshape((len(rows), size) if size > 1 else len(rows))
            for name, _, size in sensor.kind.gives
        }

    def __getitem__(self, name: str) -> np.ndarray:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


def due(sensors: Iterable[Sensor], ticks: Ticks, tick: int) -> list[Sensor]:
    """Those that take a sample at that tick."""
    return [sensor for sensor in sensors if tick % ticks.count(sensor.period_ns) == 0]


def next_due(sensors: Iterable[Sensor], ticks: Ticks, tick: int) -> int:
    """The first tick after this one at which one of them takes a sample; there must be one."""
    counts = [ticks.count(sensor.period_ns) for sensor in sensors]
    return min(tick + count - tick % count for count in counts)


class Reader:
    """Reads sensors of a simulation, which goes on whatever they do: a sample that fails is told once, and counted."""

    def __init__(self, sim: HasSensors, tell: Callable[[str], None]):
        self._sim, self._tell = sim, tell
        self.failed: dict[str, tuple[int, str]] = {}  # by sensor: how often, and how the last time

    def values(self, sensor: Sensor, sample: Sample) -> Values | None:
        """What it measures; None: nothing."""
        try:
            return reading(self._sim.robot, sensor, sample, self._sim.ticks, self._sim.seed)
        except SolveError as err:
            self._note(sensor, str(err))
            return None

    def fields(
        self,
        sensor: Sensor,
        message: SensorMessage,
        prefix: str,
        check: Callable[[str, Fields], Any],
        sample: Sample,
        stamp: int,
    ) -> Fields | None:
        """Of one of its messages; None: nothing was measured.

        prefix: before the name of its frame; check(type, fields): raises where they are not those of such a message.
        """
        if (values := self.values(sensor, sample)) is None:
            return None
        try:
            fields = message.fields(sensor.values, values, header(stamp, prefix + (message.frame or sensor.frame)))
            check(message.type, fields)
            return fields
        except Exception as err:  # it is another's function
            self._note(sensor, f"t = {sample.t:.9g} s: {sensor}: fields: {type(err).__name__}: {err}")
            return None

    def _note(self, sensor: Sensor, text: str) -> None:
        count, _ = self.failed.get(sensor.name, (0, ""))
        self.failed[sensor.name] = count + 1, text
        if count == 0:
            self._tell(f"{text.rstrip('.')}. The simulation goes on without this sample, and without others that fail.")


def warn(text: str) -> None:
    """Where there is nobody else to tell."""
    warnings.warn(text, stacklevel=2)


class Readings:
    """Who looks on during a run and keeps what the sensors measure."""

    def __init__(self, sim: HasSensors):
        self._sim, self._sensors, self._reader = sim, tuple(sim.sensors.values()), Reader(sim, warn)
        self._rows: dict[str, list[tuple[int, Values]]] = {name: [] for name in sim.sensors}
        self.look(sim)

    def next_tick(self, tick: int) -> int:
        """The first tick after this one at which a sensor takes a sample."""
        return next_due(self._sensors, self._sim.ticks, tick)

    def look(self, sim: Any) -> None:
        """Read the sensors that are due."""
        if now := due(self._sensors, sim.ticks, sim.tick):
            sample = sim.sample()
            for sensor in now:
                if (values := self._reader.values(sensor, sample)) is not None:
                    self._rows[sensor.name].append((sample.t_ns, values))

    def latched(self, sim: Any, latched: Any) -> None:
        """Nothing to read."""

    def effort(self, sim: Any, effort: Any) -> None:
        """Nothing to read."""

    def friction(self, sim: Any, hinge: str, given: Any) -> None:
        """Nothing to read."""

    def changed(self, sim: Any) -> None:
        """Nothing to read."""

    def results(self) -> dict[str, SensorResult]:
        """By name of the sensor."""
        return {sensor.name: SensorResult(sensor, self._rows[sensor.name]) for sensor in self._sensors}
