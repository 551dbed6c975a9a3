"""The stepping thread alone: no ROS, and mostly no real time either, so that every count is exact."""

import functools
import threading
import time as real_time
from types import SimpleNamespace

import numpy as np
import pytest

import rbt_ros as rbt
from rbt_ros.errors import MessageError, ScenarioError
from rbt_ros.model.hinge_commands import HingeCommand
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.ros import loop as loop_module
from rbt_ros.ros import mailbox, measures, outputs, pacing, taking
from rbt_ros.ros.loop import Inactive, Loop
from rbt_ros.ros.outputs import Output
from rbt_ros.ros.sources import Lockstep

H = 1_000_000  # [ns] the CubeSat's step
START = 1_000_000_000  # [ns] clock_start
SECOND = 1_000_000_000
DEADLINE = 60  # [s]


def command(force=(0.0, 0.0, 1.0), moment=(0.0, 0.0, 0.0), hold_ns=10 * H) -> WrenchCommand:
    return WrenchCommand(Wrench("cubesat", force, moment, frame="world", at="com"), hold_ns)


class VirtualTime:
    """Stands for the module `time` in the loop: a sleep takes as long as it says and no real time."""

    def __init__(self):
        self.now = 7 * SECOND
        self.begin = self.now

    def monotonic_ns(self) -> int:
        return self.now

    def sleep(self, seconds: float) -> None:
        assert seconds > 0
        self.now += round(seconds * 1e9)

    @property
    def elapsed(self) -> int:
        return self.now - self.begin


class Run:
    """A Loop on the CubeSat that ends when `enough(run)` is true after a step; what it said on the way."""

    def __init__(self, enough, outputs=(), scenario="cubesat", on_tick=lambda run: None, **options):
        self.sim = rbt.load(str(scenario)).simulation()
        self.stamps: list[int] = []
        self.latched: list = []
        self.faults: list[str] = []
        self.seconds: list[tuple] = []
        self._enough, self._on_tick = enough, on_tick
        self._ended = threading.Event()
        self.at_end: SimpleNamespace | None = None
        self.loop = Loop(
            self.sim,
            clock_start_ns=START,
            every_tick=self._tick,
            outputs=outputs,
            on_latched=lambda latched, stamp: self.latched.append((latched, stamp)),
            on_fault=self.faults.append,
            second=lambda sample, stamp: self.seconds.append((sample, stamp)),
            **options,
        )

    def _tick(self, stamp: int) -> None:
        self.stamps.append(stamp)
        self._on_tick(self)
        if self.at_end is None and self._enough(self):
            self.at_end = SimpleNamespace(statistics=self.loop.statistics(), now=loop_module.time.monotonic_ns())
            self._ended.set()

    def __enter__(self):
        self.loop.start()
        return self

    def __exit__(self, *_):
        ended = self._ended.wait(DEADLINE)
        self.loop.stop()
        assert ended, "the loop did not come to the end of this test"


@pytest.fixture
def virtual(monkeypatch) -> VirtualTime:
    clock = VirtualTime()
    for module in (loop_module, mailbox, measures, outputs, pacing, taking):
        monkeypatch.setattr(module, "time", clock)
    return clock


def ticks(number: int):
    return lambda run: len(run.stamps) > number


def test_every_tick_is_computed_and_stamped(virtual):
    with Run(ticks(3000)) as run:
        pass
    end = run.at_end.statistics
    assert abs(end.ticks - (run.at_end.now - virtual.begin) / H) <= 1
    assert run.stamps == [START + k * H for k in range(len(run.stamps))]
    assert run.sim.tick == len(run.stamps) - 1
    assert (end.overruns, end.given_up_ns, end.late_us.max) == (0, 0, 0.0)
    assert end.elapsed_ns == end.ticks * H


def test_what_is_published_late_in_a_tick_is_no_missing_tick(virtual):
    """Ticks are counted against the begin of the last step: 0.9 ms of publishing after it belong to the next."""

    def slow(sample, stamp):
        virtual.now += 900_000

    with Run(ticks(500), [Output(H, slow)]) as run:
        pass
    end = run.at_end.statistics
    # published before the first step, too: its time lies before the start
    assert (end.ticks, end.elapsed_ns, end.overruns) == (500, 500 * H, 0)


