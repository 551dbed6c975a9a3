"""A ring of records in memory that two processes share: one appends, the other takes, nobody waits or is woken.

The file behind it has no name, so that nothing is left whoever is killed; what was appended before is still there for
the other. Numbers of 64 bits come first, each written by one side only; then the records, each behind its length.
"""

import mmap
import os
import shutil
import struct
import tempfile
from pathlib import Path

from rbt_ros.errors import ScenarioError

SHM = Path("/dev/shm")
WORDS = 8
APPENDED, TAKEN, FAILED, LOST = range(4)  # bytes, bytes, by the taker: whether it gave up, by the appender: see `lose`
START = 8 * WORDS
LENGTH = struct.Struct("<I")
TO_THE_BEGIN = 0xFFFFFFFF  # in place of a length: the next record is at the begin
SIZE = 1 << 25  # [bytes]


class Ring:
    """One side of a ring; `fd` is what the other side opens."""

    def __init__(self, fd: int | None = None, size: int = SIZE):
        """size [bytes]: a multiple of 8, of a new ring. ScenarioError where there is no memory for it."""
        if fd is None:
            fd = _new_file(START + size)
        self.fd = fd
        self._map = mmap.mmap(fd, 0)
        self._size = len(self._map) - START
        self._words = memoryview(self._map)[:START].cast("q")
        self._data = memoryview(self._map)[START:]
        self._seen = 0

    @property
    def waiting(self) -> int:
        """Bytes that were appended and not taken."""
        return self._words[APPENDED] - self._words[TAKEN]

    @property
    def failed(self) -> bool:
        """Whether the other side has given up."""
        return bool(self._words[FAILED])

    @property
    def lost(self) -> int:
        """What the appending side says it has lost."""
        return self._words[LOST]

    # the side that appends

    def append(self, record: bytes) -> bool:
        """Add a record; False where there is no room for it now."""
        words, count = self._words, len(record)
        appended = words[APPENDED]
        at = appended % self._size
        need = count + 11 & ~7  # with its length, to the next multiple of 8
        rest = self._size - at
        gap = rest if need > rest else 0
        if appended + gap + need - words[TAKEN] > self._size:
            return False
        if gap:
            LENGTH.pack_into(self._data, at, TO_THE_BEGIN)
            at = 0
        LENGTH.pack_into(self._data, at, count)
        self._data[at + 4 : at + 4 + count] = record
        words[APPENDED] = appended + gap + need  # last: the record is there
        return True

    @property
    def has_room(self) -> bool:
        """Whether any record up to a quarter of the ring would find room now."""
        return self.waiting <= self._size // 2

    @property
    def longest(self) -> int:
        """Bytes of the longest record for which there is room in an empty ring, wherever it would begin."""
        return self._size // 2 - 11

    def lose(self) -> None:
        """Count something that was not appended."""
        self._words[LOST] += 1

    # the side that takes

    def take(self, all_of_it: bool = False) -> list[bytearray]:
        """The records that were there at the last look, too, or all: by then every processor sees their bytes."""
        end, self._seen = self._seen, self._words[APPENDED]
        end = self._seen if all_of_it else end
        at, found = self._words[TAKEN], []
        while at < end:
            place = at % self._size
            (count,) = LENGTH.unpack_from(self._data, place)
            if count == TO_THE_BEGIN:
                at += self._size - place
                continue
            found.append(bytearray(self._data[place + 4 : place + 4 + count]))
            at += count + 11 & ~7
        self._words[TAKEN] = at
        return found

    def fail(self) -> None:
        """Give up: nothing is taken any more."""
        self._words[FAILED] = 1

    def close(self) -> None:
        """Let go of this side."""
        self._words.release()
        self._data.release()
        self._map.close()
        os.close(self.fd)


def _new_file(size: int) -> int:
    """A file of so many zeros, without a name."""
    folder = SHM if SHM.is_dir() else None
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(size))  # no page is made later, when nobody has the time
            file.flush()
            return os.dup(file.fileno())
    except OSError as err:
        free = shutil.disk_usage(folder or tempfile.gettempdir()).free
        raise ScenarioError(
            f"recording needs {size * 1e-6:.1f} MB of shared memory, and {folder or 'the system'} has "
            f"{free * 1e-6:.1f} MB free ({err.strerror}): make room (in Docker: --shm-size=256m), then record again."
        ) from err
