"""What a viewer may set while a simulation runs, each with unit and range, and what was refused of it.

The list is data: the page builds its panel from it, and a node and a plain run offer the same names. A value is checked
here against its range, by the simulation against everything else; what it refuses is told beside the control.
"""

from collections.abc import Sequence
from typing import Any

from rbt_ros.errors import RbtError
from rbt_ros.stream.controls.control import Control, Host, Push
from rbt_ros.stream.controls.hinges import hinges
from rbt_ros.stream.controls.pushing import Pushing
from rbt_ros.stream.controls.running import running
from rbt_ros.stream.controls.solver import solver

__all__ = ["Control", "Controls", "Host", "Push"]


class Controls:
    """All controls of one run."""

    def __init__(self, host: Host, extra: Sequence[Control] = ()):
        """extra: what this host can do beside."""
        self._push = Pushing(host)
        listed = [*running(host), *self._push.controls(host.sim.robot), *extra, *solver(host), *hinges(host)]
        self._controls = {control.key: control for control in listed}
        self._refused: dict[str, str] = {}
        self.answered = 0  # the last command's number

    def settings(self) -> dict[str, Any]:
        """For the page."""
        listed = [control.described(self._refused.get(key, "")) for key, control in self._controls.items()]
        return {"controls": listed, "answered": self.answered}

    def do(self, command: dict[str, Any]) -> str:
        """Carry out {"id", "key", "value"}; why it was refused, or nothing."""
        key, number = command.get("key"), command.get("id")
        self.answered = number if isinstance(number, int) else self.answered
        control = self._controls.get(key) if isinstance(key, str) else None
        if control is None:
            return f"there is no control {key!r:.60}"
        try:
            control.write(control.checked(command.get("value")))
        except RbtError as err:
            self._refused[control.key] = str(err)
        else:
            self._refused.pop(control.key, None)
        return self._refused.get(control.key, "")

    def again(self) -> None:
        """Push as before: the simulation is another one, and knows of no commands."""
        self._push.again()

    def refuse(self, key: str, text: str) -> None:
        """Tell beside that control what went wrong later."""
        self._refused[key] = text
