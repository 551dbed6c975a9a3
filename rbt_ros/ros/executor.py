"""An executor that waits once per wake-up, and takes a message of each topic that has one.

rclpy's own makes a wait set of all entities for each message, and another one because handling the first has triggered
its guard: with the 60 entities of a node 0.4 ms of Python, for which the stepping thread waits. Half of them are events
of publishers and subscriptions (somebody asks for a quality of service that is not offered), which can wait. What is
used here beyond the documented interface is what `rclpy.wait_for_message` uses.
"""

import contextlib
import time
from collections.abc import Callable
from typing import Any

from rclpy.event_handler import EventHandler
from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor, TimeoutException
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.subscription import Subscription
from rclpy.waitable import NumberOfEntities

LOOK_S = 0.01  # how often to look at tasks that wait for something
EVENTS_S = 0.1  # how often to look at events while messages come faster
OTHERS = ("guard_condition", "timer", "client", "service")


class NodeExecutor(SingleThreadedExecutor):
    """For one node whose subscriptions call plain functions of a message; all else is left to rclpy when it is ready.

    Entities are made and destroyed in the thread that spins.
    """

    def __init__(self, node: Node, on_fault: Callable[[str, Exception], Any] | None = None):
        """on_fault: told what a callback has raised, and of what; None: it is raised here."""
        super().__init__(context=node.context)
        self.add_node(node)
        self._node, self._on_fault = node, on_fault
        self._wait_sets: dict[tuple[int, ...], Any] = {}  # by how many of each kind
        self._events_due = 0.0  # [s of steady time]
        self._unfinished = False  # whether a task waits for something, or for its turn

    @property
    def waits(self) -> bool:
        """Whether something has begun and not ended, such as an answer that nobody hears yet."""
        return self._unfinished

    def spin_once(self, timeout_sec: float | None = None) -> None:
        """Wait for something to do, at most so long [s], and do it."""
        subscriptions, waitables = list(self._node.subscriptions), list(self._node.waitables)
        limits = [timeout_sec, LOOK_S if self._unfinished else None]
        if (now := time.monotonic()) < self._events_due:
            waitables = [waitable for waitable in waitables if not isinstance(waitable, EventHandler)]
            limits.append(self._events_due - now)
        else:
            self._events_due = now + EVENTS_S
        if self.context.ok():
            self._fill(subscriptions, waitables)
            self._wait_set.wait(min((round(s * 1e9) for s in limits if s is not None), default=-1))
        if not self.context.ok():
            raise ExternalShutdownException()
        ready = self._wait_set.get_ready_entities("subscription")
        for subscription in subscriptions:
            if subscription.handle.pointer in ready:
                self._take(subscription)
        others = any(map(self._wait_set.get_ready_entities, OTHERS))
        if self._unfinished or others or any(w.is_ready(self._wait_set) for w in waitables):
            self._note_guards()
            self._do_the_rest()

    def _do_the_rest(self) -> None:
        """As rclpy's executor does, until nothing gets done: what is done may have made new tasks.

        Messages do not count: where they never end, they are taken between these turns, and who spins is not kept.
        """
        while self._one_round():
            pass

    def _one_round(self) -> bool:
        """Go on with each task, do what is ready; whether any of it but messages came to its end.

        What did not is looked at again, and so are tasks that another thread makes meanwhile: the wait in here may have
        taken the guard that tells of them.
        """
        ended = False
        with contextlib.suppress(TimeoutException):
            while True:
                entity: Any
                handler, entity, _ = self.wait_for_ready_callbacks(0.0)
                handler()
                if handler.done():
                    if (err := handler.exception()) is not None:
                        self._tell(entity, err)
                    ended = ended or not isinstance(entity, Subscription)
        with self._tasks_lock:
            self._unfinished = any(not (task.done() or task.cancelled()) for task, _, _ in self._tasks)
        return ended

    def _note_guards(self) -> None:
        """Waiting resets them: this is how rclpy remembers which were triggered."""
        triggered = self._wait_set.get_ready_entities("guard_condition")
        for guard in self._node.guards:
            guard._executor_triggered |= guard.handle.pointer in triggered

    def _fill(self, subscriptions: list[Subscription], waitables: list) -> None:
        """Put all that can wake us into the wait set; waiting empties it."""
        node, guards = self._node, [self._guard, self._sigint_gc, *self._node.guards]
        timers, clients, services = list(node.timers), list(node.clients), list(node.services)
        sizes = tuple(len(entities) for entities in (subscriptions, guards, timers, clients, services, waitables))
        if sizes not in self._wait_sets:
            self._wait_sets = dict(list(self._wait_sets.items())[-1:])  # with events and without
            known = NumberOfEntities(*sizes[:5])
            for waitable in waitables:
                known += waitable.get_num_entities()
            self._wait_sets[sizes] = rclpy_implementation.WaitSet(
                known.num_subscriptions,
                known.num_guard_conditions,
                known.num_timers,
                known.num_clients,
                known.num_services,
                known.num_events,
                self.context.handle,
            )
        self._wait_set = wait_set = self._wait_sets[sizes]
        wait_set.clear_entities()
        for add, entities in (
            (wait_set.add_subscription, subscriptions),
            (wait_set.add_guard_condition, guards),
            (wait_set.add_timer, timers),
            (wait_set.add_client, clients),
            (wait_set.add_service, services),
        ):
            for entity in entities:
                add(entity.handle)
        for waitable in waitables:
            waitable.add_to_wait_set(wait_set)

    def _take(self, subscription: Subscription) -> None:
        """Hand the oldest message over; there is none where another reader was faster."""
        try:
            taken = subscription.handle.take_message(subscription.msg_type, subscription.raw)
            if taken is not None:
                subscription.callback(taken[0])
        except Exception as err:
            self._tell(subscription, err)

    def _tell(self, entity: Any, err: BaseException) -> None:
        """What a callback has raised ends the node only where nobody is told of it, or where that is its sense."""
        if self._on_fault is None or not isinstance(err, Exception):
            raise err
        kind = "a task" if entity is None else type(entity).__name__
        self._on_fault(getattr(entity, "topic_name", kind), err)
