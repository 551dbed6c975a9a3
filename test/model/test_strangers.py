"""Files from strangers: whatever is in them, they are read, or refused in one sentence and soon."""

import os
import time
import warnings

import pytest

from rbt_ros.errors import ModelError, RbtError, ScenarioError
from rbt_ros.model import elements, reading
from rbt_ros.model.reading import plain_yaml
from rbt_ros.model.scenario import read_scenario, scenario_from_text
from rbt_ros.model.urdf_read import load_urdf, robot_from_urdf

BODY = "rbt: 1\nrobot: {bodies: {a: {mass: 1, inertia: [1, 1, 1]}}}\n"
SCENARIO = """rbt: 1
robot:
  bodies:
    hub: {mass: 2 kg, inertia: [1, 2, 2.5]}
    arm: {mass: 1, inertia: [1, 1, 1]}
  hinges: {elbow: {kind: revolute, parent: hub, child: arm, axis: [0, 1, 0]}}
gravity: [0, 0, -9.81]
step: 1 ms
start: {hinges: {elbow: {angle: 10 deg}}}
inputs: [{wrench: hub, force: [0, 0, 1], signal: {polynomial: [1, 2]}}]
outputs: {tf: 100}
"""
PLACES = ("1", "hub:", "[1, 2, 2.5]", "10 deg", "[0, 0, 1]")
ODD = r"""
!!set {a, b} | !!omap [a: 1, b: 2] | !!pairs [a: 1] | !!binary '***' | !!binary aGVsbG8= | !!timestamp x | !!float x
!!int '' | !!int x | !!bool x | !!null x | !foo bar | !foo {a: 1} | !foo [1, 2] | !!map [1] | !!seq {a: 1} | &x [*x]
!!str {a: 1} | !!python/object:os.system x | 2001-01-01 | 2001-99-99 | {? [a, b] : 1} | {? {a: 1} : 2} | {1: 2} | {~: 1}
{true: 1} | {2001-01-01: 3} | {a: 1, a: 2} | &x {a: *x} | *nope | {<<: {a: 1}} | {<<: 3} | {<<: [3]} | &a | ! | {a} | ?
{<<: &m {a: 1}, x: *m} | 1e400 | 1e999999999 | 1e999999999 s | -1e-999999999 ms | 1e999999999 deg | .inf | .nan | 0o777
1_000 | 12:30:45 | "\uD800" | "\U7fffffff" | "\x00" | '' | [] | {} | ~ | [[[[]]]] | @x | %x | yes | = | << | !!merge x
"""
ODD = ODD.strip().replace("\n", " | ").split(" | ")
ODD += ["1" * 5000, "0x" + "f" * 5000, "x" * 100_000, "0" * 100_000 + " s", "1" + " " * 100_000 + "s"]
BOMB = "x0: &x0 [a]\n" + "".join(f"x{k}: &x{k} [{', '.join([f'*x{k - 1}'] * 9)}]\n" for k in range(1, 10))
MERGES = "x0: &x0 {a: 1}\n" + "".join(f"x{k}: &x{k} {{<<: [*x{k - 1}, *x{k - 1}]}}\n" for k in range(1, 40))
LARGE = {  # too large, too deep, or endless
    "aliases": (BOMB + BODY, "with its aliases it has more than 1000000 values"),
    "merged aliases": (MERGES + BODY, "with its aliases it has more than 1000000 values"),
    "brackets": (BODY + "gravity: " + "[" * 100_000, "it is nested more than 64 deep"),
    "braces": (BODY + "gravity: " + "{a: " * 50_000, "it is nested more than 64 deep"),
    "dashes": (BODY + "gravity:\n  " + "- " * 20_000 + "1", "it is nested more than 64 deep"),
    "a chain": ("".join(f"x{k}: &x{k} [*x{k - 1}]\n" if k else "x0: &x0 a\n" for k in range(99)) + BODY, "64 deep"),
    "itself": (BODY + "start: &s {bodies: *s}", "an alias is part of what it stands for"),
}


def limit():
    """Ten times what it takes on a machine at work."""
    return time.monotonic() + 10.0


@pytest.mark.parametrize("odd", ODD, ids=lambda odd: odd[:20])
def test_odd_values_in_a_scenario_are_read_or_refused(odd):
    end = limit()
    for text in (odd, *(SCENARIO.replace(place, odd, 1) for place in PLACES)):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                scenario_from_text(text, "x.yaml")
        except RbtError as err:
            assert str(err).startswith("x.yaml") and len(str(err).encode()) < 1000
    assert time.monotonic() < end


@pytest.mark.parametrize("name", LARGE)
def test_what_is_too_large_in_full_is_refused(name):
    """Nine levels of nine aliases are 4e8 values."""
    text, why = LARGE[name]
    end = limit()
    with pytest.raises(ScenarioError, match=f"^x.yaml.*: not valid YAML: .*{why}"):
        scenario_from_text(text, "x.yaml")
    with pytest.raises(Exception):  # noqa: B017 its callers take whatever ruamel raises
        plain_yaml(text)
    assert time.monotonic() < end


def test_robots_that_are_nested_or_many_are_refused(monkeypatch):
    """140 kB of nested elements took 1.5 GB: each told of all those above it."""
    deep = '<robot name="r">' + "<a>" * 20_000 + "</a>" * 20_000 + "</robot>"
    with pytest.raises(ModelError, match="^x:1: <a> is nested more than 64 deep"):
        robot_from_urdf(deep, "x")
    monkeypatch.setattr(elements, "MOST_ELEMENTS", 10)
    with pytest.raises(ModelError, match="^x:1: there are more than 10 elements"):
        robot_from_urdf('<robot name="r">' + "<link/>" * 10 + "</robot>", "x")


@pytest.mark.parametrize("encoding", ["utf-7", "utf-32", "hex", "idna", "no-such", "shift-jis"])
def test_robots_in_odd_encodings_are_refused(encoding):
    text = f'<?xml version="1.0" encoding="{encoding}"?><robot name="r"><link name="+AGE-"/></robot>'
    with pytest.raises(ModelError, match="^x"):
        robot_from_urdf(text.encode(), "x")


@pytest.mark.parametrize(("read", "ending"), [(read_scenario, "yaml"), (load_urdf, "urdf")])
def test_what_is_no_file_is_not_waited_for(tmp_path, monkeypatch, read, ending):
    """Nobody writes to the pipe, and a device never ends."""
    pipe, device, loop = (tmp_path / f"{name}.{ending}" for name in ("pipe", "device", "loop"))
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    loop.symlink_to(loop.name)
    folder = tmp_path / f"folder.{ending}"
    folder.mkdir()
    monkeypatch.setattr(reading, "MOST_BYTES", 10)
    for path, why in (
        (pipe, "is no file but a pipe; give the path of a"),
        (device, "is no file but a device; give"),
        (folder, "is no file but a folder; give"),
        (loop, "Too many levels of symbolic links"),
        (f"{'x' * 300}.{ending}", "File name too long"),
        (f"a\0b.{ending}", "embedded null byte"),
        (f"~nobody at all/x.{ending}", "is no path of a file"),
    ):
        with pytest.raises(RbtError, match=why):
            read(str(path))
    (tmp_path / "large.yaml").write_text(BODY)
    with pytest.raises(ScenarioError, match=r"large.yaml has \d+ bytes; a scenario YAML has 10 at most"):
        read_scenario(str(tmp_path / "large.yaml"))
