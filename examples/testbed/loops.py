"""Each stand-in in its loop with a controller and a simulated satellite, without ROS: what happens over ten minutes.

    python examples/testbed/loops.py [motor | table | sphere] [seconds]

The same loops run over topics with `stand_in.py` as a process of its own: docs/testbed.md.
"""

import math
import sys
from pathlib import Path

import numpy as np
from plants import STEP, Line, Motor, air_table, spherical_bearing

import rbt_ros as rbt
from rbt_ros.control import observation
from rbt_ros.model.inputs import WrenchCommand
from rbt_ros.ros.coupling import Coupling, pose_of, rotation_vector, unit_quaternion
from rbt_ros.ros.measured_samples import Filter, Limits

sys.path.insert(0, str(Path(__file__).parents[1] / "controllers"))

TICKS = round(STEP * 1e3)  # of 1 ms
BANDWIDTH = 5.0  # [Hz] of the coupling to a measured pose
KEEP = 20  # loops from one row of the result to the next


def motor_loop(seconds):
    """The shipped reaction-wheel controller turns the simulated hub with a real wheel. Rows: t, yaw, wheel's rate."""
    from reaction_wheel import HUB, WHEEL, ReactionWheel

    sim, motor, line, controller = rbt.load("wheel").simulation(), Motor(), Line(), ReactionWheel()
    sim.prescribe(WHEEL, rbt.Measured(delay=0.02, timeout=0.2))
    filter, rows, momentum = Filter(Limits(cutoff=20.0)), [], sim.sample().angular_momentum_com
    drift = 0.0
    for k in range(round(seconds / STEP)):
        (action,) = controller(observation(controller, sim.robot, sim.sample()))
        came = line.send((k, motor.step(action.effort[0])))
        if came is not None:
            (sent, angle), age = came
            judged = filter.judge(round(sent * STEP * 1e9) + 1, sim.t_ns + 1, (angle,))
            sim.command(rbt.Measurement((WHEEL,), judged.values, judged.rates, age))
        sim.advance(TICKS)
        if k % KEEP == 0:
            sample = sim.sample()
            q = sample.pose[sim.robot.body_index(HUB), :4]
            drift = max(drift, float(np.linalg.norm(np.subtract(sample.angular_momentum_com, momentum))))
            rows.append((sample.t, 2.0 * math.atan2(q[3], q[0]), float(sample.v[-1])))
    return np.array(rows), drift / float(np.linalg.norm(momentum))


def pose_loop(bearing, seconds):
    """The hub of a simulated satellite follows the real vehicle, which the controller drives by the simulated hub.

    Rows: t, distance from the goal [m], turn from it [rad], distance and turn between the vehicle and its image.
    """
    from pose_hold import PoseHold

    controller = PoseHold()
    sim, line, filter, rows = rbt.load("wheel").simulation(), Line(), Filter(Limits(cutoff=10.0)), []
    i, before, force, moment = sim.robot.body_index("hub"), None, np.zeros(3), np.zeros(3)
    coupling = Coupling(sim.robot, "hub", BANDWIDTH, 200_000_000)
    p, q = bearing.pose()
    sim.set_body("hub", position=p, quaternion=q, velocity=(0, 0, 0), omega_body=(0, 0, 0))
    for k in range(round(seconds / STEP)):
        came = line.send((k, *bearing.step(force, moment)))
        if came is not None:
            (sent, p, q), _ = came
            before = unit_quaternion(q, before)
            judged = filter.judge(round(sent * STEP * 1e9) + 1, sim.t_ns + 1, (*p, *before))
            coupling.follow(pose_of(judged.values, judged.rates), sim.t_ns, judged.age_ns)
        if (wrench := coupling.wrench(sim.sample(), sim.t_ns)) is not None:
            sim.command(WrenchCommand(wrench, round(STEP * 1e9)))
        sim.advance(TICKS)
        sample = sim.sample()
        (action,) = controller(observation(controller, sim.robot, sample))
        force, moment = action.force, action.moment
        if k % KEEP == 0:
            real = bearing.sim.sample().pose[0]
            off = rotation_vector(tuple(sample.pose[i, :4])), rotation_vector(tuple(real[:4]))
            far = np.linalg.norm(sample.pose[i, 4:]), np.linalg.norm(off[0])
            apart = np.linalg.norm(sample.pose[i, 4:] - real[4:]), np.linalg.norm(off[0] - off[1])
            rows.append((sample.t, *far, *apart))
    return np.array(rows)


def table_loop(seconds):
    """The air-bearing table goes to the middle and stays."""
    return pose_loop(air_table(), seconds)


def sphere_loop(seconds):
    """The spherical bearing comes upright against the pull of its off-centre mass, which an integral learns."""
    return pose_loop(spherical_bearing(), seconds)


def main():
    name, seconds = (sys.argv[1:] + ["motor"])[0], float((sys.argv[2:] + ["600"])[0])
    if name == "motor":
        rows, drift = motor_loop(seconds)
        print(
            f"{rows[-1, 0]:g} s: yaw {rows[-1, 1]:.2e} rad, wheel {rows[-1, 2]:.3f} rad/s, momentum drift {drift:.1e}"
        )
    else:
        rows = {"table": table_loop, "sphere": sphere_loop}[name](seconds)
        last = np.abs(rows[len(rows) // 2 :, 1:]).max(axis=0)
        print(
            f"{rows[-1, 0]:g} s, worst of the second half: {last[0]:.1e} m and {last[1]:.1e} rad from the goal,", end=""
        )
        print(f" {last[2]:.1e} m and {last[3]:.1e} rad between vehicle and image")
    return rows


if __name__ == "__main__":
    main()
