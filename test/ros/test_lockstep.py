"""Lockstep and the watchdog on the stepping thread alone: what waits for what, and what happens when nobody answers."""

import itertools
import json
import math
import threading
import time
from pathlib import Path

import pytest
from sensor_msgs.msg import JointState

import rbt_ros as rbt
from rbt_ros.command_messages import hinge_command
from rbt_ros.model.hinge_commands import HingeCommand, HingeSetting, HingeSettings, HingeTrajectory
from rbt_ros.model.inputs import Wrench, WrenchCommand
from rbt_ros.ros import lockstep as module
from rbt_ros.ros.loop import Loop
from rbt_ros.ros.outputs import Output
from rbt_ros.ros.sources import Lockstep, Watchdog
from rbt_ros.topics import joint_state_fields

H = 1_000_000
START = 1_000_000_000
DEADLINE = 60  # [s]


def force(newton: float, hold_ns=10**12) -> WrenchCommand:
    return WrenchCommand(Wrench("cubesat", (0.0, 0.0, newton), frame="world"), hold_ns)


class Run:
    """A Loop whose outputs call `answer(run, sample, stamp)` in another thread, like an executor would."""

    def __init__(self, scenario="cubesat", answer=lambda *_: None, divider=1, **options):
        self.sim = rbt.load(scenario).simulation()
        self.faults: list[str] = []
        self.latched: list = []
        self.states: dict[int, str] = {}  # digest by stamp
        self.stamps: list[int] = []
        self._answer = answer
        self._news = threading.Condition()
        self._queue: list = []
        self._ending = False
        self.loop = Loop(
            self.sim,
            clock_start_ns=START,
            every_tick=self.stamps.append,
            outputs=[Output(divider * H, self._publish)],
            on_latched=lambda latched, stamp: self.latched.append((latched.command, stamp)),
            on_fault=self.faults.append,
            second=lambda *_: None,
            **options,
        )
        self._executor = threading.Thread(target=self._spin, daemon=True)

    def _publish(self, sample, stamp):
        self.states[stamp] = self.sim.digest()
        with self._news:
            self._queue.append((sample, stamp))
            self._news.notify()

    def _spin(self):
        while True:
            with self._news:
                self._news.wait_for(lambda: self._queue or self._ending)
                if self._ending:
                    return
                sample, stamp = self._queue.pop(0)
            self._answer(self, sample, stamp)

    def until(self, condition):
        end = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < end and self.loop.alive
            time.sleep(0.001)

    def __enter__(self):
        self._executor.start()
        self.loop.start()
        return self

    def __exit__(self, *_):
        with self._news:
            self._ending = True
            self._news.notify()
        self._executor.join()
        self.loop.stop()


def test_what_is_behind_by_one_factor_is_not_caught_up_by_the_next():
    """A hundred thousand times real time is out of reach; then real time is, at most, what the clock says."""
    with Run(mode="realtime", factor=1e5) as run:
        run.until(lambda: run.sim.tick > 2000)

        def slower(sim):
            now = time.monotonic()  # before the deadlines begin
            run.loop.set_factor(1.0)
            return now, sim.tick

        began, first = run.loop.call(slower)
        run.until(lambda: run.sim.tick > first + 50)
        assert time.monotonic() - began >= 0.050, "steps came faster than they are due"


def test_commands_are_refused_while_the_simulation_stands_still():
    """They would be forgotten by the reset that it needs."""
    with Run(mode="fast") as run:
        run.loop.call(lambda sim: sim.set_body("cubesat", omega_body=(1e200, 1e200, 0.0)))
        run.until(lambda: run.loop.failure)
        run.loop.post(force(1.0), 0, "wrench")
        run.until(lambda: run.loop.counters.rejected == 1)
    assert run.faults[-1] == "command on wrench ignored: the simulation stands still; reset it." and not run.latched


def law(sample) -> float:
    return -3.0 * sample.v[5] + 0.1 * sample.q[3] + 1.0


def answering(run, sample, stamp):
    run.loop.post(force(law(sample)), stamp, "wrench")


def in_process(steps: int, every: int = 1) -> str:
    """The digest of the same law called between the steps."""
    sim = rbt.load("cubesat").simulation()
    for _ in range(0, steps, every):
        sim.command(force(law(sim.sample())))
        sim.advance(every)
    return sim.digest()


@pytest.mark.parametrize("every", [1, 4])
def test_each_step_waits_for_the_command_stamped_with_the_one_before(every):
    """The digest is that of the law called in-process, whatever the threads do."""
    options = dict(mode="lockstep", lockstep=Lockstep(("wrench",), every, DEADLINE * 10**9))
    with Run(answer=answering, divider=every, **options) as run:
        run.until(lambda: run.sim.tick > 200)
    assert run.states[START + 200 * H] == in_process(200, every)
    assert not run.faults
    assert [stamp for _, stamp in run.latched[:3]] == [START, START + every * H, START + 2 * every * H]


