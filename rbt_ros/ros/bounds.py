"""Bounds of simulation_interfaces: the box that holds what a body shows, and what overlaps a box, a sphere or a hull.

A body is taken for the box in its own axes that holds its shapes; a mesh, which is not looked into, counts as its
place, and a body that shows nothing as its centre of mass. Bounds of a filter are in the world.
"""

import math
from typing import Any

import numpy as np

from rbt_ros.core.vec import rotation
from rbt_ros.fields import Fields
from rbt_ros.model.robot import Robot
from rbt_ros.plug.shapes import kind_of
from rbt_ros.results import Sample
from rbt_ros.ros.result_codes import FAILED, UNSUPPORTED, Refusal

EMPTY, BOX, HULL, SPHERE = 0, 1, 2, 3  # Bounds
MOST_POINTS = 1000  # of a hull
Corners = tuple[np.ndarray, np.ndarray]  # the least and the greatest, (3,) each


def box(robot: Robot, i: int) -> Corners:
    """What holds body i, in its own axes [m]."""
    body = robot.bodies[i]
    if not body.shapes:
        return np.array(body.com), np.array(body.com)
    low, high = [], []
    for shape in body.shapes:
        R_BS = np.array(rotation(shape.quaternion)).reshape(3, 3)  # its rows: the body's axes in those of the shape
        low.append(shape.at - kind_of(shape).support(shape, -R_BS))
        high.append(shape.at + kind_of(shape).support(shape, R_BS))
    return np.min(low, axis=0), np.max(high, axis=0)


def bounds_fields(robot: Robot, i: int) -> Fields:
    """simulation_interfaces/Bounds of body i, in its frame: upper right and lower left corner."""
    low, high = box(robot, i)
    return {"type": BOX, "points": [dict(zip("xyz", corner.tolist(), strict=True)) for corner in (high, low)]}


def overlapping(robot: Robot, sample: Sample, bounds: Any) -> set[int]:
    """The bodies that overlap what a filter names; Refusal where it is not usable."""
    points = checked_points(bounds)
    if bounds.type == SPHERE:
        centre, radius = points[0], points[1, 0]
        return {i for i in range(len(robot.bodies)) if distance(robot, sample, i, centre) <= radius}
    if bounds.type == BOX:
        points = np.array([[points[a, 0], points[b, 1], points[c, 2]] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    return {i for i in range(len(robot.bodies)) if meets_hull(robot, sample, i, points)}


def checked_points(bounds: Any) -> np.ndarray:
    """(n, 3) [m]; Refusal where they are not those of a box, a hull or a sphere."""
    if bounds.type not in (BOX, HULL, SPHERE):
        raise Refusal(UNSUPPORTED, f"bounds of type {bounds.type}; use 0 empty, 1 box, 2 convex hull, or 3 sphere.")
    if len(bounds.points) > MOST_POINTS:
        raise Refusal(FAILED, f"bounds of {len(bounds.points)} points; at most {MOST_POINTS} are taken.")
    points = np.array([(p.x, p.y, p.z) for p in bounds.points]).reshape(-1, 3)
    if not np.isfinite(points).all():
        raise Refusal(FAILED, f"bounds with points {points.tolist()}; all numbers must be finite.")
    if bounds.type == HULL and len(points) < 3:
        raise Refusal(FAILED, f"a convex hull of {len(points)} points; it has three at least.")
    if bounds.type != HULL and len(points) != 2:
        what = "a box has two, its corners" if bounds.type == BOX else "a sphere has two, its centre and its radius (x)"
        raise Refusal(FAILED, f"bounds of {len(points)} points; {what}.")
    if bounds.type == SPHERE and points[1, 0] < 0.0:
        raise Refusal(FAILED, f"a sphere of radius {points[1, 0]:g} m; it is not negative.")
    return points


def in_body(sample: Sample, i: int, points: np.ndarray) -> np.ndarray:
    """Points of the world in the frame of body i."""
    R_WB = np.array(rotation(tuple(sample.pose[i, :4]))).reshape(3, 3)
    return (points - sample.pose[i, 4:]) @ R_WB


def distance(robot: Robot, sample: Sample, i: int, point: np.ndarray) -> float:
    """Of a point in the world from what body i shows [m]; 0 inside."""
    low, high = box(robot, i)
    p_B = in_body(sample, i, point[None])[0]
    return math.dist(p_B, np.clip(p_B, low, high))


def meets_hull(robot: Robot, sample: Sample, i: int, points: np.ndarray) -> bool:
    """Whether a mean of the points, with weights λ >= 0 and Σ λ = 1, is in the box of body i: a linear programme."""
    from scipy.optimize import linprog

    low, high = box(robot, i)
    p_B = in_body(sample, i, points).T
    inside, limits = np.vstack([p_B, -p_B]), np.concatenate([high, -low])
    one = np.ones((1, len(points)))
    return linprog(np.zeros(len(points)), A_ub=inside, b_ub=limits, A_eq=one, b_eq=[1.0]).status == 0
