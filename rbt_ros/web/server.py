"""The server of the browser view, a process of its own: page, meshes, and one WebSocket per viewer.

    python -m rbt_ros.web.server FOLDER [--port P]

FOLDER is that of a running simulation (`stream.memory`) or of a recording (`web.recording`). The first line of
standard input holds the secrets: {"token": "...", "once": "..."}. The server listens on this machine only, and
answers requests that name it by its own address and have the token (403 otherwise). It prints one line of JSON when
it is ready, and ends when its standard input does: when its parent is gone.
"""

import argparse
import asyncio
import contextlib
import hmac
import http
import json
import logging
import os
import struct
import sys
import threading
from pathlib import Path
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers, MultipleValuesError
from websockets.exceptions import ConnectionClosed, WebSocketException
from websockets.http11 import Request, Response

from rbt_ros.errors import SetupError
from rbt_ros.stream.memory import Reader, command_in
from rbt_ros.stream.scene import meshes
from rbt_ros.stream.tcp import user_of
from rbt_ros.web.build import page_text
from rbt_ros.web.recording import Recording

HOST = "127.0.0.1"
PERIOD_S = 1.0 / 60.0
EVERY_WHOLE = 4  # of so many messages one holds the whole row, the others what a picture needs
CROWDED = 65536  # bytes that a slow viewer has not taken yet: it gets no more until it has
HEADER = struct.Struct("<dII")  # t [s], tick, 1 where the row is whole
MOST_FRAMES = 20_000  # of a recording, in one answer
POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src 'self' data: blob:; "
    "connect-src 'self' data: blob:; media-src blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
TYPES = {".stl": "model/stl", ".glb": "model/gltf-binary", ".gltf": "model/gltf+json", ".obj": "text/plain"}


class Asked(NamedTuple):
    """What a request says."""

    path: str
    query: dict[str, str]  # the first value of each key
    host: str
    origin: str | None

    @classmethod
    def of(cls, request: Request) -> "Asked":
        """ValueError or MultipleValuesError where its address is none, or its host or origin are two."""
        address, headers = urlsplit(request.path), request.headers
        query = {key: values[0] for key, values in parse_qs(address.query).items()}
        return cls(address.path, query, headers.get("Host", ""), headers.get("Origin"))


class Server:
    """One source, many viewers."""

    def __init__(self, folder: str | Path, token: str, once: str):
        """once: what a browser of this user may show in place of the token, the first time."""
        self._folder, self._token, self._once = Path(folder), token, once
        self.recording = Recording.open(folder) if (self._folder / "recording.json").is_file() else None
        self.reader = None if self.recording else Reader(folder)
        self._scene_revision, self._scene_text = -1, ""
        self._meshes: list[str] = []
        self._scene()
        self.hosts: tuple[str, ...] = ()

    # HTTP

    def answer(self, connection: ServerConnection, request: Request) -> Response | None:
        """The response to a request; None lets a WebSocket open."""
        try:
            asked = Asked.of(request)
        except (ValueError, MultipleValuesError):
            return respond(http.HTTPStatus.BAD_REQUEST, b"This request cannot be read.\n", "text/plain")
        names = [f"http://{name}" for name in self.hosts]
        ours = asked.host in self.hosts and (asked.origin is None or asked.origin in names)
        if ours and self._enters(connection, asked.query):
            self._once = ""
            return respond(http.HTTPStatus.SEE_OTHER, b"", "text/plain", Location=f"/?token={self._token}")
        if not (ours and same(asked.query.get("token", ""), self._token)):
            return respond(http.HTTPStatus.FORBIDDEN, b"This view belongs to somebody else.\n", "text/plain")
        return self._page_or_part(asked.path, asked.query)

    def _enters(self, connection: ServerConnection, query: dict[str, str]) -> bool:
        """Whether it is the browser that was started with this, for the first time; others may have read it."""
        if not (self._once and same(query.get("open", ""), self._once)):
            return False
        return user_of(connection.remote_address, connection.local_address) in (None, 0, os.geteuid())

    def _page_or_part(self, path: str, query: dict[str, str]) -> Response | None:
        """To our own page."""
        if path == "/ws":
            return None
        if path == "/":
            return respond(http.HTTPStatus.OK, page_text().encode(), "text/html; charset=utf-8")
        if path == "/scene":
            return respond(http.HTTPStatus.OK, self._scene().encode(), "application/json")
        if path == "/frames" and self.recording:
            return self._frames(query)
        if path.startswith("/mesh/"):
            return self._mesh(path.removeprefix("/mesh/"))
        return respond(http.HTTPStatus.NOT_FOUND, b"There is no such thing here.\n", "text/plain")

    def _frames(self, query: dict[str, str]) -> Response:
        assert self.recording is not None
        try:
            first, last = (float(query[key]) for key in ("from", "to"))
            most = min(MOST_FRAMES, int(query["most"]))
        except (KeyError, ValueError):
            return respond(http.HTTPStatus.BAD_REQUEST, b"give from= and to= [s] and most=\n", "text/plain")
        return respond(http.HTTPStatus.OK, self.recording.packed(first, last, max(2, most)), "application/octet-stream")

    def _mesh(self, name: str) -> Response:
        numbered = {str(number): Path(file) for number, file in enumerate(self._meshes)}
        if name not in numbered:
            return respond(http.HTTPStatus.NOT_FOUND, b"There is no such mesh.\n", "text/plain")
        path = numbered[name]
        try:
            return respond(http.HTTPStatus.OK, path.read_bytes(), TYPES.get(path.suffix.lower(), "text/plain"))
        except OSError as err:
            return respond(http.HTTPStatus.NOT_FOUND, f"{path.name}: {err.strerror}\n".encode(), "text/plain")

    def _scene(self) -> str:
        """The scene as the page gets it, read anew where it has changed."""
        revision = self.reader.revisions()[0] if self.reader else 0
        if revision != self._scene_revision:
            scene = self.reader.scene() if self.reader else self.recording.scene  # type: ignore[union-attr]
            self._meshes = meshes(scene)
            self._scene_text, self._scene_revision = json.dumps(scene), revision
        return self._scene_text

    # WebSocket

    async def viewer(self, connection: ServerConnection) -> None:
        """Feed one viewer until it goes."""
        if self.reader is None:
            with contextlib.suppress(ConnectionClosed):
                await connection.wait_closed()
            return
        feeding = asyncio.create_task(self._feed(connection))
        try:
            async for message in connection:
                await self._take(connection, message)
        except ConnectionClosed:
            pass  # it is gone: nothing to tell
        finally:
            feeding.cancel()

    async def _take(self, connection: ServerConnection, message: str | bytes) -> None:
        assert self.reader is not None
        command = command_in(message)
        if command is not None and (failed := self.reader.send(command)):
            await connection.send(json.dumps({"failed": failed, "key": command.get("key")}))

    async def _feed(self, connection: ServerConnection) -> None:
        assert self.reader is not None
        reader, fast = self.reader, self._fast()
        seen, revisions, count = 0, (0, 0), 0
        clock = asyncio.get_running_loop()
        due = clock.time()
        with contextlib.suppress(ConnectionClosed):
            while True:
                if (now := reader.revisions()) != revisions:
                    await self._tell(connection, now, revisions)
                    revisions, fast = now, self._fast()
                free = connection.transport.get_write_buffer_size() < CROWDED
                if free and reader.counter != seen and (frame := reader.read()):
                    whole = count % EVERY_WHOLE == 0 or seen == 0
                    row = frame.row if whole else frame.row[:fast]
                    await connection.send(HEADER.pack(frame.t_ns * 1e-9, frame.tick, whole) + row.tobytes())
                    seen, count = frame.counter, count + 1
                due = max(due + PERIOD_S, clock.time())
                await asyncio.sleep(due - clock.time())

    async def _tell(self, connection: ServerConnection, now: tuple[int, int], before: tuple[int, int]) -> None:
        assert self.reader is not None
        if now[0] != before[0]:
            await connection.send('{"scene":' + self._scene() + "}")
        if now[1] != before[1]:
            await connection.send(json.dumps({"settings": self.reader.settings()}))

    def _fast(self) -> int:
        return json.loads(self._scene())["layout"]["fast"]


