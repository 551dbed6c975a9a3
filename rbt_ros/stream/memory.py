"""The shared folder of a run: the last row in mapped memory, scene and settings as files, a pipe for commands.

    frame           counter, t [ns], tick, revisions of scene and settings; then the row (`layout.py`), float64
    scene.json      what the row means: bodies, shapes, hinges, ropes
    settings.json   what can be set, to what it is set, and what was refused
    commands        a named pipe: one JSON object per line

The counter is odd while the row is written, so that a reader sees a whole row or none (a sequence lock). The reader,
another process, makes float32 of it.

Whoever runs holds a lock on the folder, which the system releases when it ends, however it ends. A folder without a
lock was left behind. Process numbers would not tell: containers that share /dev/shm have numbers of their own.
"""

import errno
import fcntl
import json
import mmap
import os
import select
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rbt_ros.errors import SetupError
from rbt_ros.results import Sample
from rbt_ros.stream.layout import Layout

SHM = Path("/dev/shm")
NAME = "rbt_view-"
HEAD = 5  # int64: counter, t_ns, tick, revision of the scene, of the settings
COUNTER, TIME, TICK, SCENE, SETTINGS = range(HEAD)
LONGEST_LINE = 4096  # PIPE_BUF of Linux: a line this long is written as a whole
TRIES = 1000  # of a reader that always meets the writer


class Frame(NamedTuple):
    """One update as a reader finds it."""

    counter: int
    t_ns: int
    tick: int
    scene: int
    settings: int
    row: np.ndarray  # float32


class Stream:
    """The side of the simulation: makes the folder, publishes samples, polls commands."""

    def __init__(self, layout: Layout, scene: dict[str, Any]):
        """scene: what `scene.described` tells; more keys may stand in it."""
        forget_the_dead()
        place = SHM if SHM.is_dir() else Path(tempfile.gettempdir())
        try:
            self.folder, self._lock = own_folder(place)
            try:
                self._fill_folder(layout, scene)
            except OSError:
                shutil.rmtree(self.folder, ignore_errors=True)
                os.close(self._lock)
                raise
        except OSError as err:
            raise SetupError(
                f"the view has no room in {place}: {err.strerror}; free some, or leave the view out."
            ) from err

    def _fill_folder(self, layout: Layout, scene: dict[str, Any]) -> None:
        size = 8 * HEAD + 8 * layout.size
        with open(self.folder / "frame", "wb+") as file:
            file.write(bytes(size))  # its pages are there: where memory is full, to write into a map would end us
            file.flush()
            self._map = mmap.mmap(file.fileno(), size)
        self._head = memoryview(self._map)[: 8 * HEAD].cast("q")
        self._fill = layout.filler(np.frombuffer(self._map, offset=8 * HEAD))
        self._counter = 0
        os.mkfifo(self.folder / "commands", 0o600)
        self._replace("scene.json", scene)
        self._replace("settings.json", {})
        self._head[SCENE] = self._head[SETTINGS] = 1
        # open for both: a viewer that goes does not end the pipe
        self._pipe = os.open(self.folder / "commands", os.O_RDWR | os.O_NONBLOCK)
        self._news = select.poll()  # a third of the time of a read that finds nothing
        self._news.register(self._pipe, select.POLLIN)
        self._rest = b""

    def publish(self, sample: Sample) -> None:
        """Show this sample."""
        head = self._head
        counter = self._counter
        head[0] = counter + 1
        head[1], head[2] = sample.t_ns, sample.tick
        self._fill(sample)
        self._counter = head[0] = counter + 2

    def set_scene(self, scene: dict[str, Any]) -> None:
        """Describe bodies anew: as many as before."""
        self._tell("scene.json", scene, SCENE)

    def set_settings(self, settings: dict[str, Any]) -> None:
        """Tell what is set, and what was refused."""
        self._tell("settings.json", settings, SETTINGS)

    def commands(self) -> Iterator[dict[str, Any]]:
        """What viewers have sent since the last call; never waits. What is no command is passed over."""
        if not self._news.poll(0):
            return
        *lines, self._rest = (self._rest + os.read(self._pipe, 65536)).split(b"\n")
        self._rest = self._rest[:LONGEST_LINE]  # one that long is no command, whatever follows
        for line in lines:
            if (command := command_in(line)) is not None:
                yield command

    def close(self) -> None:
        """Remove the folder."""
        os.close(self._pipe)
        self._head.release()
        del self._fill
        self._map.close()
        shutil.rmtree(self.folder, ignore_errors=True)
        os.close(self._lock)

    def _tell(self, name: str, content: dict[str, Any], revision: int) -> None:
        """Where there is no room for it, viewers keep what they have: the simulation goes on."""
        try:
            self._replace(name, content)
        except OSError as err:
            warnings.warn(f"viewers are not told what changed: {self.folder}: {err.strerror}.", stacklevel=3)
            return
        self._head[revision] += 1

    def _replace(self, name: str, content: dict[str, Any]) -> None:
        part = self.folder / f"{name}.part"
        part.write_text(json.dumps(content), encoding="utf-8")
        os.replace(part, self.folder / name)


