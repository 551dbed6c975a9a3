"""Poinsot's construction for RViz: ellipsoids, polhode and body cone turn with a lone floating body.

Invariable plane, herpolhode and space cone do not. All are of angular velocities, drawn at the centre of mass so large
that ω has the length of its arrow among the markers: its tip runs on the polhode in the body and on the herpolhode in
the invariable plane, where the energy ellipsoid touches it; the cones are its rays. Between two samples the herpolhode
is that of free flight from the first one: a body turns by radians from message to message.
"""

import math
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np

from rbt_ros.core.poinsot import Poinsot, poinsot
from rbt_ros.fields import Fields, Quaternion, Vector3
from rbt_ros.markers import (
    ARROW_LENGTH,
    DELETE,
    LINE_STRIP,
    THIN,
    TRAIL,
    Color,
    local_origin,
    marker,
    numbered,
    points_of,
    size_of,
)
from rbt_ros.model.attitude import matrices, nearest_quaternion, turn_all
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.plug.shapes import CUBE, SPHERE, TRIANGLES
from rbt_ros.results import Sample

POLHODE, HERPOLHODE = Color(1.0, 0.9, 0.2), Color(0.2, 0.9, 0.9)
ENERGY, MOMENTUM, PLANE = Color(0.2, 0.8, 0.3, 0.25), Color(0.2, 0.4, 1.0, 0.25), Color(0.7, 0.7, 0.7, 0.3)
BODY_CONE, SPACE_CONE = Color(1.0, 0.9, 0.2, 0.25), Color(0.2, 0.9, 0.9, 0.25)
POINTS = 181  # of the polhode
TURN = 0.2  # [rad] from point to point of the herpolhode: a chord is off by 0.5 % of its radius


class PoinsotMarkers:
    """visualization_msgs/MarkerArray from samples; remembers where the tips of ω were."""

    def __init__(self, robot: Robot, prefix: str, local: str = ""):
        """local: the frame near the craft in which what is fixed in space is told; empty: the world."""
        self._robot, self._prefix, self._local = robot, prefix, local
        self._size = size_of(robot)
        self._trails: dict[int, deque] = {i: deque(maxlen=TRAIL) for i in lone_bodies(robot)}
        self._last: Sample | None = None

    def __call__(self, sample: Sample, stamp: int) -> Fields:
        """All markers of one instant."""
        markers = []
        last = self._last
        for i, trail in self._trails.items():
            if last is None or sample.tick < last.tick:  # it was reset
                trail.clear()
                trail.append(sample.twist[i, :3])
            elif sample.tick != last.tick:
                trail.extend(herpolhode_between(self._robot.bodies[i].inertia, last, sample, i))
            markers += self._of_body(sample, i, np.array(trail))
        self._last = sample
        return numbered(markers, self._prefix, stamp)

    def _of_body(self, sample: Sample, i: int, trail: np.ndarray) -> list[Fields]:
        """Nothing of a body at rest. trail: ω in world axes, the last one now."""
        body, q, omega = self._robot.bodies[i], sample.pose[i, :4], trail[-1]
        speed = float(np.linalg.norm(omega))
        if speed == 0.0:
            return [marker(name, WORLD, kind, PLANE) | {"action": DELETE} for name, kind in KINDS.items()]
        w_B = turn_all((q * [1, -1, -1, -1])[None, :], omega[None, :])[0]
        now, metres = poinsot(body.inertia, q, w_B), ARROW_LENGTH * self._size / speed  # per rad/s
        com = sample.pose[i, 4:] + turn_all(q[None, :], np.array([body.com]))[0]
        place = com - (local_origin(self._robot, sample) if self._local else 0.0)
        return [
            self._ellipsoid(now, "energy_ellipsoid", body.name, body.com, metres),
            self._ellipsoid(now, "momentum_ellipsoid", body.name, body.com, metres),
            self._curve("polhode", body.name, body.com, metres * now.polhode_curve(points=POINTS), POLHODE),
            self._plane(now, place, metres),
            self._curve("herpolhode", self._local or WORLD, place, metres * trail, HERPOLHODE),
            self._cone("body_cone", body.name, body.com, metres * now.polhode_curve(points=POINTS), BODY_CONE),
            self._cone("space_cone", self._local or WORLD, place, metres * trail, SPACE_CONE),
        ]

    def _cone(self, name: str, frame: str, place: Any, rim: np.ndarray, color: Color) -> Fields:
        """The fan from `place` to a curve; none where the curve is a point yet."""
        fields = marker(name, frame, TRIANGLES, color)
        if len(rim) < 2:
            return fields | {"action": DELETE, "points": []}
        fields["pose"]["position"] = Vector3(*map(float, place))
        fan = np.stack([np.zeros((len(rim) - 1, 3)), rim[:-1], rim[1:]], axis=1).reshape(-1, 3)
        return fields | {"scale": Vector3(1.0, 1.0, 1.0), "points": points_of(fan)}

    def _ellipsoid(self, now: Poinsot, name: str, frame: str, com: Sequence[float], metres: float) -> Fields:
        axes = 2.0 * metres * getattr(now, name)[0]
        pose = {"position": Vector3(*map(float, com)), "orientation": Quaternion(*nearest_quaternion(now.R_BP))}
        color = ENERGY if name == "energy_ellipsoid" else MOMENTUM
        return marker(name, frame, SPHERE, color) | {"pose": pose, "scale": Vector3(*axes.tolist())}

    def _plane(self, now: Poinsot, place: np.ndarray, metres: float) -> Fields:
        """A thin square that ω touches, across L."""
        normal, (e1, e2) = now.plane_normal[0], now.plane_axes[0]
        foot = place + metres * now.plane_distance[0] * normal
        turned = nearest_quaternion(np.column_stack([e1, e2, normal]))
        side = 2.0 * ARROW_LENGTH * self._size
        pose = {"position": Vector3(*foot.tolist()), "orientation": Quaternion(*turned)}
        size = {"pose": pose, "scale": Vector3(side, side, 0.1 * THIN * self._size)}
        return marker("invariable_plane", self._local or WORLD, CUBE, PLANE) | size

    def _curve(self, name: str, frame: str, place: Any, rows: np.ndarray, color: Color) -> Fields:
        fields = marker(name, frame, LINE_STRIP, color)
        fields["pose"]["position"] = Vector3(*map(float, place))
        return fields | {"scale": Vector3(0.5 * THIN * self._size, 0.0, 0.0), "points": points_of(rows)}


