"""Starts the server process of the browser view, tells its address, opens a browser if there is any.

The server is another program (`rbt_ros.web.server`): nothing of it is loaded here, so that a node can start it, too.
All users of a machine can read command lines: the server gets its secrets through a pipe, and a browser is started with
an address that works once, for this user only.
"""

import importlib.util
import json
import os
import secrets
import subprocess
import sys
import webbrowser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rbt_ros import child
from rbt_ros.errors import SetupError
from rbt_ros.stream.tcp import next_free, taken_by

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
        self.token, self._once = secrets.token_urlsafe(18), secrets.token_urlsafe(18)
        self.moved = ""
        for attempt in range(1 if fixed or port == 0 else TRIES):
            number = port + attempt
            self._process, answer = _started(folder, number, {"token": self.token, "once": self._once})
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
    def entry(self) -> str:
        """What a browser that we start is given: the server answers it once, with the address."""
        return f"http://127.0.0.1:{self.port}/?open={self._once}"

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


def _started(folder: Path, port: int, told: dict[str, str]) -> tuple[subprocess.Popen, dict]:
    words = child.command("rbt_ros.web.server", folder, "--port", port)
    # a group of its own: Ctrl-C reaches us alone, and we end it
    process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True)
    assert process.stdin is not None and process.stdout is not None
    with suppress(BrokenPipeError):  # it has ended: what it says of that comes next
        print(json.dumps(told), file=process.stdin, flush=True)
    line = process.stdout.readline()
    answer = json.loads(line) if line.startswith("{") else {}
    if "port" not in answer:
        process.stdin.close()
        process.wait()
        process.stdout.close()
    return process, answer


@contextmanager
def served(folder: Path, port: int | None = None, browser: bool = True) -> Iterator[Server]:
    """A server of that folder, told and opened; it ends with the block."""
    server = Server(folder, PORT if port is None else port, fixed=port is not None)
    try:
        if server.moved:
            print(f"{server.moved}; using {server.port}", file=sys.stderr)
        print(f"view: {server.address}", flush=True)
        if browser:
            open_browser(server.entry)
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
