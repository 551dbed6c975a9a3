"""A tree as bodies that float, held together by closures: its twin in maximal coordinates."""

import numpy as np

from rbt_ros.core.kinematics import com_state, kinematics
from rbt_ros.core.types import JointKind, Model
from rbt_ros.core.vec import qturn
from rbt_ros.core.work import workspace
from rbt_ros.errors import ModelError
from rbt_ros.model.build import RobotBuilder
from rbt_ros.model.robot import Robot

CLOSURE = {JointKind.FIXED: "weld", JointKind.REVOLUTE: "revolute", JointKind.SPHERICAL: "point"}


def floating_twin(robot: Robot) -> Robot:
    """The same bodies in the same order, all afloat; every hinge of `robot` is a closure of its name."""
    b = RobotBuilder(robot.name)
    for body in robot.bodies:
        b.body(body.name, mass=body.mass, inertia=body.inertia, com=body.com)
    for hinge in robot.hinges:
        if hinge.kind == JointKind.FREE:
            continue
        if hinge.kind not in CLOSURE:
            raise ModelError(
                f"hinge '{hinge.name}' is {hinge.kind.name.lower()}; maximal coordinates take fixed, revolute, "
                "spherical and free hinges. Put several in a row in its place."
            )
        turned = dict(rotation=hinge.quaternion, axis=qturn(hinge.quaternion, hinge.axis))
        b.closure(hinge.name, CLOSURE[hinge.kind], hinge.parent, hinge.child, at_a=hinge.at, **turned)
    return b.build()


def floating_state(model: Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """y of the twin where the bodies of `model` are at q, v: see `core.maximal`."""
    n = len(model.tree)
    pose, twist, y = np.empty((n, 7)), np.empty((n, 6)), np.empty(13 * n)
    kinematics(model, q, v, workspace(model), pose, twist)
    for i in range(n):
        p_WC, v_WC, w_B = com_state(model, pose, twist, i)
        y[7 * i : 7 * i + 7] = *pose[i, :4], *p_WC
        y[7 * n + 6 * i : 7 * n + 6 * i + 6] = *w_B, *v_WC
    return y