@pytest.mark.parametrize("factor", [0.1, 3.0])
def test_the_factor_is_the_ratio_of_the_clocks(virtual, factor):
    with Run(ticks(4000), factor=factor) as run:
        pass
    assert run.at_end.statistics.ticks == pytest.approx((run.at_end.now - virtual.begin) / H * factor, abs=1 + 1e-3)
    assert run.at_end.statistics.real_time_factor == pytest.approx(factor, rel=1e-3)


def test_late_ticks_are_caught_up(virtual):
    """One output takes 50 ms once: 50 ticks are late, none is lost, and after that the grid of deadlines is the old."""

    def slow_once(sample, stamp):
        if sample.tick == 500:
            virtual.now += 50 * H

    with Run(ticks(1000), [Output(100 * H, slow_once)]) as run:
        pass
    end = run.at_end.statistics
    assert abs(end.ticks - (run.at_end.now - virtual.begin) / H) <= 1
    assert run.stamps == [START + k * H for k in range(len(run.stamps))]
    # tick 501 is due 1 ms after 500 and begins 49 ms late, the next 48 ms; 1 ms late is not yet an overrun
    assert (end.overruns, end.late_us.max, end.given_up_ns) == (48, 49_000.0, 0)


def test_a_lag_of_many_seconds_is_given_up_and_reported(virtual):
    def very_slow_once(sample, stamp):
        if sample.tick == 500:
            virtual.now += 60 * SECOND

    with Run(ticks(1000), [Output(100 * H, very_slow_once)]) as run:
        pass
    end = run.at_end.statistics
    assert end.given_up_ns == 60 * SECOND - H
    assert abs(end.ticks - (run.at_end.now - virtual.begin - end.given_up_ns) / H) <= 1
    assert run.stamps == [START + k * H for k in range(len(run.stamps))]


def test_in_real_time_no_tick_is_lost():
    """By the real clock: however late some ticks were, the last one is on the same grid as the best one, within h."""
    offsets: list[int] = []  # of each tick from a grid that begins at 0

    def on_the_grid(run):
        offsets.append(real_time.monotonic_ns() - len(offsets) * H)
        return len(offsets) > 400 and offsets[-1] - min(offsets) <= H

    with Run(on_the_grid) as run:
        pass
    assert run.stamps == [START + k * H for k in range(len(run.stamps))]


def test_unpaced_steps_wait_for_nothing(virtual):
    with Run(ticks(1000), mode="fast") as run:
        pass
    assert virtual.elapsed == 0
    assert run.at_end.statistics[:3] == (run.at_end.statistics.ticks, 0, 0)
    assert run.at_end.statistics.late_us.max == 0.0


def test_outputs_come_at_their_dividers_the_first_at_t_0(virtual):
    seen: dict[int, list] = {1: [], 7: [], 100: []}
    outputs = [Output(d * H, lambda s, stamp, d=d: seen[d].append((s.tick, s.t_ns, stamp))) for d in seen]
    with Run(ticks(700), outputs) as run:
        pass
    for divider, samples in seen.items():
        assert samples == [(k, k * H, START + k * H) for k in range(0, run.sim.tick + 1, divider)]


def test_the_report_of_a_second_meets_the_stamps_of_the_slowest_output(virtual):
    odom: list[int] = []
    with Run(
        ticks(3500), [Output(10 * H, lambda *_: None), Output(100 * H, lambda _, stamp: odom.append(stamp))]
    ) as run:
        pass
    stamps = [stamp for _, stamp in run.seconds]
    assert len(stamps) >= 3 and set(stamps) <= set(odom)  # the thread runs on until it is stopped
    assert all(sample.t_ns + START == stamp for sample, stamp in run.seconds)


def test_the_report_meets_outputs_whose_dividers_do_not_divide_each_other(virtual):
    seen: dict[int, set[int]] = {4: set(), 6: set()}
    outputs = [Output(d * H, lambda _, stamp, d=d: seen[d].add(stamp)) for d in seen]
    with Run(ticks(3500), outputs) as run:
        pass
    assert len(run.seconds) >= 3
    assert all(stamp in seen[4] and stamp in seen[6] for _, stamp in run.seconds)


def test_the_report_comes_every_other_second_where_outputs_are_rarer(virtual):
    with Run(ticks(7000), [Output(100_000 * H, lambda *_: None)]) as run:
        pass
    stamps = [stamp for _, stamp in run.seconds[:3]]
    assert stamps == [START + k * 2 * SECOND for k in (1, 2, 3)]


