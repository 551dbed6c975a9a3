"""What every test that starts processes shares: a marked environment, warm kernels, and nothing left behind."""

import contextlib
import fcntl
import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

MARK = "RBT_ROS_TEST_RUN"  # in the environment of all our child processes
OTHERS = ("rbt_ros", "numpy", "numba", "rosbags", "lz4", "websockets", "tf2_msgs", "sitecustomize")
WE_LACK = ("html", "queue")  # of the standard library, what a parent may well do without
WARM_UP = """
import rbt_ros as rbt
top = rbt.load("cubesat").simulation()
for how in ("none", "gradient", "projection"):
    top.set_stabilise(how)
    top.warm_up()
chain = rbt.load("five_body").simulation()
chain.warm_up(changes=True)
chain.prescribe("wrist", rbt.Measured())
chain.advance()
chain.sample().reactions["wrist"]
chain.sample().accelerations
rbt.load("rope").simulation().warm_up()
"""


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
        """Our files that still exist: those noted, and those that bear our name while nobody uses them."""
        now = {path.name for path in self.shm.glob("*")}
        named = {name for name in now - self._before if "rbt" in name}
        found = now & self.files | (named and named - _used_by_any())
        return {name for name in found if (self.shm / name).exists()}  # not removed meanwhile by who used it

    def give_ports_back(self) -> None:
        """Remove our ports that nobody uses, and forget all of them: who is next in a domain has the same ones.

        Who still sends to a participant that has ended opens its port once more. The ended one had removed it, and who
        sends never does. The segments of a participant are its own alone, and stay ours.
        """
        used, ports = _used_by_any(), {name for name in self.files if _segment(name).startswith("fastrtps_port")}
        for name in ports:
            if _segment(name) not in used:
                (self.shm / name).unlink(missing_ok=True)
        self.files -= ports

    def remove_files(self) -> None:
        """Tidy up after a process that was killed: Fast DDS removes its files only when it ends by itself."""
        used = _used_by_any()
        for name in self.remaining_files():
            if _segment(name) not in used:
                (self.shm / name).unlink(missing_ok=True)


def _segment(name: str) -> str:
    """The segment that a file of Fast DDS belongs to: itself, or the one whose lock or semaphore it is."""
    return name.removeprefix("sem.").removesuffix("_mutex").removesuffix("_el")


def _mapped(process: Path) -> set[str]:
    """The names in /dev/shm that a process maps."""
    try:
        lines = (process / "maps").read_text().splitlines()
    except OSError:  # it has ended, or is not ours to look into
        return set()
    return _names(line.partition(" /dev/shm/")[2] for line in lines)


def _opened(process: Path) -> set[str]:
    """The names in /dev/shm that a process has open: a view holds the lock on its folder from begin to end."""
    found = []
    with contextlib.suppress(OSError):  # it has ended, or is not ours to look into
        for handle in os.listdir(process / "fd"):
            with contextlib.suppress(OSError):  # closed meanwhile
                found.append(os.readlink(process / "fd" / handle))
    return _names(path.removeprefix("/dev/shm/") for path in found if path.startswith("/dev/shm/"))


def _names(paths) -> set[str]:
    """The first name of each path; without what the kernel writes behind it."""
    return {path.partition(" ")[0].partition("/")[0] for path in paths} - {""}


def _used_by_any() -> set[str]:
    """The names in /dev/shm that any process uses, ours or not."""
    return set().union(*(_mapped(folder) | _opened(folder) for folder in Path("/proc").glob("[0-9]*")))


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
    root = str(Path(jit.__file__).resolve().parents[2])
    path = os.pathsep.join([root, *filter(None, [os.environ.get("PYTHONPATH")])])
    environ = {**os.environ, "NUMBA_CACHE_DIR": str(base), "PYTHONPATH": path}
    folder = base / "rbt_ros"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "warm_up.lock").open("w") as lock:  # test runs beside this one find them compiled
        fcntl.flock(lock, fcntl.LOCK_EX)
        subprocess.run([sys.executable, "-c", WARM_UP], env=environ, check=True, timeout=540)
    return base


@pytest.fixture(params=["everything", "on PYTHONPATH"])
def shadowed(request, tmp_path, monkeypatch):
    """The working directory: it has files of such names, each of which ends the process that imports it."""
    everything = request.param == "everything"
    for name in (*sys.stdlib_module_names, *OTHERS) if everything else WE_LACK:
        (tmp_path / f"{name}.py").write_text("import os\nos._exit(77)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [folder for folder in sys.path if folder])
    if not everything:  # as `export PYTHONPATH=$PYTHONPATH:/some/folder` does, and ROS's own set-up does not
        monkeypatch.setenv("PYTHONPATH", ":/some/folder")
    return tmp_path