KINDS = {
    "energy_ellipsoid": SPHERE,
    "momentum_ellipsoid": SPHERE,
    "polhode": LINE_STRIP,
    "invariable_plane": CUBE,
    "herpolhode": LINE_STRIP,
    "body_cone": TRIANGLES,
    "space_cone": TRIANGLES,
}


def herpolhode_between(inertia: np.ndarray, last: Sample, now: Sample, i: int) -> np.ndarray:
    """(n, 3) w_WB_W [rad/s] of body i after `last` up to `now`, along the free flight that leaves `last`.

    L stays: dq/dt = q (0, I⁻¹ Rᵀ L)/2, by Runge-Kutta. What a torque does meanwhile is spread over the arc.
    """
    q, omega, seconds = last.pose[i, :4], last.twist[i, :3], (now.t_ns - last.t_ns) * 1e-9
    count = max(1, math.ceil(float(np.linalg.norm(omega)) * seconds / TURN))
    if count > TRAIL:  # more turns than the trail holds: the last ones would be drawn, and they are not known
        return now.twist[i : i + 1, :3]
    R_WB = matrices(q)
    L, inverse, h = R_WB @ inertia @ R_WB.T @ omega, np.linalg.inv(inertia), seconds / count

    def turning(q: np.ndarray) -> np.ndarray:
        w_B = inverse @ (matrices(q).T @ L)
        return 0.5 * np.array([-q[1:] @ w_B, *(q[0] * w_B + np.cross(q[1:], w_B))])

    rows = np.empty((count, 3))
    for k in range(count):
        k1 = turning(q)
        k2 = turning(q + 0.5 * h * k1)
        k3 = turning(q + 0.5 * h * k2)
        k4 = turning(q + h * k3)
        q = q + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        R_WB = matrices(q)
        rows[k] = R_WB @ (inverse @ (R_WB.T @ L))
    return rows + np.arange(1, count + 1)[:, None] / count * (now.twist[i, :3] - rows[-1])


def construction_reach(robot: Robot, sample: Sample, i: int) -> tuple[float, float]:
    """How far from body i's centre of mass the construction goes in the free flight that leaves `sample` [m]: all but
    the momentum ellipsoid, and that one, which is by far the longest of a slender body."""
    q, omega = sample.pose[i, :4], sample.twist[i, :3]
    now = poinsot(robot.bodies[i].inertia, q, turn_all((q * [1, -1, -1, -1])[None, :], omega[None, :])[0])
    slowest = float(np.linalg.norm(now.polhode_curve(points=POINTS), axis=1).min())  # drawn as long as all others
    if slowest == 0.0:
        return 0.0, 0.0
    arrow = ARROW_LENGTH * size_of(robot)
    ellipsoids = [float(axes[0].max()) / slowest for axes in (now.energy_ellipsoid, now.momentum_ellipsoid)]
    return arrow * max(ellipsoids[0], math.sqrt(3.0)), arrow * ellipsoids[1]  # the first: or a corner of the plane


def lone_bodies(robot: Robot) -> tuple[int, ...]:
    """The floating bodies that carry nothing: of these L and E are those of the construction."""
    carriers = {hinge.parent for hinge in robot.hinges}
    return tuple(i for i in robot.free_bodies if robot.bodies[i].name not in carriers)
