"""Demonstration 3: a skydiver of 70 kg leaves his aeroplane 4 km up, and nothing brakes him."""

import sys

import numpy as np
from matplotlib.figure import Figure

import rbt_ros as rbt

HEIGHT, G = 4000.0, 9.8  # [m], [m/s²]
GROUND = rbt.Event(lambda t, state: state.position[2], terminal=True)


def closed_form(t):
    """Height [m] and vertical velocity [m/s]."""
    return HEIGHT - G / 2 * t**2, -G * t


def figure(result):
    """Height and velocity: dots on the lines."""
    fig = Figure(figsize=(9, 3.6), layout="constrained")
    some = slice(None, None, max(1, len(result) // 25))
    t = result.time
    left, right = fig.subplots(1, 2)
    z, v = closed_form(t)
    for ax, label, line, dots in (
        (left, "height z [m]", z, result.position[:, 2]),
        (right, "vertical velocity [m/s]", v, result.velocity_e[:, 2]),
    ):
        ax.plot(t, line, color="C3", label="closed form")
        ax.plot(t[some], dots[some], "o", markersize=4, label="simulated")
        ax.set(xlabel="time t [s]", ylabel=label)
        ax.grid(alpha=0.3)
        ax.legend()
    return fig


def main(path="demo_3_free_fall.png", step=0.01):
    """Fall until the ground, check, draw."""
    body = rbt.RigidBody(mass=70)
    run = rbt.simulate(
        body, position=(0, 0, HEIGHT), gravity=(0, 0, -G), duration=40, solver="rk4", step=step, events=GROUND
    )
    z, v = closed_form(run.time)
    print(f"on the ground after {run.time[-1]:.4f} s; √(2 h/g) = {np.sqrt(2 * HEIGHT / G):.4f} s")
    print(f"speed there {-run.velocity_e[-1, 2]:.3f} m/s; √(2 g h) = {np.sqrt(2 * G * HEIGHT):.3f} m/s")
    print(f"largest error {abs(run.position[:, 2] - z).max():.1e} m, {abs(run.velocity_e[:, 2] - v).max():.1e} m/s")
    figure(run).savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
