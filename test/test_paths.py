"""Where the package finds its files."""

import ast
import os
from pathlib import Path

import pytest

import rbt_ros as rbt
from rbt_ros import paths
from rbt_ros.errors import ScenarioError, SetupError


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


def test_results_that_cannot_be_written_say_where(tmp_path):
    lab = rbt.simulate(duration=0.01)
    tree = rbt.load("cubesat").simulation().run(until=0.01, every=0.01)
    gone = tmp_path / "gone"
    for write, file, why in (
        (lab.to_csv, gone / "a.csv", "No such file or directory"),
        (lab.to_csv, tmp_path, "Is a directory"),
        (lab.to_npz, gone / "a.npz", "No such file or directory"),
        (lab.plot, gone / "a.png", "No such file or directory"),
        (lab.plot, tmp_path / "a.foo", "Format 'foo' is not supported"),
        (tree.to_csv, gone / "a.csv", "No such file or directory"),
        (tree.to_npz, gone / "a.npz", "No such file or directory"),
        (tree.plot, gone / "a.png", "No such file or directory"),
    ):
        with pytest.raises(
            ScenarioError, match=f"{file} cannot be written .{why}.*; give a file in a folder that exists"
        ):
            write(file)


def test_outputs_are_regular_files(tmp_path):
    """A pipe would be waited for, and an archive reads on in a device."""
    lab = rbt.simulate(duration=0.01)
    (tmp_path / "zero.npz").symlink_to("/dev/zero")
    for name in ("a.csv", "a.npz", "a.png"):
        os.mkfifo(tmp_path / name)
    for write, name, kind in (
        (lab.to_csv, "a.csv", "a pipe"),
        (lab.to_npz, "a.npz", "a pipe"),
        (lab.to_npz, "zero.npz", "a device"),
        (lab.plot, "a.png", "a pipe"),
    ):
        with pytest.raises(ScenarioError, match=f"{name} cannot be written: it is {kind}, no regular file; name anoth"):
            write(tmp_path / name)
    with pytest.raises(ScenarioError, match="file: '~nobody_of_this_name/a.csv' is no path of a file"):
        lab.to_csv("~nobody_of_this_name/a.csv")
