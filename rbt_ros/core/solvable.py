"""Whether a model's motion is determined: its mass matrix must be positive definite.

Massless links, point masses and thin rods are fine as long as every freedom moves some mass. Where none does, the
recursion divides by zero; this finds out beforehand, and in which direction.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.core.kinematics import kinematics
from rbt_ros.core.mass_matrix import mass_matrix
from rbt_ros.core.types import KIND, NV, SLIDES, TURNS, JointKind, Q, V
from rbt_ros.core.work import II, MM, model_size, workspace

CONFIGURATIONS = 4
STILL = 1e-5  # of the fastest: what moves mass and is slower than this has an energy that is round-off


class Undetermined(NamedTuple):
    """A direction in which nothing resists: `velocity` (nv,) moves no mass; `body` moves, and its hinge the most."""

    body: int
    velocity: np.ndarray


def undetermined(model) -> Undetermined | None:
    """The direction in which the motion is not determined at any of a few random configurations, None if it is.

    A matrix that is singular at a single configuration only (a stretched chain of point masses) passes: what is
    identically singular is singular at a random one. M is scaled to a unit diagonal first, so that units and light
    links beside heavy ones do not matter; below n 100 eps an eigenvalue is round-off.
    """
    nq, nv = model_size(model)
    if nv == 0:
        return None
    rng = np.random.default_rng(0)
    work, M = workspace(model), np.zeros((nv, nv))
    for _ in range(CONFIGURATIONS):
        q = _random_coordinates(rng, model, nq)
        mass_matrix(model, q, work, M)
        inertia, carried = np.diag(M), _carried(model, work)
        dead = inertia <= 100 * np.finfo(float).eps * carried
        if dead.any():
            velocity = dead / np.sqrt(dead.sum())
        else:
            size = np.sqrt(inertia)
            values, vectors = np.linalg.eigh(M / np.outer(size, size))
            if values[0] > 100 * nv * np.finfo(float).eps:
                return None
            velocity = vectors[:, 0] / size
            velocity /= np.linalg.norm(velocity)
    shares = np.array([np.linalg.norm(velocity[row[V] : row[V] + NV[row[KIND]]]) for row in model.tree])
    pose, twist = np.empty((len(shares), 7)), np.empty((len(shares), 6))
    kinematics(model, q, velocity, work, pose, twist)
    moves = np.abs(twist).max(axis=1)
    shares[moves <= STILL * moves.max()] = 0.0  # what hangs on the culprit may turn back on its own hinge
    return Undetermined(int(np.argmax(shares)), velocity)


def _carried(model, work):
    """(nv,) the trace of the inertia or mass that hangs on each freedom: the size its own inertia is measured by."""
    total = np.zeros(model.freedom.shape[0])
    for row, held in zip(model.tree, work.bodies.table, strict=False):
        kind, j = row[KIND], row[V]
        for k in range(j, j + NV[kind]):
            turns, slides = model.freedom[k, TURNS : SLIDES + 1]
            total[k] = turns * turns * held[II : II + 3].sum() + slides * slides * held[MM : MM + 3].sum()
    return total


def _random_coordinates(rng, model, nq):
    q = rng.uniform(-1.0, 1.0, nq)
    for row in model.tree:
        if row[KIND] in (JointKind.SPHERICAL, JointKind.FREE):
            attitude = q[row[Q] : row[Q] + 4]
            attitude /= np.linalg.norm(attitude)
    return q
