"""Inputs as functions of time: values, knots, and the integrator's order under each law."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from trees import EPS, body_row, model_of, no_input

from rbt_ros.core import signals
from rbt_ros.core import types as t
from rbt_ros.core.integrate import DOP853, RK4, advance, stage_nodes
from rbt_ros.core.signals import FOR_EVER, breaks_ns, cubic_pieces, signal_arrays, signal_value
from rbt_ros.core.types import CUBIC, HOLD, LINEAR, Input, JointKind
from rbt_ros.core.work import workspace

MS = 1_000_000
SLIDER = model_of([(-1, JointKind.PRISMATIC)], [body_row(2.0, (0, 0, 0), (1, 1, 1))])


def input_of(signal, drives=0, start=0, end=FOR_EVER, origin=0):
    rows, data = signal_arrays([(signal, drives, start, end, origin)])
    return Input(np.zeros(1), np.zeros((0, t.LOAD_COLUMNS)), rows, data)


def value(signal, t_ns, s=0.0, **when):
    return signal_value(input_of(signal, **when), 0, t_ns, s)


def travelled(input, steps, h_ns, method=RK4):
    """x, v of a mass of 2 kg from rest."""
    y = np.zeros(2)
    assert advance(SLIDER, y, input, 0, h_ns, steps, method, workspace(SLIDER)).code == t.OK
    return y


def test_sines_and_polynomials_are_what_they_say():
    law = signals.sines(0.5, [(2.0, 3.0, 0.1), (1.0, 7.0, -1.0)])
    x = 1.25
    expected = 0.5 + 2 * np.sin(3 * x + 0.1) + np.sin(7 * x - 1)
    assert value(law, 1_000 * MS, 0.25) == pytest.approx(expected, abs=20 * EPS)
    assert value(law, 2_000 * MS, 0.25, origin=1_000 * MS) == pytest.approx(expected, abs=20 * EPS)
    assert value(signals.polynomial([1.0, -2.0, 3.0]), 500 * MS) == 1.0 - 2.0 * 0.5 + 3.0 * 0.25


def test_acts_from_and_to_whole_steps():
    law = signals.polynomial([1.0])
    times = [0, 9, 10, 19, 20, 30]
    assert [value(law, x, start=10, end=20) for x in times] == [0, 0, 1, 1, 0, 0]


def test_table_belongs_to_the_step_at_its_start():
    """At a knot: the stage at the end of a step sees the old piece, the stage at the start of the next the new one."""
    hold = signals.table([0, 10 * MS], [1.0, 5.0], HOLD)
    assert value(hold, 9 * MS, 1e-3) == 1.0 and value(hold, 10 * MS) == 5.0
    assert value(hold, 9 * MS, 1.1e-3) == 5.0  # a knot inside a step is seen by the stages after it
    line = signals.table([0, 10 * MS, 20 * MS], [0.0, 1.0, 0.0], LINEAR)
    assert value(line, 5 * MS) == pytest.approx(0.5) and value(line, 15 * MS) == pytest.approx(0.5)
    assert value(line, -5 * MS, start=-FOR_EVER) == 0.0 and value(line, 25 * MS) == 0.0


def test_spline_is_the_clamped_one():
    """Against scipy's spline with the same end slopes; a cubic polynomial is met exactly, also at the ends."""
    rng = np.random.default_rng(0)
    x = np.cumsum(rng.uniform(0.1, 1.0, 9))
    cubic = np.polynomial.Polynomial([1.0, -2.0, 0.5, 0.25])
    pieces = cubic_pieces(x, cubic(x))
    reference = CubicSpline(x, cubic(x), bc_type=((1, cubic.deriv()(x[0])), (1, cubic.deriv()(x[-1]))))
    assert pieces == pytest.approx(reference.c.T[:, ::-1], abs=1e4 * EPS)
    law = signals.table(np.round(x * 1e9).astype(np.int64), cubic(np.round(x * 1e9) * 1e-9), CUBIC)
    for when in rng.uniform(x[0], x[-1], 20):
        assert value(law, round(when * 1e9)) == pytest.approx(cubic(round(when * 1e9) * 1e-9), abs=1e4 * EPS)
    assert value(law, round(x[-1] * 1e9) + MS) == pytest.approx(cubic(round(x[-1] * 1e9) * 1e-9), abs=1e4 * EPS)
    assert cubic_pieces(np.array([0.0, 2.0]), np.array([1.0, 5.0])) == pytest.approx(np.array([[1.0, 2.0, 0.0, 0.0]]))


