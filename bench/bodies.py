"""The systems of the engine's benchmarks, described once for all engines.

Body frames lie at the hinges (a free body: at its centre of mass) and are aligned with the world at zero.
"""

from typing import NamedTuple

import numpy as np

import rbt_ros as rbt
from rbt_ros.core.types import NQ, NV, JointKind
from rbt_ros.core.vec import qmul, turn_quat
from rbt_ros.model.coordinates import BodyStart, HingeStart
from rbt_ros.model.inputs import Effort
from rbt_ros.model.scenario import PlannedInput, Scenario

FREE, SPHERICAL, REVOLUTE = JointKind.FREE, JointKind.SPHERICAL, JointKind.REVOLUTE
X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
ORIGIN = (0.0, 0.0, 0.0)


class Part(NamedTuple):
    """A body and its hinge."""

    parent: int
    kind: JointKind
    mass: float
    inertia: tuple  # principal moments about the CoM
    com: tuple = ORIGIN
    at: tuple = ORIGIN  # hinge point in the parent's frame
    axis: tuple = Z


class Path(NamedTuple):
    """A hinge angle that a PD controller follows: kp (r - q) + kd (ṙ - q̇), r straight between the knots."""

    part: int
    times: tuple  # [s]
    angles: tuple  # [rad]

    def at(self, time):
        """r and ṙ; at a knot the rate that follows."""
        k = np.searchsorted(self.times[1:-1], time, side="right")
        slope = (np.diff(self.angles) / np.diff(self.times))[k]
        return np.interp(time, self.times, self.angles), slope


class System(NamedTuple):
    """Bodies, start, gravity along -z. q and v in our order: of a free body q_WB, p_WB and w_WB_B, v_WB."""

    parts: list[Part]
    q: np.ndarray
    v: np.ndarray
    g: float
    paths: tuple[Path, ...] = ()
    kp: float = 0.0  # [N·m/rad]
    kd: float = 0.0  # [N·m·s/rad]


def free_top() -> System:
    """S1: a satellite that tumbles at 51 rad/s."""
    part = Part(-1, FREE, 3.0, (0.0361, 0.0337, 0.00733))
    return System([part], np.array([1.0, 0, 0, 0, 0, 0, 0]), np.array([0, 28.123, 42.55, 0, 0, 0]), 0.0)


def five_bodies() -> System:
    """S2: two rods on spherical hinges, a T and two rods on revolute ones; chaotic."""
    parts = [
        Part(-1, SPHERICAL, 3.0, (4.0, 4.0, 3.6), (0, 0, -1)),
        Part(0, SPHERICAL, 3.0, (4.0, 4.0, 2.4), (0, 0, -1), (0, 0, -2)),
        Part(1, REVOLUTE, 2.0, (1 / 3, 5 / 12, 1 / 12), (0, 0, -1), (0, 0, -2), Z),
        Part(2, REVOLUTE, 1.5, (0.5, 0.5, 0.3), (0, 0, -0.5), (0.5, 0, -1), Y),
        Part(2, REVOLUTE, 1.5, (0.5, 0.5, 0.3), (0, 0, -0.5), (-0.5, 0, -1), Y),
    ]

    def zxz(a, b, c):
        return qmul(qmul(turn_quat(Z, a), turn_quat(X, b)), turn_quat(Z, c))

    q = np.array([*zxz(np.pi, 1, 2), *zxz(1, 2, 1), np.pi, 2.0, -2.0])
    return System(parts, q, np.zeros(9), 9.81)


def three_panels() -> System:
    """S4: three square panels afloat, folded by two controlled hinges, one after the other, and unfolded again."""
    moments = (1.0001 / 12, 1.0001 / 12, 2 / 12)
    parts = [
        Part(-1, FREE, 1.0, moments),
        Part(0, REVOLUTE, 1.0, moments, (0.5, 0, 0), (0.5, 0, 0), Y),
        Part(0, REVOLUTE, 1.0, moments, (0, 0.5, 0), (0, 0.5, 0), X),
    ]
    q = np.array([1.0, 0, 0, 0, -1 / 3, -1 / 3, 0, 0, 0])
    right = np.pi / 2
    times = (0.0, 10.0, 20.0, 30.0, 40.0)
    paths = (Path(1, times, (0.0, right, right, 0.0, 0.0)), Path(2, times, (0.0, 0.0, right, right, 0.0)))
    return System(parts, q, np.zeros(8), 0.0, paths, 5.0, 5.0)


def chain(n: int) -> System:
    """n rods of 1 m in a row, hinges about y and x in turn."""
    parts = [
        Part(i - 1, REVOLUTE, 1.0, (1 / 12, 1 / 12, 0.01), (0, 0, -0.5), (0, 0, -1.0 if i else 0.0), X if i % 2 else Y)
        for i in range(n)
    ]
    rng = np.random.default_rng(n)
    return System(parts, rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), 9.81)


