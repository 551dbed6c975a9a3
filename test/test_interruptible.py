"""Work that cannot be interrupted is waited for by somebody who can be."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from rbt_ros import interruptible as module
from rbt_ros.interruptible import interruptible

LIBC = ctypes.CDLL(None)


def test_what_the_work_returns_or_raises_comes_back():
    assert interruptible(lambda: 7) == 7
    with pytest.raises(ZeroDivisionError):
        interruptible(lambda: 1 / 0)
    with pytest.raises(SystemExit):
        interruptible(sys.exit)
    assert not module.is_abandoned()


def test_who_is_asked_to_end_does_not_begin():
    begun = []
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: begun.append(1), lambda: True)
    assert not begun


def test_a_signal_ends_the_wait_for_c_code_that_never_looks_at_python():
    """As a pass of LLVM: the handler of a signal runs in the main thread between two instructions of Python only."""
    timer = threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT))
    timer.start()
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        interruptible(lambda: LIBC.usleep(900_000))
    assert time.monotonic() - began < 0.8
    assert module.is_abandoned()


def test_ctrl_c_while_a_program_imports_ends_it_without_a_traceback():
    """Whatever an import makes of an exception: here it is dropped."""
    code = (
        "import os, signal, sys\n"
        "from rbt_ros.cli.ending import left_at_once\n"
        "with left_at_once(130):\n"
        "    try:\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "        for _ in range(1000): pass\n"
        "    except BaseException:\n"
        "        pass\n"
        "print('went on')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
