"""Parameters step, integrator and stabilise: tried on a twin of the simulation, then set and logged before one step."""

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from rbt_ros.command_log import set_engine
from rbt_ros.errors import RbtError
from rbt_ros.model.hinge_commands import HingeSettings
from rbt_ros.model.scenario import Scenario
from rbt_ros.ros.loop import Loop
from rbt_ros.sim import Simulation

ENGINE = ("step", "integrator", "stabilise")


def engine_values(sim: Simulation) -> dict[str, Any]:
    """What these parameters are now."""
    return dict(zip(ENGINE, (sim.h_ns * 1e-9, sim.integrator, sim.stabilise.method), strict=True))


def begin(sim: Simulation, value: Callable[[str], Any]) -> None:
    """Before the first step: what parameters say otherwise than the scenario; ScenarioError where that cannot be."""
    set_engine(sim, {name: value(name) for name, now in engine_values(sim).items() if value(name) != now})


class EngineParameters:
    """Who sets one is told at once why it cannot be."""

    def __init__(
        self,
        node: Node,
        scenario: Scenario,
        loop: Loop,
        note: Callable[[dict[str, Any]], None],
        report: Callable[[str], None],
    ):
        """node: has them declared; note: puts values into the log; called, as report, in the stepping thread."""
        self._node, self._scenario, self._loop, self._note, self._report = node, scenario, loop, note, report
        self._adopting = False
        node.add_on_set_parameters_callback(self._judge)
        node.add_post_set_parameters_callback(self._act)

    def rehearse(self, settings: HingeSettings) -> None:
        """Lock and prescribe in a twin: what fails, or compiles, does so here, not in the stepping thread."""
        twin = self.twin()
        twin.command(settings)
        twin.warm_up()

    def prepare(self, changes: list[Parameter]) -> None:
        """In a thread of its own, before they are set: compile for them. If they cannot be, setting them tells why."""
        if given := self._given(changes):
            with contextlib.suppress(RbtError):
                self._rehearse(given)

    def adopt(self, sim: Simulation) -> None:
        """Show what a checkpoint brought."""
        self._adopting = True
        try:
            self._node.set_parameters_atomically([Parameter(name, value=x) for name, x in engine_values(sim).items()])
        finally:
            self._adopting = False

    def _judge(self, changes: list[Parameter]) -> SetParametersResult:
        try:
            self._try(self._given(changes))
        except RbtError as err:
            return SetParametersResult(successful=False, reason=str(err))
        return SetParametersResult(successful=True)

    def _try(self, given: dict[str, Any]) -> None:
        if not given or self._adopting:
            return
        if "step" in given:
            self._loop.refuse_another_step()
        with self._loop.taking_no_messages():
            self._rehearse(given)

    def _rehearse(self, given: dict[str, Any]) -> None:
        twin = self.twin()
        set_engine(twin, given)
        twin.warm_up()

    def _act(self, changes: list[Parameter]) -> None:
        given = self._given(changes)
        if given and not self._adopting:
            self._loop.ask(functools.partial(self._set, given))

    def _set(self, given: dict[str, Any], sim: Simulation) -> None:
        """In the stepping thread: all of it, in the order of `set_engine`, and logged at the same tick; or nothing."""
        before = sim.memory()
        try:
            set_engine(sim, {name: x for name, x in given.items() if name != "step"})
            if "step" in given:
                self._loop.set_step(given["step"])  # raises before it changes anything
        except RbtError as err:  # it has changed since it was tried
            sim.recall(before)
            self._report(f"{', '.join(given)}: {err}")
            return
        self._note(given)

    def _given(self, changes: list[Parameter]) -> dict[str, Any]:
        values = {change.name: change.value for change in changes}
        return {name: values[name] for name in ENGINE if name in values}

    def twin(self) -> Simulation:
        """Another simulation in the state of now; made in any thread."""
        loop = self._loop
        memory = loop.call(lambda sim: sim.memory()) if loop.alive else loop.sim.memory()
        twin = Simulation.of(self._scenario)
        twin.recall(memory)
        return twin
