"""Sensors in use: of which kind, on what, where, how often, with which numbers."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

from rbt_ros.errors import ModelError
from rbt_ros.kinds import in_words
from rbt_ros.model.attitude import IDENTITY, as_quaternion
from rbt_ros.model.body_forces import Vector, point_of
from rbt_ros.model.checks import checked_name, number
from rbt_ros.model.parameters import values_of
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.plug.sensor import SENSORS, SensorKind, SensorMessage

SECOND_NS = 1_000_000_000


class Mount(NamedTuple):
    """Where the frame of a sensor is."""

    frame: str
    parent: str  # a body
    quaternion: tuple[float, ...]  # q_BS
    at: Vector  # p_BS [m]


class Sensor(NamedTuple):
    """A kind of sensor that is mounted somewhere."""

    name: str
    kind: SensorKind
    on: str  # the body or the hinge
    at: Vector  # p_BS, in the frame of the body [m]
    quaternion: tuple[float, ...]  # q_BS
    rate: float  # [Hz] of simulated time
    values: Any  # its parameters, the kind's NamedTuple
    space: str  # the first part of its topics
    frame: str  # of its messages

    def __str__(self) -> str:
        return f"sensor '{self.name}' on '{self.on}'"

    @property
    def period_ns(self) -> int:
        """From one sample to the next, before it is rounded to whole steps."""
        return round(SECOND_NS / self.rate)

    @property
    def topics(self) -> tuple[tuple[str, SensorMessage], ...]:
        """Their names and messages."""
        return tuple((f"{self.space}/{message.topic}", message) for message in self.kind.messages)

    @property
    def mount(self) -> Mount | None:
        """Where its frame is, if it has one of its own."""
        own = self.kind.mount == "body" and self.frame == self.name
        return Mount(self.frame, self.on, self.quaternion, self.at) if own else None


@in_words(ModelError)
def checked_sensor(
    robot: Robot,
    name: str,
    kind: str | SensorKind,
    *,
    rate: float,
    h_ns: int,
    body: str | None = None,
    hinge: str | None = None,
    at: Any = None,
    rotation: Any = None,
    parameters: Mapping[str, Any] | None = None,
    taken: Collection[str] = (),
) -> Sensor:
    """A Sensor of that name. taken: names of other sensors; the others of the arguments as in `add_sensor`."""
    checked_name("sensor", name)
    where = f"sensor '{name}'"
    frames = {WORLD, *(b.name for b in robot.bodies)} | {a.frame for h in robot.hinges for a in h.single_axes}
    if name in taken or name in frames:
        what = "another sensor" if name in taken else "a frame of the robot"
        raise ModelError(f"{where}: {what} has that name, which stands for its frame and topic; choose another one.")
    if isinstance(kind, str):
        kind = SENSORS.find(kind)
    if not isinstance(kind, SensorKind):
        raise ModelError(f"{where}: {kind!r:.80} is no kind of sensor: give the name of one, or a SensorKind.")
    given, other, what = (body, hinge, "body") if kind.mount == "body" else (hinge, body, "hinge")
    if given is None or other is not None:
        raise ModelError(f"{where}: this kind is mounted on a {what}; give {what}=, and nothing else to be on.")
    where_at, q_BS = (0.0, 0.0, 0.0), IDENTITY
    if kind.mount == "hinge":
        robot.hinge_index(given)
        if at is not None or rotation is not None:
            raise ModelError(f"{where}: in a hinge it has no place and attitude of its own; leave at and rotation out.")
    else:
        com = robot.bodies[robot.body_index(given)].com
        where_at = point_of(given, com, "origin" if at is None else at, where)
        q_BS = IDENTITY if rotation is None else as_quaternion(rotation, f"{where}: rotation")
    values = values_of(kind, parameters or {}, where)
    frame = name if kind.mount == "body" else robot.hinges[robot.hinge_index(given)].child
    return Sensor(name, kind, given, where_at, q_BS, _rate(rate, h_ns, where), values, f"sensors/{name}", frame)


def _rate(rate: Any, h_ns: int, where: str) -> float:
    hz, most = number(rate, f"rate of {where}"), SECOND_NS / h_ns
    if not 1e-9 <= hz <= most * (1 + 1e-9):
        raise ModelError(
            f"{where}: rate {hz:g} Hz must be above 0 Hz and at most {most:g} Hz, one sample a step of "
            f"{h_ns * 1e-6:g} ms; a shorter step allows more."
        )
    return hz
