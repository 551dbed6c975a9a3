"""Solvers of y' = f(t, y) by the names under which they are known: `solve(f, t_span, y0, "ode45")`, docs/solvers.md.

Mathematics only: nothing in here knows of bodies. scipy's solvers where scipy has the method, our own elsewhere; all
are `scipy.integrate.OdeSolver`s, and `run.py` drives them alike.
"""

from rbt_ros.core.events import Event, Hit
from rbt_ros.solvers.methods import METHODS, Method
from rbt_ros.solvers.run import Solution, solve, solve_implicit

__all__ = ["METHODS", "Event", "Hit", "Method", "Solution", "solve", "solve_implicit"]
