"""Prints a digest of every bit of a few runs of one formulation: `test_digest` compares processes of all kinds."""

import hashlib
import sys

import numpy as np
from trees import ALL_KINDS, constraints_of, no_input, random_constraints, random_state, random_tree

from rbt_ros.core.adaptive import solve_at
from rbt_ros.core.constrained import Constrained, constrained_derivative, put_back
from rbt_ros.core.constraints import COUPLING, LAW, PHI, SIGNAL, TARGET, bonds
from rbt_ros.core.graph import matrices
from rbt_ros.core.impact import keep_momenta
from rbt_ros.core.integrate import DOP853, DORMAND_PRINCE, RK4, SEMI_IMPLICIT, advance
from rbt_ros.core.invariants import SUMMARY_COLUMNS, observe
from rbt_ros.core.side_by_side import Eight, Run
from rbt_ros.core.signals import FOR_EVER, signal_arrays, sines, table
from rbt_ros.core.types import CUBIC, JointKind
from rbt_ros.core.work import workspace
from rbt_ros.core.zxz import run
from rbt_ros.model.build import RobotBuilder
from rbt_ros.sim import Simulation


def digest(formulation):
    """formulation: "articulated", "wittenburg", "constrained", "unilateral", "side_by_side", or "adaptive": under error
    control."""
    if formulation == "constrained":
        return constrained_digest()
    if formulation == "unilateral":
        return unilateral_digest()
    total = hashlib.sha256()
    for seed in range(1 if formulation == "wittenburg" else 2):
        rng = np.random.default_rng(seed)
        model = random_tree(rng, 7, ALL_KINDS, gravity=(0.5, 0, -9.81))
        laws = [
            (sines(0.1, [(1.0, 30.0, 0.2)]), 0, 0, FOR_EVER, 0),
            (table([0, 1_500_000, 4_000_000], [0.0, 1.0, 3.0], CUBIC), 1, 0, FOR_EVER, 0),
        ]
        rows, data = signal_arrays(laws)
        input = no_input(model)._replace(signal=rows, data=data)
        input.tau[:] = rng.uniform(-1, 1, len(input.tau))
        y, work = np.concatenate([*random_state(rng, model), np.zeros(2)]), workspace(model, 2)  # with energies
        if formulation == "articulated":
            pose, twist, spin, summary = np.zeros((7, 7)), np.zeros((7, 6)), np.zeros((7, 3)), np.zeros(SUMMARY_COLUMNS)
            for method in (SEMI_IMPLICIT, RK4, DOP853):
                assert advance(model, y, input, 0, 1_000_000, 2, method, work).code == 0
                observe(model, y, work, pose, twist, spin, summary)
                total.update(y.tobytes() + pose.tobytes() + twist.tobytes() + summary.tobytes())
        elif formulation == "side_by_side":
            for method in (RK4, DOP853):
                company = [
                    Run(model, y * factor, input, 1_000_000, method, workspace(model, 2), 0)
                    for factor in (1.0, 0.9, 1.1)
                ]
                eight = Eight(company)
                assert eight.advance(2)
                eight.write_back()
                total.update(b"".join(run.y.tobytes() for run in company))
        elif formulation == "adaptive":
            for method, rtol in ((DOP853, 1e-12), (DORMAND_PRINCE, 1e-8)):
                found = solve_at(model, y, input, [7_000_000, 50_000_000], method=method, rtol=rtol, atol=1e-12)
                assert found.code == 0 and found.steps > 3
                total.update(found.y.tobytes())
        else:
            x, angles = matrices(model), rng.uniform(-2, 2, 2 * model.freedom.shape[0])
            y, work = y[:-2], workspace(model)
            assert run(model, y, input, 0, 1_000_000, 1, False, work, x)[0] == 0
            assert run(model, angles, input, 0, 1_000_000, 1, True, work, x)[0] == 0
            total.update(y.tobytes() + angles.tobytes())
    return total.hexdigest()


def constrained_digest():
    """Of a floating tree that is closed to itself and to the world, with a prescribed hinge; and of an impact on it."""
    rng = np.random.default_rng(8)
    model = random_tree(rng, 6, [JointKind.REVOLUTE, JointKind.SPHERICAL, JointKind.FREE], gravity=(0.5, 0, -9.81))
    y, work = np.concatenate(random_state(rng, model)), workspace(model)
    rows, input = random_constraints(rng, model, 4), no_input(model)
    row, laws, bond = rows.row.copy(), [sines(0.1, [(1.0, 30.0, 0.2)])], bonds(model, rows)
    row[:, SIGNAL] = row[:, LAW] == COUPLING
    assert row[:, SIGNAL].any() and not row[:, SIGNAL].all()
    constrained_derivative(model, y, input, 0, 0.0, rows, work, bond, np.zeros_like(y))
    row[:, TARGET] += bond.column[PHI] - 0.1 * row[:, SIGNAL]
    rows = constraints_of(row, rows.term, laws)
    assert put_back(model, y, input, 0, 0.0, rows, work, bond) < 1e-12
    for method in (SEMI_IMPLICIT, RK4, DOP853):
        assert Constrained(rows).stepper(model, y, input, 1_000_000, method, work)(0, 2)[0] == 0
    n, nv = len(model.tree), len(model.freedom)
    pose, twist, before, M, L = np.zeros((n, 7)), np.zeros((n, 6)), rng.uniform(-1, 1, (n, 6)), *np.zeros((2, nv, nv))
    u, p, change = y[-nv:].copy(), np.zeros(nv), np.zeros(nv)
    keep_momenta(model, y[:-nv], before, work, pose, twist, np.zeros((6, nv)), M, L, p, change, u)
    return hashlib.sha256(y.tobytes() + bond.column.tobytes() + u.tobytes()).hexdigest()


def unilateral_digest():
    """Of a pendulum on a rope, closed by a rod to a slider that bounces between stops: taut, slack, several impacts."""
    b = RobotBuilder("all")
    for name in ("bob", "slider", "weight"):
        b.body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), com=(0.1, 0.0, -0.2))
    b.hinge("pivot", "spherical", parent="world", child="bob")
    rail = dict(parent="world", child="slider", at=(0.5, 0, -1), axis=(1, 0, 0), limits=(-0.02, 0.02))
    b.hinge("rail", "prismatic", **rail, stop_restitution=0.5)
    b.closure("rod", "distance", "bob", "slider", at_a=(0, 0, -1), length=0.5)
    b.rope("tether", "bob", "weight", at_a=(0, 0, -1), length=0.5)
    b.rope("snag", "world", "weight", length=1.45, impact="stop")
    sim = Simulation(b.build(), gravity=(0.5, 0.1, -9.81), step=5e-3)
    sim.set_body("weight", position=(0.2, 0.1, -1.2), velocity=(0.0, 0.0, -1.0), omega_body=(1, 2, 3))
    sim.set_hinge("rail", 0.0, rate=0.5)
    sim.advance(70)
    assert {event.what for event in sim.events} >= {"taut", "slack", "bounce"}
    return hashlib.sha256((sim.digest() + repr(sim.events)).encode()).hexdigest()


if __name__ == "__main__":
    print(digest(sys.argv[1]))