@pytest.mark.parametrize("every", [1, 4])
def test_after_a_reset_and_from_a_checkpoint_the_same_ticks_are_answered(every):
    """The digests are those of the law called in-process from t = 0 on."""
    lockstep = Lockstep(("wrench",), every, DEADLINE * 10**9)
    with Run(answer=answering, divider=every, mode="lockstep", lockstep=lockstep) as run:
        run.until(lambda: run.sim.tick > 50)
        memory, tick = run.loop.call(lambda sim: (json.loads(json.dumps(run.loop.memory())), sim.tick))

        def reset(sim) -> int:
            sim.reset()
            run.loop.restarted()
            return run.loop.stamp_ns()

        def load(sim) -> int:
            sim.recall(memory)
            run.loop.restarted(memory=memory)
            return run.loop.stamp_ns() - tick * H

        for change, last in ((reset, 200), (load, 400)):
            end = run.loop.call(change) + last * H
            run.until(lambda end=end: end in run.states)
            assert run.states[end] == in_process(last, every)


def test_modes_and_gains_that_wait_for_a_tick_outlive_a_reset():
    """Who has set them was told that they are set."""
    other = HingeSettings((HingeSetting("wrist", kp=20.0),))
    with Run("five_body", mode="fast", paused=True) as run:
        for command in (GAINS, HingeCommand(("wrist",), (0.1,)), other):
            run.loop.post(command, 0)
        run.until(lambda: len(run.latched) == 2)
        run.loop.call(lambda sim: (sim.reset(), run.loop.restarted()))
        run.until(lambda: len(run.latched) == 3)
        assert run.sim.hinge_laws["wrist"].kp == 20.0 and run.sim.tick == 0
    assert run.latched[2] == (other, START + H)


def test_two_topics_must_both_answer_and_act_in_one_order():
    """Wrench and hinge commands in whatever order they come; the log shows them in that of their names."""

    def answer(run, sample, stamp):
        commands = [
            (HingeCommand(("wrist",), (), (), (0.1 * sample.t + 1.0,)), "hinge_commands"),
            (WrenchCommand(Wrench("tee", (1.0, 0.0, 0.0)), 10**12), "wrench/tee"),
        ]
        for command, source in commands[:: 1 if sample.tick % 2 else -1]:
            run.loop.post(command, stamp, source)

    wait_for = ("wrench/tee", "hinge_commands")
    with Run("five_body", answer, mode="lockstep", lockstep=Lockstep(wait_for, 1, DEADLINE * 10**9)) as run:
        run.until(lambda: run.sim.tick >= 20)
    kinds = [type(command).__name__ for command, stamp in run.latched if stamp < START + 20 * H]
    assert kinds == ["HingeCommand", "WrenchCommand"] * 20 and not run.faults


class Echo(list):
    """Of what is latched; each time the same answer comes once more, before the step that it opened is taken."""

    def __init__(self, run, loud: float):
        super().__init__()
        self._run, self._loud = run, loud

    def append(self, latched) -> None:
        super().append(latched)
        self._run.loop.post(force(self._loud), latched[1], "wrench")


@pytest.mark.parametrize("every", [1, 4])
def test_an_answer_that_is_repeated_once_the_step_is_open_does_not_answer_the_next_one(every):
    options = dict(mode="lockstep", lockstep=Lockstep(("wrench",), every, DEADLINE * 10**9))
    run = Run(answer=answering, divider=every, **options)
    run.latched = Echo(run, 2000.0)
    with run:
        run.until(lambda: run.sim.tick > 40)
    assert run.states[START + 40 * H] == in_process(40, every) and len(run.latched) >= 40 // every
    assert not run.faults


def test_an_answer_to_a_tick_that_went_on_without_it_is_late():
    """It comes when the deadline is over and the step not taken yet; the next tick waits for an answer of its own."""
    lockstep = Lockstep(("wrench",), 1, 10**7, "hold")

    def silent_once(run, sample, stamp):
        if sample.tick != 5:
            answering(run, sample, stamp)

    run = Run(answer=silent_once, mode="lockstep", lockstep=lockstep)
    give_up = run.loop._gate.give_up

    def late(step: int) -> bool:
        stands = give_up(step)
        if step == 5:
            run.loop.post(force(2000.0), run.loop.stamp_ns(), "wrench")
        return stands

    run.loop._gate.give_up = late  # before the first step
    with run:
        run.until(lambda: run.sim.tick > 20)
    assert 2000.0 not in {command.wrench.force[2] for command, _ in run.latched}
    assert run.loop.counters.late >= 1


