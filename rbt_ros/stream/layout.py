"""How a Sample becomes one row of float32: first what a picture needs, then what plots and panels show as well."""

from typing import Any, NamedTuple

import numpy as np

from rbt_ros.core import types as t
from rbt_ros.core.vec import qturn
from rbt_ros.model.robot import Robot
from rbt_ros.results import Result, Sample

POSE = 10  # numbers per body: p_WB, q_WB (w x y z), w_WB in world axes
LOAD = 9  # numbers per body: force, moment, and the place of the force, world axes
SCALARS = (  # name, unit; the order of `_scalars`
    ("com.x", "m"),
    ("com.y", "m"),
    ("com.z", "m"),
    ("L.x", "N·m·s"),
    ("L.y", "N·m·s"),
    ("L.z", "N·m·s"),
    ("P.x", "kg·m/s"),
    ("P.y", "kg·m/s"),
    ("P.z", "kg·m/s"),
    ("energy.kinetic", "J"),
    ("energy.potential", "J"),
    ("drift.energy", ""),
    ("drift.L", ""),
    ("drift.q", ""),
)


class Part(NamedTuple):
    """A run of numbers in the row."""

    first: int
    size: int


class Layout:
    """Where everything stands in the row of a robot."""

    def __init__(self, robot: Robot):
        n = len(robot.bodies)
        self.robot = robot
        self.joints = robot.joint_names
        places = [robot.joint_place(joint) for joint in self.joints]
        self._q = _picked([q for _, q, _ in places])
        self._v = _picked([v for _, _, v in places])
        self._ropes = tuple(rope.name for rope in robot.ropes)
        counts = (
            ("pose", POSE * n),
            ("scalars", len(SCALARS)),
            ("velocity", 3 * n),
            ("position", len(self.joints)),
            ("rate", len(self.joints)),
            ("load", LOAD * n),
            ("tension", len(self._ropes)),
        )
        self.parts, first = {}, 0
        for name, count in counts:
            self.parts[name] = Part(first, count)
            first += count
        self.size = first  # of the row
        self.fast = POSE * n  # what a picture needs

    def described(self) -> dict[str, Any]:
        """For the page."""
        return {
            "size": self.size,
            "fast": self.fast,
            "parts": {name: list(part) for name, part in self.parts.items()},
            "scalars": [list(scalar) for scalar in SCALARS],
            "joints": list(self.joints),
        }

    def part(self, row: np.ndarray, name: str) -> np.ndarray:
        """A view of that part of `row`, or of many rows."""
        first, size = self.parts[name]
        return row[..., first : first + size]

    def filler(self, row: np.ndarray) -> "Filler":
        """What writes samples into `row`, floats of this size."""
        return Filler(self, row)

    def rows(self, result: Result) -> np.ndarray:
        """(N, size) of a whole Result."""
        rows = np.zeros((len(result.samples), self.size), dtype=np.float32)
        for row, sample in zip(rows, result.samples, strict=True):
            self.filler(row)(sample)
        return rows


class Filler:
    """Writes samples into one row; keeps its views."""

    def __init__(self, layout: Layout, row: np.ndarray):
        n = len(layout.robot.bodies)
        self._layout = layout
        pose = layout.part(row, "pose").reshape(n, POSE)
        self._p, self._q, self._w = pose[:, :3], pose[:, 3:7], pose[:, 7:]
        self._v = layout.part(row, "velocity").reshape(n, 3)
        self._scalars = layout.part(row, "scalars")
        self._position, self._rate = layout.part(row, "position"), layout.part(row, "rate")
        self._load = layout.part(row, "load").reshape(n, LOAD)
        self._tension = layout.part(row, "tension")
        self._loaded = False

    def __call__(self, sample: Sample) -> None:
        """The row becomes that of `sample`."""
        layout, pose, twist = self._layout, sample.pose, sample.twist
        self._p[:], self._q[:] = pose[:, 4:], pose[:, :4]
        self._w[:], self._v[:] = twist[:, :3], twist[:, 3:]
        energy, kept = sample.energy, sample.conservation
        self._scalars[:] = (
            *sample.com,
            *sample.angular_momentum_com,
            *sample.momentum,
            energy.kinetic,
            energy.potential,
            kept.energy,
            kept.angular_momentum,
            kept.quaternion,
        )
        if layout.joints:
            self._position[:] = sample.q[layout._q]
            self._rate[:] = sample.v[layout._v]
        if self._loaded or len(sample.load):
            self._loaded = bool(len(sample.load))
            self._put_loads(sample)
        if layout._ropes:
            self._tension[:] = [sample.ropes[name].tension for name in layout._ropes]

    def _put_loads(self, sample: Sample) -> None:
        """Sums of force and moment per body; the place is that of the last force."""
        self._load[:] = 0.0
        for row in sample.load:
            i = int(row[t.LOAD_BODY])
            q, p = tuple(sample.pose[i, :4].tolist()), sample.pose[i, 4:]
            point, moment, force = (tuple(row[k : k + 3].tolist()) for k in (t.LOAD_POINT, t.LOAD_MOMENT, t.LOAD_FORCE))
            if row[t.LOAD_FRAME] == t.BODY_AXES:
                moment, force = qturn(q, moment), qturn(q, force)
            com = self._layout.robot.bodies[i].com
            self._load[i, :3] += force
            self._load[i, 3:6] += moment
            self._load[i, 6:] = p + qturn(q, tuple(c + x for c, x in zip(com, point, strict=True)))


def _picked(places: list[int]) -> slice | np.ndarray:
    """These places of an array; one after the other as a slice, which costs half."""
    first = places[0] if places else 0
    in_a_row = places == list(range(first, first + len(places)))
    return slice(first, first + len(places)) if in_a_row else np.array(places, dtype=int)
