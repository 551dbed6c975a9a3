"""Ensembles: the same bits as one by one, whatever the number of threads; one bad case does not stop the others."""

import numpy as np
from trees import chain, no_input, random_state, random_tree

from rbt_ros.core import types as t
from rbt_ros.core.batch import advance_many, case_rng
from rbt_ros.core.integrate import RK4, advance
from rbt_ros.core.work import workspace

MS = 1_000_000


def test_a_case_has_the_same_bits_alone_and_in_any_company():
    model = random_tree(np.random.default_rng(1), 6, gravity=(0, 0, -9.81))
    start = np.array([np.concatenate(random_state(case_rng(7, k), model)) for k in range(9)])
    alone = start.copy()
    for y in alone:
        advance(model, y, no_input(model), 0, MS, 50, RK4, workspace(model))
    for threads in (1, 2, 5, 20):
        together = start.copy()
        statuses = advance_many(model, together, no_input(model), 0, MS, 50, RK4, threads)
        assert statuses == [(t.OK, 50, -1)] * 9
        assert together.tobytes() == alone.tobytes()


def test_one_bad_case_keeps_its_state_and_the_others_go_on():
    model = chain(2)
    states = np.zeros((4, 4))
    states[2, 2] = 1e160
    statuses = advance_many(model, states, no_input(model), 0, MS, 10, RK4, 3)
    assert [s.code for s in statuses] == [t.OK, t.OK, t.NON_FINITE, t.OK]
    assert states[2].tolist() == [0, 0, 1e160, 0]


def test_parameters_may_differ_per_case():
    light, heavy = chain(2), chain(2, gravity=(0, 0, -1.62))
    states, work = np.array([[0.3, 0.1, 0, 0]] * 2), workspace(light)
    advance_many([light, heavy], states, [no_input(light)] * 2, 0, MS, 20, RK4)
    for model, row in zip((light, heavy), states, strict=True):
        y = np.array([0.3, 0.1, 0, 0])
        advance(model, y, no_input(model), 0, MS, 20, RK4, work)
        assert y.tobytes() == row.tobytes()


def test_random_numbers_of_a_case_do_not_depend_on_the_others():
    assert case_rng(3, 5).random() == case_rng(3, 5).random() != case_rng(3, 6).random()
