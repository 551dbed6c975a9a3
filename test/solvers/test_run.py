"""What all solvers do alike: spans, outputs, events, progress, errors that say when."""

import math

import numpy as np
import pytest

from rbt_ros.errors import SolveError
from rbt_ros.solvers import METHODS, Event, solve

EPS = np.finfo(float).eps


def oscillator(t, y):
    """x = cos 2t."""
    return np.array([y[1], -4.0 * y[0]])


def fixed(method):
    """What a method needs that has no error control."""
    return {"step": 0.01} if METHODS[method].controlled is None else {}


@pytest.mark.parametrize("method", METHODS)
def test_backward_in_time(method):
    """There and back: to the tolerance, times a few steps."""
    options = dict(rtol=1e-6, atol=1e-8, **fixed(method))
    there = solve(oscillator, (0.0, 2.0), [1.0, 0.0], method, **options)
    back = solve(oscillator, (2.0, 0.0), there.y[-1], method, output_times=[1.5, 0.25, 0.0], **options)
    assert back.t.tolist() == [1.5, 0.25, 0.0]
    assert back.y[:, 0] == pytest.approx(np.cos(2 * back.t), abs=1e-3)
    assert there.status == "reached the end of the span, t = 2." and there.method == method


@pytest.mark.parametrize("method", METHODS)
def test_output_times_do_not_change_the_steps(method):
    """What is asked for lies on the dense output of the same run; times that repeat, and both ends, are given.
    (At the start of a step Adams' interpolant meets y to the error of its corrector only.)"""
    options = dict(rtol=1e-5, atol=1e-7, **fixed(method))
    whole = solve(oscillator, (0, 3), [1.0, 0.0], method, dense=True, **options)
    times = [0.0, 0.001, 1.0, 1.0, 2.999, 3.0]
    found = solve(oscillator, (0, 3), [1.0, 0.0], method, output_times=times, **options)
    assert found.t.tolist() == times and found.steps == whole.steps and found.rejected == whole.rejected
    assert found.y == pytest.approx(whole(times), abs=1e-12 if method == "ode113" else 100 * EPS)
    assert (found.y[-1] == whole.y[-1]).all() and found.y[0].tolist() == [1.0, 0.0]


def test_refined_output():
    """MATLAB's Refine: so many equal parts of each step."""
    plain = solve(oscillator, (0, 3), [1.0, 0.0])
    fine = solve(oscillator, (0, 3), [1.0, 0.0], refine=4)
    assert len(fine.t) == 4 * plain.steps + 1 and (fine.y[::4] == plain.y).all()
    assert np.diff(fine.t[:5]) == pytest.approx(np.full(4, plain.t[1] / 4))


@pytest.mark.parametrize("method", METHODS)
def test_events_are_located(method):
    """Zeros of cos 2t, falling ones only; at rest after half a period the run ends."""
    falls = Event(lambda t, y: y[0], direction=-1)
    rest = Event(lambda t, y: y[1] - 1e-3 * t, terminal=True, direction=1)
    options = dict(rtol=1e-8, atol=1e-10) if METHODS[method].order != "2" else dict(rtol=1e-6, atol=1e-8)
    found = solve(oscillator, (0, 10), [1.0, 0.0], method, events=[falls, rest], dense=True, **options, **fixed(method))
    assert [hit.event for hit in found.hits] == [0, 1]
    end = math.pi / 2 * (1 + 1e-3 / 4)  # 4 (t - π/2) = 1e-3 t, to first order
    assert [hit.t for hit in found.hits] == pytest.approx([math.pi / 4, end], abs=1e-3 if "23" in method else 1e-5)
    assert found.t[-1] == found.hits[-1].t == found.dense.t_max
    assert found.hits[0].y[0] == pytest.approx(0.0, abs=1e-12)
    assert found.status == f"event 1 ended the run at t = {found.t[-1]:.9g}."


def test_output_times_end_with_a_terminal_event():
    hit = Event(lambda t, y: y[0], terminal=True)
    found = solve(lambda t, y: [-1.0], (0, 5), [1.0], events=hit, output_times=[0.5, 3.0, 4.0])
    assert found.t == pytest.approx([0.5, 1.0]) and found.y[:, 0] == pytest.approx([0.5, 0.0], abs=10 * EPS)


def test_progress_is_told_now_and_then():
    """Rising fractions, the last one 1, not one per step."""
    told = []
    found = solve(oscillator, (5, 0), [1.0, 0.0], "rk4", step=1e-3, progress=told.append)
    assert told[-1] == 1.0 and np.all(np.diff(told) > 0) and len(told) <= 200 < found.steps


def test_longest_and_first_steps():
    """Default, as MATLAB: at most a tenth of the span. `first_step` is tried first."""
    found = solve(lambda t, y: [0.0], (0, 20), [1.0])
    assert max(np.diff(found.t)) == pytest.approx(2.0)
    for method in ("ode45", "ode113", "ode15s", "ode23s", "ode23t", "ode23tb", "ode15i"):
        found = solve(oscillator, (0, 1), [1.0, 0.0], method, first_step=1e-4, max_step=0.05)
        assert found.t[1] == pytest.approx(1e-4) and max(np.diff(found.t)) <= 0.05 * (1 + 1e-9)


