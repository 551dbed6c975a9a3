"""Turns a satellite about z with its reaction wheel: the wheel is an ordinary hinge, driven by its effort.

In-process:   python examples/controllers/reaction_wheel.py offline
As a process: rbt node wheel --ros-args -p mode:=lockstep
              python examples/controllers/reaction_wheel.py
"""

import math
import sys

from rbt_ros.model.hinge_commands import HingeCommand

HUB, WHEEL = "hub", "wheel_axis"
KP, KD, LIMIT = 0.15, 0.3, 0.05  # [N·m/rad, N·m·s/rad, N·m]


class ReactionWheel:
    """Torque on the hub -kp yaw - kd ω_z, within the motor's limit; the effort on the wheel is its reaction."""

    joints, bodies = True, (HUB,)

    def __call__(self, seen):
        """An effort on the wheel."""
        w, _, _, z = seen.bodies[HUB].quaternion
        yaw = 2.0 * math.atan2(z, w) if w >= 0.0 else 2.0 * math.atan2(-z, -w)
        torque = -KP * yaw - KD * seen.bodies[HUB].omega[2]
        return [HingeCommand((WHEEL,), effort=(-max(-LIMIT, min(LIMIT, torque)),))]


def offline(seconds: float = 30.0):
    """The same controller in-process: the result of a run."""
    from rbt_ros.control import run_in_process

    result = run_in_process(ReactionWheel(), "wheel", seconds)
    digest = result.samples[-1].digest()
    print(f"after {seconds:g} s the wheel spins at {result.hinge(WHEEL).rate[-1]:.3f} rad/s, digest {digest}")
    return result


if __name__ == "__main__":
    if "offline" in sys.argv:
        offline()
    else:
        from rbt_ros.ros.controller import spin

        spin(ReactionWheel())