class Waits:
    """Stands for the wait of a mailbox to which nothing comes: no real time, but never for what is over."""

    def __init__(self, run, virtual):
        self._run, self._time = run, virtual

    def __call__(self, until: int) -> bool:
        if until <= self._time.now:
            self._run._ended.set()
            raise AssertionError("a wait for a time that is over: the thread would only turn")
        self._time.now = until
        return False


@pytest.mark.parametrize(
    "options",
    [{"mode": "lockstep", "lockstep": Lockstep(("wrench",), 1, 5 * SECOND)}, {"mode": "realtime", "factor": 1e-4}],
    ids=["lockstep", "realtime"],
)
def test_the_report_comes_every_other_second_of_a_long_wait_between_the_stamps_of_outputs(virtual, options):
    """Ticks of 5 s and 10 s; the outputs, every ten ticks, never come. Each wait is one."""
    run = Run(lambda run: run.sim.tick > 3, [Output(10 * H, lambda *_: None)], **options)
    run.loop._mailbox.wait = Waits(run, virtual)
    with run:
        pass
    told = [stamp for _, stamp in run.seconds]
    assert told.count(START) >= 4 and told.count(START + H) >= 2 and told.count(START + 3 * H) >= 2


def test_a_clock_that_skips_is_no_rate_and_no_ticks(virtual):
    """As of a checkpoint of a node that ran a thousand seconds longer."""

    def skip(run):
        if len(run.stamps) == 1500:
            run.loop.ask(lambda sim: run.loop.restarted(START + 1000 * SECOND))

    with Run(ticks(3000), on_tick=skip) as run:
        pass
    end = run.at_end.statistics
    assert run.stamps[-1] > START + 1000 * SECOND
    assert (end.ticks, end.overruns) == (2999, 0)  # of 3001 stamps two were shown, and not computed
    assert end.real_time_factor == pytest.approx(1.0, rel=1e-3)


def test_a_request_that_was_not_begun_in_time_is_never_done(monkeypatch):
    monkeypatch.setattr(mailbox, "ANSWER_S", 0.01)
    box, done = mailbox.Mailbox(), []
    with pytest.raises(mailbox.NoAnswer):
        box.call(lambda sim: done.append("too late"))
    (request,) = box.requests
    request(None)
    assert not done


def test_what_a_request_takes_is_no_lag(virtual, monkeypatch):
    """A reset that comes while the thread sleeps, and takes a second: nothing is caught up."""
    sleep = virtual.sleep

    def interrupted(seconds):
        sleep(seconds)
        if len(run.stamps) == 11:
            run.loop.ask(slow)

    def slow(sim):
        virtual.now += SECOND
        sim.reset()
        run.loop.restarted()

    monkeypatch.setattr(virtual, "sleep", interrupted)
    run = Run(ticks(100))
    with run:
        pass
    end = run.at_end.statistics
    assert end.overruns == 0 and end.late_us.max == 0.0
    assert virtual.elapsed >= SECOND + 98 * H


def test_a_command_acts_from_the_very_next_step(virtual):
    """Posted while tick 10 is published: latched at 10, and the velocity of tick 11 has it."""
    speeds: dict[int, float] = {}

    def post_at_10(run):
        if len(run.stamps) == 11:
            run.loop.post(command(hold_ns=3 * H), 0)

    record = Output(H, lambda sample, stamp: speeds.update({sample.tick: sample.v[5]}))
    with Run(ticks(20), [record], on_tick=post_at_10) as run:
        pass
    ((latched, stamp),) = run.latched
    assert (latched.first, latched.end, stamp) == (10, 13, START + 10 * H)
    gain = 1e-3 / run.sim.robot.mass
    expected = [0.0] * 11 + [gain, 2 * gain] + [3 * gain] * 6
    assert [speeds[k] for k in range(19)] == pytest.approx(expected, rel=1e-15, abs=0)
    assert run.loop.counters.accepted == 1 and not run.faults


