"""Ropes and stops by name -> the rows of core.unilateral, checked against the robot's bodies and joints."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rbt_ros.core import constraints as c
from rbt_ros.core import types as t
from rbt_ros.core.signals import signal_arrays
from rbt_ros.core.unilateral import Unilateral
from rbt_ros.errors import ModelError
from rbt_ros.model.constraint_arrays import closure_rows, frozen
from rbt_ros.model.robot import Robot
from rbt_ros.model.unilateral import STOP, UPPER, Rope, stops_of


def with_ropes(robot: Robot, added: Sequence[Rope]) -> Robot:
    """`robot` with these ropes beside those that it has."""
    ropes = (*robot.ropes, *added)
    names = [rope.name for rope in ropes]
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"rope '{name}' exists twice in robot '{robot.name}'; names must differ.")
    for rope in added:  # whether its bodies are there, and may move against each other
        closure_rows(robot, rope.as_closure("distance"), f"rope '{rope.name}'")
    return replace(robot, ropes=ropes)


def with_stops(robot: Robot, hinge: str, restitution: Any) -> Robot:
    """`robot`, whose hinge stops at its limits too."""
    i = robot.hinge_index(hinge)
    first = int(robot.model.tree[i, t.V])
    names = robot.hinges[i].joint_names
    limits = robot.model.freedom[first : first + len(names), [t.LOWER, t.UPPER]]
    return replace(robot, stops=(*robot.stops, *stops_of(names, limits, restitution, f"hinge '{hinge}'")))


def unilateral(robot: Robot) -> Unilateral:
    """All conditions of the robot, the two-sided ones first, then ropes, then stops."""
    no_signal = (frozen(array) for array in signal_arrays([]))
    given = robot.rows or c.Constraints(table([], c.ROW_COLUMNS), table([], c.TERM_COLUMNS), *no_signal)
    first = len(given.row)
    rows, terms = list(given.row), list(given.term)
    catches: list[np.ndarray] = []
    restitution, catch = [0.0] * first, [-1] * first
    for rope in robot.ropes:
        where = f"rope '{rope.name}'"
        rows += closure_rows(robot, rope.as_closure("distance"), where)
        restitution.append(rope.restitution)
        catch.append(len(catches) if rope.impact == STOP else -1)
        if rope.impact == STOP:
            catches += closure_rows(robot, rope.as_closure("ends"), where)
    for stop in robot.stops:
        body, q, v = robot.joint_place(stop.joint)
        for side in stop.sides:
            row, sign = np.zeros(c.ROW_COLUMNS), 1.0 if side == UPPER else -1.0
            row[[c.LAW, c.BODY_A, c.BODY_B, c.COMMON]] = c.COUPLING, body, body, body
            row[[c.TARGET, c.FIRST, c.COUNT]] = sign * (stop.upper if side == UPPER else stop.lower), len(terms), 1
            rows.append(row)
            terms.append(np.array((q, v, sign)))
            restitution.append(stop.restitution)
            catch.append(-1)
    together = given._replace(row=table(rows, c.ROW_COLUMNS), term=table(terms, c.TERM_COLUMNS))
    caught = together._replace(row=table(catches, c.ROW_COLUMNS))
    return Unilateral(together, first, frozen(np.array(restitution)), frozen(np.array(catch, np.int64)), caught)


def table(rows: list[np.ndarray], columns: int) -> np.ndarray:
    """Rows as a read-only array, of no rows too."""
    return frozen(np.array(rows, dtype=float).reshape(-1, columns))