def random_tree(n: int) -> System:
    """n bodies, each on a random earlier one, revolute hinges about random axes: no pattern to exploit."""
    rng = np.random.default_rng(1000 + n)
    parts = []
    for i in range(n):
        axis = rng.normal(size=3)
        parent = i - 1  # or one of its ancestors: numbered depth first, as MuJoCo does
        for _ in range(int(rng.integers(0, 3))):
            parent = parts[parent].parent if parent > 0 else parent
        com, at = rng.uniform(-0.5, 0.5, 3), rng.uniform(-0.5, 0.5, 3)
        moments = rng.uniform(0.05, 0.09, 3)
        parts.append(
            Part(parent, REVOLUTE, 1.0, tuple(moments), tuple(com), tuple(at), tuple(axis / np.linalg.norm(axis)))
        )
    return System(parts, rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), 9.81)


def offsets(system: System) -> list[tuple[JointKind, int, int]]:
    """(kind, place in q, place in v) of each hinge."""
    kinds = [part.kind for part in system.parts]
    q, v = np.cumsum([0, *NQ[kinds]]), np.cumsum([0, *NV[kinds]])
    return [(kind, int(a), int(b)) for kind, a, b in zip(kinds, q, v, strict=False)]


def simulation(system: System, step: float = 1e-3, integrator: str = "rk4") -> rbt.Simulation:
    """The system in our engine, at its start; `reset()` brings it back there."""
    builder, controlled = rbt.RobotBuilder("system"), {path.part for path in system.paths}
    start_bodies, start_hinges, inputs = {}, {}, []
    for i, (part, (kind, k, j)) in enumerate(zip(system.parts, offsets(system), strict=True)):
        q, v = system.q[k : k + NQ[kind]], system.v[j : j + NV[kind]]
        builder.body(f"b{i}", mass=part.mass, inertia=part.inertia, com=part.com)
        if kind == FREE:
            start_bodies[f"b{i}"] = BodyStart(position=q[4:], quaternion=q[:4], velocity=v[3:], omega_body=v[:3])
            continue
        parent = "world" if part.parent < 0 else f"b{part.parent}"
        pd = {"stiffness": system.kp, "damping": system.kd} if i in controlled else {}
        builder.hinge(f"h{i}", kind.name.lower(), parent=parent, child=f"b{i}", at=part.at, axis=part.axis, **pd)
        start_hinges[f"h{i}"] = HingeStart(quaternion=q, omega=v) if kind == SPHERICAL else HingeStart(q[0], v[0])
    for path in system.paths:  # what the spring and the damper lack: kp r + kd ṙ
        times, angles = np.array(path.times), np.array(path.angles)
        rate = rbt.table(times[:-1], system.kd * path.at(times[:-1])[1], between="hold")
        for signal in (rbt.table(times, system.kp * angles), rate):
            inputs.append(PlannedInput(Effort(f"h{path.part}", (1.0,)), signal))
    return rbt.Simulation.of(
        Scenario(
            builder.build(),
            gravity=(0.0, 0.0, -system.g),
            h_ns=round(step * 1e9),
            integrator=integrator,
            start_bodies=start_bodies,
            start_hinges=start_hinges,
            inputs=tuple(inputs),
        )
    )


def poses(system: System, q) -> tuple[np.ndarray, np.ndarray]:
    """R_WB and p_WBcm of all bodies."""
    R, x, origins = [], [], []
    for part, (kind, k, _) in zip(system.parts, offsets(system), strict=True):
        R_WP, p_WP = (R[part.parent], origins[part.parent]) if part.parent >= 0 else (np.eye(3), np.zeros(3))
        if kind == FREE:
            R_WB, p_WB = matrix(q[k : k + 4]), q[k + 4 : k + 7]
        else:
            q_PB = q[k : k + 4] if kind == SPHERICAL else turn_quat(part.axis, float(q[k]))
            R_WB, p_WB = R_WP @ matrix(q_PB), p_WP + R_WP @ part.at
        R.append(R_WB)
        origins.append(p_WB)
        x.append(p_WB + R_WB @ part.com)
    return np.array(R), np.array(x)


def matrix(q) -> np.ndarray:
    """R of a quaternion w x y z."""
    w, u = q[0], np.asarray(q[1:])
    cross = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + (2.0 / (w * w + u @ u)) * (w * cross + cross @ cross)


def state_error(one, other) -> float:
    """Of two `poses`: the largest distance of a centre of mass [m] or attitude [rad]."""
    (R, x), (S, y) = one, other
    turned = np.einsum("nij,nik->njk", R, S) - np.eye(3)
    angle = 2.0 * np.arcsin(np.minimum(1.0, np.linalg.norm(turned, axis=(1, 2)) / np.sqrt(8.0)))
    return float(max(np.linalg.norm(x - y, axis=1).max(), angle.max()))
