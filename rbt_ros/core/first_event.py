"""Where in a span of time the first rope or stop has its event: is reached, or would pull the wrong way.

y at x [s] after the start of the span is one step of the integrator, of length x, put back on what is held. So the
event is sought over the *length of the step*: it lies on the solution of the integrator itself, whose order holds
across it, and the run is a function of state and inputs alone, however it is cut into calls.
"""

import numpy as np

from rbt_ros.core.constrained import LOST
from rbt_ros.core.constraints import LAMBDA, PHI, PHI_DOT
from rbt_ros.core.events import zero
from rbt_ros.core.unilateral import PULL, look, part, peak, round_off

HALVINGS = 50  # of a span, for a time before which a row that was at zero has left it


class FirstEvent:
    """The search in one span, from y at s [s] after t_ns on, while the same rows are held."""

    def __init__(self, model, y, input, t_ns, s, method, two_sided, work, split):
        self._run = model, y, input, t_ns, s
        self._method, self._two_sided, self._work, self._split = method, two_sided, work, split
        self._y, self._start = y, y.copy()
        self._cleared = set()  # idle rows that turn round just below zero
        self._go(0.0)
        self._pulls0 = [self._pull(r) for r in range(self._held)]
        self._phi0, self._rates0 = split.watch.column[[PHI, PHI_DOT]]

    def find(self, span):
        """(x, held, idle, left): y goes to x [s] after the start, where that held or idle row has its event.

        Both are None if there is no event: then y is at the end of the span. left: of the held rows, by `part`.
        """
        x, before, held, idle = span, np.inf, None, None
        left = self._go(x)
        while left <= LOST and 0.0 < x < before:
            pulling = next((r for r in range(self._held) if self._pull(r) > PULL), None)
            broken = None if pulling is not None else self._broken(x)
            if pulling is None and broken is None:
                break
            before = x
            if pulling is not None:
                x = self._root(self._pull, pulling, self._pulls0[pulling], x, 0.1 * PULL)
            else:
                x = self._reached(broken, x)
            if x is None:
                x, before = before, np.inf
            else:
                held, idle = pulling, broken
            left = self._go(x)
        return x, held, idle, left

    @property
    def _held(self):
        """How many one-sided rows are held."""
        return len(self._split.bond.A) - self._two_sided

    def _go(self, x):
        """y goes to x [s] after the start; what is left of the held rows."""
        self._y[:] = self._start
        if x == 0.0:
            look(*self._run, self._two_sided, self._work, self._split)
            return 0.0
        return part(*self._run, x, self._method, self._two_sided, self._work, self._split)

    def _pull(self, r):
        """λ of a held row, as an acceleration: positive where it would pull the wrong way."""
        place = self._two_sided + r
        return self._split.bond.A[place, place] * self._split.bond.column[LAMBDA, place]

    def _phi(self, k):
        """φ of an idle row."""
        return self._split.watch.column[PHI, k]

    def _fall(self, k):
        """-φ̇ of an idle row."""
        return -self._split.watch.column[PHI_DOT, k]

    def _broken(self, x):
        """An idle row that was broken before x, or seems so."""
        for k in range(len(self._phi0)):
            phi, rate, limit = self._phi(k), -self._fall(k), round_off(self._split.idle, k)
            if phi > limit:
                return k
            if k not in self._cleared and self._rates0[k] > 0.0 > rate:
                if peak(self._phi0[k], x * self._rates0[k], phi, x * rate)[0] > limit:
                    return k
        return None

    def _reached(self, k, x):
        """When idle row k gets to zero, x at the latest; None if it only seemed so."""
        limit = round_off(self._split.idle, k)
        if self._phi(k) <= limit:  # it came and went: first, when it turned round
            x = self._root(self._fall, k, -self._rates0[k], x, 0.0)
            self._go(x)
            self._cleared.add(k)
            if self._phi(k) <= limit:
                return None
        return self._root(self._phi, k, self._phi0[k], x, 0.01 * limit)

    def _root(self, value, row, at_0, top, small):
        """Where value(row) gets to zero, between 0 and top [s], where it is positive; what is below `small` is zero.

        If it is zero at 0 already (it has just bounced, or let go), a time is sought before which it is negative.
        """

        def at(x):
            self._go(x)
            found = value(row)
            return 0.0 if abs(found) <= small else found

        low, high, at_high = 0.0, top, at(top)
        if at_0 >= -small:
            for _ in range(HALVINGS):
                low, at_0 = 0.5 * high, at(0.5 * high)
                if at_0 < 0.0:
                    break
                high, at_high = low, at_0
            else:
                return 0.0
        if at_high == 0.0:
            return high
        return low + (high - low) * zero(lambda z: at(low + (high - low) * z), at_0, at_high)
