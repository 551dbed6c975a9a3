"""Turns three panels in an L to an attitude, by folding alone: plans, flies a turn, looks, corrects what is left.

In-process:   python examples/controllers/fold_to_attitude.py offline
As a process: rbt node l_shape_at_rest --ros-args -p mode:=lockstep -p lockstep.wait_for:=hinge_trajectory \\
                  -p lockstep.every:=5000 -p lockstep.deadline:=60.0 \\
                  -p outputs.odom:=0.04 -p outputs.joint_states:=0.04 \\
                  -p hinges.psi1.mode:=position -p hinges.psi1.kp:=100.0 -p hinges.psi1.kd:=40.0 \\
                  -p hinges.psi2.mode:=position -p hinges.psi2.kp:=100.0 -p hinges.psi2.kd:=40.0
              python examples/controllers/fold_to_attitude.py --ros-args -p target:="[0.0, 0.6, 0.8, 0.0]"
In mode realtime leave out what begins with lockstep and outputs; other targets are taken on /target_pose at any time.
"""

import sys

import rbt_ros as rbt
from rbt_ros.control import in_process

SCENARIO = "l_shape_at_rest"
TARGET = (0.9, 0.3, -0.2, 0.24494897427831783)  # w x y z
MARGIN = 0.004  # [m] that panels keep: a hinge that rests is held, not locked, and gives way a little


class FoldToAttitude(rbt.modular.Steering):
    """The library's `Steering` of the L-shape: one look every 25 s, each turn a trajectory of 24 s."""

    def __init__(self, target=TARGET):
        super().__init__(rbt.modular.Planner(rbt.modular.l_shape(), margin=MARGIN), target)


def offline(seconds: float = 500.0, target=TARGET):
    """The same controller in-process: the result of a run."""
    controller = FoldToAttitude(target)
    sim = rbt.load(SCENARIO).simulation()
    sim.command(controller.settings)
    result = sim.run(until=seconds, every=controller.period, controller=in_process(controller))
    print(f"after {seconds:g} s it is {controller.error:.2g} rad off, digest {result.samples[-1].digest()}")
    return result


if __name__ == "__main__":
    if "offline" in sys.argv:
        offline()
    else:
        from rbt_ros.ros.controller import spin

        spin(FoldToAttitude())
