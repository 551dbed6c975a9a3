"""A process of its own that writes: the same bag, whole whoever is killed, and nothing lost that is not counted."""

import functools
import json
import os
import pickle
import re
import resource
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.bags import apart
from rbt_ros.bags import recording as recording_module
from rbt_ros.bags.handover import END, FIELDS, PART, PLAN, Apart, motion_record, whole_record
from rbt_ros.bags.recording import Recording
from rbt_ros.bags.ring import Ring
from rbt_ros.model.inputs import Effort

TETHER = """
rbt: 1
robot:
  bodies: {ball: {mass: 1, inertia: [0.1, 0.1, 0.1]}, rod: {mass: 1, inertia: [1, 1, 1], com: [0, 0, -1]}}
  hinges: {pivot: {kind: revolute, parent: world, child: rod, axis: [0, 1, 0]}}
  ropes: {tether: {bodies: [world, ball], length: 1 cm}}
gravity: [0, 0, -9.81]
start: {bodies: {ball: {position: [0, 0, -0.01]}}}
outputs: {hinge_wrenches: 100}
"""
SECONDS = 120  # that a condition may take to come true


def until(condition):
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


# --------------------------------------------------------------------------------------------------------------- ring
@pytest.mark.parametrize("seed", range(5))
def test_a_ring_gives_what_it_was_given(seed):
    """Records of any length in any rhythm, in order; what finds no room is refused, and then there was none."""
    rng, ring = np.random.default_rng(seed), Ring(size=1 << 10)
    other = Ring(os.dup(ring.fd))
    put, got = [], []
    for _ in range(2000):
        record = rng.bytes(rng.integers(0, ring.longest + 1))
        if ring.append(record):
            put.append(record)
        else:
            assert ring.waiting + 2 * (len(record) + 11) > 1 << 10
        if rng.random() < 0.4:
            got += other.take(all_of_it=rng.random() < 0.5)
    got += other.take(all_of_it=True)
    assert got == put and ring.waiting == 0 and len(put) > 500
    assert not ring.append(bytes(1 << 10))
    ring.close()
    other.close()


# ----------------------------------------------------------------------------------------------------------- same bag
def test_both_ways_write_the_same_messages(tmp_path):
    """Motion alone, whole samples with ropes and reactions, commands, what is said once."""
    (tmp_path / "tether.yaml").write_text(TETHER)
    bags = []
    for other in (False, True):
        sim = rbt.load(str(tmp_path / "tether.yaml")).simulation()
        with rbt.Recorder(tmp_path / f"b{other:d}", sim, apart=other) as recorder:
            sim.advance(30)
            sim.set_effort("pivot", 0.5)
            sim.advance(30)
        assert recorder.close().lost == 0
        bags.append(rbt.Bag(tmp_path / f"b{other:d}"))
    here, there = bags
    assert here.topics.keys() == there.topics.keys() and here.damage == there.damage == []
    for name, topic in here.topics.items():
        assert there.topics[name] == topic, name
    counts = {name: len(here.topics[name].t_ns) for name in ("/joint_states", "/ropes/tether/wrench")}
    assert counts == {"/joint_states": 61, "/ropes/tether/wrench": 7}
    assert len(here.topics["/hinges/pivot/wrench"].t_ns) == 7


