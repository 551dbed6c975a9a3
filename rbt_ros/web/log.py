"""The bag of a run that viewers act on: run again from it, it has the same bits."""

from pathlib import Path

from rbt_ros.bags.recorder import Recorder
from rbt_ros.bags.recording import Report
from rbt_ros.sim import Simulation


class Log:
    """BAG, then BAG_2 and so on from each reset on that edits the body: a bag is of one robot."""

    def __init__(self, folder: Path):
        self._folder, self._count = folder, 0
        self._recorder: Recorder | None = None
        self.reports: list[Report] = []  # of those that are written

    def begin(self, sim: Simulation) -> None:
        """Record this one from now on."""
        self.close()
        self._count += 1
        name = self._folder.name if self._count == 1 else f"{self._folder.name}_{self._count}"
        self._recorder = Recorder(self._folder.with_name(name), sim)

    def close(self) -> None:
        """End the bag that is written to."""
        if self._recorder:
            recorder, self._recorder = self._recorder, None
            self.reports.append(recorder.close())
