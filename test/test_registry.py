"""What plugs in: ours, another package's by its entry points, an object handed over."""

import sys

import pytest

import rbt_ros as rbt
from rbt_ros.plug.registry import Registry

PLACES = {"whole": "fractions:Fraction", "gone": "fractions:nothing", "broken": "plugged_broken:x"}


@pytest.fixture
def stranger(tmp_path, monkeypatch):
    """An installed package with entry points: `lines` of one group."""

    def install(lines, package="stranger"):
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text("[rbt_ros.kinds]\n" + lines)
        monkeypatch.syspath_prepend(tmp_path)

    (tmp_path / "plugged_types.py").write_text("class Mine(int): pass\n")
    (tmp_path / "plugged_broken.py").write_text("1 / 0\n")
    yield install
    for name in ("plugged_types", "plugged_broken"):
        sys.modules.pop(name, None)


def test_a_stranger_is_known_as_ours_are(stranger):
    stranger("mine = plugged_types:Mine\n")
    kinds = Registry("kind", type, PLACES)
    assert kinds.find("mine").__name__ == "Mine" and kinds.find("whole").__name__ == "Fraction"
    assert kinds.names() == ("broken", "gone", "mine", "whole")
    assert kinds.add("handed", float) is float and kinds.find("handed") is float


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "nonsense",
            "'nonsense' is no kind; there are broken, gone, whole. Those of another package are its entry points",
        ),
        ("gone", "kind 'gone': fractions:nothing cannot be imported"),
        ("broken", "kind 'broken': plugged_broken:x cannot be imported: division by zero"),
    ],
)
def test_what_cannot_be_found_says_why(stranger, name, message):
    stranger("")
    with pytest.raises(rbt.ModelError, match=message):
        Registry("kind", type, PLACES).find(name)


def test_a_name_stands_for_one_thing(stranger):
    kinds = Registry("kind", type, PLACES)
    kinds.add("handed", int)
    for name in ("handed", "whole"):
        with pytest.raises(rbt.ModelError, match=f"kind '{name}' is there already"):
            kinds.add(name, float)
    with pytest.raises(rbt.ModelError, match="kind 'number': it is 3, not a type"):
        kinds.add("number", 3)
    stranger("whole = plugged_types:Mine\n")
    with pytest.raises(
        rbt.ModelError, match="kind 'whole' is fractions:Fraction; plugged_types:Mine of another package"
    ):
        kinds.names()
