"""Eight simulations side by side: each has the bits that it has alone, whatever the others do."""

import numpy as np
import pytest
from trees import ALL_KINDS, no_input, random_inertia, random_state, random_tree, unit

from rbt_ros.core import types as t
from rbt_ros.core.integrate import DOP853, RK4, advance, stage_nodes
from rbt_ros.core.lanes import LANES
from rbt_ros.core.side_by_side import Eight, Run, outline
from rbt_ros.core.signals import FOR_EVER, feedback, polynomial, signal_arrays, sines, stage_samples, table
from rbt_ros.core.types import CUBIC, HOLD, LINEAR, JointKind
from rbt_ros.core.work import CARRY_ROW, model_size, workspace

H_NS, TICKS = 1_000_000, 60


def another(rng, model):
    """A model with the tree of `model` and other numbers: masses, points, axes, springs, friction."""
    body, freedom = model.body.copy(), model.freedom.copy()
    for i, (_, kind, *_) in enumerate(model.tree):
        I = random_inertia(rng)
        body[i, t.MASS] *= rng.uniform(0.5, 2)
        body[i, t.INERTIA : t.INERTIA + 6] = I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]
        body[i, t.POINT : t.POINT + 3] += rng.uniform(-0.2, 0.2, 3)
        if body[i, t.TURN] != 1.0:
            body[i, t.TURN : t.TURN + 4] = unit(rng, 4)
        if kind != JointKind.PLANAR:
            body[i, t.AXIS : t.AXIS + 3] = unit(rng)
    freedom[:, t.STIFFNESS] = rng.uniform(0, 5, len(freedom))
    freedom[:, t.REST] = rng.uniform(-1, 1, len(freedom))
    freedom[:, t.DAMPING] = rng.uniform(0, 0.5, len(freedom))
    freedom[::2, t.COULOMB] = rng.uniform(0.1, 0.5, len(freedom[::2]))
    for _, kind, _, v in model.tree:
        if kind == JointKind.FREE:
            freedom[v : v + 6, t.STIFFNESS] = 0.0
    return model._replace(body=body, freedom=freedom)


def driven(rng, model, method):
    """Efforts, loads and a signal of every law, with numbers of its own and the knots of all."""
    nq, nv = model_size(model)
    knots, some = [0, 7_000_000, 20_500_000, 40_000_000], lambda n: rng.uniform(-1, 1, n).tolist()
    nodes = stage_nodes(method)
    signals = [
        sines(*some(1), [some(3), some(3)]),
        polynomial(some(3)),
        table(knots, some(4), HOLD),
        table(knots, some(4), LINEAR),
        table(knots, some(4), CUBIC),
        stage_samples(H_NS, nodes, rng.uniform(-1, 1, (TICKS, len(nodes)))),
    ]
    rows = [(signal, k % nv if k < 5 else -1, 0, FOR_EVER, 0) for k, signal in enumerate(signals)]
    i, q, v = next((i, q, v) for i, (_, kind, q, v) in enumerate(model.tree) if kind == JointKind.REVOLUTE)
    rows.append((feedback(int(q), *some(4)), int(v), 5 * H_NS, 50 * H_NS, 0))
    load = np.zeros((3, t.LOAD_COLUMNS))
    load[:, t.LOAD_BODY], load[:, t.LOAD_FRAME] = (0, 2, len(model.tree) - 1), (t.BODY_AXES, t.WORLD_AXES, t.BODY_AXES)
    load[:, t.LOAD_POINT : t.LOAD_SIGNAL] = rng.uniform(-1, 1, (3, 9))
    load[:, t.LOAD_SIGNAL] = 0, 1, 6
    signal, data = signal_arrays(rows)
    return t.Input(rng.uniform(-1, 1, nv), load, signal, data)


def runs(seed, count, method, extra=0, free=False):
    """Alike runs of a random tree of nine bodies that differ in all that may differ."""
    rng = np.random.default_rng(seed)
    while True:
        tree = random_tree(rng, 9, ALL_KINDS, gravity=(0.5, 0, -9.81))
        if JointKind.REVOLUTE in tree.tree[:, t.KIND] and (JointKind.FREE in tree.tree[:, t.KIND]) >= free:
            break
    found = []
    for _ in range(count):
        model = another(rng, tree)
        y = np.concatenate([*random_state(rng, model), np.zeros(extra)])
        found.append(Run(model, y, driven(rng, model, method), H_NS, method, workspace(model, extra), 0))
    return found


def alone(run, ticks, t_ns=0):
    """y and the carried rounding of that run alone."""
    y, work = run.y.copy(), workspace(run.model, len(run.y) - sum(model_size(run.model)))
    status = advance(run.model, y, run.input, t_ns, run.h_ns, ticks, run.method, work)
    assert status.code == t.OK
    return y, work.stage[CARRY_ROW]


