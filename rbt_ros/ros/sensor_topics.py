"""Sensors on topics: those of the scenario, and the one that the parameter imu.body asks for."""

import functools
from collections.abc import Callable
from typing import Any

from rbt_ros import topics
from rbt_ros.errors import ScenarioError
from rbt_ros.model.sensors import SECOND_NS, Mount, Sensor, checked_sensor
from rbt_ros.ros.convert import message_class
from rbt_ros.ros.record import Extra
from rbt_ros.ros.writers import check
from rbt_ros.sensing import Reader
from rbt_ros.sim import Simulation

ON_BODY = "imu_body"  # the name of the sensor that imu.body asks for


class SensorTopics:
    """What is published of the sensors of `sim`. tell: where one fails for the first time."""

    def __init__(self, sim: Simulation, value: Callable[[str], Any], tell: Callable[[str], None]):
        """value: of a parameter."""
        self._reader, self._prefix = Reader(sim, tell), value("frame_prefix")
        self._sensors = list(sim.sensors.values())
        if body := value("imu.body"):
            self._sensors.append(_on_body(sim, body, value("imu.rate")))
        for sensor in self._sensors:
            try:
                for message in sensor.kind.messages:
                    message_class(message.type)
            except (ImportError, AttributeError) as err:
                raise ScenarioError(f"{sensor}: its message is not here: {err}. Source its package, too.") from err

    @property
    def mounts(self) -> tuple[Mount, ...]:
        """Frames of sensors that have one of their own."""
        return tuple(sensor.mount for sensor in self._sensors if sensor.mount)

    def extras(self) -> list[Extra]:
        """A topic for each message."""
        return [
            Extra(topic, m.type, s.period_ns, functools.partial(self._reader.fields, s, m, self._prefix, check))
            for s in self._sensors
            for topic, m in s.topics
        ]

    def reports(self) -> list[topics.Report]:
        """How they do, if there are any."""
        if not self._sensors:
            return []
        failed = self._reader.failed
        values = {f"samples of {name} that failed": count for name, (count, _) in failed.items()}
        last = next((text for _, text in reversed(failed.values())), "")
        return [topics.Report("sensors", topics.WARN if failed else topics.OK, last or "all can be read", values)]


def _on_body(sim: Simulation, body: str, rate: float) -> Sensor:
    """An inertial sensor in the centre of mass of a body and in its axes; at most one sample a step."""
    rate = min(rate, SECOND_NS / sim.h_ns)
    found = checked_sensor(sim.robot, ON_BODY, "imu", rate=rate, h_ns=sim.h_ns, body=body, at="com", taken=sim.sensors)
    return found._replace(space="imu", frame=body)
