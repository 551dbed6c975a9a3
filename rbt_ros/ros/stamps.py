"""The clock that the node shows: steps since the process started, on a grid that begins anew where the step changes."""

from rbt_ros.model.ticks import Ticks


class Stamps:
    """Goes on by a step at a time, or ahead; back only where `rewind` is asked for. Used by the stepping thread."""

    def __init__(self, h_ns: int, start_ns: int):
        self.computed = 0  # steps that were taken, whatever the clock has skipped
        self._start_ns, self._ticks = start_ns, Ticks(h_ns, start_ns)
        self._steps = 0  # that the clock shows
        self._grid = 0  # the one at which it changed last

    @property
    def now_ns(self) -> int:
        """The stamp of now."""
        return self._ticks.ns(self._steps)

    @property
    def ticks(self) -> Ticks:
        """The step, and the stamp that step 0 has, or would have had."""
        return self._ticks

    @property
    def place(self) -> int:
        """How many steps after the one from which outputs and lockstep count."""
        return self._steps - self._grid

    @property
    def zero_ns(self) -> int:
        """The stamp from which outputs and lockstep count."""
        return self._ticks.ns(self._grid)

    def step(self) -> None:
        """A step was taken."""
        self._steps += 1
        self.computed += 1

    def go_on_at(self, clock_ns: int, h_ns: int, place: int) -> None:
        """Show that stamp, rounded up to whole steps, and the next one at least; there outputs are at `place`."""
        if h_ns == self._ticks.h_ns:
            self._steps = max(self._steps + 1, -(-(clock_ns - self._ticks.zero_ns) // h_ns))
        else:
            self.count_from(max(self.now_ns + h_ns, clock_ns), h_ns)
        self._grid = self._steps - place

    def count_from(self, stamp_ns: int, h_ns: int) -> None:
        """That is the stamp of now, and steps have that length from here on, from where outputs and lockstep count."""
        self._ticks = Ticks(h_ns, stamp_ns - self._steps * h_ns)
        self._grid = self._steps

    def rewind(self) -> None:
        """Show the first stamp again."""
        self.count_from(self._start_ns, self._ticks.h_ns)