def test_commands_are_latched_in_the_order_of_arrival_and_the_last_one_acts(virtual):
    def post(run):
        if len(run.stamps) == 11:
            for force in (1.0, 2.0, 5.0):
                run.loop.post(command((0.0, 0.0, force), hold_ns=H), 0)

    with Run(ticks(20), on_tick=post) as run:
        pass
    assert [latched.command.wrench.force[2] for latched, _ in run.latched] == [1.0, 2.0, 5.0]
    assert run.sim.sample().momentum[2] == pytest.approx(5e-3, rel=1e-14)


@pytest.mark.parametrize(
    ("age", "taken"), [(10 * H, True), (10 * H + 1, False), (10**15, False), (-SECOND, True), (-SECOND - 1, True)]
)
def test_a_command_older_than_its_hold_is_stale(virtual, age, taken):
    """Stamped `age` before the tick at which it is latched; more than a second ahead is taken, and told."""

    def post(run):
        if len(run.stamps) == 21:
            run.loop.post(command(), START + 20 * H - age)

    with Run(ticks(60), on_tick=post) as run:
        pass
    counters = run.loop.counters
    assert (counters.accepted, counters.stale, counters.ahead) == (taken, not taken, age < -SECOND)
    assert run.sim.sample().momentum[2] == pytest.approx(10e-3 if taken else 0.0, rel=1e-14)
    if not taken:
        assert "stamped" in counters.last_fault and "held for 0.010 s" in counters.last_fault
    if age < -SECOND:
        assert "ahead of /clock" in counters.last_fault
    assert run.faults == [counters.last_fault] * (not taken or age < -SECOND)


@pytest.mark.parametrize("force", [(float("nan"), 0.0, 0.0), (0.0, float("inf"), 0.0), (0.0, 0.0, float("-inf"))])
def test_a_command_that_is_no_number_is_rejected_whole(virtual, force):
    def post(run):
        if len(run.stamps) == 11:
            run.loop.post(command(force, moment=(1.0, 0.0, 0.0)), 0)

    with Run(ticks(20), on_tick=post) as run:
        pass
    assert run.loop.counters.rejected == 1 and "must be three finite numbers" in run.loop.counters.last_fault
    assert not run.latched
    assert run.sim.digest() == undisturbed(run.sim.tick)


def test_commands_that_break_the_state_are_cancelled_and_no_tick_is_lost(virtual):
    def post(run):
        if len(run.stamps) in (11, 21, 31, 41):
            run.loop.post(command(moment=(1e308, 1e308, 1e308)), 0)

    with Run(ticks(50), on_tick=post) as run:
        pass
    counters = run.loop.counters
    assert (counters.accepted, counters.cancelled) == (4, 4)
    assert "cancelled" in counters.last_fault and "tick 41" in counters.last_fault
    assert run.sim.digest() == undisturbed(run.sim.tick)
    assert abs(run.at_end.statistics.ticks - (run.at_end.now - virtual.begin) / H) <= 1


def undisturbed(tick: int) -> str:
    sim = rbt.load("cubesat").simulation()
    sim.advance(tick)
    return sim.digest()


def test_a_scenario_that_breaks_stands_still_and_says_so(virtual, tmp_path):
    path = tmp_path / "wild.yaml"
    path.write_text(
        "rbt: 1\nrobot: {bodies: {brick: {mass: 1, inertia: [1e-6, 1e-6, 1e-6]}}}\n"
        "inputs: [{wrench: brick, moment: [1e308, 0, 0], from: 20 ms}]\n",
        encoding="utf-8",
    )
    with Run(ticks(0), scenario=path) as run:
        wait_for(lambda: run.loop.failure)
    assert "non-finite state at hinge 'brick'; the last good state is kept" in run.loop.failure
    assert run.faults == [f"the simulation stands still: {run.loop.failure}"]
    assert run.stamps == [START + k * H for k in range(21)]
    assert np.isfinite(run.sim.sample().v).all()


