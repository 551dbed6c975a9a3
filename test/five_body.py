"""The five-body system of the reference file, in its variants, and how far a state is from the reference."""

import json
from pathlib import Path

import numpy as np
from trees import body_row, model_of

from rbt_ros.core.types import JointKind

REFERENCE = json.loads((Path(__file__).parent / "reference" / "r3_fivebody.json").read_text(encoding="utf-8"))
VARIANTS = tuple(REFERENCE["cases"])
HINGES = [(-1, JointKind.SPHERICAL), (0, JointKind.SPHERICAL)] + [(p, JointKind.REVOLUTE) for p in (1, 2, 2)]
AXES = [(0, 0, 1)] * 3 + [(0, 1, 0)] * 2


def five_body(variant):
    """The Model of a variant, from the parameters of the reference file."""
    given = REFERENCE["cases"][variant]["parameters"]
    com = -np.array(given["c_own (CoM->own hinge, body frame)"])
    arms = [np.zeros(3), *map(np.array, given["c_child (parent CoM->hinge, parent frame)"].values())]
    points = [arm + (com[parent] if parent >= 0 else 0.0) for arm, (parent, _) in zip(arms, HINGES, strict=True)]
    rows = [
        body_row(m, c, inertia, point, axis=axis)
        for m, c, inertia, point, axis in zip(
            given["mass"], com, given["inertia_central_diag"], points, AXES, strict=True
        )
    ]
    return model_of(HINGES, rows, given["gravity"])


def start_angles(variant):
    """ψ θ φ of both spherical hinges and the three angles, at t = 0; all rates are zero."""
    return np.array(REFERENCE["cases"][variant]["q0"])


def states(variant):
    """The reference states at 0.5, 1, ... 5 s."""
    return REFERENCE["cases"][variant]["states"][1:]


def attitude_error(quats, state):
    """The largest difference of the bodies' quaternions from a reference state, whatever their signs."""
    expected = np.array(state["body_quat"])
    quats = quats / np.linalg.norm(quats, axis=1)[:, None]
    return np.abs(quats * np.sign((quats * expected).sum(axis=1))[:, None] - expected).max()