def test_commands_of_other_ticks_are_late_and_do_not_act():
    def answer(run, sample, stamp):
        run.loop.post(force(1000.0), stamp - H if sample.tick else stamp + 5 * H, "wrench")
        run.loop.post(force(1.0), stamp, "wrench")
        run.loop.post(force(2000.0), stamp, "wrench")  # repeats an answer

    with Run(answer=answer, mode="lockstep", lockstep=Lockstep(("wrench",), 1, DEADLINE * 10**9)) as run:
        run.until(lambda: run.sim.tick >= 50)
    assert {command.wrench.force[2] for command, _ in run.latched} == {1.0}
    assert run.loop.counters.late >= 1 and run.loop.counters.rejected == 0
    assert "is stamped" in run.faults[0] and "lockstep waits for" in run.faults[0]


def test_what_would_be_refused_is_no_answer():
    """Wrong answers before and behind the right one, in any order: the bits are those of the right ones alone."""

    def answer(run, sample, stamp):
        wrong = [force(math.nan), WrenchCommand(Wrench("nobody"), H), HingeCommand(("wheel",), (0.1,))]
        for command in (*wrong[: sample.tick % 4], force(law(sample)), *wrong[sample.tick % 4 :]):
            run.loop.post(command, stamp, "wrench")

    with Run(answer=answer, mode="lockstep", lockstep=Lockstep(("wrench",), 1, DEADLINE * 10**9)) as run:
        run.until(lambda: run.sim.tick >= 40)
    assert run.states[START + 40 * H] == in_process(40)
    assert run.loop.counters.rejected > 40 and run.loop.counters.lost == 0


def test_a_second_answer_about_other_joints_is_told():
    """Who sends two messages under one stamp and topic means both: the second is not taken, and not in silence."""

    def answer(run, sample, stamp):
        for joint in ("wrist", "left_pivot"):
            run.loop.post(HingeCommand((joint,), (), (), (0.1,)), stamp, "hinge_commands")

    lockstep = Lockstep(("hinge_commands",), 1, DEADLINE * 10**9)
    with Run("five_body", answer, mode="lockstep", lockstep=lockstep) as run:
        run.until(lambda: run.sim.tick >= 20)
    assert {command.joints for command, _ in run.latched} == {("wrist",)} and run.loop.counters.rejected > 10
    assert "another one has answered" in run.faults[0] and "one message per topic and tick" in run.faults[0]


class Link:
    """Samples to a controller with two commands, and these back: some of them are lost, late, or double."""

    FAULTS = (
        "sample lost",
        "answer lost",
        "answer late",
        "answer twice",
        "answer again in the next tick",
        "sample twice",
    )
    EVERY = 10  # ticks from one fault to the next

    def __init__(self):
        self.faults = [None, *itertools.product(self.FAULTS, ("wrench/tee", "hinge_commands"))]
        self._done: set[int] = set()
        self._late: list = []

    def __call__(self, run, sample, stamp) -> None:
        turn, place = divmod(sample.tick, self.EVERY)
        fault, source = None, ""
        if 0 < turn < len(self.faults) and place == 0 and sample.tick not in self._done:
            self._done.add(sample.tick)
            fault, source = self.faults[turn]
        if fault == "sample lost":
            return
        commands = {
            "hinge_commands": HingeCommand(("wrist",), (), (), (0.1 * sample.t + 1.0,)),
            "wrench/tee": WrenchCommand(Wrench("tee", (1.0, 0.0, 0.0)), 10**12),
        }
        late, self._late = self._late, []
        for _ in range(2 if fault == "sample twice" else 1):
            for topic, command in commands.items():
                if topic == source and fault in ("answer lost", "answer late"):
                    self._late += [(command, stamp, topic)] * (fault == "answer late")
                else:
                    run.loop.post(command, stamp, topic)
                if topic == source and fault == "answer twice":
                    run.loop.post(command, stamp, topic)
                if topic == source and fault == "answer again in the next tick":
                    self._late.append((command, stamp, topic))
        for answer in late:  # behind the answers to a repeat, or to the next tick
            run.loop.post(*answer)


def test_after_any_single_loss_delay_or_repetition_it_falls_into_step_again():
    """Each costs one repeat at most; who was behind by one for good would need a repeat in all ticks that follow."""
    link, lockstep = Link(), Lockstep(("wrench/tee", "hinge_commands"), 1, DEADLINE * 10**9)
    with Run("five_body", link, mode="lockstep", lockstep=lockstep) as run:
        run.until(lambda: run.sim.tick >= link.EVERY * (len(link.faults) + 1))
    needed = 2 * 3  # lost or late samples and answers, on either topic
    assert needed <= run.loop.counters.repeated < needed + link.EVERY  # a stall of the machine may look like a loss
    assert not any("within" in fault for fault in run.faults) and run.loop.counters.rejected == 0


