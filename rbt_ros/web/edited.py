"""A scenario whose one body was edited, as the text of a scenario: what runs is what a bag says, and a file can."""

import io
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from rbt_ros.core import types as t
from rbt_ros.model.coordinates import BodyStart
from rbt_ros.model.robot import Robot
from rbt_ros.model.scenario import Scenario, scenario_from_text
from rbt_ros.plug.shapes import Shape
from rbt_ros.sim import Simulation


def edited_scenario(scenario: Scenario, robot: Robot, start: BodyStart, sim: Simulation) -> Scenario:
    """The scenario with this one floating body, that start, and step, integrator and stabilisation of `sim`."""
    yaml = YAML()
    document = yaml.load(scenario.text) if scenario.text else {"rbt": 1}
    document["robot"] = _robot(robot)
    document["start"] = {"bodies": {robot.bodies[0].name: _plain(vars(start))}}
    document["step"], document["integrator"] = f"{sim.h_ns} ns", sim.integrator
    if sim.stabilise != scenario.stabilise:
        document["stabilise"] = sim.stabilise.method
    text = io.StringIO()
    yaml.dump(document, text)
    return scenario_from_text(text.getvalue(), str((scenario.folder or Path()) / f"{scenario.name}.yaml"))


def _robot(robot: Robot) -> dict[str, Any]:
    """As a scenario describes it."""
    body, hinge, freedom = robot.bodies[0], robot.hinges[0], robot.model.freedom[0]
    shapes = [_shape(shape) for shape in body.shapes]
    inertia = body.inertia.tolist()
    described = {"mass": body.mass, "inertia": inertia, "com": list(body.com), "shapes": shapes}
    friction = {"damping": float(freedom[t.DAMPING]), "internal_friction": float(freedom[t.SINK])}
    hung = {"kind": "free", "parent": hinge.parent, "child": hinge.child, **friction}
    return {"name": robot.name, "bodies": {body.name: described}, "hinges": {hinge.name: hung}}


def _shape(shape: Shape) -> dict[str, Any]:
    told = {"kind": shape.kind, "size": list(shape.size), "at": list(shape.at), "rgba": list(shape.rgba)}
    told["rotation"] = list(shape.quaternion)
    return {**told, "file": shape.file} if shape.file else told


def _plain(values: dict[str, Any]) -> dict[str, Any]:
    """Without what is not given; lists in place of tuples."""
    return {name: list(value) for name, value in values.items() if value is not None}
