"""The same bits compiled, as plain Python, and compiled for any CPU of the architecture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from core.digest import digest

HERE = Path(__file__)

SOAK = [pytest.mark.soak, pytest.mark.timeout(1800)]
RUN = """
import rbt_ros as rbt
from rbt_ros.model.inputs import Wrench, WrenchCommand
sim = rbt.load("cubesat").simulation()
sim.command(WrenchCommand(Wrench("cubesat", (0.1, 0.2, 0.3), (0.01, 0.0, 0.02), "world", "com"), 100_000_000))
sim.advance(150)
print(sim.digest(), sim.sample().energy.total.hex())
"""
PLAIN, GENERIC = {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}


@pytest.mark.parametrize(
    ("formulation", "setting"),
    [
        *(
            (form, PLAIN)
            for form in ("articulated", "side_by_side", "adaptive", "wittenburg", "unilateral", "constrained")
        ),
        ("articulated", GENERIC),
        ("side_by_side", GENERIC),  # eight lanes in pairs
        # the others do operations of the same kinds, and take half a minute each to be compiled once more
        *(pytest.param(form, GENERIC, marks=SOAK) for form in ("adaptive", "wittenburg", "unilateral", "constrained")),
    ],
    ids=str,
)
def test_same_bits(formulation, setting):
    script = str(HERE.with_name("digest.py"))
    assert printed([script, formulation], setting) == digest(formulation)


def test_a_scenario_has_the_same_bits():
    """After the test above: its kernels are compiled."""
    compiled = printed(["-c", RUN], {"NUMBA_DISABLE_JIT": "0"})
    assert printed(["-c", RUN], PLAIN) == compiled
    assert printed(["-c", RUN], {**GENERIC, "NUMBA_DISABLE_JIT": "0"}) == compiled


def printed(words, setting):
    """Standard output of a Python process."""
    path = os.pathsep.join([str(HERE.parents[1]), str(HERE.parents[2])])
    environment = {**os.environ, **setting, "PYTHONPATH": path + os.pathsep + os.environ.get("PYTHONPATH", "")}
    run = subprocess.run([sys.executable, *words], env=environment, capture_output=True, text=True, check=True)
    return run.stdout.strip()
