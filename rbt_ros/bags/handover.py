"""From the thread that steps to the scribe: a queue to a thread of this process, or a ring to a process of its own.

`sample` may lose what comes too fast, which is counted; `latched` and `fields` lose nothing. Nobody is woken: the
scribe looks every PERIOD_S.
"""

import json
import os
import pickle
import select
import struct
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from rbt_ros import child
from rbt_ros.bags.files import new_folder
from rbt_ros.bags.plan import Due, Plan, Scribe, Written
from rbt_ros.bags.ring import SIZE, Ring
from rbt_ros.errors import ScenarioError
from rbt_ros.fields import Fields
from rbt_ros.results import Sample

PERIOD_S = 0.05  # [s] steady time from one look of the scribe to the next
WAIT_S = 0.02  # [s] how long a run that may wait does so before it looks again
PLAN, MOTION, WHOLE, LATCHED, FIELDS, PART, END = range(7)  # kinds of records; PART: of the one that follows
HEAD = struct.Struct("<BxxxIqqq")  # kind, how many outputs are due, stamp, t_ns, tick


class HandOver(Protocol):
    """What a recording gives to its scribe."""

    lost: int  # samples
    writer: str  # who writes, for people

    @property
    def spent(self) -> float:
        """Time that a processor has spent on writing [s]: it stands still where the writer waits for a disk."""

    @property
    def failure(self) -> str:
        """Why nothing is written any more."""

    @property
    def waiting(self) -> int:
        """How much the scribe has not written yet: samples and commands, or bytes."""

    @property
    def has_room(self) -> bool:
        """Whether a sample would find room now; also where nothing is written any more."""

    def sample(self, due: Due, sample: Sample, stamp: int, wait: bool) -> None:
        """Record what is due. wait: rather than lose it, until there is room."""

    def latched(self, sample: Sample, stamp: int) -> None:
        """Record what is said once."""

    def fields(self, channel: int, fields: Fields, time_ns: int) -> None:
        """Record a message."""

    def close(self) -> Written:
        """Let everything be written, and the end of the bag."""


