"""Where in a span of time the first rope or stop has its event: is reached, or would pull the wrong way.

y at x [s] after the start of the span is one step of the integrator, of length x, put back on what is held. So the
event is sought over the *length of the step*: it lies on the solution of the integrator itself, whose order holds
across it, and the run is a function of state and inputs alone, however it is cut into calls.
"""

import numpy as np

from rbt_ros.core.constrained import LOST
from rbt_ros.core.constraints import LAMBDA, PHI, PHI_DOT
from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.events import zero
from rbt_ros.core.unilateral import PULL, STILL, look, part, peak, round_off

BLUR = 1e-15  # of φ, per m or rad of the coordinates
HALVINGS = 50  # of a span, for a time before which a row that was at zero has left it


class FirstEvent:
    """The search in one span, from y at s [s] after t_ns on, while the same rows are held."""

    def __init__(self, model, y, input, t_ns, s, method, two_sided, work, split):
        self._run = model, y, input, t_ns, s
        self._method, self._two_sided, self._work, self._split = method, two_sided, work, split
        self._y, self._start = y, y.copy()
        self._blur = BLUR * abs(y[: coordinates(model)]).max()
        self._cleared = set()  # idle rows that only seemed to get there
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
                x = self._lets_go(pulling, x)
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

    def _rate(self, k):
        """φ̇ of an idle row."""
        return self._split.watch.column[PHI_DOT, k]

    def _broken(self, x):
        """An idle row that was broken before x, or seems so."""
        for k in range(len(self._phi0)):
            phi, rate, limit = self._phi(k), self._rate(k), round_off(self._split.idle, k)
            if k in self._cleared:
                continue
            if phi > limit:
                return k
            if self._rates0[k] > 0.0 > rate:
                if peak(self._phi0[k], x * self._rates0[k], phi, x * rate)[0] > limit:
                    return k
        return None

    def _lets_go(self, r, x):
        """When held row r pulls the wrong way, x at the latest."""
        small = 0.1 * PULL
        low, high = self._sign_changes(self._pull, r, self._pulls0[r], x, small)
        return 0.0 if high == 0.0 else self._root(self._pull, r, low, high, small)

    def _reached(self, k, x):
        """When idle row k gets to zero, x at the latest; None if it only seemed so.

        Where it has just bounced, or was let go, φ is round-off, above zero or below. So one that moves away first is
        sought from where it turns round; and where even there φ is hardly below zero, that flight ends when the row
        comes back as fast as it left.
        """
        limit = round_off(self._split.idle, k)
        if self._phi(k) <= limit:  # it came and went: first, when it turned round
            x = self._root(lambda k: -self._rate(k), k, 0.0, x, 0.0)
            self._go(x)
        elif self._rates0[k] <= STILL:
            x = self._rising(k, x, limit)
        self._go(x)
        if self._phi(k) <= limit:
            self._cleared.add(k)
            return None
        if self._rates0[k] > STILL:
            return self._root(self._phi, k, 0.0, x, 0.01 * limit)
        low, high = self._sign_changes(self._rate, k, self._rates0[k], x, 0.0)
        if high == 0.0:  # it never leaves
            return 0.0 if self._phi0[k] >= -limit else self._root(self._phi, k, 0.0, x, 0.01 * limit)
        turn = self._root(self._rate, k, low, high, 0.0)
        self._go(turn)
        if self._phi(k) < -limit - self._blur:
            return self._root(self._phi, k, turn, x, 0.01 * limit)
        return self._root(lambda k: self._rate(k) + min(self._rates0[k], 0.0), k, turn, x, 0.0)

    def _rising(self, k, x, limit):
        """A time up to x, where idle row k is above zero, at which it rises; 0 if it does not: φ is but round-off."""
        low, high = 0.0, x
        for _ in range(HALVINGS):
            if self._rate(k) > 0.0:
                return x
            x = 0.5 * (low + high)
            self._go(x)
            low, high = (low, x) if self._phi(k) > limit else (x, high)
        return 0.0

    def _sign_changes(self, value, row, at_0, top, small):
        """(low, high) between which value(row) gets positive, as it is at `top` [s]; (0, 0) if it is nowhere negative.

        If it is zero at 0 already, or above, a time is sought at which it is negative.
        """
        low, high = 0.0, top
        if at_0 < -small:
            return low, high
        for _ in range(HALVINGS):
            low = 0.5 * high
            self._go(low)
            if value(row) < -small:
                return low, high
            high = low
        return 0.0, 0.0

    def _root(self, value, row, low, high, small):
        """Where value(row) gets to zero, from below, between low and high [s]; what is below `small` is zero."""

        def at(x):
            self._go(x)
            found = value(row)
            return 0.0 if abs(found) <= small else found

        at_low, at_high = at(low), at(high)
        if at_high <= 0.0:
            return high
        if at_low >= 0.0:
            return low
        return low + (high - low) * zero(lambda z: at(low + (high - low) * z), at_low, at_high)
