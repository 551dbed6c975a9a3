"""The same bits compiled, as plain Python, and compiled for any CPU of the architecture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from core.digest import digest

HERE = Path(__file__)

SOAK = [pytest.mark.soak, pytest.mark.timeout(1800)]
PLAIN, GENERIC = {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}


@pytest.mark.parametrize(
    ("formulation", "setting"),
    [
        *((form, PLAIN) for form in ("articulated", "adaptive", "wittenburg", "unilateral", "constrained")),
        ("articulated", GENERIC),
        # the others do operations of the same kinds, and take half a minute each to be compiled once more
        *(pytest.param(form, GENERIC, marks=SOAK) for form in ("adaptive", "wittenburg", "unilateral", "constrained")),
    ],
    ids=str,
)
def test_same_bits(formulation, setting):
    path = os.pathsep.join([str(HERE.parents[1]), str(HERE.parents[2])])
    environment = {**os.environ, **setting, "PYTHONPATH": path + os.pathsep + os.environ.get("PYTHONPATH", "")}
    script = str(HERE.with_name("digest.py"))
    run = subprocess.run(
        [sys.executable, script, formulation], env=environment, capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == digest(formulation)
