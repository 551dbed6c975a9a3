"""The laboratory's examples run as they stand, and show what they say."""

import runpy
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_express(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["express.py", str(tmp_path / "express.png")])
    runpy.run_path(str(EXAMPLES / "express.py"), run_name="__main__")
    assert capsys.readouterr().out == "on the ground after 28.571 s, at 280.0 m/s\n"  # √(8000/9.8), √(2·9.8·4000)
    assert (tmp_path / "express.png").is_file()


@pytest.mark.filterwarnings("ignore:.*gimbal lock")
def test_formalisms():
    """All are about as exact as each other; projection and the manifold keep the constraint, the rest lose it."""
    found = runpy.run_path(str(EXAMPLES / "formalisms.py"))["compare"]()
    kept = {name: constraint.max() for name, (_, _, constraint) in found.items()}
    assert max(angle[-1] for _, angle, _ in found.values()) < 1e-4
    assert all((lost < 1e-14) != ("left alone" in name or "multiplier" in name) for name, lost in kept.items())
    assert np.argmax([angle[-1] for _, angle, _ in found.values()]) == list(found).index("quaternion, by a multiplier")
