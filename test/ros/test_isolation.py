"""The check at the end of the run finds what it is meant to find."""

import os
import signal
import subprocess
import sys
import uuid


def test_a_child_that_was_not_reaped_is_found(watch):
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(30)"])
    try:
        assert child.pid in watch.processes()
        os.kill(child.pid, signal.SIGKILL)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert watch.processes()[child.pid].endswith("(Z)")
    finally:
        child.kill()
        child.wait()
    assert child.pid not in watch.processes()


def test_a_process_that_left_its_parent_is_found(watch):
    """As a daemon does: known by its environment, not by its parent."""
    script = "import subprocess; print(subprocess.Popen(['sleep', '30'], stdout=subprocess.DEVNULL).pid)"
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True, timeout=60)
    pid = int(done.stdout)
    try:
        assert "sleep" in watch.processes()[pid]
    finally:
        os.kill(pid, signal.SIGKILL)


def test_a_file_in_shared_memory_is_found(watch):
    path = watch.shm / f"rbt_test_{uuid.uuid4().hex}"
    path.write_bytes(b"x")
    try:
        assert path.name in watch.remaining_files()
    finally:
        path.unlink()
    assert path.name not in watch.remaining_files()


def test_a_port_that_a_peer_has_opened_once_more_is_removed_and_a_segment_is_found(watch):
    """A peer that does not know yet that a participant has ended writes to its port, which makes its files anew."""
    number, segment = f"fastrtps_port{uuid.uuid4().int % 10**6 + 10**6}", f"fastrtps_{uuid.uuid4().hex[:16]}"
    port = {number, f"{number}_el", f"sem.{number}_mutex"}
    fresh = type(watch)()
    fresh.files |= {segment, *port}
    try:
        for name in fresh.files:
            (fresh.shm / name).write_bytes(b"x")
        assert fresh.remaining_files() == {segment, *port}
        fresh.give_ports_back()
        assert fresh.remaining_files() == {segment}
        (fresh.shm / number).write_bytes(b"x")  # by who has the domain next
        assert fresh.remaining_files() == {segment}
    finally:
        for name in fresh.files:
            (fresh.shm / name).unlink(missing_ok=True)


def test_files_of_fast_dds_are_noted_and_gone_after_an_ordinary_end(ros, watch):
    child = ros.start()
    child.until_printed("t = ")
    before = set(watch.files)
    watch.note_files(child.pid)
    noted = watch.files - before
    assert any(name.startswith("fastrtps_") for name in noted & watch.remaining_files())
    assert child.stop() == 0
    assert not noted & watch.remaining_files()


def test_a_killed_node_does_not_stop_the_next_one(ros, watch):
    """SIGKILL: no goodbye on the network. The next node is not refused /clock by a ghost."""
    environ = ros.without_shared_memory()
    for _ in range(2):
        child = ros.start(environ=environ)
        child.until_printed("t = ")
        child.kill()
        assert child.wait() != 0
    assert not watch.remaining_files()