def same(given: str, secret: str) -> bool:
    """Whether a secret is known; its letters cannot be found out one by one."""
    return hmac.compare_digest(given.encode(errors="replace"), secret.encode())


def respond(status: http.HTTPStatus, body: bytes, kind: str, **more: str) -> Response:
    """An HTTP response that nobody stores, frames or guesses about."""
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Cache-Control": "no-store",
            "Content-Security-Policy": POLICY,
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Connection": "close",
            **more,
        }
    )
    return Response(status.value, status.phrase, headers, body)


def names_at(port: int) -> tuple[str, ...]:
    """How browsers of this machine call it; they leave out the usual port."""
    return tuple(name if port == 80 else f"{name}:{port}" for name in (HOST, "localhost"))


def is_our_fault(record: logging.LogRecord) -> bool:
    """Whether a record of the library belongs in the log: strangers and lost connections leave no tracebacks there."""
    error = record.exc_info[1] if record.exc_info else None
    return not isinstance(error, WebSocketException | OSError | EOFError)


async def run(folder: str, port: int, secrets: dict[str, str], ended: asyncio.Event) -> None:
    """Serve until `ended`. OSError where the port is taken."""
    server = Server(folder, **secrets)
    logger = logging.getLogger("rbt_ros.web.server")
    logger.addFilter(is_our_fault)
    async with serve(
        server.viewer,
        HOST,
        port,
        process_request=server.answer,
        compression=None,
        max_size=LONGEST,
        max_queue=64,
        logger=logger,
    ) as listening:
        port = listening.sockets[0].getsockname()[1]
        server.hosts = names_at(port)
        print(json.dumps({"port": port}), flush=True)
        await ended.wait()


LONGEST = 4096  # bytes of a command


def handed_over(line: str) -> dict[str, str]:
    """The secrets that our parent has told; SetupError where it has told none."""
    with contextlib.suppress(ValueError, TypeError, KeyError):
        told = json.loads(line)
        return {"token": str(told["token"]), "once": str(told["once"])}
    raise SetupError('the first line of standard input has to be {"token": "...", "once": "..."}, from `rbt view`.')


def main(words: list[str] | None = None) -> int:
    """The process."""
    parser = argparse.ArgumentParser(prog="rbt_ros.web.server", description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args(words)

    async def until_the_parent_ends() -> None:
        ended, loop = asyncio.Event(), asyncio.get_running_loop()

        def watch() -> None:
            while os.read(0, 4096):  # sys.stdin has a lock, for which Python would wait at its end
                pass
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(ended.set)

        threading.Thread(target=watch, daemon=True).start()
        await run(given.folder, given.port, secrets, ended)

    try:
        page_text()
        secrets = handed_over(sys.stdin.readline())
        asyncio.run(until_the_parent_ends())
    except (OSError, SetupError) as err:
        print(json.dumps({"error": str(err), "errno": getattr(err, "errno", None)}), flush=True)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
