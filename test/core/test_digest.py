"""The same bits compiled, as plain Python, and compiled for any CPU of the architecture."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from core.digest import digest

HERE = Path(__file__)


PLAIN, GENERIC = {"NUMBA_DISABLE_JIT": "1"}, {"NUMBA_CPU_NAME": "generic"}


@pytest.mark.parametrize(
    ("formulation", "setting"),
    [
        *((form, setting) for form in ("articulated", "adaptive", "wittenburg") for setting in (PLAIN, GENERIC)),
        ("unilateral", PLAIN),
        ("constrained", PLAIN),  # compiling it once more for any CPU takes 18 s, for operations of the same kinds
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
