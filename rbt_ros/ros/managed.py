"""A node with the states of ROS 2's managed nodes: unconfigured, inactive, active. A subclass says what they are."""

from collections.abc import Callable
from typing import Any

from rclpy._rclpy_pybind11 import RCLError
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn

from rbt_ros.errors import RbtError

DONE, FAILED = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE


class ManagedNode(LifecycleNode):
    """`configure`, `activate` and `deactivate` are made by a subclass.

    A clean-up, and a configuration that fails, are not undone piece by piece: `renewed` tells who spins the node to
    destroy it and to make another one, which waits unconfigured.
    """

    def __init__(self, name: str):
        super().__init__(name)
        self.quitting = False  # asked to end
        self._raises = False  # whether who configures is told by an exception
        self.renewed = False
        self.defect: Exception | None = None  # what ended it
        self.refused: Exception = RuntimeError("the state machine refused")  # why the configuration failed
        service = self._service_change_state
        service.callback = _guarded(service.callback, self._warn)

    def configure(self) -> None:
        """Make everything; RbtError where that cannot be."""

    def activate(self) -> None:
        """Go on."""

    def deactivate(self) -> None:
        """Stand still."""

    def begin(self) -> None:
        """Configure now, without being asked; RbtError where that cannot be."""
        self._raises = True
        if self.trigger_configure() != DONE:
            raise self.refused
        self._raises = False

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        try:
            self.configure()
        except RbtError as err:
            self.refused, self.renewed = err, True
            if not self._raises:
                self._warn(f"not configured: {err}")
            return FAILED
        except Exception as err:  # a defect; the state machine would swallow it
            self.refused = self.defect = err
            self.quitting = True
            raise
        return DONE

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        self.activate()
        return DONE

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        self.deactivate()
        return DONE

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        self.renewed = True
        return DONE

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        self.quitting = True
        return DONE

    def destroy_node(self) -> None:
        """rclpy leaves the state machine, which holds the node below."""
        super().destroy_node()
        self._state_machine.destroy_when_not_in_use()

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text)


def _guarded(change: Callable[[Any, Any], Any], warn: Callable[[str], None]) -> Callable[[Any, Any], Any]:
    """The service that changes the state, without rclpy's exception where a transition does not exist."""

    def guarded(request: Any, response: Any) -> Any:
        try:
            return change(request, response)
        except RCLError as err:
            warn(f"transition {request.transition.id} '{request.transition.label}' is not possible now: {err}")
            response.success = False
            return response

    return guarded
