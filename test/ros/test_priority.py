"""What the stepping thread asks of the system: got where it may, left out with a sentence where not."""

import os
import threading

import pytest

from rbt_ros.ros import priority


def claimed(*wanted) -> tuple[list[str], set[int]]:
    """(warnings, usable CPUs) of a thread that claims."""
    warnings, usable = [], []

    def run():
        priority.claim(*wanted, warnings.append)
        usable.append(os.sched_getaffinity(0))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return warnings, usable[0]


def test_nothing_wanted_changes_nothing():
    assert claimed(0, False, -1) == ([], os.sched_getaffinity(0))


def test_a_cpu_is_bound_for_the_thread_alone():
    before = os.sched_getaffinity(0)
    cpu = min(before)
    assert claimed(0, False, cpu) == ([], {cpu})
    assert os.sched_getaffinity(0) == before


def test_a_cpu_that_is_not_there_costs_a_warning():
    (warning,), usable = claimed(0, False, 1023)
    assert warning.startswith("the stepping thread is not bound to CPU 1023: Invalid argument; usable here: 0")
    assert usable == os.sched_getaffinity(0)


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ((50, False, -1), "no SCHED_FIFO of priority 50: Operation not permitted; allow it by `ulimit -r`"),
        ((0, True, -1), "memory is not locked: Cannot allocate memory; raise `ulimit -l`"),
    ],
)
def test_what_the_system_refuses_costs_a_warning(monkeypatch, wanted, sentence):
    """The system's refusals stand in: whoever runs the tests may be allowed all."""

    def refuse(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(priority.os, "sched_setscheduler", refuse)
    monkeypatch.setattr(priority, "_locked_memory", lambda: "Cannot allocate memory")
    warnings, _ = claimed(*wanted)
    assert len(warnings) == 1 and warnings[0].startswith(sentence)


def test_a_node_that_may_not_have_what_it_asks_for_runs_without(ros):
    child = ros.start(realtime__cpu=1023)
    peer = ros.peer()
    peer.diagnostics().next(child)
    peer.until(lambda: "not bound to CPU 1023" in child.stderr, "the warning", child)
