"""Ensembles: the same bits as one by one, whatever the number of threads; one bad case does not stop the others."""

import signal
import threading

import pytest

import rbt_ros as rbt
from rbt_ros import ensemble
from rbt_ros.core.side_by_side import Eight
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
    ensemble = [spinning(0), spinning(5)]
    rbt.advance_many(ensemble, 1)  # kernels are loaded now: there Ctrl-C would be lost
    ctrl_c = threading.Timer(0.2, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        ctrl_c.start()
        rbt.advance_many(ensemble, FOR_EVER)
    ctrl_c.join()


def test_none_and_no_steps():
    sim = spinning(0)
    start = sim.digest()
    assert rbt.advance_many([], 10) == [] and rbt.advance_many([sim], 0) == [None] and sim.digest() == start


def test_ensembles_that_cannot_be():
    sim = spinning(0)
    with pytest.raises(ScenarioError, match="cases 0 and 2 are one simulation; make one for each case"):
        rbt.advance_many([sim, spinning(1), sim], 10)
    with pytest.raises(
        ScenarioError, match="threads 0 must be a whole number, one or more; leave it out for one per usable core"
    ):
        rbt.advance_many([sim], 10, threads=0)
    assert sim.tick == 0


def test_ensembles_of_what_is_no_simulation():
    sim = spinning(0)
    for make, message in (
        (lambda: rbt.advance_many(sim.robot, 10), "case 0: Robot.* is no Simulation; make one from a robot"),
        (lambda: rbt.advance_many([sim], 0.5), "ticks 0.5 must be a whole number of steps, 0 or more"),
        (lambda: rbt.advance_many([sim], -1), "ticks -1 must be a whole number of steps, 0 or more"),
        (lambda: rbt.advance_many([sim], 1, threads="2"), "threads '2' must be a whole number, one or more"),
        (lambda: rbt.advance_many([sim], 1, progress=5), "progress 5 is not a function"),
        (lambda: rbt.case_rng(0.5, 1), "case_rng: seed 0.5 must be a whole number, 0 or more"),
        (lambda: rbt.case_rng(1, -1), "case_rng: case -1 must be a whole number, 0 or more"),
    ):
        with pytest.raises(ScenarioError, match=message):
            make()
    assert sim.tick == 0


class Counted(Eight):
    """Eight that count what they do."""

    ticks = 0

    def advance(self, ticks):
        Counted.ticks += ticks
        return super().advance(ticks)


@pytest.fixture
def together(monkeypatch):
    """Whatever may go side by side does, and it is counted."""
    monkeypatch.setattr(ensemble, "WORTH_COMPILING", 0)
    monkeypatch.setattr(ensemble, "Eight", Counted)
    monkeypatch.setattr(Counted, "ticks", 0)
    return Counted


class Looker:
    """An observer that looks at every seventh tick."""

    def __init__(self):
        self.seen = []

    def next_tick(self, tick):
        return tick // 7 * 7 + 7

    def look(self, sim):
        self.seen.append(sim.tick)


def pendulum(case, **options):
    """Two rods, of other masses and lengths in each case, with friction; some are pushed, driven, locked, watched."""
    rng = rbt.case_rng(1, case)
    b = rbt.RobotBuilder("pendulum")
    b.body("upper", mass=rng.uniform(1, 2), inertia=(0.1, 0.1, 0.02), com=(0, 0, -0.5))
    b.body("lower", mass=1.0, inertia=rng.uniform(0.05, 0.06, 3), com=(0, 0, -0.5))
    b.hinge("shoulder", "spherical", parent="world", child="upper", damping=0.1 * case)
    b.hinge(
        "elbow", "revolute", parent="upper", child="lower", at=(0, 0, -1 - 0.1 * case), axis=(0, 1, 0), friction=0.2
    )
    sim = rbt.Simulation(b.build(), gravity=(0, 0, -9.81), step=2e-3, **options)
    sim.set_hinge("shoulder", euler=("ZXZ", 0.0, 1.0 + 0.1 * case, 0.0))
    sim.set_hinge("elbow", rng.uniform(-1, 1), rate=rng.uniform(-1, 1))
    if case % 3 == 1:
        sim.add_input(rbt.Wrench("lower", force=(1.0 + case, 0, 0)), start=0.1, stop=0.6 + 0.1 * (case % 2))
    if case % 5 == 2:
        sim.add_input(rbt.Effort("elbow", (1.0,)), signal=rbt.sines([(0.1 * case, 5.0, 0.0)]))
    if case == 8:
        sim.add_input(rbt.Lock("elbow"), start=0.5)
    if case == 9:
        sim.attach(Looker())
    return sim


@pytest.mark.parametrize("options", [{}, {"integrator": "dop853", "work_of_inputs": True}], ids=str)
@pytest.mark.parametrize("threads", [1, 3])
def test_side_by_side_each_has_its_bits_and_its_work(together, options, threads):
    """Inputs that begin and end in the middle, a lock in the middle, masses and lengths of their own."""
    alone = [pendulum(case, **options) for case in range(21)]
    ensemble = [pendulum(case, **options) for case in range(21)]
    for sim in alone:
        sim.advance(700)
    for ticks in (450, 250):
        assert rbt.advance_many(ensemble, ticks, threads) == [None] * 21
    assert [sim.digest() for sim in ensemble] == [sim.digest() for sim in alone]
    for one, other in zip(alone, ensemble, strict=True):
        assert repr(one.sample().conservation) == repr(other.sample().conservation)  # there are NaN in it
        assert one.sample().work == other.sample().work and one.locked == other.locked
    assert 1000 < together.ticks < 21 * 700 / 3, "most ticks were shared"


def test_side_by_side_a_bad_case_ends_where_it_ends_alone(together):
    """One leaves the numbers in the middle, one cannot change its mode: the others go on, errors are those alone."""

    def cases():
        found = [pendulum(case) for case in (0, 3, 4, 5, 6)]
        found[1].add_input(rbt.Effort("elbow", (1e300,)), start=0.3)
        found[3].add_input(rbt.Undock("nothing"), start=0.4)
        return found

    alone, errors = cases(), []
    for case, sim in enumerate(alone):
        try:
            sim.advance(500)
            errors.append(None)
        except SolveError as err:
            errors.append(f"case {case}: {err}")
    ensemble = cases()
    outcomes = [None if err is None else str(err) for err in rbt.advance_many(ensemble, 500, 2)]
    assert outcomes == errors and "non-finite" in errors[1] and "planned" in errors[3]
    assert [sim.digest() for sim in ensemble] == [sim.digest() for sim in alone]
    assert [sim.tick for sim in ensemble] == [sim.tick for sim in alone]
    assert together.ticks > 100


def test_a_thousand_changes_are_no_obstacle(together):
    """Pulses of three ticks, at other times in each case: every one of them is a change for the whole company."""

    def cases():
        found = [pendulum(case) for case in (0, 3)]
        for case, sim in enumerate(found):
            for k in range(300):
                start = 0.01 * k + 0.004 * case
                sim.add_input(rbt.Effort("elbow", (0.1,)), start=start, stop=start + 0.006)
        return found

    alone, ensemble = cases(), cases()
    for sim in alone:
        sim.advance(1500)
    assert rbt.advance_many(ensemble, 1500) == [None, None]
    assert [sim.digest() for sim in ensemble] == [sim.digest() for sim in alone]


def test_after_a_failure_the_rest_goes_on_together(together):
    ensemble = [pendulum(case) for case in (0, 3, 6)]
    ensemble[1].add_input(rbt.Effort("elbow", (1e300,)), start=0.1)
    outcomes = rbt.advance_many(ensemble, 3000)
    assert [type(outcome) for outcome in outcomes] == [type(None), SolveError, type(None)]
    assert together.ticks > 2500


def test_observers_look_when_they_want_to_and_at_no_other_tick():
    """However the run is cut, and whoever else looks on."""
    sims = [pendulum(0) for _ in range(3)]
    lookers = [Looker() for _ in sims]
    for sim, looker in zip(sims, lookers, strict=True):
        sim.attach(looker)
    sims[0].advance(600)
    for _ in range(60):
        sims[1].advance(10)
    rbt.advance_many(sims[2:], 600)
    assert [looker.seen for looker in lookers] == [list(range(7, 600, 7))] * 3


def test_short_ensembles_do_not_wait_for_the_compiler(monkeypatch):
    """Half a second of work does not take ten seconds to prepare; more of it, whether in one call or many, does."""
    monkeypatch.setattr(ensemble, "is_compiled", lambda routine: False)
    monkeypatch.setattr(ensemble, "_work_so_far", 0)
    assert not ensemble._pays(ensemble.WORTH_COMPILING // 2)
    assert ensemble._pays(ensemble.WORTH_COMPILING // 2)
    monkeypatch.setattr(ensemble, "_work_so_far", 0)
    monkeypatch.setattr(ensemble, "is_compiled", lambda routine: True)
    assert ensemble._pays(1)
