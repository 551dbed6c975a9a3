"""Where the package finds its files."""

import ast
from pathlib import Path

import pytest

from rbt_ros import paths
from rbt_ros.errors import SetupError


def test_source_tree():
    assert paths.share("config", "cubesat.yaml").is_file()


def test_installed_prefix_and_nowhere(tmp_path, monkeypatch):
    module = tmp_path / "lib/python3.11/site-packages/rbt_ros/paths.py"
    monkeypatch.setattr(paths, "__file__", str(module))
    with pytest.raises(SetupError, match="are not beside .* nor in <prefix>/share/rbt_ros. .*pip install rbt_ros"):
        paths.share("config")
    (tmp_path / "share" / "rbt_ros").mkdir(parents=True)
    (tmp_path / "share" / "rbt_ros" / "package.xml").write_text("<package/>")
    assert paths.share("config", "a.yaml") == tmp_path / "share" / "rbt_ros" / "config" / "a.yaml"


def test_python_files_say_what_they_are_for():
    root = Path(paths.__file__).parent
    silent = [p for p in root.rglob("*.py") if p.stat().st_size and not ast.get_docstring(ast.parse(p.read_text()))]
    assert silent == []
