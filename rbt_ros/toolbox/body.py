"""RigidBody and where it starts."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.model.attitude import IDENTITY, as_quaternion
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.robot import Robot
from rbt_ros.toolbox.state import STATES, P, Q, V, W, to_body, to_inertial
from rbt_ros.toolbox.vectors import finite_vector


@dataclass(frozen=True, eq=False)
class RigidBody:
    """One rigid body. Its axes have their origin at the centre of mass."""

    mass: float = 1.0  # [kg]
    inertia: Any = (1.0, 1.0, 1.0)  # I_BBcm [kg·m²]: 3 principal moments or 3x3
    name: str = "body"
    robot: Robot = field(init=False, repr=False)  # the same as the engine has it

    def __post_init__(self) -> None:
        robot = RobotBuilder(self.name).body(self.name, mass=self.mass, inertia=self.inertia).build()
        object.__setattr__(self, "robot", robot)
        object.__setattr__(self, "mass", robot.bodies[0].mass)
        object.__setattr__(self, "inertia", robot.bodies[0].inertia)

    @classmethod
    def of(cls, properties: Any, name: str = "body") -> "RigidBody":
        """Of mass properties (`mass`, `inertia` about the centre of mass); the origin moves to the centre of mass."""
        return cls(properties.mass, properties.inertia, name)


def start_state(
    position: Sequence[float],
    velocity: Sequence[float] | None,
    velocity_b: Sequence[float] | None,
    omega_b: Sequence[float] | None,
    omega_e: Sequence[float] | None,
    quaternion: Sequence[float] | None,
    euler: Sequence[Any] | None,
    matrix: Any,
) -> np.ndarray:
    """The engine's y (13,) of what was given at most once each."""
    _at_most_one(velocity=velocity, velocity_b=velocity_b)
    _at_most_one(omega_b=omega_b, omega_e=omega_e)
    given = _at_most_one(quaternion=quaternion, euler=euler, matrix=matrix)
    y = np.zeros(STATES)
    q = y[Q] = as_quaternion(_attitude(*given), "start") if given else IDENTITY
    y[P] = finite_vector(position, "position", "m")
    if velocity is not None:
        y[V] = finite_vector(velocity, "velocity", "m/s")
    if velocity_b is not None:
        y[V] = to_inertial(np.array(q), finite_vector(velocity_b, "velocity_b", "m/s"))
    if omega_b is not None:
        y[W] = finite_vector(omega_b, "omega_b", "rad/s")
    if omega_e is not None:
        y[W] = to_body(np.array(q), finite_vector(omega_e, "omega_e", "rad/s"))
    return y


def _attitude(name: str, value: Any) -> Any:
    """`value` in the shape that its name promises."""
    if name == "euler":
        if len(value) != 4 or not isinstance(value[0], str):
            raise ScenarioError(f'euler={value} must be ("ZYX", a, b, c): a sequence and three angles in rad.')
        return value
    array, shape = np.asarray(value, dtype=float), (4,) if name == "quaternion" else (3, 3)
    if array.shape != shape:
        raise ScenarioError(f"{name} has the shape {array.shape}, not {shape}{' (w x y z)' * (shape == (4,))}.")
    return array.tolist()


def _at_most_one(**given: Any) -> tuple[str, Any] | None:
    """The one that is not None, and its name."""
    there = [(name, value) for name, value in given.items() if value is not None]
    if len(there) > 1:
        raise ScenarioError(f"both {there[0][0]} and {there[1][0]} are given; they say the same thing: give one.")
    return there[0] if there else None
