"""What the system tells of TCP ports and connections of this machine: /proc/net, where there is one."""

import os
import socket
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any


def next_free(port: int) -> int:
    """The first port of this machine after that one on which nobody listens; 0, any, where there is none."""
    for number in range(port + 1, min(port + 1000, 65536)):
        with socket.socket() as tried:
            try:
                tried.bind(("127.0.0.1", number))
            except OSError:
                continue
            return number
    return 0


def taken_by(port: int) -> str:
    """Words for who listens on a port of this machine, where the system tells us."""
    inodes = {row[9] for row in _table() if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port}
    sockets = {f"socket:[{inode}]" for inode in inodes}
    for process in Path("/proc").glob("[0-9]*"):
        if not sockets.isdisjoint(_open_files(process)):
            try:
                return f" by {(process / 'comm').read_text().strip()} (process {process.name})"
            except OSError:  # it has ended
                continue
    return ""


def _open_files(process: Path) -> Iterator[str]:
    """What a process has open, as far as it is there and ours to look into."""
    with suppress(OSError):
        for number in os.listdir(process / "fd"):
            with suppress(OSError):  # closed meanwhile
                yield os.readlink(process / "fd" / number)


def user_of(theirs: Any, ours: Any) -> int | None:
    """The user at the other end of a connection between these (host, port, ...), where the system tells us."""
    ends = [
        f"{int.from_bytes(socket.inet_aton(host), sys.byteorder):08X}:{port:04X}" for host, port, *_ in (theirs, ours)
    ]
    for row in _table():
        if row[1].endswith(ends[0]) and row[2].endswith(ends[1]):
            return int(row[7])
    return None


def _table() -> Iterator[list[str]]:
    """The rows of the system's tables: 1, 2 the two ends, 3 the state, 7 the user, 9 the inode."""
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        with suppress(OSError):
            for line in Path(table).read_text(encoding="ascii").splitlines()[1:]:
                yield line.split()
