"""Turns the CubeSat to the attitude of the world and stops it: a PD law on the quaternion.

In-process:   python examples/controllers/attitude_pd.py offline
As a process: rbt node cubesat --ros-args -p mode:=lockstep -p lockstep.wait_for:=wrench/cubesat -p outputs.odom:=1000.0
              python examples/controllers/attitude_pd.py
"""

import sys

from rbt_ros import Wrench

BODY = "cubesat"
KP, KD = 0.1, 0.1  # [N·m/rad, N·m·s/rad]: a second to settle at 0.03 kg·m²


class AttitudePD:
    """n_B = -kp sign(w) 2 (x, y, z) - kd ω, of q_WB = w x y z: the shorter way round, no singularity."""

    joints, bodies = False, (BODY,)

    def __call__(self, seen):
        """A torque in body axes."""
        w, *vector = seen.bodies[BODY].quaternion
        side = 1.0 if w >= 0.0 else -1.0
        omega = seen.bodies[BODY].omega
        moment = tuple(-2.0 * KP * side * x - KD * u for x, u in zip(vector, omega, strict=True))
        return [Wrench(BODY, moment=moment)]


def offline(seconds: float = 10.0):
    """The same controller in-process: the result of a run."""
    from rbt_ros.control import run_in_process

    result = run_in_process(AttitudePD(), "cubesat", seconds)
    digest = result.samples[-1].digest()
    print(f"after {seconds:g} s omega is {result.body(BODY).omega_body[-1]} rad/s, digest {digest}")
    return result


if __name__ == "__main__":
    if "offline" in sys.argv:
        offline()
    else:
        from rbt_ros.ros.controller import spin

        spin(AttitudePD())
