"""What `make` does: sets up a private environment, once, and runs one of our programs in it. Standard library only.

    python3 bootstrap.py demo [arguments of `rbt node`]     .venv
    python3 bootstrap.py test [arguments of pytest]         .venv, with the development tools
    python3 bootstrap.py soak [arguments of pytest]         the same
    python3 bootstrap.py bench                              .venv-bench, with other engines to compare with
    python3 bootstrap.py env [extra ...]                    .venv, and nothing else

A stage runs when the content it depends on has changed, and only then: its key is written down after it has ended. One
that was killed leaves `running` there, and the next set-up starts from an empty environment.
"""

from __future__ import annotations

import contextlib
import ctypes
import fcntl
import hashlib
import importlib.util
import json
import os
import platform
import re
import runpy
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent
STATE = "bootstrap.json"
LOG = "bootstrap.log"
HASHES = "hashes.txt"
RUNNING = "running"
APT = "sudo apt install build-essential python3-dev python3-venv"
TOOLS = ("pip", "setuptools", "wheel", "packaging")  # and what they need themselves
# what a running node imports: loading it once proves that it works, and leaves its bytecode for the next start
USED = (
    "rclpy.node, rclpy.executors, tf2_msgs.msg, geometry_msgs.msg, nav_msgs.msg, sensor_msgs.msg, std_msgs.msg, "
    "std_srvs.srv, rosgraph_msgs.msg, diagnostic_msgs.msg, visualization_msgs.msg, trajectory_msgs.msg, "
    "numba, scipy.integrate, scipy.optimize, transforms3d.euler, rosbags.rosbag2, rosbags.typesys, ruamel.yaml"
)
START = time.monotonic()


class Failure(Exception):
    """The set-up cannot go on: one sentence with the way out."""


# ------------------------------------------------------------------------------------------------- what the machine has


class Machine(NamedTuple):
    """The facts about this machine that decide what can be set up."""

    python: tuple[int, int]
    cpu: str
    has_ensurepip: bool
    has_headers: bool
    has_compilers: bool
    ros_distro: str | None  # of an installed ROS 2 that this shell has sourced


def sourced_ros(environ: Mapping[str, str], can_import: Callable[[str], bool]) -> str | None:
    """The name of the installed ROS 2 that this shell has sourced and this Python can use, else None."""
    distro = environ.get("ROS_DISTRO")
    if distro and environ.get("AMENT_PREFIX_PATH") and can_import("rclpy"):
        return distro
    return None


def can_import(module: str) -> bool:
    """Whether this very Python imports it for real: another version's ROS is on PYTHONPATH, but does not load."""
    command = [sys.executable, "-c", f"import {module}"]
    return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def this_machine() -> Machine:
    """The machine we run on."""
    return Machine(
        python=sys.version_info[:2],
        cpu=platform.machine(),
        has_ensurepip=importlib.util.find_spec("ensurepip") is not None,
        has_headers=Path(sysconfig.get_path("include"), "Python.h").is_file(),
        has_compilers=bool(shutil.which("cc") and shutil.which("c++")),
        ros_distro=sourced_ros(os.environ, can_import),
    )


def require(machine: Machine) -> None:
    """Failure that names what the system lacks and the line that brings it, all at once."""
    version = ".".join(map(str, machine.python))
    if machine.python < (3, 10):
        raise Failure(f"this is Python {version}, and 3.10 or newer is needed: make PYTHON=/path/to/python3.12")
    if machine.ros_distro is None and machine.cpu != "x86_64":
        raise Failure(
            f"ROS 2 comes as pip wheels for x86_64 Linux, and this machine is {machine.cpu}: install ROS 2 Jazzy with "
            "apt, source its setup.bash, and run make again"
        )
    parts = {
        "venv and ensurepip": machine.has_ensurepip,
        f"the headers of Python {version} (Python.h)": machine.has_headers or machine.ros_distro is not None,
        "a C and C++ compiler": machine.has_compilers or machine.ros_distro is not None,
    }
    missing = [part for part, present in parts.items() if not present]
    if missing:
        raise Failure(f"this system lacks {', '.join(missing)}: {APT}")