def test_the_other_process_from_within(tmp_path, monkeypatch, capsys):
    """Its program, run here: at the end of its input it takes all that is in the ring, ends the bag, and says so."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    sim = rbt.load("cubesat").simulation()
    ring, samples = Ring(size=1 << 20), []

    class Kept:
        """Keeps what would be handed over."""

        lost, failure, waiting = 0, "", 0

        def __init__(self, plan):
            (tmp_path / "b").mkdir()
            ring.append(bytes([PLAN]) + pickle.dumps(plan))

        def sample(self, due, sample, stamp, wait):
            assert ring.append(whole_record(due, sample, stamp) if due.whole else motion_record(due, sample, stamp))
            samples.append((due.whole, stamp))

    monkeypatch.setattr(recording_module, "Apart", Kept)
    recording = Recording(tmp_path / "b", sim.robot, h_ns=sim.h_ns, outputs=dict(sim.scenario.outputs), apart=True)
    for _ in range(100):
        recording.take(sim.sample(), 10**9 + sim.t_ns)
        sim.advance(1)
    ring.append(bytes([PART, FIELDS]))
    said = json.dumps({"seed": 3})
    ring.append(pickle.dumps((recording._run, {"data": said}, 7)))
    ring.lose()
    for code in (0, 1):  # the second time there is nothing in the ring
        assert run_apart(ring, monkeypatch) == code
        told = json.loads(capsys.readouterr().out)
        assert told["failure"] == ("there was no plan" if code else "")
        assert told["messages"] == (0 if code else rbt.Bag(tmp_path / "b").messages)
    bag = rbt.Bag(tmp_path / "b")
    assert bag.topic("clock").t_ns.tolist() == [stamp for _, stamp in samples] and {whole for whole, _ in samples} == {
        0,
        1,
    }
    assert bag.texts("/rbt_simulator/run") == [(7, said)]
    digests = "\n".join(f"{time} {text}" for time, text in bag.texts("/rbt_simulator/digest"))
    assert bag.metadata["rbt_ros"] == {"rbt_seed": "3", "rbt_lost_samples": "1", "rbt_digests": digests}


def test_what_the_other_process_dies_of_is_told(tmp_path, monkeypatch, capsys):
    """A record that is none, here, or a folder that is gone; a full disk, most likely."""
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    plans = []
    monkeypatch.setattr(recording_module, "Apart", lambda plan: plans.append(plan) or SimpleNamespace(sample=None))
    sim = rbt.load("cubesat").simulation()
    Recording(tmp_path / "b", sim.robot, h_ns=sim.h_ns, outputs={}, apart=True)
    for made, record, why in (
        (False, b"", "ScenarioError: .*b_0.mcap cannot be written .No such file or directory.."),
        (True, bytes([FIELDS]) + b"no pickle", "UnpicklingError"),
    ):
        if made:
            (tmp_path / "b").mkdir()
        ring = Ring(size=1 << 16)
        ring.append(bytes([PLAN]) + pickle.dumps(plans[0]))
        ring.append(record or bytes([END]))
        assert run_apart(ring, monkeypatch) == 1 and ring.failed
        assert re.search(why, json.loads(capsys.readouterr().out)["failure"])


def run_apart(ring, monkeypatch):
    """The program with an input that is at its end; its exit code."""
    with open(os.devnull) as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        monkeypatch.setattr(sys, "argv", ["apart", str(os.dup(ring.fd))])
        return apart.main()


KILLED = """
import sys, time
import rbt_ros as rbt
sim = rbt.load("cubesat").simulation()
rbt.Recorder(sys.argv[1], sim, apart=True)
sim.advance(500)
print(sim.digest(), flush=True)
time.sleep(600)
"""


def test_nothing_is_lost_when_the_process_that_steps_is_killed(tmp_path):
    """Also not what was handed over just now: the other process writes it, and the end of the bag."""
    with subprocess.Popen(
        [sys.executable, "-c", KILLED, str(tmp_path / "b")], stdout=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        digest = run.stdout.readline().strip()
        run.kill()
    until((tmp_path / "b" / "metadata.yaml").exists)
    bag = rbt.Bag(tmp_path / "b")
    assert bag.damage == [] and bag.topic("clock").t_ns.tolist() == list(range(10**9, 1_501_000_000, 10**6))
    assert bag.texts("digest")[-1] == (1_500_000_000, f"500 {digest}")


# ------------------------------------------------------------------------------------------------------------- faults
@pytest.fixture
def small(tmp_path, monkeypatch):
    """A recording of joint states with a ring of 64 KiB: 180 samples."""
    monkeypatch.setattr(recording_module, "Apart", functools.partial(Apart, size=1 << 16))
    sim = rbt.load("five_body").simulation()
    recording = Recording(tmp_path / "b", sim.robot, h_ns=sim.h_ns, outputs={"joint_states": 1000.0}, apart=True)
    recording.runs(10**9, {"wrench_at": "com", "wrench_hold": 0.1, "step_ns": sim.h_ns})
    return recording, sim.sample()


def test_what_finds_no_room_is_counted_and_commands_wait(small):
    """The other process stands still; a text longer than the ring goes in parts."""
    recording, sample = small
    child = recording._hand._process.pid
    os.kill(child, signal.SIGSTOP)
    for k in range(300):
        recording.take(sample, 10**9 + k * 10**6)
        recording.note_effort(Effort("wrist", (float(k),)), 10**9 + k * 10**6)
    long = {"wrench_at": "com", "wrench_hold": 0.1, "step_ns": 10**6, "scenario": "x" * 200_000}
    recording.runs(1_400_000_000, long)
    assert 200 < recording.lost < 300 and recording.waiting > 200_000
    os.kill(child, signal.SIGCONT)
    with pytest.warns(UserWarning, match=f"lacks {recording.lost} samples that came faster than they could be written"):
        report = recording.close()
    bag = rbt.Bag(recording.folder)
    assert report.lost == 300 - len(bag.topic("joint_states").t_ns)
    assert bag.metadata["rbt_ros"]["rbt_lost_samples"] == str(report.lost)
    assert bag.arrays("/rbt_simulator/latched/efforts").numbers["effort"][:, 0].tolist() == list(range(300))
    assert "x" * 200_000 in bag.texts("/rbt_simulator/run")[-1][1]


def test_a_run_that_may_wait_loses_nothing(small):
    recording, sample = small
    for k in range(2000):
        recording.take(sample, 10**9 + k * 10**6, wait=True)
    assert recording.close().lost == 0
    assert len(rbt.Bag(recording.folder).topic("clock").t_ns) == 2000


def test_a_full_disk_is_told(small):
    recording, sample = small
    resource.prlimit(recording._hand._process.pid, resource.RLIMIT_FSIZE, (20_000, 20_000))
    rng = np.random.default_rng(0)
    k = 0
    while not recording.failure:  # noise cannot be compressed
        k += 1
        assert k < 10**5
        recording.take(sample._replace(q=rng.random(11)), 10**9 + k * 10**6, wait=True)
    assert "OSError: [Errno 27] File too large" in recording.failure
    waiting = recording.waiting
    recording.take(sample, 10**9, wait=True)
    for k in range(100):  # nothing piles up that nobody takes
        recording.note_parameters({"wrench_at": "com"}, 10**9 + k)
    assert recording.lost >= 1 and recording.waiting <= waiting
    for _ in range(2):
        with pytest.raises(
            rbt.ScenarioError, match=r"could not be written to its end \(OSError: .*too large\); `rbt re"
        ):
            recording.close()


def test_a_process_that_was_killed_is_told(small):
    recording, sample = small
    assert recording.failure == ""
    recording._hand._process.kill()
    for k in range(1000):
        recording.take(sample, 10**9 + k * 10**6, wait=True)
    assert recording.failure == "its process has ended: -9" and recording.lost > 0
    with pytest.raises(rbt.ScenarioError, match=r"could not be written to its end \(its process has ended: -9\)"):
        recording.close()


def test_a_bag_that_cannot_be_made_is_refused(tmp_path):
    sim = rbt.load("cubesat").simulation()
    with pytest.raises(rbt.ScenarioError, match="is there already; give another name, or remove it"):
        rbt.Recorder(tmp_path, sim, apart=True)
    with pytest.raises(rbt.ScenarioError, match="compression 'gzip' is not one of none, lz4, zstd"):
        rbt.Recorder(tmp_path / "b", sim, apart=True, compression="gzip")
    assert not (tmp_path / "b").exists()
