"""The integrators that the compiled core brings along."""

import math

from rbt_ros.core import integrate
from rbt_ros.core.torque_free import ExactRotation, SplittingRotation
from rbt_ros.plug.integrators import Integrator

SEMI_IMPLICIT = Integrator(1, integrate.SEMI_IMPLICIT)
RK4 = Integrator(4, integrate.RK4)
DOP853 = Integrator(8, integrate.DOP853)
DOP853_ADAPTIVE = Integrator(8, integrate.DOP853, adaptive=True)
DORMAND_PRINCE = Integrator(5, integrate.DORMAND_PRINCE, adaptive=True)
EXACT = Integrator(math.inf, rotation=ExactRotation)
SPLITTING = Integrator(6, rotation=SplittingRotation)
LIE_EULER = Integrator(1, integrate.LIE_EULER)
