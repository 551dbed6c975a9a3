"""Recorded runs are the engine's runs, bit for bit; derivatives are its derivatives."""

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.core.dynamics import derivative
from rbt_ros.core.integrate import BEYOND, DOP853, RK4, advance
from rbt_ros.core.record import fill_derivatives, recorder
from rbt_ros.core.types import (
    LOAD_COLUMNS,
    LOAD_FORCE,
    LOAD_FRAME,
    LOAD_MOMENT,
    NO_DATA,
    NO_SIGNAL,
    NON_FINITE,
    OK,
    WORLD_AXES,
    Input,
)
from rbt_ros.core.work import workspace

H_NS = 1_000_000
MODEL = rbt.RigidBody(2.0, ((0.9, 0.05, 0.0), (0.05, 0.7, 0.02), (0.0, 0.02, 0.5))).robot.model
START = np.array([0.8, 0.0, 0.6, 0.0, 1.0, 2.0, 3.0, 0.4, -1.5, 2.0, 4.0, 5.0, 6.0])
FREE = Input(np.zeros(6), np.zeros((0, LOAD_COLUMNS)))
LOADS = np.zeros((2, LOAD_COLUMNS))
LOADS[:, :11] = [[0, 0, 0.1, 0.2, 0.3, 0, 0, 0, 1, 2, 3], [0, WORLD_AXES, 0, 0, 0, 0.3, 0.2, 0.1, 0, 0, 0]]


@pytest.mark.parametrize("method", [RK4, DOP853])
@pytest.mark.parametrize("every", [1, 3])
def test_a_recorded_run_is_the_run(method, every):
    y, work, states = START.copy(), workspace(MODEL), np.empty((20, 13))
    record = recorder(MODEL, y, FREE._replace(load=LOADS), H_NS, method, work)
    assert record(7 * H_NS, every, states) == (OK, 20 * every, -1)
    again, work = START.copy(), workspace(MODEL)
    for row in states:
        assert advance(MODEL, again, FREE._replace(load=LOADS), 0, H_NS, every, method, work).code == OK
        assert np.array_equal(row, again)
    assert np.array_equal(y, states[-1])


def test_a_failure_leaves_the_rows_before_it():
    """A velocity just below what is none any more, and a force that takes it beyond in the second step."""
    y, states = START.copy(), np.full((5, 13), 7.0)
    load = np.zeros((1, LOAD_COLUMNS))
    load[0, [LOAD_FRAME, LOAD_FORCE]] = WORLD_AXES, 1e308 / BEYOND
    y[10] = 1.79e308 / BEYOND
    record = recorder(MODEL, y, FREE._replace(load=load), 10_000_000, RK4, workspace(MODEL))
    code, tick, body = record(0, 1, states)
    assert (code, tick, body) == (NON_FINITE, 1, 0)
    assert np.all(states[1:] == 7.0) and np.array_equal(y, states[0]) and np.isfinite(y).all()


def test_derivatives_at_many_states():
    """Each row is `derivative` under the loads with that row's vectors."""
    rng = np.random.default_rng(5)
    states, vectors, rates, work = (
        rng.normal(size=(4, 13)),
        rng.normal(size=(4, 6)),
        np.empty((4, 13)),
        workspace(MODEL),
    )
    columns = np.array([LOAD_FORCE, LOAD_MOMENT])
    fill_derivatives(
        *MODEL, np.zeros(6), LOADS.copy(), NO_SIGNAL, NO_DATA, *work, columns, vectors, states, rates
    )  # fmt: skip
    for y, vector, rate in zip(states, vectors, rates, strict=True):
        load, expected = LOADS.copy(), np.empty(13)
        load[0, LOAD_FORCE : LOAD_FORCE + 3], load[1, LOAD_MOMENT : LOAD_MOMENT + 3] = vector[:3], vector[3:]
        derivative(MODEL, y, FREE._replace(load=load), 0, 0.0, work, expected)
        assert rate == pytest.approx(expected, rel=1e-15, abs=1e-15)