@pytest.mark.parametrize("outputs", [(), (Output(H, lambda *_: None),)], ids=["none is due", "one is due"])
@pytest.mark.parametrize("commands", [False, True])
def test_a_planned_change_that_fails_stands_still_whoever_finds_it_and_blames_no_command(outputs, commands):
    """The step, or the sample for an output that is due at that tick; a reset helps."""

    def push(run):
        if len(run.stamps) == 11 and commands:
            run.loop.post(command(), 0)

    run = Run(ticks(10**9), outputs, on_tick=push)
    run.sim.add_input(rbt.Undock("nothing"), start=0.02)
    run.loop.start()
    wait_for(lambda: run.faults)
    assert "planned Undock(dock='nothing') failed: " in run.loop.failure
    assert run.faults == [f"the simulation stands still: {run.loop.failure}"]
    assert run.loop.counters.cancelled == 0 and run.loop.alive
    with pytest.raises(Inactive, match="the simulation stands still, reset it: "):
        run.loop.call(lambda sim: run.loop.set_paused(False))
    wait_for(lambda: run.seconds)  # it goes on to report

    def reset(sim):
        sim.reset()
        run.loop.restarted()
        run.loop.set_paused(True)

    run.loop.call(reset)
    assert run.loop.failure is None and run.sim.tick == 0
    run.loop.call(lambda sim: run.loop.add_steps(5))
    wait_for(lambda: run.sim.tick == 5)
    run.loop.stop()


def wait_for(condition) -> None:
    end = real_time.monotonic() + DEADLINE
    while not condition():
        assert real_time.monotonic() < end
        real_time.sleep(0.005)


@pytest.mark.parametrize("error", [ZeroDivisionError("in an output"), SystemExit(3)])
def test_an_exception_in_an_output_is_raised_by_stop(virtual, error):
    def broken(sample, stamp):
        if sample.tick == 20:
            raise error

    run = Run(ticks(20), [Output(10 * H, broken)])
    run.loop.start()
    wait_for(lambda: not run.loop.alive)
    with pytest.raises(type(error)) as raised:
        run.loop.stop()
    assert raised.value is error


def test_stop_ends_a_wait_of_any_length():
    """Real time: at a hundredth of a step of 10 s the next deadline is a quarter of an hour away."""
    sim = rbt.load("cubesat").simulation()
    slow = rbt.Simulation(sim.robot, step=10.0)
    nothing = dict(every_tick=lambda _: None, outputs=(), on_latched=lambda *_: None, on_fault=print)
    loop = Loop(slow, clock_start_ns=START, second=lambda *_: None, factor=0.01, **nothing)
    loop.start()
    wait_for(lambda: loop.alive)
    stopper = threading.Thread(target=loop.stop)
    stopper.start()
    stopper.join(DEADLINE)
    assert not stopper.is_alive() and not loop.alive


def test_stop_before_start_is_no_error():
    run = Run(ticks(0))
    run.loop.stop()
    assert run.loop.statistics() == (0, 0, 0, 0, 0.0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), "ordinary")


def test_statistics_are_ordered_and_count_the_wakes(virtual):
    """The wake-ups are late by 0, 10, 20, ... 90 us in turn: percentiles of exactly that."""
    sleep = virtual.sleep

    def late_sleep(seconds):
        sleep(seconds)
        virtual.now += 10_000 * (late_sleep.count % 10)
        late_sleep.count += 1

    late_sleep.count = 0
    virtual.sleep = late_sleep
    with Run(ticks(1000)) as run:
        pass
    end = run.at_end.statistics
    assert end.ticks == 1000
    assert end.late_us.p50 == pytest.approx(45, abs=5)
    assert end.late_us.p99 == pytest.approx(90, abs=1)
    assert end.late_us.max == 90.0
    assert (end.overruns, end.given_up_ns) == (0, 0)


def test_a_run_with_observers_has_the_bits_of_one_without(virtual):
    with Run(ticks(500), [Output(3 * H, lambda *_: None)]) as run:
        pass
    assert run.sim.digest() == undisturbed(run.sim.tick)


def test_the_report_does_not_wait_for_outputs_out_of_step(virtual):
    outputs = [Output(10 * H, lambda *_: None), Output(33 * H, lambda *_: None, in_step=False)]
    with Run(ticks(3500), outputs) as run:
        pass
    assert [stamp for _, stamp in run.seconds[:3]] == [START + k * SECOND for k in (1, 2, 3)]


