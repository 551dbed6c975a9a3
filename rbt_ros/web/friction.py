"""Dampers of hinges, set while it moves."""

from typing import Protocol

from rbt_ros.core import types as t
from rbt_ros.core.types import NV, JointKind
from rbt_ros.model.coordinates import freedom_dimensions
from rbt_ros.model.robot import Hinge
from rbt_ros.sim import Simulation
from rbt_ros.stream.controls import Control

MOST = 1e3
UNITS = {"angle": "N·m·s/rad", "length": "N·s/m"}


class Bench(Protocol):
    """Where the hinges are: who runs them."""

    sim: Simulation


def dampers(bench: Bench) -> list[Control]:
    """One for each hinge that moves."""
    return [_damper(bench, hinge) for hinge in bench.sim.robot.hinges if NV[hinge.kind]]


def _damper(bench: Bench, hinge: Hinge) -> Control:
    def read() -> float:
        robot = bench.sim.robot
        return float(robot.model.freedom[int(robot.model.tree[robot.hinge_index(hinge.name), t.V]), t.DAMPING])

    def write(value: float) -> None:
        bench.sim.set_friction(hinge.name, damping=value)

    note = "moment -k ω" if hinge.kind == JointKind.FREE else "-k · rate"
    unit = ", ".join(UNITS[what] for what in sorted(set(freedom_dimensions(hinge.kind)))) or UNITS["angle"]
    return Control(f"friction.{hinge.name}", hinge.name, "Friction", "number", read, write, unit, 0.0, MOST, note=note)
