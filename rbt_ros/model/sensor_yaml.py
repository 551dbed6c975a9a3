"""`sensors:` of a scenario -> sensors by name."""

from rbt_ros.model.reading import Item
from rbt_ros.model.robot import Robot
from rbt_ros.model.schema import TEXT, Definitions, Key, Schema, Section, Value, by_name, choice, number
from rbt_ros.model.sensors import Sensor, checked_sensor
from rbt_ros.model.yaml_parts import ATTITUDE, POINT, parameter_key, placed
from rbt_ros.plug.sensor import SENSORS


def sensor_section(name: str) -> Section:
    """What a sensor of that kind takes."""
    kind = SENSORS.find(name)
    mount = [Key("hinge", TEXT, "the hinge that it is in", needed=True)]
    if kind.mount == "body":
        mount = [
            Key("body", TEXT, "the body that it is on", needed=True),
            Key("at", POINT, "where, in the frame of the body", "origin"),
            Key("rotation", ATTITUDE, "of its axes against those of the body; without this key: none"),
        ]
    return Section(
        f"sensor_{name}",
        f"{kind.about}: docs/sensors.md.",
        Key("kind", choice((name,)), "what it is", needed=True),
        *mount,
        Key("rate", number("frequency"), "of its samples in simulated time, rounded to whole steps", needed=True),
        *map(parameter_key, kind.parameters),
        required=["kind", kind.mount, "rate", *(p.name for p in kind.parameters if p.default is None)],
    )


def _kinds(definitions: Definitions) -> Schema:
    return {"oneOf": [sensor_section(name).schema(definitions) for name in SENSORS.names()]}


SENSORS_BY_NAME = by_name(Value(lambda item: item, _kinds))


def read_sensors(item: Item, robot: Robot, h_ns: int) -> tuple[Sensor, ...]:
    """{imu1: {kind: imu, body: hub, at: [..], rate: 200 Hz}}"""
    found: dict[str, Sensor] = {}
    for name, spec in item.mapping().items():
        kind = spec.mapping()["kind"].text()
        given = placed(spec["kind"], sensor_section, kind).read(spec)
        del given["kind"]
        where = {key: given.pop(key) for key in ("body", "hinge", "at", "rotation", "rate") if key in given}
        found[name] = placed(spec, checked_sensor, robot, name, kind, **where, h_ns=h_ns, parameters=given)
    return tuple(found.values())
