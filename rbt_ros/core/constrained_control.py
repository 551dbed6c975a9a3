"""Steps under error control that end on the constraints: what `controlled.py` is for a tree.

Each step is tried as `constrained.py` takes it, its error estimated from its own stages as for a tree; one that is
accepted is put back on the constraints before the next begins. That moves y by its local error at most, so order and
tolerance hold. There is no dense output: a polynomial between two points of the constraints leaves them.
"""

import math
from typing import NamedTuple

from rbt_ros.core.adaptive import MAX_STEPS, stops_ns
from rbt_ros.core.constrained import LOST, constrained_derivative, constrained_step, loosest, put_back
from rbt_ros.core.constraints import Constraints, bonds
from rbt_ros.core.controlled import error_norm, motion_size, step_factor
from rbt_ros.core.integrate import PAIR_5_4, all_finite, copy, first_non_finite
from rbt_ros.core.jit import kernel, routine
from rbt_ros.core.types import NON_FINITE, NON_FINITE_WORK, OK, STEP_TOO_SMALL, TOO_MANY_STEPS, UNMET
from rbt_ros.core.work import GOOD_ROW


@kernel
def constrained_error(model, y, new, input, t_ns, s, h, method, constraints, work, bond, rtol, atol):
    """The error over the tolerance atol + rtol |y| of the step from y, s [s] after t_ns, to new; NaN if not finite.

    The stages of the step are in `work`.
    """
    size = motion_size(model)
    if not all_finite(new):
        return math.nan
    if method.rule == PAIR_5_4:  # its last stage is the derivative at the end
        constrained_derivative(model, new, input, t_ns, s + h, constraints, work, bond, work.stage[6])
    return error_norm(y[:size], new[:size], h, rtol, atol, method, work)


@routine
def march_constrained(model, y, input, work, constraints, bond, t_ns, end, h, rtol, atol, method, max_steps):
    """(code, steps tried, h, body): y, at t_ns, becomes y at end [s] after that, on the constraints.

    h [s]: the first step to try; the next one comes back. On a failure y is the end of the last good step.
    """
    good, s, tried = work.stage[GOOD_ROW], 0.0, 0
    while s < end:
        if tried == max_steps:
            return TOO_MANY_STEPS, tried, h, 0
        tried += 1
        span = end - s if end - s < 1.01 * h else (s + h) - s
        copy(y, good)
        constrained_step(model, y, input, t_ns, s, span, method, constraints, work, bond)
        error = constrained_error(
            model, good, y, input, t_ns, s, span, method, constraints, work, bond, rtol, atol
        )  # fmt: skip
        h = span * step_factor(error, method)
        if not error <= 1.0:  # NaN too
            finite, who = all_finite(y), first_non_finite(model, y)
            copy(good, y)
            if not h > 1e-15 * end:
                code = STEP_TOO_SMALL if finite else NON_FINITE_WORK if who < 0 else NON_FINITE
                return code, tried, h, max(who, 0)
            continue
        if put_back(model, y, input, t_ns, s + span, constraints, work, bond) > LOST:
            copy(good, y)
            return UNMET, tried, h, loosest(constraints, bond)
        s = end if span == end - s else s + span
    return OK, tried, h, -1


class ControlledConstrained(NamedTuple):
    """What `adaptive.Controlled` is for a tree, for one with constraints."""

    rtol: float
    atol: float
    constraints: Constraints

    def stepper(self, model, y, input, h_ns, method, work):
        """A function of (t_ns, ticks) that takes y in place `ticks` steps further: (code, tick, body).

        Every tick is solved on its own, so that the bits do not depend on how a run is cut; its first try is all of it.
        """
        bond = bonds(model, self.constraints)

        def march(t_ns, end, h, room):
            return march_constrained(
                model, y, input, work, self.constraints, bond, t_ns, end, h, self.rtol, self.atol, method, room
            )

        def tick_from(t_ns):
            start, h, room = t_ns, h_ns / 1e9, MAX_STEPS
            for stop in stops_ns(input, t_ns, t_ns + h_ns):
                code, tried, h, body = march(start, (stop - start) / 1e9, h, room)
                if code != OK:
                    return code, body
                start, room = stop, room - tried
            return OK, -1

        def go_on(t_ns, ticks):
            if ticks == 0:  # to compile: nothing moves
                march(t_ns, 0.0, 1.0, 1)
            for tick in range(ticks):
                good = y.copy()
                code, body = tick_from(t_ns + tick * h_ns)
                if code != OK:
                    y[:] = good
                    return code, tick, body
            return OK, ticks, -1

        return go_on