def test_a_controller_that_is_slower_than_repeats_come_is_not_buried_in_them(monkeypatch):
    """Each repeat would wait in its queue and be computed again: 1.5 times as many in each step, until it is full."""
    monkeypatch.setattr(module, "REPEAT_NS", 10_000_000)
    answered: list[int] = []

    def slow(run, sample, stamp):
        time.sleep(0.015)  # what it computes
        answered.append(stamp)
        answering(run, sample, stamp)

    with Run(answer=slow, mode="lockstep", lockstep=Lockstep(("wrench",), 1, DEADLINE * 10**9)) as run:
        run.until(lambda: run.sim.tick >= 30)
    assert len(answered) < 60, "samples that were computed for 30 steps"
    assert run.states[START + 30 * H] == in_process(30)


def impatient_from(run: Run, first: int, end: int, deadline_ns: int) -> None:
    """Let these ticks wait that long for answers, all others for ever, whatever a machine under load does to us."""
    gate = run.loop._gate
    patient, short = (gate.options._replace(deadline_ns=ns) for ns in (DEADLINE * 10**9, deadline_ns))
    look = gate.deadline

    def deadline(now: int) -> int:
        gate.options = short if first <= run.sim.tick < end else patient
        return look(now)

    gate.deadline = deadline


@pytest.mark.parametrize(("fallback", "gain"), [("hold", 10), ("zero", 1)])
def test_a_missed_deadline_is_told_once_and_the_step_is_taken_as_declared(fallback, gain):
    """1 N answers tick 0 only: it goes on acting, or not."""
    momentum: dict[int, float] = {}

    def answer(run, sample, stamp):
        momentum[sample.tick] = sample.momentum[2]
        if sample.tick == 0:
            run.loop.post(force(1.0), stamp, "wrench")

    run = Run(answer=answer, mode="lockstep", lockstep=Lockstep(("wrench",), 1, 0, fallback))
    impatient_from(run, 1, 10**6, 20_000_000)
    with run:
        run.until(lambda: 10 in momentum)
    assert momentum[10] == pytest.approx(gain * 1e-3, rel=1e-12)
    assert run.faults == [f"no command stamped {START + H} ns on wrench within 0.02 s: {fallback}."]
    assert run.loop.counters.lost == 1


def test_a_controller_that_comes_back_is_taken_again_and_told_once():
    def answer(run, sample, stamp):
        if not 5 <= sample.tick < 8:
            answering(run, sample, stamp)

    run = Run(answer=answer, mode="lockstep", lockstep=Lockstep(("wrench",), 1))
    impatient_from(run, 5, 8, 50_000_000)
    with run:
        run.until(lambda: run.sim.tick >= 30)
    assert run.faults == [f"no command stamped {START + 5 * H} ns on wrench within 0.05 s: hold.", "wrench is back."]


def test_stop_pauses_until_resumed_and_shows_the_tick_again_to_who_comes_back():
    patient, short = (Lockstep(("wrench",), 1, ns, "stop") for ns in (DEADLINE * 10**9, 50_000_000))
    there = threading.Event()

    def answer(run, sample, stamp):
        if sample.tick < 5 or there.is_set():
            answering(run, sample, stamp)

    with Run(answer=answer, mode="lockstep", lockstep=patient) as run:
        run.until(lambda: run.stamps.count(START + 5 * H) > 2)  # again and again while it waits
        run.loop.call(lambda sim: run.loop.set_lockstep(short))
        run.until(lambda: run.loop.paused)
        assert run.sim.tick == 5 and run.loop.state == "paused"
        there.set()
        run.loop.call(lambda sim: run.loop.set_lockstep(patient))
        run.loop.call(lambda sim: run.loop.set_paused(False))
        run.until(lambda: run.sim.tick >= 20)
    assert run.states[START + 20 * H] == in_process(20)


def test_pauses_and_single_steps_ask_nobody_twice():
    """What was answered while it stood still counts: no tick is published again, and the bits are those in-process."""
    answered: list[int] = []

    def answer(run, sample, stamp):
        answering(run, sample, stamp)
        answered.append(stamp)

    lockstep = Lockstep(("wrench",), 1, DEADLINE * 10**9)
    with Run(answer=answer, mode="lockstep", lockstep=lockstep, paused=True) as run:
        for k in range(5):
            run.until(lambda k=k: len(answered) > k)
            run.loop.call(lambda sim: run.loop.set_paused(True))
            run.loop.call(lambda sim: run.loop.add_steps(1))
            run.until(lambda k=k: run.sim.tick > k)
        run.until(lambda: len(answered) > 5)
    assert answered == [START + k * H for k in range(6)] == sorted(set(run.stamps))  # /clock is repeated each second
    assert run.states[START + 5 * H] == in_process(5) and not run.faults


