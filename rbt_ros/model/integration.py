"""How steps are taken: by which integrator, to which tolerance, keeping what."""

from collections.abc import Callable
from functools import partial
from typing import Any

from rbt_ros.core import integrate, torque_free
from rbt_ros.core.adaptive import Controlled
from rbt_ros.core.constrained import Constrained
from rbt_ros.core.constrained_control import ControlledConstrained
from rbt_ros.core.integrate import LIE_EULER, Method
from rbt_ros.core.kept import Kept
from rbt_ros.core.stabilise import ACCOUNT
from rbt_ros.core.types import ATTRACTION, Input
from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import one_number
from rbt_ros.model.integrators import integrator_named, obstacle
from rbt_ros.model.mechanism import Mechanism
from rbt_ros.model.robot import Robot
from rbt_ros.model.stabilise import METHODS as STABILISERS
from rbt_ros.model.stabilise import Stabilise, checked_stabilise, stabilise_obstacle

Step = Callable[[int, int], tuple[int, int, int]]  # (t_ns, ticks) -> (code, ticks done, culprit)


class Integration:
    """The integrator and the stabilisation of one simulation, and what they remember from step to step."""

    def __init__(self, integrator: str, rtol: float, atol: float):
        self._name(integrator)
        self.tolerances = _tolerance("rtol", rtol), _tolerance("atol", atol)
        self.stabilise = Stabilise()

    @property
    def method(self) -> Method | None:
        """The integrator, for the kernels."""
        return self.plugged.method

    def _name(self, integrator: str) -> None:
        self.integrator, self.plugged = integrator, integrator_named(integrator)

    def refuse(self, robot: Robot, attraction: float) -> None:
        """ScenarioError where integrator or stabilisation could not move this robot."""
        text = obstacle(self.integrator, robot, attraction)
        if not text and STABILISERS[self.stabilise.method]:
            text = stabilise_obstacle(robot, attraction)
        if text:
            raise ScenarioError(text)

    def integrate_by(self, integrator: str, mech: Mechanism) -> None:
        """Another integrator; ScenarioError where it cannot move what moves now."""
        if text := obstacle(integrator, mech.now.robot, mech.model.world[ATTRACTION]):
            raise ScenarioError(text)
        self._name(integrator)
        self.choose(mech)

    def stabilise_by(self, how: "str | Stabilise", mech: Mechanism) -> None:
        """Another stabilisation; ScenarioError where it cannot keep what moves now."""
        options = checked_stabilise(how)
        text = stabilise_obstacle(mech.now.robot, mech.model.world[ATTRACTION])
        if STABILISERS[options.method] and text:
            raise ScenarioError(text)
        self.stabilise = options
        self.choose(mech)

    def choose(self, mech: Mechanism) -> None:
        """Find the function that steps what moves now; what is stabilised is kept as it is now."""
        mode = STABILISERS[self.stabilise.method]
        base, kept = self._base(mech), None
        if mode or self.method is LIE_EULER:
            mech.open_account(ACCOUNT)
            kept = Kept(mech.model, base, mode, self.stabilise.order == "seed", *self.stabilise[2:])
        self._stabiliser = kept
        self._remembers: torque_free.Flight | Kept | None = kept  # what has more to remember than y
        if self.plugged.rotation is not None:
            self._remembers = torque_free.Flight(self.plugged.rotation, kept and kept.corrected_flight)
            self._stepper = self._remembers.stepper
        else:
            self._stepper = kept.stepper if kept else base or integrate.stepper
        self.start(mech)

    def _base(self, mech: Mechanism) -> Callable | None:
        """What steps it without stabilisation, if that is not the plain `integrate.stepper`."""
        adaptive = self.plugged.adaptive
        if mech.contacts and mech.contacts.watches:
            controlled = partial(mech.contacts.controlled_stepper, *self.tolerances)
            return controlled if adaptive else mech.contacts.stepper
        if mech.loops:
            rows = mech.loops.rows
            return (ControlledConstrained(*self.tolerances, rows) if adaptive else Constrained(rows)).stepper
        return Controlled(*self.tolerances).stepper if adaptive else None

    def start(self, mech: Mechanism) -> None:
        """The state was set: what is stabilised is kept as it is now."""
        if self._stabiliser:
            self._stabiliser.start(mech.model, mech.y, mech.work)

    def step(self, mech: Mechanism, acting: Input, h_ns: int) -> Step:
        """What steps the mechanism while this acts."""
        step: Step = self._stepper(mech.model, mech.y, acting, h_ns, self.method, mech.work)
        return step

    @property
    def is_plain(self) -> bool:
        """Whether the plain Runge-Kutta methods of fixed steps move it, without constraints, ropes, stabilisation."""
        return self._stepper is integrate.stepper and self.plugged.plain

    def memory(self) -> dict[str, Any]:
        """All that the future depends on, as lists and numbers."""
        remembered = self._remembers.memory() if self._remembers else None
        return {"integrator": self.integrator, "stabilise": list(self.stabilise), "stepper": remembered}

    def recall(self, memory: dict[str, Any], mech: Mechanism) -> None:
        """Integrator and stabilisation of `memory`; `recall_steps` is to follow when the state is there."""
        self._name(memory["integrator"])
        self.stabilise_by(Stabilise(*memory["stabilise"]), mech)

    def recall_steps(self, memory: dict[str, Any], mech: Mechanism, t_ns: int, h_ns: int) -> None:
        """What they remembered."""
        if self._remembers:
            self._remembers.recall(memory["stepper"], mech.model, mech.y, t_ns, h_ns)


def _tolerance(name: str, given: float) -> float:
    value = one_number(given, name, ScenarioError)
    if not 0 < value < 1:
        raise ScenarioError(f"{name} {value} must lie between 0 and 1: 1e-10 is usual.")
    return value
