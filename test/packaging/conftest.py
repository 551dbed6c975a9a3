"""What the packaging tests share: the source tree, a copy of it, and children that never outlive their test."""

import importlib.util
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def root():
    """The source tree."""
    return ROOT


@pytest.fixture
def bootstrap(monkeypatch):
    """The module bootstrap.py, which is no part of the package."""
    spec = importlib.util.spec_from_file_location("bootstrap", ROOT / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "bootstrap", module)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def source_copy(tmp_path_factory):
    """A copy of what is installed from: builds leave build/ and *.egg-info beside the sources."""
    copy = tmp_path_factory.mktemp("source") / "rbt_ros"
    skip = shutil.ignore_patterns(".*", "__pycache__", "build", "install", "log", "dist", "out", "*.egg-info", "test")
    shutil.copytree(ROOT, copy, ignore=skip)
    return copy


@pytest.fixture(scope="session")
def run():
    """run(command, ...) -> its output; the whole process group is killed when it takes longer than `limit` seconds."""

    def run(command, limit=50, status=0, **options):
        command = [str(word) for word in command]
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True, **options
        )
        try:
            output, _ = child.communicate(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            output, _ = child.communicate()
            pytest.fail(f"{' '.join(command)} was killed after {limit} s:\n{output}")
        assert child.returncode == status, f"{' '.join(command)} ended with {child.returncode}:\n{output}"
        return output

    return run


@pytest.fixture(scope="session")
def fresh_environ():
    """The environment for a Python of another venv: without what the ROS wheels leave for re-executed interpreters."""
    drop = ("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "LD_LIBRARY_PATH", "PYTHONPATH", "VIRTUAL_ENV", "AMENT_PREFIX_PATH")
    return {name: value for name, value in os.environ.items() if name not in drop}
