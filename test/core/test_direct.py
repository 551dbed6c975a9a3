"""Calls without numba's look at the types: the same results, whatever is given."""

from functools import partial

import numpy as np
import pytest

from rbt_ros.core import jit


@jit.routine
def shifted(y, table, factor, start, steps):
    """y += factor table[0], for the steps from `start` on; the last of them."""
    for _ in range(steps):
        for i in range(y.shape[0]):
            y[i] += factor * table[0, i]
    return start + steps


def frozen(array):
    array.flags.writeable = False
    return array


TABLES = [np.ones((1, 3)), frozen(np.ones((1, 3))), np.ones((3, 4)).T[:1, :], np.ones((1, 3), np.int64)]


@pytest.mark.parametrize("table", TABLES)
def test_a_direct_call_does_what_the_routine_does(table):
    """Arrays of integers, that may not be written, or are not contiguous, are other types: each has its own entry."""
    y, z = np.zeros(3), np.zeros(3)
    call = partial(shifted, y, table, 0.5)
    quick = jit.direct(partial(shifted, z, table, 0.5))
    for start in (0, 2**40):
        assert quick(start, 3) == call(start, 3) == start + 3
    assert (y == z).all() and (y == 3.0).all()


def test_what_is_no_routine_or_has_other_arguments_is_returned():
    def plain(a, b):
        return a + b

    for call in (plain, partial(plain, 1), partial(shifted, (np.zeros(3), np.zeros(3)))):
        assert jit.direct(call) is call
