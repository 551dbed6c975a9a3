"""Free flight of one body without torque, taken tick by tick: `Flight.advance` stands where `integrate.advance` does.

| rotation | how | error |
|---|---|---|
| ExactRotation | closed form of `freetop.py`, each tick from the start of the motion | one rounding, at any tick |
| SplittingRotation | steps of `splitting.py`, order 6, in principal axes | falls as h⁶; phase walks with round-off |

The centre of mass flies its parabola under uniform gravity, in closed form from the start: p = p0 + v0 t + g t²/2.
No moment may act, nor any force but that gravity; the model is one floating body. Who calls has seen to that.
"""

import math

from rbt_ros.core.freetop import LARGEST_ANGLE, fastest_rate, free_top, state_at_ns
from rbt_ros.core.splitting import principal_steps, to_body_axes, to_principal_axes
from rbt_ros.core.types import GRAVITY, INERTIA, NON_FINITE, OK, TURNED_TOO_FAR, Status

FOR_EVER = 2**62  # [ticks]


class Flight:
    """What has to be remembered of a motion from call to call, so that the bits do not depend on how it is cut.

    A motion starts at the first call, and wherever time or state are not as the last call left them.
    """

    def __init__(self, rotation, correct=None):
        """rotation: one of the two below.

        correct: a function (q, w) -> (q, w) through which every state goes, and only on its way out.
        """
        self._kind, self._correct = rotation, correct
        self._left = None  # (t_ns, h_ns, bytes of y) when the last call ended

    def advance(self, model, y, t_ns, h_ns, ticks):
        """Take y = [q, p, w, v] in place `ticks` steps of h_ns [ns] further; on a failure y is the last good state."""
        if self._left != (t_ns, h_ns, y.tobytes()):
            self._take_off(model, y, h_ns)
        good = min(ticks, self._rotation.last - self._tick)
        tick = self._tick + good
        state = self._state(tick, h_ns)
        if not all(map(math.isfinite, state)):
            self._left = None
            return Status(NON_FINITE, 0, 0)
        if good > 0:  # no step: not even the rounding of the length of q
            y[: len(state)] = state
        self._tick, self._left = tick, (t_ns + good * h_ns, h_ns, y.tobytes())
        return Status(OK if good == ticks else TURNED_TOO_FAR, good, 0)

    def stepper(self, model, y, input, h_ns, method, work):
        """`advance` with only (t_ns, ticks) left to be given; of what acts, how and where nothing is asked."""
        return lambda t_ns, ticks: self.advance(model, y, t_ns, h_ns, ticks)

    def memory(self):
        """Where the motion started, and the tick of it that it has come to; None: it has not."""
        return None if self._left is None else (self._start, self._tick)

    def recall(self, memory, model, y, t_ns, h_ns):
        """Go on as the flight of which this is the memory."""
        self._left = None
        if memory is not None:
            self._start_from(memory[0], model, h_ns)
            self._tick = memory[1]
            self._rotation.at(self._tick)
            self._left = (t_ns, h_ns, y.tobytes())

    def _take_off(self, model, y, h_ns):
        self._start_from(y.tolist(), model, h_ns)

    def _start_from(self, start, model, h_ns):
        self._start = start
        self._p, self._v = start[4:7], start[10:13]
        self._g = model.world[GRAVITY : GRAVITY + 3].tolist()
        inertia = tuple(model.body[0, INERTIA : INERTIA + 6].tolist())
        self._rotation = self._kind(inertia, tuple(start[:4]), tuple(start[7:10]), h_ns)
        self._tick = 0

    def _state(self, tick, h_ns):
        """y at a tick of the motion."""
        q, w = self._rotation.at(tick)
        if self._correct is not None:
            q, w = self._correct(q, w)
        t = tick * h_ns / 1e9
        p = [p + t * (v + 0.5 * t * g) for p, v, g in zip(self._p, self._v, self._g, strict=True)]
        v = [v + t * g for v, g in zip(self._v, self._g, strict=True)]
        return [*q, *p, *w, *v]


class ExactRotation:
    """q_WB and w_WB_B by the closed form: no tick depends on another."""

    def __init__(self, inertia, q, w, h_ns):
        self._top, self._h_ns = free_top(inertia, q, w), h_ns
        rate = fastest_rate(self._top)
        self.last = int(min(FOR_EVER, LARGEST_ANGLE / rate * 1e9 / h_ns)) if rate > 0.0 else FOR_EVER

    def at(self, tick):
        """The state at a tick."""
        return state_at_ns(self._top, tick * self._h_ns)


class SplittingRotation:
    """q_WB and w_WB_B by splitting steps; between the calls they stay in principal axes."""

    last = FOR_EVER

    def __init__(self, inertia, q, w, h_ns):
        self._moments, self._axes, self._q, self._w = to_principal_axes(inertia, q, w)
        self._h, self._tick = h_ns * 1e-9, 0

    def at(self, tick):
        """The state at a tick; the ticks of consecutive calls do not decrease."""
        steps = tick - self._tick
        self._q, self._w = principal_steps(self._moments, self._q, self._w, self._h, steps)
        self._tick = tick
        return to_body_axes(self._axes, self._q, self._w)
