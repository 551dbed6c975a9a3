"""A tumbling CubeSat, slowed 20 times, with two sets of arrows: those of the world, and its own, which turn with it."""

import sys

import rbt_ros as rbt
from rbt_ros.web.animation import arrows, cubesat_3u


def animation():
    """The tumbling, from the engine."""
    result = rbt.load("cubesat").simulation().run(until=0.5, every=0.002)
    show = rbt.Animation("tumbling CubeSat", time_scaling=0.05, fps=30)
    show.add("satellite", result, [*cubesat_3u(), *arrows(0.3)])
    show.add("world", None, arrows(0.45))
    return show


if __name__ == "__main__":
    show = animation()
    show.save(sys.argv[1]) if len(sys.argv) > 1 else show.play()
