"""`rbt view` and `rbt run --view` as processes: what they print, how they end, what they refuse."""

import os
import re
import signal
import subprocess
import sys
import time
import warnings

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros import cli
from rbt_ros.bags.bag import Bag
from rbt_ros.bags.recorder import Recorder
from rbt_ros.stream.scene import described
from rbt_ros.web import bag_frames, export
from rbt_ros.web.recording import Recording, record


def command(*words, cwd):
    return subprocess.Popen(
        [sys.executable, "-m", "rbt_ros.cli", *map(str, words)],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "DISPLAY": ""},
    )


def done(*words, cwd):
    """(exit code, stdout, stderr)."""
    child = command(*words, cwd=cwd)
    out, err = child.communicate(timeout=170)
    return child.returncode, out, err


def test_a_scenario_is_served_until_a_signal(built, tmp_path):
    child = command("view", "cubesat", "--no-browser", "--port", "0", "--rate", "0.1", cwd=tmp_path)
    assert any(line.startswith("view: http://127.0.0.1:") for line in child.stdout)  # after that of compiling, if any
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=170)
    assert (child.returncode, err) == (0, "")


def test_a_run_is_shown_meanwhile_with_the_same_bits(built, tmp_path):
    code, out, err = done("run", "cubesat", "--until", "0.5", "--view", cwd=tmp_path)
    sim = rbt.load("cubesat").simulation()
    sim.run(0.5)
    assert code == 0, err
    assert "view: http://127.0.0.1:" in out and sim.digest() in out


def test_a_table_is_served_and_saved(built, tmp_path):
    rbt.load("cubesat").simulation().run(until=0.05, every=0.01).to_csv(tmp_path / "cubesat.csv")
    code, out, err = done("view", "cubesat.csv", "--no-browser", "--port", "0", "--duration", "0.1", cwd=tmp_path)
    assert (code, err) == (0, "") and "view: http://127.0.0.1:" in out
    code, out, err = done("view", "cubesat.csv", "--save", "run.html", "--rate", "0.05", cwd=tmp_path)
    assert (code, err) == (0, "") and out.endswith("wrote run.html\n")
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert "window.__RUN__" in text and '"rate": 0.05' in text


def test_a_missing_mesh_is_told_in_the_log(built, tmp_path):
    (tmp_path / "m.yaml").write_text(
        "rbt: 1\nrobot: {name: m, bodies: {hub: {mass: 1 kg, inertia: [1, 1, 1], shapes: "
        "[{kind: mesh, file: nowhere.stl}]}}}"
    )
    code, _, err = done("view", "m.yaml", "--no-browser", "--port", "0", "--duration", "0.1", cwd=tmp_path)
    text = "rbt: warning: body 'hub': there is no mesh nowhere.stl; a box stands for it.\n"
    assert (code, err) == (0, text)


