"""One-sided conditions as data, and steps that see when one of them changes.

A rope φ = distance - length <= 0, a stop φ = q - limit <= 0 (or its mirror image): rows of `constraints.py` that may
pull back, λ <= 0, only where φ = 0. While one is *held* it is a constraint like any other (`constrained.py`), and lets
go when λ would become positive; else it is *idle*, and becomes held, or bounces, when φ gets to zero. Between these
events nothing is special: `run_quiet` steps until there is one. What happens then is in `contacts.py`.

This is a module of its own so that a robot without ropes and stops compiles and pays nothing for it.
"""

import math
from typing import NamedTuple

import numpy as np

from rbt_ros.core.constrained import LOST, constrained_derivative, constrained_step, loosest, put_back
from rbt_ros.core.constrained_control import constrained_error
from rbt_ros.core.constraints import LAMBDA, PHI, PHI_DOT, TARGET, Bonds, Constraints, bonds, fill_rows
from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.integrate import all_finite, copy, failure
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.kinematics import settle, unfold
from rbt_ros.core.types import OK, UNMET
from rbt_ros.core.work import GOOD_ROW

EVENT = -1  # beside the codes of Status: something happens in this tick
ROUND_OFF = 1e-14  # of φ [m, rad], per 1 + |length or limit|: up to here a condition counts as kept
STILL = 1e-11  # of φ̇ [m/s, rad/s]: what is slower stands still
PULL = 1e-11  # of λ, as the acceleration [m/s², rad/s²] that it would make: up to here nothing pulls the wrong way


class Unilateral(NamedTuple):
    """All conditions of a robot, the two-sided ones first."""

    rows: Constraints
    two_sided: int  # how many are two-sided
    restitution: np.ndarray  # (m,) 0 to 1; of the two-sided ones nothing
    catch: np.ndarray  # (m,) int64: where its three ENDS rows start in `catches`, -1: it does not stop its ends dead
    catches: Constraints


class Split(NamedTuple):
    """The conditions while some are held: those as constraints, the idle ones to be watched."""

    held: Constraints
    bond: Bonds
    idle: Constraints
    watch: Bonds
    before: np.ndarray  # (2, idle) φ and φ̇ at the start of a tick


def part_of(constraints, rows):
    """Some rows of the constraints, read-only as they all are."""
    row = np.ascontiguousarray(constraints.row[list(rows)])
    row.flags.writeable = False
    return constraints._replace(row=row)


def split(model, unilateral, held):
    """The conditions while the one-sided rows `held` are."""
    one_sided = range(unilateral.two_sided, len(unilateral.rows.row))
    first = part_of(unilateral.rows, [*range(unilateral.two_sided), *held])
    rest = part_of(unilateral.rows, [r for r in one_sided if r not in held])
    return Split(first, bonds(model, first), rest, bonds(model, rest), np.zeros((2, len(rest.row))))


@kernel
def round_off(constraints, r):
    """φ up to which row r counts as kept."""
    return ROUND_OFF * (1.0 + abs(constraints.row[r, TARGET]))


@routine
def look(model, y, input, t_ns, s, two_sided, work, split):
    """Fill λ of what is held, φ and φ̇ of what is idle, s [s] after t_ns."""
    held, bond, idle, watch, _ = split
    nq, nv = coordinates(model), model.freedom.shape[0]
    ydot = work.stage[0]
    if held.row.shape[0] > two_sided:
        constrained_derivative(model, y, input, t_ns, s, held, work, bond, ydot)
    else:
        unfold(model, y[:nq], work)
        for i in range(model.tree.shape[0]):
            settle(model, i, work)
    fill_rows(model, idle, y[:nq], y[nq : nq + nv], ydot[nq : nq + nv], t_ns, s, work, watch)


@routine
def part(model, y, input, t_ns, s, h, method, two_sided, work, split):
    """What is left of φ, φ̇ of the held rows after h [s] from s after t_ns, y in place; fills what `look` does."""
    constrained_step(model, y, input, t_ns, s, h, method, split.held, work, split.bond)
    left = put_back(model, y, input, t_ns, s + h, split.held, work, split.bond)
    look(model, y, input, t_ns, s + h, two_sided, work, split)
    return left


@kernel
def peak(f0, rate0, f1, rate1):
    """The largest value between 0 and 1 of the cubic with these ends, rate0 > 0 > rate1; and where."""
    a = 3.0 * (f1 - f0) - 2.0 * rate0 - rate1
    b = 2.0 * (f0 - f1) + rate0 + rate1
    # the zero of rate0 + 2 a x + 3 b x² between 0 and 1, without differences of what is nearly equal
    root = math.sqrt(a * a - 3.0 * b * rate0)
    x = (a + root) / (-3.0 * b) if a > 0.0 else rate0 / (root - a)
    return f0 + x * (rate0 + x * (a + x * b)), x


@kernel
def something_happens(h, two_sided, split):
    """Whether some held row pulls the wrong way, or some idle one was broken, since the tick began h [s] ago."""
    held, bond, idle, watch, before = split
    for r in range(two_sided, held.row.shape[0]):
        if bond.A[r, r] * bond.column[LAMBDA, r] > PULL:
            return True
    for r in range(idle.row.shape[0]):
        phi, rate, limit = watch.column[PHI, r], watch.column[PHI_DOT, r], round_off(idle, r)
        if phi > limit:
            return True
        if before[1, r] > 0.0 and rate < 0.0:  # it turned round in between
            highest, _ = peak(before[0, r], h * before[1, r], phi, h * rate)
            if highest > limit:
                return True
    return False


@routine
def run_quiet(model, y, input, two_sided, work, split, h_ns, method, t_ns, ticks):
    """(code, tick, body) of `integrate.run_arrays`; EVENT: something happens in that tick, and y is at its start."""
    h, good = h_ns / 1e9, work.stage[GOOD_ROW]
    look(model, y, input, t_ns, 0.0, two_sided, work, split)
    for tick in range(ticks):
        copy(y, good)
        copy(split.watch.column[PHI], split.before[0])
        copy(split.watch.column[PHI_DOT], split.before[1])
        left = part(model, y, input, t_ns + tick * h_ns, 0.0, h, method, two_sided, work, split)
        if not all_finite(y):
            code, culprit = failure(model, y, good)
            return code, tick, culprit
        if left > LOST:
            copy(good, y)
            return UNMET, tick, loosest(split.held, split.bond)
        if something_happens(h, two_sided, split):
            copy(good, y)
            return EVENT, tick, -1
    return OK, ticks, -1


@routine
def step_error(model, y, input, t_ns, s, h, method, work, split, rtol, atol):
    """The error of a step over the tolerance atol + rtol |y|, as in `adaptive.py`; y stays. NaN if it is not finite."""
    new = work.stage[GOOD_ROW]
    copy(y, new)
    constrained_step(model, new, input, t_ns, s, h, method, split.held, work, split.bond)
    return constrained_error(model, y, new, input, t_ns, s, h, method, split.held, work, split.bond, rtol, atol)
