"""The kernel decorator: no stale code, a cache wherever it can be."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from rbt_ros.core import jit

CORE = Path(jit.__file__).parent


def run_python(code, cwd=None, **environment):
    """Standard output of `code` in a fresh interpreter that finds this package (or the one below `cwd`)."""
    env = {**os.environ, "PYTHONPATH": str(cwd or CORE.parent.parent), **environment}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=cwd, env=env, capture_output=True, text=True, timeout=170, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


CALLER = """\
from rbt_ros.core.callee import half
from rbt_ros.core.jit import routine


@routine
def f(x):
    return half(x)
"""
CALLEE = "from rbt_ros.core.jit import kernel\n\n\n@kernel\ndef half(x):\n    return {} * x\n"


@pytest.fixture
def package(tmp_path):
    """A copy of the package's skeleton with a kernel and a routine that calls it from another file."""
    core = tmp_path / "rbt_ros" / "core"
    core.mkdir(parents=True)
    for folder in (core.parent, core):
        (folder / "__init__.py").write_text("")
    shutil.copy(jit.__file__, core)
    (core / "caller.py").write_text(CALLER)
    (core / "callee.py").write_text(CALLEE.format("0.5"))
    return tmp_path


def test_an_edit_of_a_callee_in_another_file_is_seen(package):
    """The trap: numba checks the caller's file only, so with one cache folder it would answer 4 again."""
    code = "from rbt_ros.core.caller import f; print(f(8.0))"
    environment = {"NUMBA_CACHE_DIR": str(package / "cache"), "NUMBA_DISABLE_JIT": "0"}
    assert run_python(code, package, **environment) == "4.0"
    (package / "rbt_ros/core/callee.py").write_text(CALLEE.format("2.5e-1"))
    assert run_python(code, package, **environment) == "2.0"
    assert len(list((package / "cache" / "rbt_ros").iterdir())) == 2


def test_without_the_hash_the_trap_is_real(package):
    """What the decorator guards against still exists: should this fail, numba has learned, and the hash may go."""
    code = "from rbt_ros.core.caller import f; print(f(8.0))"
    plain = "import numba\n\n\ndef kernel(f):\n    return numba.njit(cache=True)(f)\n\n\nroutine = kernel\n"
    (package / "rbt_ros/core/jit.py").write_text(plain)
    environment = {"NUMBA_CACHE_DIR": str(package / "cache"), "NUMBA_DISABLE_JIT": "0"}
    assert run_python(code, package, **environment) == "4.0"
    (package / "rbt_ros/core/callee.py").write_text(CALLEE.format("2.5e-1"))
    assert run_python(code, package, **environment) == "4.0"


def test_a_second_process_compiles_nothing(package):
    code = "from rbt_ros.core.caller import f; f(8.0); print(sum(f.stats.cache_hits.values()))"
    environment = {"NUMBA_CACHE_DIR": str(package / "cache"), "NUMBA_DISABLE_JIT": "0"}
    assert run_python(code, package, **environment) == "0"
    assert run_python(code, package, **environment) == "1"


def test_processes_that_compile_together_write_one_after_the_other(package):
    """Else they take the same name for other code: the index is read, a name found, both files written, in one go."""
    environment = {"NUMBA_CACHE_DIR": str(package / "cache"), "NUMBA_DISABLE_JIT": "0"}
    assert run_python(TRY_THE_LOCK, package, **environment) == "held\nheld"


TRY_THE_LOCK = """
import fcntl
from pathlib import Path
from rbt_ros.core import jit
from rbt_ros.core.caller import f

files = f._cache._cache_file
write = files._save_data

def watched(name, data):
    with (Path(jit._core_cache_folder()) / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("held")
    write(name, data)

files._save_data = watched
f(8.0), f(8)
"""


def test_cache_folder_falls_back_where_home_cannot_be_written(tmp_path, monkeypatch):
    blocked = tmp_path / "a_file"
    blocked.write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(blocked))
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    monkeypatch.setenv("HOME", str(blocked))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    folder = jit.cache_folder(CORE)
    assert folder.is_dir() and folder.parent == tmp_path and jit.source_hash(CORE) in folder.name


def test_other_peoples_kernels_keep_their_cache_folder():
    code = "import numba; c = numba.config; before = c.CACHE_DIR; import rbt_ros.core.vec; print(c.CACHE_DIR == before)"
    assert run_python(code) == "True"


def test_a_kernel_is_compiled_once_for_all_its_callers():
    """By a routine and by another kernel, whose options differ."""

    @jit.kernel
    def half(x):
        return 0.5 * x

    @jit.kernel
    def quarter(x):
        return half(half(x))

    def both(x):
        return half(x) + quarter(x)

    compiled = []
    with jit.announced(lambda: compiled.append(1)):
        assert numba.njit(**jit.OPTIONS)(both)(8.0) == 6.0
    assert len(compiled) == 3
