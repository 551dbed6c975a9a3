"""A spring and a damper between two points of two bodies, or of one and the world."""

from rbt_ros.core.lanes import larger, root
from rbt_ros.core.vec import dot, scale, sub
from rbt_ros.plug.force import ForceLaw
from rbt_ros.plug.parameter import Parameter

NONE = (0.0, 0.0, 0.0)


def wrench(p, a, b, t):
    """A pull of k (l - rest) + c l̇ along the line from a to b; the damper takes c l̇². No direction where l = 0."""
    d = sub(b.p, a.p)
    length = root(dot(d, d))
    e = scale(1.0 / larger(length, 1e-300), d)
    rate = dot(e, sub(b.v, a.v))
    return NONE, scale(p.stiffness * (length - p.rest) + p.damping * rate, e), p.damping * rate * rate


def potential(p, a, b, t):
    """½ k (l - rest)²."""
    d = sub(b.p, a.p)
    stretch = root(dot(d, d)) - p.rest
    return 0.5 * p.stiffness * stretch * stretch


SPRING = ForceLaw(
    wrench,
    (
        Parameter("stiffness", "N/m", 0.0, 0.0, about="pull per stretch"),
        Parameter("damping", "N s/m", 0.0, 0.0, about="pull per rate of stretch"),
        Parameter("rest", "m", 0.0, 0.0, about="length without pull"),
    ),
    bodies=2,
    potential=potential,
    about="a spring and a damper along the line between two points",
)
