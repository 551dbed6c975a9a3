"""One floating body whose mass, size, inertia and start are edited in the browser, as in an online laboratory.

Edits of the body and its start act at the next reset, as a new Simulation of a changed scenario; friction at once.
"""

import math
from typing import Any, Protocol

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.types import JointKind
from rbt_ros.errors import ModelError
from rbt_ros.model.attitude import as_quaternion, euler_angles
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.coordinates import BodyStart
from rbt_ros.model.looks import inertia_shapes
from rbt_ros.model.mass import of_shape
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import Scenario
from rbt_ros.plug.shapes import Shape
from rbt_ros.sim import Simulation
from rbt_ros.stream.controls import Control
from rbt_ros.web.edited import edited_scenario

FORMS = ("as given", "box", "cylinder", "ball")
DEG = math.pi / 180.0
AT_RESET = "acts at reset"


class Bench(Protocol):
    """Where the body lies: who runs it."""

    scenario: Scenario
    sim: Simulation

    def replace(self, sim: Simulation) -> None: ...


class Laboratory:
    """What is edited, and the simulation that comes of it."""

    def __init__(self, bench: Bench):
        robot = bench.scenario.robot
        body, freedom = robot.bodies[0], robot.model.freedom[0]
        self._bench, self._body = bench, body
        self.edited = False  # whether reset has something to do
        self.mass, self.inertia = body.mass, tuple(body.inertia[np.triu_indices(3)].tolist())
        self.form, self.radius = FORMS[0], 0.1
        self.size = _extent(robot)
        self.external, self.internal = float(freedom[t.DAMPING]), float(freedom[t.SINK])
        first = bench.sim.sample()
        self._position, self._velocity = tuple(first.pose[0, 4:].tolist()), tuple(first.twist[0, 3:].tolist())
        self.rotation = tuple((euler_angles(first.pose[:1, :4], "XYZ")[0] / DEG).tolist())
        start = bench.scenario.start_bodies.get(body.name)
        self.omega = tuple(start.omega_body) if start and start.omega_body is not None else (0.0, 0.0, 0.0)

    @staticmethod
    def suits(robot: Robot) -> bool:
        """Whether it is one floating body."""
        return len(robot.bodies) == 1 and robot.hinges[0].kind == JointKind.FREE and not robot.ropes

    def controls(self) -> list[Control]:
        """The panel of the laboratory."""

        def at_reset(key: str, label: str, kind: str, unit: str, low: float, high: float, **more: Any) -> Control:
            return Control(
                f"body.{key}",
                label,
                "Body",
                kind,
                lambda: _plain(getattr(self, key)),
                lambda value: self._edit(key, value),
                unit,
                low,
                high,
                note=AT_RESET,
                **more,
            )

        def friction(key: str, label: str, unit: str, note: str) -> Control:
            return Control(
                f"friction.{key}",
                label,
                "Friction",
                "number",
                lambda: getattr(self, key),
                lambda value: self._rub(key, value),
                unit,
                0.0,
                1e3,
                note=note,
            )

        return [
            friction("external", "External", "N·m·s/rad", "moment -k ω"),
            friction("internal", "Internal", "W", "takes energy, keeps L"),
            at_reset("form", "Form", "choice", "", 0, 0, options=FORMS),
            at_reset("mass", "Mass", "number", "kg", 0.1, 100.0),
            at_reset("radius", "Radius", "number", "m", 0.05, 1.0),
            at_reset("size", "Width, depth, height", "vector", "m", 0.001, 10.0, parts=("w", "d", "h")),
            at_reset("inertia", "Inertia", "vector", "kg·m²", -1e6, 1e6, parts=("xx", "xy", "xz", "yy", "yz", "zz")),
            at_reset("rotation", "Start, turned about X, Y, Z", "vector", "°", -360.0, 360.0),
            at_reset("omega", "Start, turning, body axes", "vector", "rad/s", -1e3, 1e3),
        ]

    def restart(self) -> None:
        """A simulation of what was edited, at t = 0."""
        start = BodyStart(
            position=self._position,
            quaternion=as_quaternion(("XYZ", *(angle * DEG for angle in self.rotation)), "start"),
            velocity=self._velocity,
            omega_body=self.omega,
        )
        self._bench.replace(self._made(self.robot(), start))

    def robot(self) -> Robot:
        """The body as edited; ModelError where there can be none."""
        b = RobotBuilder(self._bench.scenario.robot.name)
        name = self._body.name
        inertia = np.zeros((3, 3))
        inertia[np.triu_indices(3)] = self.inertia
        inertia = inertia + np.triu(inertia, 1).T
        b.body(name, mass=self.mass, inertia=inertia, com=self._body.com, shapes=self._shapes())
        hinge = self._bench.scenario.robot.hinges[0].name
        frictions = {"damping": self.external, "internal_friction": self.internal}
        b.hinge(hinge, "free", parent="world", child=name, **frictions)  # type: ignore[arg-type]
        return b.build()

    def _edit(self, key: str, value: Any) -> None:
        """Take a value; what follows from it of inertia and shape. Nothing changes where no such body can be."""
        before = {
            name: getattr(self, name) for name in ("form", "mass", "radius", "size", "inertia", "rotation", "omega")
        }
        setattr(self, key, value)
        if key in ("form", "mass", "radius", "size") and self.form != FORMS[0]:
            self.inertia = self._homogeneous()
        try:
            self.robot()
        except ModelError:
            for name, old in before.items():
                setattr(self, name, old)
            raise
        self.edited = True

    def _rub(self, key: str, value: float) -> None:
        """Friction acts at once."""
        sim = self._bench.sim
        hinge, name = sim.robot.hinges[0].name, {"external": "damping", "internal": "internal"}[key]
        sim.set_friction(hinge, **{name: value})
        setattr(self, key, value)

    def _made(self, robot: Robot, start: BodyStart) -> Simulation:
        made = Simulation.of(edited_scenario(self._bench.scenario, robot, start, self._bench.sim))
        made.warm_up()
        return made

    def _homogeneous(self) -> tuple[float, ...]:
        """The inertia of the form: xx, xy, xz, yy, yz, zz."""
        inertia = of_shape(self._form(), mass=self.mass).inertia
        return tuple(inertia[np.triu_indices(3)].tolist())

    def _form(self) -> Shape:
        """The chosen form, of the sizes it takes, at the centre of mass."""
        kind = "sphere" if self.form == "ball" else self.form
        sizes = {"box": self.size, "cylinder": (self.radius, self.size[2]), "sphere": (self.radius,)}
        return Shape(kind, sizes[kind], self._body.com)

    def _shapes(self) -> tuple[Shape, ...]:
        return self._body.shapes if self.form == FORMS[0] else (self._form(),)


def _extent(robot: Robot) -> tuple[float, float, float]:
    """Width, depth and height of its first shape, or of the box of its inertia."""
    shape = next((s for s in robot.bodies[0].shapes if s.kind == "box"), None) or inertia_shapes(robot.bodies[0])[0]
    sizes = shape.size if len(shape.size) == 3 else (2 * shape.size[0],) * 3
    return (sizes[0], sizes[1], sizes[2])


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
