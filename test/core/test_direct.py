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


@pytest.mark.parametrize("table", [np.ones((1, 3)), frozen(np.ones((1, 3))), np.ones((3, 4)).T[:1, :]])
def test_a_direct_call_does_what_the_routine_does(table):
    """Arrays that may not be written, or that are not contiguous, are other types: each has an entry of its own."""
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


def test_an_array_of_another_type_is_refused_not_misread():
    jit.direct(partial(shifted, np.zeros(3), np.ones((1, 3)), 0.5))(0, 1)
    wrong = jit.direct(partial(shifted, np.zeros(3, np.float32), np.ones((1, 3)), 0.5))
    if not jit.numba.config.DISABLE_JIT:
        with pytest.raises(TypeError):
            wrong(0, 1)
