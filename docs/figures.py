"""The pictures of README and docs, made by the package itself: python docs/figures.py (needs matplotlib)."""

import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection

import rbt_ros as rbt
from rbt_ros.core.vec import rotation

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
FACES = [(0, 1, 3, 2), (4, 5, 7, 6), (0, 1, 5, 4), (2, 3, 7, 6), (0, 2, 6, 4), (1, 3, 7, 5)]


def box_faces(shape, R, p):
    """The six faces of a box shape, in the world."""
    corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * shape.size
    world = (np.array(shape.at) + corners) @ R.T + p
    return [world[list(face)] for face in FACES]


def draw_instant(ax, result, k):
    """The CubeSat at sample k, with its angular momentum."""
    R = np.array(rotation(tuple(result.body("cubesat").quaternion[k])))
    for shape in result.robot.bodies[0].shapes:
        faces = Poly3DCollection(box_faces(shape, R, np.zeros(3)), facecolor=shape.rgba)
        faces.set(edgecolor="#222222", linewidth=0.4)
        ax.add_collection3d(faces)
    L = 0.33 * result.angular_momentum_com[k]
    ax.quiver(0, 0, 0, *L, color="#c0392b", linewidth=1.8, arrow_length_ratio=0.15)
    ax.set(xlim=(-0.2, 0.2), ylim=(-0.2, 0.2), zlim=(-0.2, 0.2))
    ax.set_box_aspect((1, 1, 1), zoom=1.5)
    ax.view_init(elev=14, azim=-50)
    ax.set_axis_off()
    ax.text2D(0.5, 0.02, f"{result.t[k] * 1e3:.0f} ms", transform=ax.transAxes, ha="center", fontsize=9)


def draw_polhode(ax, result):
    """ω in the body on the ellipsoid of constant energy."""
    w = result.body("cubesat").omega_body
    axes = np.sqrt(2 * result.energy.kinetic[0] / result.robot.bodies[0].inertia.diagonal())
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 60), np.linspace(0, np.pi, 30))
    ellipsoid = (axes[0] * np.cos(u) * np.sin(v), axes[1] * np.sin(u) * np.sin(v), axes[2] * np.cos(v))
    ax.plot_surface(*ellipsoid, color="#9bb7d4", alpha=0.35, linewidth=0)
    ax.plot(*w.T, color="#c0392b", linewidth=2)
    ax.set_xlabel("ωx [rad/s]", fontsize=8)
    ax.set_ylabel("ωy [rad/s]", fontsize=8)
    ax.set_zlabel("ωz [rad/s]", fontsize=8)
    ax.tick_params(labelsize=7)
    ax.set_xticks([-30, 0, 30])
    ax.set_yticks([-30, 0, 30])
    ax.set_box_aspect(axes, zoom=0.9)


def cubesat():
    """README's picture."""
    sim = rbt.load("cubesat").simulation()
    figure = Figure(figsize=(10, 3.6))
    result = sim.run(0.14, every=0.02)
    for k in range(8):
        place = (0.17 * (k % 4), 0.5 * (k < 4), 0.2, 0.5)
        draw_instant(figure.add_axes(place, projection="3d"), result, k)
    sim.reset()
    draw_polhode(figure.add_axes((0.72, 0.08, 0.26, 0.9), projection="3d"), sim.run(0.2))
    figure.savefig(HERE / "cubesat.png", dpi=120)


def demonstrations():
    """Those of demonstrations.md, by the examples themselves."""
    for example in sorted([*EXAMPLES.glob("demo_*.py"), *EXAMPLES.glob("guide_*.py")]):
        runpy.run_path(str(example))["main"](HERE / f"{example.stem}.png")


def plots():
    """Those of plot.md, by `rbt plot` itself."""
    with tempfile.TemporaryDirectory() as made:
        map_file = Path(made, "l_shape.npz")
        grid = ["--psi1=-180:180:61", "--psi2=-180:180:61", "--name", "l_shape"]
        for words in (
            ["map", "l_shape", *grid, "--out", made],
            [
                "plot",
                "cubesat",
                "--until",
                "1",
                "--what",
                "polhode,cones,energy",
                "--width",
                120,
                "--name",
                "plot",
                "--out",
                HERE,
            ],
            ["plot", map_file, "--width", 120, "--name", "plot", "--out", HERE],
        ):
            subprocess.run([sys.executable, "-m", "rbt_ros.cli", *map(str, words)], check=True)


if __name__ == "__main__":
    cubesat()
    demonstrations()
    plots()