def private_environment(environ: Mapping[str, str], ros_distro: str | None) -> dict[str, str]:
    """The environment for programs in our venv: without traces of another venv's ROS or an unusable sourced one."""
    clean = dict(environ)
    # the ROS wheels re-execute Python once with LD_LIBRARY_PATH set; inherited from elsewhere, both are wrong here
    if clean.pop("_ROS_WHEELS_BOOTSTRAP_COMPLETE", None):
        clean.pop("LD_LIBRARY_PATH", None)
    for name in ("PYTHONHOME", "VIRTUAL_ENV"):
        clean.pop(name, None)
    if ros_distro is None and "AMENT_PREFIX_PATH" in clean:
        for name in ("AMENT_PREFIX_PATH", "CMAKE_PREFIX_PATH", "COLCON_PREFIX_PATH", "LD_LIBRARY_PATH", "PYTHONPATH"):
            clean.pop(name, None)
        clean.pop("ROS_DISTRO", None)
    clean.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return clean


# ---------------------------------------------------------------------------------------------------- pins and content


def read_pins(text: str) -> dict[str, list[str]]:
    """Requirement lines by package name, in the file's order; comments and blank lines do not count."""
    pins: dict[str, list[str]] = {}
    for line in text.splitlines():
        requirement = line.split("#")[0].strip()
        if requirement:
            name = re.split(r"[=<>~!;\[ ]", requirement)[0].lower()
            pins.setdefault(name, []).append(requirement)
    return pins


def pin_lines(*files: Path) -> list[str]:
    """All pins of the files; a package that a later file pins is not taken from an earlier one."""
    pins: dict[str, list[str]] = {}
    for file in files:
        pins.update(read_pins(file.read_text(encoding="utf-8")))
    return [line for lines in pins.values() for line in lines]


def pin_of(file: str) -> str:
    """The pin that a file of the package index belongs to: numpy-1.26.4.tar.gz to numpy==1.26.4; nothing for others."""
    wheel, source = file.removesuffix(".whl"), re.sub(r"\.(tar\.gz|tar\.bz2|tgz|zip)$", "", file)
    if wheel != file:
        name, version = wheel.split("-")[:2]
    elif source != file:
        name, _, version = source.rpartition("-")
    else:
        return ""
    return f"{re.sub('[-_.]+', '-', name).lower()}=={version}"


def read_hashes(text: str) -> dict[str, list[str]]:
    """SHA-256 of files by the pin that they belong to, from lines as sha256sum writes them."""
    hashes: dict[str, list[str]] = {}
    for line in text.splitlines():
        digest, _, file = line.partition("  ")
        if file and not line.startswith("#"):
            hashes.setdefault(pin_of(file), []).append(digest)
    return hashes


def with_hashes(pins: Sequence[str], hashes: Mapping[str, list[str]]) -> list[str]:
    """The pins as pip wants them, each with what its files may be. Failure where one has no hash."""
    lines = []
    for line in pins:
        pin = line.partition(";")[0].strip()
        if pin not in hashes:
            raise Failure(f"{pin} has no hash in {HASHES}, so it is not installed: python3 tools/hashes.py looks it up")
        lines.append(" ".join([line, *(f"--hash=sha256:{digest}" for digest in hashes[pin])]))
    return lines


def our_setup() -> dict:
    """What setup.py tells setuptools; it need not be there for that."""
    told: dict = {}
    stub = types.SimpleNamespace(setup=lambda **given: told.update(given), find_packages=lambda **_: [])
    own = sys.modules.get("setuptools")
    sys.modules["setuptools"] = stub  # type: ignore[assignment]
    try:
        runpy.run_path(str(ROOT / "setup.py"))
    finally:
        del sys.modules["setuptools"]
        if own is not None:
            sys.modules["setuptools"] = own
    return told


def our_requirements(extras: Sequence[str]) -> list[str]:
    """What we need with these extras."""
    told = our_setup()
    return [*told["install_requires"], *(line for extra in extras for line in told["extras_require"][extra])]


def our_metadata() -> list[str]:
    """What an editable install takes from the source tree; all else is read from there at run time."""
    version = re.search(r"__version__ = .*", (ROOT / "rbt_ros" / "__init__.py").read_text(encoding="utf-8"))
    files = [(ROOT / name).read_text(encoding="utf-8") for name in ("setup.py", "setup.cfg")]
    return [version.group() if version else "", *files]


def page_sources() -> list[str]:
    """What the page of the browser view is bundled from."""
    folder = ROOT / "rbt_ros" / "web" / "page"
    files = sorted(file for file in folder.rglob("*") if file.is_file() and file.name != "view.html")
    return [file.read_text(encoding="utf-8") for file in files]


def digest(*parts: object) -> str:
    """A short name for this content."""
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()[:16]


# --------------------------------------------------------------------------------------------------------------- stages


class Stage(NamedTuple):
    """One step of the set-up."""

    name: str
    content: tuple  # what the result depends on, beside the stages before
    run: Callable[[], str]  # does it; the words to print
    afresh: bool = False  # whether it starts from an empty folder


