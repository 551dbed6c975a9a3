"""The socket of sensors: what is measured on a body, or in a hinge, and the message that it becomes."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from rbt_ros.errors import ModelError
from rbt_ros.plug.parameter import Parameter, check_parameters, values_class
from rbt_ros.plug.registry import Registry

Values = Mapping[str, Any]
COMMON = {"name", "kind", "body", "hinge", "at", "rotation", "rate"}  # what all sensors are given
TYPE = re.compile(r"[a-z][a-z0-9_]*/msg/[A-Z][A-Za-z0-9]*")
TOPIC = re.compile(r"[a-z][a-z0-9_]*")


class Quantity(NamedTuple):
    """A number that a sensor gives, or a vector of them."""

    name: str
    unit: str = ""  # "": a plain number
    size: int = 1


class SensorMessage(NamedTuple):
    """What becomes of a sample: `fields(p, values, header)` -> the fields of a message, by name."""

    topic: str  # the last part
    type: str
    fields: Callable[[Any, Values, dict[str, Any]], dict[str, Any]]
    frame: str = ""  # of the header, as "world"; "": that of the sensor


@dataclass(frozen=True, eq=False)
class SensorKind:
    """`read(p, seen, noise)` -> what it measures, by the names of `gives`; None: nothing, this time.

    p has the parameters by name, seen what is there (`rbt_ros.sensing.Seen`), noise the random numbers of this sample
    (`rbt_ros.plug.noise.Noise`). What it gives depends on these alone, so that a run can be repeated. mount: what it is
    on.
    """

    read: Callable[[Any, Any, Any], Values | None]
    gives: tuple[Quantity, ...]
    messages: tuple[SensorMessage, ...]
    parameters: tuple[Parameter, ...] = ()
    mount: Literal["body", "hinge"] = "body"
    about: str = ""

    def __post_init__(self) -> None:
        """ModelError where it cannot be one."""
        types, names = [m.type for m in self.messages], [m.topic for m in self.messages]
        types = [kind for kind in types if not TYPE.fullmatch(str(kind))]
        names = [name for name in names if not TOPIC.fullmatch(str(name)) or names.count(name) > 1]
        check_parameters(f"a kind of sensor, {self.about or self.read!r:.80}", self.parameters, COMMON)
        for wrong, rule in (
            (types, f"message {types!r:.80} is not like sensor_msgs/msg/Imu"),
            (names, f"topic {names!r:.80} is not like data_raw (a-z, 0-9, _), or is there twice"),
            (self.mount not in ("body", "hinge"), f"mount {self.mount!r:.80} is neither 'body' nor 'hinge'"),
            (not self.gives, "gives is empty; it names what is measured"),
        ):
            if wrong:
                raise ModelError(f"a kind of sensor, {self.about or self.read!r:.80}: {rule}.")

    @cached_property
    def values(self) -> type:
        """The NamedTuple of its parameters."""
        return values_class(self.parameters)


OURS = {
    "imu": "rbt_ros.plug.sensors.imu:IMU",
}
SENSORS = Registry("sensor", SensorKind, OURS)
