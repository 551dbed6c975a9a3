"""`rbt map`: the same bits whoever computes, interrupted or not; what the result file keeps; what is refused."""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.studies import maps
from rbt_ros.studies.maps import Spec, make_map

GRID = tuple(np.radians(np.linspace(-170, 170, 45)).tolist())  # three blocks
SPEC = Spec("l_shape", {}, "kinematic", GRID, GRID[::9])


LOSE_A_WORKER = """
import os, pathlib, sys
import numpy as np
from dask.distributed import Client, LocalCluster
sys.path.insert(0, {here!r})
from test_maps import SPEC
from rbt_ros.studies.maps import make_map

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        lost = []

        def kill(done):
            if not lost:
                lost.append(min(client.run(os.getpid).values()))
                os.kill(lost[0], 9)

        values = make_map(SPEC, pathlib.Path("blocks"), cluster=cluster.scheduler_address, progress=kill)
        np.save("values.npy", values)
        print("lost", len(lost))
"""


def test_two_workers_one_of_them_lost_give_the_same_bits(tmp_path):
    """A worker is killed in mid-map: the map completes, as computed by one process. In a process of its own."""
    alone = make_map(SPEC, tmp_path / "alone")
    script = tmp_path / "lose.py"
    script.write_text(LOSE_A_WORKER.format(here=str(Path(__file__).parent)), encoding="utf-8")
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0 and done.stdout == "lost 1\n", done.stderr
    assert np.load(tmp_path / "values.npy").tobytes() == alone.tobytes()


def test_interrupted_map_goes_on(tmp_path, monkeypatch):
    """Stopped after one block: that one is not computed again, and the whole is as if never stopped."""
    whole = make_map(SPEC, tmp_path / "whole")

    def stop(done):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        make_map(SPEC, tmp_path / "part", progress=stop)
    computed = []
    original = maps.compute_block
    monkeypatch.setattr(maps, "compute_block", lambda spec, k: computed.append(k) or original(spec, k))
    assert make_map(SPEC, tmp_path / "part").tobytes() == whole.tobytes() and computed == [1, 2]
    with pytest.raises(rbt.ScenarioError, match="holds blocks of another map; remove it"):
        make_map(SPEC._replace(first=2), tmp_path / "part")


def test_flights_are_shared_out_row_by_row(tmp_path):
    """Each row is long: two workers have something to do from two rows on, and what is done is known after each."""
    spec = Spec("rods", {}, "dynamic", (0.3, 0.6, 0.9), (0.5,), leg=3.0)
    told = []
    values = make_map(spec, tmp_path / "blocks", progress=told.append)
    assert told == pytest.approx([1 / 3, 2 / 3, 1]) and values.shape == (3, 1, 4)
    one = make_map(spec._replace(psi1=(0.6,)), tmp_path / "one")
    assert values[1].tobytes() == one[0].tobytes() and np.isfinite(values).all()


def test_flights_of_nothing_turn_nothing(tmp_path):
    """Rectangles without a side, or without any: the attitude stays, but for exp(-10) of 1 rad still to come."""
    values = make_map(Spec("l_shape", {}, "dynamic", (0.0, 1.0), (-1.0, 0.0)), tmp_path / "blocks")
    still = np.delete(values.reshape(4, 4), 2, axis=0)
    assert np.abs(np.abs(still) - (1, 0, 0, 0)).max() < 1e-4 and np.abs(values[1, 0, 1:]).max() > 0.01


def test_flights_that_fail_are_told_with_their_cause(tmp_path, monkeypatch):
    """All of them: nothing is written. Some: they are open in the result, and the command fails."""
    monkeypatch.chdir(tmp_path)
    grid = ["--psi1=-60:60:2", "--psi2=30:60:2"]
    with pytest.raises(
        rbt.SolveError, match=r"map: 4 of 4 flights failed; the first, psi1 -60°, psi2 30°: joint 'psi1'"
    ):
        maps.main(["l_shape", "--mode", "dynamic", *grid, "--leg", "1"])
    assert not list(tmp_path.glob("out/*"))
    original = maps.fly_many

    def one_fails(robot, paths, **options):
        return [rbt.SolveError("for a test"), *original(robot, paths, **options)[1:]]

    monkeypatch.setattr(maps, "fly_many", one_fails)
    with pytest.raises(rbt.SolveError, match=r"map: 2 of 4 flights failed and are left open in out/map.npz; the first"):
        maps.main(["l_shape", "--mode", "dynamic", *grid, "--leg", "3"])
    with np.load("out/map.npz") as result:
        assert np.isnan(result["angle"]).tolist() == [[True, False], [True, False]] and Path("out/map.png").exists()


