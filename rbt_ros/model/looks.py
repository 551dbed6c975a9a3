"""How large bodies look, and what stands for one that has no shapes: the box of its inertia."""

import math

import numpy as np

from rbt_ros.model.attitude import nearest_quaternion
from rbt_ros.model.robot import WORLD, Body, Robot
from rbt_ros.plug.shapes import Shape, kind_of

SMALLEST = 0.05  # [m] what is drawn where nothing has a size


def looks(body: Body) -> list[Shape]:
    """Its shapes, else the box of its inertia; nothing of a mere frame."""
    return [*body.shapes] or (inertia_shapes(body) if body.mass > 0.0 else [])


def inertia_shapes(body: Body) -> list[Shape]:
    """The homogeneous box with the body's mass and inertia, at its centre of mass; a ball where that is a point."""
    moments, R_BP = np.linalg.eigh(body.inertia)
    if body.mass <= 0.0 or moments[-1] <= 0.0:
        return [Shape("sphere", (SMALLEST / 2,), body.com)]
    # I_x = m (b² + c²)/12 and so on: a² = 6 (I_y + I_z - I_x)/m
    squares = 6.0 * (moments.sum() - 2.0 * moments) / body.mass
    longest = math.sqrt(squares.max())
    sides = np.maximum(np.sqrt(np.maximum(squares, 0.0)), 0.02 * longest)
    R_BP = R_BP * [1.0, 1.0, np.sign(np.linalg.det(R_BP))]
    a, b, c = sides.tolist()
    return [Shape("box", (a, b, c), body.com, nearest_quaternion(R_BP))]


def extent(body: Body) -> float:
    """How far its looks go from the origin of its frame [m]; of a mesh that cannot be read: the box of the inertia."""
    shapes = looks(body)
    if any(kind_of(shape).radius(shape) == 0.0 for shape in shapes):
        shapes += inertia_shapes(body)
    return max((float(np.linalg.norm(shape.at)) + kind_of(shape).radius(shape) for shape in shapes), default=0.0)


def reaches(robot: Robot) -> list[float]:
    """How far each body and all that hangs on it can be from the origin of its frame [m]; slides stay as built."""
    far = [extent(body) for body in robot.bodies]
    for i in reversed(range(len(far))):  # parents come first
        if (parent := robot.hinges[i].parent) != WORLD:
            p = robot.body_index(parent)
            far[p] = max(far[p], float(np.linalg.norm(robot.hinges[i].at)) + far[i])
    return far
