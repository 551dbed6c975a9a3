"""Ropes and stops in motion: where in a step something happens, impacts, who holds from there on.

A tick in which something happens is stepped again in parts, from event to event (`first_event.py`). At an event, first
the impacts: velocities jump by M⁻¹ Gᵀ Λ, the least change, measured by M, for which

    φ̇⁺ <= 0,        φ̇⁺ = -e φ̇⁻ where Λ < 0 and φ̇⁻ > 0        (Newton's law of restitution)

over all rows that are closed: one complementarity problem, so that what hits together is solved together. It takes
-½ Λ (φ̇⁺ + φ̇⁻) of energy in each row, never a negative amount, and as impulses are equal and opposite in one point,
momentum is kept. Rebounds slower than SETTLE end: so a bouncing body comes to rest. Then who of the closed rows holds:
the same problem for φ̈ and λ.
"""

from typing import NamedTuple

import numpy as np

from rbt_ros.core import constraints as c
from rbt_ros.core.adaptive import stops_ns
from rbt_ros.core.complementarity import complementary, shortest
from rbt_ros.core.constrained import LOST, add_scaled, constrained_derivative, loosest, put_back
from rbt_ros.core.controlled import step_factor
from rbt_ros.core.dynamics import coordinates
from rbt_ros.core.first_event import FirstEvent
from rbt_ros.core.integrate import all_finite, first_non_finite
from rbt_ros.core.types import CROWDED, NON_FINITE, NON_FINITE_WORK, OK, STEP_TOO_SMALL, TOO_MANY_STEPS, UNMET
from rbt_ros.core.unilateral import EVENT, PULL, STILL, Split, round_off, run_quiet, split, step_error

SETTLE = 1e-6  # [m/s, rad/s]: rebounds below this do not happen
MANY, SETTLE_OF_MANY = 200, 1e-4  # after so many events in a tick: below this
CLOSED = 1e-13  # [m, rad], per 1 + |length or limit|: rows nearer than this collide together
IMPACTS = 100  # at one instant, one after the other
EVENTS = 1000  # in one tick
KEPT = 100_000  # events that are remembered
MAX_TRIES = 1_000_000  # steps in one tick, under error control


class Contact(NamedTuple):
    """What happened to a one-sided row."""

    t_ns: int  # when the tick began [ns]
    s: float  # [s] after that
    row: int
    holds: bool  # whether the row is held from then on
    speed: float  # φ̇ before [m/s, rad/s]; of a release 0
    impulse: float  # -Λ >= 0 [N·s, N·m·s]
    lost: float  # energy [J]


