"""Hardware in the loop at 1 kHz: from a measured angle to the effort that accounts for it, beside a bare answer."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from harness import Group, Row

SECONDS = float(os.environ.get("SECONDS_EACH", "15"))
ROUNDS = 3
MOTOR = str(Path(__file__).with_name("hil_motor.py"))
SETTINGS = ("measured.joints:=wheel_axis", "measured.delay:=0.005", "publish_clock:=true")
NODE = ("-m", "rbt_ros.cli", "node", "wheel", "--ros-args", *(word for s in SETTINGS for word in ("-p", s)))


def measure(wanted: set[str]) -> dict[str, Row]:
    """Node and bare answer in turns."""
    import domain_coordinator

    ours, bare = [], []
    with domain_coordinator.domain_id() as domain:
        for _ in range(ROUNDS):
            ours.append(answered(NODE, domain))
            bare.append(answered((MOTOR, "echo"), domain))
    mine, theirs = (float(np.median([told["p50"] for told in runs])) for runs in (ours, bare))
    worst = [float(np.median([told["p99"] for told in runs])) for runs in (ours, bare)]
    note = f"{ROUNDS} x {SECONDS:g} s each, the wait for a tick included; p99 {worst[0]:.0f} against {worst[1]:.0f} us"
    note += f"; added {mine - theirs:.0f} us, at most 1200"
    return {"hil_latency": Row(mine - theirs, mine, theirs, "us added to a bare answer, p50: less is better", note)}


def answered(command: tuple[str, ...], domain: int) -> dict[str, float]:
    """What the motor tells of a run beside that program."""
    with tempfile.TemporaryDirectory() as logs:
        local = {"ROS_DOMAIN_ID": str(domain), "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST", "ROS_LOG_DIR": logs}
        environment = {**os.environ, **local}
        child = subprocess.Popen([sys.executable, *command], env=environment, stdout=subprocess.DEVNULL)
        try:
            told = subprocess.run(
                [sys.executable, MOTOR, str(SECONDS)],
                env=environment,
                capture_output=True,
                text=True,
                timeout=SECONDS + 90,
                check=True,
            )
        finally:
            child.terminate()
            child.wait(timeout=30)
    return json.loads(told.stdout)


GROUPS = [Group(("hil_latency",), measure)]
