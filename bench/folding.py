"""Arrays that turn by folding: maps by kinematics, in full dynamics, in closed form; optimal control; Dask."""

import tempfile
import time
from pathlib import Path

import bodies
import numpy as np
from bodies import FREE, REVOLUTE, Part, System
from bodies import Path as Followed
from harness import Group, Missing, Row, interleave
from peer_mujoco import Peer

import rbt_ros as rbt
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings
from rbt_ros.modular import optimal, planar
from rbt_ros.studies.maps import Spec, make_map

ROBOT = rbt.modular.l_shape()
GRID = np.radians(np.linspace(-180.0, 180.0, 20))


def seconds(job, rounds=3):
    """The least of some rounds, after one that warms up."""
    job()
    return min(timed(job) for _ in range(rounds))


def timed(job):
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def maps(wanted):
    rows = {}
    if "map_kin" in wanted:
        s = seconds(lambda: rbt.modular.turn_map(ROBOT, GRID, GRID))
        rows["map_kin"] = Row(s, s, 1.0, "s for 400 turns of the L-shape by kinematics: at most 1", "error 1e-11 rad")
    if "map_dyn" in wanted:
        paths = [rbt.modular.rectangle(p, q) for p in GRID for q in GRID]
        s = seconds(lambda: rbt.modular.fly_many(ROBOT, paths), rounds=1)
        rows["map_dyn"] = Row(s, s, 20.0, "s for the same in full dynamics, PD and locks, 40 s each: at most 20")
    if "map_planar_s" in wanted:
        grid, rods = np.linspace(-np.pi, np.pi, 1000), planar.of_rods(rbt.modular.rods())
        s = seconds(lambda: planar.rectangle_turn(rods, grid[:, None], grid[None, :]))
        engine = timed(lambda: rbt.modular.turn_map(rbt.modular.rods(), grid, grid))
        note = f"by kinematics of the engine {engine:.1f} s"
        rows["map_planar_s"] = Row(s, s, 30.0, "s for a million cells of three rods, in closed form: at most 30", note)
    return rows


LEG = 10.0  # [s]
STEPS = (0.0025, 0.002, 0.00125, 0.001, 0.0005)  # [s]
WANTED = 1e-6  # [rad] of attitude and hinges


class Ours:
    """Rectangles by PD controllers of both hinges, one thread."""

    def __init__(self, corners, integrator):
        self._corners = corners
        self._simulations = [rbt.Simulation(ROBOT, integrator=integrator) for _ in corners]

    def run(self, step):
        """(cases, nq) after four legs."""
        hold = HingeSettings(tuple(HingeSetting(joint, "position", 5.0, 5.0) for joint in ("psi1", "psi2")))
        for simulation in self._simulations:
            simulation.reset()
            simulation.set_step(step)
            simulation.command(hold)
        for leg in range(4):
            for simulation, corners in zip(self._simulations, self._corners, strict=True):
                simulation.command(HingeCommand(("psi1", "psi2"), tuple(corners[leg].tolist())))
            assert not any(rbt.advance_many(self._simulations, round(LEG / step), threads=1))
        return np.array([simulation.state.q for simulation in self._simulations])


class Theirs:
    """The same in MuJoCo: position servos, RK4, its rollout over all cases."""

    def __init__(self, corners):
        moments = (1 / 6, 1.0001 / 12, 1.0001 / 12)
        parts = [
            Part(-1, FREE, 1.0, moments),
            Part(0, REVOLUTE, 1.0, moments, (0, 0, -0.5), (0, 0, -0.5), bodies.Y),
            Part(1, REVOLUTE, 1.0, moments, (0, 0.5, 0), (0, 0.5, -0.5), bodies.Z),
        ]
        start = np.array([1.0, 0, 0, 0, 0, 0, 0, 0, 0])
        held = tuple(Followed(part, (0.0, LEG), (0.0, 0.0)) for part in (1, 2))
        self.peer, self._corners = Peer(System(parts, start, np.zeros(8), 0.0, held, 5.0, 5.0)), corners

    def run(self, step):
        """(cases, nq) after four legs, in our order."""
        peer, steps = self.peer, round(LEG / step)
        peer.model.opt.timestep = step
        states = np.tile(peer.start, (len(self._corners), 1))
        for leg in range(4):
            control = np.repeat(self._corners[:, leg, None, :], steps, axis=1)
            states = peer.rollout(peer.model, peer.data, states, control, nstep=steps)[0][:, -1]
        return np.array([peer.ours(state[1 : 1 + peer.model.nq]) for state in states])


def against_mujoco(wanted):
    """Ten of the 400 rectangles; no locks on either side. Each at the longest step whose error is below WANTED."""
    corners = np.array([[(p, 0), (p, q), (0, q), (0, 0)] for p in GRID[::10] for q in GRID[::4]])
    right = Ours(corners, "dop853").run(0.0025)
    jobs, words = {}, []
    for name, side in (("ours", Ours(corners, "rk4")), ("MuJoCo", Theirs(corners))):
        for step in STEPS:
            miss = np.abs(side.run(step) - right)
            error = float(max(2.0 * miss[:, :4].max(), miss[:, 7:].max()))
            if error < WANTED:
                break
        else:
            raise RuntimeError(f"{name}: no step of {STEPS} s reaches {WANTED} rad")
        jobs[name] = (lambda side=side, step=step: side.run(step), len(corners))
        words.append(f"{name} {1e3 * step:g} ms, error {error:.1e}")
    us = interleave(jobs, rounds=3)
    unit = f"us per turn of 40 s by RK4 on one core, error below {WANTED:g} rad, MuJoCo / ours"
    row = Row(us["MuJoCo"] / us["ours"], us["ours"], us["MuJoCo"], unit, "; ".join(words))
    return {"map_dyn_vs_mujoco": row}


def solving(wanted):
    try:
        s = seconds(lambda: optimal.solve(rbt.modular.rods(), np.radians(10.0), time=25.0, starts=1))
    except rbt.RbtError as err:
        raise Missing(str(err)) from err
    return {"ocp_s": Row(s, s, 2.0, "s for the least effort of 10 deg in 25 s, 1e-12 of the optimum: at most 2")}


def dask(wanted):
    """2 workers over one, a map in full dynamics; the start of the workers is in both."""
    grid = tuple(np.linspace(-3.0, 3.0, 40).tolist())
    spec = Spec("l_shape", {}, "dynamic", grid, grid, leg=2.0)
    try:
        import dask.distributed as _  # noqa: F401
    except ImportError as err:
        raise Missing("dask is not installed") from err

    def run(workers):
        with tempfile.TemporaryDirectory() as folder:
            return timed(lambda: make_map(spec, Path(folder) / "blocks", workers=workers))

    one, two = run(1), run(2)
    return {
        "dask_speedup": Row(one / two, two, one, "1600 flights: one process / two Dask workers, their start included")
    }


GROUPS = (
    Group(("map_kin", "map_dyn", "map_planar_s"), maps),
    Group(("map_dyn_vs_mujoco",), against_mujoco),
    Group(("ocp_s",), solving),
    Group(("dask_speedup",), dask),
)