class Queue:
    """To a thread of this process. It takes the interpreter from the thread that steps now and then."""

    def __init__(self, scribe: Scribe, most: int):
        """most: samples that may wait."""
        self.lost, self.failure, self.writer = 0, "", "a thread"
        self._scribe, self._most = scribe, most
        self._queue: deque[tuple[Callable[..., None], tuple]] = deque()
        self._ends = threading.Event()
        self._thread = threading.Thread(target=self._work, name="recording", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """Samples and commands in the queue."""
        return len(self._queue)

    @property
    def spent(self) -> float:
        """Not told: a thread of this process."""
        return 0.0

    @property
    def has_room(self) -> bool:
        """Whether a sample would find room now."""
        return bool(self.failure) or len(self._queue) < self._most

    def sample(self, due: Due, sample: Sample, stamp: int, wait: bool) -> None:
        """Record what is due. wait: rather than lose it, until there is room."""
        while wait and len(self._queue) >= self._most and not self.failure:
            time.sleep(WAIT_S)
        if len(self._queue) >= self._most or self.failure:
            self.lost += 1
            return
        self._queue.append((self._scribe.sample, (due.outputs, sample, stamp)))

    def latched(self, sample: Sample, stamp: int) -> None:
        """Record what is said once."""
        self._add(self._scribe.latched, sample, stamp)

    def fields(self, channel: int, fields: Fields, time_ns: int) -> None:
        """Record a message."""
        self._add(self._scribe.fields, channel, fields, time_ns)

    def _add(self, write: Callable[..., None], *arguments: Any) -> None:
        if not self.failure:  # else nobody would ever take it
            self._queue.append((write, arguments))

    def close(self) -> Written:
        """Let everything be written, and the end of the bag."""
        self._ends.set()
        self._thread.join()
        if not self.failure:
            try:
                return self._scribe.end(self.lost)
            except OSError as err:
                self.failure = described(err)
        self._scribe.abandon()
        return Written(failure=self.failure)

    def _work(self) -> None:
        try:
            ends = False
            while not ends:
                ends = self._ends.wait(PERIOD_S)
                while self._queue:
                    write, arguments = self._queue.popleft()
                    write(*arguments)
                    self._scribe.flush_in_time()
                self._scribe.flush_in_time()
        except Exception as err:  # told by `close`, and by whoever looks at `failure`: a full disk, most likely
            self.failure = described(err)
            self._queue.clear()


class Apart:
    """To a process of its own (`bags.apart`), which outlives this one for as long as it takes to write what waits."""

    def __init__(self, plan: Plan, size: int = SIZE):
        """size: of the ring [bytes]. ScenarioError where the bag cannot be made."""
        self.lost, self._ring = 0, Ring(size=size)  # first: of what fails nothing is left
        self._overflow, self._failure, self._said = deque[bytes](), "", b""
        try:
            new_folder(plan.folder, plan.compression)
            self._process = self._started(Path(plan.folder))
        except BaseException:
            self._ring.close()
            raise
        assert self._process.stdin and self._process.stdout
        self._input, self._output = self._process.stdin, self._process.stdout
        self.writer = f"process {self._process.pid}"
        self._append(bytes([PLAN]) + pickle.dumps(plan))  # nobody waits for the process to start

    def _started(self, folder: Path) -> subprocess.Popen:
        command = child.command("rbt_ros.bags.apart", self._ring.fd)
        pipe = subprocess.PIPE
        try:  # a group of its own: Ctrl-C reaches us alone, and we end it
            return subprocess.Popen(
                command, stdin=pipe, stdout=pipe, bufsize=0, pass_fds=[self._ring.fd], start_new_session=True
            )
        except OSError as err:
            folder.rmdir()
            raise ScenarioError(f"no process can be started that writes the bag ({err.strerror}).") from err

    @property
    def failure(self) -> str:
        """Why nothing is written any more. Who asks never waits."""
        if not self._failure and (self._ring.failed or self._process.poll() is not None):
            self._failure = self._answer(0.0).failure
        return self._failure

    @property
    def spent(self) -> float:
        """Time that a processor has spent on writing [s]; where the system tells it."""
        try:
            stat = Path(f"/proc/{self._process.pid}/stat").read_text()
        except OSError:  # it has ended, or this is no Linux
            return 0.0
        user, system = stat.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    @property
    def has_room(self) -> bool:
        """Whether a sample would find room now, behind what waits beside the ring; also after a failure."""
        return bool(self.failure) or (self._caught_up() and self._ring.has_room)

    @property
    def waiting(self) -> int:
        """Bytes in the ring, and beside it."""
        return self._ring.waiting + sum(map(len, self._overflow))

    def sample(self, due: Due, sample: Sample, stamp: int, wait: bool) -> None:
        """Record what is due. wait: rather than lose it, until there is room."""
        record = whole_record(due, sample, stamp) if due.whole else motion_record(due, sample, stamp)
        while not self._appended(record):
            if self.failure or not wait or len(record) > self._ring.longest:
                self.lost += 1
                self._ring.lose()
                return
            time.sleep(WAIT_S)

    def latched(self, sample: Sample, stamp: int) -> None:
        """Record what is said once."""
        self._append(bytes([LATCHED]) + pickle.dumps((stamp, portable(sample, True))))

    def fields(self, channel: int, fields: Fields, time_ns: int) -> None:
        """Record a message."""
        self._append(bytes([FIELDS]) + pickle.dumps((channel, fields, time_ns)))

    def _append(self, record: bytes) -> None:
        """What may not be lost waits beside the ring where that is full, and is cut where it is longer."""
        if self.failure:
            return  # nobody would ever take it
        most = self._ring.longest
        while len(record) > most:
            part, record = bytes([PART]) + record[: most - 1], record[most - 1 :]
            self._append(part)
        if not self._appended(record):
            self._overflow.append(record)

    def _appended(self, record: bytes) -> bool:
        """Whether there was room, behind what waits already."""
        return not self._ring.failed and self._caught_up() and self._ring.append(record)

    def _caught_up(self) -> bool:
        """Whether nothing waits beside the ring any more."""
        while self._overflow and self._ring.append(self._overflow[0]):
            self._overflow.popleft()
        return not self._overflow

    def close(self) -> Written:
        """Let everything be written, and the end of the bag."""
        while not self.failure and not self._appended(bytes([END])):
            time.sleep(WAIT_S)
        written = Written(failure=self._failure) if self._failure else self._answer(None)
        self._let_go()
        return written

    def _answer(self, timeout_s: float | None) -> Written:
        """What the process has said at its end, or that it says nothing any more. None: as soon as it does."""
        while not self._said.endswith(b"\n") and select.select([self._output], [], [], timeout_s)[0]:
            if not (data := self._output.read(65536)):
                break
            self._said += data
        if self._said.endswith(b"\n"):
            return Written(**json.loads(self._said))
        code = self._process.wait() if timeout_s is None else self._process.poll()
        return Written(failure="its process has given up" if code is None else f"its process has ended: {code}")

    def _let_go(self) -> None:
        self._input.close()
        self._process.wait()
        self._output.close()
        self._ring.close()


def described(err: Exception) -> str:
    """An error in words."""
    return f"{type(err).__name__}: {err}"


def motion_record(due: Due, sample: Sample, stamp: int) -> bytes:
    """Time, coordinates, velocities, poses and twists, as the scribe of another process takes them."""
    head = HEAD.pack(MOTION, len(due.outputs), stamp, sample.t_ns, sample.tick)
    q, v, pose, twist = sample.q, sample.v, sample.pose, sample.twist
    return b"".join((head, due.packed, q.tobytes(), v.tobytes(), pose.tobytes(), twist.tobytes()))


def whole_record(due: Due, sample: Sample, stamp: int) -> bytes:
    """All of a sample."""
    return bytes([WHOLE]) + pickle.dumps((due.outputs, stamp, portable(sample, due.reactions)))


def portable(sample: Sample, reactions: bool) -> tuple[Any, ...]:
    """Its fields, as dicts what is a view of one or yet to be computed; reactions are left out unless wanted."""
    forces = dict(sample.reactions) if reactions else {}
    return tuple(sample._replace(ropes=dict(sample.ropes), stops=dict(sample.stops), reactions=forces))
