"""The node's stepping loop at 1 kHz with all topics, beside a bare rclpy loop that publishes the same messages."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from harness import Group, Row

SECONDS = float(os.environ.get("SECONDS_EACH", "20"))
ROUNDS = 3
BARE = Path(__file__).with_name("bare_rclpy.py")


def measure(wanted: set[str]) -> dict[str, Row]:
    """Jitter and overruns, node and bare loop in turns."""
    import domain_coordinator

    ours, bare = [], []
    with domain_coordinator.domain_id() as domain:
        for _ in range(ROUNDS):
            ours.append(run_watched("-m", "rbt_ros.cli", "node", "cubesat", domain=domain))
            bare.append(run_watched(str(BARE), domain=domain))
    mine, theirs = np.median(ours, axis=0), np.median(bare, axis=0)
    highest = [max(run[2] for run in runs) for runs in (ours, bare)]
    note = f"{ROUNDS} x {SECONDS:g} s each; node against bare loop: p50 {mine[0]:.0f} against {theirs[0]:.0f} us, "
    note += f"max {highest[0]:.0f} against {highest[1]:.0f} us"
    missing = max(abs(o[4]) for o in ours)
    rows = {
        "node_jitter": Row(theirs[1] / mine[1], mine[1], theirs[1], "us late, p99", note),
        "node_overruns": Row(mine[3], mine[3], theirs[3], "part of ticks that began late, less is better"),
        "node_ticks": Row(missing, missing, None, "ticks missing or too many against elapsed / h, at most 1"),
    }
    return {key: row for key, row in rows.items() if key in wanted}


def run_watched(*command: str, domain: int) -> tuple[float, ...]:
    """(p50, p99, max [us], overruns per tick, ticks missing) of a run of SECONDS."""
    keys = ("jitter p50 [us]", "jitter p99 [us]", "jitter max [us]", "overruns, part of ticks", "missing")
    told = last_told(*command, "--duration", str(SECONDS + 3), domain=domain)
    return tuple(told[key] for key in keys)


def last_told(*command: str, domain: int, beside: tuple[str, ...] = (), seconds: float = SECONDS) -> dict[str, Any]:
    """What the loop says in the last /diagnostics of a run, with another Python program beside it if wanted."""
    with tempfile.TemporaryDirectory() as logs:
        environment = {
            **os.environ,
            "ROS_DOMAIN_ID": str(domain),
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
            "ROS_LOG_DIR": logs,
        }
        children = [
            subprocess.Popen([sys.executable, *words], env=environment, stdout=subprocess.DEVNULL)
            for words in (command, beside)
            if words
        ]
        watcher = [sys.executable, str(BARE.with_name("watch_diagnostics.py")), str(seconds)]
        try:
            seen = subprocess.run(
                watcher, env=environment, capture_output=True, text=True, timeout=seconds + 60, check=True
            )
        finally:
            for child in children:
                child.terminate()
            for child in children:
                child.wait(timeout=30)
    return json.loads(seen.stdout)


GROUPS = [Group(("node_jitter", "node_overruns", "node_ticks"), measure)]
