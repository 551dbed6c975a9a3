"""A symmetric top precesses freely: the cone of ω in the body rolls on the cone of ω in space, around L."""

import sys

import numpy as np

import rbt_ros as rbt
from rbt_ros.web.animation import arrow, arrows, cone, ellipsoid

IX, IZ = 1.0, 32 / 17  # [kg·m²] of an ellipsoidal disc, radius 4 times its half-height
OMEGA = np.array([1.0, 0.0, 2 * np.pi / 5 / (IZ - 1)])  # [rad/s]: ω circles once in 5 s in the body
SLANT = 1.2  # [m] length of the cones


def onto(direction):
    """The rotation that turns z onto a direction."""
    z = np.asarray(direction) / np.linalg.norm(direction)
    x = np.cross([0.0, 1.0, 0.0], z)
    x /= np.linalg.norm(x)
    return np.column_stack([x, np.cross(z, x), z])


def swept(axis, omega, rgba):
    """The cone about an axis with ω on its surface."""
    angle = np.arccos(axis @ omega / np.linalg.norm(axis) / np.linalg.norm(omega))
    return cone(SLANT * np.sin(angle), SLANT * np.cos(angle), rotation=onto(axis).tolist(), rgba=rgba)


def animation():
    """Body cone with the disc, space cone standing still, ω as the line in which they touch."""
    top = rbt.simulate(rbt.RigidBody(inertia=(IX, IX, IZ)), omega_b=OMEGA, duration=10.0)
    L = OMEGA * [IX, IX, IZ]
    show = rbt.Animation("free precession", fps=30)
    disc = ellipsoid((0.6, 0.6, 0.15), rgba=(0.45, 0.65, 0.85, 0.8))
    show.add("disc", top, [disc, swept(np.array([0.0, 0.0, 1.0]), OMEGA, (1.0, 0.8, 0.3, 0.5))])
    show.add("space", None, [swept(L, OMEGA, (0.5, 0.95, 0.7, 0.5)), arrow(1.6 * L / np.linalg.norm(L)), *arrows(0.9)])
    return show


if __name__ == "__main__":
    show = animation()
    show.save(sys.argv[1]) if len(sys.argv) > 1 else show.play()
