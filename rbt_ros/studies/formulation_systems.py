"""The four systems on which formulations are compared: a top, a chain of five, and two folding manoeuvres afloat."""

import math
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.coordinates import BodyStart
from rbt_ros.model.inputs import Effort, PlannedInput
from rbt_ros.model.scenario import Scenario, read_scenario
from rbt_ros.model.signals import table

X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
KNOTS = (0.0, 10.0, 20.0, 30.0, 40.0)  # [s]
RIGHT = math.pi / 2
FOLDS = ((0.0, RIGHT, RIGHT, 0.0, 0.0), (0.0, 0.0, RIGHT, RIGHT, 0.0))  # [rad] one hinge after the other, and back
KP, KD = 5.0, 5.0  # [N·m/rad], [N·m·s/rad] of the PD controllers


class System(NamedTuple):
    """What moves, for how long, and with which steps."""

    name: str
    title: str
    scenario: Scenario
    duration: float  # [s]
    steps_us: tuple[int, ...]  # [µs], from long to short
    typical_us: int  # the one of the table


def systems() -> tuple[System, ...]:
    """All four."""
    return free_top(), five_bodies(), three_rods(), three_panels()


def free_top() -> System:
    """S1: a satellite that tumbles at 51 rad/s, without torque."""
    robot = RobotBuilder("top").body("top", mass=3.0, inertia=(0.0361, 0.0337, 0.00733)).build()
    scenario = Scenario(robot, start_bodies={"top": BodyStart(omega_body=(0.0, 28.123, 42.55))})
    return System("S1", "free top", scenario, 10.0, (10_000, 8_000, 5_000, 4_000, 2_500, 1_000), 5_000)


def five_bodies() -> System:
    """S2: two rods on ball hinges, a T and two rods on revolute ones, under gravity; chaotic."""
    return System(
        "S2", "five bodies", read_scenario("five_body"), 5.0, (25_000, 20_000, 12_500, 10_000, 8_000, 5_000), 12_500
    )


def three_rods() -> System:
    """S3: three rods in a row, in the plane: the outer two are folded and unfolded about z."""
    rod: dict[str, Any] = dict(mass=1.0, inertia=(0.3, 1 / 3, 1 / 3))
    b = RobotBuilder("three_rods").body("a", **rod).body("b", **rod, com=X).body("c", **rod, com=X)
    b.hinge("psi1", "revolute", parent="a", child="b", at=X, axis=Z, stiffness=KP, damping=KD)
    b.hinge("psi2", "revolute", parent="b", child="c", at=(2.0, 0.0, 0.0), axis=Z, stiffness=KP, damping=KD)
    return _folded("S3", "three rods", b, (-2.0, 0.0, 0.0))


def three_panels() -> System:
    """S4: three square panels, two of them folded up about two sides of the first, and down again."""
    panel: dict[str, Any] = dict(mass=1.0, inertia=(1.0001 / 12, 1.0001 / 12, 2 / 12))
    b = RobotBuilder("three_panels")
    b.body("a", **panel).body("b", **panel, com=(0.5, 0.0, 0.0)).body("c", **panel, com=(0.0, 0.5, 0.0))
    b.hinge("psi1", "revolute", parent="a", child="b", at=(0.5, 0.0, 0.0), axis=Y, stiffness=KP, damping=KD)
    b.hinge("psi2", "revolute", parent="a", child="c", at=(0.0, 0.5, 0.0), axis=X, stiffness=KP, damping=KD)
    return _folded("S4", "three panels", b, (-1 / 3, -1 / 3, 0.0))


def _folded(name: str, title: str, builder: RobotBuilder, position: tuple[float, float, float]) -> System:
    """A robot at rest whose hinges follow FOLDS: their springs and dampers lack kp r + kd ṙ."""
    inputs = []
    for hinge, angles in zip(("psi1", "psi2"), FOLDS, strict=True):
        rates = table(KNOTS[:-1], (KD * np.diff(angles) / np.diff(KNOTS)).tolist(), between="hold")
        for signal in (table(KNOTS, (KP * np.array(angles)).tolist()), rates):
            inputs.append(PlannedInput(Effort(hinge, (1.0,)), signal))
    start = {"a": BodyStart(position=position)}
    scenario = Scenario(builder.build(), start_bodies=start, inputs=tuple(inputs))
    return System(name, title, scenario, 40.0, (50_000, 40_000, 25_000, 20_000, 12_500, 10_000), 25_000)
