"""Ensembles: the same bits as one by one, whatever the number of threads; one bad case does not stop the others."""

import signal
import threading

import pytest

import rbt_ros as rbt
from rbt_ros.errors import ScenarioError, SolveError

FOR_EVER = 10**12  # [ticks]
INTEGRATORS = ("rk4", "dop853", "dop853_adaptive", "splitting", "semi_implicit")


def spinning(case):
    """The CubeSat with a spin, step and integrator of its own; a push where the integrator takes one."""
    integrator = INTEGRATORS[case % len(INTEGRATORS)]
    sim = rbt.Simulation(rbt.load("cubesat").robot, step=1e-3 * (1 + case % 2), integrator=integrator)
    sim.set_body("cubesat", omega_body=rbt.case_rng(7, case).normal(scale=5.0, size=3))
    if integrator != "splitting":
        sim.add_input(rbt.Wrench("cubesat", force=(0.1, 0, 0.02 * case)), start=0.01, stop=0.05)
    return sim


def hanging(case):
    """The five bodies of the scenario, at another angle of the wrist, 100 ticks on."""
    sim = rbt.load("five_body").simulation()
    sim.set_hinge("wrist", 0.1 * case)
    sim.advance(100)
    return sim


def diverging():
    """Fails in its first step: the gyroscopic moment at 1e200 rad/s is no number."""
    sim = rbt.Simulation(rbt.load("cubesat").robot)
    sim.set_body("cubesat", omega_body=(1e200, 1e200, 1e200))
    return sim


def cases():
    return [spinning(case) if case % 3 else hanging(case) for case in range(12)]


def test_a_case_has_the_same_bits_alone_and_in_any_company():
    alone = cases()
    for sim in alone:
        sim.advance(300)
    for threads in (1, 2, 5, 20, None):
        together = cases()
        assert rbt.advance_many(together, 300, threads) == [None] * len(together)
        assert [sim.digest() for sim in together] == [sim.digest() for sim in alone]
        assert [sim.tick for sim in together] == [sim.tick for sim in alone]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_one_bad_case_keeps_its_state_and_the_others_go_on(threads):
    ensemble = [spinning(0), spinning(1), diverging(), spinning(3)]
    start = ensemble[2].digest()
    outcomes = rbt.advance_many(ensemble, 10, threads)
    assert [type(outcome) for outcome in outcomes] == [type(None), type(None), SolveError, type(None)]
    assert str(outcomes[2]).startswith("case 2: tick 1, t = 0.001 s: non-finite state at hinge 'cubesat'; the last")
    assert ensemble[2].digest() == start and [sim.tick for sim in ensemble] == [10, 10, 0, 10]


def test_random_numbers_of_a_case_do_not_depend_on_the_others():
    assert rbt.case_rng(3, 5).random() == rbt.case_rng(3, 5).random() != rbt.case_rng(3, 6).random()
    assert rbt.case_rng(3, 5).random() != rbt.case_rng(4, 5).random()


def test_progress_is_told_here_and_ends_with_one():
    told = []
    rbt.advance_many(cases(), 300, progress=lambda done: told.append((done, threading.current_thread())))
    assert told[-1][0] == 1.0 and all(0 <= done <= 1 for done, _ in told)
    assert {thread for _, thread in told} == {threading.main_thread()}


@pytest.fixture
def ctrl_c_counts():
    """As in a terminal: what a shell starts in the background ignores SIGINT, and its children do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(_):
    """What Ctrl-C does."""
    signal.raise_signal(signal.SIGINT)


@pytest.mark.usefixtures("ctrl_c_counts")
@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_ends_it_at_whole_ticks(threads):
    before = threading.active_count()
    ensemble = [spinning(case) for case in (0, 1, 4, 5)]
    with pytest.raises(KeyboardInterrupt):
        rbt.advance_many(ensemble, FOR_EVER, threads, progress=interrupt)
    assert threading.active_count() == before
    for case, sim in zip((0, 1, 4, 5), ensemble, strict=True):
        alone = spinning(case)
        alone.advance(sim.tick)
        assert sim.digest() == alone.digest()
    assert rbt.advance_many(ensemble, 3, threads) == [None] * 4


@pytest.mark.usefixtures("ctrl_c_counts")
def test_ctrl_c_ends_it_without_a_progress_too():
    ctrl_c = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.start()
        rbt.advance_many([spinning(0), spinning(5)], FOR_EVER)
    ctrl_c.join()


def test_none_and_no_steps():
    sim = spinning(0)
    start = sim.digest()
    assert rbt.advance_many([], 10) == [] and rbt.advance_many([sim], 0) == [None] and sim.digest() == start


def test_ensembles_that_cannot_be():
    sim = spinning(0)
    with pytest.raises(ScenarioError, match="cases 0 and 2 are one simulation; make one for each case"):
        rbt.advance_many([sim, spinning(1), sim], 10)
    with pytest.raises(ScenarioError, match="threads 0 must be one or more; leave it out for one per usable core"):
        rbt.advance_many([sim], 10, threads=0)
    assert sim.tick == 0
