"""Fixed steps: order, conservation, closed forms, failures."""

import numpy as np
import pytest
from trees import EPS, body_row, chain, frozen, model_of, no_input, random_state, random_tree

from rbt_ros.core import types as t
from rbt_ros.core.integrate import DOP853, RK4, advance
from rbt_ros.core.invariants import ANGULAR, DISSIPATED, KINETIC, MOMENTUM, POTENTIAL, SUMMARY_COLUMNS, WORK, observe
from rbt_ros.core.kinematics import com_state, kinematics
from rbt_ros.core.signals import FOR_EVER, signal_arrays, sines
from rbt_ros.core.types import Input, JointKind
from rbt_ros.core.vec import sym_mul
from rbt_ros.core.work import workspace
from rbt_ros.plug.integrators import INTEGRATORS


def summary_of(model, y):
    n = len(model.tree)
    out = np.zeros(SUMMARY_COLUMNS)
    observe(model, y, workspace(model), np.zeros((n, 7)), np.zeros((n, 6)), np.zeros((n, 3)), out)
    return out


def moved(model, y, seconds, steps, method, input=None):
    y = y.copy()
    status = advance(
        model, y, input or no_input(model), 0, round(seconds * 1e9 / steps), steps, method, workspace(model)
    )
    assert status == (t.OK, steps, -1)
    return y


@pytest.mark.parametrize(
    ("name", "order", "steps"),
    [
        ("semi_implicit", 1, (2000, 4000, 8000)),
        ("explicit_euler", 1, (4000, 8000)),
        ("midpoint", 2, (400, 800)),
        ("heun", 2, (400, 800)),
        ("rk4", 4, (40, 80, 160)),
        ("dop853", 8, (2, 4, 8)),
    ],
)
def test_error_falls_with_the_order_of_the_method(name, order, steps):
    """All hinge kinds in one tree, against DOP853 at a step so small that only round-off is left."""
    rng = np.random.default_rng(13)
    kinds = [k for k in JointKind if k != JointKind.FIXED]
    model = random_tree(rng, 6, kinds, gravity=(0, 0, -9.81))
    y = np.concatenate(random_state(rng, model, speed=0.5))
    exact = moved(model, y, 0.5, 500, DOP853)
    plugged = INTEGRATORS.find(name)
    assert plugged.order == order
    errors = [np.abs(moved(model, y, 0.5, n, plugged.method) - exact).max() for n in steps]
    measured = np.log2(np.array(errors[:-1]) / errors[1:])
    assert measured[-1] == pytest.approx(order, abs=0.2 if order == 8 else 0.05)  # measured: 8.08, 3.99, 1.00


