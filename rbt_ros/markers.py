"""What RViz shows beside the robot: its shapes, spin and angular momentum, what pushes it, ropes, where it has been.

Arrows show directions; their length is that of the robot, labels tell how much. What is zero but for round-off has no
direction: it is not drawn. Spin and momentum of a free top draw its polhode by eye.
"""

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.invariants import angular_size
from rbt_ros.fields import Fields, Quaternion, Vector3, header
from rbt_ros.model.attitude import IDENTITY, turn_all
from rbt_ros.model.looks import extent, looks, reaches
from rbt_ros.model.robot import WORLD, Robot
from rbt_ros.plug.shapes import TRIANGLES, Shape, corners, kind_of, urdf_parts
from rbt_ros.results import Sample

ARROW, LINE_STRIP, TEXT = 0, 4, 9  # visualization_msgs/Marker
ADD, DELETE = 0, 2
TRAIL, TAIL = 1000, 60  # points of a path; of each, where several bodies would disappear behind their paths
THIN, SMALLEST = 0.02, 0.1  # of the robot's size; [m]
ARROW_LENGTH = 1.2  # of the robot's size
LETTERS, READABLE = 0.13, 0.06  # a capital: of the robot's size, and of all that it can reach
BEYOND = 1.5  # [capitals] from an arrow's tip to its label
SPACE = 0.4  # of a capital: RViz sets spaces of no width if it is not told
ROUND_OFF = 1e-9  # of the sum of what cancels: a smaller vector has no direction
AT_REST = 1e-12  # [rad/s] a turn in 200,000 years
LABELS = {"omega": "omega {:.4g} rad/s", "angular_momentum": "L {:.4g} N m s"} | {
    "force": "F {:.4g} N",
    "moment": "M {:.4g} N m",
}
LINES = {
    "angular_momentum": 0.7,
    "omega": -0.7,
    "force": 2.1,
    "moment": -2.1,
}  # [capitals] above the tip: none hides one


class Color(NamedTuple):
    """std_msgs/ColorRGBA."""

    r: float
    g: float
    b: float
    a: float = 1.0


SPIN, MOMENTUM, FORCE, MOMENT, PATH, TAUT, SLACK = (
    Color(0.2, 0.8, 0.3),
    Color(0.45, 0.65, 1.0),
    Color(1.0, 0.3, 0.2),
    Color(1.0, 0.7, 0.1),
    Color(0.7, 0.7, 0.7),
    Color(0.9, 0.5, 0.1),
    Color(0.5, 0.5, 0.5),
)


