"""The socket of sensors: what is measured on a body, or in a hinge, and the message that it becomes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NamedTuple

from rbt_ros.errors import ModelError
from rbt_ros.plug.parameter import Parameter, values_class
from rbt_ros.plug.registry import Registry

Values = Mapping[str, Any]


class Quantity(NamedTuple):
    """A number that a sensor gives, or a vector of them."""

    name: str
    unit: str = ""  # "": a plain number
    size: int = 1


@dataclass(frozen=True, eq=False)
class SensorKind:
    """`read(p, seen, noise)` -> what it measures, by the names of `gives`; None: nothing, this time.

    p has the parameters by name, seen what is there (`rbt_ros.sensing.Seen`), noise the random numbers of this sample
    (`rbt_ros.plug.noise.Noise`). What it gives depends on these alone, so that a run can be repeated.
    message, topic, fields: type of the message, the last part of its topic, and `fields(p, values, header)` -> the
    fields of the message by name. mount: what it is on.
    """

    read: Callable[[Any, Any, Any], Values | None]
    gives: tuple[Quantity, ...]
    message: str
    fields: Callable[[Any, Values, dict[str, Any]], dict[str, Any]]
    topic: str = "data_raw"
    parameters: tuple[Parameter, ...] = ()
    mount: Literal["body", "hinge"] = "body"
    about: str = ""

    @cached_property
    def values(self) -> type:
        """The NamedTuple of its parameters."""
        return values_class(self.parameters)


def _check(name: str, kind: SensorKind) -> None:
    if kind.mount not in ("body", "hinge"):
        raise ModelError(f"sensor '{name}': mount {kind.mount!r:.80} is neither 'body' nor 'hinge'.")
    if taken := {p.name for p in kind.parameters} & {"kind", "body", "hinge", "at", "rotation", "rate", "name"}:
        raise ModelError(f"sensor '{name}': parameter '{taken.pop()}' has a name that all sensors use; rename it.")


OURS = {
    "imu": "rbt_ros.plug.sensors.imu:IMU",
}
SENSORS = Registry("sensor", SensorKind, OURS, _check)
