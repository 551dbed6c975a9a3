"""Starts the server process of the browser view, tells its address, opens a browser if there is any.

The server is another program (`rbt_ros.web.server`): nothing of it is loaded here, so that a node can start it, too.
"""

import importlib.util
import json
import os
import secrets
import socket
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rbt_ros.errors import SetupError

PORT = 7373
TRIES = 20  # ports after that one
READY_S = 30
ADDRESS_IN_USE = 98


class Server:
    """The server process of one folder; it ends with us, however we end."""

    def __init__(self, folder: Path, port: int = PORT, fixed: bool = False):
        """fixed: that port or none. Else the next free one is taken, and `moved` says why."""
        if importlib.util.find_spec("websockets") is None:
            raise SetupError("the browser view needs websockets: pip install 'rbt_ros[view]'")
        self.token = secrets.token_urlsafe(18)
        self.moved = ""
        for attempt in range(1 if fixed or port == 0 else TRIES):
            number = port + attempt
            self._process, answer = _started(folder, number, self.token)
            if "port" in answer:
                self.port = int(answer["port"])
                return
            if answer.get("errno") != ADDRESS_IN_USE:
                raise SetupError(answer.get("error", "the server of the view does not start, and told nothing."))
            self.moved = f"port {port} is taken{taken_by(port)}"
        raise SetupError(f"{self.moved}; give another one, as --port {next_free(port)}.")

    @property
    def address(self) -> str:
        """Where a browser of this machine finds it."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    @property
    def pid(self) -> int:
        """Its process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        return self._process.poll() is None

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


def _started(folder: Path, port: int, token: str) -> tuple[subprocess.Popen, dict]:
    command = [sys.executable, "-m", "rbt_ros.web.server", str(folder), f"--token={token}", "--port", str(port)]
    # a group of its own: Ctrl-C reaches us alone, and we end it
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    assert process.stdin is not None and process.stdout is not None
    line = process.stdout.readline()
    answer = json.loads(line) if line.startswith("{") else {}
    if "port" not in answer:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    return process, answer


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
    inodes = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        try:
            rows = [line.split() for line in Path(table).read_text().splitlines()[1:]]
        except OSError:
            return ""
        inodes |= {row[9] for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port}
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


@contextmanager
def served(folder: Path, port: int | None = None, browser: bool = True) -> Iterator[Server]:
    """A server of that folder, told and opened; it ends with the block."""
    server = Server(folder, PORT if port is None else port, fixed=port is not None)
    try:
        if server.moved:
            print(f"{server.moved}; using {server.port}", file=sys.stderr)
        print(f"view: {server.address}", flush=True)
        if browser:
            open_browser(server.address)
        yield server
    finally:
        server.close()


def open_browser(address: str) -> bool:
    """Show the address in the user's browser, where there is a screen; whether one was found."""
    screen = sys.platform != "linux" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    try:
        return bool(screen) and webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False
