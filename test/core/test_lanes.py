"""Eight rows at a time: the bits of each row alone."""

import numpy as np

from rbt_ros.core.jit import routine
from rbt_ros.core.lanes import LANES, eight
from rbt_ros.core.vec import cross, put3, row3, scale, sincos


@routine
def by_eight(a):
    """From x, y in columns 0 to 5: x × y / -(1 + x·y) in 6 to 8; sine and cosine of x[0] in 9, 10; a constant in 11."""
    rows = eight(a)
    for i in range(0, a.shape[0] - LANES + 1, LANES):
        x, y = row3(rows, i, 0), row3(rows, i, 3)
        put3(rows, i, 6, scale(1.0 / -(1.0 + (x[0] * y[0] + x[1] * y[1] + x[2] * y[2])), cross(x, y)))
        rows[i, 9], rows[i, 10] = sincos(x[0])
        rows[i, 11] = 3.0


def test_every_lane_has_the_bits_of_its_row_alone():
    a = np.zeros((3 * LANES, 12), order="F")
    a[:, :6] = np.random.default_rng(0).uniform(-9, 9, (len(a), 6))
    by_eight(a)
    for row in a.tolist():
        x, y = row[:3], row[3:6]
        expected = scale(1.0 / -(1.0 + (x[0] * y[0] + x[1] * y[1] + x[2] * y[2])), cross(x, y))
        assert tuple(row[6:]) == (*expected, *sincos(x[0]), 3.0)