def test_slopes_at_the_ends_of_a_spline_are_those_of_the_cubic_through_four_knots():
    """As docs/forces.md has it: four knots give one cubic, as not-a-knot does; more are clamped, fewer a parabola."""
    rng = np.random.default_rng(1)
    for count in (2, 3, 4, 5, 9):
        x, y = np.cumsum(rng.uniform(0.5, 1.0, count)), rng.normal(size=count)
        ends = [
            np.polynomial.Polynomial.fit(x[part], y[part], min(count, 4) - 1) for part in (slice(4), slice(-4, None))
        ]
        slopes = [end.deriv()(at) for end, at in zip(ends, x[[0, -1]], strict=True)]
        reference = CubicSpline(x, y, bc_type=((1, slopes[0]), (1, slopes[1])))
        assert cubic_pieces(x, y) == pytest.approx(reference.c.T[:, ::-1], abs=1e4 * EPS)
        same = np.allclose(cubic_pieces(x, y), CubicSpline(x, y).c.T[:, ::-1], atol=1e-9)
        assert same == (count <= 4)


@pytest.mark.parametrize(("method", "order", "steps"), [(RK4, 4, (20, 40, 80)), (DOP853, 8, (2, 4, 8))])
def test_order_holds_under_a_sine(method, order, steps):
    """m x'' = sin(w t): x = t/(m w) - sin(w t)/(m w²)."""
    w, T, m = 9.0, 1.0, 2.0
    exact = T / (m * w) - np.sin(w * T) / (m * w * w)
    law = input_of(signals.sines(0.0, [(1.0, w, 0.0)]))
    errors = [abs(travelled(law, n, 1_000 * MS // n, method)[0] - exact) for n in steps]
    assert np.log2(errors[-2] / errors[-1]) == pytest.approx(order, abs=0.3)


def test_order_holds_over_kinks_and_jumps_on_ticks():
    """Piecewise linear force: RK4 is exact for it, to round-off, when the kinks lie on ticks. x'' = F/m by hand."""
    law = signals.table([0, 500 * MS, 1_000 * MS], [0.0, 1.0, 0.0], LINEAR)
    y = travelled(input_of(law), 100, 10 * MS)
    # v = ∫F/m = 0.5/2; x = ∫v: symmetric triangle of impulse 0.25 m/s centred at 0.5 s
    assert y == pytest.approx([0.25 * 0.5, 0.25], abs=100 * EPS)
    jump = signals.polynomial([2.0])
    y = travelled(input_of(jump, start=250 * MS, end=750 * MS), 100, 10 * MS)
    assert y == pytest.approx([0.5 * 0.5**2 + 0.5 * 0.25, 0.5], abs=100 * EPS)


@pytest.mark.parametrize("method", [RK4, DOP853])
def test_a_python_function_sampled_at_the_stages_acts_like_the_law_itself(method):
    h, steps, nodes = 10 * MS, 30, stage_nodes(method)
    times = (np.arange(steps)[:, None] + np.array(nodes)) * h * 1e-9
    sampled = travelled(input_of(signals.stage_samples(h, nodes, np.sin(5.0 * times))), steps, h, method)
    direct = travelled(input_of(signals.sines(0.0, [(1.0, 5.0, 0.0)])), steps, h, method)
    assert sampled == pytest.approx(direct, abs=100 * EPS)


def test_a_signal_scales_a_load():
    """A force of sin(3 t) N along world x on the slider turned into x."""
    turned = body_row(2.0, (0, 0, 0), (1, 1, 1), axis=(1, 0, 0))
    model = model_of([(-1, JointKind.PRISMATIC)], [turned])
    load = np.zeros((1, t.LOAD_COLUMNS))
    load[0, [t.LOAD_FRAME, t.LOAD_FORCE, t.LOAD_SIGNAL]] = t.WORLD_AXES, 1.0, 1
    rows, data = signal_arrays([(signals.sines(0.0, [(1.0, 3.0, 0.0)]), -1, 0, FOR_EVER, 0)])
    y, other = np.zeros(2), np.zeros(2)
    advance(model, y, no_input(model)._replace(load=load, signal=rows, data=data), 0, MS, 100, RK4, workspace(model))
    law = input_of(signals.sines(0.0, [(1.0, 3.0, 0.0)]))
    advance(model, other, law, 0, MS, 100, RK4, workspace(model))
    assert y == pytest.approx(other, abs=100 * EPS)


def test_breaks_are_the_knots_and_ends():
    law = signals.table([0, 5, 10], [1.0, 2.0, 3.0], HOLD)
    assert breaks_ns(input_of(law, start=2, end=108, origin=100)) == [2, 100, 105, 108]
