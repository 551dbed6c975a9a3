"""What the stepping thread asks of the system: got where it may, left out with a sentence where not."""

import os
import sys
import threading

import pytest

from rbt_ros.ros import priority


def in_thread(call) -> None:
    """Run it in a thread of its own, which keeps what it gets from the system."""
    thread = threading.Thread(target=call)
    thread.start()
    thread.join()


def claimed(*wanted) -> tuple[list[str], set[int]]:
    """(warnings, usable CPUs) of a thread that claims."""
    warnings, usable = [], []

    def run():
        priority.claim(*wanted, warnings.append)
        usable.append(os.sched_getaffinity(0))

    in_thread(run)
    return warnings, usable[0]


def refuse(*_):
    raise PermissionError(1, "Operation not permitted")


def test_nothing_wanted_changes_nothing():
    assert claimed(False, -1) == ([], os.sched_getaffinity(0))


def test_a_cpu_is_bound_for_the_thread_alone():
    before = os.sched_getaffinity(0)
    cpu = min(before)
    assert claimed(False, cpu) == ([], {cpu})
    assert os.sched_getaffinity(0) == before


def test_a_cpu_that_is_not_there_costs_a_warning():
    (warning,), usable = claimed(False, 1023)
    assert warning.startswith("the stepping thread is not bound to CPU 1023: Invalid argument; usable here: 0")
    assert usable == os.sched_getaffinity(0)


def test_memory_that_cannot_be_locked_costs_a_warning(monkeypatch):
    monkeypatch.setattr(priority, "_locked_memory", lambda: "Cannot allocate memory")
    (warning,), _ = claimed(True, -1)
    assert warning.startswith("memory is not locked: Cannot allocate memory; raise `ulimit -l`")


def test_the_thread_is_urgent_as_long_as_it_sleeps_between_its_steps(monkeypatch):
    """The system's calls stand in: whoever runs the tests may not be allowed them."""
    calls = []
    monkeypatch.setattr(priority.os, "sched_setscheduler", lambda _, policy, param: calls.append(param.sched_priority))
    urgency, ms = priority.Urgency(50), 1_000_000
    urgency.release()
    urgency.press_on(1000 * ms)
    assert (calls, str(urgency)) == ([], "ordinary")
    urgency.rest(1000 * ms)
    urgency.rest(1001 * ms)
    urgency.press_on(1101 * ms)
    assert (calls, str(urgency)) == ([50], "SCHED_FIFO 50")
    urgency.press_on(1102 * ms)  # 101 ms without a sleep
    urgency.press_on(1103 * ms)
    assert (calls, str(urgency)) == ([50, 0], "ordinary")
    urgency.rest(1200 * ms)
    urgency.release()
    assert calls == [50, 0, 50, 0]


def test_no_priority_asks_for_nothing(monkeypatch):
    monkeypatch.setattr(priority.os, "sched_setscheduler", lambda *_: pytest.fail("asked"))
    urgency = priority.Urgency(0)
    urgency.rest(1)
    assert str(urgency) == "ordinary"


def test_a_refused_priority_is_asked_for_once_and_told(monkeypatch):
    monkeypatch.setattr(priority.os, "sched_setscheduler", refuse)
    warnings: list[str] = []
    urgency = priority.Urgency(60, warnings.append)
    urgency.rest(1)
    urgency.rest(2)
    assert str(urgency) == "ordinary, SCHED_FIFO 60 refused: Operation not permitted"
    (warning,) = warnings
    assert warning.startswith("no SCHED_FIFO of priority 60: Operation not permitted; allow it by `ulimit -r`")


def test_the_system_does_what_is_told_and_threads_begun_by_an_urgent_one_are_ordinary():
    seen = []

    def run():
        urgency = priority.Urgency(priority.PRIORITY)
        for act in (lambda: urgency.rest(1), urgency.release, lambda: urgency.rest(2)):
            act()
            seen.append((str(urgency), policy(0)))
        in_thread(lambda: seen.append(("ordinary", policy(0))))

    in_thread(run)
    assert len(seen) == 4
    for told, what in seen:
        assert what == (os.SCHED_FIFO if told == f"SCHED_FIFO {priority.PRIORITY}" else os.SCHED_OTHER), seen
    assert "refused" in seen[0][0] or [told for told, _ in seen] == [
        "SCHED_FIFO 50",
        "ordinary",
        "SCHED_FIFO 50",
        "ordinary",
    ]


def policy(thread: int) -> int:
    """Of a thread of this system; 0: the calling one."""
    return os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK


def test_a_node_is_urgent_while_it_keeps_up_and_never_where_it_goes_fast(ros):
    """Told in /diagnostics, and so for the system."""
    child = ros.start()
    peer = ros.peer()
    reports = peer.diagnostics()

    def scheduling(message) -> str:
        return reports.values(message, "loop")["scheduling"]

    def is_urgent(message) -> bool:
        tasks = [policy(int(task)) for task in os.listdir(f"/proc/{child.pid}/task")]
        return scheduling(message) == "SCHED_FIFO 50" and tasks.count(os.SCHED_FIFO) == 1

    def is_ordinary(message) -> bool:
        tasks = [policy(int(task)) for task in os.listdir(f"/proc/{child.pid}/task")]
        return scheduling(message).startswith("ordinary") and os.SCHED_FIFO not in tasks

    first = reports.until(lambda m: "refused" in scheduling(m) or is_urgent(m), "a step in time", child)
    paced = is_ordinary if "refused" in scheduling(first) else is_urgent
    changes = (("mode", "fast", is_ordinary), ("mode", "realtime", paced), ("realtime_factor", 100.0, is_ordinary))
    for name, value, expected in changes:
        assert peer.set_parameter(name, value).successful
        reports.until(expected, f"{name} {value}", child)


NOT_ALLOWED = """
import os, sys
def refuse(*_): raise PermissionError(1, "Operation not permitted")
os.sched_setscheduler = refuse
from rbt_ros.cli import main
sys.exit(main())
"""


@pytest.mark.parametrize("given", [False, True])
def test_a_refusal_is_in_diagnostics_and_a_warning_only_where_that_priority_was_asked_for(ros, given):
    asked = ("-p", "realtime.priority:=50") if given else ()
    child = ros.run(sys.executable, "-c", NOT_ALLOWED, "node", "cubesat", "--ros-args", "-p", "step:=0.001", *asked)
    reports = ros.peer().diagnostics()
    refusal = "ordinary, SCHED_FIFO 50 refused: Operation not permitted"
    reports.until(lambda m: reports.values(m, "loop")["scheduling"] == refusal, "the refusal", child)
    assert ("no SCHED_FIFO of priority 50" in child.stderr) == given


def test_a_node_that_may_not_have_what_it_asks_for_runs_without(ros):
    child = ros.start(realtime__cpu=1023)
    peer = ros.peer()
    peer.diagnostics().next(child)
    peer.until(lambda: "not bound to CPU 1023" in child.stderr, "the warning", child)
