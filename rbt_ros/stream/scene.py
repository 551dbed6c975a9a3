"""What a viewer draws: bodies with their shapes, hinges, ropes. A body without shapes gets the box of its inertia."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np

from rbt_ros.core.types import JointKind
from rbt_ros.model.attitude import nearest_quaternion
from rbt_ros.model.constraints import Closure
from rbt_ros.model.looks import SMALLEST, inertia_shapes
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.plug.shapes import Shape, kind_of
from rbt_ros.stream.layout import Layout

MESH_FORMATS = (".stl", ".glb", ".gltf", ".obj", ".dae", ".ply")
Scene = dict[str, Any]
COLOURS = ("#7aa2d6", "#e0a458", "#6ab187", "#d0605e", "#a07cc5", "#c9b458", "#5fb3b3", "#b0888f")


def described(robot: Robot, name: str = "", gravity: Any = (0.0, 0.0, 0.0), folder: str | Path = ".") -> Scene:
    """The scene of a robot. Paths of meshes count from `folder`; the page does not see them: see `meshes`."""
    bodies = [_body(robot, i, folder) for i in range(len(robot.bodies))]
    return {
        "name": name or robot.name,
        "robot": robot.name,
        "bodies": bodies,
        "ropes": [_rope(robot, rope) for rope in robot.ropes]
        + [_rope(robot, c) for c in robot.constraints if isinstance(c, Closure) and c.kind == "distance"],
        "gravity": [float(g) for g in gravity],
        "size": max([SMALLEST, *(body["reach"] for body in bodies)]),
        "layout": Layout(robot).described(),
        "warnings": [shape["warning"] for body in bodies for shape in body["shapes"] if shape["warning"]],
    }


def meshes(scene: Scene) -> list[str]:
    """The files of all meshes that are there, in the order of their numbers; the page sees no paths."""
    files: list[str] = []
    for body in scene["bodies"]:
        for shape in body["shapes"]:
            path = shape.pop("path", "")
            shape.pop("root", None)
            if path:
                if path not in files:
                    files.append(path)
                shape["mesh"] = files.index(path)
    return files


def strays(scene: Scene) -> list[str]:
    """Meshes that links lead out of where the scenario says they are: what is given to others must not have them."""
    return [
        f"body '{body['name']}': mesh {shape['file']} is a link that leads to {shape['path']}, outside of "
        f"{shape['root']}; copy the file itself there, if others may have it."
        for body in scene["bodies"]
        for shape in body["shapes"]
        if shape.get("path") and not Path(shape["path"]).is_relative_to(shape["root"])
    ]


def _body(robot: Robot, i: int, folder: str | Path) -> dict[str, Any]:
    body, hinge = robot.bodies[i], robot.hinges[i]
    moments, R_BP = np.linalg.eigh(body.inertia)
    R_BP = R_BP * [1.0, 1.0, np.sign(np.linalg.det(R_BP))]
    shapes = [*body.shapes] or inertia_shapes(body)
    told = [_shape(body.name, shape, folder) for shape in shapes]
    return {
        "name": body.name,
        "reach": _reach(shapes),
        "mass": body.mass,
        "com": list(body.com),
        "inertia": body.inertia.tolist(),
        "moments": np.maximum(moments, 0.0).tolist(),
        "principal": list(nearest_quaternion(R_BP)),
        "floats": hinge.kind == JointKind.FREE,
        "parent": -1 if hinge.parent == WORLD else robot.body_index(hinge.parent),
        "hinge": hinge.name,
        "kind": hinge.kind.name.lower(),
        "colour": COLOURS[i % len(COLOURS)],
        "shapes": told,
    }


def page_shape(shape: Shape) -> dict[str, Any]:
    """As the page takes it: with its triangles, unless it must know the kind."""
    told = {
        "kind": shape.kind,
        "size": list(shape.size),
        "at": list(shape.at),
        "quaternion": list(shape.quaternion),
        "rgba": list(shape.rgba),
        "warning": "",
    }
    if kind_of(shape).urdf:
        return told
    vertices, facets = kind_of(shape).triangles(shape)
    return told | {"vertices": np.asarray(vertices).tolist(), "facets": np.asarray(facets).tolist()}


def _shape(body: str, shape: Shape, folder: str | Path) -> dict[str, Any]:
    told = page_shape(shape)
    if not shape.file:
        return told
    given = Path(shape.file.removeprefix("file://"))
    path = Path(folder, given)
    told["file"] = path.name
    if path.suffix.lower() not in MESH_FORMATS:
        told["warning"] = f"body '{body}': mesh {path.name} is none of {', '.join(MESH_FORMATS)}; a box stands for it."
    elif not path.is_file():
        told["warning"] = f"body '{body}': there is no mesh {shape.file}; a box stands for it."
    else:
        told["path"], told["root"] = str(path.resolve()), str(_root(Path(folder), given))
    return told


def _root(folder: Path, given: Path) -> Path:
    """Where a mesh that is named so has to be, links followed: in the scenario's folder, or the one above that its name
    climbs to. An absolute name stands for that very file, so that no link hides in it.
    """
    here, there = folder.absolute(), folder.resolve()
    name = Path(os.path.normpath(here / given))
    if name.is_relative_to(here) or name.is_relative_to(there):
        return there
    return name if given.is_absolute() else Path(os.path.commonpath([there, os.path.normpath(there / given)]))


def _reach(shapes: list[Shape]) -> float:
    """How far shapes go from their body's origin [m]; meshes are not read."""
    return max(math.hypot(*shape.at) + (0.0 if shape.file else kind_of(shape).radius(shape)) for shape in shapes)


def _rope(robot: Robot, rope: Any) -> dict[str, Any]:
    ends = [-1 if name == WORLD else robot.body_index(name) for name in (rope.body_a, rope.body_b)]
    return {"name": rope.name, "bodies": ends, "at": [list(rope.at_a), list(rope.at_b)], "length": rope.length}
