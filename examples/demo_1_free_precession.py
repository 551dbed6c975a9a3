"""Demonstration 1: a symmetric top precesses freely. Its ω runs around a cone in the body, and around one in space."""

import sys

import numpy as np
from matplotlib.figure import Figure

import rbt_ros as rbt

PERIOD = 5.0  # [s] in which ω circles in the body
Iz = 32 / 17  # [kg·m²] of an ellipsoidal disc, radius 4 times its half-height, whose Ix = Iy = 1 kg·m²
OMEGA = np.array([1.0, 0.0, 2 * np.pi / PERIOD / (Iz - 1)])  # [rad/s]
DISC = rbt.RigidBody(inertia=(1, 1, Iz), name="disc")


def closed_form(t):
    """omega_b, omega_e (N, 3) [rad/s]: ω turns at (Iz - Ix)/Ix ωz about z in the body, at |L|/Ix about L in space."""
    rate = (Iz - 1) * OMEGA[2]
    omega_b = np.column_stack([np.cos(rate * t), np.sin(rate * t), np.full(len(t), OMEGA[2])])
    L = OMEGA * [1, 1, Iz]
    size = np.linalg.norm(L)
    along, angle = (OMEGA @ L) / size**2 * L, size * t[:, None]
    omega_e = along + np.cos(angle) * (OMEGA - along) + np.sin(angle) * np.cross(L / size, OMEGA)
    return omega_b, omega_e


def cone(ax, ring, color, label):
    """The rays from the origin to a closed ring (N, 3)."""
    ax.plot_surface(*(np.stack([0 * c, c]) for c in ring.T), color=color, alpha=0.35, linewidth=0, label=label)
    ax.plot(*ring.T, color=color)


def figure(result):
    """ω over time in both frames, simulated on the closed form; and the cones at t = 0, touching along ω."""
    fig = Figure(figsize=(11, 4.5), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=(1.2, 1))
    axes = left.subplots(2, 1, sharex=True)
    for ax, frame, w, exact in (
        (axes[0], "body", result.omega_b, closed_form(result.time)[0]),
        (axes[1], "inertial", result.omega_e, closed_form(result.time)[1]),
    ):
        for k, axis in enumerate("xyz"):
            ax.plot(result.time, exact[:, k], color=f"C{k}", label=f"ω{axis}")
            ax.plot(result.time[::25], w[::25, k], "o", color=f"C{k}", markersize=3)
        ax.set_ylabel(f"ω, {frame} axes [rad/s]")
        ax.grid(alpha=0.3)
    ax.set_xlabel("time t [s]        lines: closed form; dots: simulated")
    left.legend(*ax.get_legend_handles_labels(), ncols=3, loc="outside upper center")

    ax = right.subplots(subplot_kw=dict(projection="3d"))
    turns = np.linspace(0, 1, 73)
    size = np.linalg.norm(result.angular_momentum_e[0])
    cone(ax, closed_form(turns * PERIOD)[0], "C9", "body cone")
    cone(ax, closed_form(turns * 2 * np.pi / size)[1], "C3", "space cone")
    for vector, color, label in (
        (1.15 * OMEGA, "k", "direction of ω"),
        (1.9 * result.angular_momentum_e[0] / size, "C3", "direction of L"),
        ((0, 0, 1.9), "C9", "axis of the disc"),
    ):
        ax.quiver(0, 0, 0, *vector, color=color, arrow_length_ratio=0.08, linewidth=2, label=label)
    ax.set(xlabel="ωx [rad/s]", ylabel="ωy [rad/s]", zlabel="ωz [rad/s]", xlim=(-1, 1), ylim=(-1, 1), zlim=(0, 2))
    ax.set(xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(0, 1, 2))
    ax.set_box_aspect((1, 1, 1))
    ax.view_init(elev=18, azim=-65)
    ax.legend(fontsize=8, loc="upper left")
    return fig


def main(path="demo_1_free_precession.png", solver="dop853", step=0.005):
    """Simulate in all three attitude formalisms, compare, draw."""
    for formalism in ("quaternion", "euler", "matrix"):
        run = rbt.simulate(DISC, omega_b=OMEGA, duration=PERIOD, solver=solver, step=step, formalism=formalism)
        errors = [abs(a - b).max() for a, b in zip((run.omega_b, run.omega_e), closed_form(run.time), strict=True)]
        print(f"{formalism:10}  largest error of omega_b {errors[0]:.1e}, of omega_e {errors[1]:.1e} rad/s")
        if formalism == "quaternion":
            figure(run).savefig(path, dpi=110)
    change = abs(run.angular_momentum_e - run.angular_momentum_e[0]).max()
    print(f"|L| = {np.linalg.norm(run.angular_momentum_e[0]):.6f} N·m·s, changes by {change:.1e} at most")


if __name__ == "__main__":
    main(*sys.argv[1:2])
