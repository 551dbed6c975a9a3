"""The user guide's full example: a free precession in Euler angles, seen from the body. The body and its cone stay; the
space cone, the angular momentum and the inertial axes go round them."""

import sys

import numpy as np
from matplotlib.figure import Figure

import rbt_ros as rbt

OMEGA = np.array([1, 0, 1.4243])  # [rad/s]
MOMENTS = np.array([1, 1, 1.8822])  # [kg·m²]
DISC = rbt.RigidBody(inertia=MOMENTS, name="disc")


def space_ring(n=49):
    """(N, 3) where ω goes in space: a circle about L."""
    L = OMEGA * MOMENTS
    axis = L / np.linalg.norm(L)
    along, angle = (OMEGA @ axis) * axis, np.linspace(0, 2 * np.pi, n)[:, None]
    return along + np.cos(angle) * (OMEGA - along) + np.sin(angle) * np.cross(axis, OMEGA)


def cone(ax, ring, color):
    """The rays from the origin to a closed ring (N, 3)."""
    ax.plot_surface(*(np.stack([0 * c, c]) for c in ring.T), color=color, alpha=0.35, linewidth=0)
    ax.plot(*ring.T, color=color)


def draw(ax, state):
    """One instant, in body axes: what is fixed in space is turned by the transpose of R_WB."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 41), np.linspace(0, np.pi, 21))
    disc = (0.8 * np.cos(u) * np.sin(v), 0.8 * np.sin(u) * np.sin(v), 0.2 * np.cos(v))  # h = R/4
    ax.plot_surface(*disc, color="0.6", alpha=0.5, linewidth=0)
    turn = np.linspace(0, 2 * np.pi, 49)
    cone(ax, np.column_stack([np.cos(turn), np.sin(turn), 0 * turn + OMEGA[2]]), "C9")
    cone(ax, space_ring() @ state.matrix, "C3")
    L = OMEGA * MOMENTS
    ax.quiver(0, 0, 0, *(1.9 * L / np.linalg.norm(L)) @ state.matrix, color="C3", arrow_length_ratio=0.1)
    for axis, name in zip(np.eye(3), "XYZ", strict=True):
        tip = 1.3 * axis @ state.matrix
        ax.quiver(0, 0, 0, *tip, color="k", linewidth=1, arrow_length_ratio=0.1)
        ax.text(*(1.15 * tip), name, fontsize=8)
    ax.set(xlim=(-1, 1), ylim=(-1, 1), zlim=(-0.2, 1.8), xticks=(-1, 0, 1), yticks=(-1, 0, 1), zticks=(0, 1))
    ax.set_xlabel("ωx [rad/s]", fontsize=8)
    ax.set_ylabel("ωy [rad/s]", fontsize=8)
    ax.set_zlabel("ωz [rad/s]", fontsize=8)
    ax.tick_params(labelsize=7)
    ax.set_box_aspect((1, 1, 1), zoom=0.85)
    ax.view_init(elev=22, azim=-60)


def main(path="guide_full_system.png"):
    """Simulate, check that what should stay does, draw six instants."""
    run = rbt.simulate(DISC, omega_b=OMEGA, duration=5, formalism="euler", solver="ode45", step=0.01)
    ring = abs(np.linalg.norm(run.omega_b[:, :2], axis=1) - 1).max()
    L = OMEGA * MOMENTS
    stays = abs(run.angular_momentum_e - L).max()
    print(f"omega_b leaves its cone by {ring:.1e} rad/s, L changes by {stays:.1e} N·m·s")
    fig = Figure(figsize=(10, 7), layout="constrained")
    axes = fig.subplots(2, 3, subplot_kw=dict(projection="3d"))
    for ax, t in zip(axes.flat, np.arange(6) * 0.5, strict=True):
        draw(ax, run.at(t))
        ax.set_title(f"t = {t:g} s", fontsize=10)
    fig.suptitle("seen from the body: disc and body cone (blue) stay, space cone and L (red), X Y Z (black) turn")
    fig.savefig(path, dpi=90)


if __name__ == "__main__":
    main(*sys.argv[1:2])