class Record:
    """Which stages of an environment are done, for which content: a file in it, written as a whole."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.file = folder / STATE

    def read(self) -> dict[str, str]:
        try:
            return json.loads(self.file.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}

    def write(self, name: str, key: str | None) -> None:
        done = {**self.read(), name: key}
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps({k: v for k, v in done.items() if v is not None}, indent=1), encoding="utf-8")
        os.replace(part, self.file)

    def wipe(self) -> None:
        """An empty environment; the record goes last, so that a wipe that is killed is started again."""
        for child in self.folder.iterdir():
            if child != self.file:
                shutil.rmtree(child) if child.is_dir() and not child.is_symlink() else child.unlink()
        self.file.unlink(missing_ok=True)


def stale(stages: Sequence[Stage], done: Mapping[str, str]) -> list[tuple[Stage, str]]:
    """The stages to run, each with its key. A key holds those before it: what follows a stage that ran, runs again."""
    key, todo = "", []
    for stage in stages:
        key = digest(key, stage.name, *stage.content)
        if done.get(stage.name) != key:
            todo.append((stage, key))
    return todo


def carry_out(stages: Sequence[Stage], record: Record, check: Callable[[], None]) -> bool:
    """Run what is stale; whether anything was. `check` comes first, and only if something is to be done."""
    done = record.read()
    interrupted = RUNNING in done.values()
    todo = stale(stages, {} if interrupted else done)
    if not todo:
        return False
    check()
    if interrupted:
        say("the last set-up was interrupted: starting afresh")
    if interrupted or todo[0][0].afresh:
        record.wipe()
    for stage, key in todo:
        record.write(stage.name, RUNNING)
        say(f"{stage.name} ...", passing=True)
        try:
            words = stage.run()
        except Failure:
            record.write(stage.name, None)  # it ended by itself: only this stage needs to be repeated
            raise
        record.write(stage.name, key)
        say(f"{stage.name}: {words}")
    return True


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Only one set-up of `folder` at a time; it must be ours or new."""
    if folder.is_dir() and any(folder.iterdir()) and not (folder / STATE).exists():
        raise Failure(f"{folder} was not made by this Makefile: move it away, then run make again")
    folder.mkdir(exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def say(words: str, passing: bool = False) -> None:
    """One line with the elapsed time. What the next line replaces is for a terminal only."""
    line = f"[{time.monotonic() - START:6.1f} s] {words}"
    if sys.stdout.isatty():
        print(f"\r{line}\x1b[K", end="" if passing else "\n", flush=True)
    elif not passing:
        print(line, flush=True)


# ---------------------------------------------------------------------------------------------------- our environments


class Environment:
    """A private virtual environment in the source tree, and the stages that fill it."""

    def __init__(self, folder: Path, extras: Sequence[str], pins: Sequence[Path], machine: Machine):
        self.folder = folder
        self.extras = extras
        self.pins = pin_lines(*pins)
        self.hashes = read_hashes((ROOT / HASHES).read_text(encoding="utf-8"))
        self.machine = machine
        self.python = folder / "bin" / "python"
        self.environ = private_environment(os.environ, machine.ros_distro)
        self.ros_extras = [] if machine.ros_distro else ["ros"]
        self.venv_options = ["--system-site-packages"] if machine.ros_distro else []

    def set_up(self) -> None:
        with locked(self.folder):
            record = Record(self.folder)
            if not carry_out(self.stages(), record, lambda: require(self.machine)):
                say(f"{self.folder.name}: ready, nothing to do")

    def stages(self) -> list[Stage]:
        distro = self.machine.ros_distro
        ros = f"ROS 2 {distro} of this shell" if distro else "ROS 2 Jazzy wheels"
        venv = (platform.python_version(), sys.base_prefix, self.folder, distro, self._pins_of(TOOLS))
        digests = [self.hashes.get(pin.partition(";")[0].strip(), []) for pin in self.pins]
        generator = (ROOT / "rbt_ros" / "setup_ros.py").read_text(encoding="utf-8")
        stages = [
            Stage(f"Python {platform.python_version()} in {self.folder.name}", venv, self._venv, afresh=True),
            Stage(
                f"{ros}, rbt_ros and what it needs",
                (self.pins, digests, our_metadata()),
                self._package,
            ),
            Stage("tf2_msgs", (generator,), self._tf2_msgs),
            Stage("page of the browser view", (page_sources(),), self._page),
        ]
        if self.extras:
            names = ", ".join(self.extras)
            stages.append(Stage(f"extras {names}", (), lambda: self._install(self.extras)))
        if {"dev", "bench"} & set(self.extras) and distro is None:  # an installed ROS has its own, or none
            definitions = (ROOT / "rbt_ros" / "interface_definitions.py").read_text(encoding="utf-8")
            stages.append(Stage("simulation_interfaces", (definitions,), self._simulation_interfaces))
        return stages

    def _venv(self) -> str:
        self._log([sys.executable, "-m", "venv", *self.venv_options, self.folder], "creating the virtual environment")
        tools = self.folder / "tools.txt"
        # as requirements, not as names: the pip that comes with Python is older, and wants their versions beside them
        tools.write_text("\n".join(with_hashes(self._pins_of(TOOLS), self.hashes)) + "\n", encoding="utf-8")
        self._pip("--requirement", tools)
        return "made"

    def _package(self) -> str:
        """What we need, then our package in place."""
        self._install([*self.ros_extras, "view"])
        editable = ("--no-deps", "--no-build-isolation", "--no-compile", "--editable", ROOT)
        self._log([self.python, "-m", "pip", "install", *editable], "pip install")
        return "installed"

    def _install(self, extras: Sequence[str]) -> str:
        """What we need with these extras. Compiling all bytecode would triple the time: see `_tf2_msgs`."""
        self._pip("--no-build-isolation", "--no-compile", *our_requirements(extras))
        return "installed"

    def _tf2_msgs(self) -> str:
        output = self._log([self.python, "-m", "rbt_ros.setup_ros"], "generating tf2_msgs")
        self._log(
            [self.python, "-c", f"import {USED}"], "importing what was installed", {"PYTHONDONTWRITEBYTECODE": ""}
        )
        return output.strip().splitlines()[-1].partition(": ")[2]

    def _page(self) -> str:
        """Bundled by the system's node, or by that of a wheel. Where neither can be had, the set-up goes on."""
        try:
            if not (shutil.which("node") and shutil.which("npm")):
                self._install(["node"])
            self._log([self.python, "-m", "rbt_ros.web.build", "--work", self.folder / "page"], "bundling the page")
        except Failure as err:
            return f"left out, {str(err).splitlines()[0]}; later: rbt view --build"
        return "bundled"

    def _simulation_interfaces(self) -> str:
        command = [self.python, "-m", "rbt_ros.setup_ros", "simulation_interfaces"]
        return self._log(command, "generating simulation_interfaces").strip().splitlines()[-1].partition(": ")[2]

    def _pins_of(self, names: Sequence[str]) -> list[str]:
        pins = read_pins("\n".join(self.pins))
        return [line for name in names for line in pins[name]]

    def _pip(self, *arguments: str | Path) -> None:
        """Install from the index; each file has to be one that we know."""
        constraints = self.folder / "constraints.txt"
        constraints.write_text("\n".join(with_hashes(self.pins, self.hashes)) + "\n", encoding="utf-8")
        patient = "--timeout", "60", "--retries", "10"  # an index that answers late shall not end the set-up
        options = (*patient, "--require-hashes", "--constraint", constraints)
        self._log([self.python, "-m", "pip", "install", *options, *arguments], "pip install")

    def _log(self, command: Sequence, what: str, extra: Mapping[str, str] | None = None) -> str:
        """Run it with its noise in the log file; what it printed. On failure the end of the log is shown."""
        log = self.folder / LOG
        with log.open("a", encoding="utf-8") as file:
            print("$", *command, file=file, flush=True)
            begin = file.tell()
            environ = {**self.environ, **(extra or {})}
            words = list(map(str, command))
            status = subprocess.call(words, stdout=file, stderr=file, env=environ, cwd=ROOT, preexec_fn=end_with_us)
        with log.open(encoding="utf-8", errors="replace") as file:
            file.seek(begin)
            output = file.read()
        if status != 0:
            tail = "\n".join("    " + line for line in output.splitlines()[-20:])
            raise Failure(f"{what} failed with status {status}; the end of {log}:\n{tail}")
        return output


def environment(target: str, extras: Sequence[str] = ()) -> Environment:
    """The environment that a target runs in."""
    pins = ROOT / "constraints.txt"
    if target == "bench":  # other engines want a newer numpy than an installed ROS has: wheels in any case
        machine = this_machine()._replace(ros_distro=None)
        return Environment(
            ROOT / ".venv-bench",
            ("bench", "film", "optimal", "cluster"),
            (pins, ROOT / "constraints-bench.txt"),
            machine,
        )
    return Environment(ROOT / ".venv", extras, (pins,), this_machine())


# ------------------------------------------------------------------------------------------------------ what make runs


def demo(arguments: Sequence[str]) -> int:
    """The tumbling CubeSat on ROS 2 topics and in the browser, until it ends or Ctrl-C."""
    place = environment("demo")
    place.set_up()
    return in_foreground([place.folder / "bin" / "rbt", "node", "cubesat", "--view", *arguments], place.environ)


def bench(arguments: Sequence[str]) -> int:
    """bench/run.py beside other engines."""
    script = ROOT / "bench" / "run.py"
    if not script.is_file():
        raise Failure(f"there is no {script} to run")
    place = environment("bench")
    place.set_up()
    return in_foreground([place.python, script, *arguments], place.environ)


def test(arguments: Sequence[str]) -> int:
    """Everything that continuous integration checks: each check is run, then the failed ones are named."""
    place = environment("test", ("dev", "view", "plot", "mesh", "optimal", "cluster", "film"))
    place.set_up()
    failed = []
    workers = min(4, (os.cpu_count() or 1) + 1)  # one more than processors: tests of nodes and of pages mostly wait
    for words in (
        "ruff format --check",
        "ruff check",
        "lint-imports",
        "mypy",
        f"pytest --durations=20 --numprocesses={workers} --dist=loadfile",
    ):
        say(words)
        name, *options = words.split()
        command = [place.folder / "bin" / name, *options, *(arguments if name == "pytest" else ())]
        status = in_foreground(command, place.environ)
        if status == 128 + signal.SIGINT:
            raise KeyboardInterrupt
        if status != 0:
            failed.append(words)
    say(f"failed: {'; '.join(failed)}" if failed else "all checks passed")
    return 1 if failed else 0


def soak(arguments: Sequence[str]) -> int:
    """The long tests."""
    place = environment("soak", ("dev", "view", "plot", "mesh", "optimal", "cluster", "film"))
    place.set_up()
    return in_foreground([place.folder / "bin" / "pytest", "-m", "soak", *arguments], place.environ)


def env(extras: Sequence[str]) -> int:
    """The environment alone."""
    environment("env", extras).set_up()
    return 0


def in_foreground(command: Sequence, environ: Mapping[str, str]) -> int:
    """Run a program in the source tree, as a process group of its own in front of the terminal; its exit status.

    Then Ctrl-C reaches the program alone: it ends as it likes, and `make`, which waits for us, has nothing to report.
    Signals sent to us are passed on, and the program does not outlive us.
    """
    terminal = controlling_terminal()
    ours = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def in_child() -> None:
        os.setpgid(0, 0)
        end_with_us()
        if terminal is not None:
            take_terminal(terminal, os.getpid())
            signal.signal(signal.SIGTSTP, signal.SIG_IGN)  # Ctrl-Z would leave make waiting in front of nobody
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ours)

    signal.pthread_sigmask(signal.SIG_BLOCK, ours)  # none is lost between the start and the handlers
    child = subprocess.Popen(list(map(str, command)), env=environ, cwd=ROOT, preexec_fn=in_child)
    before = [signal.signal(number, lambda received, _: child.send_signal(received)) for number in ours]
    signal.pthread_sigmask(signal.SIG_UNBLOCK, ours)
    status = child.wait()
    for number, handler in zip(ours, before, strict=True):
        signal.signal(number, handler)
    if terminal is not None:
        take_terminal(terminal, os.getpgrp())
        os.close(terminal)
    return status if status >= 0 else 128 - status


def end_with_us() -> None:
    """In a child, before it starts: it ends when we do. No orphan installs into what the next run wipes."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


def controlling_terminal() -> int | None:
    """A handle of the terminal that we are in front of, else None."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:  # started by a service or a pipeline: there is none
        return None
    if os.tcgetpgrp(terminal) == os.getpgrp():
        return terminal
    os.close(terminal)
    return None


def take_terminal(terminal: int, group: int) -> None:
    """Bring a process group to the front, from wherever we are."""
    before = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    os.tcsetpgrp(terminal, group)
    signal.signal(signal.SIGTTOU, before)


TARGETS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "demo": demo,
    "test": test,
    "soak": soak,
    "bench": bench,
    "env": env,
}


def main(argv: Sequence[str]) -> int:
    if not argv or argv[0] not in TARGETS:
        print(__doc__)
        return 2
    try:
        return TARGETS[argv[0]](argv[1:])
    except Failure as err:
        print(f"{argv[0]}: {err}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        say("interrupted: run the same command again")
        return 130


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
