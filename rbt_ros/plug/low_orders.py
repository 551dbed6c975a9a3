"""Runge-Kutta methods of orders 1 and 2, to teach and to compare: rk4 costs little more and does much better."""

from rbt_ros.plug.integrators import explicit

EXPLICIT_EULER = explicit(1, A=[[0]], B=[1])
MIDPOINT = explicit(2, A=[[0, 0], [1 / 2, 0]], B=[0, 1])
HEUN = explicit(2, A=[[0, 0], [1, 0]], B=[1 / 2, 1 / 2])
