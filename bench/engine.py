"""The engine beside MuJoCo: one RK4 step, a call from Python, ensembles; growth with the number of bodies; start-up.

Every row prints the error of both sides against our DOP853 at a quarter of a millisecond (how right that is, the
group `solution.py` tells: there Drake and Kane's equations in numpy converge to the same).
"""

import os
import subprocess
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import bodies
import numpy as np
from harness import Group, Row, interleave
from peer_mujoco import Peer

import rbt_ros as rbt

SYSTEMS = {
    "S1": bodies.free_top(),
    "S2": bodies.five_bodies(),
    "S4": bodies.three_panels(),
    **{f"N{n}": bodies.chain(n) for n in (8, 16, 64, 128)},
    **{f"tree{n}": bodies.random_tree(n) for n in (8, 16, 64)},
}
SECONDS = {"S1": 10, "S2": 5, "S4": 40}  # after which the errors are compared; the others: a tenth, for chaos is near


class Ours:
    """A system in the engine."""

    def __init__(self, system, step=1e-3, integrator="rk4"):
        self.system, self.simulation = system, bodies.simulation(system, step, integrator)

    def run(self, ticks):
        """From the start again."""
        self.simulation.reset()
        self.simulation.advance(ticks)

    def poses(self, ticks):
        """`bodies.poses` after `ticks`."""
        self.run(ticks)
        return bodies.poses(self.system, self.simulation.state.q)


def exact(system, ms):
    """The common reference."""
    return Ours(system, 0.25e-3, "dop853").poses(4 * ms)


def errors(ours, peer, ms):
    """'error ours, peer' after `ms` steps of 1 ms."""
    right = exact(ours.system, ms)
    mine, theirs = (bodies.state_error(side.poses(ms), right) for side in (ours, peer))
    return f"error after {ms / 1000:g} s [m, rad]: ours {mine:.1e}, MuJoCo {theirs:.1e}"


def rk4(wanted):
    rows = {}
    for key in [key for key in RK4_KEYS if key in wanted]:
        name = key.removeprefix("rk4_")
        ours, peer = Ours(SYSTEMS[name]), Peer(SYSTEMS[name])
        n = min(5000, max(100, 20_000 // len(SYSTEMS[name].parts)))
        us = interleave({"ours": (lambda o=ours, n=n: o.run(n), n), "peer": (lambda p=peer, n=n: p.run(n), n)})
        note = errors(ours, peer, round(SECONDS.get(name, 0.1) * 1000))
        rows[key] = Row(us["peer"] / us["ours"], us["ours"], us["peer"], "us per RK4 step, MuJoCo / ours", note)
    return rows


def pycall(wanted):
    rows = {}
    for key in sorted(wanted):
        system = SYSTEMS[key.removeprefix("pycall_")]
        ours, peer = Ours(system), Peer(system)

        def mine(simulation=ours.simulation):
            simulation.reset()
            for _ in range(5000):
                simulation.advance(1)

        def theirs(peer=peer):
            peer.reset()
            step, model, data = peer.mujoco.mj_step, peer.model, peer.data
            for _ in range(5000):
                step(model, data)

        us = interleave({"ours": (mine, 5000), "peer": (theirs, 5000)})
        note = errors(ours, peer, 5000)
        rows[key] = Row(us["peer"] / us["ours"], us["ours"], us["peer"], "us per step called from Python", note)
    return rows


def batch(wanted):
    """64 trajectories of five bodies, 1 s, on one thread each, from the start each time."""
    system, cases, ticks = SYSTEMS["S2"], 64, 1000
    peer, nq = Peer(system), len(system.q)
    rates = np.random.default_rng(0).uniform(-1, 1, (cases, len(system.v)))
    starts = [system._replace(v=v) for v in rates]
    initial = np.array([np.concatenate([[0.0], start.q, start.v]) for start in starts])
    simulations = [bodies.simulation(start) for start in starts]

    def mine(simulations=simulations, ticks=ticks):
        for simulation in simulations:
            simulation.reset()
        assert not any(rbt.advance_many(simulations, ticks, threads=1))
        return [simulation.state.q for simulation in simulations]

    def theirs():
        return peer.rollout(peer.model, peer.data, initial, nstep=ticks)[0][:, -1, 1 : 1 + nq]

    assert not any(rbt.advance_many(simulations, 20_000))  # long enough to have compiled what steps them side by side
    us = interleave({"ours": (mine, cases * ticks), "peer": (theirs, cases * ticks)})
    right = mine([bodies.simulation(start, 0.25e-3, "dop853") for start in starts], 4 * ticks)
    exactly, found = [bodies.poses(system, q) for q in right], (mine(), theirs())
    worst = [
        max(bodies.state_error(bodies.poses(system, q), r) for q, r in zip(qs, exactly, strict=True)) for qs in found
    ]
    note = f"largest error after {ticks} ms [m, rad]: ours {worst[0]:.1e}, MuJoCo {worst[1]:.1e}"
    return {
        "batch_S2": Row(us["peer"] / us["ours"], us["ours"], us["peer"], "us per trajectory-step on one core", note)
    }


def linear(wanted):
    jobs = {}
    for n in (8, 128):
        ours = Ours(SYSTEMS[f"N{n}"])
        jobs[n] = (lambda o=ours, n=n: o.run(8000 // n), 8000 // n * n)
    us = interleave(jobs)
    return {"linear": Row(us[128] / us[8], us[128], us[8], "us per body and step, N = 128 over N = 8: less is better")}


def projection_times(_):
    """[µs per step without, with projection, energy drift in 20 s without, with] of S1 by RK4, in this process."""
    plain, kept = Ours(SYSTEMS["S1"]), Ours(SYSTEMS["S1"])
    kept.simulation.set_stabilise("projection")
    us = interleave({0: (lambda: plain.run(2000), 2000), 1: (lambda: kept.run(2000), 2000)}, 500)
    drifts = []
    for simulation in (plain.simulation, kept.simulation):
        simulation.reset()
        drifts.append(simulation.run(20.0, every=20.0).samples[-1].conservation.energy)
    return [us[0], us[1], *drifts]


def stabilise_cost(wanted):
    """What the projection adds to a step. Allowed: 100 ns or 0.3 of an RK4 step of S1, whichever is larger.

    The least of five processes each: where one happens to put its code makes all its steps longer by up to a half.
    """
    with get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        found = np.array(pool.map(projection_times, range(5), chunksize=1))
    without, corrected = found[:, :2].min(axis=0)
    ns, allowed = 1e3 * float(corrected - without), max(100.0, 300.0 * float(without))
    drift = "energy after 20 s: {:.1e}, kept {:.1e}".format(*found[0, 2:])
    note = f"on an RK4 step of S1 of {1e3 * without:.0f} ns; {drift}"
    return {"stabilise_cost": Row(allowed / ns, ns, allowed, "ns of a projection per step, allowed / ours", note)}


FIRST = """
import sys
sys.path.insert(0, {folder!r})
import bodies
bodies.simulation(bodies.five_bodies()).advance(1)
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


RK4_KEYS = ("rk4_S1", "rk4_S2", "rk4_S4", "rk4_N8", "rk4_tree8", "rk4_N16", "rk4_tree16", "rk4_N64", "rk4_tree64")
GROUPS = (
    Group(RK4_KEYS, rk4),
    Group(("pycall_S1", "pycall_S2"), pycall),
    Group(("batch_S2",), batch),
    Group(("linear",), linear),
    Group(("stabilise_cost",), stabilise_cost),
    Group(("first_step_cold", "first_step_warm"), first_step),
)
