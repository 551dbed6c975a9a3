"""Parameters `hinges.NAME.*`: checked together, and handed to the loop as one command."""

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from rbt_ros.command_messages import hinge_settings
from rbt_ros.errors import RbtError, ScenarioError
from rbt_ros.model.hinge_commands import (
    LOCKED,
    POSITION,
    PRESCRIBED,
    VELOCITY,
    HingeSetting,
    HingeSettings,
    Law,
    settable,
)
from rbt_ros.model.hinge_targets import Targets
from rbt_ros.model.robot import Robot
from rbt_ros.ros.parameters import is_given

DEFAULTS = Law()._asdict()  # of set-points: zero
ZERO_COUNTS = {(POSITION, "position"), (PRESCRIBED, "position"), (VELOCITY, "velocity")}


class HingeParameters:
    """What parameters say of the hinges. Set mode and gains in one atomic call: each call must make sense by itself."""

    def __init__(
        self,
        node: Node,
        robot: Robot,
        post: Callable[[HingeSettings], None],
        rehearse: Callable[[HingeSettings], None],
        busy: Callable[[], contextlib.AbstractContextManager] = contextlib.nullcontext,
    ):
        """node: has them declared; post: hands over what changes; rehearse: an RbtError where it cannot be done.

        busy: while the executor's thread does something that may last.
        """
        self._node, self._robot, self._post, self._rehearse, self._busy = node, robot, post, rehearse, busy
        self._targets = Targets(robot)  # of which only the laws are used: those of the parameters
        self._adopting = False
        declared = [f"hinges.{joint}.{key}" for joint in settable(robot) for key in HingeSetting._fields[1:]]
        given = {name: node.get_parameter(name).value for name in declared if node.has_parameter(name)}
        said = {name: x for name, x in given.items() if self._is_said(name, x, given)}
        self.start = hinge_settings(said, robot)
        try:
            self._check(self.start)
            self._targets.laws = self._targets.checked(self.start)
        except RbtError as err:
            raise ScenarioError(f"parameter {err}") from err
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._act)

    def _is_said(self, name: str, x: Any, given: dict[str, Any]) -> bool:
        """Whether the start differs by it: also by a zero that somebody gives and the mode takes."""
        joint, _, key = name.rpartition(".")
        if x != DEFAULTS.get(key, 0.0):
            return True
        return (given[f"{joint}.mode"], key) in ZERO_COUNTS and is_given(self._node, name)

    def adopt(self, laws: dict[str, Law], waiting: Sequence[HingeSettings]) -> None:
        """Show the modes and gains that a checkpoint brought; waiting: those that act from its next tick on."""
        there = Targets(self._robot)
        there.laws = laws
        for settings in waiting:
            there.laws = there.checked(settings)
        laws = there.laws
        values = {f"hinges.{joint}.{key}": x for joint, law in laws.items() for key, x in law._asdict().items()}
        self._adopting = True
        try:
            known = [Parameter(name, value=x) for name, x in values.items() if self._node.has_parameter(name)]
            self._node.set_parameters_atomically(known)
        finally:
            self._adopting = False

    def _judge(self, changes: list[Parameter]) -> SetParametersResult:
        try:
            self._check(self._settings(changes))
        except RbtError as err:
            return SetParametersResult(successful=False, reason=str(err))
        return SetParametersResult(successful=True)

    def prepare(self, changes: list[Parameter]) -> None:
        """In a thread of its own, before they are set: compile for them. If they cannot be, setting them tells why."""
        with contextlib.suppress(RbtError):
            if held := self._held_anew(self._settings(changes)):
                self._rehearse(held)

    def _check(self, settings: HingeSettings) -> None:
        """An RbtError where they make no sense; who locks or prescribes anew does so in a rehearsal first."""
        if (held := self._held_anew(settings)) and not self._adopting:
            with self._busy():
                self._rehearse(held)

    def _held_anew(self, settings: HingeSettings) -> HingeSettings | None:
        """What is locked or prescribed by these settings, where that is new; an RbtError where they make no sense."""
        laws = self._targets.checked(settings)
        held = {joint: law for joint, law in laws.items() if law.mode in (LOCKED, PRESCRIBED)}
        if all(law.mode == self._targets.laws[joint].mode for joint, law in held.items()):
            return None
        return HingeSettings(tuple(HingeSetting(joint, law.mode, delay=law.delay) for joint, law in held.items()))

    def _act(self, changes: list[Parameter]) -> None:
        settings = self._settings(changes)
        if settings.settings:
            self._targets.laws = self._targets.checked(settings)
            if not self._adopting:
                self._post(settings)

    def _settings(self, changes: list[Parameter]) -> HingeSettings:
        return hinge_settings({change.name: change.value for change in changes}, self._robot)
