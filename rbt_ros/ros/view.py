"""The browser view of a node: an output of the loop, and a thread that does what viewers set.

Viewers act by the same ways as topics, services and parameters do: what they set is checked, latched and logged alike.
"""

import os
import select
import threading
from collections.abc import Callable
from typing import Any

from rclpy.node import Node
from rclpy.parameter import Parameter

from rbt_ros.command_messages import parameter_values
from rbt_ros.core.vec import add, cross
from rbt_ros.errors import MessageError
from rbt_ros.model.hinge_commands import HingeSettings
from rbt_ros.model.inputs import Command, Wrench, WrenchCommand
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import Scenario
from rbt_ros.results import Sample
from rbt_ros.ros.errands import LOOK_S, Errands
from rbt_ros.ros.loop import Loop
from rbt_ros.ros.outputs import SECOND_NS, Output
from rbt_ros.ros.parameters import RATES
from rbt_ros.sim import Simulation
from rbt_ros.stream.controls import Controls, Push
from rbt_ros.stream.layout import Layout
from rbt_ros.stream.memory import Stream
from rbt_ros.stream.process import PORT, Server, open_browser
from rbt_ros.stream.scene import described

RATE_HZ = 60.0
NO_SOURCE = ""  # a hand at a slider is not a controller that the watchdog looks after


