"""Gains of the PD controllers in the hinges, in proportion to what the hinges move; and the step that they need.

With S the mass matrix of the hinges at momentum zero, S psï + kd psi̇ + kp (psi - set-point) = 0. Gains in proportion
to I_j = 1/(λ (S⁻¹)_jj), what hinge j feels where all others are free, over λ, the largest eigenvalue of S⁻¹ with its
diagonal made one, give arrays of any size, mass and number of hinges the same fastest pole: one step serves them all.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.errors import ScenarioError
from rbt_ros.model.checks import number
from rbt_ros.model.hinge_commands import HingeSetting, HingeSettings
from rbt_ros.model.robot import Robot
from rbt_ros.modular.paths import ShapePath
from rbt_ros.modular.turns import Folding

THESIS = (5.0, 5.0)  # kp [N·m/rad], kd [N·m·s/rad] of the L-shape with panels of 1 m and 1 kg (Eqs. 3.5 and 4.3)
STIFF = (100.0, 40.0)  # likewise: the corners of a smooth path within 1e-4 rad
L_SHAPE = 0.05952959182701682  # [kg·m²] I of both its hinges, flat
FIGURES = 6  # of default gains
LOOKS = 8  # shapes on each piece of a path
JUMPING, SMOOTH = 0.9, 3.5  # of step times fastest pole: set-points that jump 1e-8 of an attitude off; dop853 ends at 6
FINEST = 78125e-9  # [s]: 10 ms and 5 ms are whole ns down to it


class Gains(NamedTuple):
    """Of each joint of the shape."""

    joints: tuple[str, ...]
    kp: np.ndarray  # [N·m/rad, N/m]
    kd: np.ndarray  # [N·m·s/rad, N·s/m]

    @property
    def settings(self) -> HingeSettings:
        """For `Simulation.command`, or as a node's parameters."""
        rows = zip(self.joints, self.kp.tolist(), self.kd.tolist(), strict=True)
        return HingeSettings(tuple(HingeSetting(joint, "position", kp, kd) for joint, kp, kd in rows))

    def __str__(self) -> str:
        return f"kp {_range(self.kp)}, kd {_range(self.kd)}"


def gains(robot: Robot, kp: float | None = None, kd: float | None = None, like: tuple[float, float] = THESIS) -> Gains:
    """kp, kd for all hinges; None: those that move a hinge as `like` moves the L-shape of the thesis."""
    inertia = _inertias(Folding(robot))
    found = []
    for name, given, usual in zip(("kp", "kd"), (kp, kd), like, strict=True):
        scaled = [float(f"{usual * x / L_SHAPE:.{FIGURES}g}") for x in inertia]
        found.append(np.array(scaled if given is None else len(inertia) * [number(given, name)]))
    return Gains(robot.joint_names, *found)


def _inertias(folding: Folding) -> np.ndarray:
    """I of all joints [kg·m², kg], flat."""
    inverse = np.linalg.inv(folding.reduced_inertias(np.zeros((1, folding.size)))[0])
    alone = np.sqrt(np.diag(inverse))
    return 1.0 / (alone**2 * np.linalg.eigvalsh(inverse / np.outer(alone, alone)).max(initial=1.0))


def step_for(
    folding: Folding, gains: Gains, path: ShapePath, limit: float, longest: float, locking: bool = True
) -> float:
    """[s]: `longest`, or its half, its quarter, ... that is `limit` or less times the fastest pole on the path.

    locking: hinges that a piece of the path does not move are locked on it; else their controllers hold them.
    """
    pole, step = _fastest(folding, gains, path, locking), longest
    while step * pole > limit:
        step *= 0.5
        if step < FINEST:
            raise ScenarioError(
                f"robot '{folding.robot.name}': with {gains} its hinges settle at {pole:.3g} 1/s, which takes steps "
                f"below {FINEST:g} s; give smaller gains, or none: they then go by the inertia."
            )
    return step


def _fastest(folding: Folding, gains: Gains, path: ShapePath, locking: bool) -> float:
    """[1/s] the largest |s| of det(S s² + kd s + kp) = 0 along a path, S of the hinges that are not locked."""
    count, columns = len(path.pieces), [folding.column(joint) for joint in path.joints]
    places, slopes = path.at((np.arange(count)[:, None] + np.linspace(0.0, 0.999, LOOKS)).ravel())
    shapes = np.zeros((len(places), folding.size))
    shapes[:, columns] = places
    S = folding.reduced_inertias(shapes).reshape(count, LOOKS, folding.size, folding.size)
    moves = np.zeros((count, folding.size), dtype=bool)
    moves[:, columns] = slopes.reshape(count, LOOKS, -1).any(axis=1)
    for hinge in folding.robot.hinges[1:]:
        axes = [folding.column(joint) for joint in hinge.joint_names]
        moves[:, axes] = moves[:, axes].any(axis=1, keepdims=True) | (not locking)
    fastest = 0.0
    for loose in np.unique(moves, axis=0):
        if loose.any():
            some, n = S[(moves == loose).all(axis=1)][..., loose, :][..., loose], loose.sum()
            companion = np.zeros((*some.shape[:2], 2 * n, 2 * n))
            companion[..., :n, n:] = np.eye(n)
            companion[..., n:, :] = -np.linalg.solve(some, np.hstack([np.diag(k[loose]) for k in (gains.kp, gains.kd)]))
            fastest = max(fastest, float(np.abs(np.linalg.eigvals(companion)).max()))
    return fastest


def _range(values: np.ndarray) -> str:
    low, high = values.min(), values.max()
    return f"{low:g}" if low == high else f"{low:g} to {high:g}"