def test_a_request_is_served_while_lockstep_waits():
    lockstep = Lockstep(("wrench",), 1, DEADLINE * 10**9)
    with Run(mode="lockstep", lockstep=lockstep) as run:
        run.until(lambda: run.loop.state == "lockstep, waits for wrench")
        assert run.loop.call(lambda sim: sim.tick) == 0
        run.loop.call(lambda sim: run.loop.set_mode("fast"))
        run.until(lambda: run.sim.tick > 10)
        with pytest.raises(ZeroDivisionError):
            run.loop.call(lambda sim: 1 / 0)
        assert run.loop.alive


def test_latency_is_measured_from_the_sample_to_its_answer():
    with Run(answer=answering, mode="lockstep", lockstep=Lockstep(("wrench",), 1, DEADLINE * 10**9)) as run:
        run.until(lambda: run.sim.tick > 50)
    spread = run.loop.statistics().latency_us
    assert 0.0 < spread.p50 <= spread.p99 <= spread.max


# ------------------------------------------------------------------------------------------------- watchdog
GAINS = HingeSettings((HingeSetting("wrist", "position", 50.0, 5.0),))


@pytest.mark.parametrize("fallback", ["zero", "hold", "hold_position"])
def test_the_watchdog_ends_what_a_silent_source_had_commanded(fallback):
    """Two commands, then silence: the log shows what took their place; what a wrench did ends as well."""
    with Run("five_body", mode="fast", watchdog=Watchdog(100_000_000, fallback), paused=True) as run:
        run.loop.post(GAINS, 0)
        run.loop.post(HingeCommand(("wrist",), (0.5,)), 0, "hinge_commands")
        run.loop.post(HingeCommand(("left_pivot",), (), (), (2.0,)), 0, "hinge_commands")
        run.loop.call(lambda sim: run.loop.set_paused(False))  # nobody is missed before
        run.until(lambda: run.loop.counters.lost)
        run.until(lambda: len(run.latched) >= {"zero": 4, "hold": 3, "hold_position": 5}[fallback])
        run.loop.call(lambda sim: run.loop.set_paused(True))
        after = [command for command, _ in run.latched[3:]]
        run.loop.post(HingeCommand(("wrist",), (0.7,)), 0, "hinge_commands")
        run.until(lambda: run.latched[-1][0] == HingeCommand(("wrist",), (0.7,)))
    assert run.faults == [f"nothing on hinge_commands for 0.1 s: {fallback}.", "hinge_commands is back."]
    let_go = HingeCommand(("left_pivot",))
    if fallback == "zero":
        assert after == [HingeCommand(("wrist", "left_pivot"))]
    elif fallback == "hold":
        assert after == []
    else:
        assert after[0] == let_go and after[1].joints == ("wrist",) and len(after[1].position) == 1


def test_the_watchdog_leaves_alone_what_somebody_else_commands_since():
    """By another topic or by parameters; what is left of the lost source is let go."""
    with Run("five_body", mode="fast", watchdog=Watchdog(100_000_000), paused=True) as run:
        run.loop.post(
            HingeCommand(("wrist", "left_pivot", "right_pivot"), (), (), (1.0, 2.0, 3.0)), 0, "hinge_commands"
        )
        run.loop.post(GAINS, 0)
        effort = HingeCommand(("left_pivot",), (), (), (4.0,))
        run.loop.post(effort, 0, "hinge_effort_commands")
        run.loop.call(lambda sim: run.loop.set_paused(False))
        run.until(lambda: run.loop.counters.lost == 2)
        run.until(lambda: len(run.latched) == 5)
        holds = run.sim.hinge_laws["wrist"].mode == "position"
    assert [command for command, _ in run.latched[3:]] == [
        HingeCommand(("right_pivot",)),
        HingeCommand(("left_pivot",)),
    ]
    assert holds


def test_the_watchdog_looks_after_whom_lockstep_goes_on_without():
    """Fallback hold lets the last wrench act, until the watchdog ends it; who never came is not missed by it."""
    lockstep = Lockstep(("wrench", "wrench/cubesat"), 1, 1_000_000, "hold")
    with Run(mode="lockstep", lockstep=lockstep, paused=True) as run:
        run.loop.post(force(1.0), START, "wrench")
        run.loop.call(lambda sim: run.loop.set_paused(False))
        run.until(lambda: run.loop.counters.lost == 2)
        run.loop.call(lambda sim: run.loop.watchdog.adjust(Watchdog(1_000_000)))
        run.until(lambda: len(run.latched) == 2)
    assert [command.wrench.force[2] for command, _ in run.latched] == [1.0, 0.0]
    assert [fault.partition(" within")[0].partition(" for")[0] for fault in run.faults] == [
        f"no command stamped {START} ns on wrench/cubesat",
        f"no command stamped {START + H} ns on wrench",
        "nothing on wrench",
    ]


