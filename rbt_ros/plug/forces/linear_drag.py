"""Drag in a thick fluid: a force against the velocity, and if wanted a moment against the turning."""

from rbt_ros.core.vec import scale
from rbt_ros.plug.force import ForceLaw
from rbt_ros.plug.parameter import Parameter


def wrench(p, a, t):
    """-k ω and -c v."""
    return scale(-p.turning, a.w), scale(-p.coefficient, a.v)


LINEAR_DRAG = ForceLaw(
    wrench,
    (
        Parameter("coefficient", "N s/m", least=0.0, about="force per velocity of the point"),
        Parameter("turning", "N m s/rad", 0.0, 0.0, about="moment per angular velocity"),
    ),
    about="a force against the velocity, a moment against the angular velocity",
)
