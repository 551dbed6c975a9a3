"""Seven ways to integrate one attitude, beside the exact motion: error and lost constraint. docs/laboratory.md."""

import sys

import numpy as np
from matplotlib.figure import Figure

import rbt_ros as rbt

BODY = rbt.RigidBody(mass=3.0, inertia=(0.0361, 0.0337, 0.00733))  # the asymmetric top of the toolbox: a 3U CubeSat
START = dict(euler=("ZYX", 0.3, 0.2, 0.1), omega_b=(0, 2.4, 5.3), duration=10.0, step=0.01)
WAYS = {
    "quaternion, projected": dict(),
    "quaternion, on the manifold": dict(normalise="manifold"),
    "quaternion, by a multiplier": dict(normalise="multiplier"),
    "quaternion, left alone": dict(normalise=None),
    "matrix, projected": dict(formalism="matrix"),
    "matrix, left alone": dict(formalism="matrix", normalise=None),
    "Euler angles ZYX, switching": dict(formalism="euler", on_singularity="switch"),
}


def compare():
    """Of each way: times, error of the attitude [rad], lost constraint."""
    exact = rbt.simulate(BODY, **START, solver="exact")
    found = {}
    for name, way in WAYS.items():
        run = rbt.simulate(BODY, **START, solver="rk4", **way)
        angle = np.linalg.norm(run.matrix - exact.matrix, axis=(1, 2)) / np.sqrt(2)  # of a small turn
        found[name] = (run.time, angle, np.abs(run.constraint_errors()))
    return found


if __name__ == "__main__":
    figure = Figure(figsize=(9, 6), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True)
    for i, (name, (time, angle, constraint)) in enumerate(compare().items()):
        print(f"{name:30} error {angle[-1]:.1e} rad, constraint {constraint.max():.1e}")
        above.semilogy(time[1:], angle[1:], label=name, linewidth=4 - 0.5 * i)
        if constraint.any():
            below.semilogy(time[1:], np.maximum(constraint[1:], 1e-17), label=name, linewidth=4 - 0.5 * i)
    above.set_ylabel("error of the attitude [rad]")
    below.set_ylabel("|q| - 1, or RᵀR - 1")
    below.set_xlabel("time t [s]")
    above.legend(fontsize=8, ncols=2)
    for ax in (above, below):
        ax.grid(alpha=0.3)
    figure.savefig(sys.argv[1] if len(sys.argv) > 1 else "formalisms.png", dpi=150)