def test_a_block_that_is_cut_off_is_computed_again(tmp_path):
    """As a full disk, or a lost machine, leaves it."""
    whole = make_map(SPEC, tmp_path / "blocks")
    path = tmp_path / "blocks" / "block_00001.npy"
    for length in (0, 20, 1000):
        path.write_bytes(path.read_bytes()[:length])
        assert make_map(SPEC, tmp_path / "blocks").tobytes() == whole.tobytes()


def test_modes_agree(tmp_path):
    """Three rods: kinematics, closed form, and flights, which stop where the PD controllers are by then."""
    grid = tuple(np.radians([60.0, 120.0]))
    spec = Spec("rods", {}, "kinematic", grid, grid, profile="minimum_jerk")
    found = {mode: make_map(spec._replace(mode=mode), tmp_path / mode) for mode in maps.MODES}
    turn = 2 * np.arctan2(found["kinematic"][..., 3], found["kinematic"][..., 0])
    assert turn == pytest.approx(found["planar"][..., 0], abs=1e-11)
    assert 2 * np.arctan2(found["dynamic"][..., 3], found["dynamic"][..., 0]) == pytest.approx(turn, abs=0.02)
    assert (found["collision"] > 0).tolist() == [[[True], [True]], [[True], [False]]]
    # the other way round is the inverse
    assert make_map(spec._replace(first=2, mode="planar"), tmp_path / "back") == pytest.approx(-found["planar"])


def test_command_line(tmp_path):
    """Result with all parameters, a figure, no blocks left behind."""
    command = [sys.executable, "-m", "rbt_ros.cli", "map", "rods", "--mode", "planar", "--psi1=-180:180:40"]
    done = subprocess.run([*command, "--psi2=-90:90:7"], cwd=tmp_path, capture_output=True, text=True, timeout=170)
    assert done.returncode == 0, done.stderr
    assert "40 x 7 cells, net turns of three rods, in closed form" in done.stdout
    result = np.load(tmp_path / "out" / "map.npz")
    assert result["turn"].shape == (40, 7) and json.loads(str(result["parameters"]))["mode"] == "planar"
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == ["map.npz", "map.png"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ring"], "'ring' is neither a YAML file nor a scenario of the package"),
        (["nofile.yaml"], "there is no file nofile.yaml; give the path of a scenario YAML."),
        (["rods", "--psi1", "0:90"], "--psi1 0:90: give FROM:TO:COUNT, degrees and how many: --psi1=-180:180:20."),
        (["rods", "--option", "size"], "--option size: give NAME=VALUE."),
        (["rods", "--option", "size=2"], "array 'rods' has no option 'size'; it has lengths, masses."),
        (["panels"], "array 'panels' needs its option 'on'"),
        (["pendulum"], "robot 'pendulum': one tree that floats is needed"),
        (["rods", "--joints", "psi1,psi1"], "map: joints 'psi1', 'psi1' move and none is held; two move"),
        (["rods", "--joints", "psi1"], "map: joints 'psi1', '' move and none is held; two move"),
        (["rods", "--held", "psi1=10"], "map: joints 'psi1', 'psi2' move and psi1 is held; two move"),
        (["l_shape", "--psi1=-360:360:3"], "map: a shape of it cannot be reached: joint 'psi1' at -6.28319 is beyond"),
        (
            ["cubic_net", "--held", "psi5=181"],
            "map: a shape of it cannot be reached: joint 'psi5' at 3.15905 is beyond",
        ),
        (["rods", "--mode", "dynamic", "--leg", "-1"], "a leg of -1.0 s must be finite and no shorter than a step"),
        (["rods", "--mode", "dynamic", "--kp", "nan"], "kp: nan is not finite."),
        (["rods", "--joints", "psi1,psi9"], "robot 'rods' has no joint 'psi9' of one axis; it has psi1, psi2."),
        (["l_shape", "--mode", "planar"], "robot 'l_shape': the closed forms are for hinges about z, (0, 0, 1), of"),
        (["rods", "--workers", "0"], "--workers 0 must be one or more."),
        (["rods", "--cluster", "tcp://127.0.0.1:1"], "--cluster tcp://127.0.0.1:1: no Dask scheduler answers there"),
    ],
)
def test_what_is_refused(arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(maps, "CONNECT", 0.5)
    with pytest.raises(rbt.RbtError, match=re.escape(message)):
        maps.main(arguments)
    assert not list(tmp_path.glob("out/*.blocks/block_*"))


def test_a_folder_without_blocks_is_taken_by_another_map(tmp_path):
    """Stopped, or refused by its cluster, before the first block."""
    folder = tmp_path / "part"
    folder.mkdir()
    (folder / "map.json").write_text("{}", encoding="utf-8")
    assert make_map(SPEC._replace(psi1=GRID[:2]), folder).shape == (2, 5, 4)