class View:
    """Made before the loop, which needs its output; `open` gives it the loop."""

    rates = RATES

    def __init__(
        self,
        node: Node,
        sim: Simulation,
        scenario: Scenario,
        prepare: Callable[[list[Parameter]], None],
        on_defect: Callable[[str, Exception], str],
    ):
        """prepare: called in the thread of the view, before parameters are set; it may wait for a compiler.

        on_defect: told of an error that nobody foresaw, gives words for it. SetupError: there is no room for the view.
        """
        self._node, self._errands, self._prepare, self._on_defect = node, Errands(node), prepare, on_defect
        self.stream = Stream(
            Layout(sim.robot), described(sim.robot, scenario.name, scenario.gravity, scenario.folder or ".")
        )
        self.output = Output(round(SECOND_NS / RATE_HZ), self._show, in_step=False)
        self._server: Server | None = None
        self._pushed: WrenchCommand | None = None
        self._again_ns = 0  # scenario time at which the push is posted again
        self._told: tuple = ()  # what viewers know of what is set
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._listen, name="view", daemon=True)

    def open(self, loop: Loop) -> str:
        """Serve it; the address."""
        self._loop = loop
        self._controls = Controls(self)
        self._tell()
        self._server = Server(self.stream.folder, PORT)
        self._thread.start()
        open_browser(self._server.entry)
        return self._server.address

    def take_no_more(self) -> None:
        """Before the loop ends."""
        self._ending.set()
        if self._thread.ident is not None:
            self._thread.join()

    def close(self) -> None:
        """End the server, remove what is shared."""
        if self._server is not None:
            self._server.close()
        self.stream.close()

    # what controls ask for, in the thread of the view

    @property
    def sim(self) -> Simulation:
        """What runs; here it is looked at only."""
        return self._loop.sim

    @property
    def paused(self) -> bool:
        """Whether it stands still."""
        return self._loop.paused

    @property
    def rate(self) -> float:
        """Simulated seconds per second."""
        return self._loop.factor

    def set_paused(self, paused: bool) -> None:
        """As ~/pause and ~/resume do."""
        self._ask(lambda sim: self._loop.set_paused(paused))

    def step(self, ticks: int) -> None:
        """As ~/step does."""
        self._ask(lambda sim: self._loop.add_steps(ticks))

    def reset(self) -> None:
        """As ~/reset does; a push ends."""

        def reset(sim: Simulation) -> None:
            self._pushed = None
            sim.reset()
            self._loop.restarted()

        self._ask(reset)

    def set_rate(self, rate: float) -> None:
        """By its parameter, as all of these."""
        self._set(realtime_factor=rate)

    def set_stabilise(self, how: str) -> None:
        """Keep L and E by that method."""
        self._set(stabilise=how)

    def set_integrator(self, name: str) -> None:
        """Integrate by that one."""
        self._set(integrator=name)

    def set_step(self, step: float) -> None:
        """Take steps of that length [s]."""
        self._set(step=step)

    def settle(self, settings: HingeSettings) -> None:
        """Modes and gains of joints."""
        self._set(**parameter_values(settings))

    def command(self, command: Command) -> None:
        """Post it: it is logged under the tick from which it acts, or refused as any other."""
        self._ask(lambda sim: self._take(command))

    def push(self, push: Push) -> None:
        """As on topic wrench/<body>, again and again while it lasts."""
        wrench = wrench_of(push, self._node.get_parameter("wrench_at").value, self.sim.robot)
        command = WrenchCommand(wrench, round(self._node.get_parameter("wrench_hold").value * 1e9))

        def act(sim: Simulation) -> None:
            self._take(command)
            self._pushed = command if any(wrench.force) or any(wrench.moment) else None
            self._again_ns = sim.t_ns + command.hold_ns // 2

        self._ask(act)

    def _ask(self, request: Callable[[Simulation], Any]) -> Any:
        """What the stepping thread returns or raises."""
        if not self._loop.alive:
            raise MessageError("the node does not step yet, or any more.")
        return self._loop.call(request)

    def _set(self, **values: Any) -> None:
        """All of these parameters or none; what they have posted is taken when this returns."""
        self._ask(lambda sim: self._loop.forget_own_refusal())
        changes = [Parameter(name, value=value) for name, value in values.items()]
        self._prepare(changes)
        set_them = self._node.set_parameters_atomically
        result = self._errands.call(lambda: set_them(changes), self._ending.is_set)
        if not result.successful:
            raise MessageError(result.reason)
        self._ask(lambda sim: self._loop.take_own())

    # in the stepping thread

    def _take(self, command: Command) -> None:
        self._loop.forget_own_refusal()
        self._loop.post(command, 0, NO_SOURCE)
        self._loop.take_own()

    def _show(self, sample: Sample, stamp_ns: int) -> None:
        self.stream.publish(sample)
        if self._pushed is not None and sample.t_ns >= self._again_ns:
            self._loop.post(self._pushed, 0, NO_SOURCE)
            self._again_ns = sample.t_ns + self._pushed.hold_ns // 2

    # the thread of the view

    def _listen(self) -> None:
        pipe = os.open(self.stream.folder / "commands", os.O_RDONLY | os.O_NONBLOCK)
        try:
            while not self._ending.is_set():
                if select.select([pipe], [], [], LOOK_S)[0]:
                    self._obey()
                elif self._loop.paused and self._loop.alive:  # single steps fall between the ticks of the output
                    self._show_now()
                if self._now() != self._told:  # a parameter or a service has set something
                    self._tell()
        finally:
            os.close(pipe)

    def _obey(self) -> None:
        """Do what viewers have sent, one after the other."""
        for command in self.stream.commands():
            try:
                self._controls.do(command)
            except Exception as err:
                self._controls.refuse(str(command.get("key")), self._on_defect("the view", err))
            self._tell()
        self._show_now()

    def _show_now(self) -> None:
        self._loop.ask(lambda sim: self.stream.publish(sim.sample()))

    def _now(self) -> tuple:
        """What may be set from elsewhere."""
        sim, loop = self.sim, self._loop
        return loop.paused, loop.factor, sim.h_ns, sim.integrator, sim.stabilise, sim.hinge_laws

    def _tell(self) -> None:
        self._told = self._now()
        self.stream.set_settings(self._controls.settings())


def wrench_of(push: Push, at: str, robot: Robot) -> Wrench:
    """The push as a wrench at origin or com of its body; MessageError where it is none with one set of axes."""
    com = robot.bodies[robot.body_index(push.body)].com
    arm = add(push.arm, com) if at == "origin" else push.arm  # from where the force of the wrench acts
    if push.frame == "world" and any(arm) and any(push.force):
        here = "acts at the body's origin, as parameter wrench_at says" if at == "origin" else "has no arm"
        raise MessageError(
            f"a force in axes of the world {here}: on topics a wrench has one set of axes. Use axes of the body"
            + (", or set wrench_at to com." if at == "origin" else ".")
        )
    return Wrench(push.body, push.force, add(push.moment, cross(arm, push.force)), push.frame, at)
