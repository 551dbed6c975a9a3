"""Force with its arm and moment on one body, until they are set otherwise."""

from typing import Any

from rbt_ros.errors import RbtError
from rbt_ros.model.robot import Robot
from rbt_ros.stream.controls.control import Control, Host, Push

ZERO = (0.0, 0.0, 0.0)


class Pushing:
    """The group Push, and what is set in it."""

    def __init__(self, host: Host):
        self._host = host
        self.body, self.frame = host.sim.robot.bodies[0].name, "body"
        self.force, self.moment, self.arm = ZERO, ZERO, ZERO

    def controls(self, robot: Robot) -> list[Control]:
        """Its controls."""
        names = tuple(body.name for body in robot.bodies)

        def vector(key: str, label: str, unit: str, high: float, note: str) -> Control:
            return Control(
                f"push.{key}",
                label,
                "Push",
                "vector",
                lambda: list(getattr(self, key)),
                lambda value: self._set(**{key: value}),
                unit,
                -high,
                high,
                note=note,
            )

        def choice(key: str, label: str, options: tuple[str, ...]) -> Control:
            return Control(
                f"push.{key}",
                label,
                "Push",
                "choice",
                lambda: getattr(self, key),
                lambda value: self._set(**{key: value}),
                options=options,
            )

        return [
            choice("body", "Body", names),
            choice("frame", "Axes of force and torque", ("body", "world")),
            vector("force", "Force", "N", 1e4, ""),
            vector("arm", "Arm of the force", "m", 1e3, "from the CoM, body axes"),
            vector("moment", "Torque", "N·m", 1e4, "beside that of the force"),
        ]

    def again(self) -> None:
        """Send what was set, if anything was."""
        if any(self.force) or any(self.moment):
            self._send(self.force, self.moment)

    def _set(self, **changes: Any) -> None:
        before = {key: getattr(self, key) for key in changes}
        if changes.get("body", self.body) != self.body:
            self._send(ZERO, ZERO)  # what it leaves is pushed no more
        for key, value in changes.items():
            setattr(self, key, value)
        try:
            self._send(self.force, self.moment)
        except RbtError:
            for key, value in before.items():
                setattr(self, key, value)
            raise

    def _send(self, force: tuple, moment: tuple) -> None:
        self._host.push(Push(self.body, self.frame, force, moment, self.arm))
