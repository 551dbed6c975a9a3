"""Lets the wrist of the five rods follow a sine: a PD law that sends efforts, by joint_states alone.

In-process:   python examples/controllers/hinge_pd.py offline
As a process: rbt node five_body --ros-args -p mode:=lockstep
              python examples/controllers/hinge_pd.py
"""

import math
import sys

from rbt_ros.model.hinge_commands import HingeCommand

JOINT = "wrist"
KP, KD = 200.0, 20.0  # [N·m/rad, N·m·s/rad]
AMPLITUDE, RATE = 0.5, 2.0  # [rad, rad/s]


class HingePD:
    """τ = kp (r - q) + kd (ṙ - q̇), r = the wrist's angle at its first sight + A (1 - cos Ω t)."""

    joints, bodies = True, ()

    def __init__(self):
        self._start = None

    def __call__(self, seen):
        """An effort on the joint."""
        position, velocity = seen.joints[JOINT]
        if self._start is None:
            self._start = position
        r = self._start + AMPLITUDE * (1.0 - math.cos(RATE * seen.t))
        r_dot = AMPLITUDE * RATE * math.sin(RATE * seen.t)
        return [HingeCommand((JOINT,), effort=(KP * (r - position) + KD * (r_dot - velocity),))]


def offline(seconds: float = 5.0):
    """The same controller in-process: the result of a run."""
    from rbt_ros.control import run_in_process

    result = run_in_process(HingePD(), "five_body", seconds)
    digest = result.samples[-1].digest()
    print(f"after {seconds:g} s the wrist is at {result.hinge(JOINT).angle[-1]:.6f} rad, digest {digest}")
    return result


if __name__ == "__main__":
    if "offline" in sys.argv:
        offline()
    else:
        from rbt_ros.ros.controller import spin

        spin(HingePD())