class Contacts:
    """The one-sided conditions of one run: which are held, and what has happened."""

    def __init__(self, model, unilateral, work):
        self._model, self._unilateral, self.work = model, unilateral, work
        self.held = ()  # one-sided rows
        self.happened = []  # Contact by Contact
        self.lost = 0.0  # energy in all of them [J]
        self.driven = 0.0  # what prescribed joints did in them [J]
        self._before = 0  # how many there were when the tick began
        rows = unilateral.rows
        self._all = rows._replace(row=np.concatenate([rows.row, unilateral.catches.row]))
        self._all.row.flags.writeable = False
        self._bond = c.bonds(model, self._all)
        self._splits = {}

    @property
    def split(self) -> Split:
        """The conditions as they are now."""
        return self._split(self.held)

    def _split(self, held):
        if held not in self._splits:
            self._splits[held] = split(self._model, self._unilateral, held)
        return self._splits[held]

    def forget(self):
        """Nothing has happened yet."""
        self.happened.clear()
        self.lost = self.driven = 0.0

    def distances(self, y, input, t_ns):
        """φ of the one-sided rows."""
        self._evaluate(y, input, t_ns, 0.0)
        return self._bond.column[c.PHI, self._unilateral.two_sided : len(self._unilateral.catch)].copy()

    def begin(self, y, input, t_ns, anew):
        """Find out who holds at y, in place: impacts happen at once. A code of Status.

        anew: y was set; that a rope is taut there is no event.
        """

        def begin():
            if anew:
                self.held = ()
            return self._decide(y, input, t_ns, 0.0, None), -1

        code, _ = self._all_or_nothing(y, begin)
        if anew:
            count = self._before
            self.happened[count:] = [contact for contact in self.happened[count:] if contact.impulse > 0.0]
        return code

    def stepper(self, model, y, input, h_ns, method, work):
        """A function of (t_ns, ticks) that takes y in place `ticks` steps further: (code, tick, body)."""
        two_sided = self._unilateral.two_sided

        def go_on(t_ns, ticks):
            done, code = 0, OK
            while code == OK:
                start = t_ns + done * h_ns
                code, n, body = run_quiet(
                    model, y, input, two_sided, work, self.split, h_ns, method, start, ticks - done
                )
                done += n
                if code != EVENT:
                    return code, done, body
                start = t_ns + done * h_ns
                code, body = self._all_or_nothing(
                    y, lambda start=start: self._from_event_to_event(y, input, start, h_ns / 1e9, method)
                )
                done += code == OK
            return code, done, body

        return go_on

    def controlled_stepper(self, rtol, atol, model, y, input, h_ns, method, work):
        """`stepper` in steps as long as the error lets them be: atol + rtol |y| each; every tick on its own."""

        def go_on(t_ns, ticks):
            for tick in range(ticks):
                start = t_ns + tick * h_ns
                code, body = self._all_or_nothing(
                    y, lambda start=start: self._controlled(y, input, start, h_ns, method, rtol, atol)
                )
                if code != OK:
                    return code, tick, body
            return OK, ticks, -1

        return go_on

    # one tick

    def _all_or_nothing(self, y, go):
        """(code, body) of go(); if it fails, y and all else are as before."""
        del self.happened[:-KEPT]
        good, held, count, books = y.copy(), self.held, len(self.happened), (self.lost, self.driven)
        self._before = count
        code, body = go()
        if code != OK:
            y[:] = good
            self.held, (self.lost, self.driven) = held, books
            del self.happened[count:]
        return code, body

    def _from_event_to_event(self, y, input, t_ns, end, method):
        """(code, body): y goes to end [s] after t_ns, in parts that end on events."""
        s, body = 0.0, 0
        for _ in range(EVENTS):
            span = end - s
            code, body, x = self._part(y, input, t_ns, s, span, method)
            if code != OK or x == span:
                return code, body
            s += x
        return CROWDED, body

    def _controlled(self, y, input, t_ns, h_ns, method, rtol, atol):
        """(code, body): y goes h_ns further in parts as long as the error allows, which end on events and jumps."""
        start, h, events, tries, body = t_ns, h_ns / 1e9, 0, 0, 0
        for stop in stops_ns(input, t_ns, t_ns + h_ns):
            s, end = 0.0, (stop - start) / 1e9
            while s < end:
                tries += 1
                if events > EVENTS or tries > MAX_TRIES:
                    return CROWDED if events > EVENTS else TOO_MANY_STEPS, body
                span = end - s if end - s < 1.01 * h else h
                error = step_error(self._model, y, input, start, s, span, method, self.work, self.split, rtol, atol)
                h = span * step_factor(error, method)
                if not error <= 1.0:
                    if not h > 1e-15 * end:
                        return STEP_TOO_SMALL, body
                    continue
                code, body, x = self._part(y, input, start, s, span, method)
                if code != OK:
                    return code, body
                events += x != span
                s = end if x == end - s else s + x
            start = stop
        return OK, -1

    def _part(self, y, input, t_ns, s, span, method):
        """(code, body, x): y goes to x [s] after s, over span [s] or to the first event in it, which is dealt with."""
        two_sided, now = self._unilateral.two_sided, self.split
        search = FirstEvent(self._model, y, input, t_ns, s, method, two_sided, self.work, now)
        x, held_row, idle_row, left = search.find(span)
        if not all_finite(y):
            body = first_non_finite(self._model, y)
            return (NON_FINITE if body >= 0 else NON_FINITE_WORK), body, x
        if left > LOST:
            return UNMET, loosest(now.held, now.bond), x
        if held_row is None and idle_row is None:
            return OK, -1, span
        one_sided = [r for r in range(two_sided, len(self._unilateral.catch)) if r not in self.held]
        culprit = one_sided[idle_row] if held_row is None else self.held[held_row]
        code = self._decide(y, input, t_ns, s + x, culprit)
        return code, max(0, int(self._all.row[culprit, c.BODY_B])), x

    # one instant

    def _decide(self, y, input, t_ns, s, culprit):
        """Impacts, then who holds from now on. culprit: the row whose event this is; a held one lets go."""
        first = self._unilateral.two_sided
        self._evaluate(y, input, t_ns, s)
        phi = self._bond.column[c.PHI]
        near = [
            r for r in range(first, len(self._unilateral.catch))
            if r in self.held or r == culprit or phi[r] >= -CLOSED * (1.0 + abs(self._all.row[r, c.TARGET]))
        ]  # fmt: skip
        struck = self._impacts(y, near, culprit)
        if struck is None:
            return UNMET
        rates = self._bond.column[c.PHI_DOT]
        closed = [r for r in near if abs(rates[r]) <= STILL]
        if any(phi[r] > 0.5 * round_off(self._all, r) for r in closed if r not in self.held):
            together = self._split(tuple(closed))
            put_back(self._model, y, input, t_ns, s, together.held, self.work, together.bond)
        self._evaluate(y, input, t_ns, s)
        rows = [*range(first), *closed]
        start = [first + k for k, r in enumerate(closed) if r != culprit or r not in self.held]
        b = self._bond.column[c.PHI_DDOT][rows]
        broken = PULL * (1.0 + max(abs(b), default=0.0))
        found = complementary(self._bond.A[np.ix_(rows, rows)], b, first, start, broken, PULL)
        if found is None:
            return UNMET
        self._keep_record(tuple(rows[k] for k in found[1]), struck, t_ns, s)
        return OK

    def _keep_record(self, held, struck, t_ns, s):
        """Let `held` be what is held; note who was struck, who is new, who lets go."""
        for r, speed, impulse, lost in struck:
            self.lost += lost
            if speed > STILL or (r in held and r not in self.held):
                self.happened.append(Contact(t_ns, s, r, r in held, speed, impulse, lost))
        known = {r for r, *_ in struck}
        for r in held:
            if r not in self.held and r not in known:
                self.happened.append(Contact(t_ns, s, r, True, 0.0, 0.0, 0.0))
        for r in self.held:
            if r not in held and r not in known:
                self.happened.append(Contact(t_ns, s, r, False, 0.0, 0.0, 0.0))
        self.held = held

    def _evaluate(self, y, input, t_ns, s):
        """Fill all rows at y, with G M⁻¹ Gᵀ."""
        ydot = np.zeros_like(y)
        constrained_derivative(self._model, y, input, t_ns, s, self._all, self.work, self._bond, ydot)

    def _impacts(self, y, near, culprit):
        """[(row, speed, impulse, energy lost)], y in place; None if no impulses are found.

        An idle culprit that does not come nearer was let go, and has left by nothing but round-off: it rests.
        """
        struck, rates = [], self._bond.column[c.PHI_DOT]
        hits = [r for r in near if rates[r] > (STILL if r in self.held else 0.0)]
        resting = [r for r in near if r == culprit and r not in self.held and rates[r] <= 0.0]
        for _ in range(IMPACTS):
            if not hits and not resting:
                return struck
            found = self._collide(y, near, hits, resting)
            if found is None:
                return None
            struck += found
            hits, resting = [r for r in near if rates[r] > STILL], []
        return None

    def _collide(self, y, near, hits, resting):
        """One impact of all that are closed and do not part; those of `resting` stay closed."""
        data, bond, first = self._unilateral, self._bond, self._unilateral.two_sided
        rates, v = bond.column[c.PHI_DOT], y[coordinates(self._model) :][: self._model.freedom.shape[0]]
        dead = [
            r for r in hits if data.catch[r] >= 0 and rates[r] > STILL
        ]  # a rope that is loaded gently stops nothing
        kept = [*range(first), *resting, *(len(data.catch) + data.catch[r] + k for r in dead for k in range(3))]
        touching = [r for r in near if rates[r] >= -STILL and r not in dead and r not in resting]
        rows = kept + touching
        b, before = rates[rows], rates.copy()
        settle = SETTLE if len(self.happened) - self._before < MANY else SETTLE_OF_MANY
        for k, r in enumerate(rows):
            if r in touching and data.restitution[r] * rates[r] > settle:
                b[k] += data.restitution[r] * rates[r]
        start = [k for k, r in enumerate(rows) if r in hits]
        found = complementary(bond.A[np.ix_(rows, rows)], b, len(kept), start, 0.5 * STILL)
        if found is None:
            return None
        multipliers = np.zeros(len(rates))
        multipliers[rows] = found[0]
        for r in rows:
            add_scaled(v, multipliers[r], bond.W[r])
        c.fill_rates(v, bond)
        self.driven += float((multipliers[:first] * bond.column[c.RATE, :first]).sum())  # G v is u̇, before and after
        taken = -0.5 * multipliers * (before + rates)
        for r in dead:
            three = len(data.catch) + data.catch[r] + np.arange(3)
            multipliers[r] = -np.sqrt((shortest(bond.A[np.ix_(three, three)], multipliers[three]) ** 2).sum())
            taken[r] = taken[three].sum()
        struck = [(r, before[r], -multipliers[r], taken[r]) for r in sorted(dead + touching) if multipliers[r] < 0.0]
        return struck + [(r, 0.0, 0.0, taken[r]) for r in resting]
