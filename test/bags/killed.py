"""Children that record until they are killed: `python killed.py FOLDER` forks one for each line that it reads.

Each tells (steady time, stamp) through a file, so that the parent knows what was recorded when.
"""

import os
import struct
import sys
import time
from pathlib import Path

import rbt_ros as rbt


def record(folder: Path) -> None:
    """A run at 5 times real time, where the machine can, for ever."""
    sim = rbt.load("cubesat").simulation()
    told = (folder.with_suffix(".told")).open("ab", buffering=0)
    recorder = rbt.Recorder(folder, sim)
    while True:
        sim.advance(50)
        while recorder.recording.waiting:  # how far that is behind is a matter of the machine, not of what is flushed
            time.sleep(0.001)
        told.write(struct.pack("<qq", time.monotonic_ns(), 1_000_000_000 + sim.t_ns))
        time.sleep(0.01)


rbt.load("cubesat").simulation().warm_up()
print("ready", flush=True)
for line in sys.stdin:
    child = os.fork()
    if not child:
        record(Path(sys.argv[1]) / line.strip())
    print(child, flush=True)
