"""A simulation that runs at a pace, shows itself to viewers and takes what they set: `rbt view SCENARIO`."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rbt_ros.errors import SolveError
from rbt_ros.interruptible import interruptible
from rbt_ros.model.hinge_commands import HingeSettings
from rbt_ros.model.inputs import Command
from rbt_ros.model.scenario import Scenario
from rbt_ros.sim import Simulation
from rbt_ros.stream.controls import Controls, Push
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.memory import Stream
from rbt_ros.stream.scene import described
from rbt_ros.web.friction import dampers
from rbt_ros.web.laboratory import Laboratory
from rbt_ros.web.log import Log

PERIOD_NS = 16_666_667  # of control and of updates
LONGEST_NS = 50_000_000  # of computing without looking at commands; what is due then is given up


class Live:
    """Paces a simulation: commands, steps, an update, once per period. It computes nothing."""

    rates = (1e-3, 1e3)

    def __init__(self, scenario: Scenario, rate: float = 1.0, paused: bool = False, bag: Path | None = None):
        """bag: a folder that is not there yet, for all that acts."""
        self.scenario = scenario
        self.sim = Simulation.of(scenario)
        interruptible(self.sim.warm_up)
        self.log = None if bag is None else Log(bag)
        if self.log:
            self.log.begin(self.sim)
        self.paused, self.rate = paused, rate
        self.stream = Stream(Layout(self.sim.robot), self._scene())
        self.laboratory = Laboratory(self) if Laboratory.suits(scenario.robot) else None
        self.controls = Controls(self, self.laboratory.controls() if self.laboratory else dampers(self))
        self._owed = 0.0  # [ns] of simulated time that is due
        self.stream.publish(self.sim.sample())
        self._tell()

    # what controls ask for

    def set_paused(self, paused: bool) -> None:
        """Stand still, or go on."""
        self.paused, self._owed = paused, 0.0

    def set_rate(self, rate: float) -> None:
        """Simulated seconds per second."""
        self.rate, self._owed = rate, 0.0

    def set_stabilise(self, how: str) -> None:
        """Keep L and E by that method."""
        self.sim.set_stabilise(how)

    def set_integrator(self, name: str) -> None:
        """Integrate by that one."""
        self.sim.set_integrator(name)

    def set_step(self, step: float) -> None:
        """Take steps of that length [s]."""
        self.sim.set_step(step)

    def settle(self, settings: HingeSettings) -> None:
        """Modes and gains of joints."""
        self.sim.command(settings)

    def step(self, ticks: int) -> None:
        """Take steps while it is paused."""
        self.sim.advance(ticks)

    def reset(self) -> None:
        """Back to the start; edits of the body take effect."""
        self._owed = 0.0
        if self.laboratory and self.laboratory.edited:
            self.laboratory.restart()
        else:
            self.sim.reset()
            self.controls.again()

    def command(self, command: Command) -> None:
        """Let it act from the next step on."""
        self.sim.command(command)

    def push(self, push: Push) -> None:
        """Let it act until the next one."""
        self.sim.command(push.command(self.sim.robot))

    def replace(self, sim: Simulation) -> None:
        """Go on with another simulation of as many bodies."""
        self.sim = sim
        if self.log:
            self.log.begin(sim)
        self.controls.again()
        self.stream.set_scene(self._scene())

    # running

    def turn(self, elapsed_ns: float) -> None:
        """One period: take commands, compute what is due after `elapsed_ns` of wall time, show it."""
        for command in self.stream.commands():
            self.controls.do(command)
            self._tell()
        if not self.paused:
            self._owed += elapsed_ns * self.rate
            self._advance()
        self.stream.publish(self.sim.sample())

    def run(self, stopped: Callable[[], bool], duration: float | None = None) -> None:
        """Until `stopped` or `duration` [s] of wall time."""
        last = due = time.monotonic_ns()
        end = None if duration is None else last + round(duration * 1e9)
        while not stopped():
            now = time.monotonic_ns()
            if end is not None and now >= end:
                return
            self.turn(now - last)
            last = now
            due = max(due + PERIOD_NS, time.monotonic_ns())
            time.sleep(max(0, due - time.monotonic_ns()) * 1e-9)

    def close(self) -> None:
        """Remove what is shared, end the bag."""
        self.stream.close()
        if self.log:
            self.log.close()

    def _advance(self) -> None:
        """Whole steps of what is owed, in pieces, so that a long one does not keep viewers waiting."""
        started = time.monotonic_ns()
        while (ticks := int(self._owed // self.sim.h_ns)) > 0:
            piece = min(ticks, 1000)
            try:
                self.sim.advance(piece)
            except SolveError as err:
                self.paused, self._owed = True, 0.0
                self.controls.refuse("pause", str(err))
                self._tell()
                return
            self._owed -= piece * self.sim.h_ns
            if time.monotonic_ns() - started > LONGEST_NS:
                self._owed = 0.0

    def _tell(self) -> None:
        self.stream.set_settings(self.controls.settings())

    def _scene(self) -> dict[str, Any]:
        return described(self.sim.robot, self.scenario.name, self.scenario.gravity, self.scenario.folder or ".")