@pytest.mark.parametrize(
    "change",
    [
        lambda loop: loop.set_mode("realtime"),
        lambda loop: loop.set_mode("fast"),
        lambda loop: loop.set_lockstep(Lockstep(("wrench",), 1, DEADLINE * 10**9)),
        lambda loop: loop.set_lockstep(Lockstep(("wrench/cubesat",), 1, 1_000_000)),
    ],
)
def test_an_answer_that_is_kept_is_taken_where_the_rules_change(change):
    """It was valid when it came, and nobody would ask for it again."""
    with Run(mode="lockstep", lockstep=Lockstep(("wrench", "wrench/cubesat"), 1, DEADLINE * 10**9)) as run:
        run.loop.post(force(1.0), START, "wrench")
        run.until(lambda: run.loop.state == "lockstep, waits for wrench/cubesat")
        run.loop.call(lambda sim: change(run.loop))
        run.until(lambda: run.sim.tick > 0)
    assert run.latched[0] == (force(1.0), START) and run.loop.counters.accepted == 1


@pytest.mark.parametrize("mode", ["fast", "lockstep"])
def test_nobody_is_missed_while_no_messages_are_taken(mode):
    """As while kernels are compiled for a lock: neither watchdog nor lockstep can know who is silent."""
    lockstep = Lockstep(("wrench",) if mode == "lockstep" else (), 1, 50_000_000, "stop")
    with Run(mode=mode, lockstep=lockstep, watchdog=Watchdog(50_000_000), paused=True) as run:
        with run.loop.taking_no_messages():
            run.loop.post(force(1.0), START, "wrench")
            run.loop.call(lambda sim: run.loop.set_paused(False))
            run.until(lambda: run.latched)
            end = time.monotonic() + 0.3
            run.until(lambda: time.monotonic() > end)
            assert run.loop.counters.lost == 0 and not run.loop.paused and not run.faults
        run.until(lambda: run.loop.counters.lost)


def test_only_what_controllers_read_is_repeated_while_lockstep_waits():
    """A recorder, a viewer would have the same sample again and again."""
    seen: list[int] = []
    with Run(mode="lockstep", lockstep=Lockstep(("wrench",), 1, DEADLINE * 10**9)) as run:
        run.loop.call(lambda sim: run.loop.outputs.add(Output(H, lambda _, stamp: seen.append(stamp), in_step=False)))
        run.until(lambda: len(run.stamps) > 3)
    assert set(run.stamps) == {START} and not seen


def test_a_pause_longer_than_the_timeout_loses_nobody():
    with Run(mode="fast", watchdog=Watchdog(DEADLINE * 10**9), paused=True) as run:

        def an_hour_passes(sim):
            for source in run.loop.watchdog._sources.values():
                source.heard_ns -= 3600 * 10**9

        run.loop.post(force(1.0), 0, "wrench")
        run.until(lambda: run.latched)
        run.loop.call(an_hour_passes)
        run.loop.call(lambda sim: run.loop.set_paused(False))
        run.until(lambda: run.sim.tick > 3)
        assert run.loop.counters.lost == 0
        run.loop.call(lambda sim: run.loop.watchdog.adjust(Watchdog(1_000_000)))
        run.until(lambda: run.loop.counters.lost == 1)
    assert run.latched[-1][0].wrench.force == (0.0, 0.0, 0.0)


def test_what_the_log_could_not_tell_waits_for_the_next_tick():
    """Set-point, trajectory, set-point, settings: in one tick only what is in order, the rest tick by tick."""
    there = HingeTrajectory(("wrist",), (50_000_000,), ((0.5,),))
    first, second = HingeCommand(("wrist",), (0.1,)), HingeCommand(("wrist",), (0.2,))
    with Run("five_body", mode="fast", paused=True) as run:
        for command in (GAINS, first, there, second, GAINS):
            run.loop.post(command, 0, "hinge_commands")
        run.until(lambda: len(run.latched) == 3)
        run.loop.call(lambda sim: run.loop.add_steps(2))
        run.until(lambda: len(run.latched) == 5)
    assert run.latched == [(GAINS, START), (first, START), (there, START), (second, START + H), (GAINS, START + 2 * H)]


