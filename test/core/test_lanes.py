"""Rows of scratch memory, one and eight at a time: the bits of each row alone."""

import numpy as np
import pytest

from rbt_ros.core.jit import routine
from rbt_ros.core.lanes import LANES, Rows, eight
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
