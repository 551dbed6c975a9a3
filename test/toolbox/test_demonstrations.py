"""The demonstrations and the user guide's examples: what they print is the closed form, what they draw has units."""

import re
import runpy
from pathlib import Path

import matplotlib.figure
import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {  # arguments that shorten a run
    "demo_1_free_precession": dict(step=0.05),
    "demo_2_asymmetric_top": dict(spans=(0.4, 1.0)),
    "demo_3_free_fall": dict(step=0.1),
    "demo_4_parabola": dict(step=0.1),
    "guide_disturbance": {},
    "guide_full_system": {},
}


@pytest.fixture
def play(tmp_path, monkeypatch, capsys):
    """A function that runs an example and gives what it printed and drew."""
    drawn, save = [], matplotlib.figure.Figure.savefig

    def savefig(figure, path, **options):
        drawn.append(figure)
        save(figure, path, **options)

    monkeypatch.setattr(matplotlib.figure.Figure, "savefig", savefig)

    def go(name):
        path = tmp_path / f"{name}.png"
        runpy.run_path(str(EXAMPLES / f"{name}.py"))["main"](path, **SHORT[name])
        assert path.read_bytes().startswith(b"\x89PNG")
        return capsys.readouterr().out, drawn[-1]

    return go


def numbers(text):
    """All numbers of a text that have a decimal point or an exponent."""
    return [float(x) for x in re.findall(r"-?\d+\.\d+(?:e[-+]\d+)?|\d+e[-+]\d+", text)]


def test_every_demonstration_is_here():
    assert set(SHORT) == {path.stem for path in EXAMPLES.glob("*.py") if path.stem.startswith(("demo_", "guide_"))}


@pytest.mark.parametrize("name", SHORT)
def test_every_label_has_a_unit(play, name):
    """Those that stand at an axis; of diagrams that share an axis the outer one."""
    figure = play(name)[1]
    labels = [get() for ax in figure.axes for get in (ax.get_xlabel, ax.get_ylabel)]
    labels += [ax.get_zlabel() for ax in figure.axes if ax.name == "3d"]
    said = [label for label in labels if label]
    assert len(said) >= len(figure.axes) and all(re.search(r"\[(m|m/s|s|rad/s)\]", label) for label in said)


def test_free_precession(play):
    """dop853, 50 ms, ω = 2.9 rad/s: local error (h ω)^9 / 9! = 1e-13, 100 steps."""
    text = play("demo_1_free_precession")[0]
    errors = [x for line in text.splitlines()[:3] for x in numbers(line)]
    assert len(errors) == 6 and max(errors) < 1e-11
    size, change = numbers(text.splitlines()[3])
    assert size == pytest.approx(np.hypot(1, 32 / 15 * 2 * np.pi / 5), abs=1e-6) and change < 1e-11


def test_asymmetric_top(play):
    """The start is that of script 3-2, not the (24.04, 52.81) of the text; ω comes back in the body, never in space."""
    lines = play("demo_2_asymmetric_top")[0].splitlines()
    assert numbers(lines[0])[-2:] == [28.123, 42.551]
    assert max(numbers(lines[2])) < 1e-14
    body, (mean, closest) = numbers(lines[3])[-1], (float(x) for x in re.findall(r"([\d.]+) rad/s", lines[4]))
    assert body < 1e-3 < closest < mean


def test_free_fall(play):
    lines = play("demo_3_free_fall")[0].splitlines()
    assert len(set(numbers(lines[0]))) == 1 and len(set(numbers(lines[1]))) == 1
    assert max(numbers(lines[2])) < 1e-9  # √n round-offs of 4 km and 280 m/s


def test_parabola(play):
    lines = play("demo_4_parabola")[0].splitlines()
    assert len(set(numbers(lines[0]))) == 1 and set(numbers(lines[1])) == {80.0}
    assert max(numbers(lines[2])) < 1e-11


def test_disturbance(play):
    """Both ways end at 300 + 100·7 - 25·7² m, on the closed form all along."""
    text = play("guide_disturbance")[0]
    assert [numbers(line)[-1] for line in text.splitlines()] == [-225.0, -225.0]
    assert max(numbers(line)[0] for line in text.splitlines()) < 1e-10 and "1001 samples" in text


def test_full_system(play):
    """ode45, 10 ms: error h⁵ ω⁶ T/720 = 1e-9 at most."""
    text, figure = play("guide_full_system")
    assert max(numbers(text)) < 1e-9
    assert [ax.get_title() for ax in figure.axes] == [f"t = {t} s" for t in ("0", "0.5", "1", "1.5", "2", "2.5")]