@pytest.mark.parametrize(
    ("seed", "count", "method", "extra"),
    [(0, 8, RK4, 0), (1, 5, RK4, 2), (2, 3, DOP853, 0), (3, 8, RK4, 0), (4, 1, RK4, 2)],
)
def test_each_has_the_bits_that_it_has_alone(seed, count, method, extra):
    """All hinge kinds, springs, friction of both kinds, efforts, loads, signals of all laws, the work of inputs."""
    company = runs(seed, count, method, extra, free=seed == 3)
    assert len({outline(run) for run in company}) == 1
    expected = [alone(run, TICKS) for run in company]
    eight = Eight(company)
    for ticks in (1, 9, TICKS - 10):  # in any pieces
        assert eight.advance(ticks)
    eight.write_back()
    for run, (y, carry) in zip(company, expected, strict=True):
        assert run.y.tobytes() == y.tobytes()
        assert run.work.stage[CARRY_ROW].tobytes() == carry.tobytes()
    assert np.abs(company[0].y - company[-1].y).max() > 0.1 or count == 1


def test_what_attracts_and_what_rubs_inside_has_its_bits_too():
    """A lone satellite with friction inside, attracted by a point mass; one of the eight is at rest."""
    rng, company = np.random.default_rng(5), []
    for case in range(LANES):
        model = random_tree(np.random.default_rng(1), 1, (JointKind.FREE,))
        freedom, world = np.tile(model.freedom, 1), model.world.copy()
        freedom[0, t.SINK], freedom[:3, t.DAMPING] = 0.1 * case, 0.01
        world[[t.ATTRACTION, t.SINK_FLOOR]] = 4e14, 1e-6
        q = np.array([*unit(rng, 4), 7e6, 0.0, 1e5 * case])
        model = model._replace(freedom=freedom, world=world)
        y = np.concatenate([q, [0.0] * 6 if case == 2 else rng.uniform(-2, 2, 6)])
        company.append(Run(model, y, no_input(model), H_NS, RK4, workspace(model), case * H_NS))
    assert len({outline(run) for run in company}) == 1, "without signals the time does not matter"
    expected = [alone(run, 200) for run in company]
    eight = Eight(company)
    assert eight.advance(200)
    eight.write_back()
    assert [run.y.tobytes() for run in company] == [y.tobytes() for y, _ in expected]


def test_where_one_fails_none_has_gone():
    company = runs(0, 4, RK4)
    company[2].y[-1] = 1e200
    before = [run.y.copy() for run in company]
    eight = Eight(company)
    assert not eight.advance(20)
    eight.write_back()
    assert [run.y.tobytes() for run in company] == [y.tobytes() for y in before]


def test_what_sets_a_branch_is_in_the_outline():
    """Who differs in that may not come along."""
    run = runs(0, 1, RK4)[0]

    def with_body(column, value):
        body = run.model.body.copy()
        body[0, column] = value
        return run._replace(model=run.model._replace(body=body))

    def with_freedom(column, value):
        freedom = run.model.freedom.copy()
        freedom[0, column] = value
        return run._replace(model=run.model._replace(freedom=freedom))

    def with_load(column, value):
        load = run.input.load.copy()
        load[0, column] = value
        return run._replace(input=run.input._replace(load=load))

    def with_knot(value):
        signal, data = run.input.signal, run.input.data.copy()
        row = next(row for row in signal if row[t.LAW] == HOLD)
        data[row[t.DATA] + 1] = value
        return run._replace(input=run.input._replace(data=data))

    tree, world, signal = run.model.tree.copy(), run.model.world.copy(), run.input.signal.copy()
    tree[0, t.KIND], world[t.GRAVITY], signal[0, t.FROM] = JointKind.FIXED, 3.0, 5
    others = [
        run._replace(h_ns=2 * H_NS),
        run._replace(method=DOP853),
        run._replace(t_ns=H_NS),  # its signals are functions of time
        run._replace(y=np.append(run.y, [0.0, 0.0])),
        run._replace(model=run.model._replace(tree=tree)),
        run._replace(model=run.model._replace(world=world)),
        run._replace(input=run.input._replace(signal=signal)),
        with_body(t.TURN, 0.5 if run.model.body[0, t.TURN] == 1.0 else 1.0),
        with_freedom(t.COULOMB, 0.0),
        with_load(t.LOAD_BODY, 1.0),
        with_load(t.LOAD_FRAME, t.WORLD_AXES),
        with_load(t.LOAD_SIGNAL, 2.0),
        with_knot(8_000_000),
    ]
    assert all(outline(other) != outline(run) for other in others)
    assert outline(with_body(t.MASS, 9.0)) == outline(with_freedom(t.DAMPING, 1.0)) == outline(run)
    assert outline(with_load(t.LOAD_FORCE, 7.0)) == outline(run._replace(y=run.y + 1.0)) == outline(run)