class Reader:
    """The side of a viewer."""

    def __init__(self, folder: str | Path):
        self.folder = Path(folder)
        with open(self.folder / "frame", "rb") as file:
            self._map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        self._head = np.frombuffer(self._map, dtype=np.int64, count=HEAD)
        self._row = np.frombuffer(self._map, offset=8 * HEAD)
        self._pipe = os.open(self.folder / "commands", os.O_WRONLY | os.O_NONBLOCK)

    @property
    def counter(self) -> int:
        """Grows by two with every sample; 0: there was none."""
        return int(self._head[COUNTER])

    def revisions(self) -> tuple[int, int]:
        """Of the scene and the settings."""
        return int(self._head[SCENE]), int(self._head[SETTINGS])

    def read(self) -> Frame | None:
        """The last whole row; None before the first one, or where the writer was stopped amid one."""
        for _ in range(TRIES):
            head, row = self._head.tolist(), self._row.copy()
            if head[COUNTER] == self._head[COUNTER] and head[COUNTER] % 2 == 0:
                counter, t_ns, tick, scene, settings = head
                with np.errstate(over="ignore"):  # what breaks is shown as far as float32 goes
                    row = row.astype(np.float32)
                return Frame(counter, t_ns, tick, scene, settings, row) if counter else None
        return None

    def scene(self) -> dict[str, Any]:
        """What the row means."""
        return json.loads((self.folder / "scene.json").read_text(encoding="utf-8"))

    def settings(self) -> dict[str, Any]:
        """What can be set, and to what it is set."""
        return json.loads((self.folder / "settings.json").read_text(encoding="utf-8"))

    def send(self, command: dict[str, Any]) -> str:
        """Send a command; why it could not be sent, or nothing."""
        line = json.dumps(command).encode() + b"\n"
        if len(line) > LONGEST_LINE:
            return f"a command of {len(line)} bytes is longer than the {LONGEST_LINE} that the pipe takes at once"
        try:
            os.write(self._pipe, line)
        except OSError as err:
            busy = err.errno == errno.EAGAIN
            return "the simulation does not take commands now" if busy else "the simulation has ended"
        return ""

    def close(self) -> None:
        """Let go; the folder stays."""
        os.close(self._pipe)
        del self._head, self._row
        self._map.close()


def command_in(line: str | bytes) -> dict[str, Any] | None:
    """The command that a line of JSON holds: an object of plain values and lists of these. None where it is none."""
    try:
        command = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(command, dict):
        return None
    values = [part for value in command.values() for part in (value if isinstance(value, list) else [value])]
    return None if any(isinstance(value, list | dict) for value in values) else command


def own_folder(place: Path) -> tuple[Path, int]:
    """A new folder, and the lock on it. Another run that starts now may have removed it unlocked: then the next one."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=NAME, dir=place))
        lock = lock_of(folder)
        if lock is None:
            continue
        if folder.exists():
            return folder, lock
        os.close(lock)


def lock_of(folder: Path) -> int | None:
    """A handle of the folder that keeps it locked while it is open; None where another one has it, or it is none."""
    try:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except OSError:  # gone, a link, somebody else's
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    return handle


def forget_the_dead() -> None:
    """Remove what killed runs of this user have left behind."""
    for folder in SHM.glob(f"{NAME}*"):
        lock = lock_of(folder)
        if lock is None:
            continue
        if os.fstat(lock).st_uid == os.geteuid():
            shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)
