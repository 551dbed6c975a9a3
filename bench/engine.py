"""The engine beside MuJoCo: one RK4 step, a call from Python, time to solution, ensembles, start-up.

Every row prints the error of both sides against our DOP853 at a quarter of a millisecond.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import bodies
import numpy as np
from harness import Group, Row, interleave

from rbt_ros.core import types as t
from rbt_ros.core.batch import advance_many
from rbt_ros.core.integrate import DOP853, RK4, advance
from rbt_ros.core.types import Input, JointKind
from rbt_ros.core.work import model_size, workspace

MS = 1_000_000
SYSTEMS = {
    "S1": bodies.free_top(),
    "S2": bodies.five_bodies(),
    **{f"N{n}": bodies.chain(n) for n in (8, 16, 64, 128)},
    **{f"tree{n}": bodies.random_tree(n) for n in (8, 16, 64)},
}


class Ours:
    """A system in the engine."""

    def __init__(self, system):
        self.model = bodies.our_model(system)
        self.nq, self.nv = model_size(self.model)
        self.start = np.concatenate([system.q, system.v])
        self.y, self.work = self.start.copy(), workspace(self.model)
        self.input = Input(np.zeros(self.nv), np.zeros((0, t.LOAD_COLUMNS)))

    def run(self, ticks, method=RK4, h_ns=MS):
        """From the start again."""
        self.y[:] = self.start
        status = advance(self.model, self.y, self.input, 0, h_ns, ticks, method, self.work)
        assert status.code == t.OK
        return self.y


class Peer:
    """A system in MuJoCo; its state in our order (a free body: attitude first, as we have it)."""

    def __init__(self, system, step=1e-3):
        import mujoco

        self.mujoco, self.system = mujoco, system
        self.model = mujoco.MjModel.from_xml_string(bodies.mujoco_xml(system, step))
        for i, part in enumerate(system.parts):  # the compiler refuses a moment that equals the sum of the others
            self.model.body_inertia[i + 1] = part.inertia
        self.data = mujoco.MjData(self.model)
        mujoco.mj_setConst(self.model, self.data)
        self.free = system.parts[0].kind == JointKind.FREE
        self.reset()

    def reset(self):
        q, v = self.system.q, self.system.v
        self.mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = np.concatenate([q[4:7], q[:4]]) if self.free else q
        self.data.qvel[:] = np.concatenate([v[3:6], v[:3]]) if self.free else v

    def run(self, steps):
        """From the start again: one call, the fastest way."""
        self.reset()
        self.mujoco.mj_step(self.model, self.data, steps)
        q, v = self.data.qpos, self.data.qvel
        return np.concatenate([q[3:7], q[:3], v[3:6], v[:3]]) if self.free else np.concatenate([q, v])


def error(y, exact, nq):
    """Largest difference of coordinates; for |q| - like ones up to round-off."""
    return float(np.abs(y[:nq] - exact[:nq]).max())


def errors(name, ours, peer, ticks):
    """'error ours / peer' after `ticks` ms of RK4 at 1 ms."""
    exact = ours.run(4 * ticks, DOP853, MS // 4).copy()
    mine, theirs = error(ours.run(ticks), exact, ours.nq), error(peer.run(ticks), exact, ours.nq)
    return f"error after {ticks} ms: ours {mine:.1e}, MuJoCo {theirs:.1e}"


def rk4(wanted):
    rows = {}
    for key in sorted(wanted, key=lambda k: (len(k), k)):
        name = key.removeprefix("rk4_")
        ours, peer = Ours(SYSTEMS[name]), Peer(SYSTEMS[name])
        n = max(100, 20_000 // len(SYSTEMS[name].parts))
        jobs = {"ours": (lambda o=ours, n=n: o.run(min(n, 5000)), min(n, 5000))}
        jobs["peer"] = (lambda p=peer, n=n: p.run(min(n, 5000)), min(n, 5000))
        us = interleave(jobs)
        note = errors(name, ours, peer, 1000 if name in ("S1", "S2") else 100)
        rows[key] = Row(us["peer"] / us["ours"], us["ours"], us["peer"], "us per RK4 step, MuJoCo / ours", note)
    return rows


def pycall(wanted):
    rows = {}
    for key in sorted(wanted):
        ours, peer = Ours(SYSTEMS[key[-2:]]), Peer(SYSTEMS[key[-2:]])
        args = (ours.model, ours.y, ours.input, 0, MS, 1, RK4, ours.work)

        def mine(args=args, ours=ours):
            ours.y[:] = ours.start
            for _ in range(5000):
                advance(*args)

        def theirs(peer=peer):
            peer.reset()
            step, model, data = peer.mujoco.mj_step, peer.model, peer.data
            for _ in range(5000):
                step(model, data)

        us = interleave({"ours": (mine, 5000), "peer": (theirs, 5000)})
        rows[key] = Row(us["peer"] / us["ours"], us["ours"], us["peer"], "us per step called from Python")
    return rows


def time_to_solution(wanted):
    """Five bodies, 5 s to 2e-10: MuJoCo RK4 at the step it needs (by its own order), we with DOP853."""
    ours = Ours(SYSTEMS["S2"])
    exact = ours.run(20_000, DOP853, MS // 4).copy()
    h = next(h for h in (8, 5, 4, 2, 1) if error(ours.run(5000 // h, DOP853, h * MS), exact, ours.nq) < 2e-10)
    mine = error(ours.run(5000 // h, DOP853, h * MS), exact, ours.nq)
    divider = 5
    peer = Peer(SYSTEMS["S2"], 1e-3 / divider)
    theirs = error(peer.run(5000 * divider), exact, ours.nq)
    jobs = {"ours": (lambda: ours.run(5000 // h, DOP853, h * MS), 1), "peer": (lambda: peer.run(5000 * divider), 1)}
    us = interleave(jobs, rounds=5)
    needed = us["peer"] * max(1.0, (theirs / 2e-10) ** 0.25)
    note = f"ours DOP853 {h} ms, error {mine:.1e}; MuJoCo RK4 {1 / divider} ms, error {theirs:.1e}, scaled by order 4"
    return {"tts_S2_mujoco": Row(needed / us["ours"], us["ours"] / 1e6, needed / 1e6, "s for 5 s to 2e-10", note)}


def batch(wanted):
    """64 trajectories of five bodies, 200 steps, on one thread each."""
    from mujoco import rollout

    ours, peer = Ours(SYSTEMS["S2"]), Peer(SYSTEMS["S2"])
    cases, ticks = 64, 200
    starts = np.repeat(ours.start[None], cases, axis=0)
    starts[:, ours.nq :] = np.random.default_rng(0).uniform(-1, 1, (cases, ours.nv))
    initial = np.concatenate([np.zeros((cases, 1)), starts], axis=1)

    def mine():
        states = starts.copy()
        assert all(s.code == t.OK for s in advance_many(ours.model, states, ours.input, 0, MS, ticks, RK4, 1))

    us = interleave(
        {
            "ours": (mine, cases * ticks),
            "peer": (lambda: rollout.rollout(peer.model, peer.data, initial, nstep=ticks), cases * ticks),
        }
    )
    return {"batch_S2": Row(us["peer"] / us["ours"], us["ours"], us["peer"], "us per trajectory-step on one core")}


def linear(wanted):
    jobs = {}
    for n in (8, 128):
        ours = Ours(SYSTEMS[f"N{n}"])
        jobs[n] = (lambda o=ours, n=n: o.run(8000 // n), 8000 // n * n)
    us = interleave(jobs)
    return {"linear": Row(us[128] / us[8], us[128], us[8], "us per body and step, N = 128 over N = 8: less is better")}


FIRST = """
import sys, time
sys.path.insert(0, {folder!r})
import bodies, engine
engine.Ours(bodies.five_bodies()).run(1)
"""


def first_step(wanted):
    """A fresh process, with an empty and with a filled cache."""
    rows = {}
    with tempfile.TemporaryDirectory() as cache:
        for key in ("first_step_cold", "first_step_warm"):
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache, "XDG_CACHE_HOME": cache}
            start = time.perf_counter()
            code = FIRST.format(folder=str(Path(__file__).parent))
            subprocess.run([sys.executable, "-c", code], env=environment, check=True)
            seconds = time.perf_counter() - start
            rows[key] = Row(seconds, seconds, None, "s from process start to the first step, less is better")
    return {key: rows[key] for key in rows if key in wanted}


GROUPS = (
    Group(
        ("rk4_S1", "rk4_S2", "rk4_N8", "rk4_N16", "rk4_N64", "rk4_tree8", "rk4_tree16", "rk4_tree64"),
        rk4,
    ),
    Group(("pycall_S1", "pycall_S2"), pycall),
    Group(("tts_S2_mujoco",), time_to_solution),
    Group(("batch_S2",), batch),
    Group(("linear",), linear),
    Group(("first_step_cold", "first_step_warm"), first_step),
)
