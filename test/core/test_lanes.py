"""Lanes, and rows of scratch memory, one and eight at a time: the bits of each number alone."""

import numpy as np
import pytest

from rbt_ros.core.jit import routine
from rbt_ros.core.lanes import LANES, all_zero, common, finite_or_zero, lanes, larger, root
from rbt_ros.core.rows import Rows, eight
from rbt_ros.core.vec import cross, put3, row3, scale, sincos
from rbt_ros.core.work import BODY_WORK, FREEDOM_WORK, Work

ROWS = 3 * LANES


@pytest.fixture
def work():
    def memory(columns):
        return np.random.default_rng(0).uniform(-9, 9, (1 + ROWS // LANES, columns, LANES))

    return Work(memory(BODY_WORK), memory(FREEDOM_WORK), np.zeros((1, 1)))


@routine
def by_eight(work, count):
    """From x, y in columns 0 to 5: x × y / -(1 + x·y) in 6 to 8; sine and cosine of x[0] in 9, 10; a constant in 11."""
    rows = eight(work.bodies)
    for i in range(0, count, LANES):
        x, y = row3(rows, i, 0), row3(rows, i, 3)
        put3(rows, i, 6, scale(1.0 / -(1.0 + (x[0] * y[0] + x[1] * y[1] + x[2] * y[2])), cross(x, y)))
        rows[i, 9], rows[i, 10] = sincos(x[0])
        rows[i, 11] = 3.0


def test_every_lane_has_the_bits_of_its_row_alone(work):
    before = work.bodies.table
    by_eight(work, ROWS)
    for row, old in zip(work.bodies.table.tolist(), before.tolist(), strict=True):
        x, y = row[:3], row[3:6]
        expected = scale(1.0 / -(1.0 + (x[0] * y[0] + x[1] * y[1] + x[2] * y[2])), cross(x, y))
        assert row[:6] == old[:6] and row[12:] == old[12:]
        assert tuple(row[6:12]) == (*expected, *sincos(x[0]), 3.0)


@routine
def by_one(work, i, k, column):
    """Copy column k of row i of the freedoms, and of the row before, to that of the bodies; read both."""
    work.bodies[i, column] = work.freedoms[i, k]
    work.bodies[i - 1, column] = work.freedoms[i - 1, k]
    return work.bodies[i, column], work.freedoms[i - 1, k]


def test_one_row_at_a_time_is_where_python_finds_it(work):
    """Row -1, the world's, too; and nothing else is written."""
    bodies, expected = Rows(work.body_memory), work.body_memory.copy()
    for i in (0, 1, LANES - 1, LANES, ROWS - 1):
        here, there = by_one(work, i, 5, 70)
        assert here == work.freedoms[i, 5] == bodies[i, 70] == bodies.table[i, 70]
        assert there == work.freedoms[i - 1, 5] == bodies[i - 1, 70]
        again = Rows(expected)
        again[i, 70], again[i - 1, 70] = here, there
        assert np.array_equal(work.body_memory, expected)


ODD = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 5e-324]


@routine
def verbs(x, y, out):
    """What each verb makes of two numbers, into rows 0 to 4; a truth; both a number and lanes as arguments."""
    out[0], out[1], out[2], out[3] = root(x[0]), larger(x[0], y[0]), finite_or_zero(x[0]), larger(x[0], 1.0)
    out[4] = common(y[0])
    return all_zero(0.0 * out[2])


@routine
def verbs_of_lanes(x, y, out):
    """The same of eight."""
    return verbs(lanes(x), lanes(y), lanes(out))


@pytest.mark.filterwarnings("ignore:invalid value")
def test_verbs_do_for_each_lane_what_they_do_for_a_number():
    """Compiled for numbers, compiled for lanes, and as plain Python for both."""
    x, y = np.array([ODD]), np.array([ODD[3:] + ODD[:3]])
    together, plain = np.zeros((5, LANES)), np.zeros((5, LANES))
    assert verbs_of_lanes(x, y, together)
    as_python = getattr(verbs, "py_func", verbs)
    assert as_python(lanes(x), lanes(y), lanes(plain))
    assert together.tobytes() == plain.tobytes()
    for lane in range(LANES):
        one, other, out = x[:, lane].copy(), y[:, lane].copy(), np.zeros(5)
        for form in (verbs, as_python):
            assert form(one, other, out)
            assert np.array_equal(out[:4], together[:4, lane], equal_nan=True)
            assert np.array_equal(np.signbit(out[:3]), np.signbit(together[:3, lane])) or np.isnan(out[0])
    assert (together[4] == y[0, 0]).all(), "the first lane stands for all"


@routine
def one_is_not_zero(x):
    """Whether all are zero."""
    return all_zero(lanes(x)[0])


def test_one_lane_that_is_not_zero_is_enough():
    for lane in range(LANES):
        for bad in (1e-300, np.nan, np.inf):
            x = np.zeros((1, LANES))
            assert one_is_not_zero(x)
            x[0, lane] = bad
            assert not one_is_not_zero(x) and not getattr(one_is_not_zero, "py_func", one_is_not_zero)(x)
