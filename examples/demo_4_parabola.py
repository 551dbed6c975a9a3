"""Demonstration 4: a football is kicked at 28 m/s, 45° up, in the plane of y and z."""

import sys

import numpy as np
from matplotlib.figure import Figure

import rbt_ros as rbt

SPEED, ANGLE, G = 28.0, np.radians(45), 9.8  # [m/s], [rad], [m/s²]
V0 = np.array([0, SPEED * np.cos(ANGLE), SPEED * np.sin(ANGLE)])
GROUND = rbt.Event(lambda t, state: state.position[2], terminal=True, direction=-1)


def closed_form(t):
    """Position (N, 3) [m] and velocity (N, 3) [m/s]."""
    fall = np.array([0, 0, -G])
    t = t[:, None]
    return V0 * t + fall / 2 * t**2, V0 + fall * t


def figure(result):
    """The path, and the two velocities: dots on the lines."""
    fig = Figure(figsize=(8, 5), layout="constrained")
    path, speeds = fig.subplots(2, 1)
    p, v = closed_form(result.time)
    some = slice(None, None, max(1, len(result) // 20))
    path.plot(p[:, 1], p[:, 2], color="C3", label="closed form")
    path.plot(*result.position[some, 1:].T, "o", markersize=4, label="simulated")
    path.set(xlabel="distance y [m]", ylabel="height z [m]", aspect="equal")
    for k, name, color in ((1, "ẏ", "C0"), (2, "ż", "C1")):
        speeds.plot(result.time, v[:, k], color=color, label=f"{name}, closed form")
        speeds.plot(result.time[some], result.velocity_e[some, k], "o", color=color, markersize=4)
    speeds.set(xlabel="time t [s]", ylabel="velocity [m/s]")
    for ax in (path, speeds):
        ax.grid(alpha=0.3)
        ax.legend()
    return fig


def main(path="demo_4_parabola.png", step=0.01):
    """Fly until the ground, check, draw."""
    spin = (3.0, 0, 20.0)  # [rad/s], which does not change the path: gravity acts in inertial axes
    run = rbt.simulate(
        velocity=V0, omega_b=spin, gravity=(0, 0, -G), duration=6, solver="rk4", step=step, events=GROUND
    )
    p, v = closed_form(run.time)
    print(f"flies {run.time[-1]:.4f} s; 2 v sin α / g = {2 * V0[2] / G:.4f} s")
    print(f"lands at {run.position[-1, 1]:.4f} m; v² sin 2α / g = {SPEED**2 * np.sin(2 * ANGLE) / G:.4f} m")
    print(f"largest error {abs(run.position - p).max():.1e} m, {abs(run.velocity_e - v).max():.1e} m/s")
    figure(run).savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
