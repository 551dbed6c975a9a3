"""What every test that starts processes shares: a marked environment, warm kernels, and nothing left behind."""

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

MARK = "RBT_ROS_TEST_RUN"  # in the environment of all our child processes


class Watch:
    """Knows which processes and which files in /dev/shm are ours, however many other ROS programs run here."""

    shm = Path("/dev/shm")

    def __init__(self):
        self.mark = f"{MARK}={uuid.uuid4().hex}"
        self.files: set[str] = set()  # names in /dev/shm that a process of ours had open
        self._before = {path.name for path in self.shm.glob("*")}

    def processes(self) -> dict[int, str]:
        """PID -> name and state of all processes of this run but ourselves: children (zombies too) and marked ones."""
        found = {}
        for folder in Path("/proc").glob("[0-9]*"):
            pid = int(folder.name)
            if pid == os.getpid():
                continue
            try:
                name, _, rest = (folder / "stat").read_text().partition("(")[2].rpartition(")")
                state, parent = rest.split()[:2]
                ours = int(parent) == os.getpid() or self.mark.encode() in (folder / "environ").read_bytes()
            except OSError:  # it has ended meanwhile
                continue
            if ours:
                found[pid] = f"{name} ({state})"
        return found

    def note_files(self, pid: int) -> None:
        """Remember what `pid` maps from /dev/shm, and the lock and semaphore that Fast DDS keeps beside each.

        Ports below 7400 are shared by all domains of the machine, and nobody's.
        """
        for name in _mapped(Path("/proc") / str(pid)) - self._before:
            port = name.removeprefix("fastrtps_port")
            if not (port.isdigit() and int(port) < 7400):
                self.files |= {name, f"{name}_el", f"sem.{name}_mutex"}

    def remaining_files(self) -> set[str]:
        """Our files that still exist: those noted, and those that bear our name."""
        now = {path.name for path in self.shm.glob("*")}
        return now & self.files | {name for name in now - self._before if "rbt" in name}

    def remove_files(self) -> None:
        """Tidy up after a process that was killed: Fast DDS removes its files only when it ends by itself."""
        used = set().union(*(_mapped(folder) for folder in Path("/proc").glob("[0-9]*")))
        for name in self.remaining_files():
            if name.removesuffix("_el").removeprefix("sem.").removesuffix("_mutex") not in used:
                (self.shm / name).unlink(missing_ok=True)


def _mapped(process: Path) -> set[str]:
    """The names in /dev/shm that a process maps."""
    try:
        lines = (process / "maps").read_text().splitlines()
    except OSError:  # it has ended, or is not ours to look into
        return set()
    return {line.rpartition("/dev/shm/")[2].partition(" ")[0] for line in lines if " /dev/shm/" in line}


@pytest.fixture(scope="session", autouse=True)
def watch():
    """The check at the very end: no process and no file in /dev/shm of this run is left."""
    watch = Watch()
    name, _, value = watch.mark.partition("=")
    os.environ[name] = value
    yield watch
    watch.note_files(os.getpid())
    assert watch.processes() == {}, "processes of this test run are left"
    assert watch.remaining_files() == set(), "files of this test run are left in /dev/shm"


@pytest.fixture(scope="session")
def kernel_cache(watch):
    """A folder for NUMBA_CACHE_DIR that holds all kernels compiled: child processes start in a second, not in ten."""
    from rbt_ros.core import jit

    base = jit._cache_bases()[0]
    code = "import rbt_ros; rbt_ros.load('cubesat').simulation().warm_up()"
    root = str(Path(jit.__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(base), "PYTHONPATH": path}
    subprocess.run([sys.executable, "-c", code], env=environ, check=True, timeout=300)
    return base