@pytest.mark.parametrize("seed", range(12))
def test_energy_of_random_trees_is_kept(seed):
    """Every hinge kind under gravity with springs; DOP853 at 1 ms for 1 s: only round-off, eps per step, is left."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5, gravity=(1.0, -2.0, -9.81))
    freedom = model.freedom.copy()
    freedom[:, t.STIFFNESS] = rng.uniform(0, 5, len(freedom))
    model = model._replace(freedom=freedom)
    model.freedom.flags.writeable = False
    for _, kind, _, j in model.tree:
        if kind == JointKind.FREE:
            freedom.flags.writeable = True
            freedom[j : j + 6, t.STIFFNESS] = 0.0
            freedom.flags.writeable = False
    y = np.concatenate(random_state(rng, model, speed=1.0))
    before = summary_of(model, y)
    after = summary_of(model, moved(model, y, 1.0, 1000, DOP853))
    scale = abs(before[KINETIC]) + abs(before[POTENTIAL]) + abs(after[KINETIC]) + abs(after[POTENTIAL])
    drift = after[KINETIC] + after[POTENTIAL] - before[KINETIC] - before[POTENTIAL]
    assert abs(drift) <= 1000 * EPS * scale  # measured: up to 30


def test_momentum_of_a_floating_tree_is_kept_under_internal_efforts():
    """DOP853 1 ms, 1e5 steps, oscillating efforts and dampers in all inner hinges: only round-off moves the momenta.

    Against Σ m |v| and Σ |I ω| + m |r × v|: after n steps below 2 eps √n, a random walk of an
    eps per step (measured: up to 0.2); 1e5 times eps would be 2e-11.
    """
    rng = np.random.default_rng(5)
    inner = (JointKind.REVOLUTE, JointKind.SPHERICAL, JointKind.UNIVERSAL, JointKind.PRISMATIC)
    hinges = [(-1, JointKind.FREE), (0, inner[0]), (1, inner[1]), (0, inner[2]), (3, inner[3])]
    base = random_tree(rng, 5, kinds=(JointKind.FREE,))
    rows = base.body.copy()
    rows[1:, t.COM : t.COM + 3] = rng.uniform(-0.3, 0.3, (4, 3))
    model = model_of(hinges, rows)
    freedom = model.freedom.copy()
    freedom[6:, t.STIFFNESS], freedom[6:, t.DAMPING] = 2.0, 0.02
    model = frozen(model._replace(freedom=freedom))
    q, v = random_state(rng, model, speed=1.0)
    v[3:6] = 0.0  # the hub starts at rest, so that it does not fly far
    y = np.concatenate([q, v])
    drives = [sines(0.0, [(0.3, *rng.uniform(1, 5, 2))]) for _ in range(len(freedom) - 6)]
    rows, data = signal_arrays([(law, 6 + k, 0, FOR_EVER, 0) for k, law in enumerate(drives)])
    input = no_input(model)._replace(signal=rows, data=data)
    before, work, linear, angular, done = summary_of(model, y), workspace(model), 0.0, 0.0, 0
    for n in (1000, 3000, 10_000, 30_000, 100_000):
        while done < n:
            code = advance(model, y, input, done * 1_000_000, 1_000_000, 500, DOP853, work).code
            assert code == t.OK
            done += 500
            P, L = momenta_sizes(model, y)
            linear, angular = max(linear, P), max(angular, L)
        moved = np.abs(summary_of(model, y) - before)
        P, L = moved[MOMENTUM : MOMENTUM + 3].max() / linear, moved[ANGULAR : ANGULAR + 3].max() / angular
        print(f"{n}: {P:.2g} {L:.2g}, of eps √n: {P / EPS / n**0.5:.2g} {L / EPS / n**0.5:.2g}")
        assert max(P, L) <= 2 * EPS * np.sqrt(n)


def momenta_sizes(model, y):
    """Σ m |v| and Σ |I ω| + m |r × v| of all bodies."""
    nq = len(y) - model.freedom.shape[0]
    pose, twist = np.zeros((len(model.tree), 7)), np.zeros((len(model.tree), 6))
    kinematics(model, y[:nq], y[nq:], workspace(model), pose, twist)
    linear, angular = 0.0, 0.0
    for i, row in enumerate(model.body):
        r, v, w_B = com_state(model, pose, twist, i)
        linear += row[t.MASS] * np.linalg.norm(v)
        angular += np.linalg.norm(sym_mul(row[t.INERTIA : t.INERTIA + 6], w_B)) + row[t.MASS] * np.linalg.norm(
            np.cross(r, v)
        )
    return linear, angular


def test_force_free_satellite_that_tumbles_and_flies_stays_on_its_line():
    """7.5 km/s, 51 rad/s, RK4 1 ms: after 1000 s the CoM is at p + v t within 1e-6 m, whatever the attitude does.

    Every step rounds alike where v h is no round number: uncompensated 6e-5 m. Left (measured 1e-9): v h is rounded.
    """
    model = model_of([(-1, JointKind.FREE)], [body_row(3.0, (0, 0, 0), (0.0361, 0.0337, 0.00733))])
    p, v = np.array([7e6, 1.0, -3.3]), np.array([1234.5678, 7397.6543, 0.1])
    y = np.array([1.0, 0, 0, 0, *p, 0, 28.123, 42.55, *v])
    end = moved(model, y, 1000.0, 1_000_000, RK4)
    assert end[4:7] == pytest.approx(p + 1000.0 * v, rel=0, abs=1e-7)


def test_a_bad_step_keeps_the_last_good_state_and_names_tick_and_body():
    model = chain(3)
    y = np.zeros(6)
    y[4] = 1e160  # its square overflows in the first evaluation
    before = y.copy()
    status = advance(model, y, no_input(model), 0, 1_000_000, 10, RK4, workspace(model))
    assert status.code == t.NON_FINITE and status.tick == 0 and status.body in (0, 1, 2)
    assert (y == before).all()
    input = no_input(model)
    y = np.zeros(6)
    assert advance(model, y, input, 0, 1_000_000, 5, RK4, workspace(model)) == (t.OK, 5, -1)
    input.tau[2] = np.nan
    before = y.copy()
    status = advance(model, y, input, 5_000_000, 1_000_000, 5, RK4, workspace(model))
    assert status.code == t.NON_FINITE and status.tick == 0
    assert (y == before).all()


def test_calls_may_be_cut_anywhere():
    """One call of 20 ticks and twenty calls of one give the same bits."""
    rng = np.random.default_rng(7)
    model = random_tree(rng, 5, gravity=(0, 0, -9.81))
    y = np.concatenate(random_state(rng, model))
    once, often, work = y.copy(), y.copy(), workspace(model)
    advance(model, once, no_input(model), 0, 1_000_000, 20, RK4, workspace(model))
    for k in range(20):
        advance(model, often, no_input(model), k * 1_000_000, 1_000_000, 1, RK4, work)
    assert once.tobytes() == often.tobytes()


@pytest.mark.parametrize("seed", range(6))
def test_energy_is_the_work_of_the_inputs_when_forced(seed):
    """Efforts, a sine, dampers, friction, loads in both frames: the extra equation closes the balance to round-off."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 5, gravity=(0, 0, -9.81))
    freedom = model.freedom.copy()
    freedom[:, t.DAMPING], freedom[:, t.COULOMB], freedom[:, t.CREEP] = 0.3, 0.2, 0.5
    freedom.flags.writeable = False
    model = model._replace(freedom=freedom)
    nv = len(freedom)
    if nv == 0:
        return
    load = np.zeros((2, t.LOAD_COLUMNS))
    load[:, t.LOAD_BODY], load[:, t.LOAD_FRAME] = rng.integers(0, 5, 2), (t.BODY_AXES, t.WORLD_AXES)
    load[:, t.LOAD_POINT : t.LOAD_SIGNAL] = rng.uniform(-1, 1, (2, 9))
    load[1, t.LOAD_SIGNAL] = 1
    law = sines(0.3, [(1.0, 5.0, 0.0)])
    rows, data = signal_arrays([(law, -1, 0, FOR_EVER, 0), (law, nv - 1, 0, FOR_EVER, 0)])
    y = np.concatenate([*random_state(rng, model), [0.0, 0.0]])
    input = Input(rng.uniform(-1, 1, nv), load, rows, data)
    before = summary_of(model, y)
    assert advance(model, y, input, 0, 1_000_000, 1000, DOP853, workspace(model, 2)).code == t.OK
    after = summary_of(model, y)
    scale = sum(abs(x[k]) for x in (before, after) for k in (KINETIC, POTENTIAL)) + np.abs(y[-2:]).sum()
    gain = after[KINETIC] + after[POTENTIAL] - before[KINETIC] - before[POTENTIAL]
    assert abs(gain - (after[WORK] - after[DISSIPATED])) <= 1000 * EPS * scale and after[DISSIPATED] > 0
