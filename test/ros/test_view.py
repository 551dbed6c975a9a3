"""The browser view of a node: what a viewer sets goes the ways of topics and services, its log included."""

import contextlib
import json
import re

import pytest
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.srv import GetParameters
from websockets.sync.client import connect

import rbt_ros as rbt
from rbt_ros.bags.verify import verify
from rbt_ros.web import build
from rbt_ros.web.server import HEADER


@pytest.fixture
def page(monkeypatch, tmp_path):
    """A page to serve: any will do where no browser looks."""
    if not build.PAGE.exists():
        build.PAGE.write_text("<!doctype html>", encoding="utf-8")
        yield
        build.PAGE.unlink()
    else:
        yield


def value_of(peer, name):
    """A parameter of the node, as ROS tells it."""
    request = GetParameters.Request(names=[name])
    value = peer.call(GetParameters, "/rbt_simulator/get_parameters", request).values[0]
    return value.string_value if value.type == 4 else value.double_value


class Viewer:
    """A viewer without a picture."""

    def __init__(self, socket):
        self.socket = socket
        self.settings, self.tick, self.asked = {}, -1, 0

    def set(self, key, value=None):
        """Set it, and wait for the answer: what is told beside the control."""
        self.asked += 1
        self.socket.send(json.dumps({"id": self.asked, "key": key, "value": value}))
        self.until(lambda: self.settings.get("answered") == self.asked)
        return next(control["refused"] for control in self.settings["controls"] if control["key"] == key)

    def value(self, key):
        return next(control["value"] for control in self.settings["controls"] if control["key"] == key)

    def until(self, condition):
        while not condition():
            message = self.socket.recv(30)
            if isinstance(message, bytes):
                self.tick = HEADER.unpack_from(message)[1]
            else:
                self.settings = json.loads(message).get("settings", self.settings)


@pytest.fixture
def look(ros, page):
    """look(scenario, ...) -> the node, and a viewer of it that has seen its first picture."""
    with contextlib.ExitStack() as sockets:

        def look(scenario, **options):
            child = ros.start(scenario, view=True, **{"mode": "realtime", **options})
            child.until_printed("view: http")
            address = re.search(r"view: (http://127\.0\.0\.1:\S+)", child.stdout)[1]
            viewer = Viewer(sockets.enter_context(connect(address.replace("http", "ws").replace("/?", "/ws?"))))
            viewer.until(lambda: viewer.tick >= 0)
            return child, viewer

        yield look


def test_a_viewer_pauses_steps_pushes_and_resets_a_node(ros, look):
    child, viewer = look("five_body")
    peer = ros.peer()
    log = peer.listen(WrenchStamped, "rbt_simulator/latched/wrench/tee")
    assert viewer.set("step", 1) == "it runs; pause it first."
    assert viewer.set("pause", True) == ""
    tick = viewer.tick
    assert viewer.set("step", 3) == ""
    viewer.until(lambda: viewer.tick >= tick + 3)
    assert viewer.set("push.body", "tee") == ""

    def pushed():
        return viewer.set("push.force", [0, 0, 4]) == "" and any(m.wrench.force.z == 4.0 for m in log)

    peer.until(pushed, "the push in the log", child)
    assert "a force in axes of the world acts at the body's origin" in viewer.set("push.frame", "world")
    assert peer.set_parameter("wrench_at", "com").successful
    assert viewer.set("push.frame", "world") == ""
    assert "a force in axes of the world has no arm" in viewer.set("push.arm", [1, 0, 0])
    assert viewer.set("reset") == ""
    viewer.until(lambda: viewer.tick == 0)
    assert child.stop() == 0


def test_what_a_viewer_sets_of_the_solver_and_of_hinges_is_in_the_bag(ros, look, tmp_path):
    """Every kind of control acts on the node's own state, and the bag, run again, has the same bits."""
    bag = tmp_path / "flight"
    child, viewer = look("five_body", record=True, record_to=bag, outputs__joint_states=200.0)
    assert viewer.set("rate", 0.5) == ""
    assert viewer.set("integrator", "dop853") == ""
    assert viewer.set("step_size", 0.0025) == ""
    assert viewer.set("wrist.kp", 50.0) == "" and viewer.set("wrist.kd", 5.0) == ""
    assert viewer.set("wrist.mode", "position") == ""
    assert viewer.set("wrist.position", 0.7) == ""
    assert viewer.set("elbow.mode", "locked") == ""
    assert viewer.set("elbow.mode", "free") == ""
    told = {c["key"]: c["value"] for c in viewer.settings["controls"]}
    shown = {"rate": 0.5, "integrator": "dop853", "step_size": 0.0025, "wrist.mode": "position", "elbow.mode": "free"}
    assert {key: told[key] for key in shown} == shown
    peer = ros.peer()
    assert value_of(peer, "integrator") == "dop853" and value_of(peer, "hinges.wrist.kp") == 50.0
    assert peer.set_parameter("step", 0.001).successful  # from outside: the viewer is told
    viewer.until(lambda: viewer.value("step_size") == 0.001)
    assert "position needs a gain" in viewer.set("left_pivot.mode", "position")
    assert "moves one floating body without torque" in viewer.set("integrator", "exact")
    assert "must be a number from 0.01 to 100 s/s" in viewer.set("rate", 1000.0)
    assert viewer.set("stabilise", "projection") != ""  # it hangs on the world
    tick = viewer.tick
    viewer.until(lambda: viewer.tick > tick + 100)
    assert child.stop() == 0
    found = rbt.Bag(bag)
    verdict = verify(found)
    assert verdict.same and verdict.messages > 100 and not verdict.told, verdict.text()
    assert {run["step_ns"] for run in found.runs()} == {1_000_000, 2_500_000}