def test_a_trajectory_that_waits_for_the_next_tick_begins_at_its_stamp():
    """Taken one tick late, it still passes its points at stamp + time; it was answered, and counted, once."""
    there = HingeTrajectory(("wrist",), (50 * H, 90 * H), ((0.5,), (0.1,)))
    with Run("five_body", mode="fast", paused=True) as run:
        run.loop.post(GAINS, 0)
        run.loop.post(there, START + 20 * H, "hinge_trajectory")
        run.loop.post(HingeCommand(("wrist",), (0.1,)), 0, "hinge_commands")
        run.loop.post(there, START + 20 * H, "hinge_trajectory")
        run.until(lambda: len(run.latched) == 2)
        run.loop.call(lambda sim: run.loop.add_steps(1))
        run.until(lambda: len(run.latched) == 4)
    begun = [(command.times_ns, stamp) for command, stamp in run.latched if isinstance(command, HingeTrajectory)]
    assert begun == [((70 * H, 110 * H), START), ((69 * H, 109 * H), START + H)]
    assert run.loop.counters.accepted == 4


def test_what_waits_for_the_next_tick_is_told_and_measured_once():
    """A set-point behind a trajectory, stamped an hour ahead; another that answers the tick."""
    there, point = HingeTrajectory(("wrist",), (50 * H,), ((0.5,),)), HingeCommand(("wrist",), (0.1,))
    with Run("five_body", mode="fast", paused=True) as run:
        run.until(lambda: run.states)
        for command, stamp in ((GAINS, 0), (there, 0), (point, START + 3600 * 10**9), (point, START)):
            run.loop.post(command, stamp, "hinge_commands")
        run.until(lambda: len(run.latched) == 2)
        run.loop.call(lambda sim: run.loop.add_steps(1))
        run.until(lambda: len(run.latched) == 4)
        assert run.loop.counters.ahead == 1 and len(run.faults) == 1
        assert run.loop._intake.latency.record.count == 1


def test_a_trajectory_of_another_clock_is_refused():
    """Stamped by the wall, or at the end of all clocks; one that begins in an hour is taken."""
    goes = HingeTrajectory(("wrist",), (10**9,), ((0.5,),))
    with Run("five_body", mode="fast", paused=True) as run:
        run.loop.post(GAINS, 0)
        for stamp in (1_790_000_000 * 10**9, (2**31 - 1) * 10**9, START + 3600 * 10**9):
            run.loop.post(goes, stamp, "hinge_trajectory")
        run.loop.post(goes._replace(times_ns=(2**31 * 10**9,)), 0, "hinge_trajectory")
        run.until(lambda: len(run.faults) == 3)
        run.until(lambda: len(run.latched) == 2)
    assert run.loop.counters.ahead == 2 and run.loop.counters.rejected == 1
    assert "stamped 1789999999 s ahead of /clock; set use_sim_time" in run.faults[0]
    assert "its last point lies 2.14748e+09 s ahead" in run.faults[2]


def test_what_waits_for_the_next_tick_is_in_the_checkpoint():
    """A set-point behind a trajectory of its tick: saved there, it acts after loading as it would have."""
    there, point = HingeTrajectory(("wrist",), (50 * H,), ((0.5,),)), HingeCommand(("left_pivot",), (), (), (0.7,))
    with Run("five_body", mode="fast", paused=True) as run:
        run.loop.post(GAINS, 0)
        run.loop.post(there, START + 10 * H, "hinge_trajectory")
        run.loop.post(point, START, "hinge_commands")
        run.until(lambda: len(run.latched) == 2)
        memory = json.loads(json.dumps(run.loop.call(lambda sim: run.loop.memory())))
        digests = []
        for _ in range(2):
            run.loop.call(lambda sim: run.loop.add_steps(100))
            run.until(lambda: run.sim.tick == 100)
            digests.append(run.sim.digest())
            run.loop.call(lambda sim: (sim.recall(memory), run.loop.restarted(memory=memory)))
    assert digests[0] == digests[1] and [command for command, _ in run.latched].count(point) == 2


def test_in_lockstep_a_trajectory_waits_for_the_answers_of_its_tick():
    """They act in the order in which the log is read: set-points before trajectories."""
    there, point = HingeTrajectory(("wrist",), (50 * H,), ((0.5,),)), HingeCommand(("wrist",), (0.1,))

    sent: list = []  # a tick that waits long is shown again, and answered again

    def answer(run, sample, stamp):
        if sample.tick == 3 and not sent:
            sent.append(there)
            run.loop.post(there, 0, "hinge_trajectory")
        run.loop.post(point, stamp, "hinge_commands")

    lockstep = Lockstep(("hinge_commands",), 1, DEADLINE * 10**9)
    with Run("five_body", answer, mode="lockstep", lockstep=lockstep, paused=True) as run:
        run.loop.post(GAINS, 0)
        run.until(lambda: run.latched)
        run.loop.call(lambda sim: run.loop.set_paused(False))
        run.until(lambda: run.sim.tick >= 6)
    of_tick_3 = [command for command, stamp in run.latched if stamp == START + 3 * H]
    assert of_tick_3 == [point, there] and not run.faults