def test_the_clock_goes_on_where_the_step_changes_and_outputs_keep_their_periods(virtual):
    """From 1 ms to 0.25 ms at tick 50, to 2 ms at 170: stamps never jump, and what comes each 10 ms still does."""
    periodic: list[tuple[int, int]] = []
    steps = {51: 0.25e-3, 171: 2e-3}

    def change(run):
        if step := steps.get(len(run.stamps)):
            run.loop.ask(lambda sim: run.loop.set_step(step))

    output = Output(10 * H, lambda sample, stamp: periodic.append((sample.t_ns, stamp)))
    with Run(ticks(300), [output], on_tick=change) as run:
        pass
    spans = np.diff(run.stamps).tolist()
    assert spans[:300] == [H] * 50 + [H // 4] * 120 + [2 * H] * 130
    assert all(stamp == START + t_ns for t_ns, stamp in periodic)
    assert [t_ns for t_ns, _ in periodic[:15]] == [k * 10 * H for k in range(15)]
    end = run.at_end
    assert end.statistics.ticks == 300
    assert end.now - virtual.begin == run.stamps[300] - START  # by the pace of real time
    assert end.statistics.overruns == 0


def test_the_step_is_not_changed_amid_steps_that_were_asked_for(virtual):
    refused: list[str] = []

    def change(run):
        if len(run.stamps) == 3:
            run.loop.ask(lambda sim: run.loop.add_steps(5))
            run.loop.ask(attempt)

    def attempt(sim):
        with pytest.raises(ScenarioError, match="the step is not changed while 5 steps are being taken") as caught:
            run.loop.set_step(2e-3)
        refused.append(str(caught.value))

    run = Run(ticks(5), on_tick=change)
    with run:
        pass
    assert len(refused) == 1 and set(np.diff(run.stamps)) == {H}


@pytest.mark.parametrize(("saved_ns", "first_ns"), [(0, 52 * H), (60 * H, 60 * H)])
def test_the_clock_goes_on_by_the_step_of_a_checkpoint(virtual, saved_ns, first_ns):
    """One saved by steps of 2 ms, at a clock that lies behind or ahead of ours when tick 50 is done."""
    other = rbt.load("cubesat").simulation()
    other.set_step(2e-3)
    other.advance(3)

    def load(run):
        if len(run.stamps) == 51:
            run.loop.ask(recall)

    def recall(sim):
        sim.recall(other.memory())
        run.loop.restarted(START + saved_ns)

    run = Run(ticks(60), on_tick=load)
    with run:
        pass
    assert run.stamps[:61] == [START + k * H for k in range(51)] + [START + first_ns + 2 * k * H for k in range(10)]


def test_nothing_is_asked_of_a_loop_that_was_never_activated():
    run = Run(ticks(1))
    with pytest.raises(Inactive, match=r"the node is inactive; activate it first\."):
        run.loop.call(lambda sim: sim.reset())
    with pytest.raises(MessageError, match=r"command on wrench ignored: the node is inactive; activate it first\."):
        run.loop.post(command(), 0, "wrench")
    run.loop.stop()


def test_who_is_held_takes_no_step_until_it_is_let_go():
    """Whatever is asked meanwhile, and whether it was paused before; a state is told."""
    with Run(ticks(20), mode="fast", paused=True) as run:
        loop = run.loop
        loop.call(lambda sim: loop.set_held(True))
        for ask in (lambda sim: loop.add_steps(5), lambda sim: loop.set_paused(False)):
            with pytest.raises(Inactive, match="the node is inactive"):
                loop.call(ask)
        loop.call(lambda sim: loop.set_paused(True))
        assert loop.call(lambda sim: (sim.tick, loop.state)) == (0, "inactive")
        loop.call(lambda sim: loop.set_held(False))
        assert loop.call(lambda sim: (sim.tick, loop.state)) == (0, "paused")
        loop.call(lambda sim: loop.set_paused(False))


def test_who_sets_something_is_told_of_its_own_refusal_and_of_nobody_elses(virtual):
    """A viewer's command among those of topics that are refused; a good one among them is taken."""
    told = []

    def wrong(sim):
        run.loop.post(HingeCommand(("elbow",), effort=(1.0,)), 0, "hinge_commands")

    def own(given, sim):
        run.loop.forget_own_refusal()
        wrong(sim)
        run.loop.post(given, 0)
        wrong(sim)
        try:
            run.loop.take_own()
        except MessageError as err:
            told.append(str(err))

    run = Run(ticks(10))
    with run:
        run.loop.call(functools.partial(own, command()))
        assert not told
        run.loop.call(functools.partial(own, command()._replace(wrench=Wrench("nobody"))))
        run.loop.call(functools.partial(own, command()))
    assert len(told) == 1 and "nobody" in told[0]
    assert run.loop.counters.rejected == 7
