"""Demonstration 2: an asymmetric top, a CubeSat with two panels, tumbles freely. In the body ω runs along the curve in
which two ellipsoids meet, again and again; in space its path never closes."""

import sys

import numpy as np
from matplotlib.figure import Figure

import rbt_ros as rbt

I = np.array([0.0361172235, 0.03378135832, 0.00733597782])  # [kg·m²] of 3 kg and two panels of 0.132 kg
CUBESAT = rbt.RigidBody(mass=3.264, inertia=I, name="cubesat")
L, E = 1.0, 20.0  # [N·m·s], [J]


def start():
    """omega_b [rad/s] with ωx = 0: |I ω|² = L² and ω·I ω = 2 E are linear in the squares."""
    squares = np.linalg.solve([I[1:] ** 2, I[1:]], [L**2, 2 * E])
    return np.array([0, *np.sqrt(squares)])


def ellipsoid(axes):
    """x, y, z of a surface with these half axes."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 61), np.linspace(0, np.pi, 31))
    return axes[0] * np.cos(u) * np.sin(v), axes[1] * np.sin(u) * np.sin(v), axes[2] * np.cos(v)


def body_period(run):
    """[s] after which omega_b is what it was: ωx rises through zero."""
    t, w = run.time, run.omega_b[:, 0]
    k = np.flatnonzero((w[:-1] < 0) & (w[1:] >= 0))
    crossings = t[k] - w[k] * (t[k + 1] - t[k]) / (w[k + 1] - w[k])
    return np.diff(crossings).mean()


def in_plane(run):
    """omega_e [rad/s] in the invariable plane, (N, 2): along L, which is constant, it is constant too (2 E/|L|)."""
    normal = run.angular_momentum_e[0] / L
    across = np.array([1.0, 0, 0])  # normal to L, as ωx is zero at the start
    return run.omega_e @ np.column_stack([across, np.cross(normal, across)])


def figure(run, spans):
    """The ellipsoids with the polhode; omega_e in its plane, and its start enlarged, as time goes on."""
    fig = Figure(figsize=(12, 4.3), layout="constrained")
    left, right = fig.subfigures(1, 2, width_ratios=(1, 2.5))
    body = left.subplots(subplot_kw=dict(projection="3d"))
    body.plot_surface(*ellipsoid(L / I), color="C3", alpha=0.4, linewidth=0, label="momentum: |I ω| = L")
    body.plot_surface(*ellipsoid(np.sqrt(2 * E / I)), color="C0", alpha=0.4, linewidth=0, label="energy: ω·I ω = 2 E")
    body.plot(*run.omega_b[run.time <= spans[0]].T, color="k", linewidth=2, label="ω: polhode", zorder=9)
    body.set(xlabel="ωx [rad/s]", ylabel="ωy [rad/s]", zlabel="ωz [rad/s]")
    body.set(xticks=(-30, 0, 30), yticks=(-30, 0, 30), zticks=(-100, 0, 100))
    body.set_box_aspect((1, 1, 2), zoom=0.78)
    body.view_init(elev=20, azim=-50)
    left.legend(fontsize=8, loc="outside upper center", ncols=2)
    path = in_plane(run)
    for ax, span in zip(right.subplots(1, len(spans)), spans, strict=True):
        ax.plot(*path[run.time <= span].T, color="C2", linewidth=0.4)
        ax.plot(*path[0], "ko", markersize=4)
        ax.set(title=f"in space, {span:g} s", xlabel="ω across L, first axis [rad/s]", aspect="equal")
        ax.grid(alpha=0.3)
    for ax in right.axes[1:]:
        ax.set(xlim=(-3, 3), ylim=path[0, 1] + np.array([-3, 0.4]), aspect="auto")
    right.axes[0].set_ylabel("ω across L, second axis [rad/s]")
    return fig


def main(path="demo_2_asymmetric_top.png", spans=(1.0, 10.0, 100.0)):
    """Simulate with the exact solution, check both premises, draw."""
    omega = start()
    print(f"omega_b at the start: {omega.round(3)} rad/s")
    run = rbt.simulate(CUBESAT, omega_b=omega, duration=spans[-1], solver="exact", step=0.001)
    rk4 = rbt.simulate(CUBESAT, omega_b=omega, duration=spans[0], solver="rk4", step=0.001)
    n = len(rk4)
    print(f"rk4 beside the exact solution, {spans[0]:g} s: {abs(rk4.omega_b - run.omega_b[:n]).max():.1e} rad/s")
    off = [abs((run.omega_b**2 @ I**2) / L**2 - 1).max(), abs((run.omega_b**2 @ I) / (2 * E) - 1).max()]
    print(f"omega_b off the ellipsoids: {off[0]:.1e} of L², {off[1]:.1e} of 2 E")
    period = body_period(run)
    after = run.at(np.arange(1, int(spans[-1] / period)) * period)
    body, space = (np.linalg.norm(w - omega, axis=1) for w in (after.omega_b, after.omega_e))
    print(f"after each of {len(space)} periods of {period:.6f} s omega_b is back within {body.max():.0e} rad/s;")
    print(f"omega_e never is: by {space.mean():.0f} rad/s in the mean, by {space.min():.3f} rad/s at its closest")
    figure(run, spans).savefig(path, dpi=110)


if __name__ == "__main__":
    main(*sys.argv[1:2])
