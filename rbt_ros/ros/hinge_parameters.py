"""Parameters `hinges.NAME.*`: checked together, and handed to the loop as one command."""

from collections.abc import Callable

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from rbt_ros.errors import RbtError, ScenarioError
from rbt_ros.model.hinge_commands import HingeSetting, HingeSettings, Law, settable
from rbt_ros.model.hinge_targets import Targets
from rbt_ros.model.robot import Robot
from rbt_ros.ros.convert_hinges import hinge_settings


class HingeParameters:
    """What parameters say of the hinges. Set mode and gains in one atomic call: each call must make sense by itself."""

    def __init__(self, node: Node, robot: Robot, post: Callable[[HingeSettings], None]):
        """node: has them declared; post: hands over what changes."""
        self._node, self._robot, self._post = node, robot, post
        self._targets = Targets(robot)  # of which only the laws are used: those of the parameters
        self._adopting = False
        declared = [f"hinges.{joint}.{key}" for joint in settable(robot) for key in HingeSetting._fields[1:]]
        given = {name: node.get_parameter(name).value for name in declared if node.has_parameter(name)}
        self.start = hinge_settings({name: x for name, x in given.items() if x not in (0.0, "effort")}, robot)
        try:
            self._targets.laws = self._targets.checked(self.start)
        except RbtError as err:
            raise ScenarioError(f"parameter {err}") from err
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._act)

    def adopt(self, laws: dict[str, Law]) -> None:
        """Show the modes and gains that a checkpoint brought."""
        values = {f"hinges.{joint}.{key}": x for joint, law in laws.items() for key, x in law._asdict().items()}
        self._adopting = True
        try:
            known = [Parameter(name, value=x) for name, x in values.items() if self._node.has_parameter(name)]
            self._node.set_parameters_atomically(known)
        finally:
            self._adopting = False

    def _judge(self, changes: list[Parameter]) -> SetParametersResult:
        try:
            self._targets.checked(self._settings(changes))
        except RbtError as err:
            return SetParametersResult(successful=False, reason=str(err))
        return SetParametersResult(successful=True)

    def _act(self, changes: list[Parameter]) -> None:
        settings = self._settings(changes)
        if settings.settings:
            self._targets.laws = self._targets.checked(settings)
            if not self._adopting:
                self._post(settings)

    def _settings(self, changes: list[Parameter]) -> HingeSettings:
        return hinge_settings({change.name: change.value for change in changes}, self._robot)
