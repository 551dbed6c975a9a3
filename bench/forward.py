"""Forward dynamics, one evaluation: ours beside Pinocchio's aba called from C++, on chains and on random trees.

Both errors are against Kane's equations in extended precision, of another derivation: `peer_numpy.py`.
"""

import bodies
import numpy as np
from harness import Group, Row, interleave
from peer_numpy import right_hand_side
from peer_pinocchio import Peer

from rbt_ros.core import types as t
from rbt_ros.core.dynamics import derivative
from rbt_ros.core.jit import routine
from rbt_ros.core.types import Input
from rbt_ros.core.work import workspace

SYSTEMS = {
    "S2": bodies.five_bodies(),
    **{f"N{n}": bodies.chain(n) for n in (8, 32, 128)},
    **{f"tree{n}": bodies.random_tree(n) for n in (8, 32, 128)},
}
KEYS = tuple(f"fd_{name}" for name in ("S2", "N8", "tree8", "N32", "tree32", "N128", "tree128"))


@routine
def evaluate(model, y, input, work, ydot, times):
    """Fill ydot, `times` times: each evaluation waits for the one before."""
    last = y.shape[0] - 1
    start = y[last]
    for _ in range(times):
        y[last] = start + 1e-300 * ydot[last]
        derivative(model, y, input, 0, 0.0, work, ydot)
    y[last] = start


class Ours:
    """A system in the engine, with the generic recursion that every simulation runs."""

    def __init__(self, system):
        world = np.zeros(t.WORLD_COLUMNS)
        world[t.GRAVITY + 2] = -system.g
        world.flags.writeable = False
        model = bodies.simulation(system).robot.model._replace(world=world)
        self.nq, y = len(system.q), np.concatenate([system.q, system.v])
        input = Input(np.zeros(len(system.v)), np.zeros((0, t.LOAD_COLUMNS)))
        self.arguments = (model, y, input, workspace(model), np.zeros(len(y)))

    def run(self, times):
        """vdot, computed `times` times."""
        evaluate(*self.arguments, times)
        return self.arguments[-1][self.nq :]


def forward_dynamics(wanted):
    rows = {}
    for key in [key for key in KEYS if key in wanted]:
        system = SYSTEMS[key.removeprefix("fd_")]
        system = system._replace(v=np.random.default_rng(1).uniform(-1, 1, len(system.v)))
        sides = {"ours": Ours(system), "world axes": Peer(system, True), "local axes": Peer(system, False)}
        n = max(200, 50_000 // len(system.parts))
        us = interleave({name: (lambda s=side, n=n: s.run(n), n) for name, side in sides.items()}, rounds=15)
        axes = min(("world axes", "local axes"), key=lambda name: us[name])
        y = np.concatenate([system.q, system.v]).astype(np.longdouble)
        exact = right_hand_side(system)(0.0, y)[len(system.q) :]
        error = {name: float(abs(side.run(1) - exact).max() / abs(exact).max()) for name, side in sides.items()}
        note = f"error relative to the largest: ours {error['ours']:.1e}, Pinocchio in {axes} {error[axes]:.1e}"
        unit = "us per evaluation, Pinocchio from C++ / ours"
        rows[key] = Row(us[axes] / us["ours"], us["ours"], us[axes], unit, note)
    return rows


GROUPS = [Group(KEYS, forward_dynamics)]
