"""Three spheres, nothing simulated: one goes along x, one along y, one around x while it turns about its own z.

Each is given in another way: a table of places, a function that reads one, places with Euler angles.
"""

import sys

import numpy as np

import rbt_ros as rbt
from rbt_ros.web.animation import arrow, arrows, colour, ellipsoid, given

PERIOD = 5.0  # [s] of every way
REACH = 3.0  # [m]
T = np.linspace(0.0, 2 * PERIOD, 301)
SINE, COSINE = REACH * np.sin(2 * np.pi * T / PERIOD), REACH * np.cos(2 * np.pi * T / PERIOD)


def across():
    """Back and forth along y: what a function gives is read when the body is added."""
    return given(T, np.column_stack([0 * T, SINE, 0 * T]))


def animation():
    """The spheres, and the axes of the world along which they go."""
    show = rbt.Animation("three spheres", fps=30)
    show.draw = {"omega": False, "labels": False}
    ball = [ellipsoid((0.4, 0.4, 0.4), rgba=colour(k)) for k in range(3)]
    mark = arrow((0.7, 0, 0), rgba=(0.1, 0.1, 0.1, 1.0), radius=0.05)  # a ball alone shows no turning
    show.add("along x", given(T, np.column_stack([SINE, 0 * T, 0 * T])), [ball[0]])
    show.add("along y", across, [ball[1]])
    turns = np.column_stack([2 * np.pi * T / (2 * PERIOD), 0 * T, 0 * T])
    show.add("around x", given(T, np.column_stack([0 * T, SINE, COSINE]), euler=("ZYX", turns)), [ball[2], mark])
    return show.add("world", None, arrows(4.0))


if __name__ == "__main__":
    show = animation()
    show.save(sys.argv[1]) if len(sys.argv) > 1 else show.play()
