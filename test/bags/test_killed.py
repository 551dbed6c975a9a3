"""A recording that is killed is readable to within the last second, and is repaired."""

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from rosbags.rosbag2 import Reader

import rbt_ros as rbt
from rbt_ros.bags.repair import repair

TOGETHER = 4  # children that record at the same time


def kill_all(folder: Path, count: int, seed: int) -> None:
    """Let children record and kill each after a random time; check what they left."""
    rng = np.random.default_rng(seed)
    script = Path(__file__).with_name("killed.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdin and parent.stdout and parent.stdout.readline() == "ready\n"
        killed: dict[Path, int] = {}
        try:
            for first in range(0, count, TOGETHER):
                killed.clear()
                for k in range(first, first + TOGETHER):
                    parent.stdin.write(f"bag{k}\n")
                    parent.stdin.flush()
                    killed[folder / f"bag{k}"] = int(parent.stdout.readline())
                waits = np.diff(np.sort(rng.uniform(0.05, 1.6, TOGETHER)), prepend=0.0)
                for wait, (bag, child) in zip(waits, killed.items(), strict=True):
                    time.sleep(wait)
                    killed_ns = time.monotonic_ns()
                    os.kill(child, signal.SIGKILL)
                    check(bag, killed_ns)
        finally:
            for child in killed.values():  # ended or not: their parent has not reaped them, so the numbers are theirs
                os.kill(child, signal.SIGKILL)
            parent.kill()


def check(folder: Path, killed_ns: int) -> None:
    """What was recorded a second before the kill is there; after a repair, for others too."""
    told = list(struct.iter_unpack("<qq", read_whole(folder.with_suffix(".told"))))
    old = [stamp for steady, stamp in told if steady < killed_ns - 10**9]
    if not folder.exists() or not list(folder.glob("*.mcap")):
        assert not old
        return
    bag = rbt.Bag(folder)
    last = bag.span[1]
    assert last >= (old[-1] if old else 0), f"{(old[-1] - last) * 1e-9} s are lost"
    if not bag.messages:
        return
    clock = bag.arrays("clock")
    assert (np.diff(clock.t_ns) == 10**6).all()  # no hole before the end
    repair(folder)
    whole = rbt.Bag(folder)
    assert (whole.messages, whole.span, whole.damage) == (bag.messages, bag.span, [])
    with Reader(folder) as reader:
        assert sum(1 for _ in reader.messages()) == bag.messages


def read_whole(file: Path) -> bytes:
    data = file.read_bytes() if file.exists() else b""
    return data[: len(data) // 16 * 16]


def test_twenty_kills(tmp_path):
    kill_all(tmp_path, 20, 1)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_two_hundred_kills(tmp_path):
    kill_all(tmp_path, 200, 2)