def test_a_bag_that_is_cut_plays_to_its_last_whole_frame_and_says_so(built, tmp_path, open_page):
    """In the middle of a chunk: in the log, and in the page."""
    sim = rbt.load("cubesat").simulation()
    with Recorder(tmp_path / "bag", sim):
        file = next((tmp_path / "bag").glob("*.mcap"))
        for _ in range(2):
            known, end = len(chunks(file)), time.monotonic() + 60
            sim.advance(1000)
            while len(chunks(file)) == known:
                assert time.monotonic() < end, "no chunk is written"
                time.sleep(0.02)
        sim.advance(1000)
    whole = Recording.open(recorded(tmp_path / "bag", tmp_path / "whole"))
    file.write_bytes(file.read_bytes()[: sum(chunks(file)[-1]) // 2])
    child = command("view", "bag", "--no-browser", "--port", "0", cwd=tmp_path)
    try:
        address = next(line for line in child.stdout if line.startswith("view: ")).split()[1]
        page = open_page(address)
        last = page("rbt.playback.last")
        assert 0 < last < whole.t[-1] and last in whole.t
        told = page("document.getElementById('notes').textContent")
        row = page(f"(rbt.seek({last!r}), [...rbt.row].slice(0, 7))")
        np.testing.assert_array_equal(np.float32(row), whole.rows[np.searchsorted(whole.t, last), :7])
    finally:
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=60)
    assert told and all(f"rbt: warning: {text}" in err for text in told.splitlines())


def chunks(file):
    """Where the whole chunks of an MCAP file begin and end."""
    data, at, found = file.read_bytes(), 8, []
    while at + 9 <= len(data):
        end = at + 9 + int.from_bytes(data[at + 1 : at + 9], "little")
        if data[at] == 6 and end <= len(data):
            found.append((at, end))
        at = end
    return found


def recorded(bag, folder):
    """The folder with the recording of a bag."""
    folder.mkdir()
    scenario = bag_frames.scenario_of(Bag(bag))
    assert record(bag_frames.frames(Bag(bag), scenario.robot), scenario.robot, folder, described(scenario.robot)) == ""
    return folder


@pytest.mark.parametrize(
    ("missing", "text"),
    [
        ("chromium", "films are drawn by Chromium, and there is none here: sudo apt install chromium"),
        ("imageio_ffmpeg", "films need ffmpeg: pip install 'rbt_ros[film]'"),
        ("playwright.sync_api", "films need playwright: pip install 'rbt_ros[film]'"),
    ],
)
def test_without_what_films_need_the_package_is_named(built, missing, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rbt.load("cubesat").simulation().run(until=0.02, every=0.01).to_csv("cubesat.csv")
    if missing == "chromium":
        monkeypatch.setattr(export.shutil, "which", lambda name: None)
    else:
        monkeypatch.setitem(sys.modules, missing, None)
    monkeypatch.setattr(sys, "argv", ["rbt", "view", "cubesat.csv", "--save", "film.mp4"])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)
    with pytest.raises(SystemExit, match=re.escape(f"rbt: {text}")):
        cli.main()


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (("view",), 1, "rbt: say what to view: a scenario, as rbt view cubesat, or a table"),
        (("view", "nowhere"), 1, "rbt: 'nowhere' is neither a YAML file nor a scenario of the package"),
        (("view", "cubesat", "--rate", "1e4"), 1, "rbt: --rate 10000 must lie between 0.001 and 1000."),
        (("view", "cubesat", "--port", "70000"), 1, "rbt: --port 70000 must lie between 0 and 65535."),
        (("view", "cubesat", "--save", "a.html"), 1, "rbt: --save is of a recording: rbt run SCENARIO, then rbt view"),
        (("view", "cubesat.csv"), 1, "rbt: cubesat.csv cannot be read: No such file or directory."),
        (
            ("view", "cubesat.csv", "--record", "x"),
            1,
            "rbt: --record is of a scenario that runs now; this is a recording",
        ),
        (("view", "none.npz", "--of", "cubesat"), 1, "rbt: none.npz cannot be read: No such file or directory."),
        (("view", "table.csv"), 1, "rbt: table.csv: which scenario ran? Name it: --of SCENARIO."),
        (("view", "cubesat", "--of", "wheel"), 1, "rbt: --of is of tables, files and bags; cubesat is a scenario"),
        (("view", "none.mcap"), 1, "rbt: there is no bag none.mcap."),
        (("view", "cubesat", "--fast"), 2, "unrecognized arguments: --fast"),
    ],
)
def test_what_is_refused_is_told_in_one_sentence(words, status, text, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table.csv").write_text("t\n")
    monkeypatch.setattr(sys, "argv", ["rbt", *words])
    monkeypatch.setattr(warnings, "showwarning", warnings.showwarning)  # which `main` replaces
    with pytest.raises(SystemExit) as caught:
        cli.main()
    code = caught.value.code
    told, ended = (code, 1) if isinstance(code, str) else (capsys.readouterr().err, code)
    assert text in told and ended == status


def test_a_scenario_that_is_viewed_can_be_recorded(built, tmp_path):
    code, out, err = done(
        *("view", "cubesat", "--no-browser", "--port", "0", "--duration", "0.3", "--record", "flight"), cwd=tmp_path
    )
    assert code == 0 and "wrote flight: " in out, err
    code, out, err = done("verify", "flight", cwd=tmp_path)
    assert code == 0 and out.startswith("the same: "), err
