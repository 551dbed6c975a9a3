"""Holds a floating satellite at the origin, in the attitude of the world: a PD law, with an integral of the turn.

In-process:   python examples/controllers/pose_hold.py offline
As a process: rbt node wheel
              python examples/controllers/pose_hold.py
              to real thrusters, docs/testbed.md: ... --ros-args -r wrench/hub:=testbed/wrench
"""

import sys

import numpy as np

from rbt_ros import Wrench
from rbt_ros.core.vec import qturn
from rbt_ros.ros.coupling import rotation_vector

HUB = "hub"
MASS, INERTIA = 12.0, np.array([0.2, 0.2, 0.15])  # [kg, kg·m²]
POLE = 0.5  # [rad/s] of the closed loop: two of force, three of moment
FORCE, MOMENT = 1.0, 0.2  # [N, N·m] that thrusters bring up


class PoseHold:
    """-m (a² p + 2 a v), -I (3 a² θ + 3 a w + a³ ∫ θ dt) in world axes, within the limits; a: POLE, θ: the turn.

    The integral learns a steady moment, as that of gravity on a bearing that is not balanced.
    """

    joints, bodies = False, (HUB,)

    def __init__(self):
        self._sum, self._before_ns = np.zeros(3), None

    def __call__(self, seen):
        """A wrench at the centre of mass of the hub."""
        hub = seen.bodies[HUB]
        velocity, omega = (np.array(qturn(hub.quaternion, x)) for x in (hub.velocity, hub.omega))
        theta = rotation_vector(hub.quaternion)
        if self._before_ns is not None:
            self._sum += theta * (seen.t_ns - self._before_ns) * 1e-9
        self._before_ns = seen.t_ns
        force = -MASS * (POLE**2 * np.array(hub.position) + 2.0 * POLE * velocity)
        moment = -INERTIA * (3.0 * POLE**2 * theta + 3.0 * POLE * omega + POLE**3 * self._sum)
        force, moment = np.clip(force, -FORCE, FORCE), np.clip(moment, -MOMENT, MOMENT)
        return [Wrench(HUB, tuple(force.tolist()), tuple(moment.tolist()), "world", "com")]


def offline(seconds: float = 60.0):
    """The same controller in-process: the result of a run."""
    from rbt_ros.control import run_in_process

    result = run_in_process(PoseHold(), "wheel", seconds)
    digest = result.samples[-1].digest()
    print(f"after {seconds:g} s omega is {result.body(HUB).omega_body[-1]} rad/s, digest {digest}")
    return result


if __name__ == "__main__":
    if "offline" in sys.argv:
        offline()
    else:
        from rbt_ros.ros.controller import spin

        spin(PoseHold())