class Markers:
    """visualization_msgs/MarkerArray from samples; remembers where the bodies were."""

    def __init__(self, robot: Robot, prefix: str, local: str = ""):
        """local: the frame near the craft in which all is told that is not fixed in a body; empty: the world."""
        self._robot, self._prefix, self._local = robot, prefix, local
        self._origin = np.zeros(3)  # p of the local frame in the world
        self._size, self._letters = size_of(robot), letters_of(robot)
        self._shapes = [m for body in robot.bodies for shape in looks(body) for m in shape_markers(body.name, shape)]
        self._coms = np.array([body.com for body in robot.bodies])
        points = TRAIL if len(robot.bodies) == 1 else max(2, min(TAIL, TRAIL // len(robot.bodies)))
        self._trails: list[deque] = [deque(maxlen=points) for _ in robot.bodies]
        self._last_tick = -1

    def __call__(self, sample: Sample, stamp: int) -> Fields:
        """All markers of one instant."""
        coms = sample.pose[:, 4:] + turn_all(sample.pose[:, :4], self._coms)
        if sample.tick < self._last_tick:  # it was reset
            for trail in self._trails:
                trail.clear()
        if sample.tick != self._last_tick:
            for trail, com in zip(self._trails, coms, strict=True):
                trail.append(com)
        self._last_tick = sample.tick
        if self._local:
            self._origin = local_origin(self._robot, sample)
        arrows = [*self._spins(sample, coms), *self._momentum(sample, coms), *self._loads(sample)]
        shapes = [{**each} for each in self._shapes]
        markers = [*shapes, *arrows, *self._ropes(sample), *self._paths()]
        return numbered(markers, self._prefix, stamp)

    def _spins(self, sample: Sample, coms: np.ndarray) -> list[Fields]:
        """w_WB of each body that floats or hangs on the world, at its centre of mass."""
        least = max(AT_REST, ROUND_OFF * float(np.linalg.norm(sample.twist[:, :3], axis=1).max()))
        return [
            fields
            for i, hinge in enumerate(self._robot.hinges)
            if hinge.parent == WORLD
            for fields in self._arrow("omega", coms[i], sample.twist[i, :3], SPIN, least)
        ]

    def _momentum(self, sample: Sample, coms: np.ndarray) -> list[Fields]:
        """L of all about the common centre of mass; nothing where all are at rest but for round-off."""
        p_WC, L = np.array(sample.com), np.array(sample.angular_momentum_com)
        model = self._robot.model
        v_WC = np.array(sample.momentum) / model.body[:, t.MASS].sum()
        w_B = turn_all(sample.pose[:, :4] * [1, -1, -1, -1], sample.twist[:, :3])
        size = angular_size(model, sample.pose, sample.twist, w_B, tuple(p_WC.tolist()), tuple(v_WC.tolist()))
        polar = model.body[:, t.MASS] @ ((coms - p_WC) ** 2).sum(axis=1)
        polar += 0.5 * model.body[:, t.INERTIA : t.INERTIA + 3].sum()
        return self._arrow("angular_momentum", p_WC, L, MOMENTUM, max(ROUND_OFF * size, AT_REST * polar))

    def _loads(self, sample: Sample) -> list[Fields]:
        """Force and moment of every wrench that acts, at the point where it does; two per body, or deleted."""
        rows = {int(row[t.LOAD_BODY]): row for row in sample.load}
        found = []
        for i, body in enumerate(self._robot.bodies):
            force = moment = at = np.zeros(3)
            if (row := rows.get(i)) is not None:
                q, p = sample.pose[i, :4], sample.pose[i, 4:]
                vectors = [row[k : k + 3] for k in (t.LOAD_POINT, t.LOAD_FORCE, t.LOAD_MOMENT)]
                arm, force_W, moment_W = turn_all(np.tile(q, (3, 1)), np.array([body.com + vectors[0], *vectors[1:]]))
                at, force, moment = p + arm, force_W, moment_W
                if row[t.LOAD_FRAME] == t.WORLD_AXES:
                    force, moment = vectors[1:]
            found += [*self._arrow("force", at, force, FORCE), *self._arrow("moment", at, moment, MOMENT)]
        return found

    def _ropes(self, sample: Sample) -> list[Fields]:
        """From end to end; of other colour where they are slack."""
        found = []
        for rope in self._robot.ropes:
            ends = [self._place(sample, *end) for end in ((rope.body_a, rope.at_a), (rope.body_b, rope.at_b))]
            color = TAUT if sample.ropes[rope.name].tension > 0.0 else SLACK
            line = {
                "scale": Vector3(0.5 * THIN * self._size, 0.0, 0.0),
                "points": points_of(np.array(ends) - self._origin),
            }
            found.append(marker("ropes", self._local or WORLD, LINE_STRIP, color) | line)
        return found

    def _place(self, sample: Sample, body: str, at: Any) -> np.ndarray:
        """Of a point in the frame of a body, or of the world [m]."""
        if body == WORLD:
            return np.array(at, dtype=float)
        pose = sample.pose[self._robot.body_index(body)]
        return pose[4:] + turn_all(pose[None, :4], np.array([at], dtype=float))[0]

    def _paths(self) -> list[Fields]:
        """Where the bodies' centres of mass were at the last publications."""
        found = []
        for body, trail in zip(self._robot.bodies, self._trails, strict=True):
            color = Color(*body.shapes[0].rgba[:3]) if len(self._trails) > 1 and body.shapes else PATH
            width = {"scale": Vector3(0.5 * THIN * self._size, 0.0, 0.0)}
            points = {"points": points_of(np.array(trail) - self._origin)}
            found.append(marker("path", self._local or WORLD, LINE_STRIP, color) | width | points)
        return found

    def _arrow(self, name: str, start: np.ndarray, along: np.ndarray, color: Color, least: float = 0.0) -> list[Fields]:
        """From `start`, world axes, and a label at its tip; deleted where there is no direction: |along| <= least."""
        length, frame = float(np.linalg.norm(along)), self._local or WORLD
        arrow, label = marker(name, frame, ARROW, color), marker("labels", frame, TEXT, color)
        if length <= least:
            return [arrow | {"action": DELETE, "points": []}, label | {"action": DELETE}]
        ends = np.array([start, start + along / length * (ARROW_LENGTH * self._size)]) - self._origin
        scale = Vector3(THIN * self._size, 2.5 * THIN * self._size, 0.0)  # shaft, head
        away = along / length * BEYOND + [0.0, 0.0, LINES[name]]
        label["pose"]["position"] = Vector3(*(ends[1] + self._letters * away).tolist())
        told = {"text": LABELS[name].format(length), "scale": Vector3(SPACE * self._letters, 0.0, self._letters)}
        return [arrow | {"points": points_of(ends), "scale": scale}, label | told]


def size_of(robot: Robot) -> float:
    """How large what is drawn is [m]: as the largest body, on a rope up to five times as large, so that it is seen."""
    largest = max([SMALLEST, *(extent(body) for body in robot.bodies)])
    return max([largest, *(min(0.3 * rope.length, 5.0 * largest) for rope in robot.ropes)])


def letters_of(robot: Robot) -> float:
    """Height of a capital [m]: also where long chains make the picture wide it can be read."""
    return max(LETTERS * size_of(robot), READABLE * max(reaches(robot)))


def local_origin(robot: Robot, sample: Sample) -> np.ndarray:
    """p of the local frame in the world [m]: it goes with the first floating body, and does not turn."""
    return sample.pose[robot.free_bodies[0], 4:]


def points_of(rows: np.ndarray) -> list[Fields]:
    """geometry_msgs/Point of each row."""
    return [dict(zip("xyz", row, strict=True)) for row in rows.tolist()]


def numbered(markers: list[Fields], prefix: str, stamp: int) -> Fields:
    """visualization_msgs/MarkerArray of one instant."""
    for k, each in enumerate(markers):
        each["id"] = k
        each["header"] = header(stamp, prefix + each["header"])
    return {"markers": markers}


def marker(name: str, frame: str, kind: int, color: Color) -> Fields:
    """A marker at the origin of `frame`; what is not named here stays as it is in every message."""
    pose = {"position": Vector3(0.0, 0.0, 0.0), "orientation": Quaternion(*IDENTITY)}
    fields: dict[str, Any] = {"header": frame, "ns": name, "type": kind, "action": ADD, "pose": pose, "color": color}
    return fields


def shape_markers(body: str, shape: Shape) -> list[Fields]:
    """One; or those of its parts, where they are the shape and less to send."""
    return [shape_marker(body, part) for part in (urdf_parts(shape) if kind_of(shape).composed else [shape])]


def shape_marker(body: str, shape: Shape) -> Fields:
    """A primitive, mesh or list of triangles in the frame of its body, with which RViz moves it."""
    kind = kind_of(shape)
    triangles = {"points": points_of(corners(shape).reshape(-1, 3))} if kind.marker == TRIANGLES else {}
    return (
        marker("shapes", body, kind.marker, Color(*shape.rgba))
        | triangles
        | {
            "pose": {"position": Vector3(*shape.at), "orientation": Quaternion(*shape.quaternion)},
            "scale": Vector3(*kind.scale(shape)),
            "frame_locked": True,
            "mesh_resource": shape.file,
        }
    )
