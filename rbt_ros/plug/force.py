"""The socket of forces: a law of what acts on a body, or between two, by where they are and how they move."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rbt_ros.core.laws import Entry
from rbt_ros.errors import ModelError
from rbt_ros.plug.parameter import Parameter, check_parameters, values_class
from rbt_ros.plug.registry import Registry

COMMON = ("at", "at_a", "at_b", "from", "to", "start", "stop", "signal")  # what all forces have


@dataclass(frozen=True, eq=False)
class ForceLaw:
    """`wrench(p, a, t)`, or `wrench(p, a, b, t)` between two bodies -> (moment [N·m], force [N]) on a, world axes.

    p has the parameters by name, a and b are `rbt_ros.core.laws.Place`: position, velocity, angular velocity, rotation,
    mass, inertia at the point where it acts. It is compiled, so it is written with the verbs of `rbt_ros.core.vec`, and
    with no branch on a number; compiled=False: any Python, some microseconds for each evaluation.

    potential: of the same arguments [J], if it has one; the energy of the system has it then, and `wrench` gives a
    third number, the power [W] that it takes for good (0.0: all comes back).
    """

    wrench: Callable[..., Any]
    parameters: tuple[Parameter, ...] = ()
    bodies: int = 1
    potential: Callable[..., float] | None = None
    about: str = ""
    compiled: bool = True

    def __post_init__(self) -> None:
        """ModelError where it cannot be one."""
        where = f"a force law, {self.about or self.wrench!r:.80}"
        check_parameters(where, self.parameters, COMMON)
        if self.bodies not in (1, 2):
            raise ModelError(f"{where}: bodies {self.bodies!r:.80} must be 1 or 2.")
        if not (inspect.isfunction(self.wrench) if self.compiled else callable(self.wrench)):
            wanted = "a function, to be compiled; compiled=False takes whatever can be called"
            raise ModelError(f"{where}: wrench {self.wrench!r:.80} must be {wanted}.")

    @cached_property
    def values(self) -> type:
        """The NamedTuple of its parameters."""
        return values_class(self.parameters)

    @cached_property
    def entry(self) -> Entry:
        """Where it is called."""
        sizes = tuple(parameter.size for parameter in self.parameters)
        stores = self.potential is not None
        return Entry(self.wrench, self.values, sizes, self.bodies, stores, self.compiled)


OURS = {
    "linear_drag": "rbt_ros.plug.forces.linear_drag:LINEAR_DRAG",
    "spring": "rbt_ros.plug.forces.spring:SPRING",
}
FORCES = Registry("force", ForceLaw, OURS)
