"""What a change of modes does to the velocities: one plastic impact."""

from typing import NamedTuple

import numpy as np

from rbt_ros.core import impact
from rbt_ros.core.invariants import kinetic_energy
from rbt_ros.core.kinematics import kinematics, spins
from rbt_ros.core.types import Input, Model
from rbt_ros.core.work import Work, model_size
from rbt_ros.model.assembly import Loops


class Motion(NamedTuple):
    """How all bodies move."""

    pose: np.ndarray  # (n, 7) [q_WB, p_WB] of the engine's origins
    twist: np.ndarray  # (n, 6) [w_WB, v_WB] of the same, world axes
    com_twist: np.ndarray  # (n, 6) [w_WB, v_WBcm]
    spin: np.ndarray  # (n, 3) w_WB, body axes


def motion_of(model: Model, motion: np.ndarray, work: Work) -> Motion:
    """All bodies at [q, v]."""
    n, (nq, _) = len(model.tree), model_size(model)
    pose, twist, com_twist, spin = np.empty((n, 7)), np.empty((n, 6)), np.empty((n, 6)), np.empty((n, 3))
    kinematics(model, motion[:nq], motion[nq:], work, pose, twist)
    spins(model, motion[:nq], motion[nq:], work, spin)
    impact.com_twists(model, pose, twist, com_twist)
    return Motion(pose, twist, com_twist, spin)


def collide(
    model: Model, motion: np.ndarray, before: np.ndarray, work: Work, loops: Loops | None, input: Input, t_ns: int
) -> tuple[float, float]:
    """Energy lost (Carnot), and kinetic energy left [J]; the velocities in `motion` = [q, v] become those after.

    before (n, 6): [w_WB, v_WBcm] of all bodies. loops: constraints that must be kept too.
    """
    nq, nv = model_size(model)
    n = len(before)
    pose, twist, spin, scratch = np.empty((n, 7)), np.empty((n, 6)), np.empty((n, 3)), np.empty((6, nv))
    M, L, p, change = np.empty((nv, nv)), np.empty((nv, nv)), np.empty(nv), np.empty(nv)
    q, v = motion[:nq], motion[nq:]
    if loops:  # positions first, for momenta depend on them
        loops.keep(motion, input, t_ns)
    impact.keep_momenta(model, q, before, work, pose, twist, scratch, M, L, p, change, v)
    if loops:
        loops.keep(motion, input, t_ns)
    kinematics(model, q, v, work, pose, twist)
    spins(model, q, v, work, spin)
    lost = impact.carnot(model, before, pose, twist)
    return lost, kinetic_energy(model, pose, twist, spin)
