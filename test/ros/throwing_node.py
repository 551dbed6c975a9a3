"""A node with one service more: after ~/throw, the handler called next raises a new kind of error, some calls below.

Usage: throwing_node.py SEED [arguments of ROS]
"""

import inspect
import random
import sys
import threading

from std_srvs.srv import Trigger

from rbt_ros.model.scenario import read_scenario
from rbt_ros.ros import spinning
from rbt_ros.ros.managed import ManagedNode
from rbt_ros.ros.node import SimulatorNode
from rbt_ros.ros.simulation_interfaces import SimulationInterfaces

DEEPEST = 60  # calls of Python functions


class Turns:
    """Awaits something, with `begin` and `end` around each of its turns, and not around those of others."""

    def __init__(self, awaited, begin, end):
        self._awaited, self._begin, self._end = awaited, begin, end

    def __await__(self):
        while True:
            self._begin()
            try:
                waits = next(self._awaited)
            except StopIteration as stop:
                self._end()
                return stop.value
            finally:
                sys.settrace(None)
            yield waits


class Thrower:
    """Raises amid the call of a handler: at the entry of the function that is called as so-many-th, or at the end."""

    def __init__(self, seed: str):
        self._random, self._left, self._count = random.Random(seed), 0, 0

    def arm(self, request, response):
        self._left, self._count = self._random.randint(1, DEEPEST), self._count + 1
        response.success, response.message = True, f"Unheard{self._count}"
        return response

    def _raise(self):
        self._left = 0
        raise type(f"Unheard{self._count}", (Exception,), {})("nobody has foreseen this")

    def _look(self, frame, event, arg):
        file = frame.f_code.co_filename
        if self._left and "/rbt_ros/" in file and not file.endswith("/errands.py"):  # what starts threads is no handler
            self._left -= 1
            if not self._left:
                self._raise()

    def throwing(self, handler):
        """The handler that does so where it is armed."""

        def begin():
            sys.settrace(self._look)
            threading.settrace(self._look)  # also what it leaves to another thread

        def end():
            sys.settrace(None)
            threading.settrace(None)
            if self._left:
                self._raise()

        def now(*arguments):
            if not self._left:
                return handler(*arguments)
            begin()
            try:
                return handler(*arguments)
            finally:
                end()

        async def later(*arguments):
            if not self._left:
                return await handler(*arguments)
            return await Turns(handler(*arguments).__await__(), begin, end)

        return later if inspect.iscoroutinefunction(handler) else now


def main() -> int:
    thrower = Thrower(sys.argv[1])
    create_service, create_subscription = ManagedNode.create_service, ManagedNode.create_subscription

    def throwing_service(self, kind, name, callback, **options):
        return create_service(self, kind, name, thrower.throwing(callback), **options)

    def throwing_subscription(self, kind, topic, callback, *arguments, **options):
        return create_subscription(self, kind, topic, thrower.throwing(callback), *arguments, **options)

    class Node(SimulatorNode):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            create_service(self, Trigger, "~/throw", thrower.arm)

    spinning.SimulatorNode = Node
    ManagedNode.create_service, ManagedNode.create_subscription = throwing_service, throwing_subscription
    for kind, names in {
        SimulatorNode: ("activate", "deactivate"),
        SimulationInterfaces: ("_step", "_simulate_steps", "_cancel_steps"),
    }.items():
        for name in names:
            setattr(kind, name, thrower.throwing(getattr(kind, name)))
    return spinning.spin(read_scenario("wheel"), ["rbt", *sys.argv[2:]])


if __name__ == "__main__":
    sys.exit(main())