def test_tolerances_by_element():
    """The second element may be wrong, the first not: fewer steps than with the tight tolerance for both."""

    def f(t, y):
        return [-y[0], 30.0 * np.cos(30.0 * t)]

    steps = [solve(f, (0, 10), [1.0, 0.0], rtol=1e-9, atol=atol).steps for atol in (1e-9, [1e-9, 1.0])]
    assert steps[1] < 0.7 * steps[0]


@pytest.mark.parametrize("method", [name for name in METHODS if METHODS[name].stiff])
def test_given_jacobians(method):
    """A matrix and a function of (t, y) do the same, and save the differences."""
    J = np.array([[0.0, 1.0], [-4.0, 0.0]])
    plain = solve(oscillator, (0, 3), [1.0, 0.0], method)
    matrix, function = (solve(oscillator, (0, 3), [1.0, 0.0], method, jac=jac) for jac in (J, lambda t, y: J))
    assert matrix.y[-1] == pytest.approx(function.y[-1], abs=1e-3)  # radau believes a matrix more than a function
    assert function.evaluations < plain.evaluations or method == "lsoda"  # which does not find this stiff


@pytest.mark.parametrize("method", METHODS)
def test_values_that_are_not_numbers_are_met_with_the_time(method):
    """f is NaN after t = 1: named within a step of it."""

    def f(t, y):
        return [1.0, -y[0] if t <= 1.0 else math.nan]

    with pytest.raises(SolveError, match=r"f at t = (1(\.[01]\d*)?|0\.99999\d*) is not finite: element 1 is nan"):
        solve(f, (0, 2), [0.0, 1.0], method, **fixed(method))
    with pytest.raises(SolveError, match="f at t = 3 is not finite: element 0 is inf"):
        solve(lambda t, y: [math.inf], (3, 4), [0.0], method, **fixed(method))


@pytest.mark.parametrize("method", METHODS)
def test_wrong_length_is_met_with_the_time(method):
    def f(t, y):
        return [1.0, 2.0] if t < 0.5 else [1.0, 2.0, 3.0]

    with pytest.raises(SolveError, match=r"f at t = 0\.[56]\d* returned shape \(3,\), not \(2,\): one value per"):
        solve(f, (0, 1), [0.0, 1.0], method, **fixed(method))


@pytest.mark.parametrize("method", ["ode45", "ode113", "ode15s", "ode23s", "ode23t", "ode23tb", "ode15i"])
def test_a_solution_that_grows_without_bound_stops_there(method):
    """y' = y²: a pole at t = 1."""
    with pytest.raises(SolveError, match=rf"{method} stops at t = (1|1\.00\d*|0\.9[89]\d*): .* grow without bound\?$"):
        solve(lambda t, y: y * y, (0, 2), [1.0], method, rtol=1e-5)


REFUSED = [
    (dict(method="ode99"), r"solver 'ode99' is not one of ode45, ode23, ode113, ode15s, ode23s, ode23t, ode23tb,"),
    (dict(t_span=(1, 1)), r"t_span \(1, 1\) must be two different finite times"),
    (dict(t_span=(0, math.nan)), "must be two different finite times"),
    (dict(y0=[1.0, math.nan]), "y0 .* must be a row of finite numbers"),
    (dict(y0=np.zeros((2, 2))), "must be a row of finite numbers"),
    (dict(rtol=0.0), "rtol 0.0 must lie between 1e-14 and 1"),
    (dict(atol=[1e-6] * 3), "atol .* must be a number > 0, or 2 of them"),
    (dict(atol=0.0), "atol 0.0 must be a number > 0"),
    (dict(step=-0.1), "step -0.1 must be > 0; the direction is that of t_span"),
    (dict(max_step=0.0), "max_step 0.0 must be > 0"),
    (dict(first_step=math.inf), "first_step inf must be > 0"),
    (dict(method="rk4"), "rk4 has no error control: give a fixed step="),
    (dict(method="ode113", step=0.1), "ode113 has no fixed steps, .*: use max_step=, or ode45, ode23, ode23s, "),
    (dict(output_times=[0.0, 2.0]), "output_times must go from t = 0 towards 1 and stay between"),
    (dict(output_times=[0.5, 0.2]), "output_times must go from t = 0 towards 1"),
    (dict(output_times=[]), "output_times must go from t = 0 towards 1"),
    (dict(refine=0), "refine 0 must be a whole number of 1 or more"),
]


@pytest.mark.parametrize(("change", "text"), REFUSED, ids=[text[:30] for _, text in REFUSED])
def test_bad_input_is_refused(change, text):
    arguments = dict(f=oscillator, t_span=(0, 1), y0=[1.0, 0.0]) | change
    with pytest.raises(SolveError, match=text):
        solve(**arguments)


def test_dense_output_is_asked_for_and_has_ends():
    found = solve(oscillator, (0, 1), [1.0, 0.0])
    with pytest.raises(SolveError, match="no dense output: solve with dense=True"):
        found(0.5)
    found = solve(oscillator, (0, 1), [1.0, 0.0], dense=True)
    assert found(0.5).shape == (2,) and found([0.1, 0.2, 0.3]).shape == (3, 2)
    with pytest.raises(SolveError, match="outside of the span 0 to 1"):
        found(1.5)
