"""The node at 1 kHz, recorded and not in turns: how long its steps take, printed as JSON for the benchmark.

Usage: record_node.py FOLDER SECONDS ROUNDS. A step is all that the stepping thread does from its wake-up to its next
sleep, less what it does because there is time before that: commands, the five-body chain, a sample, its messages
published, what recording wants of it.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
from rclpy.parameter import Parameter

import rbt_ros as rbt
from rbt_ros.ros.node import SimulatorNode
from rbt_ros.ros.spinning import spin

SETTLE_S = 1.0  # after a bag has begun or ended: what a new process costs the machine is not what is asked


class Turns:
    """Looks at the node twice a second; begins and ends bags, and sorts what the steps took."""

    def __init__(self, folder: Path, seconds: float, rounds: int):
        self.us: dict[str, list[np.ndarray]] = {"plain": [], "recorded": []}  # p50 and p99 of each turn
        self.lost = 0
        self._folder, self._seconds, self._left = folder, seconds, 2 * rounds
        self._took: list[int] = []
        self._counts, self._until = False, 0.0

    def __call__(self, node: SimulatorNode) -> None:
        """A look."""
        if not self._until:
            self._watch_steps(node)
            self._until = time.monotonic() + SETTLE_S
        elif time.monotonic() >= self._until:
            if self._counts:
                self._end_turn(node)
            elif self._left:
                self._took, self._counts, self._until = [], True, time.monotonic() + self._seconds
            else:
                node.quitting = True

    def _watch_steps(self, node: SimulatorNode) -> None:
        step, clock = node.loop._step, time.perf_counter_ns

        def watched(due: int) -> None:
            start = clock()
            step(due)
            if self._counts:
                self._took.append(clock() - start)

        node.loop._step = watched

    def _end_turn(self, node: SimulatorNode) -> None:
        """A turn without a bag, one with a bag, and so on."""
        self._counts, self._left = False, self._left - 1
        recorded = self._left % 2 == 0
        self.us["recorded" if recorded else "plain"].append(np.quantile(self._took, [0.5, 0.99]) * 1e-3)
        if recorded:
            self.lost += node.recorder._recording.lost
            node.recorder.stop()
        else:
            node.set_parameters([Parameter("record_to", value=str(self._folder / str(self._left)))])
            node.recorder.start()
        self._until = time.monotonic() + SETTLE_S


def main() -> None:
    """Print the medians of all turns."""
    folder = Path(sys.argv[1])
    turns = Turns(folder, float(sys.argv[2]), int(sys.argv[3]))
    spin(rbt.load("five_body"), args=["--ros-args", "-p", "mode:=realtime"], watch=turns)
    medians = {kind: np.median(us, axis=0).tolist() for kind, us in turns.us.items()}
    bags = [rbt.Bag(bag) for bag in folder.iterdir()]
    size = sum(bag.size for bag in bags) / sum(bag.messages for bag in bags)
    print(json.dumps({**medians, "lost": turns.lost, "bytes": size}))


if __name__ == "__main__":
    main()