@pytest.mark.parametrize(("phase", "lag"), [(0, 0), (0, 4), (0, 7), (3, 0), (3, 3)])
def test_a_controller_led_by_the_clock_runs_at_its_own_phase_from_before_it_is_active(phase, lag):
    """As ros2_control's: it wakes a period after its last cycle, stamps by a clock that may be behind, says NaN first.

    Its cycles lie anywhere between the ticks that wait. Each of these has one answer, of the period that ends there.
    """
    every, wakes = 5, [START + phase * H]

    def answer(run, sample, stamp):
        if stamp == START and phase:
            run.loop.post(HingeCommand(("wrist",), (math.nan,)), stamp, "hinge_commands")
        if stamp < wakes[-1]:
            return
        cycle = len(wakes)
        effort = math.nan if cycle <= 4 else (stamp - START) * 1e-12
        run.loop.post(HingeCommand(("wrist",), (), (), (effort,)), max(START, stamp - lag * H), "hinge_commands")
        wakes.append(stamp + every * H)

    lockstep = Lockstep(("hinge_commands",), every, DEADLINE * 10**9, stamps="period")
    with Run("five_body", answer, mode="lockstep", lockstep=lockstep) as run:
        run.until(lambda: run.sim.tick >= 60 * every)
    assert run.loop.counters.lost == run.loop.counters.rejected == 0
    assert len(run.latched) >= 50
    gates = [stamp for _, stamp in run.latched]
    assert all((gate - START) % (every * H) == 0 for gate in gates)
    assert all(b - a == every * H for a, b in itertools.pairwise(gates))
    for command, gate in run.latched:
        assert gate - every * H < START + round(command.effort[0] * 1e12) <= gate


def test_who_missed_a_wait_answers_the_next_one_by_a_stamp_of_its_period():
    """What comes when the tick that it was for has gone on without it is late; by any stamp up to that tick."""

    def answer(run, sample, stamp):
        if sample.tick == 10:
            run.until(lambda: run.sim.tick > 10)  # a wait is missed
            run.loop.post(force(1000.0), stamp, "wrench")
            run.loop.post(force(1000.0), stamp - 2 * H, "wrench")
        elif sample.tick % 5 == 0:
            run.loop.post(force(1.0), stamp, "wrench")

    lockstep = Lockstep(("wrench",), 5, DEADLINE * 10**9, stamps="period")
    with Run(answer=answer, mode="lockstep", lockstep=lockstep) as run:
        impatient_from(run, 10, 11, 1_000_000)
        run.until(lambda: run.sim.tick >= 50)
    assert {command.wrench.force[2] for command, _ in run.latched} == {1.0}
    assert (run.loop.counters.late, run.loop.counters.lost) == (2, 1)


def test_a_recorded_exchange_with_ros2_control_runs_again():
    """NaN first, two stamps that are a tick behind, then set-points: each answers one wait, and the wheel moves so."""
    file = Path(__file__).parents[1] / "reference" / "ros2_control_wheel.json"
    recorded = json.loads(file.read_text(encoding="utf-8"))
    messages, states = recorded["messages"], recorded["states"]
    sent, seen = iter(messages), {}

    def answer(run, sample, stamp):
        seen[stamp - START] = joint_state_fields(run.sim.robot, sample, stamp)
        if sample.tick % 5 == 0 and (message := next(sent, None)):
            behind, position = message
            message = JointState(name=["wheel_axis"], position=[math.nan if position is None else position])
            run.loop.post(hinge_command(message), START + behind, "hinge_commands")

    lockstep = Lockstep(("hinge_commands",), 5, DEADLINE * 10**9, stamps="period")
    with Run("wheel", answer, mode="lockstep", lockstep=lockstep, paused=True) as run:
        run.loop.post(HingeSettings((HingeSetting("wheel_axis", "position", kp=0.07, kd=0.014),)), 0)
        run.loop.ask(lambda sim: run.loop.set_paused(False))
        run.until(lambda: states[-1][0] in seen)
    assert {stamp - 5 * H * k for k, (stamp, _) in enumerate(messages)} == {0, -H}
    assert [stamp - START for _, stamp in run.latched[1:]] == [5 * H * k for k in range(10, len(messages))]
    assert (run.loop.counters.late, run.loop.counters.lost, run.loop.counters.rejected) == (0, 0, 0)
    for stamp, position, velocity in states:  # the hub stood elsewhere: round-off of 800 steps
        assert seen[stamp]["position"] == pytest.approx([position], abs=1e-13)
        assert seen[stamp]["velocity"] == pytest.approx([velocity], abs=1e-12)
