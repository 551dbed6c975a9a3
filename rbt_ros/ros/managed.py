"""A node with the states of ROS 2's managed nodes: unconfigured, inactive, active. A subclass says what they are.

Whatever a callback raises, the node goes on (`guard.py`); and it goes on with all services while one of them waits for
a disk or a compiler (`errands.aside`).
"""

import gc
import itertools
from collections.abc import Callable
from typing import Any, NamedTuple

from rcl_interfaces.msg import Parameter as ParameterMessage
from rcl_interfaces.srv import SetParameters, SetParametersAtomically
from rclpy._rclpy_pybind11 import RCLError
from rclpy.callback_groups import ReentrantCallbackGroup
from rclpy.lifecycle import LifecycleNode, LifecycleState, TransitionCallbackReturn
from rclpy.service import Service
from rclpy.task import Future

from rbt_ros.errors import RbtError
from rbt_ros.ros.errands import Turns
from rbt_ros.ros.guard import Faults, guarded, refusal
from rbt_ros.ros.hearing import answer_when_heard

DONE, FAILED = TransitionCallbackReturn.SUCCESS, TransitionCallbackReturn.FAILURE
TYPES = range(10)  # of parameters: rcl_interfaces/msg/ParameterType


class ManagedNode(LifecycleNode):
    """`configure`, `activate`, `deactivate` and `discard` are made by a subclass."""

    def __init__(self, name: str):
        self.faults = Faults(lambda text: self._warn(text))  # first: rclpy makes services at once
        self._together, self._turns = ReentrantCallbackGroup(), Turns()
        self._made = False
        super().__init__(name)
        self._made = True
        self.quitting = False  # asked to end
        self._raises = False  # whether who configures is told by an exception
        self.refused: Exception = RuntimeError("the state machine refused")  # why the configuration failed
        self._before = inventory(self)  # what there was before it was configured
        change = self._service_change_state
        change.callback = self._possible(change.callback)
        for service in self.services:  # rclpy makes some otherwise than by `create_service`
            service.callback_group = self._together
            self._answer_always(service)

    def configure(self) -> None:
        """Make everything; RbtError where that cannot be."""

    def activate(self) -> None:
        """Go on."""

    def deactivate(self) -> None:
        """Stand still."""

    def discard(self) -> None:
        """End all threads and processes of what `configure` has made, or has begun to make."""

    def preparation(self, changes: list[ParameterMessage]) -> Future | None:
        """What must be awaited before these parameters can be set without waiting for a compiler."""
        return None

    # services

    def create_service(self, srv_type: Any, srv_name: str, callback: Callable, **options: Any) -> Service:
        """One that always answers; it may await (`async def`), and others are served meanwhile."""
        if srv_type in (SetParameters, SetParametersAtomically):
            callback = self._prepared(callback, each=srv_type is SetParameters)
        options.setdefault("callback_group", self._together)
        service = super().create_service(srv_type, srv_name, callback, **options)
        if self._made:
            self._answer_always(service)
        return service

    def _answer_always(self, service: Service) -> None:
        """Whatever is raised, and once the client hears."""
        service.callback = guarded(service.callback, service.srv_name, self.faults)
        answer_when_heard(self, service)

    def _prepared(self, set_them: Callable[[Any, Any], Any], each: bool) -> Callable[[Any, Any], Any]:
        """The service that sets parameters, in the order of requests. each: one by one, whatever becomes of others."""

        async def answer(request: Any, response: Any) -> Any:
            if wrong := [text for message in request.parameters if (text := obstacle(message))]:
                return refusal(wrong[0], request, response)
            if (ready := self.preparation(request.parameters)) is not None:
                await ready
            return set_them(request, response)

        safe = guarded(answer, "set_parameters", self.faults)

        async def one_by_one(request: Any, response: Any) -> Any:
            for message in request.parameters:
                single = await safe(SetParameters.Request(parameters=[message]), SetParameters.Response())
                response.results += single.results
            return response

        async def in_turn(request: Any, response: Any) -> Any:
            answering = one_by_one if each else safe
            return await self._turns.one_by_one(lambda: answering(request, response))

        return in_turn

    def _possible(self, change: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
        """The service that changes the state, without rclpy's exception where a transition does not exist."""

        def possible(request: Any, response: Any) -> Any:
            try:
                return change(request, response)
            except RCLError as err:
                asked = request.transition
                self._warn(f"transition {asked.id} '{asked.label}' is not possible now: {err}")
                response.success = False
                return response

        return possible

    # transitions

    def begin(self) -> None:
        """Configure now, without being asked; RbtError where that cannot be."""
        self._raises = True
        try:
            if self.trigger_configure() != DONE:
                raise self.refused
        finally:
            self._raises = False

    def on_configure(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        self._before = inventory(self)
        try:
            self.configure()
        except Exception as err:  # the state machine would swallow it
            self.refused = err
            self._undo()
            if self._raises:
                return FAILED
            if isinstance(err, RbtError):
                self._warn(f"not configured: {err}")
            else:
                self.faults.note("configure", err)
            return FAILED
        gc.collect()
        gc.freeze()  # what lives from here on is small: collections stay short
        return DONE

    def on_activate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        return self._changed("activate", self.activate)

    def on_deactivate(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        return self._changed("deactivate", self.deactivate)

    def on_cleanup(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        return self._changed("cleanup", self._undo)

    def on_shutdown(self, state: LifecycleState) -> TransitionCallbackReturn:
        """Called by the state machine."""
        self.quitting = True
        return DONE

    def destroy_node(self) -> None:
        """rclpy leaves the state machine, which holds the node below."""
        super().destroy_node()
        self._state_machine.destroy_when_not_in_use()

    def _changed(self, what: str, change: Callable[[], None]) -> TransitionCallbackReturn:
        """FAILED leaves the state as it was."""
        try:
            change()
        except RbtError as err:
            self._warn(f"{what}: {err}")
            return FAILED
        except Exception as err:
            self.faults.note(what, err)
            return FAILED
        return DONE

    def _undo(self) -> None:
        """Be as before `configure`. The node and its own services stay: what is asked meanwhile is not lost."""
        try:
            self.discard()
        finally:
            restore(self, self._before)
            gc.unfreeze()
            gc.collect()  # until then others see what is gone

    def _warn(self, text: str) -> None:
        self.get_logger().warning(text)


class Inventory(NamedTuple):
    """What a node has made."""

    entities: frozenset[int]  # by identity
    attributes: frozenset[str]
    descriptors: dict[str, Any]  # of its parameters
    callbacks: tuple[list, list, list]  # of parameters


def inventory(node: LifecycleNode) -> Inventory:
    """What is there now."""
    entities = frozenset(id(entity) for entity, _ in _entities(node))
    callbacks = tuple(list(each) for each in _parameter_callbacks(node))
    return Inventory(entities, frozenset(vars(node)), dict(node._descriptors), callbacks)  # type: ignore[arg-type]


def restore(node: LifecycleNode, before: Inventory) -> None:
    """Destroy what was made since then. Parameters that were there keep their values."""
    for entity, destroy in list(_entities(node)):
        if id(entity) not in before.entities:
            destroy(entity)
    for known, those in zip(_parameter_callbacks(node), before.callbacks, strict=True):
        known[:] = those
    for name in [name for name in node._parameters if name not in before.descriptors]:
        del node._parameters[name]  # rclpy undeclares none that is read-only
    node._descriptors.clear()
    node._descriptors.update(before.descriptors)
    for name in [name for name in vars(node) if name not in before.attributes]:
        delattr(node, name)


def _entities(node: LifecycleNode) -> itertools.chain:
    """Each with what destroys it; what belongs to a publisher or a subscription goes with it."""
    kinds = (
        (node.publishers, node.destroy_publisher),
        (node.subscriptions, node.destroy_subscription),
        (node.clients, node.destroy_client),
        (node.services, node.destroy_service),
        (node.timers, node.destroy_timer),
        (node.guards, node.destroy_guard_condition),
    )
    return itertools.chain.from_iterable(((entity, destroy) for entity in found) for found, destroy in kinds)


def _parameter_callbacks(node: LifecycleNode) -> tuple[list, list, list]:
    return (
        node._pre_set_parameters_callbacks,
        node._on_set_parameters_callbacks,
        node._post_set_parameters_callbacks,
    )


def obstacle(message: ParameterMessage) -> str:
    """Why no parameter can be made of it, where that is so."""
    kind = message.value.type
    if kind in TYPES:
        return ""
    return f"parameter {message.name}: type {kind} is none of ROS's; use 1 bool, 2 integer, 3 double, 4 string, 5 to 9."
